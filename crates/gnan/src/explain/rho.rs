//! Distance functions as tables of distances: one curve for every rho, output and lens.

use std::ops::Range;

use serde::Serialize;

use super::canonical::Canonical;

/// One rho for one output by one lens; a distance that training had not seen has no value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RhoByDistance {
    /// Its name among the others: of the feature, the output and the lens, where there are several.
    pub name: String,
    /// The values at distance 0, 1, 2 and so on.
    pub values: Vec<Option<f64>>,
    /// The value for unreachable nodes.
    pub unreachable: Option<f64>,
    /// Which of [`Canonical::rhos`] it is.
    #[serde(skip)]
    pub rho: usize,
    /// Which of the model's own outputs it is for.
    #[serde(skip)]
    pub output: usize,
}

impl Canonical {
    /// Every rho for every output by every lens.
    pub fn rhos_by_distance(&self) -> Vec<RhoByDistance> {
        let outputs = self.definition().output_names();
        let (rhos, axis) = (self.rhos(), self.axis());
        let mut curves = Vec::new();
        for (number, rho) in rhos.iter().enumerate() {
            for (output, output_name) in outputs.iter().enumerate() {
                let name = match (rhos.len(), outputs.len()) {
                    (_, 1) => rho.name.clone(),
                    (1, _) => output_name.clone(),
                    _ => format!("{} ({output_name})", rho.name),
                };
                for lens in 0..axis.lenses() {
                    let mut values: Vec<Option<f64>> =
                        axis.range(lens).map(|slot| self.seen(slot).then_some(rho.values[slot][output])).collect();
                    let unreachable = values.pop().flatten();
                    let by = axis.lens_name(lens);
                    let name = if by.is_empty() { name.clone() } else { format!("{name}, {by}") };
                    curves.push(RhoByDistance { name, values, unreachable, rho: number, output });
                }
            }
        }
        curves
    }

    /// Which of [`rhos`](Self::rhos) belong to a feature: one, or one for each of its levels.
    pub fn rhos_of(&self, k: usize) -> Range<usize> {
        let first = self.rho_of(k, 0);
        let levels = self.definition().learned.features[k].value_count();
        first..first + if self.has_level_rhos(k) { levels } else { 1 }
    }
}
