//! Readout functions: two exact stages, and a canonical form that scale and sign do not change.

mod common;
mod oracle;

use common::{
    CaseShape, ModelShape, class_column, dataset, dataset_for, random_case, random_model, random_model_shape,
    random_plan,
};
use gnan::internals::random::Stream;
use gnan::{Dataset, Model, Spec};

/// Graphs of two classes with every kind of feature.
fn graphs(seed: u64) -> Dataset {
    let mut random = Stream::named(seed, "readout", 0);
    let plan = random_plan(&mut random);
    let case = random_case(&mut random, CaseShape { graph_task: true, graphs: 60, nodes: [1, 9] }, &plan);
    let classes: Vec<Option<usize>> = (0..case.graphs.len()).map(|_| Some(random.below(2))).collect();
    dataset(&case, vec![class_column("target", 2, &classes)])
}

fn quick() -> Spec {
    Spec::default().hidden(16).layers(2).epochs(15).learning_rate(0.02).readout(true)
}

/// Trained on everything, so that no validation part keeps the model at its start.
fn trained(training: &Spec, data: &Dataset) -> Model {
    let nothing = data.subset(&[]);
    let fitted = training.fit_watched(data, Some(&nothing), &mut |_| std::ops::ControlFlow::Continue(()));
    fitted.expect("a model").model
}

#[test]
fn both_stages_add_up() {
    let mut explained = 0;
    for seed in 0..80 {
        let mut random = Stream::named(seed, "two stages", 0);
        let shape = ModelShape { readout: true, ..random_model_shape(&mut random) };
        let plan = random_plan(&mut random);
        let case = random_case(&mut random, CaseShape { graph_task: true, graphs: 4, nodes: [0, 9] }, &plan);
        let model = random_model(&mut random, shape, &case);
        let data = dataset_for(&case, &model);
        let positions: Vec<usize> = (0..data.len()).collect();
        for why in model.explain_readout(&data, &positions).expect("explanations") {
            assert!(why.adds_up(), "seed {seed}: {why:?}");
            explained += 1;
        }
    }
    assert!(explained > 100, "{explained}");
}

#[test]
fn a_trained_readout_is_in_canonical_form() {
    let data = graphs(1);
    let model = trained(&quick(), &data);
    let positions: Vec<usize> = (0..data.len()).collect();
    let explained = model.explain_readout(&data, &positions).expect("explanations");
    assert!(explained.iter().all(|why| why.adds_up()));
    let count = explained.len() as f64;
    let mut spread_out = 0;
    for part in 0..explained[0].terms.len() {
        let inputs: Vec<f64> = explained.iter().map(|why| why.terms[part].input).collect();
        let mean = inputs.iter().sum::<f64>() / count;
        let spread = (inputs.iter().map(|input| (input - mean).powi(2)).sum::<f64>() / count).sqrt();
        assert!((spread - 1.0).abs() < 1e-3 || spread < 1e-6, "part {part}: {spread}");
        spread_out += usize::from(spread > 0.5);
        let mean = explained.iter().map(|why| why.terms[part].values[0]).sum::<f64>() / count;
        assert!(mean.abs() < 1e-4, "part {part}: {mean}");
    }
    assert!(spread_out > 1);
}

#[test]
fn a_readout_survives_its_file_and_any_number_of_threads() {
    let data = graphs(2);
    for training in [quick(), quick().batch(7)] {
        let bytes = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| training.fit(&data).expect("a model").to_bytes().expect("bytes"))
        };
        let one = bytes(1);
        assert!(one == bytes(3));
        let (model, again) = (Model::from_bytes(&one).unwrap(), training.fit(&data).unwrap());
        assert_eq!(model.outputs_on(&data).unwrap().values, again.outputs_on(&data).unwrap().values);
        assert!(model.tables().readout.is_some());
        assert!(String::from_utf8(model.tables().csv().unwrap()).unwrap().contains("readout knot"));
    }
}

/// The tables give the input of every part, and the readout functions make the outputs of it.
#[test]
fn exported_readout_functions_give_the_predictions_back() {
    let data = graphs(3);
    let model = trained(&quick(), &data);
    let readout = model.tables().readout.expect("a readout");
    let positions: Vec<usize> = (0..data.len()).collect();
    let outputs = model.outputs_on(&data).unwrap();
    for (why, predicted) in model.explain_readout(&data, &positions).unwrap().iter().zip(&outputs.values) {
        let parts = why.terms.iter().zip(&readout.functions);
        let sum: f64 = parts.map(|(term, function)| function.evaluate(term.input)[0]).sum();
        assert!((readout.base[0] + sum - f64::from(*predicted)).abs() < 1e-4);
    }
}

#[test]
fn a_readout_of_nodes_or_beside_a_promise_is_refused() {
    let mut random = Stream::named(4, "nodes", 0);
    let plan = random_plan(&mut random);
    let case = random_case(&mut random, CaseShape { graph_task: false, graphs: 1, nodes: [30, 30] }, &plan);
    let classes: Vec<Option<usize>> = (0..case.nodes()).map(|_| Some(random.below(2))).collect();
    let nodes = dataset(&case, vec![class_column("target", 2, &classes)]);
    let error = quick().fit(&nodes).expect_err("refused").to_string();
    assert!(error.contains("tasks about graphs"), "{error}");
    let rule = quick().rho_monotone(true);
    let error = rule.fit(&graphs(1)).expect_err("refused").to_string();
    assert!(error.contains("stands between"), "{error}");
    let data = graphs(1);
    let error =
        gnan::internals::train::Retraining::new(&trained(&quick(), &data), &data).err().expect("refused").to_string();
    assert!(error.contains("resamples"), "{error}");
}
