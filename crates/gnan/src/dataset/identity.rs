//! Identities: what an item is known by when its data are read again, in another order, under another name, or among others.
//!
//! A graph is known by its name and its structure; the structure alone, whatever the order and the names of its nodes, is
//! compared by refining what every node is by what its neighbours are (Weisfeiler and Leman). A node is known by its id and its
//! own values; the id alone may be that of another node of other data.

use std::collections::HashMap;

use super::{Dataset, Feature};
use crate::checksum::Checksum;
use crate::files::{MISSING, Task, Values};

/// How often what a node is takes in what its neighbours are.
const ROUNDS: usize = 3;

/// What an item is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// All of it: of a graph its name and its structure, of a node its id and its own values.
    pub full: u64,
    /// A part: of a graph its structure, of a node its id.
    pub partial: u64,
}

impl Dataset {
    /// The identity of every item of this view, by features of these names.
    pub fn identities(&self, names: &[&str]) -> Vec<Identity> {
        let features: Vec<&Feature> =
            self.features().iter().filter(|feature| names.contains(&feature.name.as_str())).collect();
        match self.task() {
            _ if self.items().is_empty() => Vec::new(),
            Task::Graph => self.graph_identities(&features),
            Task::Node => self.node_identities(&features),
        }
    }

    fn node_identities(&self, features: &[&Feature]) -> Vec<Identity> {
        // A node pair is known by its ends.
        let values = if self.links().is_some() { vec![0; self.node_count()] } else { self.value_sums(features) };
        let identity = |item: &u32| {
            let id = Checksum::of(self.item_id(*item).as_bytes());
            Identity { full: id.and(&values[*item as usize].to_le_bytes()).number(), partial: id.number() }
        };
        self.items().iter().map(identity).collect()
    }

    fn graph_identities(&self, features: &[&Feature]) -> Vec<Identity> {
        let values = self.value_sums(features);
        let structures: Vec<u64> = (0..self.graph_count()).map(|graph| self.structure(graph, &values)).collect();
        // Graphs without names that are alike are told apart by their order.
        let mut before: HashMap<u64, u64> = HashMap::new();
        let full: Vec<u64> = (structures.iter().enumerate())
            .map(|(graph, structure)| {
                let sum = Checksum::of(&structure.to_le_bytes());
                if !self.content.tables.unnamed {
                    return sum.and(self.graph_id(graph).as_bytes()).number();
                }
                let earlier = before.entry(*structure).or_default();
                *earlier += 1;
                sum.and(&earlier.to_le_bytes()).number()
            })
            .collect();
        let identity = |item: &u32| Identity { full: full[*item as usize], partial: structures[*item as usize] };
        self.items().iter().map(identity).collect()
    }

    /// For every node of the whole content a sum over features of what it has, whatever their order; a 0 is nothing.
    fn value_sums(&self, features: &[&Feature]) -> Vec<u64> {
        let mut sums = vec![0u64; self.node_count()];
        for feature in features {
            let name = Checksum::of(feature.name.as_bytes()).and(b"\n");
            match &feature.values {
                Values::Categories { codes, levels } => {
                    let of_level: Vec<u64> = levels.iter().map(|level| name.and(level.as_bytes()).number()).collect();
                    for (sum, code) in sums.iter_mut().zip(codes).filter(|(_, code)| **code != MISSING) {
                        *sum = sum.wrapping_add(of_level[*code as usize]);
                    }
                }
                numeric => {
                    for (node, value) in numeric.numbers().filter(|(_, value)| *value != 0.0 && !value.is_nan()) {
                        sums[node] = sums[node].wrapping_add(name.and(&value.to_le_bytes()).number());
                    }
                }
            }
        }
        sums
    }

    /// The structure of a graph, whatever the order of its nodes and edges.
    fn structure(&self, graph: usize, values: &[u64]) -> u64 {
        let nodes = self.nodes_of(graph);
        let types = self.edge_types(graph);
        let word = |edge: usize| types.as_ref().and_then(|(codes, names)| names.get(codes[edge] as usize));
        let labels: Vec<u64> = (0..self.listed_edges(graph))
            .map(|edge| word(edge).map_or(0, |word| Checksum::of(word.as_bytes()).number()))
            .collect();
        let edges: Vec<[u32; 2]> = self.edges_of(graph).collect();
        let mut colours: Vec<u64> = values[nodes].to_vec();
        let back = u8::from(self.directed());
        let mixed = |direction: u8, colour: u64, label: u64| {
            Checksum::of(&colour.to_le_bytes()).and(&label.to_le_bytes()).and(&[direction]).number()
        };
        for _ in 0..ROUNDS {
            // Without types a node is the same to all of its neighbours.
            let plain = |direction: u8| -> Vec<u64> {
                let own = colours.iter().filter(|_| types.is_none());
                own.map(|colour| mixed(direction, *colour, 0)).collect()
            };
            let (ahead, behind) = (plain(0), plain(back));
            let mut around = vec![0u64; colours.len()];
            for (edge, label) in edges.iter().zip(&labels) {
                let [source, target] = edge.map(|node| node as usize);
                let (of_source, of_target) = match types.is_none() {
                    true => (ahead[source], behind[target]),
                    false => (mixed(0, colours[source], *label), mixed(back, colours[target], *label)),
                };
                around[target] = around[target].wrapping_add(of_source);
                around[source] = around[source].wrapping_add(of_target);
            }
            for (colour, around) in colours.iter_mut().zip(around) {
                *colour = Checksum::of(&colour.to_le_bytes()).and(&around.to_le_bytes()).number();
            }
        }
        let sum =
            colours.iter().fold(0u64, |sum, colour| sum.wrapping_add(Checksum::of(&colour.to_le_bytes()).number()));
        Checksum::of(&sum.to_le_bytes()).and(&(colours.len() as u64).to_le_bytes()).number()
    }
}
