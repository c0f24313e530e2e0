//! The parts of a prediction by source and feature: all of them where they are few, else the largest and the sum of the
//! others.

use serde::Serialize;

use crate::model::Definition;

use super::explanation::Contribution;

/// Most parts by source and feature that are listed unless fewer are wanted.
pub const MOST_PARTS: usize = 50_000;

/// What the parts by source and feature add up to that are not listed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unlisted {
    /// How many they are.
    pub count: usize,
    /// Their sum, per output.
    pub values: Vec<f64>,
    /// The sum of their sizes, per output.
    pub sizes: Vec<f64>,
    /// `[sources, outputs]`: what every source contributes, listed parts included.
    #[serde(skip)]
    pub by_node: Vec<f64>,
}

/// Gathers parts, source after source and feature after feature.
pub(super) struct Parts<'a> {
    definition: &'a Definition,
    /// Most parts that are listed.
    most: usize,
    listed: Vec<(f64, Contribution)>,
    /// Parts of less than this size are not among the largest.
    least: f64,
    unlisted: Option<Unlisted>,
    /// The part at hand, as it is shown.
    shown: Vec<f64>,
}

impl<'a> Parts<'a> {
    /// Gathers so many parts of so many sources, of which at most some are listed.
    pub(super) fn new(definition: &'a Definition, count: usize, sources: usize, most: usize) -> Parts<'a> {
        let outputs = definition.shown_names().len();
        let unlisted = (count > most).then(|| Unlisted {
            count: 0,
            values: vec![0.0; outputs],
            sizes: vec![0.0; outputs],
            by_node: vec![0.0; sources * outputs],
        });
        Parts { definition, most, listed: Vec::new(), least: 0.0, unlisted, shown: Vec::new() }
    }

    /// Room for the parts of some sources that come after those so far: what is too small already is not listed.
    pub(super) fn after(&self, mut later: Parts<'a>) -> Parts<'a> {
        later.least = self.least;
        later
    }

    /// Adds a part of the source of this number, given for the model's own outputs.
    pub(super) fn add(&mut self, node: usize, feature: usize, values: &[f64]) {
        let mut shown = std::mem::take(&mut self.shown);
        self.definition.show_into(values, &mut shown);
        let size: f64 = shown.iter().map(|value| value.abs()).sum();
        if let Some(unlisted) = &mut self.unlisted {
            let sums = &mut unlisted.by_node[node * shown.len()..][..shown.len()];
            sums.iter_mut().zip(&shown).for_each(|(sum, value)| *sum += value);
        }
        // What is not a number is listed.
        if size < self.least || (self.most == 0 && self.unlisted.is_some()) {
            self.leave_out(&shown);
        } else {
            self.listed.push((size, Contribution { node, feature, values: shown.clone() }));
            if self.listed.len() >= self.most.saturating_mul(2) {
                self.trim();
            }
        }
        self.shown = shown;
    }

    /// Takes over what was gathered of the sources from this number on, which come after those so far.
    pub(super) fn append(&mut self, first: usize, other: Parts<'_>) {
        for (size, mut part) in other.listed {
            part.node += first;
            self.listed.push((size, part));
        }
        if let (Some(own), Some(other)) = (&mut self.unlisted, other.unlisted) {
            own.count += other.count;
            let sums = own.values.iter_mut().chain(&mut own.sizes);
            sums.zip(other.values.iter().chain(&other.sizes)).for_each(|(sum, value)| *sum += value);
            let outputs = own.values.len();
            own.by_node[first * outputs..][..other.by_node.len()].copy_from_slice(&other.by_node);
        }
        self.trim();
    }

    fn leave_out(&mut self, values: &[f64]) {
        let unlisted = self.unlisted.as_mut().expect("parts are left out only where the others are summed up");
        unlisted.count += 1;
        for ((sum, size), value) in unlisted.values.iter_mut().zip(&mut unlisted.sizes).zip(values) {
            *sum += value;
            *size += value.abs();
        }
    }

    /// Leaves out all but the largest; of equal ones the first stay.
    fn trim(&mut self) {
        if self.listed.len() <= self.most || self.unlisted.is_none() {
            return;
        }
        let place = |part: &Contribution| (part.node, part.feature);
        self.listed.select_nth_unstable_by(self.most - 1, |(a, one), (b, other)| {
            b.total_cmp(a).then(place(one).cmp(&place(other)))
        });
        self.least = self.listed[self.most - 1].0;
        let mut others = self.listed.split_off(self.most);
        others.sort_unstable_by_key(|(_, part)| place(part));
        others.iter().for_each(|(_, part)| self.leave_out(&part.values));
    }

    /// The parts that are listed, by source and feature, and what is known of the others.
    pub(super) fn finish(mut self) -> (Vec<Contribution>, Option<Unlisted>) {
        self.trim();
        let mut listed: Vec<Contribution> = self.listed.into_iter().map(|(_, part)| part).collect();
        listed.sort_by_key(|part| (part.node, part.feature));
        (listed, self.unlisted)
    }
}
