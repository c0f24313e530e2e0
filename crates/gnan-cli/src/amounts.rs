//! Named amounts, one row each: effects of levels and values, importances, the structure curve. One output has a bar,
//! several have a column each.

use anstyle::Style;
use gnan::explain::{CanonicalLevel, ShapeCurve};
use gnan::files::Task;
use gnan::model::Bin;
use gnan::model::Support;
use gnan::numbers::{Precision, count, counted, counted_more, in_unit};
use gnan_report::text::bin_values;

use crate::bars::Bars;
use crate::style::DIM;
use crate::table::{Align, Table, shorten};

/// Cells of the longest bar.
const BAR_WIDTH: usize = 16;
/// Widest name in a table.
const NAME_WIDTH: usize = 32;
/// Widest name of an output.
const OUTPUT_WIDTH: usize = 12;
/// Most outputs that have a column each.
pub const MOST_OUTPUTS: usize = 8;
/// Values at which a curve is shown that has no density under it.
const PLACES: usize = 5;

/// A name with an amount per output, and what there is to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// How much, per output.
    pub values: Vec<f64>,
    /// Such as its support.
    pub remark: String,
    /// Whether it is the sum of many, which no bar compares with single ones.
    pub is_sum: bool,
}

/// What nodes and graphs are called.
#[derive(Clone, Copy, Debug)]
pub struct Nouns {
    /// A node.
    pub node: &'static str,
    /// A graph.
    pub graph: &'static str,
}

/// The usual nouns.
pub const NODES: Nouns = Nouns { node: "node", graph: "graph" };
/// Of values of whole graphs.
pub const GRAPHS: Nouns = Nouns { node: "graph", graph: "graph" };
/// Of links.
pub const EDGES: Nouns = Nouns { node: "edge", graph: "graph" };

/// The rows as a table: of effects, which have signs, or of sizes.
pub fn amounts_table(first: &str, rows: &[Row], outputs: &[String], signed: bool) -> Table {
    let columns = outputs.len().min(MOST_OUTPUTS);
    let shown = rows.iter().flat_map(|row| row.values.iter().take(columns).copied());
    let precision = Precision::for_amounts(shown.clone());
    let show = |value: f64| if signed { precision.signed(value) } else { precision.unsigned(value) };
    let mut aligns = vec![Align::Left];
    aligns.extend(vec![Align::Right; columns]);
    aligns.extend([Align::Left, Align::Left]);
    let mut table = Table::new(&aligns);
    if columns > 1 || !precision.words().is_empty() {
        let names = outputs.iter().take(columns).map(|name| shorten(name, OUTPUT_WIDTH));
        let name = format!("{first}{}", precision.words());
        table = table.header(std::iter::once(name).chain(names));
    }
    let single = rows.iter().filter(|row| !row.is_sum).filter_map(|row| row.values.first());
    let bars = Bars::new(single.copied(), BAR_WIDTH);
    for row in rows {
        let mut cells = vec![(shorten(&row.name, NAME_WIDTH), Style::new())];
        cells.extend(row.values.iter().take(columns).map(|value| (show(*value), Style::new())));
        if columns == 1 {
            cells.extend(row.values.first().map(|value| match row.is_sum {
                true => (String::new(), Style::new()),
                false => bars.bar(*value),
            }));
        }
        cells.push((row.remark.clone(), DIM));
        table.painted_row(cells);
    }
    table
}

/// How strong a row is: the sum of its sizes over outputs.
fn strength(row: &Row) -> f64 {
    row.values.iter().map(|value| value.abs()).sum()
}

/// The strongest rows, strongest first, and the others.
pub fn strongest(mut rows: Vec<Row>, count: usize) -> (Vec<Row>, Vec<Row>) {
    rows.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    let others = rows.split_off(count.min(rows.len()));
    (rows, others)
}

/// The largest size of any value of some rows.
pub fn largest_size(rows: &[Row]) -> f64 {
    rows.iter().flat_map(|row| &row.values).fold(0.0, |largest, value| value.abs().max(largest))
}

/// The others as one row: how many, and their sum.
pub fn summed(others: &[Row], noun: &str) -> Option<Row> {
    let mut values = others.first()?.values.clone();
    for row in &others[1..] {
        values.iter_mut().zip(&row.values).for_each(|(sum, value)| *sum += value);
    }
    Some(Row { name: counted_more(others.len(), noun), values, remark: "together".to_owned(), is_sum: true })
}

/// A support in words.
pub fn support_words(support: Support, task: Task, nouns: Nouns) -> String {
    let nodes = counted(support.nodes as usize, nouns.node);
    let graphs = match task {
        Task::Graph => format!(" in {}", counted(support.graphs as usize, nouns.graph)),
        Task::Node if support.items == support.nodes => String::new(),
        Task::Node => format!(", {} labelled", count(support.items as usize)),
    };
    let little = if support.is_little() { ": little support" } else { "" };
    format!("{nodes}{graphs}{little}")
}

/// The levels of a feature as rows, for the outputs that `choose` picks.
pub fn level_rows(
    levels: &[CanonicalLevel],
    task: Task,
    nouns: Nouns,
    choose: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<Row> {
    let row = |level: &CanonicalLevel| Row {
        name: level.name.clone(),
        values: choose(&level.values),
        remark: support_words(level.support, task, nouns),
        is_sum: false,
    };
    levels.iter().map(row).collect()
}

/// A curve at the centres of the bins under it (all, or those of the lowest, middle and highest values and the quartiles),
/// or without bins at evenly spaced values.
pub fn curve_rows(
    curve: &ShapeCurve,
    unit: Option<&str>,
    whole: bool,
    all: bool,
    task: Task,
    nouns: Nouns,
    choose: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<Row> {
    let row =
        |name: String, x: f64, remark: String| Row { name, values: choose(&curve.value_at(x)), remark, is_sum: false };
    if curve.bins.iter().all(|bin| bin.support.nodes == 0) {
        return curve.evenly_spaced(PLACES).into_iter().map(|x| row(in_unit(x, unit), x, String::new())).collect();
    }
    let shown = if all { curve.bins.clone() } else { curve.quartile_bins() };
    let of_bin = |bin: Bin| {
        let ends = bin_values(&bin, whole, curve.ends().map(|[_, largest]| largest));
        let [from, to] = ends.map(|value| in_unit(value, unit));
        let name = if ends[0] == ends[1] { from } else { format!("{from} to {to}") };
        row(name, bin.centre(), support_words(bin.support, task, nouns))
    };
    shown.into_iter().map(of_bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(table: &Table) -> String {
        anstream::adapter::strip_str(&table.render()).to_string()
    }

    #[test]
    fn levels_come_with_their_support() {
        let level = |name: &str, value, nodes, graphs| CanonicalLevel {
            name: name.to_owned(),
            missing: false,
            values: vec![value],
            support: Support { nodes, graphs, items: graphs },
        };
        let nouns = Nouns { node: "atom", graph: "molecule" };
        let levels = [level("Li", -0.2, 1, 1), level("O", 0.4, 1484, 500)];
        let rows = level_rows(&levels, Task::Graph, nouns, |values| values.to_vec());
        let text = plain(&amounts_table("", &rows, &["y".to_owned()], true));
        assert!(text.contains("1,484 atoms in 500 molecules\n"), "{text}");
        assert!(text.contains("1 atom in 1 molecule: little support"), "{text}");
    }

    #[test]
    fn what_is_left_out_is_summed() {
        let row = |name: &str, value| Row {
            name: name.to_owned(),
            values: vec![value, 1.0],
            remark: String::new(),
            is_sum: false,
        };
        let (first, others) = strongest(vec![row("a", 0.1), row("b", -3.0), row("c", 0.2)], 1);
        assert_eq!(first[0].name, "b");
        let rest = summed(&others, "feature").unwrap();
        assert_eq!(rest.name, "2 more features");
        assert!((rest.values[0] - 0.3).abs() < 1e-12 && rest.values[1] == 2.0);
        assert_eq!(summed(&[], "feature"), None);
        // The strongest by all outputs together is "a" at 1.1, the largest value of one output is that of "c".
        let rows = [row("a", 0.1), Row { values: vec![1.05, 0.0], ..row("c", 0.0) }];
        assert_eq!((largest_size(&rows), largest_size(&[])), (1.05, 0.0));
    }

    #[test]
    fn a_curve_is_shown_where_values_lie() {
        let bin =
            |from: f64, nodes| Bin { from, to: from + 1.0, support: Support { nodes, graphs: nodes, items: nodes } };
        let bins = vec![bin(0.0, 1), bin(1.0, 50), bin(2.0, 0), bin(3.0, 30), bin(4.0, 20)];
        let curve = ShapeCurve { points: vec![(0.0, vec![0.0]), (5.0, vec![10.0])], bins, deciles: Vec::new() };
        let names = |whole, all| -> Vec<String> {
            let rows = curve_rows(&curve, None, whole, all, Task::Graph, NODES, <[f64]>::to_vec);
            rows.into_iter().map(|row| row.name).collect()
        };
        assert_eq!(names(false, false), ["0 to 1", "1 to 2", "3 to 4", "4 to 5"]);
        assert_eq!(names(false, true).len(), 5);
        assert_eq!(names(true, false), ["0", "1", "3", "4"], "whole numbers are in one bin each");
        assert_eq!(curve_rows(&curve, None, false, true, Task::Graph, NODES, <[f64]>::to_vec)[2].values, [5.0]);
        let bare = ShapeCurve { bins: Vec::new(), ..curve };
        let rows = curve_rows(&bare, None, false, false, Task::Graph, NODES, <[f64]>::to_vec);
        assert_eq!(rows.iter().map(|row| row.values[0]).collect::<Vec<_>>(), [0.0, 2.5, 5.0, 7.5, 10.0]);
    }
}
