//! `gnan reproduce`: the paper's table, with our rows, over every data set found.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use gnan::evaluate::Journal;
use gnan::numbers::{duration, mean_and_std};
use gnan::output::write_atomically;
use gnan::{Error, Spec};
use gnan_paper::catalogue;
use gnan_paper::reproduce::{DataFolder, PaperProtocol, Reproduced, Variant, markdown};
use serde::Serialize;

use crate::args::SearchArgs;
use crate::args::heading::{DATA, OUTPUT, SEARCH};
use crate::cli::examples;
use crate::exit::{Completion, Failure, Result};
use crate::interrupt;
use crate::progress::EvaluationProgress;
use crate::screen::{eprint_line, print, print_json};
use crate::style::{dim, heading};

const EXAMPLES: &str = examples!(
    "gnan data fetch --all && gnan reproduce",
    "gnan reproduce --only cora,mutagenicity --variant plain",
    "gnan reproduce --only mutagenicity --try paper --epochs 1000",
);

/// Which models are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum VariantArg {
    /// With the paper's features only
    Plain,
    /// With descriptions of nodes
    Described,
    /// Both
    Both,
}

/// Arguments of `gnan reproduce`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ReproduceArgs {
    /// Folder of data sets [default: where gnan data fetch puts them]
    #[arg(long, value_name = "DIR", help_heading = DATA)]
    folder: Option<PathBuf>,

    /// Only these columns of the table
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = DATA)]
    only: Vec<String>,

    /// Plain models, models with descriptions of nodes, or both
    #[arg(long, value_name = "plain|described|both", default_value = "both", hide_possible_values = true, help_heading = SEARCH)]
    variant: VariantArg,

    /// Most passes over the data [default: by the protocol]
    #[arg(long, value_name = "N", help_heading = SEARCH)]
    epochs: Option<usize>,

    #[command(flatten)]
    search: SearchArgs,

    /// Folder for table.md, results.json and the journal of runs, from which a stopped reproduction goes on
    #[arg(short, long, value_name = "DIR", default_value = "reproduction", help_heading = OUTPUT)]
    output: PathBuf,
}

/// What is written to `results.json`.
#[derive(Serialize)]
struct Document<'a> {
    version: &'a str,
    results: &'a [Reproduced],
    skipped: &'a [Skipped],
}

/// A column that could not be filled, and why.
#[derive(Serialize)]
struct Skipped {
    task: String,
    reason: String,
}

/// Runs `gnan reproduce`.
pub fn run(args: &ReproduceArgs, json: bool) -> Result<Completion> {
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => catalogue::folder()?,
    };
    let protocols = chosen(&args.only)?;
    std::fs::create_dir_all(&args.output).map_err(|error| Error::io(&args.output, error))?;
    let journal = Journal::open(&args.output.join("runs.jsonl"))?;
    interrupt::listen("stopping; what is done is kept")?;
    let (mut results, mut skipped) = (Vec::new(), Vec::new());
    for protocol in protocols {
        let Some(place) = catalogue::find(protocol.entry)?.place_in(&folder) else {
            let reason = format!("it is not in {}", folder.display());
            skipped.push(Skipped { task: protocol.task.to_owned(), reason });
            continue;
        };
        for variant in args.variants(protocol) {
            let begun = Instant::now();
            match reproduce(args, protocol, &place, &folder, variant, &journal) {
                Ok(result) => {
                    eprint_line(line(&result, begun.elapsed().as_secs_f64()));
                    results.push(result);
                }
                Err(_) if interrupt::asked() => {
                    let words = format!("the runs done so far are kept in {}", args.output.display());
                    return Err(Failure::Interrupted(words));
                }
                Err(error) => {
                    eprint_line(format!("{}: {error}", protocol.task));
                    skipped.push(Skipped { task: protocol.task.to_owned(), reason: error.to_string() });
                    break;
                }
            }
            write(&args.output, &results, &skipped)?;
        }
    }
    if results.is_empty() {
        let reasons: Vec<String> = skipped.iter().map(|one| format!("{}: {}", one.task, one.reason)).collect();
        return Err(Error::input(format!("there is nothing to reproduce ({})", reasons.join("; ")))
            .with_remedy("gnan data fetch --all downloads the data sets of the paper")
            .into());
    }
    if json {
        print_json(&Document { version: env!("CARGO_PKG_VERSION"), results: &results, skipped: &skipped })?;
    } else {
        print(format!("{}\n{}", markdown(&results), words(&skipped)))?;
    }
    Ok(Completion::Done)
}

impl ReproduceArgs {
    fn variants(&self, protocol: &PaperProtocol) -> Vec<Variant> {
        let mut variants = Vec::new();
        if self.variant != VariantArg::Described {
            variants.push(Variant::Plain);
        }
        if self.variant != VariantArg::Plain && !protocol.describe.is_empty() {
            variants.push(Variant::Described);
        }
        variants
    }
}

fn chosen(only: &[String]) -> Result<Vec<&'static PaperProtocol>> {
    if only.is_empty() {
        return Ok(PaperProtocol::all().iter().collect());
    }
    let find = |name: &String| {
        let names: Vec<&str> = PaperProtocol::all().iter().map(|protocol| protocol.task).collect();
        PaperProtocol::find(name.trim()).ok_or_else(|| {
            let remedy = format!("choose from {}", names.join(", "));
            Failure::from(Error::usage(format!("the table has no column \"{name}\"")).with_remedy(remedy))
        })
    };
    only.iter().map(find).collect()
}

fn reproduce(
    args: &ReproduceArgs,
    protocol: &PaperProtocol,
    place: &Path,
    folder: &Path,
    variant: Variant,
    journal: &Journal,
) -> gnan::Result<Reproduced> {
    let progress = EvaluationProgress::titled(protocol.task);
    let monitor = |event: gnan::evaluate::EvaluationEvent<'_>| progress.show(event);
    let prepare = |base: &mut Spec| base.fit.epochs = args.epochs.or(base.fit.epochs);
    let tries = |base: &Spec| args.search.search(base, base.fit.seed);
    let search = protocol.search(variant, &prepare, args.search.is_wanted().then_some(&tries))?;
    let result =
        protocol.run(place, DataFolder { path: folder, run: &crate::args::run() }, variant, search, journal, &monitor);
    progress.finish();
    result
}

fn line(result: &Reproduced, seconds: f64) -> String {
    let digits = result.digits();
    let variant = if result.variant == Variant::Plain { "plain" } else { "described" };
    format!(
        "{} {variant}: {}  {}",
        heading(result.task),
        mean_and_std(result.ours.mean, result.ours.std, digits),
        dim(format!("{} runs, {}", result.tests + result.tried, duration(seconds)))
    )
}

fn words(skipped: &[Skipped]) -> String {
    let line = |one: &Skipped| format!("- {} is left out: {}.\n", one.task, one.reason);
    skipped.iter().map(line).collect()
}

/// Writes what is there so far, so that nothing is lost.
fn write(folder: &Path, results: &[Reproduced], skipped: &[Skipped]) -> Result<()> {
    let document = Document { version: env!("CARGO_PKG_VERSION"), results, skipped };
    let json = serde_json::to_vec_pretty(&document).map_err(|error| Error::input(error.to_string()))?;
    write_atomically(&folder.join("results.json"), &json)?;
    let text = format!("{}\n{}", markdown(results), words(skipped));
    Ok(write_atomically(&folder.join("table.md"), text.as_bytes())?)
}
