//! `gnan export`: the whole model as tables from which its predictions can be computed by hand.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::heading::OUTPUT;
use crate::args::{ForceArgs, OutputArgs};
use crate::cli::examples;
use crate::exit::{Completion, Result};

const HELP: &str = concat!(
    examples!(
        "gnan export model.gnan > model.json",
        "gnan export model.gnan --format csv -o model.csv",
        "gnan export model.gnan | jq '.features[] | {name, levels: [.levels[].name]}'",
    ),
    "

The tables hold all that a prediction needs: the base value, rho and the structure
curve over t = 1 / (1 + distance), and every shape function f by its levels or by
its exact knots and outer slopes. Curves are linear between their points.

  output = base
         + sum over receivers and distances that occur of structure(t)
         + sum over receivers, sources and features of (f * rho(t) - centre(t)) / n

n is the number of nodes at that distance from the receiver (without normalisation
it is 1, and structure counts n times); t is 0 for unreachable nodes."
);

/// How the tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One document
    Json,
    /// One table, a number per row
    Csv,
}

/// Arguments of `gnan export`.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct ExportArgs {
    /// The model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// How to write it
    #[arg(long, value_name = "json|csv", hide_possible_values = true, default_value = "json", help_heading = OUTPUT)]
    format: Format,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    force: ForceArgs,
}

/// Runs `gnan export`; `--json` is the same as the format json.
pub fn run(args: &ExportArgs, json: bool) -> Result<Completion> {
    args.output.check(args.force)?;
    let tables = crate::args::load_model(&args.model)?.tables();
    let text = match args.format {
        Format::Csv if !json => tables.csv()?,
        _ => tables.json()?,
    };
    args.output.write(&text, "the model's tables")?;
    Ok(Completion::Done)
}
