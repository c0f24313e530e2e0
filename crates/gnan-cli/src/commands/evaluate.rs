//! `gnan evaluate`: how good models of these data are, over folds, given splits and seeds.

use std::collections::BTreeMap;
use std::time::Instant;

use clap::Args;
use gnan::dataset::Outcome;
use gnan::evaluate::{Evaluation, Protocol, splits};
use gnan::train::{LogitChoice, RhoChoice};
use gnan::{Dataset, Training};
use serde::Serialize;

use crate::args::heading::TRAINING;
use crate::args::{DataArgs, TrainingArgs};
use crate::cli::examples;
use crate::exit::{Answer, Failure, Result};
use crate::interrupt;
use crate::progress::EvaluationProgress;
use crate::screen::{print, print_json};
use crate::style::{BOLD, DIM, count, counted, dim, duration, heading, metric, metric_name};
use crate::table::{Align, Table};
use gnan::baseline::{self, baseline};

/// Folds where the data bring no split and none are asked for.
const FOLDS: usize = 10;

const EXAMPLES: &str = examples!(
    "gnan evaluate my-tables/ --folds 10",
    "gnan evaluate cora.npz --seeds 3",
    "gnan evaluate MUTAG.zip --rho auto --json | jq .metrics.accuracy.mean",
);

/// Arguments of `gnan evaluate`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct EvaluateArgs {
    #[command(flatten)]
    data: DataArgs,

    /// Folds, each tested once [default: the splits that the data bring, or else 10 folds]
    #[arg(long, value_name = "N", help_heading = TRAINING)]
    folds: Option<usize>,

    /// Repeat everything with so many seeds, counted up from --seed
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = TRAINING, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,

    #[command(flatten)]
    training: TrainingArgs,
}

/// The document of `--json`: what the library reports, and what it was asked.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    evaluation: &'a Evaluation,
    baseline: &'a BTreeMap<&'static str, f64>,
    protocol: &'a str,
    options: OptionsDocument<'a>,
}

#[derive(Serialize)]
struct OptionsDocument<'a> {
    #[serde(flatten)]
    data: &'a DataArgs,
    #[serde(flatten)]
    training: &'a TrainingArgs,
    seeds: u64,
}

/// Runs `gnan evaluate`.
pub fn run(args: &EvaluateArgs, json: bool) -> Result<Answer> {
    let training = Training::from(&args.training);
    training.check()?;
    let data = args.data.open()?;
    let outcome = data.outcome()?;
    let protocol = match args.folds {
        Some(folds) => Protocol::Folds(folds),
        None if data.given_splits() > 0 => Protocol::GivenSplits,
        None => Protocol::Folds(FOLDS.min(data.labelled().len())),
    };
    let baseline = mean_baseline(&data, protocol, training.seed)?;
    let seeds: Vec<u64> = (0..args.seeds).map(|step| training.seed.wrapping_add(step)).collect();
    let per_seed = match protocol {
        Protocol::Folds(folds) => folds,
        Protocol::GivenSplits => data.given_splits(),
    };
    let runs = per_seed * seeds.len();
    let progress = EvaluationProgress::new(runs, candidates(&training, outcome));
    interrupt::listen("stopping the evaluation")?;
    let start = Instant::now();
    let result = Evaluation::run(&data, &training, protocol, &seeds, &|event| progress.show(event));
    progress.finish();
    if interrupt::asked() && result.is_err() {
        let words = format!("{} of {} were done; nothing was kept", progress.done(), counted(runs, "run"));
        return Err(Failure::Interrupted(words));
    }
    let evaluation = result?;
    let words = match protocol {
        Protocol::Folds(folds) => counted(folds, "fold"),
        Protocol::GivenSplits => counted(data.given_splits(), "given split"),
    };
    if json {
        let options = OptionsDocument { data: &args.data, training: &args.training, seeds: args.seeds };
        print_json(&Document { evaluation: &evaluation, baseline: &baseline, protocol: &words, options })?;
    } else {
        let title =
            format!("{}  {words}, {}", heading(format!("evaluated on {}", data.name())), counted(seeds.len(), "seed"));
        let time = dim(format!("{} in {}", counted(runs, "run"), duration(start.elapsed().as_secs_f64())));
        let table = table(&evaluation, &baseline);
        let note = dim(format!("  the baseline always predicts the {}", baseline::words(outcome)));
        print(format!("{title}  {time}\n\n{}\n{note}", table.render()))?;
    }
    Ok(Answer::Done)
}

/// How many models one run trains.
fn candidates(training: &Training, outcome: Outcome) -> usize {
    let rhos = if training.rho == RhoChoice::Auto { 2 } else { 1 };
    let logits = if training.logits == LogitChoice::Auto && outcome == Outcome::Binary { 2 } else { 1 };
    rhos * logits
}

/// The baseline's metrics, each the mean over folds or splits.
fn mean_baseline(data: &Dataset, protocol: Protocol, seed: u64) -> Result<BTreeMap<&'static str, f64>> {
    let mut lists: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    for split in splits(data, protocol, seed)? {
        for (name, value) in baseline(&split.train, &split.test)?.values {
            lists.entry(name).or_default().push(value);
        }
    }
    Ok(lists.into_iter().map(|(name, values)| (name, values.iter().sum::<f64>() / values.len() as f64)).collect())
}

fn table(evaluation: &Evaluation, baseline: &BTreeMap<&'static str, f64>) -> Table {
    let names: Vec<&str> =
        gnan::metric::ORDER.into_iter().filter(|name| evaluation.metrics.contains_key(name)).collect();
    let chosen = evaluation.folds.iter().any(|fold| fold.chosen.is_some());
    let first = ["", "seed", "train", "test", "best epoch"];
    let mut columns = vec![Align::Left];
    columns.extend(vec![Align::Right; first.len() - 1 + names.len()]);
    columns.push(Align::Left);
    let mut header: Vec<String> = first.map(str::to_owned).to_vec();
    header.extend(names.iter().map(|name| metric_name(name)));
    if chosen {
        header.push("chosen".to_owned());
    }
    let mut table = Table::new(&columns).header(header);
    for fold in &evaluation.folds {
        let mut cells = vec![
            fold.fold.to_string(),
            fold.seed.to_string(),
            count(fold.train),
            count(fold.test),
            count(fold.best_epoch),
        ];
        cells.extend(names.iter().map(|name| fold.metrics.get(name).map(metric).unwrap_or_default()));
        cells.extend(fold.chosen.clone());
        table.row(cells);
    }
    table.rule(first.len() + names.len());
    let blank = || vec![String::new(); first.len() - 1];
    let mut line = |style, name: &str, value: &dyn Fn(&str) -> String| {
        let cells = std::iter::once(name.to_owned()).chain(blank()).chain(names.iter().map(|name| value(name)));
        table.styled_row(style, cells);
    };
    line(BOLD, "mean", &|name| metric(evaluation.metrics[name].mean));
    line(BOLD, "± std", &|name| metric(evaluation.metrics[name].std));
    line(DIM, "baseline", &|name| baseline.get(name).copied().map(metric).unwrap_or_default());
    table
}
