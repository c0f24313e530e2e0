//! Verification: adds explanations up again, from the very text that a reader is given.
//!
//! Nothing here relies on what an explanation reports about itself: the JSON line of every prediction is parsed, and
//! every sum in it is taken from its own terms.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::document::{AVERAGE, OTHER_NODES, OTHERS};
use super::explanation::TOLERANCE;
use super::readout::ReadoutExplanation;
use crate::error::{Error, Result};

/// What came out.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// use gnan::Verification;
/// let line = serde_json::to_vec(&model.explain(&test, 0)?).expect("JSON");
/// let mut all = Verification::new();
/// all.merge(Verification::of_line(&line)?);
/// assert!(all.adds_up && all.predictions == 1);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verification {
    /// Explanations that were added up.
    pub predictions: usize,
    /// Sums that were taken and compared.
    pub sums: usize,
    /// The largest deviation, where 1 is the most that is tolerated; `null` in JSON where something is not a number.
    pub largest_deviation: f64,
    /// Whether it is 1 or less.
    pub adds_up: bool,
    /// The prediction with the largest deviation.
    pub worst: Option<String>,
}

impl Verification {
    /// Nothing was found wrong so far.
    pub fn new() -> Verification {
        Verification { adds_up: true, ..Verification::default() }
    }

    /// Adds one explanation, as it is written.
    pub fn of_line(line: &[u8]) -> Result<Verification> {
        let document: Value =
            serde_json::from_slice(line).map_err(|error| Error::input(format!("an explanation is broken: {error}")))?;
        let mut found = Verification { predictions: 1, ..Verification::new() };
        let outputs = document["outputs"].as_object().into_iter().flatten();
        for (_, parts) in outputs {
            found.add_output(parts);
        }
        found.worst = document["id"].as_str().map(str::to_owned);
        Ok(found)
    }

    /// Takes in what another part of the work has found.
    pub fn merge(&mut self, other: Verification) {
        if self.worst.is_none() || is_worse(other.largest_deviation, self.largest_deviation) {
            self.largest_deviation = other.largest_deviation;
            self.worst = other.worst;
        }
        self.predictions += other.predictions;
        self.sums += other.sums;
        self.adds_up &= other.adds_up;
    }

    fn add_output(&mut self, parts: &Value) {
        let table = |name: &str| parts[name].as_object();
        let (base, structure, prediction) =
            (number(&parts["base"]), number(&parts["structure"]), number(&parts["prediction"]));
        // Of very many parts by node and feature the smallest are not listed.
        let others = table(OTHERS).map(|others| [number(&others["sum"]), number(&others["size"])]);
        let [others_sum, others_size] = others.unwrap_or_default();
        let size =
            base.abs() + sizes(table("structure_by_distance")) + sizes(table("by_node_and_feature")) + others_size;
        let tolerated = TOLERANCE * size.max(1.0);
        // Structure and features are differences from the average item, all other parts are not.
        let average =
            |name: &str| table(AVERAGE).and_then(|average| average["by_feature"].get(name)).map_or(0.0, number);
        let (average_structure, average_features) =
            table(AVERAGE).map_or((0.0, 0.0), |average| (number(&average["structure"]), total(&average["by_feature"])));
        let mut check = |sum: f64, expected: f64| {
            let deviation = (sum - expected).abs() / tolerated;
            self.sums += 1;
            self.adds_up &= deviation <= 1.0;
            if is_worse(deviation, self.largest_deviation) {
                self.largest_deviation = deviation;
            }
        };
        check(number(&parts["total"]), prediction);
        check(sum(table("structure_by_distance")) - average_structure, structure);
        const MARGINALS: [&str; 6] =
            ["by_feature", "by_node", "by_distance", "by_feature_and_distance", "by_node_and_feature", "by_receiver"];
        for marginal in MARGINALS.into_iter().filter(|name| table(name).is_some()) {
            let unlisted = match marginal {
                "by_node_and_feature" => others_sum,
                "by_node" => table(OTHER_NODES).map_or(0.0, |others| number(&others["sum"])),
                _ => 0.0,
            };
            let average = if marginal == "by_feature" { 0.0 } else { average_features };
            check(base + structure + sum(table(marginal)) + unlisted - average, prediction);
        }
        if table("structure_by_receiver").is_some() {
            check(sum(table("structure_by_receiver")) - average_structure, structure);
        }
        // The pairs, row by row and column by column, are the single marginals.
        const PAIRS: [(&str, &str, &str); 2] = [
            ("by_feature_and_distance", "by_feature", "by_distance"),
            ("by_node_and_feature", "by_node", "by_feature"),
        ];
        for (pairs, rows, columns) in PAIRS {
            let listed = pairs == "by_node_and_feature" && others.is_some();
            let Some(pairs) = table(pairs).filter(|_| !listed) else { continue };
            for (name, expected) in table(rows).into_iter().flatten() {
                let mean = if rows == "by_feature" { average(name) } else { 0.0 };
                check(pairs.get(name).map_or(0.0, total) - mean, number(expected));
            }
            let mut sums: HashMap<&str, f64> = HashMap::new();
            for (name, value) in pairs.values().filter_map(Value::as_object).flatten() {
                *sums.entry(name).or_default() += number(value);
            }
            for (name, expected) in table(columns).into_iter().flatten() {
                let mean = if columns == "by_feature" { average(name) } else { 0.0 };
                check(sums.get(name.as_str()).copied().unwrap_or(0.0) - mean, number(expected));
            }
        }
    }
}

/// Whether the explanations of a model with a readout add up, in both stages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadoutVerification {
    /// Whether all of them do.
    pub adds_up: bool,
    /// Explanations that were added up.
    pub checked: usize,
    /// How many of them do not add up.
    pub wrong: usize,
}

impl ReadoutVerification {
    /// Adds every explanation up.
    pub fn of(explanations: &[ReadoutExplanation]) -> ReadoutVerification {
        let wrong = explanations.iter().filter(|why| !why.adds_up()).count();
        ReadoutVerification { adds_up: wrong == 0, checked: explanations.len(), wrong }
    }
}

/// Larger, or not a number.
fn is_worse(deviation: f64, than: f64) -> bool {
    deviation.is_nan() || deviation > than
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// The sum of a number or of a table of them.
fn total(value: &Value) -> f64 {
    match value {
        Value::Object(table) => sum(Some(table)),
        value => number(value),
    }
}

fn sum(table: Option<&Map<String, Value>>) -> f64 {
    table.into_iter().flat_map(Map::values).map(total).sum()
}

fn sizes(table: Option<&Map<String, Value>>) -> f64 {
    let size = |value: &Value| match value {
        Value::Object(table) => sizes(Some(table)),
        value => number(value).abs(),
    };
    table.into_iter().flat_map(Map::values).map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"id": "g", "outputs": {"yes": {"prediction": 3.5, "total": 3.5, "base": 1, "structure": 0.5,
        "structure_by_distance": {"0": 0.25, "1": 0.25}, "by_feature": {"x": 2, "y": 0}, "by_node": {"a": 3, "b": -1},
        "by_distance": {"0": 4, "1": -2}, "by_feature_and_distance": {"x": {"0": 4, "1": -2}, "y": {"0": 0, "1": 0}},
        "by_node_and_feature": {"a": {"x": 3}, "b": {"x": -1}}, "by_receiver": {"a": 1, "b": 1},
        "structure_by_receiver": {"a": 0.5, "b": 0}}}}"#;

    #[test]
    fn what_adds_up_is_accepted() {
        let found = Verification::of_line(GOOD.as_bytes()).unwrap();
        assert!(found.adds_up, "{found:?}");
        assert_eq!((found.predictions, found.sums, found.largest_deviation), (1, 17, 0.0));
    }

    #[test]
    fn every_single_change_is_caught() {
        let good: Value = serde_json::from_str(GOOD).unwrap();
        let mut tampered = Vec::new();
        let parts = good["outputs"]["yes"].as_object().unwrap();
        for (name, value) in parts {
            let mut change = |path: &[&str]| {
                let mut bad = good.clone();
                let mut place = &mut bad["outputs"]["yes"][name];
                for key in path {
                    place = &mut place[*key];
                }
                *place = (number(place) + 0.001).into();
                tampered.push((format!("{name} {path:?}"), bad));
            };
            match value.as_object() {
                None => change(&[]),
                Some(table) => table.iter().for_each(|(key, value)| match value.as_object() {
                    None => change(&[key]),
                    Some(inner) => inner.keys().for_each(|second| change(&[key, second])),
                }),
            }
        }
        assert_eq!(tampered.len(), 22);
        for (what, bad) in tampered {
            let found = Verification::of_line(bad.to_string().as_bytes()).unwrap();
            assert!(!found.adds_up, "{what} was not noticed");
        }
    }

    #[test]
    fn what_is_not_a_number_does_not_add_up() {
        let found = Verification::of_line(GOOD.replace("\"x\": 3}", "\"x\": null}").as_bytes()).unwrap();
        assert!(!found.adds_up && found.largest_deviation.is_nan());
        assert!(Verification::of_line(b"{").is_err());
    }

    #[test]
    fn the_worst_is_remembered() {
        let mut all = Verification::new();
        let found = |name: &str, largest_deviation: f64| Verification {
            predictions: 1,
            sums: 2,
            largest_deviation,
            adds_up: largest_deviation <= 1.0,
            worst: Some(name.to_owned()),
        };
        [found("a", 0.1), found("b", 3.0), found("c", 0.2)].into_iter().for_each(|one| all.merge(one));
        assert_eq!((all.predictions, all.sums, all.adds_up), (3, 6, false));
        assert_eq!(all.worst.as_deref(), Some("b"));
    }
}
