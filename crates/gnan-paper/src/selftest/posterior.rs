//! Coverage of the bands of penalised fits: how often the truth lies inside what a model says of itself.
//!
//! Effects are compared cell by cell with the planted ones in canonical form, the structure curve distance by distance, and
//! predictions with new items; a feature that has no effect is tested in every data set, and should be called reliable in one of
//! twenty. Values and distances that hardly any training node has are left out.

use std::collections::BTreeMap;
use std::time::Instant;

use gnan::bootstrap::{Band, Intervals};
use gnan::error::{Error, Result};
use gnan::files::{Kind, Task};
use gnan::internals::random::Stream;
use gnan::model::{Model, SIGNIFICANT};
use gnan::spec::{FitMethod, PoolChoice, Spec};
use gnan::train::Fitted;
use serde::Serialize;

use super::cases::{Case, Labels};
use super::coverage::CoverageVerdict;
use super::recovery::{centred, feature_value, has_effect};
use super::truth::Truth;
use super::world::World;
use super::{Progress, Selftest, Watch};

/// Data sets simulated per case unless another number is given.
pub const POSTERIOR_DATA_SETS: usize = 40;
/// Shares of covered points that are accepted for the 95 % bands of a penalised fit.
pub const ACCEPTED_POSTERIOR: [f64; 2] = [0.93, 0.97];
/// Shares of data sets in which a feature without effect may be called reliable at 5 %.
pub const ACCEPTED_FALSE: [f64; 2] = [0.03, 0.08];
/// Values and distances with less than this share of the best supported one's support are not counted.
const LEAST_SUPPORT: f64 = 0.005;
/// Finite distances from this one on share an effect in the model, and not in the truth: they are counted apart.
const FAR: usize = 11;
/// What they are called.
const FAR_CURVE: &str = "from distance 11 on";
/// New graphs whose items are predicted, for graph and node tasks.
const NEW_GRAPHS: [usize; 2] = [200, 10];
/// Bands that hold less often than this, beyond chance, are not what they are said to be.
const LEAST_COVERAGE: f64 = 0.90;
/// The end of the name of the effects of a feature at the distance where they are shown.
const AT_ANCHOR: &str = "at its anchor";
/// A mean error above this, in standard deviations, is called a bias.
const LARGE_BIAS: f64 = 0.5;
/// Half the width of a pointwise 95 % band in standard deviations.
const WIDTH: f64 = 1.959_963_984_540_054;

/// The coverage of one curve by the bands of penalised fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PosteriorRow {
    /// The case.
    pub case: String,
    /// The curve, or what is predicted.
    pub curve: String,
    /// Points counted in every data set, on average.
    pub points: f64,
    /// Share of them where the truth lies inside the band.
    pub coverage: f64,
    /// The standard error of that, from its spread over data sets.
    pub standard_error: f64,
    /// The root mean square error in standard deviations that bands state; 1 where they are right.
    pub error_in_sds: f64,
    /// The mean over points of |mean error over the data sets|, in standard deviations. Without bias it is about
    /// `0.8 / sqrt(data sets)`: 0.13 for 40.
    pub bias_in_sds: f64,
    /// Mean half-width of the bands, in the units of the curve.
    pub half_width: f64,
    /// Whether that is as it should be.
    pub verdict: CoverageVerdict,
    /// The verdict in words, with the reason where it is not.
    pub reason: String,
}

/// The test of the feature without effect, over data sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FalseAlarms {
    /// The case; "all" for all of them together.
    pub case: String,
    /// Data sets in which it was tested.
    pub tested: usize,
    /// Those in which it was called reliable at 5 %.
    pub called: usize,
    /// The p-values, in the order of the data sets.
    pub p_values: Vec<f64>,
    /// Mean seconds per data set: simulation, fit, bands and predictions.
    pub seconds: f64,
}

impl FalseAlarms {
    /// The share of data sets in which a feature without effect was called reliable.
    pub fn share(&self) -> f64 {
        self.called as f64 / self.tested.max(1) as f64
    }

    /// Whether that is as it should be, but for chance.
    pub fn is_as_stated(&self) -> bool {
        let by_chance = 2.0 * (SIGNIFICANT * (1.0 - SIGNIFICANT) / self.tested.max(1) as f64).sqrt();
        let low = ACCEPTED_FALSE[0].min(SIGNIFICANT - by_chance);
        (low..=ACCEPTED_FALSE[1].max(SIGNIFICANT + by_chance)).contains(&self.share())
    }
}

/// Coverage of the bands of penalised fits over simulated data sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PosteriorReport {
    /// The seed of the first data set.
    pub seed: u64,
    /// Data sets simulated per case.
    pub data_sets: usize,
    /// A row per case and curve.
    pub rows: Vec<PosteriorRow>,
    /// A row per case, and last all of them together.
    pub false_alarms: Vec<FalseAlarms>,
}

impl PosteriorReport {
    /// Whether bands hold and tests err about as often as they should; effects at the anchor of their feature, which smoothing
    /// makes too small, are shown and not judged.
    pub fn holds(&self) -> bool {
        let rows = self.rows.iter().filter(|row| !row.curve.ends_with(AT_ANCHOR));
        let all = self.false_alarms.last();
        rows.into_iter().all(|row| row.coverage + 2.0 * row.standard_error >= LEAST_COVERAGE)
            && all.is_none_or(FalseAlarms::is_as_stated)
    }
}

/// The errors of one point over data sets.
#[derive(Clone, Copy, Debug, Default)]
struct PointErrors {
    counted: usize,
    covered: usize,
    /// Errors in units of the standard deviations that bands state, and their squares.
    error: f64,
    squares: f64,
    half_width: f64,
}

impl PointErrors {
    fn add(&mut self, truth: f64, Band { low, high }: Band) {
        let half = 0.5 * (high - low);
        let error = (0.5 * (low + high) - truth) * WIDTH / half.max(f64::MIN_POSITIVE);
        self.counted += 1;
        self.covered += usize::from(low <= truth && truth <= high);
        self.error += error;
        self.squares += error * error;
        self.half_width += half;
    }
}

/// The points of a curve, each by what it is in every data set, and the shares covered by data set.
#[derive(Clone, Debug, Default)]
struct CurveErrors {
    points: BTreeMap<[usize; 3], PointErrors>,
    shares: Vec<f64>,
    now: (usize, usize),
}

impl CurveErrors {
    fn add(&mut self, point: [usize; 3], truth: f64, band: Band) {
        self.points.entry(point).or_default().add(truth, band);
        self.now.0 += usize::from(band.low <= truth && truth <= band.high);
        self.now.1 += 1;
    }

    /// Ends a data set.
    fn end_data_set(&mut self) {
        let (covered, counted) = std::mem::take(&mut self.now);
        if counted > 0 {
            self.shares.push(covered as f64 / counted as f64);
        }
    }

    fn row(&self, case: &str, curve: &str) -> PosteriorRow {
        let sum = |of: fn(&PointErrors) -> f64| self.points.values().map(of).sum::<f64>();
        let (counted, sets) = (sum(|point| point.counted as f64).max(1.0), self.shares.len().max(1) as f64);
        let coverage = sum(|point| point.covered as f64) / counted;
        let bias = sum(|point| point.error.abs() / point.counted as f64) / self.points.len().max(1) as f64;
        let mean = self.shares.iter().sum::<f64>() / sets;
        let spread = self.shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (sets - 1.0).max(1.0);
        let standard_error = (spread / sets).sqrt();
        let by_chance = 2.0 * standard_error;
        let [low, high] = ACCEPTED_POSTERIOR;
        let verdict = match coverage < low && bias > LARGE_BIAS {
            true => CoverageVerdict::TooLowFromBias,
            false => CoverageVerdict::of(coverage, 0.0, [low - by_chance, high + by_chance]),
        };
        PosteriorRow {
            case: case.to_owned(),
            curve: curve.to_owned(),
            points: counted / sets,
            coverage,
            standard_error,
            error_in_sds: (sum(|point| point.squares) / counted).sqrt(),
            bias_in_sds: bias,
            half_width: sum(|point| point.half_width) / counted,
            verdict,
            reason: reason(verdict, curve).to_owned(),
        }
    }
}

/// The verdict in words, and what is behind it.
fn reason(verdict: CoverageVerdict, curve: &str) -> &'static str {
    match verdict {
        CoverageVerdict::AsStated => "as stated",
        CoverageVerdict::TooWide => "more often: estimates near 0 are surer than bands say",
        CoverageVerdict::TooLowFromBias if curve == FAR_CURVE => "LESS OFTEN: these distances share one effect",
        CoverageVerdict::TooLowFromBias => "LESS OFTEN: smoothing makes the largest effects too small",
        CoverageVerdict::TooNarrow => "LESS OFTEN: the band is too narrow",
    }
}

/// What is known of a case after some data sets.
#[derive(Default)]
struct CaseErrors {
    /// In the order in which they are shown.
    curves: Vec<(String, CurveErrors)>,
    p_values: Vec<f64>,
}

impl CaseErrors {
    fn curve(&mut self, name: &str) -> &mut CurveErrors {
        let place = self.curves.iter().position(|(curve, _)| curve == name).unwrap_or_else(|| {
            self.curves.push((name.to_owned(), CurveErrors::default()));
            self.curves.len() - 1
        });
        &mut self.curves[place].1
    }
}

impl Case {
    /// A penalised fit in the form of the truth: sums of all receivers, means of shells, nothing left to be chosen.
    fn penalised_spec(&self) -> Spec {
        Spec::default().method(FitMethod::Penalised).choose(false).pool(PoolChoice::Sum).normalise(true)
    }
}

impl Selftest {
    /// Simulates `data_sets` data sets of each case, fits each by penalised likelihood, and counts how often its bands hold the
    /// truth.
    pub fn posterior_coverage(&self, data_sets: usize, watch: &mut Watch<'_>) -> Result<PosteriorReport> {
        let cases: Vec<Case> = Case::all().into_iter().map(Case::with_uncertain_classes).collect();
        self.posterior_coverage_of(&cases, data_sets, watch)
    }

    fn posterior_coverage_of(
        &self,
        cases: &[Case],
        data_sets: usize,
        watch: &mut Watch<'_>,
    ) -> Result<PosteriorReport> {
        if data_sets == 0 {
            return Err(Error::usage("coverage needs at least one data set"));
        }
        let (mut rows, mut false_alarms) = (Vec::new(), Vec::new());
        for (index, case) in cases.iter().enumerate() {
            let start = Instant::now();
            let mut errors = CaseErrors::default();
            for data_set in 0..data_sets {
                let number = index * data_sets + data_set + 1;
                watch(&Progress { case: case.name, number, of: cases.len() * data_sets, epoch: 0, epochs: 0 });
                let seed = Stream::named(self.seed, "selftest coverage", data_set as u64).next_u64();
                count(case, seed, &mut errors)?;
            }
            rows.extend(errors.curves.iter().map(|(name, curve)| curve.row(case.name, name)));
            let seconds = start.elapsed().as_secs_f64() / data_sets as f64;
            false_alarms.push(alarms(case.name, errors.p_values, seconds));
        }
        let all = false_alarms.iter().flat_map(|case: &FalseAlarms| case.p_values.clone()).collect();
        let seconds = false_alarms.iter().map(|case| case.seconds).sum::<f64>() / cases.len().max(1) as f64;
        false_alarms.push(alarms("all", all, seconds));
        Ok(PosteriorReport { seed: self.seed, data_sets, rows, false_alarms })
    }
}

fn alarms(case: &str, p_values: Vec<f64>, seconds: f64) -> FalseAlarms {
    let called = p_values.iter().filter(|p| **p < SIGNIFICANT).count();
    FalseAlarms { case: case.to_owned(), tested: p_values.len(), called, p_values, seconds }
}

/// Counts one data set of a case.
fn count(case: &Case, seed: u64, errors: &mut CaseErrors) -> Result<()> {
    let world = World::simulate(case, seed)?;
    let fitted = case.penalised_spec().fit_watched(&world.data, None, &mut |_| std::ops::ControlFlow::Continue(()))?;
    let truth = Truth::new(&case.planted, &world.graphs, &fitted.train, fitted.model.canonical().slots());
    count_curves(case, &fitted, &truth, errors)?;
    count_predictions(case, &fitted.model, seed, errors)?;
    let summary = fitted.model.record().summary.as_ref();
    for (k, feature) in case.planted.features.iter().enumerate().filter(|(_, feature)| !has_effect(feature)) {
        debug_assert_eq!(fitted.model.definition().learned.features[k].name, feature.name);
        errors.p_values.extend(summary.and_then(|summary| summary.terms.get(k)?.p_value));
    }
    errors.curves.iter_mut().for_each(|(_, curve)| curve.end_data_set());
    Ok(())
}

/// Every supported cell of the effect table, the effects at the anchor of their feature, and the structure curve.
fn count_curves(case: &Case, fitted: &Fitted, truth: &Truth, errors: &mut CaseErrors) -> Result<()> {
    let intervals = Intervals::of_posterior(&fitted.model, false)?;
    let canonical = fitted.model.canonical();
    let (slots, outputs) = (truth.receivers.len(), case.planted.outputs());
    let supported = |support: &[f64], at: usize| {
        support[at] > 0.0 && support[at] >= LEAST_SUPPORT * support.iter().copied().fold(0.0, f64::max)
    };
    let compared: Vec<usize> = (0..slots).filter(|slot| supported(&truth.receivers, *slot)).collect();
    let is_far = |slot: usize| slot >= FAR && slot + 1 < slots;
    // "Unreachable" is one point, however many distances a data set has.
    let name = |slot: usize| if slot + 1 == slots { usize::MAX } else { slot };
    for (k, feature) in case.planted.features.iter().enumerate() {
        let whole = format!("{} x distance", feature.name);
        for v in (0..feature.values.len()).filter(|v| supported(&truth.nodes[k], *v)) {
            let is_reference = matches!(feature.kind, Kind::Binary) && feature.values[v].number == 0.0;
            for (slot, c) in compared.iter().flat_map(|slot| (0..outputs).map(|c| (*slot, c))) {
                let Some(band) = intervals.effect_at(k, feature_value(feature, v), slot, c).filter(|_| !is_reference)
                else {
                    continue;
                };
                let actual = centred(&truth.products[k][v][slot], c);
                let curve = if is_far(slot) { FAR_CURVE } else { &whole };
                errors.curve(curve).add([v, name(slot), c + outputs * k * usize::from(is_far(slot))], actual, band);
                if slot == canonical.anchor(k) {
                    errors.curve(&format!("{} {AT_ANCHOR}", feature.name)).add([v, 0, c], actual, band);
                }
            }
        }
    }
    for (slot, c) in compared.iter().flat_map(|slot| (0..outputs).map(|c| (*slot, c))) {
        let folded = slot == 0 && canonical.folds_structure(0);
        if !folded && !is_far(slot) {
            let band = intervals.structure[slot][c];
            errors.curve("structure").add([0, name(slot), c], centred(&truth.structure[slot], c), band);
        }
    }
    Ok(())
}

/// New items of the same truth: quantities with their noise, or the probabilities of classes.
fn count_predictions(case: &Case, model: &Model, seed: u64, errors: &mut CaseErrors) -> Result<()> {
    let mut new = case.clone();
    new.graphs = NEW_GRAPHS[usize::from(case.task == Task::Node)];
    let world = World::simulate(&new, Stream::named(seed, "selftest new items", 0).next_u64())?;
    let mut random = Stream::named(seed, "selftest new labels", 0);
    let data = &world.data;
    let predictions = model.predict(data)?;
    for (prediction, item) in predictions.items.iter().zip(data.items()) {
        let outputs = &world.outputs[*item as usize];
        let bands = prediction.bands.iter().map(|band| Band { low: band.lower, high: band.upper });
        let (curve, actual) = match case.labels {
            Labels::Number { noise } => ("new items", vec![outputs[0] + noise * random.normal()]),
            Labels::Classes => ("probabilities", probabilities(outputs)),
        };
        // Items differ from data set to data set: there is no point that could be biased.
        for (c, (band, actual)) in bands.zip(actual).enumerate() {
            errors.curve(curve).add([0, 0, c], actual, band);
        }
    }
    Ok(())
}

/// The probabilities of the classes.
fn probabilities(outputs: &[f64]) -> Vec<f64> {
    let outputs = if let [log_odds] = outputs { vec![0.0, *log_odds] } else { outputs.to_vec() };
    let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = outputs.iter().map(|y| (y - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cases::graph_regression;
    use super::*;

    /// Bands hold the truth about as often as they say; narrower and shifted ones would not. Limits are wide, because data
    /// sets are few: over 40 of them 95 to 96 % are covered.
    #[test]
    fn bands_of_a_penalised_fit_hold_the_truth() {
        let mut case = graph_regression();
        case.graphs = 300;
        let report = Selftest::default().posterior_coverage_of(&[case], 4, &mut |_| {}).unwrap();
        let row = |curve: &str| report.rows.iter().find(|row| row.curve == curve).unwrap();
        for curve in ["element x distance", "charge x distance", "structure", "new items"] {
            let row = row(curve);
            assert!((0.88..=1.0).contains(&row.coverage), "{row:?}");
            // Half the width would mean errors of two stated standard deviations.
            assert!((0.4..1.5).contains(&row.error_in_sds), "{row:?}");
        }
        assert_eq!((row("charge x distance").points, row("new items").points), (41.0 * 12.0, 200.0));
        let alarms = &report.false_alarms[0];
        assert_eq!((alarms.tested, alarms.p_values.len()), (4, 4));
        assert!(report.holds() && alarms.called < 3, "{alarms:?}");
        assert!(Selftest::default().posterior_coverage(0, &mut |_| {}).is_err());
    }

    #[test]
    fn rows_tell_bias_from_bands_that_are_too_narrow() {
        let row = |shift: f64, half: f64| {
            let mut random = Stream::named(3, "posterior rows", 0);
            let mut errors = CurveErrors::default();
            for _ in 0..30 {
                for point in 0..30 {
                    let found = shift + random.normal();
                    errors.add([point, 0, 0], 0.0, Band { low: found - half, high: found + half });
                }
                errors.end_data_set();
            }
            errors.row("case", "curve")
        };
        let good = row(0.0, WIDTH);
        assert_eq!((good.verdict, good.points), (CoverageVerdict::AsStated, 30.0));
        assert!((good.error_in_sds - 1.0).abs() < 0.1 && good.bias_in_sds < 0.25, "{good:?}");
        assert!(row(0.0, 1.0).reason.ends_with("too narrow"));
        assert!(row(1.5, WIDTH).reason.ends_with("too small"));
        assert_eq!(row(0.0, 6.0).verdict, CoverageVerdict::TooWide);
    }
}
