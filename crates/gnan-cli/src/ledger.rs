//! A ledger on paper: terms that add up to a total, also as printed, and a waterfall from the first to the last.

use anstyle::Style;
use gnan::explain::{By, Ledger, Reference};
use gnan::numbers::{Precision, counted_more};

use crate::bars::Waterfall;
use crate::style::{BOLD, DIM, signed};
use crate::table::{Align, Table, shorten};

/// Lines that every ledger of a prediction has in common: base and structure.
const COMMON: usize = 2;
/// Cells of the waterfall.
const BAR_WIDTH: usize = 24;
/// Widest name of a term.
const NAME_WIDTH: usize = 40;

/// A ledger as a table.
pub struct LedgerTable {
    table: Table,
    precision: Precision,
}

/// One line of a ledger.
struct Line {
    name: String,
    amount: f64,
    remark: String,
}

impl LedgerTable {
    /// Base, structure (about which `structure` says something), terms and rest, and under a line their total; no
    /// amount is off by two units of the last decimal, and they add up.
    pub fn new(ledger: &Ledger, structure: &str, total_name: &str) -> LedgerTable {
        LedgerTable::named(ledger, structure, total_name, term_noun(ledger.by))
    }

    /// The same; terms are called by a noun.
    pub fn named(ledger: &Ledger, structure: &str, total_name: &str, noun: &str) -> LedgerTable {
        let line = |name: &str, amount: f64, remark: &str| Line {
            name: shorten(name, NAME_WIDTH),
            amount,
            remark: remark.to_owned(),
        };
        let base = match ledger.reference {
            Reference::Average => "the average of the training items",
            Reference::Zero => "the same for all",
        };
        let mut lines = vec![line("base", ledger.base, base)];
        if ledger.by != By::Receiver {
            lines.push(line("structure", ledger.structure, structure));
        }
        let average = |amount| line("average item", amount, "less what all this is on average");
        lines.extend(ledger.average_item.map(average));
        lines.extend(ledger.terms.iter().map(|term| line(&term.name, term.amount, "")));
        lines.extend(ledger.rest.map(|(others, sum)| line(&counted_more(others, noun), sum, "together")));
        LedgerTable::of_lines(&lines, noun, total_name, ledger)
    }

    fn of_lines(lines: &[Line], noun: &str, total_name: &str, ledger: &Ledger) -> LedgerTable {
        let amounts: Vec<f64> = lines.iter().map(|line| line.amount).collect();
        let precision = Precision::for_amounts(amounts.iter().copied().chain([ledger.total, ledger.prediction]));
        // Sums in single and double precision that print differently only by rounding are printed as one.
        let (sum, predicted) = (precision.units(ledger.total), precision.units(ledger.prediction));
        let total = if sum.abs_diff(predicted) <= 1 { predicted } else { sum };
        let units = precision.adding_up(&amounts, total, COMMON);
        let mut sums = vec![0];
        units.iter().for_each(|units| sums.push(sums[sums.len() - 1] + units));
        let waterfall = Waterfall::new(sums.iter().map(|sum| *sum as f64), BAR_WIDTH);
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Left, Align::Left]);
        table = table.header([noun, &format!("adds{}", precision.words()), "so far"]);
        for ((line, units), ends) in lines.iter().zip(units).zip(sums.windows(2)) {
            table.painted_row(vec![
                (line.name.clone(), Style::new()),
                (precision.show(units), signed(units as f64)),
                (precision.show(ends[1]), DIM),
                waterfall.step(ends[0] as f64, ends[1] as f64),
                (line.remark.clone(), DIM),
            ]);
        }
        table.rule(2);
        table.styled_row(BOLD, [total_name.to_owned(), precision.show(total)]);
        LedgerTable { table, precision }
    }

    /// Adds a number to compare the total with.
    pub fn compare(&mut self, style: Style, name: &str, amount: f64, remark: &str) {
        let amount = self.precision.show(self.precision.units(amount));
        self.table.styled_row(style, [name, &amount, "", "", remark]);
    }

    /// The ledger as text.
    pub fn render(&self) -> String {
        self.table.render()
    }
}

/// What one term of a ledger is.
pub fn term_noun(by: By) -> &'static str {
    match by {
        By::Feature => "feature",
        By::Node | By::Receiver => "node",
        By::Distance => "distance",
        By::FeatureAndDistance | By::NodeAndFeature => "pair",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gnan::explain::Term;

    fn printed(amounts: &[f64], prediction: f64) -> String {
        let terms = amounts.iter().map(|amount| Term { name: "x".to_owned(), amount: *amount }).collect();
        let total = amounts.iter().sum();
        let (id, output, by) = ("g".to_owned(), "y".to_owned(), By::Feature);
        let ledger = Ledger {
            id,
            output,
            by,
            reference: Reference::Zero,
            base: 0.0,
            structure: 0.0,
            average_item: None,
            terms,
            rest: None,
            total,
            prediction,
            probability: None,
        };
        anstream::adapter::strip_str(&LedgerTable::new(&ledger, "", "total").render()).to_string()
    }

    #[test]
    fn amounts_of_any_size_have_digits() {
        assert!(printed(&[0.0012, 0.0034], 0.0046).contains("total      +0.0046"));
        let huge = printed(&[1e38, 2e38], 3e38);
        assert!(huge.contains("adds (times 1e38)") && huge.contains("+3.00"), "{huge}");
        assert!(printed(&[1e-300], 1e-300).contains("+1.00"));
        assert!(printed(&[], 0.0).contains("total      +0.00"));
        printed(&[f64::INFINITY, f64::NAN, f64::NEG_INFINITY, f64::INFINITY], f64::NAN);
        printed(&[f64::MAX, f64::MAX], f64::INFINITY);
    }

    #[test]
    fn a_total_that_differs_by_rounding_alone_is_printed_as_predicted() {
        assert!(printed(&[0.2, 0.2949999], 0.2950001 + 0.2).contains("total      +0.50"));
        assert!(printed(&[0.2, 0.2], 0.7).contains("total      +0.40"));
    }
}
