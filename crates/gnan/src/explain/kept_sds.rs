//! A posterior without covariances: of very many coefficients only the standard deviations of effects are kept with a model.

use std::collections::BTreeSet;

use super::effect_sums::EffectSums;
use crate::model::{CoefficientMap, CoefficientSum, Covariance, Model, Posterior, PosteriorPart};

impl Model {
    /// The same model with the standard deviations of its effects in place of the covariances of its coefficients.
    pub(crate) fn without_covariances(self) -> Model {
        let Some(posterior) = self.posterior().cloned() else { return self };
        let canonical = self.canonical();
        let Some(sums) = EffectSums::new(&canonical) else { return self };
        let map = CoefficientMap::new(self.definition());
        let axis = canonical.axis();
        // A coefficient is an effect in one slot or several, all with the same standard deviation; that of a smooth curve is one of
        // those that an effect is a mean of.
        let mut effects: Vec<Option<Vec<f64>>> = vec![None; map.count];
        let features = &self.learned().features;
        for slot in 0..axis.slots() {
            let lens = axis.lens_of(slot);
            for (own, _) in map.coefficients(0, lens, slot) {
                effects[own].get_or_insert_with(|| sums.structure_sd(&canonical, slot));
            }
            let mut groups: Vec<(Vec<usize>, &CoefficientSum)> = Vec::new();
            for (k, feature) in features.iter().enumerate() {
                let rhos = (0..feature.value_count()).map(|value| canonical.curve_of(k, value));
                let own = rhos.flat_map(|rho| map.coefficients(rho, lens, slot)).map(|(own, _)| own);
                let new: BTreeSet<usize> = own.filter(|own| effects[*own].is_none()).collect();
                groups.push((new.into_iter().collect(), sums.centre(k, slot)));
            }
            let Some(found) = posterior.difference_sds(&groups) else { return self };
            let own = groups.iter().flat_map(|(own, _)| own);
            own.zip(found).for_each(|(own, sd)| effects[*own] = Some(sd));
        }
        let shown = canonical.definition().shown_names().len();
        let effects: Vec<Vec<f64>> = effects.into_iter().map(|own| own.unwrap_or_else(|| vec![0.0; shown])).collect();
        let mut first = 0;
        let parts = posterior.parts.iter().map(|part| {
            let own = first..first + part.outputs;
            first = own.end;
            let kept: Vec<f64> = effects.iter().flat_map(|row| row[own.clone()].iter().copied()).collect();
            PosteriorPart { covariance: Covariance::Effects(kept.into()), ..part.clone() }
        });
        let parts = parts.collect();
        self.with_posterior(Some(Posterior { parts, ..(*posterior).clone() }))
    }
}
