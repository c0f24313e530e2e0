//! Penalised models whose features share a distance function: planted functions are found again and held by their bands, what is
//! shown has the spread of the dense covariance, explanations add up, and files come back as they were.

mod common;
mod oracle;

use common::{CaseShape, class_column, dataset, random_case, random_plan};
use gnan::bootstrap::Intervals;
use gnan::explain::{FeatureValue, Point};
use gnan::files::{Column, Kind, Values};
use gnan::internals::random::Stream;
use gnan::model::{Ended, Rho};
use gnan::spec::{FitMethod, RhoChoice};
use gnan::{Dataset, DatasetOptions, Explainer, Metric, Model, Outcome, Run, Spec};
use safetensors::tensor::SafeTensors;

/// Half the width of a pointwise 95 % band in standard deviations.
const WIDTH: f64 = 1.959_963_984_540_054;

fn shared() -> Spec {
    Spec::default().method(FitMethod::Penalised).rho(RhoChoice::Shared).choose(false)
}

/// What is planted: effects of three kinds and of a number between 0 and 1, and how much they count by distance.
const KINDS: [f64; 3] = [1.0, -0.8, 0.1];
const RHO: [f64; 4] = [1.0, 0.6, 0.3, 0.1];

fn of_size(size: f64) -> f64 {
    (3.0 * size).sin()
}

/// Random trees whose targets are sums over receivers and distances of `rho(l)` times the mean over the shell of planted effects.
fn planted(seed: u64, graphs: usize, classes: bool) -> (Dataset, f64) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Stream::named(seed, "shared rho", 0);
    let (mut nodes, mut edges) = ("graph_id,node_id,kind,size\n".to_owned(), "graph_id,source,target\n".to_owned());
    let mut table = "graph_id,y\n".to_owned();
    let (mut mean, mut all) = (0.0, 0.0);
    for graph in 0..graphs {
        let count = 4 + random.below(6);
        let mut dist = vec![vec![usize::MAX; count]; count];
        (0..count).for_each(|node| dist[node][node] = 0);
        let mut own = Vec::new();
        for node in 0..count {
            let (kind, size) = (random.below(3), random.uniform());
            own.push(KINDS[kind] + of_size(size));
            mean += KINDS[kind];
            all += 1.0;
            nodes.push_str(&format!("g{graph},n{node},{},{size}\n", ["a", "b", "c"][kind]));
            if node > 0 {
                let other = random.below(node);
                edges.push_str(&format!("g{graph},n{node},n{other}\n"));
                for to in 0..node {
                    let length = dist[other][to] + 1;
                    (dist[node][to], dist[to][node]) = (length, length);
                }
            }
        }
        let mut y = 0.0;
        for receiver in 0..count {
            for (distance, rho) in RHO.iter().enumerate() {
                let shell: Vec<f64> =
                    (0..count).filter(|node| dist[*node][receiver] == distance).map(|node| own[node]).collect();
                if !shell.is_empty() {
                    y += rho * shell.iter().sum::<f64>() / shell.len() as f64;
                }
            }
        }
        let y = match classes {
            true => ["no", "yes"][usize::from(1.0 / (1.0 + (4.0 - y).exp()) > random.uniform())].to_owned(),
            false => (y + 0.7 * random.normal()).to_string(),
        };
        table.push_str(&format!("g{graph},{y}\n"));
    }
    for (name, text) in [("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", table)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
    (Dataset::open_with(folder.path(), &options).unwrap(), mean / all)
}

/// Random graphs with random features (sparse and binary ones, missing values) and targets of a kind.
fn random_data(seed: u64) -> Dataset {
    let mut random = Stream::named(seed, "shared rho of random data", 0);
    let graph_task = seed.is_multiple_of(2);
    let shape = match graph_task {
        true => CaseShape { graph_task, graphs: 60, nodes: [3, 8] },
        false => CaseShape { graph_task, graphs: 1, nodes: [80, 80] },
    };
    let plan = random_plan(&mut random);
    let case = random_case(&mut random, shape, &plan);
    let items = case.items();
    let target = match seed % 3 {
        0 => Column::new("target", Values::Numbers((0..items).map(|_| 7.0 + 3.0 * random.normal()).collect())),
        more => {
            let classes = 1 + more as usize;
            class_column("target", classes, &(0..items).map(|_| Some(random.below(classes))).collect::<Vec<_>>())
        }
    };
    dataset(&case, vec![target])
}

/// Whether the targets of random data differ: some cases have hardly an item.
fn can_be_fitted(data: &Dataset) -> bool {
    let values = || data.items().iter().map(|item| data.targets()[0].values[*item as usize]);
    let first = values().next();
    data.len() > 20 && values().any(|value| Some(value) != first)
}

#[test]
fn planted_functions_are_found_and_held_by_their_bands() {
    let (mut held, mut all) = (0, 0);
    for seed in 0..8 {
        let (data, mean) = planted(seed, 250, false);
        let model = shared().fit(&data).unwrap();
        assert_eq!((model.learned().rho, model.record().ended), (Rho::Shared, Ended::Converged));
        assert!(model.evaluate(&data).unwrap().get(Metric::R2).unwrap() > 0.9);
        let canonical = model.canonical();
        let place = |name: &str| model.learned().features.iter().position(|k| k.name == name).unwrap();
        let (kind, size) = (place("kind"), place("size"));
        let rhos = canonical.rhos();
        assert_eq!(rhos.len(), 1);
        let intervals = Intervals::of_posterior(&model, false).unwrap();
        let mut hold = |truth: f64, low: f64, high: f64| {
            held += usize::from(low <= truth && truth <= high);
            all += 1;
        };
        for (distance, rho) in RHO.iter().enumerate() {
            assert!((rhos[0].values[distance][0] - rho).abs() < 0.15, "{seed} {distance}: {:?}", rhos[0].values);
            if distance > 0 {
                let band = intervals.rho[0][distance][0];
                hold(*rho, band.low, band.high);
            }
            for (level, name) in ["a", "b", "c"].into_iter().enumerate() {
                let point = Point::Level(name.to_owned());
                let at = intervals.points.features[kind].iter().position(|other| *other == point).unwrap();
                let band = intervals.products[kind][at][distance][0];
                hold(rho * (KINDS[level] - mean), band.low, band.high);
            }
        }
        // The curve of the number, up to its mean, which is about (1 - cos 3) / 3.
        for step in 1..10 {
            let x = 0.1 * f64::from(step);
            let effect = canonical.effect(size, FeatureValue::Number(x), 0)[0];
            let truth = of_size(x) - (1.0 - 3f64.cos()) / 3.0;
            assert!((effect - truth).abs() < 0.25, "{seed} {x}: {effect} {truth}");
        }
        let summary = model.record().summary.as_ref().unwrap();
        assert!(summary.terms[kind].p_value.unwrap() < 1e-6 && summary.terms[size].p_value.unwrap() < 1e-6);
    }
    // 120 bands of 95 %, which are not independent.
    assert!(held * 100 >= all * 85, "{held} of {all}");
}

/// The covariance of all parameters of a model, output after output, from the tensor in its file.
fn covariance(model: &Model) -> Vec<Vec<f64>> {
    let bytes = model.to_bytes().unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut blocks = Vec::new();
    for part in 0.. {
        let Ok(tensor) = tensors.tensor(&format!("posterior.{part}.root")) else { break };
        let root: Vec<f64> =
            tensor.data().chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap())).collect();
        let order = (((1.0 + 8.0 * root.len() as f64).sqrt() - 1.0) / 2.0).round() as usize;
        let mut dense = vec![vec![0.0; order]; order];
        let mut next = root.iter();
        for column in 0..order {
            (column..order).for_each(|row| dense[row][column] = *next.next().unwrap());
        }
        let entry = |i: usize, j: usize| (0..order).map(|row| dense[row][i] * dense[row][j]).sum::<f64>();
        blocks.push((0..order).map(|i| (0..order).map(|j| entry(i, j)).collect::<Vec<f64>>()).collect::<Vec<_>>());
    }
    assert_eq!(blocks.len(), 1, "one target");
    blocks.pop().unwrap()
}

/// The model with one parameter of one output moved: the output bias, the bias, the free values but those of the 0 of sparse
/// features, then the distance function at every distance of training. `None` beyond the last of them.
fn moved(model: &Model, output: usize, place: usize, by: f32) -> Option<Model> {
    let definition = model.definition();
    let mut parameters = model.parameters().clone();
    let outputs = definition.learned.outputs;
    let mut values = Vec::new();
    let mut next = 0;
    for feature in &definition.learned.features {
        let knots: Vec<f64> = feature.effect_knots.iter().flat_map(|knots| knots.at.iter().copied()).collect();
        for value in 0..feature.value_count() {
            if !(feature.kind == Kind::Sparse && knots.get(value) == Some(&0.0)) {
                values.push(next + value);
            }
        }
        next += feature.value_count();
    }
    let longest = definition.learned.slots[0] - 2;
    assert!(longest < 11, "far distances share a point");
    let unreachable = definition.learned.receivers[longest + 1] > 0.0;
    match place {
        0 => parameters.output_bias[output] += by,
        1 => parameters.bias[output] += by,
        place if place - 2 < values.len() => parameters.values[values[place - 2] * outputs + output] += by,
        place => {
            let distance = place - 2 - values.len();
            if distance > longest + usize::from(unreachable) {
                return None;
            }
            let at = |knot: f64| match distance {
                _ if distance > longest => knot == 0.0,
                _ if distance == longest => knot > 0.0 && knot <= 1.0 / (1.0 + longest as f64),
                _ => knot == 1.0 / (1.0 + distance as f64),
            };
            let knots = definition.learned.rho_spline.clone().unwrap().knots;
            for (knot, _) in knots.iter().enumerate().filter(|(_, knot)| at(**knot)) {
                parameters.rhos.block_mut(0)[knot * outputs + output] += by;
            }
        }
    }
    let mut definition = definition.clone();
    // Numbers are centred by the mean of their values.
    let mut first = 0;
    for feature in &mut definition.learned.features {
        if feature.kind == Kind::Continuous {
            let mean = |c: usize| {
                let shares = feature.level_shares().into_iter().enumerate();
                shares.map(|(level, s)| s * f64::from(parameters.values[(first + level) * outputs + c])).sum::<f64>()
            };
            feature.mean_effect = (0..outputs).map(mean).collect();
        }
        first += feature.value_count();
    }
    Some(Model::from_parts(definition, parameters))
}

/// How numbers that are made of a model depend on its parameters, by central differences, `[numbers][outputs, parameters]`.
fn gradients(model: &Model, order: usize, numbers: impl Fn(&Model) -> Vec<f64>) -> Vec<Vec<f64>> {
    let count = order / model.outputs();
    let mut gradients = vec![Vec::new(); numbers(model).len()];
    for output in 0..model.outputs() {
        for place in 0..count {
            let step = 1.0 / 64.0;
            let [low, high] =
                [-step, step].map(|by| numbers(&moved(model, output, place, by).expect("as many as the file has")));
            let slopes = low.iter().zip(&high).map(|(low, high)| (high - low) / f64::from(2.0 * step));
            gradients.iter_mut().zip(slopes).for_each(|(all, slope)| all.push(slope));
        }
        assert!(moved(model, output, count, 1.0).is_none(), "the file has as many parameters as the model");
    }
    gradients
}

fn spread(covariance: &[Vec<f64>], gradient: &[f64]) -> f64 {
    let row = |i: usize| gradient.iter().zip(&covariance[i]).map(|(g, v)| g * v).sum::<f64>();
    gradient.iter().enumerate().map(|(i, g)| g * row(i)).sum::<f64>().max(0.0).sqrt()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 2e-3 * expected + 1e-5
}

/// Bands of effects, of the structure and of the distance function, of contributions and predictions, against finite differences of
/// what is shown and the dense covariance.
#[test]
fn what_is_shown_has_the_spread_of_the_dense_covariance() {
    let mut outcomes = Vec::new();
    for seed in 0..12 {
        let data = random_data(seed);
        if !can_be_fitted(&data) {
            continue;
        }
        let model = shared().fit(&data).unwrap();
        if model.learned().slots[0] > 12 || !model.has_prediction_bands() {
            continue;
        }
        outcomes.push(model.learned().outcome);
        let covariance = covariance(&model);
        let intervals = Intervals::of_posterior(&model, false).unwrap();
        let points: Vec<(usize, usize, Point)> = (intervals.points.features.iter().enumerate())
            .flat_map(|(k, points)| points.iter().cloned().enumerate().map(move |(place, point)| (k, place, point)))
            .collect();
        let shown = |model: &Model| -> Vec<f64> {
            let canonical = model.canonical();
            let features = points.iter().flat_map(|(k, _, point)| canonical.effects(*k, point.value()).concat());
            let structure = canonical.structure().iter().flat_map(|row| model.definition().shown(row));
            features.chain(structure).collect()
        };
        let bands = points.iter().flat_map(|(k, place, _)| intervals.products[*k][*place].concat());
        let bands: Vec<_> = bands.chain(intervals.structure.concat()).collect();
        let estimates = shown(&model);
        assert_eq!(estimates.len(), bands.len());
        for ((gradient, estimate), band) in gradients(&model, covariance.len(), shown).iter().zip(estimates).zip(bands)
        {
            let sd = spread(&covariance, gradient);
            let (low, high) = ((estimate - band.low) / WIDTH, (band.high - estimate) / WIDTH);
            assert!(close(low, sd) && close(high, sd), "{seed}: {low} {high}, not {sd}");
        }
        // Predictions and contributions of a few items.
        let some: Vec<usize> = (0..data.len()).step_by(9).collect();
        let explain = |model: &Model| Explainer::new(model, &data).unwrap().explain(&some).unwrap();
        let parts = |model: &Model| -> Vec<f64> {
            explain(model).iter().flat_map(|why| why.prediction.iter().copied().chain(why.by_node(0))).collect()
        };
        let sds = explain(&model)
            .iter()
            .flat_map(|why| {
                let sds = why.sds.as_ref().expect("a penalised model knows how sure it is");
                sds.prediction.iter().copied().chain(sds.by_node.iter().map(|row| row[0])).collect::<Vec<f64>>()
            })
            .collect::<Vec<f64>>();
        for (gradient, sd) in gradients(&model, covariance.len(), parts).iter().zip(sds) {
            let expected = spread(&covariance, gradient);
            assert!(close(sd, expected), "{seed}: {sd}, not {expected}");
        }
    }
    for outcome in [Outcome::Regression, Outcome::Binary, Outcome::Multiclass] {
        assert!(outcomes.contains(&outcome), "{outcomes:?}");
    }
}

/// The engine, explanations and tables say the same of such models, and files come back as they were.
#[test]
fn explanations_add_up_and_files_come_back() {
    for seed in 0..6 {
        let data = random_data(seed);
        if !can_be_fitted(&data) {
            continue;
        }
        let mut grouped = Spec::default().method(FitMethod::Penalised).choose(false);
        let first = data.features().first().map(|feature| format!("some={}", feature.name).parse().unwrap());
        grouped.distances.rho_group = first.into_iter().collect();
        for spec in [shared(), grouped] {
            let model = spec.fit(&data).unwrap();
            let predictions = model.predict(&data).unwrap();
            for (item, predicted) in predictions.items.iter().enumerate() {
                let why = model.explain(&data, item).unwrap();
                assert!(why.adds_up(), "{seed} {item}: {}", why.worst_miss());
                assert_eq!(predicted.bands.is_empty(), !model.has_prediction_bands());
            }
            let bytes = model.to_bytes().unwrap();
            let again = Model::from_bytes(&bytes).unwrap();
            assert_eq!(again.to_bytes().unwrap(), bytes);
            assert_eq!(again.outputs_on(&data).unwrap().values, model.outputs_on(&data).unwrap().values);
            let [one, other] = [&model, &again].map(|model| Intervals::of_posterior(model, true).unwrap());
            assert_eq!(one, other);
            for length in (0..bytes.len()).step_by(997) {
                assert!(Model::from_bytes(&bytes[..length]).is_err());
            }
            for place in (0..bytes.len()).step_by(1009) {
                let mut changed = bytes.clone();
                changed[place] ^= 0x10;
                assert!(Model::from_bytes(&changed).is_err(), "{place}");
            }
        }
    }
}

/// A number that was never missing in training and is missing in new data has the average effect, once.
#[test]
fn what_is_missing_for_the_first_time_has_the_average_effect() {
    let (data, _) = planted(3, 60, false);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("nodes.csv"), "graph_id,node_id,kind,size\ng0,n0,a,0.2\ng0,n1,b,\ng0,n2,c,0.7\n")
        .unwrap();
    std::fs::write(folder.path().join("edges.csv"), "graph_id,source,target\ng0,n0,n1\ng0,n1,n2\n").unwrap();
    std::fs::write(folder.path().join("graphs.csv"), "graph_id,y\ng0,1.5\n").unwrap();
    let model = shared().fit(&data).unwrap();
    let new = Dataset::open_with(folder.path(), &model.data_options()).unwrap();
    let why = model.explain(&new, 0).unwrap();
    assert!(why.adds_up());
}

#[test]
fn threads_change_no_byte() {
    let (data, _) = planted(3, 80, true);
    let bytes = |threads: usize| {
        let data = data.clone().with_run(&Run::default().with_threads(threads).unwrap());
        shared().fit(&data).unwrap().to_bytes().unwrap()
    };
    let first = bytes(1);
    assert!(first == bytes(2) && first == bytes(5));
}

/// One distance function for all is what a fit takes that is not told how, where features are to share it.
#[test]
fn sharing_alone_leaves_the_fit_penalised() {
    let (data, _) = planted(4, 80, false);
    let model = Spec::default().rho(RhoChoice::Shared).fit(&data).unwrap();
    assert_eq!(model.definition().spec.fit.method, FitMethod::Penalised);
    assert!(model.has_posterior());
}
