//! `gnan bootstrap`: how far every curve can be trusted, kept beside the model.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use gnan::bootstrap::{Bootstrap, RESAMPLES, Replicates};
use gnan::numbers::{count, duration};
use gnan::{Error, Intervals, Model};
use serde::Serialize;

use crate::args::ReadArgs;
use crate::args::heading::{DATA, OUTPUT, TRAINING};
use crate::cli::examples;
use crate::exit::{Completion, Failure, Result};
use crate::interrupt;
use crate::progress::BootstrapProgress;
use crate::screen::{eprint_line, print, print_json};
use crate::style::{dim, escape_control, heading};
use crate::table::{Align, Table, shorten};

const EXAMPLES: &str = examples!(
    "gnan bootstrap model.gnan my-data/",
    "gnan bootstrap model.gnan my-data/ --resamples 1000    goes on where the last run stopped",
    "gnan bootstrap model.gnan my-data/ --json | jq .shape_verdicts",
);

/// Curves whose verdicts are listed.
const SHOWN: usize = 40;
/// Widest name in a table.
const NAME_WIDTH: usize = 36;

/// Arguments of `gnan bootstrap`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct BootstrapArgs {
    /// The model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The data it was trained on: a path or the name of a built-in or fetched set
    #[arg(value_name = "DATA")]
    data: String,

    /// How many times to train it again
    #[arg(long, value_name = "N", default_value_t = RESAMPLES, help_heading = TRAINING)]
    resamples: usize,

    /// Seed of resamples and random starts
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = TRAINING)]
    seed: u64,

    #[command(flatten)]
    read: ReadArgs,

    /// The test share that the model was trained with, for model files that do not remember their test items
    #[arg(long, value_name = "SHARE", help_heading = DATA, allow_negative_numbers = true)]
    test_share: Option<f64>,

    /// Begin again instead of going on with what an earlier run left
    #[arg(long, help_heading = OUTPUT)]
    restart: bool,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    file: &'a Path,
    complete: bool,
    seconds: f64,
    rhos: Vec<String>,
    features: Vec<&'a str>,
    outputs: Vec<String>,
    #[serde(flatten)]
    intervals: &'a Intervals,
}

/// Runs `gnan bootstrap`.
pub fn run(args: &BootstrapArgs, json: bool) -> Result<Completion> {
    let model = crate::args::load_model(&args.model)?;
    let data = args.read.open_for(&model, &args.data)?;
    let record = &model.definition().record;
    let split = match model.remembered(&data) {
        Some(remembered) => remembered.split,
        None => data.parts(args.test_share, record.resolved.fit.seed)?.0,
    };
    let items = split.train.union(&split.valid);
    if !record.is_of(&split) {
        let trained = count(record.train_items + record.valid_items);
        return Err(Error::usage(format!(
            "the model was trained on {trained} items, of which these data have {} (or other targets)",
            count(items.len())
        ))
        .in_file(&args.data)
        .with_remedy("name the data it was trained on")
        .into());
    }
    let file = Replicates::path_beside(&args.model);
    interrupt::listen("stopping; finished replicates are kept")?;
    let start = Instant::now();
    let progress = BootstrapProgress::new(args.resamples);
    let bootstrap = Bootstrap { resamples: args.resamples, seed: args.seed, restart: args.restart };
    let replicates = bootstrap.run(&model, &items, Some(&file), &|event| progress.show(event));
    progress.finish();
    let replicates = replicates?;
    let complete = replicates.is_complete();
    if replicates.len() < 2 {
        return Err(Failure::Interrupted("too few replicates were finished to tell anything".to_owned()));
    }
    let intervals = Intervals::new(&model, &replicates)?;
    let seconds = start.elapsed().as_secs_f64();
    if json {
        let definition = model.definition();
        print_json(&Document {
            file: &file,
            complete,
            seconds,
            rhos: model.canonical().rhos().into_iter().map(|rho| rho.name).collect(),
            features: definition.learned.features.iter().map(|feature| feature.name.as_str()).collect(),
            outputs: definition.shown_names(),
            intervals: &intervals,
        })?;
    } else {
        print(summary(&model, &intervals, &file, seconds))?;
    }
    if !complete {
        let (done, wanted) = (count(replicates.len()), count(args.resamples));
        eprint_line(format!("{done} of {wanted} replicates are done; the same command goes on from there"));
    }
    Ok(Completion::Done)
}

fn summary(model: &Model, intervals: &Intervals, file: &Path, seconds: f64) -> String {
    let definition = model.definition();
    let mut text = format!(
        "{}  {}\n",
        heading(format!("{} bootstrap replicates", count(intervals.resamples))),
        dim(format!("95 % bands; {}", duration(seconds)))
    );
    let rhos = model.canonical().rhos();
    let shown_outputs = definition.shown_names();
    // The bias's own rho is part of the structure curve and not shown alone.
    let first = usize::from(rhos.len() > 1);
    let rho_names = rhos[first..].iter().map(|rho| rho.name.as_str());
    text.push_str(&format!("\n{}\n", heading("by distance")));
    text.push_str(&verdicts(rho_names, &intervals.rho_verdicts[first..], &shown_outputs));
    text.push_str(&format!("\n{}\n", heading("effects")));
    let features = definition.learned.features.iter().map(|feature| feature.name.as_str());
    text.push_str(&verdicts(features, &intervals.shape_verdicts, &shown_outputs));
    text.push_str(&format!("\nwrote {}: gnan plot and gnan report draw its bands\n", heading(file.display())));
    text
}

/// One line per curve and output; one for all outputs where they agree.
fn verdicts<'a>(names: impl Iterator<Item = &'a str>, verdicts: &[Vec<String>], outputs: &[String]) -> String {
    let mut table = Table::new(&[Align::Left, Align::Left]);
    let mut rows = 0;
    let mut left_out = 0;
    for (name, verdicts) in names.zip(verdicts) {
        let same = verdicts.windows(2).all(|pair| pair[0] == pair[1]);
        let lines: Vec<(String, &String)> = match verdicts.first() {
            Some(first) if same => vec![(escape_control(name).into_owned(), first)],
            _ => outputs
                .iter()
                .zip(verdicts)
                .map(|(output, verdict)| (format!("{} ({})", escape_control(name), escape_control(output)), verdict))
                .collect(),
        };
        for (name, verdict) in lines {
            if rows < SHOWN {
                table.row([shorten(&name, NAME_WIDTH), escape_control(verdict).into_owned()]);
            } else {
                left_out += 1;
            }
            rows += 1;
        }
    }
    let rest =
        if left_out > 0 { format!("  ... and {} more (--json lists all)\n", count(left_out)) } else { String::new() };
    format!("{}{rest}", table.render())
}
