//! A request for statistics: everything that they depend on besides the items and the levels of the features.

use serde::Serialize;

use super::Sample;
use crate::lens::Lens;
use crate::spec::StatisticsSpec;

/// Which statistics to compute: everything that they depend on besides the items and the levels of the features.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatisticsRequest {
    /// What the sources of a shell count.
    pub weighting: ShellWeighting,
    /// The ways in which distance is measured.
    pub lenses: Vec<Lens>,
    /// Which features share a rho; `None`: every feature has a rho of its own.
    pub channels: Option<ChannelPlan>,
    /// Whether every feature is in cells, because its levels or knots have a rho each.
    pub in_cells: bool,
    /// A sample of every shell in place of the whole.
    pub sample: Option<Sample>,
    /// The farthest distance at which features count, unreachable nodes being farther; `None`: any. Cells beyond are left out.
    pub farthest: Option<usize>,
}

/// What the sources of a shell count, for training and explanations alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ShellWeighting {
    /// All of them together as much as one: the shell's mean.
    Mean,
    /// One each: the shell's sum.
    Sum,
}

impl ShellWeighting {
    /// The weighting that a specification requests.
    pub fn of(spec: &StatisticsSpec) -> ShellWeighting {
        if spec.normalises() { ShellWeighting::Mean } else { ShellWeighting::Sum }
    }

    /// What each of `count` sources counts.
    pub fn of_one(self, count: u32) -> f64 {
        match self {
            ShellWeighting::Mean => 1.0 / f64::from(count),
            ShellWeighting::Sum => 1.0,
        }
    }

    /// What `count` sources count together.
    pub fn of_all(self, count: u32) -> f64 {
        match self {
            ShellWeighting::Mean => f64::from(count.min(1)),
            ShellWeighting::Sum => f64::from(count),
        }
    }
}

/// Which features of a node task share a rho, and so a channel of the shell rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChannelPlan {
    /// The channel of the bias.
    pub bias: usize,
    /// The channel of every feature.
    pub features: Vec<usize>,
}

impl ChannelPlan {
    /// One rho for all of so many features and the bias.
    pub fn shared(features: usize) -> ChannelPlan {
        ChannelPlan { bias: 0, features: vec![0; features] }
    }

    /// Number of channels.
    pub fn count(&self) -> usize {
        1 + self.features.iter().copied().fold(self.bias, usize::max)
    }
}
