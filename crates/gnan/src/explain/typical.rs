//! The most typical prediction of a data set.

use super::explainer::Explainer;
use crate::error::Result;

/// Most items that are compared.
const MOST_COMPARED: usize = 400;

impl Explainer<'_> {
    /// The position of the item whose contributions by feature, with the structure term, lie nearest to their medians over
    /// the items (or evenly chosen ones of very many); `None` without items.
    pub fn most_typical(&self) -> Result<Option<usize>> {
        let every = self.data().len().div_ceil(MOST_COMPARED).max(1);
        let positions: Vec<usize> = (0..self.data().len()).step_by(every).collect();
        let rows = positions.iter().map(|position| self.by_feature(*position)).collect::<Result<Vec<Vec<f64>>>>()?;
        Ok(nearest_to_medians(&rows).map(|row| positions[row]))
    }
}

/// The row with the least squared distance to the medians of the columns; of several, the first.
fn nearest_to_medians(rows: &[Vec<f64>]) -> Option<usize> {
    let median = |column: usize| {
        let mut values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let medians: Vec<f64> = (0..rows.first()?.len()).map(median).collect();
    let distance = |row: &usize| rows[*row].iter().zip(&medians).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    (0..rows.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The medians are 2 and 1; the rows miss them by 1 + 0, 0 + 16 and 64 + 1.
    #[test]
    fn the_nearest_row_need_not_hold_a_median_in_every_column() {
        assert_eq!(nearest_to_medians(&[vec![1.0, 1.0], vec![2.0, 5.0], vec![10.0, 0.0]]), Some(0));
        assert_eq!(nearest_to_medians(&[]), None);
    }
}
