//! Descriptions: named categorical features computed from the graph around each node.
//!
//! A description is an ordinary feature once it is computed: it has levels, a shape function and support, and stands in
//! every ledger. What makes it special is that a model remembers how to compute it, and that values which are rare in
//! training share one level (see [`NodeDescription::least_support`]).

mod environment;
mod neighbourhood;
mod ring;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Dataset, Feature};
use crate::error::{Error, Result};
use crate::files::{Kind, MISSING, Values};
use crate::remedy::Remedy;
use neighbourhood::Neighbourhood;

/// A value needs at least so many training graphs (nodes, in a node task) for a level of its own.
pub const LEAST_SUPPORT: u64 = 5;
/// The level of values that are too rare for one of their own.
pub const RARE: &str = "rare";
/// The largest radius of an environment.
const MOST_RADIUS: usize = 3;
/// Counts up to this have a level each; beyond, a level is a range that doubles.
const EXACT_COUNT: usize = 8;

/// What a description measures of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aspect {
    /// How many neighbours it has.
    Degree,
    /// The length of the shortest cycle through it.
    Ring,
    /// How many triangles it is a corner of.
    Triangles,
    /// Its label with the labels of its neighbours and of the edges to them, and so on up to a radius.
    Environment {
        /// How many edges away it looks.
        radius: usize,
    },
}

/// How to describe nodes by the graph around them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeDescription {
    /// What is described.
    pub aspect: Aspect,
    /// Whether each value is divided by the label of the node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_label: bool,
    /// Training graphs (nodes, in a node task) that a value needs for a level of its own.
    pub least_support: u64,
    /// The feature that labels the nodes, as a model remembers it; `None`: the element, or else the first categorical
    /// feature of the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl NodeDescription {
    /// A description with the usual support.
    pub fn new(aspect: Aspect) -> NodeDescription {
        NodeDescription { aspect, with_label: false, least_support: LEAST_SUPPORT, label: None }
    }

    /// The name of the feature.
    pub fn feature_name(&self) -> String {
        let name = match self.aspect {
            Aspect::Degree => "neighbours".to_owned(),
            Aspect::Ring => "smallest ring".to_owned(),
            Aspect::Triangles => "triangles".to_owned(),
            Aspect::Environment { radius: 1 } => "environment".to_owned(),
            Aspect::Environment { radius } => format!("environment {radius}"),
        };
        if self.with_label { format!("{name} by label") } else { name }
    }

    fn needs_label(&self) -> bool {
        self.with_label || matches!(self.aspect, Aspect::Environment { .. })
    }
}

/// As it is written on the command line.
impl fmt::Display for NodeDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.aspect {
            Aspect::Degree => f.write_str("degree")?,
            Aspect::Ring => f.write_str("ring")?,
            Aspect::Triangles => f.write_str("triangles")?,
            Aspect::Environment { radius: 1 } => f.write_str("environment")?,
            Aspect::Environment { radius } => write!(f, "environment:{radius}")?,
        }
        if self.with_label {
            f.write_str("+label")?;
        }
        if self.least_support == LEAST_SUPPORT { Ok(()) } else { write!(f, "@{}", self.least_support) }
    }
}

impl FromStr for NodeDescription {
    type Err = Error;

    /// Reads `degree`, `ring`, `triangles`, `environment`, `environment:2`, the first three also with `+label`, and all
    /// of them with the support that a value needs: `environment@20`.
    fn from_str(word: &str) -> Result<NodeDescription> {
        let unknown = || {
            Error::usage(format!("there is no description \"{word}\"")).with_remedy(
                "choose from degree, ring, triangles (each also with +label) and environment (environment:2 looks further)",
            )
        };
        let (trimmed, least_support) = match word.trim().split_once('@') {
            Some((name, support)) => (name, support.parse().map_err(|_| unknown())?),
            None => (word.trim(), LEAST_SUPPORT),
        };
        let (name, with_label) = match trimmed.strip_suffix("+label") {
            Some(name) => (name, true),
            None => (trimmed, false),
        };
        let aspect = match name.split_once(':').unwrap_or((name, "1")) {
            ("degree", "1") => Aspect::Degree,
            ("ring", "1") => Aspect::Ring,
            ("triangles", "1") => Aspect::Triangles,
            ("environment", radius) if !with_label => {
                let radius = radius.parse().map_err(|_| unknown())?;
                if !(1..=MOST_RADIUS).contains(&radius) {
                    return Err(Error::usage(format!("an environment of radius {radius}"))
                        .with_remedy(format!("choose a radius from 1 to {MOST_RADIUS}")));
                }
                Aspect::Environment { radius }
            }
            _ => return Err(unknown()),
        };
        Ok(NodeDescription { with_label, least_support, ..NodeDescription::new(aspect) })
    }
}

impl Dataset {
    /// The same data with the descriptions as further features, after the others.
    pub fn described(&self, descriptions: &[NodeDescription]) -> Result<Dataset> {
        if descriptions.is_empty() {
            return Ok(self.clone());
        }
        let mut described = descriptions.iter().map(|description| self.describe(description)).collect::<Result<_>>()?;
        let mut content = (*self.content).clone();
        content.features.append(&mut described);
        let mut names: Vec<&str> = content.features.iter().map(|feature| feature.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::usage(format!("there would be two features called \"{}\"", twice[0]))
                .with_remedy("leave that description out, or rename the column of the data"));
        }
        Ok(Dataset { content: content.into(), items: self.items.clone() })
    }

    /// The feature that a description is, over all nodes of the content.
    pub fn describe(&self, description: &NodeDescription) -> Result<Feature> {
        if self.links().is_some() {
            // Pairs are described by their ends, when they are made.
            let found = self.features().iter().find(|feature| feature.description.as_ref() == Some(description));
            return found.cloned().ok_or_else(|| {
                Error::usage(format!("the ends of these pairs are not described by \"{description}\""))
                    .with_remedy(Remedy::Set("describe", description.to_string()))
            });
        }
        let label = if description.needs_label() { Some(self.label(description)?) } else { None };
        let label = label.as_ref();
        let words: Vec<Vec<String>> = (0..self.graph_count())
            .into_par_iter()
            .map(|graph| {
                let around = Neighbourhood::new(self, graph, label);
                let nodes = 0..around.len();
                match description.aspect {
                    Aspect::Degree => nodes.map(|node| counted(around.degree(node))).collect(),
                    Aspect::Ring => ring::words(&around),
                    Aspect::Triangles => nodes.map(|node| counted(around.triangles(node))).collect(),
                    Aspect::Environment { radius } => {
                        nodes.map(|node| environment::word(&around, node, radius)).collect()
                    }
                }
            })
            .collect();
        let mut words: Vec<String> = words.into_iter().flatten().collect();
        if description.with_label
            && let Some(label) = label
        {
            for (node, word) in words.iter_mut().enumerate() {
                *word = format!("{}: {word}", level_name(label, node));
            }
        }
        // A lone node labelled "rare" is not what is too rare.
        words.iter_mut().filter(|word| *word == RARE).for_each(|word| word.push_str(" (label)"));
        Ok(Feature {
            name: description.feature_name(),
            kind: Kind::Categorical,
            unit: None,
            values: categories(words),
            description: Some(NodeDescription { label: label.map(|label| label.name.clone()), ..description.clone() }),
            pair: None,
        })
    }

    /// The feature that says what each node is. A model names it: which one is chosen depends on the data.
    fn label(&self, description: &NodeDescription) -> Result<Feature> {
        let mut given = self.features().iter().filter(|feature| feature.description.is_none());
        if let Some(name) = &description.label {
            return match given.find(|feature| feature.name == *name) {
                Some(label) => label.with_kind(Kind::Categorical),
                None => {
                    Err(Error::input(format!("the data have no feature \"{name}\", by which the model labels nodes"))
                        .with_remedy("add the column"))
                }
            };
        }
        self.elements().or_else(|| given.find(|feature| feature.kind == Kind::Categorical)).cloned().ok_or_else(|| {
            Error::usage(format!("\"{description}\" needs nodes with a label, and there is none"))
                .with_remedy("a label is a categorical feature of the nodes; degree, ring and triangles need none")
        })
    }
}

/// Words as categories, levels in the order of the alphabet, so that they do not depend on the order of the graphs.
fn categories(words: Vec<String>) -> Values {
    let mut places: BTreeMap<String, u32> = BTreeMap::new();
    for word in &words {
        if !places.contains_key(word) {
            places.insert(word.clone(), 0);
        }
    }
    for (place, (_, slot)) in (0..).zip(&mut places) {
        *slot = place;
    }
    let codes = words.iter().map(|word| places[word]).collect();
    Values::Categories { codes, levels: places.into_keys().collect() }
}

/// The label of a node.
fn level_name(label: &Feature, node: usize) -> &str {
    match &label.values {
        Values::Categories { codes, levels } if codes[node] != MISSING => &levels[codes[node] as usize],
        _ => "?",
    }
}

/// A count as a level: itself, or the range it falls into.
fn counted(count: usize) -> String {
    if count <= EXACT_COUNT {
        return count.to_string();
    }
    let mut most = 2 * EXACT_COUNT;
    while count > most {
        most *= 2;
    }
    format!("{} to {most}", most / 2 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_read_as_they_are_written() {
        for word in ["degree", "ring", "triangles", "environment", "environment:2", "ring+label", "ring+label@20"] {
            assert_eq!(word.parse::<NodeDescription>().unwrap().to_string(), word);
        }
        for word in
            ["", "rings", "environment:0", "environment:9", "environment:x", "ring:2", "environment+label", "ring@many"]
        {
            assert!(word.parse::<NodeDescription>().is_err(), "{word}");
        }
    }

    #[test]
    fn large_counts_fall_into_ranges_that_double() {
        assert_eq!([0, 8, 9, 16, 17, 1000].map(counted), ["0", "8", "9 to 16", "9 to 16", "17 to 32", "513 to 1024"]);
    }
}
