//! Adam (Kingma and Ba 2015) with weight decay as L2 in the gradient, as torch's `Adam` has it.

use pulp::{Arch, Simd, WithSimd};

/// Weights, gradients and first moments smaller than this count as 0. Far below anything that matters next to
/// `epsilon`, it keeps their squares normal: arithmetic on subnormal numbers is a hundred times slower.
const LEAST: f32 = 1e-16;

/// Settings of Adam.
///
/// A step with learning rate, weight decay and `beta1` all 0 changes no parameter and leaves the gradient in the
/// first moment, which is how tests read gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Step size.
    pub learning_rate: f32,
    /// Strength of L2.
    pub weight_decay: f32,
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Keeps the step finite where the second moment is 0.
    pub epsilon: f32,
}

impl Default for Adam {
    fn default() -> Self {
        Adam { learning_rate: 1e-3, weight_decay: 0.0, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

impl Adam {
    /// The settings of step number `step` (counted from 1), bias corrections included.
    pub(crate) fn step(&self, step: u64) -> AdamStep {
        let correction = |beta: f32| 1.0 - f64::from(beta).powf(step as f64);
        AdamStep {
            adam: *self,
            step_size: (f64::from(self.learning_rate) / correction(self.beta1)) as f32,
            root_scale: (1.0 / correction(self.beta2).sqrt()) as f32,
        }
    }
}

/// Adam at one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdamStep {
    adam: Adam,
    step_size: f32,
    root_scale: f32,
}

impl AdamStep {
    /// The same step with another weight decay.
    pub fn with_decay(mut self, weight_decay: f32) -> Self {
        self.adam.weight_decay = weight_decay;
        self
    }

    /// The learning rate.
    pub fn rate(&self) -> f64 {
        f64::from(self.adam.learning_rate)
    }

    /// What a step is divided by where the second moment is this.
    pub fn metric(&self, second: f64) -> f64 {
        second.sqrt() * f64::from(self.root_scale) + f64::from(self.adam.epsilon)
    }

    /// Moves `weights` along `gradient`.
    pub fn update(&self, weights: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        Arch::new().dispatch(Update { step: *self, weights, gradient, first, second });
    }
}

struct Update<'a> {
    step: AdamStep,
    weights: &'a mut [f32],
    gradient: &'a [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
}

impl WithSimd for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Update { step, weights, gradient, first, second } = self;
        let (weights, weights_tail) = S::as_mut_simd_f32s(weights);
        let (gradient, gradient_tail) = S::as_simd_f32s(gradient);
        let (first, first_tail) = S::as_mut_simd_f32s(first);
        let (second, second_tail) = S::as_mut_simd_f32s(second);
        let vectors = AdamVectors::new(simd, &step);
        for (((w, g), m), v) in weights.iter_mut().zip(gradient).zip(first.iter_mut()).zip(second.iter_mut()) {
            vectors.update(simd, w, *g, m, v);
        }
        if weights_tail.is_empty() {
            return;
        }
        // The tail as a vector too: how long it is depends on the instruction set, what comes out must not.
        let (mut w, g) = (simd.partial_load_f32s(weights_tail), simd.partial_load_f32s(gradient_tail));
        let (mut m, mut v) = (simd.partial_load_f32s(first_tail), simd.partial_load_f32s(second_tail));
        vectors.update(simd, &mut w, g, &mut m, &mut v);
        simd.partial_store_f32s(weights_tail, w);
        simd.partial_store_f32s(first_tail, m);
        simd.partial_store_f32s(second_tail, v);
    }
}

/// The constants of a step, in every lane of a vector.
struct AdamVectors<S: Simd> {
    keep1: S::f32s,
    take1: S::f32s,
    keep2: S::f32s,
    take2: S::f32s,
    decay: S::f32s,
    size: S::f32s,
    scale: S::f32s,
    tiny: S::f32s,
    least: S::f32s,
    least_square: S::f32s,
    zero: S::f32s,
}

impl<S: Simd> AdamVectors<S> {
    #[inline(always)]
    fn new(simd: S, step: &AdamStep) -> AdamVectors<S> {
        let Adam { beta1, beta2, epsilon, weight_decay, .. } = step.adam;
        AdamVectors {
            keep1: simd.splat_f32s(beta1),
            take1: simd.splat_f32s(1.0 - beta1),
            keep2: simd.splat_f32s(beta2),
            take2: simd.splat_f32s(1.0 - beta2),
            decay: simd.splat_f32s(weight_decay),
            size: simd.splat_f32s(-step.step_size),
            scale: simd.splat_f32s(step.root_scale),
            tiny: simd.splat_f32s(epsilon),
            least: simd.splat_f32s(LEAST),
            least_square: simd.splat_f32s(LEAST * LEAST * 0.5),
            zero: simd.splat_f32s(0.0),
        }
    }

    /// One step of some weights. A function and no closure, because closures that are used twice are not inlined, and the
    /// instructions of a vector unit are quick only within a function that is compiled for it.
    #[inline(always)]
    fn update(&self, simd: S, w: &mut S::f32s, g: S::f32s, m: &mut S::f32s, v: &mut S::f32s) {
        let g = self.flush(simd, simd.mul_add_e_f32s(self.decay, *w, g));
        *m = self.flush(simd, simd.mul_add_e_f32s(self.keep1, *m, simd.mul_f32s(self.take1, g)));
        *v = simd.mul_add_e_f32s(self.keep2, *v, simd.mul_f32s(self.take2, simd.mul_f32s(g, g)));
        *v = simd.max_f32s(*v, self.least_square);
        let root = simd.mul_add_e_f32s(simd.sqrt_f32s(*v), self.scale, self.tiny);
        *w = self.flush(simd, simd.mul_add_e_f32s(self.size, simd.div_f32s(*m, root), *w));
    }

    /// Zero for what is too small to matter.
    #[inline(always)]
    fn flush(&self, simd: S, x: S::f32s) -> S::f32s {
        simd.select_f32s(simd.less_than_f32s(simd.abs_f32s(x), self.least), self.zero, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_step_has_the_same_bits_on_every_instruction_set_with_fused_multiply_add() {
        use pulp::x86::{V3, V4};
        let (Some(v3), Some(v4)) = (V3::try_new(), V4::try_new()) else {
            return println!("skipped: this machine has not both instruction sets");
        };
        for count in [1, 7, 8, 13, 16, 19, 45] {
            let step = Adam { learning_rate: 0.1, weight_decay: 0.01, ..Adam::default() }.step(3);
            let gradient: Vec<f32> = (0..count).map(|i| (i * 7 % 11) as f32 * 0.37 - 1.9).collect();
            let [one, other] = [true, false].map(|wide| {
                let mut parts =
                    [0.1f32, 0.2, 0.3].map(|first| (0..count).map(|i| first + i as f32 * 0.01).collect::<Vec<_>>());
                let [weights, first, second] = &mut parts;
                let update = Update { step, weights, gradient: &gradient, first, second };
                if wide {
                    Simd::vectorize(v4, update)
                } else {
                    Simd::vectorize(v3, update)
                }
                parts.map(|part| part.into_iter().map(f32::to_bits).collect::<Vec<_>>())
            });
            assert_eq!(one, other, "{count}");
        }
    }

    #[test]
    fn steps_follow_the_published_recurrence() {
        let adam = Adam { learning_rate: 0.1, weight_decay: 0.01, ..Adam::default() };
        let count = 19;
        let mut w: Vec<f32> = (0..count).map(|i| i as f32 * 0.1 - 1.0).collect();
        let (mut m, mut v) = (vec![0.0; count], vec![0.0; count]);
        let mut exact: Vec<[f64; 3]> = w.iter().map(|w| [f64::from(*w), 0.0, 0.0]).collect();
        for t in 1..=5 {
            let g: Vec<f32> = (0..count).map(|i| ((i * 7 + t * 3) % 11) as f32 - 5.0).collect();
            adam.step(t as u64).update(&mut w, &g, &mut m, &mut v);
            for ([w, m, v], g) in exact.iter_mut().zip(&g) {
                let g = f64::from(*g) + 0.01 * *w;
                *m = 0.9 * *m + 0.1 * g;
                *v = 0.999 * *v + 0.001 * g * g;
                let corrected = (*m / (1.0 - 0.9f64.powi(t as i32)), *v / (1.0 - 0.999f64.powi(t as i32)));
                *w -= 0.1 * corrected.0 / (corrected.1.sqrt() + 1e-8);
            }
        }
        assert!(w.iter().zip(&exact).all(|(w, exact)| (f64::from(*w) - exact[0]).abs() < 1e-4), "{w:?} {exact:?}");
    }
}
