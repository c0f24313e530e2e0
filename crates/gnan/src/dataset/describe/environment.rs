//! Environments: a node's label with those around it, written as a chemist would: `N(C,=O,O)`.
//!
//! Neighbours stand in the order of the alphabet, each after the symbol or the label of the edge to it. With a radius
//! above 1 every neighbour is followed by its own other neighbours: `C(C(C,C),N(=O,O))`.

use super::counted;
use super::neighbourhood::Neighbourhood;

/// A node with more neighbours than this is described by how many it has.
const MOST_NEIGHBOURS: usize = 8;

/// The environment of a node.
pub fn word(around: &Neighbourhood<'_>, node: usize, radius: usize) -> String {
    write(around, node, None, radius)
}

/// A node with all its neighbours but the one it was reached from.
fn write(around: &Neighbourhood<'_>, node: usize, from: Option<usize>, radius: usize) -> String {
    let label = around.label(node);
    let others = around.of(node).iter().filter(|(other, _)| Some(*other as usize) != from);
    if radius == 0 {
        return label.to_owned();
    }
    let count = around.degree(node) - usize::from(from.is_some());
    if count > MOST_NEIGHBOURS {
        return format!("{label}({} neighbours)", counted(count));
    }
    let mut parts: Vec<String> = others
        .map(|(other, edge)| {
            let blank = if edge.chars().all(|c| "=#$:".contains(c)) { "" } else { " " };
            format!("{edge}{blank}{}", write(around, *other as usize, Some(node), radius - 1))
        })
        .collect();
    if parts.is_empty() {
        return label.to_owned();
    }
    parts.sort_unstable_by(|a, b| {
        a.trim_start_matches(['=', '#', '$', ':'])
            .cmp(b.trim_start_matches(['=', '#', '$', ':']))
            .then_with(|| a.cmp(b))
    });
    format!("{label}({})", parts.join(","))
}
