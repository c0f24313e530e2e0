//! `gnan data info`: what is in a data set, before any training.

use clap::Args;
use gnan::dataset::{FeatureSummary, Summary, TargetSummary};
use gnan::files::Task;
use gnan::numbers::{count, counted, in_unit, number, percent};

use crate::args::LookArgs;
use crate::args::heading::OUTPUT;
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::progress::working;
use crate::screen::{print, print_json};
use crate::style::{dim, escape_control, heading};
use crate::table::{Align, Table, shorten};

const EXAMPLES: &str = examples!(
    "gnan data info solubility",
    "gnan data info my-tables/ --target toxic",
    "gnan data info MUTAG.zip --json | jq .features[].name",
);

/// Rows that a list shows unless all are requested.
pub const FIRST_ROWS: usize = 20;
/// Widest name in a table.
pub const NAME_WIDTH: usize = 32;

/// Arguments of `gnan data info`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct InfoArgs {
    #[command(flatten)]
    data: LookArgs,

    /// List every feature and class, not the first 20
    #[arg(long, help_heading = OUTPUT)]
    all: bool,
}

/// Runs `gnan data info`.
pub fn run(args: &InfoArgs, json: bool) -> Result<Completion> {
    let data = args.data.open()?;
    let summary = working("counting", || data.summary());
    if json {
        print_json(&summary)?;
    } else {
        print(info(&summary, args.all))?;
    }
    Ok(Completion::Done)
}

fn info(summary: &Summary, all: bool) -> String {
    let shown = if all { usize::MAX } else { FIRST_ROWS };
    let mut text = format!("{}  {}\n\n", heading(&summary.name), dim(&summary.format));
    text.push_str(&facts(summary).render());
    for target in &summary.targets {
        text.push_str(&describe_target(target, shown));
    }
    if summary.targets.is_empty() {
        let columns = match summary.other_columns.as_slice() {
            [] => String::new(),
            names => format!(" (one of: {})", names.join(", ")),
        };
        text.push_str(&format!("\n{}\n  none yet: name one with --target{columns}\n", heading("no target")));
    }
    if !summary.splits.is_empty() {
        text.push_str(&format!("\n{}\n", heading(counted(summary.splits.len(), "given split"))));
        let mut table = Table::new(&[Align::Right; 4]).header(["", "train", "valid", "test"]);
        for (index, parts) in summary.splits.iter().enumerate().take(shown) {
            table.row([(index + 1).to_string()].into_iter().chain(parts.map(count)));
        }
        text.push_str(&table.render());
        text.push_str(&rest(summary.splits.len(), shown));
    }
    let kinds = dim(kind_words(&summary.features));
    text.push_str(&format!("\n{}  {kinds}\n", heading(counted(summary.features.len(), "feature"))));
    text.push_str(&features(&summary.features, shown).render());
    text.push_str(&rest(summary.features.len(), shown));
    if !summary.skipped.is_empty() {
        let rows = counted(summary.skipped.len(), "row");
        text.push_str(&format!("\n{}\n", heading(format!("{rows} that cannot be read"))));
        let mut table = Table::new(&[Align::Right, Align::Left, Align::Left]).header(["line", "id", "reason"]);
        for row in summary.skipped.iter().take(shown) {
            let line = row.line.map(|line| line.to_string()).unwrap_or_default();
            table.row([line, shorten(&row.id, NAME_WIDTH), escape_control(&row.reason).into_owned()]);
        }
        text.push_str(&table.render());
        text.push_str(&rest(summary.skipped.len(), shown));
    }
    if !summary.notes.is_empty() {
        text.push_str(&format!("\n{}\n", heading("notes")));
        summary.notes.iter().for_each(|note| text.push_str(&format!("  - {note}\n")));
    }
    text
}

fn facts(summary: &Summary) -> Table {
    let mut facts = Table::facts();
    facts.fact("predicts", if summary.task == Task::Graph { "graphs" } else { "nodes" });
    let empty = match summary.empty_graphs {
        0 => String::new(),
        some => format!(", {} without nodes", count(some)),
    };
    facts.fact("graphs", format!("{}{empty}", count(summary.graphs)));
    let largest = match summary.graphs {
        0 | 1 => String::new(),
        graphs => format!(
            ", {:.1} per graph, {} in the largest",
            summary.nodes as f64 / graphs as f64,
            count(summary.largest_graph)
        ),
    };
    facts.fact("nodes", format!("{}{largest}", count(summary.nodes)));
    let listed = if summary.listed_edges == summary.edges {
        String::new()
    } else {
        format!(" ({} listed in the files)", count(summary.listed_edges))
    };
    let direction = if summary.directed { "directed" } else { "undirected" };
    facts.fact("edges", format!("{}, {direction}{listed}", count(summary.edges)));
    let disconnected = match (summary.graphs, summary.disconnected_graphs) {
        (0 | 1, _) => String::new(),
        (_, 0) => ", every graph is connected".to_owned(),
        (_, some) => format!(", {} in more than one piece", counted(some, "graph")),
    };
    facts.fact("components", format!("{}{disconnected}", count(summary.components)));
    facts.fact("isolated nodes", count(summary.isolated_nodes));
    facts
}

fn features(features: &[FeatureSummary], shown: usize) -> Table {
    let columns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Left];
    let mut table = Table::new(&columns).header(["name", "kind", "distinct", "missing", "values"]);
    for feature in features.iter().take(shown) {
        let values = match (feature.min, feature.max) {
            (Some(min), Some(max)) => {
                let [min, max] = [min, max].map(|value| in_unit(value, feature.unit.as_deref()));
                format!("{min} to {max}")
            }
            _ => most_frequent(&feature.most_frequent, feature.levels),
        };
        table.row([
            shorten(&feature.name, NAME_WIDTH),
            feature.kind.name().to_owned(),
            count(feature.levels),
            count(feature.missing),
            values,
        ]);
    }
    table
}

/// How many features there are of each kind: "2 categorical, 1 binary".
fn kind_words(features: &[FeatureSummary]) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for feature in features {
        match kinds.iter_mut().find(|(kind, _)| *kind == feature.kind.name()) {
            Some((_, number)) => *number += 1,
            None => kinds.push((feature.kind.name(), 1)),
        }
    }
    kinds.iter().map(|(kind, number)| format!("{} {kind}", count(*number))).collect::<Vec<_>>().join(", ")
}

fn most_frequent(levels: &[(String, usize)], total: usize) -> String {
    let names: Vec<String> =
        levels.iter().map(|(name, nodes)| format!("{} ({})", shorten(name, 16), count(*nodes))).collect();
    let more = if total > levels.len() { format!(", {} more", count(total - levels.len())) } else { String::new() };
    format!("{}{more}", names.join(", "))
}

fn describe_target(target: &TargetSummary, shown: usize) -> String {
    let mut text = format!(
        "\n{} {}  {}\n",
        heading("target"),
        heading(&target.name),
        dim(format!("{} labelled", count(target.labelled)))
    );
    if let Some((mean, deviation)) = target.mean_and_deviation {
        text.push_str(&format!("  a quantity, mean {}, standard deviation {}\n", number(mean), number(deviation)));
        return text;
    }
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]).header(["class", "items", "share"]);
    for (name, items) in target.classes.iter().take(shown) {
        let share = *items as f64 / target.labelled.max(1) as f64;
        table.row([shorten(name, NAME_WIDTH), count(*items), percent(share, 1)]);
    }
    text.push_str(&table.render());
    text.push_str(&rest(target.classes.len(), shown));
    text
}

/// The line under a list that was cut.
pub fn rest(total: usize, shown: usize) -> String {
    if total > shown {
        format!("  {}\n", dim(format!("... and {} more (--all)", count(total - shown))))
    } else {
        String::new()
    }
}
