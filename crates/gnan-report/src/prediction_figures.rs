//! The figures of one prediction: its waterfall, and the graph itself with the contribution of every node.

use gnan::Dataset;
use gnan::dataset::Outcome;
use gnan::explain::{By, Explanation};
use gnan::files::{Kind, Task};
use gnan::model::Definition;
use gnan::numbers::counted;
use gnan::score::sigmoid;

use crate::drawing::{self, DrawingLabels, NodeNumbers};
use crate::figure::graph::NodeRole;
use crate::figure::waterfall::{Term, Waterfall};
use crate::model_figures::Figure;
use crate::text::signed;

/// Most steps of a waterfall.
const MOST_STEPS: usize = 12;

/// What an output is called on an axis: "log-odds of toxic", "solubility (log mol/L)".
pub fn output_words(definition: &Definition, output: &str) -> String {
    match definition.learned.outcome {
        Outcome::Binary | Outcome::MultiLabel => format!("log-odds of {output}"),
        Outcome::Multiclass => format!("logit of {output}, above the mean of the classes"),
        Outcome::Regression | Outcome::MultiRegression => {
            let unit =
                definition.learned.targets.iter().find(|target| target.name == output).and_then(|t| t.unit.as_ref());
            let named = unit.map_or_else(|| output.to_owned(), |unit| format!("{output} ({unit})"));
            if definition.learned.target_family.is_some() { format!("log of {named}") } else { named }
        }
    }
}

/// One output of a prediction from its base to its sum, by feature.
pub fn waterfall(definition: &Definition, why: &Explanation, output: usize) -> Figure {
    let ledger = why.ledger(output, By::Feature);
    let name = &why.outputs[output];
    let probability = match definition.learned.outcome {
        Outcome::Binary | Outcome::MultiLabel => ledger.probability.map(|at_end| [sigmoid(ledger.base), at_end]),
        _ => None,
    };
    let content = Waterfall {
        title: format!("{}: from base to prediction", why.id),
        unit: output_words(definition, name),
        base: ledger.base,
        structure: Some(ledger.structure),
        terms: terms(definition, why, output),
        prediction: ledger.total,
        most: MOST_STEPS,
        probability,
    };
    let caption = match why.compared_with() {
        Some(_) if definition.learned.task == Task::Graph => {
            "From the average prediction of the training items (base) to this one: what every feature, and the structure of \
             the graph, contribute more or less than on average. The steps add up to the prediction exactly."
        }
        Some(_) => {
            "From the average prediction of the training items (base) to this one. Own values have the effects of the figures; \
             all else is what it contributes more or less than on average. The steps add up to the prediction exactly."
        }
        None => {
            "The contribution of every feature, all source nodes together; base, structure and features add up to the \
             prediction exactly."
        }
    };
    Figure::new("waterfall", caption, content)
}

/// The contributions by feature. For a node, those of its own value and of other nodes are apart; for a graph, those of the feature
/// by which nodes are labelled are divided by its levels.
fn terms(definition: &Definition, why: &Explanation, output: usize) -> Vec<Term> {
    let own_and_others = why.own_and_others(output).filter(|_| definition.learned.links.is_none());
    if let Some(parts) = own_and_others {
        let mut terms = Vec::new();
        for (k, (name, value)) in why.features.iter().zip(&why.own_values).enumerate() {
            for (lens, own) in parts.own[k].iter().enumerate() {
                let by = why.axis.lens_name(lens);
                let by = if by.is_empty() { String::new() } else { format!(" ({by})") };
                let detail = "its own value".to_owned();
                terms.push(Term { name: format!("{name} = {value}{by}"), value: *own, detail });
            }
            let detail = "compared with the average".to_owned();
            terms.push(Term { name: format!("neighbours' {name}"), value: parts.others[k], detail });
        }
        terms.extend(parts.average_item.map(|value| Term {
            name: "average item".to_owned(),
            value,
            detail: "less what own values contribute on average".to_owned(),
        }));
        terms.retain(|term| term.value != 0.0);
        return terms;
    }
    let named = definition
        .learned
        .features
        .iter()
        .position(|feature| feature.kind == Kind::Categorical && feature.pair.is_none());
    let mut terms = Vec::new();
    for (k, (name, amount)) in why.features.iter().zip(why.feature_differences(output)).enumerate() {
        // The sources of a node pair are edges, labelled by their distance, not by a level.
        let divided = named == Some(k) && definition.learned.links.is_none();
        match why.by_label(k, output).filter(|_| divided) {
            None => {
                let pair = definition.learned.links.is_some();
                let name = if pair { why.with_own_value(name) } else { name.clone() };
                terms.push(Term { name, value: amount, detail: String::new() });
            }
            Some(levels) => {
                terms.extend(levels.into_iter().map(|(level, value, nodes)| Term {
                    name: format!("{name}: {level}"),
                    value,
                    detail: counted(nodes, "node"),
                }));
                terms.extend(why.compared_with().map(|average| Term {
                    name: format!("{name}: average item"),
                    value: -average.features[k][output],
                    detail: "less what it contributes on average".to_owned(),
                }));
            }
        }
    }
    terms
}

/// The graph itself with the contribution of every node to an output: a molecule, a graph by its distances, or for a node
/// task the neighbourhood of the receiver. The nodes of a graph are drawn as sources or, as in the paper, as receivers. `weak` are
/// the values of every node that few training items have.
pub fn graph_drawing(
    definition: &Definition,
    data: &Dataset,
    position: usize,
    why: &Explanation,
    output: usize,
    role: NodeRole,
    weak: &[Vec<String>],
) -> Figure {
    let item = data.items()[position] as usize;
    let role = if definition.learned.task == Task::Node { NodeRole::Source } else { role };
    let contributions = match role {
        NodeRole::Source => why.by_node(output),
        NodeRole::Receiver => why.receiver_outputs(output),
    };
    let labels = DrawingLabels {
        title: format!("{}: {} {}", why.id, signed(why.total(output), 3), definition.shown_unit()),
        output: output_words(definition, &why.outputs[output]),
        unit: definition.shown_unit(),
        role,
    };
    let numbers = NodeNumbers { contributions: &contributions, weak };
    let figure = match definition.learned.task {
        Task::Graph => drawing::graph(data, item, numbers, labels),
        Task::Node if data.links().is_some() => drawing::node_pair(data, item, &contributions, labels),
        Task::Node => drawing::neighbourhood(data, item, numbers, labels),
    };
    let (what, of) = match (definition.learned.task, role) {
        (Task::Node, _) if data.links().is_some() => (
            "Contributions by source edge: the node pair in the middle, edges on rings by distance, joined where they share \
             an end",
            "the contribution of the features of the edge or of the pair itself",
        ),
        (Task::Node, _) => (
            "Contributions by source node: the receiver in the middle, sources on rings by distance",
            "the contribution of the node's own features",
        ),
        (Task::Graph, NodeRole::Source) => {
            ("Contributions by source node", "the contribution of the node's own features to the prediction")
        }
        (Task::Graph, NodeRole::Receiver) => {
            ("Contributions by receiver", "the output of the node, its share of the structure term included")
        }
    };
    let caption = format!("{what}. The area of a disc is the size of {of}, its colour the sign.");
    Figure::new("graph", caption, figure)
}
