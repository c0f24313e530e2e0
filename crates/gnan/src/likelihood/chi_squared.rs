//! The tail of the chi-squared distribution, by the regularised incomplete gamma function.
//!
//! `P(X > x) = Q(r / 2, x / 2)` for `r` degrees of freedom: a series below `r / 2 + 1`, Legendre's continued fraction above it
//! (Abramowitz and Stegun 6.5.29 and 6.5.31).

use super::special_functions::log_gamma;

/// Most terms of the series or the fraction; for degrees of freedom up to some thousands a few hundred are needed.
const MOST_TERMS: usize = 10_000;
/// A term below this share of the sum changes nothing.
const NO_CHANGE: f64 = 1e-16;

/// The probability that a chi-squared number of so many degrees of freedom exceeds `x`.
pub fn chi_squared_tail(x: f64, degrees: f64) -> f64 {
    let (a, x) = (0.5 * degrees, 0.5 * x);
    if x.is_nan() || a.is_nan() {
        return f64::NAN;
    }
    if x <= 0.0 || a <= 0.0 {
        return f64::from(u8::from(a > 0.0));
    }
    if x.is_infinite() {
        return 0.0;
    }
    let factor = (a * x.ln() - x - log_gamma(a)).exp();
    match x < a + 1.0 {
        true => (1.0 - factor * series(a, x)).clamp(0.0, 1.0),
        false => (factor * fraction(a, x)).clamp(0.0, 1.0),
    }
}

/// `sum over n of x^n / (a (a + 1) ... (a + n))`.
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    for n in 1..MOST_TERMS {
        term *= x / (a + n as f64);
        sum += term;
        if term < NO_CHANGE * sum {
            break;
        }
    }
    sum
}

/// `1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...)))`, by Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    let least = f64::MIN_POSITIVE / f64::EPSILON;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / least;
    let mut d = 1.0 / b;
    let mut value = d;
    for n in 1..MOST_TERMS {
        let numerator = -(n as f64) * (n as f64 - a);
        b += 2.0;
        let away = |value: f64| if value.abs() < least { least } else { value };
        d = 1.0 / away(numerator * d + b);
        c = away(b + numerator / c);
        value *= c * d;
        if (c * d - 1.0).abs() < NO_CHANGE.max(f64::EPSILON) {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `P(X > x)`: the usual critical values (Abramowitz and Stegun, table 26.8), `exp(-x / 2)` for two degrees and
    /// `erfc(sqrt(x / 2))` for one.
    #[test]
    fn tails_are_those_of_the_tables() {
        for (x, degrees, expected, tolerance) in [
            (3.841_458_820_694_124, 1.0, 0.05, 1e-12),
            (6.634_896_601_021_214, 1.0, 0.01, 1e-12),
            (11.070_497_693_516_351, 5.0, 0.05, 1e-12),
            (18.307_038_053_275_146, 10.0, 0.05, 1e-12),
            (124.342_113_404_004_1, 100.0, 0.05, 1e-10),
            (0.000_039_270_423_9, 1.0, 0.995, 1e-7),
            (2.0, 2.0, (-1.0f64).exp(), 1e-14),
            (100.0, 2.0, (-50.0f64).exp(), 1e-34),
        ] {
            let found = chi_squared_tail(x, degrees);
            assert!((found - expected).abs() < tolerance, "{x} {degrees}: {found}");
        }
        assert_eq!((chi_squared_tail(0.0, 3.0), chi_squared_tail(-1.0, 3.0)), (1.0, 1.0));
        assert_eq!((chi_squared_tail(f64::INFINITY, 3.0), chi_squared_tail(1.0, 0.0)), (0.0, 0.0));
        assert!(chi_squared_tail(f64::NAN, 3.0).is_nan());
    }

    /// Where series and fraction meet they agree, and the tail falls.
    #[test]
    fn tails_fall_steadily() {
        for degrees in [0.5, 1.0, 3.0, 20.0, 500.0] {
            let tails: Vec<f64> =
                (1..400).map(|step| chi_squared_tail(step as f64 * degrees / 50.0, degrees)).collect();
            assert!(tails.windows(2).all(|pair| pair[0] >= pair[1]), "{degrees}");
            assert!(tails[0] > 0.9 * f64::from(u8::from(degrees >= 3.0)) && tails[398] < 0.1, "{degrees}");
        }
    }
}
