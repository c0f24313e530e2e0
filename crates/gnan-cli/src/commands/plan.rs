//! `gnan plan`: what training would take on this machine, before anything is trained.

use clap::Args;
use gnan::files::Task;
use gnan::numbers::{self, count, counted, duration};
use gnan::plan::{Estimate, Plan};

use crate::args::DataArgs;
use crate::args::heading::DATA;
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::progress::working;
use crate::screen::{print, print_json};
use crate::style::{BOLD, DIM, dim, heading};
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

    /// Set a random share of the items aside for testing, instead of using a split that the data bring
    #[arg(long, value_name = "SHARE", help_heading = DATA, allow_negative_numbers = true)]
    test_share: Option<f64>,
}

/// Runs `gnan plan`.
pub fn run(args: &PlanArgs, json: bool) -> Result<Completion> {
    let spec = args.data.spec();
    spec.check()?;
    let seed = spec.fit.seed;
    let data = args.data.open(seed, args.test_share)?;
    let (split, _) = data.parts(args.test_share, seed)?;
    let plan = working("measuring", || spec.plan(&split.train, &split.valid))?;
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
    let limit =
        plan.limit.map_or("no limit is known".to_owned(), |limit| format!("the limit is {}", numbers::bytes(limit)));
    let in_use = plan.in_use.map_or(String::new(), |bytes| format!(", the data take {}", numbers::bytes(bytes)));
    facts.row(["memory", &format!("{limit}{in_use}")]);
    facts.row(["fit", &fit(plan)]);
    text.push_str(&facts.render());
    text.push('\n');
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right, Align::Left]);
    table = table.header(["way", "memory", "to start", "an epoch", ""]);
    for way in &plan.ways {
        let cells = [
            way.way.name(),
            numbers::bytes(way.memory),
            duration(way.start_seconds),
            duration(way.epoch_seconds),
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

/// Which way of fitting would be taken, and what a penalised fit would take.
fn fit(plan: &Plan) -> String {
    let size = &plan.penalised.size;
    let outputs = if size.outputs > 1 { format!(" of each of {} outputs", size.outputs) } else { String::new() };
    let form = if size.dual { ", items weighed in place of them" } else { "" };
    let takes = format!(
        "about {}{outputs}{form}, {} and {} for each candidate that is compared",
        counted(size.columns, "coefficient"),
        numbers::bytes(size.memory),
        duration(size.seconds),
    );
    match plan.penalised.chosen {
        true => format!("penalised, with {takes}; gradient descent instead:"),
        false => format!("gradient descent; penalised would have {takes}"),
    }
}

fn remark(way: &Estimate) -> String {
    let mut words = Vec::new();
    words.extend(way.chosen.then(|| "chosen".to_owned()));
    words.extend((!way.fits).then(|| "does not fit".to_owned()));
    words.extend((!way.exact).then(|| "not exact".to_owned()));
    words.extend(way.redraw_seconds.map(|seconds| format!("{} to draw anew", duration(seconds))));
    words.join(", ")
}
