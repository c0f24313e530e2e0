//! Which 95 % bands are shown.

use clap::{Args, ValueEnum};

use super::heading::OUTPUT;

/// What the bands of a penalised fit hold for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BandsArg {
    /// For every number by itself
    Pointwise,
    /// For all values and distances of a feature at once: wider
    Simultaneous,
}

/// Which 95 % bands are shown.
#[derive(Args, Clone, Copy, Debug)]
pub struct BandsArgs {
    /// 95 % bands of a penalised fit: pointwise (for every number by itself) or simultaneous (for all values and distances of a
    /// feature at once, wider). The bands of a bootstrap beside the model are shown instead where there is one
    #[arg(long, value_name = "KIND", default_value = "pointwise", hide_possible_values = true, help_heading = OUTPUT)]
    bands: BandsArg,
}

impl BandsArgs {
    /// Whether they hold for all values and distances of a feature at once.
    pub fn simultaneous(self) -> bool {
        self.bands == BandsArg::Simultaneous
    }
}
