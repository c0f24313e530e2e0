//! Matrices in compressed sparse rows, as SciPy stores them; nothing is taken from a file without a check.

use std::ops::Range;

use gnan::error::Error;
use gnan::limits::Limits;

/// What is wrong with a matrix, and in which of its arrays: `shape`, `indptr`, `indices` or `data`.
pub type Flaw = (&'static str, Error);

/// A matrix of which only some entries are stored, row by row.
#[derive(Debug)]
pub struct SparseRows {
    /// Number of columns.
    pub columns: usize,
    /// Entries of row `r` are those from `pointers[r]` to before `pointers[r + 1]`.
    pointers: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl SparseRows {
    /// Accepts the arrays of a matrix if they fit together and no row has a column twice.
    pub fn new(
        shape: &[i64],
        pointers: &[i64],
        indices: &[i64],
        values: Vec<f64>,
        limits: &Limits,
    ) -> Result<SparseRows, Flaw> {
        let (rows, columns) = match *shape {
            [rows, columns] if rows >= 0 && columns >= 0 => (rows as u64, columns as u64),
            _ => return Err(("shape", Error::input("this should be a shape: a number of rows and one of columns"))),
        };
        limits.check_nodes(rows).map_err(|error| ("shape", error))?;
        // An adjacency matrix has as many columns as rows.
        Limits::check(columns, limits.features.max(rows), "features").map_err(|error| ("shape", error))?;
        let ordered = pointers.first() == Some(&0) && pointers.is_sorted();
        let complete = pointers.len() as u64 == rows + 1 && pointers.last() == Some(&(values.len() as i64));
        if !ordered || !complete || indices.len() != values.len() {
            let message = "the compressed rows do not fit the shape, the indices and the data";
            return Err(("indptr", Error::input(message)));
        }
        let index = |&index: &i64| u32::try_from(index).ok().filter(|&index| u64::from(index) < columns);
        let indices = indices.iter().map(index).collect::<Option<Vec<u32>>>();
        let wrong = || Error::input(format!("an index is not from 0 to below {columns}"));
        let indices = indices.ok_or_else(|| ("indices", wrong()))?;
        let pointers: Vec<usize> = pointers.iter().map(|&pointer| pointer as usize).collect();
        let matrix = SparseRows { columns: columns as usize, pointers, indices, values };
        matrix.check_entries()?;
        Ok(matrix)
    }

    fn check_entries(&self) -> Result<(), Flaw> {
        let mut last_row = vec![usize::MAX; self.columns];
        for row in 0..self.rows() {
            for (column, value) in self.row(row) {
                if value.is_infinite() {
                    return Err(("data", Error::input(format!("row {row} has an infinite value"))));
                }
                if std::mem::replace(&mut last_row[column as usize], row) == row {
                    return Err(("indices", Error::input(format!("row {row} has column {column} twice"))));
                }
            }
        }
        Ok(())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.pointers.len() - 1
    }

    /// The stored entries of a row that are not zero: (column, value).
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, f64)> {
        let entries: Range<usize> = self.pointers[row]..self.pointers[row + 1];
        let entries = self.indices[entries.clone()].iter().zip(&self.values[entries]);
        entries.map(|(&column, &value)| (column, value)).filter(|(_, value)| *value != 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(shape: &[i64], pointers: &[i64], indices: &[i64], values: &[f64]) -> String {
        let matrix = SparseRows::new(shape, pointers, indices, values.to_vec(), &Limits::default());
        matrix.map(|_| String::new()).unwrap_or_else(|(_, error)| error.to_string())
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(refusal(&[2, 3], &[0, 1, 2], &[2, 0], &[1.0, 1.0]), "");
        assert!(refusal(&[-1, 3], &[0], &[], &[]).contains("shape"));
        assert!(refusal(&[1 << 60, 3], &[0], &[], &[]).contains("limit"));
        assert!(refusal(&[2, 3], &[0, 2, 1], &[2, 0], &[1.0, 1.0]).contains("do not fit"));
        assert!(refusal(&[2, 3], &[0, 1, 2], &[2], &[1.0, 1.0]).contains("do not fit"));
        assert!(refusal(&[1, 3], &[0, 1], &[3], &[1.0]).contains("below 3"));
        assert!(refusal(&[1, 3], &[0, 2], &[2, 2], &[1.0, 1.0]).contains("twice"));
        assert!(refusal(&[1, 3], &[0, 1], &[2], &[f64::INFINITY]).contains("infinite"));
    }
}
