//! Novelty: what new data hold that training had not seen. Such values are predicted all the same, and counted.

use crate::dataset::{Dataset, Feature};
use crate::files::{MISSING, Values};
use crate::numbers::{counted, number};

use super::{Definition, FeatureSchema};

/// More features than this are counted, not named.
const MOST_SENTENCES: usize = 8;

/// Counts over the nodes of the graphs that predictions were made for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Novelty {
    /// One sentence per kind of novelty, each with its count.
    pub sentences: Vec<String>,
}

impl Novelty {
    /// Compares features with what the model knows of them.
    pub fn of_features(definition: &Definition, features: &[Feature], data: &Dataset) -> Novelty {
        let counted = data.counted_nodes();
        let noun = |feature: &Feature| match data.links() {
            Some(_) if feature.own_only => "node pair",
            Some(_) => "edge",
            None => "node",
        };
        let pairs = definition.learned.features.iter().zip(features);
        let mut sentences: Vec<String> = pairs
            .flat_map(|(schema, feature)| of_feature(schema, feature, counted.of(feature), noun(feature)))
            .collect();
        if let Some(more) = sentences.len().checked_sub(MOST_SENTENCES).filter(|more| *more > 1) {
            sentences.truncate(MOST_SENTENCES);
            sentences.push(format!("{more} more findings of this kind about other features"));
        }
        Novelty { sentences }
    }

    /// Adds distances that training had not seen, given the longest by every lens and whether any node is unreachable.
    pub fn add_distances(&mut self, definition: &Definition, longest: &[usize], has_unreachable: &[bool]) {
        let axis = definition.axis();
        for (lens, (longest, has_unreachable)) in longest.iter().zip(has_unreachable).enumerate() {
            let Some((unreachable, finite)) = definition.learned.receivers[axis.range(lens)].split_last() else {
                continue;
            };
            let by =
                if lens == 0 && axis.lenses() == 1 { String::new() } else { format!("{}: ", axis.lens_name(lens)) };
            let longest_seen = finite.iter().rposition(|count| *count > 0.0).unwrap_or(0);
            let penalised = definition.spec.is_penalised();
            // Nothing counts beyond a hop cap, whether training had it or not.
            let farthest = definition.reach().to.map_or(*longest, |to| to.min(*longest));
            if farthest > longest_seen && definition.learned.lenses[lens].bins.is_none() {
                let beyond = match penalised {
                    true => format!("effects beyond are those at distance {longest_seen}"),
                    false => "rho is extrapolated".to_owned(),
                };
                self.sentences.push(format!(
                    "{by}distances up to {farthest}; the longest in training was {longest_seen}: {beyond}"
                ));
            }
            if *has_unreachable && *unreachable == 0.0 && definition.reach().unreachable {
                let effect = if penalised { "they contribute 0" } else { "rho is extrapolated" };
                self.sentences.push(format!("{by}unreachable nodes, which training had not: {effect}"));
            }
        }
    }
}

fn of_feature(schema: &FeatureSchema, feature: &Feature, wanted: &[bool], noun: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let name = &schema.name;
    let missing = match &feature.values {
        Values::Categories { codes, levels } => {
            let seen = schema.seen_levels();
            let known: Vec<bool> = levels.iter().map(|level| seen.contains(level.as_str())).collect();
            let mut unseen = vec![0usize; levels.len()];
            let mut missing = 0usize;
            for (code, _) in codes.iter().zip(wanted).filter(|(_, wanted)| **wanted) {
                match known.get(*code as usize) {
                    Some(false) => unseen[*code as usize] += 1,
                    None if *code == MISSING => missing += 1,
                    _ => {}
                }
            }
            let total: usize = unseen.iter().sum();
            if total > 0 {
                let names: Vec<&str> = levels
                    .iter()
                    .zip(&unseen)
                    .filter(|(_, count)| **count > 0)
                    .map(|(level, _)| level.as_str())
                    .take(5)
                    .collect();
                let more = unseen.iter().filter(|count| **count > 0).count() - names.len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let effect = if schema.rare_level().is_some() { "counts as rare" } else { "contributes 0" };
                sentences.push(format!(
                    "{name}: {} with a category unseen in training ({}{more}), which {effect}",
                    counted(total, noun),
                    names.join(", ")
                ));
            }
            missing
        }
        numeric => {
            let values = numeric.numbers().filter(|(node, _)| wanted[*node]).map(|(_, value)| value);
            numbers(schema, values, noun, &mut sentences)
        }
    };
    if missing > 0 && schema.missing.is_none() {
        sentences.push(format!(
            "{name}: {} with a missing value, unseen in training, which contributes 0",
            counted(missing, noun)
        ));
    }
    sentences
}

/// Counts values out of range; returns how many are missing.
fn numbers(
    schema: &FeatureSchema,
    values: impl Iterator<Item = f64>,
    noun: &str,
    sentences: &mut Vec<String>,
) -> usize {
    let Some(scale) = &schema.scale else { return 0 };
    let (mut outside, mut missing) = (0usize, 0usize);
    for value in values {
        if value.is_nan() {
            missing += 1;
        } else if value < scale.min || value > scale.max {
            outside += 1;
        }
    }
    if outside > 0 {
        let beyond = match schema.effect_knots.is_some() {
            true => "the effect is that of the end of the range",
            false => "the curve is extrapolated",
        };
        sentences.push(format!(
            "{}: {} outside the training range {} to {}: {beyond}",
            schema.name,
            counted(outside, noun),
            number(scale.min),
            number(scale.max)
        ));
    }
    missing
}
