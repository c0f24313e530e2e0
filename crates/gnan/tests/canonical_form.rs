//! The canonical form does not depend on how a model happens to be written down: scale and sign of every rho against
//! what it weighs, constants moved between features and bias, constants inside shape networks.

mod common;
mod oracle;

use common::{CaseShape, ModelShape, random_case, random_model, random_model_shape, random_plan};
use gnan::Model;
use gnan::explain::{Canonical, FeatureValue};
use gnan::files::Kind;
use gnan::internals::model::{Layout, Rho};
use gnan::internals::random::Stream;
use proptest::prelude::*;

/// Agreement of two tables, relative to the largest number of either (and 1). Parameters are f32: what rounding
/// changes in a weight is 6e-8 of it.
const TOLERANCE: f64 = 1e-5;

/// Values at which shape functions of numeric features are compared.
const NUMBERS: [f64; 5] = [-2.0, 0.0, 0.3, 1.0, 7.5];

/// A table of numbers and its name.
type NamedTable = (String, Vec<f64>);

/// Every table of a canonical form, by name.
fn tables(model: &Model) -> Vec<NamedTable> {
    let canonical = model.canonical();
    let mut tables = products(&canonical);
    for rho in canonical.rhos() {
        tables.push((format!("rho {}", rho.name), rho.values.into_iter().flatten().collect()));
    }
    for feature in canonical.features() {
        for level in feature.levels {
            tables.push((format!("{} at {}", feature.name, level.name), level.values));
        }
    }
    for (k, feature) in model.definition().learned.features.iter().enumerate() {
        for value in NUMBERS.map(FeatureValue::Number).into_iter().chain([FeatureValue::Missing]) {
            tables.extend(canonical.shape(k, value).map(|shape| (format!("{} at {value:?}", feature.name), shape)));
        }
    }
    tables
}

/// The tables that hold even where levels have a rho each: heatmap cells, structure curve, output bias.
fn products(canonical: &Canonical) -> Vec<NamedTable> {
    let mut tables = vec![
        ("structure".to_owned(), canonical.structure().iter().flatten().copied().collect()),
        ("output bias".to_owned(), canonical.output_bias().to_vec()),
    ];
    for (k, feature) in canonical.definition().learned.features.iter().enumerate() {
        let levels = feature.levels.iter().map(|level| FeatureValue::Level(&level.name));
        for value in levels.chain(NUMBERS.map(FeatureValue::Number)).chain([FeatureValue::Missing]) {
            let cells = (0..canonical.slots()).flat_map(|slot| canonical.product(k, value, slot));
            tables.push((format!("{} x distance at {value:?}", feature.name), cells.collect()));
        }
    }
    tables
}

/// The name of the first table in which two lists differ.
fn difference(a: &[NamedTable], b: &[NamedTable]) -> Option<String> {
    if a.len() != b.len() {
        return Some("the number of tables".to_owned());
    }
    let differs = |((name, a), (other, b)): (&NamedTable, &NamedTable)| {
        let size = a.iter().chain(b).fold(1.0f64, |size, x| size.max(x.abs()));
        // The influence is relative to a value that may be a twentieth of the largest.
        let tolerated = if name.starts_with("rho ") { 20.0 * TOLERANCE } else { TOLERANCE } * size;
        let same = name == other && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerated);
        (!same).then(|| format!("{name}: {a:?} and {b:?}"))
    };
    a.iter().zip(b).find_map(differs)
}

/// A random model of the wanted task and rho; every sort of outcome comes up.
fn model(seed: u64, graph_task: bool, rho: Rho) -> Model {
    let mut random = Stream::named(seed, "canonical form", 0);
    random_one(&mut random, graph_task, |shape| ModelShape { rho, ..shape })
}

/// The same without association rules, under which a constant cannot move from a feature to the bias.
fn unruled_model(seed: u64, graph_task: bool, rho: Rho) -> Model {
    let mut random = Stream::named(seed, "canonical form", 0);
    random_one(&mut random, graph_task, |mut shape| {
        shape.distance_options.rules = 0;
        ModelShape { rho, ..shape }
    })
}

fn random_one(random: &mut Stream, graph_task: bool, of: impl Fn(ModelShape) -> ModelShape) -> Model {
    let shape = of(random_model_shape(random));
    let plan = random_plan(random);
    let case = random_case(random, CaseShape { graph_task, graphs: 3, nodes: [2, 9] }, &plan);
    random_model(random, shape, &case)
}

fn rho_of(per_feature: bool) -> Rho {
    if per_feature { Rho::PerFeature } else { Rho::Grouped }
}

/// The rho of each row of free values.
fn value_rhos(model: &Model, layout: &Layout) -> Vec<usize> {
    let definition = model.definition();
    let mut rhos = vec![0; layout.values];
    for (feature, place) in definition.learned.features.iter().zip(&layout.features) {
        let own = feature.has_level_rhos() && definition.learned.rho == Rho::PerFeature;
        let count = feature.levels.len() + usize::from(feature.missing.is_some());
        (0..count).for_each(|level| rhos[place.first_value + level] = place.first_rho + if own { level } else { 0 });
    }
    rhos
}

/// `(a * rho, f / a, b / a)` with a factor of its own for every rho and output.
fn rescaled(model: &Model, mut factor: impl FnMut() -> f32) -> Model {
    let (mut definition, mut parameters) = (model.definition().clone(), model.parameters().clone());
    let layout = definition.layout();
    let outputs = model.outputs();
    // A feature is weighed by one distance function of every lens, and all of them take the same factor.
    let factors: Vec<Vec<f32>> = (0..layout.functions).map(|_| (0..outputs).map(|_| factor()).collect()).collect();
    let inverse: Vec<Vec<f32>> = factors.iter().map(|row| row.iter().map(|a| 1.0 / a).collect()).collect();
    for function in 0..layout.rho_functions() {
        parameters.rhos.scale_outputs_of(function, &factors[function % layout.functions]);
    }
    let inverse = |rho: usize| &inverse[layout.rhos[rho].function];
    for (feature, place) in definition.learned.features.iter_mut().zip(&layout.features) {
        let inverse = inverse(place.first_rho);
        if let Some(network) = place.network {
            parameters.shapes.scale_outputs_of(network, inverse);
        }
        feature.mean_effect.iter_mut().zip(inverse).for_each(|(mean, a)| *mean *= f64::from(*a));
    }
    for (row, rho) in parameters.values.chunks_exact_mut(outputs).zip(value_rhos(model, &layout)) {
        row.iter_mut().zip(inverse(rho)).for_each(|(value, a)| *value *= a);
    }
    parameters.bias.iter_mut().zip(inverse(0)).for_each(|(bias, a)| *bias *= a);
    Model::from_parts(definition, parameters)
}

/// Adds a constant per output to all free values of each categorical feature, and takes it out of the bias.
fn shifted(model: &Model, random: &mut Stream) -> Model {
    let (definition, mut parameters) = (model.definition().clone(), model.parameters().clone());
    let layout = definition.layout();
    let outputs = model.outputs();
    for (feature, place) in definition.learned.features.iter().zip(&layout.features) {
        if feature.kind != Kind::Categorical {
            continue;
        }
        let count = feature.levels.len() + usize::from(feature.missing.is_some());
        for c in 0..outputs {
            let constant = random.normal() as f32;
            (0..count).for_each(|level| parameters.values[(place.first_value + level) * outputs + c] += constant);
            parameters.bias[c] -= constant;
        }
    }
    Model::from_parts(definition, parameters)
}

/// Moves the output bias of every shape network, or the coefficients of a spline that has all of them, which the reference
/// takes out again.
fn moved(model: &Model, random: &mut Stream) -> Model {
    let mut parameters = model.parameters().clone();
    let outputs = model.outputs();
    let bias = parameters.shapes.architecture().map(|architecture| {
        let parts = architecture.parts();
        parts.iter().find(|part| part.name == "output.bias").expect("an output bias").range.clone()
    });
    for network in 0..parameters.shapes.len() {
        if parameters.shapes.splines().get(network).is_some_and(|form| form.basis.anchored) {
            continue;
        }
        let moves: Vec<f32> = (0..outputs).map(|_| random.normal() as f32).collect();
        let block = parameters.shapes.block_mut(network);
        let constant = bias.clone().unwrap_or(0..block.len());
        block[constant]
            .chunks_exact_mut(outputs)
            .for_each(|row| row.iter_mut().zip(&moves).for_each(|(b, by)| *b += by));
    }
    Model::from_parts(model.definition().clone(), parameters)
}

/// Up to twenty times larger or smaller, half of the time with the sign turned.
fn any_factor(random: &mut Stream) -> f32 {
    let size = 20f64.powf(2.0 * random.uniform() - 1.0);
    (if random.below(2) == 0 { size } else { -size }) as f32
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scale_and_sign_do_not_show(seed: u64, graph_task: bool, per_feature: bool) {
        let model = model(seed, graph_task, rho_of(per_feature));
        let mut random = Stream::named(seed, "factors", 0);
        let other = rescaled(&model, || any_factor(&mut random));
        prop_assert_eq!(difference(&tables(&model), &tables(&other)), None);
    }

    #[test]
    fn sign_alone_does_not_show(seed: u64, graph_task: bool, per_feature: bool) {
        let model = model(seed, graph_task, rho_of(per_feature));
        prop_assert_eq!(difference(&tables(&model), &tables(&rescaled(&model, || -1.0))), None);
    }

    #[test]
    fn constants_of_categories_do_not_show(seed: u64, graph_task: bool) {
        let model = unruled_model(seed, graph_task, Rho::Shared);
        let other = shifted(&model, &mut Stream::named(seed, "constants", 0));
        prop_assert_eq!(difference(&tables(&model), &tables(&other)), None);
    }

    /// With a rho per level a constant can move to the bias where all those rhos are the bias's own.
    #[test]
    fn constants_of_levels_with_equal_rhos_do_not_show_in_products(seed: u64, graph_task: bool) {
        let model = unruled_model(seed, graph_task, Rho::PerFeature);
        let layout = model.definition().layout();
        let mut parameters = model.parameters().clone();
        for function in 0..layout.rho_functions() {
            let of_bias = parameters.rhos.block(function / layout.functions * layout.functions).to_vec();
            parameters.rhos.block_mut(function).copy_from_slice(&of_bias);
        }
        let model = Model::from_parts(model.definition().clone(), parameters);
        let other = shifted(&model, &mut Stream::named(seed, "constants", 0));
        prop_assert_eq!(difference(&products(&model.canonical()), &products(&other.canonical())), None);
    }

    #[test]
    fn output_biases_of_shape_networks_do_not_show(seed: u64, graph_task: bool, per_feature: bool) {
        let model = model(seed, graph_task, rho_of(per_feature));
        let other = moved(&model, &mut Stream::named(seed, "biases", 0));
        prop_assert_eq!(difference(&tables(&model), &tables(&other)), None);
    }
}

/// The properties above would hold of tables of zeros: a change of the function does show.
#[test]
fn another_function_has_other_tables() {
    let (mut shown, mut asked) = (0, 0);
    for seed in 0..60 {
        let model = model(seed, seed % 2 == 0, rho_of(seed % 3 == 0));
        let mut parameters = model.parameters().clone();
        parameters.scale_sources(&vec![1.01; model.outputs()]);
        let other = Model::from_parts(model.definition().clone(), parameters);
        asked += 1;
        shown += usize::from(difference(&tables(&model), &tables(&other)).is_some());
    }
    assert!(shown > asked * 9 / 10, "{shown} of {asked}");
}
