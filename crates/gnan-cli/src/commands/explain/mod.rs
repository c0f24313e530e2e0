//! `gnan explain`: the whole model in tables, or single predictions as ledgers that add up.

mod global;
mod global_table;
mod lines;
mod local;
pub(super) mod names;
pub(super) mod outputs;
mod readout;
mod stream;
mod verify;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gnan::explain::{By, Explainer, Explanation};
use gnan::{Dataset, Error, Model};
use serde::Serialize;

use self::lines::Wanted;
use self::verify::Verification;
use crate::args::heading::OUTPUT;
use crate::args::{ForceArgs, OutputArgs, ReadArgs, Sink};
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::progress::working;
use crate::screen::{eprint_line, print};
use crate::style::{counted, escape_control, warning};

const EXAMPLES: &str = examples!(
    "gnan explain model.gnan                                 the model alone",
    "gnan explain model.gnan my-data/ --feature element      one feature in full",
    "gnan explain model.gnan solubility --id caffeine,water  two predictions as ledgers",
    "gnan explain model.gnan my-data/ --id=#12 --by node --top 20",
    "gnan explain model.gnan my-data/ --all -o explanations.jsonl",
    "gnan explain model.gnan my-data/ --verify               exit code 1 if a sum is wrong",
);

const HEADING: &str = "What to explain";

/// What the terms of a ledger are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ByArg {
    /// Features
    Feature,
    /// Source nodes
    Node,
    /// Distances
    Distance,
    /// Pairs of feature and distance
    FeatureDistance,
    /// Pairs of source node and feature
    NodeFeature,
    /// Receiving nodes
    Receiver,
}

impl From<ByArg> for By {
    fn from(by: ByArg) -> By {
        match by {
            ByArg::Feature => By::Feature,
            ByArg::Node => By::Node,
            ByArg::Distance => By::Distance,
            ByArg::FeatureDistance => By::FeatureAndDistance,
            ByArg::NodeFeature => By::NodeAndFeature,
            ByArg::Receiver => By::Receiver,
        }
    }
}

/// Arguments of `gnan explain`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ExplainArgs {
    /// The model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Data: a path or the name of a built-in or fetched set; for predictions, and for importances of the whole model
    #[arg(value_name = "DATA")]
    data: Option<String>,

    /// Explain one prediction: id of a graph or node, name of a molecule, pair of nodes as a-b, or its row from 1 as
    /// --id=#12; several with commas or by repeating
    #[arg(long, value_name = "ID", requires = "data", conflicts_with = "all", help_heading = HEADING)]
    id: Vec<String>,

    /// Explain every prediction, as one JSON line each (or rows of --csv)
    #[arg(long, requires = "data", help_heading = HEADING)]
    all: bool,

    /// Add every sum up again from its terms, for --id or for all; exit code 1 if one is wrong
    #[arg(long, requires = "data", help_heading = HEADING)]
    verify: bool,

    /// Feature to show in full; several with commas or by repeating [default: the strongest, in short]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["id", "all", "verify"], help_heading = HEADING)]
    feature: Vec<String>,

    /// Class or target to explain [default: the predicted one of several classes, the second of two, every target]
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    class: Vec<String>,

    /// What predictions are divided by: feature, node, distance, feature-distance, node-feature, receiver
    /// [default: feature, distance, node; all in JSON and CSV]
    #[arg(long, value_name = "PARTS", value_delimiter = ',', hide_possible_values = true, help_heading = HEADING)]
    by: Vec<ByArg>,

    /// Most rows of a table; the rest is counted and summed (JSON and CSV hold everything, by node and
    /// feature the 50,000 largest)
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one, help_heading = OUTPUT)]
    top: usize,

    /// Write one CSV table instead of words
    #[arg(long, help_heading = OUTPUT)]
    csv: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    read: ReadArgs,
}

fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("a table has at least one row".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("this is not a number of rows".to_owned()),
    }
}

/// How the result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Csv,
}

/// Runs `gnan explain`.
pub fn run(args: &ExplainArgs, json: bool) -> Result<Completion> {
    let format = match (json, args.csv) {
        (true, true) => return Err(Error::usage("either --json or --csv, not both").into()),
        (true, _) => Format::Json,
        (_, true) => Format::Csv,
        _ => Format::Text,
    };
    let local = !args.id.is_empty() || args.all || args.verify;
    if !local && !args.by.is_empty() {
        let error = Error::usage("--by divides single predictions");
        return Err(error.with_remedy("name them with --id, or take --all").into());
    }
    if args.verify && args.csv {
        return Err(Error::usage("--verify answers in words or with --json").into());
    }
    args.output.check(args.force)?;
    let model = Model::load(&args.model)?;
    let data = args.data.as_deref().map(|data| args.read.open_for_ids(&model, data, &args.id)).transpose()?;
    match &data {
        Some(data) if local => explain_predictions(args, &model, data, format),
        data => explain_model(args, &model, data.as_ref(), format),
    }
}

/// An explainer whose errors name the data.
fn explainer<'a>(args: &ExplainArgs, model: &'a Model, data: &'a Dataset) -> gnan::Result<Explainer<'a>> {
    let explainer = working("looking values up", || Explainer::new(model, data));
    explainer.map_err(|error| error.in_file(args.data.as_deref().unwrap_or_default()))
}

fn explain_model(args: &ExplainArgs, model: &Model, data: Option<&Dataset>, format: Format) -> Result<Completion> {
    if let Some(before) = model.before_readout() {
        let answer = explain_model(args, &before, data, format)?;
        if format == Format::Text && args.output.output.is_none() {
            print(readout::functions(model, args.top))?;
        }
        return Ok(answer);
    }
    let description = model.description();
    let outputs = outputs::named(description, &args.class)?;
    let names = names::Names::new(description.features.iter().map(|feature| feature.name.clone()).collect());
    let features = match args.feature.as_slice() {
        [] => None,
        wanted => Some(names::pick(wanted, |name| names.find(name)).map_err(|name| {
            Error::usage(format!("the model has no feature \"{}\"", escape_control(&name)))
                .with_remedy(names.remedy(&name))
        })?),
    };
    let overview = match data {
        None => model.overview(),
        Some(data) => {
            let explainer = explainer(args, model, data)?;
            working("explaining", || explainer.overview())?
        }
    };
    match format {
        Format::Json => {
            let mut text = serde_json::to_vec_pretty(&overview)
                .map_err(|error| Error::input(format!("the result cannot be written as JSON: {error}")))?;
            text.push(b'\n');
            args.output.write(&text, "the overview")?;
        }
        Format::Csv => args.output.write(&global_table::csv(&overview)?, "the overview")?,
        Format::Text => {
            let canonical = model.canonical();
            let outputs = outputs.unwrap_or_else(|| global::own_outputs(description));
            let global = global::Global {
                path: &args.model,
                overview: &overview,
                canonical: &canonical,
                data,
                outputs,
                features,
                top: args.top,
            };
            write_text(args, &global.text(), "the overview")?;
        }
    }
    Ok(Completion::Done)
}

/// Text for people goes to the terminal with its colours, to a file without.
fn write_text(args: &ExplainArgs, text: &str, what: &str) -> Result<()> {
    match &args.output.output {
        None => print(text),
        Some(_) => args.output.write(anstream::adapter::strip_str(text).to_string().as_bytes(), what),
    }
}

fn explain_predictions(args: &ExplainArgs, model: &Model, data: &Dataset, format: Format) -> Result<Completion> {
    let description = model.description();
    // Data that the model cannot read are worth more words than an id that is not in them.
    let before = model.before_readout();
    let explainer = explainer(args, before.as_ref().unwrap_or(model), data)?;
    let positions = if args.id.is_empty() {
        (0..data.len()).collect()
    } else {
        let source = args.data.as_deref().unwrap_or_default();
        names::items(data, &args.id, &format!("gnan predict {} {source}", args.model.display()))?
    };
    if description.readout {
        return readout::predictions(args, model, data, &positions, format);
    }
    let chosen = outputs::named(description, &args.class)?;
    let by: Vec<By> = args.by.iter().map(|by| By::from(*by)).collect();
    if format == Format::Text && !args.all && !args.verify {
        let wanted = local::Ledgers { description, outputs: chosen, by, top: args.top };
        let mut text = String::new();
        for position in &positions {
            let outputs = model.outputs_on(&data.subset(&[*position]))?;
            let why = explainer.explain_predicted(*position, &outputs.values)?;
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&wanted.text(&why, &outputs.novelty));
        }
        write_text(args, &text, &counted(positions.len(), "explanation"))?;
        return Ok(Completion::Done);
    }
    let outputs = working("predicting", || model.outputs_on(&data.subset(&positions)))?;
    if args.verify {
        let all = Wanted { description, outputs: outputs::usual(description), by: By::ALL.to_vec() };
        let mut found = Verification::new();
        let make = |why: &Explanation| verify(&all, why);
        stream::each(&explainer, &positions, &outputs, make, |one| {
            found.merge(one);
            Ok(())
        })?;
        return answer(args, &found, format);
    }
    let by = if by.is_empty() { By::ALL.to_vec() } else { by };
    let wanted = Wanted { description, outputs: chosen.unwrap_or_else(|| outputs::usual(description)), by };
    let mut sink = Sink::open(&args.output)?;
    if format == Format::Csv {
        sink.write(Wanted::CSV_HEADER)?;
    }
    let single = positions.len() == 1 && !args.all;
    let make = |why: &_| match format {
        Format::Csv => wanted.csv_rows(why),
        _ if single => wanted.json_document(why),
        _ => wanted.json_line(why),
    };
    stream::each(&explainer, &positions, &outputs, make, |bytes| sink.write(&bytes))?;
    sink.close(&args.output, &counted(positions.len(), "explanation"))?;
    for sentence in &outputs.novelty {
        eprint_line(format!("{}: {}", warning("note"), escape_control(sentence)));
    }
    Ok(Completion::Done)
}

/// Adds an explanation up again; a large one output by output, because its text is large too.
fn verify(all: &Wanted<'_>, why: &Explanation) -> gnan::Result<Verification> {
    if why.unlisted.is_none() {
        return Verification::of_line(&all.json_line(why)?);
    }
    let mut found = Verification::new();
    for output in &all.outputs {
        let one = Wanted { description: all.description, outputs: vec![output.clone()], by: all.by.clone() };
        found.merge(Verification::of_line(&one.json_line(why)?)?);
    }
    found.predictions = 1;
    Ok(found)
}

/// What verification has found.
trait Answered: Serialize {
    /// In a sentence.
    fn sentence(&self) -> String;
    /// Whether every sum is right.
    fn adds_up(&self) -> bool;
}

impl Answered for Verification {
    fn sentence(&self) -> String {
        Verification::sentence(self)
    }

    fn adds_up(&self) -> bool {
        self.adds_up
    }
}

/// Prints what verification has found.
fn answer(args: &ExplainArgs, found: &impl Answered, format: Format) -> Result<Completion> {
    match format {
        Format::Text | Format::Csv => write_text(args, &format!("{}\n", found.sentence()), "the answer")?,
        Format::Json => {
            let mut text = serde_json::to_vec_pretty(found)
                .map_err(|error| Error::input(format!("the answer cannot be written as JSON: {error}")))?;
            text.push(b'\n');
            args.output.write(&text, "the answer")?;
        }
    }
    Ok(if found.adds_up() { Completion::Done } else { Completion::CheckFailed })
}
