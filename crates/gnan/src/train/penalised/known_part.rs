//! What is known of effects before they are fitted: those of a candidate that is much alike.

use super::columns::Columns;
use super::estimate::PartEstimate;

/// Bounds of the strengths with which another power of the spread starts.
const STRENGTHS: [f64; 2] = [1e-3, 1e4];

/// What is known of the outputs that are fitted together.
#[derive(Default)]
pub(super) struct KnownPart {
    /// The intercept of every output, on the scale of the fit.
    intercepts: Vec<f64>,
    /// Of the first groups of curves.
    groups: Vec<KnownGroup>,
    /// The dispersion of the family.
    pub variance: Option<f64>,
}

struct KnownGroup {
    lambdas: Vec<f64>,
    /// The effects of its columns, by output.
    effects: Vec<Vec<f64>>,
}

impl KnownPart {
    /// What an estimate of coefficients says of the groups that are kept; nothing where there is none.
    pub(super) fn of(part: &PartEstimate, columns: &Columns, kept: impl Fn(Option<usize>) -> bool) -> KnownPart {
        let Some(estimate) = &part.primal else { return KnownPart::default() };
        let effects = |of: std::ops::Range<usize>| -> Vec<Vec<f64>> {
            let factors = &part.factors[of.clone()];
            let outputs = part.coefficients.chunks_exact(part.factors.len());
            outputs.map(|own| own[of.clone()].iter().zip(factors).map(|(b, factor)| b * factor).collect()).collect()
        };
        let groups = columns.map.groups.iter().zip(&estimate.lambdas).filter(|(group, _)| kept(group.feature));
        KnownPart {
            intercepts: effects(0..1).concat(),
            groups: groups
                .map(|(group, lambdas)| KnownGroup { lambdas: lambdas.clone(), effects: effects(group.coefficients()) })
                .collect(),
            variance: Some(estimate.variance),
        }
    }

    /// The same for columns that are divided by another power of their spread, which need about the same smoothness; what is nearly
    /// gone may come back.
    pub(super) fn of_another_power(part: &PartEstimate, columns: &Columns) -> KnownPart {
        let mut known = KnownPart::of(part, columns, |_| true);
        for lambda in known.groups.iter_mut().flat_map(|group| &mut group.lambdas) {
            *lambda = lambda.clamp(STRENGTHS[0], STRENGTHS[1]);
        }
        known
    }

    /// The strengths of the first groups.
    pub(super) fn lambdas(&self) -> Vec<Vec<f64>> {
        self.groups.iter().map(|group| group.lambdas.clone()).collect()
    }

    /// The coefficients of columns with these factors, 0 where their effects are not known; `None` where none is.
    pub(super) fn coefficients(&self, columns: &Columns, factors: &[f64]) -> Option<Vec<f64>> {
        if self.intercepts.is_empty() {
            return None;
        }
        let mut found = vec![0.0; self.intercepts.len() * columns.count];
        for (output, found) in found.chunks_exact_mut(columns.count).enumerate() {
            found[0] = self.intercepts[output] / factors[0];
            for (group, known) in columns.map.groups.iter().zip(&self.groups) {
                let own = group.coefficients();
                if known.effects[output].len() == own.len() {
                    let coefficients = known.effects[output].iter().zip(&factors[own.clone()]);
                    found[own].iter_mut().zip(coefficients).for_each(|(to, (effect, factor))| *to = effect / factor);
                }
            }
        }
        Some(found)
    }
}
