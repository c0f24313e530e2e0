//! Models fitted by penalised likelihood: planted effects are found, the free intercept does what it must, results do not depend on
//! threads or seeds, and what such a fit does not have is refused.

mod common;
mod oracle;

use std::ops::ControlFlow;

use common::{CaseShape, class_column, dataset, random_case, random_plan};
use gnan::dataset::{Problem, Split};
use gnan::explain::FeatureValue;
use gnan::files::{Column, Values};
use gnan::internals::random::Stream;
use gnan::model::Ended;
use gnan::spec::{FamilyChoice, FitMethod, LevelChoice, RhoChoice};
use gnan::{Dataset, DatasetOptions, Metric, Model, Outcome, Run, Spec};

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
    assert!(model.evaluate(&data).unwrap().get(Metric::R2).unwrap() > 0.98);
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
    let mut named_pair = penalised();
    named_pair.model.feature_pair = vec!["a,b".parse().unwrap()];
    let mut first_level = penalised().feature_pairs(3);
    first_level.fit.level = LevelChoice::One;
    for (spec, word) in [
        (penalised().rho(RhoChoice::Auto), "choice between shared and own distance functions"),
        (penalised().rho(RhoChoice::Shared).feature_pairs(2), "where features share distance functions"),
        (penalised().readout(true), "readout"),
        (named_pair, "feature pairs"),
        (first_level, "first level"),
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

/// Chains of nodes labelled a, b or c; a chain is of one class if that has, up to chance, many neighbours a and b (`around`), or many
/// nodes a.
fn chains(seed: u64, around: bool) -> Dataset {
    let mut random = Stream::named(seed, "chains", 0);
    let (mut node_offsets, mut edges, mut codes, mut classes) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for _ in 0..300 {
        let first = codes.len();
        let nodes = 6 + random.below(8);
        codes.extend((0..nodes).map(|_| random.below(3) as u32));
        edges.extend((1..nodes).map(|node| [(first + node - 1) as u32, (first + node) as u32]));
        let own = &codes[first..];
        let count = match around {
            true => own.windows(2).filter(|pair| pair[0] + pair[1] == 1).count(),
            false => own.iter().filter(|code| **code == 0).count(),
        };
        classes.push(Some(usize::from(count as f64 + 0.7 * random.normal() > if around { 2.0 } else { 3.0 })));
        node_offsets.push(codes.len());
    }
    let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
    let tables = gnan::files::Tables {
        name: "chains".to_owned(),
        graph_ids: (0..300).map(|graph| graph.to_string()).collect(),
        node_offsets,
        edges,
        node_columns: vec![
            Column::new("label", Values::Categories { codes, levels }).with_kind(gnan::files::Kind::Categorical),
        ],
        graph_columns: vec![class_column("class", 2, &classes)],
        ..gnan::files::Tables::default()
    };
    let options = DatasetOptions { targets: vec!["class".to_owned()], ..DatasetOptions::default() };
    Dataset::from_tables(tables, &options).unwrap()
}

/// Environments are taken where neighbours decide, and left where they do not; the record lists what was compared, and what is chosen
/// predicts the same from its file.
#[test]
fn training_items_choose_descriptions_where_they_help() {
    for (seed, around) in [(3, true), (4, true), (3, false), (4, false), (5, false), (6, false)] {
        let data = chains(seed, around);
        let fitted = penalised().fit_split(&split_of(&data), &mut |_| ControlFlow::Continue(())).unwrap();
        let model = fitted.model;
        let described = model.spec().data.describe.iter().any(|description| description.to_string() == "environment");
        assert_eq!(described, around, "{}", fitted.chosen);
        let record = model.record();
        assert!(record.tried.len() > 3 && record.tried.iter().any(|(name, _)| *name == fitted.chosen));
        // Nothing needed the validation items.
        assert_eq!((record.train_items, record.joined_items, record.valid_items), (270, 30, 0));
        let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(read.outputs_on(&data).unwrap().values, model.outputs_on(&data).unwrap().values);
        assert!(model.explain(&data, 0).unwrap().adds_up());
        let plain = penalised().choose(false).fit(&data).unwrap();
        assert!(plain.record().tried.is_empty() && plain.spec().data.describe.is_empty());
    }
}

/// 240 items to fit on, 30 to validate, 30 to test.
fn split_of(data: &Dataset) -> Split {
    let part = |range: std::ops::Range<usize>| data.subset(&range.collect::<Vec<usize>>());
    Split { train: part(0..240), valid: part(240..270), test: part(270..300) }
}

/// What is left open is fitted by penalised likelihood, unless an option asks for what only networks have.
#[test]
fn options_of_networks_choose_gradient_descent() {
    let data = random_data(2, true, Some(2));
    let method = |spec: Spec| spec.fit(&data).unwrap().spec().fit.method;
    assert_eq!(method(Spec::default()), FitMethod::Penalised);
    assert_eq!(method(Spec::default().hidden(16).epochs(2)), FitMethod::Gradient);
    assert_eq!(method(Spec::default().rho(RhoChoice::Shared).epochs(2)), FitMethod::Gradient);
}

/// Nodes of several classes with many words: a node has one with a chance of 0.1, of those of its class `own`.
fn word_nodes(classes: &[usize], edges: Vec<[u32; 2]>, words: usize, own: f64, random: &mut Stream) -> Dataset {
    let (nodes, count) = (classes.len(), classes.iter().max().unwrap() + 1);
    let word = |w: usize, random: &mut Stream| {
        let chance = |node: usize| if w % count == classes[node] { own } else { 0.1 };
        let rows: Vec<u32> =
            (0..nodes).filter(|node| random.uniform() < chance(*node)).map(|node| node as u32).collect();
        let values = vec![1.0; rows.len()];
        Column::new(format!("w{w}"), Values::Sparse { len: nodes, rows, values })
    };
    let target = class_column("class", count, &classes.iter().map(|class| Some(*class)).collect::<Vec<_>>());
    let tables = gnan::files::Tables {
        name: "words".to_owned(),
        graph_ids: vec!["g".to_owned()],
        node_offsets: vec![0, nodes],
        edges,
        node_columns: (0..words).map(|w| word(w, random)).chain([target]).collect(),
        ..gnan::files::Tables::default()
    };
    let options = DatasetOptions { targets: vec!["class".to_owned()], ..DatasetOptions::default() };
    Dataset::from_tables(tables, &options).unwrap()
}

/// The first nodes to fit on, the others to test.
fn first_nodes(data: &Dataset, count: usize) -> Split {
    let part = |range: std::ops::Range<usize>| data.subset(&range.collect::<Vec<usize>>());
    Split { train: part(0..count), valid: data.subset(&[]), test: part(count..data.len()) }
}

/// Words outnumber the nodes that are labelled: the dual form is taken, and gives the same bytes on any number of threads.
#[test]
fn words_are_fitted_in_the_dual_form() {
    let mut random = Stream::named(4, "words", 0);
    let classes: Vec<usize> = (0..60).map(|_| random.below(3)).collect();
    let edges = (1..60).map(|node| [random.below(node) as u32, node as u32]).collect();
    let split = first_nodes(&word_nodes(&classes, edges, 400, 0.5, &mut random), 40);
    let fit = |threads: usize| {
        let run = Run::default().with_threads(threads).unwrap();
        let part = |part: &Dataset| part.clone().with_run(&run);
        let split = Split { train: part(&split.train), valid: part(&split.valid), test: part(&split.test) };
        Spec::default().fit_split(&split, &mut |_| ControlFlow::Continue(())).unwrap().model
    };
    let model = fit(1);
    assert_eq!(model.to_bytes().unwrap(), fit(3).to_bytes().unwrap());
    assert_eq!(model.spec().distances.hop_cap, Some(4));
    assert!(model.has_prediction_bands() && model.record().summary.is_some());
    let accuracy = model.evaluate(&split.test).unwrap().get(Metric::Accuracy).unwrap();
    assert!(accuracy > 0.8, "{accuracy}");
    assert!(model.explain(&split.test, 0).unwrap().adds_up());
}

/// Where words tell nothing and the number of neighbours decides, its curve joins the words; where words decide, it does not. More
/// items than find the prior variances are all fitted.
#[test]
fn numbers_of_neighbours_join_words_in_the_dual_form() {
    for by_neighbours in [true, false] {
        let mut random = Stream::named(6, "hubs", 0);
        let nodes = 1100;
        let is_hub: Vec<bool> = (0..nodes).map(|_| random.uniform() < 0.4).collect();
        let hubs: Vec<usize> = (0..nodes).filter(|node| is_hub[*node]).collect();
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for node in 0..nodes {
            let other = hubs[random.below(hubs.len())];
            edges.push([node as u32, other as u32]);
        }
        let class = |node: usize, random: &mut Stream| match by_neighbours {
            true => usize::from(is_hub[node]),
            false => random.below(2),
        };
        let classes: Vec<usize> = (0..nodes).map(|node| class(node, &mut random)).collect();
        let data = word_nodes(&classes, edges, 600, if by_neighbours { 0.1 } else { 0.16 }, &mut random);
        let split = first_nodes(&data, 1000);
        let fitted = Spec::default().fit_split(&split, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(fitted.chosen.contains("level 2"), by_neighbours, "{:?}", fitted.tried);
        let accuracy = fitted.model.evaluate(&split.test).unwrap().get(Metric::Accuracy).unwrap();
        assert!(accuracy > 0.85, "{by_neighbours} {accuracy}");
        // Losses of the items that were looked at stand for the others.
        let (_, left_out) = fitted.tried.iter().find(|(name, _)| *name == fitted.chosen).unwrap();
        let log_loss = fitted.model.evaluate(&split.test).unwrap().get(Metric::LogLoss).unwrap();
        assert!((0.4..2.5).contains(&(left_out / log_loss)), "{left_out} {log_loss}");
        assert!(fitted.model.explain(&split.test, 0).unwrap().adds_up());
    }
}

/// Rings whose nodes are up, down or flat; `cell` makes the target of the sum over nodes of their own value, 0.3, -0.3 or 0, and half
/// of that of every neighbour.
fn rings(graphs: usize, problem: Problem, mut cell: impl FnMut(f64, &mut Stream) -> String) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Stream::named(6, "planted families", 0);
    let (mut nodes, mut edges) = ("graph_id,node_id,kind\n".to_owned(), "graph_id,source,target\n".to_owned());
    let mut table = "graph_id,y\n".to_owned();
    for graph in 0..graphs {
        let count = 4 + random.below(5);
        let kinds: Vec<usize> = (0..count).map(|_| random.below(3)).collect();
        for (node, kind) in kinds.iter().enumerate() {
            nodes.push_str(&format!("g{graph},n{node},{}\n", ["up", "down", "flat"][*kind]));
            edges.push_str(&format!("g{graph},n{node},n{}\n", (node + 1) % count));
        }
        // Every node has two neighbours, whose mean counts half.
        let sum: f64 = kinds.iter().map(|kind| 1.5 * [0.3, -0.3, 0.0][*kind]).sum();
        table.push_str(&format!("g{graph},{}\n", cell(sum, &mut random)));
    }
    for (name, text) in [("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", table)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let options = DatasetOptions { targets: vec!["y".to_owned()], problem: Some(problem), ..DatasetOptions::default() };
    Dataset::open_with(folder.path(), &options).unwrap()
}

/// A gamma number of mean 1 and a whole shape.
fn gamma(shape: usize, random: &mut Stream) -> f64 {
    (0..shape).map(|_| -random.uniform().max(1e-12).ln()).sum::<f64>() / shape as f64
}

fn poisson(mean: f64, random: &mut Stream) -> u32 {
    let (mut count, mut product) = (0, random.uniform());
    while product > (-mean).exp() {
        count += 1;
        product *= random.uniform();
    }
    count
}

/// Makes the cell of a target.
type TargetCell = fn(f64, &mut Stream) -> String;

/// The effects of the levels of the only feature, all distances together.
fn level_effects(model: &Model) -> [f64; 3] {
    let canonical = model.canonical();
    ["up", "down", "flat"]
        .map(|level| canonical.effects(0, FeatureValue::Level(level)).iter().map(|row| row[0]).sum::<f64>())
}

/// Counts and positive quantities: planted effects are found on the log scale, predictions are means on the scale of the target, parts
/// add up to their logarithms, and all of it survives the file.
#[test]
fn planted_effects_of_counts_and_positive_quantities_are_found() {
    let families: [(FamilyChoice, TargetCell, f64); 3] = [
        (FamilyChoice::Poisson, |sum, random| poisson((1.0 + sum).exp(), random).to_string(), 0.0),
        (
            FamilyChoice::NegativeBinomial,
            |sum, random| {
                let mean = (1.0 + sum).exp() * gamma(3, random);
                poisson(mean, random).to_string()
            },
            1.0 / 3.0,
        ),
        (FamilyChoice::Gamma, |sum, random| ((1.0 + sum).exp() * gamma(4, random)).to_string(), 0.25),
    ];
    for (family, cell, dispersion) in families {
        let data = rings(600, Problem::Regression, cell);
        let model = Spec::default().family(family).choose(false).fit(&data).unwrap();
        assert_eq!((model.spec().fit.method, model.record().ended), (FitMethod::Penalised, Ended::Converged));
        for (found, expected) in level_effects(&model).into_iter().zip([0.45, -0.45, 0.0]) {
            assert!((found - expected).abs() < 0.08, "{family}: {found} {expected}");
        }
        let learned = model.learned().target_family.as_ref().unwrap();
        assert_eq!(learned.family, family);
        assert!((learned.dispersions[0] - dispersion).abs() < 0.08, "{family}: {:?}", learned.dispersions);
        let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let predictions = read.predict(&data).unwrap();
        assert_eq!(predictions.items, model.predict(&data).unwrap().items);
        let outputs = model.outputs_on(&data).unwrap().values;
        let targets = &data.targets()[0].values;
        let (mut residual, mut total) = (0.0, 0.0);
        for ((item, output), target) in predictions.items.iter().zip(&outputs).zip(targets) {
            let (value, band) = (f64::from(item.outputs[0]), item.bands[0]);
            assert!((value - f64::from(*output).exp()).abs() < 1e-5 * value, "{family}");
            assert!(0.0 < band.lower && band.lower < value && value < band.upper, "{family}: {value} {band:?}");
            residual += if family == FamilyChoice::Gamma { target / value - 1.0 } else { target - value };
            total += value;
        }
        // The free intercept: counts are right on average, positive quantities by their ratio.
        let exact = family != FamilyChoice::NegativeBinomial;
        assert!(!exact || residual.abs() < 1e-4 * total, "{family}: {residual} of {total}");
        let metrics = model.evaluate(&data).unwrap();
        let [r2, deviance] = [Metric::R2, Metric::MeanDeviance].map(|metric| metrics.get(metric).unwrap());
        assert!(r2 > 0.2 && deviance > 0.0 && deviance < 2.0, "{family}: {metrics}");
        let why = model.explain(&data, 0).unwrap();
        assert!(why.adds_up() && (why.prediction[0] - f64::from(outputs[0])).abs() < 1e-5);
        assert_eq!(model.definition().shown_unit(), "log of y");
        assert!(model.record().target_scale.is_empty() && model.record().summary.is_some());
    }
}

/// Values below a limit of detection: a fit that counts the bounds is nearer the truth than one without these items, and the bounds
/// go with training items wherever data are divided.
#[test]
fn bounds_bring_a_fit_nearer_the_truth() {
    let noisy = |sum: f64, random: &mut Stream| sum + 0.5 * random.normal();
    let with_bounds = rings(900, Problem::Regression, |sum, random| match noisy(sum, random) {
        value if value < 0.0 => "<0".to_owned(),
        value if value > 1.2 => ">1.2".to_owned(),
        value => value.to_string(),
    });
    let without = rings(900, Problem::Regression, |sum, random| match noisy(sum, random) {
        value if (0.0..=1.2).contains(&value) => value.to_string(),
        _ => String::new(),
    });
    let known = without.labelled().len();
    assert_eq!(with_bounds.labelled().len(), known);
    let spec = penalised().choose(false);
    let (censored, dropped) = (spec.fit(&with_bounds).unwrap(), spec.fit(&without).unwrap());
    let error = |model: &Model| {
        let effects = level_effects(model).into_iter().zip([0.45, -0.45, 0.0]);
        effects.map(|(found, expected)| (found - expected).powi(2)).sum::<f64>().sqrt()
    };
    assert!(
        error(&censored) < 0.12 && error(&dropped) > 2.0 * error(&censored),
        "{} {}",
        error(&censored),
        error(&dropped)
    );
    assert_eq!((censored.record().train_items, censored.record().bounded_items), (900, 900 - known));
    assert_eq!((dropped.record().train_items, dropped.record().bounded_items), (known, 0));
    let noise = censored.record().summary.as_ref().unwrap().noise_sd[0];
    assert!((noise - 0.5).abs() < 0.08, "{noise}");
    // All bounds are for training; nothing is judged on them.
    let (train, test) = with_bounds.split(0.8, 1).unwrap();
    assert_eq!((train.len() + test.len(), test.labelled().len()), (900, test.len()));
    assert!(with_bounds.folds(5, 1).unwrap().iter().all(|(train, test)| train.len() + test.len() == 900));
    let (split, _) = with_bounds.parts(Some(0.2), 1).unwrap();
    let model = spec.fit_split(&split, &mut |_| ControlFlow::Continue(())).unwrap().model;
    assert_eq!(model.record().bounded_items, 900 - known);
    assert!(model.remembered(&with_bounds).unwrap().is_whole);
    // Counts have no use for bounds here: such items are missing, as in gradient descent.
    let gradient = Spec::default().method(FitMethod::Gradient).hidden(16).epochs(2);
    assert!(gradient.fit(&with_bounds).unwrap().record().train_items <= known);
}

#[test]
fn families_that_do_not_fit_are_refused() {
    let numbers = rings(40, Problem::Regression, |sum, _| (sum - 0.51).to_string());
    let halves = rings(40, Problem::Regression, |sum, _| ((4.0 + sum).floor() / 2.0).to_string());
    let classes = rings(40, Problem::Classification, |sum, _| if sum > 0.0 { "yes" } else { "no" }.to_owned());
    for (family, data, words) in [
        (FamilyChoice::Poisson, &numbers, "Poisson counts are whole numbers from 0 on"),
        (FamilyChoice::NegativeBinomial, &halves, "negative binomial counts are whole numbers from 0 on"),
        (FamilyChoice::Gamma, &numbers, "gamma quantities are numbers above 0"),
        (FamilyChoice::Poisson, &classes, "has classes"),
        (FamilyChoice::Gaussian, &classes, "has classes"),
    ] {
        let error = Spec::default().family(family).fit(data).unwrap_err();
        assert!(error.to_string().contains(words), "{family}: {error}");
        assert!(error.to_string().contains("family"), "{family}: {error}");
    }
    let error = Spec::default().family(FamilyChoice::Poisson).method(FitMethod::Gradient).check().unwrap_err();
    assert!(error.to_string().contains("gradient descent has no families"), "{error}");
    let error = Spec::default().family(FamilyChoice::Gamma).readout(true).fit(&halves).unwrap_err();
    assert!(error.to_string().contains("only such a fit has gamma quantities"), "{error}");
}

/// Who breaks off gets what there is: nothing more is compared, and nothing is taken that was hardly begun.
#[test]
fn what_is_broken_off_compares_no_more() {
    let data = Dataset::open("solubility").unwrap();
    for last in [1, 40] {
        let mut reports = 0;
        let mut monitor = |_: &gnan::train::EpochReport<'_>| {
            reports += 1;
            if reports >= last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let fitted = Spec::default().fit_watched(&data, None, &mut monitor).unwrap();
        assert_eq!((reports, fitted.ended), (last, Ended::Interrupted), "{last}");
        assert!(!fitted.tried.is_empty() && fitted.tried.iter().all(|(_, loss)| loss.is_finite()));
        assert!(last > 1 || fitted.tried.len() == 1, "{:?}", fitted.tried);
    }
}
