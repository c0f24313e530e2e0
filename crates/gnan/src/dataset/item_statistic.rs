//! Item statistics: numbers that sum an item up, as features of the item itself.
//!
//! A model of the second level has curves over them, and tables over two of them: see [`ItemStatistic`].

use serde::{Deserialize, Serialize};

use super::Dataset;
use super::feature::Feature;
use crate::files::{Kind, Values};

/// What is counted or averaged.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Quantity {
    /// The number of nodes: of a graph, or at a distance from a node.
    Nodes,
    /// Edges per node of a graph.
    Edges,
    /// The share of the nodes of a graph that have others at a distance.
    Reaching,
    /// The mean of a number over the nodes at a distance.
    Mean {
        /// The feature.
        feature: String,
    },
    /// The share of a level in the nodes at a distance.
    Share {
        /// The feature.
        feature: String,
        /// The level.
        level: String,
    },
    /// The number of nodes of a graph with a level.
    Count {
        /// The feature.
        feature: String,
        /// The level.
        level: String,
    },
}

/// A number that sums an item up: a graph, or a node with those around it.
///
/// Means over the nodes at a distance are means over the shell of a node; of a graph, means over the shells of all its nodes that
/// are not empty. All nodes of a graph have its values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemStatistic {
    /// What is counted or averaged.
    pub of: Quantity,
    /// The distance of the nodes that it is counted or averaged over; 0 where it is all nodes of a graph.
    pub distance: usize,
}

impl ItemStatistic {
    /// The farthest distance there can be.
    pub const FARTHEST: usize = 8;

    /// The feature that it sums up, and the level that is counted.
    pub fn feature(&self) -> Option<(&str, Option<&str>)> {
        match &self.of {
            Quantity::Nodes | Quantity::Edges | Quantity::Reaching => None,
            Quantity::Mean { feature } => Some((feature, None)),
            Quantity::Share { feature, level } | Quantity::Count { feature, level } => Some((feature, Some(level))),
        }
    }

    /// The name of the feature that it is.
    pub fn feature_name(&self) -> String {
        let what = match &self.of {
            Quantity::Nodes if self.distance == 0 => return "number of nodes".to_owned(),
            Quantity::Nodes => return format!("number of nodes at distance {}", self.distance),
            Quantity::Edges => return "edges per node".to_owned(),
            Quantity::Reaching => return format!("share of nodes with others at distance {}", self.distance),
            Quantity::Count { feature, level } => return format!("number of {feature} {level}"),
            Quantity::Mean { feature } => format!("mean {feature}"),
            Quantity::Share { feature, level } => format!("share of {feature} {level}"),
        };
        match self.distance {
            0 => what,
            distance => format!("{what} at distance {distance}"),
        }
    }

    /// The feature with these values of all nodes.
    pub(crate) fn with_values(self, values: Vec<f64>) -> Feature {
        let feature = Feature::new(self.feature_name(), Kind::Continuous, Values::Numbers(values));
        Feature { statistic: Some(self), ..feature }
    }
}

impl Dataset {
    /// The same data with further features after the others, but those whose names are taken.
    pub(crate) fn with_more_features(&self, more: Vec<Feature>) -> Dataset {
        let mut content = (*self.content).clone();
        for feature in more {
            if content.features.iter().all(|other| other.name != feature.name) {
                content.features.push(feature);
            }
        }
        self.with_content(content)
    }
}
