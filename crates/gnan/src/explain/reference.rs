//! The reference of an explanation: what its terms are compared with.
//!
//! With the average item as reference the base is the mean output over the training items, and a term is shown as its
//! difference from its own mean over them: an intercept that every item has is no reason for any of them. Parts below an
//! item (nodes, distances) have no mean of their own; one row, the average item, reconciles them with the features.

use serde::Serialize;

use super::canonical::Canonical;
use super::explanation::Explanation;

/// What terms are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// The average training item; zero where a model does not know it.
    #[default]
    Average,
    /// Nothing: terms are as they are computed, and the base is the output bias.
    Zero,
}

/// The average training item, for the outputs as they are shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AverageParts {
    /// Mean contribution of every feature, `[features][outputs]`.
    pub features: Vec<Vec<f64>>,
    /// The part of it that a node's own value contributes to its own output.
    pub own: Vec<Vec<f64>>,
    /// Mean structure term, per output.
    pub structure: Vec<f64>,
}

impl AverageParts {
    /// What all features together contribute to an output.
    pub fn all_features(&self, output: usize) -> f64 {
        self.features.iter().map(|values| values[output]).sum()
    }
}

impl Canonical {
    /// The average training item, where the model knows it.
    pub fn average(&self) -> Option<AverageParts> {
        let definition = self.definition();
        let average = definition.learned.average.as_ref()?;
        let trained = definition.axis();
        let outputs = self.outputs();
        let centre = |k: usize, trained_slot: usize| self.centre_at(k, trained.slot_on(self.axis(), trained_slot));
        // Means are known before anything is centred.
        let (mut features, mut own) = (average.features.clone(), average.own.clone());
        let mut structure = average.bias.clone();
        for k in 0..features.len() {
            for (slot, weight) in average.structure.iter().enumerate() {
                for (c, centre) in centre(k, slot).iter().enumerate() {
                    features[k][c] -= weight * centre;
                    structure[c] += weight * centre;
                    if trained.distance(slot) == Some(0) {
                        own[k][c] -= weight * centre;
                    }
                }
            }
        }
        for c in 0..outputs {
            structure[c] -= self.output_bias()[c] - self.empty_output()[c];
        }
        let shown = |rows: Vec<Vec<f64>>| rows.iter().map(|values| definition.shown(values)).collect();
        Some(AverageParts { features: shown(features), own: shown(own), structure: definition.shown(&structure) })
    }
}

impl Explanation {
    /// The same explanation with another reference.
    pub fn relative_to(mut self, reference: Reference) -> Explanation {
        self.reference = reference;
        self
    }

    /// The average item, where terms are compared with it.
    pub fn compared_with(&self) -> Option<&AverageParts> {
        self.average.as_ref().filter(|_| self.reference == Reference::Average)
    }

    /// The base of an output: its mean over the training items, or the output bias.
    pub fn reference_base(&self, output: usize) -> f64 {
        let average = self.compared_with();
        self.base[output] + average.map_or(0.0, |average| average.structure[output] + average.all_features(output))
    }

    /// The structure term of an output, compared with the reference.
    pub fn structure_difference(&self, output: usize) -> f64 {
        self.structure(output) - self.compared_with().map_or(0.0, |average| average.structure[output])
    }

    /// Contribution of every feature to an output, compared with the reference.
    pub fn feature_differences(&self, output: usize) -> Vec<f64> {
        let mut amounts = self.by_feature(output);
        if let Some(average) = self.compared_with() {
            amounts.iter_mut().zip(&average.features).for_each(|(amount, mean)| *amount -= mean[output]);
        }
        amounts
    }

    /// The contributions of a node's own values and those of all other nodes apart; `None` for a graph.
    pub fn own_and_others(&self, output: usize) -> Option<OwnAndOthers> {
        if !self.by_receiver.is_empty() || self.nodes.is_empty() {
            return None;
        }
        let itself: Vec<usize> = (0..self.axis.lenses()).map(|lens| self.axis.range(lens).start).collect();
        let own = self.by_feature_and_distance.iter();
        let own: Vec<Vec<f64>> = own.map(|slots| itself.iter().map(|slot| slots[*slot][output]).collect()).collect();
        let average = |k: usize| self.compared_with().map_or(0.0, |average| average.own[k][output]);
        let others = self.feature_differences(output).into_iter().enumerate();
        let others = others.map(|(k, whole)| whole + average(k) - own[k].iter().sum::<f64>()).collect();
        let average_item = self.compared_with().map(|_| -(0..own.len()).map(average).sum::<f64>());
        Some(OwnAndOthers { own, others, average_item })
    }
}

/// What a node's own values and those of other nodes contribute to an output, by feature; with structure and base they add up
/// to the prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnAndOthers {
    /// The effect of the node's own value at distance 0, `[features][lenses]`: the same number as in figures of effects.
    pub own: Vec<Vec<f64>>,
    /// What all other nodes contribute, compared with the reference.
    pub others: Vec<f64>,
    /// Less what own values contribute on average, where terms are compared with the average item.
    pub average_item: Option<f64>,
}
