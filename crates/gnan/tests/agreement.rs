//! The engine against the dense oracle: outputs on thousands of random graphs, gradients against differences.

mod common;
mod oracle;

use std::sync::Arc;

use common::{
    CaseShape, DistanceOptions, FeaturePlan, GOALS, Goal, ModelShape, dataset_for, random_case, random_model,
    random_model_shape, random_plan,
};
use gnan::dataset::Outcome;
use gnan::internals::model::{Engine, Model, OptimiserState, Rho, StepSettings};
use gnan::internals::random::Stream;
use gnan::internals::shape::Adam;
use gnan::internals::train::{ItemTargets, LaneTargets};
use gnan::spec::Loss;
use oracle::{Answer, Case, CaseFeature, CaseGraph, FileModel, LossKind, Masks, Receiver, Value, Wanted, deviation};

/// Agreement of outputs, relative to `max(1, sum of |terms|)`: spec section 4.
const OUTPUT_TOLERANCE: f64 = 1e-5;
/// Agreement of gradients, relative to `max(1, largest |gradient|)`.
const GRADIENT_TOLERANCE: f64 = 1e-5;
/// Step of the differences: small enough to cross few kinks of ReLU, large enough for f64.
const DIFFERENCE_STEP: f64 = 1e-6;

/// The bytes of a model's file, and the model read back from them.
fn through_file(model: &Model) -> (FileModel, Model) {
    let bytes = model.to_bytes().expect("bytes");
    (FileModel::read(&bytes), Model::from_bytes(&bytes).expect("a model"))
}

/// The largest deviation of a model's outputs on a case.
fn compare(model: &Model, case: &Case) -> f64 {
    let (file, model) = through_file(model);
    let outputs = model.outputs_on(&dataset_for(case, &model)).expect("outputs");
    deviation(&outputs.values, &file.outputs(case))
}

#[test]
fn outputs_agree_on_random_graphs() {
    let (mut largest, mut graphs) = (0.0f64, 0);
    for seed in 0..1200 {
        let mut random = Stream::named(seed, "outputs agree", 0);
        let shape = ModelShape { readout: seed % 4 == 0, ..random_model_shape(&mut random) };
        let graph_task = random.below(2) == 0;
        let mut plan = random_plan(&mut random);
        let training = CaseShape { graph_task, graphs: 3, nodes: [1, 12] };
        let training = random_case(&mut random, training, &plan);
        let model = random_model(&mut random, shape, &training);
        // New data: categories unseen in training, and values missing where none was.
        for plan in plan.iter_mut().filter(|_| random.below(2) == 0) {
            plan.missing = 0.2;
            plan.distinct += usize::from(plan.kind == "categorical");
        }
        let mut case = random_case(&mut random, CaseShape { graph_task, graphs: 6, nodes: [0, 12] }, &plan);
        case.directed = training.directed;
        graphs += case.graphs.len();
        let deviation = compare(&model, &case);
        assert!(deviation <= OUTPUT_TOLERANCE, "seed {seed}: {deviation:e} with {shape:?} on {case:?}");
        largest = largest.max(deviation);
    }
    println!("largest deviation of outputs on {graphs} graphs: {largest:e}");
    assert!(graphs > 3000, "{graphs}");
}

/// Five continuous features (channels), a sparse, a binary and a categorical one (cells) around 60 nodes.
fn mixed_plan() -> Vec<FeaturePlan> {
    let plan = |name: &str, kind, missing, distinct| FeaturePlan { name: name.to_owned(), kind, missing, distinct };
    let mut plans: Vec<FeaturePlan> = (0..5).map(|k| plan(&format!("curve{k}"), "continuous", 0.05, 0)).collect();
    plans.insert(2, plan("colour", "categorical", 0.1, 3));
    plans.push(plan("constant", "continuous", 0.0, 1));
    plans.push(plan("count", "sparse", 0.02, 3));
    plans.push(plan("flag", "binary", 0.0, 0));
    plans
}

/// A case with few ones in `flag` and few numbers in `count`, so that both stay in cells.
fn mixed_case(random: &mut Stream, graphs: &[usize]) -> Case {
    let plan = mixed_plan();
    let mut case = random_case(random, CaseShape { graph_task: false, graphs: 1, nodes: [0, 0] }, &plan);
    for nodes in graphs {
        let edges = (0..*nodes).map(|_| [random.below(*nodes), random.below(*nodes)]).collect();
        case.graphs.push(CaseGraph { nodes: *nodes, edges });
    }
    let nodes = case.nodes();
    for (feature, plan) in case.features.iter_mut().zip(&plan) {
        feature.values = common::random_values(random, plan, nodes);
        if plan.kind == "sparse" || plan.kind == "binary" {
            feature
                .values
                .iter_mut()
                .enumerate()
                .filter(|(k, _)| k % 9 != 0)
                .for_each(|(_, v)| *v = Value::Number(0.0));
        }
    }
    case
}

/// How many features of a node task are channels of the shell rows, and how many stay in cells.
fn channels_and_cells(model: &Model, case: &Case) -> [usize; 2] {
    let data = dataset_for(case, model);
    let statistics = model.statistics(&data, &model.features_of(&data).expect("features")).expect("statistics");
    let channels = statistics.channels.iter().filter(|channel| channel.is_some()).count();
    [channels, statistics.channels.len() - channels]
}

#[test]
fn outputs_agree_where_cells_and_channels_meet() {
    let mut largest = 0.0f64;
    for (index, goal) in (0u64..).zip(GOALS) {
        let mut random = Stream::named(index, "cells and channels", 0);
        for (layers, normalise, hop_cap) in [(3, true, None), (1, false, None), (2, true, Some(3))] {
            let shape = ModelShape {
                goal,
                rho: Rho::PerFeature,
                layers,
                hidden: 16,
                normalise,
                hop_cap,
                distance_options: DistanceOptions::PLAIN,
                splines: [false; 2],
                readout: false,
            };
            let training = mixed_case(&mut random, &[60]);
            let model = random_model(&mut random, shape, &training);
            let case = mixed_case(&mut random, &[60, 1, 0, 17]);
            let [channels, cells] = channels_and_cells(&model, &case);
            assert!(channels == 5 && cells >= 4, "{channels} channels and {cells} features in cells");
            let deviation = compare(&model, &case);
            assert!(deviation <= OUTPUT_TOLERANCE, "{shape:?}: {deviation:e}");
            let deviation = deviation
                .max(compare(&random_model(&mut random, ModelShape { rho: Rho::Shared, ..shape }, &training), &case));
            assert!(deviation <= OUTPUT_TOLERANCE, "shared, {shape:?}: {deviation:e}");
            largest = largest.max(deviation);
        }
    }
    println!("largest deviation of outputs with cells and channels: {largest:e}");
}

/// More than 256 slots: rows of two bytes.
#[test]
fn outputs_agree_on_a_long_chain() {
    let mut random = Stream::named(0, "long chain", 0);
    let nodes = 300;
    let plan = mixed_plan();
    for directed in [false, true] {
        let features = plan
            .iter()
            .map(|plan| CaseFeature {
                name: plan.name.clone(),
                kind: plan.kind,
                values: common::random_values(&mut random, plan, nodes),
            })
            .collect();
        let graph = CaseGraph { nodes, edges: (1..nodes).map(|node| [node - 1, node]).collect() };
        for graph_task in [false, true] {
            let case = Case { graph_task, directed, graphs: vec![graph.clone()], features: Clone::clone(&features) };
            for rho in [Rho::Shared, Rho::PerFeature] {
                let shape = ModelShape {
                    goal: GOALS[2],
                    rho,
                    layers: 2,
                    hidden: 16,
                    normalise: true,
                    hop_cap: None,
                    distance_options: DistanceOptions::PLAIN,
                    splines: [false; 2],
                    readout: false,
                };
                let deviation = compare(&random_model(&mut random, shape, &case), &case);
                println!("chain: graph task {graph_task}, directed {directed}, {rho:?}: {deviation:e}");
                assert!(
                    deviation <= OUTPUT_TOLERANCE,
                    "graph task {graph_task}, directed {directed}, {rho:?}: {deviation:e}"
                );
            }
        }
    }
}

/// A graph so large that sources are summed in pieces and shown to their networks in pieces, with few receivers.
fn large_case() -> (Case, Vec<Receiver>, Vec<usize>) {
    let mut random = Stream::named(0, "large graph", 0);
    let nodes = 5000;
    let mut case = mixed_case(&mut random, &[3]);
    let edges: Vec<[usize; 2]> = (0..nodes).map(|_| [random.below(nodes), random.below(nodes)]).collect();
    case.directed = false;
    case.graphs = vec![CaseGraph { nodes: 7, edges: vec![[0, 1]] }, CaseGraph { nodes, edges: edges.clone() }];
    for (feature, plan) in case.features.iter_mut().zip(mixed_plan()) {
        feature.values = common::random_values(&mut random, &plan, 7 + nodes);
    }
    let chosen: Vec<usize> = vec![7, 20, 999, 1000, 4096, 5006];
    let receiver = |node: &usize| Receiver {
        item: *node,
        first: 7,
        distances: oracle::queue_search(nodes, &edges, false, node - 7),
        others: Vec::new(),
    };
    let receivers = chosen.iter().map(receiver).collect();
    (case, receivers, chosen)
}

#[test]
fn outputs_agree_on_a_large_graph() {
    let (case, receivers, chosen) = large_case();
    let mut random = Stream::named(1, "large graph", 0);
    for rho in [Rho::Shared, Rho::PerFeature] {
        let shape = ModelShape {
            goal: GOALS[5],
            rho,
            layers: 3,
            hidden: 16,
            normalise: true,
            hop_cap: None,
            distance_options: DistanceOptions::PLAIN,
            splines: [false; 2],
            readout: false,
        };
        let (file, model) = through_file(&random_model(&mut random, shape, &case));
        let outputs = model.outputs_on(&dataset_for(&case, &model).subset(&chosen)).expect("outputs");
        let expected = file.outputs_of(&case, &receivers, 1.0);
        let expected: Vec<Vec<Answer>> = chosen.iter().map(|item| expected[*item].clone()).collect();
        let deviation = deviation(&outputs.values, &expected);
        println!("deviation on a large graph: {deviation:e}");
        assert!(deviation <= OUTPUT_TOLERANCE, "{rho:?}: {deviation:e}");
    }
}

/// A model that training made, rather than a random one: gain and target scale are folded in.
#[test]
fn outputs_agree_after_training() {
    for seed in 0..12 {
        let mut random = Stream::named(seed, "after training", 0);
        let plan = random_plan(&mut random);
        let graph_task = seed % 2 == 0;
        let graphs = if graph_task { 60 } else { 5 };
        let case = random_case(&mut random, CaseShape { graph_task, graphs, nodes: [3, 8] }, &plan);
        let numbers = (0..case.items()).map(|_| 50.0 + 10.0 * random.normal()).collect();
        let data =
            common::dataset(&case, vec![gnan::files::Column::new("target", gnan::files::Values::Numbers(numbers))]);
        let rho = [gnan::spec::RhoChoice::Shared, gnan::spec::RhoChoice::PerFeature][(seed / 2) as usize % 2];
        let training = gnan::Spec::default().hidden(16).epochs(2).seed(seed).rho(rho);
        let deviation = compare(&training.fit(&data).expect("a model"), &case);
        assert!(deviation <= OUTPUT_TOLERANCE, "seed {seed}: {deviation:e}");
    }
}

/// One comparison of a gradient.
struct GradientCheck<'a> {
    model: &'a Model,
    case: &'a Case,
    /// The items that the loss is of, and the receivers that the oracle needs for them.
    items: Vec<usize>,
    receivers: Vec<Receiver>,
    loss: LossKind,
    /// One entry per item of the case; those not chosen are ignored.
    wanted: Wanted,
    gain: f64,
    repeated: bool,
    /// Rate, seed and step of dropout.
    dropout: Option<(f32, u64, u64)>,
    /// Most parameters that are moved one by one.
    singles: usize,
}

/// What came of comparisons.
#[derive(Default)]
struct Tally {
    checked: usize,
    skipped: usize,
    largest: f64,
}

impl GradientCheck<'_> {
    /// The gradient of the engine, laid out as the tensors of the file, and its loss.
    fn engine_gradient(&self, file: &FileModel) -> (Vec<Vec<f64>>, f64) {
        let data = dataset_for(self.case, self.model).subset(&self.items);
        let features = self.model.features_of(&data).expect("features");
        let statistics = Arc::new(self.model.statistics(&data, &features).expect("statistics"));
        let mut engine = Engine::new(self.model.definition().engine_model(), statistics, self.gain as f32);
        let mut parameters = self.model.parameters().clone();
        let outputs = self.model.outputs();
        if let Some((rate, seed, step)) = self.dropout {
            engine.draw_masks(&parameters, rate, seed, step);
        }
        engine.tables(&parameters, true);
        let all: Vec<usize> = (0..self.items.len()).collect();
        let mut rows = engine.rows(&all, self.repeated);
        let mut found = vec![0.0; self.items.len() * outputs];
        engine.outputs(&mut rows, &mut found);
        for row in found.chunks_exact_mut(outputs) {
            row.iter_mut().zip(&parameters.output_bias).for_each(|(y, bias)| *y += bias);
        }
        let number = |target: &Option<f64>| target.map_or(f32::NAN, |target| target as f32);
        let targets = ItemTargets {
            width: self.wanted.targets[0].len(),
            values: self.items.iter().flat_map(|item| self.wanted.targets[*item].iter().map(number)).collect(),
            weights: self.items.iter().map(|item| self.wanted.item_weights[*item] as f32).collect(),
            class_weights: self.wanted.class_weights.clone(),
        };
        let loss = match self.loss {
            LossKind::Logistic => Loss::Logistic,
            LossKind::CrossEntropy => Loss::CrossEntropy,
            LossKind::Squared => Loss::Squared,
            LossKind::Absolute => Loss::Absolute,
        };
        let mut gradient = vec![0.0; found.len()];
        let loss = LaneTargets::of_one(loss, outputs, &targets).evaluate(&found, &mut gradient)[0].train;
        let mut state = OptimiserState::new(&parameters);
        let adam = Adam { learning_rate: 0.0, weight_decay: 0.0, beta1: 0.0, ..Adam::default() };
        let before = self.model.to_bytes().expect("bytes");
        engine.step(
            &mut rows,
            &gradient,
            &mut parameters,
            &mut state,
            StepSettings { adam, output_bias: true, group_penalty: 0.0 },
        );
        let after = Model::from_parts(self.model.definition().clone(), parameters.clone());
        assert_eq!(before, after.to_bytes().expect("bytes"), "a step of size 0 moved the parameters");

        let [shapes, rhos, rest, readouts] = state.first_moments();
        let of_tensor = |name: &str| -> Vec<f64> {
            let (values, own) = (parameters.values.len(), parameters.bias.len());
            let rest = |range: std::ops::Range<usize>| rest[range].iter().map(|g| f64::from(*g)).collect();
            match name {
                "values" => rest(0..values),
                "bias" => rest(values..values + own),
                "output_bias" => rest(values + own..values + own + outputs),
                _ => {
                    let (prefix, part) = name.split_once('.').expect("a prefix");
                    let (blocks, bank) = match prefix {
                        "shape" => (shapes, &parameters.shapes),
                        "rho" => (rhos, &parameters.rhos),
                        _ => (readouts, &parameters.readouts),
                    };
                    if part == "coefficients" {
                        let tensor = file.tensors.iter().find(|tensor| tensor.name == name).expect("the tensor");
                        return blocks[..tensor.values.len()].iter().map(|g| f64::from(*g)).collect();
                    }
                    let architecture = bank.architecture().expect("networks");
                    let part = architecture.parts().into_iter().find(|p| p.name == part).expect("the part");
                    let blocks = blocks.chunks_exact(architecture.block_len());
                    blocks.flat_map(|block| block[part.range.clone()].iter().map(|g| f64::from(*g))).collect()
                }
            }
        };
        let gradient: Vec<Vec<f64>> = file.tensors.iter().map(|tensor| of_tensor(&tensor.name)).collect();
        for (tensor, gradient) in file.tensors.iter().zip(&gradient) {
            assert_eq!(tensor.values.len(), gradient.len(), "{}", tensor.name);
        }
        (gradient, loss)
    }

    fn oracle_loss(&self, file: &FileModel) -> f64 {
        let outputs = file.outputs_of(self.case, &self.receivers, self.gain);
        let mut wanted = self.wanted.clone();
        for (item, targets) in wanted.targets.iter_mut().enumerate() {
            if !self.items.contains(&item) {
                targets.fill(None);
            }
        }
        oracle::loss(self.loss, &outputs, &wanted) + file.penalty()
    }

    /// Compares, moving parameters one by one and in random directions all at once.
    fn run(&self, random: &mut Stream, tally: &mut Tally) {
        let mut file = FileModel::read(&self.model.to_bytes().expect("bytes"));
        if let Some((rate, seed, step)) = self.dropout {
            file.masks = Some(masks(self.model, &file, rate, seed, step));
        }
        let (gradient, engine_loss) = self.engine_gradient(&file);
        let here = self.oracle_loss(&file);
        let engine_loss = engine_loss + file.penalty();
        assert!((engine_loss - here).abs() <= 1e-5 * here.abs().max(1.0), "loss {engine_loss}, oracle {here}");
        let largest = gradient.iter().flatten().fold(1.0, |largest: f64, g| largest.max(g.abs()));
        let places: Vec<(usize, usize)> =
            (0..gradient.len()).flat_map(|t| (0..gradient[t].len()).map(move |k| (t, k))).collect();
        let mut singles = places.clone();
        random.shuffle(&mut singles);
        // Biases and free values are few: all of them are checked.
        let few = |(tensor, _): &(usize, usize)| gradient[*tensor].len() <= 64;
        singles.sort_by_key(|place| !few(place));
        singles.truncate(self.singles);
        let mut moves: Vec<Vec<((usize, usize), f64)>> = singles.into_iter().map(|place| vec![(place, 1.0)]).collect();
        for _ in 0..4 {
            let length = 1.0 / (places.len() as f64).sqrt();
            moves.push(places.iter().map(|place| (*place, length * random.normal())).collect());
        }
        for step in moves {
            let at = |size: f64| {
                let mut moved = file.clone();
                step.iter().for_each(|((tensor, k), length)| moved.tensors[*tensor].values[*k] += size * length);
                self.oracle_loss(&moved)
            };
            let (above, below) = (at(DIFFERENCE_STEP), at(-DIFFERENCE_STEP));
            let [right, left] = [above - here, here - below].map(|difference| difference / DIFFERENCE_STEP);
            let found: f64 = step.iter().map(|((tensor, k), length)| gradient[*tensor][*k] * length).sum();
            // One-sided differences disagree at a kink.
            if (right - left).abs() > GRADIENT_TOLERANCE * largest {
                tally.skipped += 1;
                continue;
            }
            let deviation = (found - (right + left) / 2.0).abs() / largest;
            let name = if step.len() == 1 { &file.tensors[step[0].0.0].name } else { "a direction" };
            assert!(
                deviation <= GRADIENT_TOLERANCE,
                "{name} {:?}: engine {found}, differences {left} and {right}, largest {largest}, repeated {}, {:?}",
                step[0],
                self.repeated,
                self.model.definition()
            );
            tally.checked += 1;
            tally.largest = tally.largest.max(deviation);
        }
    }
}

/// The dropout masks of a step, drawn as the library documents: one stream per network and step.
fn masks(model: &Model, file: &FileModel, rate: f32, seed: u64, step: u64) -> Masks {
    let layout = model.definition().layout();
    let draw = |name: &str, networks: usize| -> Vec<Vec<f64>> {
        let one = |network: usize| {
            let mut random = Stream::named(seed, name, step * networks as u64 + network as u64);
            let kept = 1.0 / (1.0 - f64::from(rate));
            (0..file.mask_len()).map(|_| if random.uniform() < f64::from(rate) { 0.0 } else { kept }).collect()
        };
        (0..networks).map(one).collect()
    };
    Masks { shapes: draw("dropout of shapes", layout.networks), rhos: draw("dropout of rho", layout.rho_functions()) }
}

/// A loss that fits a goal, and random targets for it, some unknown.
fn random_wanted(random: &mut Stream, goal: Goal, items: usize) -> (LossKind, Wanted) {
    let (loss, targets, classes) = match goal.outcome {
        Outcome::Binary if goal.two_logits => (LossKind::CrossEntropy, 1, 2),
        Outcome::Binary => (LossKind::Logistic, 1, 2),
        Outcome::Multiclass => (LossKind::CrossEntropy, 1, goal.count),
        Outcome::MultiLabel => (LossKind::Logistic, goal.count, 2),
        _ => ([LossKind::Squared, LossKind::Absolute][random.below(2)], goal.count, 0),
    };
    let mut target = || match classes {
        _ if random.uniform() < 0.15 => None,
        0 => Some(f64::from(random.normal() as f32)),
        classes => Some(random.below(classes) as f64),
    };
    let mut targets: Vec<Vec<Option<f64>>> = (0..items).map(|_| (0..targets).map(|_| target()).collect()).collect();
    // At least one is known.
    targets[0][0] = Some(1.0);
    let weighted = random.below(2) == 0;
    let weight = |random: &mut Stream| if weighted { f64::from((0.5 + random.uniform()) as f32) } else { 1.0 };
    let item_weights = (0..items).map(|_| weight(random)).collect();
    let class_weights = (0..classes).map(|_| 0.5 + random.uniform()).collect();
    (loss, Wanted { targets, item_weights, class_weights: if weighted { class_weights } else { Vec::new() } })
}

/// A check of all items of a case.
fn whole<'a>(random: &mut Stream, model: &'a Model, goal: Goal, case: &'a Case) -> GradientCheck<'a> {
    let (loss, wanted) = random_wanted(random, goal, case.items());
    let items = (0..case.items()).collect();
    let receivers = case.receivers_by(&through_file(model).0.lenses);
    let (gain, repeated) = ([1.0, 0.25][random.below(2)], random.below(2) == 0);
    GradientCheck { model, case, items, receivers, loss, wanted, gain, repeated, dropout: None, singles: 120 }
}

fn few_skipped(tally: &Tally) {
    println!("{} moves checked, {} skipped, largest deviation {:e}", tally.checked, tally.skipped, tally.largest);
    assert!(tally.skipped * 10 < 3 * (tally.checked + tally.skipped), "{} kinks", tally.skipped);
}

#[test]
fn gradients_agree_on_random_graphs() {
    let mut tally = Tally::default();
    for seed in 0..60 {
        let mut random = Stream::named(seed, "gradients agree", 0);
        let mut shape = random_model_shape(&mut random);
        shape.goal = GOALS[seed as usize % GOALS.len()];
        shape.rho = [Rho::Shared, Rho::PerFeature, Rho::Grouped][(seed / 7) as usize % 3];
        shape.hidden = 16;
        shape.readout = seed % 4 == 1;
        let graph_task = random.below(2) == 0;
        let plan = random_plan(&mut random);
        // The model is learned from the case itself: in training nothing is unseen.
        let case = random_case(&mut random, CaseShape { graph_task, graphs: 3, nodes: [0, 8] }, &plan);
        if case.items() == 0 {
            continue;
        }
        let model = random_model(&mut random, shape, &case);
        let mut check = whole(&mut random, &model, shape.goal, &case);
        for repeated in [false, true] {
            check.repeated = repeated;
            check.run(&mut random, &mut tally);
        }
    }
    few_skipped(&tally);
}

/// Rho per feature in a node task with both cells and more than 16 lanes: 5 channels of 4 outputs; and lanes of any
/// width.
#[test]
fn gradients_agree_where_cells_and_channels_meet() {
    let mut tally = Tally::default();
    for (index, goal) in (0u64..).zip(GOALS) {
        let mut random = Stream::named(index, "gradients of channels", 0);
        let layers = 2 + index as usize % 3;
        let splines = [index % 2 == 1, index % 3 == 1];
        let (rho, normalise, distance_options) = (Rho::PerFeature, index != 3, DistanceOptions::PLAIN);
        let shape = ModelShape {
            goal,
            rho,
            layers,
            hidden: 16,
            normalise,
            hop_cap: None,
            distance_options,
            splines,
            readout: false,
        };
        let case = mixed_case(&mut random, &[40, 9]);
        let model = random_model(&mut random, shape, &case);
        let [channels, cells] = channels_and_cells(&model, &case);
        assert!(channels >= 5 && cells >= 2, "{channels} channels and {cells} features in cells");
        let mut check = whole(&mut random, &model, goal, &case);
        check.singles = 40;
        check.run(&mut random, &mut tally);
        let model = random_model(&mut random, ModelShape { rho: Rho::Shared, ..shape }, &case);
        GradientCheck { model: &model, ..check }.run(&mut random, &mut tally);
    }
    few_skipped(&tally);
}

#[test]
fn gradients_agree_with_dropout() {
    let mut tally = Tally::default();
    for seed in 0..12 {
        let mut random = Stream::named(seed, "gradients with dropout", 0);
        let graph_task = seed % 2 == 0;
        let plan: Vec<FeaturePlan> = mixed_plan().into_iter().skip(1).take(4).collect();
        let case = random_case(&mut random, CaseShape { graph_task, graphs: 3, nodes: [3, 9] }, &plan);
        let goal = GOALS[seed as usize % GOALS.len()];
        let rho = [Rho::Shared, Rho::PerFeature][(seed / 2) as usize % 2];
        let layers = 2 + seed as usize % 3;
        let (distance_options, splines) = (DistanceOptions::PLAIN, [false; 2]);
        let shape = ModelShape {
            goal,
            rho,
            layers,
            hidden: 32,
            normalise: true,
            hop_cap: None,
            distance_options,
            splines,
            readout: false,
        };
        let model = random_model(&mut random, shape, &case);
        let mut check = whole(&mut random, &model, goal, &case);
        check.dropout = Some((0.4, 17 + seed, seed));
        check.singles = 60;
        check.run(&mut random, &mut tally);
    }
    few_skipped(&tally);
}

/// Thousands of sources, levels and rows: every task of the engine is divided.
#[test]
fn gradients_agree_on_a_large_graph() {
    let mut tally = Tally::default();
    let (mut case, receivers, items) = large_case();
    case.features.retain(|feature| ["curve0", "colour", "flag"].contains(&feature.name.as_str()));
    for rho in [Rho::Shared, Rho::PerFeature] {
        let mut random = Stream::named(2, "large graph", 0);
        let goal = GOALS[2];
        let shape = ModelShape {
            goal,
            rho,
            layers: 3,
            hidden: 16,
            normalise: true,
            hop_cap: None,
            distance_options: DistanceOptions::PLAIN,
            splines: [false; 2],
            readout: false,
        };
        let model = random_model(&mut random, shape, &case);
        let (loss, mut wanted) = random_wanted(&mut random, goal, case.items());
        items.iter().enumerate().for_each(|(at, item)| wanted.targets[*item][0] = Some((at % 3) as f64));
        let (items, receivers) = (items.clone(), receivers.clone());
        let case = &case;
        let check = GradientCheck {
            model: &model,
            case,
            items,
            receivers,
            loss,
            wanted,
            gain: 1.0,
            repeated: false,
            dropout: None,
            singles: 12,
        };
        check.run(&mut random, &mut tally);
    }
    few_skipped(&tally);
}

/// Many graphs: more rows and cells than one task of the engine handles, sources spread over many graphs.
#[test]
fn gradients_agree_on_many_graphs() {
    let mut tally = Tally::default();
    for graph_task in [true, false] {
        for rho in [Rho::Shared, Rho::PerFeature] {
            let mut random = Stream::named(3, "many graphs", u64::from(graph_task));
            let plan: Vec<FeaturePlan> = mixed_plan().into_iter().skip(1).take(3).collect();
            let mut case = random_case(&mut random, CaseShape { graph_task, graphs: 1, nodes: [4, 4] }, &plan);
            case.graphs = (0..700).map(|_| common::random_graph(&mut random, 4)).collect();
            for (feature, plan) in case.features.iter_mut().zip(&plan) {
                feature.values = common::random_values(&mut random, plan, 2800);
            }
            let goal = GOALS[0];
            let (distance_options, splines) = (DistanceOptions::PLAIN, [false; 2]);
            let shape = ModelShape {
                goal,
                rho,
                layers: 2,
                hidden: 16,
                normalise: true,
                hop_cap: None,
                distance_options,
                splines,
                readout: false,
            };
            let model = random_model(&mut random, shape, &case);
            let deviation = compare(&model, &case);
            assert!(deviation <= OUTPUT_TOLERANCE, "{deviation:e}");
            let mut check = whole(&mut random, &model, goal, &case);
            check.singles = 12;
            for repeated in [false, true] {
                check.repeated = repeated;
                check.run(&mut random, &mut tally);
            }
        }
    }
    few_skipped(&tally);
}
