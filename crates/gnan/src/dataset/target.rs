//! Targets: what is to be predicted, for each item (a graph or a node), with missing values allowed.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files::{Column, MISSING, Values};
use crate::remedy::Remedy;

use super::feature::{categories, dense, distinct_numbers};

/// Whole numbers with at most this many distinct values are read as classes unless the user says otherwise.
const MOST_NUMERIC_CLASSES: usize = 20;
/// A class with less than this share of the items is rare.
const RARE: f64 = 0.1;

/// Whether a numeric target is a class or a quantity, where the user says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Targets are classes.
    Classification,
    /// Targets are quantities.
    Regression,
}

/// What is predicted, which follows from the targets.
///
/// ```
/// use gnan::{Dataset, Outcome};
/// let data = Dataset::open("solubility")?;
/// assert_eq!(data.outcome()?, Outcome::Regression);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// One of two classes.
    Binary,
    /// One of several classes.
    Multiclass,
    /// One quantity.
    Regression,
    /// Several yes-or-no targets at once.
    MultiLabel,
    /// Several quantities at once.
    MultiRegression,
}

impl Outcome {
    /// The outcome that these targets define.
    pub fn of(targets: &[Target]) -> Result<Outcome> {
        let classes: Vec<Option<usize>> = targets.iter().map(|t| t.classes.as_ref().map(Vec::len)).collect();
        match classes.as_slice() {
            [] => Err(Error::usage("there is no target to predict").with_remedy(Remedy::Use("target").to("name one"))),
            [Some(0)] => Err(Error::input(format!("target \"{}\" is missing everywhere", targets[0].name))),
            [Some(1)] => {
                let class = &targets[0].classes.as_ref().expect("it has one class")[0];
                Err(Error::input(format!("target \"{}\" has one class only: {class}", targets[0].name))
                    .with_remedy("a model needs examples of at least two classes"))
            }
            [Some(2)] => Ok(Outcome::Binary),
            [Some(_)] => Ok(Outcome::Multiclass),
            [None] => Ok(Outcome::Regression),
            several if several.iter().all(Option::is_none) => Ok(Outcome::MultiRegression),
            several if several.iter().all(|count| *count == Some(2)) => Ok(Outcome::MultiLabel),
            _ => Err(Error::input("several targets must all be numbers, or all have exactly two classes")
                .with_remedy("train one model per target")),
        }
    }

    /// Whether the outcome is one or several quantities.
    pub fn is_regression(self) -> bool {
        matches!(self, Outcome::Regression | Outcome::MultiRegression)
    }
}

/// One target: a class or a number for each item.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its unit, where known.
    pub unit: Option<String>,
    /// Names of the classes; `None` for a quantity.
    pub classes: Option<Vec<String>>,
    /// For each item the value, or the index of its class; NaN is missing.
    pub values: Vec<f64>,
}

impl Target {
    /// Makes a target of a column.
    pub fn from_column(column: Column, problem: Option<Problem>) -> Result<Target> {
        let Column { name, unit, values, .. } = column;
        let values = match values {
            Values::Categories { .. } if problem == Some(Problem::Regression) => {
                return Err(Error::input(format!("target \"{name}\" holds text: it cannot be regressed on")));
            }
            Values::Categories { codes, levels } => Values::Categories { codes, levels },
            numbers => {
                // Adding zero makes -0 the same class as 0.
                let numbers: Vec<f64> = dense(numbers).into_iter().map(|x| x + 0.0).collect();
                let classes = problem.map_or_else(|| look_like_classes(&numbers), |it| it == Problem::Classification);
                if classes { categories(&numbers) } else { Values::Numbers(numbers) }
            }
        };
        let (classes, values) = match values {
            Values::Categories { codes, levels } => {
                let (classes, values) = used_classes(&codes, &levels);
                (Some(classes), values)
            }
            numbers => (None, dense(numbers)),
        };
        Ok(Target { name, unit, classes, values })
    }

    /// The values of those of some items that have one.
    pub fn known(&self, items: &[u32]) -> Vec<f64> {
        items.iter().map(|item| self.values[*item as usize]).filter(|value| !value.is_nan()).collect()
    }

    /// The share of every class among some items with known classes; empty where there is none.
    pub fn class_shares(&self, items: &[u32]) -> Vec<f64> {
        let known = self.known(items);
        if known.is_empty() {
            return Vec::new();
        }
        let mut counts = vec![0.0; self.classes.as_ref().map_or(0, Vec::len)];
        known.iter().for_each(|class| counts[*class as usize] += 1.0);
        counts.iter().map(|count| count / known.len() as f64).collect()
    }

    /// The classes that less than a tenth of some items have, with their shares.
    pub fn rare_classes(&self, items: &[u32]) -> Vec<(&str, f64)> {
        let names = self.classes.iter().flatten().map(String::as_str);
        names.zip(self.class_shares(items)).filter(|(_, share)| *share < RARE).collect()
    }
}

/// Whether numbers are whole, few, and repeat as classes do: two of them, or each three times on average.
fn look_like_classes(numbers: &[f64]) -> bool {
    let distinct = distinct_numbers(numbers);
    let whole = distinct.iter().all(|x| x.fract() == 0.0);
    let known = numbers.iter().filter(|x| !x.is_nan()).count();
    whole && distinct.len() <= MOST_NUMERIC_CLASSES && (distinct.len() <= 2 || 3 * distinct.len() <= known)
}

/// The classes that occur, in the order of the levels, and the index of each item's class.
fn used_classes(codes: &[u32], levels: &[String]) -> (Vec<String>, Vec<f64>) {
    let mut used = vec![false; levels.len()];
    codes.iter().filter(|code| **code != MISSING).for_each(|code| used[*code as usize] = true);
    let mut index = vec![f64::NAN; levels.len()];
    let mut classes = Vec::new();
    for (level, name) in levels.iter().enumerate().filter(|(level, _)| used[*level]) {
        index[level] = classes.len() as f64;
        classes.push(name.clone());
    }
    let of_code = |code: &u32| if *code == MISSING { f64::NAN } else { index[*code as usize] };
    (classes, codes.iter().map(of_code).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(counts: &[usize]) -> Target {
        let values = counts.iter().enumerate().flat_map(|(class, count)| vec![class as f64; *count]).collect();
        let classes = (0..counts.len()).map(|class| class.to_string()).collect();
        Target { name: "y".to_owned(), unit: None, classes: Some(classes), values }
    }

    /// 7 of 70 is a tenth, though `0.1 * 70` rounds to more than 7.
    #[test]
    fn a_class_is_rare_below_a_tenth() {
        let rare = |counts: &[usize]| {
            let target = target(counts);
            let items: Vec<u32> = (0..target.values.len() as u32).collect();
            target.rare_classes(&items).into_iter().map(|(class, share)| (class.to_owned(), share)).collect::<Vec<_>>()
        };
        assert!(rare(&[7, 63]).is_empty() && rare(&[]).is_empty());
        assert_eq!(rare(&[95, 5, 0]), [("1".to_owned(), 0.05), ("2".to_owned(), 0.0)]);
        let unknown = Target { values: vec![f64::NAN; 2], ..target(&[0, 0]) };
        assert!(unknown.rare_classes(&[0, 1]).is_empty() && unknown.class_shares(&[0, 1]).is_empty());
    }
}
