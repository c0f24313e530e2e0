//! The surroundings of the nodes of one graph: labels of nodes, neighbours, and labels of the edges to them.

use super::level_name;
use crate::dataset::{Dataset, Feature};
use crate::files::{BondOrder, Column};
use crate::groups::group_offsets;

/// One graph with labels; directions of edges are disregarded, self-loops and repeated edges dropped.
pub struct Neighbourhood<'a> {
    label: Option<&'a Feature>,
    first: usize,
    offsets: Vec<usize>,
    /// Neighbour and label of the edge to it, sorted by neighbour.
    neighbours: Vec<(u32, &'a str)>,
}

impl<'a> Neighbourhood<'a> {
    /// The surroundings in a graph of `data`.
    pub fn new(data: &'a Dataset, graph: usize, label: Option<&'a Feature>) -> Neighbourhood<'a> {
        let nodes = data.nodes_of(graph);
        let first = nodes.start;
        let tables = &data.content.tables;
        let listed = data.edge_range(graph);
        let mut ends: Vec<(u32, u32, &str)> = Vec::with_capacity(2 * listed.len());
        for edge in listed {
            let [one, other] = tables.edges[edge].map(|node| node - first as u32);
            if one != other {
                let label = edge_label(tables.bonds.as_deref(), tables.edge_labels.as_ref(), edge);
                ends.extend([(one, other, label), (other, one, label)]);
            }
        }
        ends.sort_unstable();
        // Of several edges between two nodes, the label that comes first in the alphabet counts.
        ends.dedup_by_key(|(one, other, _)| (*one, *other));
        let offsets = group_offsets(nodes.len(), ends.iter().map(|(one, _, _)| *one as usize));
        let neighbours = ends.into_iter().map(|(_, other, label)| (other, label)).collect();
        Neighbourhood { label, first, offsets, neighbours }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The neighbours of a node, ascending, with the labels of the edges to them.
    pub fn of(&self, node: usize) -> &[(u32, &'a str)] {
        &self.neighbours[self.offsets[node]..self.offsets[node + 1]]
    }

    /// Number of neighbours of a node.
    pub fn degree(&self, node: usize) -> usize {
        self.of(node).len()
    }

    /// The label of a node.
    pub fn label(&self, node: usize) -> &'a str {
        self.label.map_or("?", |label| level_name(label, self.first + node))
    }

    /// Number of triangles that a node is a corner of.
    pub fn triangles(&self, node: usize) -> usize {
        let own = self.of(node);
        let shared = |other: &(u32, &str)| {
            let theirs = self.of(other.0 as usize);
            // The shorter list is looked up in the longer one.
            let (few, many) = if theirs.len() < own.len() { (theirs, own) } else { (own, theirs) };
            few.iter().filter(|(end, _)| many.binary_search_by_key(end, |(end, _)| *end).is_ok()).count()
        };
        own.iter().map(shared).sum::<usize>() / 2
    }
}

/// The label of an edge as it is written before the neighbour: a bond's symbol, or the label and a blank.
fn edge_label<'a>(bonds: Option<&[BondOrder]>, labels: Option<&'a Column>, edge: usize) -> &'a str {
    if let Some(bonds) = bonds {
        return match bonds[edge] {
            BondOrder::Single | BondOrder::Other => "",
            BondOrder::Double => "=",
            BondOrder::Triple => "#",
            BondOrder::Quadruple => "$",
            BondOrder::Aromatic => ":",
        };
    }
    labels.and_then(|column| column.values.level(edge)).unwrap_or("")
}
