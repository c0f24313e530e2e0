//! Laws of the mathematics: what must hold for every graph, whatever the parameters.

mod common;
mod oracle;

use common::{
    CaseShape, DistanceOptions, ModelShape, dataset_for, random_case, random_graph, random_model, random_model_shape,
    random_plan,
};
use gnan::Graph;
use gnan::files::Kind;
use gnan::internals::distance::{DistanceSearch, RECEIVERS_AT_ONCE, ReorderedGraph, UNREACHABLE, distances_to};
use gnan::internals::lens::Lens;
use gnan::internals::random::Stream;
use gnan::internals::statistics::{BIAS_UNIT, ChannelPlan, ShellWeighting, Statistics, StatisticsRequest};
use gnan::model::{Model, Rho};
use oracle::{Answer, Case, CaseGraph, FileModel, Term, Value, floyd_warshall, queue_search};
use proptest::prelude::*;

/// Agreement of outputs, relative to `max(1, sum of |terms|)`.
const TOLERANCE: f64 = 1e-5;

fn engine_outputs(model: &Model, case: &Case) -> Vec<Vec<f64>> {
    let outputs = model.outputs_on(&dataset_for(case, model)).expect("outputs");
    outputs.values.chunks_exact(outputs.width).map(|row| row.iter().map(|y| f64::from(*y)).collect()).collect()
}

fn file_of(model: &Model) -> FileModel {
    FileModel::read(&model.to_bytes().expect("bytes"))
}

/// A random model and a case with a single graph for it.
fn model_and_case(seed: u64, graph_task: bool, nodes: [usize; 2]) -> (Model, Case) {
    let shape = random_model_shape(&mut Stream::named(seed, "shape of laws", 0));
    model_of_shape_and_case(shape, seed, graph_task, nodes)
}

fn model_of_shape_and_case(shape: ModelShape, seed: u64, graph_task: bool, nodes: [usize; 2]) -> (Model, Case) {
    let mut random = Stream::named(seed, "laws", 0);
    let plan = random_plan(&mut random);
    let training = random_case(&mut random, CaseShape { graph_task, graphs: 2, nodes: [1, 9] }, &plan);
    let model = random_model(&mut random, shape, &training);
    let case = random_case(&mut random, CaseShape { graph_task, graphs: 1, nodes }, &plan);
    (model, Case { directed: training.directed, ..case })
}

/// What a shell of these sources adds to the outputs of one receiver: `rho(l) * mean`, or the sum unnormalised.
fn shell(file: &FileModel, values: &[&Vec<Term>], distance: Option<usize>, normalise: bool) -> Vec<f64> {
    let mut sums = vec![0.0; file.outputs];
    for (index, term, _) in values.iter().copied().flatten() {
        let rho = file.rho(*index, distance);
        let share = if normalise { 1.0 / values.len() as f64 } else { 1.0 };
        (0..file.outputs).for_each(|output| sums[output] += share * rho[output] * term[output]);
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn relabelling_nodes_permutes_node_outputs_and_keeps_graph_outputs(seed: u64, graph_task: bool) {
        let (model, case) = model_and_case(seed, graph_task, [1, 12]);
        let mut order: Vec<usize> = (0..case.nodes()).collect();
        Stream::named(seed, "order", 0).shuffle(&mut order);
        let magnitude = file_of(&model).outputs(&case);
        let before = engine_outputs(&model, &case);
        let after = engine_outputs(&model, &common::relabelled(&case, &order));
        for item in 0..case.items() {
            let moved = if graph_task { item } else { order[item] };
            for output in 0..before[item].len() {
                let scale = magnitude[item][output].magnitude.max(1.0);
                prop_assert!((before[item][output] - after[moved][output]).abs() <= TOLERANCE * scale);
            }
        }
    }

    /// `y_i` changes by the change of the unreachable shell alone; the new node has itself as a source and, unreachable, all
    /// others; a graph's output is the sum.
    #[test]
    fn an_isolated_node_changes_the_unreachable_shells_and_adds_a_receiver(seed: u64, graph_task: bool) {
        let mut shape = random_model_shape(&mut Stream::named(seed, "shape of laws", 0));
        shape.distance_options = DistanceOptions::PLAIN;
        let (model, case) = model_of_shape_and_case(shape, seed, graph_task, [1, 12]);
        let nodes = case.nodes();
        let mut larger = case.clone();
        larger.graphs[0].nodes += 1;
        for feature in &mut larger.features {
            let value = feature.values[0].clone();
            feature.values.push(value);
        }
        let file = file_of(&model);
        let normalise = model.definition().spec.statistics.normalises();
        let values: Vec<Vec<Term>> = (0..=nodes).map(|node| file.terms_of_source(&larger, node)).collect();
        let mut change = vec![vec![0.0; file.outputs]; nodes];
        for receiver in case.receivers().into_iter().enumerate().map(|(node, mut receiver)| { receiver.item = node; receiver }) {
            let mut unreachable: Vec<&Vec<Term>> =
                (0..nodes).filter(|source| receiver.distances[*source].is_none()).map(|source| &values[source]).collect();
            let before = shell(&file, &unreachable, None, normalise);
            unreachable.push(&values[nodes]);
            let after = shell(&file, &unreachable, None, normalise);
            change[receiver.item] = after.into_iter().zip(before).map(|(after, before)| after - before).collect();
        }
        let itself = shell(&file, &[&values[nodes]], Some(0), normalise);
        let others: Vec<&Vec<Term>> = values[..nodes].iter().collect();
        let others = shell(&file, &others, None, normalise);
        let new: Vec<f64> = itself.into_iter().zip(others).map(|(itself, others)| itself + others).collect();
        let (before, after) = (engine_outputs(&model, &case), engine_outputs(&model, &larger));
        let magnitude = file.outputs(&larger);
        let near = |found: f64, expected: f64, answer: &Answer| (found - expected).abs() <= TOLERANCE * answer.magnitude.max(1.0);
        for output in 0..file.outputs {
            if graph_task {
                let expected = before[0][output] + new[output] + change.iter().map(|change| change[output]).sum::<f64>();
                prop_assert!(near(after[0][output], expected, &magnitude[0][output]));
                continue;
            }
            for node in 0..nodes {
                prop_assert!(near(after[node][output], before[node][output] + change[node][output], &magnitude[node][output]));
            }
            prop_assert!(near(after[nodes][output], new[output] + file.output_bias()[output], &magnitude[nodes][output]));
        }
    }

    #[test]
    fn the_search_finds_what_floyd_and_warshall_find(
        nodes in 1usize..40, seed: u64, directed: bool, receivers in 1usize..=RECEIVERS_AT_ONCE,
    ) {
        let mut random = Stream::named(seed, "search", 0);
        let graph = random_graph(&mut random, nodes);
        // Receivers may repeat.
        let receivers: Vec<u32> = (0..receivers).map(|_| random.below(nodes) as u32).collect();
        let expected = floyd_warshall(nodes, &graph.edges, directed);
        let expected = |receiver: u32| (0..nodes).map(|source| expected[source][receiver as usize]).collect();
        check_search(&graph, directed, &receivers, &mut DistanceSearch::default(), expected);
    }

    #[test]
    fn shells_hold_every_node_once(seed: u64, graph_task: bool) {
        let mut random = Stream::named(seed, "shells", 0);
        let plan = random_plan(&mut random);
        let case = random_case(&mut random, CaseShape { graph_task, graphs: 4, nodes: [0, 12] }, &plan);
        let mut shape = random_model_shape(&mut random);
        shape.rho = Rho::PerFeature;
        let model = random_model(&mut random, shape, &case);
        let data = dataset_for(&case, &model);
        let of = |weighting, rho_per_feature: bool| {
            let channels = (!rho_per_feature).then(|| ChannelPlan::shared(data.features().len()));
            let options = StatisticsRequest { weighting, lenses: Lens::plain(), channels, in_cells: false, sample: None, farthest: None };
            Statistics::new(&data, data.features(), options).expect("statistics")
        };
        let (plain, normalised) = (of(ShellWeighting::Sum, true), of(ShellWeighting::Mean, true));
        let receivers = case.receivers();
        for item in 0..case.items() {
            let own: Vec<_> = receivers.iter().filter(|receiver| receiver.item == item).collect();
            let pairs: usize = own.iter().map(|receiver| receiver.distances.len()).sum();
            prop_assert_eq!(bias_cells(&plain, item).iter().sum::<f64>(), pairs as f64);
            // R(l): the number of receivers whose shell l is not empty.
            for (slot, found) in bias_cells(&normalised, item).into_iter().enumerate() {
                let distance = (slot + 1 < normalised.axis.slots()).then_some(slot);
                let expected = own.iter().filter(|receiver| receiver.distances.contains(&distance)).count() as f64;
                prop_assert!((found - expected).abs() <= 1e-5 * expected.max(1.0), "{found} {expected}");
            }
        }
        let shared = of(ShellWeighting::Mean, false);
        if let Some(shell_counts) = shared.shell_counts.first() {
            for (place, receiver) in receivers.iter().enumerate() {
                for (slot, count) in shell_counts.counts(place).iter().enumerate() {
                    let distance = (slot + 1 < shared.axis.slots()).then_some(slot);
                    let expected = receiver.distances.iter().filter(|found| **found == distance).count();
                    prop_assert_eq!(*count as usize, expected);
                }
            }
        }
        prop_assert_eq!(shared.shell_counts.is_empty(), graph_task);
    }

    /// Each node has exactly one level of a categorical feature (missing is one), so its levels share out `R_G`.
    #[test]
    fn levels_of_a_categorical_feature_add_up_to_the_receivers(seed: u64, normalise: bool) {
        let mut random = Stream::named(seed, "levels add up", 0);
        let plan = random_plan(&mut random);
        let case = random_case(&mut random, CaseShape { graph_task: true, graphs: 4, nodes: [0, 12] }, &plan);
        let data = dataset_for(&case, &{
            let shape = random_model_shape(&mut random);
            random_model(&mut random, shape, &case)
        });
        let weighting = if normalise { ShellWeighting::Mean } else { ShellWeighting::Sum };
        let options = StatisticsRequest { weighting, lenses: Lens::plain(), channels: None, in_cells: false, sample: None, farthest: None };
        let statistics = Statistics::new(&data, data.features(), options).expect("statistics");
        for (feature, levels) in data.features().iter().zip(&statistics.levels.features) {
            if feature.kind != Kind::Categorical {
                continue;
            }
            let end = levels.missing.map_or(levels.units.end, |missing| missing + 1);
            for item in 0..data.len() {
                let mut sums = vec![0.0; statistics.axis.slots()];
                let (cells, weights) = statistics.rows.row(item);
                for (cell, weight) in cells.iter().zip(weights) {
                    if (levels.units.start..end).contains(&statistics.cells.units[*cell as usize]) {
                        sums[usize::from(statistics.cells.slots[*cell as usize])] += f64::from(*weight);
                    }
                }
                for (sum, receivers) in sums.iter().zip(bias_cells(&statistics, item)) {
                    prop_assert!((sum - receivers).abs() <= 1e-5 * receivers.max(1.0), "{sum} {receivers}");
                }
            }
        }
    }
}

/// `R(l)` of an item, by slot.
fn bias_cells(statistics: &Statistics, item: usize) -> Vec<f64> {
    let mut receivers = vec![0.0; statistics.axis.slots()];
    let (cells, weights) = statistics.rows.row(item);
    for (cell, weight) in cells.iter().zip(weights) {
        if statistics.cells.units[*cell as usize] == BIAS_UNIT {
            receivers[usize::from(statistics.cells.slots[*cell as usize])] += f64::from(*weight);
        }
    }
    receivers
}

/// Compares a batch of receivers with the distances expected of each, and the longest distance.
fn check_search(
    case: &CaseGraph,
    directed: bool,
    receivers: &[u32],
    search: &mut DistanceSearch,
    expected: impl Fn(u32) -> Vec<Option<usize>>,
) {
    let edges = case.edges.iter().map(|edge| edge.map(|node| node as u32));
    let graph = Graph::new(case.nodes, edges, directed);
    let mut rows = vec![7; receivers.len() * case.nodes];
    let longest = distances_to(&ReorderedGraph::new(graph), receivers, None, search, &mut rows).expect("distances");
    let mut longest_expected = 0;
    for (receiver, row) in receivers.iter().zip(rows.chunks_exact(case.nodes)) {
        let expected = expected(*receiver);
        let found: Vec<Option<usize>> =
            row.iter().map(|distance| (*distance != UNREACHABLE).then_some(usize::from(*distance))).collect();
        assert_eq!(found, expected, "receiver {receiver}, directed {directed}, {case:?}");
        longest_expected = longest_expected.max(expected.into_iter().flatten().max().unwrap_or(0));
    }
    assert_eq!(usize::from(longest), longest_expected);
}

/// Chains, stars, grids and heavy tails, in batches of every size, with one working memory for all of them.
#[test]
fn the_search_finds_what_a_queue_finds() {
    let mut random = Stream::named(0, "queue", 0);
    let chain = CaseGraph { nodes: 200, edges: (1..200).map(|node| [node - 1, node]).collect() };
    let star = CaseGraph { nodes: 300, edges: (1..300).map(|node| [node, 0]).collect() };
    let side = 15;
    let right = (0..side * side).filter(|node| node % side + 1 < side).map(|node| [node, node + 1]);
    let down = (0..side * (side - 1)).map(|node| [node, node + side]);
    let grid = CaseGraph { nodes: side * side, edges: right.chain(down).collect() };
    // Preferential attachment: a new node joins an end of a random earlier edge.
    let mut edges = vec![[0, 1]];
    for node in 2..600 {
        for _ in 0..2 {
            let to = edges[random.below(edges.len())][random.below(2)];
            edges.push([node, to]);
        }
    }
    let heavy = CaseGraph { nodes: 600, edges };
    let complete = CaseGraph { nodes: 70, edges: (0..70).flat_map(|a| (0..70).map(move |b| [a, b])).collect() };
    let none = CaseGraph { nodes: 65, edges: Vec::new() };
    let mut search = DistanceSearch::default();
    for graph in [chain, star, grid, heavy, complete, none] {
        for directed in [false, true] {
            for size in [1, 2, 63, 64] {
                let mut receivers: Vec<u32> = (0..graph.nodes as u32).collect();
                random.shuffle(&mut receivers);
                let expected = |receiver: u32| queue_search(graph.nodes, &graph.edges, directed, receiver as usize);
                check_search(&graph, directed, &receivers[..size], &mut search, expected);
            }
        }
    }
}

/// The laws above would hold of a model that is constant: these models are not.
#[test]
fn the_models_of_these_laws_depend_on_features_and_distances() {
    let mut changed = [0, 0];
    for seed in 0..40 {
        let (model, case) = model_and_case(seed, true, [4, 12]);
        let before = engine_outputs(&model, &case);
        let mut moved = case.clone();
        for feature in moved.features.iter_mut().filter(|feature| feature.kind == "continuous") {
            feature.values[0] = Value::Number(11.0);
        }
        changed[0] += usize::from(engine_outputs(&model, &moved) != before);
        let mut joined = case.clone();
        joined.graphs[0].edges.extend((1..case.nodes()).map(|node| [0, node]));
        changed[1] += usize::from(engine_outputs(&model, &joined) != before);
    }
    assert!(changed[0] > 10 && changed[1] > 20, "{changed:?}");
}
