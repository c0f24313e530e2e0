//! The division of edges into parts without leaking, and pairs that are no edges beside them.
//!
//! Training edges are the message edges; validation and test edges are taken out of the graph. The edge of a candidate
//! itself is never among its sources, so training edges may be candidates as well. Only where features are computed from
//! the graph, and would give the edge away, a share of the training edges are candidates and taken out. Every part also
//! has pairs that are no edge of the data, as many as wanted, drawn uniformly, none of them twice.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{CandidatePair, CandidatePairs};
use crate::dataset::Dataset;
use crate::dataset::split::VALIDATION_SHARE;
use crate::error::{Error, Result};
use crate::files::SplitPart;
use crate::limits::Limits;
use crate::random::Stream;
use crate::remedy::Remedy;
use crate::spec::NEGATIVES;

/// Candidate pairs are sampled, unless their number is given, so that no more distances than this are held in memory.
pub const MOST_DISTANCES: u64 = 500_000_000;
/// Share of the training edges that are candidates and no message edges where features are computed from the graph.
const QUERIED_SHARE: f64 = 0.3;
/// Fewer edges than this cannot be divided.
const LEAST_EDGES: usize = 10;
/// More pairs for each link than this are a slip of the keyboard.
const MOST_NEGATIVES: f64 = 1000.0;

/// How edges are divided, and what stands beside them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkDivision {
    /// Seed of the division and of the pairs that are no links.
    pub seed: u64,
    /// Share of the edges set aside for testing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_share: Option<f64>,
    /// Pairs that are no links for each that is one.
    pub negatives: f64,
    /// Most candidates in all parts together; `None`: so many that `MOST_DISTANCES` suffice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_pairs: Option<usize>,
}

impl Default for LinkDivision {
    fn default() -> Self {
        LinkDivision { seed: 0, test_share: None, negatives: NEGATIVES, most_pairs: None }
    }
}

impl LinkDivision {
    /// Refuses values that make no sense.
    pub fn check(&self) -> Result<()> {
        if let Some(share) = self.test_share
            && !(share > 0.0 && share < 1.0)
        {
            return Err(Error::usage(format!("a test share of {share}"))
                .with_remedy("it must be between 0 and 1; 0.1 is usual"));
        }
        if !(self.negatives > 0.0 && self.negatives <= MOST_NEGATIVES) {
            return Err(Error::usage(format!("{} pairs without a link for each link", self.negatives))
                .with_remedy("it must be above 0 and at most 1000; 1 is usual"));
        }
        if self.most_pairs == Some(0) {
            return Err(Error::usage("0 pairs leave nothing to learn").with_remedy("choose at least 20"));
        }
        Ok(())
    }

    /// Divides the edges of `data`; `apart` takes the training edges that are candidates out of the graph.
    pub(super) fn divide(&self, data: &Dataset, apart: bool) -> Result<CandidatePairs> {
        self.check()?;
        let edges = data.distinct_edges();
        if edges.len() < LEAST_EDGES {
            return Err(Error::input(format!("{} edges are too few to learn links from", edges.len()))
                .with_remedy(format!("at least {LEAST_EDGES} are needed")));
        }
        Limits::check(edges.len() as u64, u64::from(u32::MAX), "edges")?;
        let mut order: Vec<u32> = (0..edges.len() as u32).collect();
        Stream::named(self.seed, "links", 0).shuffle(&mut order);
        // Of the shuffled edges the first are tested, then come those that validate, then those to train on.
        let share = |share: f64, of: usize| ((share * of as f64).round() as usize).max(1).min(of.saturating_sub(1));
        let test = self.test_share.map_or(0, |test| share(test, edges.len()));
        let valid = share(VALIDATION_SHARE, edges.len() - test);
        let held_out = test + valid;
        let candidates = if apart { share(QUERIED_SHARE, edges.len() - held_out) } else { edges.len() - held_out };
        let taken_out = if apart { held_out + candidates } else { held_out };
        if valid == 0 || edges.len() - held_out < 2 || taken_out == edges.len() {
            return Err(Error::input("no edge is left to train on").with_remedy(Remedy::Lower("test-share")));
        }
        let mut messages: Vec<[u32; 2]> = order[taken_out..].iter().map(|edge| edges[*edge as usize]).collect();
        messages.sort_unstable();
        let counts =
            [(SplitPart::Train, held_out, candidates), (SplitPart::Valid, test, valid), (SplitPart::Test, 0, test)];
        let (kept, sample) = self.sampled(counts.map(|(_, _, count)| count), messages.len());
        let wanted = kept.map(|count| ((count as f64 * self.negatives).ceil() as usize).max(usize::from(count > 0)));
        let nodes = (kept.iter().chain(&wanted)).fold(messages.len(), |sum, count| sum.saturating_add(*count));
        Limits::check(nodes as u64, Limits::default().nodes, "edges and pairs")
            .map_err(|error| error.with_remedy([Remedy::Lower("negatives"), Remedy::Lower("most-node-pairs")]))?;
        let mut unlinked_pairs = unlinked_pairs(data, &edges, wanted.iter().sum(), self.seed)?.into_iter();
        let mut pairs = Vec::new();
        for (((part, first, _), kept), wanted) in counts.into_iter().zip(kept).zip(wanted) {
            let of_edge = |edge: &u32| CandidatePair { ends: edges[*edge as usize], part, link: Some(true) };
            pairs.extend(order[first..first + kept].iter().map(of_edge));
            pairs.extend(unlinked_pairs.by_ref().take(wanted).map(|ends| CandidatePair {
                ends,
                part,
                link: Some(false),
            }));
        }
        Ok(CandidatePairs { messages, pairs, sample })
    }

    /// How many edges of every part become candidates, and what a user should know of it.
    fn sampled(&self, counts: [usize; 3], messages: usize) -> ([usize; 3], Option<String>) {
        let all = (counts.iter().sum::<usize>() as f64 * (1.0 + self.negatives)).ceil();
        let fitting = || usize::try_from(MOST_DISTANCES / messages.max(1) as u64).unwrap_or(usize::MAX);
        let most = self.most_pairs.unwrap_or_else(fitting) as f64;
        if all <= most {
            return (counts, None);
        }
        let kept = counts.map(|count| ((count as f64 * most / all).floor() as usize).clamp(count.min(2), count));
        let note =
            format!("a sample of {most:.0} of {all:.0} pairs is used (the option most-node-pairs sets how many)");
        (kept, Some(note))
    }
}

/// `wanted` distinct pairs of nodes of one graph that are no edges, in random order.
fn unlinked_pairs(data: &Dataset, edges: &[[u32; 2]], wanted: usize, seed: u64) -> Result<Vec<[u32; 2]>> {
    let pairs_of = |graph: usize| {
        let nodes = data.nodes_of(graph).len() as u64;
        nodes * nodes.saturating_sub(1) / 2
    };
    // Where the pairs of every graph end, all of them counted through.
    let ends: Vec<u64> = (0..data.graph_count())
        .scan(0u64, |sum, graph| {
            *sum += pairs_of(graph);
            Some(*sum)
        })
        .collect();
    let all = *ends.last().expect("data have at least one graph");
    let too_many = |error| Error::because("there are too many pairs of nodes to draw from", error);
    let all_pairs = usize::try_from(all).map_err(too_many)?;
    let free = all - edges.len() as u64;
    if wanted as u64 > free {
        return Err(Error::input(format!("{wanted} pairs without a link are wanted, and there are only {free}"))
            .with_remedy([Remedy::Lower("negatives"), Remedy::Lower("most-node-pairs")]));
    }
    let is_edge = |pair: &[u32; 2]| edges.binary_search(pair).is_ok();
    let mut random = Stream::named(seed, "pairs without a link", 0);
    if wanted as u64 * 2 > free {
        // Most of them are wanted: all are listed, which are at most three times as many as wanted and edges together.
        let mut list = Vec::new();
        for graph in 0..data.graph_count() {
            let nodes = data.nodes_of(graph);
            let pairs = nodes.clone().flat_map(|one| (one + 1..nodes.end).map(move |other| [one as u32, other as u32]));
            list.extend(pairs.filter(|pair| !is_edge(pair)));
        }
        random.shuffle(&mut list);
        list.truncate(wanted);
        return Ok(list);
    }
    let mut taken = HashSet::with_capacity(wanted);
    let mut list = Vec::with_capacity(wanted);
    while list.len() < wanted {
        let place = random.below(all_pairs) as u64;
        let nodes = data.nodes_of(ends.partition_point(|end| *end <= place));
        let one = random.below(nodes.len());
        let mut other = random.below(nodes.len() - 1);
        other += usize::from(other >= one);
        let pair = [one.min(other), one.max(other)].map(|node| (nodes.start + node) as u32);
        if !is_edge(&pair) && taken.insert(pair) {
            list.push(pair);
        }
    }
    Ok(list)
}
