//! Penalised fits: a model that is linear in its effects, fitted as a generalised additive model.
//!
//! Where every level of a feature (or knot of a number) has a distance function of its own, the model is linear in its effects:
//! one effect per value and distance. These are the coefficients of a [`likelihood`](crate::likelihood) problem ([`columns`]), whose
//! estimate has neither a seed nor a step size and needs no validation items; [`parameters`] makes a model of it, [`posterior`] keeps how sure it is, and
//! [`summary`] tests its terms.

mod columns;
mod parameters;
mod posterior;
mod summary;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use columns::Columns;
use posterior::{keep_posterior, posterior};
use summary::SummaryInput;

use super::fit::FitItems;
use super::loss::LaneTargets;
use super::report::{EpochReport, Fitted, Monitor};
use super::resolve::ResolvedSpec;
use super::setup::{Setup, learn_features};
use super::weights::class_weights;
use crate::dataset::{Dataset, Outcome, Target};
use crate::error::{Error, Result};
use crate::likelihood::{Design, Family, PenalisedEstimate, PenalisedProblem, fit};
use crate::model::{Ended, ItemSplit, Model, Rho};
use crate::numbers::count as number_words;
use crate::remedy::Remedy;
use crate::spec::{FitMethod, Spec};
use crate::statistics::{Statistics, StatisticsRequest, find_levels};

/// Most coefficients, all outputs that are fitted together counted: the time grows with their third power.
const MOST_COEFFICIENTS: usize = 8000;
/// Distances on real graphs, about, and the memory of a cell: to refuse before anything large is made.
const USUAL_SLOTS: usize = 12;
const BYTES_PER_CELL: u64 = 24;
/// Columns are divided by a power of their spread before blocks are brought to one spread: 0 leaves rare values to what they
/// weigh, a half penalises them less. The marginal likelihood decides.
const SPREAD_POWERS: [f64; 2] = [0.0, 0.5];
/// The least spread of a column, as a share of the largest in its curve over distance, and of the largest of its feature.
const LEAST_SPREAD: [f64; 2] = [0.1, 1e-3];

/// The targets of one or several outputs that are fitted together.
struct TargetPart {
    family: Family,
    targets: Vec<f64>,
    weights: Vec<f64>,
    /// What was subtracted from a quantity, and what the rest was divided by.
    shift: f64,
    scale: f64,
}

/// The estimate of the outputs that are fitted together, in the units of the targets.
struct PartEstimate {
    estimate: PenalisedEstimate,
    /// What every coefficient is multiplied by.
    factors: Vec<f64>,
    shift: f64,
    scale: f64,
}

impl PartEstimate {
    /// A coefficient of one of its outputs.
    fn coefficient(&self, output: usize, column: usize) -> f64 {
        let value =
            self.estimate.coefficients[output * self.factors.len() + column] * self.factors[column] * self.scale;
        if column == 0 { value + self.shift } else { value }
    }
}

impl Spec {
    /// Fits by penalised likelihood.
    pub(super) fn fit_penalised(&self, items: FitItems<'_>, monitor: &mut Monitor<'_>) -> Result<Fitted> {
        let FitItems { cache, train, valid } = items;
        let mut resolutions = self.resolutions(train)?;
        let resolved = resolutions.pop().expect("a penalised fit has one resolution");
        let statistics = self.penalised_statistics(cache.data(), train)?;
        let outcome = resolved.outcome;
        let setup = Setup::of_data(self, resolved, Arc::clone(&statistics), train)?;
        let columns = Columns::new(&setup.definition);
        let rows = statistics.rows_of(train)?;
        let parts = target_parts(train, outcome, &setup.resolved);
        let together = parts.iter().map(|part| part.family.outputs()).max().unwrap_or(1);
        check_coefficients(columns.count * together)?;
        train.run().memory.demand(Design::fit_bytes(columns.count, together), "the matrix of a penalised fit")?;
        let design = columns.design(&setup.definition, &statistics, &rows);
        let mut interrupted = false;
        let mut history = Vec::new();
        let mut iterations = 0;
        let mut found = Vec::new();
        for part in &parts {
            let mut best: Option<PartEstimate> = None;
            for power in SPREAD_POWERS {
                let (scaled, factors) = scaled_design(&design, &columns, power);
                let problem = PenalisedProblem {
                    design: &scaled,
                    blocks: &columns.blocks,
                    family: part.family,
                    targets: &part.targets,
                    weights: &part.weights,
                };
                let estimate = fit(problem, None, &mut |iteration| {
                    iterations += 1;
                    let loss = -iteration.value / train.len().max(1) as f64;
                    history.push((iterations, loss, loss));
                    let report = EpochReport {
                        candidate: "",
                        epoch: iteration.number,
                        epochs: iteration.most,
                        train_loss: loss,
                        valid_loss: loss,
                        best_epoch: iteration.number,
                        metric: None,
                    };
                    interrupted |= monitor(&report).is_break() || train.run().cancel.is_cancelled();
                    if interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                let Some(estimate) = estimate else { continue };
                if best.as_ref().is_none_or(|best| estimate.marginal > best.estimate.marginal) {
                    best = Some(PartEstimate { estimate, factors, shift: part.shift, scale: part.scale });
                }
                if interrupted {
                    break;
                }
            }
            found.push(best.ok_or_else(|| {
                Error::training("the likelihood was not a finite number")
                    .with_remedy("look for extreme values in features and targets")
            })?);
        }
        let ended = match (interrupted, found.iter().all(|part| part.estimate.converged)) {
            (true, _) => Ended::Interrupted,
            (false, true) => Ended::Converged,
            (false, false) => Ended::Epochs,
        };
        let model = setup.penalised_model(&columns, &found, train, &rows)?;
        let model = model.with_posterior(posterior(&found, &design, outcome.is_regression()));
        let input =
            SummaryInput { model: &model, columns: &columns, found: &found, statistics: &statistics, rows: &rows };
        let summary = input.summary();
        let model = keep_posterior(model);
        let valid_loss = setup.mean_loss(&model, if valid.is_empty() { train } else { valid })?;
        let model = model.with_record(|record| {
            record.items = ItemSplit::of(train, valid);
            record.valid_items = valid.len();
            (record.epochs, record.best_epoch, record.ended) = (iterations, iterations, ended);
            record.history = history;
            record.summary = summary;
        });
        Ok(Fitted { ended, model, valid_loss, train: train.clone(), valid: valid.clone(), tried: Vec::new() })
    }

    /// The statistics of all items, with numbers at the knots of their effects.
    fn penalised_statistics(&self, data: &Dataset, train: &Dataset) -> Result<Arc<Statistics>> {
        let features = learn_features(self, self.resolved_shape(), train);
        let knots: Vec<Option<Vec<f64>>> =
            features.iter().map(|feature| feature.effect_knots.as_ref().map(|knots| knots.at.clone())).collect();
        let levels = find_levels(data, data.features(), &knots)?;
        // Every value has an effect at several distances.
        let values: usize = features.iter().map(|feature| feature.value_count()).sum();
        check_coefficients(values)?;
        let cells = (values * USUAL_SLOTS).min(data.node_count()) as u64 * data.len() as u64;
        data.run().memory.demand(BYTES_PER_CELL * cells, "what every item has of every value at every distance")?;
        let names = data.features().iter().map(|feature| feature.name.as_str());
        let request = StatisticsRequest::of(self, Rho::PerFeature, names);
        Ok(Arc::new(Statistics::in_cells(data, levels, request)?))
    }
}

impl Setup {
    /// The mean loss of a model over some items, as training computes it.
    fn mean_loss(&self, model: &Model, items: &Dataset) -> Result<f64> {
        let mut outputs = model.outputs_on(items)?.values;
        let pairs = self.scale.pairs();
        for row in outputs.chunks_exact_mut(pairs.len().max(1)).filter(|_| !pairs.is_empty()) {
            let scaled = row.iter_mut().zip(&pairs);
            scaled.for_each(|(y, (shift, scale))| *y = ((f64::from(*y) - shift) / scale) as f32);
        }
        let targets = self.scale.targets(items, &self.class_weights);
        let lane = LaneTargets::of_one(self.resolved.loss, self.resolved.outputs, &targets);
        let mut gradient = vec![0.0; outputs.len()];
        Ok(lane.evaluate(&outputs, &mut gradient)[0].train)
    }
}

/// Refuses more coefficients than can be fitted in sensible time.
fn check_coefficients(count: usize) -> Result<()> {
    match count > MOST_COEFFICIENTS {
        false => Ok(()),
        true => Err(Error::limit(format!(
            "a penalised fit of {} coefficients takes too long: at most {} are fitted",
            number_words(count),
            number_words(MOST_COEFFICIENTS)
        ))
        .with_remedy(Remedy::Set("fit", FitMethod::Gradient.to_string()))),
    }
}

/// The design with every column multiplied by a factor, so that blocks have the same spread; and the factors.
fn scaled_design(design: &Design, columns: &Columns, power: f64) -> (Design, Vec<f64>) {
    let mut factors = vec![1.0; design.columns()];
    let spreads: Vec<f64> = design.moments().into_iter().map(|(_, variance)| variance.sqrt()).collect();
    let largest_of = |own: Range<usize>| spreads[own].iter().copied().fold(0.0, f64::max);
    for group in &columns.map.groups {
        let own = group.coefficients();
        let largest = largest_of(own.clone());
        if largest == 0.0 {
            continue;
        }
        // What hardly occurs at a distance is no freer there than elsewhere: its curve continues.
        let divided = |column: usize| {
            let curve = group.first + (column - group.first) / group.size * group.size;
            let least = (LEAST_SPREAD[0] * largest_of(curve..curve + group.size)).max(LEAST_SPREAD[1] * largest);
            spreads[column].max(least).powf(power)
        };
        let mean_square = |column: usize| (spreads[column] / divided(column)).powi(2);
        let pooled = (own.clone().map(mean_square).sum::<f64>() / own.len() as f64).sqrt();
        own.for_each(|column| factors[column] = 1.0 / (divided(column) * pooled));
    }
    let mut scaled = design.clone();
    scaled.scale_columns(&factors);
    (scaled, factors)
}

/// The targets of the outputs, those of one softmax together.
fn target_parts(train: &Dataset, outcome: Outcome, resolved: &ResolvedSpec) -> Vec<TargetPart> {
    let classes = match resolved.spec.fit.balance {
        true => class_weights(train, outcome),
        false => Vec::new(),
    };
    let part = |target: &Target| {
        let mut values: Vec<f64> = train.items().iter().map(|item| target.values[*item as usize]).collect();
        let weight = |(item, value): (&u32, &f64)| match value.is_nan() {
            true => 0.0,
            false => f64::from(train.weight(*item)) * classes.get(*value as usize).copied().unwrap_or(1.0),
        };
        let weights: Vec<f64> = train.items().iter().zip(&values).map(weight).collect();
        values.iter_mut().for_each(|value| *value = if value.is_nan() { 0.0 } else { *value });
        let family = match outcome {
            Outcome::Binary | Outcome::MultiLabel => Family::Binomial,
            Outcome::Multiclass => Family::Multinomial(resolved.outputs),
            Outcome::Regression | Outcome::MultiRegression => Family::Gaussian,
        };
        let (mut shift, mut scale) = (0.0, 1.0);
        if family == Family::Gaussian {
            let known = || values.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0).map(|(value, _)| *value);
            let count = (known().count() as f64).max(1.0);
            shift = known().sum::<f64>() / count;
            let spread = (known().map(|value| (value - shift).powi(2)).sum::<f64>() / count).sqrt();
            scale = if spread.is_finite() && spread > 0.0 { spread } else { 1.0 };
            values.iter_mut().for_each(|value| *value = (*value - shift) / scale);
        }
        TargetPart { family, targets: values, weights, shift, scale }
    };
    train.targets().iter().map(part).collect()
}
