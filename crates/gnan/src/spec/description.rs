//! Descriptions of nodes by the graph around them: what there is, and how it is written.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A value needs at least so many training graphs (nodes, in a node task) for a level of its own.
pub const LEAST_SUPPORT: u64 = 5;
/// The level of values that are too rare for one of their own.
pub const RARE: &str = "rare";
/// The largest radius of an environment.
const MOST_RADIUS: usize = 3;

/// Which property of a node is described.
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NodeDescription {
    /// What is described.
    pub aspect: Aspect,
    /// Whether equal values of nodes with different labels are different levels.
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

    /// Whether nodes must have a label for it.
    pub(crate) fn needs_label(&self) -> bool {
        self.with_label || matches!(self.aspect, Aspect::Environment { .. })
    }
}

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
}
