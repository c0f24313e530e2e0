//! Dense kernels of the shape networks, for rows whose width is a multiple of [`LANES`].
//!
//! Every function is generic over the vector unit that `pulp` finds at run time and is inlined into the pass that
//! calls it ([`Forward`](super::network::Forward), [`Backward`](super::network::Backward)), so a whole pass is
//! compiled once per instruction set and the binary stays portable.

use pulp::Simd;

/// Widths of hidden layers are multiples of this: the longest vector of any supported instruction set.
pub const LANES: usize = 16;

/// A strided view of the left factor of a product: element `(p, q)` is `values[p * row + q * column]`.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    pub values: &'a [f32],
    pub row: usize,
    pub column: usize,
}

/// What a product starts from.
#[derive(Clone, Copy)]
pub enum Start<'a> {
    /// Every row starts as this one.
    Row(&'a [f32]),
    /// Every row starts at zero.
    Zero,
}

/// `out[p, :] = start + sum_q left(p, q) * right[q, :]` for `rows x inner` times `inner x width`.
///
/// Tiles of four rows by four vectors keep sixteen accumulators in registers.
#[inline(always)]
pub fn product<S: Simd>(simd: S, out: &mut [f32], start: Start<'_>, left: Strided<'_>, right: &[f32], width: usize) {
    let rows = out.len() / width;
    let vectors = width / S::F32_LANES;
    let inner = right.len() / width;
    let (out, _) = S::as_mut_simd_f32s(out);
    let (right, _) = S::as_simd_f32s(right);
    let start = match start {
        Start::Row(row) => Some(S::as_simd_f32s(row).0),
        Start::Zero => None,
    };
    let mut vector = 0;
    while vector < vectors {
        let block = if S::F32_LANES == LANES { 4 } else { 2 };
        let block = if vectors - vector >= block { block } else { 1 };
        let mut row = 0;
        while row < rows {
            let tile = if rows - row >= 4 { 4 } else { 1 };
            match (tile, block) {
                (4, 4) => tile_product::<S, 4, 4>(simd, out, start, left, right, vectors, inner, row, vector),
                (4, 2) => tile_product::<S, 4, 2>(simd, out, start, left, right, vectors, inner, row, vector),
                (4, _) => tile_product::<S, 4, 1>(simd, out, start, left, right, vectors, inner, row, vector),
                (_, 4) => tile_product::<S, 1, 4>(simd, out, start, left, right, vectors, inner, row, vector),
                (_, 2) => tile_product::<S, 1, 2>(simd, out, start, left, right, vectors, inner, row, vector),
                _ => tile_product::<S, 1, 1>(simd, out, start, left, right, vectors, inner, row, vector),
            }
            row += tile;
        }
        vector += block;
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn tile_product<S: Simd, const R: usize, const V: usize>(
    simd: S,
    out: &mut [S::f32s],
    start: Option<&[S::f32s]>,
    left: Strided<'_>,
    right: &[S::f32s],
    vectors: usize,
    inner: usize,
    row: usize,
    vector: usize,
) {
    let zero = simd.splat_f32s(0.0);
    let first: [S::f32s; V] = std::array::from_fn(|v| start.map_or(zero, |start| start[vector + v]));
    let mut sums = [first; R];
    for q in 0..inner {
        let factors: &[S::f32s] = &right[q * vectors + vector..q * vectors + vector + V];
        for r in 0..R {
            let factor = simd.splat_f32s(left.values[(row + r) * left.row + q * left.column]);
            for v in 0..V {
                sums[r][v] = simd.mul_add_e_f32s(factor, factors[v], sums[r][v]);
            }
        }
    }
    for r in 0..R {
        for v in 0..V {
            out[(row + r) * vectors + vector + v] = sums[r][v];
        }
    }
}

/// Sums that a dot product has under way: the same on every instruction set, so that all of them round alike.
const SUMS: usize = 2 * LANES;

/// `sum_i a[i] * b[i]`
///
/// Element `i` is added to sum `i % SUMS`; the sums are then added in halves, as vector units add the lanes of a vector.
#[inline(always)]
pub fn dot<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    match SUMS / S::F32_LANES {
        2 => dot_in::<S, 2>(simd, a, b),
        4 => dot_in::<S, 4>(simd, a, b),
        8 => dot_in::<S, 8>(simd, a, b),
        _ => dot_in::<S, SUMS>(simd, a, b),
    }
}

/// [`dot`] with `V` vectors of sums.
#[inline(always)]
fn dot_in<S: Simd, const V: usize>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let ((a, _), (b, _)) = (S::as_simd_f32s(a), S::as_simd_f32s(b));
    let mut sums = [simd.splat_f32s(0.0); V];
    // By position: `chunks` of the standard library is not inlined here, and a call per vector costs more than its sum.
    let mut at = 0;
    while at + V <= a.len() {
        let (a, b) = (&a[at..at + V], &b[at..at + V]);
        for position in 0..V {
            sums[position] = simd.mul_add_e_f32s(a[position], b[position], sums[position]);
        }
        at += V;
    }
    for position in 0..a.len() - at {
        sums[position] = simd.mul_add_e_f32s(a[at + position], b[at + position], sums[position]);
    }
    let mut vectors = V;
    while vectors > 1 {
        vectors /= 2;
        for at in 0..vectors {
            sums[at] = simd.add_f32s(sums[at], sums[at + vectors]);
        }
    }
    simd.reduce_sum_f32s(sums[0])
}

/// `out += factor * row`
#[inline(always)]
pub fn add_scaled<S: Simd>(simd: S, out: &mut [f32], factor: f32, row: &[f32]) {
    let ((out, _), (row, _)) = (S::as_mut_simd_f32s(out), S::as_simd_f32s(row));
    let factor = simd.splat_f32s(factor);
    for (out, value) in out.iter_mut().zip(row) {
        *out = simd.mul_add_e_f32s(factor, *value, *out);
    }
}

/// `values = max(values, 0) * mask`
#[inline(always)]
pub fn rectify<S: Simd>(simd: S, values: &mut [f32], mask: Option<&[f32]>) {
    let zero = simd.splat_f32s(0.0);
    match mask {
        None => {
            for value in S::as_mut_simd_f32s(values).0 {
                *value = simd.max_f32s(*value, zero);
            }
        }
        Some(mask) => {
            let (mask_vectors, _) = S::as_simd_f32s(mask);
            for row in values.chunks_exact_mut(mask.len()) {
                for (value, mask) in S::as_mut_simd_f32s(row).0.iter_mut().zip(mask_vectors) {
                    *value = simd.mul_f32s(simd.max_f32s(*value, zero), *mask);
                }
            }
        }
    }
}

/// The derivative of [`rectify`]: `gradient = gradient * mask` where the output was positive, else 0.
///
/// A unit that a dropout mask silenced has output 0 and so gradient 0.
#[inline(always)]
pub fn rectify_gradient<S: Simd>(simd: S, gradient: &mut [f32], output: &[f32], mask: Option<&[f32]>) {
    let zero = simd.splat_f32s(0.0);
    {
        let ((gradient, _), (output, _)) = (S::as_mut_simd_f32s(gradient), S::as_simd_f32s(output));
        for (gradient, output) in gradient.iter_mut().zip(output) {
            *gradient = simd.select_f32s(simd.greater_than_f32s(*output, zero), *gradient, zero);
        }
    }
    if let Some(mask) = mask {
        let (mask_vectors, _) = S::as_simd_f32s(mask);
        for row in gradient.chunks_exact_mut(mask.len()) {
            for (value, mask) in S::as_mut_simd_f32s(row).0.iter_mut().zip(mask_vectors) {
                *value = simd.mul_f32s(*value, *mask);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

    use super::*;
    use crate::random::Stream;

    struct Product<'a> {
        out: &'a mut [f32],
        bias: &'a [f32],
        left: Strided<'a>,
        right: &'a [f32],
    }

    impl WithSimd for Product<'_> {
        type Output = ();
        fn with_simd<S: Simd>(self, simd: S) {
            product(simd, self.out, Start::Row(self.bias), self.left, self.right, self.bias.len());
        }
    }

    struct Dot<'a>(&'a [f32], &'a [f32]);

    impl WithSimd for Dot<'_> {
        type Output = f32;
        fn with_simd<S: Simd>(self, simd: S) -> f32 {
            dot(simd, self.0, self.1)
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_dot_product_has_the_same_bits_on_every_instruction_set_with_fused_multiply_add() {
        use pulp::x86::{V3, V4};
        let mut random = Stream::named(1, "dot", 0);
        let (Some(v3), Some(v4)) = (V3::try_new(), V4::try_new()) else {
            return println!("skipped: this machine has not both instruction sets");
        };
        for length in [16, 32, 48, 64, 80, 128, 1024] {
            let mut draw = || (0..length).map(|_| random.normal() as f32).collect::<Vec<_>>();
            let (a, b) = (draw(), draw());
            let exact: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            let found = Simd::vectorize(v3, Dot(&a, &b));
            assert_eq!(found.to_bits(), Simd::vectorize(v4, Dot(&a, &b)).to_bits(), "{length}");
            assert!((f64::from(found) - exact).abs() < 1e-4, "{length}: {found} for {exact}");
        }
    }

    #[test]
    fn a_product_equals_its_definition_for_every_tile_shape() {
        let mut random = Stream::named(1, "product", 0);
        for (rows, inner, width) in [(1, 1, 16), (2, 64, 64), (4, 3, 32), (7, 64, 80), (9, 5, 48), (13, 16, 112)] {
            let mut draw = |count: usize| (0..count).map(|_| random.normal() as f32).collect::<Vec<_>>();
            let (left, right, bias) = (draw(rows * inner), draw(inner * width), draw(width));
            for (row, column) in [(inner, 1), (1, rows)] {
                let mut out = vec![f32::NAN; rows * width];
                let left = Strided { values: &left, row, column };
                Arch::new().dispatch(Product { out: &mut out, bias: &bias, left, right: &right });
                for p in 0..rows {
                    for c in 0..width {
                        let exact: f64 = f64::from(bias[c])
                            + (0..inner)
                                .map(|q| f64::from(left.values[p * row + q * column]) * f64::from(right[q * width + c]))
                                .sum::<f64>();
                        assert!((f64::from(out[p * width + c]) - exact).abs() < 1e-4, "{rows} {inner} {width}");
                    }
                }
            }
        }
    }
}
