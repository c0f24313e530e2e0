//! The pass over the sources of one prediction, for some of its receivers: from the terms of every source and its distance
//! to the marginals of `A[i, j, k, l] = f_k(x_jk) * rho(l) * [dist(j,i) = l] / n_i(l)`.
//!
//! Sources of a node task are divided into blocks whose sums are added up in order, so that neither threads nor the
//! number of nodes that are looked at at a time change a digit.

use std::collections::BTreeSet;
use std::ops::Range;

use rayon::prelude::*;

use crate::distance::UNREACHABLE;
use crate::files::Task;
use crate::lens::{DistanceAxis, Pool, Reach};
use crate::statistics::ShellWeighting;

use super::canonical::Canonical;
use super::explainer::{Explainer, Marginals, OwnSource};
use super::parts::Parts;
use super::source_terms::SourceTerms;

/// Sources whose sums one task makes.
const SOURCES_PER_BLOCK: usize = 4096;
/// Blocks whose sums are held before they are added up.
const BLOCKS_AT_ONCE: usize = 4;

/// Some receivers, and how every source contributes to them.
pub(super) struct Pass<'p, 'a> {
    explainer: &'p Explainer<'a>,
    canonical: &'p Canonical,
    axis: DistanceAxis,
    /// The sources.
    nodes: Range<usize>,
    /// The receiver among its own sources, where it is not one of them by its features as others are.
    own: Option<OwnSource>,
    /// Number of receivers.
    receivers: usize,
    /// For every lens `[receivers, sources]`: distances.
    rows: &'p [Vec<u16>],
    /// `[receivers, slots]`: sizes of shells.
    counts: Vec<u32>,
    /// The weight of a receiver by every lens.
    pooled: Vec<f64>,
    weighting: ShellWeighting,
    /// For every feature whether it counts at distance 0 alone.
    own_reach: Vec<bool>,
    /// Whether the parts by source and feature are wanted.
    parts: bool,
}

/// Where the sums over some sources go.
struct PassSums<'s, 'a> {
    feature_distance: &'s mut [f64],
    /// `[receivers, outputs]`, of a graph task.
    by_receiver: &'s mut [f64],
    /// `[source terms, outputs]`, of a graph task.
    node_feature: &'s mut Vec<f64>,
    /// Of a node task.
    parts: Option<&'s mut Parts<'a>>,
    unseen: &'s mut BTreeSet<String>,
}

impl<'p, 'a> Pass<'p, 'a> {
    /// A pass for receivers whose distance rows by every lens are given.
    pub(super) fn new(
        explainer: &'p Explainer<'a>,
        canonical: &'p Canonical,
        (nodes, own): (Range<usize>, Option<OwnSource>),
        receivers: usize,
        rows: &'p [Vec<u16>],
        parts: bool,
    ) -> Pass<'p, 'a> {
        let definition = explainer.model().definition();
        let share = |pool: Pool| if pool == Pool::Mean { 1.0 / nodes.len().max(1) as f64 } else { 1.0 };
        let mut pass = Pass {
            explainer,
            canonical,
            axis: canonical.axis().clone(),
            receivers,
            rows,
            counts: vec![0; receivers * canonical.slots()],
            pooled: definition.learned.lenses.iter().map(|lens| share(lens.pool)).collect(),
            weighting: ShellWeighting::of(&definition.spec.statistics),
            own_reach: definition.learned.features.iter().map(|k| k.reach == Some(Reach::OWN)).collect(),
            parts,
            nodes,
            own,
        };
        for lens in 0..rows.len() {
            for receiver in 0..receivers {
                for source in 0..pass.nodes.len() {
                    let place = receiver * canonical.slots() + pass.slot(lens, receiver, source);
                    pass.counts[place] += 1;
                }
            }
            if own.is_some() {
                // The pair itself; its own message edge is no source.
                pass.counts[pass.axis.slot(lens, Some(0))] = 1;
            }
        }
        pass
    }

    fn slot(&self, lens: usize, receiver: usize, source: usize) -> usize {
        let distance = self.rows[lens][receiver * self.nodes.len() + source];
        self.axis.slot(lens, (distance != UNREACHABLE).then_some(usize::from(distance)))
    }

    /// The weight of each source of a shell for a receiver.
    fn share(&self, lens: usize, receiver: usize, slot: usize) -> f64 {
        let count = self.counts[receiver * self.canonical.slots() + slot];
        self.pooled[lens] * self.weighting.of_one(count)
    }

    /// Calls `visit(receiver, source, slot, weight)` for every receiver and source, and without a source for every shell.
    pub(super) fn each_weight(&self, mut visit: impl FnMut(usize, Option<usize>, usize, f64)) {
        for receiver in 0..self.receivers {
            for lens in 0..self.rows.len() {
                for source in 0..self.nodes.len() {
                    let slot = self.slot(lens, receiver, source);
                    visit(receiver, Some(source), slot, self.share(lens, receiver, slot));
                }
            }
            let slots = self.canonical.slots();
            let counts = self.counts[receiver * slots..][..slots].iter().enumerate();
            for (slot, count) in counts.filter(|(_, count)| **count > 0) {
                visit(receiver, None, slot, self.pooled[self.axis.lens_of(slot)] * self.weighting.of_all(*count));
            }
        }
    }

    /// Adds the contributions to these receivers.
    pub(super) fn add_to(&self, found: &mut Marginals<'a>) {
        let first = found.by_receiver.len();
        for counts in self.counts.chunks_exact(found.slots) {
            found.add_structure(self.canonical, counts, self.weighting, &self.pooled);
        }
        let task = self.explainer.data().task();
        if self.parts && task == Task::Node {
            found.parts = Some(self.explainer.parts(&self.nodes, self.source_count()));
        }
        self.add_all_sources(found, first, task);
        if let Some(own) = self.own {
            self.add_own(own, found);
        }
    }

    /// Number of sources, the receiver included where it is one that comes after the others.
    fn source_count(&self) -> usize {
        self.own.map_or(0, |own| own.place + 1).max(self.nodes.len())
    }

    /// Adds what a receiver contributes to itself by features that it alone has.
    fn add_own(&self, own: OwnSource, found: &mut Marginals<'a>) {
        let (slots, outputs, slot) = (self.canonical.slots(), self.canonical.outputs(), self.axis.slot(0, Some(0)));
        let terms = SourceTerms::of_candidate(self.canonical, &self.explainer.features, own.node);
        for of_feature in terms.of_node(own.node) {
            let k = of_feature[0].feature as usize;
            let mut part: Vec<f64> = self.canonical.centre_at(k, slot).iter().map(|mean| -mean).collect();
            for term in of_feature {
                let factors = terms.values(term, outputs).iter().zip(self.canonical.raw_rho(term.rho, slot));
                part.iter_mut().zip(factors).for_each(|(part, (value, rho))| *part += value * rho);
            }
            let cell = &mut found.feature_distance[(k * slots + slot) * outputs..][..outputs];
            cell.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
            if let Some(parts) = &mut found.parts {
                parts.add(own.place, k, &part);
            }
        }
        if self.parts {
            found.unseen.extend(terms.unseen(own.node..own.node + 1).cloned());
        }
    }

    fn add_all_sources(&self, found: &mut Marginals<'a>, first: usize, task: Task) {
        if task == Task::Graph || self.nodes.len() <= SOURCES_PER_BLOCK {
            self.add_sources(
                0..self.nodes.len(),
                PassSums {
                    feature_distance: &mut found.feature_distance,
                    by_receiver: &mut found.by_receiver[first..],
                    node_feature: &mut found.node_feature,
                    parts: found.parts.as_mut(),
                    unseen: &mut found.unseen,
                },
            );
            return;
        }
        let blocks: Vec<Range<usize>> = (0..self.nodes.len())
            .step_by(SOURCES_PER_BLOCK)
            .map(|start| start..self.nodes.len().min(start + SOURCES_PER_BLOCK))
            .collect();
        let cells = found.feature_distance.len();
        let of_block = |sources: &Range<usize>, all: Option<&Parts<'a>>| {
            let mut feature_distance = vec![0.0; cells];
            let mut parts = all.map(|all| all.after(self.explainer.parts(&self.nodes, sources.len())));
            let mut unseen = BTreeSet::new();
            let sums = PassSums {
                feature_distance: &mut feature_distance,
                by_receiver: &mut [],
                node_feature: &mut Vec::new(),
                parts: parts.as_mut(),
                unseen: &mut unseen,
            };
            self.add_sources(sources.clone(), sums);
            (feature_distance, parts, unseen)
        };
        for group in blocks.chunks(BLOCKS_AT_ONCE) {
            let all = found.parts.as_ref();
            let made: Vec<_> = group.par_iter().map(|sources| of_block(sources, all)).collect();
            for (sources, (feature_distance, parts, mut unseen)) in group.iter().zip(made) {
                found.feature_distance.iter_mut().zip(feature_distance).for_each(|(sum, part)| *sum += part);
                if let Some((all, parts)) = found.parts.as_mut().zip(parts) {
                    all.append(sources.start, parts);
                }
                found.unseen.append(&mut unseen);
            }
        }
    }

    /// Adds some sources, counted from the first of the graph.
    fn add_sources(&self, sources: Range<usize>, mut sums: PassSums<'_, 'a>) {
        let (slots, outputs) = (self.canonical.slots(), self.canonical.outputs());
        let of_graph = self.parts && self.explainer.data().task() == Task::Graph;
        let start = sources.start;
        let nodes = self.nodes.start + sources.start..self.nodes.start + sources.end;
        let mut weights = vec![0.0; slots];
        let mut touched = Vec::new();
        let mut products = vec![0.0; slots * outputs];
        let mut own = vec![0.0; outputs];
        let mut product = vec![0.0; outputs];
        let mut place = 0;
        self.explainer.each_source_terms(nodes, |some, terms| {
            if self.parts {
                sums.unseen.extend(terms.unseen(some.clone()).cloned());
            }
            for node in some {
                let source = node - self.nodes.start;
                // W_jl over these receivers.
                for lens in 0..self.rows.len() {
                    for receiver in 0..self.receivers {
                        let slot = self.slot(lens, receiver, source);
                        if weights[slot] == 0.0 {
                            touched.push(slot);
                        }
                        weights[slot] += self.share(lens, receiver, slot);
                    }
                }
                touched.sort_unstable();
                for of_feature in terms.of_node(node) {
                    let k = of_feature[0].feature as usize;
                    match sums.node_feature.get(place * outputs..(place + 1) * outputs) {
                        // Its contribution to other receivers.
                        Some(earlier) => own.copy_from_slice(earlier),
                        None => own.fill(0.0),
                    }
                    let itself = |slot: usize| self.axis.distance(slot) == Some(0);
                    for slot in touched.iter().filter(|slot| !self.own_reach[k] || itself(**slot)) {
                        product.iter_mut().zip(self.canonical.centre_at(k, *slot)).for_each(|(to, mean)| *to = -mean);
                        for term in of_feature {
                            let (values, rho) = (terms.values(term, outputs), self.canonical.raw_rho(term.rho, *slot));
                            for c in 0..outputs {
                                product[c] += values[c] * rho[c];
                            }
                        }
                        let cell = &mut sums.feature_distance[(k * slots + slot) * outputs..][..outputs];
                        let products = &mut products[slot * outputs..][..outputs];
                        for c in 0..outputs {
                            let part = product[c] * weights[*slot];
                            cell[c] += part;
                            own[c] += part;
                            if of_graph {
                                products[c] += product[c];
                            }
                        }
                    }
                    if !self.parts {
                        continue;
                    }
                    match &mut sums.parts {
                        Some(parts) => parts.add(source - start, k, &own),
                        None => {
                            sums.node_feature.resize(sums.node_feature.len().max((place + 1) * outputs), 0.0);
                            sums.node_feature[place * outputs..][..outputs].copy_from_slice(&own);
                            place += 1;
                        }
                    }
                }
                if of_graph {
                    for lens in 0..self.rows.len() {
                        for receiver in 0..self.receivers {
                            let slot = self.slot(lens, receiver, source);
                            let share = self.share(lens, receiver, slot);
                            for c in 0..outputs {
                                sums.by_receiver[receiver * outputs + c] += products[slot * outputs + c] * share;
                            }
                        }
                    }
                }
                for slot in touched.drain(..) {
                    weights[slot] = 0.0;
                    products[slot * outputs..][..outputs].fill(0.0);
                }
            }
        });
    }
}
