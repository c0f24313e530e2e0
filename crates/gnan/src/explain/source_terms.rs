//! Source terms: raw `f_k` at each value of a node; nodes with equal values share one row of results.
//!
//! Where they are few they are computed once for all nodes. Where they are not (a million nodes with a hundred distinct
//! numbers each), they are computed when they are needed, for few nodes at a time.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::dataset::Feature;
use crate::files::{MISSING, Values};
use crate::groups::group_offsets;

use super::canonical::{Canonical, FeatureValue, RawTerm};
use super::explainer::NodeTerms;

/// The terms of the source values of some nodes: one per feature, or one for each of the knots around a value.
#[derive(Default)]
pub(super) struct SourceTerms {
    /// The first of the nodes.
    first: usize,
    /// The terms of node `first + j` are `terms[from[j]..from[j + 1]]`.
    from: Vec<usize>,
    terms: Vec<SourceTerm>,
    /// `[rows, outputs]`: raw `f_k`.
    values: Vec<f64>,
    /// For every node that has a value unseen in training: that value.
    unseen: BTreeMap<usize, Vec<String>>,
}

/// One feature's term of the source value of a node.
#[derive(Clone, Copy, Default)]
pub(super) struct SourceTerm {
    /// The feature.
    pub feature: u32,
    /// Its row among the values.
    row: u32,
    /// The rho that it is multiplied by.
    pub rho: u32,
}

impl SourceTerms {
    /// The terms of these nodes, as sources of others.
    pub(super) fn of(canonical: &Canonical, features: &[Feature], nodes: Range<usize>) -> SourceTerms {
        SourceTerms::where_own(false, canonical, features, nodes)
    }

    /// The terms of a candidate node pair as a source for itself, by features that it alone has.
    pub(super) fn of_candidate(canonical: &Canonical, features: &[Feature], node: usize) -> SourceTerms {
        SourceTerms::where_own(true, canonical, features, node..node + 1)
    }

    fn where_own(own_only: bool, canonical: &Canonical, features: &[Feature], nodes: Range<usize>) -> SourceTerms {
        let mut terms = SourceTerms { first: nodes.start, ..SourceTerms::default() };
        let counting = features.iter().enumerate().filter(|(_, feature)| feature.own_only == own_only);
        let by_feature: Vec<Vec<(u32, SourceTerm)>> =
            counting.map(|(k, feature)| terms.look_up(canonical, k, feature, &nodes)).collect();
        terms.from = group_offsets(nodes.len(), by_feature.iter().flatten().map(|(node, _)| *node as usize));
        let mut next = terms.from.clone();
        terms.terms = vec![SourceTerm::default(); terms.from[nodes.len()]];
        for (node, term) in by_feature.into_iter().flatten() {
            terms.terms[next[node as usize]] = term;
            next[node as usize] += 1;
        }
        terms
    }

    /// The memory, in bytes, that the terms of so many values take, if no two are equal.
    pub(super) fn bytes(values: usize, outputs: usize) -> u64 {
        let each = size_of::<(u32, SourceTerm)>() + size_of::<SourceTerm>() + outputs * size_of::<f64>();
        (values as u64).saturating_mul(each as u64)
    }

    /// The terms of feature `k` of the nodes, each counted from the first.
    fn look_up(
        &mut self,
        canonical: &Canonical,
        k: usize,
        feature: &Feature,
        nodes: &Range<usize>,
    ) -> Vec<(u32, SourceTerm)> {
        let mut known: HashMap<u64, Option<Vec<SourceTerm>>> = HashMap::new();
        let mut found = Vec::new();
        let mut add = |terms: &mut Self, node: usize, key: u64, value: FeatureValue<'_>| {
            let own = known.entry(key).or_insert_with(|| {
                let made = canonical.raw_terms(k, value)?.into_iter().map(|RawTerm { values, rho }| {
                    let row = (terms.values.len() / values.len()) as u32;
                    terms.values.extend(values);
                    SourceTerm { feature: k as u32, row, rho: rho as u32 }
                });
                Some(made.collect())
            });
            match own {
                Some(own) => found.extend(own.iter().map(|term| ((node - nodes.start) as u32, *term))),
                None => {
                    let word = match value {
                        FeatureValue::Level(name) => name.to_owned(),
                        FeatureValue::Number(x) => x.to_string(),
                        FeatureValue::Missing => "missing".to_owned(),
                    };
                    terms.unseen.entry(node).or_default().push(format!("{}: {word}", feature.name));
                }
            }
        };
        let number = |x: f64| if x.is_nan() { FeatureValue::Missing } else { FeatureValue::Number(x) };
        match &feature.values {
            Values::Categories { codes, levels } => {
                for (node, code) in nodes.clone().zip(&codes[nodes.clone()]) {
                    let value = if *code == MISSING {
                        FeatureValue::Missing
                    } else {
                        FeatureValue::Level(&levels[*code as usize])
                    };
                    add(self, node, u64::from(*code), value);
                }
            }
            numeric => {
                for (node, value) in numeric.numbers_in(nodes.clone()) {
                    add(self, node, value.to_bits(), number(value));
                }
            }
        }
        found
    }

    /// The terms of a node, those of every feature together.
    pub(super) fn of_node(&self, node: usize) -> impl Iterator<Item = &[SourceTerm]> {
        let terms = &self.terms[self.from[node - self.first]..self.from[node - self.first + 1]];
        terms.chunk_by(|one, next| one.feature == next.feature)
    }

    /// Raw `f_k` of a term, per output.
    pub(super) fn values(&self, term: &SourceTerm, outputs: usize) -> &[f64] {
        &self.values[term.row as usize * outputs..][..outputs]
    }

    /// The values of these nodes that training had not seen.
    pub(super) fn unseen(&self, nodes: Range<usize>) -> impl Iterator<Item = &String> {
        self.unseen.range(nodes).flat_map(|(_, values)| values)
    }
}

/// The levels or knots that the values of nodes are made of, node after node and feature by feature: the curves of a penalised fit, and
/// their shares.
pub(super) fn level_terms(canonical: &Canonical, features: &[Feature], nodes: &Range<usize>) -> Vec<Vec<NodeTerms>> {
    let mut found: Vec<Vec<NodeTerms>> = vec![Vec::new(); nodes.len()];
    for (k, feature) in features.iter().enumerate().filter(|(_, feature)| !feature.own_only) {
        let mut add = |node: usize, value: FeatureValue<'_>| {
            if let Some(levels) = canonical.level_terms(k, value) {
                let curves = levels.into_iter().map(|(level, share)| (canonical.curve_of(k, level), share));
                found[node - nodes.start].push((k, curves.collect()));
            }
        };
        match &feature.values {
            Values::Categories { codes, levels } => {
                for (node, code) in nodes.clone().zip(&codes[nodes.clone()]) {
                    let missing = *code == MISSING;
                    let value = || FeatureValue::Level(&levels[*code as usize]);
                    add(node, if missing { FeatureValue::Missing } else { value() });
                }
            }
            numeric => {
                for (node, x) in numeric.numbers_in(nodes.clone()) {
                    add(node, if x.is_nan() { FeatureValue::Missing } else { FeatureValue::Number(x) });
                }
            }
        }
    }
    found
}

/// Number of values that these nodes have: the most terms there can be.
pub(super) fn value_count(features: &[Feature], nodes: &Range<usize>) -> usize {
    let values = |feature: &Feature| match &feature.values {
        Values::Categories { .. } => nodes.len(),
        numeric => numeric.numbers_in(nodes.clone()).len(),
    };
    features.iter().map(values).sum()
}
