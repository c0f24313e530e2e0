//! Bands of penalised fits: what is shown is what a dense covariance gives, holds planted effects, and survives damaged files.
//!
//! The oracle knows the model file alone: it reads the root `R` of the covariance from its tensor, finds how every number that is
//! shown depends on every coefficient by changing the parameters one by one, and computes `sqrt(g' R' R g)` densely.

mod common;
mod oracle;

use std::collections::{BTreeMap, HashMap};

use common::{CaseShape, class_column, dataset, random_case, random_plan};
use gnan::bootstrap::{BandKind, Intervals};
use gnan::explain::{By, Point, Reference};
use gnan::files::{Column, Kind, Values};
use gnan::internals::random::Stream;
use gnan::spec::FitMethod;
use gnan::{Dataset, DatasetOptions, Definition, Explainer, Explanation, Model, Outcome, Run, Spec};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sha2::{Digest, Sha256};

/// Half the width of a pointwise 95 % band in standard deviations.
const WIDTH: f64 = 1.959_963_984_540_054;

fn penalised() -> Spec {
    Spec::default().method(FitMethod::Penalised).choose(false)
}

/// Random trees whose nodes have a kind (of three) and a size; the target is what their effects at distance 0 and 1 add up to, and
/// noise.
struct Planted {
    data: Dataset,
    /// Centred effects of the kinds by distance.
    kinds: [[f64; 2]; 3],
}

#[derive(Clone, Copy)]
struct World {
    seed: u64,
    graphs: usize,
    /// 0: a quantity; else so many classes.
    classes: usize,
    strength: f64,
}

fn planted(World { seed, graphs, classes, strength }: World) -> Planted {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Stream::named(seed, "bands", 0);
    let (mut nodes, mut edges) = ("graph_id,node_id,kind,size\n".to_owned(), "graph_id,source,target\n".to_owned());
    let mut table = "graph_id,y\n".to_owned();
    let values = [1.0, -1.0, 0.3].map(|value| value * strength);
    let mut counts = [0.0; 3];
    for graph in 0..graphs {
        let count = 3 + random.below(6);
        let kinds: Vec<usize> = (0..count).map(|_| random.below(3)).collect();
        kinds.iter().for_each(|kind| counts[*kind] += 1.0);
        let mut neighbours = vec![Vec::new(); count];
        for node in 1..count {
            let other = random.below(node);
            neighbours[node].push(other);
            neighbours[other].push(node);
            edges.push_str(&format!("g{graph},n{node},n{other}\n"));
        }
        let mut y = 0.3 * random.normal();
        for node in 0..count {
            nodes.push_str(&format!("g{graph},n{node},{},{}\n", ["a", "b", "c"][kinds[node]], random.normal()));
            let near: f64 = neighbours[node].iter().map(|other| values[kinds[*other]]).sum();
            y += values[kinds[node]] + 0.5 * near / neighbours[node].len() as f64;
        }
        let y = match classes {
            0 => y.to_string(),
            2 => ["no", "yes"][usize::from(1.0 / (1.0 + (-y).exp()) > random.uniform())].to_owned(),
            more => format!("class{}", (y.rem_euclid(more as f64) as usize).min(more - 1)),
        };
        table.push_str(&format!("g{graph},{y}\n"));
    }
    for (name, text) in [("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", table)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
    let data = Dataset::open_with(folder.path(), &options).unwrap();
    let total: f64 = counts.iter().sum();
    let mean: f64 = counts.iter().zip(values).map(|(count, value)| count / total * value).sum();
    Planted { data, kinds: values.map(|value| [value - mean, 0.5 * (value - mean)]) }
}

/// The covariance of all coefficients of a model, output after output, from the tensor in its file; and how many there are of one.
fn covariance(model: &Model) -> (Vec<Vec<f64>>, usize) {
    let bytes = model.to_bytes().unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let numbers = |name: &str| -> Vec<f64> {
        let data = tensors.tensor(name).unwrap().data().to_vec();
        data.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap())).collect()
    };
    let count = numbers("posterior.means").len();
    let root = numbers("posterior.0.root");
    let order = (((1.0 + 8.0 * root.len() as f64).sqrt() - 1.0) / 2.0).round() as usize;
    let mut dense = vec![vec![0.0; order]; order];
    let mut next = root.iter();
    for column in 0..order {
        (column..order).for_each(|row| dense[row][column] = *next.next().unwrap());
    }
    let entry = |i: usize, j: usize| (0..order).map(|row| dense[row][i] * dense[row][j]).sum();
    ((0..order).map(|i| (0..order).map(|j| entry(i, j)).collect()).collect(), count)
}

/// A cubic B-spline by its definition: a mean of two of the degree below, on knots whose ends are repeated.
fn b_spline(knots: &[f64], degree: usize, place: usize, x: f64) -> f64 {
    let [from, to] = [knots[place], knots[place + 1]];
    if degree == 0 {
        let last = x == knots[knots.len() - 1] && to == x;
        return f64::from(u8::from(from < to && from <= x && (x < to || last)));
    }
    let part = |from: f64, to: f64, share: f64, place: usize| match to > from {
        true => share / (to - from) * b_spline(knots, degree - 1, place, x),
        false => 0.0,
    };
    let (upper, end) = (knots[place + degree], knots[place + degree + 1]);
    part(from, upper, x - from, place) + part(to, end, end - x, place + 1)
}

/// For every curve over distance with coefficients the distance functions that are made of it, and how much of each: one for a level
/// or a knot (but none for the 0 of a sparse feature), several for a B-spline of a smooth curve.
fn functions(definition: &Definition) -> Vec<Vec<(usize, f64)>> {
    let mut found = vec![vec![(0, 1.0)]];
    let mut next = 1;
    for feature in &definition.learned.features {
        let known = feature.known_values();
        match feature.effect_knots.as_ref().map(|knots| (&knots.at, &knots.spline)) {
            Some((rows, Some(spline))) => {
                let (first, last) = (spline.knots[0], spline.knots[spline.knots.len() - 1]);
                let knots = [vec![first; 3], spline.knots.clone(), vec![last; 3]].concat();
                for place in 0..knots.len() - 4 {
                    let own = rows.iter().enumerate().map(|(row, x)| (next + row, b_spline(&knots, 3, place, *x)));
                    found.push(own.filter(|(_, share)| *share != 0.0).collect());
                }
            }
            rows => {
                let is_zero = |row: &usize| {
                    feature.kind == Kind::Sparse && rows.as_ref().is_some_and(|(rows, _)| rows[*row] == 0.0)
                };
                found.extend((0..known).filter(|row| !is_zero(row)).map(|row| vec![(next + row, 1.0)]));
            }
        }
        next += known;
        if feature.missing.is_some() {
            found.push(vec![(next, 1.0)]);
            next += 1;
        }
    }
    found
}

/// The model with one coefficient of one output raised by 1. The intercept is the output bias; the others are the values of distance
/// functions at `1 / (1 + distance)`, those of the structure first, then those of every level or knot, or shares of them.
fn raised(model: &Model, output: usize, coefficient: usize) -> Model {
    let definition = model.definition();
    let mut parameters = model.parameters().clone();
    let outputs = definition.learned.outputs;
    if coefficient == 0 {
        parameters.output_bias[output] += 1.0;
        return Model::from_parts(definition.clone(), parameters);
    }
    let knots = definition.learned.rho_spline.clone().unwrap().knots;
    let longest = definition.learned.slots[0] - 2;
    let has_unreachable = definition.learned.receivers[longest + 1] > 0.0;
    assert!(longest < 11, "far distances share a coefficient");
    let size = longest + 1 + usize::from(has_unreachable);
    let (curve, distance) = (&functions(definition)[(coefficient - 1) / size], (coefficient - 1) % size);
    let at = |knot: f64| match distance {
        _ if distance > longest => knot == 0.0,
        _ if distance == longest => knot > 0.0 && knot <= 1.0 / (1.0 + longest as f64),
        _ => knot == 1.0 / (1.0 + distance as f64),
    };
    for (place, knot) in knots.iter().enumerate().filter(|(_, knot)| at(**knot)) {
        assert!(knot.is_finite());
        for (function, share) in curve {
            parameters.rhos.block_mut(*function)[place * outputs + output] += *share as f32;
        }
    }
    Model::from_parts(definition.clone(), parameters)
}

/// How numbers that are made of a model depend on its coefficients, `[numbers][outputs, coefficients]`.
fn gradients(model: &Model, count: usize, numbers: impl Fn(&Model) -> Vec<f64>) -> Vec<Vec<f64>> {
    let before = numbers(model);
    let mut gradients = vec![Vec::new(); before.len()];
    for output in 0..model.outputs() {
        for coefficient in 0..count {
            let after = numbers(&raised(model, output, coefficient));
            gradients
                .iter_mut()
                .zip(after.iter().zip(&before))
                .for_each(|(all, (after, before))| all.push(after - before));
        }
    }
    gradients
}

fn spread(covariance: &[Vec<f64>], gradient: &[f64]) -> f64 {
    let row = |i: usize| gradient.iter().zip(&covariance[i]).map(|(g, v)| g * v).sum::<f64>();
    gradient.iter().enumerate().map(|(i, g)| g * row(i)).sum::<f64>().max(0.0).sqrt()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-3 * expected + 1e-6
}

const WORLDS: [World; 3] = [
    World { seed: 1, graphs: 60, classes: 0, strength: 1.0 },
    World { seed: 2, graphs: 80, classes: 2, strength: 1.0 },
    World { seed: 3, graphs: 90, classes: 3, strength: 1.0 },
];

#[test]
fn bands_of_effects_are_those_of_the_dense_covariance() {
    for world in WORLDS {
        let model = penalised().fit(&planted(world).data).unwrap();
        let (covariance, count) = covariance(&model);
        let intervals = Intervals::of_posterior(&model, false).unwrap();
        assert_eq!((intervals.kind, intervals.resamples), (BandKind::Pointwise, 0));
        let points: Vec<(usize, usize, Point)> = (intervals.points.features.iter().enumerate())
            .flat_map(|(k, points)| points.iter().cloned().enumerate().map(move |(place, point)| (k, place, point)))
            .collect();
        let effects = |model: &Model| -> Vec<f64> {
            let canonical = model.canonical();
            let features = points.iter().flat_map(|(k, _, point)| canonical.effects(*k, point.value()).concat());
            let structure = canonical.structure().iter().flat_map(|row| model.definition().shown(row));
            features.chain(structure).collect()
        };
        let estimates = effects(&model);
        let bands = points.iter().flat_map(|(k, place, _)| intervals.products[*k][*place].concat());
        let bands: Vec<_> = bands.chain(intervals.structure.concat()).collect();
        assert_eq!(estimates.len(), bands.len());
        for ((gradient, estimate), band) in gradients(&model, count, effects).iter().zip(estimates).zip(bands) {
            let sd = spread(&covariance, gradient);
            let (low, high) = ((estimate - band.low) / WIDTH, (band.high - estimate) / WIDTH);
            assert!(close(low, sd) && close(high, sd), "{}: {low} {high}, not {sd}", world.seed);
        }
    }
}

/// Random graphs with random features (sparse and binary ones, missing values), where no distance is far.
fn random_data(seed: u64) -> Dataset {
    let mut random = Stream::named(seed, "bands of random data", 0);
    let graph_task = seed.is_multiple_of(2);
    let shape = match graph_task {
        true => CaseShape { graph_task, graphs: 40, nodes: [2, 7] },
        false => CaseShape { graph_task, graphs: 1, nodes: [9, 10] },
    };
    let plan = random_plan(&mut random);
    let case = random_case(&mut random, shape, &plan);
    let items = case.items();
    let target = match seed % 3 {
        0 => Column::new("target", Values::Numbers((0..items).map(|_| 7.0 + 3.0 * random.normal()).collect())),
        more => {
            let classes = 1 + more as usize;
            class_column("target", classes, &(0..items).map(|item| Some(item % classes)).collect::<Vec<_>>())
        }
    };
    dataset(&case, vec![target])
}

/// The parts of an explanation, compared with nothing, one after the other.
fn parts(why: &Explanation) -> Vec<f64> {
    let outputs = 0..why.outputs.len();
    let each = |part: &dyn Fn(usize) -> Vec<f64>| outputs.clone().flat_map(part).collect::<Vec<f64>>();
    [
        why.prediction.clone(),
        each(&|c| vec![why.structure(c)]),
        each(&|c| why.by_feature(c)),
        each(&|c| why.by_distance(c)),
        each(&|c| why.by_feature_and_distance.iter().flatten().map(|values| values[c]).collect()),
        each(&|c| why.by_node(c)),
        each(&|c| why.receiver_outputs(c)),
    ]
    .concat()
}

/// The standard deviations of the same parts.
fn part_sds(why: &Explanation) -> Vec<f64> {
    let sds = why.sds.as_ref().expect("a penalised model knows how sure it is");
    let outputs = 0..why.outputs.len();
    let each = |part: &dyn Fn(usize) -> Vec<f64>| outputs.clone().flat_map(part).collect::<Vec<f64>>();
    let column = |rows: &[Vec<f64>], c: usize| rows.iter().map(|row| row[c]).collect::<Vec<f64>>();
    [
        sds.prediction.clone(),
        sds.of_structure(Reference::Zero).to_vec(),
        each(&|c| column(sds.of_features(Reference::Zero), c)),
        each(&|c| column(&sds.by_distance, c)),
        each(&|c| sds.by_feature_and_distance.iter().flatten().map(|values| values[c]).collect()),
        each(&|c| column(&sds.by_node, c)),
        each(&|c| column(&sds.by_receiver, c)),
    ]
    .concat()
}

#[test]
fn contributions_and_predictions_have_the_spread_of_the_dense_covariance() {
    let (mut graphs, mut nodes, mut outcomes) = (0, 0, Vec::new());
    for seed in 0..12 {
        let data = random_data(seed);
        let model = penalised().fit(&data).unwrap();
        if model.learned().slots[0] > 12 || model.outputs() == 1 && model.learned().outcome == Outcome::Multiclass {
            continue;
        }
        outcomes.push(model.learned().outcome);
        *(if seed % 2 == 0 { &mut graphs } else { &mut nodes }) += 1;
        let (covariance, count) = covariance(&model);
        let all: Vec<usize> = (0..data.len()).collect();
        let explain = |model: &Model| Explainer::new(model, &data).unwrap().explain(&all).unwrap();
        let found = explain(&model);
        let lengths: Vec<usize> = found.iter().map(|why| parts(why).len()).collect();
        let all_gradients = gradients(&model, count, |model| explain(model).iter().flat_map(parts).collect());
        let mut first = 0;
        let by_item: Vec<&[Vec<f64>]> = lengths
            .iter()
            .map(|length| {
                first += length;
                &all_gradients[first - length..first]
            })
            .collect();
        for (why, own) in found.iter().zip(&by_item).step_by(7) {
            let sds = part_sds(why);
            assert_eq!(sds.len(), own.len(), "{seed}");
            for (place, (gradient, sd)) in own.iter().zip(sds).enumerate() {
                let expected = spread(&covariance, gradient);
                assert!(close(sd, expected), "{seed} {} {place}: {sd}, not {expected}", why.id);
            }
            // Compared with the average item: less the mean of the same over the items.
            let outputs = why.outputs.len();
            for c in 0..outputs {
                let ledger = why.ledger(c, By::Feature);
                assert_eq!(ledger.reference, Reference::Average);
                let terms = ledger.terms.iter().map(|term| term.sd.unwrap());
                let places = (0..why.features.len()).map(|k| 2 * outputs + c * why.features.len() + k);
                let all = places.zip(terms).chain([(outputs + c, ledger.structure_sd.unwrap())]);
                for (place, sd) in all {
                    let mean =
                        |at: usize| by_item.iter().map(|item| item[place][at]).sum::<f64>() / by_item.len() as f64;
                    let gradient: Vec<f64> = own[place].iter().enumerate().map(|(at, g)| g - mean(at)).collect();
                    let expected = spread(&covariance, &gradient);
                    assert!(close(sd, expected), "{seed} {} {place}: {sd}, not {expected}", why.id);
                }
            }
        }
        check_predictions(&model, &data, &covariance, count, seed);
    }
    assert!(graphs >= 3 && nodes >= 3, "{graphs} {nodes}");
    assert!(
        [Outcome::Binary, Outcome::Multiclass, Outcome::Regression].iter().all(|outcome| outcomes.contains(outcome))
    );
}

/// Bands of predictions are those of the dense covariance: of log-odds by the slopes of the log-odds.
fn check_predictions(model: &Model, data: &Dataset, covariance: &[Vec<f64>], count: usize, seed: u64) {
    let width = model.outputs();
    let outputs =
        |model: &Model| model.outputs_on(data).unwrap().values.iter().map(|y| f64::from(*y)).collect::<Vec<_>>();
    let own = gradients(model, count, outputs);
    let predictions = model.predict(data).unwrap().items;
    let log_odds = |outputs: &[f64], class: usize| match outputs {
        [only] => {
            if class == 1 {
                *only
            } else {
                -only
            }
        }
        several => {
            let others: f64 = several.iter().enumerate().filter(|(j, _)| *j != class).map(|(_, y)| y.exp()).sum();
            several[class] - others.ln()
        }
    };
    for (item, prediction) in predictions.iter().enumerate().step_by(5) {
        let values: Vec<f64> = prediction.outputs.iter().map(|y| f64::from(*y)).collect();
        let own = &own[item * width..][..width];
        for (place, band) in prediction.bands.iter().enumerate() {
            let quantity = model.learned().outcome == Outcome::Regression;
            let slope = |j: usize| {
                let step = |by: f64| {
                    let mut moved = values.clone();
                    moved[j] += by;
                    log_odds(&moved, place)
                };
                if quantity { 1.0 } else { (step(1e-4) - step(-1e-4)) / 2e-4 }
            };
            let mut gradient = vec![0.0; own[0].len()];
            for (j, own) in own.iter().enumerate() {
                let slope = slope(j);
                gradient.iter_mut().zip(own).for_each(|(sum, g)| *sum += slope * g);
            }
            let sd = spread(covariance, &gradient);
            assert!(close(band.sd, sd), "{seed} {}: {}, not {sd}", prediction.id, band.sd);
            let ends = match quantity {
                true => {
                    let noise = model.record().summary.as_ref().unwrap().noise_sd[0];
                    let half = WIDTH * (noise * noise + sd * sd).sqrt();
                    [values[0] - half, values[0] + half]
                }
                false => [-WIDTH, WIDTH].map(|width| {
                    let log_odds = log_odds(&values, place) + width * sd;
                    1.0 / (1.0 + (-log_odds).exp())
                }),
            };
            assert!(
                (band.lower - ends[0]).abs() < 2e-3 * (1.0 + ends[0].abs()),
                "{seed} {}: {band:?} {ends:?}",
                prediction.id
            );
            assert!(
                (band.upper - ends[1]).abs() < 2e-3 * (1.0 + ends[1].abs()),
                "{seed} {}: {band:?} {ends:?}",
                prediction.id
            );
        }
        let expected = if model.learned().outcome == Outcome::Binary { 2 } else { width };
        assert_eq!(prediction.bands.len(), expected);
    }
}

/// Rings of five nodes, each of one of some kinds, or of none (an empty cell).
fn rings(seed: u64, graphs: usize, kinds: &[&str], options: &DatasetOptions) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Stream::named(seed, "rings of kinds", 0);
    let (mut nodes, mut edges) = ("graph_id,node_id,kind\n".to_owned(), "graph_id,source,target\n".to_owned());
    let mut table = "graph_id,y\n".to_owned();
    for graph in 0..graphs {
        for node in 0..5 {
            nodes.push_str(&format!("g{graph},n{node},{}\n", kinds[random.below(kinds.len())]));
            edges.push_str(&format!("g{graph},n{node},n{}\n", (node + 1) % 5));
        }
        table.push_str(&format!("g{graph},{}\n", random.normal()));
    }
    for (name, text) in [("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", table)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    Dataset::open_with(folder.path(), options).unwrap()
}

/// A value unseen in training has the average effect of its feature: bands of predictions know that, and are those of explanations.
#[test]
fn values_unseen_in_training_have_bands() {
    let options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
    let model = penalised().fit(&rings(1, 60, &["a", "b"], &options)).unwrap();
    let data = rings(2, 12, &["a", "b", "c", ""], &model.data_options());
    let (covariance, count) = covariance(&model);
    let outputs = |model: &Model| {
        let values = model.outputs_on(&data).unwrap().values;
        values.iter().map(|y| f64::from(*y)).collect::<Vec<_>>()
    };
    let gradients = gradients(&model, count, outputs);
    let predictions = model.predict(&data).unwrap().items;
    let all: Vec<usize> = (0..data.len()).collect();
    let explained = Explainer::new(&model, &data).unwrap().explain(&all).unwrap();
    assert!(explained.iter().filter(|why| !why.unseen.is_empty()).count() > 6);
    for ((gradient, prediction), why) in gradients.iter().zip(predictions).zip(explained) {
        let (expected, sd) = (spread(&covariance, gradient), why.sds.unwrap().prediction[0]);
        assert!(close(prediction.bands[0].sd, expected), "{}: {}, not {expected}", why.id, prediction.bands[0].sd);
        assert!(close(sd, expected), "{}: {sd}, not {expected}", why.id);
    }
}

/// Prediction intervals hold about 95 % of new targets.
#[test]
fn prediction_intervals_hold_new_targets() {
    let (mut held, mut all) = (0, 0);
    for seed in 200..204 {
        let planted = planted(World { seed, graphs: 300, classes: 0, strength: 0.7 }).data;
        let (train, test) = planted.split(0.5, seed).unwrap();
        let model = penalised().fit(&train).unwrap();
        for (prediction, item) in model.predict(&test).unwrap().items.iter().zip(test.items()) {
            let actual = test.targets()[0].values[*item as usize];
            let band = prediction.bands[0];
            held += usize::from(band.lower <= actual && actual <= band.upper);
            all += 1;
        }
    }
    // 600 targets: 95 % and five standard errors.
    assert!((held as f64 / all as f64 - 0.95).abs() < 5.0 * (0.95 * 0.05 / 600.0f64).sqrt(), "{held} of {all}");
}

/// The inverse of a positive definite matrix, by Gauss and Jordan.
fn inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let order = matrix.len();
    let mut left: Vec<Vec<f64>> = (0..order)
        .map(|i| matrix[i].iter().copied().chain((0..order).map(|j| f64::from(u8::from(i == j)))).collect())
        .collect();
    for k in 0..order {
        let pivot = left[k][k];
        left[k].iter_mut().for_each(|x| *x /= pivot);
        let row = left[k].clone();
        for other in (0..order).filter(|other| *other != k) {
            let share = left[other][k];
            left[other].iter_mut().zip(&row).for_each(|(x, y)| *x -= share * y);
        }
    }
    left.into_iter().map(|row| row[order..].to_vec()).collect()
}

/// `V^-1 = X' X / noise + S`, and no penalty ties coefficients of different curves over values: there the inverse of what the file
/// holds is that of the design, which is found by changing coefficients and predicting.
#[test]
fn what_is_kept_is_the_inverse_of_design_and_penalties() {
    let world = WORLDS[0];
    let data = planted(world).data;
    let model = penalised().fit(&data).unwrap();
    let (covariance, count) = covariance(&model);
    let outputs =
        |model: &Model| model.outputs_on(&data).unwrap().values.iter().map(|y| f64::from(*y)).collect::<Vec<_>>();
    let design = gradients(&model, count, outputs);
    let noise = model.record().summary.as_ref().unwrap().noise_sd[0].powi(2);
    let precision = inverse(&covariance);
    let size = model.learned().slots[0] - 1;
    let curve = |coefficient: usize| (coefficient - 1) / size;
    // The structure's curve, three kinds with a penalty each, then the table of sizes, whose knots are tied.
    let apart = |i: usize, j: usize| i == 0 || j == 0 || (curve(i) != curve(j) && curve(i).min(curve(j)) <= 3);
    let scale = (0..count).map(|i| precision[i][i]).fold(0.0, f64::max);
    let mut compared = 0;
    for i in 0..count {
        for j in (0..count).filter(|j| apart(i, *j)) {
            let expected = design.iter().map(|row| row[i] * row[j]).sum::<f64>() / noise;
            assert!((precision[i][j] - expected).abs() < 1e-4 * scale, "{i} {j}: {} {expected}", precision[i][j]);
            compared += 1;
        }
    }
    assert!(compared > 4000, "{compared}");
}

/// Planted effects lie within their bands about as often as they should: 16 data sets, six effects each. Of 96 bands that hold with 95 %
/// (and are not independent) fewer than 80 would be far off.
#[test]
fn bands_hold_planted_effects() {
    let (mut held, mut simultaneous, mut all, mut wrong) = (0, 0, 0, 0);
    for seed in 100..116 {
        let planted = planted(World { seed, graphs: 150, classes: 0, strength: 0.5 });
        let model = penalised().fit(&planted.data).unwrap();
        let kind = model.learned().features.iter().position(|feature| feature.name == "kind").unwrap();
        let [narrow, wide] = [false, true].map(|kind| Intervals::of_posterior(&model, kind).unwrap());
        assert_eq!(wide.kind, BandKind::Simultaneous);
        let mut inside = true;
        for (level, name) in ["a", "b", "c"].into_iter().enumerate() {
            let point = Point::Level(name.to_owned());
            let place = narrow.points.features[kind].iter().position(|other| *other == point).unwrap();
            for distance in 0..2 {
                let truth = planted.kinds[level][distance];
                let holds = |intervals: &Intervals| {
                    let band = intervals.products[kind][place][distance][0];
                    band.low <= truth && truth <= band.high
                };
                all += 1;
                held += usize::from(holds(&narrow));
                inside &= holds(&wide);
            }
        }
        simultaneous += usize::from(inside);
        let summary = model.record().summary.as_ref().unwrap();
        assert!(summary.terms[kind].p_value.unwrap() < 1e-6, "{:?}", summary.terms[kind]);
        wrong += usize::from(summary.terms[1 - kind].is_significant() == Some(true));
        let shares: f64 = summary.terms.iter().map(|term| term.edf).sum();
        // All but the intercept.
        assert!((shares + 1.0 - summary.edf).abs() < 1e-3 * summary.edf, "{shares} {}", summary.edf);
    }
    assert!(held * 100 >= all * 85, "{held} of {all}");
    assert!(simultaneous >= 13, "{simultaneous} of 16");
    assert!(wrong <= 4, "an irrelevant feature was called significant {wrong} times of 16");
}

#[test]
fn simultaneous_bands_are_wider_and_bands_do_not_depend_on_threads() {
    let data = planted(WORLDS[1]).data;
    let bands = |threads: usize, simultaneous: bool| {
        let data = data.clone().with_run(&Run::default().with_threads(threads).unwrap());
        let model = penalised().fit(&data).unwrap();
        (Intervals::of_posterior(&model, simultaneous).unwrap(), model.to_bytes().unwrap())
    };
    let (narrow, bytes) = bands(1, false);
    assert_eq!((&narrow, &bytes), (&bands(3, false).0, &bands(3, false).1));
    let (wide, _) = bands(1, true);
    assert_eq!(wide, bands(3, true).0);
    let cells =
        |intervals: &Intervals| intervals.products.iter().flatten().flatten().flatten().copied().collect::<Vec<_>>();
    for (narrow, wide) in cells(&narrow).into_iter().zip(cells(&wide)) {
        assert!(wide.low <= narrow.low && wide.high >= narrow.high);
    }
    assert!(!cells(&narrow).is_empty() && narrow.products != wide.products);
}

#[test]
fn other_models_have_no_posterior() {
    let data = planted(WORLDS[0]).data;
    let model = Spec::default().epochs(3).fit(&data).unwrap();
    assert!(!model.has_posterior() && model.record().summary.is_none());
    let error = Intervals::of_posterior(&model, false).unwrap_err().to_string();
    assert!(error.contains("bootstrap"), "{error}");
}

/// A file of the same header and other tensors, its checksum made anew as the module of model files says.
fn rewritten(
    bytes: &[u8],
    change: impl FnOnce(&mut BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>, &mut String),
) -> Vec<u8> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
    let header: serde_json::Value = serde_json::from_str(&metadata.metadata().as_ref().unwrap()["gnan"]).unwrap();
    let version = header["version"].as_u64().unwrap() as u32;
    let text = &metadata.metadata().as_ref().unwrap()["gnan"];
    // The definition exactly as it was written.
    let start = text.find("\"definition\":").unwrap() + "\"definition\":".len();
    let mut definition = text[start..text.len() - 1].to_owned();
    let tensors = SafeTensors::deserialize(bytes).unwrap();
    let mut parts: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)> = tensors
        .tensors()
        .into_iter()
        .map(|(name, tensor)| (name, (tensor.dtype(), tensor.shape().to_vec(), tensor.data().to_vec())))
        .collect();
    change(&mut parts, &mut definition);
    let mut hash = Sha256::new();
    hash.update(version.to_le_bytes());
    hash.update(&definition);
    parts.values().for_each(|(_, _, bytes)| hash.update(bytes));
    let sha256: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let header = format!("{{\"version\":{version},\"sha256\":\"{sha256}\",\"definition\":{definition}}}");
    let views = parts
        .iter()
        .map(|(name, (dtype, shape, bytes))| (name.as_str(), TensorView::new(*dtype, shape.clone(), bytes).unwrap()));
    safetensors::serialize(views.collect::<Vec<_>>(), Some(HashMap::from([("gnan".to_owned(), header)]))).unwrap()
}

#[test]
fn posteriors_that_lie_are_refused() {
    let model = penalised().fit(&planted(WORLDS[2]).data).unwrap();
    let bytes = model.to_bytes().unwrap();
    let same = rewritten(&bytes, |_, _| {});
    assert!(Model::from_bytes(&same).unwrap().has_posterior());
    let set = |parts: &mut BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>, name: &str, at: usize, value: f64| {
        parts.get_mut(name).unwrap().2[8 * at..8 * at + 8].copy_from_slice(&value.to_le_bytes());
    };
    type Parts = BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>;
    type Lie<'a> = (&'a str, Box<dyn Fn(&mut Parts, &mut String) + 'a>);
    let lies: Vec<Lie<'_>> = vec![
        ("not finite", Box::new(move |parts, _| set(parts, "posterior.0.root", 5, f64::NAN))),
        ("not finite", Box::new(move |parts, _| set(parts, "posterior.means", 1, f64::INFINITY))),
        ("below 0", Box::new(move |parts, _| set(parts, "posterior.noise", 0, -1.0))),
        ("posterior.means", Box::new(|parts, _| drop(parts.remove("posterior.means")))),
        ("posterior.noise", Box::new(|parts, _| drop(parts.remove("posterior.noise")))),
        ("posterior.0.effects", Box::new(|parts, _| drop(parts.remove("posterior.0.root")))),
        (
            "posterior.0.root",
            Box::new(|parts, _| {
                let root = parts.get_mut("posterior.0.root").unwrap();
                (root.1, root.2) = (vec![root.1[0] - 1], root.2[8..].to_vec());
            }),
        ),
        ("F64", Box::new(|parts, _| parts.get_mut("posterior.means").unwrap().0 = Dtype::I64)),
        (
            "do not belong",
            Box::new(|parts, _| {
                let copy = parts["posterior.noise"].clone();
                parts.insert("posterior.9.root".to_owned(), copy);
            }),
        ),
        ("summary", Box::new(|_, definition| *definition = definition.replacen("\"p_value\":", "\"p_value\":7", 1))),
        ("summary", Box::new(|_, definition| *definition = definition.replacen("\"edf\":", "\"edf\":-", 2))),
        (
            "summary",
            Box::new(|_, definition| *definition = definition.replacen("\"importance\":[", "\"importance\":[0.1,", 1)),
        ),
    ];
    for (word, lie) in lies {
        let error = Model::from_bytes(&rewritten(&bytes, |parts, definition| lie(parts, definition))).unwrap_err();
        assert!(error.to_string().contains(word), "{word}: {error}");
    }
    // A posterior in a model that has no coefficients.
    let gradient = Spec::default().epochs(2).fit(&planted(WORLDS[2]).data).unwrap().to_bytes().unwrap();
    let taken = SafeTensors::deserialize(&bytes).unwrap();
    let taken = taken.tensor("posterior.means").unwrap();
    let given = rewritten(&gradient, |parts, _| {
        parts.insert("posterior.means".to_owned(), (Dtype::F64, taken.shape().to_vec(), taken.data().to_vec()));
    });
    assert!(Model::from_bytes(&given).unwrap_err().to_string().contains("posterior"));
    // Cut anywhere, or changed anywhere.
    for length in (0..bytes.len()).step_by(97) {
        assert!(Model::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    for place in (0..bytes.len()).step_by(101) {
        let mut changed = bytes.clone();
        changed[place] ^= 0x10;
        assert!(Model::from_bytes(&changed).is_err(), "{place}");
    }
}
