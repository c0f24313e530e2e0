//! Pairs of features: new data are cut as the file says, explanations add up, the ranking finds what was planted, and what
//! makes no sense is refused. (Outputs and gradients against the oracle: `agreement`, whose random models have pairs.)

use gnan::dataset::{FeatureBins, FeaturePair, PairMember};
use gnan::files::{Column, Kind, Tables, Task, Values};
use gnan::internals::dataset::MOST_BINS;
use gnan::internals::random::Stream;
use gnan::spec::FeaturePairName;
use gnan::{Dataset, DatasetOptions, Model, Spec};

/// Nodes in small graphs whose class is the exclusive or of two signs; a third feature says nothing.
fn planted(task: Task) -> Dataset {
    let mut random = Stream::named(7, "planted pair", 0);
    let graphs = 300;
    let nodes = if task == Task::Graph { 1 } else { 3 };
    let count = graphs * nodes;
    let mut column = |_: &str| -> Vec<f64> { (0..count).map(|_| random.normal()).collect() };
    let (a, b, noise) = (column("a"), column("b"), column("noise"));
    let target = a.iter().zip(&b).map(|(a, b)| f64::from(u8::from(a * b > 0.0))).collect();
    let kind = |node: usize| ["x & y", "missing", "\"quoted\""][node % 3].to_owned();
    let mut names: Vec<String> = (0..3).map(kind).collect();
    names.sort();
    let codes = (0..count).map(|node| names.iter().position(|name| *name == kind(node)).unwrap_or(0) as u32).collect();
    let numbers = |name: &str, values: Vec<f64>| Column::new(name, Values::Numbers(values));
    let mut node_columns = vec![
        numbers("a", a).with_kind(Kind::Continuous),
        numbers("noise", noise).with_kind(Kind::Continuous),
        numbers("b", b).with_kind(Kind::Continuous),
        Column::new("word", Values::Categories { codes, levels: names }),
    ];
    let target = numbers("target", target);
    let mut graph_columns = Vec::new();
    if task == Task::Graph { &mut graph_columns } else { &mut node_columns }.push(target);
    let tables = Tables {
        name: "planted".to_owned(),
        graph_ids: (0..graphs).map(|graph| graph.to_string()).collect(),
        node_offsets: (0..=graphs).map(|graph| graph * nodes).collect(),
        node_columns,
        graph_columns,
        targets: vec!["target".to_owned()],
        task: Some(task),
        ..Tables::default()
    };
    Dataset::from_tables(tables, &DatasetOptions::default()).expect("a data set")
}

fn quick() -> Spec {
    Spec::default().epochs(60).hidden(16).learning_rate(0.02).weight_decay(0.0)
}

fn pair(first: &str, second: &str) -> FeaturePairName {
    FeaturePairName([first, second].map(str::to_owned))
}

fn named(first: &str, second: &str) -> Spec {
    quick().feature_pair(vec![pair(first, second)])
}

fn accuracy(model: &Model, data: &Dataset) -> f64 {
    model.evaluate(data).expect("metrics").get(gnan::Metric::Accuracy).expect("accuracy")
}

#[test]
fn the_ranking_finds_what_was_planted() {
    for task in [Task::Graph, Task::Node] {
        let data = planted(task);
        let model = quick().feature_pairs(1).fit(&data).expect("a model");
        let record = &model.definition().record;
        assert_eq!(record.pairs[0].features, ["a", "b"], "{:?}", record.pairs);
        assert!(record.pairs[0].score > 10.0 * record.pairs[1].score.abs(), "{:?}", record.pairs);
        assert_eq!(record.pairs.len(), 6);
        let pair = model.definition().learned.features.last().expect("a feature");
        assert_eq!((pair.name.as_str(), pair.kind), ("a × b", Kind::Categorical));
        let additive = accuracy(&quick().fit(&data).expect("a model"), &data);
        let paired = accuracy(&model, &data);
        assert!(additive < 0.75 && paired > 0.85, "{additive} without the pair, {paired} with it");
    }
}

#[test]
fn a_pair_survives_its_file_and_its_explanations_add_up() {
    for task in [Task::Graph, Task::Node] {
        let data = planted(task);
        let model = named("word", "a").fit(&data).expect("a model");
        let pair = model.definition().learned.features.last().expect("a pair");
        assert_eq!(pair.name, "word × a");
        // Three levels of hostile names with eight bins each, none of them taken for another.
        assert!(pair.levels.len() > 2 * MOST_BINS, "{:?}", pair.levels);
        let read = Model::from_bytes(&model.to_bytes().expect("bytes")).expect("a model");
        assert_eq!(read.definition(), model.definition());
        let outputs = model.outputs_on(&data).expect("outputs").values;
        assert_eq!(outputs, read.outputs_on(&data).expect("outputs").values);
        let explanation = read.explain(&data, 3).expect("an explanation");
        assert!(explanation.features.iter().any(|feature| feature == "word × a"));
        let width = model.outputs();
        let shown =
            model.definition().shown(&outputs[3 * width..4 * width].iter().map(|y| f64::from(*y)).collect::<Vec<_>>());
        let sum = explanation.by_feature(0).iter().sum::<f64>() + explanation.structure(0) + explanation.base[0];
        assert!((sum - shown[0]).abs() < 1e-4, "{sum} against {}", shown[0]);
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_any_work() {
    let data = planted(Task::Graph);
    let refusal = |training: Spec| training.fit(&data).expect_err("no model").to_string();
    for (training, words) in [
        (named("a", "c"), "there is no feature \"c\" for a pair"),
        (named("", "a"), "there is no feature \"\" for a pair"),
        (named("a", "a"), "with itself"),
        (quick().feature_pairs(7), "7 pairs are requested, and the features make 6"),
        (quick().feature_pairs(usize::MAX), "pairs are requested"),
        (quick().feature_pair(vec![pair("a", "b"), pair("b", "a")]), "twice"),
        (quick().scale_shells(true), "shells are scaled where nodes are predicted"),
    ] {
        let refusal = refusal(training);
        assert!(refusal.contains(words), "{refusal}");
    }
}

#[test]
fn a_file_that_lies_about_a_pair_is_refused() {
    let model = named("a", "b").fit(&planted(Task::Graph)).expect("a model");
    type Lie = (&'static str, fn(&mut FeaturePair));
    let lies: [Lie; 5] = [
        ("with itself", |pair| pair.members[1] = pair.members[0].clone()),
        ("do not stand before it", |pair| pair.members[0].feature = "a × b".to_owned()),
        ("do not fit its members", |pair| pair.members[0].bins = FeatureBins::Edges(vec![2.0, 1.0])),
        ("do not fit its members", |pair| pair.members[0].bins = FeatureBins::Flag),
        ("do not fit its members", |pair| pair.members[0].bins = FeatureBins::Edges((0..99).map(f64::from).collect())),
    ];
    for (words, lie) in lies {
        let mut definition = model.definition().clone();
        let feature = definition.learned.features.last_mut().expect("a pair");
        lie(feature.pair.as_mut().expect("a pair"));
        let bytes = Model::from_parts(definition, model.parameters().clone()).to_bytes().expect("bytes");
        let refusal = Model::from_bytes(&bytes).expect_err("no model").to_string();
        assert!(refusal.contains(words), "{refusal}");
    }
}

#[test]
fn new_data_are_cut_by_the_edges_of_training() {
    let member = |feature: &str, bins| PairMember { feature: feature.to_owned(), bins, pooled: false };
    let data = planted(Task::Graph);
    let pair = FeaturePair {
        of_item: false,
        members: [member("a", FeatureBins::Edges(vec![-0.5, 0.5])), member("b", FeatureBins::Edges(vec![0.0]))],
    };
    let feature = pair.feature(data.features()).expect("a feature");
    let Values::Categories { codes, levels } = &feature.values else { panic!("not categories") };
    let [Values::Numbers(a), Values::Numbers(b)] = [0, 2].map(|k| &data.features()[k].values) else {
        panic!("numbers")
    };
    for (node, code) in codes.iter().enumerate() {
        let first = if a[node] < -0.5 {
            "< -0.5"
        } else if a[node] < 0.5 {
            "-0.5 to 0.5"
        } else {
            "≥ 0.5"
        };
        let second = if b[node] < 0.0 { "< 0" } else { "≥ 0" };
        assert_eq!(levels[*code as usize], format!("{first} & {second}"));
    }
}
