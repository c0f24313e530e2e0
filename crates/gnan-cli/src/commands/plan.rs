//! `gnan plan`: what training would take on this machine, before anything is trained.

use clap::Args;
use gnan::memory::in_words;
use gnan::plan::{Plan, Way};
use gnan::{Training, files::Task};

use super::train::Parts;
use crate::args::heading::DATA;
use crate::args::{DataArgs, TrainingArgs};
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::progress::working;
use crate::screen::{print, print_json};
use crate::style::{BOLD, DIM, count, counted, dim, duration, heading};
use crate::table::{Align, Table};

const EXAMPLES: &str = examples!(
    "gnan plan my-tables/ --target label",
    "gnan plan ogb/arxiv --memory 4GB --shell-sample 16",
    "gnan plan cora.npz --hidden 32 --layers 2 --json",
);

/// Arguments of `gnan plan`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct PlanArgs {
    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    training: TrainingArgs,

    /// Set a random share of the items aside for testing, instead of using a split that the data bring
    #[arg(long, value_name = "SHARE", help_heading = DATA, allow_negative_numbers = true)]
    test_share: Option<f64>,
}

/// Runs `gnan plan`.
pub fn run(args: &PlanArgs, json: bool) -> Result<Completion> {
    let training = Training::try_from(&args.training)?;
    training.check()?;
    let data = args.data.open(training.seed, args.test_share)?;
    let parts = Parts::of(&data, args.test_share, training.seed)?;
    let plan = working("measuring", || training.plan(&parts.train, &parts.valid))?;
    if json {
        print_json(&plan)?;
    } else {
        print(text(&plan))?;
    }
    Ok(Completion::Done)
}

fn text(plan: &Plan) -> String {
    let mut text = format!("{}  what training would take here: estimates\n\n", heading(&plan.data));
    let mut facts = Table::facts();
    let graphs = if plan.graphs == 1 { String::new() } else { format!("{}, ", counted(plan.graphs, "graph")) };
    facts.row(["data", &format!("{graphs}{}, {}", counted(plan.nodes, "node"), counted(plan.edges, "edge"))]);
    let units = counted(plan.units, "distinct value");
    facts.row(["features", &format!("{} with {units}", counted(plan.features, "feature"))]);
    let noun = if plan.task == Task::Graph { "graph" } else { "node" };
    facts.row(["items", &format!("{} to fit on, {} to stop by", counted(plan.train, noun), count(plan.valid))]);
    let unreachable = if plan.distances.unreachable { ", and some nodes are unreachable" } else { "" };
    let looked = counted(plan.distances.looked_from, noun);
    facts.row(["distances", &format!("up to about {}{unreachable} (seen from {looked})", plan.distances.longest)]);
    let limit = plan.limit.map_or("no limit is known".to_owned(), |limit| format!("the limit is {}", in_words(limit)));
    let in_use = plan.in_use.map_or(String::new(), |bytes| format!(", the data take {}", in_words(bytes)));
    facts.row(["memory", &format!("{limit}{in_use}")]);
    text.push_str(&facts.render());
    text.push('\n');
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right, Align::Left]);
    table = table.header(["way", "memory", "to start", "an epoch", ""]);
    for way in &plan.ways {
        let cells = [
            way.name.clone(),
            in_words(way.memory),
            duration(way.start_seconds),
            epoch(way.epoch_seconds),
            remark(way),
        ];
        match (way.chosen, way.fits) {
            (true, _) => table.styled_row(BOLD, cells),
            (_, false) => table.styled_row(DIM, cells),
            _ => table.row(cells),
        }
    }
    text.push_str(&table.render());
    let threads = counted(plan.threads, "thread");
    text.push_str(&format!("\n{}\n", dim(format!("by a batch of {noun}s searched for and stepped over on {threads}"))));
    text.push_str(&format!("train would choose the marked one: {}\n", plan.why));
    text
}

fn remark(way: &Way) -> String {
    let mut words = Vec::new();
    words.extend(way.chosen.then(|| "chosen".to_owned()));
    words.extend((!way.fits).then(|| "does not fit".to_owned()));
    words.extend((!way.exact).then(|| "not exact".to_owned()));
    words.extend(way.redraw_seconds.map(|seconds| format!("{} to draw anew", duration(seconds))));
    words.join(", ")
}

/// Short times in milliseconds.
fn epoch(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", 1000.0 * seconds) } else { duration(seconds) }
}
