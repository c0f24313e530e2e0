//! `gnan evaluate`: how good models of these data are, over folds, given splits and seeds.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use gnan::baseline::{self, mean_baseline};
use gnan::evaluate::{Division, Evaluation, Journal, LINK_TEST_SHARE, PartMetrics, Protocol, Tuning};
use gnan::metric::{Metric, Metrics};
use gnan::numbers::{count, counted, duration, metric};
use gnan::score::shown_metrics;
use gnan::{Dataset, Error, Spec};
use gnan_paper::catalogue;
use gnan_paper::reproduce::{DataFolder, PaperProtocol, Variant};
use serde::Serialize;

use crate::args::heading::{DATA, SEARCH, TRAINING};
use crate::args::{DataArgs, SearchArgs};
use crate::cli::examples;
use crate::exit::{Completion, Failure, Result};
use crate::interrupt;
use crate::metric_table::{class_notes, part_note, part_table};
use crate::paper::{Located, beside_the_paper, locate};
use crate::progress::EvaluationProgress;
use crate::screen::{eprint_line, note_without_effect, print, print_json, warn_of_cache};
use crate::style::{BOLD, DIM, dim, heading};
use crate::table::{Align, Table};

const EXAMPLES: &str = examples!(
    "gnan evaluate my-tables/ --folds 10",
    "gnan evaluate cora.npz --seeds 3",
    "gnan evaluate my-tables/ --model model.gnan",
    "gnan evaluate MUTAG.zip --rho auto --json | jq .metrics.accuracy.mean",
    "gnan evaluate MUTAG.zip --try hidden=32,64 --try weight-decay=1e-5..1e-3 --search random",
    "gnan evaluate cora.npz --task link --seeds 3",
    "gnan evaluate mutagenicity --protocol paper --journal runs.jsonl",
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

    /// Evaluate as the paper does on this data set, beside its results
    #[arg(long, value_name = "paper", hide_possible_values = true, conflicts_with_all = ["folds", "seeds", "tune"], help_heading = SEARCH)]
    protocol: Option<ProtocolArg>,

    /// Where options are tuned: on each split for itself, or on the first for all
    #[arg(long, value_name = "each|first", default_value = "each", hide_possible_values = true, help_heading = SEARCH)]
    tune: TuneArg,

    /// File that remembers the runs of a search or of the paper's protocol, so that a stopped one goes on
    /// [default: in gnan's folder in the cache of the system]
    #[arg(long, value_name = "FILE", help_heading = SEARCH)]
    journal: Option<PathBuf>,

    /// Forget runs that were done before
    #[arg(long, help_heading = SEARCH)]
    fresh: bool,

    /// Judge this model on the data instead of training: on what it was fitted on, validated by and has not seen
    #[arg(long, value_name = "FILE", conflicts_with_all = ["folds", "seeds", "protocol", "tune", "journal", "fresh"], help_heading = DATA)]
    model: Option<PathBuf>,

    #[command(flatten)]
    search: SearchArgs,
}

/// A way to evaluate that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProtocolArg {
    /// What the paper's appendix says for this data set
    Paper,
}

/// Where options are tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TuneArg {
    /// On each split for itself
    Each,
    /// On the first split for all of them
    First,
}

/// The document of `--json`: what the library reports, and what was requested.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    evaluation: &'a Evaluation,
    baseline: &'a Metrics,
    protocol: &'a str,
    options: OptionsDocument<'a>,
}

#[derive(Serialize)]
struct OptionsDocument<'a> {
    data: &'a str,
    spec: &'a Spec,
    #[serde(flatten)]
    search: &'a SearchArgs,
    seeds: u64,
}

/// Judges a finished model.
fn judge(args: &EvaluateArgs, path: &Path, json: bool) -> Result<Completion> {
    let model = crate::args::load_model(path)?;
    if args.search.is_wanted() || *args.data.spec() != args.data.reading_alone() {
        return Err(Error::usage("a model that is judged is not trained: its options are in its file")
            .with_remedy("leave out --model to train, or the options of training")
            .into());
    }
    let data = args.data.open_for(&model)?;
    let metrics = PartMetrics::of_data(&model, &data).map_err(|error| error.in_file(&args.data.data))?;
    if json {
        print_json(&metrics)?;
        return Ok(Completion::Done);
    }
    if metrics.items.iter().all(|items| *items == 0) {
        return Err(Error::input("none of the items has a known target to compare with")
            .in_file(&args.data.data)
            .into());
    }
    let title = heading(format!("{} on {}", path.display(), data.name()));
    print(format!("{title}\n\n{}", part_table(&metrics, model.definition().learned.outcome).render()))?;
    for note in class_notes(&metrics, model.definition()) {
        print(dim(format!("  {note}")))?;
    }
    if let Some(note) = part_note(&metrics, data.task()) {
        eprint_line(format!("note: {note}"));
    }
    if metrics.items[..3] == [0; 3] && model.record().items.is_empty() {
        eprint_line("note: this model file does not remember its items: some of these may have been trained on");
    }
    Ok(Completion::Done)
}

/// Runs `gnan evaluate`.
pub fn run(args: &EvaluateArgs, json: bool) -> Result<Completion> {
    if let Some(model) = &args.model {
        return judge(args, model, json);
    }
    if args.data.predicts_links() && (args.protocol.is_some() || args.folds.is_some()) {
        return Err(Error::usage("links are divided at random, the messages with them: there are no folds of them")
            .with_remedy("divide them with several seeds: --seeds 5")
            .into());
    }
    if args.protocol.is_some() {
        return by_the_paper(args, json);
    }
    let spec = args.data.spec();
    spec.check()?;
    let search = args.search.search(&args.data.tried(), spec.fit.seed)?;
    note_without_effect(&search.candidates);
    let evaluated = args.evaluated()?;
    let (data, Protocol { division, .. }) = &evaluated[0];
    let outcome = data.outcome()?;
    let mut splits = Vec::new();
    for (data, protocol) in &evaluated {
        splits.extend(protocol.splits(data, protocol.seed)?);
    }
    let baseline = mean_baseline(&splits)?;
    let journal = args.open_journal()?;
    let progress = EvaluationProgress::titled("evaluating");
    interrupt::listen("stopping the evaluation")?;
    let start = Instant::now();
    let run = |(data, protocol): &(Dataset, Protocol)| {
        Evaluation::run(data, &search, protocol, &journal, &|event| progress.show(event))
    };
    let result = evaluated.iter().map(run).collect::<gnan::Result<_>>();
    progress.finish();
    warn_of_cache(data.run().cache.as_ref());
    if interrupt::asked() && result.is_err() {
        return Err(args.interrupted(&progress));
    }
    let evaluation = Evaluation::together(result?);
    let words = match *division {
        _ if args.data.predicts_links() => "links divided with every seed".to_owned(),
        Division::Folds(folds) | Division::Blocks(folds) => counted(folds, "fold"),
        Division::GivenSplits => counted(data.given_splits(), "given split"),
        Division::Random { .. } => "random split".to_owned(),
    };
    if json {
        let options = OptionsDocument { data: &args.data.data, spec, search: &args.search, seeds: args.seeds };
        print_json(&Document { evaluation: &evaluation, baseline: &baseline, protocol: &words, options })?;
    } else {
        let seeds = counted(args.seeds as usize, "seed");
        let title = format!("{}  {words}, {seeds}", heading(format!("evaluated on {}", data.name())));
        let runs = evaluation.folds.len() + evaluation.tried.len();
        let known = match journal.known_before() {
            0 => String::new(),
            found => format!(", {} known from before (--fresh forgets them)", count(found)),
        };
        let seconds = start.elapsed().as_secs_f64();
        let time = dim(format!("{} in {}{known}", counted(runs, "run"), duration(seconds)));
        let shown = shown_metrics(data.targets());
        let table = table(&evaluation, &baseline, &shown);
        let mut text = format!("{title}  {time}\n\n{}", table.render());
        text.push_str(&format!(
            "\n{}",
            dim(format!("  the baseline always predicts the {}", baseline::words(outcome)))
        ));
        for note in &evaluation.notes {
            text.push_str(&format!("\n{}", dim(format!("  {note}"))));
        }
        if !evaluation.tried.is_empty() {
            text.push_str(&format!("\n\n{}\n{}", heading("tried"), tried(&evaluation, &shown).render()));
        }
        print(text)?;
    }
    Ok(Completion::Done)
}

/// Evaluates as the paper does.
fn by_the_paper(args: &EvaluateArgs, json: bool) -> Result<Completion> {
    let spec = args.data.spec();
    let mut allowed = Spec { data: spec.data.clone(), ..Spec::default() };
    allowed.fit.epochs = spec.fit.epochs;
    if *spec != allowed {
        return Err(Error::usage("the protocol of the paper sets the options of training")
            .with_remedy("name what to choose from with --try, for example --try hidden=16,32")
            .into());
    }
    let Located { entry, place, folder } = locate(&args.data.data)?;
    let wanted = |protocol: &&PaperProtocol| {
        let named = |target: &str| spec.data.target.iter().any(|name| name == target);
        protocol.in_paper && (spec.data.target.is_empty() || protocol.target.is_some_and(named))
    };
    let protocols: Vec<_> = PaperProtocol::of_entry(entry.name).into_iter().filter(wanted).collect();
    if protocols.is_empty() {
        return Err(Error::usage(format!("the paper does not predict {}", spec.data.target.join(", "))).into());
    }
    let journal = args.open_journal()?;
    interrupt::listen("stopping the evaluation")?;
    let variant = if spec.data.describe.is_empty() { Variant::Plain } else { Variant::Described };
    let mut results = Vec::new();
    let run = crate::args::run();
    let data_folder = DataFolder { path: &folder, run: &run };
    for protocol in protocols {
        let progress = EvaluationProgress::titled(protocol.task);
        let prepare = |base: &mut Spec| {
            base.data.describe.clone_from(&spec.data.describe);
            base.fit.epochs = spec.fit.epochs.or(base.fit.epochs);
        };
        let tries = |base: &Spec| args.search.search(base, base.fit.seed);
        let search = protocol.search(variant, &prepare, args.search.is_wanted().then_some(&tries))?;
        let result = protocol.run(&place, data_folder, variant, search, &journal, &|event| progress.show(event));
        progress.finish();
        if interrupt::asked() && result.is_err() {
            return Err(args.interrupted(&progress));
        }
        results.push(result?);
    }
    if json {
        print_json(&results)?;
        return Ok(Completion::Done);
    }
    for result in &results {
        let mut text = format!(
            "{}\n\n{}",
            heading(format!("{} by the paper's protocol", result.task)),
            beside_the_paper(result).render()
        );
        text.push_str(&format!("\n  options chosen on most splits: {}\n", result.chosen));
        result.notes.iter().for_each(|note| text.push_str(&format!("{}\n", dim(format!("  {note}")))));
        if !result.evaluation.tried.is_empty() {
            text.push_str(&format!("\n{}\n{}", heading("tried"), tried(&result.evaluation, &Metric::ALL).render()));
        }
        print(text)?;
    }
    Ok(Completion::Done)
}

impl EvaluateArgs {
    /// The data with the ways they are evaluated in: links are divided anew for every seed, other data once.
    fn evaluated(&self) -> Result<Vec<(Dataset, Protocol)>> {
        let seed = self.data.spec().fit.seed;
        let protocol = |division: Division, seed: u64| {
            let tuning = if self.tune == TuneArg::First { Tuning::FirstSplit } else { Tuning::EachSplit };
            Protocol { tuning, ..Protocol::new(division, seed) }
        };
        if self.data.predicts_links() {
            let divided = |step: u64| {
                let seed = seed.wrapping_add(step);
                let data = self.data.open_to_try(seed, Some(LINK_TEST_SHARE))?;
                Ok((data, protocol(Division::GivenSplits, seed)))
            };
            return (0..self.seeds).map(divided).collect();
        }
        // Candidates may describe nodes differently, so the data are opened without descriptions.
        let data = self.data.open_to_try(seed, None)?;
        let division = self.folds.map_or_else(|| Division::usual(&data), Division::Folds);
        Ok(vec![(data, protocol(division, seed).repeated(self.seeds))])
    }

    /// Where runs are remembered; `None`: nowhere, as a single candidate is soon tested again.
    fn journal_place(&self) -> Result<Option<PathBuf>> {
        let long = self.search.is_wanted() || self.protocol.is_some();
        match &self.journal {
            Some(path) => Ok(Some(path.clone())),
            None if long => {
                let name = Path::new(&self.data.data).file_name().unwrap_or_default().to_string_lossy().into_owned();
                Ok(Some(catalogue::cache_folder()?.join("runs").join(format!("{name}.jsonl"))))
            }
            None => Ok(None),
        }
    }

    fn open_journal(&self) -> Result<Journal> {
        let Some(path) = self.journal_place()? else { return Ok(Journal::in_memory()) };
        if self.fresh && path.exists() {
            std::fs::remove_file(&path).map_err(|error| Error::io(&path, error))?;
        }
        Ok(Journal::open(&path)?)
    }

    fn interrupted(&self, progress: &EvaluationProgress) -> Failure {
        let (done, runs) = progress.done();
        let kept = match self.journal_place() {
            Ok(Some(path)) => format!("they are kept in {}: the same command goes on from there", path.display()),
            _ => "nothing was kept (see --journal)".to_owned(),
        };
        Failure::Interrupted(format!("{done} of {} were done; {kept}", counted(runs, "run")))
    }
}

/// What was tried, each candidate over the splits, the lowest mean loss first.
fn tried(evaluation: &Evaluation, shown: &[Metric]) -> Table {
    let first = evaluation.tried.first().and_then(|trial| trial.valid.first_of(shown));
    let chief = first.map_or(Metric::LogLoss, |(chief, _)| chief);
    let columns = [Align::Left, Align::Right, Align::Right, Align::Right];
    let name = format!("validation {}", chief.label());
    let mut table =
        Table::new(&columns).header(["options".to_owned(), "validation loss".to_owned(), name, "chosen".to_owned()]);
    for found in evaluation.by_candidate() {
        table.row([
            found.candidate,
            metric(found.valid_loss),
            found.valid.get(chief).map(|value| chief.words(value)).unwrap_or_default(),
            if found.chosen == 0 { String::new() } else { count(found.chosen) },
        ]);
    }
    table
}

fn table(evaluation: &Evaluation, baseline: &Metrics, shown: &[Metric]) -> Table {
    let shown: Vec<Metric> = shown.iter().copied().filter(|metric| evaluation.metrics.contains_key(metric)).collect();
    let chosen = evaluation.folds.iter().any(|fold| fold.chosen.is_some());
    let first = ["", "seed", "train", "test", "best epoch"];
    let mut columns = vec![Align::Left];
    columns.extend(vec![Align::Right; first.len() - 1 + shown.len()]);
    columns.push(Align::Left);
    let mut header: Vec<String> = first.map(str::to_owned).to_vec();
    header.extend(shown.iter().map(|metric| metric.label().to_owned()));
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
        cells.extend(
            shown.iter().map(|shown| fold.metrics.get(*shown).map(|value| shown.words(value)).unwrap_or_default()),
        );
        cells.extend(fold.chosen.clone());
        table.row(cells);
    }
    table.rule(first.len() + shown.len());
    let blank = || vec![String::new(); first.len() - 1];
    let mut line = |style, name: &str, value: &dyn Fn(Metric) -> String| {
        let cells = std::iter::once(name.to_owned()).chain(blank()).chain(shown.iter().map(|metric| value(*metric)));
        table.styled_row(style, cells);
    };
    line(BOLD, "mean", &|shown| shown.words(evaluation.metrics[&shown].mean));
    line(BOLD, "± std", &|shown| shown.words(evaluation.metrics[&shown].std));
    line(DIM, "baseline", &|shown| baseline.get(shown).map(|value| shown.words(value)).unwrap_or_default());
    table
}
