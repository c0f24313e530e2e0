//! Projection: after every step, parameters go back to where every requested rule holds.
//!
//! A B-spline rises where its coefficients rise, is convex where the slopes between them rise, and stays within them. So the
//! coefficients of a monotone function are replaced by the nearest ordered ones, the slopes of a convex one likewise,
//! and a bounded one is made smaller as a whole: it, its missing level and its mean then lie within the bound. A rho
//! that serves a monotone or convex function is never negative, those that serve a bounded one stay within -1 and 1, all
//! lenses together; the scale is left to the function. All of it is computed in f64 and survives rounding to f32 and the
//! change of units after training.

use crate::model::{FeatureSchema, Layout, Parameters};
use crate::shape::Basis;
use crate::spec::{Curvature, Rules, Trend};

/// A bounded function keeps this far below its bound, relative to it, against rounding.
const BOUND_MARGIN: f64 = 1e-5;
/// Slopes that must not fall rise at least by this, relative to the largest coefficient and per gap, against rounding.
const SLOPE_MARGIN: f64 = 5e-7;

/// What must hold for the parameters of a model.
pub(super) struct Projection {
    shapes: Vec<RuledShape>,
    /// For every distance function the range that it must keep to.
    rhos: Vec<(f64, f64)>,
    rho_monotone: bool,
    /// What outputs are multiplied by after training, per output.
    gains: Vec<f64>,
}

struct RuledShape {
    spline: usize,
    rules: Rules,
    missing: Option<usize>,
}

impl Projection {
    /// The rules of these features and of rho; after training source values are multiplied by `gains`.
    pub(super) fn new(features: &[FeatureSchema], layout: &Layout, rho_monotone: bool, gains: &[f32]) -> Projection {
        let everything = (f64::NEG_INFINITY, f64::INFINITY);
        let mut rhos = vec![if rho_monotone { (0.0, f64::INFINITY) } else { everything }; layout.rho_functions()];
        let mut shapes = Vec::new();
        for (feature, place) in features.iter().zip(&layout.features).filter(|(feature, _)| feature.rules.promise()) {
            let Some(spline) = place.network else { continue };
            for lens in 0..layout.lenses {
                let (lowest, highest) = &mut rhos[layout.function(place.first_rho, lens)];
                if feature.rules.need_sign() {
                    *lowest = 0.0;
                }
                if feature.rules.bound.is_some() {
                    // A source may count by every lens.
                    let most = 1.0 / layout.lenses as f64;
                    (*lowest, *highest) = (lowest.max(-most), most);
                }
            }
            shapes.push(RuledShape {
                spline,
                rules: feature.rules,
                missing: feature.missing.map(|_| place.first_value),
            });
        }
        Projection { shapes, rhos, rho_monotone, gains: gains.iter().map(|gain| f64::from(*gain)).collect() }
    }

    /// Moves parameters to where every rule holds.
    pub(super) fn apply(&self, parameters: &mut Parameters) {
        self.shapes.iter().for_each(|shape| self.apply_to_shape(shape, parameters));
        let outputs = self.gains.len();
        for (rho, (lowest, highest)) in self.rhos.iter().enumerate() {
            if !self.rho_monotone && lowest.is_infinite() {
                continue;
            }
            let block = parameters.rhos.block_mut(rho);
            for c in 0..outputs {
                let mut values = column(block, outputs, c);
                if self.rho_monotone {
                    // Coefficients are in the order of t = 1 / (1 + distance): the farthest comes first.
                    values = nearest_rising(&values, &vec![1.0; values.len()]);
                }
                let kept = values.into_iter().map(|value| value.clamp(*lowest, *highest));
                set_column(block, outputs, c, kept);
            }
        }
    }

    fn apply_to_shape(&self, shape: &RuledShape, parameters: &mut Parameters) {
        let Some(form) = parameters.shapes.splines().get(shape.spline).cloned() else { return };
        let (basis, outputs) = (&form.basis, self.gains.len());
        if basis.full_count() == 0 {
            return;
        }
        for (c, gain) in self.gains.iter().enumerate() {
            let mut curve = CurveOfOutput {
                coefficients: column(parameters.shapes.block(shape.spline), outputs, c),
                missing: shape.missing.map(|value| f64::from(parameters.values[value * outputs + c])),
            };
            if basis.anchored {
                curve.coefficients.insert(0, 0.0);
            }
            curve.keep_to(&shape.rules, basis, *gain);
            let first = if basis.anchored { curve.coefficients.remove(0) } else { 0.0 };
            let block = parameters.shapes.block_mut(shape.spline);
            set_column(block, outputs, c, curve.coefficients.into_iter().map(|value| value - first));
            if let Some((value, missing)) = shape.missing.zip(curve.missing) {
                parameters.values[value * outputs + c] = missing as f32;
            }
        }
    }
}

/// The curve of a feature for one output.
struct CurveOfOutput {
    coefficients: Vec<f64>,
    missing: Option<f64>,
}

impl CurveOfOutput {
    fn keep_to(&mut self, rules: &Rules, basis: &Basis, gain: f64) {
        match (rules.curvature, rules.direction) {
            (Some(curvature), direction) => self.bend(curvature, direction, basis),
            (None, Some(Trend::Up)) => self.rise(),
            (None, Some(Trend::Down)) => self.upside_down(CurveOfOutput::rise),
            (None, None) => {}
        }
        if let Some(bound) = rules.bound {
            self.keep_within(bound * (1.0 - BOUND_MARGIN) / gain, basis);
        }
    }

    fn upside_down(&mut self, change: impl FnOnce(&mut CurveOfOutput)) {
        self.coefficients.iter_mut().for_each(|c| *c = -*c);
        change(self);
        self.coefficients.iter_mut().for_each(|c| *c = -*c);
    }

    fn rise(&mut self) {
        self.coefficients = nearest_rising(&self.coefficients, &vec![1.0; self.coefficients.len()]);
    }

    /// Makes slopes rise (or fall), and have the sign of the direction; the mean of the coefficients stays.
    fn bend(&mut self, curvature: Curvature, direction: Option<Trend>, basis: &Basis) {
        if curvature == Curvature::Concave {
            let opposite = direction.map(|direction| match direction {
                Trend::Up => Trend::Down,
                Trend::Down => Trend::Up,
            });
            return self.upside_down(|curve| curve.bend(Curvature::Convex, opposite, basis));
        }
        let gaps: Vec<f64> = (1..self.coefficients.len()).map(|j| basis.greville(j) - basis.greville(j - 1)).collect();
        let largest = self.coefficients.iter().fold(0.0f64, |largest, c| largest.max(c.abs()));
        // Slopes must rise by a little more than rounding can take away.
        let mut margins = vec![0.0; gaps.len()];
        for j in 1..gaps.len() {
            margins[j] = margins[j - 1] + SLOPE_MARGIN * largest * (1.0 / gaps[j - 1] + 1.0 / gaps[j]);
        }
        let rises = self.coefficients.windows(2).zip(&gaps).zip(&margins);
        let slopes: Vec<f64> = rises.map(|((pair, gap), margin)| (pair[1] - pair[0]) / gap - margin).collect();
        let slopes = nearest_rising(&slopes, &gaps).into_iter().zip(&margins).map(|(slope, margin)| slope + margin);
        let mean = self.coefficients.iter().sum::<f64>() / self.coefficients.len() as f64;
        let mut at = 0.0;
        let mut found = vec![0.0];
        for (slope, gap) in slopes.zip(&gaps) {
            at += gap
                * match direction {
                    Some(Trend::Up) => slope.max(0.0),
                    Some(Trend::Down) => slope.min(0.0),
                    None => slope,
                };
            found.push(at);
        }
        let shift = mean - found.iter().sum::<f64>() / found.len() as f64;
        self.coefficients = found.into_iter().map(|c| c + shift).collect();
    }

    /// Makes everything smaller until no two things curve differ by more than `bound`: each then lies within it of the mean.
    fn keep_within(&mut self, bound: f64, basis: &Basis) {
        let weights = Basis { anchored: false, ..basis.clone() }.at(0.0);
        let reference: f64 = weights.terms().map(|(j, weight)| weight * self.coefficients[j]).sum();
        let curve = self.coefficients.iter().map(|c| c - reference).chain(self.missing).chain([0.0]);
        let (lowest, highest) = curve.fold((0.0f64, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
        let spread = highest - lowest;
        if spread > bound {
            let factor = bound / spread;
            self.coefficients.iter_mut().chain(&mut self.missing).for_each(|x| *x *= factor);
        }
    }
}

/// The ascending numbers nearest to these (least squares with weights), by pooling neighbours that are out of order.
fn nearest_rising(values: &[f64], weights: &[f64]) -> Vec<f64> {
    // Mean, weight and length of every pool.
    let mut pools: Vec<(f64, f64, usize)> = Vec::with_capacity(values.len());
    for (value, weight) in values.iter().zip(weights) {
        let mut pool = (*value, *weight, 1);
        while let Some(last) = pools.last().filter(|last| last.0 > pool.0) {
            let weight = last.1 + pool.1;
            pool = ((last.0 * last.1 + pool.0 * pool.1) / weight, weight, last.2 + pool.2);
            pools.pop();
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(mean, _, len)| std::iter::repeat_n(mean, len)).collect()
}

fn column(block: &[f32], outputs: usize, c: usize) -> Vec<f64> {
    block.iter().skip(c).step_by(outputs).map(|x| f64::from(*x)).collect()
}

fn set_column(block: &mut [f32], outputs: usize, c: usize, values: impl Iterator<Item = f64>) {
    block.iter_mut().skip(c).step_by(outputs).zip(values).for_each(|(to, from)| *to = from as f32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn pools_are_means_and_order_stays() {
        let even = |values: &[f64]| nearest_rising(values, &vec![1.0; values.len()]);
        assert_eq!(even(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        assert_eq!(even(&[3.0, 2.0, 1.0, 5.0]), [2.0, 2.0, 2.0, 5.0]);
        assert_eq!(nearest_rising(&[4.0, 1.0], &[1.0, 3.0]), [1.75, 1.75]);
        assert!(even(&[]).is_empty());
    }

    /// What is kept to the rules once is kept to them: a second projection changes nothing.
    #[test]
    fn rules_hold_after_rounding_and_a_second_time() {
        let mut random = Stream::named(1, "projection", 0);
        for seed in 0..200 {
            let values: Vec<f64> = (0..3 + seed % 60).map(|_| random.normal()).collect();
            let basis = Basis::of_values(values, false);
            if basis.anchored {
                continue;
            }
            let rules = Rules {
                direction: [None, Some(Trend::Up), Some(Trend::Down)][random.below(3)],
                curvature: [None, Some(Curvature::Convex), Some(Curvature::Concave)][random.below(3)],
                bound: [None, Some(0.7)][random.below(2)],
                smooth: None,
            };
            let coefficients: Vec<f64> = (0..basis.full_count()).map(|_| 3.0 * random.normal()).collect();
            let mut curve = CurveOfOutput { coefficients, missing: Some(random.normal()) };
            curve.keep_to(&rules, &basis, 0.3);
            let rounded: Vec<f64> = curve.coefficients.iter().map(|c| f64::from(*c as f32 * 0.37f32)).collect();
            let slopes: Vec<f64> = (1..rounded.len())
                .map(|j| (rounded[j] - rounded[j - 1]) / (basis.greville(j) - basis.greville(j - 1)))
                .collect();
            let rises = slopes.windows(2).all(|pair| pair[0] <= pair[1]);
            let falls = slopes.windows(2).all(|pair| pair[0] >= pair[1]);
            assert!(rules.curvature != Some(Curvature::Convex) || rises, "{rules:?} {slopes:?}");
            assert!(rules.curvature != Some(Curvature::Concave) || falls, "{rules:?} {slopes:?}");
            assert!(rules.direction != Some(Trend::Up) || slopes.iter().all(|slope| *slope >= 0.0));
            assert!(rules.direction != Some(Trend::Down) || slopes.iter().all(|slope| *slope <= 0.0));
            let once = curve.coefficients.clone();
            curve.keep_to(&rules, &basis, 0.3);
            let moved = once.iter().zip(&curve.coefficients).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Bounds and slopes keep their margins every time.
            assert!(moved < 1e-3, "{rules:?} {moved}");
        }
    }
}
