//! Roles: which columns are targets and weights, and whether they are the graphs' or the nodes'. All others are features,
//! but for names of nodes.

use crate::error::{Error, Result};
use crate::files::{Column, MISSING, Task, Values};
use crate::numbers;
use crate::remedy::Remedy;

use super::{KnownFeature, Target};

/// Column names that are taken for the target of a node task when none is named.
const USUAL_TARGET_NAMES: [&str; 4] = ["target", "label", "class", "y"];

/// With fewer known values than this, a column is not taken for names.
const FEWEST_NAMES: usize = 10;

/// Leaves out columns of words most of which are different: they name nodes and are no property of theirs. Columns that were
/// declared, or that a model has, stay.
pub(super) fn leave_out_names(columns: &mut Vec<Column>, known: Option<&[KnownFeature]>, notes: &mut Vec<String>) {
    let is_known = |name: &str| known.is_some_and(|known| known.iter().any(|feature| feature.name == name));
    columns.retain(|column| {
        let Values::Categories { codes, .. } = &column.values else { return true };
        if column.kind.is_some() || is_known(&column.name) {
            return true;
        }
        let mut different: Vec<u32> = codes.iter().copied().filter(|code| *code != MISSING).collect();
        let all = different.len();
        different.sort_unstable();
        different.dedup();
        let names = all >= FEWEST_NAMES && 2 * different.len() > all;
        if names {
            notes.push(format!(
                "column \"{}\" is left out: {} of its {} values are different, so that it looks like a name (declare it \
                 categorical to use it)",
                column.name,
                numbers::count(different.len()),
                numbers::count(all)
            ));
        }
        !names
    });
}

/// Which columns are the targets, and whether they are the graphs' or the nodes'.
pub(super) fn choose_targets(
    choice: &[String],
    task: Option<Task>,
    node_columns: &[Column],
    graph_columns: &[Column],
    optional: bool,
) -> Result<(Task, Vec<String>)> {
    let names = |columns: &[Column]| columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let (of_nodes, of_graphs) = (names(node_columns), names(graph_columns));
    // A name may hold the comma that separates names.
    let whole = [choice.join(","), choice.join(", ")];
    let whole =
        whole.into_iter().find(|name| choice.len() > 1 && (of_graphs.contains(name) || of_nodes.contains(name)));
    let one = whole.map(|name| vec![name]);
    let choice = one.as_deref().unwrap_or(choice);
    if !choice.is_empty() {
        let all_in = |names: &[String]| choice.iter().all(|name| names.contains(name));
        return match task {
            Some(task) if optional => Ok((task, choice.to_vec())),
            Some(Task::Graph) if all_in(&of_graphs) => Ok((Task::Graph, choice.to_vec())),
            Some(Task::Node) if all_in(&of_nodes) => Ok((Task::Node, choice.to_vec())),
            _ if all_in(&of_graphs) => Ok((Task::Graph, choice.to_vec())),
            _ if all_in(&of_nodes) => Ok((Task::Node, choice.to_vec())),
            _ if optional => Ok((task.unwrap_or(Task::Graph), choice.to_vec())),
            _ => {
                let absent: Vec<_> =
                    choice.iter().filter(|n| !of_graphs.contains(n) && !of_nodes.contains(n)).cloned().collect();
                let what = if absent.is_empty() { choice.join(", ") } else { absent.join(", ") };
                Err(Error::usage(format!("no column is called {what}")).with_remedy(candidates(&of_graphs, &of_nodes)))
            }
        };
    }
    if task != Some(Task::Node) && of_graphs.len() == 1 {
        return Ok((Task::Graph, of_graphs));
    }
    let usual = |names: &[String]| {
        USUAL_TARGET_NAMES.iter().find(|usual| names.iter().any(|name| name == *usual)).map(|name| (*name).to_owned())
    };
    if task != Some(Task::Node)
        && let Some(name) = usual(&of_graphs)
    {
        return Ok((Task::Graph, vec![name]));
    }
    if task != Some(Task::Graph)
        && of_graphs.is_empty()
        && let Some(name) = usual(&of_nodes)
    {
        return Ok((Task::Node, vec![name]));
    }
    if optional {
        return Ok((task.unwrap_or(if of_graphs.is_empty() { Task::Node } else { Task::Graph }), Vec::new()));
    }
    Err(Error::usage("it is not clear which column is the target")
        .with_remedy(Remedy::Use("target").to(format!("name it: {}", candidates(&of_graphs, &of_nodes)))))
}

/// Takes the column of weights out of the columns of the items.
pub(super) fn take_weights(columns: &mut Vec<Column>, name: &str) -> Result<Vec<f32>> {
    let Some(at) = columns.iter().position(|column| column.name == name) else {
        return Err(Error::usage(format!("no column is called {name}"))
            .with_remedy("weights are a column of what is predicted: graphs or nodes"));
    };
    let column = columns.remove(at);
    let weights = match &column.values {
        Values::Numbers(numbers) => numbers.iter().map(|weight| *weight as f32).collect(),
        _ => Vec::new(),
    };
    Ok(weights)
}

/// Demands a usable weight for every item that has a target.
pub(super) fn check_weights(weights: &[f32], targets: &[Target], name: &str) -> Result<()> {
    let labelled = |item: usize| targets.iter().any(|target| target.values.get(item).is_some_and(|t| !t.is_nan()));
    let usable = |weight: f32| weight >= 0.0 && weight.is_finite();
    if weights.is_empty() || (0..weights.len()).any(|item| labelled(item) && !usable(weights[item])) {
        return Err(Error::input(format!("weights in column \"{name}\" must be numbers, 0 or more"))
            .with_remedy("every item with a target needs one"));
    }
    Ok(())
}

fn candidates(of_graphs: &[String], of_nodes: &[String]) -> String {
    const MOST: usize = 12;
    let list = |names: &[String]| match names.len() {
        0 => "none".to_owned(),
        count if count > MOST => format!("{}, ... ({count} in all)", names[..MOST].join(", ")),
        _ => names.join(", "),
    };
    format!("columns of the graphs: {}; of the nodes: {}", list(of_graphs), list(of_nodes))
}
