//! The portrait of one prediction: its waterfall, and the graph itself with what every node contributed.

use std::collections::BTreeMap;

use gnan::Dataset;
use gnan::dataset::Outcome;
use gnan::explain::{By, Explanation};
use gnan::files::{Kind, Task};
use gnan::model::Description;

use crate::album::Figure;
use crate::drawing::{self, Words};
use crate::figure::waterfall::{Term, Waterfall};
use crate::figure::{graph, plural};

/// Most steps of a waterfall.
const MOST_STEPS: usize = 12;

/// What an output is called on an axis: "log-odds of toxic", "solubility (log mol/L)".
pub fn output_words(description: &Description, output: &str) -> String {
    match description.outcome {
        Outcome::Binary | Outcome::MultiLabel => format!("log-odds of {output}"),
        Outcome::Multiclass => format!("logit of {output}, above the mean of the classes"),
        Outcome::Regression | Outcome::MultiRegression => {
            let unit = description.targets.iter().find(|target| target.name == output).and_then(|t| t.unit.as_ref());
            unit.map_or_else(|| output.to_owned(), |unit| format!("{output} ({unit})"))
        }
    }
}

/// One output of a prediction from its base to its sum, by feature.
pub fn waterfall(description: &Description, why: &Explanation, output: usize, width: f64) -> Figure {
    let ledger = why.ledger(output, By::Feature);
    let name = &why.outputs[output];
    let probability = match description.outcome {
        Outcome::Binary | Outcome::MultiLabel => ledger.probability.map(|at_end| [sigmoid(ledger.base), at_end]),
        _ => None,
    };
    let scene = Waterfall {
        title: format!("{}: from base to prediction", why.id),
        unit: output_words(description, name),
        base: ledger.base,
        structure: Some(ledger.structure),
        terms: terms(description, why, output),
        prediction: ledger.total,
        most: MOST_STEPS,
        probability,
    };
    Figure {
        name: "waterfall".to_owned(),
        caption: "Every feature, all its nodes together, moves the prediction by this much; nothing is left over."
            .to_owned(),
        scene: scene.scene(width),
    }
}

/// The contributions by feature; the feature that names the nodes is divided by its levels, which says more.
fn terms(description: &Description, why: &Explanation, output: usize) -> Vec<Term> {
    let named =
        description.features.iter().position(|feature| feature.kind == Kind::Categorical && feature.pair.is_none());
    let mut terms = Vec::new();
    for (k, (name, amount)) in why.features.iter().zip(why.by_feature(output)).enumerate() {
        // The edges that a pair hears are labelled by their distance, not by a level.
        let divided = named == Some(k) && !why.labels.is_empty() && why.unlisted.is_none();
        if !divided || description.links.is_some() {
            terms.push(Term { name: name.clone(), value: amount, detail: String::new() });
            continue;
        }
        let mut levels: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
        for part in why.by_node_and_feature.iter().filter(|part| part.feature == k) {
            let label = why.labels.get(part.node).map_or("", String::as_str);
            let (sum, nodes) = levels.entry(if label.is_empty() { "missing" } else { label }).or_default();
            *sum += part.values[output];
            *nodes += 1;
        }
        terms.extend(levels.into_iter().map(|(level, (value, nodes))| Term {
            name: format!("{name}: {level}"),
            value,
            detail: plural(nodes as u64, "node"),
        }));
    }
    terms
}

/// The graph itself with what every node contributed to an output: a molecule, a graph by its distances, or for a node
/// task the neighbourhood of the node. For a graph nodes are drawn as sources or, as in the paper, as receivers.
pub fn picture(
    description: &Description,
    data: &Dataset,
    position: usize,
    why: &Explanation,
    output: usize,
    by: graph::By,
    width: f64,
) -> Figure {
    let item = data.items()[position] as usize;
    let by = if description.task == Task::Node { graph::By::Source } else { by };
    let contributions = match by {
        graph::By::Source => why.by_node(output),
        graph::By::Receiver => why.receiver_outputs(output),
    };
    let words = Words {
        title: why.id.clone(),
        output: output_words(description, &why.outputs[output]),
        unit: description.shown_unit(),
        by,
    };
    let figure = match description.task {
        Task::Graph => drawing::graph(data, item, &contributions, words),
        Task::Node if data.links().is_some() => drawing::pair(data, item, &contributions, words),
        Task::Node => drawing::neighbourhood(data, item, &contributions, words),
    };
    let caption = match (description.task, by) {
        (Task::Node, _) if data.links().is_some() => {
            "What is heard: the pair in the middle, edges on rings by distance, joined where they share an end; the area \
             of a disc is the size of what that edge adds, its colour the sign."
        }
        (Task::Node, _) => {
            "Who is heard: the node in the middle, others on rings by distance; the area of a disc is the size of what \
             that node adds, its colour the sign."
        }
        (_, graph::By::Source) => {
            "What every node says: the area of a disc is the size of what its own features add to the whole prediction, \
             its colour the sign."
        }
        (_, graph::By::Receiver) => {
            "What every node hears, its share of the structure term included: the area of a disc is its size, its colour \
             the sign."
        }
    };
    Figure { name: "graph".to_owned(), caption: caption.to_owned(), scene: figure.scene(width) }
}

fn sigmoid(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}
