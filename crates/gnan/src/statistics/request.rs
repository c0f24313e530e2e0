//! A request for statistics: everything that they depend on besides the items and the levels of the features.

use serde::Serialize;

use super::Sample;
use crate::lens::Lens;

/// Which statistics to compute: everything that they depend on besides the items and the levels of the features.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatisticsRequest {
    /// Divide by the number of nodes in a shell.
    pub normalise: bool,
    /// The ways in which distance is measured.
    pub lenses: Vec<Lens>,
    /// Which features share a rho; `None`: every feature has a rho of its own.
    pub channels: Option<ChannelPlan>,
    /// A sample of every shell in place of the whole.
    pub sample: Option<Sample>,
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
