//! Values of nodes with little support: few training items had them, or none.

use super::explainer::Explainer;
use crate::dataset::Feature;
use crate::files::{MISSING, Values};
use crate::model::{Bin, FeatureSchema, Support};
use crate::numbers::in_unit;

impl Explainer<'_> {
    /// For every source of the item at a position, the values of its features that few training items had; those of a node pair
    /// that is a source for itself may come last.
    pub fn weak_values(&self, position: usize) -> Vec<Vec<String>> {
        let data = self.data();
        let nodes = data.sources_of(data.graph_of_item(data.items()[position]));
        let own = self.own_source(data.items()[position], &nodes);
        let mut found = vec![Vec::new(); own.map_or(0, |own| own.place + 1).max(nodes.len())];
        for (feature, schema) in self.features.iter().zip(&self.model().learned().features) {
            // A feature pair has what its features have.
            if schema.pair.is_some() {
                continue;
            }
            let own = own.filter(|_| feature.own_only);
            let nodes = own.map_or(nodes.clone(), |own| own.node..own.node + 1);
            let mut add = |node: usize, words: String| {
                let place = own.map_or(node - nodes.start, |own| own.place);
                found[place].push(words);
            };
            match &feature.values {
                Values::Categories { codes, levels } => {
                    let weak: Vec<bool> = levels.iter().map(|level| is_weak_level(schema, level)).collect();
                    for node in nodes.clone() {
                        match codes[node] {
                            MISSING if is_little(schema.missing) => add(node, format!("{}: missing", feature.name)),
                            MISSING => {}
                            code if weak[code as usize] => {
                                add(node, format!("{}: {}", feature.name, levels[code as usize]));
                            }
                            _ => {}
                        }
                    }
                }
                numeric => {
                    for (node, value) in numeric.numbers_in(nodes.clone()) {
                        if is_weak_number(schema, value) {
                            add(node, format!("{} = {}", feature.name, value_words(feature, value)));
                        }
                    }
                }
            }
        }
        found
    }
}

/// A value of a numeric feature, for people.
pub(super) fn value_words(feature: &Feature, value: f64) -> String {
    if value.is_nan() { "missing".to_owned() } else { in_unit(value, feature.unit.as_deref()) }
}

fn is_little(support: Option<Support>) -> bool {
    support.is_none_or(|support| support.is_little())
}

fn is_weak_level(schema: &FeatureSchema, level: &str) -> bool {
    is_little(schema.level(level).map(|level| schema.levels[level].support))
}

fn is_weak_number(schema: &FeatureSchema, value: f64) -> bool {
    match schema.scale {
        _ if value.is_nan() => is_little(schema.missing),
        Some(scale) if !(scale.min..=scale.max).contains(&value) => true,
        _ if schema.bins.is_empty() => false,
        _ => Bin::support_at(&schema.bins, value).is_little(),
    }
}
