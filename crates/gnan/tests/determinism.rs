//! The same seed gives the same bytes, whatever the number of threads; a model read back predicts the same bits.

mod common;
mod oracle;

use common::{CaseShape, FeaturePlan, class_column, dataset, random_case};
use gnan::files::{Column, Values};
use gnan::internals::random::Stream;
use gnan::spec::RhoChoice;
use gnan::{Dataset, Model, Spec};

fn plan() -> Vec<FeaturePlan> {
    let plan = |name: &str, kind, missing, distinct| FeaturePlan { name: name.to_owned(), kind, missing, distinct };
    let mut plans: Vec<FeaturePlan> = (0..8).map(|k| plan(&format!("curve{k}"), "continuous", 0.05, 0)).collect();
    plans.push(plan("colour", "categorical", 0.1, 4));
    plans.push(plan("count", "sparse", 0.0, 3));
    plans.push(plan("flag", "binary", 0.1, 0));
    plans
}

/// 80 graphs of classes.
fn graphs() -> Dataset {
    let mut random = Stream::named(5, "determinism of graphs", 0);
    let mut case = random_case(&mut random, CaseShape { graph_task: true, graphs: 1, nodes: [1, 1] }, &plan());
    case.graphs = (0..80).map(|k| common::random_graph(&mut random, k % 14)).collect();
    let nodes = case.nodes();
    for (feature, plan) in case.features.iter_mut().zip(plan()) {
        feature.values = common::random_values(&mut random, &plan, nodes);
    }
    let classes: Vec<Option<usize>> = (0..80).map(|_| Some(random.below(3))).collect();
    dataset(&case, vec![class_column("target", 3, &classes)])
}

/// One graph of 1,500 nodes, so that the work of every stage is divided, some of them labelled; and a small one.
fn nodes() -> Dataset {
    let mut random = Stream::named(5, "determinism of nodes", 0);
    let mut case = random_case(&mut random, CaseShape { graph_task: false, graphs: 1, nodes: [1, 1] }, &plan());
    case.graphs = [1500, 20].map(|nodes| common::random_graph(&mut random, nodes)).to_vec();
    case.graphs[0].edges.extend((1..1500).map(|node| [node, node / 3]));
    for (feature, plan) in case.features.iter_mut().zip(plan()) {
        feature.values = common::random_values(&mut random, &plan, 1520);
    }
    let numbers = (0..1520).map(|k| if k % 10 == 0 || k > 1500 { random.normal() } else { f64::NAN }).collect();
    dataset(&case, vec![Column::new("target", Values::Numbers(numbers))])
}

fn training(seed: u64) -> Spec {
    Spec::default().hidden(32).epochs(3).learning_rate(0.01).seed(seed)
}

/// Fits and predicts in a pool of this many threads: the bytes of the model and the bits of its outputs.
fn in_pool(threads: usize, training: &Spec, data: &Dataset) -> (Vec<u8>, Vec<u32>) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| {
        let model = training.fit(data).expect("a model");
        (model.to_bytes().expect("bytes"), bits(&model, data))
    })
}

fn bits(model: &Model, data: &Dataset) -> Vec<u32> {
    model.outputs_on(data).expect("outputs").values.iter().map(|y| y.to_bits()).collect()
}

/// Every way of training that takes another path through the engine.
fn ways(seed: u64) -> Vec<(&'static str, Spec)> {
    let full = training(seed);
    vec![
        ("shared", full.clone().rho(RhoChoice::Shared)),
        ("per feature", full.clone().rho(RhoChoice::PerFeature)),
        ("mini-batches", full.clone().batch(16).rho(RhoChoice::PerFeature)),
        ("dropout", full.clone().dropout(0.4).rho(RhoChoice::Shared)),
        ("both", full.dropout(0.4).batch(30).rho(RhoChoice::Auto)),
    ]
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for (name, data) in [("graphs", graphs()), ("nodes", nodes())] {
        for (way, training) in ways(3) {
            let alone = in_pool(1, &training, &data);
            for threads in [2, 5] {
                assert!(
                    in_pool(threads, &training, &data) == alone,
                    "{name}, {way}: {threads} threads differ from one"
                );
            }
        }
    }
}

#[test]
fn a_model_read_back_is_the_same_to_the_last_bit() {
    for data in [graphs(), nodes()] {
        for (way, training) in ways(4) {
            let model = training.fit(&data).expect("a model");
            let bytes = model.to_bytes().expect("bytes");
            let again = Model::from_bytes(&bytes).expect("a model");
            assert_eq!(again.definition(), model.definition(), "{way}");
            assert!(again.to_bytes().expect("bytes") == bytes, "{way}: the bytes differ");
            assert!(bits(&again, &data) == bits(&model, &data), "{way}: the outputs differ");

            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("model.gnan");
            model.save(&path).expect("saved");
            assert!(std::fs::read(&path).expect("bytes") == bytes, "{way}: the file differs");
            assert!(bits(&Model::load(&path).expect("a model"), &data) == bits(&model, &data), "{way}");
        }
    }
}

#[test]
fn another_seed_gives_another_model() {
    let data = graphs();
    let tensors = |seed| {
        let model = training(seed).fit(&data).expect("a model");
        (model.parameters().values.clone(), bits(&model, &data))
    };
    let (one, two) = (tensors(1), tensors(2));
    assert!(one.0 != two.0 && one.1 != two.1);
    assert!(one == tensors(1));
}

/// The order in which a case is trained does not leak from one fit to the next.
#[test]
fn a_second_fit_on_the_same_data_is_the_first() {
    let data = nodes();
    for (way, training) in ways(9) {
        let [first, second] = [0, 1].map(|_| training.fit(&data).expect("a model").to_bytes().expect("bytes"));
        assert!(first == second, "{way}");
    }
}
