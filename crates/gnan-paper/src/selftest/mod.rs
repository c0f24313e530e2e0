//! Selftest: models with known truth.
//!
//! Shape functions and a rho are planted, graphs and labels are simulated from them, a model is trained as any other,
//! and its canonical form is compared with that of the truth. So it shows how well the curves of a
//! model are found where the truth is known. [`Selftest::posterior_coverage`] counts how often the bands of penalised fits hold it.

mod bootstrapped;
mod cases;
mod coverage;
mod curve;
mod planted;
mod posterior;
mod recovery;
mod report;
mod truth;
mod world;

use std::ops::ControlFlow;

pub use coverage::{ACCEPTED_COVERAGE, BandPlace, Bands, CoverageReport, CoverageRow, CoverageVerdict, Simulated};
pub use posterior::{
    ACCEPTED_FALSE, ACCEPTED_POSTERIOR, FalseAlarms, POSTERIOR_DATA_SETS, PosteriorReport, PosteriorRow,
};
pub use report::{
    CaseReport, CurveRow, CurveSort, LEAST_CORRELATION, MOST_IDLE_SIZE, MOST_RELATIVE_ERROR, SelftestReport, Verdict,
};

use cases::Case;
use gnan::error::Result;
use gnan::internals::shape::ShapeKind;
use gnan::spec::Spec;
use gnan::train::Fitted;
use recovery::Recovery;
use truth::Truth;
use world::World;

/// How far a selftest has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The case at work.
    pub case: &'a str,
    /// Its number, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// Epochs trained so far.
    pub epoch: usize,
    /// Limit on epochs.
    pub epochs: usize,
}

/// Called with how far a selftest has come.
pub type Watch<'a> = dyn FnMut(&Progress<'_>) + Send + 'a;

/// Plants truths and recovers them.
///
/// ```no_run
/// use gnan_paper::selftest::Selftest;
/// let report = Selftest::default().run(&mut |_| {})?;
/// assert!(report.recovered);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Selftest {
    /// The seed of graphs, values, labels and training.
    pub seed: u64,
    /// Strength of L2 in place of the usual one, to see what it does to the curves.
    pub weight_decay: Option<f64>,
    /// What shape functions are made of, in place of the usual networks.
    pub shape: Option<ShapeKind>,
    /// What distance functions are made of, in place of the usual networks.
    pub rho_shape: Option<ShapeKind>,
    /// Strength of the smoothness penalty of splines in place of the usual one.
    pub smooth: Option<f64>,
}

impl Selftest {
    /// The specification of a case, with what is not as usual.
    fn spec(&self, case: &Case) -> Spec {
        let mut spec = case.spec(self.seed);
        (spec.fit.weight_decay, spec.fit.smooth) = (self.weight_decay, self.smooth);
        (spec.model.shape, spec.model.rho_shape) = (self.shape, self.rho_shape);
        spec
    }

    /// Names of the cases, in order.
    pub fn cases() -> Vec<&'static str> {
        Case::all().iter().map(|case| case.name).collect()
    }

    /// Runs every case.
    pub fn run(&self, watch: &mut Watch<'_>) -> Result<SelftestReport> {
        let cases = Case::all();
        let mut reports = Vec::new();
        for (index, case) in cases.iter().enumerate() {
            let at = Progress { case: case.name, number: index + 1, of: cases.len(), epoch: 0, epochs: 0 };
            let trial = PlantedTrial::new(case, self.spec(case), at, watch)?;
            reports.push(trial.report(case));
        }
        Ok(SelftestReport {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: self.seed,
            least_correlation: LEAST_CORRELATION,
            recovered: reports.iter().all(|report| report.recovered),
            cases: reports,
        })
    }
}

/// A simulated world, the model trained on it, and the truth in canonical form.
struct PlantedTrial {
    world: World,
    spec: Spec,
    fitted: Fitted,
    truth: Truth,
}

impl PlantedTrial {
    fn new(case: &Case, spec: Spec, at: Progress<'_>, watch: &mut Watch<'_>) -> Result<PlantedTrial> {
        watch(&at);
        let world = World::simulate(case, spec.fit.seed)?;
        let fitted = spec.fit_watched(&world.data, None, &mut |epoch| {
            watch(&Progress { epoch: epoch.epoch, epochs: epoch.epochs, ..at });
            ControlFlow::Continue(())
        })?;
        let slots = fitted.model.canonical().slots();
        let truth = Truth::new(&case.planted, &world.graphs, &fitted.train, slots);
        Ok(PlantedTrial { world, spec, fitted, truth })
    }

    fn report(&self, case: &Case) -> CaseReport {
        let PlantedTrial { world, fitted, truth, .. } = self;
        let recovery = Recovery { case, world, truth, model: &fitted.model, train: &fitted.train };
        let rows = recovery.rows();
        let record = &fitted.model.definition().record;
        CaseReport {
            case: case.name.to_owned(),
            graphs: world.graphs.len(),
            nodes: world.nodes(),
            items: world.data.labelled().len(),
            signal_share: world.signal_share,
            epochs: record.epochs,
            ended: record.ended.words().to_owned(),
            recovered: rows.iter().all(|row| row.verdict == Verdict::Recovered),
            rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Progress<'_> = Progress { case: "", number: 1, of: 1, epoch: 0, epochs: 0 };

    /// The quickest case is recovered, and a truth that is not the one the labels came from is not.
    #[test]
    fn the_planted_truth_is_recovered_and_no_other() {
        let case = cases::graph_regression();
        let mut epochs = 0;
        let mut trial = PlantedTrial::new(&case, case.spec(1), AT, &mut |progress| epochs = progress.epoch).unwrap();
        assert!(epochs > 0);
        let report = trial.report(&case);
        assert!(report.recovered, "{report:#?}");

        let mut other = case.clone();
        let values = &mut other.planted.features[0].values;
        let effects: Vec<Vec<f64>> = values.iter().map(|value| value.effects.clone()).collect();
        values
            .iter_mut()
            .enumerate()
            .for_each(|(index, value)| value.effects.clone_from(&effects[(index + 1) % effects.len()]));
        other.planted.rhos[0].near.swap(1, 3);
        let slots = trial.truth.receivers.len();
        trial.truth = Truth::new(&other.planted, &trial.world.graphs, &trial.fitted.train, slots);
        let report = trial.report(&other);
        assert!(!report.recovered);
        let lost: Vec<&str> = report
            .rows
            .iter()
            .filter(|row| row.verdict == Verdict::NotRecovered)
            .map(|row| row.curve.as_str())
            .collect();
        assert!(lost.contains(&"rho") && lost.contains(&"element") && !lost.contains(&"charge"), "{lost:?}");
    }

    /// What training counts as seen is what the simulation counts.
    #[test]
    fn the_simulation_and_the_model_count_the_same_receivers() {
        let mut case = cases::graph_regression();
        case.graphs = 30;
        let world = World::simulate(&case, 3).unwrap();
        let fitted = case.spec(3).epochs(1).fit_watched(&world.data, None, &mut |_| ControlFlow::Continue(()));
        let fitted = fitted.unwrap();
        let receivers = &fitted.model.definition().learned.receivers;
        let truth = Truth::new(&case.planted, &world.graphs, &fitted.train, receivers.len());
        assert!(receivers.iter().zip(&truth.receivers).all(|(a, b)| (a - b).abs() < 1e-3 * (1.0 + b)), "{receivers:?}");
    }
}
