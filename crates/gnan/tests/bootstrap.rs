//! The bootstrap: lanes equal single models, runs repeat and continue, files that lie are refused, bands make sense.

mod common;
mod oracle;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{CaseShape, dataset_for, random_case, random_model, random_model_shape, random_plan};
use gnan::bootstrap::{Bootstrap, BootstrapEvent, Intervals, Replicates};
use gnan::explain::Curves;
use gnan::files::{Column, Kind, Tables, Task, Values};
use gnan::internals::model::{Engine, Model, OptimiserState, Parameters, StepSettings};
use gnan::internals::random::Stream;
use gnan::internals::shape::Adam;
use gnan::spec::{LogitChoice, RhoChoice};
use gnan::{Dataset, DatasetOptions, Spec};

/// Outputs and one training step of several models at once against each of them alone. Sums of one lane and of several
/// run in different order where there are several outputs, so they agree to f32 rounding.
#[test]
fn lanes_equal_single_models() {
    let mut random = Stream::named(11, "lanes", 0);
    for round in 0..24 {
        let plan = random_plan(&mut random);
        let shape = CaseShape { graph_task: round % 2 == 0, graphs: 6, nodes: [1, 9] };
        let case = random_case(&mut random, shape, &plan);
        let model_shape = random_model_shape(&mut random);
        let model = random_model(&mut random, model_shape, &case);
        let data = dataset_for(&case, &model);
        let features = model.features_of(&data).expect("features");
        let statistics = Arc::new(model.statistics(&data, &features).expect("statistics"));
        let rows: Vec<usize> = (0..data.len()).collect();
        let outputs = model.outputs();
        let replicates = [1, 3, 16][round % 3];
        let parameters: Vec<Parameters> = (0..replicates)
            .map(|_| {
                let mut own = model.parameters().clone();
                own.scale_sources(&vec![1.0 + random.uniform() as f32; outputs]);
                own.bias.iter_mut().for_each(|bias| *bias += random.normal() as f32);
                own
            })
            .collect();
        let gradient: Vec<f32> = (0..data.len() * outputs * replicates).map(|_| random.normal() as f32).collect();
        let adam = Adam { learning_rate: 0.0, beta1: 0.0, ..Adam::default() };
        let settings = StepSettings { adam, output_bias: true, group_penalty: 0.0 };

        let engine_model = || model.definition().engine_model();
        let mut together = Engine::replicated(engine_model(), Arc::clone(&statistics), 0.5, replicates);
        let mut their_rows = together.rows(&rows, round % 4 < 2);
        let all: Vec<Option<&Parameters>> = parameters.iter().map(Some).collect();
        together.tables_of(&all, true);
        let mut found = vec![0.0; data.len() * outputs * replicates];
        together.outputs(&mut their_rows, &mut found);
        together.gradients(&mut their_rows, &gradient);

        for (r, parameters) in parameters.iter().enumerate() {
            let own = |lanes: &[f32]| lanes.iter().skip(r).step_by(replicates).copied().collect::<Vec<f32>>();
            let mut alone = Engine::new(engine_model(), Arc::clone(&statistics), 0.5);
            let mut own_rows = alone.rows(&rows, round % 4 < 2);
            alone.tables(parameters, true);
            let mut expected = vec![0.0; data.len() * outputs];
            alone.outputs(&mut own_rows, &mut expected);
            close(&own(&found), &expected, "outputs");
            let (mut one, mut other) = (OptimiserState::new(parameters), OptimiserState::new(parameters));
            alone.step(&mut own_rows, &own(&gradient), &mut parameters.clone(), &mut one, settings);
            together.step_of(r, &mut parameters.clone(), &mut other, settings);
            for (one, other) in one.first_moments().into_iter().zip(other.first_moments()) {
                close(other, one, "gradients");
            }
            if replicates == 1 {
                assert_eq!(own(&found), expected);
                assert_eq!(one.first_moments(), other.first_moments());
            }
        }
    }
}

fn close(found: &[f32], expected: &[f32], what: &str) {
    let largest = expected.iter().fold(1.0f32, |largest, x| largest.max(x.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 2e-5 * largest, "{what}: {found} {expected} (largest {largest})");
    }
}

fn quick() -> Spec {
    Spec::default().epochs(12).layers(2).hidden(16).patience(0)
}

fn solubility() -> Dataset {
    let data = Dataset::open("solubility").expect("the built-in data");
    data.subset(&(0..data.len()).step_by(12).collect::<Vec<_>>())
}

fn quiet(_: BootstrapEvent) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn in_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

#[test]
fn a_run_that_is_broken_off_and_continued_gives_the_bytes_of_one_go_on_any_number_of_threads() {
    let data = solubility();
    let model = quick().fit(&data).expect("a model");
    let bootstrap = Bootstrap { resamples: 40, seed: 7, restart: false };
    let whole = in_threads(1, || bootstrap.run(&model, &data, None, &quiet)).expect("replicates");
    assert!(whole.is_complete() && whole.len() == 40);
    let bytes = whole.to_bytes().expect("bytes");
    let threads = in_threads(2, || bootstrap.run(&model, &data, None, &quiet)).expect("replicates");
    assert_eq!(bytes, threads.to_bytes().expect("bytes"));

    let folder = tempfile::tempdir().expect("a folder");
    let file = Replicates::path_beside(folder.path().join("model.gnan"));
    let epochs = AtomicUsize::new(0);
    let break_off = |event: BootstrapEvent| match event {
        BootstrapEvent::Epoch { .. } if epochs.fetch_add(1, Ordering::Relaxed) > 16 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let part = in_threads(1, || bootstrap.run(&model, &data, Some(&file), &break_off)).expect("a part");
    assert_eq!((part.len(), part.is_complete()), (16, false));
    assert_eq!(Replicates::load(&file, &model).expect("what was saved").len(), 16);
    let rest = bootstrap.run(&model, &data, Some(&file), &quiet).expect("the rest");
    assert_eq!(bytes, rest.to_bytes().expect("bytes"));
    assert_eq!(bytes, std::fs::read(&file).expect("the file"));

    // More resamples later are those of one go, too.
    let few = Bootstrap { resamples: 20, seed: 7, restart: false };
    std::fs::remove_file(&file).expect("removed");
    few.run(&model, &data, Some(&file), &quiet).expect("a few");
    bootstrap.run(&model, &data, Some(&file), &quiet).expect("the rest");
    assert_eq!(bytes, std::fs::read(&file).expect("the file"));

    let other_seed = Bootstrap { resamples: 40, seed: 8, restart: false }.run(&model, &data, Some(&file), &quiet);
    assert!(other_seed.expect_err("another seed").to_string().contains("seed 7"));
    let other_data = bootstrap.run(&model, &data.subset(&[0, 1, 2]), Some(&file), &quiet);
    assert!(other_data.expect_err("other data").to_string().contains("other data"));
}

#[test]
fn files_that_lie_are_refused() {
    let data = solubility();
    let model = quick().fit(&data).expect("a model");
    let bytes = Bootstrap { resamples: 2, seed: 1, restart: false }
        .run(&model, &data, None, &quiet)
        .expect("run")
        .to_bytes()
        .unwrap();
    assert_eq!(Replicates::from_bytes(&bytes, &model).expect("its own").to_bytes().expect("bytes"), bytes);
    let other = quick().seed(5).fit(&data).expect("another model");
    let error = Replicates::from_bytes(&bytes, &other).expect_err("another model").to_string();
    assert!(error.contains("another model") && error.contains("again from the start"), "{error}");
    for len in [0, 7, 8, 100, bytes.len() - 1] {
        assert!(Replicates::from_bytes(&bytes[..len], &model).is_err());
    }
    let text = |from: &str, to: &str| {
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).expect("the text");
        let mut changed = bytes.clone();
        changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        Replicates::from_bytes(&changed, &model)
    };
    assert!(text("\\\"version\\\":1", "\\\"version\\\":9").expect_err("newer").to_string().contains("version 9"));
    assert!(text("\\\"done\\\":2", "\\\"done\\\":3").is_err());
    assert!(text("\"present\"", "\"absents\"").is_err());
    // The file ends with the numbers of the two resamples; what stands before them is a finite number.
    let end = bytes.len();
    let mut unasked = bytes.clone();
    unasked[end - 4..].copy_from_slice(&77u32.to_le_bytes());
    assert!(Replicates::from_bytes(&unasked, &model).expect_err("unasked").to_string().contains("not wanted"));
    let mut infinite = bytes.clone();
    infinite[end - 16..end - 8].copy_from_slice(&f64::NAN.to_le_bytes());
    assert!(Replicates::from_bytes(&infinite, &model).expect_err("NaN").to_string().contains("not finite"));
}

/// 60 rings and paths whose label is whether they hold a node of kind "a"; "rare" is in one of them.
fn planted() -> Dataset {
    let mut random = Stream::named(5, "planted", 0);
    let mut tables = Tables { name: "planted".into(), node_offsets: vec![0], ..Tables::default() };
    tables.task = Some(Task::Graph);
    tables.targets = vec!["label".into()];
    let (mut codes, mut labels) = (Vec::new(), Vec::new());
    for graph in 0..60 {
        let (first, nodes) = (codes.len(), 4 + random.below(4));
        let label = graph % 2;
        for node in 0..nodes {
            codes.push(if label == 1 && node == 0 { 0 } else { 1 + random.below(2) as u32 });
            if node > 0 {
                tables.edges.push([(first + node - 1) as u32, (first + node) as u32]);
            }
        }
        if graph == 9 {
            codes[first + 2] = 3;
        }
        tables.graph_ids.push(graph.to_string());
        tables.node_offsets.push(codes.len());
        labels.push(label as u32);
    }
    let levels = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let kinds = Values::Categories { codes, levels: levels(&["a", "b", "c", "rare"]) };
    tables.node_columns.push(Column::new("kind", kinds).with_kind(Kind::Categorical));
    tables
        .graph_columns
        .push(Column::new("label", Values::Categories { codes: labels, levels: levels(&["no", "yes"]) }));
    Dataset::from_tables(tables, &DatasetOptions::default()).expect("a data set")
}

#[test]
fn bands_hold_the_point_estimate_and_verdicts_say_what_was_planted() {
    let data = planted();
    for (rho, logits) in [(RhoChoice::Shared, LogitChoice::One), (RhoChoice::PerFeature, LogitChoice::Two)] {
        let training = Spec::default().epochs(300).layers(2).hidden(16).rho(rho).logits(logits);
        let model = training.fit(&data).expect("a model");
        let replicates =
            Bootstrap { resamples: 60, seed: 3, restart: false }.run(&model, &data, None, &quiet).expect("replicates");
        let intervals = Intervals::new(&model, &replicates).expect("intervals");
        assert_eq!(intervals.products[0].len(), 4);
        let slots = model.definition().learned.receivers.len();
        assert_eq!((intervals.structure.len(), intervals.products[0][0].len()), (slots, slots));
        assert_eq!(intervals.importance.by_feature.len(), 1);
        assert!(intervals.importance.by_feature[0][0].low > 0.0);
        let verdict = &intervals.shape_verdicts[0][0];
        assert!(verdict.contains("a: raises"), "{verdict}");
        assert!(verdict.contains("rare: too few graphs to tell"), "{verdict}");
        assert_eq!(intervals.rho_verdicts.len(), intervals.rho.len());
        for band in intervals.products.iter().flatten().flatten().flatten() {
            assert!(band.low <= band.high && band.low.is_finite() && band.high.is_finite());
        }
    }
}

/// A ring of 40 nodes, of which a third say 1 and have the label of what they and their neighbours say.
fn ring() -> Dataset {
    let mut random = Stream::named(6, "ring", 0);
    let mut tables = Tables { name: "ring".into(), node_offsets: vec![0, 40], ..Tables::default() };
    tables.graph_ids = vec!["ring".into()];
    tables.task = Some(Task::Node);
    tables.targets = vec!["label".into()];
    tables.edges = (0..40).map(|node| [node, (node + 1) % 40]).collect();
    let says: Vec<f64> = (0..40).map(|_| random.normal()).collect();
    let labels = (0..40).map(|node| u32::from(says[node] + says[(node + 1) % 40] > 0.0)).collect();
    let level = (0..40).map(|_| random.below(3) as u32).collect();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    tables.node_columns.push(Column::new("says", Values::Numbers(says)).with_kind(Kind::Continuous));
    let levels = Values::Categories { codes: level, levels: names(&["x", "y", "z"]) };
    tables.node_columns.push(Column::new("level", levels).with_kind(Kind::Categorical));
    tables.node_columns.push(Column::new("label", Values::Categories { codes: labels, levels: names(&["no", "yes"]) }));
    Dataset::from_tables(tables, &DatasetOptions::default()).expect("a data set")
}

#[test]
fn node_tasks_resample_labelled_nodes() {
    let data = ring();
    for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
        let training = quick().dropout(0.1).rho(rho);
        let model = training.fit(&data).expect("a model");
        let replicates =
            Bootstrap { resamples: 5, seed: 2, restart: false }.run(&model, &data, None, &quiet).expect("replicates");
        let intervals = Intervals::new(&model, &replicates).expect("intervals");
        assert_eq!(replicates.header().items, 40);
        assert_eq!(intervals.shapes.len(), 2);
        assert!(intervals.too_few.iter().flatten().all(|too_few| !too_few));
    }
}

#[test]
fn alignment_undoes_random_scalings_and_sign_flips() {
    let mut random = Stream::named(4, "alignment", 0);
    for _ in 0..50 {
        let (rhos, slots, outputs) = (1 + random.below(3), 2 + random.below(5), 1 + random.below(3));
        let mut draw = |rows: usize| -> Vec<Vec<f64>> {
            (0..rows).map(|_| (0..outputs).map(|_| random.normal()).collect()).collect()
        };
        let point = Curves {
            rho: (0..rhos).map(|_| draw(slots)).collect(),
            shapes: (0..rhos).map(|_| draw(3)).collect(),
            structure: draw(slots),
            base: vec![0.5; outputs],
        };
        let mut other = point.clone();
        for r in 0..rhos {
            for c in 0..outputs {
                let factor = random.normal() + if random.below(2) == 0 { 2.0 } else { -2.0 };
                other.rho[r].iter_mut().for_each(|values| values[c] *= factor);
                other.shapes[r].iter_mut().for_each(|values| values[c] /= factor);
            }
        }
        let receivers: Vec<f64> = (0..slots).map(|slot| 10.0 - slot as f64).collect();
        let rho_of: Vec<Vec<usize>> = (0..rhos).map(|r| vec![r; 3]).collect();
        other.align(&point, &receivers, &rho_of);
        let pairs = other.rho.iter().chain(&other.shapes).zip(point.rho.iter().chain(&point.shapes));
        for (found, expected) in pairs.flat_map(|(a, b)| a.iter().flatten().zip(b.iter().flatten())) {
            assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{found} {expected}");
        }
    }
}

/// Older model files do not say everything that repeating their training needs.
#[test]
fn models_of_before_can_be_bootstrapped() {
    let data = solubility();
    let model = quick().fit(&data).expect("a model");
    let mut definition = model.definition().clone();
    let record = &mut definition.record;
    (record.resolved.fit.epochs, record.resolved.fit.patience, record.resolved.model.output_bias) = (None, None, None);
    record.target_scale.clear();
    let old = Model::from_parts(definition, model.parameters().clone());
    let old = Model::from_bytes(&old.to_bytes().expect("bytes")).expect("an old model");
    let stop = |event: BootstrapEvent| match event {
        BootstrapEvent::Epoch { epochs, .. } => {
            assert_eq!(epochs, 3000);
            ControlFlow::Break(())
        }
        BootstrapEvent::Done { .. } => ControlFlow::Continue(()),
    };
    let replicates = Bootstrap::default().run(&old, &data, None, &stop).expect("replicates");
    assert!(replicates.is_empty() && Intervals::new(&old, &replicates).is_err());
}
