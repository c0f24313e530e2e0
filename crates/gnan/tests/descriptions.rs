//! Descriptions of nodes: what they say on graphs made by hand, against brute force on random graphs, and that a model
//! which uses them remembers how they are made.

mod common;
mod oracle;

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use common::{CaseShape, FeaturePlan, class_column, dataset, random_case, random_values, relabelled, tables};
use gnan::dataset::Feature;
use gnan::files::{Tables, Values};
use gnan::internals::random::Stream;
use gnan::spec::{LEAST_SUPPORT, NodeDescription, RARE};
use gnan::{Dataset, Model, Spec};
use oracle::{Case, CaseFeature, CaseGraph, Value};

const ALL: [&str; 7] = ["degree", "ring", "triangles", "environment", "environment:2", "environment:3", "degree+label"];

fn definition(word: &str) -> NodeDescription {
    word.parse().expect("a definition")
}

/// The word that a definition gives each node.
fn words(data: &Dataset, word: &str) -> Vec<String> {
    values(&data.describe(&definition(word)).unwrap())
}

fn values(feature: &Feature) -> Vec<String> {
    let Values::Categories { codes, levels } = &feature.values else { panic!("{} is no category", feature.name) };
    codes.iter().map(|code| levels[*code as usize].clone()).collect()
}

/// Graphs given by edges, with a label for each node, each graph with a class of its own turn.
fn labelled(graphs: &[(&[&str], &[[usize; 2]])]) -> Case {
    let values = graphs.iter().flat_map(|(labels, _)| *labels).map(|label| Value::Category((*label).to_owned()));
    let label = CaseFeature { name: "colour".to_owned(), kind: "categorical", values: values.collect() };
    let graphs = graphs.iter().map(|(labels, edges)| CaseGraph { nodes: labels.len(), edges: edges.to_vec() });
    Case { graph_task: true, directed: false, graphs: graphs.collect(), features: vec![label] }
}

/// The data of a case whose graphs have the classes 0, 1, 0, 1, ...
fn classified(case: &Case) -> Dataset {
    let classes: Vec<Option<usize>> = (0..case.items()).map(|item| Some(item % 2)).collect();
    dataset(case, vec![class_column("target", 2, &classes)])
}

/// A random graph task with labels, missing ones among them.
fn random_data(seed: u64, graphs: usize) -> Case {
    let mut random = Stream::named(seed, "descriptions", 0);
    let plan = FeaturePlan { name: "colour".to_owned(), kind: "categorical", missing: 0.1, distinct: 3 };
    let mut case = random_case(&mut random, CaseShape { graph_task: true, graphs: 1, nodes: [1, 1] }, &[]);
    case.graphs = (0..graphs).map(|k| common::random_graph(&mut random, 1 + k % 14)).collect();
    let values = random_values(&mut random, &plan, case.nodes());
    case.features = vec![CaseFeature { name: plan.name, kind: plan.kind, values }];
    case
}

fn training() -> Spec {
    Spec::default().hidden(16).epochs(3)
}

/// Fits on some items; the others are for knowing when to stop.
fn fit(data: &Dataset, train: &[usize], valid: &[usize]) -> Model {
    let (train, valid) = (data.subset(train), data.subset(valid));
    training().fit_watched(&train, Some(&valid), &mut |_| ControlFlow::Continue(())).unwrap().model
}

fn level_names(model: &Model, feature: &str) -> Vec<String> {
    let feature = model.definition().learned.features.iter().find(|found| found.name == feature).expect("the feature");
    feature.levels.iter().map(|level| level.name.clone()).collect()
}

#[test]
fn atoms_are_described_as_chemists_write_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("molecules.csv");
    fs::write(&file, "smiles,toxic\nO=[N+]([O-])c1ccccc1,yes\nC#N,no\n").unwrap();
    let data = Dataset::open(&file).unwrap();
    let environments = words(&data, "environment");
    assert_eq!(environments[..4], ["O(=N)", "N(C,=O,O)", "O(N)", "C(:C,:C,N)"]);
    assert_eq!(environments[4..9], ["C(:C,:C)"; 5]);
    assert_eq!(environments[9..], ["C(#N)", "N(#C)"]);
    assert_eq!(words(&data, "environment:2")[1], "N(C(:C,:C),=O,O)");
    assert_eq!(words(&data, "environment:2")[3], "C(:C(:C),:C(:C),N(=O,O))");
    assert_eq!(words(&data, "ring").join(" "), "none none none 6 6 6 6 6 6 none none");
    assert_eq!(words(&data, "ring+label")[2..4], ["O: none", "C: 6"]);
    assert_eq!(words(&data, "degree").join(""), "13132222211");
}

#[test]
fn labels_of_edges_stand_before_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("A", "1, 2\n2, 1\n1, 3\n3, 1\n4, 4\n"),
        ("graph_indicator", "1\n1\n1\n2\n"),
        ("graph_labels", "0\n1\n"),
        ("node_labels", "0\n1\n0\n1\n"),
        ("edge_labels", "5\n5\n7\n7\n5\n"),
    ] {
        fs::write(folder.path().join(format!("TINY_{name}.txt")), text).unwrap();
    }
    let data = Dataset::open(folder.path()).unwrap();
    assert_eq!(words(&data, "environment"), ["0(5 1,7 0)", "1(5 0)", "0(7 0)", "1"]);
    assert_eq!(words(&data, "environment:2")[1], "1(5 0(7 0))");
}

#[test]
fn hubs_are_described_by_how_many_neighbours_they_have() {
    let star = |leaves: usize| {
        let labels = [vec!["a"], vec!["b"; leaves]].concat();
        let edges: Vec<[usize; 2]> = (1..=leaves).map(|leaf| [leaf, 0]).collect();
        classified(&labelled(&[(&labels, &edges)]))
    };
    assert_eq!(words(&star(8), "environment")[0], "a(b,b,b,b,b,b,b,b)");
    assert_eq!(words(&star(9), "environment")[..2], ["a(9 to 16 neighbours)", "b(a)"]);
    assert_eq!(words(&star(9), "environment:2")[1], "b(a(b,b,b,b,b,b,b,b))");
    assert_eq!(words(&star(10), "environment:2")[1], "b(a(9 to 16 neighbours))");
    assert_eq!(words(&star(100), "degree")[..2], ["65 to 128", "1"]);
}

/// The neighbours of every node of a graph, whatever the direction.
fn neighbours(graph: &CaseGraph) -> Vec<BTreeSet<usize>> {
    let mut around = vec![BTreeSet::new(); graph.nodes];
    for [a, b] in graph.edges.iter().filter(|[a, b]| a != b) {
        around[*a].insert(*b);
        around[*b].insert(*a);
    }
    around
}

/// The shortest cycle through a node: an edge of it, and the shortest way back without that edge.
fn shortest_cycle(around: &[BTreeSet<usize>], node: usize) -> Option<usize> {
    let way_back = |first: usize| {
        let mut distance = vec![None; around.len()];
        distance[first] = Some(0);
        let mut queue = VecDeque::from([first]);
        while let Some(at) = queue.pop_front() {
            for next in &around[at] {
                if distance[*next].is_none() && [at, *next] != [first, node] {
                    distance[*next] = distance[at].map(|steps: usize| steps + 1);
                    queue.push_back(*next);
                }
            }
        }
        distance[node].map(|steps| steps + 1)
    };
    around[node].iter().filter_map(|first| way_back(*first)).min()
}

fn triangles(around: &[BTreeSet<usize>], node: usize) -> usize {
    let pairs = around[node].iter().flat_map(|a| around[node].iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| a < b && around[**a].contains(b)).count()
}

/// Up to 8, or the range up to the next power of two.
fn count_word(count: usize) -> String {
    let most = count.next_power_of_two();
    if count <= 8 { count.to_string() } else { format!("{} to {most}", most / 2 + 1) }
}

#[test]
fn counts_and_rings_agree_with_brute_force() {
    let mut rings = BTreeSet::new();
    for seed in 0..150 {
        let mut random = Stream::named(seed, "brute force", 0);
        let mut case = random_case(&mut random, CaseShape { graph_task: true, graphs: 3, nodes: [1, 40] }, &[]);
        // Cycles of every length, some joined by a bridge.
        let length = 3 + seed as usize % 12;
        let mut edges: Vec<[usize; 2]> = (0..length).map(|node| [node, (node + 1) % length]).collect();
        edges.extend([[0, length], [length, length + 1], [length + 1, length + 2], [length + 2, length]]);
        edges.extend((0..random.below(3)).map(|_| [random.below(length), random.below(length + 3)]));
        case.graphs.push(CaseGraph { nodes: length + 3, edges });
        let data = classified(&case);
        let [degree, ring, triangle] = ["degree", "ring", "triangles"].map(|word| words(&data, word));
        for (graph, shape) in case.graphs.iter().enumerate() {
            let around = neighbours(shape);
            for node in 0..shape.nodes {
                let place = case.first_node(graph) + node;
                let cycle = match shortest_cycle(&around, node) {
                    None => "none".to_owned(),
                    Some(length) if length > 10 => "more than 10".to_owned(),
                    Some(length) => length.to_string(),
                };
                assert_eq!(ring[place], cycle, "seed {seed} graph {graph} node {node}");
                assert_eq!(degree[place], count_word(around[node].len()));
                assert_eq!(triangle[place], count_word(triangles(&around, node)));
                rings.insert(cycle);
            }
        }
    }
    assert_eq!(rings.len(), 10, "{rings:?}");
}

#[test]
fn relabelling_the_nodes_permutes_the_descriptions() {
    for seed in 0..40 {
        let mut random = Stream::named(seed, "relabelling descriptions", 0);
        let mut case = random_data(seed, 1);
        case.graphs = vec![common::random_graph(&mut random, 15)];
        case.features[0].values = (0..15).map(|_| Value::Category(["a", "b"][random.below(2)].to_owned())).collect();
        let mut order: Vec<usize> = (0..15).collect();
        random.shuffle(&mut order);
        let (before, after) = (classified(&case), classified(&relabelled(&case, &order)));
        for word in ALL {
            let (before, after) = (words(&before, word), words(&after, word));
            (0..15).for_each(|node| assert_eq!(before[node], after[order[node]], "seed {seed} {word}"));
        }
    }
}

/// Paths of two nodes and triangles by turns, two stars of three leaves, and one of four.
fn few_shapes() -> Case {
    let mut graphs: Vec<(&[&str], &[[usize; 2]])> = Vec::new();
    for _ in 0..8 {
        graphs.push((&["a", "b"], &[[0, 1]]));
        graphs.push((&["a", "a", "b"], &[[0, 1], [1, 2], [2, 0]]));
    }
    for _ in 0..2 {
        graphs.push((&["a", "b", "b", "b"], &[[0, 1], [0, 2], [0, 3]]));
    }
    graphs.push((&["a", "b", "b", "b", "b"], &[[0, 1], [0, 2], [0, 3], [0, 4]]));
    labelled(&graphs)
}

#[test]
fn levels_are_those_of_training_graphs_and_rare_ones_share_one() {
    let described = |support: u64| {
        let definition = NodeDescription { least_support: support, ..definition("environment") };
        classified(&few_shapes()).described(&[definition]).unwrap()
    };
    // The stars of three leaves are in training, the star of four is only for testing.
    let (train, valid): (Vec<usize>, Vec<usize>) = ((2..18).collect(), vec![0, 1]);
    let data = described(LEAST_SUPPORT);
    let model = fit(&data, &train, &valid);
    // By support: 14 corners of triangles, 7 + 3 * 2 leaves b(a), 7 ends a(b), 7 other corners, and the pool.
    assert_eq!(level_names(&model, "environment"), ["a(a,b)", "b(a)", "a(b)", "b(a,a)", RARE]);
    let schema = model.definition().learned.features.iter().find(|feature| feature.name == "environment").unwrap();
    assert_eq!(schema.rare, ["a(b,b,b)"]);
    let pool = schema.levels.last().unwrap().support;
    assert_eq!((pool.nodes, pool.graphs), (2, 2));

    let tested = data.subset(&[18]);
    let predictions = model.predict(&tested).unwrap();
    let unseen = "environment: 1 node with a category unseen in training (a(b,b,b,b)), which counts as rare";
    assert!(predictions.novelty.iter().any(|sentence| sentence == unseen), "{:?}", predictions.novelty);
    let rare = model.predict(&data.subset(&[16])).unwrap();
    assert!(rare.novelty.iter().all(|sentence| !sentence.contains("environment")), "{:?}", rare.novelty);
    // The centres of the stars of three leaves are in the pool.
    let centre = |star: usize| {
        let explanation = model.explain(&data.subset(&[star]), 0).unwrap();
        assert!(explanation.adds_up());
        values(&model.features_of(&data).unwrap()[1])[data.nodes_of(star).start].clone()
    };
    assert_eq!([centre(16), centre(17)], [RARE, RARE]);

    // With a support of 2 nothing is rare, so that what is unseen says nothing.
    let data = described(2);
    let model = fit(&data, &train, &valid);
    assert!(level_names(&model, "environment").iter().all(|name| name != RARE));
    let novelty = model.predict(&data.subset(&[18])).unwrap().novelty;
    assert!(novelty.iter().any(|sentence| sentence.contains("contributes 0")), "{novelty:?}");
}

/// Several descriptions, some values rare.
fn described(case: &Case) -> Dataset {
    let all: Vec<NodeDescription> = ALL.map(definition).into();
    classified(case).described(&all).unwrap()
}

#[test]
fn a_model_remembers_how_nodes_are_described() {
    let case = random_data(3, 60);
    let data = described(&case);
    let model = training().fit(&data).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.gnan");
    model.save(&file).unwrap();
    let loaded = Model::load(&file).unwrap();
    assert_eq!(loaded.definition(), model.definition());
    let outputs = |data: &Dataset| loaded.outputs_on(data).unwrap().values;
    let open = |tables: Tables| Dataset::from_tables(tables, &loaded.data_options()).unwrap();
    let expected = model.outputs_on(&data).unwrap().values;
    assert_eq!(outputs(&open(tables(&case))), expected);

    // Another categorical column before the label does not take its place.
    let mut more = tables(&case);
    let mut first = more.node_columns[0].clone();
    first.name = "another".to_owned();
    if let Values::Categories { levels, .. } = &mut first.values {
        levels.iter_mut().for_each(|level| level.insert(0, 'x'));
    }
    more.node_columns.insert(0, first);
    assert_eq!(outputs(&open(more)), expected);
    let mut less = tables(&case);
    less.node_columns[0].name = "another".to_owned();
    let refused = loaded.outputs_on(&open(less)).unwrap_err().to_string();
    assert!(refused.contains("\"colour\""), "{refused}");
}

#[test]
fn described_predictions_add_up() {
    let data = described(&random_data(4, 60));
    let model = training().fit(&data).unwrap();
    for item in 0..data.len() {
        let explanation = model.explain(&data, item).unwrap();
        assert!(explanation.adds_up(), "item {item}: {}", explanation.worst_miss());
        assert_eq!(explanation.features.len(), 1 + ALL.len());
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let case = random_data(5, 60);
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| training().fit(&described(&case)).unwrap().to_bytes().unwrap())
    };
    assert!(bytes(1) == bytes(2));
}

#[test]
fn environments_without_labels_are_refused() {
    let mut case = random_data(6, 4);
    case.features.clear();
    let data = classified(&case);
    for word in ["environment", "environment:2", "ring+label"] {
        let refused = data.described(&[definition(word)]).unwrap_err().to_string();
        assert!(refused.contains("needs nodes with a label") && refused.contains("categorical"), "{refused}");
    }
    assert_eq!(data.described(&["degree", "ring", "triangles"].map(definition)).unwrap().features().len(), 3);
    let twice = data.described(&["degree", "degree"].map(definition)).unwrap_err().to_string();
    assert!(twice.contains("two features called \"neighbours\""), "{twice}");
}

#[test]
fn hostile_labels_do_no_harm() {
    let long = "x".repeat(100);
    let labels = ["rare", "", "<b>&\n\"", ",)(=", &long, "rare"];
    let case = labelled(&[(&labels, &[[1, 2], [2, 3], [3, 4]]), (&["rare"; 4], &[]), (&["a"; 3], &[])]);
    let data = classified(&case);
    let environments = words(&data, "environment");
    assert_eq!([&environments[0], &environments[1]], ["rare (label)", "(<b>&\n\")"]);
    // A label called "rare" and what is too rare are two levels.
    let model = fit(&described(&case), &[0, 1, 2], &[0, 1, 2]);
    let names = level_names(&model, "environment");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    assert!(model.explain(&described(&case), 0).unwrap().adds_up());
}

#[test]
fn long_paths_are_described_soon() {
    let nodes = 200_000;
    let edges = (1..nodes).map(|node| [node - 1, node]).collect();
    let graph = CaseGraph { nodes, edges };
    let case = Case { graph_task: true, directed: false, graphs: vec![graph], features: Vec::new() };
    let data = classified(&case);
    let start = Instant::now();
    assert!(words(&data, "ring").iter().all(|word| word == "none"));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
