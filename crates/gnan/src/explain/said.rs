//! What nodes say: raw `f_k` at each of their values; equal values share a word.
//!
//! Where it is small it is found once for all nodes. Where it is not (a million nodes with a hundred distinct numbers
//! each), it is found when it is needed, for few nodes at a time.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::dataset::Feature;
use crate::files::{MISSING, Values};

use super::canonical::{Canonical, Value};

/// What some nodes say about their features.
#[derive(Default)]
pub(super) struct Said {
    /// The first of the nodes.
    first: usize,
    /// What node `first + j` says is at `by[from[j]..from[j + 1]]`.
    from: Vec<usize>,
    by: Vec<Saying>,
    /// `[words, outputs]`: raw `f_k`.
    words: Vec<f64>,
    /// For every node that has a value unseen in training: that value.
    unseen: BTreeMap<usize, Vec<String>>,
}

/// What a node says about one feature.
#[derive(Clone, Copy, Default)]
pub(super) struct Saying {
    /// The feature.
    pub feature: u32,
    /// Row of the words.
    word: u32,
    /// The rho it is heard with.
    pub rho: u32,
}

impl Said {
    /// What these nodes say.
    pub(super) fn of(canonical: &Canonical, features: &[Feature], nodes: Range<usize>) -> Said {
        let mut said = Said { first: nodes.start, from: vec![0; nodes.len() + 1], ..Said::default() };
        let by_feature: Vec<Vec<(u32, Saying)>> =
            features.iter().enumerate().map(|(k, feature)| said.look_up(canonical, k, feature, &nodes)).collect();
        by_feature.iter().flatten().for_each(|(node, _)| said.from[*node as usize + 1] += 1);
        for node in 0..nodes.len() {
            said.from[node + 1] += said.from[node];
        }
        let mut next = said.from.clone();
        said.by = vec![Saying::default(); said.from[nodes.len()]];
        for (node, saying) in by_feature.into_iter().flatten() {
            said.by[next[node as usize]] = saying;
            next[node as usize] += 1;
        }
        said
    }

    /// The memory that it takes to find what so many values say, in bytes, if no two are equal.
    pub(super) fn bytes(values: usize, outputs: usize) -> u64 {
        let each = size_of::<(u32, Saying)>() + size_of::<Saying>() + outputs * size_of::<f64>();
        (values as u64).saturating_mul(each as u64)
    }

    /// What the nodes say about feature `k`, each counted from the first.
    fn look_up(
        &mut self,
        canonical: &Canonical,
        k: usize,
        feature: &Feature,
        nodes: &Range<usize>,
    ) -> Vec<(u32, Saying)> {
        let mut known: HashMap<u64, Option<Saying>> = HashMap::new();
        let mut found = Vec::new();
        let mut look = |said: &mut Self, node: usize, key: u64, value: Value<'_>| {
            let saying = *known.entry(key).or_insert_with(|| {
                let (words, rho) = canonical.said(k, value)?;
                let word = (said.words.len() / words.len()) as u32;
                said.words.extend(words);
                Some(Saying { feature: k as u32, word, rho: rho as u32 })
            });
            match saying {
                Some(saying) => found.push(((node - nodes.start) as u32, saying)),
                None => {
                    let word = match value {
                        Value::Level(name) => name.to_owned(),
                        Value::Number(x) => x.to_string(),
                        Value::Missing => "missing".to_owned(),
                    };
                    said.unseen.entry(node).or_default().push(format!("{}: {word}", feature.name));
                }
            }
        };
        let number = |x: f64| if x.is_nan() { Value::Missing } else { Value::Number(x) };
        match &feature.values {
            Values::Categories { codes, levels } => {
                for (node, code) in nodes.clone().zip(&codes[nodes.clone()]) {
                    let value = if *code == MISSING { Value::Missing } else { Value::Level(&levels[*code as usize]) };
                    look(self, node, u64::from(*code), value);
                }
            }
            Values::Numbers(values) => {
                for (node, value) in nodes.clone().zip(&values[nodes.clone()]) {
                    look(self, node, value.to_bits(), number(*value));
                }
            }
            Values::Sparse { rows, values, .. } => {
                let range = entries(rows, nodes);
                for (row, value) in rows[range.clone()].iter().zip(&values[range]) {
                    look(self, *row as usize, value.to_bits(), number(*value));
                }
            }
        }
        found
    }

    /// What a node says, feature after feature.
    pub(super) fn by(&self, node: usize) -> &[Saying] {
        &self.by[self.from[node - self.first]..self.from[node - self.first + 1]]
    }

    /// Raw `f_k` of what is said.
    pub(super) fn words(&self, saying: &Saying, outputs: usize) -> &[f64] {
        &self.words[saying.word as usize * outputs..][..outputs]
    }

    /// The values of these nodes that training had not seen.
    pub(super) fn unseen(&self, nodes: Range<usize>) -> impl Iterator<Item = &String> {
        self.unseen.range(nodes).flat_map(|(_, values)| values)
    }
}

/// Where the entries of some rows are among ascending rows.
fn entries(rows: &[u32], wanted: &Range<usize>) -> Range<usize> {
    let place = |node: usize| rows.partition_point(|row| (*row as usize) < node);
    place(wanted.start)..place(wanted.end)
}

/// Number of values that these nodes have: what they say, at most.
pub(super) fn value_count(features: &[Feature], nodes: &Range<usize>) -> usize {
    let values = |feature: &Feature| match &feature.values {
        Values::Categories { .. } | Values::Numbers(_) => nodes.len(),
        Values::Sparse { rows, .. } => entries(rows, nodes).len(),
    };
    features.iter().map(values).sum()
}
