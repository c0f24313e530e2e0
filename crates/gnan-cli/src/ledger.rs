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
    /// Whether a column has standard deviations.
    has_sds: bool,
    precision: Precision,
}

/// One line of a ledger.
struct Line {
    name: String,
    amount: f64,
    sd: Option<f64>,
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
        let line = |name: &str, amount: f64, sd: Option<f64>, remark: &str| Line {
            name: shorten(name, NAME_WIDTH),
            amount,
            sd,
            remark: remark.to_owned(),
        };
        let base = match ledger.reference {
            Reference::Average => "the average of the training items",
            Reference::Zero => "the same for all",
        };
        let mut lines = vec![line("base", ledger.base, None, base)];
        if ledger.by != By::Receiver {
            lines.push(line("structure", ledger.structure, ledger.structure_sd, structure));
        }
        let average = |amount| line("average item", amount, None, "less what all this is on average");
        lines.extend(ledger.average_item.map(average));
        lines.extend(ledger.terms.iter().map(|term| line(&term.name, term.amount, term.sd, "")));
        lines.extend(ledger.rest.map(|(others, sum)| line(&counted_more(others, noun), sum, None, "together")));
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
        // Standard deviations stand beside amounts, in the same digits.
        let has_sds = lines.iter().any(|line| line.sd.is_some());
        let with_sd = |mut cells: Vec<(String, Style)>, sd: Option<f64>| {
            if has_sds {
                let sd = sd.map(|sd| format!("± {}", precision.unsigned(sd))).unwrap_or_default();
                cells.insert(2, (sd, DIM));
            }
            cells
        };
        let mut columns = vec![Align::Left, Align::Right, Align::Right, Align::Left, Align::Left];
        columns.extend(has_sds.then_some(Align::Left));
        if has_sds {
            columns[2..4].fill(Align::Right);
        }
        let mut header = vec![noun.to_owned(), format!("adds{}", precision.words()), "so far".to_owned()];
        if has_sds {
            header.insert(2, "sd".to_owned());
        }
        let mut table = Table::new(&columns).header(header);
        for ((line, units), ends) in lines.iter().zip(units).zip(sums.windows(2)) {
            let cells = vec![
                (line.name.clone(), Style::new()),
                (precision.show(units), signed(units as f64)),
                (precision.show(ends[1]), DIM),
                waterfall.step(ends[0] as f64, ends[1] as f64),
                (line.remark.clone(), DIM),
            ];
            table.painted_row(with_sd(cells, line.sd));
        }
        table.rule(2);
        let total = vec![(total_name.to_owned(), BOLD), (precision.show(total), BOLD)];
        table.painted_row(with_sd(total, ledger.prediction_sd));
        LedgerTable { table, has_sds, precision }
    }

    /// Adds a number to compare the total with.
    pub fn compare(&mut self, style: Style, name: &str, amount: f64, remark: &str) {
        let amount = self.precision.show(self.precision.units(amount));
        let empty = vec![""; 2 + usize::from(self.has_sds)];
        self.table.styled_row(style, [name, &amount].into_iter().chain(empty).chain([remark]));
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
        let terms = amounts.iter().map(|amount| Term { name: "x".to_owned(), amount: *amount, sd: None }).collect();
        let total = amounts.iter().sum();
        let (id, output, by) = ("g".to_owned(), "y".to_owned(), By::Feature);
        let ledger = Ledger {
            id,
            output,
            by,
            reference: Reference::Zero,
            base: 0.0,
            structure: 0.0,
            structure_sd: None,
            average_item: None,
            terms,
            rest: None,
            total,
            prediction,
            prediction_sd: None,
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
