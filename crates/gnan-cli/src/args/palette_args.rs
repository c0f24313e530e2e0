//! The colours of figures.

use clap::{Args, ValueEnum};
use gnan_report::Palette;

use super::heading::OUTPUT;

/// Which colours stand for raising and lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaletteArg {
    /// Blue raises, orange lowers: apart for every kind of colour vision
    BlueOrange,
    /// Green raises, red lowers, as in the paper
    GreenRed,
}

/// The colours of figures.
#[derive(Args, Clone, Copy, Debug)]
pub struct PaletteArgs {
    /// Colours of what raises and what lowers an output: blue-orange or, as in the paper, green-red
    #[arg(long, value_name = "COLOURS", default_value = "blue-orange", hide_possible_values = true, help_heading = OUTPUT)]
    palette: PaletteArg,
}

impl PaletteArgs {
    /// The colours.
    pub fn palette(self) -> Palette {
        match self.palette {
            PaletteArg::BlueOrange => Palette::BlueOrange,
            PaletteArg::GreenRed => Palette::GreenRed,
        }
    }
}
