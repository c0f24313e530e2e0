//! `gnan demo`: the first thing anyone sees. Trains on the built-in molecules, says how good the model is and what it
//! learned, explains one prediction with numbers that add up, and leaves its files in a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use gnan::explain::{By, Canonical, CurveByDistance, Explanation};
use gnan::files::Task;
use gnan::metric::{Metric, Metrics};
use gnan::numbers::{count, duration};
use gnan::output::write_atomically;
use gnan::spec::RhoChoice;
use gnan::{Dataset, Error, Model, Spec};
use gnan_report::Palette;
use gnan_report::bands::Bands;
use gnan_report::report::Report;
use gnan_report::words;
use serde::Serialize;

use super::report;
use super::train::{Outcome, fit};
use crate::amounts::{Nouns, amounts_table, level_rows, strongest};
use crate::args::heading::{OUTPUT, TRAINING};
use crate::args::{ForceArgs, train_command};
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::findings::distance_table;
use crate::ledger::LedgerTable;
use crate::metric_table::metric_table;
use crate::progress::working;
use crate::screen::{print, print_json};
use crate::style::{DIM, dim, heading};
use crate::table::Table;

/// The built-in set.
const DATA: &str = "solubility";
/// A molecule of the test part that everybody knows.
const MOLECULE: &str = "caffeine";
/// The feature that names atoms.
const ELEMENT: &str = "element";
/// Distances and elements that are shown.
const DISTANCES: usize = 8;
const ATOMS: usize = 12;
/// What nodes and graphs are here.
const NOUNS: Nouns = Nouns { node: "atom", graph: "molecule" };
const MODEL_FILE: &str = "model.gnan";
const PREDICTIONS_FILE: &str = "predictions.csv";
const REPORT_FILE: &str = "report.html";
/// The document of `--json`; it also marks a folder as the demo's own.
const DOCUMENT_FILE: &str = "demo.json";

const EXAMPLES: &str = examples!("gnan demo", "gnan demo -o elsewhere/ --seed 3", "gnan demo --json | jq .test.r2");

/// Arguments of `gnan demo`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct DemoArgs {
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = TRAINING)]
    seed: u64,

    /// Folder to write into
    #[arg(short, long, value_name = "FOLDER", default_value = "gnan-demo", help_heading = OUTPUT)]
    output: PathBuf,

    #[command(flatten)]
    force: ForceArgs,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    test: &'a Metrics,
    baseline: &'a Metrics,
    data: &'a str,
    molecules: usize,
    epochs: usize,
    seconds: f64,
    model: PathBuf,
    predictions: PathBuf,
    report: PathBuf,
    rho: Vec<CurveByDistance>,
    explanation: ExplanationDocument<'a>,
}

/// One prediction in parts: `base + structure + sum of features = prediction`.
#[derive(Serialize)]
struct ExplanationDocument<'a> {
    id: &'a str,
    actual: f64,
    prediction: f64,
    base: f64,
    structure: f64,
    features: BTreeMap<&'a str, f64>,
    adds_up: bool,
}

/// A test molecule, taken apart.
struct Explained {
    why: Explanation,
    actual: f64,
}

impl<'a> ExplanationDocument<'a> {
    fn of(explained: &'a Explained) -> Self {
        let why = &explained.why;
        ExplanationDocument {
            id: &why.id,
            actual: explained.actual,
            prediction: why.total(0),
            base: why.reference_base(0),
            structure: why.structure_difference(0),
            features: why.features.iter().map(String::as_str).zip(why.feature_differences(0)).collect(),
            adds_up: why.adds_up(),
        }
    }
}

/// Runs `gnan demo`.
pub fn run(args: &DemoArgs, json: bool) -> Result<Completion> {
    check_folder(&args.output, args.force.force)?;
    let data = working("reading the molecules", || Dataset::open(DATA))?.with_run(&crate::args::run());
    let parts = data.parts(None, args.seed)?;
    let split = &parts.0;
    // One rho for all features tells the simplest story.
    // The smallest model: one distance function, and nothing that training items would choose besides.
    let spec = Spec::default().seed(args.seed).rho(RhoChoice::Shared).choose(false);
    let outcome = fit(&spec, &parts, |_| Ok(()))?;
    let model = &outcome.fitted.model;
    let (Some(test_metrics), Some(baseline)) = (&outcome.metrics.test, &outcome.metrics.baseline) else {
        return Err(Error::input("the built-in data have no test part").into());
    };
    let test = &split.test;
    let explained = explain(model, test)?;
    let document = Document {
        test: test_metrics,
        baseline,
        data: DATA,
        molecules: data.len(),
        epochs: model.definition().record.epochs,
        seconds: outcome.seconds,
        model: args.output.join(MODEL_FILE),
        predictions: args.output.join(PREDICTIONS_FILE),
        report: args.output.join(REPORT_FILE),
        rho: model.canonical().influence_by_distance(),
        explanation: ExplanationDocument::of(&explained),
    };
    write_outputs(&args.output, model, test, &document)?;
    let report = Report {
        model,
        data: &data,
        bands: Bands::default(),
        test_share: None,
        wanted: data.find(MOLECULE).into_iter().collect(),
        palette: Palette::default(),
        model_name: &document.model.display().to_string(),
        data_name: DATA,
        train_command: train_command(model, DATA),
        options: format!(" --id {MOLECULE}"),
    };
    report::write(&report, &document.report)?;
    if json {
        print_json(&document)?;
    } else {
        print(story(&data, test, &outcome, &explained, &args.output))?;
    }
    Ok(Completion::Done)
}

/// Explains the molecule that everybody knows, or else the first.
fn explain(model: &Model, test: &Dataset) -> Result<Explained> {
    let position = test.find(MOLECULE).unwrap_or(0);
    let why = model.explain(test, position)?;
    let item = test.items().get(position).copied().unwrap_or(0) as usize;
    let actual = test.targets().first().and_then(|target| target.values.get(item)).copied().unwrap_or(f64::NAN);
    Ok(Explained { why, actual })
}

/// Accepts a folder that is new, empty, or the demo's own; so running it again just works.
fn check_folder(folder: &Path, force: bool) -> gnan::Result<()> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::usage("this is a file, not a folder")
            .in_file(folder)
            .with_remedy("name a folder with --output"));
    }
    if force || !folder.exists() || folder.join(DOCUMENT_FILE).is_file() {
        return Ok(());
    }
    let mut entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, error))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(Error::usage("this folder holds other things")
            .in_file(folder)
            .with_remedy("name another with --output, or use --force to write into it")),
    }
}

fn write_outputs(folder: &Path, model: &Model, test: &Dataset, document: &Document<'_>) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    let text = serde_json::to_vec_pretty(document).map_err(|error| Error::input(error.to_string()))?;
    write_atomically(&folder.join(DOCUMENT_FILE), &text)?;
    model.save(&document.model)?;
    let predictions = model.predict(test)?;
    let table = [model.csv_header(false)?, model.csv_lines(&predictions.items, false)?].concat();
    write_atomically(&document.predictions, &table)?;
    Ok(())
}

fn story(data: &Dataset, test: &Dataset, outcome: &Outcome, explained: &Explained, folder: &Path) -> String {
    let model = &outcome.fitted.model;
    let definition = model.definition();
    let record = &definition.record;
    let mut text = format!(
        "{}  {} molecules and how well they dissolve in water (log10 of mol per litre)\n",
        heading("gnan demo"),
        count(data.len())
    );
    text.push_str(&format!("\n{}\n", heading("1. Train")));
    let mut facts = Table::facts();
    let sizes = format!("{} to train, {} to validate", count(record.train_items), count(record.valid_items));
    facts.fact("molecules", format!("{sizes}, {} set aside for the test", count(test.len())));
    facts.fact("model", words::architecture(definition));
    facts.fact("time", format!("{} steps in {}", count(record.epochs), duration(outcome.seconds)));
    text.push_str(&facts.render());

    text.push_str(&format!("\n{}\n", heading("2. How good is it?")));
    let part = |metrics: &Option<Metrics>| metrics.clone().unwrap_or_default();
    let (test_metrics, baseline) = (part(&outcome.metrics.test), part(&outcome.metrics.baseline));
    let columns = [("test".to_owned(), &test_metrics), ("always the mean".to_owned(), &baseline)];
    text.push_str(&metric_table(&outcome.metrics.shown, &columns).render());
    let mae = |metrics: &Metrics| metrics.get(Metric::Mae).unwrap_or(f64::NAN);
    text.push_str(&format!(
        "  On molecules it has never seen it is off by {:.2} on average; always predicting the mean is off by {:.2}.\n",
        mae(&test_metrics),
        mae(&baseline)
    ));
    text.push_str(&learned(&model.canonical()));
    text.push_str(&reasons(&explained.why, explained.actual));

    text.push_str(&format!("\n{}\n", heading(format!("Written to {}", folder.display()))));
    let mut files = Table::facts();
    files.fact(REPORT_FILE, "everything in figures: open it in a browser");
    files.fact(MODEL_FILE, "the model, ready for gnan predict and gnan inspect");
    files.fact(PREDICTIONS_FILE, format!("its predictions for the {} test molecules", count(test.len())));
    files.fact(DOCUMENT_FILE, "the figures above, for programs");
    text.push_str(&files.render());
    text.push_str(&format!("\n{}\n", heading("Try next")));
    let model_path = folder.join(MODEL_FILE);
    let hints = [
        (format!("gnan explain {} {DATA} --id benzene", model_path.display()), "any prediction, to the last digit"),
        (format!("gnan summary {}", model_path.display()), "which features have an effect that can be relied on"),
        (format!("gnan train {DATA}"), "the most accurate model: what is left open is chosen by training items"),
        ("gnan train your-data/ --target column".to_owned(), "your own graphs; gnan train --help shows how"),
    ];
    let width = hints.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    for (command, what) in hints {
        text.push_str(&format!("  {command:<width$}  {}\n", dim(what)));
    }
    text
}

/// What the model learned: rho by distance, and the strongest atoms.
fn learned(canonical: &Canonical) -> String {
    let receivers = &canonical.definition().learned.receivers;
    let mut text = format!("\n{}\n", heading("3. What did it learn?"));
    text.push_str("  Influence by distance (rho, by the number of bonds between two atoms):\n");
    text.push_str(&distance_table(&canonical.influence_by_distance(), receivers, DISTANCES, "atom").render());
    if let Some(elements) = canonical.features().into_iter().find(|feature| feature.name == ELEMENT) {
        text.push_str("\n  Effect of the element of an atom (+ dissolves better, - worse than the average atom):\n");
        let (mut rows, _) =
            strongest(level_rows(&elements.levels, Task::Graph, NOUNS, |values| values.to_vec()), ATOMS);
        rows.sort_by(|a, b| b.values[0].total_cmp(&a.values[0]));
        text.push_str(&amounts_table("", &rows, &canonical.definition().output_names(), true).render());
    }
    text
}

/// One prediction as a ledger that adds up.
fn reasons(why: &Explanation, actual: f64) -> String {
    let total = why.total(0);
    let mut text = format!("\n{}\n", heading(format!("4. Why does it predict {total:.2} for {}?", why.id)));
    let by_feature = why.ledger(0, By::Feature);
    let [helped, hindered] = by_feature.extremes().map(|name| name.map(words_for));
    let by_size = by_feature.clone().top(usize::MAX);
    let mut ledger = LedgerTable::new(&by_size, "its shape alone: how many atoms, how far apart", "prediction");
    ledger.compare(DIM, "actual", actual, "");
    text.push_str(&ledger.render());
    let helped = helped.map(|words| format!("What helps it dissolve most: {words}. "));
    let hindered = hindered.map(|words| format!("What hinders it most: {words}."));
    text.push_str(&format!("  {}{}\n", helped.unwrap_or_default(), hindered.unwrap_or_default()));
    if why.adds_up() {
        text.push_str("  Nothing is left over: these parts are the whole of the prediction.\n");
    }
    text
}

/// The features of atoms and the structure term, for people.
fn words_for(feature: &str) -> &str {
    match feature {
        "element" => "its elements",
        "hydrogens" => "the hydrogens on its atoms",
        "degree" => "how its atoms are linked",
        "ring" => "its rings",
        "aromatic" => "its aromatic atoms",
        "charge" => "its charges",
        "structure" => "its size and shape",
        other => other,
    }
}
