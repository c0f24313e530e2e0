//! Explanations for programs: one JSON object each, or rows of one long CSV table.
//!
//! Everything is called by its name: outputs, features, nodes, distances (`0`, `1`, ..., `unreachable`). For every output
//! `base + structure + the sum of any marginal = prediction`.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::explanation::{Contribution, Explanation};
use super::ledger::By;
use super::output::Output;
use super::verification::Verification;
use crate::dataset::Outcome;
use crate::error::{Error, Result};
use crate::model::Definition;
use crate::numbers::counted_more;
use crate::ordered_object::OrderedObject;
use crate::score::most_probable;

/// Writes explanations: what the model is, and which outputs and marginals are written.
#[derive(Clone, Debug)]
pub struct ExplanationWriter<'a> {
    /// What the model is.
    pub definition: &'a Definition,
    /// Which outputs.
    pub outputs: Vec<Output>,
    /// Which marginals.
    pub by: Vec<By>,
}

impl ExplanationWriter<'_> {
    /// An explanation as one JSON object on one line.
    pub fn json_line(&self, why: &Explanation) -> Result<Vec<u8>> {
        let mut line = Vec::new();
        serde_json::to_writer(&mut line, &ExplanationDocument { writer: self, why }).map_err(broken)?;
        line.push(b'\n');
        Ok(line)
    }

    /// An explanation as one JSON object for people.
    pub fn json_document(&self, why: &Explanation) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(&ExplanationDocument { writer: self, why }).map_err(broken)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Adds an explanation up again from its own JSON text; a large one output by output, because its text is large too.
    pub fn verify(&self, why: &Explanation) -> Result<Verification> {
        if why.unlisted.is_none() {
            return Verification::of_line(&self.json_line(why)?);
        }
        let mut found = Verification::new();
        for output in &self.outputs {
            let one = ExplanationWriter { outputs: vec![output.clone()], ..self.clone() };
            found.merge(Verification::of_line(&one.json_line(why)?)?);
        }
        found.predictions = 1;
        Ok(found)
    }

    /// The header of the CSV table.
    pub const CSV_HEADER: &'static [u8] = b"id,output,by,term,amount\n";

    /// The rows of an explanation in the CSV table.
    pub fn csv_rows(&self, why: &Explanation) -> Result<Vec<u8>> {
        let mut rows = csv::Writer::from_writer(Vec::new());
        for output in &self.outputs {
            let mut write = |by: &str, term: &str, amount: f64| {
                rows.write_record([why.id.as_str(), &output.name, by, term, &amount.to_string()]).map_err(broken)
            };
            let whole = output.ledger(why, By::Feature);
            write("base", "", whole.base)?;
            write("structure", "", whole.structure)?;
            for by in self.by.iter().filter(|by| why.has(**by)) {
                let ledger = output.ledger(why, *by);
                if let Some(amount) = ledger.average_item {
                    write(by.name(), "average item", amount)?;
                }
                for term in ledger.terms {
                    write(by.name(), &term.name, term.amount)?;
                }
                if let Some((others, sum)) = ledger.rest {
                    write(by.name(), &more_parts(others), sum)?;
                }
            }
            write("total", "", whole.total)?;
            write("prediction", "", whole.prediction)?;
            whole.probability.map_or(Ok(()), |probability| write("probability", "", probability))?;
        }
        rows.into_inner().map_err(broken)
    }
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::input(format!("the explanations cannot be written: {error}"))
}

/// How many parts are not listed: "1 more part", "1,282 more parts".
fn more_parts(count: usize) -> String {
    counted_more(count, "part")
}

struct ExplanationDocument<'a> {
    writer: &'a ExplanationWriter<'a>,
    why: &'a Explanation,
}

impl Serialize for ExplanationDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (why, definition) = (self.why, self.writer.definition);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &why.id)?;
        map.serialize_entry("unit", &definition.shown_unit())?;
        if !why.probabilities.is_empty() {
            let every = Output::all(definition);
            if definition.learned.outcome != Outcome::MultiLabel {
                map.serialize_entry("class", &every.get(most_probable(&why.probabilities)).map(|class| &class.name))?;
            }
            let names = every.iter().map(|output| output.name.as_str());
            map.serialize_entry("probabilities", &OrderedObject(names.zip(&why.probabilities).collect()))?;
        }
        if !why.labels.is_empty() {
            map.serialize_entry("labels", &OrderedObject(names(&why.nodes).zip(&why.labels).collect()))?;
        }
        let slots = why.structure_by_distance.len();
        let distances: Vec<(usize, String)> =
            (0..slots).filter(|slot| why.receivers[*slot] > 0).map(|slot| (slot, why.axis.key(slot))).collect();
        let outputs = self.writer.outputs.iter();
        let parts = outputs
            .map(|output| (output.name.as_str(), OutputDocument { document: self, output, distances: &distances }));
        map.serialize_entry("outputs", &OrderedObject(parts.collect()))?;
        map.serialize_entry("unseen", &why.unseen)?;
        map.serialize_entry("adds_up", &why.adds_up())?;
        map.end()
    }
}

fn names(names: &[String]) -> impl Iterator<Item = &str> {
    names.iter().map(String::as_str)
}

/// The parts of one output.
struct OutputDocument<'a> {
    document: &'a ExplanationDocument<'a>,
    output: &'a Output,
    distances: &'a [(usize, String)],
}

impl OutputDocument<'_> {
    fn by_distance<'a>(&'a self, amount: impl Fn(usize) -> f64) -> OrderedObject<'a, f64> {
        OrderedObject(self.distances.iter().map(|(slot, name)| (name.as_str(), amount(*slot))).collect())
    }
}

impl Serialize for OutputDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (why, output) = (self.document.why, self.output);
        let (shown, sign) = output.shown;
        let signed = |amounts: Vec<f64>| amounts.into_iter().map(move |amount| sign * amount);
        let rows = |rows: &[Vec<f64>]| rows.iter().map(|row| output.of_shown(row)).collect::<Vec<f64>>();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("prediction", &output.of_shown(&why.prediction))?;
        map.serialize_entry("total", &(sign * why.total(shown)))?;
        map.serialize_entry("base", &(sign * why.reference_base(shown)))?;
        map.serialize_entry("structure", &(sign * why.structure_difference(shown)))?;
        if let Some(average) = why.compared_with() {
            let features = names(&why.features).zip(rows(&average.features)).collect();
            let structure = output.of_shown(&average.structure);
            map.serialize_entry(AVERAGE, &AverageDocument { structure, by_feature: OrderedObject(features) })?;
        }
        let structure = self.by_distance(|slot| output.of_shown(&why.structure_by_distance[slot]));
        map.serialize_entry("structure_by_distance", &structure)?;
        for by in self.document.writer.by.iter().filter(|by| why.has(**by)) {
            match by {
                By::Feature => {
                    let amounts = signed(why.feature_differences(shown));
                    map.serialize_entry("by_feature", &OrderedObject(names(&why.features).zip(amounts).collect()))?;
                }
                By::Node => {
                    let amounts = signed(why.by_node(shown));
                    map.serialize_entry("by_node", &OrderedObject(names(&why.nodes).zip(amounts).collect()))?;
                }
                By::Distance => {
                    let amounts: Vec<f64> = signed(why.by_distance(shown)).collect();
                    map.serialize_entry("by_distance", &self.by_distance(|slot| amounts[slot]))?;
                }
                By::FeatureAndDistance => {
                    let cells = why.by_feature_and_distance.iter();
                    let cells = cells.map(|row| self.by_distance(|slot| output.of_shown(&row[slot])));
                    map.serialize_entry(
                        "by_feature_and_distance",
                        &OrderedObject(names(&why.features).zip(cells).collect()),
                    )?;
                }
                By::NodeAndFeature => {
                    map.serialize_entry("by_node_and_feature", &NodeFeatures { why, output })?;
                    if let Some(unlisted) = &why.unlisted {
                        let (sum, size) = (output.of_shown(&unlisted.values), unlisted.sizes[shown]);
                        let others = Others { count: unlisted.count, sum, size };
                        map.serialize_entry(OTHERS, &others)?;
                    }
                }
                By::Receiver => {
                    let amounts = |values| OrderedObject(names(&why.nodes).zip(rows(values)).collect());
                    map.serialize_entry("by_receiver", &amounts(&why.by_receiver))?;
                    map.serialize_entry("structure_by_receiver", &amounts(&why.structure_by_receiver))?;
                }
            }
        }
        map.end()
    }
}

/// Where the parts by node and feature stand that are not listed.
pub(super) const OTHERS: &str = "other_nodes_and_features";

/// Where the means over the training items stand, which `structure` and `by_feature` are compared with; all other parts are
/// not.
pub(super) const AVERAGE: &str = "average_item";

/// The average training item.
#[derive(Serialize)]
struct AverageDocument<'a> {
    structure: f64,
    by_feature: OrderedObject<'a, f64>,
}

/// Parts that are not listed: how many, their sum, and the sum of their sizes.
#[derive(Serialize)]
struct Others {
    count: usize,
    sum: f64,
    size: f64,
}

/// The contributions of the features of every node, by node.
struct NodeFeatures<'a> {
    why: &'a Explanation,
    output: &'a Output,
}

impl Serialize for NodeFeatures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let feature = |part: &Contribution| self.why.features[part.feature].as_str();
        let nodes = self.why.by_node_and_feature.chunk_by(|a, b| a.node == b.node).map(|parts| {
            let amounts = parts.iter().map(|part| (feature(part), self.output.of_shown(&part.values)));
            (&self.why.nodes[parts[0].node], OrderedObject(amounts.collect()))
        });
        serializer.collect_map(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::more_parts;

    #[test]
    fn what_is_not_listed_is_counted() {
        assert_eq!(
            [1, 999, 1282, 1_000_000].map(more_parts),
            ["1 more part", "999 more parts", "1,282 more parts", "1,000,000 more parts"]
        );
    }
}
