//! The end of a fit: from trained numbers to a model in the units of its targets.

use crate::dataset::Dataset;
use crate::files::{Kind, Values};
use crate::model::{Description, Engine, FeatureSchema, Layout, Model, TargetSchema, TrainingRecord};

use super::fit::{Fit, column_means};
use super::readout::settle;
use super::report::{Ended, Fitted};

/// Points kept of the loss history.
const HISTORY_POINTS: usize = 200;
/// Items by which the error of samples is judged.
const COMPARED: usize = 512;

/// A point of the loss history: epoch, training loss, validation loss.
pub(super) type Point = (usize, f64, f64);

impl Fit<'_> {
    /// Folds gain and target scale into the parameters and writes the description.
    pub(super) fn finish(mut self, ended: Ended, history: Vec<Point>) -> Fitted {
        std::mem::swap(&mut self.parameters, &mut self.best);
        self.fold_centre();
        let sample_error = self.training.shell_sample.and_then(|_| self.sample_error());
        let gains = std::mem::take(&mut self.gains);
        match self.training.readout {
            true => self.settle_readout(gains[0]),
            false => {
                self.learn_mean_effects(&gains);
                self.parameters.scale_sources(&gains);
            }
        }
        self.scale.restore(&mut self.parameters.output_bias);
        let record = TrainingRecord { sample_error, ..self.record(ended, history) };
        let data = &self.train.data;
        let description = Description {
            task: data.task(),
            outcome: self.settled.outcome,
            links: data.links().map(|links| links.schema().clone()),
            directed: data.directed(),
            explicit_hydrogens: data.explicit_hydrogens(),
            largest_component: data.largest_component(),
            rho: self.settled.rho,
            rho_scale: self.rho_scale,
            shape: self.settled.shape,
            rho_spline: self.rho_spline,
            rho_monotone: self.settled.rho_monotone,
            readout: self.training.readout,
            uncentred: false,
            normalise: self.training.normalise,
            hop_cap: self.training.hop_cap,
            silent_unreachable: self.training.silent_unreachable,
            slots: if self.slots.len() > 1 { self.slots } else { Vec::new() },
            lenses: self.training.lenses.clone(),
            shell_scale: self.shell_scale,
            architecture: self.settled.architecture,
            features: self.features,
            targets: data.targets().iter().map(TargetSchema::of).collect(),
            receivers: self.receivers,
            record,
            certificates: Vec::new(),
        };
        Fitted {
            model: Model::from_parts(description, self.parameters).certified(),
            ended,
            valid_loss: self.stopping.best_loss(),
            train: self.train.data,
            valid: self.valid.data,
            tried: Vec::new(),
        }
    }

    /// Brings the readout into its canonical form. The output bias stays on the scale of training.
    fn settle_readout(&mut self, gain: f32) {
        let heard = self.heard();
        let outputs = self.settled.architecture.outputs;
        let training = self.training;
        let reach = training.reach(&self.train.data);
        let layout = Layout::new(&self.features, self.settled.rho, reach, training.lenses.len());
        // Constants move to the output bias before its scale changes, so functions change theirs afterwards.
        settle(&mut self.parameters, &layout, &heard, gain);
        let factors: Vec<f32> = (0..outputs).map(|c| self.scale.factor(c) as f32).collect();
        self.parameters.readouts.scale_outputs(&factors);
    }

    /// Leaves the mean of every continuous shape function over the training nodes in the schema.
    fn learn_mean_effects(&mut self, gains: &[f32]) {
        self.engine.tables(&self.parameters, false);
        let data = &self.train.data;
        let nodes = data.graphs().into_iter().map(|graph| data.sources_of(graph).len()).sum::<usize>().max(1) as f64;
        let mut means = mean_effects(&self.engine, &self.train.data, &self.features, gains);
        for (k, mean) in means.iter_mut().enumerate().filter(|(k, _)| self.features[*k].knots.is_some()) {
            mean.iter_mut().zip(self.exact_sum(k)).zip(gains).for_each(|((mean, sum), gain)| {
                *mean = sum * f64::from(*gain) / nodes;
            });
        }
        self.features.iter_mut().zip(means).for_each(|(feature, mean)| feature.mean_effect = mean);
    }

    /// What a feature that was trained on knots says on all training nodes together, by its curve itself.
    fn exact_sum(&self, k: usize) -> Vec<f64> {
        let (data, schema, outputs) = (&self.train.data, &self.features[k], self.parameters.bias.len());
        let reach = self.training.reach(data);
        let place = &Layout::new(&self.features, self.settled.rho, reach, self.training.lenses.len()).features[k];
        let (Some(network), Some(scale)) = (place.network, schema.scale) else { return vec![0.0; outputs] };
        let Values::Numbers(values) = &data.features()[k].values else { return vec![0.0; outputs] };
        let nodes = data.graphs().into_iter().flat_map(|graph| data.sources_of(graph));
        let (known, missing): (Vec<f64>, Vec<f64>) = nodes.map(|node| values[node]).partition(|x| !x.is_nan());
        let curve = self.parameters.shapes.curve(network);
        let value = (place.first_value + schema.levels.len()) * outputs;
        let sums = curve.sum_over(known.iter().map(|x| scale.apply(*x))).into_iter();
        let sums = sums.zip(curve.evaluate(0.0)).map(|(sum, reference)| sum - known.len() as f64 * reference);
        let missing_sum = |c: usize| match schema.missing {
            Some(_) => missing.len() as f64 * f64::from(self.parameters.values[value + c]),
            None => 0.0,
        };
        sums.enumerate().map(|(c, sum)| sum + missing_sum(c)).collect()
    }

    /// The root mean square of what a sample changes about an output, over the spread of outputs.
    fn sample_error(&mut self) -> Option<f64> {
        let every = self.train.positions.len().div_ceil(COMPARED).max(1);
        let items: Vec<usize> = (0..self.train.positions.len()).step_by(every).collect();
        let positions: Vec<usize> = items.iter().map(|item| self.train.positions[*item]).collect();
        let outputs = self.settled.architecture.outputs;
        self.engine.draw_masks(&self.parameters, 0.0, 0, 0);
        self.engine.tables(&self.parameters, false);
        let (mut exact, mut sampled) = (vec![0.0; items.len() * outputs], vec![0.0; items.len() * outputs]);
        self.engine.outputs(&mut self.engine.rows_once(&positions), &mut exact);
        self.engine.outputs(&mut self.engine.batch(&self.train.rows, &self.train.positions, &items), &mut sampled);
        let means = column_means(&exact, outputs);
        let square = |x: f32| f64::from(x) * f64::from(x);
        let spread: f64 = exact.iter().zip(means.iter().cycle()).map(|(y, mean)| square(y - mean)).sum();
        let moved: f64 = exact.iter().zip(&sampled).map(|(exact, sampled)| square(exact - sampled)).sum();
        (spread > 0.0).then(|| (moved / spread).sqrt())
    }

    fn record(&self, ended: Ended, history: Vec<Point>) -> TrainingRecord {
        let data = &self.train.data;
        let epochs = history.last().map_or(0, |last| last.0);
        TrainingRecord {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: data.name().to_owned(),
            train_items: data.len(),
            valid_items: self.valid.data.len(),
            nodes: data.graphs().into_iter().map(|graph| data.sources_of(graph).len()).sum(),
            seed: self.training.seed,
            learning_rate: f64::from(self.settled.learning_rate),
            weight_decay: f64::from(self.settled.weight_decay),
            dropout: self.training.dropout,
            smooth: self.settled.smooth,
            batch: self.settled.batch.unwrap_or(0),
            shell_sample: self.training.shell_sample.unwrap_or(0),
            sample_error: None,
            loss: self.settled.loss.name().to_owned(),
            epochs,
            best_epoch: self.stopping.best_epoch(),
            ended: ended.words().to_owned(),
            history: thin(history),
            items_checksum: data.items_checksum(),
            epoch_limit: Some(self.settled.epochs),
            patience: Some(self.settled.patience),
            output_bias: Some(self.settled.output_bias),
            balance_classes: self.training.balance_classes,
            target_scale: self.scale.pairs(),
            tried: Vec::new(),
            selection: Vec::new(),
            removed: Vec::new(),
            pairs: Vec::new(),
        }
    }
}

/// The mean of every continuous shape function over the training nodes, `[features][lanes]`, from the engine's tables
/// times a gain per lane; empty for features of other kinds.
pub(super) fn mean_effects(
    engine: &Engine,
    train: &Dataset,
    features: &[FeatureSchema],
    gains: &[f32],
) -> Vec<Vec<f64>> {
    let lanes = gains.len();
    let levels = engine.statistics().levels();
    let mut sums = vec![vec![0.0; lanes]; features.len()];
    let mut nodes = 0.0;
    for graph in train.graphs() {
        for node in train.sources_of(graph) {
            nodes += 1.0;
            levels.of_node(node).each(|unit, weight| {
                let Some(feature) = levels.feature_of(unit) else { return };
                let said = engine.unit(unit);
                sums[feature].iter_mut().zip(said).for_each(|(sum, said)| *sum += weight * f64::from(said));
            });
        }
    }
    let mean = |(feature, sums): (&FeatureSchema, Vec<f64>)| match feature.kind {
        Kind::Continuous => {
            sums.iter().zip(gains).map(|(sum, gain)| sum * f64::from(*gain) / f64::max(nodes, 1.0)).collect()
        }
        _ => Vec::new(),
    };
    features.iter().zip(sums).map(mean).collect()
}

/// At most [`HISTORY_POINTS`] points, evenly spaced, the last one included.
fn thin(history: Vec<Point>) -> Vec<Point> {
    let every = history.len().div_ceil(HISTORY_POINTS).max(1);
    let last = history.len().saturating_sub(1);
    history.into_iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last).map(|(_, point)| point).collect()
}
