//! Ways of measuring distance against brute force, and association rules that hold exactly.

mod common;
mod oracle;

use common::{
    CaseShape, DistanceOptions, FeaturePlan, ModelShape, class_column, dataset, random_case, random_graph,
    random_model_shape, random_model_through, random_plan, random_values, tables,
};
use gnan::files::{Column, Kind, Values};
use gnan::internals::lens::{Lens, Pool};
use gnan::internals::random::Stream;
use gnan::model::{Model, Rho};
use gnan::spec::{EdgeDirection, EdgeTypes, FeatureHopCap, PoolChoice, RhoChoice, RhoGroup, WeightBins};
use gnan::{Dataset, Spec};
use oracle::{Case, FileModel, Receiver};

/// A case whose edges have a type and a length each.
struct Typed {
    case: Case,
    types: Vec<usize>,
    lengths: Vec<f64>,
}

const TYPES: [&str; 3] = ["road", "rail", "river"];

fn typed(random: &mut Stream, shape: CaseShape, plan: &[FeaturePlan]) -> Typed {
    let case = random_case(random, shape, plan);
    let edges: usize = case.graphs.iter().map(|graph| graph.edges.len()).sum();
    let types = (0..edges).map(|_| random.below(3)).collect();
    // Halves and quarters add up exactly, so that a sum on the border of two bins is no matter of rounding.
    let lengths = (0..edges).map(|_| random.below(12) as f64 / 4.0).collect();
    Typed { case, types, lengths }
}

fn data(typed: &Typed, model: &Model) -> Dataset {
    let mut tables = tables(&typed.case);
    let codes = typed.types.iter().map(|code| *code as u32).collect();
    let levels = TYPES.map(str::to_owned).to_vec();
    tables.edge_labels = Some(Column::new("type", Values::Categories { codes, levels }).with_kind(Kind::Categorical));
    tables.edge_numbers = vec![Column::new("length", Values::Numbers(typed.lengths.clone()))];
    Dataset::from_tables(tables, &model.data_options()).expect("a data set")
}

/// Distances by a lens from the definition: repeated relaxation of all edges.
fn brute_force(typed: &Typed, lens: &Lens) -> Vec<Receiver> {
    let (mut receivers, mut first, mut edge) = (Vec::new(), 0, 0);
    for (index, graph) in typed.case.graphs.iter().enumerate() {
        let mut steps: Vec<(usize, usize, f64)> = Vec::new();
        for [source, target] in &graph.edges {
            let name = TYPES[typed.types[edge]];
            let length = if lens.bins.is_some() { typed.lengths[edge] } else { 1.0 };
            edge += 1;
            if !lens.types.is_empty() && !lens.types.iter().any(|wanted| wanted == name) {
                continue;
            }
            let both = !typed.case.directed || lens.direction == EdgeDirection::Ignoring;
            if both || lens.direction == EdgeDirection::Along {
                steps.push((*source, *target, length));
            }
            if both || lens.direction == EdgeDirection::Against {
                steps.push((*target, *source, length));
            }
        }
        for node in 0..graph.nodes {
            // to[j]: the shortest way from j to this node.
            let mut to = vec![f64::INFINITY; graph.nodes];
            to[node] = 0.0;
            for _ in 0..graph.nodes {
                for (source, target, length) in &steps {
                    to[*source] = f64::min(to[*source], to[*target] + length);
                }
            }
            let slot = |(source, distance): (usize, &f64)| match &lens.bins {
                _ if source == node => Some(0),
                None => {
                    distance.is_finite().then_some((*distance as usize).min(lens.far.map_or(usize::MAX, usize::from)))
                }
                // The first bin that does not end before it.
                Some(bins) => bins.ends.iter().position(|end| *distance <= *end).map(|bin| bin + 1),
            };
            let distances = to.iter().enumerate().map(slot).collect();
            let item = if typed.case.graph_task { index } else { first + node };
            receivers.push(Receiver { item, first, distances, others: Vec::new() });
        }
        first += graph.nodes;
    }
    receivers
}

#[test]
fn typed_and_weighted_distances_agree_with_brute_force() {
    let mut largest = 0.0f64;
    for seed in 0..300 {
        let mut random = Stream::named(seed, "lenses", 0);
        let graph_task = random.below(2) == 0;
        let plan = random_plan(&mut random);
        let shape = ModelShape {
            distance_options: DistanceOptions { rules: seed % 3, ..DistanceOptions::PLAIN },
            ..random_model_shape(&mut random)
        };
        let training = typed(&mut random, CaseShape { graph_task, graphs: 3, nodes: [1, 10] }, &plan);
        let case = typed(&mut random, CaseShape { graph_task, graphs: 3, nodes: [0, 10] }, &plan);
        let bins = WeightBins { weight: "length".to_owned(), ends: vec![0.5, 1.25, 3.0] };
        let directions = if case.case.directed { 3 } else { 1 };
        let direction =
            |at: usize| [EdgeDirection::Along, EdgeDirection::Against, EdgeDirection::Ignoring][at % directions];
        // All distances from 1 or 2 on are one shell.
        let far = Some(1 + (seed / 3 % 2) as u16).filter(|_| seed % 2 == 0);
        let lenses = match seed % 3 {
            0 => vec![Lens {
                far,
                types: vec!["road".to_owned(), "rail".to_owned()],
                direction: direction(seed as usize),
                ..Lens::default()
            }],
            1 => vec![Lens { bins: Some(bins), direction: direction(seed as usize / 3), ..Lens::default() }],
            _ => vec![
                Lens { types: vec!["river".to_owned()], far, ..Lens::default() },
                Lens { bins: Some(bins), pool: if graph_task { Pool::Mean } else { Pool::Sum }, ..Lens::default() },
                Lens::default(),
            ],
        };
        let model = random_model_through(&mut random, shape, &training.case, lenses.clone());
        let model = Model::from_bytes(&model.to_bytes().expect("bytes")).expect("a model");
        let file = FileModel::read(&model.to_bytes().expect("bytes"));
        let mut receivers = brute_force(&case, &lenses[0]);
        for lens in &lenses[1..] {
            let others = brute_force(&case, lens);
            receivers.iter_mut().zip(others).for_each(|(receiver, other)| receiver.others.push(other.distances));
        }
        let expected = file.outputs_of(&case.case, &receivers, 1.0);
        let data = data(&case, &model);
        let found = model.outputs_on(&data).expect("outputs");
        for (found, expected) in found.values.iter().zip(expected.iter().flatten()) {
            let deviation = (f64::from(*found) - expected.value).abs() / expected.magnitude.max(1.0);
            assert!(deviation <= 1e-5, "seed {seed}: {found} {expected:?}");
            largest = largest.max(deviation);
        }
        for position in 0..data.len().min(4) {
            let why = model.explain(&data, position).expect("an explanation");
            assert!(why.adds_up(), "seed {seed}");
        }
    }
    println!("largest deviation: {largest:e}");
}

/// A node task with three features, directed edges and a class for every node.
fn town(directed: bool) -> Dataset {
    let mut random = Stream::named(3, "town", 0);
    let plan = |name: &str, kind, distinct| FeaturePlan { name: name.to_owned(), kind, missing: 0.05, distinct };
    let plan = [plan("age", "continuous", 0), plan("trade", "categorical", 3), plan("debt", "binary", 0)];
    let mut case = random_case(&mut random, CaseShape { graph_task: false, graphs: 1, nodes: [1, 1] }, &plan);
    (case.directed, case.graphs) = (directed, vec![random_graph(&mut random, 60)]);
    for (feature, plan) in case.features.iter_mut().zip(&plan) {
        feature.values = random_values(&mut random, plan, 60);
    }
    let classes: Vec<Option<usize>> = (0..60).map(|_| Some(random.below(2))).collect();
    dataset(&case, vec![class_column("target", 2, &classes)])
}

fn quick() -> Spec {
    Spec::default().hidden(16).epochs(12).learning_rate(0.02)
}

fn group(name: &str, features: &[&str]) -> RhoGroup {
    RhoGroup { name: name.to_owned(), features: features.iter().map(|feature| (*feature).to_owned()).collect() }
}

/// A model trained on everything, so that no validation part keeps it at its start.
fn trained(training: &Spec, data: &Dataset) -> Model {
    let nothing = data.subset(&[]);
    let fitted = training.fit_watched(data, Some(&nothing), &mut |_| std::ops::ControlFlow::Continue(()));
    fitted.expect("a model").model
}

#[test]
fn association_rules_hold_exactly() {
    let data = town(false);
    for rho in [Rho::Shared, Rho::PerFeature, Rho::Grouped] {
        let mut training = quick()
            .own_only(vec!["age".to_owned()])
            .neighbours_only(vec!["trade".to_owned()])
            .hop_cap_of(vec![FeatureHopCap { feature: "debt".to_owned(), cap: 1 }]);
        training = match rho {
            Rho::Shared => training.rho(RhoChoice::Shared),
            Rho::PerFeature => training.rho(RhoChoice::PerFeature),
            Rho::Grouped => training.rho_group(vec![group("people", &["age", "debt"])]),
        };
        let model = trained(&training, &data);
        assert_eq!(model.definition().learned.rho, rho);
        let model = Model::from_bytes(&model.to_bytes().expect("bytes")).expect("a model");
        let certificates = &model.definition().record.certificates;
        assert_eq!(certificates.len(), 3);
        assert!(certificates.iter().all(|certificate| certificate.holds), "{certificates:?}");
        assert_eq!(model.check_certificates(), *certificates);
        assert!(
            certificates[0].sentence().contains("age of another node never counts"),
            "{}",
            certificates[0].sentence()
        );
        let mut counts = [false; 3];
        for position in 0..data.len() {
            let why = model.explain(&data, position).expect("an explanation");
            assert!(why.adds_up());
            for (slot, _) in why.receivers.iter().enumerate().filter(|(_, receivers)| **receivers > 0) {
                let distance = why.axis.distance(slot);
                let amounts: Vec<f64> = why.by_feature_and_distance.iter().map(|slots| slots[slot][0]).collect();
                let silent = [distance != Some(0), distance == Some(0), distance.is_none_or(|distance| distance > 1)];
                for k in 0..3 {
                    if silent[k] {
                        assert_eq!(amounts[k], 0.0, "feature {k} at {distance:?}");
                    }
                    counts[k] |= amounts[k] != 0.0;
                }
            }
        }
        assert_eq!(counts, [true; 3], "{rho:?}");
    }
}

#[test]
fn a_neighbours_value_under_own_value_only_changes_nothing() {
    let data = town(false);
    let training = quick().own_only(vec!["age".to_owned()]);
    let model = training.fit(&data).expect("a model");
    let before = model.outputs_on(&data).expect("outputs").values;
    let features = model.features_of(&data).expect("features");
    let mut changed = features.to_vec();
    let Values::Numbers(ages) = &mut changed[0].values else { panic!("age is a number") };
    ages[7] += 3.0;
    let statistics = std::sync::Arc::new(model.statistics(&data, &changed).expect("statistics"));
    let engine = model.engine(statistics);
    let mut after = vec![0.0; before.len()];
    let all: Vec<usize> = (0..data.len()).collect();
    engine.outputs(&mut engine.rows_once(&all), &mut after);
    let width = model.outputs();
    for (node, (before, after)) in before.chunks(width).zip(after.chunks(width)).enumerate() {
        let bias = &model.parameters().output_bias;
        let same = before.iter().zip(after).zip(bias).all(|((before, after), bias)| *before == after + bias);
        assert_eq!(same, node != 7, "node {node}");
    }
}

#[test]
fn several_ways_of_measuring_give_the_same_bytes_on_any_number_of_threads() {
    let data = town(true);
    for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
        let training = quick().rho(rho).direction(EdgeDirection::ALL.to_vec()).ignore_unreachable(true);
        let bytes = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| training.fit(&data).expect("a model").to_bytes().expect("bytes"))
        };
        let one = bytes(1);
        assert!(one == bytes(3));
        let model = Model::from_bytes(&one).expect("a model");
        let overview = model.canonical();
        assert_eq!(overview.axis().lenses(), 3);
        for lens in 0..3 {
            let unreachable = overview.axis().range(lens).end - 1;
            assert!(overview.rhos().iter().all(|rho| rho.values[unreachable].iter().all(|value| *value == 0.0)));
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let refused = |training: Spec, data: &Dataset, words: &str| {
        let error = training.fit(data).expect_err("refused").to_string();
        assert!(error.contains(words), "{error}");
    };
    let (undirected, directed) = (town(false), town(true));
    refused(quick().pool(PoolChoice::Mean), &undirected, "pooling is for graphs");
    refused(quick().direction(vec![EdgeDirection::Against]), &undirected, "no direction");
    refused(quick().edge_types(vec![EdgeTypes(vec!["rail".to_owned()])]), &directed, "no types");
    let bins = WeightBins { weight: "length".to_owned(), ends: vec![1.0] };
    refused(quick().edge_weight(bins), &directed, "no numeric column \"length\"");
    // A shell of near and far nodes together cannot be left out for being far.
    refused(quick().hop_cap(3).far_from(2), &undirected, "cut through the one shell");
    let bins = WeightBins { weight: "length".to_owned(), ends: vec![1.0, 2.0] };
    refused(quick().hop_cap(2).edge_weight(bins), &directed, "counts edges");
    let cap = FeatureHopCap { feature: "debt".to_owned(), cap: 3 };
    refused(quick().hop_cap_of(vec![cap]).far_from(3), &undirected, "cut through the one shell");
    refused(quick().own_only(vec!["height".to_owned()]), &directed, "no feature \"height\"");
    refused(quick().neighbours_only(vec!["age".to_owned()]).hop_cap(0), &directed, "leave no distance");
    refused(quick().rho_group(vec![group("a", &["age"]), group("b", &["age"])]), &directed, "in 2 groups");
    refused(
        quick().rho_group(vec![group("a", &["age"]), group("a", &["debt"])]),
        &directed,
        "two groups are named \"a\"",
    );
    refused(quick().rho_group(vec![group("a", &["age", "debt", "age"])]), &directed, "in the group \"a\" twice");
}
