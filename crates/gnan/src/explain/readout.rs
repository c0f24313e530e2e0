//! Predictions of a model with a readout, in two exact stages.
//!
//! ```text
//! output = base + sum over parts of g(input)       a part is the structure or a feature
//! input  = sum over sources and distances          of a part, in units of its spread over the training graphs
//! ```
//!
//! What makes up an input is never shown in the units of the output: a readout function may bend.

use serde::Serialize;

use super::explainer::Explainer;
use super::explanation::Explanation;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::shape::Piecewise;

/// The term of one part: its input to the readout function, and what that gives.
#[derive(Clone, Debug, Serialize)]
pub struct ReadoutTerm {
    /// The feature, or "structure".
    pub part: String,
    /// The input of its readout function.
    #[serde(rename = "before_readout")]
    pub input: f64,
    /// What that adds to every shown output.
    pub values: Vec<f64>,
}

/// One prediction of a model with a readout.
#[derive(Clone, Debug, Serialize)]
pub struct ReadoutExplanation {
    /// The id of the graph.
    pub id: String,
    /// Names of the shown outputs.
    pub outputs: Vec<String>,
    /// The prediction, as it is shown.
    pub prediction: Vec<f64>,
    /// The output bias, as it is shown.
    pub base: Vec<f64>,
    /// The structure, then every feature.
    pub terms: Vec<ReadoutTerm>,
    /// The inputs, taken apart: the only output is the sum of all inputs.
    #[serde(rename = "before_readout")]
    pub inputs: Explanation,
}

impl ReadoutExplanation {
    /// The `count` largest terms, largest first, and how many others there are with their sum, per output.
    pub fn largest(&self, count: usize) -> (Vec<&ReadoutTerm>, Option<(usize, Vec<f64>)>) {
        let size = |term: &ReadoutTerm| term.values.iter().map(|value| value.abs()).sum::<f64>();
        let mut terms: Vec<&ReadoutTerm> = self.terms.iter().collect();
        terms.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let others = terms.split_off(count.min(terms.len()));
        let mut sums = vec![0.0; self.outputs.len()];
        for term in &others {
            sums.iter_mut().zip(&term.values).for_each(|(sum, value)| *sum += value);
        }
        (terms, (!others.is_empty()).then_some((others.len(), sums)))
    }

    /// Whether both stages add up: the terms to the prediction, and the parts of the inputs to the inputs of the
    /// readout functions.
    pub fn adds_up(&self) -> bool {
        let close = |sum: f64, whole: f64, size: f64| (sum - whole).abs() <= 1e-5 * size.max(1.0);
        let outputs = (0..self.outputs.len()).all(|c| {
            let terms = || self.terms.iter().map(|term| term.values[c]).chain([self.base[c]]);
            close(terms().sum(), self.prediction[c], terms().map(f64::abs).sum())
        });
        let inputs: f64 = self.terms.iter().map(|term| term.input).sum();
        let size: f64 = self.terms.iter().map(|term| term.input.abs()).sum();
        outputs && self.inputs.adds_up() && close(inputs, self.inputs.prediction[0], size)
    }
}

impl Model {
    /// The readout functions, the structure's first: name and curve over the input.
    pub fn readout_curves(&self) -> Vec<(String, Piecewise)> {
        let names = self.definition().learned.features.iter().map(|feature| feature.name.clone());
        let parts = ["structure".to_owned()].into_iter().chain(names).enumerate();
        parts
            .take(self.parameters().readouts.len())
            .map(|(k, name)| (name, self.parameters().readouts.curve(k)))
            .collect()
    }

    /// Explains predictions of a model with a readout, those of the items at these positions.
    pub fn explain_readout(&self, data: &Dataset, positions: &[usize]) -> Result<Vec<ReadoutExplanation>> {
        let Some(before) = self.before_readout() else {
            return Err(Error::usage("the model has no readout"));
        };
        let explainer = Explainer::new(&before, data)?;
        let predicted = self.outputs_on(&data.subset(positions))?;
        let explained = explainer.explain(positions)?;
        let definition = self.definition();
        let rows = predicted.values.chunks_exact(predicted.width);
        let base: Vec<f64> = self.parameters().output_bias.iter().map(|bias| f64::from(*bias)).collect();
        let one = |(inputs, row): (Explanation, &[f32])| {
            let structure: f64 = inputs.structure_by_distance.iter().map(|row| row[0]).sum::<f64>() + inputs.base[0];
            let features = inputs.by_feature_and_distance.iter().map(|slots| slots.iter().map(|row| row[0]).sum());
            let names = ["structure".to_owned()].into_iter().chain(inputs.features.iter().cloned());
            let parts = [structure].into_iter().chain(features).zip(names).enumerate();
            let term = |(k, (input, part)): (usize, (f64, String))| ReadoutTerm {
                part,
                input,
                values: definition.shown(&self.parameters().readouts.evaluate(k, input)),
            };
            let terms: Vec<ReadoutTerm> = parts.map(term).collect();
            let raw: Vec<f64> = row.iter().map(|y| f64::from(*y)).collect();
            ReadoutExplanation {
                id: inputs.id.clone(),
                outputs: definition.shown_names(),
                prediction: definition.shown(&raw),
                base: definition.shown(&base),
                terms,
                inputs,
            }
        };
        Ok(explained.into_iter().zip(rows).map(one).collect())
    }
}
