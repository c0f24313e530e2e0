//! Breadth-first search for many receivers at once.
//!
//! Every node holds one bit per receiver, so one pass over the edges of a level serves 64 receivers, or 256 (multi-source
//! BFS: Then et al. 2014). A level pushes from its frontier while that is small and pulls into the unfinished nodes when
//! it is large (Beamer et al. 2012): pulling alone is slow on chains, pushing alone on graphs with hubs.

use pulp::Arch;

use super::distance_bit_planes::DistanceBitPlanes;
use super::reordered_graph::ReorderedGraph;
use crate::error::{Error, Result};
use crate::graph::Graph;

/// A level pulls when its frontier has more than this share of all edges.
const PULL_SHARE: usize = 8;
/// Neighbours that are visited between two checks whether any bit is still missing.
const NEIGHBOURS_AT_ONCE: usize = 16;
/// The longest distance that can be written down.
const LONGEST: u16 = u16::MAX - 1;

/// All distances from here on count as this one.
#[derive(Clone, Copy, Debug)]
pub struct Far<'a> {
    /// The distance.
    pub from: u16,
    /// The component of every place of the graph, where edges have no direction: the search can then end early.
    pub components: Option<&'a [u32]>,
}

/// A search for `64 * WORDS` receivers at once, with its working memory and the results of the last run.
pub struct DistanceSearch<const WORDS: usize = 1> {
    seen: Vec<[u64; WORDS]>,
    frontier: Vec<[u64; WORDS]>,
    next: Vec<[u64; WORDS]>,
    active: Vec<u32>,
    touched: Vec<u32>,
    planes: DistanceBitPlanes,
}

impl<const WORDS: usize> Default for DistanceSearch<WORDS> {
    fn default() -> Self {
        DistanceSearch {
            seen: Vec::new(),
            frontier: Vec::new(),
            next: Vec::new(),
            active: Vec::new(),
            touched: Vec::new(),
            planes: DistanceBitPlanes::default(),
        }
    }
}

impl<const WORDS: usize> DistanceSearch<WORDS> {
    /// Number of receivers that one search serves.
    pub const RECEIVERS: usize = 64 * WORDS;

    /// Bytes of working memory for a graph of so many nodes and a longest distance of `longest`.
    pub fn bytes(nodes: usize, longest: usize) -> u64 {
        let planes = usize::BITS - (longest + 1).leading_zeros();
        (nodes as u64) * (8 * WORDS as u64 * (3 + u64::from(planes)) + 8)
    }

    /// Finds the distance from every node to each receiver, which is the nearest of the nodes it starts from.
    ///
    /// # Panics
    /// If there are more receivers than [`RECEIVERS`](Self::RECEIVERS).
    pub fn run<const STARTS: usize>(
        &mut self,
        reordered: &ReorderedGraph,
        receivers: &[[u32; STARTS]],
        far: Option<Far<'_>>,
    ) -> Result<&DistanceBitPlanes> {
        assert!(receivers.len() <= Self::RECEIVERS);
        // Compiled for the widest vectors that there are.
        Arch::new().dispatch(|| self.levels(reordered, receivers, far))?;
        Ok(&self.planes)
    }

    #[inline(always)]
    fn levels<const STARTS: usize>(
        &mut self,
        reordered: &ReorderedGraph,
        receivers: &[[u32; STARTS]],
        far: Option<Far<'_>>,
    ) -> Result<()> {
        let (graph, nodes) = (&reordered.graph, reordered.graph.len());
        for bits in [&mut self.seen, &mut self.frontier, &mut self.next] {
            bits.clear();
            bits.resize(nodes, [0; WORDS]);
        }
        self.active.clear();
        self.planes.clear(nodes, receivers.len());
        let mut all = [0u64; WORDS];
        for (receiver, starts) in receivers.iter().enumerate() {
            let (word, bit) = (receiver / 64, 1 << (receiver % 64));
            all[word] |= bit;
            for start in starts {
                let place = reordered.place(*start);
                let node = place as usize;
                if self.frontier[node] == [0; WORDS] {
                    self.active.push(place);
                }
                self.frontier[node][word] |= bit;
                self.seen[node][word] |= bit;
            }
        }
        let edges = graph.arc_count();
        let mut level: u16 = 0;
        loop {
            let written = far.map_or(level, |far| level.min(far.from));
            self.planes.add_level(written, &self.active, &self.frontier);
            if let Some(Far { from, components: Some(components) }) = far
                && level + 1 >= from
            {
                self.finish_far(reordered, from, receivers, components);
                break;
            }
            let reach: usize = self.active.iter().map(|node| graph.predecessors(*node as usize).len()).sum();
            self.touched.clear();
            if reach * PULL_SHARE > edges {
                self.pull(graph, all);
            } else {
                self.push(graph);
            }
            self.active.iter().for_each(|node| self.frontier[*node as usize] = [0; WORDS]);
            std::mem::swap(&mut self.frontier, &mut self.next);
            std::mem::swap(&mut self.active, &mut self.touched);
            if self.active.is_empty() {
                break;
            }
            if level == LONGEST {
                return Err(Error::limit("two nodes are more than 65,534 edges apart"));
            }
            level += 1;
        }
        self.planes.close(&self.seen, all);
        Ok(())
    }

    /// Every unfinished node takes over the bits of its neighbours in the frontier.
    #[inline(always)]
    fn pull(&mut self, graph: &Graph, all: [u64; WORDS]) {
        for node in 0..graph.len() {
            let missing = and_not(all, self.seen[node]);
            if missing == [0; WORDS] {
                continue;
            }
            let mut arriving = [0; WORDS];
            for some in graph.successors(node).chunks(NEIGHBOURS_AT_ONCE) {
                for from in some {
                    arriving = or(arriving, self.frontier[*from as usize]);
                }
                if and_not(missing, arriving) == [0; WORDS] {
                    break;
                }
            }
            let arrived = and_not(arriving, self.seen[node]);
            if arrived != [0; WORDS] {
                self.next[node] = arrived;
                self.seen[node] = or(self.seen[node], arrived);
                self.touched.push(node as u32);
            }
        }
    }

    /// Every node of the frontier hands its bits to its neighbours.
    #[inline(always)]
    fn push(&mut self, graph: &Graph) {
        for from in &self.active {
            let bits = self.frontier[*from as usize];
            for node in graph.predecessors(*from as usize) {
                let at = *node as usize;
                let new = and_not(bits, self.seen[at]);
                if new != [0; WORDS] {
                    if self.next[at] == [0; WORDS] {
                        self.touched.push(*node);
                    }
                    self.next[at] = or(self.next[at], new);
                }
            }
        }
        for node in &self.touched {
            let node = *node as usize;
            self.seen[node] = or(self.seen[node], self.next[node]);
        }
    }

    /// Without direction, what is left of a receiver's component is far.
    fn finish_far<const STARTS: usize>(
        &mut self,
        reordered: &ReorderedGraph,
        from: u16,
        receivers: &[[u32; STARTS]],
        components: &[u32],
    ) {
        let count = components.iter().max().map_or(0, |last| *last as usize + 1);
        let mut reachable = vec![[0u64; WORDS]; count];
        for (receiver, starts) in receivers.iter().enumerate() {
            for start in starts {
                reachable[components[reordered.place(*start) as usize] as usize][receiver / 64] |= 1 << (receiver % 64);
            }
        }
        self.active.iter().for_each(|node| self.frontier[*node as usize] = [0; WORDS]);
        self.active.clear();
        for (node, component) in components.iter().enumerate() {
            let rest = and_not(reachable[*component as usize], self.seen[node]);
            if rest != [0; WORDS] {
                self.frontier[node] = rest;
                self.seen[node] = or(self.seen[node], rest);
                self.active.push(node as u32);
            }
        }
        self.planes.add_level(from, &self.active, &self.frontier);
    }
}

#[inline(always)]
fn or<const WORDS: usize>(a: [u64; WORDS], b: [u64; WORDS]) -> [u64; WORDS] {
    std::array::from_fn(|word| a[word] | b[word])
}

#[inline(always)]
fn and_not<const WORDS: usize>(a: [u64; WORDS], b: [u64; WORDS]) -> [u64; WORDS] {
    std::array::from_fn(|word| a[word] & !b[word])
}
