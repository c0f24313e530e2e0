//! From a data set to the figure of one of its graphs: a molecule, a graph by its distances, or a neighbourhood.

use gnan::Dataset;
use gnan::files::{BondOrder, Molecule};
use gnan::graph::Graph;

use crate::figure::graph::{By, Edge, GraphFigure, Label, Node, Ring};
use crate::placement::{MOST_NODES, molecule, part, rings, stress};
use crate::text;

/// What a drawing is called and what its contributions are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Title of the figure.
    pub title: String,
    /// What contributions raise or lower, for instance "log-odds of mutagenic".
    pub output: String,
    /// The unit of contributions, for instance "log-odds".
    pub unit: String,
    /// Whether contributions are those of sources or of receivers.
    pub by: By,
}

/// A graph of the data set with what each of its nodes contributes, in their order.
///
/// Molecules are drawn as such, other graphs by their distances; of a graph of more than [`MOST_NODES`] nodes a part is
/// drawn, and a note says so. A node without a contribution is shown as unknown.
pub fn graph(data: &Dataset, graph: usize, contributions: &[f64], words: Words) -> GraphFigure {
    let nodes = data.nodes_of(graph);
    let mut figure = if nodes.len() > MOST_NODES {
        part_of_graph(&data.graph(graph), contributions, &words.unit)
    } else if let Some(found) = data.molecule(graph) {
        of_molecule(&found, contributions)
    } else {
        part_of_graph(&data.graph(graph), contributions, &words.unit)
    };
    for node in &mut figure.nodes {
        let place = node.tooltip.parse::<usize>().unwrap_or(0);
        let id = data.node_id(nodes.start + place);
        node.tooltip = match &node.label {
            Label::Atom { element, .. } if !id.starts_with(element.as_str()) => format!("node {id}, {element}"),
            Label::Atom { .. } => id.clone(),
            Label::Words(_) => format!("node {id}"),
        };
        if let Label::Words(label) = &mut node.label {
            *label = id;
        }
    }
    named(figure, words)
}

/// The neighbourhood of a node (counted over the whole data set) with what each node of its graph contributes to it.
///
/// At most [`MOST_SOURCES`](rings::MOST_SOURCES) nodes are drawn; a note counts and sums the others.
pub fn neighbourhood(data: &Dataset, receiver: usize, contributions: &[f64], words: Words) -> GraphFigure {
    let graph = data.graph_of(receiver);
    let nodes = data.nodes_of(graph);
    let structure = data.graph(graph);
    let arranged = rings::rings(&structure, receiver - nodes.start, contributions);
    let mut figure = GraphFigure::default();
    for ((&node, &place), &distance) in arranged.nodes.iter().zip(&arranged.places).zip(&arranged.distances) {
        let id = data.node_id(nodes.start + node);
        let tooltip = match distance {
            0 => format!("node {id}, the receiver"),
            distance => format!("node {id}, at distance {distance}"),
        };
        figure.nodes.push(Node { place, label: Label::Words(id), contribution: value(contributions, node), tooltip });
    }
    figure.edges = plain_edges(&structure, &arranged.nodes);
    figure.rings = arranged.radii.iter().zip(1..).map(|(&radius, distance)| Ring { radius, distance }).collect();
    let others = [("farther or weaker", &arranged.left_out), ("without a path to it", &arranged.unreachable)];
    for (which, left_out) in others {
        if !left_out.is_empty() {
            let sum: f64 = left_out.iter().map(|&node| value(contributions, node)).filter(|x| x.is_finite()).sum();
            let count = text::count(left_out.len() as u64);
            let unit = text::one_line(&words.unit);
            let note = format!("Not drawn: {count} nodes {which}, together {} {unit}.", text::signed(sum, 3));
            figure.notes.push(note);
        }
    }
    named(figure, words)
}

fn named(figure: GraphFigure, Words { title, output, unit, by }: Words) -> GraphFigure {
    GraphFigure { title, output, unit, by, ..figure }
}

fn value(contributions: &[f64], node: usize) -> f64 {
    contributions.get(node).copied().unwrap_or(f64::NAN)
}

/// A molecule; tooltips are the numbers of its atoms.
pub fn of_molecule(found: &Molecule, contributions: &[f64]) -> GraphFigure {
    let depiction = molecule::depict(found);
    let nodes = found.atoms.iter().zip(&depiction.places).enumerate().map(|(row, (atom, &place))| Node {
        place,
        label: Label::Atom { element: atom.element.to_string(), hydrogens: atom.hydrogens, charge: atom.charge },
        contribution: value(contributions, row),
        tooltip: row.to_string(),
    });
    let edges = found.bonds.iter().zip(&depiction.orders).map(|(bond, &order)| Edge {
        nodes: bond.atoms.map(|atom| atom as usize),
        order,
        directed: false,
    });
    GraphFigure { molecule: true, nodes: nodes.collect(), edges: edges.collect(), ..GraphFigure::default() }
}

/// A graph by its distances, or what can be drawn of it; tooltips are the numbers of its nodes.
pub fn part_of_graph(graph: &Graph, contributions: &[f64], unit: &str) -> GraphFigure {
    let chosen = part::strongest_part(graph, contributions);
    let places = stress::stress(&part::subgraph(graph, &chosen));
    let nodes = chosen.iter().zip(places).map(|(&node, place)| Node {
        place,
        label: Label::Words(node.to_string()),
        contribution: value(contributions, node),
        tooltip: node.to_string(),
    });
    let mut figure = GraphFigure { nodes: nodes.collect(), ..GraphFigure::default() };
    figure.edges = plain_edges(graph, &chosen);
    if chosen.len() < graph.len() {
        let all: f64 = contributions.iter().filter(|x| x.is_finite()).sum();
        let drawn: f64 = figure.nodes.iter().map(|node| node.contribution).filter(|x| x.is_finite()).sum();
        let [count, total] = [graph.len() - chosen.len(), graph.len()].map(|number| text::count(number as u64));
        let sum = text::signed(all - drawn, 3);
        let unit = text::one_line(unit);
        figure.notes.push(format!("Not drawn: {count} of {total} nodes, farther or weaker, together {sum} {unit}."));
    }
    figure
}

fn plain_edges(graph: &Graph, nodes: &[usize]) -> Vec<Edge> {
    let edges = part::edges_between(graph, nodes).into_iter();
    edges.map(|(nodes, both_ways)| Edge { nodes, order: BondOrder::Single, directed: !both_ways }).collect()
}
