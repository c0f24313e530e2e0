//! Explanations: every marginal of every explanation gives the prediction back, and the canonical form does not depend
//! on how a model happens to be written down.

mod common;
mod oracle;

use common::{CaseShape, dataset_for, model_and_new_case, random_case, random_model, random_model_shape, random_plan};
use gnan::Model;
use gnan::dataset::Feature;
use gnan::explain::FeatureValue;
use gnan::files::{Kind, Task, Values};
use gnan::internals::lens::Pool;
use gnan::internals::random::Stream;

#[test]
fn every_explanation_adds_up() {
    let mut explained = 0;
    for seed in 0..300 {
        let (model, case) = model_and_new_case(&mut Stream::named(seed, "explanations", 0));
        if case.items() == 0 {
            continue;
        }
        let data = dataset_for(&case, &model);
        for position in 0..data.len() {
            let why = model.explain(&data, position).unwrap();
            assert!(why.adds_up(), "seed {seed}, item {position}: {why:?}");
            for output in 0..why.outputs.len() {
                let (total, exact) = (why.total(output), why.prediction[output]);
                let size = 1.0 + why.by_node(output).iter().map(|part| part.abs()).sum::<f64>();
                assert!((total - exact).abs() < 1e-4 * size, "seed {seed}: {total} {exact}");
            }
            explained += 1;
        }
    }
    assert!(explained > 1000, "{explained}");
}

/// An explanation that was tampered with is noticed.
#[test]
fn an_explanation_that_does_not_add_up_says_so() {
    let mut random = Stream::named(5, "tampered", 0);
    let shape = random_model_shape(&mut random);
    let plan = random_plan(&mut random);
    let case = random_case(&mut random, CaseShape { graph_task: true, graphs: 1, nodes: [5, 5] }, &plan);
    let model = random_model(&mut random, shape, &case);
    let mut why = model.explain(&dataset_for(&case, &model), 0).unwrap();
    assert!(why.adds_up());
    why.prediction[0] += 0.01 * (1.0 + why.total(0).abs());
    assert!(!why.adds_up());
}

/// `(a * rho, f / a, b / a)` is the same model.
fn rescaled(model: &Model, factor: f32) -> Model {
    let mut parameters = model.parameters().clone();
    parameters.rhos.scale_outputs(&vec![factor; model.outputs()]);
    parameters.scale_sources(&vec![1.0 / factor; model.outputs()]);
    let mut definition = model.definition().clone();
    for feature in &mut definition.learned.features {
        feature.mean_effect.iter_mut().for_each(|mean| *mean /= f64::from(factor));
    }
    Model::from_parts(definition, parameters)
}

#[test]
fn scale_and_sign_of_the_raw_parameters_do_not_show() {
    for seed in 0..60 {
        let mut random = Stream::named(seed, "canonical", 0);
        let shape = random_model_shape(&mut random);
        let plan = random_plan(&mut random);
        let case = random_case(&mut random, CaseShape { graph_task: true, graphs: 2, nodes: [2, 9] }, &plan);
        let model = random_model(&mut random, shape, &case);
        let table = |model: &Model| {
            let canonical = model.canonical();
            let mut numbers: Vec<f64> = canonical.rhos().into_iter().flat_map(|rho| rho.values).flatten().collect();
            let features = canonical.features();
            numbers.extend(features.iter().flat_map(|f| &f.levels).flat_map(|level| level.values.clone()));
            numbers.extend(canonical.structure().iter().flatten());
            numbers.extend(canonical.output_bias());
            numbers
        };
        let plain = table(&model);
        // Powers of two scale floats exactly; -1 turns every sign.
        for factor in [0.25, -1.0, -8.0] {
            let other = table(&rescaled(&model, factor));
            assert_eq!(plain.len(), other.len());
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
            assert!(plain.iter().zip(&other).all(close), "seed {seed}, factor {factor}");
        }
    }
}

#[test]
fn influence_is_one_at_the_anchor_and_categories_have_mean_zero_at_every_distance() {
    let mut anchored = 0;
    for seed in 0..60 {
        let mut random = Stream::named(seed, "canonical means", 0);
        let shape = random_model_shape(&mut random);
        let plan = random_plan(&mut random);
        let case = random_case(&mut random, CaseShape { graph_task: true, graphs: 2, nodes: [2, 9] }, &plan);
        let model = random_model(&mut random, shape, &case);
        let canonical = model.canonical();
        for (r, rho) in canonical.rhos().iter().enumerate() {
            let Some(anchor) = canonical.rho_anchor(r) else { continue };
            for output in 0..model.outputs() {
                // Where it is next to nothing at the anchor it is relative to its largest value.
                let sizes = rho.values.iter().map(|values| values[output].abs());
                let (at_anchor, largest) = (rho.values[anchor][output], sizes.fold(0.0, f64::max));
                let is_anchored = (at_anchor - 1.0).abs() < 1e-12;
                assert!(is_anchored || (at_anchor.abs() < 0.05 * largest.max(1.0) && largest < 1.0 + 1e-12), "{rho:?}");
                anchored += usize::from(is_anchored);
            }
        }
        for (k, schema) in model.definition().learned.features.iter().enumerate() {
            if schema.kind != Kind::Categorical || schema.levels.is_empty() {
                continue;
            }
            let values =
                schema.levels.iter().map(|level| FeatureValue::Level(&level.name)).chain([FeatureValue::Missing]);
            let shared: Vec<_> = values.zip(schema.level_shares()).collect();
            for slot in 0..canonical.slots() {
                for output in 0..model.outputs() {
                    let weighed =
                        shared.iter().map(|(value, share)| share * canonical.product(k, *value, slot)[output]);
                    assert!(weighed.sum::<f64>().abs() < 1e-9, "seed {seed}, {} in slot {slot}", schema.name);
                }
            }
        }
    }
    assert!(anchored > 60, "{anchored}");
}

/// The value of a feature of a node.
fn value_of(feature: &Feature, node: usize) -> FeatureValue<'_> {
    let number = |x: f64| if x.is_nan() { FeatureValue::Missing } else { FeatureValue::Number(x) };
    match &feature.values {
        Values::Categories { codes, levels } => {
            levels.get(codes[node] as usize).map_or(FeatureValue::Missing, |level| FeatureValue::Level(level))
        }
        Values::Numbers(values) => number(values[node]),
        Values::Sparse { rows, values, .. } => {
            number(rows.iter().position(|row| *row as usize == node).map_or(0.0, |place| values[place]))
        }
    }
}

/// What a node adds to its own output in a ledger is the number of the effect table at distance 0.
#[test]
fn a_ledger_has_the_numbers_of_the_effect_table() {
    let mut compared = 0;
    for seed in 0..200 {
        let (model, case) = model_and_new_case(&mut Stream::named(seed, "effects", 0));
        let data = dataset_for(&case, &model);
        let canonical = model.canonical();
        let (axis, learned) = (canonical.axis(), &model.definition().learned);
        let features = model.features_of(&data).unwrap();
        for position in 0..data.len() {
            let why = model.explain(&data, position).unwrap();
            let item = data.items()[position] as usize;
            let receivers = if data.task() == Task::Graph { data.nodes_of(item) } else { item..item + 1 };
            for (k, feature) in features.iter().enumerate() {
                for lens in 0..axis.lenses() {
                    let itself = axis.range(lens).start;
                    let averaged = data.task() == Task::Graph && learned.lenses[lens].pool == Pool::Mean;
                    let share = if averaged { 1.0 / receivers.len() as f64 } else { 1.0 };
                    for output in 0..why.outputs.len() {
                        let effect = |node| share * canonical.effect(k, value_of(feature, node), itself)[output];
                        let (mut expected, mut size) = (0.0, 1.0f64);
                        receivers.clone().map(effect).for_each(|effect| {
                            expected += effect;
                            size += effect.abs();
                        });
                        let slot = why.axis.range(lens).start;
                        let found = why.by_feature_and_distance[k][slot][output];
                        assert!((found - expected).abs() < 1e-9 * size, "seed {seed}: {found} {expected}");
                        compared += usize::from(expected != 0.0);
                    }
                }
            }
        }
    }
    assert!(compared > 500, "{compared}");
}

/// Relabelling the nodes of a graph permutes the ledger by node and keeps the rest.
#[test]
fn relabelling_permutes_the_ledger() {
    for seed in 0..40 {
        let mut random = Stream::named(seed, "relabelled", 0);
        let shape = random_model_shape(&mut random);
        let plan = random_plan(&mut random);
        let case = random_case(&mut random, CaseShape { graph_task: true, graphs: 1, nodes: [3, 9] }, &plan);
        let model = random_model(&mut random, shape, &case);
        let nodes = case.nodes();
        let mut place: Vec<usize> = (0..nodes).collect();
        random.shuffle(&mut place);
        let moved = common::relabelled(&case, &place);
        let (why, other) = (
            model.explain(&dataset_for(&case, &model), 0).unwrap(),
            model.explain(&dataset_for(&moved, &model), 0).unwrap(),
        );
        for output in 0..why.outputs.len() {
            let (before, after) = (why.by_node(output), other.by_node(output));
            let size = 1.0 + before.iter().map(|part| part.abs()).sum::<f64>();
            assert!((0..nodes).all(|node| (before[node] - after[place[node]]).abs() < 1e-9 * size), "seed {seed}");
            assert!((why.structure(output) - other.structure(output)).abs() < 1e-9 * size);
        }
    }
}
