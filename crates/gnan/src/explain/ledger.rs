//! A ledger: one output of one prediction as terms that add up, by whichever marginal is wanted.

use serde::Serialize;

use super::explanation::Explanation;
use super::reference::Reference;
use crate::files::FunctionalGroup;

/// What the terms of a ledger are.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// use gnan::By;
/// let why = model.explain(&test, 3)?;
/// let sums = [By::Feature, By::Node, By::Distance].map(|by| why.ledger(0, by).total);
/// assert!(sums.iter().all(|sum| (sum - sums[0]).abs() < 1e-9));
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// Features.
    Feature,
    /// Source nodes: what their own features did.
    Node,
    /// Distances.
    Distance,
    /// Pairs of feature and distance.
    FeatureAndDistance,
    /// Pairs of source node and feature.
    NodeAndFeature,
    /// Receiving nodes; graph tasks only.
    Receiver,
}

/// One term of a ledger.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Term {
    /// What it is.
    pub name: String,
    /// What it adds, in the unit of the output.
    pub amount: f64,
    /// The standard deviation of that, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
}

/// Terms that, with base and structure term, add up to an output.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// use gnan::By;
/// let ledger = model.explain(&test, 3)?.ledger(0, By::Feature).top(3);
/// for term in &ledger.terms {
///     println!("{} {:+.2}", term.name, term.amount);
/// }
/// assert!(ledger.terms.len() <= 3);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ledger {
    /// Id of the item.
    pub id: String,
    /// Name of the output.
    pub output: String,
    /// What the terms are.
    pub by: By,
    /// What its terms are compared with.
    pub reference: Reference,
    /// The mean output over the training items, or the output bias.
    pub base: f64,
    /// What the shape of the graph alone adds; by receiver it is part of the terms.
    pub structure: f64,
    /// The standard deviation of that, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structure_sd: Option<f64>,
    /// What the average item has in place of terms that have no average of their own (all but features): less all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_item: Option<f64>,
    /// The terms.
    pub terms: Vec<Term>,
    /// How many terms are summed up in the last place, and their sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<(usize, f64)>,
    /// Base, structure, average item, terms and rest together.
    pub total: f64,
    /// What the engine computed.
    pub prediction: f64,
    /// The standard deviation of that, where it is known; the noise of a target comes on top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prediction_sd: Option<f64>,
    /// The probability that goes with it, where the output is one of a class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
}

impl By {
    /// Every marginal.
    pub const ALL: [By; 6] =
        [By::Feature, By::Node, By::Distance, By::FeatureAndDistance, By::NodeAndFeature, By::Receiver];

    /// Its name in options and tables.
    pub fn name(self) -> &'static str {
        match self {
            By::Feature => "feature",
            By::Node => "node",
            By::Distance => "distance",
            By::FeatureAndDistance => "feature-distance",
            By::NodeAndFeature => "node-feature",
            By::Receiver => "receiver",
        }
    }
}

impl Explanation {
    /// Whether there is such a marginal: a node task has one receiver alone, the item itself.
    pub fn has(&self, by: By) -> bool {
        by != By::Receiver || !self.by_receiver.is_empty()
    }

    /// The probability that goes with an output, where the model predicts classes.
    pub fn probability(&self, output: usize) -> Option<f64> {
        // A binary task shows one output, that of its second class.
        let second = usize::from(self.probabilities.len() > self.outputs.len());
        self.probabilities.get(output + second).copied()
    }

    /// A node as it is called in ledgers: its id, and its label where it has one.
    pub fn node_name(&self, node: usize) -> String {
        match self.labels.get(node).map(String::as_str) {
            None | Some("") => self.nodes[node].clone(),
            Some(label) => format!("{} ({label})", self.nodes[node]),
        }
    }

    /// One output as a ledger. Terms are in the order of features, nodes and distances; those that are exactly 0 because
    /// nothing is there (a distance that does not occur) are left out of pairs.
    pub fn ledger(&self, output: usize, by: By) -> Ledger {
        let term =
            |name: String, amount: f64, sd: Option<&Vec<f64>>| Term { name, amount, sd: sd.map(|sd| sd[output]) };
        let sds = self.sds.as_ref();
        let compared = if self.compared_with().is_some() { Reference::Average } else { Reference::Zero };
        let terms: Vec<Term> = match by {
            By::Feature => (self.features.iter().zip(self.feature_differences(output)).enumerate())
                .map(|(k, (name, amount))| {
                    term(name.clone(), amount, sds.and_then(|sds| sds.of_features(compared).get(k)))
                })
                .collect(),
            By::Node => (self.by_node(output).into_iter().enumerate())
                .map(|(node, amount)| term(self.node_name(node), amount, sds.and_then(|sds| sds.by_node.get(node))))
                .collect(),
            By::Distance => (self.by_distance(output).into_iter().enumerate())
                .filter(|(slot, _)| self.occurs(*slot))
                .map(|(slot, amount)| term(self.axis.name(slot), amount, sds.and_then(|sds| sds.by_distance.get(slot))))
                .collect(),
            By::FeatureAndDistance => {
                let features = self.features.iter().zip(&self.by_feature_and_distance).enumerate();
                let pairs =
                    features.flat_map(|(k, (name, row))| row.iter().enumerate().map(move |cell| (k, name, cell)));
                pairs
                    .filter(|(_, _, (slot, values))| self.occurs(*slot) && values[output] != 0.0)
                    .map(|(k, name, (slot, values))| {
                        let sd = sds.and_then(|sds| sds.by_feature_and_distance.get(k)?.get(slot));
                        term(format!("{name}, {}", self.axis.name(slot)), values[output], sd)
                    })
                    .collect()
            }
            By::NodeAndFeature => (self.by_node_and_feature.iter())
                .map(|part| {
                    let name = format!("{}, {}", self.node_name(part.node), self.features[part.feature]);
                    term(name, part.values[output], None)
                })
                .collect(),
            By::Receiver => (self.receiver_outputs(output).into_iter().enumerate())
                .map(|(node, amount)| term(self.node_name(node), amount, sds.and_then(|sds| sds.by_receiver.get(node))))
                .collect(),
        };
        let base = self.reference_base(output);
        let structure = if by == By::Receiver { 0.0 } else { self.structure_difference(output) };
        let average_item = self.compared_with().filter(|_| by != By::Feature).map(|average| {
            let structure = if by == By::Receiver { average.structure[output] } else { 0.0 };
            -average.all_features(output) - structure
        });
        let rest = match (by, &self.unlisted) {
            (By::NodeAndFeature, Some(unlisted)) => Some((unlisted.count, unlisted.values[output])),
            _ => None,
        };
        Ledger {
            id: self.id.clone(),
            output: self.outputs[output].clone(),
            by,
            reference: compared,
            base,
            structure,
            structure_sd: sds.filter(|_| by != By::Receiver).map(|sds| sds.of_structure(compared)[output]),
            average_item,
            total: base
                + structure
                + average_item.unwrap_or(0.0)
                + terms.iter().map(|term| term.amount).sum::<f64>()
                + rest.map_or(0.0, |(_, amount)| amount),
            terms,
            rest,
            prediction: self.prediction[output],
            prediction_sd: sds.map(|sds| sds.prediction[output]),
            probability: self.probability(output),
        }
    }

    fn occurs(&self, slot: usize) -> bool {
        self.receivers.get(slot).is_some_and(|receivers| *receivers > 0)
    }
}

impl Ledger {
    /// The names of the term that raises the output most and of the one that lowers it most, where there are such; the
    /// structure term is called "structure".
    pub fn extremes(&self) -> [Option<&str>; 2] {
        let terms = self.terms.iter().map(|term| (term.name.as_str(), term.amount));
        let terms: Vec<(&str, f64)> = terms.chain([("structure", self.structure)]).collect();
        let highest = terms.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, amount)| *amount > 0.0);
        let lowest = terms.iter().min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, amount)| *amount < 0.0);
        [highest, lowest].map(|term| term.map(|(name, _)| *name))
    }

    /// A ledger by node as one by functional group: what the atoms of a group contribute together. Groups of one name are one
    /// term, which counts them.
    pub fn by_group(self, groups: &[FunctionalGroup]) -> Ledger {
        let mut sums: Vec<(&str, usize, f64)> = Vec::new();
        for group in groups {
            let terms = group.atoms.iter().filter_map(|atom| self.terms.get(*atom));
            let amount: f64 = terms.map(|term| term.amount).sum();
            match sums.iter_mut().find(|(name, ..)| *name == group.name) {
                Some((_, count, sum)) => (*count, *sum) = (*count + 1, *sum + amount),
                None => sums.push((&group.name, 1, amount)),
            }
        }
        let name =
            |name: &str, count: usize| if count == 1 { name.to_owned() } else { format!("{name} ({count} of them)") };
        let terms = sums
            .into_iter()
            .map(|(group, count, amount)| Term { name: name(group, count), amount, sd: None })
            .collect();
        Ledger { terms, ..self }
    }

    /// The largest `count` terms, largest first, and the sum of the others.
    pub fn top(mut self, count: usize) -> Ledger {
        self.terms.sort_by(|a, b| b.amount.abs().total_cmp(&a.amount.abs()));
        if self.terms.len() > count {
            let others = self.terms.split_off(count);
            let (more, amount) = self.rest.unwrap_or((0, 0.0));
            self.rest = Some((others.len() + more, others.iter().map(|term| term.amount).sum::<f64>() + amount));
        }
        self
    }
}
