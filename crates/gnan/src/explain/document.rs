//! Explanations for programs: one JSON object each, or rows of one long CSV table.
//!
//! Everything is called by its name: outputs, features, nodes, distances (`0`, `1`, ..., `unreachable`). For every output
//! `base + structure + the sum of any marginal = prediction`.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::explanation::{Contribution, Explanation};
use super::ledger::By;
use super::output::Output;
use super::part_sds::PartSds;
use super::reference::Reference;
use super::verification::Verification;
use crate::dataset::Outcome;
use crate::error::{Error, Result};
use crate::model::{Definition, TargetFamily};
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
    /// Most source nodes that are listed, the strongest; the others are summed. `None`: all.
    pub most_nodes: Option<usize>,
}

/// One number of an explanation as a row of a long table.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplanationRow {
    /// Id of the item.
    pub id: String,
    /// The output.
    pub output: String,
    /// Which marginal it is a term of; or what else it is: `base`, `structure`, `total`, `prediction`, `probability`.
    pub by: &'static str,
    /// The term.
    pub term: String,
    /// The number.
    pub amount: f64,
    /// Its standard deviation, where it is known.
    pub sd: Option<f64>,
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

    /// An explanation as rows of a long table.
    pub fn rows(&self, why: &Explanation) -> Vec<ExplanationRow> {
        let mut rows = Vec::new();
        for output in &self.outputs {
            let mut add = |by: &'static str, term: String, amount: f64, sd: Option<f64>| {
                rows.push(ExplanationRow { id: why.id.clone(), output: output.name.clone(), by, term, amount, sd });
            };
            let whole = output.ledger(why, By::Feature);
            add("base", String::new(), whole.base, None);
            add("structure", String::new(), whole.structure, whole.structure_sd);
            for by in self.by.iter().filter(|by| why.has(**by)) {
                let ledger = output.ledger(why, *by);
                let ledger = match self.most_nodes {
                    Some(most) if *by == By::Node => ledger.top(most),
                    _ => ledger,
                };
                if let Some(amount) = ledger.average_item {
                    add(by.name(), "average item".to_owned(), amount, None);
                }
                ledger.terms.into_iter().for_each(|term| add(by.name(), term.name, term.amount, term.sd));
                if let Some((others, sum)) = ledger.rest {
                    add(by.name(), more_parts(others), sum, None);
                }
            }
            add("total", String::new(), whole.total, whole.prediction_sd);
            add("prediction", String::new(), whole.prediction, whole.prediction_sd);
            if self.definition.learned.target_family.is_some() {
                add("value", String::new(), self.definition.learned.value_of(whole.prediction), None);
            }
            whole.probability.into_iter().for_each(|probability| add("probability", String::new(), probability, None));
        }
        rows
    }

    /// The nodes of which something is written, ascending.
    fn listed_nodes(&self, why: &Explanation) -> Vec<usize> {
        let all = |by: &By| matches!(by, By::NodeAndFeature | By::Receiver);
        match self.by.iter().any(all) {
            true => (0..why.nodes.len()).collect(),
            false if !self.by.contains(&By::Node) => Vec::new(),
            false => {
                let strongest =
                    self.outputs.iter().flat_map(|output| self.strongest_nodes(&why.by_node(output.shown.0)));
                let mut nodes: Vec<usize> = strongest.collect();
                nodes.sort_unstable();
                nodes.dedup();
                nodes
            }
        }
    }

    /// The nodes that are listed by what they contribute to an output, ascending.
    fn strongest_nodes(&self, amounts: &[f64]) -> Vec<usize> {
        let mut nodes: Vec<usize> = (0..amounts.len()).collect();
        if let Some(most) = self.most_nodes.filter(|most| *most < nodes.len()) {
            let size = |node: usize| amounts[node].abs();
            nodes.select_nth_unstable_by(most, |a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
            nodes.truncate(most);
            nodes.sort_unstable();
        }
        nodes
    }

    /// Whether rows have standard deviations: the model was fitted by penalised likelihood.
    pub fn has_sds(&self) -> bool {
        self.definition.record.summary.is_some()
    }

    /// The header of the CSV table.
    pub fn csv_header(&self) -> &'static [u8] {
        if self.has_sds() { b"id,output,by,term,amount,sd\n" } else { b"id,output,by,term,amount\n" }
    }

    /// The rows of an explanation in the CSV table.
    pub fn csv_rows(&self, why: &Explanation) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        for ExplanationRow { id, output, by, term, amount, sd } in self.rows(why) {
            let amount = amount.to_string();
            let sd = self.has_sds().then(|| sd.map(|sd| sd.to_string()).unwrap_or_default());
            table
                .write_record([id.as_str(), &output, by, &term, &amount].into_iter().chain(sd.as_deref()))
                .map_err(broken)?;
        }
        table.into_inner().map_err(broken)
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
        if definition.learned.target_family.is_some() {
            let names = definition.learned.targets.iter().map(|target| target.name.as_str());
            let values = why.prediction.iter().map(|output| definition.learned.value_of(*output));
            map.serialize_entry("link", "log")?;
            map.serialize_entry("note", TargetFamily::SENTENCE)?;
            map.serialize_entry("values", &OrderedObject(names.zip(values).collect()))?;
        }
        let nodes = self.writer.listed_nodes(why);
        if !why.labels.is_empty() && !nodes.is_empty() {
            let labels = nodes.into_iter().map(|node| (why.nodes[node].as_str(), &why.labels[node]));
            map.serialize_entry("labels", &OrderedObject(labels.collect()))?;
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
                    let amounts = why.by_node(shown);
                    let listed = self.document.writer.strongest_nodes(&amounts);
                    let entries = listed.iter().map(|node| (why.nodes[*node].as_str(), sign * amounts[*node]));
                    map.serialize_entry("by_node", &OrderedObject(entries.collect()))?;
                    if listed.len() < amounts.len() {
                        let others = || (0..amounts.len()).filter(|node| listed.binary_search(node).is_err());
                        let sum = others().map(|node| sign * amounts[node]).sum();
                        let size = others().map(|node| amounts[node].abs()).sum();
                        let count = amounts.len() - listed.len();
                        map.serialize_entry(OTHER_NODES, &Others { count, sum, size })?;
                    }
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
        if let Some(sds) = &why.sds {
            map.serialize_entry("sd", &SdDocument { document: self, sds })?;
        }
        map.end()
    }
}

/// The standard deviations of the parts of one output, by the names of the parts.
struct SdDocument<'a> {
    document: &'a OutputDocument<'a>,
    sds: &'a PartSds,
}

impl Serialize for SdDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let SdDocument { document, sds } = self;
        let why = document.document.why;
        let (shown, _) = document.output.shown;
        let reference = if why.compared_with().is_some() { Reference::Average } else { Reference::Zero };
        let own = |rows: &[Vec<f64>]| rows.iter().map(|row| row[shown]).collect::<Vec<f64>>();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("prediction", &sds.prediction[shown])?;
        map.serialize_entry("structure", &sds.of_structure(reference)[shown])?;
        for by in document.document.writer.by.iter().filter(|by| why.has(**by)) {
            match by {
                By::Feature => {
                    let entries = names(&why.features).zip(own(sds.of_features(reference)));
                    map.serialize_entry("by_feature", &OrderedObject(entries.collect()))?;
                }
                By::Node if !sds.by_node.is_empty() => {
                    let listed = document.document.writer.strongest_nodes(&why.by_node(shown));
                    let entries = listed.iter().map(|node| (why.nodes[*node].as_str(), sds.by_node[*node][shown]));
                    map.serialize_entry("by_node", &OrderedObject(entries.collect()))?;
                }
                By::Distance => {
                    map.serialize_entry("by_distance", &document.by_distance(|slot| sds.by_distance[slot][shown]))?;
                }
                By::FeatureAndDistance => {
                    let cells = sds.by_feature_and_distance.iter();
                    let cells = cells.map(|row| document.by_distance(|slot| row[slot][shown]));
                    let entries = names(&why.features).zip(cells).collect();
                    map.serialize_entry("by_feature_and_distance", &OrderedObject(entries))?;
                }
                By::Receiver if !sds.by_receiver.is_empty() => {
                    let entries = names(&why.nodes).zip(own(&sds.by_receiver));
                    map.serialize_entry("by_receiver", &OrderedObject(entries.collect()))?;
                }
                By::Node | By::NodeAndFeature | By::Receiver => {}
            }
        }
        map.end()
    }
}

/// Where the parts by node stand that are not listed.
pub(super) const OTHER_NODES: &str = "other_nodes";

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
