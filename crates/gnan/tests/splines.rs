//! Splines and the rules they keep: trained models against the oracle, promises at every place, files that lie.

mod common;
mod oracle;

use std::ops::ControlFlow;

use common::{CaseShape, FeaturePlan, class_column, dataset, random_case};
use gnan::explain::{Explainer, FeatureValue};
use gnan::files::{Column, Values};
use gnan::internals::random::Stream;
use gnan::internals::shape::ShapeKind;
use gnan::internals::train::Retraining;
use gnan::model::Definition;
use gnan::spec::{Curvature, LogitChoice, PoolChoice, RhoChoice, Trend};
use gnan::{Dataset, Model, Spec};
use oracle::{Case, FileModel};

fn plan() -> Vec<FeaturePlan> {
    let plan = |name: &str, kind, missing, distinct| FeaturePlan { name: name.to_owned(), kind, missing, distinct };
    vec![
        plan("rising", "continuous", 0.0, 0),
        plan("bent", "continuous", 0.0, 0),
        plan("small", "continuous", 0.2, 0),
        plan("few", "continuous", 0.1, 3),
        plan("count", "sparse", 0.1, 3),
        plan("flag", "binary", 0.0, 0),
        plan("colour", "categorical", 0.1, 3),
    ]
}

/// What the data are labelled with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Labels {
    Number,
    TwoNumbers,
    Classes(usize),
}

/// Small graphs whose labels are noise: nothing in them keeps to a rule.
fn data(seed: u64, graph_task: bool, labels: Labels) -> (Case, Dataset) {
    let mut random = Stream::named(seed, "splines", 0);
    let mut case = random_case(&mut random, CaseShape { graph_task, graphs: 1, nodes: [1, 1] }, &plan());
    case.graphs = (0..24).map(|k| common::random_graph(&mut random, 1 + k % 9)).collect();
    let nodes = case.nodes();
    for (feature, plan) in case.features.iter_mut().zip(plan()) {
        feature.values = common::random_values(&mut random, &plan, nodes);
    }
    let mut numbers = |name: &str| {
        let values = (0..case.items()).map(|_| 50.0 * random.normal() + 7.0).collect();
        Column::new(name, Values::Numbers(values))
    };
    let targets = match labels {
        Labels::Number => vec![numbers("target")],
        Labels::TwoNumbers => vec![numbers("first"), numbers("second")],
        Labels::Classes(count) => {
            let classes: Vec<Option<usize>> =
                (0..case.items()).map(|item| Some((item * 7 + item / 3) % count)).collect();
            vec![class_column("target", count, &classes)]
        }
    };
    let data = dataset(&case, targets);
    (case, data)
}

fn splines() -> Spec {
    let spline = ShapeKind::Spline;
    Spec::default().shape(spline).rho_shape(spline).learning_rate(0.02).epochs(40)
}

/// Rules that noise would break at once.
fn ruled(rho: RhoChoice) -> Spec {
    let rules =
        ["rising: up", "bent: convex", "small: bounded 0.4, down", "few: concave, up", "count: up", "flag: down"];
    Spec::default()
        .constrain(rules.iter().map(|rule| rule.parse().unwrap()).collect())
        .learning_rate(0.05)
        .rho(rho)
        .epochs(60)
}

#[test]
fn trained_splines_agree_with_the_oracle_and_explain_themselves() {
    for (index, labels) in (0u64..).zip([Labels::Number, Labels::TwoNumbers, Labels::Classes(2), Labels::Classes(4)]) {
        for graph_task in [false, true] {
            let (case, data) = data(index, graph_task, labels);
            for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
                let mixed = [(true, true), (true, false), (false, true)][(index % 3) as usize];
                let kind = |spline: bool| if spline { ShapeKind::Spline } else { ShapeKind::Network };
                let mut training = splines().shape(kind(mixed.0)).rho_shape(kind(mixed.1)).hidden(16).rho(rho);
                training.fit.batch = [None, Some(5)][index as usize % 2];
                let bytes = training.fit(&data).unwrap().to_bytes().unwrap();
                let model = Model::from_bytes(&bytes).unwrap();
                assert_eq!(model.to_bytes().unwrap(), bytes, "what is read is what was written");
                let found = model.outputs_on(&data).unwrap();
                let expected = FileModel::read(&bytes).outputs(&case);
                for (found, expected) in found.values.iter().zip(expected.iter().flatten()) {
                    let tolerated = 1e-5 * expected.magnitude.max(1.0);
                    assert!((f64::from(*found) - expected.value).abs() <= tolerated, "{labels:?} {found} {expected:?}");
                }
                let explainer = Explainer::new(&model, &data).unwrap();
                assert!(explainer.explain(&[0, 1, 2, 3, 4]).unwrap().iter().all(gnan::Explanation::adds_up));
            }
        }
    }
}

/// Every place worth looking at: knots, a dense grid between them, and far beyond.
fn places(definition: &Definition, k: usize) -> Vec<f64> {
    let feature = &definition.learned.features[k];
    let (scale, basis) = (feature.scale.unwrap(), feature.spline.as_ref().unwrap());
    let width = scale.max - scale.min;
    let mut places: Vec<f64> = basis.knots.iter().map(|z| z * scale.scale + scale.shift).collect();
    places.extend((-300..=700).map(|step| scale.min + width * f64::from(step) / 400.0));
    places.sort_by(f64::total_cmp);
    places
}

/// No rule is broken anywhere, by the canonical form and without the certificates' own code.
fn assert_kept(model: &Model) {
    let (definition, canonical) = (model.definition(), model.canonical());
    let rhos = canonical.rhos();
    let layout = definition.layout();
    for (k, feature) in definition.learned.features.iter().enumerate().filter(|(_, feature)| feature.rules.promise()) {
        let rho = &rhos[layout.features[k].first_rho];
        if feature.rules.need_sign() {
            assert!(rho.values.iter().flatten().all(|rho| *rho >= 0.0), "{}: {rho:?}", feature.name);
        }
        let places = places(definition, k);
        for c in 0..model.outputs() {
            let at = |x: f64| canonical.shape(k, FeatureValue::Number(x)).unwrap()[c];
            let values: Vec<f64> = places.iter().map(|x| at(*x)).collect();
            let size = values.iter().fold(1e-6f64, |size, value| size.max(value.abs()));
            let sign = |yes: bool| if yes { 1.0 } else { -1.0 };
            if let Some(direction) = feature.rules.direction {
                let sign = sign(direction == Trend::Up);
                let rises = values.windows(2).all(|pair| sign * (pair[1] - pair[0]) >= -1e-9 * size);
                assert!(rises, "{} {:?}", feature.name, feature.rules);
            }
            if let Some(curvature) = feature.rules.curvature {
                let sign = sign(curvature == Curvature::Convex);
                for (x, y) in places.windows(3).zip(values.windows(3)).filter(|(x, _)| x[2] - x[0] > 1e-9) {
                    let line = y[0] + (y[2] - y[0]) * (x[1] - x[0]) / (x[2] - x[0]);
                    assert!(sign * (line - y[1]) >= -1e-9 * size, "{} at {}", feature.name, x[1]);
                }
            }
            if let Some(bound) = feature.rules.bound {
                let missing = canonical.shape(k, FeatureValue::Missing).map_or(0.0, |values| values[c]);
                assert!(
                    values.iter().chain([&missing]).all(|value| value.abs() <= bound),
                    "{}: {values:?}",
                    feature.name
                );
                let effect = |x: f64, slot: usize| canonical.product(k, FeatureValue::Number(x), slot)[c].abs();
                let slots = 0..canonical.slots();
                assert!(places.iter().all(|x| slots.clone().all(|slot| effect(*x, slot) <= bound)), "{}", feature.name);
            }
        }
    }
    if definition.spec.model.rho_monotone {
        for rho in &rhos {
            let falls =
                rho.values.windows(2).all(|pair| pair[0].iter().zip(&pair[1]).all(|(near, far)| *near >= far - 1e-12));
            assert!(falls && rho.values.iter().flatten().all(|rho| *rho >= 0.0), "{rho:?}");
        }
    }
    let certificates = model.check_certificates();
    assert!(certificates.iter().all(|certificate| certificate.holds), "{certificates:#?}");
    assert_eq!(certificates, definition.record.certificates);
}

#[test]
fn rules_are_kept_everywhere() {
    for seed in 0..3 {
        for (graph_task, labels) in
            [(true, Labels::Number), (false, Labels::Number), (true, Labels::Classes(2)), (false, Labels::TwoNumbers)]
        {
            let (_, data) = data(10 + seed, graph_task, labels);
            for (rho, rho_monotone) in [(RhoChoice::Shared, false), (RhoChoice::PerFeature, true)] {
                let mut training = ruled(rho).rho_monotone(rho_monotone);
                training.fit.batch = [None, Some(6)][seed as usize % 2];
                let model = training.fit(&data).unwrap();
                assert_eq!(model.definition().record.certificates.len(), 8 + usize::from(rho_monotone));
                assert_eq!(model.definition().learned.shape, ShapeKind::Spline);
                assert_kept(&model);
                assert_kept(&Model::from_bytes(&model.to_bytes().unwrap()).unwrap());
            }
        }
    }
}

/// A source that counts twice, through two lenses, counts for no more than it may.
#[test]
fn bounds_hold_through_several_lenses() {
    let (_, data) = data(15, true, Labels::Number);
    let model = ruled(RhoChoice::Shared).pool(PoolChoice::Both).fit(&data).unwrap();
    assert!(model.check_certificates().iter().all(|certificate| certificate.holds));
}

/// Without the rules the same data break them: the tests above look at something.
#[test]
fn without_rules_noise_breaks_them() {
    let (_, data) = data(10, true, Labels::Number);
    let free = ruled(RhoChoice::Shared).constrain(Vec::new());
    let model = free.shape(ShapeKind::Spline).rho_shape(ShapeKind::Spline).fit(&data).unwrap();
    let mut definition = model.definition().clone();
    for feature in &mut definition.learned.features {
        let rules = ruled(RhoChoice::Shared).model.constrain;
        feature.rules = rules.iter().find(|r| r.feature == feature.name).map_or_else(Default::default, |r| r.rules);
    }
    let found = Model::from_parts(definition, model.parameters().clone()).certify();
    assert!(found.iter().filter(|certificate| !certificate.holds).count() >= 4, "{found:#?}");
}

/// A larger value of a monotone feature never lowers a prediction.
#[test]
fn predictions_are_monotone() {
    let (case, data) = data(20, true, Labels::Number);
    let model = ruled(RhoChoice::Shared).fit(&data).unwrap();
    let file = FileModel::read(&model.to_bytes().unwrap());
    let before = file.outputs(&case);
    for (feature, sign) in [("rising", 1.0), ("small", -1.0), ("count", 1.0)] {
        let mut moved = case.clone();
        let column = moved.features.iter_mut().find(|column| column.name == feature).unwrap();
        for value in &mut column.values {
            if let oracle::Value::Number(x) = value {
                *x += 0.7;
            }
        }
        for (before, after) in before.iter().flatten().zip(file.outputs(&moved).iter().flatten()) {
            assert!(sign * (after.value - before.value) >= -1e-9 * before.magnitude.max(1.0), "{feature}");
        }
    }
}

#[test]
fn replicates_keep_the_rules_too() {
    for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
        let (_, data) = data(30, true, Labels::Number);
        let model = ruled(rho).rho_monotone(true).fit(&data).unwrap();
        let retraining = Retraining::new(&model, &data).unwrap();
        let replicates = retraining.fit(0..3, 4, &mut |_, _| ControlFlow::Continue(())).unwrap().unwrap();
        for replicate in &replicates {
            assert_kept(replicate);
        }
        assert_ne!(replicates[0].to_bytes().unwrap(), replicates[1].to_bytes().unwrap());
    }
}

#[test]
fn threads_change_nothing() {
    let (_, data) = data(40, false, Labels::Number);
    let in_pool = |threads: usize, training: &Spec| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| training.fit(&data).unwrap().to_bytes().unwrap())
    };
    for training in [splines().epochs(5), ruled(RhoChoice::PerFeature).epochs(5)] {
        assert_eq!(in_pool(1, &training), in_pool(4, &training));
    }
}

#[test]
fn a_tampered_file_is_found_out() {
    let (_, data) = data(50, true, Labels::Number);
    let model = ruled(RhoChoice::Shared).rho_monotone(true).fit(&data).unwrap();
    let reread = |definition: Definition, change: &dyn Fn(&mut gnan::internals::model::Parameters)| {
        let mut parameters = model.parameters().clone();
        // Whatever noise made of rho, here it differs from zero.
        let rho = parameters.rhos.block_mut(0);
        let len = rho.len() as f32;
        rho.iter_mut().enumerate().for_each(|(place, rho)| *rho = place as f32 / len);
        change(&mut parameters);
        let model = Model::from_parts(definition, parameters);
        Model::from_bytes(&model.to_bytes().unwrap()).unwrap().check_certificates()
    };
    let broken = |found: Vec<gnan::model::Certificate>| -> Vec<String> {
        found.into_iter().filter(|found| !found.holds).map(|found| found.subject).collect()
    };
    let same = model.definition().clone();
    assert!(broken(reread(same.clone(), &|_| {})).is_empty());
    // The first coefficient above the others: "rising" falls at first.
    assert_eq!(broken(reread(same.clone(), &|p| p.shapes.block_mut(0)[0] += 1e3)), ["rising"]);
    // A missing value that says too much.
    let small = same.learned.features.iter().position(|feature| feature.name == "small").unwrap();
    let first = same.layout().features[small].first_value;
    assert_eq!(broken(reread(same.clone(), &|p| p.values[first] = 1e3)), ["small"]);
    let mut mean = same.clone();
    mean.learned.features[small].mean_effect = vec![1e3];
    assert_eq!(broken(reread(mean, &|_| {})), ["small"]);
    // Unreachable nodes count most, and negatively.
    let found = broken(reread(same.clone(), &|p| p.rhos.block_mut(0)[0] = -1.5));
    assert!(found.contains(&"rho".to_owned()) && found.contains(&"rising".to_owned()), "{found:?}");
    // The rule is gone, the claim stays.
    let mut claims = same.clone();
    claims.learned.features[0].rules = Default::default();
    assert_eq!(broken(reread(claims, &|_| {})), ["rising"]);
    let mut grows = same.clone();
    grows.learned.features[small].spline.as_mut().unwrap().flat = false;
    assert_eq!(broken(reread(grows, &|p| p.shapes.block_mut(small)[0] += 1e-2)), ["small"]);
}

#[test]
fn files_that_lie_about_knots_are_refused() {
    let (_, data) = data(60, true, Labels::Number);
    let model = splines().epochs(2).fit(&data).unwrap();
    type Lie = fn(&mut Definition);
    let lies: [Lie; 11] = [
        |d| d.learned.features[0].spline.as_mut().unwrap().knots.reverse(),
        |d| d.learned.features[0].spline.as_mut().unwrap().knots[1] = f64::MAX,
        |d| d.learned.features[0].spline.as_mut().unwrap().degree = 9,
        |d| d.learned.features[0].spline.as_mut().unwrap().degree = 2,
        |d| d.learned.features[0].rules.bound = Some(-1.0),
        |d| d.learned.features[6].spline = Some(Default::default()),
        |d| d.learned.rho_spline.as_mut().unwrap().knots[0] = -1.0,
        |d| d.learned.rho_scale.scale = 2.0,
        |d| d.record.resolved.fit.smooth = Some(-1.0),
        |d| (d.spec.model.readout, d.spec.model.rho_monotone) = (true, true),
        |d| (d.learned.rho_spline, d.spec.model.rho_monotone) = (None, true),
    ];
    for (index, lie) in lies.into_iter().enumerate() {
        let mut definition = model.definition().clone();
        lie(&mut definition);
        let bytes = Model::from_parts(definition, model.parameters().clone()).to_bytes();
        assert!(bytes.and_then(|bytes| Model::from_bytes(&bytes)).is_err(), "lie {index}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_any_work() {
    let (_, numbers) = data(70, true, Labels::Number);
    let (_, classes) = data(70, true, Labels::Classes(3));
    let (_, two) = data(70, true, Labels::Classes(2));
    let asked = |rule: &str| Spec::default().constrain(vec![rule.parse().unwrap()]);
    let refused = |training: Spec, data: &Dataset, word: &str| {
        let error = training.fit(data).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    let network = ShapeKind::Network;
    refused(asked("nowhere: up"), &numbers, "nowhere");
    refused(asked("colour: up"), &numbers, "categorical");
    refused(asked("rising: up"), &classes, "classes");
    refused(asked("rising: up").shape(network), &numbers, "networks");
    refused(asked("rising: up").rho_shape(network), &numbers, "networks");
    refused(Spec::default().rho_shape(network).rho_monotone(true), &numbers, "networks");
    refused(asked("rising: up").logits(LogitChoice::Two), &two, "two logits");
    refused(splines().dropout(0.5), &numbers, "dropout");
    refused(splines().smooth(-1.0), &numbers, "smooth cannot be -1");
    let twice = vec!["rising: up".parse().unwrap(), "rising: convex".parse().unwrap()];
    refused(Spec::default().constrain(twice), &numbers, "twice");
    let fits = asked("rising: smooth 3").hidden(16).epochs(1).fit(&classes).unwrap();
    assert_eq!(
        (fits.definition().learned.shape, fits.definition().rho_shape()),
        (ShapeKind::Spline, ShapeKind::Network)
    );
}

/// The stronger the penalty, the straighter the curve.
#[test]
fn smoothness_straightens_curves() {
    let (_, data) = data(80, true, Labels::Number);
    let bend = |training: Spec| {
        let curve = training.epochs(400).fit(&data).unwrap().canonical().shape_curve(0).unwrap();
        let largest = curve.values.iter().flatten().fold(0.0f64, |largest, value| largest.max(value.abs()));
        curve.bends.iter().flatten().flatten().fold(0.0f64, |bend, x| bend.max(x.abs())) / largest.max(1e-12)
    };
    let calm = splines().learning_rate(0.002).weight_decay(0.0);
    let strength = |smooth: f64| calm.clone().smooth(smooth);
    let free = bend(strength(0.0));
    let smooth = bend(strength(3.0));
    let one = bend(strength(0.0).constrain(vec!["rising: smooth 3".parse().unwrap()]));
    assert!(smooth < 0.3 * free && one < 0.3 * free, "{free} {smooth} {one}");
}
