//! Dense numbers: levels with weights, knots at quantiles, and the exact way between the bends of networks.

mod common;
mod oracle;

use std::sync::Arc;

use common::{
    CaseShape, FeaturePlan, ModelShape, class_column, dataset, dataset_for, random_case, random_model,
    random_model_shape, random_plan,
};
use gnan::files::{Column, Values};
use gnan::internals::model::{Engine, EngineModel, Model, OptimiserState, StepSettings};
use gnan::internals::random::Stream;
use gnan::internals::shape::{Adam, ShapeKind};
use gnan::internals::statistics::{LevelValues, Levels, Statistics};
use gnan::spec::{BinChoice, RhoChoice};
use gnan::{Dataset, Spec};
use oracle::{Case, FileModel, Value, deviation};

/// Agreement of outputs, relative to `max(1, sum of |terms|)`.
const TOLERANCE: f64 = 1e-5;

/// Outputs of a model where its features have these levels.
fn outputs_at(model: &Model, data: &Dataset, levels: Arc<Levels>) -> Vec<f32> {
    let features = model.features_of(data).expect("features");
    let options = model.definition().statistics_request();
    let statistics = Statistics::with_levels(data, &features, levels, options, &[]).expect("statistics");
    let engine = model.engine(Arc::new(statistics));
    let mut found = vec![0.0; data.len() * model.outputs()];
    engine.outputs(&mut engine.rows(&(0..data.len()).collect::<Vec<_>>(), false), &mut found);
    for row in found.chunks_exact_mut(model.outputs()) {
        row.iter_mut().zip(&model.parameters().output_bias).for_each(|(y, b)| *y += b);
    }
    found
}

/// For some features that have a curve, knots here and there, not all within the range of the values.
fn random_knots(random: &mut Stream, model: &Model) -> Vec<Option<Vec<f64>>> {
    let knots = |random: &mut Stream| {
        let mut knots: Vec<f64> = (0..1 + random.below(5)).map(|_| 3.0 + 2.0 * random.normal()).collect();
        knots.sort_by(f64::total_cmp);
        knots
    };
    let features = model.definition().learned.features.iter();
    features.map(|feature| (feature.scale.is_some() && random.below(4) > 0).then(|| knots(random))).collect()
}

/// The zeros of binary and sparse features are the reference, whatever the knots: the oracle must not move them.
fn oracle_at(model: &Model, knots: &[Option<Vec<f64>>]) -> FileModel {
    let mut file = FileModel::read(&model.to_bytes().expect("bytes"));
    for (feature, knots) in model.definition().learned.features.iter().zip(knots) {
        if let Some(knots) = knots {
            file.knots.insert(feature.name.clone(), knots.clone());
        }
    }
    file
}

/// A model, a case that it was learned from without zeros in its sparse features (they are no levels), and knots.
fn interpolated(seed: u64) -> (Model, Case, Vec<Option<Vec<f64>>>) {
    let mut random = Stream::named(seed, "dense", 0);
    let shape = ModelShape { readout: seed.is_multiple_of(5), ..random_model_shape(&mut random) };
    let mut plan = random_plan(&mut random);
    plan.iter_mut().filter(|plan| plan.kind == "binary").for_each(|plan| plan.kind = "continuous");
    let graph_task = random.below(2) == 0;
    let mut case = random_case(&mut random, CaseShape { graph_task, graphs: 3, nodes: [1, 12] }, &plan);
    for feature in case.features.iter_mut().filter(|feature| feature.kind == "sparse") {
        feature.values.iter_mut().filter(|value| **value == Value::Number(0.0)).for_each(|value| {
            *value = Value::Number(1.0 + random.uniform());
        });
    }
    let model = random_model(&mut random, shape, &case);
    let knots = random_knots(&mut random, &model);
    (model, case, knots)
}

#[test]
fn outputs_between_knots_agree_with_the_oracle() {
    for seed in 0..300 {
        let (model, case, knots) = interpolated(seed);
        let data = dataset_for(&case, &model);
        let levels = Levels::at_knots(&model.features_of(&data).expect("features"), &knots, data.node_count());
        let found = outputs_at(&model, &data, Arc::new(levels));
        let deviation = deviation(&found, &oracle_at(&model, &knots).outputs(&case));
        assert!(deviation <= TOLERANCE, "seed {seed}: {deviation:e}");
    }
}

/// The gradient of shape functions between knots against differences of the oracle.
#[test]
fn gradients_between_knots_agree_with_differences() {
    let (mut checked, mut skipped) = (0, 0);
    for seed in 1000..1120 {
        let (model, case, knots) = interpolated(seed);
        let definition = model.definition();
        if definition.spec.model.readout
            || definition.learned.shape == ShapeKind::Spline
            || model.parameters().shapes.is_empty()
        {
            continue;
        }
        let mut random = Stream::named(seed, "differences", 0);
        let data = dataset_for(&case, &model);
        let features = model.features_of(&data).expect("features");
        let levels = Arc::new(Levels::at_knots(&features, &knots, data.node_count()));
        let statistics = Statistics::with_levels(&data, &features, levels, definition.statistics_request(), &[]);
        let mut engine = Engine::new(definition.engine_model(), Arc::new(statistics.expect("statistics")), 1.0);
        let out_gradient: Vec<f32> = (0..data.len() * model.outputs()).map(|_| random.normal() as f32).collect();
        let [_, gradient, ..] = outputs_and_gradients(&mut engine, &model, data.len(), &out_gradient);
        let size = model.parameters().shapes.architecture().expect("networks");
        let largest = gradient.iter().fold(1.0f64, |largest, g| largest.max(f64::from(g.abs())));
        let loss = |model: &Model| -> f64 {
            let outputs = oracle_at(model, &knots).outputs(&case);
            outputs.iter().flatten().zip(&out_gradient).map(|(y, g)| y.value * f64::from(*g)).sum()
        };
        let here = loss(&model);
        for _ in 0..12 {
            let network = random.below(model.parameters().shapes.len());
            let parts = size.parts();
            let range = parts[random.below(parts.len())].range.clone();
            let place = range.start + random.below(range.len());
            let moved = |by: f32| {
                let mut parameters = model.parameters().clone();
                let number = &mut parameters.shapes.block_mut(network)[place];
                let before = *number;
                *number += by;
                let by = f64::from(*number) - f64::from(before);
                (loss(&Model::from_parts(definition.clone(), parameters)) - here) / by
            };
            let (right, left) = (moved(1e-3), moved(-1e-3));
            if (right - left).abs() > 1e-4 * largest {
                skipped += 1;
                continue;
            }
            let found = f64::from(gradient[network * size.block_len() + place]);
            assert!((found - (right + left) / 2.0).abs() <= 2e-4 * largest, "seed {seed}: {found}, {left}, {right}");
            checked += 1;
        }
    }
    assert!(checked > 300 && skipped < checked, "{checked} checked, {skipped} skipped");
}

/// Asked at the bends of its networks alone, a model says what it says asked at every value.
#[test]
fn predictions_by_bends_are_exact() {
    for seed in 0..300 {
        let mut random = Stream::named(seed, "bends", 0);
        let shape = random_model_shape(&mut random);
        let plan = random_plan(&mut random);
        let graph_task = random.below(2) == 0;
        let training = random_case(&mut random, CaseShape { graph_task, graphs: 3, nodes: [1, 12] }, &plan);
        let model =
            random_model(&mut random, ModelShape { layers: 1 + (seed % 3) as usize, hidden: 16, ..shape }, &training);
        let mut case = random_case(&mut random, CaseShape { graph_task, graphs: 1, nodes: [60, 200] }, &plan);
        case.directed = training.directed;
        if seed % 3 == 0 {
            // Values far from all that training had seen.
            let far = [1e3, -1e5, 1e9, -1e15];
            for feature in case.features.iter_mut().filter(|feature| feature.kind == "continuous") {
                feature.values.iter_mut().zip(far).for_each(|(value, far)| *value = Value::Number(far));
            }
        }
        let data = dataset_for(&case, &model);
        let features = model.features_of(&data).expect("features");
        let found = outputs_at(&model, &data, model.levels_above(0, &data, &features).expect("levels"));
        let expected = FileModel::read(&model.to_bytes().expect("bytes")).outputs(&case);
        let deviation = deviation(&found, &expected);
        assert!(deviation <= TOLERANCE, "seed {seed}: {deviation:e}");
    }
}

/// What a step of an engine finds: its outputs, and the gradients of everything.
fn outputs_and_gradients(engine: &mut Engine, model: &Model, items: usize, out_gradient: &[f32]) -> [Vec<f32>; 4] {
    let mut parameters = model.parameters().clone();
    engine.tables(&parameters, true);
    let mut rows = engine.rows(&(0..items).collect::<Vec<_>>(), true);
    let mut found = vec![0.0; out_gradient.len()];
    engine.outputs(&mut rows, &mut found);
    let mut state = OptimiserState::new(&parameters);
    let adam = Adam { learning_rate: 0.0, weight_decay: 0.0, beta1: 0.0, ..Adam::default() };
    let settings = StepSettings { adam, output_bias: true, group_penalty: 0.0 };
    engine.step(&mut rows, out_gradient, &mut parameters, &mut state, settings);
    let [shapes, rhos, rest, _] = state.first_moments();
    [found, shapes.to_vec(), rhos.to_vec(), rest.to_vec()]
}

/// Asked piece by piece, with or without dropout, a model has the outputs and gradients that it has asked at every value.
#[test]
fn pieces_are_the_network() {
    let (mut compared, mut apart) = (0, 0);
    for seed in 0..160 {
        let mut random = Stream::named(seed, "pieces", 0);
        let shape = ModelShape {
            splines: [false, seed % 3 == 0],
            hidden: 16,
            layers: 1 + (seed % 4) as usize,
            readout: seed % 7 == 0,
            ..random_model_shape(&mut random)
        };
        let plan = random_plan(&mut random);
        let graph_task = random.below(2) == 0;
        let case = random_case(&mut random, CaseShape { graph_task, graphs: 2, nodes: [30, 90] }, &plan);
        let model = random_model(&mut random, shape, &case);
        let data = dataset_for(&case, &model);
        let features = model.features_of(&data).expect("features");
        let statistics = Statistics::new(&data, &features, model.definition().statistics_request());
        let statistics = Arc::new(statistics.expect("statistics"));
        let out_gradient: Vec<f32> = (0..data.len() * model.outputs()).map(|_| random.normal() as f32).collect();
        let find = |pieces_above: Option<usize>| {
            let model_of = EngineModel { pieces_above, ..model.definition().engine_model() };
            let mut engine = Engine::new(model_of, Arc::clone(&statistics), 0.5);
            if seed % 2 == 1 {
                engine.draw_masks(model.parameters(), 0.3, seed, 4);
            }
            let first = outputs_and_gradients(&mut engine, &model, data.len(), &out_gradient);
            assert_eq!(first, outputs_and_gradients(&mut engine, &model, data.len(), &out_gradient), "seed {seed}");
            first
        };
        let (plain, pieces) = (find(None), find(Some(2)));
        for (part, (plain, pieces)) in plain.iter().zip(&pieces).enumerate() {
            let largest = plain.iter().fold(1.0f32, |largest, x| largest.max(x.abs()));
            let difference = plain.iter().zip(pieces).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) / largest;
            compared += 1;
            // A value that lies on a bend, to the last digit, may take the gradient of either side.
            apart += usize::from(part == 1 && difference > 2e-5);
            assert!(part == 1 || difference <= 2e-5, "seed {seed}, part {part}: {difference:e}");
        }
    }
    assert!(compared > 500 && apart <= 3, "{apart} of {compared}");
}

/// Trained piece by piece, a model becomes the one that is trained on every value, on any number of threads.
#[test]
fn training_by_pieces_is_training_on_every_value() {
    let data = curve_data(6);
    for (rho, dropout) in [(RhoChoice::Shared, 0.0), (RhoChoice::PerFeature, 0.0), (RhoChoice::Shared, 0.2)] {
        let fit = |pieces_above: usize| {
            let training = quick().bins(BinChoice::Off).pieces_above(pieces_above).dropout(dropout).rho(rho);
            training.fit(&data).expect("a model")
        };
        let (plain, pieces) = (fit(usize::MAX), fit(10));
        assert!(pieces.definition().learned.features.iter().all(|feature| feature.knots.is_none()));
        let losses = |model: &Model| model.definition().record.history.clone();
        for (plain, pieces) in losses(&plain).iter().zip(&losses(&pieces)) {
            assert!((plain.1 - pieces.1).abs() < 2e-3 * plain.1.abs(), "{rho:?}: {plain:?} {pieces:?}");
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
        assert_eq!(pool.install(|| fit(10)).to_bytes().expect("bytes"), pieces.to_bytes().expect("bytes"));
    }
}

fn numeric(name: &str, values: impl Iterator<Item = f64>) -> Column {
    Column::new(name.to_owned(), Values::Numbers(values.collect())).with_kind(gnan::files::Kind::Continuous)
}

/// A graph of 400 nodes, half of them labelled by a curve of what they and their neighbours are.
fn curve_data(seed: u64) -> Dataset {
    let plan = |name: &str, kind, missing| FeaturePlan { name: name.to_owned(), kind, missing, distinct: 0 };
    let plans = [plan("a", "continuous", 0.0), plan("b", "continuous", 0.1), plan("c", "sparse", 0.05)];
    let mut random = Stream::named(seed, "curves", 0);
    let mut case = random_case(&mut random, CaseShape { graph_task: false, graphs: 1, nodes: [400, 400] }, &plans);
    case.graphs[0].edges.extend((1..400).map(|node| [node, node / 2]));
    let number = |feature: usize, node: usize| match case.features[feature].values[node] {
        Value::Number(x) => x,
        _ => 0.0,
    };
    let target = |node: usize| {
        let own = (number(0, node) - 3.0).abs() + 0.5 * number(1, node) - 0.3 * number(2, node);
        if node.is_multiple_of(2) { own } else { f64::NAN }
    };
    dataset(&case, vec![Column::new("target", Values::Numbers((0..400).map(target).collect()))])
}

fn quick() -> Spec {
    Spec::default().hidden(16).epochs(30).learning_rate(0.01)
}

/// Training on knots is announced, written down, kept by the file, and close to training on every value.
#[test]
fn training_on_knots_is_named_and_close() {
    let data = curve_data(1);
    for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
        let exact = quick().rho(rho).fit(&data).expect("a model");
        assert!(exact.definition().learned.features.iter().all(|feature| feature.knots.is_none()));
        assert_eq!(quick().knots_note(&data), None);
        let training = quick().bins(BinChoice::Count(64)).rho(rho);
        assert!(training.knots_note(&data).expect("a note").contains("64"));
        let model = training.fit(&data).expect("a model");
        assert!(model.definition().learned.features.iter().all(|feature| feature.knots == Some(64)), "{rho:?}");
        let bytes = model.to_bytes().expect("bytes");
        let again = Model::from_bytes(&bytes).expect("a model");
        assert_eq!(again.definition(), model.definition());
        let spread = |a: &Model, b: &Model| {
            let (a, b) = (a.outputs_on(&data).expect("outputs").values, b.outputs_on(&data).expect("outputs").values);
            let rms = a.iter().zip(&b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>() / a.len() as f64;
            rms.sqrt()
        };
        assert_eq!(spread(&again, &model), 0.0);
        assert!(spread(&exact, &model) < 0.2, "{rho:?}: {}", spread(&exact, &model));
        // What the model says on average is that of its curves, not of the lines between knots.
        let features = model.features_of(&data).expect("features");
        let curve = model.parameters().shapes.curve(0);
        let Values::Numbers(values) = &features[0].values else { panic!("numbers") };
        let scale = features_scale(&model);
        let mean: f64 = values.iter().map(|x| curve.evaluate(scale.apply(*x))[0] - curve.evaluate(0.0)[0]).sum();
        let found = model.definition().learned.features[0].mean_effect[0];
        assert!((found - mean / 400.0).abs() < 1e-5 * (1.0 + found.abs()), "{found} {}", mean / 400.0);
    }
}

fn features_scale(model: &Model) -> gnan::model::Scale {
    model.definition().learned.features[0].scale.expect("a scale")
}

/// The same seed gives the same bytes whatever the number of threads, for every form of the statistics.
#[test]
fn knots_do_not_depend_on_threads() {
    let data = curve_data(2);
    for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
        let training = quick().bins(BinChoice::Count(32)).epochs(3).rho(rho);
        let bytes = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| training.fit(&data).expect("a model").to_bytes().expect("bytes"))
        });
        assert!(bytes[0] == bytes[1], "{rho:?}");
    }
}

/// Columns that leave little to interpolate: constant, two values, all missing but one, heavy ties.
#[test]
fn odd_columns_have_sensible_knots() {
    let case = Case {
        graph_task: false,
        directed: false,
        graphs: vec![common::random_graph(&mut Stream::named(3, "odd", 0), 200)],
        features: Vec::new(),
    };
    let columns = [
        numeric("constant", (0..200).map(|_| 4.0)),
        numeric("two", (0..200).map(|k| f64::from(k % 2))),
        numeric("one known", (0..200).map(|k| if k == 7 { 2.5 } else { f64::NAN })),
        numeric("ties", (0..200).map(|k| if k < 190 { -1.0 } else { f64::from(k) })),
        numeric("signed zeros", (0..200).map(|k| if k % 2 == 0 { -0.0 } else { f64::from(k % 20) })),
        numeric("huge", (0..200).map(|k| (f64::from(k) - 100.0) * 1e306)),
    ];
    let mut tables = common::tables(&case);
    tables.node_columns.extend(columns);
    tables.node_columns.push(class_column("target", 2, &(0..200).map(|k| Some(k % 2)).collect::<Vec<_>>()));
    tables.targets = vec!["target".to_owned()];
    let data = Dataset::from_tables(tables, &Default::default()).expect("a data set");
    let model = quick().bins(BinChoice::Count(4)).epochs(3).fit(&data).expect("a model");
    let knots: Vec<Option<usize>> = model.definition().learned.features.iter().map(|feature| feature.knots).collect();
    let names: Vec<&str> = model.definition().learned.features.iter().map(|feature| feature.name.as_str()).collect();
    for (name, knots) in names.iter().zip(knots) {
        let expected = match *name {
            "ties" | "signed zeros" | "huge" => Some(4),
            _ => None,
        };
        assert_eq!(knots, expected, "{name}");
    }
    let outputs = model.outputs_on(&data).expect("outputs");
    assert!(outputs.values.iter().all(|y| y.is_finite()));
    let levels = Levels::at_knots(data.features(), &[None, None, None, Some(vec![-1.0, 199.0])], data.node_count());
    let of_ties = &levels.features[3];
    assert_eq!((of_ties.interpolated, &of_ties.values), (true, &LevelValues::Numbers(vec![-1.0, 199.0])));
}

/// A file that claims knots where there can be none is refused.
#[test]
fn a_file_that_lies_about_knots_is_refused() {
    let model = quick().bins(BinChoice::Count(16)).epochs(1).fit(&curve_data(4)).expect("a model");
    let lie = |knots: i64| {
        let change = |json: &mut serde_json::Value| {
            let place = &mut json["learned"]["features"][0]["knots"];
            assert_eq!(*place, 16);
            *place = knots.into();
        };
        Model::from_bytes(&common::model_file::rewritten(&model, change, |_| {}))
    };
    assert!(lie(17).is_ok());
    assert!(lie(1).expect_err("one knot").to_string().contains("knots"));
    assert!(lie(-3).is_err());
}

/// A model that was trained on knots is retrained on resamples in the same way.
#[test]
fn replicates_are_trained_on_knots_too() {
    let data = curve_data(5);
    let model = quick().bins(BinChoice::Count(16)).epochs(3).fit(&data).expect("a model");
    let bootstrap = gnan::bootstrap::Bootstrap { resamples: 3, ..Default::default() };
    let found = bootstrap.run(&model, &data, None, &|_| std::ops::ControlFlow::Continue(())).expect("replicates");
    assert_eq!(found.len(), 3);
}
