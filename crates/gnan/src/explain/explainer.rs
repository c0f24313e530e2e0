//! The explainer: takes predictions of one model on one data set apart, any number of them.
//!
//! A prediction needs the distances to its receivers and one pass over its sources: see [`Pass`].

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::dataset::{Dataset, Feature};
use crate::distance::{DistanceSearch, RECEIVERS_AT_ONCE, UNREACHABLE};
use crate::error::{Error, Result};
use crate::files::{Kind, Task, Values};
use crate::lens::{DistanceAxis, View};
use crate::model::{Model, Rho};
use crate::numbers::number;
use crate::statistics::ShellWeighting;

use super::canonical::Canonical;
use super::explanation::Explanation;
use super::parts::{MOST_PARTS, Parts};
use super::pass::Pass;
use super::reference::{AverageParts, Reference};
use super::source_terms::{SourceTerm, SourceTerms, level_terms, value_count};
use super::weak_values::value_words;

/// Most memory for the source terms of all nodes, in bytes; what would take more is found when it is needed.
const MOST_KEPT: u64 = 256 << 20;
/// What a source takes in an explanation: its id, its label and its distance, in bytes.
const BYTES_OF_A_SOURCE: u64 = 128;
/// Memory for the source terms of the nodes that are looked at at a time, in bytes.
const AT_A_TIME: u64 = 16 << 20;

/// Explains predictions of a model on a data set.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// use gnan::Explainer;
/// let explainer = Explainer::new(&model, &test)?;
/// let first_two = explainer.explain(&[0, 1])?;
/// assert!(first_two.iter().all(|explanation| explanation.adds_up()));
/// # Ok::<(), gnan::Error>(())
/// ```
pub struct Explainer<'a> {
    model: &'a Model,
    data: &'a Dataset,
    canonical: Canonical,
    pub(super) features: Cow<'a, [Feature]>,
    /// The average training item, where it is known.
    average: Option<AverageParts>,
    /// What terms are compared with.
    reference: Reference,
    /// The terms of all sources, where they are few.
    source_terms: Option<SourceTerms>,
    /// The graph through every lens, where there is one alone.
    views: Option<Vec<View>>,
    /// Most parts by source and feature that are listed.
    most_parts: usize,
    /// What the nodes are called and what they are, where there is one graph alone.
    names: OnceLock<NodeNames>,
}

/// The ids of the nodes of a graph, and their labels.
#[derive(Clone)]
struct NodeNames {
    ids: Arc<[String]>,
    labels: Arc<[String]>,
}

/// A node pair that is a source for itself, by features that it alone has.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnSource {
    /// The pair as a node of the data set.
    pub node: usize,
    /// Its place among the sources: that of its own message edge, which is no source otherwise, or after all of them.
    pub place: usize,
}

/// A feature of a node, the rhos that weigh its value, and how much of each it has.
pub(super) type NodeTerms = (usize, Vec<(usize, f64)>);

/// What the pass over one prediction's sources leaves, for the model's own outputs.
pub(super) struct Marginals<'a> {
    pub axis: DistanceAxis,
    pub slots: usize,
    pub outputs: usize,
    /// `[features, slots, outputs]`
    pub feature_distance: Vec<f64>,
    /// `[slots, outputs]`
    pub structure: Vec<f64>,
    /// `[receivers, outputs]`, and each one's share of the structure term; of a graph task.
    pub by_receiver: Vec<f64>,
    structure_by_receiver: Vec<f64>,
    /// `[source terms of the graph, outputs]`, where it is wanted, of a graph task.
    pub node_feature: Vec<f64>,
    /// The same of a node task.
    pub parts: Option<Parts<'a>>,
    receivers: Vec<usize>,
    /// Values that training had not seen, where parts are wanted.
    pub unseen: BTreeSet<String>,
}

impl Model {
    /// Explains the prediction of the item at `position` of `data`.
    pub fn explain(&self, data: &Dataset, position: usize) -> Result<Explanation> {
        let mut found = Explainer::new(self, data)?.explain(&[position])?;
        found.pop().ok_or_else(|| Error::usage("there is nothing to explain"))
    }
}

impl<'a> Explainer<'a> {
    /// An explainer of the predictions of `model` on `data`.
    pub fn new(model: &'a Model, data: &'a Dataset) -> Result<Explainer<'a>> {
        let (features, canonical) = (model.features_of(data)?, model.canonical());
        let all = 0..data.node_count();
        let needed = SourceTerms::bytes(value_count(&features, &all), canonical.outputs());
        let free_bytes = data.run().memory.left().map_or(MOST_KEPT, |left| MOST_KEPT.min(left / 4));
        Ok(Explainer {
            model,
            data,
            source_terms: (needed <= free_bytes).then(|| SourceTerms::of(&canonical, &features, all)),
            average: canonical.average(),
            reference: Reference::default(),
            canonical,
            features,
            views: if data.graph_count() == 1 { Some(views(model, data, 0)?) } else { None },
            most_parts: MOST_PARTS,
            names: OnceLock::new(),
        })
    }

    /// The canonical form of the model.
    pub fn canonical(&self) -> &Canonical {
        &self.canonical
    }

    /// The same explainer with another reference.
    pub fn relative_to(self, reference: Reference) -> Explainer<'a> {
        Explainer { reference, ..self }
    }

    /// The same explainer, which lists at most so many parts by source and feature of a prediction: of many nodes in one graph
    /// they are very many, and some readers want none.
    pub fn listing(self, most_parts: usize) -> Explainer<'a> {
        Explainer { most_parts, ..self }
    }

    /// The average training item, where it is known.
    pub(super) fn average(&self) -> Option<&AverageParts> {
        self.average.as_ref()
    }

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// The data set.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// The terms of some sources: `visit` is called with few nodes after the other, and their terms.
    pub(super) fn each_source_terms(&self, nodes: Range<usize>, mut visit: impl FnMut(Range<usize>, &SourceTerms)) {
        if let Some(terms) = &self.source_terms {
            return visit(nodes, terms);
        }
        let needed = SourceTerms::bytes(value_count(&self.features, &nodes), self.canonical.outputs());
        let at_a_time = (nodes.len() as u64 * AT_A_TIME / needed.max(1)).clamp(1, nodes.len().max(1) as u64) as usize;
        for start in nodes.clone().step_by(at_a_time) {
            let some = start..nodes.end.min(start + at_a_time);
            visit(some.clone(), &SourceTerms::of(&self.canonical, &self.features, some));
        }
    }

    /// Explains the items at these positions of the data set.
    pub fn explain(&self, positions: &[usize]) -> Result<Vec<Explanation>> {
        positions.iter().try_for_each(|position| self.check(*position))?;
        let outputs = self.model.outputs_on(&self.data.subset(positions))?;
        let rows = outputs.values.chunks_exact(outputs.width);
        positions.iter().zip(rows).map(|(position, row)| self.explain_predicted(*position, row)).collect()
    }

    /// The contribution of every feature, and last the structure term, of the item at a position: output after output
    /// of those that are shown. Cheaper than [`explain`](Self::explain), and checked by nothing.
    pub fn by_feature(&self, position: usize) -> Result<Vec<f64>> {
        self.check(position)?;
        let (_, found) = self.marginals(self.data.items()[position], false)?;
        let definition = self.model.definition();
        let sum = |values: &[f64]| {
            let mut sums = vec![0.0; found.outputs];
            for row in values.chunks_exact(found.outputs) {
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
            definition.shown(&sums)
        };
        let features = found.feature_distance.chunks_exact(found.slots * found.outputs);
        Ok(features.chain([&found.structure[..]]).flat_map(sum).collect())
    }

    fn check(&self, position: usize) -> Result<()> {
        if position < self.data.len() {
            return Ok(());
        }
        Err(Error::usage(format!("there is no item number {position} among {}", self.data.len())))
    }

    /// Explains the item at a position, whose outputs have been predicted before: see [`Model::outputs_on`].
    pub fn explain_predicted(&self, position: usize, predicted: &[f32]) -> Result<Explanation> {
        self.check(position)?;
        let (item, data) = (self.data.items()[position], self.data);
        let (nodes, _) = self.sources_and_receivers(item);
        let own = self.own_source(item, &nodes);
        let needed = nodes.len() as u64 * (BYTES_OF_A_SOURCE + 16 * self.model.outputs() as u64);
        data.run().memory.demand(needed, "the explanation of a prediction")?;
        let (canonical, mut found) = self.marginals(item, true)?;
        let canonical = canonical.as_ref().unwrap_or(&self.canonical);
        let definition = self.model.definition();
        let width = self.model.outputs();
        let names = self.names(&nodes);
        let show = |values: &[f64]| definition.shown(values);
        let rows = |values: &[f64]| values.chunks_exact(width).map(show).collect::<Vec<_>>();
        let raw: Vec<f64> = predicted.iter().map(|y| f64::from(*y)).collect();
        let of_graph = |values: &[f64]| if data.task() == Task::Node { Vec::new() } else { rows(values) };
        let parts = found.parts.take().unwrap_or_else(|| self.graph_parts(nodes.clone(), &found.node_feature));
        let (by_node_and_feature, unlisted) = parts.finish();
        Ok(Explanation {
            id: data.item_id(item),
            outputs: definition.shown_names(),
            prediction: show(&raw),
            probabilities: self.model.probabilities(predicted),
            base: show(match nodes.is_empty() && own.is_none() {
                true => canonical.empty_output(),
                false => canonical.output_bias(),
            }),
            axis: found.axis.clone(),
            structure_by_distance: rows(&found.structure),
            features: definition.learned.features.iter().map(|feature| feature.name.clone()).collect(),
            labels: match data.links() {
                Some(_) => self.distance_labels(item, own)?.into(),
                None => names.labels,
            },
            nodes: match own {
                Some(own) if own.place == nodes.len() => {
                    names.ids.iter().cloned().chain([data.node_id(own.node)]).collect()
                }
                _ => names.ids,
            },
            own_values: self.own_values(item),
            by_node_and_feature,
            unlisted,
            by_feature_and_distance: found.feature_distance.chunks_exact(found.slots * width).map(rows).collect(),
            by_receiver: of_graph(&found.by_receiver),
            structure_by_receiver: of_graph(&found.structure_by_receiver),
            receivers: match data.links() {
                // A link that is a message edge is at distance 0 of itself and no source, but by features of its own.
                Some(_) if own.is_none() => {
                    found.receivers.iter().enumerate().map(|(slot, receivers)| receivers * slot.min(1)).collect()
                }
                _ => found.receivers,
            },
            unseen: found.unseen.into_iter().collect(),
            average: self.average.clone(),
            reference: self.reference,
            sds: self.part_sds(item, canonical)?,
        })
    }

    /// The parts of a graph task.
    fn graph_parts(&self, nodes: Range<usize>, values: &[f64]) -> Parts<'a> {
        let mut parts = self.parts(&nodes, nodes.len());
        let mut values = values.chunks_exact(self.canonical.outputs());
        self.each_source_terms(nodes.clone(), |some, terms| {
            for node in some {
                for (terms, values) in terms.of_node(node).zip(&mut values) {
                    parts.add(node - nodes.start, terms[0].feature as usize, values);
                }
            }
        });
        parts
    }

    /// Room for the parts of the sources of an item, or of so many of them.
    pub(super) fn parts(&self, nodes: &Range<usize>, sources: usize) -> Parts<'a> {
        Parts::new(self.model.definition(), value_count(&self.features, nodes), sources, self.most_parts)
    }

    /// The names of the nodes of a graph; those of a single graph are made once.
    fn names(&self, nodes: &Range<usize>) -> NodeNames {
        let make = || NodeNames {
            ids: nodes.clone().map(|node| self.data.node_id(node)).collect(),
            labels: self.labels(nodes.clone()).into(),
        };
        if self.data.graph_count() == 1 { self.names.get_or_init(make).clone() } else { make() }
    }

    /// What nodes are, for people: their level of the first categorical feature.
    fn labels(&self, nodes: Range<usize>) -> Vec<String> {
        let label = self.features.iter().find(|feature| feature.kind == Kind::Categorical && feature.pair.is_none());
        label.map_or_else(Vec::new, |feature| {
            nodes.map(|node| feature.values.level(node).unwrap_or_default().to_owned()).collect()
        })
    }

    /// The values of the node that is predicted, as text.
    fn own_values(&self, item: u32) -> Vec<String> {
        let own_features = self.features.iter().any(|feature| feature.own_only);
        if self.data.task() == Task::Graph || (self.data.links().is_some() && !own_features) {
            return Vec::new();
        }
        let text = |feature: &Feature| match &feature.values {
            // A node pair has no values of what only its sources have.
            _ if own_features && !feature.own_only => String::new(),
            Values::Categories { .. } => feature.values.level(item as usize).unwrap_or("missing").to_owned(),
            numeric => match numeric.numbers_in(item as usize..item as usize + 1).next() {
                Some((_, x)) => value_words(feature, x),
                None => number(0.0),
            },
        };
        self.features.iter().map(text).collect()
    }

    /// How far the message edges are from a pair, and which of the sources it is itself: the same ends make several edges.
    fn distance_labels(&self, item: u32, own: Option<OwnSource>) -> Result<Vec<String>> {
        let (_, receivers) = self.sources_and_receivers(item);
        let mut row = Vec::new();
        for view in self.views_of(item)?.iter() {
            view.rows(&receivers, &mut DistanceSearch::default(), &mut row)?;
        }
        let label = |distance: &u16| match *distance {
            UNREACHABLE => "unreachable".to_owned(),
            0 => "itself, no source".to_owned(),
            distance => format!("distance {distance}"),
        };
        let mut labels: Vec<String> = row.iter().map(label).collect();
        if let Some(own) = own {
            labels.truncate(own.place.max(row.len()));
            labels.resize(labels.len().max(own.place + 1), String::new());
            labels[own.place] = "itself".to_owned();
        }
        Ok(labels)
    }

    /// The node pair of an item among its own sources, where the model has features that it alone has.
    pub(super) fn own_source(&self, item: u32, sources: &Range<usize>) -> Option<OwnSource> {
        let links = self.data.links()?;
        if !self.features.iter().any(|feature| feature.own_only) {
            return None;
        }
        let graph = self.data.graph_of(item as usize);
        let ordered = |[one, other]: [u32; 2]| [one.min(other), one.max(other)];
        let pair = links.local_ends(item as usize..item as usize + 1, graph).next().map(ordered)?;
        let place = links.local_ends(sources.clone(), graph).map(ordered).position(|edge| edge == pair);
        Some(OwnSource { node: item as usize, place: place.unwrap_or(sources.len()) })
    }

    /// The sources in an item's graph, and the receivers (counted within the graph).
    fn sources_and_receivers(&self, item: u32) -> (Range<usize>, Vec<u32>) {
        let nodes = self.data.sources_of(self.data.graph_of_item(item));
        let receivers = match self.data.task() {
            Task::Graph => (0..nodes.len() as u32).collect(),
            Task::Node => vec![item - nodes.start as u32],
        };
        (nodes, receivers)
    }

    /// The marginals of one item; with a canonical form of its own where its distances are longer than training's.
    pub(super) fn marginals(&self, item: u32, parts: bool) -> Result<(Option<Canonical>, Marginals<'a>)> {
        let (nodes, receivers) = self.sources_and_receivers(item);
        let seen_through = self.views_of(item)?;
        let mut search = DistanceSearch::default();
        let mut rows: Vec<Vec<u16>> = seen_through.iter().map(|_| Vec::new()).collect();
        let mut longer: Option<Canonical> = None;
        let mut found = Marginals::new(&self.canonical, self.model.definition().learned.features.len());
        let mut batches = receivers.chunks(RECEIVERS_AT_ONCE);
        while let Some(batch) = batches.next() {
            let mut longest = found.axis.longest();
            for ((view, rows), longest) in seen_through.iter().zip(&mut rows).zip(&mut longest) {
                *longest = usize::from(view.rows(batch, &mut search, rows)?.finite).max(*longest);
            }
            if longest != found.axis.longest() {
                // Longer distances than any so far: all over again with room for them.
                let axis = DistanceAxis::new(&self.model.definition().learned.lenses, &longest);
                let canonical = longer.insert(self.canonical.with_axis(&axis));
                found = Marginals::new(canonical, self.model.definition().learned.features.len());
                batches = receivers.chunks(RECEIVERS_AT_ONCE);
                continue;
            }
            let canonical = longer.as_ref().unwrap_or(&self.canonical);
            let own = self.own_source(item, &nodes);
            Pass::new(self, canonical, (nodes.clone(), own), batch.len(), &rows, parts).add_to(&mut found);
        }
        Ok((longer, found))
    }

    /// How many sources and receivers an item has.
    pub(super) fn counts(&self, item: u32) -> (usize, usize) {
        let (nodes, receivers) = self.sources_and_receivers(item);
        (nodes.len(), receivers.len())
    }

    /// Calls `visit(receiver, source, slot, weight)` for every receiver and source of an item, and without a source for every shell, by
    /// a canonical form that has its distances.
    pub(super) fn each_weight(
        &self,
        item: u32,
        canonical: &Canonical,
        mut visit: impl FnMut(usize, Option<usize>, usize, f64),
    ) -> Result<()> {
        let (nodes, receivers) = self.sources_and_receivers(item);
        let seen_through = self.views_of(item)?;
        let mut search = DistanceSearch::default();
        let mut rows: Vec<Vec<u16>> = seen_through.iter().map(|_| Vec::new()).collect();
        for (batch, some) in receivers.chunks(RECEIVERS_AT_ONCE).enumerate() {
            for (view, rows) in seen_through.iter().zip(&mut rows) {
                view.rows(some, &mut search, rows)?;
            }
            let own = self.own_source(item, &nodes);
            let pass = Pass::new(self, canonical, (nodes.clone(), own), some.len(), &rows, false);
            let first = batch * RECEIVERS_AT_ONCE;
            pass.each_weight(|receiver, source, slot, weight| visit(first + receiver, source, slot, weight));
        }
        Ok(())
    }

    /// Calls `visit(source, terms)` for the sources of an item: for every feature the rhos that weigh its value, and how much of
    /// each it has.
    pub(super) fn each_node_terms(&self, item: u32, mut visit: impl FnMut(usize, &[NodeTerms])) {
        let (nodes, _) = self.sources_and_receivers(item);
        let (first, outputs) = (nodes.start, self.canonical.outputs());
        if self.model.learned().rho != Rho::PerFeature {
            let terms = level_terms(&self.canonical, &self.features, &nodes).into_iter().enumerate();
            return terms.for_each(|(node, own)| visit(node, &own));
        }
        self.each_source_terms(nodes, |some, terms| {
            for node in some {
                let value = |term: &SourceTerm| (term.rho as usize, terms.values(term, outputs)[0]);
                let of_feature = |own: &[SourceTerm]| (own[0].feature as usize, own.iter().map(value).collect());
                visit(node - first, &terms.of_node(node).map(of_feature).collect::<Vec<NodeTerms>>());
            }
        });
    }

    /// The graph of an item through every lens.
    fn views_of(&self, item: u32) -> Result<Cow<'_, [View]>> {
        if let Some(views) = &self.views {
            return Ok(Cow::Borrowed(views));
        }
        Ok(Cow::Owned(views(self.model, self.data, self.data.graph_of_item(item))?))
    }
}

/// A graph through every lens of a model.
fn views(model: &Model, data: &Dataset, graph: usize) -> Result<Vec<View>> {
    model.definition().learned.lenses.iter().map(|lens| View::new(data, graph, lens)).collect()
}

impl Marginals<'_> {
    fn new(canonical: &Canonical, features: usize) -> Self {
        let (slots, outputs) = (canonical.slots(), canonical.outputs());
        Marginals {
            axis: canonical.axis().clone(),
            slots,
            outputs,
            feature_distance: vec![0.0; features * slots * outputs],
            structure: vec![0.0; slots * outputs],
            by_receiver: Vec::new(),
            structure_by_receiver: Vec::new(),
            node_feature: Vec::new(),
            parts: None,
            unseen: BTreeSet::new(),
            receivers: vec![0; slots],
        }
    }

    /// Adds the structure term of one receiver, given the sizes of its shells and how much it counts by every lens.
    pub(super) fn add_structure(
        &mut self,
        canonical: &Canonical,
        counts: &[u32],
        weighting: ShellWeighting,
        pooled: &[f64],
    ) {
        let mut own = vec![0.0; self.outputs];
        for (slot, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.receivers[slot] += 1;
            let weight = pooled[self.axis.lens_of(slot)] * weighting.of_all(*count);
            for (c, beta) in canonical.structure()[slot].iter().enumerate() {
                self.structure[slot * self.outputs + c] += beta * weight;
                own[c] += beta * weight;
            }
        }
        self.structure_by_receiver.extend(own);
        self.by_receiver.extend(vec![0.0; self.outputs]);
    }
}
