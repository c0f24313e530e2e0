//! Losses: how wrong outputs are, and which way they should move.
//!
//! ```text
//! binary, one logit     log(1 + exp(-y)) or log(1 + exp(y))       g = sigmoid(y) - target
//! classes               log(sum_c exp(y_c)) - y_target            g_c = softmax(y)_c - [c = target]
//! squared error         (y - target)^2                            g = 2 (y - target)
//! absolute error        |y - target|                              g = sign(y - target)
//! ```
//!
//! Losses are means over known targets, weighted. Several models, which differ in their parameters and in the weights of
//! items, may be trained side by side: rows of outputs hold lane `c * replicates + r` for output `c` of replicate `r`. An
//! item whose weight in a replicate is positive counts in the replicate's training loss; one that the replicate's resample
//! left out counts in its held-out loss. Numbers are f32, eight or sixteen lanes at a time, within sums over few items
//! that are added up in f64.

use pulp::{Arch, Simd, WithSimd};

use crate::spec::Loss;

/// Sums over this many items are made in f32 and then added up in f64.
const ITEMS_IN_F32: usize = 64;

/// The targets of some items, with weights.
#[derive(Clone, Debug)]
pub struct ItemTargets {
    /// Targets per item.
    pub width: usize,
    /// `[items, targets]`: a class index or a value; NaN is missing.
    pub values: Vec<f32>,
    /// How much each item counts.
    pub weights: Vec<f32>,
    /// How much each class counts; empty: 1.
    pub class_weights: Vec<f64>,
}

/// What the outputs of replicates should be, and how much each item counts for each of them.
pub struct LaneTargets {
    loss: Loss,
    /// Number of replicates.
    pub replicates: usize,
    outputs: usize,
    /// `[items, lanes]`: the target of every output; for cross entropy 1 for the class and 0 for the others.
    targets: Vec<f32>,
    /// `[items, lanes]`: the share of an output in the training loss (above 0) or, negative, in the held-out loss. For
    /// cross entropy all lanes of a replicate have the share of the item.
    shares: Vec<f32>,
    /// Replicates whose resample left nothing out.
    complete: Vec<bool>,
}

/// The losses of one replicate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaneLoss {
    /// Over the items of its resample.
    pub train: f64,
    /// Over the others; the training loss where there are none.
    pub left_out: f64,
}

impl ItemTargets {
    /// The targets of the items at these positions.
    pub fn select(&self, positions: &[usize]) -> ItemTargets {
        ItemTargets {
            width: self.width,
            values: positions.iter().flat_map(|i| &self.values[i * self.width..][..self.width]).copied().collect(),
            weights: positions.iter().map(|i| self.weights[*i]).collect(),
            class_weights: self.class_weights.clone(),
        }
    }
}

impl LaneTargets {
    /// Targets of a single model, every item counted once.
    pub fn of_one(loss: Loss, outputs: usize, targets: &ItemTargets) -> LaneTargets {
        LaneTargets::new(loss, outputs, targets, &[vec![1; targets.weights.len()]])
    }

    /// Targets of `counts.len()` replicates; `counts[r][i]` is how often resample `r` holds item `i`.
    pub fn new(loss: Loss, outputs: usize, targets: &ItemTargets, counts: &[Vec<u32>]) -> LaneTargets {
        let replicates = counts.len();
        let items = targets.weights.len();
        let mut lanes = LaneTargets {
            loss,
            replicates,
            outputs,
            targets: vec![0.0; items * outputs * replicates],
            shares: vec![0.0; items * outputs * replicates],
            complete: Vec::with_capacity(replicates),
        };
        let target =
            |item: usize, c: usize| targets.values[item * targets.width + if targets.width == 1 { 0 } else { c }];
        let weight = |item: usize, c: usize| {
            let target = target(item, c);
            let class_weight = targets.class_weights.get(target as usize).copied().unwrap_or(1.0);
            if target.is_nan() { 0.0 } else { f64::from(targets.weights[item]) * class_weight }
        };
        // For cross entropy an item has one target, and every lane of a replicate its share.
        let counted = if loss == Loss::CrossEntropy { 1 } else { outputs };
        for (r, counts) in counts.iter().enumerate() {
            let total = |left_out: bool| -> f64 {
                let items = counts.iter().enumerate().filter(|(_, count)| (**count == 0) == left_out);
                let weights = items.map(|(item, count)| {
                    f64::from(*count.max(&1)) * (0..counted).map(|c| weight(item, c)).sum::<f64>()
                });
                weights.sum()
            };
            let at_least = |total: f64| if total > 0.0 { total } else { 1.0 };
            lanes.complete.push(total(true) == 0.0);
            let (taken, left_out) = (at_least(total(false)), at_least(total(true)));
            for (item, count) in counts.iter().enumerate() {
                for c in 0..outputs {
                    let at = (item * outputs + c) * replicates + r;
                    let (target, weight) = (target(item, c), weight(item, c));
                    lanes.targets[at] = match loss {
                        Loss::CrossEntropy => f32::from(u8::from(target as usize == c && !target.is_nan())),
                        _ if target.is_nan() => 0.0,
                        _ => target,
                    };
                    let share = if *count == 0 { -weight / left_out } else { weight * f64::from(*count) / taken };
                    lanes.shares[at] = share as f32;
                }
            }
        }
        lanes
    }

    /// The losses of every replicate; fills `gradient` with the derivatives of the training losses.
    pub fn evaluate(&self, outputs: &[f32], gradient: &mut [f32]) -> Vec<LaneLoss> {
        let mut losses = Arch::new().dispatch(Evaluate { lanes: self, outputs, gradient });
        for (loss, _) in losses.iter_mut().zip(&self.complete).filter(|(_, complete)| **complete) {
            loss.left_out = loss.train;
        }
        losses
    }
}

struct Evaluate<'a> {
    lanes: &'a LaneTargets,
    outputs: &'a [f32],
    gradient: &'a mut [f32],
}

impl WithSimd for Evaluate<'_> {
    type Output = Vec<LaneLoss>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<LaneLoss> {
        let LaneTargets { loss, replicates, outputs, targets, shares, .. } = self.lanes;
        let width = replicates * outputs;
        let piece = ITEMS_IN_F32 * width;
        let mut losses = vec![LaneLoss::default(); *replicates];
        let mut sums = Sums { train: vec![0.0; width], left_out: vec![0.0; width] };
        let pieces = self.outputs.chunks(piece).zip(self.gradient.chunks_mut(piece));
        for ((y, g), (t, share)) in pieces.zip(targets.chunks(piece).zip(shares.chunks(piece))) {
            match loss {
                Loss::Logistic => by_lane(width, y, t, share, g, &mut sums, logistic),
                Loss::Squared => by_lane(width, y, t, share, g, &mut sums, |y, t| ((y - t) * (y - t), 2.0 * (y - t))),
                Loss::Absolute => by_lane(width, y, t, share, g, &mut sums, |y, t| {
                    ((y - t).abs(), if y == t { 0.0 } else { (y - t).signum() })
                }),
                Loss::CrossEntropy => cross_entropy(*replicates, width, y, t, share, g, &mut sums),
            }
            for (lane, (train, left_out)) in sums.train.iter_mut().zip(&mut sums.left_out).enumerate() {
                losses[lane % replicates].train += f64::from(std::mem::take(train));
                losses[lane % replicates].left_out += f64::from(std::mem::take(left_out));
            }
        }
        losses
    }
}

/// Sums by lane.
struct Sums {
    train: Vec<f32>,
    left_out: Vec<f32>,
}

/// Losses that look at one output at a time.
#[inline(always)]
fn by_lane(
    width: usize,
    outputs: &[f32],
    targets: &[f32],
    shares: &[f32],
    gradient: &mut [f32],
    sums: &mut Sums,
    loss: impl Fn(f32, f32) -> (f32, f32),
) {
    let rows = outputs.chunks_exact(width).zip(targets.chunks_exact(width));
    let rows = rows.zip(shares.chunks_exact(width).zip(gradient.chunks_exact_mut(width)));
    let (train, left_out) = (&mut sums.train[..width], &mut sums.left_out[..width]);
    for ((y, target), (share, gradient)) in rows {
        for lane in 0..width {
            let (loss, slope) = loss(y[lane], target[lane]);
            let taken = share[lane].max(0.0);
            gradient[lane] = taken * slope;
            train[lane] += taken * loss;
            left_out[lane] += (taken - share[lane]) * loss;
        }
    }
}

/// `log(sum_c exp(y_c)) - y_target`, with its derivative `softmax(y)_c - [c = target]`.
#[inline(always)]
fn cross_entropy(
    replicates: usize,
    width: usize,
    outputs: &[f32],
    targets: &[f32],
    shares: &[f32],
    gradient: &mut [f32],
    sums: &mut Sums,
) {
    let rows = outputs.chunks_exact(width).zip(targets.chunks_exact(width));
    let rows = rows.zip(shares.chunks_exact(width).zip(gradient.chunks_exact_mut(width)));
    let (mut largest, mut total, mut chosen) = (vec![0.0; replicates], vec![0.0; replicates], vec![0.0; replicates]);
    for ((y, target), (share, gradient)) in rows {
        largest.fill(f32::NEG_INFINITY);
        for y in y.chunks_exact(replicates) {
            largest.iter_mut().zip(y).for_each(|(largest, y)| *largest = f32::max(*largest, *y));
        }
        total.fill(0.0);
        chosen.fill(0.0);
        let by_class = y.chunks_exact(replicates).zip(target.chunks_exact(replicates));
        for ((y, target), power) in by_class.zip(gradient.chunks_exact_mut(replicates)) {
            for r in 0..replicates {
                power[r] = exponential(y[r] - largest[r]);
                total[r] += power[r];
                chosen[r] += target[r] * (y[r] - largest[r]);
            }
        }
        let by_class = target.chunks_exact(replicates).zip(share.chunks_exact(replicates));
        for ((target, share), gradient) in by_class.zip(gradient.chunks_exact_mut(replicates)) {
            for r in 0..replicates {
                gradient[r] = share[r].max(0.0) * (gradient[r] / total[r] - target[r]);
            }
        }
        for r in 0..replicates {
            let loss = total[r].ln() - chosen[r];
            sums.train[r] += share[r].max(0.0) * loss;
            sums.left_out[r] += (-share[r]).max(0.0) * loss;
        }
    }
}

/// `log(1 + exp(s))` with `s` the output turned away from its target, and the derivative `sigmoid(y) - target`.
#[inline(always)]
fn logistic(y: f32, target: f32) -> (f32, f32) {
    let power = exponential(-y.abs());
    let away = y * (1.0 - 2.0 * target);
    // Written so that an output that is not a number gives a loss that is none.
    let loss = 0.5 * (away + away.abs()) + logarithm_1p(power);
    let small = power / (1.0 + power);
    let sigmoid = if y < 0.0 { small } else { 1.0 - small };
    (loss, sigmoid - target)
}

/// `exp(x)` for `x <= 0`, to f32 rounding: `2^n * exp(rest)`, the rest by its Taylor polynomial.
#[inline(always)]
fn exponential(x: f32) -> f32 {
    /// Adding this rounds to a whole number, which is then in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    // ln 2 in two parts, the first of which has few bits and so exact products.
    let rest = (x - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let mut sum = 1.0 / 720.0;
    for coefficient in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * rest + coefficient;
    }
    sum * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// `ln(1 + x)` for `x` from 0 to 1, to f32 rounding: `2 atanh(x / (2 + x))` by its series.
#[inline(always)]
fn logarithm_1p(x: f32) -> f32 {
    let u = x / (2.0 + x);
    let square = u * u;
    let mut sum = 1.0 / 13.0;
    for coefficient in [1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0] {
        sum = sum * square + coefficient;
    }
    2.0 * u * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn elementary_functions_are_right_to_f32_rounding() {
        for i in 0..=10_000 {
            let x = -(i as f32) * 0.008;
            assert!((exponential(x) / x.exp() - 1.0).abs() < 4e-7, "exp({x})");
            let p = i as f32 / 10_000.0;
            assert!((logarithm_1p(p) - p.ln_1p()).abs() < 2e-7, "ln(1 + {p})");
        }
        assert!(logistic(f32::NAN, 1.0).0.is_nan());
    }

    /// The formulas at the head of this module, one item at a time in f64: the mean loss and its derivative.
    fn slowly(loss: Loss, outputs: &[f32], width: usize, targets: &ItemTargets) -> (f64, Vec<f64>) {
        let known = |item: usize, c: usize| {
            let target = targets.values[item * targets.width + if targets.width == 1 { 0 } else { c }];
            let class = targets.class_weights.get(target as usize).copied().unwrap_or(1.0);
            (!target.is_nan()).then(|| (f64::from(target), f64::from(targets.weights[item]) * class))
        };
        let (mut sum, mut total, mut gradient) = (0.0, 0.0, vec![0.0; outputs.len()]);
        for (item, y) in outputs.chunks_exact(width).enumerate() {
            let y: Vec<f64> = y.iter().map(|y| f64::from(*y)).collect();
            if loss == Loss::CrossEntropy {
                let Some((target, weight)) = known(item, 0) else { continue };
                let powers: f64 = y.iter().map(|y| y.exp()).sum();
                total += weight;
                sum += weight * (powers.ln() - y[target as usize]);
                for c in 0..width {
                    let right = if c == target as usize { 1.0 } else { 0.0 };
                    gradient[item * width + c] = weight * (y[c].exp() / powers - right);
                }
                continue;
            }
            for c in 0..width {
                let Some((target, weight)) = known(item, c) else { continue };
                let (value, slope) = match loss {
                    Loss::Squared => ((y[c] - target).powi(2), 2.0 * (y[c] - target)),
                    Loss::Absolute => ((y[c] - target).abs(), (y[c] - target).signum()),
                    _ => {
                        let away = if target > 0.5 { -y[c] } else { y[c] };
                        (away.exp().ln_1p(), 1.0 / (1.0 + (-y[c]).exp()) - target)
                    }
                };
                total += weight;
                sum += weight * value;
                gradient[item * width + c] = weight * slope;
            }
        }
        let total = if total > 0.0 { total } else { 1.0 };
        (sum / total, gradient.into_iter().map(|g| g / total).collect())
    }

    /// Every replicate against the formulas, with the weights of its resample.
    #[test]
    fn lanes_equal_the_formulas() {
        let mut random = Stream::named(3, "lane loss", 0);
        let (items, replicates) = (101, 5);
        for (loss, outputs, width) in
            [(Loss::Logistic, 2, 2), (Loss::CrossEntropy, 3, 1), (Loss::Squared, 1, 1), (Loss::Absolute, 2, 2)]
        {
            let classes = matches!(loss, Loss::Logistic | Loss::CrossEntropy);
            let count = if loss == Loss::CrossEntropy { 3 } else { 2 };
            let values: Vec<f32> = (0..items * width)
                .map(|_| match random.below(10) {
                    0 => f32::NAN,
                    _ if classes => random.below(count) as f32,
                    _ => random.normal() as f32,
                })
                .collect();
            let weights: Vec<f32> = (0..items).map(|_| random.below(3) as f32).collect();
            let class_weights = if classes { vec![0.5, 2.0, 1.0] } else { Vec::new() };
            let targets = ItemTargets { width, values, weights, class_weights };
            let counts: Vec<Vec<u32>> =
                (0..replicates).map(|_| (0..items).map(|_| random.below(3) as u32).collect()).collect();
            let lanes = LaneTargets::new(loss, outputs, &targets, &counts);
            let y: Vec<f32> = (0..items * outputs * replicates).map(|_| 3.0 * random.normal() as f32).collect();
            let mut gradient = vec![0.0; y.len()];
            let found = lanes.evaluate(&y, &mut gradient);
            for r in 0..replicates {
                let own: Vec<f32> = y.iter().skip(r).step_by(replicates).copied().collect();
                let of = |weigh: &dyn Fn(u32) -> f32| {
                    let weights = targets.weights.iter().zip(&counts[r]).map(|(weight, count)| weight * weigh(*count));
                    slowly(loss, &own, outputs, &ItemTargets { weights: weights.collect(), ..targets.clone() })
                };
                let (train, slopes) = of(&|count| count as f32);
                let (held_out, _) = of(&|count| f32::from(u8::from(count == 0)));
                assert!((found[r].train - train).abs() < 1e-5 * (1.0 + train), "{loss:?} {found:?} {train}");
                assert!(
                    (found[r].left_out - held_out).abs() < 1e-5 * (1.0 + held_out),
                    "{loss:?} {found:?} {held_out}"
                );
                let own = gradient.iter().skip(r).step_by(replicates);
                assert!(own.zip(&slopes).all(|(g, e)| (f64::from(*g) - e).abs() < 1e-6), "{loss:?}");
            }
        }
    }

    #[test]
    fn large_logits_do_not_overflow() {
        let targets =
            ItemTargets { width: 1, values: vec![0.0, 1.0], weights: vec![1.0; 2], class_weights: Vec::new() };
        let found = LaneTargets::of_one(Loss::Logistic, 1, &targets).evaluate(&[1e4, 1e4], &mut [0.0; 2]);
        assert!((found[0].train - 5e3).abs() < 1.0);
    }
}
