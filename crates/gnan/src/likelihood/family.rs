//! Families: how likely a target is, given the outputs for its item, with first and second derivatives.

/// What targets are, given outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// A quantity around the output, with one variance for all items.
    Gaussian,
    /// 0 or 1; the output is the log-odds of 1.
    Binomial,
    /// One of several classes, with an output each.
    Multinomial(usize),
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

impl Family {
    /// Number of outputs.
    pub fn outputs(self) -> usize {
        match self {
            Family::Multinomial(classes) => classes,
            _ => 1,
        }
    }

    /// Whether there is a variance to be estimated.
    pub fn has_variance(self) -> bool {
        self == Family::Gaussian
    }

    /// The log-likelihood of a target (a class by its number) with this variance, less what does not depend on the outputs.
    pub fn value(self, outputs: &[f64], target: f64, variance: f64) -> f64 {
        match self {
            Family::Gaussian => -0.5 * (target - outputs[0]).powi(2) / variance,
            Family::Binomial => -soft_plus(if target > 0.5 { -outputs[0] } else { outputs[0] }),
            Family::Multinomial(_) => outputs[target as usize] - log_sum(outputs),
        }
    }

    /// The same with its derivatives.
    pub fn derivatives(self, outputs: &[f64], target: f64, variance: f64, found: &mut Derivatives) {
        found.value = self.value(outputs, target, variance);
        found.first.clear();
        found.second.clear();
        match self {
            Family::Gaussian => {
                found.first.push((target - outputs[0]) / variance);
                found.second.push(1.0 / variance);
            }
            Family::Binomial => {
                let probability = 1.0 / (1.0 + (-outputs[0]).exp());
                found.first.push(target - probability);
                found.second.push((probability * (1.0 - probability)).max(LEAST_WEIGHT));
            }
            Family::Multinomial(_) => {
                let log = log_sum(outputs);
                let probability: Vec<f64> = outputs.iter().map(|output| (output - log).exp()).collect();
                for (class, own) in probability.iter().enumerate() {
                    found.first.push(f64::from(u8::from(class == target as usize)) - own);
                    for (other, its) in probability.iter().enumerate() {
                        found.second.push(if class == other { own * (1.0 - own) } else { -own * its });
                    }
                }
            }
        }
    }

    /// What was left out of the log-likelihood of an item of weight 1.
    pub fn constant(self, variance: f64) -> f64 {
        match self {
            Family::Gaussian => -0.5 * (std::f64::consts::TAU * variance).ln(),
            Family::Binomial | Family::Multinomial(_) => 0.0,
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

    /// First and second derivatives are those of differences of the value.
    #[test]
    fn derivatives_are_those_of_the_value() {
        for (family, outputs, target) in [
            (Family::Gaussian, vec![0.4], 1.3),
            (Family::Binomial, vec![-0.7], 1.0),
            (Family::Binomial, vec![2.1], 0.0),
            (Family::Multinomial(3), vec![0.2, -1.0, 0.9], 1.0),
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
}
