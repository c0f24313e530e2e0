//! Targets: what is to be predicted, for each item (a graph or a node), with missing values allowed.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files::{Bound, Column, MISSING, Values, written_as_text};
use crate::numbers;
use crate::remedy::Remedy;

use super::feature::{categories, dense, distinct_numbers};

/// Whole numbers with at most this many distinct values are read as classes unless the user says otherwise.
const MOST_NUMERIC_CLASSES: usize = 20;
/// With more classes than this, most of them with fewer items than the number below, a target was not meant as one of classes.
const MOST_CLASSES: usize = 50;
const FEWEST_ITEMS: usize = 3;
/// A quantity needs at least so many known values ...
pub(crate) const FEWEST_VALUES: usize = 3;
/// ... and so large a share where the others are bounds.
const FEWEST_AMONG_BOUNDS: f64 = 0.1;
/// With a smaller share of the rarer of two classes, accuracy says nothing.
const IMBALANCED: f64 = 0.2;
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
    /// The share of every class over all items, or over the training items of the model that it is a target of; empty for a
    /// quantity.
    pub base_rates: Vec<f64>,
    /// What is known of missing values of a quantity that lie below or above a number; a row is an item.
    pub bounds: Vec<Bound>,
}

impl Target {
    /// Makes a target of a column.
    pub fn from_column(column: Column, problem: Option<Problem>) -> Result<Target> {
        let Column { name, unit, values, bounds, .. } = column;
        let values = match values {
            Values::Categories { .. } if problem == Some(Problem::Regression) => {
                return Err(Error::input(format!("target \"{name}\" holds text: it cannot be regressed on")));
            }
            Values::Categories { codes, levels } => Values::Categories { codes, levels },
            numbers => {
                // Adding zero makes -0 the same class as 0.
                let numbers: Vec<f64> = dense(numbers).into_iter().map(|x| x + 0.0).collect();
                let looks = || bounds.is_empty() && look_like_classes(&numbers);
                let classes = problem.map_or_else(looks, |it| it == Problem::Classification);
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
        let bounds = if classes.is_none() { bounds } else { Vec::new() };
        Ok(Target { unit, bounds, ..Target::new(name, classes, values) })
    }

    /// A target without a unit and without bounds.
    pub fn new(name: impl Into<String>, classes: Option<Vec<String>>, values: Vec<f64>) -> Target {
        let (name, unit, base_rates) = (name.into(), None, Vec::new());
        let mut target = Target { name, unit, classes, values, base_rates, bounds: Vec::new() };
        let items: Vec<u32> = (0..target.values.len() as u32).collect();
        target.base_rates = target.class_shares(&items);
        target
    }

    /// The rarer of two classes where less than a fifth of the items have it: what a model of them must be judged by.
    pub fn rare_class(&self) -> Option<usize> {
        match self.base_rates.as_slice() {
            [no, yes] if *no < IMBALANCED && no < yes => Some(0),
            [_, yes] if *yes < IMBALANCED => Some(1),
            _ => None,
        }
    }

    /// Whether one of several classes has more than four fifths of the items, so that always predicting it looks good.
    pub fn has_uneven_classes(&self) -> bool {
        self.base_rates.len() > 2 && self.base_rates.iter().any(|share| *share > 1.0 - IMBALANCED)
    }

    /// The class of two whose precision and recall are looked at: the rarer one where it is rare, else the second.
    pub(crate) fn positive_class(&self) -> usize {
        self.rare_class().unwrap_or(1)
    }

    /// Refuses very many classes, most of which have hardly an item: they were meant as something else.
    pub(super) fn check_classes(&self) -> Result<()> {
        let Some(classes) = self.classes.as_ref().filter(|classes| classes.len() > MOST_CLASSES) else { return Ok(()) };
        let mut items = vec![0; classes.len()];
        self.values.iter().filter(|value| !value.is_nan()).for_each(|class| items[*class as usize] += 1);
        let few = items.iter().filter(|items| **items < FEWEST_ITEMS).count();
        if 2 * few <= classes.len() {
            return Ok(());
        }
        let no_number = |class: &&String| class.parse::<f64>().is_err();
        let words: Vec<&str> = classes.iter().filter(no_number).map(String::as_str).collect();
        let text = written_as_text(&words);
        let correct =
            |but: &str| format!("{but} cells such as \"{}\": correct or empty those cells", text.others.join("\", \""));
        let reason = match 2 * (classes.len() - words.len() + text.cells) > classes.len() {
            true if words.is_empty() => "they look like numbers: predict them with the task \"regression\"".to_owned(),
            true if text.cells == 0 => format!("they look like numbers, but for{}", correct("")),
            true if text.others.is_empty() => format!("they look like numbers read as text: {}", text.reasons),
            true => format!("they look like numbers read as text: {}; {}", text.reasons, correct("no numbers are")),
            false => "they look like names: choose another column, or put similar classes together".to_owned(),
        };
        Err(Error::input(format!(
            "target \"{}\" has {} classes, {} of which have fewer than {FEWEST_ITEMS} items",
            self.name,
            numbers::count(classes.len()),
            numbers::count(few)
        ))
        .with_remedy(reason))
    }

    /// Refuses a quantity of which hardly a value is known because cells are bounds or no numbers.
    pub(super) fn check_known(column: &Column) -> Result<()> {
        let Values::Numbers(values) = &column.values else { return Ok(()) };
        let known = values.iter().filter(|value| !value.is_nan()).count();
        let (bounds, name) = (column.bounds.len(), &column.name);
        let few = known < FEWEST_VALUES;
        match (column.bounds.first(), &column.note) {
            (Some(bound), _) if few || (known as f64) < FEWEST_AMONG_BOUNDS * (known + bounds) as f64 => {
                Err(Error::input(format!(
                    "target \"{name}\" is mostly bounds: it has {} such as \"{}\", and {}",
                    numbers::counted(bounds, "bound"),
                    bound.cell(),
                    numbers::counted(known, "known value")
                ))
                .with_remedy(format!(
                    "a quantity needs at least {FEWEST_VALUES} known values, and a tenth of all: predict instead a column that \
                     says on which side of a bound the value lies"
                )))
            }
            (None, Some(note)) if few && column.doubtful => {
                let known = numbers::counted(known, "known value");
                Err(Error::input(format!("target \"{name}\" has {known}, because {note}"))
                    .with_remedy("write these cells as numbers, or choose another target"))
            }
            _ => Ok(()),
        }
    }

    /// The values of those of some items that have one.
    pub fn known(&self, items: &[u32]) -> Vec<f64> {
        items.iter().map(|item| self.values[*item as usize]).filter(|value| !value.is_nan()).collect()
    }

    /// The share of every class among some items with known classes; empty where there is none.
    pub fn class_shares(&self, items: &[u32]) -> Vec<f64> {
        let (known, Some(classes)) = (self.known(items), &self.classes) else { return Vec::new() };
        if known.is_empty() {
            return Vec::new();
        }
        let mut counts = vec![0.0; classes.len()];
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
        Target::new("y", Some(classes), values)
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
