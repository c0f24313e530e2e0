//! The explainer: takes predictions of one model on one data set apart, any number of them.
//!
//! What every node says about each feature is looked up once; a prediction then needs the distances to its receivers
//! and one pass over the pairs of source and receiver.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::dataset::{Dataset, Feature, Outcome};
use crate::distance::{RECEIVERS_AT_ONCE, Search, UNREACHABLE};
use crate::error::{Error, Result};
use crate::files::{Kind, MISSING, Task, Values};
use crate::lens::{Axis, Pool, View};
use crate::metric::probabilities;
use crate::model::Model;

use super::canonical::{Canonical, Value};
use super::explanation::{Contribution, Explanation};

/// Explains predictions of a model on a data set.
pub struct Explainer<'a> {
    model: &'a Model,
    data: &'a Dataset,
    canonical: Canonical,
    /// What node `j` says is at `said_by[said_from[j]..said_from[j + 1]]`.
    said_from: Vec<usize>,
    said_by: Vec<Said>,
    /// `[distinct values, outputs]`: raw `f_k`.
    words: Vec<f64>,
    /// For every node that has a value unseen in training: that value.
    unseen: HashMap<usize, Vec<String>>,
    /// The first categorical feature, which tells nodes apart for people.
    label: Option<Feature>,
    /// The graph through every lens, where there is one alone.
    views: Option<Vec<View>>,
}

/// What a node says about one feature.
#[derive(Clone, Copy)]
struct Said {
    feature: u32,
    /// Row of `words`.
    word: u32,
    /// The rho it is heard with.
    rho: u32,
}

/// What the pass over one prediction's sources leaves, for the model's own outputs.
pub(super) struct Marginals {
    axis: Axis,
    slots: usize,
    outputs: usize,
    /// `[features, slots, outputs]`
    pub feature_distance: Vec<f64>,
    /// `[slots, outputs]`
    pub structure: Vec<f64>,
    /// `[receivers, outputs]`, and each one's share of the structure term.
    heard: Vec<f64>,
    heard_structure: Vec<f64>,
    /// `[what the nodes of the graph say, outputs]`, where it is wanted.
    node_feature: Vec<f64>,
    receivers: Vec<usize>,
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
        let features = model.features_of(data)?;
        let mut explainer = Explainer {
            model,
            data,
            canonical: model.canonical(),
            said_from: Vec::new(),
            said_by: Vec::new(),
            words: Vec::new(),
            unseen: HashMap::new(),
            label: features.iter().find(|feature| feature.kind == Kind::Categorical && feature.pair.is_none()).cloned(),
            views: if data.graph_count() == 1 { Some(views(model, data, 0)?) } else { None },
        };
        let mut by_feature: Vec<Vec<(u32, Said)>> = Vec::new();
        for (k, feature) in features.iter().enumerate() {
            by_feature.push(explainer.look_up(k, feature));
        }
        let mut counts = vec![0; data.node_count() + 1];
        by_feature.iter().flatten().for_each(|(node, _)| counts[*node as usize + 1] += 1);
        for node in 0..data.node_count() {
            counts[node + 1] += counts[node];
        }
        let mut next = counts.clone();
        explainer.said_by = vec![Said { feature: 0, word: 0, rho: 0 }; counts[data.node_count()]];
        for (node, said) in by_feature.into_iter().flatten() {
            explainer.said_by[next[node as usize]] = said;
            next[node as usize] += 1;
        }
        explainer.said_from = counts;
        Ok(explainer)
    }

    /// The canonical form of the model.
    pub fn canonical(&self) -> &Canonical {
        &self.canonical
    }

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// The data set.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// What the nodes say about feature `k`; equal values share a word.
    fn look_up(&mut self, k: usize, feature: &Feature) -> Vec<(u32, Said)> {
        let mut known: HashMap<u64, Option<Said>> = HashMap::new();
        let mut found = Vec::new();
        let mut look = |explainer: &mut Self, node: usize, key: u64, value: Value<'_>| {
            let said = *known.entry(key).or_insert_with(|| {
                let (words, rho) = explainer.canonical.said(k, value)?;
                let word = (explainer.words.len() / words.len()) as u32;
                explainer.words.extend(words);
                Some(Said { feature: k as u32, word, rho: rho as u32 })
            });
            match said {
                Some(said) => found.push((node as u32, said)),
                None => {
                    let word = match value {
                        Value::Level(name) => name.to_owned(),
                        Value::Number(x) => x.to_string(),
                        Value::Missing => "missing".to_owned(),
                    };
                    explainer.unseen.entry(node).or_default().push(format!("{}: {word}", feature.name));
                }
            }
        };
        let number = |x: f64| if x.is_nan() { Value::Missing } else { Value::Number(x) };
        match &feature.values {
            Values::Categories { codes, levels } => {
                for (node, code) in codes.iter().enumerate() {
                    let value = if *code == MISSING { Value::Missing } else { Value::Level(&levels[*code as usize]) };
                    look(self, node, u64::from(*code), value);
                }
            }
            Values::Numbers(values) => {
                for (node, value) in values.iter().enumerate() {
                    look(self, node, value.to_bits(), number(*value));
                }
            }
            Values::Sparse { rows, values, .. } => {
                for (row, value) in rows.iter().zip(values) {
                    look(self, *row as usize, value.to_bits(), number(*value));
                }
            }
        }
        found
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
        let description = self.model.description();
        let sum = |values: &[f64]| {
            let mut sums = vec![0.0; found.outputs];
            for row in values.chunks_exact(found.outputs) {
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
            description.shown(&sums)
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
        let (nodes, _) = self.listeners(item);
        let (canonical, found) = self.marginals(item, true)?;
        let canonical = canonical.as_ref().unwrap_or(&self.canonical);
        let description = self.model.description();
        let width = self.model.outputs();
        let show = |values: &[f64]| description.shown(values);
        let rows = |values: &[f64]| values.chunks_exact(width).map(show).collect::<Vec<_>>();
        let raw: Vec<f64> = predicted.iter().map(|y| f64::from(*y)).collect();
        let of_graph = |values: &[f64]| if data.task() == Task::Node { Vec::new() } else { rows(values) };
        let mut unseen: Vec<String> =
            nodes.clone().flat_map(|node| self.unseen.get(&node)).flatten().cloned().collect();
        unseen.sort();
        unseen.dedup();
        Ok(Explanation {
            id: data.item_id(item),
            outputs: description.shown_names(),
            prediction: show(&raw),
            probabilities: match description.outcome {
                Outcome::Binary | Outcome::Multiclass => probabilities(predicted),
                Outcome::MultiLabel => predicted.iter().map(|y| probabilities(&[*y])[1]).collect(),
                Outcome::Regression | Outcome::MultiRegression => Vec::new(),
            },
            base: show(if nodes.is_empty() { canonical.empty_output() } else { canonical.output_bias() }),
            axis: found.axis.clone(),
            structure_by_distance: rows(&found.structure),
            features: description.features.iter().map(|feature| feature.name.clone()).collect(),
            nodes: nodes.clone().map(|node| data.node_id(node)).collect(),
            labels: match data.links() {
                Some(_) => self.distance_labels(item)?,
                None => self.labels(nodes.clone()),
            },
            by_node_and_feature: (self.said_in(nodes).zip(found.node_feature.chunks_exact(width)))
                .map(|((node, said), values)| Contribution {
                    node,
                    feature: said.feature as usize,
                    values: show(values),
                })
                .collect(),
            by_feature_and_distance: found.feature_distance.chunks_exact(found.slots * width).map(rows).collect(),
            by_receiver: of_graph(&found.heard),
            structure_by_receiver: of_graph(&found.heard_structure),
            receivers: match data.links() {
                // A link that is a message edge is at distance 0 of itself and not heard.
                Some(_) => found.receivers.iter().enumerate().map(|(slot, heard)| heard * slot.min(1)).collect(),
                None => found.receivers,
            },
            unseen,
        })
    }

    fn labels(&self, nodes: Range<usize>) -> Vec<String> {
        match self.label.as_ref().map(|feature| &feature.values) {
            Some(Values::Categories { codes, levels }) => {
                nodes.map(|node| levels.get(codes[node] as usize).cloned().unwrap_or_default()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// How far the message edges are from a pair: the same ends make several edges.
    fn distance_labels(&self, item: u32) -> Result<Vec<String>> {
        let (_, receivers) = self.listeners(item);
        let mut row = Vec::new();
        for view in self.views_of(item)?.iter() {
            view.rows(&receivers, &mut Search::default(), &mut row)?;
        }
        let label = |distance: &u16| match *distance {
            UNREACHABLE => "unreachable".to_owned(),
            0 => "itself, not heard".to_owned(),
            distance => format!("distance {distance}"),
        };
        Ok(row.iter().map(label).collect())
    }

    /// The nodes of an item's graph that are heard, and which of them are receivers (counted within the graph).
    fn listeners(&self, item: u32) -> (Range<usize>, Vec<u32>) {
        match self.data.task() {
            Task::Graph => {
                let nodes = self.data.nodes_of(item as usize);
                let receivers = (0..nodes.len() as u32).collect();
                (nodes, receivers)
            }
            Task::Node => {
                let nodes = self.data.sources_of(self.data.graph_of(item as usize));
                let receiver = item - nodes.start as u32;
                (nodes, vec![receiver])
            }
        }
    }

    /// The marginals of one item; with a canonical form of its own where its distances are longer than training's.
    pub(super) fn marginals(&self, item: u32, parts: bool) -> Result<(Option<Canonical>, Marginals)> {
        let (nodes, receivers) = self.listeners(item);
        let seen_through = self.views_of(item)?;
        let mut search = Search::default();
        let mut rows: Vec<Vec<u16>> = seen_through.iter().map(|_| Vec::new()).collect();
        let mut longer: Option<Canonical> = None;
        let mut found = Marginals::new(&self.canonical, self.model.description().features.len());
        let mut batches = receivers.chunks(RECEIVERS_AT_ONCE);
        while let Some(batch) = batches.next() {
            let mut longest = found.axis.longest();
            for ((view, rows), longest) in seen_through.iter().zip(&mut rows).zip(&mut longest) {
                *longest = usize::from(view.rows(batch, &mut search, rows)?.finite).max(*longest);
            }
            if longest != found.axis.longest() {
                // Longer distances than any so far: all over again with room for them.
                let axis = Axis::new(&self.model.description().lenses, &longest);
                let canonical = longer.insert(self.canonical.with_axis(&axis));
                found = Marginals::new(canonical, self.model.description().features.len());
                batches = receivers.chunks(RECEIVERS_AT_ONCE);
                continue;
            }
            let canonical = longer.as_ref().unwrap_or(&self.canonical);
            self.add_receivers(canonical, nodes.clone(), batch.len(), &rows, parts, &mut found);
        }
        Ok((longer, found))
    }

    /// The graph of an item through every lens.
    fn views_of(&self, item: u32) -> Result<Cow<'_, [View]>> {
        if let Some(views) = &self.views {
            return Ok(Cow::Borrowed(views));
        }
        let graph = match self.data.task() {
            Task::Graph => item as usize,
            Task::Node => self.data.graph_of(item as usize),
        };
        Ok(Cow::Owned(views(self.model, self.data, graph)?))
    }

    /// What the nodes of a graph say, in their order, each with the number of its node within the graph.
    fn said_in(&self, nodes: Range<usize>) -> impl Iterator<Item = (usize, &Said)> {
        nodes.enumerate().flat_map(|(source, node)| {
            self.said_by[self.said_from[node]..self.said_from[node + 1]].iter().map(move |said| (source, said))
        })
    }

    /// Adds what some receivers hear, given their distance rows by every lens.
    fn add_receivers(
        &self,
        canonical: &Canonical,
        nodes: Range<usize>,
        batch: usize,
        rows: &[Vec<u16>],
        parts: bool,
        found: &mut Marginals,
    ) {
        let (slots, outputs, normalise) = (found.slots, found.outputs, self.model.description().normalise);
        if parts {
            found.node_feature.resize((self.said_from[nodes.end] - self.said_from[nodes.start]) * outputs, 0.0);
        }
        let axis = found.axis.clone();
        // What a receiver hears by a lens counts this much.
        let pooled: Vec<f64> = (self.model.description().lenses.iter())
            .map(|lens| if lens.pool == Pool::Mean { 1.0 / nodes.len().max(1) as f64 } else { 1.0 })
            .collect();
        let slot_of = |lens: usize, receiver: usize, source: usize| {
            let distance = rows[lens][receiver * nodes.len() + source];
            axis.slot(lens, (distance != UNREACHABLE).then_some(usize::from(distance)))
        };
        let mut counts = vec![0u32; batch * slots];
        for lens in 0..rows.len() {
            for (receiver, counts) in counts.chunks_exact_mut(slots).enumerate() {
                (0..nodes.len()).for_each(|source| counts[slot_of(lens, receiver, source)] += 1);
            }
        }
        let share = |lens: usize, receiver: usize, slot: usize| {
            pooled[lens] * if normalise { 1.0 / f64::from(counts[receiver * slots + slot]) } else { 1.0 }
        };
        let first = found.heard.len() / outputs;
        for counts in counts.chunks_exact(slots) {
            found.add_structure(canonical, counts, normalise, &pooled);
        }
        let mut weights = vec![0.0; slots];
        let mut touched = Vec::new();
        let mut spoken = vec![0.0; slots * outputs];
        for source in 0..nodes.len() {
            // W_jl over these receivers.
            for lens in 0..rows.len() {
                for receiver in 0..batch {
                    let slot = slot_of(lens, receiver, source);
                    if weights[slot] == 0.0 {
                        touched.push(slot);
                    }
                    weights[slot] += share(lens, receiver, slot);
                }
            }
            touched.sort_unstable();
            let node = nodes.start + source;
            let first_said = self.said_from[node] - self.said_from[nodes.start];
            for (place, said) in self.said_by[self.said_from[node]..self.said_from[node + 1]].iter().enumerate() {
                let (k, words) = (said.feature as usize, &self.words[said.word as usize * outputs..][..outputs]);
                let own = if parts { (first_said + place) * outputs..(first_said + place + 1) * outputs } else { 0..0 };
                let sums = &mut found.node_feature[own];
                for slot in &touched {
                    let (rho, centre) = canonical.factors(k, said.rho as usize, *slot);
                    let cell = &mut found.feature_distance[(k * slots + slot) * outputs..][..outputs];
                    let spoken = &mut spoken[slot * outputs..][..outputs];
                    for c in 0..outputs {
                        let product = words[c] * rho[c] - centre[c];
                        let part = product * weights[*slot];
                        cell[c] += part;
                        if parts {
                            sums[c] += part;
                            spoken[c] += product;
                        }
                    }
                }
            }
            if parts {
                for lens in 0..rows.len() {
                    for receiver in 0..batch {
                        let slot = slot_of(lens, receiver, source);
                        let share = share(lens, receiver, slot);
                        for c in 0..outputs {
                            found.heard[(first + receiver) * outputs + c] += spoken[slot * outputs + c] * share;
                        }
                    }
                }
            }
            for slot in touched.drain(..) {
                weights[slot] = 0.0;
                spoken[slot * outputs..][..outputs].fill(0.0);
            }
        }
    }
}

/// A graph through every lens of a model.
fn views(model: &Model, data: &Dataset, graph: usize) -> Result<Vec<View>> {
    model.description().lenses.iter().map(|lens| View::new(data, graph, lens)).collect()
}

impl Marginals {
    fn new(canonical: &Canonical, features: usize) -> Marginals {
        let (slots, outputs) = (canonical.slots(), canonical.outputs());
        Marginals {
            axis: canonical.axis().clone(),
            slots,
            outputs,
            feature_distance: vec![0.0; features * slots * outputs],
            structure: vec![0.0; slots * outputs],
            heard: Vec::new(),
            heard_structure: Vec::new(),
            node_feature: Vec::new(),
            receivers: vec![0; slots],
        }
    }

    /// Adds the structure term of one receiver, given the sizes of its shells and how much it counts by every lens.
    fn add_structure(&mut self, canonical: &Canonical, counts: &[u32], normalise: bool, pooled: &[f64]) {
        let mut own = vec![0.0; self.outputs];
        for (slot, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.receivers[slot] += 1;
            let heard = pooled[self.axis.lens_of(slot)] * if normalise { 1.0 } else { f64::from(*count) };
            for (c, beta) in canonical.structure()[slot].iter().enumerate() {
                self.structure[slot * self.outputs + c] += beta * heard;
                own[c] += beta * heard;
            }
        }
        self.heard_structure.extend(own);
        self.heard.extend(vec![0.0; self.outputs]);
    }

    /// The distances.
    pub(super) fn axis(&self) -> &Axis {
        &self.axis
    }

    /// Number of slots.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }
}
