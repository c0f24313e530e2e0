//! Selection: features that say nothing are switched off exactly, by gradient descent or by the marginal likelihood, and the model
//! does without them.

mod common;
mod oracle;

use common::{CaseShape, FeaturePlan, class_column, dataset, random_case, random_graph, random_values};
use gnan::files::{Column, Values};
use gnan::internals::random::Stream;
use gnan::spec::{CurveChoice, FitMethod, LevelChoice, Selection};
use gnan::{Dataset, Metric, Model, Run, Spec};
use oracle::{Case, Value};

/// A ring of people with twelve numbers and two categories each; one number and one category say which class they are in.
fn town() -> (Case, Dataset) {
    let mut random = Stream::named(8, "selection", 0);
    let plan = |name: String, kind, distinct| FeaturePlan { name, kind, missing: 0.0, distinct };
    let mut plans: Vec<FeaturePlan> = (0..12).map(|k| plan(format!("number{k}"), "continuous", 0)).collect();
    plans.extend((0..2).map(|k| plan(format!("category{k}"), "categorical", 3)));
    let mut case = random_case(&mut random, CaseShape { graph_task: false, graphs: 1, nodes: [1, 1] }, &plans);
    (case.directed, case.graphs) = (false, vec![random_graph(&mut random, 400)]);
    for (feature, plan) in case.features.iter_mut().zip(&plans) {
        feature.values = random_values(&mut random, plan, 400);
    }
    let number = |node: usize| if let Value::Number(x) = case.features[3].values[node] { x } else { 0.0 };
    let of_category = |node: usize| case.features[12].values[node] == case.features[12].values[0];
    let says = |node: usize| 2.0 * number(node) + if of_category(node) { 3.0 } else { -3.0 };
    let classes: Vec<Option<usize>> =
        (0..400).map(|node| Some(usize::from(says(node) + 0.5 * random.normal() > 0.0))).collect();
    let data = dataset(&case, vec![class_column("target", 2, &classes)]);
    (case, data)
}

fn quick() -> Spec {
    Spec::default().hidden(16).layers(2).learning_rate(0.01).epochs(150)
}

fn training(select: Selection) -> Spec {
    quick().select(select)
}

#[test]
fn a_path_leaves_the_features_that_count() {
    let (_, data) = town();
    let model = training(Selection::Path).fit(&data).expect("a model");
    let record = &model.definition().record;
    let names: Vec<&str> = model.definition().learned.features.iter().map(|feature| feature.name.as_str()).collect();
    assert!(names.contains(&"number3") && names.contains(&"category0"), "{names:?}");
    assert!(names.len() <= 6, "{names:?}");
    assert_eq!(names.len() + record.removed.len(), 14);
    assert!(record.selection.len() > 2 && record.selection[0].features == 14, "{:?}", record.selection);
    assert!(record.selection.iter().any(|step| step.features == names.len()));
    assert!(record.selection.windows(2).all(|pair| pair[0].strength < pair[1].strength));
    let accuracy = |model: &Model| model.evaluate(&data).expect("metrics").get(Metric::Accuracy).expect("accuracy");
    let all = quick().fit(&data).expect("a model");
    assert!(accuracy(&model) > accuracy(&all) - 0.03, "{} {}", accuracy(&model), accuracy(&all));

    // The file remembers, and new data need not have what was removed.
    let model = Model::from_bytes(&model.to_bytes().expect("bytes")).expect("a model");
    let kept: Vec<bool> = data.features().iter().map(|feature| names.contains(&feature.name.as_str())).collect();
    let fewer = data.with_features(&kept);
    assert_eq!(fewer.features().len(), names.len());
    assert_eq!(model.outputs_on(&fewer).expect("outputs").values, model.outputs_on(&data).expect("outputs").values);
    assert!(model.explain(&fewer, 0).expect("an explanation").adds_up());
}

#[test]
fn a_path_is_the_same_on_any_number_of_threads() {
    let (_, data) = town();
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| training(Selection::Path).fit(&data).expect("a model").to_bytes().expect("bytes"))
    };
    assert!(bytes(1) == bytes(3));
}

#[test]
fn strengths_that_make_no_sense_and_mixed_wishes_are_refused() {
    let (_, data) = town();
    let refused = |training: Spec, words: &str| {
        let error = training.fit(&data).expect_err("refused").to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(training(Selection::Strength(0.0)), "select cannot be 0");
    refused(training(Selection::Strength(1e9)), "removes no feature, or all of them");
    refused(training(Selection::Path).feature_pairs(2), "plain models");
    refused(training(Selection::Path).own_only(vec!["number1".to_owned()]), "rules");
    let nothing = data.subset(&[]);
    let error =
        training(Selection::Path).fit_watched(&data, Some(&nothing), &mut |_| std::ops::ControlFlow::Continue(()));
    assert!(error.expect_err("refused").to_string().contains("nothing to validate"));
}

/// A ring of people with numbers and categories; of those some decide a quantity, at distance 0 or 1, and the others are chance.
fn village(seed: u64) -> Dataset {
    village_with(seed, 1.0)
}

/// The same with effects that are larger or smaller.
fn village_with(seed: u64, effect: f64) -> Dataset {
    let mut random = Stream::named(seed, "selection by likelihood", 0);
    let plan = |name: String, kind, distinct| FeaturePlan { name, kind, missing: 0.0, distinct };
    let mut plans: Vec<FeaturePlan> = (0..10).map(|k| plan(format!("number{k}"), "continuous", 0)).collect();
    plans.extend((0..4).map(|k| plan(format!("category{k}"), "categorical", 3)));
    let mut case = random_case(&mut random, CaseShape { graph_task: false, graphs: 1, nodes: [1, 1] }, &plans);
    (case.directed, case.graphs) = (false, vec![random_graph(&mut random, 300)]);
    for (feature, plan) in case.features.iter_mut().zip(&plans) {
        feature.values = random_values(&mut random, plan, 300);
    }
    let number = |k: usize, node: usize| if let Value::Number(x) = case.features[k].values[node] { x } else { 0.0 };
    let of_category = |node: usize| case.features[11].values[node] == case.features[11].values[0];
    let says = |node: usize| number(2, node) + number(5, node).abs() + if of_category(node) { 1.0 } else { -1.0 };
    let target = (0..300).map(|node| effect * says(node) + 0.5 * random.normal()).collect();
    dataset(&case, vec![Column::new("target", Values::Numbers(target))])
}

fn by_likelihood() -> Spec {
    let mut spec = Spec::default().hop_cap(1).curves(CurveChoice::Linear).select(Selection::Path);
    spec.fit.level = LevelChoice::One;
    spec
}

#[test]
fn the_marginal_likelihood_leaves_the_features_that_count() {
    let mut left_of_chance = 0;
    for seed in 0..4 {
        let data = village(seed);
        let model = by_likelihood().fit(&data).expect("a model");
        assert_eq!(model.definition().spec.fit.method, FitMethod::Penalised);
        let model = Model::from_bytes(&model.to_bytes().expect("bytes")).expect("a model");
        let record = model.record();
        let names: Vec<&str> =
            model.definition().learned.features.iter().map(|feature| feature.name.as_str()).collect();
        let counts = ["number2", "number5", "category1"];
        assert!(counts.iter().all(|name| names.contains(name)), "{seed}: {names:?}");
        left_of_chance += names.len() - counts.len();
        assert_eq!(names.len() + record.removed.len(), 14, "{seed}");
        assert!(record.removed.iter().all(|name| !names.contains(&name.as_str())));
        assert!(record.selection.len() > 1 && record.selection[0].features == 14, "{:?}", record.selection);
        assert_eq!(record.selection.last().map(|step| step.features), Some(names.len()));

        // New data need not have what was removed.
        let kept: Vec<bool> = data.features().iter().map(|feature| names.contains(&feature.name.as_str())).collect();
        let fewer = data.with_features(&kept);
        assert_eq!(model.outputs_on(&fewer).expect("outputs").values, model.outputs_on(&data).expect("outputs").values);
        assert!(model.explain(&fewer, 0).expect("an explanation").adds_up());
        // What is left is a model like any other.
        let plain = Spec { model: Default::default(), ..by_likelihood() }.method(FitMethod::Penalised);
        let plain = plain.fit(&fewer).expect("a model");
        let outputs = |model: &Model| model.outputs_on(&fewer).expect("outputs").values;
        let furthest = outputs(&plain).iter().zip(outputs(&model)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(furthest < 0.2, "{seed}: {furthest}");
    }
    // 11 features of each are chance.
    assert!(left_of_chance <= 8, "{left_of_chance} of 44");
}

#[test]
fn a_target_of_chance_leaves_next_to_nothing() {
    let data = village_with(1, 0.0);
    let model = by_likelihood().fit(&data).expect("a model");
    assert!(model.definition().learned.features.len() <= 3);
    assert!(model.explain(&data, 0).expect("an explanation").adds_up());
}

#[test]
fn a_penalised_selection_is_the_same_on_any_number_of_threads() {
    let data = village(2);
    let bytes = |threads: usize| {
        let data = data.clone().with_run(&Run::default().with_threads(threads).expect("threads"));
        by_likelihood().fit(&data).expect("a model").to_bytes().expect("bytes")
    };
    assert!(bytes(1) == bytes(3));
}

#[test]
fn a_penalised_fit_has_no_strength_and_removes_no_feature_with_a_rule() {
    let penalised = by_likelihood().method(FitMethod::Penalised);
    let error = penalised.clone().select(Selection::Strength(0.1)).check().expect_err("refused").to_string();
    assert!(error.contains("no strength of selection") && error.contains("gradient"), "{error}");
    let data = village(0);
    let error = penalised.own_only(vec!["number1".to_owned()]).fit(&data).expect_err("refused").to_string();
    assert!(error.contains("selection may remove"), "{error}");
    // With a strength, gradient descent is what is left open.
    let spec = quick().epochs(2).select(Selection::Strength(1e9));
    assert!(spec.fit(&data).expect_err("refused").to_string().contains("removes no feature"));
    // Where coefficients outnumber items by far, strengths are those of distances.
    let many = Spec::default().method(FitMethod::Penalised).choose(false).curves(CurveChoice::Linear);
    let error = many.select(Selection::Path).fit(&data);
    let error = error.expect_err("refused").to_string();
    assert!(error.contains("items are weighed"), "{error}");
}
