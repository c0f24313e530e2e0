//! Families: how likely a target is, given the outputs for its item, with first and second derivatives.
//!
//! | family | mean | variance | second derivative, its sign changed |
//! |---|---|---|---|
//! | Gaussian | `f` | `d` | `1 / d`; of a bound `h (z + h) / d` |
//! | Poisson | `m = exp f` | `m` | `m` |
//! | negative binomial | `m = exp f` | `m + d m^2` | `m (1 + d y) / (1 + d m)^2` |
//! | gamma | `m = exp f` | `d m^2` | `y / (d m)` |
//!
//! with the output `f` and the dispersion `d`. Second derivatives are those of the likelihood itself (observed, not expected): they
//! are never below 0, steps converge quadratically, and Laplace's approximation is that of the likelihood. A normal quantity of which
//! only a bound is known has the likelihood of all values that it may have, `log F(z)` with `z = (b - f) / sqrt(d)` below `b` and its
//! negative above, and `h` as in [`NormalShare`](super::special_functions::NormalShare).

use super::observed::Observed;
use super::special_functions::{digamma, log_gamma, normal_share};

/// What targets are, given outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// A quantity around the output, with one variance for all items.
    Gaussian,
    /// 0 or 1; the output is the log-odds of 1.
    Binomial,
    /// One of several classes, with an output each.
    Multinomial(usize),
    /// A count; the output is the logarithm of its mean, which is its variance.
    Poisson,
    /// A count; the output is the logarithm of its mean `m`, and its variance is `m + d m^2` with the dispersion `d`.
    NegativeBinomial,
    /// A quantity above 0; the output is the logarithm of its mean `m`, and its variance is `d m^2` with the dispersion `d`.
    Gamma,
}

/// The log-likelihood of one item and its derivatives by the outputs.
#[derive(Clone, Debug, Default)]
pub struct Derivatives {
    /// The log-likelihood.
    pub value: f64,
    /// Its first derivatives.
    pub first: Vec<f64>,
    /// Its second derivatives, their sign changed, `[outputs, outputs]`.
    pub second: Vec<f64>,
}

/// No item counts less than this in a Newton step, however sure the model is of it.
const LEAST_WEIGHT: f64 = 1e-6;
/// Sums over counts up to this number are added up term by term.
const FEW: f64 = 64.0;
/// Below this argument series replace differences of nearly equal numbers.
const SMALL: f64 = 1e-3;

impl Family {
    /// Number of outputs.
    pub fn outputs(self) -> usize {
        match self {
            Family::Multinomial(classes) => classes,
            _ => 1,
        }
    }

    /// Whether outputs are logarithms of means.
    pub fn is_log(self) -> bool {
        matches!(self, Family::Poisson | Family::NegativeBinomial | Family::Gamma)
    }

    /// Whether there is a variance, or another dispersion, to be estimated.
    pub fn has_dispersion(self) -> bool {
        matches!(self, Family::Gaussian | Family::NegativeBinomial | Family::Gamma)
    }

    /// Whether second derivatives are divided by the dispersion, at least those of items whose value is known.
    pub(super) fn is_scaled(self) -> bool {
        matches!(self, Family::Gaussian | Family::Gamma)
    }

    /// The log-likelihood of a target (a class by its number) with this dispersion, less what does not depend on the outputs.
    pub fn value(self, outputs: &[f64], target: Observed, dispersion: f64) -> f64 {
        let (y, f) = (target.number(), outputs[0]);
        match self {
            Family::Gaussian => match bound_distance(f, target, dispersion) {
                Some((z, _)) => normal_share(z).log,
                None => -0.5 * (y - f).powi(2) / dispersion,
            },
            Family::Binomial => -soft_plus(if y > 0.5 { -f } else { f }),
            Family::Multinomial(_) => outputs[y as usize] - log_sum(outputs),
            Family::Poisson => y * f - f.exp(),
            Family::NegativeBinomial => y * f - (y + 1.0 / dispersion) * (dispersion * f.exp()).ln_1p(),
            Family::Gamma => -(f + y * (-f).exp()) / dispersion,
        }
    }

    /// The same with its derivatives.
    pub fn derivatives(self, outputs: &[f64], target: Observed, dispersion: f64, found: &mut Derivatives) {
        found.value = self.value(outputs, target, dispersion);
        found.first.clear();
        found.second.clear();
        let (y, f) = (target.number(), outputs[0]);
        let (first, second) = match self {
            Family::Gaussian => match bound_distance(f, target, dispersion) {
                Some((z, sign)) => {
                    let share = normal_share(z);
                    (sign * share.slope / dispersion.sqrt(), share.bend / dispersion)
                }
                None => ((y - f) / dispersion, 1.0 / dispersion),
            },
            Family::Binomial => {
                let probability = 1.0 / (1.0 + (-f).exp());
                (y - probability, (probability * (1.0 - probability)).max(LEAST_WEIGHT))
            }
            Family::Multinomial(_) => {
                let log = log_sum(outputs);
                let probability: Vec<f64> = outputs.iter().map(|output| (output - log).exp()).collect();
                for (class, own) in probability.iter().enumerate() {
                    found.first.push(f64::from(u8::from(class == y as usize)) - own);
                    for (other, its) in probability.iter().enumerate() {
                        found.second.push(if class == other { own * (1.0 - own) } else { -own * its });
                    }
                }
                return;
            }
            Family::Poisson => (y - f.exp(), f.exp()),
            Family::NegativeBinomial => {
                let mean = f.exp();
                let larger = 1.0 + dispersion * mean;
                ((y - mean) / larger, mean * (1.0 + dispersion * y) / (larger * larger))
            }
            Family::Gamma => {
                let ratio = y * (-f).exp();
                ((ratio - 1.0) / dispersion, ratio / dispersion)
            }
        };
        found.first.push(first);
        found.second.push(second);
    }

    /// What was left out of the log-likelihood of an item of a weight. The density of a normal quantity counts once for an item,
    /// whatever its weight, which divides its variance; other items count as often as their weight says.
    pub fn constant(self, target: Observed, weight: f64, dispersion: f64) -> f64 {
        let y = target.number();
        match self {
            Family::Gaussian if target.is_exact() => -0.5 * (std::f64::consts::TAU * dispersion).ln(),
            Family::Gaussian | Family::Binomial | Family::Multinomial(_) => 0.0,
            Family::Poisson => -weight * log_gamma(y + 1.0),
            Family::NegativeBinomial => weight * (rising_log(y, dispersion) - log_gamma(y + 1.0)),
            Family::Gamma => {
                let shape = 1.0 / dispersion;
                weight * (shape * shape.ln() - log_gamma(shape) + (shape - 1.0) * y.ln())
            }
        }
    }

    /// The derivative of the log-likelihood of an item of a weight, all of it, by the logarithm of the dispersion.
    pub fn dispersion_slope(self, output: f64, target: Observed, weight: f64, dispersion: f64) -> f64 {
        let y = target.number();
        match self {
            Family::Gaussian => match bound_distance(output, target, dispersion) {
                Some((z, _)) => -0.5 * weight * z * normal_share(z).slope,
                None => 0.5 * (weight * (y - output).powi(2) / dispersion - 1.0),
            },
            Family::NegativeBinomial => {
                // With x = d m: 1/d (log(1 + x) - x / (1 + x)) - x y / (1 + x).
                let x = dispersion * output.exp();
                let bend = match x < SMALL {
                    true => x * x * (1.0 / 2.0 - x * (2.0 / 3.0 - x * (3.0 / 4.0 - x * 4.0 / 5.0))),
                    false => x.ln_1p() - x / (1.0 + x),
                };
                weight * (rising_slope(y, dispersion) + bend / dispersion - y * x / (1.0 + x))
            }
            Family::Gamma => {
                let shape = 1.0 / dispersion;
                let ratio = y * (-output).exp();
                -weight * shape * (shape.ln() - digamma(shape) + (1.0 - ratio) + ratio.ln())
            }
            Family::Binomial | Family::Multinomial(_) | Family::Poisson => 0.0,
        }
    }

    /// The deviance of a known target from a mean: twice what the log-likelihood lacks of that of a mean that is the target itself,
    /// times the dispersion of a quantity. `None` for classes.
    pub fn deviance(self, mean: f64, y: f64, dispersion: f64) -> Option<f64> {
        let log_ratio = || if y > 0.0 { y * (y / mean).ln() } else { 0.0 };
        Some(match self {
            Family::Gaussian => (y - mean).powi(2),
            Family::Poisson => 2.0 * (log_ratio() - (y - mean)),
            Family::NegativeBinomial => {
                let larger = ((1.0 + dispersion * y) / (1.0 + dispersion * mean)).ln();
                2.0 * (log_ratio() - (y + 1.0 / dispersion) * larger)
            }
            Family::Gamma => 2.0 * ((y - mean) / mean - (y / mean).ln()),
            Family::Binomial | Family::Multinomial(_) => return None,
        })
    }
}

/// How many standard deviations the values that a bound allows extend beyond the output, and the sign of the derivative of that by
/// the output; `None` where the value is known.
fn bound_distance(output: f64, target: Observed, variance: f64) -> Option<(f64, f64)> {
    match target {
        Observed::Exactly(_) => None,
        Observed::AtMost(bound) => Some(((bound - output) / variance.sqrt(), -1.0)),
        Observed::AtLeast(bound) => Some(((output - bound) / variance.sqrt(), 1.0)),
    }
}

/// `sum over j < y of log(1 + d j)`.
fn rising_log(y: f64, dispersion: f64) -> f64 {
    let product = dispersion * y;
    match () {
        _ if y <= FEW => (0..y as usize).map(|j| (dispersion * j as f64).ln_1p()).sum(),
        _ if product < SMALL => {
            let squares = (y - 1.0) * y * (2.0 * y - 1.0) / 6.0;
            let cubes = (0.5 * y * (y - 1.0)).powi(2);
            dispersion * (0.5 * y * (y - 1.0) - dispersion * (squares / 2.0 - dispersion * cubes / 3.0))
        }
        _ => {
            let size = 1.0 / dispersion;
            log_gamma(y + size) - log_gamma(size) + y * dispersion.ln()
        }
    }
}

/// Its derivative by the logarithm of the dispersion: `sum over j < y of d j / (1 + d j)`.
fn rising_slope(y: f64, dispersion: f64) -> f64 {
    let product = dispersion * y;
    match () {
        _ if y <= FEW => (0..y as usize).map(|j| dispersion * j as f64).map(|x| x / (1.0 + x)).sum(),
        _ if product < SMALL => {
            let squares = (y - 1.0) * y * (2.0 * y - 1.0) / 6.0;
            let cubes = (0.5 * y * (y - 1.0)).powi(2);
            dispersion * (0.5 * y * (y - 1.0) - dispersion * (squares - dispersion * cubes))
        }
        _ => {
            let size = 1.0 / dispersion;
            y - size * (digamma(y + size) - digamma(size))
        }
    }
}

/// `log(1 + exp(x))`.
fn soft_plus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn log_sum(outputs: &[f64]) -> f64 {
    let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + outputs.iter().map(|output| (output - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Observed::{AtLeast, AtMost, Exactly};

    /// First and second derivatives are those of differences of the value.
    #[test]
    fn derivatives_are_those_of_the_value() {
        for (family, outputs, target) in [
            (Family::Gaussian, vec![0.4], Exactly(1.3)),
            (Family::Gaussian, vec![0.4], AtMost(1.3)),
            (Family::Gaussian, vec![0.4], AtMost(-2.3)),
            (Family::Gaussian, vec![0.4], AtLeast(1.3)),
            (Family::Gaussian, vec![0.4], AtLeast(-0.3)),
            (Family::Binomial, vec![-0.7], Exactly(1.0)),
            (Family::Binomial, vec![2.1], Exactly(0.0)),
            (Family::Multinomial(3), vec![0.2, -1.0, 0.9], Exactly(1.0)),
            (Family::Poisson, vec![0.8], Exactly(4.0)),
            (Family::Poisson, vec![-1.2], Exactly(0.0)),
            (Family::NegativeBinomial, vec![1.1], Exactly(7.0)),
            (Family::NegativeBinomial, vec![0.3], Exactly(0.0)),
            (Family::Gamma, vec![0.5], Exactly(2.7)),
            (Family::Gamma, vec![-0.5], Exactly(0.1)),
        ] {
            let mut found = Derivatives::default();
            family.derivatives(&outputs, target, 0.6, &mut found);
            let at = |moves: &[(usize, f64)]| {
                let mut moved = outputs.clone();
                moves.iter().for_each(|(place, by)| moved[*place] += by);
                family.value(&moved, target, 0.6)
            };
            let step = 1e-4;
            for c in 0..outputs.len() {
                let slope = (at(&[(c, step)]) - at(&[(c, -step)])) / (2.0 * step);
                assert!((slope - found.first[c]).abs() < 1e-6, "{family:?}");
                for d in 0..outputs.len() {
                    let corner = |a: f64, b: f64| at(&[(c, a), (d, b)]);
                    let bend = corner(step, step) - corner(step, -step) - corner(-step, step) + corner(-step, -step);
                    let second = -bend / (4.0 * step * step);
                    assert!((second - found.second[c * outputs.len() + d]).abs() < 1e-5, "{family:?} {c} {d}");
                }
            }
        }
    }

    /// The slope by the logarithm of the dispersion is that of differences of value and constant together.
    #[test]
    fn dispersion_slopes_are_those_of_the_whole_likelihood() {
        for (family, output, target, dispersion) in [
            (Family::Gaussian, 0.4, Exactly(1.3), 0.6),
            (Family::Gaussian, 0.4, AtMost(-1.3), 0.6),
            (Family::Gaussian, 0.4, AtLeast(0.9), 2.5),
            (Family::NegativeBinomial, 1.1, Exactly(7.0), 0.6),
            (Family::NegativeBinomial, 1.1, Exactly(0.0), 3.0),
            (Family::NegativeBinomial, 0.4, Exactly(9.0), 4e-4),
            (Family::NegativeBinomial, 5.0, Exactly(230.0), 0.2),
            (Family::NegativeBinomial, 5.0, Exactly(230.0), 3e-6),
            (Family::Gamma, 0.5, Exactly(2.7), 0.6),
            (Family::Gamma, 0.5, Exactly(0.2), 4.0),
            (Family::Gamma, 0.5, Exactly(1.7), 0.003),
        ] {
            // The weight of a normal quantity divides its variance: its density then has another constant.
            for weight in [1.0, 2.5] {
                let whole = |dispersion: f64| {
                    weight * family.value(&[output], target, dispersion) + family.constant(target, weight, dispersion)
                };
                let step = 1e-3f64;
                let slope = (whole(dispersion * step.exp()) - whole(dispersion * (-step).exp())) / (2.0 * step);
                let found = family.dispersion_slope(output, target, weight, dispersion);
                let near = 1e-5 * (1.0 + slope.abs());
                assert!((found - slope).abs() < near, "{family:?} {target:?} {dispersion}: {found} {slope}");
            }
        }
    }

    /// Probabilities of counts add up to 1 and have the mean and the variance of the family; a gamma density has an area of 1.
    #[test]
    fn likelihoods_are_those_of_distributions() {
        let (output, dispersion) = (1.2f64, 0.4);
        let mean = output.exp();
        for (family, variance) in [(Family::Poisson, mean), (Family::NegativeBinomial, mean + dispersion * mean * mean)]
        {
            let mut moments = [0.0; 3];
            for y in 0..400 {
                let target = Exactly(f64::from(y));
                let p = (family.value(&[output], target, dispersion) + family.constant(target, 1.0, dispersion)).exp();
                (0..3).for_each(|power| moments[power as usize] += p * f64::from(y).powi(power));
            }
            let [sum, first, second] = moments;
            assert!((sum - 1.0).abs() < 1e-10 && (first - mean).abs() < 1e-9, "{family:?}: {moments:?}");
            assert!((second - first * first - variance).abs() < 1e-8, "{family:?}: {moments:?}");
        }
        let density = |y: f64| {
            let target = Exactly(y);
            (Family::Gamma.value(&[output], target, dispersion) + Family::Gamma.constant(target, 1.0, dispersion)).exp()
        };
        let (mut area, mut first) = (0.0, 0.0);
        for place in 0..200_000 {
            let y = (f64::from(place) + 0.5) * 4e-4;
            area += 4e-4 * density(y);
            first += 4e-4 * y * density(y);
        }
        assert!((area - 1.0).abs() < 1e-5 && (first - mean).abs() < 1e-4, "{area} {first}");
    }

    /// Twice the difference of log-likelihoods, times the dispersion of a quantity.
    #[test]
    fn deviances_are_differences_of_likelihoods() {
        for (family, y, scale) in [
            (Family::Gaussian, 2.0, 0.4),
            (Family::Poisson, 3.0, 1.0),
            (Family::NegativeBinomial, 5.0, 1.0),
            (Family::Gamma, 0.7, 0.4),
        ] {
            let (mean, dispersion) = (1.9f64, 0.4);
            let output = |mean: f64| if family.is_log() { mean.ln() } else { mean };
            let value = |mean: f64| family.value(&[output(mean)], Exactly(y), dispersion);
            let expected = 2.0 * scale * (value(y) - value(mean));
            let found = family.deviance(mean, y, dispersion).unwrap();
            assert!((found - expected).abs() < 1e-12, "{family:?}: {found} {expected}");
        }
        assert_eq!(Family::Poisson.deviance(2.0, 0.0, 1.0), Some(4.0));
        assert_eq!(Family::Binomial.deviance(0.5, 1.0, 1.0), None);
    }
}
