//! The second level: numbers that sum up items are those of slow loops, planted curves and tables are found where there are any and
//! left out where there are none, tables have no effects of one value left in them, and everything adds up.

mod common;
mod oracle;

use std::collections::BTreeMap;

use common::{CaseShape, dataset, random_case, random_plan};
use gnan::dataset::{ItemStatistic, Quantity};
use gnan::explain::FeatureValue;
use gnan::files::{Column, Task, Values};
use gnan::internals::random::Stream;
use gnan::internals::statistics::item_statistics;
use gnan::spec::{FitMethod, LevelChoice, PoolChoice};
use gnan::{Dataset, DatasetOptions, Lens, Model, Run, Spec};
use oracle::{Case, Receiver, Value};

fn penalised(level: LevelChoice) -> Spec {
    let mut spec = Spec::default().method(FitMethod::Penalised);
    spec.fit.level = level;
    spec
}

/// What a node has of a quantity; `None`: nothing is known.
fn slow_value(case: &Case, of: &Quantity, node: usize) -> Option<f64> {
    let (name, level) = match of {
        Quantity::Mean { feature } => (feature, None),
        Quantity::Share { feature, level } | Quantity::Count { feature, level } => (feature, Some(level)),
        _ => panic!("no feature"),
    };
    let column = case.features.iter().find(|column| column.name == *name).expect("the feature");
    match (&column.values[node], level) {
        (Value::Number(x), None) => Some(*x),
        (Value::Category(own), Some(level)) => Some(f64::from(u8::from(own == level))),
        (Value::Missing, _) => None,
        other => panic!("{other:?}"),
    }
}

/// The mean over the nodes at a distance from a receiver.
fn slow_shell_mean(case: &Case, statistic: &ItemStatistic, receiver: &Receiver) -> Option<f64> {
    let at = (0..receiver.distances.len()).filter(|source| receiver.distances[*source] == Some(statistic.distance));
    let known: Vec<f64> = at.filter_map(|source| slow_value(case, &statistic.of, receiver.first + source)).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

fn shell_size(receiver: &Receiver, distance: usize) -> usize {
    receiver.distances.iter().filter(|own| **own == Some(distance)).count()
}

/// A statistic of every node, from the definition.
fn slow_statistic(case: &Case, statistic: &ItemStatistic) -> Vec<Option<f64>> {
    let receivers = case.receivers();
    if !case.graph_task {
        let of_node = |receiver: &Receiver| match statistic.of {
            Quantity::Nodes => Some(shell_size(receiver, statistic.distance) as f64),
            _ => slow_shell_mean(case, statistic, receiver),
        };
        return receivers.iter().map(of_node).collect();
    }
    let of_graph = |graph: usize| {
        let own: Vec<&Receiver> = receivers.iter().filter(|receiver| receiver.item == graph).collect();
        let nodes = own.len() as f64;
        match &statistic.of {
            Quantity::Nodes => Some(nodes),
            Quantity::Edges => {
                let mut edges: Vec<[usize; 2]> = case.graphs[graph].edges.clone();
                if !case.directed {
                    edges.iter_mut().for_each(|edge| edge.sort_unstable());
                }
                edges.retain(|[one, other]| one != other);
                edges.sort_unstable();
                edges.dedup();
                Some(edges.len() as f64 / nodes)
            }
            Quantity::Reaching => {
                let reaching = own.iter().filter(|receiver| shell_size(receiver, statistic.distance) > 0).count();
                Some(reaching as f64 / nodes)
            }
            Quantity::Count { .. } => {
                let first = case.first_node(graph);
                Some((first..first + own.len()).filter_map(|node| slow_value(case, &statistic.of, node)).sum())
            }
            _ => {
                let known: Vec<f64> =
                    own.iter().filter_map(|receiver| slow_shell_mean(case, statistic, receiver)).collect();
                (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
            }
        }
    };
    (0..case.graphs.len()).flat_map(|graph| vec![of_graph(graph); case.graphs[graph].nodes]).collect()
}

#[test]
fn statistics_are_those_of_slow_loops() {
    for seed in 0..24 {
        let mut random = Stream::named(seed, "item statistics", 0);
        let graph_task = seed % 2 == 0;
        let graphs = if graph_task { 5 } else { 2 };
        let plan = random_plan(&mut random);
        let mut case = random_case(&mut random, CaseShape { graph_task, graphs, nodes: [1, 9] }, &plan);
        case.directed = seed % 3 == 0;
        let items = case.items();
        let data = dataset(&case, vec![Column::new("target", Values::Numbers((0..items).map(|x| x as f64).collect()))]);
        let mut wanted = vec![];
        for distance in 0..4 {
            wanted.push(ItemStatistic { of: Quantity::Nodes, distance: if graph_task { 0 } else { distance } });
            if graph_task {
                wanted.push(ItemStatistic { of: Quantity::Edges, distance: 0 });
                wanted.push(ItemStatistic { of: Quantity::Reaching, distance });
            }
            for column in &case.features {
                let level = column.values.iter().find_map(|value| match value {
                    Value::Category(level) => Some(level.clone()),
                    _ => None,
                });
                let feature = column.name.clone();
                match level {
                    Some(level) => {
                        let of = Quantity::Share { feature: feature.clone(), level: level.clone() };
                        wanted.push(ItemStatistic { of, distance });
                        if graph_task {
                            wanted.push(ItemStatistic { of: Quantity::Count { feature, level }, distance: 0 });
                        }
                    }
                    None if column.kind != "categorical" => {
                        wanted.push(ItemStatistic { of: Quantity::Mean { feature }, distance });
                    }
                    None => {}
                }
            }
        }
        let found = item_statistics(&data, &Lens::default(), &wanted).unwrap();
        for (statistic, feature) in wanted.iter().zip(&found) {
            let Values::Numbers(values) = &feature.values else { panic!("numbers") };
            for (node, expected) in slow_statistic(&case, statistic).into_iter().enumerate() {
                let own = (!values[node].is_nan()).then_some(values[node]);
                let close = match (own, expected) {
                    (Some(own), Some(expected)) => (own - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
                    (own, expected) => own == expected,
                };
                assert!(close, "{seed} {statistic:?} at node {node}: {own:?}, expected {expected:?}");
            }
        }
    }
}

/// Graphs of atoms "a" and "b" whose target is a function of their numbers.
fn counted_graphs(seed: u64, graphs: usize, target: impl Fn(f64, f64) -> f64) -> Dataset {
    let mut random = Stream::named(seed, "counted graphs", 0);
    let (mut nodes, mut edges) = ("graph_id,node_id,kind\n".to_owned(), "graph_id,source,target\n".to_owned());
    let mut table = "graph_id,target\n".to_owned();
    for graph in 0..graphs {
        let count = 4 + random.below(9);
        let mut counts = [0.0; 2];
        let share = 0.1 + 0.8 * random.uniform();
        for node in 0..count {
            let kind = usize::from(random.uniform() < share);
            counts[kind] += 1.0;
            nodes.push_str(&format!("g{graph},n{node},{}\n", ["a", "b"][kind]));
            if node > 0 {
                edges.push_str(&format!("g{graph},n{node},n{}\n", random.below(node)));
            }
        }
        table.push_str(&format!("g{graph},{}\n", target(counts[0], counts[1]) + 0.3 * random.normal()));
    }
    written([("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", table)])
}

/// Nodes of one graph whose target is a function of their own number and of the mean of their neighbours'.
fn surrounded_nodes(seed: u64, count: usize, target: impl Fn(f64, f64) -> f64) -> Dataset {
    let mut random = Stream::named(seed, "surrounded nodes", 0);
    let numbers: Vec<f64> = (0..count).map(|_| random.normal()).collect();
    let mut neighbours = vec![Vec::new(); count];
    let mut edges = "source,target\n".to_owned();
    for node in 1..count {
        for _ in 0..1 + random.below(2) {
            let other = random.below(node);
            if !neighbours[node].contains(&other) {
                neighbours[node].push(other);
                neighbours[other].push(node);
                edges.push_str(&format!("n{node},n{other}\n"));
            }
        }
    }
    let mut nodes = "node_id,x,target\n".to_owned();
    for node in 0..count {
        let mean = neighbours[node].iter().map(|other| numbers[*other]).sum::<f64>() / neighbours[node].len() as f64;
        let value = target(numbers[node], mean) + 0.3 * random.normal();
        nodes.push_str(&format!("n{node},{},{value}\n", numbers[node]));
    }
    written([("nodes.csv", nodes), ("edges.csv", edges), ("unused.txt", String::new())])
}

fn written(files: [(&str, String); 3]) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files.iter().filter(|(_, text)| !text.is_empty()) {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let options = DatasetOptions { targets: vec!["target".to_owned()], ..DatasetOptions::default() };
    Dataset::open_with(folder.path(), &options).unwrap()
}

fn mean_error(model: &Model, data: &Dataset) -> f64 {
    let outputs = model.outputs_on(data).unwrap();
    let pairs = outputs.values.iter().zip(data.items());
    let errors = pairs.map(|(output, item)| (f64::from(*output) - data.targets()[0].values[*item as usize]).abs());
    errors.sum::<f64>() / data.len() as f64
}

/// A target that bends with a count needs the second level; one that is a sum of effects does not, and seldom gets it.
#[test]
fn the_second_level_is_chosen_where_it_is_needed_alone() {
    let bent = |a: f64, b: f64| (a - 4.0).abs() + 0.2 * b;
    let (train, test) = (counted_graphs(1, 500, bent), counted_graphs(2, 200, bent));
    let chosen = penalised(LevelChoice::Auto).fit(&train).unwrap();
    assert_eq!(chosen.spec().fit.level, LevelChoice::Two);
    let first = penalised(LevelChoice::One).fit(&train).unwrap();
    assert_eq!(first.spec().fit.level, LevelChoice::One);
    let [better, worse] = [&chosen, &first].map(|model| mean_error(model, &test));
    assert!(better < 0.45 && better < 0.6 * worse, "{better} {worse}");
    let gets_second = |seed: &u64| {
        let plain = counted_graphs(*seed, 300, |a, b| 0.5 * a - 0.3 * b);
        penalised(LevelChoice::Auto).fit(&plain).unwrap().spec().fit.level == LevelChoice::Two
    };
    let by_chance = (3..13).filter(gets_second).count();
    assert!(by_chance <= 3, "{by_chance} of 10");
}

/// What a node makes of its neighbours' values depends on its own: a table over the two is found, and has nothing left in it that
/// depends on one of them alone.
#[test]
fn tables_over_two_numbers_are_found_and_pure() {
    let product = |own: f64, others: f64| 1.5 * own * others;
    let (train, test) = (surrounded_nodes(5, 1500, product), surrounded_nodes(6, 500, product));
    let model = penalised(LevelChoice::Auto).fit(&train).unwrap();
    assert!(model.spec().model.feature_pairs > 0, "{:?}", model.record().tried);
    let plain = penalised(LevelChoice::One).fit(&train).unwrap();
    let [better, worse] = [&model, &plain].map(|model| mean_error(model, &test));
    assert!(better < 0.7 * worse, "{better} {worse}");
    let canonical = model.canonical();
    let mut tables = 0;
    for (k, feature) in model.learned().features.iter().enumerate() {
        let Some(_) = feature.pair.as_ref().filter(|pair| pair.of_item) else { continue };
        tables += 1;
        let mut means: BTreeMap<(usize, String), (f64, f64, f64)> = BTreeMap::new();
        for level in &feature.levels {
            let effect = canonical.effect(k, FeatureValue::Level(&level.name), 0)[0];
            let (row, column) = level.name.split_once(" & ").expect("two bins");
            for (member, bin) in [row, column].into_iter().enumerate() {
                let (sum, weight, size) = means.entry((member, bin.to_owned())).or_default();
                *sum += level.support.nodes as f64 * effect;
                *weight += level.support.nodes as f64;
                *size += level.support.nodes as f64 * effect.abs();
            }
        }
        for (bin, (sum, weight, size)) in means {
            assert!((sum / weight).abs() < 1e-4 * (1.0 + size / weight), "{} {bin:?}: {}", feature.name, sum / weight);
        }
    }
    assert!(tables > 0);
}

/// Predictions are the same from a file, for some items alone, with relabelled nodes, and for any number of threads; parts add up.
#[test]
fn models_of_the_second_level_keep_every_promise() {
    let bent = |a: f64, b: f64| (a - 4.0).abs() - 0.4 * (a - 4.0) * (b - 4.0);
    let product = |own: f64, others: f64| own * others + others.abs();
    for data in [counted_graphs(7, 160, bent), surrounded_nodes(8, 220, product)] {
        let mut spec = penalised(LevelChoice::Two);
        spec.model.feature_pairs = 3;
        let model = spec.fit(&data).unwrap();
        assert_eq!(model.learned().features.iter().filter(|k| k.pair.is_some()).count(), 3);
        let whole = model.outputs_on(&data).unwrap().values;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.gnan");
        model.save(&path).unwrap();
        let loaded = Model::load(&path).unwrap();
        let places: Vec<usize> = (0..data.len()).step_by(7).collect();
        let some = loaded.outputs_on(&data.subset(&places)).unwrap().values;
        for (own, place) in some.iter().zip(&places) {
            assert!((own - whole[*place]).abs() < 1e-5, "{own} {}", whole[*place]);
        }
        for position in 0..12 {
            let explanation = model.explain(&data, position).unwrap();
            assert!(explanation.adds_up(), "{position}");
            let sds = explanation.sds.as_ref().expect("a penalised fit has bands");
            assert!(sds.prediction[0] > 0.0 && sds.prediction[0].is_finite());
        }
        let bytes = |threads: usize| {
            let run = Run::default().with_threads(threads).unwrap();
            let path = folder.path().join(format!("{threads}.gnan"));
            spec.fit(&data.with_run(&run)).unwrap().save(&path).unwrap();
            std::fs::read(path).unwrap()
        };
        assert_eq!(bytes(1), bytes(3));
    }
}

/// What cannot have a second level refuses it.
#[test]
fn a_second_level_that_cannot_be_is_refused() {
    let data = counted_graphs(9, 40, |a, b| a + b);
    let mut spec = penalised(LevelChoice::Two);
    spec.distances.pool = PoolChoice::Sum;
    let error = spec.fit(&data).unwrap_err().to_string();
    assert!(error.contains("second level"), "{error}");
    assert_eq!(data.task(), Task::Graph);
    // A hop cap holds for numbers that sum up items as well.
    let model = penalised(LevelChoice::Two).hop_cap(1).fit(&data).unwrap();
    let farthest = model.learned().features.iter().filter_map(|k| k.statistic.as_ref()).map(|own| own.distance).max();
    assert!(farthest.is_some_and(|farthest| farthest <= 1), "{farthest:?}");
}
