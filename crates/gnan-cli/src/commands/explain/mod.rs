//! `gnan explain`: the whole model in tables, or single predictions as ledgers that add up.

mod global;
mod local;
pub(super) mod names;
mod readout;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gnan::explain::{
    By, Explainer, ExplanationWriter, Output, Overview, ParquetTable, ReadoutVerification, Reference, Verification,
};
use gnan::files::Task;
use gnan::names::Names;
use gnan::numbers::counted;
use gnan::output::AtomicFile;
use gnan::predict::Outputs;
use gnan::{Dataset, Error, Intervals, Model};
use serde::Serialize;

use crate::args::heading::OUTPUT;
use crate::args::{BandsArgs, ForceArgs, OutputArgs, ReadArgs, Sink};
use crate::cli::examples;
use crate::exit::{Completion, Failure, Result};
use crate::interrupt;
use crate::intervals;
use crate::progress::working;
use crate::screen::{eprint_line, print};
use crate::style::{escape_control, heading, warning};

const EXAMPLES: &str = examples!(
    "gnan explain model.gnan                                 the model alone",
    "gnan explain model.gnan my-data/ --feature element      one feature in full",
    "gnan explain model.gnan solubility --id caffeine,phenol  two predictions as ledgers",
    "gnan explain model.gnan my-data/ --id=#12 --by node --top 20",
    "gnan explain model.gnan my-data/ --all -o explanations.jsonl",
    "gnan explain model.gnan my-data/ --all --parquet -o explanations.parquet",
    "gnan explain model.gnan my-data/ --verify               exit code 1 if a sum is wrong",
);

const HEADING: &str = "What to explain";
/// Nodes of a large graph that are listed of every prediction where all are explained.
const MOST_NODES: usize = 20;

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

/// What terms are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReferenceArg {
    /// The average training item
    Average,
    /// Nothing
    Zero,
}

impl From<ReferenceArg> for Reference {
    fn from(reference: ReferenceArg) -> Reference {
        match reference {
            ReferenceArg::Average => Reference::Average,
            ReferenceArg::Zero => Reference::Zero,
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

    /// Explain every prediction, as one JSON line each (or rows of --csv, --parquet): by feature, node, distance and
    /// feature-distance unless --by says otherwise; of the other nodes of a large graph the 20 strongest, the rest summed
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
    /// [default: feature, distance, node; all in JSON and CSV of --id]
    #[arg(long, value_name = "PARTS", value_delimiter = ',', hide_possible_values = true, help_heading = HEADING)]
    by: Vec<ByArg>,

    /// What terms are compared with: the average training item, or zero (terms as they are computed, from the output bias)
    #[arg(long, value_name = "average|zero", default_value = "average", hide_possible_values = true, help_heading = HEADING)]
    reference: ReferenceArg,

    /// Most rows of a table; the rest is counted and summed (JSON and CSV hold everything, by node and
    /// feature the 50,000 largest)
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one, help_heading = OUTPUT)]
    top: usize,

    /// Write one CSV table instead of words
    #[arg(long, help_heading = OUTPUT)]
    csv: bool,

    /// Write predictions as the same table in Parquet, into the file of --output
    #[arg(long, conflicts_with_all = ["csv", "verify"], help_heading = OUTPUT)]
    parquet: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    bands: BandsArgs,

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
    Parquet,
}

/// Runs `gnan explain`.
pub fn run(args: &ExplainArgs, json: bool) -> Result<Completion> {
    let format = match (json, args.csv, args.parquet) {
        (true, true, _) | (true, _, true) => {
            return Err(Error::usage("either --json or --csv or --parquet, not two of them").into());
        }
        (true, ..) => Format::Json,
        (_, true, _) => Format::Csv,
        (.., true) => Format::Parquet,
        _ => Format::Text,
    };
    let local = !args.id.is_empty() || args.all || args.verify;
    if !local && !args.by.is_empty() {
        let error = Error::usage("--by divides single predictions");
        return Err(error.with_remedy("name them with --id, or take --all").into());
    }
    if format == Format::Parquet && (!local || args.output.output.is_none()) {
        return Err(Error::usage("--parquet writes predictions into a file")
            .with_remedy("name predictions with --id or --all, and the file with --output")
            .into());
    }
    if args.verify && args.csv {
        return Err(Error::usage("--verify answers in words or with --json").into());
    }
    args.output.check(args.force)?;
    let model = crate::args::load_model(&args.model)?;
    let data = args.data.as_deref().map(|data| args.read.open_for_ids(&model, data, &args.id)).transpose()?;
    match &data {
        Some(data) if local => explain_predictions(args, &model, data, format),
        data => explain_model(args, &model, data.as_ref(), format),
    }
}

/// An explainer whose errors name the data.
fn explainer<'a>(args: &ExplainArgs, model: &'a Model, data: &'a Dataset) -> gnan::Result<Explainer<'a>> {
    let explainer = working("looking values up", || Explainer::new(model, data));
    let explainer = explainer.map(|explainer| explainer.relative_to(args.reference.into()));
    explainer.map_err(|error| error.in_file(args.data.as_deref().unwrap_or_default()))
}

/// The document of a whole model: what it shows, and 95 % bands where there are any.
#[derive(Serialize)]
struct ModelDocument<'a> {
    #[serde(flatten)]
    overview: &'a Overview,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<&'a Intervals>,
}

fn explain_model(args: &ExplainArgs, model: &Model, data: Option<&Dataset>, format: Format) -> Result<Completion> {
    if let Some(before) = model.before_readout() {
        let answer = explain_model(args, &before, data, format)?;
        if format == Format::Text && args.output.output.is_none() {
            print(readout::functions(model, args.top))?;
        }
        return Ok(answer);
    }
    let definition = model.definition();
    let outputs = Output::named(definition, &args.class)?;
    let names = Names::new(definition.learned.features.iter().map(|feature| feature.name.clone()));
    let features = match args.feature.as_slice() {
        [] => None,
        wanted => Some(names.pick(wanted, "the model has no feature")?),
    };
    let overview = match data {
        None => model.overview(),
        Some(data) => {
            let explainer = explainer(args, model, data)?;
            working("explaining", || explainer.overview())?
        }
    };
    let intervals = intervals::of_model(&args.model, model, args.bands);
    match format {
        Format::Json => {
            let document = ModelDocument { overview: &overview, intervals: intervals.as_ref() };
            let mut text = serde_json::to_vec_pretty(&document)
                .map_err(|error| Error::input(format!("the overview cannot be written: {error}")))?;
            text.push(b'\n');
            args.output.write(&text, "the overview")?;
        }
        Format::Csv | Format::Parquet => args.output.write(&overview.csv()?, "the overview")?,
        Format::Text => {
            let canonical = model.canonical();
            let outputs = outputs.unwrap_or_else(|| Output::own(definition));
            let global = global::Global {
                path: &args.model,
                overview: &overview,
                canonical: &canonical,
                data,
                outputs,
                features,
                top: args.top,
                intervals: intervals.as_ref(),
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
    let definition = model.definition();
    // Data that the model cannot read are worth more words than an id that is not in them.
    let before = model.before_readout();
    let explainer = explainer(args, before.as_ref().unwrap_or(model), data)?;
    let positions = if args.id.is_empty() {
        (0..data.len()).collect()
    } else {
        let source = args.data.as_deref().unwrap_or_default();
        names::items(data, &args.id, &format!("gnan predict {} {source}", args.model.display()))?
    };
    if definition.spec.model.readout {
        return readout::predictions(args, model, data, &positions, format);
    }
    let chosen = Output::named(definition, &args.class)?;
    let by: Vec<By> = args.by.iter().map(|by| By::from(*by)).collect();
    if format == Format::Text && !args.all && !args.verify {
        let wanted = local::Ledgers { definition, outputs: chosen, by, top: args.top };
        let mut text = String::new();
        let mut notes = Vec::new();
        for position in &positions {
            let outputs = model.outputs_on(&data.subset(&[*position]))?;
            let why = explainer.explain_predicted(*position, &outputs.values)?;
            text.push_str(if text.is_empty() { "" } else { "\n" });
            let molecule = match data.task() {
                Task::Graph => data.molecule(data.items()[*position] as usize),
                Task::Node => None,
            };
            let groups = molecule.map(|molecule| molecule.functional_groups()).unwrap_or_default();
            // The nodes of a node task share a graph, of which is said once what is new in it.
            let of_item = match data.task() {
                Task::Graph => outputs.novelty,
                Task::Node => {
                    let new: Vec<String> = outputs.novelty.into_iter().filter(|note| !notes.contains(note)).collect();
                    notes.extend(new);
                    Vec::new()
                }
            };
            text.push_str(&wanted.text(&why, &of_item, &groups));
        }
        write_text(args, &text, &counted(positions.len(), "explanation"))?;
        note_novelty(&notes);
        return Ok(Completion::Done);
    }
    let outputs = working("predicting", || model.outputs_on(&data.subset(&positions)))?;
    if args.verify {
        let outputs_shown = Output::shown(definition);
        let all = ExplanationWriter { definition, outputs: outputs_shown, by: By::ALL.to_vec(), most_nodes: None };
        let mut found = Verification::new();
        explainer.explain_each(
            &positions,
            &outputs,
            |why| all.verify(why),
            |one| {
                found.merge(one);
                go_on()
            },
        )?;
        return answer(args, &found, format);
    }
    let by = match by.is_empty() {
        false => by,
        true if args.all => vec![By::Feature, By::Node, By::Distance, By::FeatureAndDistance],
        true => By::ALL.to_vec(),
    };
    let explainer = match by.contains(&By::NodeAndFeature) {
        true => explainer,
        false if args.all => explainer.listing(0),
        false => explainer,
    };
    let writer = ExplanationWriter {
        definition,
        outputs: chosen.unwrap_or_else(|| Output::shown(definition)),
        by,
        most_nodes: (args.all && data.task() == Task::Node).then_some(MOST_NODES),
    };
    write_predictions(args, &explainer, &positions, &outputs, &writer, format)?;
    note_novelty(&outputs.novelty);
    Ok(Completion::Done)
}

/// Says what the data hold that training had not seen.
fn note_novelty(sentences: &[String]) {
    for sentence in sentences {
        eprint_line(format!("{}: {}", warning("note"), escape_control(sentence)));
    }
}

/// Writes explanations as they come: a document, JSON lines, or rows of a table.
fn write_predictions(
    args: &ExplainArgs,
    explainer: &Explainer<'_>,
    positions: &[usize],
    outputs: &Outputs,
    writer: &ExplanationWriter<'_>,
    format: Format,
) -> Result<()> {
    let what = counted(positions.len(), "explanation");
    if format == Format::Parquet {
        let path = args.output.output.as_ref().expect("a Parquet file was named");
        interrupt::listen("stopping; nothing will be written")?;
        let mut file = AtomicFile::create(path)?;
        let mut table = ParquetTable::new(file.stream(), writer.has_sds())?;
        explainer.explain_each(
            positions,
            outputs,
            |why| Ok(writer.rows(why)),
            |rows| -> Result<()> {
                table.add(rows)?;
                go_on()
            },
        )?;
        table.finish()?;
        file.commit()?;
        eprint_line(format!("wrote {what} to {}", heading(path.display())));
        return Ok(());
    }
    let mut sink = Sink::open(&args.output)?;
    // Several predictions that were named are one document, all of them a line each.
    let list = format == Format::Json && !args.all && positions.len() > 1;
    let document = format == Format::Json && !args.all;
    match format {
        Format::Csv => sink.write(writer.csv_header())?,
        _ if list => sink.write(b"[\n")?,
        _ => {}
    }
    let make = |why: &_| match format {
        Format::Csv => writer.csv_rows(why),
        _ if document => writer.json_document(why),
        _ => writer.json_line(why),
    };
    let mut first = true;
    explainer.explain_each(positions, outputs, make, |bytes| -> Result<()> {
        if list && !std::mem::take(&mut first) {
            sink.write(b",\n")?;
        }
        sink.write(&bytes)?;
        go_on()
    })?;
    if list {
        sink.write(b"]\n")?;
    }
    sink.close(&args.output, &what)
}

/// Whether nobody has interrupted the work.
fn go_on() -> Result<()> {
    if interrupt::asked() { Err(Failure::Interrupted("nothing was written".to_owned())) } else { Ok(()) }
}

/// What verification has found.
trait Verified: Serialize {
    /// In a sentence.
    fn sentence(&self) -> String;
    /// Whether every sum is right.
    fn adds_up(&self) -> bool;
}

impl Verified for Verification {
    fn sentence(&self) -> String {
        let what = format!("{} in {}", counted(self.sums, "sum"), counted(self.predictions, "prediction"));
        let deviation = format!(
            "the largest deviation is {:.2} % of what is tolerated (1e-5 of the sizes of the terms, at least 1e-5)",
            100.0 * self.largest_deviation
        );
        if self.adds_up {
            return format!("everything adds up: {what}; {deviation}");
        }
        let worst = self.worst.as_deref().map(escape_control).unwrap_or_default();
        format!("the parts of \"{worst}\" do not add up: {what}; {deviation}")
    }

    fn adds_up(&self) -> bool {
        self.adds_up
    }
}

impl Verified for ReadoutVerification {
    fn sentence(&self) -> String {
        match self.wrong {
            0 => format!("{}: both stages add up", counted(self.checked, "explanation")),
            wrong => format!("{wrong} of {} do not add up", counted(self.checked, "explanation")),
        }
    }

    fn adds_up(&self) -> bool {
        self.adds_up
    }
}

/// Prints what verification has found.
fn answer(args: &ExplainArgs, found: &impl Verified, format: Format) -> Result<Completion> {
    match format {
        Format::Text | Format::Csv | Format::Parquet => {
            write_text(args, &format!("{}\n", found.sentence()), "the answer")?
        }
        Format::Json => {
            let mut text = serde_json::to_vec_pretty(found)
                .map_err(|error| Error::input(format!("the answer cannot be written as JSON: {error}")))?;
            text.push(b'\n');
            args.output.write(&text, "the answer")?;
        }
    }
    Ok(if found.adds_up() { Completion::Done } else { Completion::CheckFailed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_add_up_is_named() {
        let good = Verification { predictions: 1, sums: 17, ..Verification::new() };
        assert!(good.sentence().starts_with("everything adds up: 17 sums in 1 prediction;"), "{}", good.sentence());
        let bad = Verification { adds_up: false, worst: Some("g\n7".to_owned()), ..good };
        assert!(bad.sentence().starts_with("the parts of \"g\\n7\" do not add up"), "{}", bad.sentence());
    }
}
