//! Precision: how many decimals the amounts of one table have, and rounding that lets them add up as printed.

/// Fewest decimals of an amount.
const DECIMALS: i32 = 2;
/// Amounts below and above are written as multiples of a power of ten.
const PLAIN: std::ops::Range<f64> = 1e-6..1e9;

/// How amounts are printed: as whole numbers of the last decimal, perhaps of a power of ten.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    decimals: i32,
    exponent: i32,
}

impl Precision {
    /// Two decimals, and more where the largest amount would not have two digits of its own.
    pub fn for_amounts(amounts: impl IntoIterator<Item = f64>) -> Precision {
        let sizes = amounts.into_iter().map(f64::abs).filter(|size| size.is_finite());
        let largest = sizes.fold(0.0, f64::max);
        let magnitude = if largest > 0.0 { largest.log10().floor() as i32 } else { 0 };
        if largest == 0.0 || PLAIN.contains(&largest) {
            return Precision { decimals: DECIMALS.max(1 - magnitude), exponent: 0 };
        }
        Precision { decimals: DECIMALS, exponent: magnitude }
    }

    /// With one decimal more.
    pub fn finer(self) -> Precision {
        Precision { decimals: self.decimals + 1, ..self }
    }

    /// The amount in units of the last decimal, rounded.
    pub fn units(self, amount: f64) -> i64 {
        // In two steps, either of which is a number, even for the smallest and largest amounts.
        let rounded = (amount / 10f64.powi(self.exponent) * 10f64.powi(self.decimals)).round();
        // What is not finite cannot be counted; the bound keeps sums of them countable.
        rounded.clamp(-1e15, 1e15) as i64
    }

    /// A whole number of units as an amount with its sign.
    pub fn show(self, units: i64) -> String {
        let amount = units as f64 / 10f64.powi(self.decimals);
        format!("{amount:+.0$}", self.decimals.unsigned_abs() as usize)
    }

    /// An amount with its sign.
    pub fn signed(self, amount: f64) -> String {
        if amount.is_finite() { self.show(self.units(amount)) } else { format!("{amount:+}") }
    }

    /// An amount that has no sign.
    pub fn unsigned(self, amount: f64) -> String {
        self.signed(amount).trim_start_matches('+').to_owned()
    }

    /// The power of ten that amounts are to be multiplied by, in words.
    pub fn words(self) -> String {
        if self.exponent == 0 { String::new() } else { format!(" (times 1e{})", self.exponent) }
    }

    /// Amounts in units, rounded so that they add up to the total: what rounding has lost goes to the amounts that it
    /// has changed most, and to the first `common` only when there are no others left, so that they read the same in
    /// every ledger. No amount is off by two units.
    pub fn adding_up(self, amounts: &[f64], total: i64, common: usize) -> Vec<i64> {
        let mut units: Vec<i64> = amounts.iter().map(|amount| self.units(*amount)).collect();
        let lost = total - units.iter().sum::<i64>();
        let step = lost.signum();
        let exact = |amount: f64| amount / 10f64.powi(self.exponent) * 10f64.powi(self.decimals);
        let missing = |index: usize| (exact(amounts[index]) - units[index] as f64) * step as f64;
        let mut order: Vec<usize> = (0..amounts.len()).collect();
        order.sort_by(|a, b| (*a < common).cmp(&(*b < common)).then(missing(*b).total_cmp(&missing(*a))));
        for index in order.into_iter().take(lost.unsigned_abs() as usize) {
            units[index] += step;
        }
        units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(amounts: &[f64], total: f64) -> Vec<i64> {
        let precision = Precision { decimals: 2, exponent: 0 };
        precision.adding_up(amounts, precision.units(total), 0)
    }

    #[test]
    fn printed_amounts_add_up() {
        // 1/3 + 1/3 + 1/3 = 1, and 0.33 * 3 = 0.99: one of them becomes 0.34.
        assert_eq!(units(&[1.0 / 3.0; 3], 1.0), [34, 33, 33]);
        assert_eq!(units(&[0.0064, 0.0062, -0.5], -0.4874), [1, 0, -50]);
        let precision = Precision { decimals: 2, exponent: 0 };
        assert_eq!(precision.adding_up(&[1.0 / 3.0; 3], 100, 2), [33, 33, 34]);
        assert_eq!(precision.adding_up(&[0.333, 0.333], 67, 2), [34, 33]);
        let amounts = [0.005, -1.234, 2.7051, -3.0416, 0.777];
        let total: f64 = amounts.iter().sum();
        assert_eq!(units(&amounts, total).iter().sum::<i64>(), (total * 100.0).round() as i64);
    }

    #[test]
    fn small_amounts_have_digits_too() {
        let precision = Precision::for_amounts([0.0123, -0.004]);
        assert_eq!(precision.signed(0.0123), "+0.012");
        assert_eq!(precision.unsigned(0.004), "0.004");
        assert_eq!(Precision::for_amounts([2.5e12]).words(), " (times 1e12)");
        assert_eq!(precision.signed(f64::NAN), "NaN");
    }
}
