//! How many sources every shell around the receivers of a node task holds.
//!
//! One search finds the slots and counts the sources in each of them, without writing down which they are; the
//! [`Shells`](super::Shells) of some receivers, in whichever form, are made of that and of further searches.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::super::ShellWeighting;
use super::slot_rows::{EMPTY_LANE, ReceiverBlock};
use crate::checksum::Checksum;
use crate::dataset::Dataset;
use crate::distance::RECEIVERS_PER_BLOCK;
use crate::error::Result;
use crate::lens::{Lens, Longest, SearchResult, View, ViewSearch};
use crate::remedy::Remedy;
use crate::run::Run;

/// Blocks of eight receivers that are searched for together; fewer where memory is short.
const BLOCKS_AT_ONCE: usize = 32;
const FEWER_BLOCKS: usize = 8;
/// The number of slots that is assumed before it is known.
const USUAL_SLOTS: u64 = 30;
/// The share of the memory that is left that searches may take.
const SHARE: f64 = 0.25;

/// The shells of all receivers of a data set by one lens.
pub struct ShellCounts {
    /// How the work is done.
    pub(super) run: Run,
    graphs: Vec<LensGraph>,
    receivers: Vec<ReceiverIndex>,
    /// Number of slots; the last one is "unreachable".
    pub slots: usize,
    /// The longest distance.
    pub longest: Longest,
    /// `[receivers, slots]`: how many sources each shell holds.
    counts: Vec<u32>,
    /// What the sources of a shell count.
    pub(super) weighting: ShellWeighting,
    /// Number of sources over all graphs.
    pub source_count: usize,
    /// Blocks of receivers that are searched for together.
    pub(super) blocks_at_once: usize,
}

impl std::fmt::Debug for ShellCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "shell counts of {} receivers in {} slots", self.len(), self.slots)
    }
}

/// A graph measured by the lens.
struct LensGraph {
    graph: usize,
    view: View,
    /// Its first source.
    first: usize,
}

/// Where a receiver is found in the data.
#[derive(Clone, Copy)]
struct ReceiverIndex {
    /// Place of its graph among those of the data set.
    graph: u32,
    /// Its number within the graph.
    receiver: u32,
    /// The node, counted over all graphs.
    item: u32,
}

impl ShellCounts {
    /// Counts the shells around the items of a node task, with slots for distances up to `at_least` in any case.
    pub fn new(data: &Dataset, lens: &Lens, weighting: ShellWeighting, at_least: usize) -> Result<Arc<ShellCounts>> {
        let graphs: Vec<LensGraph> = data
            .graphs()
            .into_par_iter()
            .map(|graph| {
                let view = View::new(data, graph, lens)?;
                Ok(LensGraph { graph, view, first: data.sources_of(graph).start })
            })
            .collect::<Result<_>>()?;
        let index = |item: &u32| {
            let graph = data.graph_of(*item as usize);
            let place = graphs.partition_point(|known| known.graph < graph);
            ReceiverIndex { graph: place as u32, receiver: *item - data.nodes_of(graph).start as u32, item: *item }
        };
        let receivers: Vec<ReceiverIndex> = data.items().iter().map(index).collect();
        let source_count = data.node_count();
        let mut shell_counts = ShellCounts {
            run: data.run().clone(),
            graphs,
            receivers,
            slots: 0,
            longest: Longest::default(),
            counts: Vec::new(),
            weighting,
            source_count,
            blocks_at_once: BLOCKS_AT_ONCE,
        };
        shell_counts.fit_in_memory()?;
        shell_counts.count(at_least)?;
        Ok(Arc::new(shell_counts))
    }

    /// Chooses how many receivers are searched for together by the memory that is left.
    fn fit_in_memory(&mut self) -> Result<()> {
        let many = self.bytes_at_once();
        if self.run.memory.left().is_some_and(|left| many as f64 > SHARE * left as f64) {
            self.blocks_at_once = FEWER_BLOCKS;
        }
        let needed = self.bytes_at_once();
        let counts = self.receivers.len() as u64 * 4 * USUAL_SLOTS;
        self.run.memory.demand_or(needed + counts, "the search for distances", &[Remedy::Lower("threads")])
    }

    /// Bytes that the searches of all threads take, with the rows that they leave.
    pub(crate) fn bytes_at_once(&self) -> u64 {
        let rows = (self.blocks_at_once * RECEIVERS_PER_BLOCK * self.longest_row()) as u64;
        rayon::current_num_threads() as u64 * (self.search_bytes() + rows)
    }

    /// The most sources that a receiver has.
    fn longest_row(&self) -> usize {
        self.graphs.iter().map(|graph| graph.view.sources()).max().unwrap_or(0)
    }

    /// The first search: which distances there are, and how many sources at each.
    fn count(&mut self, at_least: usize) -> Result<()> {
        let order = self.near_order(&(0..self.receivers.len() as u32).collect::<Vec<_>>());
        let batches: Vec<&[u32]> = order
            .chunk_by(|a, b| self.receivers[*a as usize].graph == self.receivers[*b as usize].graph)
            .flat_map(|same_graph| same_graph.chunks(self.blocks_at_once * RECEIVERS_PER_BLOCK))
            .collect();
        let (done, all) = (AtomicUsize::new(0), order.len());
        let counted: Vec<(Longest, Vec<u32>)> = batches
            .par_iter()
            .map_init(ViewSearch::default, |search, batch| {
                let result = self.find(batch.iter().copied(), search)?;
                let longest = result.longest();
                let width = usize::from(longest.finite) + 1;
                let mut counts = vec![0; width * batch.len()];
                for (receiver, counts) in counts.chunks_exact_mut(width).enumerate() {
                    result.count(receiver, counts);
                }
                let now = done.fetch_add(batch.len(), Ordering::Relaxed) + batch.len();
                self.run.progress("distances", now, all)?;
                Ok((longest, counts))
            })
            .collect::<Result<_>>()?;
        let longest = counted.iter().fold(Longest::default(), |all, (longest, _)| all.and(*longest));
        let slots = usize::from(longest.finite).max(at_least) + 2;
        let mut counts = vec![0; slots * self.receivers.len()];
        for (batch, (longest, found)) in batches.iter().zip(&counted) {
            let width = usize::from(longest.finite) + 1;
            for (receiver, found) in batch.iter().zip(found.chunks_exact(width)) {
                let sources = self.sources_of(*receiver);
                let counts = &mut counts[*receiver as usize * slots..][..slots];
                counts[..width].copy_from_slice(found);
                counts[slots - 1] = sources as u32 - found.iter().sum::<u32>();
            }
        }
        (self.slots, self.longest, self.counts) = (slots, longest, counts);
        Ok(())
    }

    /// Number of receivers.
    pub fn len(&self) -> usize {
        self.receivers.len()
    }

    /// Whether there are no receivers.
    pub fn is_empty(&self) -> bool {
        self.receivers.is_empty()
    }

    /// Number of receiver-source pairs of some receivers.
    pub fn receiver_source_pairs(&self, receivers: &[u32]) -> u64 {
        receivers.iter().map(|receiver| self.sources_of(*receiver) as u64).sum()
    }

    /// How many sources each shell of a receiver holds.
    pub fn counts(&self, receiver: usize) -> &[u32] {
        &self.counts[receiver * self.slots..][..self.slots]
    }

    /// The node that a receiver is.
    pub(super) fn item(&self, receiver: u32) -> u32 {
        self.receivers[receiver as usize].item
    }

    fn sources_of(&self, receiver: u32) -> usize {
        self.graphs[self.receivers[receiver as usize].graph as usize].view.sources()
    }

    /// Searches for receivers of one graph, at most 256 of them.
    fn find<'a>(
        &'a self,
        receivers: impl Iterator<Item = u32>,
        search: &'a mut ViewSearch,
    ) -> Result<SearchResult<'a>> {
        let indices: Vec<ReceiverIndex> = receivers.map(|receiver| self.receivers[receiver as usize]).collect();
        let receivers: Vec<u32> = indices.iter().map(|index| index.receiver).collect();
        self.graphs[indices.first().map_or(0, |index| index.graph as usize)].view.find(&receivers, search)
    }

    /// The same once distances have been counted: a search fails where a distance is too long to be written down, and
    /// then counting would have failed.
    pub(super) fn find_again<'a>(
        &'a self,
        receivers: impl Iterator<Item = u32>,
        search: &'a mut ViewSearch,
    ) -> SearchResult<'a> {
        self.find(receivers, search).expect("invariant: these distances were found when they were counted")
    }

    /// Positions of `receivers`, those of one graph together and near ones next to each other.
    fn near_order(&self, receivers: &[u32]) -> Vec<u32> {
        let nearness = |receiver: u32| {
            let index = self.receivers[receiver as usize];
            (index.graph, self.graphs[index.graph as usize].view.nearness(index.receiver))
        };
        let mut order: Vec<u32> = (0..receivers.len() as u32).collect();
        order.sort_by_key(|position| nearness(receivers[*position as usize]));
        order
    }

    /// Blocks of receivers, which are given by their positions here.
    pub(super) fn receiver_blocks(&self, receivers: &[u32]) -> Vec<ReceiverBlock> {
        let order = self.near_order(receivers);
        let graph = |position: &u32| self.receivers[receivers[*position as usize] as usize].graph;
        let mut blocks = Vec::with_capacity(receivers.len().div_ceil(RECEIVERS_PER_BLOCK));
        let mut start = 0;
        for same_graph in order.chunk_by(|a, b| graph(a) == graph(b)) {
            let graph = &self.graphs[graph(&same_graph[0]) as usize];
            for eight in same_graph.chunks(RECEIVERS_PER_BLOCK) {
                let mut receivers = [EMPTY_LANE; RECEIVERS_PER_BLOCK];
                receivers[..eight.len()].copy_from_slice(eight);
                blocks.push(ReceiverBlock { receivers, first: graph.first, len: graph.view.sources(), start });
                start += graph.view.sources();
            }
        }
        blocks
    }

    /// A checksum of everything that the distances of these receivers depend on.
    pub fn checksum(&self, receivers: &[u32]) -> Checksum {
        let items = receivers.iter().map(|receiver| self.item(*receiver)).collect::<Vec<_>>();
        let graphs = self.graphs.iter().fold(Checksum::default(), |sum, graph| graph.view.checksum(sum));
        graphs.and_codes(&items).and_codes(&self.counts)
    }

    /// Bytes that lists of the sources of every shell take, at most `most` of each.
    pub fn list_bytes(&self, most: u32) -> u64 {
        // Every source is listed once by receiver and once by itself.
        8 * self.counts.iter().map(|count| u64::from((*count).min(most))).sum::<u64>()
    }

    /// Bytes that searches take on every thread.
    pub fn search_bytes(&self) -> u64 {
        let receivers = (self.blocks_at_once * RECEIVERS_PER_BLOCK).min(self.len());
        let slots = self.slots.max(USUAL_SLOTS as usize);
        self.graphs.iter().map(|graph| graph.view.search_bytes(receivers, slots)).max().unwrap_or(0)
    }
}
