//! The posterior of the coefficients of a penalised fit: how far every number that is made of them can be trusted.
//!
//! Given the smoothing parameters, coefficients are normal with the estimate as mean and `V = (X' W X + S)^-1` as covariance. What
//! is shown of a model is linear in its coefficients, so that its standard deviation is `sqrt(g' V g)` for an exact `g`. With
//! `V = R' R` that is the length of `R g`; `R`, in the units of the outputs, is what is kept. Of very many coefficients only the
//! standard deviations of the effects are kept. Coefficients that are products of values and points of a shared curve are linear
//! around the estimate (the delta method): `g` then comes from [`ProductSlopes`].

use std::sync::Arc;

use super::coefficients::CoefficientSum;
use super::products::ProductSlopes;
use crate::random::Stream;

/// Most coefficients, all outputs that were fitted together counted, whose covariance is kept with a model: some megabytes.
pub const MOST_KEPT: usize = 2048;

/// What is known of the outputs that were fitted together.
#[derive(Clone, Debug, PartialEq)]
pub enum Covariance {
    /// `R`, column after column, each from its diagonal down.
    Root(Arc<[f64]>),
    /// The standard deviation of every effect as it is shown, `[coefficients, outputs]`; the intercept has none.
    Effects(Arc<[f64]>),
}

/// What is known of some outputs that were fitted together.
#[derive(Clone, Debug, PartialEq)]
pub struct PosteriorPart {
    /// Number of outputs.
    pub outputs: usize,
    /// The covariance of their coefficients, those of an output after those of another.
    pub covariance: Covariance,
    /// Where coefficients are products of values and points: the covariance is that of these, and this is how coefficients change
    /// with them.
    pub products: Option<Arc<ProductSlopes>>,
    /// The variance of a quantity around its output; 0 for classes.
    pub noise: f64,
}

/// The posterior of all coefficients of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// Number of coefficients of an output.
    pub count: usize,
    /// What is known of every group of outputs; those of several targets were fitted one by one, those of classes together.
    pub parts: Vec<PosteriorPart>,
    /// The mean over training items of what they have of every coefficient.
    pub means: Arc<[f64]>,
}

impl Covariance {
    /// The length of a root of so many rows.
    pub fn root_length(order: usize) -> usize {
        order * (order + 1) / 2
    }
}

/// Where a column of a root of so many rows begins.
fn column_start(order: usize, column: usize) -> usize {
    column * order - column * column.saturating_sub(1) / 2
}

impl PosteriorPart {
    /// Number of parameters of an output: its coefficients, or what they are products of.
    fn parameters(&self, count: usize) -> usize {
        self.products.as_ref().map_or(count, |products| products.parameters)
    }

    /// Number of rows of the root of the covariance, given the number of coefficients of an output.
    pub fn order(&self, count: usize) -> usize {
        self.outputs * self.parameters(count)
    }

    /// `R g` for the same sum of coefficients of each of its outputs, `[outputs][rows]`; `None` where `R` is not kept.
    fn times(&self, count: usize, sum: &[(usize, f64)]) -> Option<Vec<Vec<f64>>> {
        let Covariance::Root(root) = &self.covariance else { return None };
        let count = self.parameters(count);
        let order = self.outputs * count;
        let product = |output: usize| {
            let mut product = vec![0.0; order];
            let slopes = self.products.as_ref().map(|products| products.of_sum(output, sum));
            for (coefficient, share) in slopes.as_deref().unwrap_or(sum) {
                let column = output * count + coefficient;
                let own = &root[column_start(order, column)..column_start(order, column + 1)];
                product[column..].iter_mut().zip(own).for_each(|(sum, entry)| *sum += share * entry);
            }
            product
        };
        Some((0..self.outputs).map(product).collect())
    }

    /// The same for the outputs as they are shown: those of classes are centred over the classes.
    pub fn shown_times(&self, count: usize, sum: &[(usize, f64)]) -> Option<Vec<Vec<f64>>> {
        let mut products = self.times(count, sum)?;
        if self.outputs > 1 {
            for row in 0..products[0].len() {
                let mean = products.iter().map(|product| product[row]).sum::<f64>() / self.outputs as f64;
                products.iter_mut().for_each(|product| product[row] -= mean);
            }
        }
        Some(products)
    }
}

impl Posterior {
    /// The standard deviation of a sum of coefficients, per output as it is shown; `None` where covariances are not kept.
    pub fn sd(&self, sum: &[(usize, f64)]) -> Option<Vec<f64>> {
        let mut found = Vec::new();
        for part in &self.parts {
            let products = part.shown_times(self.count, sum)?;
            found.extend(products.iter().map(|product| length(product)));
        }
        Some(found)
    }

    /// The standard deviations of the differences of some sums from one, `[sums][shown outputs]`: the one is multiplied once.
    pub fn difference_sds(&self, sums: &[&CoefficientSum], from: &CoefficientSum) -> Option<Vec<Vec<f64>>> {
        let mut found = vec![Vec::new(); sums.len()];
        for part in &self.parts {
            let from = part.shown_times(self.count, from)?;
            for (sum, found) in sums.iter().zip(&mut found) {
                for (own, from) in part.shown_times(self.count, sum)?.iter().zip(&from) {
                    found.push(own.iter().zip(from).map(|(own, from)| (own - from).powi(2)).sum::<f64>().sqrt());
                }
            }
        }
        Some(found)
    }

    /// The same as [`sd`](Self::sd) per output of the model itself.
    pub fn own_sd(&self, sum: &[(usize, f64)]) -> Option<Vec<f64>> {
        let mut found = Vec::new();
        for part in &self.parts {
            let products = part.times(self.count, sum)?;
            found.extend(products.iter().map(|product| length(product)));
        }
        Some(found)
    }

    /// The standard deviation of a mixture of the outputs of the first part, each the same sum of coefficients.
    pub fn mixed_sd(&self, sum: &[(usize, f64)], shares: &[f64]) -> Option<f64> {
        let products = self.parts.first()?.times(self.count, sum)?;
        let mut mixed = vec![0.0; products.first()?.len()];
        for (product, share) in products.iter().zip(shares) {
            mixed.iter_mut().zip(product).for_each(|(sum, entry)| *sum += share * entry);
        }
        Some(length(&mixed))
    }

    /// The covariances of sums of coefficients of the outputs of a part as they are shown, `[outputs, sums]` squared, row after
    /// row.
    pub fn covariances(&self, part: usize, sums: &[CoefficientSum]) -> Option<Vec<f64>> {
        let mut products = Vec::new();
        let by_sum: Option<Vec<_>> = sums.iter().map(|sum| self.parts[part].shown_times(self.count, sum)).collect();
        let mut by_sum = by_sum?;
        for output in 0..self.parts[part].outputs {
            products.extend(by_sum.iter_mut().map(|products| std::mem::take(&mut products[output])));
        }
        let order = products.len();
        let mut found = vec![0.0; order * order];
        for i in 0..order {
            for j in 0..=i {
                let entry = products[i].iter().zip(&products[j]).map(|(a, b)| a * b).sum();
                (found[i * order + j], found[j * order + i]) = (entry, entry);
            }
        }
        Some(found)
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let part = |part: &PosteriorPart| {
            let (Covariance::Root(numbers) | Covariance::Effects(numbers)) = &part.covariance;
            part.noise.is_finite() && numbers.iter().all(|number| number.is_finite())
        };
        self.means.iter().all(|mean| mean.is_finite()) && self.parts.iter().all(part)
    }

    /// Whether covariances are kept: then contributions and predictions have a standard deviation, not only effects.
    pub fn has_covariances(&self) -> bool {
        self.parts.iter().all(|part| matches!(part.covariance, Covariance::Root(_)))
    }

    /// The standard deviation of the effect that a coefficient is, per output as it is shown, where these are all that is kept.
    pub fn effect_sd(&self, coefficient: usize) -> Option<Vec<f64>> {
        let mut found = Vec::new();
        for part in &self.parts {
            let Covariance::Effects(effects) = &part.covariance else { return None };
            found.extend_from_slice(&effects[coefficient * part.outputs..][..part.outputs]);
        }
        Some(found)
    }

    /// The variance of a quantity around its output, per output; 0 for classes.
    pub fn noise(&self) -> impl Iterator<Item = f64> + '_ {
        self.parts.iter().flat_map(|part| std::iter::repeat_n(part.noise, part.outputs))
    }

    /// A draw of all coefficients around their estimates, `[outputs][coefficients]`, by its number; `None` where covariances are
    /// not kept.
    pub fn draw(&self, number: u64) -> Option<Vec<Vec<f64>>> {
        let mut random = Stream::named(0, "posterior", number);
        let mut drawn = Vec::new();
        for part in &self.parts {
            let Covariance::Root(root) = &part.covariance else { return None };
            let (order, count) = (part.order(self.count), part.parameters(self.count));
            let normal: Vec<f64> = (0..order).map(|_| random.normal()).collect();
            // b = R' z has the covariance R' R.
            let coefficient = |column: usize| {
                let own = &root[column_start(order, column)..column_start(order, column + 1)];
                own.iter().zip(&normal[column..]).map(|(entry, normal)| entry * normal).sum()
            };
            let all: Vec<f64> = (0..order).map(coefficient).collect();
            let outputs = all.chunks_exact(count).enumerate();
            drawn.extend(outputs.map(|(output, own)| match &part.products {
                Some(products) => products.changes(output, own),
                None => own.to_vec(),
            }));
        }
        Some(drawn)
    }
}

fn length(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: R = [[2, 0], [1, 3]], so V = R'R = [[5, 3], [3, 9]].
    #[test]
    fn sums_have_the_spread_of_the_covariance() {
        let part = |outputs| PosteriorPart {
            outputs,
            covariance: Covariance::Root([2.0, 1.0, 3.0].into()),
            products: None,
            noise: 0.5,
        };
        let posterior = Posterior { count: 2, parts: vec![part(1)], means: [1.0, 0.0].into() };
        assert_eq!(posterior.sd(&[(0, 1.0)]), Some(vec![5f64.sqrt()]));
        // 5 - 6 + 9 = 8.
        assert!((posterior.sd(&[(0, 1.0), (1, -1.0)]).unwrap()[0] - 8f64.sqrt()).abs() < 1e-12);
        let sums = [vec![(0, 1.0)], vec![(1, 1.0)]];
        assert_eq!(posterior.covariances(0, &sums).unwrap(), [5.0, 3.0, 3.0, 9.0]);
        // Two classes of one coefficient each: half their difference, whose variance is (5 - 6 + 9) / 4.
        let classes = Posterior { count: 1, parts: vec![part(2)], means: [1.0].into() };
        let found = classes.sd(&[(0, 1.0)]).unwrap();
        assert!(found.iter().all(|sd| (sd - 2f64.sqrt()).abs() < 1e-12), "{found:?}");
        let draws: Vec<f64> = (0..4000).map(|number| posterior.draw(number).unwrap()[0][1]).collect();
        let variance = draws.iter().map(|b| b * b).sum::<f64>() / 4000.0;
        // Five standard errors of a variance of 9.
        assert!((variance - 9.0).abs() < 5.0 * 9.0 * (2.0f64 / 4000.0).sqrt(), "{variance}");
    }
}
