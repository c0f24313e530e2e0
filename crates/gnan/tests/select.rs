//! Selection: features that say nothing are switched off exactly, and the model does without them.

mod common;
mod oracle;

use common::{CaseShape, FeaturePlan, class_column, dataset, random_case, random_graph, random_values};
use gnan::internals::random::Stream;
use gnan::spec::Selection;
use gnan::{Dataset, Metric, Model, Spec};
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
