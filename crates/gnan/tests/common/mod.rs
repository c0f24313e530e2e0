//! Random cases and random models for the tests that compare the engine with the oracle.

#![allow(dead_code, reason = "every test file uses another part of these helpers")]

pub mod model_file;

use gnan::dataset::{Feature, FeaturePair, Outcome, PairMember};
use gnan::files::{Column, Kind, MISSING, Tables, Task, Values};
use gnan::internals::lens::{Lens, Pool, Reach};
use gnan::internals::model::{
    Definition, FeatureSchema, Learned, Model, Parameters, Record, Rho, RhoScale, TargetSchema, TrainingNodes,
    output_count,
};
use gnan::internals::random::Stream;
use gnan::internals::shape::{Basis, ShapeKind};
use gnan::spec::EdgeDirection;
use gnan::{Dataset, DatasetOptions, Spec};

use crate::oracle::{Case, CaseFeature, CaseGraph, Value};

/// What a random case may look like.
#[derive(Clone, Copy, Debug)]
pub struct CaseShape {
    /// Whether graphs are the items.
    pub graph_task: bool,
    /// Most graphs.
    pub graphs: usize,
    /// Fewest and most nodes per graph.
    pub nodes: [usize; 2],
}

/// What a feature of a random case is called, its kind, and how its values are drawn.
#[derive(Clone, Debug)]
pub struct FeaturePlan {
    /// Its name.
    pub name: String,
    /// Its kind, in words.
    pub kind: &'static str,
    /// Share of values that are missing.
    pub missing: f64,
    /// Number of distinct values or categories; 0: as many as nodes.
    pub distinct: usize,
}

/// A list of features, at random.
pub fn random_plan(random: &mut Stream) -> Vec<FeaturePlan> {
    const KINDS: [&str; 4] = ["continuous", "sparse", "binary", "categorical"];
    (0..random.below(6))
        .map(|index| {
            let kind = KINDS[random.below(4)];
            let missing = [0.0, 0.0, 0.2][random.below(3)];
            let distinct = if kind == "categorical" { 1 + random.below(4) } else { [0, 1, 3][random.below(3)] };
            FeaturePlan { name: format!("feature{index}"), kind, missing, distinct }
        })
        .collect()
}

/// A random structure: any density, self-loops and repeated edges, several components.
pub fn random_graph(random: &mut Stream, nodes: usize) -> CaseGraph {
    let density = [0.0, 0.5, 1.0, 1.5, 3.0][random.below(5)];
    let count = if nodes == 0 { 0 } else { (density * nodes as f64) as usize };
    let mut edges: Vec<[usize; 2]> = (0..count).map(|_| [random.below(nodes), random.below(nodes)]).collect();
    if let Some(edge) = edges.first().copied() {
        edges.push(edge);
        edges.push([edge[1], edge[1]]);
    }
    CaseGraph { nodes, edges }
}

/// Values of a feature for some nodes.
pub fn random_values(random: &mut Stream, plan: &FeaturePlan, nodes: usize) -> Vec<Value> {
    let pool: Vec<f64> = (0..plan.distinct).map(|_| 3.0 + 2.0 * random.normal()).collect();
    let mut one = || {
        if random.uniform() < plan.missing {
            return Value::Missing;
        }
        let mut number = || if pool.is_empty() { 3.0 + 2.0 * random.normal() } else { pool[random.below(pool.len())] };
        match plan.kind {
            "continuous" => Value::Number(number()),
            "sparse" => {
                let number = number();
                Value::Number(if random.uniform() < 0.7 { 0.0 } else { number })
            }
            "binary" => Value::Number(f64::from(u8::from(random.uniform() < 0.3))),
            _ => Value::Category(format!("level{}", random.below(plan.distinct.max(1)))),
        }
    };
    (0..nodes).map(|_| one()).collect()
}

/// A random case with these features.
pub fn random_case(random: &mut Stream, shape: CaseShape, plan: &[FeaturePlan]) -> Case {
    let [fewest, most] = shape.nodes;
    let graphs: Vec<CaseGraph> = (0..1 + random.below(shape.graphs))
        .map(|_| {
            let nodes = fewest + random.below(most - fewest + 1);
            random_graph(random, nodes)
        })
        .collect();
    let nodes = graphs.iter().map(|graph| graph.nodes).sum();
    let features = plan
        .iter()
        .map(|plan| {
            let values = random_values(random, plan, nodes);
            CaseFeature { name: plan.name.clone(), kind: plan.kind, values }
        })
        .collect();
    Case { graph_task: shape.graph_task, directed: random.below(2) == 0, graphs, features }
}

/// The column that a reader would make of a feature.
pub fn column(feature: &CaseFeature) -> Column {
    let kind = match feature.kind {
        "binary" => Kind::Binary,
        "categorical" => Kind::Categorical,
        "continuous" => Kind::Continuous,
        _ => Kind::Sparse,
    };
    let values = if kind == Kind::Categorical {
        let mut levels: Vec<String> = Vec::new();
        let codes = feature.values.iter().map(|value| match value {
            Value::Category(name) => match levels.iter().position(|level| level == name) {
                Some(code) => code as u32,
                None => {
                    levels.push(name.clone());
                    levels.len() as u32 - 1
                }
            },
            _ => MISSING,
        });
        let codes = codes.collect();
        Values::Categories { codes, levels }
    } else {
        let numbers = feature.values.iter().map(|value| match value {
            Value::Number(number) => *number,
            _ => f64::NAN,
        });
        Values::Numbers(numbers.collect())
    };
    Column::new(feature.name.clone(), values).with_kind(kind)
}

/// The tables that a reader would make of a case, without targets.
pub fn tables(case: &Case) -> Tables {
    let mut node_offsets = vec![0];
    let mut edges = Vec::new();
    for graph in &case.graphs {
        let first = node_offsets[node_offsets.len() - 1];
        edges.extend(graph.edges.iter().map(|edge| edge.map(|node| (first + node) as u32)));
        node_offsets.push(first + graph.nodes);
    }
    Tables {
        name: "random".to_owned(),
        graph_ids: (0..case.graphs.len()).map(|graph| graph.to_string()).collect(),
        node_offsets,
        edges,
        directed: case.directed,
        node_columns: case.features.iter().map(column).collect(),
        task: Some(if case.graph_task { Task::Graph } else { Task::Node }),
        ..Tables::default()
    }
}

/// A data set of a case with these target columns.
pub fn dataset(case: &Case, targets: Vec<Column>) -> Dataset {
    let mut tables = tables(case);
    tables.targets = targets.iter().map(|column| column.name.clone()).collect();
    if case.graph_task { &mut tables.graph_columns } else { &mut tables.node_columns }.extend(targets);
    Dataset::from_tables(tables, &DatasetOptions::default()).expect("a data set")
}

/// A data set of a case, opened for a model.
pub fn dataset_for(case: &Case, model: &Model) -> Dataset {
    Dataset::from_tables(tables(case), &model.data_options()).expect("a data set")
}

/// Classes called "c0", "c1", ...
pub fn class_names(count: usize) -> Vec<String> {
    (0..count).map(|class| format!("c{class}")).collect()
}

/// A target column of classes; `None` is unknown.
pub fn class_column(name: &str, classes: usize, values: &[Option<usize>]) -> Column {
    let codes = values.iter().map(|class| class.map_or(MISSING, |class| class as u32)).collect();
    Column::new(name, Values::Categories { codes, levels: class_names(classes) })
}

/// What a model predicts.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// The outcome.
    pub outcome: Outcome,
    /// Classes of one target, or number of targets.
    pub count: usize,
    /// Two logits for a binary target.
    pub two_logits: bool,
}

/// Every sort of outcome.
pub const GOALS: [Goal; 7] = [
    Goal { outcome: Outcome::Binary, count: 2, two_logits: false },
    Goal { outcome: Outcome::Binary, count: 2, two_logits: true },
    Goal { outcome: Outcome::Multiclass, count: 3, two_logits: false },
    Goal { outcome: Outcome::Multiclass, count: 7, two_logits: false },
    Goal { outcome: Outcome::Regression, count: 1, two_logits: false },
    Goal { outcome: Outcome::MultiLabel, count: 4, two_logits: false },
    Goal { outcome: Outcome::MultiRegression, count: 2, two_logits: false },
];

impl Goal {
    fn targets(self) -> Vec<TargetSchema> {
        let target = |name: String, classes| TargetSchema { name, classes, ..TargetSchema::default() };
        match self.outcome {
            Outcome::Binary | Outcome::Multiclass => vec![target("target0".to_owned(), Some(class_names(self.count)))],
            Outcome::MultiLabel => {
                (0..self.count).map(|k| target(format!("target{k}"), Some(class_names(2)))).collect()
            }
            _ => (0..self.count).map(|k| target(format!("target{k}"), None)).collect(),
        }
    }
}

/// Everything about a random model that is not learned.
#[derive(Clone, Copy, Debug)]
pub struct ModelShape {
    /// What it predicts.
    pub goal: Goal,
    /// Shared or per feature.
    pub rho: Rho,
    /// Layers of the networks.
    pub layers: usize,
    /// Width of the networks.
    pub hidden: usize,
    /// Divide by the size of a shell.
    pub normalise: bool,
    /// Rho is 0 beyond this distance.
    pub hop_cap: Option<usize>,
    /// What else is decided about distance.
    pub distance_options: DistanceOptions,
    /// Whether shape functions, and whether rhos, are splines.
    pub splines: [bool; 2],
    /// Whether there is a readout; graph tasks only.
    pub readout: bool,
}

/// What is decided about distance besides a hop cap.
#[derive(Clone, Copy, Debug)]
pub struct DistanceOptions {
    /// The ways of measuring it.
    pub ways: Ways,
    /// Whether unreachable nodes do not count.
    pub silent_unreachable: bool,
    /// Draws association rules and groups of features; 0: none.
    pub rules: u64,
}

/// Ways of measuring distance and of pooling receivers; those that do not fit the data are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// The usual one.
    Plain,
    /// Receivers are averaged.
    Mean,
    /// They are summed up and averaged.
    SumAndMean,
    /// Against the direction of edges.
    Against,
    /// Along, against and ignoring it.
    Directions,
}

impl DistanceOptions {
    /// Nothing unusual.
    pub const PLAIN: DistanceOptions = DistanceOptions { ways: Ways::Plain, silent_unreachable: false, rules: 0 };

    /// Something unusual, half of the time.
    pub fn random(random: &mut Stream) -> DistanceOptions {
        if random.below(2) == 0 {
            return DistanceOptions::PLAIN;
        }
        let ways = [Ways::Plain, Ways::Mean, Ways::SumAndMean, Ways::Against, Ways::Directions][random.below(5)];
        DistanceOptions {
            ways,
            silent_unreachable: random.below(3) == 0,
            rules: random.below(3) as u64 * (1 + random.next_u64() / 4),
        }
    }

    /// The lenses for a case.
    fn lenses(self, case: &Case) -> Vec<Lens> {
        let pool = |pool| Lens { pool, ..Lens::default() };
        let direction = |direction| Lens { direction, ..Lens::default() };
        match self.ways {
            Ways::Mean if case.graph_task => vec![pool(Pool::Mean)],
            Ways::SumAndMean if case.graph_task => vec![pool(Pool::Sum), pool(Pool::Mean)],
            Ways::Against if case.directed => vec![direction(EdgeDirection::Against)],
            Ways::Directions if case.directed => {
                vec![
                    direction(EdgeDirection::Along),
                    direction(EdgeDirection::Against),
                    direction(EdgeDirection::Ignoring),
                ]
            }
            _ => Lens::plain(),
        }
    }

    /// Association rules and groups for some features.
    fn rule(self, features: &mut [FeatureSchema]) {
        let mut random = Stream::named(self.rules, "rules", 0);
        let rules = [Reach::OWN, Reach::OTHERS, Reach::up_to(1), Reach { to: Some(3), ..Reach::OTHERS }];
        for feature in features.iter_mut().filter(|_| self.rules > 0) {
            feature.reach = (random.below(2) == 0).then(|| rules[random.below(rules.len())]);
            feature.rho_group = (random.below(3) > 0).then(|| ["first", "second"][random.below(2)].to_owned());
        }
    }
}

/// A random shape.
pub fn random_model_shape(random: &mut Stream) -> ModelShape {
    ModelShape {
        goal: GOALS[random.below(GOALS.len())],
        rho: [Rho::Shared, Rho::PerFeature, Rho::Grouped][random.below(3)],
        layers: 1 + random.below(5),
        hidden: [16, 32][random.below(2)],
        normalise: random.below(4) > 0,
        hop_cap: [None, None, None, Some(0), Some(2)][random.below(5)],
        distance_options: DistanceOptions::random(random),
        splines: [random.below(3) == 0, random.below(3) == 0],
        readout: false,
    }
}

/// A model with random parameters, no part of them zero, whose features were learned from `case`.
pub fn random_model(random: &mut Stream, shape: ModelShape, case: &Case) -> Model {
    let lenses = shape.distance_options.lenses(case);
    random_model_through(random, shape, case, lenses)
}

/// The same with these ways of measuring distance.
pub fn random_model_through(random: &mut Stream, shape: ModelShape, case: &Case, lenses: Vec<Lens>) -> Model {
    let data =
        Dataset::from_tables(tables(case), &DatasetOptions { targets_optional: true, ..DatasetOptions::default() })
            .expect("a data set");
    let nodes = TrainingNodes::of(&data);
    let mut features: Vec<FeatureSchema> =
        data.features().iter().map(|feature| FeatureSchema::learn(feature, &nodes)).collect();
    if let [first, second, ..] = data.features()
        && random.below(3) == 0
    {
        let levels = |k: usize| features[k].levels.iter().map(|level| level.name.clone()).collect::<Vec<_>>();
        let member = |feature: &Feature, k: usize| PairMember::of(feature, &levels(k), false, |_| true).expect("bins");
        let pair = FeaturePair { members: [member(first, 0), member(second, 1)], of_item: false };
        let feature = pair.feature(data.features()).expect("a pair");
        features.push(FeatureSchema::learn(&feature, &nodes));
    }
    let targets = shape.goal.targets();
    let outputs = output_count(shape.goal.outcome, &targets, shape.goal.two_logits);
    shape.distance_options.rule(&mut features);
    let slots: Vec<usize> =
        lenses.iter().map(|lens| lens.bins.as_ref().map_or(4, |bins| bins.ends.len() + 2)).collect();
    let [shape_kind, rho_kind] =
        shape.splines.map(|spline| if spline { ShapeKind::Spline } else { ShapeKind::Network });
    if shape_kind == ShapeKind::Spline {
        for (schema, feature) in features.iter_mut().zip(data.features()) {
            schema.rules.smooth = [None, Some(0.5)][random.below(2)];
            schema.learn_spline(feature, &nodes);
            schema.spline.iter_mut().for_each(|basis| basis.flat = random.below(4) == 0);
        }
    }
    let rho_spline = (rho_kind == ShapeKind::Spline).then(|| Basis::hats(vec![0.0, 0.2, 1.0 / 3.0, 0.5, 1.0]));
    let smooth = if shape.splines == [false; 2] { 0.0 } else { [0.0, 0.3][random.below(2)] };
    let mut spec = Spec::default().layers(shape.layers).hidden(shape.hidden).normalise(shape.normalise);
    spec = spec.readout(shape.readout && case.graph_task).ignore_unreachable(shape.distance_options.silent_unreachable);
    spec.distances.hop_cap = shape.hop_cap;
    let mut definition = Definition {
        record: Record { resolved: spec.clone().smooth(smooth), ..Record::default() },
        spec,
        learned: Learned {
            task: data.task(),
            outcome: shape.goal.outcome,
            target_family: None,
            links: None,
            directed: case.directed,
            rho: shape.rho,
            rho_scale: if rho_spline.is_some() { RhoScale::PLAIN } else { RhoScale { shift: 0.25, scale: 0.5 } },
            shape: shape_kind,
            rho_spline,
            uncentred: false,
            shell_scale: if lenses.len() == 1 && random.below(3) == 0 { vec![1.0, 1.5, 2.5, 0.5] } else { Vec::new() },
            outputs,
            features,
            targets,
            average: None,
            receivers: vec![1.0; slots.iter().sum()],
            items_at: vec![1; slots.iter().sum()],
            slots,
            lenses,
        },
    };
    let layout = definition.layout();
    let mut parameters = Parameters::random(&layout, &definition.bank_specs(), outputs, random.next_u64());
    // Whatever training starts from, no parameter is zero here and no unit sits on the kink of its ReLU.
    let mut fill = |numbers: &mut [f32], spread: f64| {
        numbers.iter_mut().for_each(|x| *x = (spread * (2.0 * random.uniform() - 1.0)) as f32);
    };
    for bank in [&mut parameters.shapes, &mut parameters.rhos, &mut parameters.readouts] {
        if bank.kind() == ShapeKind::Spline {
            (0..bank.len()).for_each(|spline| fill(bank.block_mut(spline), 1.0));
            continue;
        }
        let size = bank.architecture().expect("networks");
        for (network, part) in (0..bank.len()).flat_map(|network| size.parts().into_iter().map(move |p| (network, p))) {
            // Weights between hidden layers and to the outputs keep the variance of their inputs.
            let spread = if part.dimensions.len() == 2 { (3.0 / shape.hidden as f64).sqrt() } else { 1.0 };
            fill(&mut bank.block_mut(network)[part.range], spread);
        }
    }
    let readout = definition.spec.model.readout;
    for feature in definition.learned.features.iter_mut().filter(|feature| feature.kind == Kind::Continuous) {
        let mut means = vec![0.0; if readout { 1 } else { outputs }];
        fill(&mut means, 1.0);
        feature.mean_effect = means.into_iter().map(f64::from).collect();
    }
    fill(&mut parameters.values, 1.0);
    fill(&mut parameters.bias, 1.0);
    fill(&mut parameters.output_bias, 1.0);
    Model::from_parts(definition, parameters)
}

/// The same case with node `k` of its only graph called `order[k]`.
pub fn relabelled(case: &Case, order: &[usize]) -> Case {
    let mut case = case.clone();
    for edge in &mut case.graphs[0].edges {
        *edge = edge.map(|node| order[node]);
    }
    case.graphs[0].edges.reverse();
    for feature in &mut case.features {
        let before = feature.values.clone();
        before.into_iter().enumerate().for_each(|(node, value)| feature.values[order[node]] = value);
    }
    case
}

/// A random model, and new data for it: with categories that training had not seen, and longer distances.
pub fn model_and_new_case(random: &mut Stream) -> (Model, Case) {
    let shape = random_model_shape(random);
    let graph_task = random.below(2) == 0;
    let mut plan = random_plan(random);
    let training = random_case(random, CaseShape { graph_task, graphs: 3, nodes: [1, 10] }, &plan);
    let model = random_model(random, shape, &training);
    plan.iter_mut().for_each(|plan| plan.distinct += usize::from(plan.kind == "categorical"));
    let mut case = random_case(random, CaseShape { graph_task, graphs: 2, nodes: [0, 12] }, &plan);
    case.directed = training.directed;
    (model, case)
}
