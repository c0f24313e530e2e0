//! What can be chosen about distance: how it is measured, which features share a rho, and what is not to be heard.

use clap::{Args, ValueEnum};
use gnan::lens::{EdgeDirection, Lens, Pool, Reach, WeightBins};
use gnan::{Error, Training};
use serde::Serialize;

use super::heading::HEARING;

/// How what the nodes of a graph hear becomes one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoolArg {
    /// Their sum
    Sum,
    /// Their mean
    Mean,
    /// Both, with a rho each
    Both,
}

/// Which way edges are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectionArg {
    /// From source to target
    Along,
    /// From target to source
    Against,
    /// Both ways
    Ignoring,
}

/// Everything that can be chosen about distance.
#[derive(Args, Clone, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct HearingArgs {
    /// Nodes further away than K edges do not count
    #[arg(long, value_name = "K", help_heading = HEARING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_cap: Option<usize>,

    /// All nodes K or more edges away are one shell, heard with one value of rho. This is another model, not an
    /// approximation of the usual one; on large graphs of small diameter it is much cheaper
    #[arg(long, value_name = "K", help_heading = HEARING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far_from: Option<u16>,

    /// Nodes without a path do not count: rho is 0 for them
    #[arg(long, help_heading = HEARING)]
    pub silent_unreachable: bool,

    /// How the nodes of a graph are pooled: sum, mean, or both with a rho each [default: sum]
    #[arg(long, value_name = "sum|mean|both", hide_possible_values = true, help_heading = HEARING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolArg>,

    /// Ways to follow directed edges, each with a rho of its own: along,against,ignoring [default: along]
    #[arg(long, value_name = "WAYS", value_delimiter = ',', help_heading = HEARING)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub direction: Vec<DirectionArg>,

    /// Edge types that a distance is counted over, joined by +; several sets give a rho each: single,double+triple
    #[arg(long, value_name = "SETS", value_delimiter = ',', help_heading = HEARING)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edge_types: Vec<String>,

    /// Distance is the sum of a column of the edges, cut into bins that end here: days=1,7,30
    #[arg(long, value_name = "COLUMN=ENDS", help_heading = HEARING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge_weight: Option<String>,

    /// Features that share a distance function: [NAME=]A,B (may be repeated)
    #[arg(long, value_name = "FEATURES", help_heading = HEARING)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rho_group: Vec<String>,

    /// Only a node's own value of these features counts, never another node's: no guilt by association
    #[arg(long, value_name = "FEATURES", value_delimiter = ',', help_heading = HEARING)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own_only: Vec<String>,

    /// A node's own value of these features does not count, only those of other nodes
    #[arg(long, value_name = "FEATURES", value_delimiter = ',', help_heading = HEARING)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbours_only: Vec<String>,

    /// Hop caps of single features: FEATURE=K,...
    #[arg(long, value_name = "CAPS", value_delimiter = ',', help_heading = HEARING)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hop_cap_of: Vec<String>,
}

impl HearingArgs {
    /// Writes the choices into a training.
    pub fn apply(&self, training: &mut Training) -> Result<(), Error> {
        training.hop_cap = self.hop_cap;
        training.silent_unreachable = self.silent_unreachable;
        training.lenses = self.lenses()?;
        for (number, group) in self.rho_group.iter().enumerate() {
            let (name, members) = match group.split_once('=') {
                Some((name, members)) => (name.to_owned(), members),
                None => (format!("group {}", number + 1), group.as_str()),
            };
            training.rho_groups.push((name, members.split(',').map(str::to_owned).collect()));
        }
        training.associations.extend(self.own_only.iter().map(|name| (name.clone(), Reach::OWN)));
        training.associations.extend(self.neighbours_only.iter().map(|name| (name.clone(), Reach::OTHERS)));
        for cap in &self.hop_cap_of {
            let parsed = cap.rsplit_once('=').and_then(|(name, cap)| Some((name.to_owned(), cap.parse().ok()?)));
            let Some((name, cap)) = parsed else {
                return Err(Error::usage(format!("\"{cap}\" is no hop cap of a feature"))
                    .remedy("give a name and a number of edges: --hop-cap-of age=2"));
            };
            training.associations.push((name, Reach::up_to(cap)));
        }
        Ok(())
    }

    fn lenses(&self) -> Result<Vec<Lens>, Error> {
        let pools = match self.pool {
            None | Some(PoolArg::Sum) => vec![Pool::Sum],
            Some(PoolArg::Mean) => vec![Pool::Mean],
            Some(PoolArg::Both) => vec![Pool::Sum, Pool::Mean],
        };
        let mut directions: Vec<EdgeDirection> = (self.direction.iter())
            .map(|direction| match direction {
                DirectionArg::Along => EdgeDirection::Along,
                DirectionArg::Against => EdgeDirection::Against,
                DirectionArg::Ignoring => EdgeDirection::Ignoring,
            })
            .collect();
        if directions.is_empty() {
            directions.push(EdgeDirection::Along);
        }
        let mut types: Vec<Vec<String>> = self
            .edge_types
            .iter()
            .map(|set| if set == "all" { Vec::new() } else { set.split('+').map(str::to_owned).collect() })
            .collect();
        if types.is_empty() {
            types.push(Vec::new());
        }
        let bins = self.edge_weight.as_deref().map(bins).transpose()?;
        let mut lenses = Vec::new();
        for direction in directions {
            for types in &types {
                for pool in &pools {
                    let (types, bins) = (types.clone(), bins.clone());
                    lenses.push(Lens { direction, types, bins, far: self.far_from, pool: *pool });
                }
            }
        }
        Lens::check(&lenses)?;
        Ok(lenses)
    }
}

fn bins(text: &str) -> Result<WeightBins, Error> {
    let parsed = text.rsplit_once('=').and_then(|(weight, ends)| {
        let ends = ends.split(',').map(|end| end.trim().parse().ok()).collect::<Option<Vec<f64>>>()?;
        Some(WeightBins { weight: weight.to_owned(), ends })
    });
    parsed.ok_or_else(|| {
        Error::usage(format!("\"{text}\" does not say how to cut a distance into bins"))
            .remedy("name a column of the edges and where its bins end: --edge-weight days=1,7,30")
    })
}
