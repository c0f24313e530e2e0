//! `gnan predict`: what a model says about new data, as CSV or JSON lines.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gnan::dataset::AskedPair;
use gnan::metric::Metrics;
use gnan::model::Description;
use gnan::predict::Predictions;
use gnan::{Dataset, Error, Model};

use crate::args::heading::{DATA, OUTPUT};
use crate::args::{ForceArgs, OutputArgs, ReadArgs};
use crate::cli::examples;
use crate::exit::{Answer, Result};
use crate::metric_table::metric_table;
use crate::prediction_lines::{csv_lines, json_lines};
use crate::progress::working;
use crate::screen::talk;
use crate::style::{self, counted};

const EXAMPLES: &str = examples!(
    "gnan predict model.gnan new-data/ > predictions.csv",
    "gnan predict model.gnan molecules.csv -o predictions.csv --force",
    "gnan predict links.gnan my-tables/ --pairs pairs.csv",
    "gnan predict model.gnan new-data/ --json | jq 'select(.class == \"toxic\") | .id'",
);

/// How predictions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table with a header
    Csv,
    /// One JSON object per line
    Jsonl,
}

/// Arguments of `gnan predict`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct PredictArgs {
    /// The model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The data to predict: a path or the name of a built-in or fetched set
    #[arg(value_name = "DATA")]
    data: String,

    /// For a model of links: the pairs to ask about, a table with columns source and target (and graph_id)
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    pairs: Option<PathBuf>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    output: OutputArgs,

    /// How to write them; --json is the same as jsonl
    #[arg(long, value_name = "csv|jsonl", hide_possible_values = true, default_value = "csv", help_heading = OUTPUT)]
    format: Format,

    #[command(flatten)]
    force: ForceArgs,
}

/// Runs `gnan predict`.
pub fn run(args: &PredictArgs, json: bool) -> Result<Answer> {
    args.output.check(args.force)?;
    let model = Model::load(&args.model)?;
    let data = match (&args.pairs, &model.description().links) {
        (Some(pairs), _) => args.read.open_pairs(&model, &args.data, AskedPair::read(pairs)?)?,
        (None, None) => args.read.open_for(&model, &args.data)?,
        (None, Some(_)) => {
            return Err(Error::usage("a model of links is asked about pairs of nodes")
                .remedy("name a table of them with --pairs; it has columns source and target")
                .into());
        }
    };
    let predictions = working("predicting", || model.predict(&data)).map_err(|error| error.in_file(&args.data))?;
    let format = if json { Format::Jsonl } else { args.format };
    let text = render(&predictions, model.description(), format)?;
    args.output.write(&text, &counted(predictions.items.len(), "prediction"))?;
    remarks(&predictions);
    if let Some(metrics) = metrics(&model, &data) {
        talk(metric_table(&[("these data".to_owned(), &metrics)]).render());
    }
    Ok(Answer::Done)
}

/// Predictions in a format.
pub fn render(predictions: &Predictions, description: &Description, format: Format) -> gnan::Result<Vec<u8>> {
    match format {
        Format::Csv => csv_lines(predictions, description),
        Format::Jsonl => json_lines(predictions, description),
    }
}

/// Says what was new in the data, and what was not used.
fn remarks(predictions: &Predictions) {
    let note = style::warning("note");
    for sentence in &predictions.novelty {
        talk(format!("{note}: {sentence}"));
    }
    if !predictions.ignored.is_empty() {
        const SHOWN: usize = 10;
        let names: Vec<&str> = predictions.ignored.iter().map(String::as_str).take(SHOWN).collect();
        let more = predictions.ignored.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let columns = counted(predictions.ignored.len(), "column");
        talk(format!("{note}: {columns} that the model does not know: {}{more}; ignored", names.join(", ")));
    }
}

/// How good the predictions are, where the data hold the truth.
fn metrics(model: &Model, data: &Dataset) -> Option<Metrics> {
    let wanted = &model.description().targets;
    let present = wanted.iter().all(|target| data.targets().iter().any(|found| found.name == target.name));
    if !present || data.labelled().is_empty() {
        return None;
    }
    match model.evaluate(data) {
        Ok(metrics) => Some(metrics),
        Err(error) => {
            talk(format!("{}: the predictions are not compared with the targets: {error}", style::warning("note")));
            None
        }
    }
}
