//! Numbers over distance as tables: the influence by distance, and where effects are not separable the effects of values by
//! distance, and how large they are.

use std::ops::Range;

use serde::Serialize;

use super::canonical::{Canonical, FeatureValue};
use crate::files::Kind;
use crate::numbers::number;

/// The deciles of a numeric feature at which its effects are listed by distance: low, middle, high.
const NAMED_DECILES: [usize; 3] = [1, 5, 9];

/// A curve over distance for one output by one lens; a distance that training had not seen has no value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveByDistance {
    /// Its name among the others: of the feature or level, the output and the lens, where there are several.
    pub name: String,
    /// The values at distance 0, 1, 2 and so on.
    pub values: Vec<Option<f64>>,
    /// The value for unreachable nodes.
    pub unreachable: Option<f64>,
    /// Which of [`Canonical::rhos`] it belongs to.
    #[serde(skip)]
    pub rho: usize,
    /// Which output it is for: of the model's own for an influence, of the shown ones for an effect.
    #[serde(skip)]
    pub output: usize,
}

impl Canonical {
    /// The influence by distance of every rho that weighs features as a whole, for every output by every lens. There is
    /// none of a feature that is not [separable](Self::is_separable): see [`effects_by_distance`](Self::effects_by_distance).
    pub fn influence_by_distance(&self) -> Vec<CurveByDistance> {
        let outputs = self.definition().output_names();
        let anchors = self.rho_anchors();
        let rhos: Vec<_> = self.rhos().into_iter().enumerate().filter(|(r, _)| anchors[*r].is_some()).collect();
        let several = rhos.len() > 1;
        (rhos.iter())
            .flat_map(|(r, rho)| {
                let name = |c: usize| match (several, outputs.len()) {
                    (_, 1) => rho.name.clone(),
                    (false, _) => outputs[c].clone(),
                    (true, _) => format!("{} ({})", rho.name, outputs[c]),
                };
                (0..outputs.len())
                    .flat_map(|c| self.curves_by_lens(&name(c), *r, c, |slot| rho.values[slot][c]))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// The effects of every level of a feature that is not [separable](Self::is_separable), or of a low, a middle and a high
    /// number, for every shown output by every lens; none for other features, nor for those that sum up items.
    pub fn effects_by_distance(&self, k: usize) -> Vec<CurveByDistance> {
        if self.is_separable(k) || self.definition().learned.features[k].is_of_item() {
            return Vec::new();
        }
        let outputs = self.definition().shown_names();
        let feature = &self.definition().learned.features[k];
        let deciles = NAMED_DECILES.iter().filter_map(|place| feature.deciles.get(*place));
        let numbers = deciles.map(|x| (number(*x), FeatureValue::Number(*x)));
        let levels = self.level_values(feature).into_iter().map(|(name, value, _)| (name, value));
        let mut values: Vec<(String, FeatureValue<'_>)> = Vec::new();
        if matches!(feature.kind, Kind::Continuous | Kind::Sparse) {
            values.extend(numbers);
            values.dedup_by(|next, kept| next.1 == kept.1);
        }
        values.extend(levels);
        let mut curves = Vec::new();
        for (name, value) in values {
            let effects = self.effects(k, value);
            let rho = self.raw_terms(k, value).and_then(|terms| Some(terms.first()?.rho)).unwrap_or(0);
            for (c, output) in outputs.iter().enumerate() {
                let of_output = if outputs.len() > 1 { format!(" ({output})") } else { String::new() };
                let name = format!("{}: {name}{of_output}", feature.name);
                curves.extend(self.curves_by_lens(&name, rho, c, |slot| effects[slot][c]));
            }
        }
        curves
    }

    /// How large effects are at every distance, for every shown output by every lens: the root mean square over training nodes of
    /// what one of them adds, all features together.
    pub fn effect_size_by_distance(&self) -> Vec<CurveByDistance> {
        let outputs = self.definition().shown_names();
        let mut squares = vec![vec![0.0; outputs.len()]; self.slots()];
        let nodes = self.definition().record.nodes.max(1) as f64;
        for k in 0..self.definition().learned.features.len() {
            for (value, weight) in self.looked_at(k) {
                for (effects, squares) in self.effects(k, value).iter().zip(&mut squares) {
                    let effects = effects.iter().zip(squares);
                    effects.for_each(|(effect, square)| *square += effect * effect * weight / nodes);
                }
            }
        }
        let curve = |(c, output): (usize, &String)| self.curves_by_lens(output, 0, c, |slot| squares[slot][c].sqrt());
        outputs.iter().enumerate().flat_map(curve).collect()
    }

    /// A curve for each lens.
    fn curves_by_lens(
        &self,
        name: &str,
        rho: usize,
        output: usize,
        value: impl Fn(usize) -> f64,
    ) -> Vec<CurveByDistance> {
        let axis = self.axis();
        let of_lens = |lens: usize| {
            let mut values: Vec<Option<f64>> =
                axis.range(lens).map(|slot| self.seen(slot).then(|| value(slot))).collect();
            let unreachable = values.pop().flatten();
            let seen = values.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            values.truncate(seen);
            let by = axis.lens_name(lens);
            let name = if by.is_empty() { name.to_owned() } else { format!("{name}, {by}") };
            CurveByDistance { name, values, unreachable, rho, output }
        };
        (0..axis.lenses()).map(of_lens).collect()
    }

    /// Which of [`rhos`](Self::rhos) belong to a feature: one, or one for each of its levels.
    pub fn rhos_of(&self, k: usize) -> Range<usize> {
        let first = self.rho_of(k, 0);
        let levels = self.definition().learned.features[k].value_count();
        first..first + if self.has_level_rhos(k) { levels } else { 1 }
    }
}
