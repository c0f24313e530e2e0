//! Unusual data, settings and files: each gives a sentence that says what is wrong, or a usable model; never a panic.

mod common;
mod oracle;

use std::ops::ControlFlow;

use common::model_file::{Tensor, rewritten, with_header};
use common::{class_column, dataset_for, tables};
use gnan::files::{Column, Kind, SplitPart, Task, Values};
use gnan::internals::random::Stream;
use gnan::model::Ended;
use gnan::spec::{FitMethod, RhoChoice};
use gnan::{Dataset, DatasetOptions, ErrorKind, Model, Spec};
use oracle::{Case, CaseFeature, CaseGraph, FileModel, Value};
use safetensors::tensor::Dtype;

fn numbers(name: &str, kind: &'static str, values: impl IntoIterator<Item = f64>) -> CaseFeature {
    let value = |number: f64| if number.is_nan() { Value::Missing } else { Value::Number(number) };
    CaseFeature { name: name.to_owned(), kind, values: values.into_iter().map(value).collect() }
}

fn words(name: &str, values: impl IntoIterator<Item = &'static str>) -> CaseFeature {
    let value = |word: &str| if word.is_empty() { Value::Missing } else { Value::Category(word.to_owned()) };
    CaseFeature { name: name.to_owned(), kind: "categorical", values: values.into_iter().map(value).collect() }
}

/// `count` chains of three nodes with a curve and a colour.
fn chains(count: usize) -> Case {
    let mut random = Stream::named(0, "unusual", 0);
    let graph = CaseGraph { nodes: 3, edges: vec![[0, 1], [1, 2]] };
    let colours = (0..3 * count).map(|node| ["red", "green"][node % 2]);
    Case {
        graph_task: true,
        directed: false,
        graphs: vec![graph; count],
        features: vec![
            numbers("weight", "continuous", (0..3 * count).map(|_| random.normal())),
            words("colour", colours.collect::<Vec<_>>()),
        ],
    }
}

/// Two classes in turn.
fn two_classes(items: usize) -> Vec<Column> {
    vec![class_column("target", 2, &(0..items).map(|item| Some(item % 2)).collect::<Vec<_>>())]
}

fn quantities(values: Vec<f64>) -> Vec<Column> {
    vec![Column::new("target", Values::Numbers(values))]
}

fn with_targets(case: &Case, columns: Vec<Column>) -> gnan::Result<Dataset> {
    let mut tables = tables(case);
    tables.targets = columns.iter().map(|column| column.name.clone()).collect();
    if case.graph_task { &mut tables.graph_columns } else { &mut tables.node_columns }.extend(columns);
    Dataset::from_tables(tables, &DatasetOptions::default())
}

/// A small training that takes no time.
fn quick() -> Spec {
    Spec::default().layers(2).hidden(16).epochs(5)
}

/// Fits, and demands that every output is finite and that the file can be read back.
fn fit_and_predict(training: &Spec, data: &Dataset) -> Vec<f32> {
    let model = training.fit(data).expect("a model");
    let model = Model::from_bytes(&model.to_bytes().expect("bytes")).expect("a readable file");
    let outputs = model.outputs_on(data).expect("outputs").values;
    assert_eq!(outputs.len(), data.len() * model.outputs());
    assert!(outputs.iter().all(|y| y.is_finite()), "{outputs:?}");
    outputs
}

fn message<T>(result: gnan::Result<T>) -> String {
    match result {
        Ok(_) => panic!("this should have been refused"),
        Err(error) => error.to_string(),
    }
}

// Data.

#[test]
fn one_class_only_is_refused_by_name() {
    let case = chains(4);
    let data = with_targets(&case, vec![class_column("verdict", 1, &[Some(0); 4])]).expect("data");
    let error = message(quick().fit(&data));
    assert!(error.contains("\"verdict\" has one class only: c0"), "{error}");
}

#[test]
fn a_constant_feature_is_harmless() {
    let mut case = chains(12);
    case.features.push(numbers("constant", "continuous", [0.1; 36]));
    case.features.push(numbers("zero", "sparse", [0.0; 36]));
    case.features.push(numbers("one", "binary", [1.0; 36]));
    for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
        fit_and_predict(&quick().rho(rho), &with_targets(&case, two_classes(12)).expect("data"));
    }
}

/// Structure is all there is: graphs without edges are one class, chains the other.
#[test]
fn a_model_needs_no_features() {
    for graph_task in [true, false] {
        let mut case = Case { features: Vec::new(), graph_task, ..chains(12) };
        case.graphs.iter_mut().step_by(2).for_each(|graph| graph.edges.clear());
        let per_graph = if graph_task { 1 } else { 3 };
        let classes: Vec<Option<usize>> = (0..case.items()).map(|item| Some(item / per_graph % 2)).collect();
        let data = with_targets(&case, vec![class_column("target", 2, &classes)]).expect("data");
        for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
            let training = quick().learning_rate(0.05).epochs(100).rho(rho);
            fit_and_predict(&training, &data);
            let accuracy =
                training.fit(&data).expect("a model").evaluate(&data).expect("metrics").get(gnan::Metric::Accuracy);
            assert_eq!(accuracy, Some(1.0), "graph task {graph_task}, {rho:?}");
        }
    }
}

#[test]
fn a_graph_without_nodes_gives_the_output_bias() {
    let mut case = chains(12);
    case.graphs.push(CaseGraph { nodes: 0, edges: Vec::new() });
    case.graphs.insert(0, CaseGraph { nodes: 0, edges: Vec::new() });
    let data = with_targets(&case, quantities((0..14).map(|k| k as f64 * 1.5).collect())).expect("data");
    let model = quick().fit(&data).expect("a model");
    let outputs = model.outputs_on(&data).expect("outputs");
    let bias = model.parameters().output_bias[0];
    assert!(bias != 0.0);
    assert_eq!([outputs.values[0], outputs.values[13]], [bias; 2]);
    assert!(outputs.values[1] != bias);
    fit_and_predict(&quick(), &data);
}

#[test]
fn graphs_without_nodes_alone_train_to_a_constant() {
    let graphs = vec![CaseGraph { nodes: 0, edges: Vec::new() }; 12];
    let features = vec![numbers("weight", "continuous", []), words("colour", [])];
    let case = Case { graph_task: true, directed: false, graphs, features };
    let data = with_targets(&case, quantities((0..12).map(|k| f64::from(k) + 0.5).collect())).expect("data");
    for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
        let training = quick().rho(rho);
        let outputs = fit_and_predict(&training, &data);
        assert!(outputs.iter().all(|y| *y == outputs[0]));
        // Every category is unseen, which is counted, not a panic.
        let model = training.fit(&data).expect("a model");
        let new = chains(2);
        let predictions = model.predict(&dataset_for(&new, &model)).expect("predictions");
        assert!(predictions.novelty.iter().any(|s| s.starts_with("colour: 6 nodes")), "{:?}", predictions.novelty);
    }
}

#[test]
fn missing_targets_everywhere_are_refused() {
    for columns in [quantities(vec![f64::NAN; 4]), vec![class_column("target", 2, &[None; 4])]] {
        let data = with_targets(&chains(4), columns).expect("data");
        let error = message(quick().fit(&data));
        assert!(error.contains("no labelled items") || error.contains("missing everywhere"), "{error}");
    }
}

#[test]
fn a_target_may_be_missing_on_some_items_or_one_of_several_on_all() {
    let case = chains(12);
    let known = (0..12).map(|k| if k % 3 == 0 { f64::NAN } else { k as f64 + 0.25 }).collect();
    let columns =
        vec![Column::new("first", Values::Numbers(known)), Column::new("second", Values::Numbers(vec![f64::NAN; 12]))];
    let options = DatasetOptions { problem: Some(gnan::dataset::Problem::Regression), ..DatasetOptions::default() };
    let mut tables = tables(&case);
    tables.targets = vec!["first".to_owned(), "second".to_owned()];
    tables.graph_columns = columns;
    fit_and_predict(&quick(), &Dataset::from_tables(tables, &options).expect("data"));
}

#[test]
fn three_items_are_enough() {
    for graph_task in [true, false] {
        let mut case = chains(if graph_task { 3 } else { 1 });
        case.graph_task = graph_task;
        fit_and_predict(&quick(), &with_targets(&case, quantities(vec![0.5, 1.5, 2.25])).expect("data"));
        fit_and_predict(&quick(), &with_targets(&case, two_classes(3)).expect("data"));
    }
}

#[test]
fn missing_values_are_a_level_of_their_own() {
    let mut case = chains(12);
    for feature in &mut case.features {
        feature.values.iter_mut().step_by(5).for_each(|value| *value = Value::Missing);
    }
    case.features.push(numbers("unknown", "continuous", [f64::NAN; 36]));
    case.features.push(words("nothing", [""; 36]));
    let data = with_targets(&case, two_classes(12)).expect("data");
    for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
        fit_and_predict(&quick().rho(rho), &data);
        let model = quick().rho(rho).fit(&data).expect("a model");
        assert!(model.definition().learned.features.iter().all(|feature| feature.missing.is_some()));
        // The free value of a missing level counts: other values, other outputs.
        let mut known = case.clone();
        known.features[0].values[0] = Value::Number(0.0);
        let outputs = |case: &Case| model.outputs_on(&dataset_for(case, &model)).expect("outputs").values;
        let (with, without) = (outputs(&case), outputs(&known));
        assert!(with[0] != without[0] && with[model.outputs()..] == without[model.outputs()..]);
    }
}

#[test]
fn huge_and_tiny_feature_values_are_scaled() {
    for scale in [1e30, 1e-30, 1e150, 1e-150] {
        let mut case = chains(12);
        for kind in ["continuous", "sparse"] {
            let values: Vec<f64> = (0..36).map(|k| if k % 4 == 0 { f64::from(k) * scale } else { 0.0 }).collect();
            case.features.push(numbers(&format!("{kind} values"), kind, values));
        }
        case.features.push(numbers("mixed", "continuous", (0..36).map(|k| if k == 7 { scale } else { f64::from(k) })));
        for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
            fit_and_predict(&quick().rho(rho), &with_targets(&case, two_classes(12)).expect("data"));
        }
    }
}

/// Values whose squares overflow: trained with finite outputs, or refused; never a model that says NaN.
#[test]
fn values_beyond_all_scales_do_not_make_a_broken_model() {
    for scale in [1e200, 1e300, f64::MAX / 2.0] {
        let mut case = chains(12);
        case.features.push(numbers("endless", "continuous", (0..36).map(|k| f64::from(k % 5) * 0.25 * scale)));
        let data = with_targets(&case, two_classes(12)).expect("data");
        match quick().fit(&data) {
            Ok(model) => {
                let outputs = model.outputs_on(&data).expect("outputs").values;
                assert!(outputs.iter().all(|y| y.is_finite()), "{scale:e}: {outputs:?}");
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Training, "{error}"),
        }
    }
}

/// New values far beyond the training range are predicted with a number, or refused.
#[test]
fn values_far_out_of_range_are_not_predicted_as_nan() {
    let data = with_targets(&chains(12), two_classes(12)).expect("data");
    let model = quick().fit(&data).expect("a model");
    for far in [1e20, 1e45, 1e300, -1e300] {
        let mut case = chains(1);
        case.features[0].values[1] = Value::Number(far);
        if let Ok(outputs) = model.outputs_on(&dataset_for(&case, &model)) {
            assert!(outputs.values.iter().all(|y| y.is_finite()), "{far:e}: {:?}", outputs.values);
            assert!(outputs.novelty.iter().any(|s| s.starts_with("weight: 1 node outside")), "{:?}", outputs.novelty);
        }
    }
}

#[test]
fn huge_targets_are_learned_in_their_own_units() {
    let case = chains(12);
    for scale in [1e12, 1e-12, 1e30] {
        let values: Vec<f64> = (0..12).map(|k| scale * (5.0 + f64::from(k % 3))).collect();
        for output_bias in [None, Some(false)] {
            let mut training = quick().epochs(40).learning_rate(0.01);
            training.model.output_bias = output_bias;
            let mut tables = tables(&case);
            tables.targets = vec!["target".to_owned()];
            tables.graph_columns = quantities(values.clone());
            let options =
                DatasetOptions { problem: Some(gnan::dataset::Problem::Regression), ..DatasetOptions::default() };
            let outputs = fit_and_predict(&training, &Dataset::from_tables(tables, &options).expect("data"));
            // Far from learned, but of the right size.
            assert!(outputs.iter().all(|y| f64::from(y.abs()) < 50.0 * scale), "{outputs:?}");
            if output_bias.is_none() {
                assert!(outputs.iter().all(|y| f64::from(*y) > 2.0 * scale), "{outputs:?}");
            }
        }
    }
}

/// Targets that no f32 can hold: refused, or a model that can be saved, read and used.
#[test]
fn targets_beyond_f32_do_not_make_a_broken_model() {
    let data =
        with_targets(&chains(12), quantities((0..12).map(|k| 1e60 * f64::from(k) + 0.5).collect())).expect("data");
    if let Ok(model) = quick().fit(&data) {
        let model = Model::from_bytes(&model.to_bytes().expect("bytes")).expect("a readable file");
        assert!(model.outputs_on(&data).expect("outputs").values.iter().all(|y| y.is_finite()));
    }
}

#[test]
fn zero_is_one_class_and_one_level_whatever_its_sign() {
    let data = with_targets(&chains(4), quantities(vec![0.0, -0.0, 1.0, -0.0])).unwrap();
    let target = &data.targets()[0];
    assert_eq!(
        (target.classes.as_deref(), &target.values[..]),
        (Some(&["0", "1"].map(String::from)[..]), &[0.0, 0.0, 1.0, 0.0][..])
    );
    let values = Values::Numbers([0.0, -0.0, f64::NAN].repeat(4));
    let mut tables = tables(&chains(4));
    tables.node_columns.push(Column::new("sign", values).with_kind(Kind::Categorical));
    tables.graph_columns.extend(two_classes(4));
    let data = Dataset::from_tables(tables, &DatasetOptions::default()).unwrap();
    let sign = data.features().iter().find(|feature| feature.name == "sign").unwrap();
    assert_eq!(sign.missing(), 4);
}

#[test]
fn a_missing_class_is_not_the_first_one() {
    let checksum = |last: Option<usize>| {
        let classes = class_column("target", 2, &[Some(0), Some(1), Some(0), last]);
        with_targets(&chains(4), vec![classes]).unwrap().items_checksum()
    };
    assert_ne!(checksum(None), checksum(Some(0)));
}

#[test]
fn splits_of_graphs_are_not_used_for_nodes() {
    let mut case = chains(1);
    case.graphs = vec![CaseGraph { nodes: 1, edges: Vec::new() }; 3];
    let mut tables = tables(&case);
    tables.splits = vec![vec![SplitPart::Train, SplitPart::Valid, SplitPart::Test]];
    tables.node_columns.extend(two_classes(3));
    let options = DatasetOptions { task: Some(Task::Node), ..DatasetOptions::default() };
    let data = Dataset::from_tables(tables, &options).unwrap();
    // There are as many graphs as nodes, so only the task tells that the split is not one of nodes.
    assert_eq!((data.task(), data.given_splits()), (Task::Node, 0));
    assert!(data.notes().iter().any(|note| note.contains("splits")), "{:?}", data.notes());
}

#[test]
fn infinite_values_are_refused_by_name() {
    for infinite in [f64::INFINITY, f64::NEG_INFINITY] {
        for kind in [Kind::Continuous, Kind::Sparse] {
            let mut tables = tables(&chains(2));
            let values = vec![1.0, infinite, 2.0, 3.0, 4.0, 5.0];
            tables.node_columns.push(Column::new("endless", Values::Numbers(values)).with_kind(kind));
            tables.graph_columns = two_classes(2);
            let error = message(Dataset::from_tables(tables, &DatasetOptions::default()));
            assert!(error.contains("\"endless\" holds an infinite or impossible value"), "{error}");
        }
        let error = message(with_targets(&chains(2), quantities(vec![1.5, infinite])));
        assert!(error.contains("\"target\" holds an infinite or impossible value"), "{error}");
    }
}

// Settings.

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    let data = with_targets(&chains(12), two_classes(12)).expect("data");
    let refused = |training: Spec, words: &str| {
        let error = training.fit(&data).expect_err("this should have been refused");
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    refused(quick().epochs(0), "epochs cannot be 0");
    for rate in [0.0, -0.1, f64::NAN, f64::INFINITY, 1.5] {
        refused(quick().learning_rate(rate), &format!("learning-rate cannot be {rate}"));
    }
    for hidden in [0, 10, 17, 1 << 40] {
        refused(quick().hidden(hidden), &format!("hidden cannot be {hidden}"));
    }
    for layers in [0, 6, 9, usize::MAX] {
        refused(quick().layers(layers), &format!("layers cannot be {layers}"));
    }
    refused(quick().batch(0), "batch cannot be 0");
    for dropout in [1.0, -0.1, f64::NAN] {
        refused(quick().dropout(dropout), &format!("dropout cannot be {dropout}"));
    }
    for decay in [-1.0, f64::NAN, f64::INFINITY] {
        refused(quick().weight_decay(decay), &format!("weight-decay cannot be {decay}"));
    }
    refused(quick().loss(gnan::spec::Loss::Squared), "squared loss");
}

/// Two classes of graphs that differ in nothing: the weights alone decide which class is predicted.
#[test]
fn weights_of_items_decide_where_nothing_else_does() {
    let weighted = |weights: Vec<f64>| {
        let mut tables = tables(&Case { features: Vec::new(), ..chains(12) });
        tables.graph_columns = two_classes(12);
        tables.graph_columns.push(Column::new("importance", Values::Numbers(weights)));
        Dataset::from_tables(tables, &DatasetOptions { weight: Some("importance".into()), ..DatasetOptions::default() })
    };
    let mean_probability = |factor: f64| {
        let weights = (0..12).map(|graph| if graph % 2 == 0 { factor } else { 1.0 }).collect();
        let data = weighted(weights).expect("data");
        assert_eq!(data.targets().len(), 1);
        let training = quick().epochs(200);
        let model = training.fit_watched(&data, Some(&data), &mut |_| ControlFlow::Continue(())).expect("a fit").model;
        let predictions = model.predict(&data).expect("predictions");
        predictions.items.iter().map(|item| item.probabilities[1]).sum::<f64>() / 12.0
    };
    assert!(mean_probability(5.0) < 0.3 && mean_probability(0.2) > 0.7);
    for (weights, what) in [(vec![f64::NAN; 12], "must be numbers"), (vec![-1.0; 12], "must be numbers")] {
        assert!(message(weighted(weights)).contains(what));
    }
    let mut tables = tables(&chains(2));
    tables.graph_columns = two_classes(2);
    let options = DatasetOptions { weight: Some("nowhere".into()), ..DatasetOptions::default() };
    assert!(message(Dataset::from_tables(tables, &options)).contains("no column is called nowhere"));
}

#[test]
fn a_batch_larger_than_the_data_is_all_of_them() {
    let data = with_targets(&chains(12), two_classes(12)).expect("data");
    let all = fit_and_predict(&quick(), &data);
    assert!(fit_and_predict(&quick().batch(1000), &data) == all);
    assert!(fit_and_predict(&quick().batch(3), &data) != all);
    fit_and_predict(&quick().batch(1), &data);
}

#[test]
fn a_hop_cap_may_be_of_any_size() {
    let mut case = chains(12);
    case.graphs[3].edges.clear();
    let data = with_targets(&case, two_classes(12)).expect("data");
    let outputs = |cap| fit_and_predict(&quick().hop_cap(cap), &data);
    assert!(outputs(0) != outputs(1) && outputs(1) != outputs(2));
    assert!(outputs(2) == outputs(3) && outputs(3) == outputs(usize::MAX));
}

#[test]
fn an_interrupted_training_leaves_a_usable_model() {
    let data = with_targets(&chains(30), two_classes(30)).expect("data");
    let mut seen = Vec::new();
    let mut monitor = |report: &gnan::train::EpochReport<'_>| {
        seen.push(report.epoch);
        if report.epoch == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let fitted = quick().epochs(500).fit_watched(&data, None, &mut monitor).expect("a model");
    assert_eq!((seen, fitted.ended), (vec![1, 2, 3], Ended::Interrupted));
    assert_eq!(fitted.model.definition().record.epochs, 3);
    assert!(fitted.model.predict(&data).expect("predictions").items.len() == 30);
    // Interrupted at once, even where several candidates were to be tried.
    let auto = quick().epochs(500).rho(RhoChoice::Auto).logits(gnan::spec::LogitChoice::Auto);
    let fitted = auto.fit_watched(&data, None, &mut |_| ControlFlow::Break(())).expect("a model");
    assert_eq!((fitted.ended, fitted.tried.len()), (Ended::Interrupted, 1));
    assert!(fitted.model.outputs_on(&data).expect("outputs").values.iter().all(|y| y.is_finite()));
}

// Prediction.

/// Nine graphs are too few to set some aside: all of them are trained on.
fn trained() -> Model {
    quick().fit(&with_targets(&chains(9), two_classes(9)).expect("data")).expect("a model")
}

#[test]
fn what_training_had_not_seen_is_predicted_and_counted() {
    let model = trained();
    let features = &model.definition().learned.features;
    let largest = features[0].scale.expect("a scale").max;
    let mut case = chains(1);
    case.graphs[0] = CaseGraph { nodes: 6, edges: vec![[0, 1], [1, 2], [2, 3], [3, 4]] };
    case.features = vec![
        numbers("weight", "continuous", [0.0, largest, largest + 1.0, -100.0, f64::NAN, f64::NAN]),
        words("colour", ["red", "blue", "blue", "pink", "", "green"]),
    ];
    let predictions = model.predict(&dataset_for(&case, &model)).expect("predictions");
    assert!(predictions.items[0].probabilities.iter().all(|p| p.is_finite()));
    let expected = [
        "weight: 2 nodes outside the training range",
        "weight: 2 nodes with a missing value, unseen in training",
        "colour: 3 nodes with a category unseen in training (blue, pink)",
        "colour: 1 node with a missing value, unseen in training",
        "distances up to 4; the longest in training was 2",
        "unreachable nodes, which training had not",
    ];
    for expected in expected {
        let found = predictions.novelty.iter().filter(|sentence| sentence.starts_with(expected)).count();
        assert_eq!(found, 1, "{expected}: {:?}", predictions.novelty);
    }
    assert_eq!(predictions.novelty.len(), expected.len(), "{:?}", predictions.novelty);
    // The oracle gives unseen and missing values 0.
    let answer = FileModel::read(&model.to_bytes().expect("bytes")).outputs(&case)[0][0];
    let found = f64::from(predictions.items[0].outputs[0]);
    assert!((found - answer.value).abs() <= 1e-5 * answer.magnitude.max(1.0), "{found} {answer:?}");
    // Nothing is new in the data it was trained on.
    let seen = chains(9);
    assert_eq!(model.predict(&dataset_for(&seen, &model)).expect("predictions").novelty, Vec::<String>::new());
}

/// Effects of a penalised fit go on as they are at the end of what training had seen, and that is what is said.
#[test]
fn effects_of_a_penalised_fit_do_not_go_on_beyond_the_training_range() {
    let spec = Spec::default().method(FitMethod::Penalised);
    let mut case = chains(9);
    let model = spec.fit(&with_targets(&case, two_classes(9)).expect("data")).expect("a model");
    let largest = model.definition().learned.features[0].scale.expect("a scale").max;
    // Two chains whose last nodes have the largest value and one beyond it; six nodes in a row, the last not reached.
    let chain = |nodes: usize, edges: usize| CaseGraph { nodes, edges: (0..edges).map(|i| [i, i + 1]).collect() };
    case.graphs = vec![chain(2, 1), chain(2, 1), chain(6, 4)];
    let weights = [0.0, largest, 0.0, 3.0 * largest + 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    case.features = vec![numbers("weight", "continuous", weights), words("colour", ["red"; 10])];
    let predictions = model.predict(&dataset_for(&case, &model)).expect("predictions");
    assert_eq!(predictions.items[0].outputs, predictions.items[1].outputs);
    let said = |end: &str| predictions.novelty.iter().filter(|sentence| sentence.ends_with(end)).count();
    assert_eq!(said(": the effect is that of the end of the range"), 1, "{:?}", predictions.novelty);
    assert_eq!(
        said("the longest in training was 2: effects beyond are those at distance 2"),
        1,
        "{:?}",
        predictions.novelty
    );
    assert_eq!(said(": they contribute 0"), 1, "{:?}", predictions.novelty);
}

#[test]
fn extra_features_are_ignored_and_listed_and_the_order_of_columns_is_free() {
    let model = trained();
    let case = chains(5);
    let plain = model.predict(&dataset_for(&case, &model)).expect("predictions");
    assert!(plain.ignored.is_empty());
    let mut other = case.clone();
    other.features.reverse();
    other.features.insert(1, numbers("height", "continuous", (0..15).map(f64::from)));
    let found = model.predict(&dataset_for(&other, &model)).expect("predictions");
    assert_eq!(found.ignored, ["height"]);
    assert_eq!(found.items, plain.items);
}

#[test]
fn a_feature_that_new_data_lack_is_named() {
    let model = trained();
    let mut case = chains(2);
    case.features.retain(|feature| feature.name != "colour");
    let error = message(model.predict(&dataset_for(&case, &model)));
    assert!(error.contains("no feature \"colour\"") && error.contains("weight"), "{error}");
}

#[test]
fn the_other_task_is_refused() {
    let model = trained();
    let mut case = chains(2);
    case.graph_task = false;
    let data = Dataset::from_tables(
        tables(&case),
        &DatasetOptions { task: Some(Task::Node), targets_optional: true, ..DatasetOptions::default() },
    );
    let error = message(model.predict(&data.expect("data")));
    assert!(error.contains("predicts graphs"), "{error}");
}

/// Kinds are detected from few values; the model knows better.
#[test]
fn a_feature_is_read_as_the_kind_the_model_knows() {
    let model = trained();
    let mut tables = tables(&chains(1));
    // These weights would be detected as binary, as sparse, and as a column of nothing.
    for values in [vec![0.0, 1.0, 1.0], vec![0.0, 0.0, 0.0], vec![f64::NAN; 3]] {
        tables.node_columns[0] = Column::new("weight", Values::Numbers(values.clone()));
        let data = Dataset::from_tables(tables.clone(), &model.data_options()).expect("data");
        let mut case = chains(1);
        case.features[0] = numbers("weight", "continuous", values);
        let expected = model.outputs_on(&dataset_for(&case, &model)).expect("outputs");
        assert_eq!(model.outputs_on(&data).expect("outputs"), expected);
    }
}

/// Two words that do not exclude each other in training may do so by chance in a few new graphs.
#[test]
fn new_data_that_look_one_hot_by_chance_keep_their_features() {
    let flags = |values: &[f64]| Column::new("", Values::Numbers(values.to_vec()));
    let case = Case { features: Vec::new(), ..chains(12) };
    let mut training = tables(&case);
    for (name, every) in [("word_one", 2), ("word_two", 3)] {
        let values: Vec<f64> = (0..36).map(|k| f64::from(u8::from(k % every == 0))).collect();
        training.node_columns.push(Column { name: name.to_owned(), ..flags(&values) });
    }
    training.graph_columns = two_classes(12);
    let data = Dataset::from_tables(training, &DatasetOptions::default()).expect("data");
    let model = quick().fit(&data).expect("a model");
    assert_eq!(model.definition().learned.features.len(), 2);
    let mut new = tables(&Case { features: Vec::new(), ..chains(1) });
    new.node_columns.push(Column { name: "word_one".to_owned(), ..flags(&[1.0, 0.0, 1.0]) });
    new.node_columns.push(Column { name: "word_two".to_owned(), ..flags(&[0.0, 1.0, 0.0]) });
    let data = Dataset::from_tables(new, &model.data_options()).expect("data");
    if let Err(error) = model.outputs_on(&data) {
        panic!("{error}");
    }
}

// Model files.

/// A model with one feature of every kind, small enough to try every byte of its file.
fn small_model() -> (Model, Dataset) {
    let mut case = chains(4);
    case.features[1].values[0] = Value::Missing;
    case.features.push(numbers("flag", "binary", (0..12).map(|k| f64::from(k % 2))));
    case.features.push(numbers("count", "sparse", (0..12).map(|k| f64::from(k % 3) * 1.5)));
    let data = with_targets(&case, two_classes(4)).expect("data");
    let training = Spec::default().layers(1).hidden(16).epochs(1).rho(RhoChoice::PerFeature);
    (training.fit(&data).expect("a model"), data)
}

/// Reads damaged bytes; what is accepted must predict without panic.
fn try_bytes(bytes: &[u8], data: &Dataset) -> bool {
    match Model::from_bytes(bytes) {
        Ok(model) => {
            let _ = model.predict(data);
            let _ = model.to_bytes().map(|bytes| Model::from_bytes(&bytes).map(drop));
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[test]
fn no_prefix_of_a_model_file_is_a_model() {
    let (model, data) = small_model();
    let bytes = model.to_bytes().expect("bytes");
    for len in (0..bytes.len()).step_by(3).chain(bytes.len() - 20..bytes.len()) {
        assert!(!try_bytes(&bytes[..len], &data), "{len} of {} bytes", bytes.len());
    }
    assert!(try_bytes(&bytes, &data));
    assert!(!try_bytes(&[&bytes[..], &[0; 4]].concat(), &data), "a longer file");
    let mut long = bytes.clone();
    long[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(!try_bytes(&long, &data), "a header of 2^64 bytes");
}

/// The checksum covers the definition and the tensors; names and shapes are compared with those of the definition.
#[test]
fn a_flipped_bit_anywhere_is_refused() {
    let (model, data) = small_model();
    let bytes = model.to_bytes().expect("bytes");
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            assert!(!try_bytes(&bytes, &data), "bit {bit} of byte {at} of {}", bytes.len());
        }
    }
}

/// Whoever writes a checksum that fits gets a model or an error, and no panic.
#[test]
fn a_changed_number_with_its_checksum_gives_an_error_or_a_model() {
    let (model, data) = small_model();
    let definition = serde_json::to_value(model.definition()).expect("JSON");
    let mut places = Vec::new();
    numbers_in(&definition, "", &mut places);
    let (mut accepted, mut refused) = (0, 0);
    for place in places {
        for lie in [serde_json::json!(0), serde_json::json!(-1), serde_json::json!(1e300), serde_json::json!(null)] {
            let change = |json: &mut serde_json::Value| *json.pointer_mut(&place).expect("the place") = lie;
            *(if try_bytes(&rewritten(&model, change, |_| {}), &data) { &mut accepted } else { &mut refused }) += 1;
        }
    }
    assert!(accepted > 20 && refused > 100, "{accepted} accepted, {refused} refused");
}

/// Where the numbers of a document are.
fn numbers_in(json: &serde_json::Value, place: &str, places: &mut Vec<String>) {
    match json {
        serde_json::Value::Number(_) => places.push(place.to_owned()),
        serde_json::Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, value)| numbers_in(value, &format!("{place}/{at}"), places));
        }
        serde_json::Value::Object(map) => {
            map.iter().for_each(|(key, value)| numbers_in(value, &format!("{place}/{key}"), places));
        }
        _ => {}
    }
}

fn tensor<'a>(tensors: &'a mut [Tensor], name: &str) -> &'a mut Tensor {
    tensors.iter_mut().find(|tensor| tensor.0 == name).expect("the tensor")
}

#[test]
fn a_newer_version_is_refused_by_name() {
    let (model, _) = small_model();
    let bytes = with_header(&model, |json| json["version"] = 4.into());
    let error = Model::from_bytes(&bytes).expect_err("a newer version");
    assert_eq!(error.kind(), ErrorKind::Version);
    assert!(error.to_string().contains("version 4"), "{error}");
    // Whatever else a newer definition holds.
    let bytes = with_header(&model, |json| *json = serde_json::json!({ "version": 4, "novelty": [] }));
    assert_eq!(Model::from_bytes(&bytes).expect_err("a newer version").kind(), ErrorKind::Version);
    // There never was a version 0, and a file of this version does not pass for an older one.
    for version in [0, 1, 2] {
        assert!(Model::from_bytes(&with_header(&model, |json| json["version"] = version.into())).is_err());
    }
}

#[test]
fn tensors_that_do_not_fit_are_refused_by_name() {
    let (model, data) = small_model();
    assert!(try_bytes(&rewritten(&model, |_| {}, |_| {}), &data), "rewriting alone is harmless");
    let refused = |name: &str, change: &dyn Fn(&mut Vec<Tensor>)| {
        let error = message(Model::from_bytes(&rewritten(&model, |_| {}, |tensors| change(tensors))));
        assert!(error.contains(&format!("\"{name}\"")), "{error}");
    };
    for name in ["shape.output.weight", "shape.output.bias", "rho.output.weight", "values", "bias", "output_bias"] {
        refused(name, &|tensors| tensors.retain(|tensor| tensor.0 != name));
        refused(name, &|tensors| {
            let (_, _, shape, data) = tensor(tensors, name);
            shape[0] += 1;
            let row = data.len() / (shape[0] - 1);
            data.extend(vec![0; row]);
        });
        refused(name, &|tensors| {
            let (_, _, shape, _) = tensor(tensors, name);
            shape.push(1);
        });
        refused(name, &|tensors| tensor(tensors, name).1 = Dtype::I32);
        for broken in [f32::NAN, f32::INFINITY] {
            refused(name, &|tensors| tensor(tensors, name).3[..4].copy_from_slice(&broken.to_le_bytes()));
        }
    }
    refused("items.train", &|tensors| tensor(tensors, "items.train").1 = Dtype::I64);
    refused("items.train", &|tensors| tensor(tensors, "items.train").3.rotate_left(8));
    refused("extra", &|tensors| tensors.push(("extra".to_owned(), Dtype::F32, vec![1], vec![0; 4])));
}

#[test]
fn a_definition_that_lies_is_refused() {
    let (model, data) = small_model();
    let lies: [(&str, serde_json::Value); 17] = [
        ("/spec/model/layers", 0.into()),
        ("/spec/model/layers", 2.into()),
        ("/spec/model/layers", u64::MAX.into()),
        ("/spec/model/hidden", 0.into()),
        ("/spec/model/hidden", 10.into()),
        ("/spec/model/hidden", u64::MAX.into()),
        ("/learned/outputs", 0.into()),
        ("/learned/outputs", 3.into()),
        ("/learned/outputs", u64::MAX.into()),
        ("/learned/features", serde_json::json!([])),
        ("/learned/features/0/scale/scale", 0.into()),
        ("/learned/features/0/scale/scale", (-1).into()),
        ("/learned/features/0/scale", serde_json::Value::Null),
        ("/learned/features/1/name", "weight".into()),
        ("/learned/features/0/kind", "categorical".into()),
        ("/learned/targets", serde_json::json!([])),
        ("/learned/receivers", serde_json::json!([])),
    ];
    for (place, lie) in lies {
        let change = |json: &mut serde_json::Value| *json.pointer_mut(place).expect("the place") = lie.clone();
        assert!(!try_bytes(&rewritten(&model, change, |_| {}), &data), "{place}: {lie}");
    }
    for part in ["spec", "learned", "record"] {
        let remove = |json: &mut serde_json::Value| drop(json.as_object_mut().expect("it").remove(part));
        assert!(!try_bytes(&rewritten(&model, remove, |_| {}), &data), "without {part}");
    }
    for place in ["task", "outcome", "rho", "features", "targets", "receivers", "lenses", "slots", "outputs"] {
        let remove = |json: &mut serde_json::Value| drop(json["learned"].as_object_mut().expect("it").remove(place));
        assert!(!try_bytes(&rewritten(&model, remove, |_| {}), &data), "without {place}");
    }
    // An option that is not known here may change what the model is.
    let unknown = |json: &mut serde_json::Value| json["spec"]["model"]["colour"] = "red".into();
    assert!(!try_bytes(&rewritten(&model, unknown, |_| {}), &data));
}

/// A categorical feature without levels is odd but consistent: it must not make a prediction panic.
#[test]
fn a_categorical_feature_without_levels_does_not_panic() {
    let mut case = chains(4);
    case.features.remove(0);
    let data = with_targets(&case, two_classes(4)).expect("data");
    let training = Spec::default().layers(1).hidden(16).epochs(1).rho(RhoChoice::PerFeature);
    let model = training.fit(&data).expect("a model");
    let bytes = rewritten(
        &model,
        |json| *json.pointer_mut("/learned/features/0/levels").expect("levels") = serde_json::json!([]),
        |tensors| {
            for (name, _, shape, data) in tensors.iter_mut() {
                let kept = match name.as_str() {
                    "values" => 0,
                    name if name.starts_with("rho.") => 1,
                    _ => continue,
                };
                data.truncate(data.len() / shape[0] * kept);
                shape[0] = kept;
            }
        },
    );
    try_bytes(&bytes, &data);
}

#[test]
fn a_file_that_is_no_model_is_refused_with_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.gnan");
    assert_eq!(Model::load(&path).expect_err("no file").kind(), ErrorKind::Input);
    for content in [&b""[..], b"{}", &[0; 8], &[0xff; 64], b"\x02\0\0\0\0\0\0\0{}"] {
        std::fs::write(&path, content).expect("written");
        let error = message(Model::load(&path));
        assert!(error.contains("model.gnan") && error.contains("not a usable model file"), "{error}");
    }
}

#[test]
fn training_and_validation_items_of_two_data_sets_are_refused() {
    let data = || with_targets(&chains(12), two_classes(12)).expect("data");
    let fitted = quick().fit_watched(&data(), Some(&data()), &mut |_| ControlFlow::Continue(()));
    assert!(message(fitted).contains("parts of one data set"));
}

/// One value whose square overflows leaves the scale of the others finite and the predictions sound.
#[test]
fn a_value_whose_square_overflows_is_harmless() {
    for kind in [Kind::Continuous, Kind::Sparse] {
        let mut tables = tables(&chains(12));
        let mut values: Vec<f64> = (0..36).map(f64::from).collect();
        values[7] = 1e250;
        tables.node_columns.push(Column::new("endless", Values::Numbers(values)).with_kind(kind));
        tables.graph_columns = two_classes(12);
        let data = Dataset::from_tables(tables, &DatasetOptions::default()).expect("data");
        let model = quick().fit(&data).expect("a model");
        let scale = model.definition().learned.features.last().and_then(|feature| feature.scale).expect("a scale");
        assert_eq!((scale.shift, scale.scale), (0.0, 1e250));
        let outputs = model.outputs_on(&data).expect("outputs").values;
        assert!(outputs.iter().all(|y| y.abs() < 1e3), "{outputs:?}");
    }
}

#[test]
fn choices_that_do_not_apply_are_refused() {
    let numbers = with_targets(&chains(12), quantities((0..12).map(|x| f64::from(x) + 0.5).collect())).expect("data");
    let balanced = quick().balance(true);
    assert!(message(balanced.fit(&numbers)).contains("balancing classes"));
    let two = quick().logits(gnan::spec::LogitChoice::Two);
    assert!(message(two.fit(&numbers)).contains("number of logits"));
}

#[test]
fn whole_numbers_that_hardly_repeat_are_quantities() {
    let outcome =
        |values: Vec<f64>| with_targets(&chains(12), quantities(values)).expect("data").outcome().expect("one");
    assert_eq!(outcome((0..12).map(f64::from).collect()), gnan::dataset::Outcome::Regression);
    assert_eq!(outcome((0..12).map(|x| f64::from(x % 4)).collect()), gnan::dataset::Outcome::Multiclass);
    assert_eq!(outcome((0..12).map(|x| f64::from(x % 2)).collect()), gnan::dataset::Outcome::Binary);
}

/// A model that knows a feature by its one-hot columns names those that new data lack; a value other than 0 and 1 of a
/// binary feature is predicted and counted.
#[test]
fn one_hot_columns_that_are_missing_are_named_and_new_binary_values_counted() {
    let column =
        |name: &str, value: &dyn Fn(usize) -> f64| Column::new(name, Values::Numbers((0..36).map(value).collect()));
    let with = |columns: Vec<Column>| {
        let mut tables = tables(&Case { features: Vec::new(), ..chains(12) });
        tables.node_columns = columns;
        tables.graph_columns = two_classes(12);
        tables
    };
    let one = |yes: bool| f64::from(u8::from(yes));
    let red = column("colour_red", &|node| one(node % 3 == 0));
    let blue = column("colour_blue", &|node| one(node % 3 == 1));
    let green = column("colour_green", &|node| one(node % 3 == 2));
    let flag = column("flag", &|node| one(node % 5 == 0));
    let data =
        Dataset::from_tables(with(vec![red.clone(), blue.clone(), green.clone(), flag]), &DatasetOptions::default());
    let model = quick().fit(&data.expect("data")).expect("a model");
    assert_eq!(model.definition().learned.features[0].name, "colour");
    let flag = column("flag", &|node| if node == 4 { 2.0 } else { 0.0 });
    let whole = with(vec![flag.clone(), green, red.clone(), blue.clone()]);
    let predictions = model.predict(&Dataset::from_tables(whole, &model.data_options()).expect("data")).expect("some");
    assert!(
        predictions.novelty.iter().any(|note| note.starts_with("flag: 1 node outside")),
        "{:?}",
        predictions.novelty
    );
    let part = Dataset::from_tables(with(vec![flag, red, blue]), &model.data_options()).expect("data");
    let error = message(model.predict(&part));
    assert!(error.contains("some one-hot columns of \"colour\"") && error.contains("colour_green"), "{error}");
}

/// A few labelled items train without a validation part, whoever makes the split.
#[test]
fn few_items_can_be_evaluated_over_folds() {
    let data = with_targets(&chains(6), two_classes(6)).expect("data");
    use gnan::evaluate::{Division, Evaluation, Journal, Protocol, Search};
    let watch = |_: gnan::evaluate::EvaluationEvent<'_>| ControlFlow::Continue(());
    let protocol = Protocol::new(Division::Folds(2), 0);
    let search = Search::of(quick());
    let evaluation = Evaluation::run(&data, &search, &protocol, &Journal::in_memory(), &watch).expect("folds");
    assert_eq!(
        evaluation.folds.iter().map(|fold| (fold.train, fold.valid, fold.test)).collect::<Vec<_>>(),
        [(3, 0, 3); 2]
    );
}
