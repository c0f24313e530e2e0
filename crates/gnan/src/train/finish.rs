//! The end of training: from trained numbers to models in the units of their targets.

use super::readout::normalise_readout;
use super::training_loop::{Lane, Point, TrainingLoop, column_means};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::files::{Kind, Task};
use crate::model::{AverageItem, Definition, Engine, FeatureSchema, Model, Parameters};

/// Points kept of the loss history.
const HISTORY_POINTS: usize = 200;
/// Items by which the error of samples is judged.
const COMPARED: usize = 512;

impl TrainingLoop<'_> {
    /// The models, with their best weights: gain and target scale are folded into the parameters. `valid_items` is for the
    /// record.
    pub(super) fn finish(mut self, valid_items: usize) -> Result<Vec<Model>> {
        let setup = self.setup;
        let centre = self.evaluate_best();
        let sample_error = setup.definition.spec.statistics.shell_sample.and_then(|_| self.sample_error());
        let before_readout = self.train.rows.readout_inputs().to_vec();
        let replicates = self.engine.replicates();
        let by_lane: Vec<f32> =
            (0..setup.gains.len() * replicates).map(|lane| setup.gains[lane / replicates]).collect();
        let data = self.train.data.clone();
        let means = match setup.definition.spec.model.readout {
            true => Vec::new(),
            false => mean_effects(&self.engine, &data, &setup.definition.learned.features, &by_lane),
        };
        let average = self.average_item();
        let lanes = std::mem::take(&mut self.lanes);
        let finish = |(replicate, lane): (usize, Lane)| {
            let own = |values: &[f64]| values.iter().skip(replicate).step_by(replicates).copied().collect::<Vec<f64>>();
            let mut definition = setup.definition.clone();
            let mut parameters = lane.best;
            let subtracted = centre.iter().skip(replicate).step_by(replicates);
            parameters.output_bias.iter_mut().zip(subtracted).for_each(|(bias, mean)| *bias -= mean);
            match setup.definition.spec.model.readout {
                true => self.fold_readout(&mut parameters, &before_readout),
                false => {
                    for (k, mean) in means.iter().enumerate() {
                        let own_only = data.features()[k].own_only;
                        let nodes = if own_only { data.len() } else { definition.record.nodes }.max(1) as f64;
                        let exact = |sums: Vec<f64>| {
                            let gains = setup.gains.iter().map(|gain| f64::from(*gain));
                            sums.into_iter().zip(gains).map(|(sum, gain)| sum * gain / nodes).collect()
                        };
                        definition.learned.features[k].mean_effect =
                            self.exact_sum(k, &parameters).map_or_else(|| own(mean), exact);
                    }
                    parameters.scale_sources(&setup.gains);
                }
            }
            setup.scale.restore(&mut parameters.output_bias);
            if !parameters.is_finite() {
                return Err(Error::training("the model's weights are too large for 32-bit numbers")
                    .with_remedy("give the target in a larger unit, so that its values become smaller"));
            }
            definition.learned.average = average.clone();
            let record = &mut definition.record;
            record.valid_items = valid_items;
            record.epochs = lane.history.last().map_or(0, |last| last.0);
            record.best_epoch = lane.stopping.best_epoch;
            record.ended = lane.ended.unwrap_or_default();
            record.history = thin(lane.history);
            record.sample_error = sample_error;
            Ok(Model::from_parts(definition, parameters).certified())
        };
        lanes.into_iter().enumerate().map(finish).collect()
    }

    /// The average training item of a single model; the parts of one with a readout do not add up to its outputs.
    fn average_item(&mut self) -> Option<AverageItem> {
        let setup = self.setup;
        if self.engine.replicates() > 1 || setup.definition.spec.model.readout {
            return None;
        }
        let means = self.engine.mean_contributions(&mut self.train.rows).into_iter();
        let mut parts = means.map(|means| {
            let gains = setup.gains.iter().map(|gain| f64::from(*gain));
            means.into_iter().zip(gains).map(|(mean, gain)| mean * gain).collect()
        });
        let structure = self.engine.statistics().mean_structure(&self.train.positions);
        let own = own_contributions(&self.engine, &self.train.data, &setup.gains);
        Some(AverageItem { bias: parts.next()?, features: parts.collect(), own, structure })
    }

    /// Brings the readout into its canonical form. The output bias stays on the scale of training.
    fn fold_readout(&self, parameters: &mut Parameters, before_readout: &[f32]) {
        let setup = self.setup;
        // Constants move to the output bias before its scale changes, so functions change theirs afterwards.
        normalise_readout(parameters, &setup.layout, before_readout, setup.gains[0]);
        let factors: Vec<f32> = (0..setup.resolved.outputs).map(|c| setup.scale.factor(c) as f32).collect();
        parameters.readouts.scale_outputs(&factors);
    }

    /// The sum over all training nodes of the shape function of a feature that was trained on knots, by its curve itself;
    /// `None` for other features, whose tables are exact.
    fn exact_sum(&self, k: usize, parameters: &Parameters) -> Option<Vec<f64>> {
        let Definition { learned, .. } = &self.setup.definition;
        let schema = &learned.features[k];
        schema.knots?;
        let data = &self.train.data;
        let place = &self.setup.layout.features[k];
        let (network, scale) = (place.network?, schema.scale?);
        let feature = &data.features()[k];
        if schema.kind != Kind::Continuous {
            return None;
        }
        let counted = data.counted_nodes();
        let numbers = feature.values.numbers().filter(|(node, _)| counted.of(feature)[*node]);
        let (known, missing): (Vec<f64>, Vec<f64>) = numbers.map(|(_, x)| x).partition(|x| !x.is_nan());
        let curve = parameters.shapes.curve(network);
        let value = (place.first_value + schema.levels.len()) * parameters.bias.len();
        let sums = curve.sum_over(known.iter().map(|x| scale.apply(*x))).into_iter();
        let sums = sums.zip(curve.evaluate(0.0)).map(|(sum, reference)| sum - known.len() as f64 * reference);
        let missing_sum = |c: usize| match schema.missing {
            Some(_) => missing.len() as f64 * f64::from(parameters.values[value + c]),
            None => 0.0,
        };
        Some(sums.enumerate().map(|(c, sum)| sum + missing_sum(c)).collect())
    }

    /// The root mean square of what a sample changes about an output of the first lane, over the spread of outputs.
    fn sample_error(&mut self) -> Option<f64> {
        let every = self.train.positions.len().div_ceil(COMPARED).max(1);
        let items: Vec<usize> = (0..self.train.positions.len()).step_by(every).collect();
        let positions: Vec<usize> = items.iter().map(|item| self.train.positions[*item]).collect();
        let outputs = self.setup.resolved.outputs;
        let (mut exact, mut sampled) = (vec![0.0; items.len() * outputs], vec![0.0; items.len() * outputs]);
        self.engine.outputs(&mut self.engine.rows_once(&positions), &mut exact);
        self.engine.outputs(&mut self.engine.batch(&self.train.rows, &self.train.positions, &items), &mut sampled);
        let means = column_means(&exact, outputs);
        let square = |x: f32| f64::from(x) * f64::from(x);
        let spread: f64 = exact.iter().zip(means.iter().cycle()).map(|(y, mean)| square(y - mean)).sum();
        let moved: f64 = exact.iter().zip(&sampled).map(|(exact, sampled)| square(exact - sampled)).sum();
        (spread > 0.0).then(|| (moved / spread).sqrt())
    }
}

/// What a receiver's own value of every feature contributes to its own output, on average over the training items of a
/// node task, `[features][outputs]`; 0 for a graph task.
pub(super) fn own_contributions(engine: &Engine, data: &Dataset, gains: &[f32]) -> Vec<Vec<f64>> {
    let (levels, axis) = (&engine.statistics().levels, &engine.statistics().axis);
    let outputs = gains.len();
    let mut means = vec![vec![0.0; outputs]; levels.features.len()];
    if data.task() == Task::Graph {
        return means;
    }
    let rho = |unit: u32, c: usize| -> f64 {
        let first = engine.rho_of_unit()[unit as usize] as usize * axis.slots();
        let itself = (0..axis.lenses()).map(|lens| axis.range(lens).start);
        itself.map(|slot| f64::from(engine.rho_table()[(first + slot) * outputs + c])).sum()
    };
    let share = 1.0 / data.len().max(1) as f64;
    for node in data.items() {
        levels.of_node(*node as usize).each(|unit, weight| {
            let Some(feature) = levels.feature_of(unit) else { return };
            for (c, value) in engine.unit(unit).enumerate() {
                let gain = f64::from(gains[c]);
                means[feature][c] += share * gain * weight * f64::from(value) * rho(unit, c);
            }
        });
    }
    means
}

/// The mean of every continuous shape function over the training nodes, `[features][lanes]`, from the engine's tables
/// times a gain per lane; empty for features of other kinds.
fn mean_effects(engine: &Engine, train: &Dataset, features: &[FeatureSchema], gains: &[f32]) -> Vec<Vec<f64>> {
    let lanes = gains.len();
    let levels = &engine.statistics().levels;
    let mut sums = vec![vec![0.0; lanes]; features.len()];
    let mut add = |node: usize, own_only: bool| {
        levels.of_node(node).each(|unit, weight| {
            let Some(feature) = levels.feature_of(unit).filter(|k| levels.features[*k].own_only == own_only) else {
                return;
            };
            let values = engine.unit(unit);
            sums[feature].iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * f64::from(value));
        });
    };
    let mut sources = 0usize;
    for node in train.graphs().into_iter().flat_map(|graph| train.sources_of(graph)) {
        sources += 1;
        add(node, false);
    }
    if levels.has_own_only() {
        train.items().iter().for_each(|item| add(*item as usize, true));
    }
    let mean = |(k, (feature, sums)): (usize, (&FeatureSchema, Vec<f64>))| match feature.kind {
        Kind::Continuous => {
            let nodes = if levels.features[k].own_only { train.len() } else { sources }.max(1) as f64;
            sums.iter().zip(gains).map(|(sum, gain)| sum * f64::from(*gain) / nodes).collect()
        }
        _ => Vec::new(),
    };
    features.iter().zip(sums).enumerate().map(mean).collect()
}

/// At most [`HISTORY_POINTS`] points, evenly spaced, the last one included.
fn thin(history: Vec<Point>) -> Vec<Point> {
    let every = history.len().div_ceil(HISTORY_POINTS).max(1);
    let last = history.len().saturating_sub(1);
    history.into_iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last).map(|(_, point)| point).collect()
}
