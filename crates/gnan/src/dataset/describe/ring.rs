//! Rings: the length of the shortest cycle through a node.

use std::collections::{HashMap, VecDeque};

use rayon::prelude::*;

use super::neighbourhood::Neighbourhood;

/// Rings longer than this share a level.
const LONGEST_RING: usize = 10;

/// The level of every node.
pub fn words(around: &Neighbourhood<'_>) -> Vec<String> {
    let on_cycle = on_cycle(around);
    let word = |node: usize| match on_cycle[node].then(|| shortest_cycle(around, node)) {
        None => "none".to_owned(),
        Some(None) => format!("more than {LONGEST_RING}"),
        Some(Some(length)) => length.to_string(),
    };
    (0..around.len()).into_par_iter().map(word).collect()
}

/// Searches outwards; an edge between two branches that left by different neighbours closes a cycle, the shortest once
/// no shorter one can follow. `None`: there is none of at most [`LONGEST_RING`].
fn shortest_cycle(around: &Neighbourhood<'_>, start: usize) -> Option<usize> {
    // For every node reached: its distance, and the neighbour of the start through which it was reached.
    let mut reached: HashMap<u32, (usize, u32)> = HashMap::new();
    let mut queue = VecDeque::new();
    for (next, _) in around.of(start) {
        reached.insert(*next, (1, *next));
        queue.push_back(*next);
    }
    let mut best = LONGEST_RING + 1;
    while let Some(node) = queue.pop_front() {
        let (distance, branch) = reached[&node];
        if 2 * distance + 1 > best {
            break;
        }
        for (next, _) in around.of(node as usize) {
            if *next as usize == start {
                continue;
            }
            match reached.get(next) {
                None => {
                    reached.insert(*next, (distance + 1, branch));
                    queue.push_back(*next);
                }
                Some((other, other_branch)) if *other_branch != branch => best = best.min(distance + other + 1),
                Some(_) => {}
            }
        }
    }
    (best <= LONGEST_RING).then_some(best)
}

/// Whether each node is on any cycle: whether one of its edges is no bridge. One walk in depth over the graph, so that
/// long paths and trees need no search from each of their nodes (Tarjan, 1974).
fn on_cycle(around: &Neighbourhood<'_>) -> Vec<bool> {
    const UNSEEN: usize = usize::MAX;
    let count = around.len();
    // The order in which nodes are met, and the earliest node that each can reach around the edge it was met by.
    let (mut order, mut earliest) = (vec![UNSEEN; count], vec![UNSEEN; count]);
    let mut on_cycle = vec![false; count];
    let mut met = 0;
    for root in 0..count {
        if order[root] != UNSEEN {
            continue;
        }
        // Nodes on the way from the root, each with the place in its list of neighbours.
        let mut way = vec![(root, 0)];
        while let Some((node, place)) = way.last_mut() {
            let node = *node;
            if order[node] == UNSEEN {
                (order[node], earliest[node]) = (met, met);
                met += 1;
            }
            let next = around.of(node).get(*place).map(|(next, _)| *next as usize);
            *place += 1;
            let before = way.len().checked_sub(2).map(|before| way[before].0);
            match next {
                Some(next) if Some(next) == before => {}
                Some(next) if order[next] == UNSEEN => way.push((next, 0)),
                Some(next) => earliest[node] = earliest[node].min(order[next]),
                None => {
                    way.pop();
                    if let Some(before) = before {
                        earliest[before] = earliest[before].min(earliest[node]);
                        if earliest[node] <= order[before] {
                            (on_cycle[node], on_cycle[before]) = (true, true);
                        }
                    }
                }
            }
        }
    }
    on_cycle
}
