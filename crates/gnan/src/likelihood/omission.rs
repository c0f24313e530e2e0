//! What leaving coefficients out takes from the marginal likelihood, without fitting again.
//!
//! A model without some coefficients `b` is the one in which they are 0. So the ratio of both marginal likelihoods is that of the
//! densities of `b` at 0, before and after the data (the Savage-Dickey ratio), strengths and dispersion being what they are:
//!
//! ```text
//! loss = 1/2 (log |S_bb| + log |V_bb| + b' V_bb^-1 b)
//! ```
//!
//! Coefficients that are left out one set after the other extend one Cholesky factor of `V_bb`.

use super::newton::PenalisedEstimate;
use super::penalty::Block;

/// Coefficients of an estimate that are left out, set after set.
pub struct Omission<'a> {
    estimate: &'a PenalisedEstimate,
    blocks: &'a [Block],
    /// Coefficients of an output.
    columns: usize,
    /// What is left out so far.
    rows: OmittedRows,
}

/// Rows of the factor `L` of `V_bb`, with `L^-1 b`.
#[derive(Clone, Default)]
struct OmittedRows {
    coefficients: Vec<usize>,
    factor: Vec<Vec<f64>>,
    solved: Vec<f64>,
}

/// A set that may be left out next.
pub struct NextOmission {
    /// What the logarithm of the marginal likelihood loses by it, after what is left out already.
    pub loss: f64,
    rows: OmittedRows,
}

impl<'a> Omission<'a> {
    /// Nothing left out yet of an estimate with these blocks and so many coefficients of an output.
    pub fn new(estimate: &'a PenalisedEstimate, blocks: &'a [Block], columns: usize) -> Omission<'a> {
        Omission { estimate, blocks, columns, rows: OmittedRows::default() }
    }

    /// Some blocks, by their places, as what may be left out next.
    pub fn next(&self, places: impl IntoIterator<Item = usize>) -> NextOmission {
        let PenalisedEstimate { coefficients, root, lambdas, .. } = self.estimate;
        let outputs = coefficients.len() / self.columns;
        let mut next = NextOmission { loss: 0.0, rows: OmittedRows::default() };
        for place in places {
            let block = &self.blocks[place];
            next.loss += 0.5 * (outputs * block.repeats) as f64 * block.log_determinant(&lambdas[place]);
            let count = block.repeats * block.size;
            let of_output =
                |output: usize| (block.first..block.first + count).map(move |at| output * self.columns + at);
            next.rows.coefficients.extend((0..outputs).flat_map(of_output));
        }
        let all = || self.rows.coefficients.iter().chain(&next.rows.coefficients);
        for (place, own) in next.rows.coefficients.iter().enumerate() {
            let before = self.rows.factor.len() + place;
            let mut row: Vec<f64> = Vec::with_capacity(before + 1);
            for (at, other) in all().enumerate().take(before) {
                let known = self.rows.factor.get(at).unwrap_or_else(|| &next.rows.factor[at - self.rows.factor.len()]);
                let sum: f64 = known.iter().zip(&row).map(|(a, b)| a * b).sum();
                row.push((root.inverse(*own, *other) - sum) / known[at]);
            }
            let square = root.inverse(*own, *own) - row.iter().map(|entry| entry * entry).sum::<f64>();
            if square.is_nan() || square <= 0.0 {
                return NextOmission { loss: f64::INFINITY, ..next };
            }
            let solved = || self.rows.solved.iter().chain(&next.rows.solved);
            let sum: f64 = row.iter().zip(solved()).map(|(entry, z)| entry * z).sum();
            let z = (coefficients[*own] - sum) / square.sqrt();
            next.loss += 0.5 * (square.ln() + z * z);
            row.push(square.sqrt());
            next.rows.solved.push(z);
            next.rows.factor.push(row);
        }
        next
    }

    /// Leaves a set out, which must be the next of what is left out now.
    pub fn leave_out(&mut self, next: NextOmission) {
        self.rows.coefficients.extend(next.rows.coefficients);
        self.rows.factor.extend(next.rows.factor);
        self.rows.solved.extend(next.rows.solved);
    }
}
