//! Wald's test of whether a curve is 0 everywhere, for penalised curves (Wood 2013, "On p-values for smooth components of an
//! extended generalized additive model", Biometrika 100).
//!
//! `f = Z b` are the values of the curve at the data and `V_f = Z V Z'` their covariance. A curve of few effective degrees of
//! freedom has no more than that many directions in which it can differ from 0, so that
//!
//! ```text
//! T = f' V_f^(r-) f,   r = effective degrees of freedom, rounded;   chi-squared with r degrees of freedom where f is 0
//! ```
//!
//! with the pseudo-inverse of rank `r`: the `r` largest eigenvalues count. With `Z' Z = C' C` the same comes from `C b` and `C V C'`.

use faer::{Mat, Side};

use super::chi_squared::chi_squared_tail;

/// Eigenvalues below this share of the largest are rounding.
const NULL: f64 = 1e-9;

/// A test of whether a curve is 0 everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaldTest {
    /// The statistic.
    pub statistic: f64,
    /// Its degrees of freedom.
    pub rank: usize,
}

impl WaldTest {
    /// The probability of such a statistic or a larger one where the curve is 0.
    pub fn p_value(&self) -> f64 {
        chi_squared_tail(self.statistic, self.rank as f64)
    }

    /// The test of two curves together that are estimated apart.
    pub fn and(self, other: WaldTest) -> WaldTest {
        WaldTest { statistic: self.statistic + other.statistic, rank: self.rank + other.rank }
    }
}

/// The test of coefficients `b` with a covariance, both of one or several outputs after each other, given `Z' Z` of one of them and
/// the effective degrees of freedom of all; `None` where nothing can be tested.
pub fn wald_test(b: &[f64], covariance: &[f64], products: &[f64], freedom: f64) -> Option<WaldTest> {
    let order = (products.len() as f64).sqrt().round() as usize;
    let outputs = b.len().checked_div(order)?;
    let (values, vectors) = eigen(order, |i, j| products[i * order + j])?;
    let largest = values.iter().copied().fold(0.0, f64::max);
    let kept: Vec<usize> = (0..order).filter(|at| values[*at] > NULL * largest && values[*at] > 0.0).collect();
    // C, `[kept, order]`.
    let root: Vec<Vec<f64>> =
        kept.iter().map(|at| (0..order).map(|i| values[*at].sqrt() * vectors[(i, *at)]).collect()).collect();
    let rows = kept.len() * outputs;
    let at = |row: usize| (row / kept.len(), &root[row % kept.len()]);
    // C V, then C V C'.
    let half: Vec<Vec<f64>> = (0..rows)
        .map(|row| {
            let (output, own) = at(row);
            let mut sums = vec![0.0; b.len()];
            for (i, weight) in own.iter().enumerate() {
                let line = &covariance[(output * order + i) * b.len()..][..b.len()];
                sums.iter_mut().zip(line).for_each(|(sum, entry)| *sum += weight * entry);
            }
            sums
        })
        .collect();
    let entry = |row: usize, column: usize| {
        let (output, own) = at(column);
        own.iter().zip(&half[row][output * order..]).map(|(weight, entry)| weight * entry).sum::<f64>()
    };
    let (values, vectors) = eigen(rows, |i, j| 0.5 * (entry(i, j) + entry(j, i)))?;
    let curve: Vec<f64> = (0..rows)
        .map(|row| {
            let (output, own) = at(row);
            own.iter().zip(&b[output * order..]).map(|(weight, b)| weight * b).sum()
        })
        .collect();
    let largest = values.iter().copied().fold(0.0, f64::max);
    let mut by_size: Vec<usize> = (0..rows).filter(|at| values[*at] > NULL * largest && values[*at] > 0.0).collect();
    by_size.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let rank = (freedom.round().max(1.0) as usize).min(by_size.len());
    if rank == 0 {
        return None;
    }
    let along = |at: &usize| -> f64 { curve.iter().enumerate().map(|(row, f)| f * vectors[(row, *at)]).sum() };
    let statistic: f64 = by_size[..rank].iter().map(|at| along(at).powi(2) / values[*at]).sum();
    statistic.is_finite().then_some(WaldTest { statistic, rank })
}

/// Eigenvalues and eigenvectors of a symmetric matrix.
fn eigen(order: usize, entry: impl Fn(usize, usize) -> f64) -> Option<(Vec<f64>, Mat<f64>)> {
    if order == 0 {
        return None;
    }
    let matrix = Mat::from_fn(order, order, entry);
    if (0..order).any(|column| matrix.col_as_slice(column).iter().any(|entry| !entry.is_finite())) {
        return None;
    }
    let found = matrix.self_adjoint_eigen(Side::Lower).ok()?;
    let values = found.S().column_vector().iter().copied().collect();
    Some((values, found.U().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With full rank the statistic is `b' V^-1 b`, whatever the data; by hand for V = [[2, 1], [1, 2]]: V^-1 = [[2, -1], [-1, 2]] / 3.
    #[test]
    fn with_full_rank_it_is_the_usual_test() {
        let test = wald_test(&[1.0, 3.0], &[2.0, 1.0, 1.0, 2.0], &[4.0, 1.0, 1.0, 3.0], 2.0).unwrap();
        assert_eq!(test.rank, 2);
        assert!((test.statistic - (2.0 - 6.0 + 18.0) / 3.0).abs() < 1e-12, "{}", test.statistic);
        assert!((test.p_value() - (-0.5 * test.statistic).exp()).abs() < 1e-12);
    }

    /// One degree of freedom: the direction of the largest variance alone counts.
    #[test]
    fn with_less_rank_the_largest_variance_counts() {
        let test = wald_test(&[1.0, 5.0], &[9.0, 0.0, 0.0, 1.0], &[1.0, 0.0, 0.0, 1.0], 1.2).unwrap();
        assert_eq!(test.rank, 1);
        assert!((test.statistic - 1.0 / 9.0).abs() < 1e-12);
        // Of two outputs with one coefficient each, both directions count.
        let test = wald_test(&[1.0, 5.0], &[9.0, 0.0, 0.0, 1.0], &[3.0], 2.0).unwrap();
        assert!((test.statistic - (1.0 / 9.0 + 25.0)).abs() < 1e-12);
        assert_eq!(wald_test(&[0.0], &[0.0], &[0.0], 1.0), None);
        assert_eq!(wald_test(&[f64::NAN], &[1.0], &[1.0], 1.0), None);
    }
}
