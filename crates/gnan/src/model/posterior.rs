//! The posterior of the coefficients of a penalised fit: how far every number that is made of them can be trusted.
//!
//! Given the smoothing parameters, coefficients are normal with the estimate as mean and `V = (X' W X + S)^-1` as covariance. What
//! is shown of a model is linear in its coefficients, so that its standard deviation is `sqrt(g' V g)` for an exact `g`. With
//! `V = R' R` that is the length of `R g`; `R`, in the units of the outputs, is what is kept. Where items were weighed in place of
//! coefficients (the dual form), what the items take away from the prior is kept instead: [`DualCovariance`]. Of very many
//! coefficients only the standard deviations of the effects are kept. Coefficients that are products of values and points of a shared curve are linear
//! around the estimate (the delta method): `g` then comes from [`ProductSlopes`].

use std::sync::Arc;

use super::coefficients::CoefficientSum;
use super::products::ProductSlopes;
use crate::likelihood::DualCovariance;
use crate::random::Stream;

/// Most coefficients, all outputs counted, whose covariance is kept with a model: all that are fitted without being requested.
pub const MOST_KEPT: usize = 4000;
/// The same in bytes.
pub const MOST_KEPT_BYTES: usize = 8 * Covariance::root_length(MOST_KEPT);

/// What is known of the outputs that were fitted together.
#[derive(Clone, Debug, PartialEq)]
pub enum Covariance {
    /// `R`, column after column, each from its diagonal down.
    Root(Arc<[f64]>),
    /// The prior, and what the items take away from it.
    Dual(Arc<DualCovariance>),
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
    pub const fn root_length(order: usize) -> usize {
        order * (order + 1) / 2
    }
}

/// How what a sum of coefficients is for the outputs of a part varies.
enum OutputSpread {
    /// `R g` of every output.
    Products(Vec<Vec<f64>>),
    /// The covariance of the outputs, `[outputs, outputs]`.
    Covariance(Vec<f64>, usize),
}

impl OutputSpread {
    /// The standard deviation of a mixture of the outputs.
    fn mixed_sd(&self, shares: &[f64]) -> f64 {
        match self {
            OutputSpread::Products(products) => {
                let mut mixed = vec![0.0; products.first().map_or(0, Vec::len)];
                for (product, share) in products.iter().zip(shares) {
                    mixed.iter_mut().zip(product).for_each(|(sum, entry)| *sum += share * entry);
                }
                length(&mixed)
            }
            OutputSpread::Covariance(covariance, outputs) => {
                let rows = covariance.chunks_exact(*outputs).zip(shares);
                let row = |row: &[f64]| row.iter().zip(shares).map(|(entry, share)| entry * share).sum::<f64>();
                root_of(rows.map(|(own, share)| share * row(own)).sum())
            }
        }
    }

    /// The standard deviation of every output.
    fn own_sds(&self) -> Vec<f64> {
        match self {
            OutputSpread::Products(products) => products.iter().map(|product| length(product)).collect(),
            OutputSpread::Covariance(covariance, outputs) => {
                (0..*outputs).map(|c| root_of(covariance[c * outputs + c])).collect()
            }
        }
    }

    /// The same as the outputs are shown: those of classes are centred over the classes.
    fn shown_sds(mut self) -> Vec<f64> {
        match &mut self {
            OutputSpread::Products(products) => {
                centre(products);
                self.own_sds()
            }
            OutputSpread::Covariance(_, 1) => self.own_sds(),
            OutputSpread::Covariance(_, outputs) => {
                let outputs = *outputs;
                let share = |c: usize, d: usize| f64::from(u8::from(c == d)) - 1.0 / outputs as f64;
                let shares = (0..outputs).map(|c| (0..outputs).map(|d| share(c, d)).collect::<Vec<f64>>());
                shares.map(|shares| self.mixed_sd(&shares)).collect()
            }
        }
    }
}

/// The root of a variance, which rounding may have made less than 0; that of one that is no number is none either.
fn root_of(variance: f64) -> f64 {
    if variance < 0.0 { 0.0 } else { variance.sqrt() }
}

/// Takes the mean over several outputs out of what each has.
fn centre(products: &mut [Vec<f64>]) {
    let outputs = products.len();
    if outputs > 1 {
        for row in 0..products[0].len() {
            let mean = products.iter().map(|product| product[row]).sum::<f64>() / outputs as f64;
            products.iter_mut().for_each(|product| product[row] -= mean);
        }
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
    fn shown_times(&self, count: usize, sum: &[(usize, f64)]) -> Option<Vec<Vec<f64>>> {
        let mut products = self.times(count, sum)?;
        centre(&mut products);
        Some(products)
    }

    /// How some sums of coefficients of each of its outputs vary; `None` where covariances are not kept.
    fn spreads(&self, count: usize, sums: &[&[(usize, f64)]]) -> Option<Vec<OutputSpread>> {
        let of_root = |sum: &&[(usize, f64)]| Some(OutputSpread::Products(self.times(count, sum)?));
        match &self.covariance {
            Covariance::Root(_) => sums.iter().map(of_root).collect(),
            Covariance::Dual(dual) => {
                let found = dual.of_sums(sums).into_iter();
                Some(found.map(|covariance| OutputSpread::Covariance(covariance, self.outputs)).collect())
            }
            Covariance::Effects(_) => None,
        }
    }

    /// How many bytes it takes to keep its covariance.
    pub fn bytes(&self) -> usize {
        match &self.covariance {
            Covariance::Root(numbers) | Covariance::Effects(numbers) => 8 * numbers.len(),
            Covariance::Dual(dual) => dual.bytes(),
        }
    }
}

impl Posterior {
    /// The standard deviation of a sum of coefficients, per output as it is shown; `None` where covariances are not kept.
    pub fn sd(&self, sum: &[(usize, f64)]) -> Option<Vec<f64>> {
        self.sds(&[sum])?.pop()
    }

    /// The same of some sums, `[sums][shown outputs]`.
    pub fn sds(&self, sums: &[&[(usize, f64)]]) -> Option<Vec<Vec<f64>>> {
        let mut found = vec![Vec::new(); sums.len()];
        for part in &self.parts {
            let spreads = part.spreads(self.count, sums)?;
            found.iter_mut().zip(spreads).for_each(|(found, spread)| found.extend(spread.shown_sds()));
        }
        Some(found)
    }

    /// The standard deviations of the differences of some coefficients from a sum, for several such groups: `[coefficients of all
    /// groups][shown outputs]`.
    pub fn difference_sds(&self, groups: &[(Vec<usize>, &CoefficientSum)]) -> Option<Vec<Vec<f64>>> {
        let mut found = vec![Vec::new(); groups.iter().map(|(own, _)| own.len()).sum()];
        for part in &self.parts {
            let mut next = found.iter_mut();
            if let Covariance::Dual(_) = part.covariance {
                let difference = |own: usize, from: &CoefficientSum| -> CoefficientSum {
                    from.iter().map(|(at, share)| (*at, -share)).chain([(own, 1.0)]).collect()
                };
                let sums: Vec<CoefficientSum> =
                    groups.iter().flat_map(|(own, from)| own.iter().map(|own| difference(*own, from))).collect();
                let spreads = part.spreads(self.count, &sums.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
                next.zip(spreads).for_each(|(found, spread)| found.extend(spread.shown_sds()));
                continue;
            }
            for (own, from) in groups {
                // The one that all are compared with is multiplied once.
                let from = part.shown_times(self.count, from)?;
                for (coefficient, found) in own.iter().zip(&mut next) {
                    for (own, from) in part.shown_times(self.count, &[(*coefficient, 1.0)])?.iter().zip(&from) {
                        found.push(own.iter().zip(from).map(|(own, from)| (own - from).powi(2)).sum::<f64>().sqrt());
                    }
                }
            }
        }
        Some(found)
    }

    /// The same as [`sd`](Self::sd) per output of the model itself.
    pub fn own_sd(&self, sum: &[(usize, f64)]) -> Option<Vec<f64>> {
        let mut found = Vec::new();
        for part in &self.parts {
            found.extend(part.spreads(self.count, &[sum])?.iter().flat_map(OutputSpread::own_sds));
        }
        Some(found)
    }

    /// The standard deviations of mixtures of the outputs of the first part, each the same sum of coefficients.
    pub fn mixed_sds(&self, sum: &[(usize, f64)], mixtures: &[Vec<f64>]) -> Option<Vec<f64>> {
        let spread = self.parts.first()?.spreads(self.count, &[sum])?.pop()?;
        Some(mixtures.iter().map(|shares| spread.mixed_sd(shares)).collect())
    }

    /// The covariances of sums of coefficients of the outputs of a part as they are shown, `[outputs, sums]` squared, row after
    /// row.
    pub fn covariances(&self, part: usize, sums: &[CoefficientSum]) -> Option<Vec<f64>> {
        let outputs = self.parts[part].outputs;
        if let Covariance::Dual(dual) = &self.parts[part].covariance {
            let sums: Vec<&[(usize, f64)]> = sums.iter().map(Vec::as_slice).collect();
            return Some(shown_covariances(dual.between(&sums), outputs));
        }
        let mut products = Vec::new();
        let by_sum: Option<Vec<_>> = sums.iter().map(|sum| self.parts[part].shown_times(self.count, sum)).collect();
        let mut by_sum = by_sum?;
        for output in 0..outputs {
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
            let covariance = match &part.covariance {
                Covariance::Root(numbers) | Covariance::Effects(numbers) => numbers.iter().all(|n| n.is_finite()),
                Covariance::Dual(dual) => dual.is_finite(),
            };
            part.noise.is_finite() && covariance
        };
        self.means.iter().all(|mean| mean.is_finite()) && self.parts.iter().all(part)
    }

    /// Whether covariances are kept: then contributions and predictions have a standard deviation, not only effects.
    pub fn has_covariances(&self) -> bool {
        !self.parts.iter().any(|part| matches!(part.covariance, Covariance::Effects(_)))
    }

    /// Operations that the items take for the spread of one sum of coefficients; 0 where these were not weighed.
    pub fn operations_of_items(&self) -> f64 {
        let of_part = |part: &PosteriorPart| match &part.covariance {
            Covariance::Dual(dual) => dual.operations(),
            Covariance::Root(_) | Covariance::Effects(_) => 0.0,
        };
        self.parts.iter().map(of_part).sum()
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
            let root = match &part.covariance {
                Covariance::Root(root) => root,
                Covariance::Dual(dual) => {
                    drawn.extend(dual.draw(&mut || random.normal()));
                    continue;
                }
                Covariance::Effects(_) => return None,
            };
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

/// Covariances of the same numbers of several outputs, less the mean over the outputs.
fn shown_covariances(mut covariances: Vec<f64>, outputs: usize) -> Vec<f64> {
    let order = (covariances.len() as f64).sqrt().round() as usize;
    let numbers = order / outputs.max(1);
    if outputs < 2 {
        return covariances;
    }
    // Rows, then columns.
    for (along, across) in [(order, 1), (1, order)] {
        for other in 0..order {
            for number in 0..numbers {
                let at = |output: usize| (output * numbers + number) * along + other * across;
                let mean = (0..outputs).map(|output| covariances[at(output)]).sum::<f64>() / outputs as f64;
                (0..outputs).for_each(|output| covariances[at(output)] -= mean);
            }
        }
    }
    covariances
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
