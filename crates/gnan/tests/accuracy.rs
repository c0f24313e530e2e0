//! How good models are on real data with the defaults, against what the model family can reach.
//!
//! The thresholds are the project's targets; measured figures stand in BENCHMARKS.md. With `GNAN_DATA` unset the tests
//! on real data say that they were skipped; the built-in set is always there.

use std::ops::ControlFlow;
use std::path::PathBuf;

use gnan::evaluate::{Division, Evaluation, EvaluationEvent, Journal, Protocol, Search};
use gnan::spec::FitMethod;
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

fn open(path: &str) -> Option<Dataset> {
    let options = DatasetOptions { read: gnan_paper::read_options(), ..DatasetOptions::default() };
    Some(Dataset::open_with(real(path)?, &options).unwrap())
}

fn mean(data: &Dataset, spec: Spec, division: Division, seeds: u64, metric: Metric) -> f64 {
    let watch = |_: EvaluationEvent<'_>| ControlFlow::Continue(());
    let search = Search::of(spec);
    let protocol = Protocol::new(division, 0).repeated(seeds);
    let evaluation = Evaluation::run(data, &search, &protocol, &Journal::in_memory(), &watch).unwrap();
    let spread = evaluation.metrics[&metric];
    println!("{}: {} {:.4} ± {:.4}", data.name(), metric.name(), spread.mean, spread.std);
    spread.mean
}

/// Networks, by gradient descent.
fn gradient() -> Spec {
    Spec::default().method(FitMethod::Gradient)
}

#[test]
fn solubility_is_explained_to_four_fifths() {
    let data = Dataset::open("solubility").unwrap();
    assert!(mean(&data, gradient(), Division::GivenSplits, 1, Metric::R2) >= 0.78);
    assert!(mean(&data, Spec::default(), Division::GivenSplits, 1, Metric::R2) >= 0.86);
}

#[test]
fn mutagenicity_over_ten_folds() {
    let Some(data) = open("tu/Mutagenicity.zip") else { return };
    assert!(mean(&data, gradient(), Division::Folds(10), 1, Metric::Accuracy) >= 0.72);
    // What the defaults choose takes minutes: see BENCHMARKS.md.
    assert!(mean(&data, Spec::default().choose(false), Division::Folds(10), 1, Metric::Accuracy) >= 0.72);
}

#[test]
fn proteins_over_ten_folds() {
    let Some(data) = open("tu/PROTEINS.zip") else { return };
    assert!(mean(&data, gradient(), Division::Folds(10), 1, Metric::Accuracy) >= 0.72);
}

#[test]
fn ptc_over_ten_folds() {
    let Some(data) = open("tu/PTC_MR.zip") else { return };
    assert!(mean(&data, Spec::default(), Division::Folds(10), 1, Metric::Accuracy) >= 0.58);
}

#[test]
fn cora_on_its_public_split() {
    let Some(data) = open("planetoid/cora.npz") else { return };
    assert!(mean(&data, gradient(), Division::GivenSplits, 3, Metric::Accuracy) >= 0.78);
}

#[test]
fn cornell_on_its_ten_splits() {
    let Some(data) = open("geom/cornell") else { return };
    assert!(mean(&data, Spec::default(), Division::GivenSplits, 1, Metric::Accuracy) >= 0.73);
}
