//! `gnan data`: what data there are, what is in them, and how to get them.

mod convert;
mod fetch;
mod info;
mod list;

use clap::{Args, Subcommand};

use crate::exit::{Completion, Result};

pub use info::{FIRST_ROWS, NAME_WIDTH, rest};

/// Arguments of `gnan data`.
#[derive(Args, Debug)]
pub struct DataCommandArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Subcommand, Debug)]
enum DataCommand {
    /// The data sets of the paper: size, licence, and whether they are here
    List(list::ListArgs),
    /// Graphs, nodes, edges, features with kinds, targets, splits, components, isolated nodes
    Info(info::InfoArgs),
    /// Download data sets of the paper, verified; an interrupted download resumes
    Fetch(fetch::FetchArgs),
    /// Write a data set of any format as tables, CSV or Parquet
    Convert(convert::ConvertArgs),
}

/// Runs `gnan data`.
pub fn run(args: &DataCommandArgs, json: bool) -> Result<Completion> {
    match &args.command {
        DataCommand::List(args) => list::run(args, json),
        DataCommand::Info(args) => info::run(args, json),
        DataCommand::Fetch(args) => fetch::run(args, json),
        DataCommand::Convert(args) => convert::run(args, json),
    }
}
