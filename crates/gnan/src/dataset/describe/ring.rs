//! Rings: the length of the shortest cycle through a node.

use std::collections::{HashMap, VecDeque};

use super::neighbourhood::Neighbourhood;

/// Rings longer than this share a level.
const LONGEST_RING: usize = 10;

/// The level of a node.
pub fn word(around: &Neighbourhood<'_>, node: usize) -> String {
    match shortest_cycle(around, node) {
        None => "none".to_owned(),
        Some(length) if length <= LONGEST_RING => length.to_string(),
        Some(_) => format!("more than {LONGEST_RING}"),
    }
}

/// Searches outwards; the first edge between two branches that left by different neighbours closes a shortest cycle,
/// once no shorter one can follow.
fn shortest_cycle(around: &Neighbourhood<'_>, start: usize) -> Option<usize> {
    if around.degree(start) < 2 {
        return None;
    }
    // For every node reached: its distance, and the neighbour of the start through which it was reached.
    let mut reached: HashMap<u32, (usize, u32)> = HashMap::new();
    let mut queue = VecDeque::new();
    for (next, _) in around.of(start) {
        reached.insert(*next, (1, *next));
        queue.push_back(*next);
    }
    let mut best: Option<usize> = None;
    while let Some(node) = queue.pop_front() {
        let (distance, branch) = reached[&node];
        if best.is_some_and(|best| 2 * distance + 1 > best) {
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
                Some((other, other_branch)) if *other_branch != branch => {
                    let length = distance + other + 1;
                    best = Some(best.map_or(length, |best| best.min(length)));
                }
                Some(_) => {}
            }
        }
    }
    best
}
