//! Effects of numbers in penalised fits: smooth curves are cubic splines, steps are found, and few values stay as they are.

use std::path::Path;

use gnan::explain::FeatureValue;
use gnan::internals::random::Stream;
use gnan::model::FeatureSchema;
use gnan::spec::{CurveChoice, FitMethod, LevelChoice};
use gnan::{Dataset, DatasetOptions, Metric, Model, Spec};

fn penalised(curves: CurveChoice) -> Spec {
    Spec::default().method(FitMethod::Penalised).level(LevelChoice::One).curves(curves)
}

/// Rings of nodes with a number each; the target is the sum over nodes of a function of it, and of noise.
fn rings(seed: u64, graphs: usize, mut number: impl FnMut(&mut Stream) -> f64, effect: impl Fn(f64) -> f64) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Stream::named(seed, "rings", 0);
    let (mut nodes, mut edges) = ("graph_id,node_id,size\n".to_owned(), "graph_id,source,target\n".to_owned());
    let mut table = "graph_id,y\n".to_owned();
    for graph in 0..graphs {
        let count = 4 + random.below(6);
        let mut y = 0.3 * random.normal();
        for node in 0..count {
            let size = number(&mut random);
            y += effect(size);
            nodes.push_str(&format!("g{graph},n{node},{size}\n"));
            edges.push_str(&format!("g{graph},n{node},n{}\n", (node + 1) % count));
        }
        table.push_str(&format!("g{graph},{y}\n"));
    }
    for (name, text) in [("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", table)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    open(folder.path())
}

fn open(folder: &Path) -> Dataset {
    let options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
    Dataset::open_with(folder, &options).unwrap()
}

fn size(model: &Model) -> &FeatureSchema {
    &model.learned().features[0]
}

/// The mean square difference of the effects of own values from a function, both less their means over evenly spaced numbers.
fn error(model: &Model, from: f64, to: f64, truth: impl Fn(f64) -> f64) -> f64 {
    let canonical = model.canonical();
    let points: Vec<f64> = (0..200).map(|place| from + (to - from) * (f64::from(place) + 0.5) / 200.0).collect();
    let effect = |x: &f64| canonical.effects(0, FeatureValue::Number(*x)).iter().map(|row| row[0]).sum::<f64>();
    let gaps: Vec<f64> = points.iter().map(|x| effect(x) - truth(*x)).collect();
    let mean = gaps.iter().sum::<f64>() / 200.0;
    gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 200.0
}

fn uniform(random: &mut Stream) -> f64 {
    10.0 * random.uniform()
}

/// Value, slope and second derivative at a place of the cubic through four points, by Newton's divided differences.
fn cubic(points: &[[f64; 2]], x: f64) -> [f64; 3] {
    let at = |k: usize| points[k][0];
    let mut differences: Vec<f64> = points.iter().map(|point| point[1]).collect();
    for order in 1..4 {
        for k in (order..4).rev() {
            differences[k] = (differences[k] - differences[k - 1]) / (at(k) - at(k - order));
        }
    }
    let [a, b, c] = [x - at(0), x - at(1), x - at(2)];
    let [d0, d1, d2, d3] = [differences[0], differences[1], differences[2], differences[3]];
    [
        d0 + d1 * a + d2 * a * b + d3 * a * b * c,
        d1 + d2 * (a + b) + d3 * (a * b + a * c + b * c),
        2.0 * d2 + 2.0 * d3 * (a + b + c),
    ]
}

/// In every interval the rows of the table lie on one cubic, and cubics meet with the same slope and the same second derivative.
#[test]
fn smooth_curves_are_cubic_splines() {
    let model = penalised(CurveChoice::Smooth).fit(&rings(1, 150, uniform, |x| (0.9 * x).sin())).unwrap();
    let knots = size(&model).effect_knots.as_ref().unwrap();
    let spline = knots.spline.as_ref().unwrap();
    assert!(knots.at.len() > 2 * spline.knots.len() && knots.at.len() <= 48, "{}", knots.at.len());
    let canonical = model.canonical();
    let slots = canonical.effects(0, FeatureValue::Number(1.0)).len();
    let mut met = 0;
    for slot in 0..slots {
        let effect = |x: f64| canonical.effects(0, FeatureValue::Number(x))[slot][0];
        let pieces: Vec<Vec<[f64; 2]>> = (spline.knots.windows(2))
            .map(|ends| {
                let within = knots.at.iter().filter(|x| (ends[0]..=ends[1]).contains(*x));
                within.map(|x| [*x, effect(*x)]).collect()
            })
            .collect();
        let largest = knots.at.iter().map(|x| effect(*x).abs()).fold(0.0, f64::max);
        for (pair, knot) in pieces.windows(2).zip(&spline.knots[1..]) {
            let [left, right] = [&pair[0], &pair[1]].map(|piece| cubic(piece, *knot));
            let width = pair[0][1][0] - pair[0][0][0];
            // Parameters are 32-bit numbers, and a second difference of them has four of their errors.
            for (order, (left, right)) in left.into_iter().zip(right).enumerate() {
                let gap = (left - right).abs() * width.powi(order as i32);
                assert!(gap <= 1e-4 * largest, "slot {slot}, order {order}, at {knot}: {left} {right}");
                met += 1;
            }
        }
    }
    assert!(met > 60);
}

/// What changes gradually is found more exactly by a smooth curve, what jumps by a linear one; and training items tell which.
#[test]
fn training_items_choose_how_curves_run() {
    let smooth = |x: f64| 2.0 * (0.9 * x).sin();
    let step = |x: f64| if x > 5.0 { 1.5 } else { -1.5 };
    for seed in 0..3 {
        let data = rings(seed, 250, uniform, smooth);
        let [as_smooth, as_linear] = [CurveChoice::Smooth, CurveChoice::Linear]
            .map(|curves| penalised(curves).choose(false).fit(&data).unwrap());
        let [of_smooth, of_linear] = [&as_smooth, &as_linear].map(|model| error(model, 0.2, 9.8, smooth));
        assert!(of_smooth < of_linear, "{of_smooth} {of_linear}");
        assert!(size(&as_linear).effect_knots.as_ref().unwrap().spline.is_none());
        let chosen = penalised(CurveChoice::Auto).fit(&data).unwrap();
        assert_eq!(chosen.spec().fit.curves, CurveChoice::Auto);
        assert!(size(&chosen).effect_knots.as_ref().unwrap().spline.is_some());
        assert!(chosen.record().tried.iter().any(|(name, _)| name.contains("curves linear")));
        let jump = penalised(CurveChoice::Auto).fit(&rings(seed, 250, uniform, step)).unwrap();
        assert_eq!(jump.spec().fit.curves, CurveChoice::Linear, "{:?}", jump.record().tried);
    }
}

/// Numbers of few values have an effect for each of them, however curves run; a step between two neighbouring values is found.
#[test]
fn few_values_have_effects_of_their_own() {
    let step = |x: f64| if x > 5.0 { 1.0 } else { -1.0 };
    let data = rings(4, 300, |random| random.below(12) as f64, step);
    let model = penalised(CurveChoice::Smooth).fit(&data).unwrap();
    let knots = size(&model).effect_knots.as_ref().unwrap();
    assert_eq!((knots.at.len(), &knots.spline), (12, &None));
    let canonical = model.canonical();
    let effect = |x: f64| canonical.effects(0, FeatureValue::Number(x)).iter().map(|row| row[0]).sum::<f64>();
    assert!((effect(6.0) - effect(5.0) - 2.0).abs() < 0.3, "{}", effect(6.0) - effect(5.0));
    // Of more whole numbers the rows of the table are whole as well.
    let data = rings(5, 200, |random| random.below(90) as f64, |x| 0.02 * x);
    let model = penalised(CurveChoice::Smooth).fit(&data).unwrap();
    let knots = size(&model).effect_knots.as_ref().unwrap();
    assert!(knots.spline.is_some() && knots.at.iter().all(|x| x.fract() == 0.0), "{:?}", knots.at);
}

/// Explanations add up, and a file gives the same model.
#[test]
fn smooth_models_are_tables() {
    let data = rings(6, 120, uniform, |x| (x - 4.0).powi(2) / 10.0);
    let model = penalised(CurveChoice::Smooth).fit(&data).unwrap();
    assert!(size(&model).effect_knots.as_ref().unwrap().spline.is_some());
    let outputs = model.outputs_on(&data).unwrap().values;
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.outputs_on(&data).unwrap().values, outputs);
    for (position, output) in outputs.iter().enumerate().take(20) {
        let why = model.explain(&data, position).unwrap();
        assert!(why.adds_up());
        assert!((why.prediction[0] - f64::from(*output)).abs() < 1e-4, "{} {output}", why.prediction[0]);
    }
    // Beyond the values of training a curve stays what it is at their ends, and between two rows it is a line.
    let canonical = model.canonical();
    let rows = &size(&model).effect_knots.as_ref().unwrap().at;
    let effect = |x: f64| canonical.effects(0, FeatureValue::Number(x))[0][0];
    assert_eq!(effect(-1e9), effect(rows[0]));
    assert_eq!(effect(1e300), effect(rows[rows.len() - 1]));
    for pair in rows.windows(2) {
        let middle = 0.5 * (pair[0] + pair[1]);
        assert!((effect(middle) - 0.5 * (effect(pair[0]) + effect(pair[1]))).abs() < 1e-6);
    }
}

/// Values however far apart, or near each other, give finite models.
#[test]
fn extreme_numbers_have_finite_curves() {
    let far = |random: &mut Stream, scale: f64| {
        (random.normal() * scale * 10f64.powi(random.below(3) as i32)).clamp(f64::MIN, f64::MAX)
    };
    for scale in [1e-320, 1e-300, 1e-30, 1e30, 1e300, 1.7e307] {
        let data = rings(7, 60, |random| far(random, scale), |_| 0.1);
        let model = penalised(CurveChoice::Smooth).choose(false).fit(&data).unwrap();
        assert!(model.outputs_on(&data).unwrap().values.iter().all(|y| y.is_finite()), "{scale}");
        Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    }
}

/// Classes that are nearly certain: every candidate has an estimate or is left out, and what is chosen does not predict worse than
/// always the same would.
#[test]
fn nearly_certain_classes_are_fitted() {
    for seed in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Stream::named(seed, "certain", 0);
        let (mut nodes, mut edges) = ("graph_id,node_id,x,z\n".to_owned(), "graph_id,source,target\n".to_owned());
        let mut table = "graph_id,y\n".to_owned();
        for graph in 0..200 {
            let mut sum = 0.3 * random.normal() - 0.4;
            for node in 0..3 + random.below(10) {
                let x = random.normal();
                sum += x.tanh();
                nodes.push_str(&format!("g{graph},n{node},{x:.3},{}\n", random.below(21)));
                if node > 0 {
                    edges.push_str(&format!("g{graph},n{node},n{}\n", random.below(node)));
                }
            }
            table.push_str(&format!("g{graph},{}\n", if sum > 0.0 { "p" } else { "q" }));
        }
        for (name, text) in [("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", table)] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let (train, test) = open(folder.path()).split(0.75, seed).unwrap();
        let spec = Spec::default().method(FitMethod::Penalised);
        let loss = spec.fit(&train).unwrap().evaluate(&test).unwrap().get(Metric::LogLoss).unwrap();
        assert!(loss < 0.6, "{seed}: {loss}");
    }
}
