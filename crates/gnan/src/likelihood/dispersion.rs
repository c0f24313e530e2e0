//! The dispersion of a family: the variance of a normal quantity, what the variance of a count has above its mean, that of a gamma
//! quantity by its mean.
//!
//! Between Newton steps it is brought to where the likelihood of the present outputs is largest. Where second derivatives are
//! divided by the dispersion (normal and gamma quantities), the marginal likelihood has `1/2 log d` more for every effective degree of
//! freedom: of values that are all known and normal that gives their squared residuals by items less degrees of freedom. Items of
//! which only a bound is known say something of the variance, too. The dispersion of counts is that of the profile likelihood.

use super::family::Family;
use super::observed::Observed;

/// Bounds of the dispersion of counts and of gamma quantities.
const OF_COUNTS: [f64; 2] = [1e-7, 1e4];
const OF_GAMMA: [f64; 2] = [1e-9, 1e4];
/// Bounds of the dispersion of counts and gamma quantities at the start.
const AT_START: [f64; 2] = [0.05, 10.0];
/// The most that a variance may be, as a multiple of where it starts.
const MOST_VARIANCE: f64 = 1e4;
/// How far from the present logarithm the maximum is searched at first, how near it is found, and the most steps.
const FIRST_STEP: f64 = 0.5;
const NEAR: f64 = 1e-11;
const MOST_STEPS: usize = 100;

/// Targets of a family with the outputs for them.
#[derive(Clone, Copy)]
pub(super) struct FittedTargets<'a> {
    pub family: Family,
    pub targets: &'a [Observed],
    pub weights: &'a [f64],
    /// The output of every item, less the offset.
    pub outputs: &'a [f64],
    pub offset: f64,
}

impl FittedTargets<'_> {
    /// The dispersion after so many degrees of freedom were fitted; `present` is where it is now, and `least` the least variance as a
    /// share of where it starts.
    pub(super) fn dispersion(&self, freedom: f64, present: f64, least: f64) -> f64 {
        let FittedTargets { family, targets, weights, outputs, offset } = *self;
        let known = || (0..targets.len()).filter(|item| weights[*item] != 0.0);
        if family == Family::Gaussian && known().all(|item| targets[item].is_exact()) {
            let (mut squares, mut count) = (0.0, 0.0);
            for item in known() {
                squares += weights[item] * (targets[item].number() - (outputs[item] + offset)).powi(2);
                count += 1.0;
            }
            let floor = (least * half_variance(targets, weights)).max(f64::MIN_POSITIVE);
            return (squares / f64::max(count - freedom, 1.0)).max(floor);
        }
        let exact = known().filter(|item| targets[*item].is_exact()).count() as f64;
        let freed = if family.is_scaled() { 0.5 * freedom.clamp(0.0, (exact - 1.0).max(0.0)) } else { 0.0 };
        let slope = |log: f64| {
            let of_item =
                |item: usize| family.dispersion_slope(outputs[item] + offset, targets[item], weights[item], log.exp());
            known().map(of_item).sum::<f64>() + freed
        };
        let bounds = match family {
            Family::NegativeBinomial => OF_COUNTS,
            Family::Gamma => OF_GAMMA,
            _ => [least, MOST_VARIANCE].map(|share| share * half_variance(targets, weights)),
        };
        falling_root(slope, present.ln(), bounds.map(f64::ln)).exp()
    }
}

/// Where a function of falling sign is 0, between two bounds: brackets around the start that grow, then the Illinois variant of
/// false position.
fn falling_root(value: impl Fn(f64) -> f64, start: f64, [least, most]: [f64; 2]) -> f64 {
    let start = start.clamp(least, most);
    let mut step = FIRST_STEP;
    let (mut low, mut high) = (start, start);
    let (mut above, mut below) = (value(start), value(start));
    if !above.is_finite() {
        return start;
    }
    while above < 0.0 {
        if low <= least {
            return least;
        }
        (high, below) = (low, above);
        low = (low - step).max(least);
        above = value(low);
        step *= 2.0;
    }
    while below > 0.0 {
        if high >= most {
            return most;
        }
        (low, above) = (high, below);
        high = (high + step).min(most);
        below = value(high);
        step *= 2.0;
    }
    let mut last = 0;
    for _ in 0..MOST_STEPS {
        if high - low < NEAR || above == 0.0 {
            break;
        }
        let middle = match (above - below).is_finite() && above > below {
            true => low + (high - low) * above / (above - below),
            false => 0.5 * (low + high),
        };
        let found = value(middle);
        if found == 0.0 || middle <= low || middle >= high {
            return middle;
        }
        // An end that stays twice counts half the next time.
        if found > 0.0 {
            (low, above) = (middle, found);
            below = if last == 1 { 0.5 * below } else { below };
            last = 1;
        } else {
            (high, below) = (middle, found);
            above = if last == -1 { 0.5 * above } else { above };
            last = -1;
        }
    }
    if above.abs() < below.abs() { low } else { high }
}

/// The dispersion that estimates start with; 1 where there is none.
pub(super) fn first_dispersion(family: Family, targets: &[Observed], weights: &[f64]) -> f64 {
    let (mean, half) = (mean_of(targets, weights), half_variance(targets, weights));
    let [least, most] = AT_START;
    match family {
        Family::Gaussian => half,
        Family::NegativeBinomial => ((2.0 * half - mean) / (mean * mean)).clamp(least, most),
        Family::Gamma => (half / (mean * mean)).clamp(least, most),
        Family::Binomial | Family::Multinomial(_) | Family::Poisson => 1.0,
    }
}

/// The variance of an output that one item would leave at the start; infinite for classes, whose estimates start freely.
pub(super) fn first_variance(family: Family, targets: &[Observed], weights: &[f64], dispersion: f64) -> f64 {
    match family {
        Family::Gaussian | Family::Gamma => dispersion,
        Family::Poisson => 1.0 / mean_of(targets, weights),
        Family::NegativeBinomial => 1.0 / mean_of(targets, weights) + dispersion,
        Family::Binomial | Family::Multinomial(_) => f64::INFINITY,
    }
}

/// The mean of the targets that count.
fn mean_of(targets: &[Observed], weights: &[f64]) -> f64 {
    let known = || targets.iter().zip(weights).filter(|(_, weight)| **weight != 0.0).map(|(target, _)| target.number());
    (known().sum::<f64>() / (known().count() as f64).max(1.0)).max(f64::MIN_POSITIVE)
}

/// Half the variance of the targets: where the variance around outputs starts.
pub(super) fn half_variance(targets: &[Observed], weights: &[f64]) -> f64 {
    let known = || targets.iter().zip(weights).filter(|(_, weight)| **weight != 0.0).map(|(target, _)| target.number());
    let count = (known().count() as f64).max(1.0);
    let mean = known().sum::<f64>() / count;
    let variance = known().map(|target| (target - mean).powi(2)).sum::<f64>() / count;
    if variance > 0.0 { 0.5 * variance } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_found_from_either_side_and_bounds_hold() {
        for start in [-9.0, 0.3, 12.0] {
            let found = falling_root(|x: f64| 3.0 - x.exp(), start, [-20.0, 20.0]);
            assert!((found - 3f64.ln()).abs() < 1e-9, "{start}: {found}");
        }
        assert_eq!(falling_root(|_| -1.0, 0.0, [-2.0, 2.0]), -2.0);
        assert_eq!(falling_root(|_| 1.0, 0.0, [-2.0, 2.0]), 2.0);
        assert_eq!(falling_root(|_| f64::NAN, 0.5, [-2.0, 2.0]), 0.5);
    }

    /// A bound that every value satisfies says nothing: the variance is that of the others; with bounds that are far away on the wrong
    /// side it grows.
    #[test]
    fn bounds_say_something_of_the_variance() {
        let values = [-1.3, 0.4, 0.9, -0.2, 1.1];
        let outputs = [0.0; 6];
        let with = |last: Observed| {
            let targets: Vec<Observed> = values.iter().map(|value| Observed::Exactly(*value)).chain([last]).collect();
            let fitted = FittedTargets {
                family: Family::Gaussian,
                targets: &targets,
                weights: &[1.0; 6],
                outputs: &outputs,
                offset: 0.0,
            };
            fitted.dispersion(1.0, 1.0, 1e-12)
        };
        let expected = values.iter().map(|value| value * value).sum::<f64>() / 4.0;
        let far = with(Observed::AtMost(50.0));
        assert!((far - expected).abs() < 1e-9, "{far} {expected}");
        assert!(with(Observed::AtLeast(3.0)) > 1.5 * expected);
    }
}
