//! The estimate of one candidate: its effects, and how well they would do on items that were not fitted on.
//!
//! Coefficients are estimated themselves, with a penalty for every curve and table; where there are too many of them, in the
//! [dual form](super::dual_estimate).

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use super::columns::Columns;
use super::constraints::EffectRules;
use super::dual_estimate::{DualPart, dual_memory, fit_rest_dual, fit_some_dual};
use super::known_part::KnownPart;
use super::shared::{BilinearPart, SharedColumns};
use super::size::{MOST_COEFFICIENTS, is_dual};
use super::targets::{TargetPart, target_parts};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::files::Task;
use crate::likelihood::{Design, FitStart, Iteration, PenalisedEstimate, bilinear_bytes, fit, left_out_losses};
use crate::model::{CurveTies, model_reach};
use crate::numbers::count as number_words;
use crate::remedy::Remedy;
use crate::spec::{FitMethod, Spec};
use crate::statistics::{Statistics, StatisticsRequest, find_levels};
use crate::train::setup::{Setup, learn_features};

/// Distances on real graphs, about, and the memory of a cell: to refuse before anything large is made.
const USUAL_SLOTS: usize = 12;
const BYTES_PER_CELL: u64 = 24;
/// Columns are divided by a power of their spread before blocks are brought to one spread: 0 leaves rare values to what they
/// weigh, a half penalises them less. The marginal likelihood decides.
pub(super) const SPREAD_POWERS: [f64; 2] = [0.0, 0.5];
/// The least spread of a column, as a share of the largest in its curve over distance, and of the largest of its feature.
const LEAST_SPREAD: [f64; 2] = [0.1, 1e-3];
/// Powers are compared by fits that end where the logarithm of the marginal likelihood rises by less than this.
const ENOUGH_RISE: f64 = 0.3;

/// The estimate of the outputs that are fitted together, in the units of the targets.
pub(super) struct PartEstimate {
    /// Output after output, before they are multiplied by factors and scale.
    pub coefficients: Vec<f64>,
    /// What every coefficient is multiplied by.
    pub factors: Vec<f64>,
    pub shift: f64,
    pub scale: f64,
    /// The dispersion of the family, on the scale of the fit.
    pub variance: f64,
    /// The estimate of the coefficients themselves; `None` in the dual form, and where they are products.
    pub primal: Option<PenalisedEstimate>,
    /// The estimate of the values and distance functions that they are products of.
    pub bilinear: Option<BilinearPart>,
    /// What the posterior is made of, in the dual form.
    pub dual: Option<DualPart>,
}

impl PartEstimate {
    /// Number of outputs.
    pub(super) fn outputs(&self) -> usize {
        self.coefficients.len() / self.factors.len()
    }

    /// One of its outputs of every item, on the scale of the fit.
    pub(super) fn predicted(&self, design: &Design, output: usize) -> Vec<f64> {
        let own = &self.coefficients[output * self.factors.len()..][..self.factors.len()];
        design.times(&own.iter().zip(&self.factors).map(|(own, factor)| own * factor).collect::<Vec<f64>>())
    }

    /// A coefficient of one of its outputs.
    pub(super) fn coefficient(&self, output: usize, column: usize) -> f64 {
        let value = self.coefficients[output * self.factors.len() + column] * self.factors[column] * self.scale;
        if column == 0 { value + self.shift } else { value }
    }
}

/// A candidate with its effects.
pub(super) struct CandidateFit {
    /// The specification, with nothing left open that may be chosen.
    pub spec: Spec,
    /// The items, with the features that the candidate describes nodes by.
    pub train: Dataset,
    pub setup: Setup,
    pub columns: Columns,
    /// What the columns are products of, where values share distance functions.
    pub shared: Option<SharedColumns>,
    pub rows: Vec<usize>,
    pub design: Design,
    pub found: Vec<PartEstimate>,
    /// The power of the spread by which columns are divided.
    pub power: f64,
    /// The logarithm of the marginal likelihood.
    pub marginal: f64,
    /// The loss of every item by a fit without it, once it is known. Where only some were looked at, these count for the others.
    left_out: OnceLock<Vec<f64>>,
    /// Whether items were weighed in place of coefficients.
    pub dual: bool,
    pub converged: bool,
}

/// Watches the iterations of an estimate; `Break` ends it with what there is.
pub(super) type IterationMonitor<'a> = dyn FnMut(&Iteration) -> ControlFlow<()> + 'a;

/// What one power gave: the parts, the marginal likelihood and the losses.
#[derive(Default)]
pub(super) struct PowerFit {
    pub found: Vec<PartEstimate>,
    pub marginal: f64,
    /// Empty where they follow from the estimates and are found when they are needed.
    pub left_out: Vec<f64>,
    pub converged: bool,
}

impl CandidateFit {
    /// Fits a candidate, with the best of some powers; `None` where it has more than `most` coefficients, or so many that the dual
    /// form would be taken. It starts where one ended that it is `like`, whose features come first among its own.
    pub(super) fn new(
        spec: Spec,
        train: Dataset,
        powers: &[f64],
        most: Option<usize>,
        like: Option<&CandidateFit>,
        known: Option<&Statistics>,
        monitor: &mut IterationMonitor<'_>,
    ) -> Result<Option<CandidateFit>> {
        let start = like.map(|like| like.known(|_| true)).unwrap_or_default();
        CandidateFit::with_start(spec, train, powers, most, start, known, monitor)
    }

    /// The same features but those that are not kept, with the same power of the spread, starting with what is known of the others.
    pub(super) fn without_features(
        &self,
        kept: &[bool],
        monitor: &mut IterationMonitor<'_>,
    ) -> Result<Option<CandidateFit>> {
        let start = self.known(|feature| feature.is_none_or(|k| kept[k]));
        let train = self.train.with_features(kept);
        CandidateFit::with_start(self.spec.clone(), train, &[self.power], None, start, None, monitor)
    }

    /// What it says of some features (`None`: the structure), by part.
    fn known(&self, kept: impl Fn(Option<usize>) -> bool) -> Vec<KnownPart> {
        self.found.iter().map(|part| KnownPart::of(part, &self.columns, &kept)).collect()
    }

    /// Fits a candidate, starting with what is known of every part.
    fn with_start(
        spec: Spec,
        train: Dataset,
        powers: &[f64],
        most: Option<usize>,
        start: Vec<KnownPart>,
        known: Option<&Statistics>,
        monitor: &mut IterationMonitor<'_>,
    ) -> Result<Option<CandidateFit>> {
        // What is only tried is not even summed up where it is far too large.
        let size = spec.penalised_size(&train);
        if most.is_some_and(|most| size.columns * size.outputs > 2 * most) {
            return Ok(None);
        }
        let mut resolutions = spec.resolutions(&train)?;
        let resolved = resolutions.pop().expect("a penalised fit has one resolution");
        let outcome = resolved.outcome;
        let statistics = spec.penalised_statistics(&train, known)?;
        let setup = Setup::of_data(&spec, resolved, Arc::clone(&statistics), &train)?;
        let columns = Columns::new(&setup.definition);
        let rows = statistics.rows_of(&train)?;
        let parts = target_parts(&train, outcome, &setup.resolved);
        let together = parts.iter().map(|part| part.family.outputs()).max().unwrap_or(1);
        let shared = SharedColumns::new(&setup.definition, &columns);
        let count = shared.as_ref().map_or(columns.count, |shared| shared.map.count);
        let dual = shared.is_none() && is_dual(columns.count, together, train.len());
        if most.is_some_and(|most| dual || count * together > most) {
            return Ok(None);
        }
        let rules = EffectRules::new(&setup.definition, &columns.map);
        if dual && !rules.is_empty() {
            return Err(Error::usage(
                "constraints are not kept where there are so many coefficients that items are weighed instead",
            )
            .with_remedy([
                Remedy::Set("fit", FitMethod::Gradient.to_string()),
                Remedy::Use("hop-cap").to("have fewer coefficients"),
            ]));
        }
        let memory = &train.run().memory;
        if dual {
            memory.demand(dual_memory(columns.count, train.len(), together), "the matrices of a penalised fit")?;
        } else if shared.is_some() {
            check_coefficients(count * together, &train)?;
            memory.demand(bilinear_bytes(count, together), "the matrix of a penalised fit")?;
        } else {
            check_coefficients(columns.count * together, &train)?;
            memory.demand(Design::fit_bytes(columns.count, together), "the matrix of a penalised fit")?;
        }
        let design = columns.design(&setup.definition, &statistics, &rows);
        let interrupted = Cell::new(false);
        let mut watch = |iteration: &Iteration| {
            let flow = monitor(iteration);
            interrupted.set(interrupted.get() || flow.is_break());
            flow
        };
        let mut best: Option<(f64, PowerFit)> = None;
        let mut start = start;
        let fits = PrimalFits { design: &design, columns: &columns, rules: &rules, parts: &parts };
        // Powers are compared first, and the better is then fitted to the end.
        let compared = !dual && shared.is_none() && powers.len() > 1;
        for power in powers {
            if interrupted.get() && best.is_some() {
                break;
            }
            let fitted = match (dual, &shared) {
                (true, _) => fit_some_dual(&design, &columns, &parts, *power, &mut watch),
                (false, Some(shared)) => shared.fit_all(&design, &parts, *power, &mut watch),
                (false, None) => {
                    let least = best.as_ref().map(|(_, best)| best.marginal);
                    let ends = FitEnds { least_marginal: least, enough_rise: compared.then_some(ENOUGH_RISE) };
                    fits.fit(*power, &start, ends, &mut watch)
                }
            };
            let Some(fitted) = fitted else { continue };
            start = fitted.found.iter().map(|part| KnownPart::of_another_power(part, &columns)).collect();
            let loss = |fitted: &PowerFit| fitted.left_out.iter().sum::<f64>();
            let is_better = |best: &PowerFit| match dual {
                // Of few items the marginal likelihood is not certain enough.
                true => loss(&fitted) < loss(best),
                false => (fitted.converged || !best.converged) && fitted.marginal > best.marginal,
            };
            if best.as_ref().is_none_or(|(_, best)| is_better(best)) {
                best = Some((*power, fitted));
            }
        }
        if let Some((power, rough)) = best.as_mut().filter(|_| compared && !interrupted.get()) {
            let start: Vec<KnownPart> =
                rough.found.iter().map(|part| KnownPart::of(part, &columns, |_| true)).collect();
            match fits.fit(*power, &start, FitEnds::default(), &mut watch) {
                Some(fitted) => *rough = fitted,
                None => rough.converged = false,
            }
        }
        let (power, PowerFit { found, marginal, left_out, converged }) = best.ok_or_else(|| {
            Error::training(match rules.is_empty() {
                true => "the likelihood was not a finite number",
                false => "no effects were found that keep to the constraints and have a finite likelihood",
            })
            .with_remedy("look for extreme values in features and targets")
        })?;
        Ok(Some(CandidateFit {
            spec,
            train,
            setup,
            columns,
            shared,
            rows,
            design,
            found,
            power,
            marginal,
            left_out: if left_out.is_empty() { OnceLock::new() } else { left_out.into() },
            dual,
            converged,
        }))
    }

    /// Number of strengths of penalties that were found.
    pub(super) fn strengths_fitted(&self) -> usize {
        let strengths = self.shared.as_ref().map_or_else(|| self.columns.strengths(), SharedColumns::strengths);
        strengths * self.found.len()
    }

    /// Those of curves over numbers that sum up items.
    pub(super) fn strengths_of_curves(&self) -> usize {
        self.columns.strengths_of_curves() * self.found.len()
    }

    /// The loss of every item by a fit without it.
    pub(super) fn left_out(&self) -> &[f64] {
        self.left_out.get_or_init(|| {
            let parts = target_parts(&self.train, self.setup.resolved.outcome, &self.setup.resolved);
            let (scaled, _) = scaled_design(&self.design, &self.columns, self.power);
            let mut losses = vec![0.0; self.design.rows()];
            for (part, found) in parts.iter().zip(&self.found) {
                let Some(estimate) = &found.primal else { continue };
                let own = left_out_losses(&part.problem(&scaled, &self.columns.blocks), estimate);
                losses.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
            losses
        })
    }

    /// The mean loss of items that were not fitted on.
    pub(super) fn mean_left_out(&self) -> f64 {
        let losses = self.left_out();
        losses.iter().sum::<f64>() / losses.len().max(1) as f64
    }

    /// Fits what only some items were fitted for while candidates were compared.
    pub(super) fn finish(&mut self, monitor: &mut IterationMonitor<'_>) {
        let parts = target_parts(&self.train, self.setup.resolved.outcome, &self.setup.resolved);
        let found = std::mem::take(&mut self.found);
        let (found, converged) = fit_rest_dual(&self.design, &self.columns, &parts, self.power, found, monitor);
        self.found = found;
        self.converged &= converged;
    }
}

/// Where a fit of coefficients may end early: see [`FitStart`].
#[derive(Clone, Copy, Default)]
struct FitEnds {
    least_marginal: Option<f64>,
    enough_rise: Option<f64>,
}

/// What coefficients are fitted to.
struct PrimalFits<'a> {
    design: &'a Design,
    columns: &'a Columns,
    rules: &'a EffectRules,
    parts: &'a [TargetPart],
}

impl PrimalFits<'_> {
    /// Fits the coefficients of every part; `None` also where it is given up.
    fn fit(
        &self,
        power: f64,
        start: &[KnownPart],
        ends: FitEnds,
        monitor: &mut IterationMonitor<'_>,
    ) -> Option<PowerFit> {
        let PrimalFits { design, columns, rules, parts } = *self;
        let (scaled, factors) = scaled_design(design, columns, power);
        let mut all = PowerFit { found: Vec::new(), marginal: 0.0, left_out: Vec::new(), converged: true };
        let nothing = KnownPart::default();
        for (place, part) in parts.iter().enumerate() {
            let problem = part.problem(&scaled, &columns.blocks);
            let known = start.get(place).unwrap_or(&nothing);
            let coefficients = known.coefficients(columns, &factors);
            let alone = parts.len() == 1 && rules.is_empty();
            let start = FitStart {
                lambdas: &known.lambdas(),
                coefficients: coefficients.as_deref(),
                variance: known.variance,
                least_marginal: ends.least_marginal.filter(|_| alone),
                enough_rise: ends.enough_rise,
            };
            let estimate = fit(problem, start, monitor)?;
            let estimate = rules.kept(problem, estimate, |column| factors[column] * part.scale, monitor)?;
            all.marginal += estimate.marginal;
            all.converged &= estimate.converged;
            all.found.push(PartEstimate {
                coefficients: estimate.coefficients.clone(),
                factors: factors.clone(),
                shift: part.shift,
                scale: part.scale,
                variance: estimate.variance,
                primal: Some(estimate),
                bilinear: None,
                dual: None,
            });
        }
        Some(all)
    }
}

/// The design with every column multiplied by a factor, so that blocks have the same spread; and the factors.
fn scaled_design(design: &Design, columns: &Columns, power: f64) -> (Design, Vec<f64>) {
    let mut factors = vec![1.0; design.columns()];
    let spreads: Vec<f64> = design.moments().into_iter().map(|(_, variance)| variance.sqrt()).collect();
    for group in &columns.map.groups {
        let own: Vec<usize> = group.coefficients().collect();
        // What hardly occurs at a distance is no freer there than elsewhere: its curve continues.
        let largest_of_curve = |column: usize| {
            let first = group.first + (column - group.first) / group.size * group.size;
            spreads[first..first + group.size].iter().copied().fold(0.0, f64::max)
        };
        // The cells of a pair have one factor, so that means of rows stay means of rows.
        let power = if group.ties == CurveTies::Cells { 0.0 } else { power };
        bring_to_one_spread(&own, &spreads, largest_of_curve, power, &mut factors);
    }
    let mut scaled = design.clone();
    scaled.scale_columns(&factors);
    (scaled, factors)
}

/// Divides columns by a power of their spread, and all of them by one number, so that their mean square spread is 1.
pub(super) fn bring_to_one_spread(
    own: &[usize],
    spreads: &[f64],
    largest_of_curve: impl Fn(usize) -> f64,
    power: f64,
    factors: &mut [f64],
) {
    let largest = own.iter().map(|column| spreads[*column]).fold(0.0, f64::max);
    if largest == 0.0 {
        return;
    }
    let divided = |column: usize| {
        let least = (LEAST_SPREAD[0] * largest_of_curve(column)).max(LEAST_SPREAD[1] * largest);
        spreads[column].max(least).powf(power)
    };
    let square = |column: &usize| (spreads[*column] / divided(*column)).powi(2);
    let pooled = (own.iter().map(square).sum::<f64>() / own.len() as f64).sqrt();
    own.iter().for_each(|column| factors[*column] = 1.0 / (divided(*column) * pooled));
}

impl Spec {
    /// The statistics of training items, with numbers at the knots of their effects; made of those that are known already where that
    /// is possible.
    fn penalised_statistics(&self, train: &Dataset, known: Option<&Statistics>) -> Result<Arc<Statistics>> {
        let features = learn_features(self, self.resolved_shape(), train);
        let knots: Vec<Option<Vec<f64>>> =
            features.iter().map(|feature| feature.effect_knots.as_ref().map(|knots| knots.at.clone())).collect();
        let levels = find_levels(train, train.features(), &knots)?;
        // Every value has an effect at several distances, that of a node pair itself at one.
        let reach = model_reach(self, train.links().is_some());
        let (mut values, mut cells_of_pairs) = (0, 0);
        for (schema, feature) in features.iter().zip(train.features()) {
            match feature.own_only || feature.is_of_item() {
                _ if schema.reach_within(reach).is_empty() => {}
                false => values += schema.value_count(),
                // A number is between two knots.
                true => cells_of_pairs += 2,
            }
        }
        let slots = self.distances.hop_cap.map_or(USUAL_SLOTS, |cap| USUAL_SLOTS.min(cap.saturating_add(1)));
        let spread = train.features().iter().filter(|feature| !feature.own_only && !feature.is_of_item()).count();
        let cells = most_cells(train, (spread, values), slots) + (cells_of_pairs * train.len()) as u64;
        train.run().memory.demand(BYTES_PER_CELL * cells, "what every item has of every value at every distance")?;
        let names = train.features().iter().map(|feature| feature.name.as_str());
        let request = StatisticsRequest::of(self, self.penalised_rho(), names);
        if let Some(found) = known.and_then(|known| known.with_own_values(train, &levels, &request)) {
            return Ok(Arc::new(found));
        }
        Ok(Arc::new(Statistics::in_cells(train, levels, request)?))
    }
}

/// The most cells that items can have of so many features with so many values in all, at so many distances. A graph has no more values
/// than its nodes have, each at no more distances than it has nodes.
fn most_cells(train: &Dataset, (features, values): (usize, usize), slots: usize) -> u64 {
    let of_item = |item: &u32| match train.task() {
        Task::Node => (values * slots).min(train.node_count()),
        Task::Graph => {
            let nodes = train.nodes_of(*item as usize).len();
            // A number is between two knots.
            values.min(2 * features * nodes) * slots.min(nodes)
        }
    };
    train.items().iter().map(|item| of_item(item) as u64).sum()
}

/// Refuses more coefficients than can be fitted in sensible time.
fn check_coefficients(count: usize, train: &Dataset) -> Result<()> {
    if count <= MOST_COEFFICIENTS {
        return Ok(());
    }
    let gradient = Remedy::Set("fit", FitMethod::Gradient.to_string());
    let message = format!(
        "a penalised fit of {} coefficients takes too long: at most {} are fitted",
        number_words(count),
        number_words(MOST_COEFFICIENTS)
    );
    Err(match train.features().iter().any(|feature| feature.own_only) {
        true => Error::limit(message)
            .with_remedy([gradient, Remedy::Set("hop-cap", "0".to_owned()).to("use the features of node pairs alone")]),
        false => Error::limit(message).with_remedy(gradient),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many values there are in all, a small graph has few of them: many small graphs are not refused.
    #[test]
    fn small_graphs_have_few_cells() {
        let data = Dataset::open("solubility").unwrap();
        let nodes = data.node_count() as u64;
        assert!(most_cells(&data, (2, 1_000_000), 12) <= 4 * 12 * nodes);
        assert_eq!(most_cells(&data, (1, 1), 1), data.len() as u64);
    }
}
