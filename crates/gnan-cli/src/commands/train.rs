//! `gnan train`: fits a model, says how good it is, and writes it to a file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use gnan::dataset::{Split, SplitOrigin};
use gnan::evaluate::{Evaluation, EvaluationEvent, Journal, PartMetrics, Trial};
use gnan::files::skipped_csv;
use gnan::model::{Certificate, Ended, Record};
use gnan::model_file::parameter_count;
use gnan::numbers::{count, counted, duration, metric};
use gnan::output::write_atomically;
use gnan::spec::{FitMethod, ShapeKind};
use gnan::train::Fitted;
use gnan::{Dataset, Error, Spec};
use serde::Serialize;

use crate::args::heading::{DATA, OUTPUT};
use crate::args::{DataArgs, ForceArgs, SearchArgs, check_can_write};
use crate::cli::examples;
use crate::exit::{Completion, Failure, Result};
use crate::interrupt;
use crate::metric_table::{class_notes, part_table};
use crate::progress::{EvaluationProgress, TrainingProgress};
use crate::screen::{eprint_line, note_without_effect, print, print_json, warn_of_cache};
use crate::style::{self, dim, heading};
use crate::table::Table;
use gnan_report::text::one_line;
use gnan_report::words;

/// Ranked pairs that are shown.
const PAIRS_SHOWN: usize = 10;
const EXAMPLES: &str = examples!(
    "gnan train solubility -o solubility.gnan",
    "gnan train my-tables/ --target toxic --test-share 0.2",
    "gnan train cora.npz --largest-component --rho shared --seed 7 --json > training.json",
    "gnan train my-tables/ --config options.toml --force",
    "gnan train solubility --shape spline --rho-shape spline",
    "gnan train my-tables/ --target toxic --constrain \"logp: up, bounded 0.5\" --rho-monotone",
    "gnan train MUTAG.zip --describe degree,ring,environment",
    "gnan train cora.npz --task link --test-share 0.1",
    "gnan train MUTAG.zip --try hidden=32,64 --try describe=none,environment --budget 10m",
);

/// Candidates of a search that are listed.
const TRIED_SHOWN: usize = 10;

/// Arguments of `gnan train`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct TrainArgs {
    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    search: SearchArgs,

    /// Set a random share of the items aside for testing, instead of using a split that the data bring
    #[arg(long, value_name = "SHARE", help_heading = DATA, allow_negative_numbers = true)]
    test_share: Option<f64>,

    /// Where to write the model
    #[arg(short, long, value_name = "FILE", default_value = "model.gnan", help_heading = OUTPUT)]
    output: PathBuf,

    #[command(flatten)]
    force: ForceArgs,
}

/// A model with what is known of it.
pub struct Outcome {
    /// The model and how training ended.
    pub fitted: Fitted,
    /// How good it is, by part.
    pub metrics: PartMetrics,
    /// How long training took.
    pub seconds: f64,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    data: DataDocument<'a>,
    options: OptionsDocument<'a>,
    model: ModelDocument<'a>,
    record: &'a Record,
    tried: Vec<Tried<'a>>,
    metrics: &'a PartMetrics,
    seconds: f64,
}

#[derive(Serialize)]
struct DataDocument<'a> {
    name: &'a str,
    format: &'a str,
    train: usize,
    valid: usize,
    test: usize,
}

#[derive(Serialize)]
struct OptionsDocument<'a> {
    data: &'a str,
    spec: &'a Spec,
}

#[derive(Serialize)]
struct ModelDocument<'a> {
    path: &'a Path,
    rho: &'static str,
    outputs: usize,
    shape: ShapeKind,
    rho_shape: ShapeKind,
    certificates: &'a [Certificate],
    parameters: usize,
}

#[derive(Serialize)]
struct Tried<'a> {
    name: &'a str,
    valid_loss: f64,
}

/// Runs `gnan train`.
pub fn run(args: &TrainArgs, json: bool) -> Result<Completion> {
    let spec = args.data.spec();
    spec.check()?;
    check_can_write(&args.output, args.force.force)?;
    if args.search.is_wanted() {
        return search(args, json);
    }
    note_without_effect(std::slice::from_ref(spec));
    let data = args.data.open(spec.fit.seed, args.test_share)?;
    let parts = data.parts(args.test_share, spec.fit.seed)?;
    interrupt::listen("stopping after this epoch; the best model so far will be saved")?;
    let outcome = fit(spec, &parts, |fitted| fitted.model.save(&args.output))?;
    finish(args, &data, &parts, &outcome, json)
}

/// Which functions of a model are splines because constraints need them.
fn constraint_note(spec: &Spec) -> Option<&'static str> {
    let constrain = &spec.model.constrain;
    if spec.fit.method == FitMethod::Penalised {
        return None;
    }
    match (constrain.is_empty(), spec.model.rho_monotone || constrain.iter().any(|rules| rules.rules.promise())) {
        (true, false) => None,
        (false, false) => Some("constraints are kept by splines: shape functions are splines"),
        (true, true) => Some("constraints are kept by splines: distance functions are splines"),
        (false, true) => Some("constraints are kept by splines: shape functions and distance functions are splines"),
    }
}

/// Searches for good options on the validation part, then trains with them.
fn search(args: &TrainArgs, json: bool) -> Result<Completion> {
    let seed = args.data.spec().fit.seed;
    let search = args.search.search(&args.data.tried(), seed)?;
    note_without_effect(&search.candidates);
    let data = args.data.open_to_try(seed, args.test_share)?;
    let (split, origin) = data.parts(args.test_share, seed)?;
    if split.valid.is_empty() {
        return Err(Error::input("there are too few labelled items to set some aside, and a search needs them")
            .with_remedy("label at least 10 items, or choose the options yourself")
            .into());
    }
    interrupt::listen("stopping")?;
    let progress = EvaluationProgress::titled("searching");
    let monitor = |event: EvaluationEvent<'_>| progress.show(event);
    let found = Evaluation::search(&data, split.without_test(), &search, seed, &Journal::in_memory(), &monitor);
    progress.finish();
    if interrupt::asked() && found.is_err() {
        let (done, runs) = progress.done();
        return Err(Failure::Interrupted(format!("{done} of {} were done; nothing was saved", counted(runs, "run"))));
    }
    let (candidate, tried, notes) = found?;
    notes.iter().for_each(eprint_line);
    let data = data.described(&candidate.data.describe)?;
    let split = split.view_in(&data);
    let tried = Trial::by_loss(tried);
    let parts = (split, origin);
    let mut outcome = fit(&candidate, &parts, |_| Ok(()))?;
    outcome.fitted.model = outcome.fitted.model.with_record(|record| record.tried = tried.clone());
    outcome.fitted.tried = tried;
    outcome.fitted.model.save(&args.output)?;
    finish(args, &data, &parts, &outcome, json)
}

/// Says what came of it.
fn finish(
    args: &TrainArgs,
    data: &Dataset,
    parts: &(Split, SplitOrigin),
    outcome: &Outcome,
    json: bool,
) -> Result<Completion> {
    let (split, origin) = parts;
    if let Some(note) = constraint_note(&outcome.fitted.model.definition().spec) {
        eprint_line(note);
    }
    write_skipped(data, &args.output)?;
    if json {
        print_json(&document(args, data, &split.test, outcome))?;
    } else {
        print(summary(data, origin, &split.test, outcome, &args.output))?;
    }
    Ok(answer(outcome.fitted.ended, outcome.fitted.model.definition().record.best_epoch))
}

/// Training that diverged has a model to show, but the answer is no.
fn answer(ended: Ended, best_epoch: usize) -> Completion {
    if ended != Ended::Diverged {
        return Completion::Done;
    }
    eprint_line(format!(
        "{}: the loss was no longer finite, so training stopped; the last good model (epoch {best_epoch}) was kept\n  \
         lower --learning-rate, or look for extreme values in features and targets",
        style::warning("warning"),
    ));
    Completion::CheckFailed
}

/// Lists rows that could not be read beside the model; a list of an earlier training is replaced.
fn write_skipped(data: &Dataset, model: &Path) -> Result<()> {
    let path = model.with_extension("skipped.csv");
    if data.skipped().is_empty() && !path.exists() {
        return Ok(());
    }
    write_atomically(&path, &skipped_csv(data.skipped())?)?;
    if !data.skipped().is_empty() {
        let rows = counted(data.skipped().len(), "row");
        eprint_line(format!("wrote why {rows} could not be read to {}", heading(path.display())));
    }
    Ok(())
}

/// Fits and judges; `save` is called as soon as there is a model.
pub fn fit(
    spec: &Spec,
    (split, origin): &(Split, SplitOrigin),
    save: impl FnOnce(&Fitted) -> gnan::Result<()>,
) -> Result<Outcome> {
    if let Some(note) = spec.knots_note(&split.train.union(&split.valid)) {
        eprint_line(note);
    }
    let progress = TrainingProgress::new();
    let start = Instant::now();
    let fitted = spec.fit_split(split, &mut |report| progress.epoch(report));
    progress.finish();
    warn_of_cache(split.train.run().cache.as_ref());
    let mut fitted = fitted?;
    let seconds = start.elapsed().as_secs_f64();
    fitted.model = fitted.model.tested_on(&split.test, *origin);
    save(&fitted)?;
    let judged =
        Split { train: fitted.train.clone(), valid: fitted.valid.clone(), test: fitted.train.view_of(&split.test) };
    let metrics = PartMetrics::of_split(&fitted.model, &judged)?;
    Ok(Outcome { fitted, metrics, seconds })
}

fn summary(data: &Dataset, origin: &SplitOrigin, test: &Dataset, outcome: &Outcome, path: &Path) -> String {
    let definition = outcome.fitted.model.definition();
    let record = &definition.record;
    let mut text = format!("{}  {}\n\n", heading(format!("trained on {}", data.name())), dim(data.format()));
    let mut facts = Table::facts();
    facts.fact("predicts", words::prediction(definition));
    let mut sizes = format!("{origin}: {} to train", count(record.train_items));
    if record.joined_items > 0 {
        sizes.push_str(&format!(" ({} set aside to validate, which nothing needed)", count(record.joined_items)));
    }
    if record.valid_items > 0 {
        sizes.push_str(&format!(", {} to validate", count(record.valid_items)));
    }
    if !test.is_empty() {
        sizes.push_str(&format!(", {} to test", count(test.len())));
    }
    facts.fact("data", sizes);
    if record.bounded_items > 0 {
        facts.fact("bounds", words::bounded_items(record.bounded_items));
    }
    if record.skipped_rows > 0 {
        facts.fact("", format!("{} could not be read and were left out", counted(record.skipped_rows, "row")));
    }
    facts.fact("model", words::architecture(definition));
    facts.fact("training", words::settings(definition));
    if let Some(knots) = words::knots(definition) {
        facts.fact("knots", knots);
    }
    for (place, line) in words::selection(definition).into_iter().enumerate() {
        facts.fact(if place == 0 { "selected" } else { "" }, line);
    }
    for (place, line) in words::pairs(definition).into_iter().take(PAIRS_SHOWN).enumerate() {
        facts.fact(if place == 0 { "pairs" } else { "" }, line);
    }
    facts.fact("ended", format!("{} ({})", words::ending(definition), duration(outcome.seconds)));
    if outcome.fitted.tried.len() > 1 {
        for (place, (name, loss)) in outcome.fitted.tried.iter().take(TRIED_SHOWN).enumerate() {
            let fact = if place == 0 { "tried" } else { "" };
            let chosen = if *name == outcome.fitted.chosen { "  (chosen)" } else { "" };
            facts.fact(fact, format!("{} loss {}  {name}{chosen}", words::judged_by(definition), metric(*loss)));
        }
        if let Some(more) = outcome.fitted.tried.len().checked_sub(TRIED_SHOWN + 1) {
            facts.fact("", format!("and {} more, in the model file", more + 1));
        }
    }
    for (place, certificate) in definition.record.certificates.iter().enumerate() {
        facts.fact(if place == 0 { "certified" } else { "" }, one_line(&certificate.sentence()));
    }
    text.push_str(&facts.render());
    if outcome.metrics.baseline.is_some() {
        let table = part_table(&outcome.metrics, definition.learned.outcome).render();
        text.push_str(&format!("\n{table}"));
        for note in class_notes(&outcome.metrics, definition) {
            text.push_str(&format!("  {}\n", dim(note)));
        }
    }
    if record.best_epoch == 0 {
        text.push_str("\nno epoch was better than the untrained model: there may be nothing to learn here\n");
    }
    text.push_str(&format!("\nwrote {}\n", heading(path.display())));
    text
}

fn document<'a>(args: &'a TrainArgs, data: &'a Dataset, test: &Dataset, outcome: &'a Outcome) -> Document<'a> {
    let definition = outcome.fitted.model.definition();
    let record = &definition.record;
    Document {
        data: DataDocument {
            name: data.name(),
            format: data.format(),
            train: record.train_items,
            valid: record.valid_items,
            test: test.len(),
        },
        options: OptionsDocument { data: &args.data.data, spec: args.data.spec() },
        model: ModelDocument {
            path: &args.output,
            rho: words::rho(definition.learned.rho),
            outputs: definition.architecture().outputs,
            shape: definition.learned.shape,
            rho_shape: definition.rho_shape(),
            certificates: &definition.record.certificates,
            parameters: parameter_count(definition),
        },
        record,
        tried: outcome.fitted.tried.iter().map(|(name, valid_loss)| Tried { name, valid_loss: *valid_loss }).collect(),
        metrics: &outcome.metrics,
        seconds: outcome.seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps are bounded and inputs are kept finite, so that no small data set makes training diverge on demand.
    #[test]
    fn only_training_that_diverged_answers_no() {
        assert_eq!(answer(Ended::Diverged, 3), Completion::CheckFailed);
        for ended in [Ended::Epochs, Ended::Patience, Ended::Interrupted] {
            assert_eq!(answer(ended, 3), Completion::Done);
        }
    }
}
