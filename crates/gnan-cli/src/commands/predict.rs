//! `gnan predict`: what a model says about new data, as CSV or JSON lines.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gnan::dataset::QueriedPair;
use gnan::evaluate::Scorer;
use gnan::numbers::counted;
use gnan::predict::{Prediction, Remarks};
use gnan::{Dataset, Error, Model};

use crate::args::heading::{DATA, OUTPUT};
use crate::args::{ForceArgs, OutputArgs, ReadArgs, Sink};
use crate::cli::examples;
use crate::exit::{Completion, Failure, Result};
use crate::metric_table::{part_note, part_table};
use crate::progress::PredictionProgress;
use crate::screen::eprint_line;
use crate::style;

const EXAMPLES: &str = examples!(
    "gnan predict model.gnan new-data/ > predictions.csv",
    "gnan predict model.gnan molecules.csv -o predictions.csv --force",
    "gnan predict links.gnan my-tables/ --pairs pairs.csv",
    "gnan predict model.gnan new-data/ --json | jq 'select(.class == \"toxic\") | .id'",
);

/// Predictions that are written at a time.
const PREDICTIONS_AT_ONCE: usize = 1024;

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
pub fn run(args: &PredictArgs, json: bool) -> Result<Completion> {
    args.output.check(args.force)?;
    let model = crate::args::load_model(&args.model)?;
    let data = match (&args.pairs, &model.definition().learned.links) {
        (Some(pairs), _) => args.read.open_pairs(&model, &args.data, QueriedPair::read(pairs)?)?,
        (None, None) => args.read.open_for(&model, &args.data)?,
        (None, Some(_)) => {
            return Err(Error::usage("a model of links predicts pairs of nodes, and none are given")
                .with_remedy("name a table of them with --pairs; it has columns source and target")
                .into());
        }
    };
    let format = if json { Format::Jsonl } else { args.format };
    let mut scorer = Scorer::new(&model, &data);
    let remarks = predict(args, &model, &data, format, &mut scorer)?;
    say(&remarks);
    match scorer.finish() {
        Ok(None) => {}
        Ok(Some(metrics)) => {
            eprint_line(part_table(&metrics, model.definition().learned.outcome).render());
            if let Some(note) = part_note(&metrics, data.task()) {
                eprint_line(format!("{}: {note}", style::warning("note")));
            }
        }
        Err(error) => {
            eprint_line(format!(
                "{}: the predictions are not compared with the targets: {error}",
                style::warning("note")
            ));
        }
    }
    Ok(Completion::Done)
}

/// Writes the predictions as they come, and scores them. Returns what there is to say about them.
fn predict(
    args: &PredictArgs,
    model: &Model,
    data: &Dataset,
    format: Format,
    scorer: &mut Scorer<'_>,
) -> Result<Remarks> {
    let mut sink = Sink::open(&args.output)?;
    let progress = PredictionProgress::new(data.len());
    let mut waiting: Vec<Prediction> = Vec::with_capacity(PREDICTIONS_AT_ONCE);
    let mut done = 0;
    let problems = !data.skipped().is_empty();
    // Written with the first predictions: data that cannot be predicted leave nothing behind.
    let mut header = (format == Format::Csv).then(|| model.csv_header(problems)).transpose()?;
    let mut write = |waiting: &mut Vec<Prediction>| -> Result<()> {
        if let Some(header) = header.take() {
            sink.write(&header)?;
        }
        sink.write(&match format {
            Format::Csv => model.csv_lines(waiting, problems)?,
            Format::Jsonl => model.json_lines(waiting)?,
        })?;
        done += waiting.len();
        waiting.clear();
        match progress.show(done).is_break() {
            true => Err(Failure::Interrupted("nothing was written".to_owned())),
            false => Ok(()),
        }
    };
    let remarks = model
        .predict_rows(data, |prediction| {
            if prediction.problem.is_none() {
                scorer.add(&prediction);
            }
            waiting.push(prediction);
            if waiting.len() == PREDICTIONS_AT_ONCE { write(&mut waiting) } else { Ok(()) }
        })
        .map_err(|failure| match failure {
            Failure::Library(error) => Failure::Library(error.in_file(&args.data)),
            other => other,
        })?;
    write(&mut waiting)?;
    progress.finish();
    sink.close(&args.output, &counted(data.len(), "prediction"))?;
    Ok(remarks)
}

/// Says what was new in the data, and what was not used.
fn say(remarks: &Remarks) {
    let note = style::warning("note");
    for sentence in &remarks.novelty {
        eprint_line(format!("{note}: {sentence}"));
    }
    if !remarks.ignored.is_empty() {
        const SHOWN: usize = 10;
        let names: Vec<&str> = remarks.ignored.iter().map(String::as_str).take(SHOWN).collect();
        let more = remarks.ignored.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let columns = counted(remarks.ignored.len(), "column");
        eprint_line(format!("{note}: {columns} that the model does not know: {}{more}; ignored", names.join(", ")));
    }
}
