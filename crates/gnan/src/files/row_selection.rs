//! Which rows of a table to keep, and in which order: how nodes are grouped by graph and how some are left out.

use crate::files::tables::{Column, Values};
use crate::groups::group_offsets;

const DROPPED: u32 = u32::MAX;

/// Rows of a table in a new order, each at most once.
pub struct RowSelection {
    /// The old row at each new place.
    rows: Vec<u32>,
    /// The new place of each old row, or [`DROPPED`].
    places: Vec<u32>,
}

impl RowSelection {
    fn new(rows: Vec<u32>, len: usize) -> RowSelection {
        let mut places = vec![DROPPED; len];
        for (place, &row) in (0..).zip(&rows) {
            places[row as usize] = place;
        }
        RowSelection { rows, places }
    }

    /// The rows that are marked, in order.
    pub fn keep(marked: &[bool]) -> RowSelection {
        let rows = (0..).zip(marked).filter(|(_, keep)| **keep).map(|(row, _)| row).collect();
        RowSelection::new(rows, marked.len())
    }

    /// All rows, those of group 0 first, each group in its old order; and where each of the groups begins and ends.
    pub fn grouped(group_of: &[u32], groups: usize) -> (RowSelection, Vec<usize>) {
        let offsets = group_offsets(groups, group_of.iter().map(|group| *group as usize));
        let mut rows = vec![0; group_of.len()];
        let mut next = offsets.clone();
        for (row, &group) in (0..).zip(group_of) {
            let place = &mut next[group as usize];
            rows[*place] = row;
            *place += 1;
        }
        (RowSelection::new(rows, group_of.len()), offsets)
    }

    /// Whether every row stays where it is.
    pub fn keeps_all(&self) -> bool {
        self.rows.len() == self.places.len() && (0..).zip(&self.rows).all(|(place, row)| place == *row)
    }

    /// The new place of an old row that was kept.
    pub fn place(&self, row: u32) -> Option<u32> {
        self.places.get(row as usize).copied().filter(|&place| place != DROPPED)
    }

    /// What `item` gives for each kept row.
    pub fn map<T>(&self, item: impl Fn(usize) -> T) -> Vec<T> {
        self.rows.iter().map(|&row| item(row as usize)).collect()
    }

    /// The same choice made among items, one for each old row.
    pub fn items<T: Clone>(&self, items: &[T]) -> Vec<T> {
        self.map(|row| items[row].clone())
    }

    /// Edges between kept rows, by their new places.
    pub fn edges(&self, mut edges: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
        edges.retain_mut(|edge| match edge.map(|end| self.place(end)) {
            [Some(source), Some(target)] => {
                *edge = [source, target];
                true
            }
            _ => false,
        });
        edges
    }

    /// A column of the kept rows.
    pub fn column(&self, column: Column) -> Column {
        if self.keeps_all() {
            return column;
        }
        let mut bounds = column.bounds;
        bounds.retain_mut(|bound| self.place(bound.row).map(|place| bound.row = place).is_some());
        bounds.sort_unstable_by_key(|bound| bound.row);
        Column { values: self.values(&column.values), bounds, ..column }
    }

    fn values(&self, values: &Values) -> Values {
        match values {
            Values::Numbers(numbers) => Values::Numbers(self.items(numbers)),
            Values::Categories { codes, levels } => {
                Values::Categories { codes: self.items(codes), levels: levels.clone() }
            }
            Values::Sparse { rows, values, .. } => {
                let entries = rows.iter().zip(values);
                let mut kept: Vec<_> = entries.filter_map(|(&row, &value)| Some((self.place(row)?, value))).collect();
                kept.sort_unstable_by_key(|&(row, _)| row);
                let (rows, values) = kept.into_iter().unzip();
                Values::Sparse { len: self.rows.len(), rows, values }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grouping_keeps_the_order_within_a_group() {
        let (selection, offsets) = RowSelection::grouped(&[2, 0, 2, 0], 3);
        assert_eq!(selection.items(&['a', 'b', 'c', 'd']), ['b', 'd', 'a', 'c']);
        assert_eq!(offsets, [0, 2, 2, 4]);
    }

    #[test]
    fn sparse_values_move_with_their_rows() {
        let (selection, _) = RowSelection::grouped(&[1, 0, 0], 2);
        let values = Values::Sparse { len: 3, rows: vec![0, 2], values: vec![5.0, 7.0] };
        assert_eq!(selection.values(&values), Values::Sparse { len: 3, rows: vec![1, 2], values: vec![7.0, 5.0] });
    }
}
