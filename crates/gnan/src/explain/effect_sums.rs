//! Effect sums: what is shown of a penalised model, as sums of its coefficients, and so its standard deviations.
//!
//! Effects are centred at every distance, and what centring takes out is part of the structure curve: both are linear in the
//! coefficients.

use std::sync::Arc;

use super::canonical::{Canonical, FeatureValue};
use crate::model::{CoefficientSum, CoefficientSums, Posterior, merged};
use crate::statistics::{FeatureLevels, LevelValues};

/// The numbers of a canonical form as sums of coefficients.
#[derive(Clone, Debug)]
pub(crate) struct EffectSums {
    sums: CoefficientSums,
    posterior: Arc<Posterior>,
    /// The structure curve, by slot.
    structure: Vec<CoefficientSum>,
    /// The same with what belongs to `b0`.
    whole_structure: Vec<CoefficientSum>,
}

impl EffectSums {
    /// The sums of a canonical form on its own axis; `None` for a model that was not fitted by penalised likelihood.
    pub(crate) fn new(canonical: &Canonical) -> Option<EffectSums> {
        let posterior = Arc::clone(canonical.model.posterior()?);
        let definition = canonical.definition();
        let sums = CoefficientSums::new(definition, canonical.axis());
        let slots = canonical.slots();
        let whole = |slot: usize| {
            let features = 0..definition.learned.features.len();
            let centres = features.flat_map(|k| sums.average(k, slot).iter().copied());
            merged(sums.rho(0, slot).iter().copied().chain(centres).collect())
        };
        let whole_structure: Vec<CoefficientSum> = (0..slots).map(whole).collect();
        let mut structure = whole_structure.clone();
        for lens in (0..canonical.axis().lenses()).filter(|lens| canonical.folds_structure(*lens)) {
            structure[canonical.axis().range(lens).start].clear();
        }
        Some(EffectSums { sums, posterior, structure, whole_structure })
    }

    /// The posterior of the coefficients.
    pub(crate) fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// The effect of a value before it is centred, by its curve, in a slot; the first is the structure's.
    pub(crate) fn rho(&self, rho: usize, slot: usize) -> &CoefficientSum {
        self.sums.rho(rho, slot)
    }

    /// The structure curve in a slot.
    pub(crate) fn structure(&self, slot: usize) -> &CoefficientSum {
        &self.structure[slot]
    }

    /// The same with what is counted with `b0` where there are nodes.
    pub(crate) fn whole_structure(&self, slot: usize) -> &CoefficientSum {
        &self.whole_structure[slot]
    }

    /// What centring takes out of the effects of a feature in a slot.
    pub(crate) fn centre(&self, k: usize, slot: usize) -> &CoefficientSum {
        self.sums.average(k, slot)
    }

    /// An effect before it is centred; `None`: the value is unseen in training.
    pub(crate) fn raw(
        &self,
        canonical: &Canonical,
        k: usize,
        value: FeatureValue<'_>,
        slot: usize,
    ) -> Option<CoefficientSum> {
        let levels = canonical.level_terms(k, value)?;
        let sums = levels.into_iter().flat_map(|(level, share)| {
            scaled(self.sums.rho(canonical.curve_of(k, level), slot), share).collect::<CoefficientSum>()
        });
        Some(sums.collect())
    }

    /// The effect of a value at a distance; nothing for a value unseen in training.
    pub(crate) fn effect(
        &self,
        canonical: &Canonical,
        k: usize,
        value: FeatureValue<'_>,
        slot: usize,
    ) -> CoefficientSum {
        let Some(raw) = self.raw(canonical, k, value, slot) else { return Vec::new() };
        merged(raw.into_iter().chain(scaled(self.centre(k, slot), -1.0)).collect())
    }

    /// The standard deviation of an effect, per shown output. Where only those of levels and knots, or of B-splines, are kept, that of
    /// a number between them is the mean of theirs, which is never less.
    pub(crate) fn effect_sd(&self, canonical: &Canonical, k: usize, value: FeatureValue<'_>, slot: usize) -> Vec<f64> {
        if let Some(sd) = self.posterior.sd(&self.effect(canonical, k, value, slot)) {
            return sd;
        }
        self.weighted_sd(&self.raw(canonical, k, value, slot).unwrap_or_default(), canonical)
    }

    /// The standard deviation of the structure curve in a slot, per shown output.
    pub(crate) fn structure_sd(&self, canonical: &Canonical, slot: usize) -> Vec<f64> {
        let sum = &self.structure[slot];
        let kept = || match sum.is_empty() {
            true => self.weighted_sd(&[], canonical),
            false => self.weighted_sd(self.sums.rho(0, slot), canonical),
        };
        self.posterior.sd(sum).unwrap_or_else(kept)
    }

    /// The standard deviation of a rho in a slot relative to what it is divided by, per output, by the delta method.
    pub(crate) fn rho_sd(&self, canonical: &Canonical, rho: usize, slot: usize) -> Vec<f64> {
        let scale = canonical.rho_scale(rho);
        let raw = |slot: usize, c: usize| canonical.raw_rho(rho as u32, slot)[c];
        let output = |c: usize| {
            let Some(whole) = (0..canonical.slots()).find(|other| raw(*other, c) == scale[c]) else { return 0.0 };
            if scale[c] == 0.0 {
                return 0.0;
            }
            let ratio = raw(slot, c) / scale[c];
            // A rho that values share is the ratio of the effects of any of them at two distances.
            let Some((curve, value)) = canonical.largest_curve(rho, c) else { return 0.0 };
            let sum = merged(
                scaled(self.sums.rho(curve, slot), 1.0).chain(scaled(self.sums.rho(curve, whole), -ratio)).collect(),
            );
            let sd = self.posterior.own_sd(&sum).map_or_else(|| self.weighted_sd(&sum, canonical)[0], |sd| sd[c]);
            sd / (scale[c] * value).abs()
        };
        (0..canonical.outputs()).map(output).collect()
    }

    fn weighted_sd(&self, sum: &[(usize, f64)], canonical: &Canonical) -> Vec<f64> {
        let mut found = vec![0.0; canonical.definition().shown_names().len()];
        for (coefficient, share) in sum {
            let own = self.posterior.effect_sd(*coefficient).unwrap_or_default();
            found.iter_mut().zip(own).for_each(|(sum, sd)| *sum += share.abs() * sd);
        }
        found
    }
}

/// A sum times a number.
pub(crate) fn scaled(sum: &CoefficientSum, by: f64) -> impl Iterator<Item = (usize, f64)> {
    sum.iter().map(move |(coefficient, share)| (*coefficient, by * share))
}

/// The value that a unit of a feature stands for.
pub(crate) fn value_of_unit(levels: &FeatureLevels, unit: u32) -> FeatureValue<'_> {
    let level = (unit - levels.units.start) as usize;
    match &levels.values {
        _ if levels.missing == Some(unit) => FeatureValue::Missing,
        LevelValues::Numbers(numbers) => FeatureValue::Number(numbers[level]),
        LevelValues::Names(names) => FeatureValue::Level(&names[level]),
    }
}
