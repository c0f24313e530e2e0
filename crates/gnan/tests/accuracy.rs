//! How good models are on real data with the defaults, against what the model family can reach.
//!
//! The thresholds are the project's targets; measured figures stand in BENCHMARKS.md. With `GNAN_DATA` unset the tests
//! on real data say that they were skipped; the built-in set is always there.

use std::ops::ControlFlow;
use std::path::PathBuf;

use gnan::evaluate::{Division, Evaluation, EvaluationEvent, Journal, Protocol, Search};
use gnan::{Dataset, DatasetOptions, Metric, Spec};

fn real(path: &str) -> Option<PathBuf> {
    match std::env::var_os("GNAN_DATA") {
        Some(folder) => Some(PathBuf::from(folder).join(path)),
        None => {
            println!("skipped: set GNAN_DATA to the folder of real data sets");
            None
        }
    }
}

fn mean(data: &Dataset, division: Division, seeds: u64, metric: Metric) -> f64 {
    let watch = |_: EvaluationEvent<'_>| ControlFlow::Continue(());
    let search = Search::of(Spec::default());
    let protocol = Protocol::new(division, 0).repeated(seeds);
    let evaluation = Evaluation::run(data, &search, &protocol, &Journal::in_memory(), &watch).unwrap();
    let spread = evaluation.metrics[&metric];
    println!("{}: {} {:.4} ± {:.4}", data.name(), metric.name(), spread.mean, spread.std);
    spread.mean
}

#[test]
fn solubility_is_explained_to_four_fifths() {
    let data = Dataset::open("solubility").unwrap();
    assert!(mean(&data, Division::GivenSplits, 1, Metric::R2) >= 0.78);
}

#[test]
fn mutagenicity_over_ten_folds() {
    let Some(path) = real("tu/Mutagenicity.zip") else { return };
    let data =
        Dataset::open_with(path, &DatasetOptions { read: gnan_paper::read_options(), ..DatasetOptions::default() })
            .unwrap();
    assert!(mean(&data, Division::Folds(10), 1, Metric::Accuracy) >= 0.72);
}

#[test]
fn proteins_over_ten_folds() {
    let Some(path) = real("tu/PROTEINS.zip") else { return };
    let data =
        Dataset::open_with(path, &DatasetOptions { read: gnan_paper::read_options(), ..DatasetOptions::default() })
            .unwrap();
    assert!(mean(&data, Division::Folds(10), 1, Metric::Accuracy) >= 0.72);
}

#[test]
fn cora_on_its_public_split() {
    let Some(path) = real("planetoid/cora.npz") else { return };
    let data =
        Dataset::open_with(path, &DatasetOptions { read: gnan_paper::read_options(), ..DatasetOptions::default() })
            .unwrap();
    assert!(mean(&data, Division::GivenSplits, 3, Metric::Accuracy) >= 0.78);
}
