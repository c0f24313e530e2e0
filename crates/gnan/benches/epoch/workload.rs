//! The workloads: Mutagenicity in full batch and in batches of 32, and Cora, real or of the same shape.

use std::sync::Arc;

use gnan::files::{self, Column, Kind, SplitPart, Tables, Task, Values};
use gnan::internals::lens::Lens;
use gnan::internals::model::{
    Definition, Engine, FeatureSchema, ItemRows, Learned, Model, OptimiserState, Parameters, Record, Rho, RhoScale,
    StepSettings, TargetSchema, TrainingNodes, output_count,
};
use gnan::internals::random::Stream;
use gnan::internals::shape::{Adam, ShapeKind};
use gnan::internals::statistics::{ChannelPlan, ShellWeighting, Statistics, StatisticsRequest};
use gnan::internals::train::{ItemTargets, LaneTargets};
use gnan::spec::{Loss, Spec};
use gnan::{Dataset, DatasetOptions};

use super::dense;

/// One thing to measure.
pub struct Workload {
    pub name: String,
    /// The dense oracle's forward pass, in seconds.
    pub dense_seconds: f64,
    model: Model,
    statistics: Arc<Statistics>,
    rows: Vec<usize>,
    targets: ItemTargets,
    loss: Loss,
    batch: Option<usize>,
}

/// All workloads.
pub fn all() -> Vec<Workload> {
    let folder = std::env::var_os("GNAN_DATA").map(std::path::PathBuf::from);
    let real = |path: &str| {
        let path = folder.as_ref()?.join(path);
        files::read(path.to_str()?, &gnan_paper::read_options()).ok()
    };
    let (molecules, molecules_name) = match real("tu/Mutagenicity.zip") {
        Some(tables) => (tables, "Mutagenicity"),
        None => (synthetic_molecules(), "like Mutagenicity"),
    };
    let (papers, papers_name) = match real("planetoid/cora.npz") {
        Some(tables) => (tables, "Cora"),
        None => (synthetic_papers(), "like Cora"),
    };
    let one_hot = one_hot(molecules.clone());
    let mut workloads = vec![
        Workload::new(format!("{molecules_name}, full batch, 14 networks"), &one_hot, Rho::Shared, None),
        Workload::new(format!("{molecules_name}, batches of 32, 14 networks"), &one_hot, Rho::Shared, Some(32)),
        Workload::new(format!("{molecules_name}, full batch, 14 levels"), &molecules, Rho::Shared, None),
        Workload::new(format!("{molecules_name}, full batch, rho per level"), &molecules, Rho::PerFeature, None),
        Workload::new(format!("{papers_name}, 140 labelled nodes, shared rho"), &papers, Rho::Shared, None),
    ];
    // Larger graphs, without their own splits: 60 % of the nodes.
    for (name, path) in [("PubMed", "planetoid/pubmed.npz"), ("Tolokers", "heterophilous/tolokers.npz")] {
        if let Some(mut tables) = real(path) {
            let nodes = tables.node_offsets.last().copied().unwrap_or(0);
            let part = |node: usize| if node % 5 < 3 { SplitPart::Train } else { SplitPart::Unused };
            tables.splits = vec![(0..nodes).map(part).collect()];
            workloads.push(Workload::new(format!("{name}, 60 % labelled, shared rho"), &tables, Rho::Shared, None));
        }
    }
    workloads
}

impl Workload {
    fn new(name: String, tables: &Tables, rho: Rho, batch: Option<usize>) -> Workload {
        let options = DatasetOptions { known: Some(Vec::new()), ..DatasetOptions::default() };
        let data = Dataset::from_tables(tables.clone(), &options).expect("a data set");
        let train = match data.given_splits() {
            0 => data.clone(),
            _ => data.given_split(0, 0).expect("a split").train,
        };
        let outcome = data.outcome().expect("targets");
        let targets: Vec<TargetSchema> =
            data.targets().iter().map(|target| TargetSchema::of(target, data.items())).collect();
        let nodes = TrainingNodes::of(&data);
        let features: Vec<FeatureSchema> =
            data.features().iter().map(|feature| FeatureSchema::learn(feature, &nodes)).collect();
        let channels = (rho == Rho::Shared).then(|| ChannelPlan::shared(features.len()));
        let statistics = StatisticsRequest {
            weighting: ShellWeighting::Mean,
            lenses: Lens::plain(),
            channels,
            in_cells: false,
            sample: None,
            farthest: None,
        };
        let statistics = Statistics::new(&train, data.features(), statistics).expect("statistics");
        let definition = Definition {
            spec: Spec::default(),
            record: Record::default(),
            learned: Learned {
                task: data.task(),
                outcome,
                target_family: None,
                links: None,
                directed: data.directed(),
                rho,
                rho_scale: RhoScale::default(),
                shape: ShapeKind::Network,
                rho_spline: None,
                uncentred: false,
                shell_scale: Vec::new(),
                lenses: Lens::plain(),
                slots: vec![statistics.axis.slots()],
                outputs: output_count(outcome, &targets, false),
                features,
                targets,
                average: None,
                receivers: statistics.receivers(&[]),
                items_at: statistics.items_at(&[]),
            },
        };
        let layout = definition.layout();
        let parameters = Parameters::random(&layout, &definition.bank_specs(), definition.learned.outputs, 1);
        let model = Model::from_parts(definition, parameters);
        let target = &data.targets()[0];
        let values: Vec<f32> = train.items().iter().map(|item| target.values[*item as usize] as f32).collect();
        let targets = ItemTargets { width: 1, values, weights: vec![1.0; train.len()], class_weights: Vec::new() };
        Workload {
            name,
            dense_seconds: dense::forward_seconds(&model, tables, &train),
            loss: Loss::usual(outcome, false),
            rows: (0..train.len()).collect(),
            statistics: Arc::new(statistics),
            model,
            targets,
            batch,
        }
    }

    /// A run from the first epoch.
    pub fn start(&self) -> Run<'_> {
        let engine = Engine::new(self.model.definition().engine_model(), Arc::clone(&self.statistics), 0.03);
        let parameters = self.model.parameters().clone();
        let outputs = vec![0.0; self.rows.len() * self.model.outputs()];
        Run {
            lane_targets: LaneTargets::of_one(self.loss, self.model.outputs(), &self.targets),
            workload: self,
            rows: engine.rows(&self.rows, self.batch.is_none()),
            state: OptimiserState::new(&parameters),
            gradient: outputs.clone(),
            outputs,
            engine,
            parameters,
            epochs: 0,
        }
    }

    fn steps(&self) -> f64 {
        self.batch.map_or(1.0, |batch| self.rows.len().div_ceil(batch) as f64)
    }

    /// Floating-point operations of the networks in an epoch: forward, and twice that backward.
    pub fn flops(&self) -> f64 {
        let layout = self.model.definition().layout();
        let size = self.model.definition().architecture();
        let (hidden, outputs) = (size.hidden, size.outputs);
        let networks = self.statistics.levels.features.iter().filter(|f| f.missing.is_none());
        let points: usize = networks.map(|f| f.units.len() + 1).sum();
        let points = if layout.networks == 0 { 0 } else { points };
        let points = points + layout.functions * self.statistics.axis.slots();
        self.steps() * 3.0 * 2.0 * (points * (hidden + hidden * hidden + hidden * outputs)) as f64
    }

    /// Bytes that an epoch moves: parameters are read for the forward pass, and with both moments read and written for
    /// the step; statistics are read forwards and backwards.
    pub fn bytes(&self) -> f64 {
        let parameters = self.model.parameters();
        let block = self.model.definition().architecture().block_len();
        let floats = ((parameters.shapes.len() + parameters.rhos.len()) * block) as f64;
        let entries = self.statistics.rows.cells.len() as f64;
        let pairs = self.statistics.shell_counts.first().map_or(0.0, |s| (s.source_count * s.len()) as f64);
        let lanes = self.model.outputs().next_power_of_two() as f64;
        self.steps() * floats * 4.0 * 7.0 + 2.0 * entries * 8.0 + pairs * (2.0 + 3.0 * 4.0 * lanes / 4.0)
    }
}

/// Training under way.
pub struct Run<'a> {
    workload: &'a Workload,
    lane_targets: LaneTargets,
    engine: Engine,
    rows: ItemRows,
    parameters: Parameters,
    state: OptimiserState,
    outputs: Vec<f32>,
    gradient: Vec<f32>,
    epochs: u64,
}

impl Run<'_> {
    /// Forward, backward and Adam, once over all items.
    pub fn epoch(&mut self) {
        let adam = Adam { weight_decay: 5e-4, ..Adam::default() };
        let settings = StepSettings { adam, output_bias: true, group_penalty: 0.0 };
        self.epochs += 1;
        let Some(batch) = self.workload.batch else {
            self.engine.tables(&self.parameters, true);
            self.engine.outputs(&mut self.rows, &mut self.outputs);
            self.lane_targets.evaluate(&self.outputs, &mut self.gradient);
            self.engine.step(&mut self.rows, &self.gradient, &mut self.parameters, &mut self.state, settings);
            return;
        };
        let mut order = self.workload.rows.clone();
        Stream::named(1, "batches", self.epochs).shuffle(&mut order);
        let width = self.workload.model.outputs();
        for items in order.chunks(batch) {
            let mut rows = self.engine.rows(items, false);
            let targets = self.workload.targets.select(items);
            let (outputs, gradient) =
                (&mut self.outputs[..items.len() * width], &mut self.gradient[..items.len() * width]);
            self.engine.tables(&self.parameters, true);
            self.engine.outputs(&mut rows, outputs);
            LaneTargets::of_one(self.workload.loss, self.workload.model.outputs(), &targets)
                .evaluate(outputs, gradient);
            self.engine.step(&mut rows, gradient, &mut self.parameters, &mut self.state, settings);
        }
    }
}

/// The levels of the first categorical column as binary columns, as the paper has them.
fn one_hot(mut tables: Tables) -> Tables {
    let Some(at) = tables.node_columns.iter().position(|c| matches!(c.values, Values::Categories { .. })) else {
        return tables;
    };
    let column = tables.node_columns.remove(at);
    if let Values::Categories { codes, levels } = column.values {
        for (level, name) in (0u32..).zip(levels) {
            let rows: Vec<u32> = (0u32..).zip(&codes).filter(|(_, code)| **code == level).map(|(row, _)| row).collect();
            let values = Values::Sparse { len: codes.len(), values: vec![1.0; rows.len()], rows };
            tables.node_columns.push(Column::new(format!("{}_{name}", column.name), values).with_kind(Kind::Binary));
        }
    }
    tables
}

/// 4,337 trees with a ring or two, 14 to 47 nodes, 14 labels with the frequencies of atoms.
fn synthetic_molecules() -> Tables {
    let mut random = Stream::named(1, "molecules", 0);
    let mut tables = Tables { name: "like Mutagenicity".into(), node_offsets: vec![0], ..Tables::default() };
    tables.task = Some(Task::Graph);
    tables.targets = vec!["label".into()];
    let mut codes = Vec::new();
    let mut classes = Vec::new();
    for graph in 0..4337 {
        let (first, nodes) = (codes.len(), 14 + random.below(34));
        tables.graph_ids.push(graph.to_string());
        for node in 0..nodes {
            // Common labels first: each of the 14 about half as frequent as the one before.
            codes.push((0..13).find(|_| random.below(2) == 0).unwrap_or(13) as u32);
            if node > 0 {
                let back = 1 + random.below(node.min(3));
                tables.edges.push([(first + node) as u32, (first + node - back) as u32]);
            }
        }
        tables.edges.push([first as u32, (first + 5) as u32]);
        tables.node_offsets.push(codes.len());
        classes.push(random.below(2) as u32);
    }
    let levels = |count: usize| (0..count).map(|level| level.to_string()).collect();
    tables.node_columns.push(Column::new("atom", Values::Categories { codes, levels: levels(14) }));
    tables.graph_columns.push(Column::new("label", Values::Categories { codes: classes, levels: levels(2) }));
    tables
}

/// 2,708 nodes with about four neighbours each, 1,433 words of which a node has 18, 7 classes, 140 labelled nodes.
fn synthetic_papers() -> Tables {
    const NODES: usize = 2708;
    let mut random = Stream::named(1, "papers", 0);
    let mut tables = Tables { name: "like Cora".into(), node_offsets: vec![0, NODES], ..Tables::default() };
    tables.graph_ids = vec!["papers".into()];
    tables.task = Some(Task::Node);
    tables.targets = vec!["class".into()];
    for node in 1..NODES {
        for _ in 0..2 {
            tables.edges.push([node as u32, random.below(node) as u32]);
        }
    }
    let mut words = vec![Vec::new(); 1433];
    for node in 0..NODES as u32 {
        let mut own: Vec<usize> = (0..18).map(|_| random.below(1433)).collect();
        own.sort_unstable();
        own.dedup();
        own.into_iter().for_each(|word| words[word].push(node));
    }
    for (word, rows) in words.into_iter().enumerate() {
        let values = Values::Sparse { len: NODES, values: vec![1.0; rows.len()], rows };
        tables.node_columns.push(Column::new(format!("word_{word}"), values).with_kind(Kind::Binary));
    }
    let class = |node: usize| if node < 140 { (node % 7) as u32 } else { files::MISSING };
    let levels = (0..7).map(|level| level.to_string()).collect();
    let values = Values::Categories { codes: (0..NODES).map(class).collect(), levels };
    tables.node_columns.push(Column::new("class", values));
    tables
}
