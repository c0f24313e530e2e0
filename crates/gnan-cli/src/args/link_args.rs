//! How links are asked about when they are what is predicted.

use clap::Args;
use gnan::dataset::{LinkDivision, LinkOptions, LinkPairs};
use serde::Serialize;

use super::heading::DATA;

/// How links are asked about.
#[derive(Args, Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct LinkArgs {
    /// With --task link: pairs without a link for each link, drawn with the seed [default: 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = DATA)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negatives: Option<f64>,

    /// With --task link: most pairs that are asked about, links or not; all other edges are heard all the same
    /// [default: as many as have 500 million distances]
    #[arg(long, value_name = "N", help_heading = DATA)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_pairs: Option<usize>,
}

impl LinkArgs {
    /// Whether any of them is given.
    pub fn is_wanted(&self) -> bool {
        self.negatives.is_some() || self.most_pairs.is_some()
    }

    /// The library's options, for a seed and a share of the edges that is tested.
    pub fn options(&self, seed: u64, test_share: Option<f64>) -> LinkOptions {
        let usual = LinkDivision::default();
        let division = LinkDivision {
            seed,
            test_share,
            negatives: self.negatives.unwrap_or(usual.negatives),
            most_pairs: self.most_pairs,
        };
        LinkOptions { pairs: LinkPairs::Divided(division), ends: None }
    }
}
