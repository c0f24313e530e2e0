//! The table behind a figure: the same numbers, for readers who want them exactly or cannot see the picture.

use gnan::model::Support;

use super::Estimate;

/// Named columns and their rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureTable {
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows, as long as the header.
    pub rows: Vec<Vec<FigureCell>>,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureCell {
    /// Words.
    Words(String),
    /// A number; one that is not finite is absent.
    Number(f64),
    /// A count.
    Count(u64),
    /// Nothing.
    Empty,
}

impl FigureTable {
    /// A table with these columns and no rows.
    pub fn new<'a>(header: impl IntoIterator<Item = &'a str>) -> FigureTable {
        FigureTable { header: header.into_iter().map(str::to_owned).collect(), rows: Vec::new() }
    }

    /// Leaves out columns that are empty in every row.
    pub fn without_empty_columns(mut self) -> FigureTable {
        let used: Vec<bool> = (0..self.header.len())
            .map(|column| self.rows.iter().any(|row| !matches!(row.get(column), None | Some(FigureCell::Empty))))
            .collect();
        let mut next = used.iter();
        self.header.retain(|_| next.next().copied().unwrap_or(false));
        for row in &mut self.rows {
            let mut next = used.iter();
            row.retain(|_| next.next().copied().unwrap_or(false));
        }
        self
    }
}

impl From<&str> for FigureCell {
    fn from(words: &str) -> FigureCell {
        if words.is_empty() { FigureCell::Empty } else { FigureCell::Words(words.to_owned()) }
    }
}

impl From<&String> for FigureCell {
    fn from(words: &String) -> FigureCell {
        words.as_str().into()
    }
}

/// The columns of an estimate: the number and the ends of its interval.
pub(crate) const ESTIMATE: [&str; 3] = ["value", "95 % from", "to"];
/// The columns of support.
pub(crate) const SUPPORT: [&str; 3] = ["items", "graphs", "nodes"];

/// The cells of an estimate.
pub(crate) fn estimate_cells(estimate: &Estimate) -> [FigureCell; 3] {
    let [low, high] = match estimate.interval() {
        Some(interval) => [interval.low, interval.high].map(FigureCell::Number),
        None => [FigureCell::Empty, FigureCell::Empty],
    };
    [FigureCell::Number(estimate.value), low, high]
}

/// The cells of support.
pub(crate) fn support_cells(support: Support) -> [FigureCell; 3] {
    let graphs = if support.graphs > 1 { FigureCell::Count(support.graphs) } else { FigureCell::Empty };
    [FigureCell::Count(support.items), graphs, FigureCell::Count(support.nodes)]
}
