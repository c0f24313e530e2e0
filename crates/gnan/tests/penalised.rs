//! Models fitted by penalised likelihood: planted effects are found, the free intercept does what it must, results do not depend on
//! threads or seeds, and what such a fit does not have is refused.

mod common;
mod oracle;

use common::{CaseShape, class_column, dataset, random_case, random_plan};
use gnan::explain::FeatureValue;
use gnan::files::{Column, Values};
use gnan::internals::random::Stream;
use gnan::model::Ended;
use gnan::spec::{FitMethod, RhoChoice};
use gnan::{Dataset, DatasetOptions, Outcome, Run, Spec};

fn penalised() -> Spec {
    Spec::default().method(FitMethod::Penalised)
}

/// Random graphs with random features and targets of a kind.
fn random_data(seed: u64, graph_task: bool, classes: Option<usize>) -> Dataset {
    let mut random = Stream::named(seed, "penalised data", 0);
    let shape = match graph_task {
        true => CaseShape { graph_task, graphs: 60, nodes: [3, 10] },
        false => CaseShape { graph_task, graphs: 1, nodes: [80, 80] },
    };
    let plan = random_plan(&mut random);
    let case = random_case(&mut random, shape, &plan);
    let items = case.items();
    let target = match classes {
        Some(count) => {
            class_column("target", count, &(0..items).map(|_| Some(random.below(count))).collect::<Vec<_>>())
        }
        None => Column::new("target", Values::Numbers((0..items).map(|_| 7.0 + 3.0 * random.normal()).collect())),
    };
    dataset(&case, vec![target])
}

/// An intercept that no penalty touches leaves residuals that sum to 0: predictions are right on average, class by class.
#[test]
fn predictions_are_right_on_average() {
    for seed in 0..12 {
        for classes in [None, Some(2), Some(3)] {
            let data = random_data(seed, seed % 2 == 0, classes);
            let model = penalised().fit(&data).unwrap();
            assert_eq!(model.record().ended, Ended::Converged, "{seed} {classes:?}");
            let predictions = model.predict(&data).unwrap();
            let target = &data.targets()[0].values;
            let items = data.items().len() as f64;
            match model.learned().outcome {
                Outcome::Regression => {
                    let pairs = predictions.items.iter().zip(data.items());
                    let sum: f64 = pairs.map(|(p, i)| f64::from(p.outputs[0]) - target[*i as usize]).sum();
                    assert!((sum / items).abs() < 1e-4, "{seed}: {}", sum / items);
                }
                _ => {
                    for class in 0..classes.unwrap() {
                        let expected = data.items().iter().filter(|i| target[**i as usize] == class as f64).count();
                        let found: f64 = predictions.items.iter().map(|p| p.probabilities[class]).sum();
                        assert!((found - expected as f64).abs() < 1e-3 * items, "{seed} {class}: {found} {expected}");
                    }
                }
            }
        }
    }
}

/// The same for several targets at once, some of them missing, with weights of items.
#[test]
fn several_targets_are_right_on_average_by_weight() {
    for (seed, classes) in [(1, false), (2, true), (3, false), (4, true)] {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Stream::named(seed, "several targets", 0);
        let (mut nodes, mut edges) = ("graph_id,node_id,kind,size\n".to_owned(), "graph_id,source,target\n".to_owned());
        let mut graphs = "graph_id,one,two,times\n".to_owned();
        for graph in 0..80 {
            let count = 3 + random.below(5);
            for node in 0..count {
                let (kind, size) = (["a", "b"][random.below(2)], random.normal());
                nodes.push_str(&format!("g{graph},n{node},{kind},{size}\n"));
                edges.push_str(&format!("g{graph},n{node},n{}\n", (node + 1) % count));
            }
            let mut target = |missing: bool| match (missing, classes) {
                (true, _) => String::new(),
                (false, true) => ["no", "yes"][random.below(2)].to_owned(),
                (false, false) => format!("{}", 2.0 + random.normal()),
            };
            let (one, two) = (target(graph % 7 == 3), target(graph % 5 == 2));
            graphs.push_str(&format!("g{graph},{one},{two},{}\n", 1 + graph % 3));
        }
        for (name, text) in [("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", graphs)] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let options = DatasetOptions {
            targets: vec!["one".to_owned(), "two".to_owned()],
            weight: Some("times".to_owned()),
            ..DatasetOptions::default()
        };
        let data = Dataset::open_with(folder.path(), &options).unwrap();
        let model = penalised().fit(&data).unwrap();
        let outputs = model.outputs_on(&data).unwrap();
        assert_eq!(outputs.width, 2);
        for (k, target) in data.targets().iter().enumerate() {
            let (mut sum, mut weights) = (0.0, 0.0);
            for (place, item) in data.items().iter().enumerate() {
                let value = target.values[*item as usize];
                if value.is_nan() {
                    continue;
                }
                let output = f64::from(outputs.values[place * 2 + k]);
                let mean = if classes { 1.0 / (1.0 + (-output).exp()) } else { output };
                let weight = f64::from(data.weight(*item));
                sum += weight * (mean - value);
                weights += weight;
            }
            assert!((sum / weights).abs() < 1e-4, "{seed} {}: {}", target.name, sum / weights);
        }
    }
}

/// Graphs of a ring with a tail; the target is a sum over nodes of their own value and half of that of every neighbour.
fn planted(folder: &std::path::Path) -> Dataset {
    let mut random = Stream::named(5, "planted effects", 0);
    let (mut nodes, mut edges) = ("graph_id,node_id,kind,size\n".to_owned(), "graph_id,source,target\n".to_owned());
    let mut graphs = "graph_id,y\n".to_owned();
    for graph in 0..400 {
        let count = 4 + random.below(6);
        let mut y = 0.05 * random.normal();
        let mut own = Vec::new();
        for node in 0..count {
            let (kind, size) = (random.below(3), random.uniform() * 10.0);
            own.push([1.0, -1.0, 0.0][kind] + if size > 5.0 { 0.6 } else { -0.6 });
            nodes.push_str(&format!("g{graph},n{node},{},{size}\n", ["up", "down", "flat"][kind]));
            edges.push_str(&format!("g{graph},n{node},n{}\n", (node + 1) % count));
        }
        for node in 0..count {
            let neighbours = [own[(node + 1) % count], own[(node + count - 1) % count]];
            y += own[node] + 0.5 * (neighbours[0] + neighbours[1]) / 2.0;
        }
        graphs.push_str(&format!("g{graph},{y}\n"));
    }
    for (name, text) in [("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", graphs)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
    Dataset::open_with(folder, &options).unwrap()
}

#[test]
fn planted_effects_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let data = planted(folder.path());
    let model = penalised().fit(&data).unwrap();
    let canonical = model.canonical();
    // A sum over all receivers gives own values weight 1 and neighbours' together a half: the sum of effects over distances is what
    // the data determine well.
    let total = |k: usize, value: FeatureValue<'_>| canonical.effects(k, value).iter().map(|row| row[0]).sum::<f64>();
    let name = |k: usize| model.learned().features[k].name.clone();
    let kind = (0..2).find(|k| name(*k) == "kind").unwrap();
    for (level, expected) in [("up", 1.5), ("down", -1.5), ("flat", 0.0)] {
        let found = total(kind, FeatureValue::Level(level));
        assert!((found - expected).abs() < 0.15, "{level}: {found}");
    }
    for (size, expected) in [(1.5, -0.9), (8.5, 0.9)] {
        let found = total(1 - kind, FeatureValue::Number(size));
        assert!((found - expected).abs() < 0.15, "{size}: {found}");
    }
    assert!(model.evaluate(&data).unwrap().get(gnan::Metric::R2).unwrap() > 0.98);
}

#[test]
fn threads_and_seeds_change_no_byte_of_the_parameters() {
    for graph_task in [true, false] {
        let data = random_data(3, graph_task, Some(2));
        let bytes = |threads: usize, seed: u64| {
            let data = data.clone().with_run(&Run::default().with_threads(threads).unwrap());
            let model = penalised().seed(seed).fit(&data).unwrap();
            model.outputs_on(&data).unwrap().values
        };
        let first = bytes(1, 0);
        for (threads, seed) in [(2, 0), (5, 0), (2, 9)] {
            assert_eq!(first, bytes(threads, seed), "{threads} threads, seed {seed}");
        }
    }
}

#[test]
fn what_a_penalised_fit_does_not_have_is_refused() {
    for (spec, word) in [
        (penalised().rho(RhoChoice::Shared), "distance function for all features"),
        (penalised().readout(true), "readout"),
        (penalised().feature_pairs(3), "feature pairs"),
        (penalised().rho_monotone(true), "rules for distance functions"),
        (penalised().shell_sample(8), "samples of shells"),
        (penalised().batch(16), "mini-batches"),
    ] {
        let error = spec.check().unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    assert!(penalised().check().is_ok());
    let unused: Vec<&str> =
        penalised().learning_rate(0.1).epochs(5).without_effect().into_iter().map(|(name, _)| name).collect();
    assert_eq!(unused, ["learning-rate", "epochs"]);
}
