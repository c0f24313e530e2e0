//! Arguments that several commands share, and how they become the library's options.

mod bands_args;
mod data_args;
mod general_args;
mod output_args;
mod palette_args;
mod search_args;
mod spec_args;

pub use bands_args::BandsArgs;
pub use data_args::{DataArgs, LookArgs, ReadArgs, fetched};
pub use general_args::{GeneralArgs, load_model, run};
pub use output_args::{ForceArgs, OutputArgs, Sink, check_can_write};
pub use palette_args::PaletteArgs;
pub use search_args::SearchArgs;
pub use spec_args::{arguments, train_command};

/// Headings under which help lists options.
pub mod heading {
    /// How the data are read.
    pub const DATA: &str = "Data options";
    /// How it is fitted.
    pub const TRAINING: &str = "Training options";
    /// What is tried and compared.
    pub const SEARCH: &str = "Search options";
    /// What is written where.
    pub const OUTPUT: &str = "Output options";
    /// Everything else.
    pub const GENERAL: &str = "General options";
}
