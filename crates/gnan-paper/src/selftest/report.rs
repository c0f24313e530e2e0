//! What a selftest found: a row per curve, a verdict per row, per case and overall.

use serde::Serialize;

use super::curve::Curve;

/// A curve is recovered when it correlates with the planted one above this.
pub const LEAST_CORRELATION: f64 = 0.95;
/// A curve of two points has correlation 1 or -1 whatever their sizes: its relative error must be below what a
/// correlation of 0.95 leaves unexplained, `sqrt(1 - 0.95^2)`. The same holds for the structure term relative
/// to the spread of the outputs: around the nodes of a node task it is almost constant, and a correlation would be one
/// of noise.
pub const MOST_RELATIVE_ERROR: f64 = 0.312;
/// A feature without effect may have this size relative to the others.
pub const MOST_IDLE_SIZE: f64 = 0.15;

/// What a row compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CurveSort {
    /// Rho over distance.
    Rho,
    /// A shape function over the values of its feature.
    Shape,
    /// Products of rho and shape function over values and distances, as a heatmap shows them.
    Products,
    /// What the shape of graphs alone contributes, over items.
    Structure,
    /// A feature that has no effect: its size relative to the mean of the others.
    NoEffect,
}

/// Whether a curve was recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It was.
    Recovered,
    /// It was not.
    NotRecovered,
}

impl Verdict {
    /// The verdict as it is printed.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Recovered => "recovered",
            Verdict::NotRecovered => "NOT recovered",
        }
    }

    fn of(recovered: bool) -> Verdict {
        if recovered { Verdict::Recovered } else { Verdict::NotRecovered }
    }
}

/// One planted curve and how well it was recovered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveRow {
    /// The case.
    pub case: String,
    /// The curve: "rho", "element", "charge x distance", ...
    pub curve: String,
    /// What is compared.
    pub sort: CurveSort,
    /// Number of points compared.
    pub points: usize,
    /// Correlation with the truth, weighted by support; `None` for a feature without effect.
    pub correlation: Option<f64>,
    /// Root mean square error relative to the truth's size; of the structure term, relative to the spread of outputs; of a
    /// feature without effect, its size relative to the mean of the others.
    pub relative_error: Option<f64>,
    /// The largest error, in the units of the curve.
    pub largest_error: f64,
    /// Where it is.
    pub largest_error_at: String,
    /// Nodes (shape functions, products), receivers (rho) or items (structure) behind the curve.
    pub support: f64,
    /// Whether it was recovered.
    pub verdict: Verdict,
}

impl CurveRow {
    pub(super) fn new(case: &str, name: String, sort: CurveSort, curve: &Curve, support: f64) -> CurveRow {
        let (correlation, relative_error) = (curve.correlation(), curve.relative_error());
        let correlates = correlation.is_some_and(|correlation| correlation > LEAST_CORRELATION);
        let close = relative_error.is_some_and(|error| error < MOST_RELATIVE_ERROR);
        let recovered = correlates && (close || curve.len() > 2);
        let worst = curve.worst();
        CurveRow {
            case: case.to_owned(),
            curve: name,
            sort,
            points: curve.len(),
            correlation,
            relative_error,
            largest_error: worst.map_or(0.0, |worst| (worst.found - worst.truth).abs()),
            largest_error_at: worst.map_or(String::new(), |worst| worst.place.clone()),
            support,
            verdict: Verdict::of(recovered),
        }
    }

    /// The row of the structure term, given the standard deviation of the outputs.
    pub(super) fn structure(case: &str, name: String, curve: &Curve, spread: f64) -> CurveRow {
        let error = curve.relative_error().map(|error| error * curve.truth_size() / spread);
        CurveRow {
            relative_error: error,
            verdict: Verdict::of(error.is_some_and(|error| error < MOST_RELATIVE_ERROR)),
            ..CurveRow::new(case, name, CurveSort::Structure, curve, curve.support())
        }
    }

    /// The row of a feature without effect, given the mean size of those with one.
    pub(super) fn no_effect(case: &str, name: String, curve: &Curve, support: f64, others: f64) -> CurveRow {
        let size = curve.found_size() / others;
        CurveRow {
            correlation: None,
            relative_error: size.is_finite().then_some(size),
            verdict: Verdict::of(size <= MOST_IDLE_SIZE),
            ..CurveRow::new(case, name, CurveSort::NoEffect, curve, support)
        }
    }
}

/// One case: what was simulated, how training went, and every curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseReport {
    /// Its name.
    pub case: String,
    /// Number of graphs simulated.
    pub graphs: usize,
    /// Number of nodes simulated.
    pub nodes: usize,
    /// Number of labelled items.
    pub items: usize,
    /// Share of the variance of the labels that is not noise; 1 where labels are classes.
    pub signal_share: f64,
    /// Epochs trained.
    pub epochs: usize,
    /// Why training ended.
    pub ended: String,
    /// The curves.
    pub rows: Vec<CurveRow>,
    /// Whether all of them were recovered.
    pub recovered: bool,
}

/// What a selftest found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SelftestReport {
    /// Version of the library.
    pub version: String,
    /// The seed of graphs, values, labels and training.
    pub seed: u64,
    /// Every planted curve must correlate with its truth above this.
    pub least_correlation: f64,
    /// The cases.
    pub cases: Vec<CaseReport>,
    /// Whether every curve of every case was recovered.
    pub recovered: bool,
}

impl SelftestReport {
    /// The rows of all cases.
    pub fn rows(&self) -> impl Iterator<Item = &CurveRow> {
        self.cases.iter().flat_map(|case| &case.rows)
    }
}
