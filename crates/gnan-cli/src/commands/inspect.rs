//! `gnan inspect`: what is in a model file.

use std::path::PathBuf;

use clap::Args;
use gnan::Model;
use gnan::explain::CurveByDistance;
use gnan::model::{Certificate, Definition, FeatureSchema};
use gnan::model_file::{FORMAT_VERSION, parameter_count};
use gnan::numbers::{count, counted, number};
use gnan_report::text::one_line;
use gnan_report::words;
use serde::Serialize;

use super::data::{FIRST_ROWS, NAME_WIDTH, rest};
use super::summary::terms;
use crate::args::arguments;
use crate::args::heading::OUTPUT;
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::findings::distance_table;
use crate::screen::{print, print_json};
use crate::style::{dim, heading, warning};
use crate::table::{Align, Table, shorten};

/// Ranked pairs that are shown.
const PAIRS_SHOWN: usize = 10;
const EXAMPLES: &str = examples!(
    "gnan inspect model.gnan",
    "gnan inspect model.gnan --all",
    "gnan inspect model.gnan --json | jq .definition.record.ended",
);

/// Arguments of `gnan inspect`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct InspectArgs {
    /// The model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// List every feature, not the first 20
    #[arg(long, help_heading = OUTPUT)]
    all: bool,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    format_version: u32,
    parameters: usize,
    outputs: Vec<String>,
    rho: Vec<CurveByDistance>,
    /// The model's certificates, checked again.
    checked: &'a [Certificate],
    /// The arguments of `gnan train` that request the same model.
    options: Vec<String>,
    definition: &'a Definition,
}

/// Runs `gnan inspect`.
pub fn run(args: &InspectArgs, json: bool) -> Result<Completion> {
    let model = crate::args::load_model(&args.model)?;
    let definition = model.definition();
    let checked = model.check_certificates();
    if json {
        print_json(&Document {
            format_version: FORMAT_VERSION,
            parameters: parameter_count(definition),
            outputs: definition.output_names(),
            rho: model.canonical().influence_by_distance(),
            checked: &checked,
            options: arguments(model.spec()),
            definition,
        })?;
    } else {
        let shown = if args.all { usize::MAX } else { FIRST_ROWS };
        let title = format!("{}  {}", heading(args.model.display()), dim(format!("format version {FORMAT_VERSION}")));
        print(format!("{title}\n\n{}{}", describe(&model, shown), certificates(&checked)))?;
    }
    Ok(if checked.iter().all(|certificate| certificate.holds) { Completion::Done } else { Completion::CheckFailed })
}

/// What the model promises, one line each.
fn certificates(checked: &[Certificate]) -> String {
    if checked.is_empty() {
        return String::new();
    }
    let broken = checked.iter().filter(|certificate| !certificate.holds).count();
    let note = match broken {
        0 => dim("checked again just now on the exact curves of this file: all hold"),
        _ => warning(&format!("checked again just now: {broken} of {} do NOT hold", checked.len())),
    };
    let lines: String =
        checked.iter().map(|certificate| format!("  {}\n", one_line(&certificate.sentence()))).collect();
    format!("\n{}  {note}\n{lines}", heading(counted(checked.len(), "certificate")))
}

fn describe(model: &Model, shown: usize) -> String {
    let definition = model.definition();
    let record = &definition.record;
    let mut facts = Table::facts();
    facts.fact("predicts", words::prediction(definition));
    for target in &definition.learned.targets {
        if let Some(classes) = &target.classes {
            let names: Vec<String> = classes.iter().take(FIRST_ROWS).map(|class| shorten(class, NAME_WIDTH)).collect();
            let more = if classes.len() > names.len() { ", ..." } else { "" };
            facts.fact("classes", format!("{}: {}{more}", target.name, names.join(", ")));
        }
    }
    facts.fact("model", words::architecture(definition));
    facts.fact("edges", if definition.learned.directed { "directed" } else { "undirected" });
    let valid = match record.valid_items {
        0 => String::new(),
        items => format!(", {} to validate", count(items)),
    };
    let sources = counted(record.nodes, if definition.learned.links.is_some() { "message edge" } else { "node" });
    facts.fact("trained on", format!("{}: {} items{valid}, {sources}", record.data, count(record.train_items)));
    if record.bounded_items > 0 {
        facts.fact("bounds", words::bounded_items(record.bounded_items));
    }
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
    facts.fact("ended", words::ending(definition));
    if let (Some(first), Some(best)) = (record.history.first(), record.best_point()) {
        let losses = |point: (usize, f64, f64)| format!("{} / {}", number(point.1), number(point.2));
        facts
            .fact("loss", format!("{} at first, {} at its best (training / validation)", losses(*first), losses(best)));
    }
    facts.fact("written by", format!("gnan {}", record.version));
    let mut text = facts.render();
    text.push_str(&format!("\n{}\n", heading(counted(definition.learned.features.len(), "feature"))));
    text.push_str(&features(&definition.learned.features, shown).render());
    text.push_str(&rest(definition.learned.features.len(), shown));
    if let Some(summary) = &record.summary {
        text.push_str(&format!("\n{}", terms(definition, summary, shown)));
    }
    text.push_str(&format!("\n{}", rho_lines(model, shown)));
    text
}

fn features(features: &[FeatureSchema], shown: usize) -> Table {
    let columns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left];
    let mut table = Table::new(&columns).header(["name", "kind", "nodes", "graphs", "missing", "values"]);
    for feature in features.iter().take(shown) {
        let unit = feature.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
        let values = match &feature.scale {
            Some(scale) => {
                let knots = feature.knots.map(|knots| format!(", {} knots", count(knots))).unwrap_or_default();
                format!("{} to {}{unit}{knots}", number(scale.min), number(scale.max))
            }
            None => levels(feature),
        };
        table.row([
            shorten(&feature.name, NAME_WIDTH),
            feature.kind.name().to_owned(),
            count(feature.support.nodes as usize),
            count(feature.support.graphs as usize),
            count(feature.missing.map_or(0, |support| support.nodes as usize)),
            values,
        ]);
    }
    table
}

fn levels(feature: &FeatureSchema) -> String {
    const SHOWN: usize = 8;
    let mut levels: Vec<_> = feature.levels.iter().collect();
    levels.sort_by_key(|level| std::cmp::Reverse(level.support.nodes));
    let names: Vec<String> = levels
        .iter()
        .take(SHOWN)
        .map(|level| format!("{} ({})", shorten(&level.name, 16), count(level.support.nodes as usize)))
        .collect();
    let more = levels.len() - names.len();
    let more = if more > 0 { format!(", {} more", count(more)) } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// The influence by distance, or the size of effects where they are not separable: bars for one, a table for several; nothing
/// where every level has effects of its own.
fn rho_lines(model: &Model, shown: usize) -> String {
    let canonical = model.canonical();
    let (title, curves, words) = match model.definition().shows_own_outputs() {
        true => (
            "influence by distance",
            canonical.influence_by_distance(),
            "relative to the distance at which effects are shown, where it is 1",
        ),
        false => (
            "size of effects by distance",
            canonical.effect_size_by_distance(),
            "what one node usually adds or takes away at each distance",
        ),
    };
    if curves.is_empty() {
        return String::new();
    }
    let receiver = if model.definition().learned.links.is_some() { "pair" } else { "node" };
    let table = distance_table(&curves, &model.definition().learned.receivers, shown, receiver);
    let cut = if curves.len() > 1 { rest(curves.len(), shown) } else { String::new() };
    format!("{}  {}\n{}{cut}", heading(title), dim(words), table.render())
}
