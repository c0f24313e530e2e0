//! From a data set to the figure of one of its graphs: a molecule, a graph by its distances, or a neighbourhood.

use gnan::Dataset;
use gnan::Graph;
use gnan::files::{BondOrder, Molecule};
use gnan::numbers::count;

use crate::figure::graph::{Edge, GraphFigure, Label, Node, NodeRole, Ring};
use crate::placement::{MOST_NODES, line, molecule, part, rings, stress};
use crate::text;

/// The title of a drawing and what its contributions are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawingLabels {
    /// Title of the figure.
    pub title: String,
    /// What contributions raise or lower, for instance "log-odds of mutagenic".
    pub output: String,
    /// The unit of contributions, for instance "log-odds".
    pub unit: String,
    /// Whether contributions are those of nodes as sources or as receivers.
    pub role: NodeRole,
}

/// What is known of the nodes of a graph, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeNumbers<'a> {
    /// What every node contributes; one without is shown as unknown.
    pub contributions: &'a [f64],
    /// The values of every node that few training items have; may be empty.
    pub weak: &'a [Vec<String>],
}

impl<'a> From<&'a [f64]> for NodeNumbers<'a> {
    fn from(contributions: &'a [f64]) -> NodeNumbers<'a> {
        NodeNumbers { contributions, weak: &[] }
    }
}

impl NodeNumbers<'_> {
    fn contribution(&self, node: usize) -> f64 {
        value(self.contributions, node)
    }

    fn weak(&self, node: usize) -> Vec<String> {
        self.weak.get(node).cloned().unwrap_or_default()
    }
}

/// A graph of the data set with the contribution of each of its nodes, in their order.
///
/// Molecules are drawn as such, other graphs by their distances; of a graph of more than [`MOST_NODES`] nodes a part is
/// drawn, with a note about the rest. A node without a contribution is shown as unknown.
pub fn graph(data: &Dataset, graph: usize, numbers: NodeNumbers<'_>, labels: DrawingLabels) -> GraphFigure {
    let nodes = data.nodes_of(graph);
    let id = |node: usize| data.node_id(nodes.start + node);
    let found = if nodes.len() <= MOST_NODES { data.molecule(graph) } else { None };
    let figure = match found {
        Some(found) => of_molecule(&found, numbers, id),
        None => of_graph(&data.graph(graph), numbers, id, &labels.unit),
    };
    labelled(figure, labels)
}

/// The neighbourhood of a receiver (a node counted over the whole data set) with the contribution of each node of its
/// graph.
///
/// At most [`MOST_SOURCES`](rings::MOST_SOURCES) nodes are drawn; a note counts and sums the others.
pub fn neighbourhood(data: &Dataset, receiver: usize, numbers: NodeNumbers<'_>, labels: DrawingLabels) -> GraphFigure {
    let graph = data.graph_of(receiver);
    let nodes = data.nodes_of(graph);
    let id = |node: usize| data.node_id(nodes.start + node);
    let (mut figure, arranged) =
        on_rings(&data.graph(graph), receiver - nodes.start, numbers, |node| format!("node {}", id(node)), id);
    let others = [
        ("nodes that are farther away or contribute less", &arranged.left_out),
        ("nodes without a path to it", &arranged.unreachable),
    ];
    for (which, nodes) in others.into_iter().filter(|(_, nodes)| !nodes.is_empty()) {
        figure.notes.push(left_out(nodes.iter().copied(), numbers.contributions, which, &labels.unit));
    }
    labelled(figure, labels)
}

/// A node pair that may be linked, with the contribution of each message edge of its graph.
pub fn node_pair(data: &Dataset, receiver: usize, contributions: &[f64], labels: DrawingLabels) -> GraphFigure {
    let graph = data.graph_of(receiver);
    let sources = data.sources_of(graph);
    let Some(near) = line::nearest_edges(data, receiver, contributions) else {
        return labelled(GraphFigure::default(), labels);
    };
    // The pair comes after the edges.
    let middle = near.edges.len();
    let id = |place: usize| data.node_id(near.edges.get(place).map_or(receiver, |edge| sources.start + edge));
    // By features of its own it is a source for itself, in the place of its own edge or after all edges.
    let itself = contributions.get(near.own.unwrap_or(sources.len())).copied().unwrap_or(0.0);
    let own: Vec<f64> = near.edges.iter().map(|edge| value(contributions, *edge)).chain([itself]).collect();
    let name = |place: usize| format!("{} {}", if place == middle { "node pair" } else { "edge" }, id(place));
    let (mut figure, arranged) = on_rings(&near.line_graph, middle, own.as_slice().into(), name, id);
    let drawn: Vec<usize> = arranged.nodes.iter().filter_map(|place| near.edges.get(*place).copied()).collect();
    let others: Vec<usize> = near.others(&drawn, sources.len());
    if !others.is_empty() {
        figure.notes.push(left_out(
            others.into_iter(),
            contributions,
            "edges that are farther away or contribute less",
            &labels.unit,
        ));
    }
    labelled(figure, labels)
}

/// A receiver and its strongest sources on rings; `name` is the tooltip of a node, `id` its label.
fn on_rings(
    structure: &Graph,
    receiver: usize,
    numbers: NodeNumbers<'_>,
    name: impl Fn(usize) -> String,
    id: impl Fn(usize) -> String,
) -> (GraphFigure, rings::Rings) {
    let arranged = rings::rings(structure, receiver, numbers.contributions);
    let mut figure = GraphFigure::default();
    for ((&node, &place), &distance) in arranged.nodes.iter().zip(&arranged.places).zip(&arranged.distances) {
        let tooltip = match distance {
            0 => format!("{}, the receiver", name(node)),
            distance => format!("{}, at distance {distance}", name(node)),
        };
        let id = id(node);
        let (contribution, weak) = (numbers.contribution(node), numbers.weak(node));
        figure.nodes.push(Node { place, label: Label::Words(id), contribution, tooltip, weak });
    }
    figure.edges = plain_edges(structure, &arranged.nodes);
    let on_path =
        |[one, other]: [usize; 2]| arranged.parents[one] == Some(other) || arranged.parents[other] == Some(one);
    figure.edges.iter_mut().for_each(|edge| edge.faint = !on_path(edge.nodes));
    figure.rings = arranged.radii.iter().zip(1..).map(|(&radius, distance)| Ring { radius, distance }).collect();
    (figure, arranged)
}

fn labelled(figure: GraphFigure, DrawingLabels { title, output, unit, role }: DrawingLabels) -> GraphFigure {
    GraphFigure { title, output, unit, role, ..figure }
}

fn value(contributions: &[f64], node: usize) -> f64 {
    contributions.get(node).copied().unwrap_or(f64::NAN)
}

/// A molecule with the contribution of each of its atoms; `id` names an atom.
pub fn of_molecule(found: &Molecule, numbers: NodeNumbers<'_>, id: impl Fn(usize) -> String) -> GraphFigure {
    let depiction = molecule::depict(found);
    let nodes = found.atoms.iter().zip(&depiction.places).enumerate().map(|(row, (atom, &place))| {
        let id = id(row);
        Node {
            place,
            label: Label::Atom { element: atom.element.to_string(), hydrogens: atom.hydrogens, charge: atom.charge },
            contribution: numbers.contribution(row),
            weak: numbers.weak(row),
            // Atoms read from SMILES are called after their element.
            tooltip: if id.starts_with(atom.element) { id } else { format!("node {id}, {}", atom.element) },
        }
    });
    let edges = found.bonds.iter().zip(&depiction.orders).map(|(bond, &order)| Edge {
        nodes: bond.atoms.map(|atom| atom as usize),
        order,
        directed: false,
        faint: false,
    });
    GraphFigure { molecule: true, nodes: nodes.collect(), edges: edges.collect(), ..GraphFigure::default() }
}

/// A graph by its distances, or what can be drawn of it; `id` names a node.
pub fn of_graph(graph: &Graph, numbers: NodeNumbers<'_>, id: impl Fn(usize) -> String, unit: &str) -> GraphFigure {
    let chosen = part::strongest_part(graph, numbers.contributions);
    let places = stress::stress(&part::subgraph(graph, &chosen));
    let nodes = chosen.iter().zip(places).map(|(&node, place)| Node {
        place,
        label: Label::Words(id(node)),
        contribution: numbers.contribution(node),
        tooltip: format!("node {}", id(node)),
        weak: numbers.weak(node),
    });
    let mut figure = GraphFigure { nodes: nodes.collect(), ..GraphFigure::default() };
    figure.edges = plain_edges(graph, &chosen);
    if chosen.len() < graph.len() {
        let rest = (0..graph.len()).filter(|node| chosen.binary_search(node).is_err());
        let total = count(graph.len());
        figure.notes.push(left_out(
            rest,
            numbers.contributions,
            &format!("of {total} nodes, those that are farther away or contribute less"),
            unit,
        ));
    }
    figure
}

fn plain_edges(graph: &Graph, nodes: &[usize]) -> Vec<Edge> {
    let edges = part::edges_between(graph, nodes).into_iter();
    edges
        .map(|(nodes, both_ways)| Edge { nodes, order: BondOrder::Single, directed: !both_ways, faint: false })
        .collect()
}

/// The line that counts and sums what is not drawn.
fn left_out(nodes: impl Iterator<Item = usize>, contributions: &[f64], which: &str, unit: &str) -> String {
    let values: Vec<f64> = nodes.map(|node| value(contributions, node)).collect();
    let sum: f64 = values.iter().filter(|value| value.is_finite()).sum();
    let nodes = count(values.len());
    format!("Not drawn: {nodes} {which}, together {} {}.", text::signed(sum, 3), text::one_line(unit))
}
