//! The kind of each edge in a table of edges: a label, or the order of a chemical bond.

use crate::error::Result;
use crate::files::molecule::BondOrder;
use crate::files::table::{Table, typed_column};
use crate::files::tables::{Column, Kind, Values};

/// Columns that hold a label of the edges, the first that is there.
pub const LABEL_COLUMNS: [&str; 3] = ["label", "type", "relation"];
/// The column that holds orders of bonds (or labels, if they are none).
pub const BOND_COLUMN: &str = "bond";

/// Labels and orders of the edges.
#[derive(Debug, Default)]
pub struct EdgeKinds {
    /// The label of each edge.
    pub labels: Option<Column>,
    /// The order of each edge, if all are bonds.
    pub bonds: Option<Vec<BondOrder>>,
}

impl EdgeKinds {
    /// Takes out the columns that hold the kind of each edge.
    pub fn take(edges: &mut Table) -> Result<EdgeKinds> {
        let mut kinds = EdgeKinds::default();
        if let Some(name) = LABEL_COLUMNS.into_iter().find(|name| edges.names().any(|known| known == *name)) {
            kinds.labels = take_labels(edges, name)?;
            kinds.bonds = kinds.labels.as_ref().and_then(bonds_of_labels);
        }
        if let Some(column) = take_labels(edges, BOND_COLUMN)? {
            match orders(&column, |_| true) {
                Some(bonds) => kinds.bonds = Some(bonds),
                None => kinds.labels = kinds.labels.or(Some(column)),
            }
        }
        Ok(kinds)
    }
}

fn take_labels(edges: &mut Table, name: &str) -> Result<Option<Column>> {
    let Some(mut cells) = edges.take(name) else { return Ok(None) };
    (cells.words, cells.categorical) = (true, true);
    typed_column::typed(cells, edges).map(|column| Some(column.with_kind(Kind::Categorical)))
}

/// The order of each edge, if every label is the word for one; a number may be anything.
pub fn bonds_of_labels(labels: &Column) -> Option<Vec<BondOrder>> {
    let is_word = |level: &String| level.parse::<f64>().is_err();
    orders(labels, is_word).filter(|bonds| !bonds.is_empty())
}

/// The order of each edge, if every level is one.
fn orders(labels: &Column, may_be: impl Fn(&String) -> bool) -> Option<Vec<BondOrder>> {
    let Values::Categories { codes, levels } = &labels.values else { return None };
    let orders: Vec<_> =
        levels.iter().map(|level| BondOrder::named(level).filter(|_| may_be(level))).collect::<Option<_>>()?;
    codes.iter().map(|&code| orders.get(code as usize).copied()).collect()
}
