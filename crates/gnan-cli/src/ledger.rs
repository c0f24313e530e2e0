//! A ledger: terms that add up to a total, also as printed.

use anstyle::Style;

use crate::bars::Bars;
use crate::style::{BOLD, DIM, signed};
use crate::table::{Align, Table};

/// Decimals of an amount.
const DECIMALS: usize = 2;
/// Units of the last decimal in one.
const UNITS: f64 = 100.0;
/// Cells of the longest bar.
const BAR_WIDTH: usize = 16;

/// One line of a ledger.
pub struct Term {
    /// What it is.
    pub name: String,
    /// How much it adds.
    pub amount: f64,
    /// What there is to say about it.
    pub remark: String,
}

/// The terms and under a line their total; every amount is within one unit of the last decimal, and they add up.
pub fn ledger(terms: &[Term], total_name: &str, total: f64) -> Table {
    let amounts: Vec<f64> = terms.iter().map(|term| term.amount).collect();
    let bars = Bars::new(amounts.iter().copied(), BAR_WIDTH);
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Left]);
    for (term, units) in terms.iter().zip(units(&amounts, total)) {
        let (bar, bar_style) = bars.bar(term.amount);
        table.painted_row(vec![
            (term.name.clone(), Style::new()),
            (amount(units), signed(units as f64)),
            (bar, bar_style),
            (term.remark.clone(), DIM),
        ]);
    }
    table.rule(2);
    table.styled_row(BOLD, [total_name.to_owned(), amount((total * UNITS).round() as i64)]);
    table
}

fn amount(units: i64) -> String {
    format!("{:+.DECIMALS$}", units as f64 / UNITS)
}

/// Amounts in units of the last decimal, rounded so that they add up to the rounded total: what rounding has lost goes
/// to the amounts that it has changed most.
fn units(amounts: &[f64], total: f64) -> Vec<i64> {
    let mut units: Vec<i64> = amounts.iter().map(|amount| (amount * UNITS).round() as i64).collect();
    let lost = (total * UNITS).round() as i64 - units.iter().sum::<i64>();
    let step = lost.signum();
    let mut order: Vec<usize> = (0..amounts.len()).collect();
    let missing = |index: usize| (amounts[index] * UNITS - units[index] as f64) * step as f64;
    order.sort_by(|a, b| missing(*b).total_cmp(&missing(*a)));
    for index in order.into_iter().take(lost.unsigned_abs() as usize) {
        units[index] += step;
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_amounts_add_up() {
        // 1/3 + 1/3 + 1/3 = 1, and 0.33 * 3 = 0.99: one of them becomes 0.34.
        assert_eq!(units(&[1.0 / 3.0; 3], 1.0), [34, 33, 33]);
        assert_eq!(units(&[0.0064, 0.0062, -0.5], -0.4874), [1, 0, -50]);
        let amounts = [0.005, -1.234, 2.7051, -3.0416, 0.777];
        let total: f64 = amounts.iter().sum();
        assert_eq!(units(&amounts, total).iter().sum::<i64>(), (total * UNITS).round() as i64);
    }
}
