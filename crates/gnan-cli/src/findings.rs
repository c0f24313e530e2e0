//! Curves over distance, as a table.

use anstyle::Style;
use gnan::explain::CurveByDistance;
use gnan::numbers::{counted, with_sign};

use crate::bars::Bars;
use crate::style::DIM;
use crate::table::{Align, Table, shorten};

/// Cells of the longest bar.
const BAR_WIDTH: usize = 24;
/// Distances that a table of several curves shows.
pub const FIRST_DISTANCES: usize = 8;
/// Widest name in a table.
const NAME_WIDTH: usize = 24;

/// One curve as a bar per distance, with the number of nodes that have a source there; several as a table.
pub fn distance_table(curves: &[CurveByDistance], receivers: &[f64], shown: usize, node: &str) -> Table {
    match curves {
        [only] => one_curve(only, receivers, shown, node),
        several => many_curves(several, shown),
    }
}

fn one_curve(curve: &CurveByDistance, receivers: &[f64], shown: usize, node: &str) -> Table {
    let receivers_at = |slot: usize| counted(receivers.get(slot).map_or(0, |count| *count as usize), node);
    let mut rows: Vec<(String, f64, String)> = Vec::new();
    for (distance, value) in curve.values.iter().enumerate().take(shown) {
        let words = match distance {
            0 => "0  itself".to_owned(),
            1 => "1  neighbours".to_owned(),
            _ => distance.to_string(),
        };
        rows.extend(value.map(|value| (words, value, receivers_at(distance))));
    }
    rows.extend(
        curve
            .unreachable
            .map(|value| ("unreachable".to_owned(), value, receivers_at(receivers.len().saturating_sub(1)))),
    );
    let bars = Bars::new(rows.iter().map(|(_, value, _)| *value), BAR_WIDTH);
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Right]);
    for (words, value, support) in rows {
        let number = (with_sign(value, 2), Style::new());
        table.painted_row(vec![(words, DIM), number, bars.bar(value), (support, DIM)]);
    }
    table
}

fn many_curves(curves: &[CurveByDistance], shown: usize) -> Table {
    let distances = curves.iter().map(|curve| curve.values.len()).max().unwrap_or(0).min(FIRST_DISTANCES);
    let unreachable = curves.iter().any(|curve| curve.unreachable.is_some());
    let mut columns = vec![Align::Left];
    columns.extend(vec![Align::Right; distances + usize::from(unreachable)]);
    let mut header = vec!["distance".to_owned()];
    header.extend((0..distances).map(|distance| distance.to_string()));
    header.extend(unreachable.then(|| "unreachable".to_owned()));
    let mut table = Table::new(&columns).header(header);
    let cell = |value: Option<f64>| value.map(|value| with_sign(value, 2)).unwrap_or_default();
    for curve in curves.iter().take(shown) {
        let mut cells = vec![shorten(&curve.name, NAME_WIDTH)];
        cells.extend((0..distances).map(|distance| cell(curve.values.get(distance).copied().flatten())));
        cells.extend(unreachable.then(|| cell(curve.unreachable)));
        table.row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(table: &Table) -> String {
        anstream::adapter::strip_str(&table.render()).to_string()
    }

    fn curve(name: &str, values: Vec<Option<f64>>, unreachable: Option<f64>) -> CurveByDistance {
        CurveByDistance { name: name.to_owned(), values, unreachable, rho: 0, output: 0 }
    }

    #[test]
    fn one_rho_is_a_bar_per_distance() {
        let curve = curve("", vec![Some(1.0), Some(0.5), None], Some(0.0));
        let text = plain(&distance_table(&[curve], &[60.0, 58.0, 0.0, 2.0], 20, "node"));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("  0  itself      +1.00  {}  60 nodes", "█".repeat(24)));
        assert_eq!(lines[1], format!("  1  neighbours  +0.50  {}{}  58 nodes", "█".repeat(12), " ".repeat(12)));
        assert!(lines[2].starts_with("  unreachable") && lines[2].ends_with("2 nodes"));
    }

    #[test]
    fn several_rhos_are_a_table() {
        let curve = |name: &str| curve(name, vec![Some(1.0), Some(-0.5)], None);
        let text = plain(&distance_table(&[curve("ring"), curve("charge")], &[], 20, "node"));
        assert_eq!(text.lines().last(), Some("  charge    +1.00  -0.50"));
    }
}
