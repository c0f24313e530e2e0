//! Special functions: the gamma function, and the share of a normal distribution below a point, safe far out in its tails.

use super::chi_squared::chi_squared_tail;

/// Beyond so many standard deviations below the mean a continued fraction is used.
const FAR: f64 = 2.0;
/// Digits of the argument above which Stirling's series are exact.
const LARGE: f64 = 10.0;

/// The logarithm of the gamma function of a positive number: Stirling's series, after the argument was raised above 10.
pub(super) fn log_gamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < LARGE {
        below += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    // Bernoulli numbers B_2n / (2n (2n - 1)).
    let series = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
    let correction = series.iter().rev().fold(0.0, |sum, term| sum * inverse + term) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + correction - below
}

/// The derivative of [`log_gamma`].
pub(super) fn digamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < LARGE {
        below += 1.0 / x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    // Bernoulli numbers B_2n / 2n.
    let series = [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0, 1.0 / 12.0];
    let correction = series.iter().rev().fold(0.0, |sum, term| sum * inverse + term) * inverse;
    x.ln() - 0.5 / x - correction - below
}

/// The share of a normal distribution below a point, by its logarithm and the derivatives of that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NormalShare {
    /// `log F(z)`.
    pub log: f64,
    /// Its derivative, `h = f(z) / F(z)`.
    pub slope: f64,
    /// Its second derivative with the sign changed, `h (z + h)`, between 0 and 1.
    pub bend: f64,
}

/// The share of a normal distribution below `z`.
///
/// Far below the mean `h = x + k` with `x = -z` and the continued fraction `k = 1 / (x + 2 / (x + 3 / (x + ...)))` (Abramowitz and
/// Stegun 26.2.14), so that `z + h = k` is never a difference of two large numbers.
pub(super) fn normal_share(z: f64) -> NormalShare {
    let log_density = -0.5 * z * z - 0.5 * std::f64::consts::TAU.ln();
    if z < -FAR {
        let x = -z;
        let terms = 20 + (600.0 / (x * x)) as usize;
        let k = (1..=terms).rev().fold(0.0, |below, number| number as f64 / (x + below));
        return NormalShare { log: log_density - (x + k).ln(), slope: x + k, bend: (x + k) * k };
    }
    // The share above |z|.
    let tail = 0.5 * chi_squared_tail(z * z, 1.0);
    let (share, log) = if z < 0.0 { (tail, tail.ln()) } else { (1.0 - tail, (-tail).ln_1p()) };
    let slope = log_density.exp() / share;
    NormalShare { log, slope, bend: slope * (z + slope) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_of_whole_numbers_and_a_half() {
        assert!((log_gamma(5.0) - 24f64.ln()).abs() < 1e-13);
        assert!((log_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-13);
    }

    /// At 1 minus Euler's constant, at a half that less 2 log 2; else by differences.
    #[test]
    fn digamma_is_the_slope_of_the_logarithm_of_gamma() {
        let euler = 0.577_215_664_901_532_9;
        assert!((digamma(1.0) + euler).abs() < 1e-13);
        assert!((digamma(0.5) + euler + 2.0 * 2f64.ln()).abs() < 1e-13);
        for x in [0.02, 0.7, 3.0, 12.5, 4000.0] {
            let step = 1e-5 * x;
            let slope = (log_gamma(x + step) - log_gamma(x - step)) / (2.0 * step);
            assert!((digamma(x) - slope).abs() < 1e-7 * (1.0 + slope.abs()), "{x}: {} {slope}", digamma(x));
        }
    }

    /// Shares of the tables (Abramowitz and Stegun 26.1), both formulas where they meet, and far out the leading terms
    /// `h = x + 1 / x - 2 / x^3`.
    #[test]
    fn shares_of_a_normal_distribution() {
        for (z, expected) in [(0.0, 0.5), (-1.959_963_984_540_054, 0.025), (1.0, 0.841_344_746_068_542_9)] {
            assert!((normal_share(z).log.exp() - expected).abs() < 1e-14, "{z}");
        }
        let [outer, inner] = [-FAR - 1e-9, -FAR + 1e-9].map(normal_share);
        assert!((outer.log - inner.log).abs() < 1e-8 && (outer.slope - inner.slope).abs() < 1e-8);
        assert!((outer.bend - inner.bend).abs() < 1e-8);
        for x in [50.0f64, 1e4, 1e8] {
            let found = normal_share(-x);
            assert!((found.slope - x - 1.0 / x).abs() < 3.0 / x.powi(3) + 1e-15 * x, "{x}: {found:?}");
            assert!(found.log.is_finite() && found.bend > 0.99 && found.bend <= 1.0, "{x}: {found:?}");
        }
        let above = normal_share(40.0);
        assert_eq!((above.log, above.bend), (0.0, 0.0));
    }
}
