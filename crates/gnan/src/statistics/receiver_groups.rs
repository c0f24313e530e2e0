//! Groups of receivers: those of one graph, as many as one search serves.

use crate::dataset::Dataset;
use crate::distance::{RECEIVERS_AT_ONCE, UNREACHABLE};
use crate::error::Result;
use crate::lens::{Lens, View};

/// Receivers by which the typical size of a shell is estimated.
const TYPICAL_RECEIVERS: usize = 512;

/// Receivers of one graph, at most as many as one search serves.
pub(super) struct ReceiverGroup {
    pub graph: usize,
    pub receivers: Vec<u32>,
    /// Their positions among the items.
    pub positions: Vec<usize>,
}

/// The receivers of all items.
pub(super) fn receiver_groups(data: &Dataset) -> Vec<ReceiverGroup> {
    let mut by_graph: Vec<(usize, u32, usize)> = (data.items().iter().enumerate())
        .map(|(position, node)| {
            let graph = data.graph_of(*node as usize);
            (graph, *node - data.nodes_of(graph).start as u32, position)
        })
        .collect();
    by_graph.sort_unstable();
    let mut groups: Vec<ReceiverGroup> = Vec::new();
    for (graph, receiver, position) in by_graph {
        match groups.last_mut() {
            Some(group) if group.graph == graph && group.receivers.len() < RECEIVERS_AT_ONCE => {
                group.receivers.push(receiver);
                group.positions.push(position);
            }
            _ => groups.push(ReceiverGroup { graph, receivers: vec![receiver], positions: vec![position] }),
        }
    }
    groups
}

/// For every slot the root of the size of a typical shell of the receivers, `1 / sqrt(mean of 1 / n_i(l))`, by at most
/// 512 of them: the mean of such a shell varies that much less than one node does.
pub fn shell_scale(data: &Dataset, slots: usize) -> Result<Vec<f64>> {
    let (mut shares, mut receivers) = (vec![0.0; slots], vec![0.0f64; slots]);
    for group in receiver_groups(&data.spaced(TYPICAL_RECEIVERS)) {
        let view = View::new(data, group.graph, &Lens::default())?;
        view.each_row(&group.receivers, |_, row| {
            let mut sizes = vec![0.0; slots];
            for distance in row {
                sizes[if *distance == UNREACHABLE { slots - 1 } else { usize::from(*distance).min(slots - 2) }] += 1.0;
            }
            for (slot, size) in sizes.into_iter().enumerate().filter(|(_, size)| *size > 0.0) {
                shares[slot] += 1.0 / size;
                receivers[slot] += 1.0;
            }
        })?;
    }
    Ok(shares
        .iter()
        .zip(receivers)
        .map(|(share, count)| if *share > 0.0 { (count / share).sqrt() } else { 1.0 })
        .collect())
}
