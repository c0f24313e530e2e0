//! Everything that the models of one training loop have in common: what is learned from the data before the first step.

use std::sync::Arc;

use super::projection::Projection;
use super::resolve::ResolvedSpec;
use super::target_scale::TargetScale;
use super::weights::class_weights;
use crate::dataset::{Dataset, Feature};
use crate::error::{Error, Result};
use crate::files::{Kind, Task};
use crate::model::{
    Definition, Engine, EngineModel, FeatureSchema, Layout, Learned, Model, Parameters, Record, Rho, RhoScale,
    TargetSchema, TrainingNodes, model_reach,
};
use crate::remedy::Remedy;
use crate::shape::{Basis, ShapeKind};
use crate::spec::{BinChoice, CurveChoice, FitMethod, Spec};
use crate::statistics::{self, Statistics};

/// What helps where the shells of a node task do not fit in memory.
fn leaner_options() -> [Remedy; 4] {
    [Remedy::Lower("shell-sample"), Remedy::Use("hop-cap"), Remedy::Use("far-from"), "label fewer nodes".into()]
}

/// What the models of a loop have in common.
pub(super) struct Setup {
    /// The definition of the models; their record is not complete yet.
    pub definition: Definition,
    pub resolved: ResolvedSpec,
    pub statistics: Arc<Statistics>,
    pub layout: Layout,
    pub scale: TargetScale,
    /// What outputs are multiplied by during training.
    pub gain: f32,
    /// What source values are multiplied by at the end, per output.
    pub gains: Vec<f32>,
    pub class_weights: Vec<f64>,
    pub projection: Projection,
    /// A network with more distinct values than this is evaluated piece by piece.
    pieces_above: Option<usize>,
}

impl Setup {
    /// The setup of a new model for these training items.
    pub(super) fn of_data(
        spec: &Spec,
        resolved: ResolvedSpec,
        statistics: Arc<Statistics>,
        train: &Dataset,
    ) -> Result<Setup> {
        let axis = &statistics.axis;
        let mut features = learn_features(spec, resolved.shape, train);
        for (feature, levels) in features.iter_mut().zip(&statistics.levels.features) {
            feature.knots = (levels.interpolated && feature.effect_knots.is_none()).then_some(levels.units.len());
        }
        let (receivers, items_at) = counted_receivers(&statistics, train)?;
        let reach = model_reach(spec, train.links().is_some());
        let rho_spline = (resolved.rho_shape == ShapeKind::Spline).then(|| {
            let counts = |slot: &usize| receivers[*slot] > 0.0 && reach.includes(axis.distance(*slot));
            let seen = (0..receivers.len()).filter(counts).map(|slot| axis.argument(slot));
            // Beyond the longest distance a penalised effect stays what it is there.
            let farthest = spec.is_penalised().then_some(1.0 / f64::from(u16::MAX));
            Basis::hats(seen.chain([0.0, 1.0]).chain(farthest).collect())
        });
        let shell_scale = match spec.model.scale_shells {
            true => statistics::shell_scale(train, axis.slots())?,
            false => Vec::new(),
        };
        let definition = Definition {
            spec: Spec { data: train.spec().clone(), ..spec.clone() },
            learned: Learned {
                task: train.task(),
                outcome: resolved.outcome,
                target_family: None,
                links: train.links().map(|links| links.schema().clone()),
                directed: train.directed(),
                rho: resolved.rho,
                rho_scale: if rho_spline.is_some() { RhoScale::PLAIN } else { RhoScale::default() },
                shape: resolved.shape,
                rho_spline,
                uncentred: false,
                lenses: spec.lenses(),
                slots: axis.lengths(),
                shell_scale,
                outputs: resolved.outputs,
                features,
                targets: train.targets().iter().map(|target| TargetSchema::of(target, train.items())).collect(),
                receivers,
                items_at,
                average: None,
            },
            record: Record {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                data: train.name().to_owned(),
                train_items: train.len(),
                nodes: train.graphs().into_iter().map(|graph| train.sources_of(graph).len()).sum(),
                items_checksum: train.items_checksum(),
                skipped_rows: train.skipped().len(),
                resolved: resolved.spec.clone(),
                ..Record::default()
            },
        };
        let scale = TargetScale::new(train, &resolved);
        let pieces_above = (spec.statistics.bins == BinChoice::Off).then_some(spec.statistics.pieces_above);
        let mut setup = Setup::new(definition, resolved, statistics, scale, train, source_gain(train));
        setup.pieces_above = pieces_above;
        setup.definition.record.target_scale = setup.scale.pairs();
        train
            .run()
            .memory
            .demand(Engine::bytes(setup.engine_model(), &setup.statistics, 1), "the tables of the shape functions")?;
        let lanes = setup.statistics.channel_count() * setup.definition.source_outputs();
        train.run().memory.demand_or(setup.statistics.least_bytes(lanes), "the sums over shells", &leaner_options())?;
        Ok(setup)
    }

    /// The setup with which a model was trained, to train it again on resamples of `data`.
    pub(super) fn of_model(model: &Model, data: &Dataset) -> Result<Setup> {
        let mut definition = model.definition().clone();
        definition.learned.features.iter_mut().for_each(|feature| feature.mean_effect.clear());
        let found = data.targets().iter().map(|target| (&target.name, &target.classes));
        if found.ne(definition.learned.targets.iter().map(|target| (&target.name, &target.classes))) {
            return Err(Error::input("the targets of the data are not those that the model was trained on")
                .with_remedy("give the data that the model was trained on"));
        }
        if definition.spec.is_penalised() {
            return Err(Error::usage("a penalised fit cannot be repeated on resamples").with_remedy(
                Remedy::Set("fit", FitMethod::Gradient.to_string()).to("train a model that can have intervals"),
            ));
        }
        if definition.spec.model.readout {
            return Err(Error::usage("a model with a readout cannot be trained again on resamples")
                .with_remedy(Remedy::LeaveOut(&["readout"]).to("train a model that can have intervals")));
        }
        let resolved = ResolvedSpec::of_model(&definition)?;
        if data.task() != definition.learned.task {
            return Err(Error::input("the model does not predict what the data have targets for"));
        }
        if data.items().iter().all(|item| data.weight(*item) == 0.0) {
            return Err(Error::input("there are no labelled items of any weight to resample"));
        }
        let features = model.features_of(data)?;
        let levels = model.training_levels(data, &features)?;
        let request = definition.statistics_request();
        let statistics = Arc::new(Statistics::with_levels(data, &features, levels, request, &[])?);
        let record = &definition.record;
        // A model file may hold anything.
        let usable = record.target_scale.len() == data.targets().len()
            && record.target_scale.iter().all(|(shift, scale)| shift.is_finite() && scale.is_finite() && *scale > 0.0);
        let scale = match usable && resolved.outcome.is_regression() {
            true => TargetScale::from_pairs(&record.target_scale),
            false => TargetScale::new(data, &resolved),
        };
        let gain = match (data.task(), record.train_items, record.nodes) {
            (Task::Node, ..) => 1.0,
            (Task::Graph, 0, _) | (Task::Graph, _, 0) => source_gain(data),
            (Task::Graph, graphs, nodes) => gain_of(graphs, nodes),
        };
        Ok(Setup::new(definition, resolved, statistics, scale, data, gain))
    }

    fn new(
        definition: Definition,
        resolved: ResolvedSpec,
        statistics: Arc<Statistics>,
        scale: TargetScale,
        train: &Dataset,
        gain: f32,
    ) -> Setup {
        let layout = definition.layout();
        let readout = definition.spec.model.readout;
        let gains = if readout { vec![gain] } else { scale.gains(gain, resolved.outputs) };
        let balance = definition.spec.fit.balance;
        Setup {
            projection: Projection::new(
                &definition.learned.features,
                &layout,
                definition.spec.model.rho_monotone,
                &gains,
            ),
            class_weights: if balance { class_weights(train, resolved.outcome) } else { Vec::new() },
            definition,
            resolved,
            statistics,
            layout,
            scale,
            gain,
            gains,
            pieces_above: None,
        }
    }

    /// The parts of the definition that an engine for training needs.
    pub(super) fn engine_model(&self) -> EngineModel<'_> {
        EngineModel { pieces_above: self.pieces_above, ..self.definition.engine_model() }
    }

    /// Parameters to start from.
    pub(super) fn random_parameters(&self, seed: u64) -> Parameters {
        let mut parameters =
            Parameters::random(&self.layout, &self.definition.bank_specs(), self.definition.learned.outputs, seed);
        self.projection.apply(&mut parameters);
        parameters
    }
}

/// What there is to know of the features of training items.
pub(super) fn learn_features(spec: &Spec, shape: ShapeKind, train: &Dataset) -> Vec<FeatureSchema> {
    let nodes = TrainingNodes::of(train);
    let is_number = |feature: &&Feature| matches!(feature.kind, Kind::Continuous | Kind::Sparse);
    let numbers = train.features().iter().filter(is_number).count();
    // Values that share distance functions are those of knots.
    let curves = match spec.penalised_rho() {
        Rho::PerFeature => spec.fit.curves,
        Rho::Shared | Rho::Grouped => CurveChoice::Linear,
    };
    let learn = |feature: &Feature| {
        let mut schema = FeatureSchema::learn(feature, &nodes);
        let rules = spec.model.constrain.iter().find(|rules| rules.feature == feature.name);
        schema.rules = rules.map(|rules| rules.rules).unwrap_or_default();
        schema.rho_group = spec.distances.group_of(&feature.name).map(str::to_owned);
        schema.reach = spec.distances.reach_of(&feature.name).filter(|_| !feature.own_only).or(schema.reach);
        if spec.is_penalised() {
            schema.learn_effect_knots(feature, &nodes, numbers, curves);
        } else if shape == ShapeKind::Spline {
            schema.learn_spline(feature, &nodes);
        }
        schema
    };
    train.features().iter().map(learn).collect()
}

/// How many receivers have a source at each distance, and how many items have such a receiver; a node pair is a source for itself
/// only by features of its own.
fn counted_receivers(statistics: &Statistics, train: &Dataset) -> Result<(Vec<f64>, Vec<u64>)> {
    let rows = statistics.rows_of(train)?;
    let (mut receivers, mut items) = (statistics.receivers(&rows), statistics.items_at(&rows));
    if train.links().is_some() && !statistics.has_own_features() {
        for slot in (0..statistics.axis.lenses()).map(|lens| statistics.axis.range(lens).start) {
            (receivers[slot], items[slot]) = (0.0, 0);
        }
    }
    Ok((receivers, items))
}

fn source_gain(train: &Dataset) -> f32 {
    let nodes = train.items().iter().map(|item| train.nodes_of(*item as usize).len());
    if train.task() == Task::Node { 1.0 } else { gain_of(train.len(), nodes.sum()) }
}

/// A graph's output is a sum over its nodes: divided by their mean number, graphs of any size train alike.
fn gain_of(graphs: usize, nodes: usize) -> f32 {
    (graphs as f64 / nodes.max(1) as f64) as f32
}
