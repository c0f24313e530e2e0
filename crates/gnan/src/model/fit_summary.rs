//! The summary of a penalised fit: how many degrees of freedom every term took, and whether it differs from nothing.

use serde::{Deserialize, Serialize};

use crate::numbers::{number, significant};

/// A term differs from nothing where its p-value is below this.
pub const SIGNIFICANT: f64 = 0.05;
/// Fewer effective degrees of freedom than this are as good as none.
const NO_FREEDOM: f64 = 0.05;

/// A feature, or the structure, in the summary of a penalised fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TermSummary {
    /// The feature, or "structure".
    pub name: String,
    /// Effective degrees of freedom: as many free coefficients would be as flexible, all outputs together.
    pub edf: f64,
    /// The statistic of Wald's test (Wood 2013) that its effects are 0 everywhere; `None` where it could not be computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<f64>,
    /// The degrees of freedom of the test.
    #[serde(default)]
    pub rank: usize,
    /// The probability of such a statistic or a larger one where the effects are 0 everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// The mean size of its contributions over training items, compared with the average item, per shown output.
    pub importance: Vec<f64>,
    /// The standard deviation of that.
    pub importance_sd: Vec<f64>,
}

/// What a penalised fit says of its terms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitSummary {
    /// Effective degrees of freedom of all terms and the intercepts.
    pub edf: f64,
    /// The logarithm of the marginal likelihood.
    pub marginal: f64,
    /// The standard deviation of quantities around their outputs, per output; none for classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise_sd: Vec<f64>,
    /// The features, in the order of the model, and last the structure.
    pub terms: Vec<TermSummary>,
    /// The mean size of what all features contribute from each distance over training items, `[slots][shown outputs]`.
    pub by_distance: Vec<Vec<f64>>,
    /// The standard deviation of that.
    pub by_distance_sd: Vec<Vec<f64>>,
}

impl FitSummary {
    /// Whether its numbers can be those of a fit with so many shown outputs; a file may hold anything.
    pub(crate) fn is_usable(&self, outputs: usize) -> bool {
        let size = |value: &f64| value.is_finite() && *value >= 0.0;
        let row = |row: &Vec<f64>| row.len() == outputs && row.iter().all(size);
        let term = |term: &TermSummary| {
            let p_value = term.p_value.is_none_or(|p| (0.0..=1.0).contains(&p));
            size(&term.edf)
                && term.statistic.iter().all(size)
                && p_value
                && row(&term.importance)
                && row(&term.importance_sd)
        };
        self.edf.is_finite()
            && self.marginal.is_finite()
            && self.noise_sd.iter().all(size)
            && self.terms.iter().all(term)
            && self.by_distance.len() == self.by_distance_sd.len()
            && self.by_distance.iter().chain(&self.by_distance_sd).all(row)
    }
}

impl TermSummary {
    /// Whether its effects differ from 0 somewhere; `None` where that was not tested.
    pub fn is_significant(&self) -> Option<bool> {
        self.p_value.map(|p| p < SIGNIFICANT)
    }

    /// Its importance, on average over outputs.
    pub fn mean_importance(&self) -> f64 {
        self.importance.iter().sum::<f64>() / self.importance.len().max(1) as f64
    }

    /// The p-value in words: "p = 0.03", "p < 0.001".
    pub fn p_words(&self) -> Option<String> {
        self.p_value.map(|p| match p {
            _ if p < 0.001 => "p < 0.001".to_owned(),
            _ => format!("p = {}", significant(p, 2)),
        })
    }

    /// One sentence about the term, in the unit of the outputs.
    pub fn sentence(&self, unit: &str) -> String {
        let size = format!("it changes a prediction by {} {unit} on average", number(self.mean_importance()));
        match (self.is_significant(), self.p_words()) {
            (_, _) if self.edf < NO_FREEDOM => {
                "No effect: the data show none, and it was shrunk to nothing.".to_owned()
            }
            (Some(true), Some(p)) => format!("A reliable effect ({p}): {size}."),
            (Some(false), Some(p)) => format!("No reliable effect ({p}): chance alone would show as much."),
            _ => format!("Not tested, because it has too many coefficients: {size}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences() {
        let term =
            |edf: f64, p_value| TermSummary { edf, p_value, importance: vec![0.25, 0.75], ..TermSummary::default() };
        let sentence = |edf, p| term(edf, p).sentence("log-odds");
        assert_eq!(
            sentence(3.0, Some(1e-9)),
            "A reliable effect (p < 0.001): it changes a prediction by 0.5 log-odds on average."
        );
        assert_eq!(sentence(3.0, Some(0.31)), "No reliable effect (p = 0.31): chance alone would show as much.");
        assert_eq!(sentence(0.01, Some(0.31)), "No effect: the data show none, and it was shrunk to nothing.");
        assert_eq!(
            sentence(9.0, None),
            "Not tested, because it has too many coefficients: it changes a prediction by 0.5 log-odds on average."
        );
    }
}
