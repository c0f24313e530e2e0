//! The posterior covariance of coefficients in the dual form: the prior, less what the items take away from it.
//!
//! Every coefficient is a loading times a latent number, `b = Z a` with `a ~ N(0, I)`: a number of its own, or one that it shares with
//! the same effect at other distances. With `A = X Z` and the second derivatives `W` of the items
//!
//! ```text
//! cov(a) = I - A' M A,   M = (K + W^-1)^-1,   K = A A'
//! one output   M = E = W^1/2 (I + W^1/2 K W^1/2)^-1 W^1/2
//! classes      M_cd = [c = d] E_c - E_c (sum E)^-1 E_d
//! ```
//!
//! (Rasmussen and Williams 2006, section 3.3.) What is kept is `A`, the roots of `W`, and the inverse roots of the matrices in brackets.

use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Mat, MatRef, Par, Side};
use rayon::prelude::*;

use super::kernel::Kernel;

/// Sums that are multiplied at a time, and latent numbers of a step of `A A'`.
const SUMS: usize = 64;
const LATENTS: usize = 256;

/// What a covariance is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct DualRows {
    /// The latent number of every coefficient.
    pub latents: Arc<[u32]>,
    /// What it is multiplied by.
    pub loadings: Arc<[f64]>,
    /// `A'`, `[latents, items]`.
    pub rows: Arc<[f32]>,
    /// The roots of the second derivatives, `[outputs][items]`; of classes, of each alone.
    pub weights: Vec<Vec<f64>>,
}

/// The covariance of the coefficients of outputs that were fitted together.
#[derive(Clone, Debug, PartialEq)]
pub struct DualCovariance {
    own: DualRows,
    /// The inverse of the lower factor of `I + W^1/2 K W^1/2` of every output, and of classes that of `sum E`.
    roots: Vec<Mat<f64>>,
}

/// What items know of some sums of coefficients.
struct KnownSums {
    /// The sums as those of latent numbers.
    latent: Vec<Vec<(usize, f64)>>,
    /// `F_c u` of every output with `E_c = F_c' F_c`, `[items, sums]`.
    own: Vec<Mat<f64>>,
    /// The inverse root of `sum E` times `E_c u`; of classes only.
    coupled: Vec<Mat<f64>>,
}

impl DualRows {
    fn items(&self) -> usize {
        self.weights.first().map_or(0, Vec::len)
    }

    fn latent_row(&self, latent: usize) -> &[f32] {
        let items = self.items();
        &self.rows[latent * items..][..items]
    }

    /// `A A'`.
    fn kernel(&self) -> Mat<f64> {
        let items = self.items();
        let mut kernel = Kernel::new(items);
        for some in self.rows.chunks(LATENTS * items.max(1)) {
            let numbers = Mat::from_fn(some.len() / items.max(1), items, |v, i| f64::from(some[v * items + i]));
            kernel.add(numbers.as_ref(), 1.0);
        }
        kernel.matrix()
    }
}

/// The inverse of the lower factor of a positive definite matrix.
fn inverse_factor(matrix: &Mat<f64>) -> Option<Mat<f64>> {
    let factor = matrix.llt(Side::Lower).ok()?;
    let mut inverse: Mat<f64> = Mat::zeros(matrix.nrows(), matrix.nrows());
    invert_lower_triangular(inverse.as_mut(), factor.L(), Par::Seq);
    Some(inverse)
}

/// `L B` for a lower triangle, or `L' B`.
fn times_lower(lower: MatRef<'_, f64>, transposed: bool, columns: &Mat<f64>) -> Mat<f64> {
    let mut product: Mat<f64> = Mat::zeros(columns.nrows(), columns.ncols());
    let (left, structure) = match transposed {
        true => (lower.transpose(), BlockStructure::TriangularUpper),
        false => (lower, BlockStructure::TriangularLower),
    };
    triangular::matmul(
        product.as_mut(),
        BlockStructure::Rectangular,
        Accum::Replace,
        left,
        structure,
        columns.as_ref(),
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    product
}

/// Every row of some columns times a number.
fn weighted(columns: &Mat<f64>, weights: &[f64]) -> Mat<f64> {
    Mat::from_fn(columns.nrows(), columns.ncols(), |i, k| weights[i] * columns[(i, k)])
}

fn dot_columns(one: &Mat<f64>, i: usize, other: &Mat<f64>, j: usize) -> f64 {
    super::vector::dot(one.col_as_slice(i), other.col_as_slice(j))
}

impl DualCovariance {
    /// The covariance that rows make; `None` where it is not finite.
    pub fn new(own: DualRows) -> Option<DualCovariance> {
        let (items, kernel) = (own.items(), own.kernel());
        let root = |weights: &Vec<f64>| {
            let one = |i: usize, j: usize| weights[i] * kernel[(i, j)] * weights[j] + f64::from(u8::from(i == j));
            inverse_factor(&Mat::from_fn(items, items, one))
        };
        let mut roots = own.weights.par_iter().map(root).collect::<Option<Vec<Mat<f64>>>>()?;
        if roots.len() > 1 {
            let mut sum: Mat<f64> = Mat::zeros(items, items);
            for (root, weights) in roots.iter().zip(&own.weights) {
                let half = Mat::from_fn(items, items, |i, j| root[(i, j)] * weights[j]);
                matmul(sum.as_mut(), Accum::Add, half.transpose(), half.as_ref(), 1.0, Par::Seq);
            }
            roots.push(inverse_factor(&sum)?);
        }
        Some(DualCovariance { own, roots }).filter(DualCovariance::is_finite)
    }

    /// The covariance with roots that are known, each column after column from its diagonal down; `None` where lengths do not fit.
    pub fn with_roots(own: DualRows, roots: &[f64]) -> Option<DualCovariance> {
        let (items, outputs) = (own.items(), own.weights.len());
        let latents = own.rows.len().checked_div(items)?;
        let count = outputs + usize::from(outputs > 1);
        let length = packed_length(items)?;
        let fits = own.weights.iter().all(|weights| weights.len() == items)
            && own.rows.len() == latents * items
            && own.latents.iter().all(|latent| (*latent as usize) < latents)
            && own.latents.len() == own.loadings.len()
            && length.checked_mul(count) == Some(roots.len());
        if !fits {
            return None;
        }
        let unpacked = |packed: &[f64]| {
            let mut root: Mat<f64> = Mat::zeros(items, items);
            let mut rest = packed;
            for column in 0..items {
                let (now, later) = rest.split_at(items - column);
                root.col_as_slice_mut(column)[column..].copy_from_slice(now);
                rest = later;
            }
            root
        };
        let roots = roots.chunks_exact(length).map(unpacked).collect();
        Some(DualCovariance { own, roots })
    }

    /// What it is made of.
    pub fn rows(&self) -> &DualRows {
        &self.own
    }

    /// Its roots, column after column from the diagonal down.
    pub fn packed_roots(&self) -> Vec<f64> {
        let columns = |root: &Mat<f64>| {
            (0..root.ncols()).flat_map(|column| root.col_as_slice(column)[column..].to_vec()).collect::<Vec<f64>>()
        };
        self.roots.iter().flat_map(columns).collect()
    }

    /// Operations that the spread of one sum takes, about: a product by every root, and of classes two more.
    pub fn operations(&self) -> f64 {
        let products = if self.roots.len() > 1 { 3 * self.own.weights.len() } else { 1 };
        products as f64 * (self.own.items() as f64).powi(2)
    }

    /// How many bytes it takes to keep.
    pub fn bytes(&self) -> usize {
        let numbers = self.own.loadings.len() + self.roots.len() * packed_length(self.own.items()).unwrap_or(0);
        8 * (numbers + self.own.weights.len() * self.own.items()) + 4 * (self.own.rows.len() + self.own.latents.len())
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let column = |root: &Mat<f64>, column: usize| root.col_as_slice(column).iter().all(|number| number.is_finite());
        self.own.loadings.iter().chain(self.own.weights.iter().flatten()).all(|number| number.is_finite())
            && self.own.rows.iter().all(|number| number.is_finite())
            && self.roots.iter().all(|root| (0..root.ncols()).all(|at| column(root, at)))
    }

    /// A sum of coefficients as one of latent numbers.
    fn latent(&self, sum: &[(usize, f64)]) -> Vec<(usize, f64)> {
        let of_term = |(at, share): &(usize, f64)| (self.own.latents[*at] as usize, share * self.own.loadings[*at]);
        let mut found: Vec<(usize, f64)> = sum.iter().map(of_term).collect();
        found.sort_by_key(|(latent, _)| *latent);
        found.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        found
    }

    /// `A a` for a sum of latent numbers.
    fn of_items(&self, latent: &[(usize, f64)], to: &mut [f64]) {
        for (at, share) in latent {
            let row = self.own.latent_row(*at);
            to.iter_mut().zip(row).for_each(|(sum, entry)| *sum += share * f64::from(*entry));
        }
    }

    /// `E_c B`, given `F_c B`.
    fn other_half(&self, output: usize, half: &Mat<f64>) -> Mat<f64> {
        weighted(&times_lower(self.roots[output].as_ref(), true, half), &self.own.weights[output])
    }

    /// `F_c B`.
    fn half(&self, output: usize, columns: &Mat<f64>) -> Mat<f64> {
        times_lower(self.roots[output].as_ref(), false, &weighted(columns, &self.own.weights[output]))
    }

    fn known(&self, latent: Vec<Vec<(usize, f64)>>) -> KnownSums {
        let mut columns: Mat<f64> = Mat::zeros(self.own.items(), latent.len());
        latent.iter().enumerate().for_each(|(k, sum)| self.of_items(sum, columns.col_as_slice_mut(k)));
        let outputs = self.own.weights.len();
        let own: Vec<Mat<f64>> = (0..outputs).map(|output| self.half(output, &columns)).collect();
        let coupling = self.roots.get(outputs);
        let coupled = |root: &Mat<f64>| {
            let of_output = |(output, half)| times_lower(root.as_ref(), false, &self.other_half(output, half));
            own.iter().enumerate().map(of_output).collect()
        };
        let coupled = coupling.map(coupled).unwrap_or_default();
        KnownSums { latent, own, coupled }
    }

    /// For each of some sums of coefficients the covariance of what it is for the outputs, `[outputs, outputs]`.
    pub fn of_sums(&self, sums: &[&[(usize, f64)]]) -> Vec<Vec<f64>> {
        let latent: Vec<Vec<(usize, f64)>> = sums.iter().map(|sum| self.latent(sum)).collect();
        self.of_latent_sums(&latent)
    }

    fn of_latent_sums(&self, sums: &[Vec<(usize, f64)>]) -> Vec<Vec<f64>> {
        let outputs = self.own.weights.len();
        let some = |some: &[Vec<(usize, f64)>]| -> Vec<Vec<f64>> {
            let known = self.known(some.to_vec());
            let one = |k: usize| {
                let pairs = (0..outputs * outputs).map(|place| (place / outputs, place % outputs));
                pairs.map(|(c, d)| known.covariance((c, k), (d, k))).collect()
            };
            (0..some.len()).map(one).collect()
        };
        sums.par_chunks(SUMS).flat_map_iter(some).collect()
    }

    /// The covariances of sums of coefficients of all outputs, `[outputs, sums]` squared, row after row.
    pub fn between(&self, sums: &[&[(usize, f64)]]) -> Vec<f64> {
        let known = self.known(sums.iter().map(|sum| self.latent(sum)).collect());
        let order = self.own.weights.len() * sums.len();
        let at = |place: usize| (place / sums.len(), place % sums.len());
        (0..order * order).map(|place| known.covariance(at(place / order), at(place % order))).collect()
    }

    /// Effective degrees of freedom of every latent number, all outputs together: by how much the items lower its variance.
    pub fn freedoms(&self) -> Vec<f64> {
        let latents = self.own.rows.len() / self.own.items().max(1);
        let units: Vec<Vec<(usize, f64)>> = (0..latents).map(|latent| vec![(latent, 1.0)]).collect();
        let outputs = self.own.weights.len();
        let freedom = |found: Vec<f64>| (0..outputs).map(|c| 1.0 - found[c * outputs + c]).sum();
        self.of_latent_sums(&units).into_iter().map(freedom).collect()
    }

    /// By how much every coefficient of the estimate follows a change of one in what the data say, all outputs together: that column
    /// of `V X' W X`.
    pub fn influence_of(&self, column: usize) -> Vec<f64> {
        let DualRows { latents, loadings, .. } = &self.own;
        if loadings[column] == 0.0 {
            return vec![0.0; loadings.len()];
        }
        let known = self.known(vec![vec![(latents[column] as usize, 1.0 / loadings[column])]]);
        let mut sum = vec![0.0; self.own.items()];
        for (output, half) in known.own.iter().enumerate() {
            let mut found = self.other_half(output, half);
            if let (Some(root), Some(coupled)) = (self.roots.get(known.own.len()), known.coupled.get(output)) {
                let back = self.half(output, &times_lower(root.as_ref(), true, coupled));
                found -= self.other_half(output, &back);
            }
            sum.iter_mut().zip(found.col_as_slice(0)).for_each(|(sum, entry)| *sum += entry);
        }
        let of_row = |row: &[f32]| row.iter().zip(&sum).map(|(entry, sum)| f64::from(*entry) * sum).sum::<f64>();
        let of_coefficient = |(latent, loading): (&u32, &f64)| loading * of_row(self.own.latent_row(*latent as usize));
        latents.iter().zip(loadings.iter()).map(of_coefficient).collect()
    }

    /// A draw of the differences of all coefficients from their estimates, `[outputs][coefficients]`.
    ///
    /// `a - A' W^1/2 (I + W^1/2 K W^1/2)^-1 (W^1/2 A a + z)` has the covariance `I - A' E A` for normal `a` and `z`; classes have a
    /// common `A' E_c P' z` on top.
    pub fn draw(&self, normal: &mut dyn FnMut() -> f64) -> Vec<Vec<f64>> {
        let (items, outputs) = (self.own.items(), self.own.weights.len());
        let common = self.roots.get(outputs).map(|root| {
            let z = Mat::from_fn(items, 1, |_, _| normal());
            times_lower(root.as_ref(), true, &z)
        });
        let latents = self.own.rows.len() / items.max(1);
        let output = |output: usize| {
            let mut drawn: Vec<(usize, f64)> = (0..latents).map(|latent| (latent, normal())).collect();
            let mut columns: Mat<f64> = Mat::zeros(items, 1);
            self.of_items(&drawn, columns.col_as_slice_mut(0));
            let weights = &self.own.weights[output];
            let noisy = Mat::from_fn(items, 1, |i, _| weights[i] * columns[(i, 0)] + normal());
            let mut moved =
                self.other_half(output, &times_lower(self.roots[output].as_ref(), false, &noisy)) * faer::Scale(-1.0);
            if let Some(common) = &common {
                moved += self.other_half(output, &self.half(output, common));
            }
            for (latent, value) in &mut drawn {
                let row = self.own.latent_row(*latent).iter();
                *value += row.zip(moved.col_as_slice(0)).map(|(entry, by)| f64::from(*entry) * by).sum::<f64>();
            }
            let coefficients = self.own.latents.iter().zip(self.own.loadings.iter());
            coefficients.map(|(latent, loading)| loading * drawn[*latent as usize].1).collect()
        };
        (0..outputs).map(output).collect()
    }
}

/// The length of a lower triangle.
fn packed_length(items: usize) -> Option<usize> {
    Some(items.checked_mul(items.checked_add(1)?)? / 2)
}

impl KnownSums {
    /// The covariance of a sum for one output with another for another.
    fn covariance(&self, (c, i): (usize, usize), (d, j): (usize, usize)) -> f64 {
        let mut found = 0.0;
        if c == d {
            found += latent_product(&self.latent[i], &self.latent[j]) - dot_columns(&self.own[c], i, &self.own[c], j);
        }
        if let (Some(one), Some(other)) = (self.coupled.get(c), self.coupled.get(d)) {
            found += dot_columns(one, i, other, j);
        }
        found
    }
}

/// The product of two sums of latent numbers, ascending.
fn latent_product(one: &[(usize, f64)], other: &[(usize, f64)]) -> f64 {
    let (mut sum, mut rest) = (0.0, other);
    for (latent, share) in one {
        while rest.first().is_some_and(|(next, _)| next < latent) {
            rest = &rest[1..];
        }
        if let Some((_, by)) = rest.first().filter(|(next, _)| next == latent) {
            sum += share * by;
        }
    }
    sum
}
