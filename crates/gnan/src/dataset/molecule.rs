//! Graphs that are molecules: what a drawing needs to know of their atoms and bonds.

use std::collections::HashSet;

use super::{Dataset, Feature};
use crate::files::{Atom, Bond, BondOrder, Kind, Molecule, Values, element_symbol};

impl Dataset {
    /// The molecule that a graph is, its atoms in the order of the nodes, if the data hold its elements.
    ///
    /// They do if they were read from SMILES, or if the levels of a categorical feature are all symbols of elements,
    /// carbon among them. Charges and hydrogens are those of features of that name, and otherwise 0; bonds of an order
    /// that the data do not hold are [`BondOrder::Other`].
    pub fn molecule(&self, graph: usize) -> Option<Molecule> {
        if self.directed() {
            return None;
        }
        let elements = self.elements()?;
        let [hydrogens, charges, aromatic] = ["hydrogens", "charge", "aromatic"].map(|name| self.feature(name));
        let nodes = self.nodes_of(graph);
        let atoms = nodes.clone().map(|node| Atom {
            element: elements.values.level(node).and_then(element_symbol).unwrap_or("*"),
            charge: charges.and_then(|feature| feature.values.level(node)?.parse().ok()).unwrap_or(0),
            hydrogens: hydrogens.and_then(|feature| feature.values.level(node)?.parse().ok()).unwrap_or(0),
            aromatic: aromatic.is_some_and(|feature| is_set(feature, node)),
            ring: false,
        });
        let start = nodes.start as u32;
        let mut seen = HashSet::new();
        let mut bonds = Vec::new();
        for edge in self.edge_range(graph) {
            let [one, other] = self.content.tables.edges[edge].map(|node| node - start);
            // Many files list an edge both ways.
            if one != other && seen.insert([one.min(other), one.max(other)]) {
                let order = self.content.tables.bonds.as_ref().map_or(BondOrder::Other, |bonds| bonds[edge]);
                bonds.push(Bond { atoms: [one, other], order });
            }
        }
        Some(Molecule::of_parts(atoms.collect(), bonds))
    }

    /// The feature that holds the elements of the nodes.
    pub(super) fn elements(&self) -> Option<&Feature> {
        let bonded = self.content.tables.bonds.is_some();
        self.features().iter().find(|feature| match &feature.values {
            Values::Categories { levels, .. } => {
                let elements = !levels.is_empty() && levels.iter().all(|level| element_symbol(level).is_some());
                elements && (bonded || levels.iter().any(|level| level == "C"))
            }
            _ => false,
        })
    }

    fn feature(&self, name: &str) -> Option<&Feature> {
        self.features().iter().find(|feature| feature.name == name)
    }
}

fn is_set(feature: &Feature, node: usize) -> bool {
    match &feature.values {
        Values::Sparse { rows, values, .. } if feature.kind == Kind::Binary => {
            rows.binary_search(&(node as u32)).is_ok_and(|place| values[place] == 1.0)
        }
        _ => false,
    }
}
