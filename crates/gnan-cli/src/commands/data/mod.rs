//! `gnan data`: data sets, before any training.

mod convert;
mod info;

use clap::{Args, Subcommand};

use crate::exit::{Answer, Result};

pub use info::{FIRST_ROWS, NAME_WIDTH, rest};

/// Arguments of `gnan data`.
#[derive(Args, Debug)]
pub struct DataCommandArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Subcommand, Debug)]
enum DataCommand {
    /// Graphs, nodes, edges, features with kinds, targets, splits, components, isolated nodes
    Info(info::InfoArgs),
    /// Write a data set of any format as tables, CSV or Parquet
    Convert(convert::ConvertArgs),
}

/// Runs `gnan data`.
pub fn run(args: &DataCommandArgs, json: bool) -> Result<Answer> {
    match &args.command {
        DataCommand::Info(args) => info::run(args, json),
        DataCommand::Convert(args) => convert::run(args, json),
    }
}
