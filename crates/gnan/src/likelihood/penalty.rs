//! Penalties: which coefficients are tied to which, and how strongly.
//!
//! A block of coefficients has several penalties `S_j`, each with a strength `lambda_j` of its own. All penalties of a block
//! have the same eigenvectors, so that `log |S|_+` and the traces of the Fellner-Schall update follow from their eigenvalues
//! alone.

use faer::{Mat, Side};

/// Eigenvalues of the sum of the penalties of a block smaller than this share of the largest are 0.
const NULL: f64 = 1e-10;

/// Coefficients that share penalties: `repeats` groups of them, one after the other, each penalised by the same matrices.
#[derive(Clone, Debug)]
pub struct Block {
    /// The first coefficient.
    pub first: usize,
    /// Number of groups.
    pub repeats: usize,
    /// Coefficients of a group.
    pub size: usize,
    /// Blocks with the same number here share the strengths of their penalties, of which they must have as many.
    pub tie: Option<usize>,
    /// `S_j`, `[size, size]`.
    penalties: Vec<Vec<f64>>,
    /// The eigenvalues of every `S_j`, in the order of the common eigenvectors.
    spectra: Vec<Vec<f64>>,
    /// A penalty of fixed strength, with its eigenvalues: what it penalises is held at 0.
    held: Option<(Vec<f64>, Vec<f64>)>,
}

/// A cell of a table over two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellPlace {
    /// Its row and column; those beyond any are tied to nothing.
    pub at: [usize; 2],
    /// Whether its row, and its column, is alike the one before and after it.
    pub ordered: [bool; 2],
    /// How much it counts in the means of its row and column.
    pub weight: f64,
}

/// The strength by which means of rows and columns are held at 0.
const HELD: f64 = 1e8;

/// `D' D` for differences of an order between so many neighbours.
fn differences(count: usize, order: usize) -> Vec<f64> {
    let steps: &[f64] = if order == 1 { &[-1.0, 1.0] } else { &[1.0, -2.0, 1.0] };
    let mut product = vec![0.0; count * count];
    for first in 0..(count + 1).saturating_sub(steps.len()) {
        for (i, a) in steps.iter().enumerate() {
            for (j, b) in steps.iter().enumerate() {
                product[(first + i) * count + first + j] += a * b;
            }
        }
    }
    product
}

/// `D' D` for the slopes of a curve over `t = 1 / (1 + distance)` between the first of some slots, which are at distances 0, 1, 2, ...;
/// the others are tied to nothing. Near distances may differ more than far ones, as their `t` do.
fn slot_differences(slots: usize, linked: usize) -> Vec<f64> {
    let mut product = vec![0.0; slots * slots];
    for slot in 1..linked {
        // From one distance to the next t falls by 1 / (l (l + 1)); slopes are relative to the last of them, so that no weight is above 1.
        let weight = ((slot * (slot + 1)) as f64 / ((linked - 1) * linked) as f64).powi(2);
        for (i, j, sign) in
            [(slot - 1, slot - 1, 1.0), (slot, slot, 1.0), (slot - 1, slot, -1.0), (slot, slot - 1, -1.0)]
        {
            product[i * slots + j] += sign * weight;
        }
    }
    product
}

/// The eigenvalues of a symmetric matrix, ascending; values below 0 by rounding are 0.
fn eigenvalues(matrix: &[f64], order: usize) -> Vec<f64> {
    let matrix = Mat::from_fn(order, order, |i, j| matrix[i * order + j]);
    let found = matrix.self_adjoint_eigenvalues(Side::Lower).expect("small matrices of differences have eigenvalues");
    let largest = found.iter().copied().fold(0.0, f64::max);
    found.into_iter().map(|value| if value < NULL * largest { 0.0 } else { value }).collect()
}

impl Block {
    /// Curves over distance: neighbouring distances are alike (the first `linked` slots, at distances 0, 1, 2, ...), far ones more so, and
    /// all are near 0.
    pub fn curves(first: usize, repeats: usize, slots: usize, linked: usize) -> Block {
        let smooth = slot_differences(slots, linked);
        let spectrum = eigenvalues(&smooth, slots);
        Block {
            first,
            repeats,
            size: slots,
            tie: None,
            penalties: vec![smooth, identity(slots)],
            spectra: vec![spectrum, vec![1.0; slots]],
            held: None,
        }
    }

    /// A table over value and distance, coefficient `knot * slots + slot`: straight over values, alike at neighbouring
    /// distances, and near 0.
    pub fn table(first: usize, knots: usize, slots: usize, linked: usize) -> Block {
        let (over_values, over_slots) = (differences(knots, 2), slot_differences(slots, linked));
        let size = knots * slots;
        let (mut values, mut distances) = (vec![0.0; size * size], vec![0.0; size * size]);
        for knot in 0..knots {
            for slot in 0..slots {
                let row = (knot * slots + slot) * size;
                (0..knots).for_each(|other| values[row + other * slots + slot] = over_values[knot * knots + other]);
                (0..slots).for_each(|other| distances[row + knot * slots + other] = over_slots[slot * slots + other]);
            }
        }
        let [of_values, of_slots] =
            [(over_values, knots), (over_slots, slots)].map(|(matrix, order)| eigenvalues(&matrix, order));
        let each = |value: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            (0..knots)
                .flat_map(|knot| (0..slots).map(move |slot| (knot, slot)))
                .map(|(knot, slot)| value(knot, slot))
                .collect()
        };
        let spectra = vec![each(&|knot, _| of_values[knot]), each(&|_, slot| of_slots[slot]), vec![1.0; size]];
        Block {
            first,
            repeats: 1,
            size,
            tie: None,
            penalties: vec![values, distances, identity(size)],
            spectra,
            held: None,
        }
    }

    /// A table over two values, cell by cell: neighbouring cells are alike, all are near 0, and the weighted means of rows and columns
    /// are 0, for what depends on one of the two values is elsewhere.
    pub fn cells(first: usize, cells: &[CellPlace]) -> Block {
        let size = cells.len();
        let near = |a: &CellPlace, b: &CellPlace| {
            let beside = |one: usize, other: usize| {
                a.at[one] == b.at[one] && a.at[other].abs_diff(b.at[other]) == 1 && a.ordered[other] && b.ordered[other]
            };
            beside(0, 1) || beside(1, 0)
        };
        let mut alike = Mat::<f64>::zeros(size, size);
        for i in 0..size {
            for j in (0..size).filter(|j| *j != i && near(&cells[i], &cells[*j])) {
                alike[(i, i)] += 1.0;
                alike[(i, j)] -= 1.0;
            }
        }
        let means = mean_directions(cells);
        let directions = means.ncols();
        let onto = &means * means.transpose();
        let free = Mat::from_fn(size, size, |i, j| f64::from(u8::from(i == j)) - onto[(i, j)]);
        let alike = &free * &alike * &free;
        let entries = |matrix: &Mat<f64>| -> Vec<f64> {
            (0..size * size).map(|at| (matrix[(at / size, at % size)] + matrix[(at % size, at / size)]) / 2.0).collect()
        };
        // The directions that are held are among those of eigenvalue 0, which come first.
        let mut spectrum = eigenvalues(&entries(&alike), size);
        spectrum[..directions].fill(0.0);
        let is_held = |at: usize| at < directions;
        let (penalties, held) = (vec![entries(&alike), entries(&free)], entries(&onto));
        let spectra = vec![spectrum, (0..size).map(|at| f64::from(u8::from(!is_held(at)))).collect()];
        let held_spectrum = (0..size).map(|at| if is_held(at) { HELD } else { 0.0 }).collect();
        let held = Some((held.into_iter().map(|entry| HELD * entry).collect(), held_spectrum));
        Block { first, repeats: 1, size, tie: None, penalties, spectra, held }
    }

    /// Values that are near 0, groups of them one after the other.
    pub fn ridge(first: usize, repeats: usize, size: usize) -> Block {
        Block {
            first,
            repeats,
            size,
            tie: None,
            penalties: vec![identity(size)],
            spectra: vec![vec![1.0; size]],
            held: None,
        }
    }

    /// Values at ascending knots: on a straight line, and near 0.
    pub fn knots(first: usize, size: usize) -> Block {
        let straight = differences(size, 2);
        let spectra = vec![eigenvalues(&straight, size), vec![1.0; size]];
        Block { first, repeats: 1, size, tie: None, penalties: vec![straight, identity(size)], spectra, held: None }
    }

    /// A curve over distance that is 1 somewhere: on a straight line over the first `linked` slots, and about as large as there.
    pub fn straight(first: usize, slots: usize, linked: usize) -> Block {
        let inner = differences(linked, 2);
        let mut straight = vec![0.0; slots * slots];
        (0..linked).for_each(|i| straight[i * slots..][..linked].copy_from_slice(&inner[i * linked..][..linked]));
        let spectra = vec![eigenvalues(&straight, slots), vec![1.0; slots]];
        Block {
            first,
            repeats: 1,
            size: slots,
            tie: None,
            penalties: vec![straight, identity(slots)],
            spectra,
            held: None,
        }
    }

    /// The same as [`spectrum`](Self::spectrum), where every direction that has a penalty counts, however weak it is beside others.
    pub fn whole_spectrum(&self, lambdas: &[f64]) -> (Vec<f64>, f64, usize) {
        let sum =
            |at: usize| lambdas.iter().zip(&self.spectra).map(|(lambda, values)| lambda * values[at]).sum::<f64>();
        let sums: Vec<(usize, f64)> = (0..self.size).map(|at| (at, sum(at))).filter(|(_, sum)| *sum > 0.0).collect();
        let trace = |values: &Vec<f64>| sums.iter().map(|(at, sum)| values[*at] / sum).sum();
        (self.spectra.iter().map(trace).collect(), sums.iter().map(|(_, sum)| sum.ln()).sum(), sums.len())
    }

    /// The same of a block whose second and last penalty is a ridge, where one coefficient, counted within the block, is known.
    pub fn spectrum_without(&self, lambdas: &[f64], known: usize) -> (Vec<f64>, f64, usize) {
        let size = self.size;
        if size == 1 {
            return (vec![0.0; lambdas.len()], 0.0, 0);
        }
        let free = (0..size * size).filter(|at| at / size != known && at % size != known);
        let matrix: Vec<f64> = free.map(|at| self.penalties[0][at]).collect();
        let own = eigenvalues(&matrix, size - 1);
        let sums: Vec<f64> = own.iter().map(|value| lambdas[0] * value + lambdas[1]).collect();
        let traces =
            vec![own.iter().zip(&sums).map(|(own, sum)| own / sum).sum(), sums.iter().map(|sum| 1.0 / sum).sum()];
        (traces, sums.iter().map(|sum| sum.ln()).sum(), size - 1)
    }

    /// The same block, sharing the strengths of its penalties with those of the same number.
    pub fn tied(self, tie: usize) -> Block {
        Block { tie: Some(tie), ..self }
    }

    /// Number of penalties.
    pub fn penalties(&self) -> usize {
        self.penalties.len()
    }

    /// Number of penalties that penalise anything: a single coefficient has no neighbours to be like.
    pub fn strengths(&self) -> usize {
        self.spectra.iter().filter(|spectrum| spectrum.iter().any(|value| *value > 0.0)).count()
    }

    /// Number of directions of a group that are held at 0.
    pub fn held(&self) -> usize {
        self.held.as_ref().map_or(0, |(_, spectrum)| spectrum.iter().filter(|value| **value > 0.0).count())
    }

    /// The coefficients of every group.
    pub fn groups(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.repeats).map(|group| self.first + group * self.size)
    }

    /// `sum_j lambda_j S_j`, `[size, size]`.
    pub fn matrix(&self, lambdas: &[f64]) -> Vec<f64> {
        let mut sum = match &self.held {
            Some((held, _)) => held.clone(),
            None => vec![0.0; self.size * self.size],
        };
        for (lambda, penalty) in lambdas.iter().zip(&self.penalties) {
            sum.iter_mut().zip(penalty).for_each(|(sum, entry)| *sum += lambda * entry);
        }
        sum
    }

    /// `tr(S^- S_j)` of one group for every penalty, and `log |S|_+` and the rank of `S`.
    pub fn spectrum(&self, lambdas: &[f64]) -> (Vec<f64>, f64, usize) {
        let held = |at: usize| self.held.as_ref().map_or(0.0, |(_, spectrum)| spectrum[at]);
        let free =
            |at: usize| lambdas.iter().zip(&self.spectra).map(|(lambda, values)| lambda * values[at]).sum::<f64>();
        let sums: Vec<f64> = (0..self.size).map(|at| free(at) + held(at)).collect();
        // However weak a penalty is beside others, a direction that it alone penalises is penalised.
        let positive = || sums.iter().enumerate().filter(|(_, value)| **value > 0.0);
        let trace = |values: &Vec<f64>| positive().map(|(at, sum)| values[at] / sum).sum();
        (self.spectra.iter().map(trace).collect(), positive().map(|(_, sum)| sum.ln()).sum(), positive().count())
    }

    /// `log |S|` of one group, however weak some penalties are beside others: every direction of it must be penalised.
    pub fn log_determinant(&self, lambdas: &[f64]) -> f64 {
        let held = |at: usize| self.held.as_ref().map_or(0.0, |(_, spectrum)| spectrum[at]);
        let free =
            |at: usize| lambdas.iter().zip(&self.spectra).map(|(lambda, values)| lambda * values[at]).sum::<f64>();
        (0..self.size).map(|at| (free(at) + held(at)).ln()).sum()
    }

    /// `sum over groups of tr(M S_j)` for every penalty, given the entries of `M` in a group.
    pub fn traces(&self, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mut traces = vec![0.0; self.penalties.len()];
        for start in self.groups() {
            for i in 0..self.size {
                for j in 0..self.size {
                    if self.penalties.iter().all(|penalty| penalty[i * self.size + j] == 0.0) {
                        continue;
                    }
                    let entry = entry(start + i, start + j);
                    for (trace, penalty) in traces.iter_mut().zip(&self.penalties) {
                        *trace += entry * penalty[i * self.size + j];
                    }
                }
            }
        }
        traces
    }
}

/// An orthonormal basis of the weighted sums over the rows and columns of a table, `[cells, directions]`.
fn mean_directions(cells: &[CellPlace]) -> Mat<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for member in 0..2 {
        let mut bins: Vec<usize> = cells.iter().map(|cell| cell.at[member]).filter(|at| *at != usize::MAX).collect();
        bins.sort_unstable();
        bins.dedup();
        for bin in bins {
            let of_bin = |cell: &CellPlace| if cell.at[member] == bin { cell.weight } else { 0.0 };
            let mut direction: Vec<f64> = cells.iter().map(of_bin).collect();
            let length = |direction: &[f64]| direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            let before = length(&direction);
            // Twice, for what rounding leaves.
            for other in basis.iter().chain(&basis) {
                let along: f64 = direction.iter().zip(other).map(|(a, b)| a * b).sum();
                direction.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
            }
            let left = length(&direction);
            if left > 1e-8 * before {
                basis.push(direction.iter().map(|x| x / left).collect());
            }
        }
    }
    Mat::from_fn(cells.len(), basis.len(), |cell, direction| basis[direction][cell])
}

fn identity(order: usize) -> Vec<f64> {
    (0..order * order).map(|place| f64::from(u8::from(place / order == place % order))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Traces and determinants from spectra are those of the matrices themselves, by a dense inverse.
    #[test]
    fn spectra_are_those_of_the_matrices() {
        for (block, lambdas) in [
            (Block::curves(0, 2, 6, 5), vec![3.0, 0.2]),
            (Block::curves(1, 1, 4, 4), vec![0.5, 2.0]),
            (Block::table(2, 5, 3, 2), vec![2.0, 0.7, 0.1]),
        ] {
            let size = block.size;
            let matrix = block.matrix(&lambdas);
            // Gauss-Jordan.
            let mut left: Vec<Vec<f64>> = (0..size)
                .map(|i| {
                    let unit = (0..size).map(|j| f64::from(u8::from(i == j)));
                    matrix[i * size..][..size].iter().copied().chain(unit).collect()
                })
                .collect();
            let mut log = 0.0;
            for k in 0..size {
                log += left[k][k].ln();
                let pivot = left[k][k];
                left[k].iter_mut().for_each(|x| *x /= pivot);
                for i in (0..size).filter(|i| *i != k) {
                    let share = left[i][k];
                    for j in 0..2 * size {
                        left[i][j] -= share * left[k][j];
                    }
                }
            }
            let (traces, log_determinant, rank) = block.spectrum(&lambdas);
            assert!((log_determinant - log).abs() < 1e-9, "{log_determinant} {log}");
            assert_eq!(rank, size);
            let first = block.first;
            let one = Block { repeats: 1, ..block };
            let expected = one.traces(|i, j| left[i - first][size + j - first]);
            for (found, expected) in traces.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }

    /// A ridge that is nothing beside another penalty still counts where the other does not: `log |S|` is that of the product.
    #[test]
    fn weak_penalties_count_beside_strong_ones() {
        let block = Block::curves(0, 1, 5, 5);
        let (weak, strong) = (1e-8, 1e9);
        let (traces, log, rank) = block.spectrum(&[strong, weak]);
        let expected: f64 = block.spectra[0].iter().map(|value| (strong * value + weak).ln()).sum();
        assert_eq!(rank, 5);
        assert!((log - expected).abs() < 1e-9, "{log} {expected}");
        // The direction that only the ridge penalises has the share 1 / weak.
        assert!((traces[1] * weak - 1.0).abs() < 1e-6, "{traces:?}");
    }

    #[test]
    fn straight_lines_and_constants_are_free() {
        let line: Vec<f64> = (0..6).map(|i| 3.0 - 2.0 * f64::from(i)).collect();
        let form = |matrix: &[f64], at: &[f64]| -> f64 {
            (0..6).flat_map(|i| (0..6).map(move |j| (i, j))).map(|(i, j)| at[i] * matrix[i * 6 + j] * at[j]).sum()
        };
        assert!(form(&differences(6, 2), &line).abs() < 1e-12);
        assert!((form(&differences(6, 1), &line) - 20.0).abs() < 1e-12);
        assert!(form(&slot_differences(6, 5), &[1.0, 1.0, 1.0, 1.0, 1.0, 9.0]).abs() < 1e-12);
        // A line over 1 / (1 + distance) has the same slope at each of four steps: that of a fall by 4 / 20 in the last.
        let fall: Vec<f64> = (0..6).map(|l| 4.0 / (1.0 + f64::from(l))).collect();
        assert!((form(&slot_differences(6, 5), &fall) - 4.0 * 0.2 * 0.2).abs() < 1e-12);
    }
}
