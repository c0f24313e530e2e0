//! The paper's table: seven models on each task, mean and standard deviation as printed.
//!
//! Bechler-Speicher, Globerson, Gilad-Bachrach, "The Intelligible and Effective Graph Neural Additive Networks", NeurIPS 2024,
//! the table of its section on performance; GNAN itself stands last.

use serde::Serialize;

use gnan::metric::Metric;

/// What the paper reports for one target of a data set.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PaperTask {
    /// The target, where the set has several.
    pub target: Option<&'static str>,
    /// The metric: shares are printed in per cent, errors as they are.
    pub metric: Metric,
    /// The seven models, GNAN last.
    pub rows: [PaperRow; 7],
}

/// One model's result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PaperRow {
    /// The model.
    pub model: &'static str,
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub std: f64,
}

/// The models in the order of the table.
pub const MODELS: [&str; 7] = ["GraphConv", "GraphSAGE", "GIN", "GATv2", "GTransformer", "FSGNN", "GNAN"];

impl PaperTask {
    /// GNAN's own row.
    pub fn gnan(&self) -> PaperRow {
        self.rows[MODELS.len() - 1]
    }
}

const fn task(target: Option<&'static str>, metric: Metric, results: [(f64, f64); 7]) -> PaperTask {
    let mut rows = [PaperRow { model: "", mean: 0.0, std: 0.0 }; 7];
    let mut index = 0;
    while index < MODELS.len() {
        rows[index] = PaperRow { model: MODELS[index], mean: results[index].0, std: results[index].1 };
        index += 1;
    }
    PaperTask { target, metric, rows }
}

/// Results on Cora.
pub const CORA: &[PaperTask] = &[task(
    None,
    Metric::Accuracy,
    [(81.3, 1.1), (81.4, 0.7), (80.0, 1.2), (83.1, 0.9), (80.7, 0.5), (83.0, 1.3), (81.1, 1.5)],
)];
/// Results on Citeseer.
pub const CITESEER: &[PaperTask] = &[task(
    None,
    Metric::Accuracy,
    [(75.9, 2.0), (76.4, 0.8), (77.1, 1.9), (73.9, 1.5), (76.0, 0.9), (76.2, 1.3), (75.8, 0.6)],
)];
/// Results on PubMed.
pub const PUBMED: &[PaperTask] = &[task(
    None,
    Metric::Accuracy,
    [(85.9, 0.5), (88.4, 0.4), (85.3, 0.9), (84.4, 0.5), (85.3, 1.6), (85.0, 1.3), (86.9, 1.2)],
)];
/// Results on ogbn-arxiv.
pub const ARXIV: &[PaperTask] = &[task(
    None,
    Metric::Accuracy,
    [(72.4, 0.1), (71.7, 0.2), (73.8, 1.4), (74.0, 2.1), (73.1, 0.2), (72.9, 1.7), (74.1, 1.5)],
)];
/// Results on Cornell.
pub const CORNELL: &[PaperTask] = &[task(
    None,
    Metric::Accuracy,
    [(65.9, 0.5), (75.9, 5.0), (69.0, 1.3), (72.5, 0.7), (70.5, 1.7), (86.0, 4.1), (85.7, 4.8)],
)];
/// Results on Tolokers.
pub const TOLOKERS: &[PaperTask] = &[task(
    None,
    Metric::RocAuc,
    [(83.5, 0.7), (82.4, 0.4), (81.0, 0.4), (83.8, 1.1), (83.3, 0.9), (83.1, 0.6), (84.5, 0.9)],
)];
/// Results on PROTEINS.
pub const PROTEINS: &[PaperTask] = &[task(
    None,
    Metric::Accuracy,
    [(73.1, 1.6), (73.0, 4.5), (73.3, 4.0), (73.5, 2.8), (73.9, 1.5), (72.9, 2.1), (73.2, 3.1)],
)];
/// Results on Mutagenicity.
pub const MUTAGENICITY: &[PaperTask] = &[task(
    None,
    Metric::Accuracy,
    [(64.3, 1.7), (64.1, 0.3), (69.4, 1.2), (72.0, 0.9), (73.1, 0.9), (66.9, 1.5), (72.2, 1.0)],
)];
/// Results on PTC.
pub const PTC: &[PaperTask] = &[task(
    None,
    Metric::Accuracy,
    [(63.9, 5.0), (67.1, 12.6), (55.6, 11.1), (59.5, 2.1), (55.9, 3.5), (60.3, 7.2), (64.9, 7.1)],
)];
/// Results on NCI1.
pub const NCI1: &[PaperTask] = &[task(
    None,
    Metric::Accuracy,
    [(76.5, 1.2), (76.0, 1.8), (80.0, 1.4), (80.4, 1.6), (80.5, 1.1), (79.7, 1.1), (76.9, 1.2)],
)];
/// Results on QM9: the dipole moment, the polarisability and the energy of the highest occupied orbital.
pub const QM9: &[PaperTask] = &[
    task(
        Some("mu"),
        Metric::Mae,
        [(2.91, 0.1), (3.55, 0.2), (2.60, 0.1), (2.72, 0.1), (2.90, 0.3), (3.57, 0.3), (2.55, 0.1)],
    ),
    task(
        Some("alpha"),
        Metric::Mae,
        [(4.37, 0.5), (4.51, 0.7), (4.67, 0.5), (4.39, 0.6), (4.30, 0.5), (4.50, 0.4), (4.28, 0.9)],
    ),
    task(
        Some("homo"),
        Metric::Mae,
        [(1.46, 0.1), (1.44, 0.2), (1.42, 0.1), (1.41, 0.1), (1.41, 0.2), (1.44, 0.3), (1.40, 0.1)],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// GNAN's row, read from the paper a second time.
    #[test]
    fn the_last_row_is_the_papers_own() {
        let nodes = [CORNELL, TOLOKERS, CORA, CITESEER, PUBMED, ARXIV].map(|tasks| tasks[0].gnan().mean);
        assert_eq!(nodes, [85.7, 84.5, 81.1, 75.8, 86.9, 74.1]);
        let graphs = [PROTEINS, MUTAGENICITY, PTC, NCI1].map(|tasks| tasks[0].gnan().mean);
        assert_eq!(graphs, [73.2, 72.2, 64.9, 76.9]);
        assert_eq!(QM9.iter().map(|task| task.gnan().mean).collect::<Vec<_>>(), [2.55, 4.28, 1.40]);
        assert_eq!(PTC[0].rows[1], PaperRow { model: "GraphSAGE", mean: 67.1, std: 12.6 });
    }
}
