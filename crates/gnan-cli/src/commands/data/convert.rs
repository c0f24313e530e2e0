//! `gnan data convert`: a data set of any format as tables.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gnan::files::{TableFormat, check_place, read, write_tables};
use gnan::numbers::{count, counted};
use serde::Serialize;

use crate::args::heading::OUTPUT;
use crate::args::{ForceArgs, ReadArgs, fetched};
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::progress::working;
use crate::screen::{eprint_line, print_json};
use crate::style::heading;

const HELP: &str = concat!(
    examples!(
        "gnan data convert Mutagenicity.zip -o mutagenicity/",
        "gnan data convert cora.npz --largest-component --format parquet -o cora/",
    ),
    "

The folder holds nodes, edges and, where there is something to say about them, graphs;
gnan.toml beside them says what columns alone cannot: kinds, units, the order of levels,
targets, direction. Reading the folder gives the same data set."
);

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Comma-separated values
    Csv,
    /// Columns for data frames
    Parquet,
}

/// Arguments of `gnan data convert`.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct ConvertArgs {
    /// A path of any format, the built-in set `solubility`, or a fetched set of `gnan data list`
    #[arg(value_name = "DATA")]
    data: String,

    /// The folder to write
    #[arg(short, long, value_name = "DIR", help_heading = OUTPUT)]
    output: PathBuf,

    /// How to write it
    #[arg(long, value_name = "csv|parquet", hide_possible_values = true, default_value = "csv", help_heading = OUTPUT)]
    format: Format,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    read: ReadArgs,
}

/// What was written, for `--json`.
#[derive(Serialize)]
struct Written<'a> {
    output: &'a PathBuf,
    graphs: usize,
    nodes: usize,
    edges: usize,
    notes: &'a [String],
}

/// Runs `gnan data convert`.
pub fn run(args: &ConvertArgs, json: bool) -> Result<Completion> {
    check_place(&args.output, args.force.force)?;
    let mut options = gnan_paper::read_options();
    args.read.apply(&mut options);
    let place = fetched(&args.data)?;
    let tables = working("reading the data", || read(place.as_deref().unwrap_or(&args.data), &options))?;
    let format = match args.format {
        Format::Csv => TableFormat::Csv,
        Format::Parquet => TableFormat::Parquet,
    };
    working("writing the tables", || write_tables(&tables, &args.output, format, args.force.force))?;
    let (graphs, nodes, edges) = (tables.graphs(), tables.nodes(), tables.edges.len());
    if json {
        print_json(&Written { output: &args.output, graphs, nodes, edges, notes: &tables.notes })?;
    } else {
        let size =
            format!("{}, {}, {} edges as listed", counted(graphs, "graph"), counted(nodes, "node"), count(edges));
        eprint_line(format!("wrote {size} to {}", heading(args.output.display())));
        tables.notes.iter().for_each(|note| eprint_line(format!("  - {note}")));
    }
    Ok(Completion::Done)
}
