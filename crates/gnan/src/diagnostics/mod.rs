//! Diagnostics: whether what a model assumes holds on some data, in the manner of mgcv's `gam.check`.
//!
//! - [`ResidualCheck`]: what is left over should be alike at all predictions, and normal.
//! - [`CalibrationCheck`]: of the items with a predicted probability of 0.7, seven in ten should be of that class.
//! - [`BasisCheck`]: items that follow one another along a feature should not be left over alike; else its curve has too few knots.
//! - [`ConcurvityCheck`]: what one feature contributes should not be what the others contribute together.
//!
//! Every check gives its numbers, whether they are fine, and a sentence on what to do. Residuals and calibration are those of the
//! items that the model is judged on; the other two look at all items with a target, or evenly spaced ones of very many.

mod basis;
mod calibration;
mod concurvity;
mod normal;
mod residuals;

use serde::Serialize;

pub use basis::{BasisCheck, BasisRow};
pub use calibration::{CalibrationCheck, CalibrationGroup};
pub use concurvity::{ConcurvityCheck, ConcurvityRow};
pub use residuals::{ResidualCheck, ResidualPoint};

use crate::dataset::{Dataset, Outcome, Target};
use crate::error::{Error, Result};
use crate::evaluate::Judgement;
use crate::model::Model;
use crate::random::Stream;
use normal::normal_quantile;

/// Fewest items with a target that can be checked.
pub const FEWEST_ITEMS: usize = 3;
/// Items that are looked at for curves and contributions.
const MOST_ITEMS: usize = 2000;
/// Probabilities are kept so far from 0 and 1.
const LEAST_PROBABILITY: f64 = 1e-12;

/// The checks of a model on some data.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// use gnan::ModelCheck;
/// let check = ModelCheck::new(&model, &test, None)?;
/// assert!(check.calibration.is_none());
/// println!("{}", check.residuals.sentence);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelCheck {
    /// What is left over.
    pub residuals: ResidualCheck,
    /// Whether probabilities are shares; `None` where quantities are predicted.
    pub calibration: Option<CalibrationCheck>,
    /// Whether curves have knots enough; `None` where that was not looked at.
    pub basis: Option<BasisCheck>,
    /// Whether features can be told apart; `None` where that was not looked at.
    pub concurvity: Option<ConcurvityCheck>,
    /// What was not looked at, and why.
    pub left_out: Vec<String>,
    /// Whether every check is fine.
    pub fine: bool,
}

impl ModelCheck {
    /// Checks a model on some data; `test_share` as in [`Judgement::new`].
    pub fn new(model: &Model, data: &Dataset, test_share: Option<f64>) -> Result<ModelCheck> {
        ModelCheck::of(model, data, &Judgement::new(model, data, test_share)?)
    }

    /// The same with what is known of how well the model predicts.
    pub fn of(model: &Model, data: &Dataset, judged: &Judgement) -> Result<ModelCheck> {
        if let Some(problem) = &judged.problem {
            return Err(Error::input(format!("the targets cannot be used: {problem}")));
        }
        let known = KnownItems::of_judged(model, judged);
        if known.rows.len() < FEWEST_ITEMS {
            let message = match known.rows.len() {
                0 => "no item has a known target to compare predictions with".to_owned(),
                few => format!("{few} items with a known target are too few: a check needs {FEWEST_ITEMS}"),
            };
            return Err(Error::input(message).with_remedy("name data that have the target of the model"));
        }
        let mut left_out = Vec::new();
        let residuals = ResidualCheck::new(&known, judged);
        let calibration = CalibrationCheck::new(&known);
        let all = data.labelled();
        let step = all.len().div_ceil(MOST_ITEMS).max(1);
        let all = all.subset(&(0..all.len()).step_by(step).collect::<Vec<_>>());
        let wide = KnownItems::new(model, &all, &judged.targets, &model.outputs_on(&all)?.values);
        let (mut basis, mut concurvity) = (None, None);
        if model.definition().spec.model.readout {
            left_out
                .push("A readout bends sums of contributions: neither knots nor concurvity are checked.".to_owned());
        } else {
            let terms = concurvity::contributions(model, &all)?;
            concurvity = ConcurvityCheck::new(model, &terms);
            match model.learned().links {
                Some(_) => left_out.push(
                    "Node pairs lie along no feature of nodes: whether curves have knots enough is not checked."
                        .to_owned(),
                ),
                None => basis = BasisCheck::new(model, &all, &wide, &terms)?,
            }
            if basis.is_some() && model.record().summary.is_none() {
                left_out.push(
                    "Coefficients and degrees of freedom are those of a penalised fit, and this model was trained by gradient descent."
                        .to_owned(),
                );
            }
            if basis.is_none() && model.learned().links.is_none() {
                left_out.push("No numeric feature has an effect: there are no knots to check.".to_owned());
            }
            if concurvity.is_none() {
                left_out
                    .push("Fewer than two terms vary over these items: there is no concurvity to check.".to_owned());
            }
        }
        let fine = residuals.fine
            && calibration.as_ref().is_none_or(|check| check.fine)
            && basis.as_ref().is_none_or(|check| check.fine)
            && concurvity.as_ref().is_none_or(|check| check.fine);
        Ok(ModelCheck { residuals, calibration, basis, concurvity, left_out, fine })
    }
}

/// The targets of an item and what is predicted for it.
struct KnownRow {
    item: u32,
    /// Per target: the value, or the number of the class; not a number where it is missing.
    actual: Vec<f64>,
    /// Values, or probabilities: of every class, or of "yes" for every target.
    predicted: Vec<f64>,
}

/// Items of which at least one target is known.
struct KnownItems {
    rows: Vec<KnownRow>,
    is_quantity: bool,
    /// Whether there is a probability of "yes" for every target, in place of one for every class.
    is_multi_label: bool,
    /// What probabilities are compared with, in words.
    compared: String,
}

impl KnownItems {
    fn of_judged(model: &Model, judged: &Judgement) -> KnownItems {
        KnownItems::new(model, &judged.data, &judged.targets, &judged.outputs.values)
    }

    fn new(model: &Model, data: &Dataset, targets: &[Target], outputs: &[f32]) -> KnownItems {
        let outcome = model.learned().outcome;
        let is_quantity = outcome.is_regression();
        let width = model.outputs().max(1);
        let row = |(item, outputs): (&u32, &[f32])| KnownRow {
            item: *item,
            actual: targets.iter().map(|target| target.values[*item as usize]).collect(),
            predicted: match is_quantity {
                true => outputs.iter().map(|y| f64::from(*y)).collect(),
                false => model.probabilities(outputs),
            },
        };
        let is_known = |row: &KnownRow| {
            row.actual.iter().any(|value| !value.is_nan()) && row.predicted.iter().all(|value| value.is_finite())
        };
        KnownItems {
            rows: data.items().iter().zip(outputs.chunks_exact(width)).map(row).filter(is_known).collect(),
            is_quantity,
            is_multi_label: outcome == Outcome::MultiLabel,
            compared: match (outcome, targets.first().and_then(|target| target.classes.as_ref()?.get(1))) {
                (Outcome::Binary, Some(class)) => format!("class {class}"),
                (Outcome::MultiLabel, _) => "all targets together".to_owned(),
                _ => "all classes together".to_owned(),
            },
        }
    }

    /// For every row and target the prediction by which residuals are ordered, and the residual: actual less predicted for a
    /// quantity; for classes a randomised quantile residual (Dunn and Smyth 1996), which is standard normal where probabilities
    /// are right. `None` where the target is missing.
    fn residuals(&self) -> Vec<Vec<Option<[f64; 2]>>> {
        let mut random = Stream::named(0, "randomised residuals", 0);
        let mut of_target = |row: &KnownRow, place: usize| {
            let actual = row.actual[place];
            let drawn = random.uniform();
            if actual.is_nan() {
                return None;
            }
            if self.is_quantity {
                return Some([row.predicted[place], actual - row.predicted[place]]);
            }
            let chances: Vec<f64> = match self.is_multi_label {
                true => vec![1.0 - row.predicted[place], row.predicted[place]],
                false => row.predicted.clone(),
            };
            let class = (actual as usize).min(chances.len() - 1);
            let below: f64 = chances[..class].iter().sum();
            let share = (below + drawn * chances[class]).clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY);
            // Of two classes the second is shown, of several the most probable.
            let shown = match chances.len() {
                2 => chances[1],
                _ => chances.iter().copied().fold(0.0, f64::max),
            };
            Some([shown, normal_quantile(share)])
        };
        let of_row = |row: &KnownRow| (0..row.actual.len()).map(|place| of_target(row, place)).collect();
        self.rows.iter().map(of_row).collect()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    (values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / values.len().max(1) as f64).sqrt()
}

/// The correlation of two columns; 0 where one of them is constant.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (centre_a, centre_b, sizes) = (mean(a), mean(b), deviation(a) * deviation(b));
    let together = a.iter().zip(b).map(|(a, b)| (a - centre_a) * (b - centre_b)).sum::<f64>() / a.len().max(1) as f64;
    if sizes > 0.0 { (together / sizes).clamp(-1.0, 1.0) } else { 0.0 }
}
