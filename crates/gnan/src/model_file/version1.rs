//! Model files of version 1: a flat description, in which what was requested, learned and recorded stand side by side.

use serde::Deserialize;

use super::parse;
use crate::dataset::{LinkSchema, Outcome};
use crate::error::{Error, Result};
use crate::files::Task;
use crate::lens::{Lens, Pool};
use crate::model::{
    Certificate, Definition, Ended, FeatureSchema, Learned, PairRank, Record, Rho, RhoScale, SelectionStep,
    TargetSchema,
};
use crate::shape::{Architecture, Basis, ShapeKind};
use crate::spec::{
    DataSpec, EdgeTypes, FeatureHopCap, FeaturePairName, FeatureRules, LogitChoice, PoolChoice, RhoGroup, Spec,
    TaskChoice,
};

#[derive(Deserialize)]
struct Version1Header {
    description: Description,
}

#[derive(Deserialize)]
struct Description {
    task: Task,
    outcome: Outcome,
    links: Option<LinkSchema>,
    directed: bool,
    #[serde(default)]
    explicit_hydrogens: bool,
    #[serde(default)]
    largest_component: bool,
    rho: Rho,
    rho_scale: RhoScale,
    #[serde(default)]
    shape: ShapeKind,
    rho_spline: Option<Basis>,
    #[serde(default)]
    rho_monotone: bool,
    #[serde(default)]
    readout: bool,
    normalise: bool,
    hop_cap: Option<usize>,
    #[serde(default)]
    silent_unreachable: bool,
    #[serde(default = "Lens::plain")]
    lenses: Vec<Lens>,
    #[serde(default)]
    slots: Vec<usize>,
    #[serde(default)]
    shell_scale: Vec<f64>,
    architecture: Architecture,
    features: Vec<FeatureSchema>,
    targets: Vec<TargetSchema>,
    receivers: Vec<f64>,
    record: TrainingRecord,
    #[serde(default)]
    certificates: Vec<Certificate>,
}

#[derive(Deserialize)]
struct TrainingRecord {
    version: String,
    data: String,
    train_items: usize,
    valid_items: usize,
    nodes: usize,
    seed: u64,
    learning_rate: f64,
    weight_decay: f64,
    dropout: f64,
    #[serde(default)]
    smooth: f64,
    batch: usize,
    #[serde(default)]
    shell_sample: u32,
    sample_error: Option<f64>,
    loss: String,
    epochs: usize,
    best_epoch: usize,
    ended: String,
    history: Vec<(usize, f64, f64)>,
    #[serde(default)]
    items_checksum: String,
    epoch_limit: Option<usize>,
    patience: Option<usize>,
    output_bias: Option<bool>,
    #[serde(default)]
    balance_classes: bool,
    #[serde(default)]
    target_scale: Vec<(f64, f64)>,
    #[serde(default)]
    tried: Vec<(String, f64)>,
    #[serde(default)]
    selection: Vec<SelectionStep>,
    #[serde(default)]
    removed: Vec<String>,
    #[serde(default)]
    pairs: Vec<PairRank>,
}

/// The definition of the model in a file of version 1.
pub(super) fn definition(json: &str) -> Result<Definition> {
    let Version1Header { description } = parse(json)?;
    let spec = description.spec()?;
    let slots = match description.slots.is_empty() {
        true => vec![description.receivers.len()],
        false => description.slots,
    };
    let record = description.record;
    let ended = Ended::ALL.into_iter().find(|ended| ended.words() == record.ended);
    Ok(Definition {
        learned: Learned {
            task: description.task,
            outcome: description.outcome,
            target_family: None,
            links: description.links,
            directed: description.directed,
            rho: description.rho,
            rho_scale: description.rho_scale,
            shape: description.shape,
            rho_spline: description.rho_spline,
            uncentred: false,
            lenses: description.lenses,
            slots,
            shell_scale: description.shell_scale,
            outputs: description.architecture.outputs,
            features: description.features,
            targets: description.targets,
            average: None,
            receivers: description.receivers,
            items_at: Vec::new(),
        },
        record: Record {
            version: record.version,
            data: record.data,
            train_items: record.train_items,
            valid_items: record.valid_items,
            joined_items: 0,
            nodes: record.nodes,
            items_checksum: record.items_checksum,
            resolved: spec.clone(),
            target_scale: record.target_scale,
            epochs: record.epochs,
            best_epoch: record.best_epoch,
            ended: ended.ok_or_else(|| super::broken("it does not record why training ended"))?,
            history: record.history,
            sample_error: record.sample_error,
            tried: record.tried,
            selection: record.selection,
            removed: record.removed,
            pairs: record.pairs,
            certificates: description.certificates,
            ..Record::default()
        },
        // What was left to the data is not recorded in this version: what was used is requested.
        spec,
    })
}

impl Description {
    fn spec(&self) -> Result<Spec> {
        let record = &self.record;
        let data = DataSpec {
            target: self.targets.iter().filter(|_| self.links.is_none()).map(|target| target.name.clone()).collect(),
            task: self.links.as_ref().map(|_| TaskChoice::Link),
            pair_features: self.links.as_ref().is_none_or(|links| links.own.is_some()),
            directed: Some(self.directed),
            explicit_hydrogens: self.explicit_hydrogens,
            largest_component: self.largest_component,
            describe: self.features.iter().filter_map(|feature| feature.description.clone()).collect(),
            ..DataSpec::default()
        };
        let mut spec = Spec { data, ..Spec::default() };
        spec.distances.hop_cap = self.hop_cap;
        spec.distances.ignore_unreachable = self.silent_unreachable;
        self.fill_lenses(&mut spec);
        self.fill_rules(&mut spec);
        spec.statistics.normalise = Some(self.normalise);
        spec.statistics.shell_sample = Some(record.shell_sample).filter(|size| *size > 0);
        let model = &mut spec.model;
        (model.layers, model.hidden) = (self.architecture.layers, self.architecture.hidden);
        model.rho = self.rho.choice();
        let two = self.architecture.outputs == 2;
        let logits = if two { LogitChoice::Two } else { LogitChoice::One };
        model.logits = (self.outcome == Outcome::Binary).then_some(logits);
        model.shape = Some(self.shape);
        let rho_shape = if self.rho_spline.is_some() { ShapeKind::Spline } else { ShapeKind::Network };
        model.rho_shape = Some(rho_shape);
        (model.rho_monotone, model.readout) = (self.rho_monotone, self.readout);
        model.scale_shells = !self.shell_scale.is_empty();
        model.output_bias = record.output_bias;
        let pairs = self.features.iter().filter_map(|feature| feature.pair.as_ref());
        model.feature_pair =
            pairs.map(|pair| FeaturePairName(pair.members.each_ref().map(|member| member.feature.clone()))).collect();
        let fit = &mut spec.fit;
        (fit.learning_rate, fit.weight_decay) = (Some(record.learning_rate), Some(record.weight_decay));
        (fit.dropout, fit.seed, fit.balance) = (record.dropout, record.seed, record.balance_classes);
        fit.smooth = Some(record.smooth).filter(|smooth| *smooth != 0.0);
        fit.batch = Some(record.batch).filter(|batch| *batch > 0);
        (fit.epochs, fit.patience) = (record.epoch_limit, record.patience);
        fit.loss = Some(record.loss.parse().map_err(|error: Error| super::broken(error))?);
        Ok(spec)
    }

    /// The options whose combinations are the lenses. Lenses that are no such combination are in what was learned alone.
    fn fill_lenses(&self, spec: &mut Spec) {
        let distances = &mut spec.distances;
        for lens in &self.lenses {
            if !distances.direction.contains(&lens.direction) {
                distances.direction.push(lens.direction);
            }
            let types = EdgeTypes(lens.types.clone());
            if !distances.edge_types.contains(&types) {
                distances.edge_types.push(types);
            }
        }
        let pools = |pool: Pool| self.lenses.iter().any(|lens| lens.pool == pool);
        distances.pool = match (pools(Pool::Sum), pools(Pool::Mean)) {
            (true, true) => PoolChoice::Both,
            (false, true) => PoolChoice::Mean,
            _ => PoolChoice::Sum,
        };
        distances.far_from = self.lenses.first().and_then(|lens| lens.far);
        distances.edge_weight = self.lenses.first().and_then(|lens| lens.bins.clone());
        if Lens::is_plain(&self.lenses) {
            (distances.direction, distances.edge_types) = (Vec::new(), Vec::new());
        }
    }

    /// What was required of single features.
    fn fill_rules(&self, spec: &mut Spec) {
        for feature in &self.features {
            let name = || feature.name.clone();
            if !feature.rules.is_empty() {
                spec.model.constrain.push(FeatureRules { feature: name(), rules: feature.rules });
            }
            let distances = &mut spec.distances;
            if let Some(group) = &feature.rho_group {
                match distances.rho_group.iter_mut().find(|known| known.name == *group) {
                    Some(known) => known.features.push(name()),
                    None => distances.rho_group.push(RhoGroup { name: group.clone(), features: vec![name()] }),
                }
            }
            let Some(reach) = feature.reach else { continue };
            match (reach.from, reach.to) {
                (0, Some(0)) => distances.own_only.push(name()),
                (0, Some(cap)) => distances.hop_cap_of.push(FeatureHopCap { feature: name(), cap }),
                (_, cap) => {
                    distances.neighbours_only.push(name());
                    distances.hop_cap_of.extend(cap.map(|cap| FeatureHopCap { feature: name(), cap }));
                }
            }
        }
    }
}
