//! Links: the line graph is never built by the engine, so it is built here, explicitly, and everything is compared with it.

mod common;
mod oracle;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use gnan::Graph;
use gnan::dataset::{Feature, LinkDivision, LinkFeatures, LinkOptions, LinkPairs, QueriedPair};
use gnan::files::{Column, Kind, MISSING, Tables, Values};
use gnan::internals::distance::{DistanceSearch, RECEIVERS_AT_ONCE, ReorderedGraph, UNREACHABLE, line_distances_to};
use gnan::internals::model::{Engine, OptimiserState, Parameters, StepSettings};
use gnan::internals::random::Stream;
use gnan::internals::shape::Adam;
use gnan::spec::{FitMethod, LogitChoice, RhoChoice};
use gnan::{Dataset, DatasetOptions, Model, Spec};
use oracle::{Answer, Case, CaseFeature, CaseGraph, FileModel, Receiver, Value};

/// Some graphs with a number, a rare number, a flag and a category on every node; nothing is missing in most of them.
fn random_tables(random: &mut Stream, graphs: usize, nodes: usize, density: f64) -> Tables {
    let mut tables = Tables { name: "random".to_owned(), node_offsets: vec![0], ..Tables::default() };
    for graph in 0..graphs {
        let first = graph * nodes;
        tables.graph_ids.push(format!("g{graph}"));
        tables.node_offsets.push(first + nodes);
        for _ in 0..(density * nodes as f64) as usize {
            tables.edges.push([first + random.below(nodes), first + random.below(nodes)].map(|node| node as u32));
        }
    }
    let all = graphs * nodes;
    let missing = random.below(3) == 0;
    let mut numbers = |draw: &dyn Fn(&mut Stream) -> f64| -> Vec<f64> {
        (0..all).map(|_| if missing && random.below(9) == 0 { f64::NAN } else { draw(random) }).collect()
    };
    let age = numbers(&|random| (random.normal() * 10.0).round());
    let rare = numbers(&|random| if random.below(4) == 0 { random.normal() } else { 0.0 });
    let flag = numbers(&|random| f64::from(u8::from(random.below(3) == 0)));
    let codes = (0..all).map(|_| if missing && random.below(9) == 0 { MISSING } else { random.below(3) as u32 });
    let element = Values::Categories { codes: codes.collect(), levels: ["C", "N", "O"].map(str::to_owned).to_vec() };
    tables.node_columns = vec![
        Column::new("age", Values::Numbers(age)).with_kind(Kind::Continuous),
        Column::new("rare", Values::Numbers(rare)).with_kind(Kind::Sparse),
        Column::new("flag", Values::Numbers(flag)).with_kind(Kind::Binary),
        Column::new("element", element).with_kind(Kind::Categorical),
    ];
    tables
}

fn links_with(own: bool, tables: &Tables, pairs: LinkPairs) -> gnan::Result<Dataset> {
    let features = LinkFeatures::All { own };
    let options = DatasetOptions { links: Some(LinkOptions { pairs, features }), ..DatasetOptions::default() };
    Dataset::from_tables(tables.clone(), &options)
}

fn links(tables: &Tables, pairs: LinkPairs) -> gnan::Result<Dataset> {
    links_with(true, tables, pairs)
}

fn divided(tables: &Tables, division: &LinkDivision) -> Dataset {
    links(tables, LinkPairs::Divided(division.clone())).expect("links")
}

/// Every other round without features of pairs themselves, as models were before there were any.
fn divided_in(round: usize, tables: &Tables, division: &LinkDivision) -> Dataset {
    links_with(round.is_multiple_of(2), tables, LinkPairs::Divided(division.clone())).expect("links")
}

/// The distinct edges of tables, the smaller end first.
fn edges_of(tables: &Tables) -> BTreeSet<[u32; 2]> {
    let ordered = tables.edges.iter().map(|[one, other]| [*one.min(other), *one.max(other)]);
    ordered.filter(|[one, other]| one != other).collect()
}

/// The pair that an id stands for, in tables without ids of nodes: `g1/0–3`, or `0–3` in a single graph.
fn pair_of(tables: &Tables, id: &str) -> [u32; 2] {
    let (graph, pair) = id.split_once('/').unwrap_or(("g0", id));
    let first = tables.node_offsets[tables.graph_ids.iter().position(|id| id == graph).expect("a graph")] as u32;
    let (one, other) = pair.split_once('–').expect("a pair");
    [one, other].map(|id| first + id.parse::<u32>().expect("a node"))
}

/// The message edges of a data set of links, in the order of its nodes.
fn messages_of(tables: &Tables, data: &Dataset) -> Vec<[u32; 2]> {
    let of_graph = |graph: usize| {
        let id = move |node: usize| format!("{}/{}", data.graph_id(graph), data.node_id(node));
        data.sources_of(graph).map(move |node| pair_of(tables, &id(node)))
    };
    (0..data.graph_count()).flat_map(of_graph).collect()
}

/// The line graph of some edges and one pair, built edge by edge, and the distances from the pair: breadth-first.
fn line_graph_distances(edges: &[[u32; 2]], pair: [u32; 2]) -> Vec<Option<usize>> {
    let same = |edge: &[u32; 2]| *edge == pair || [edge[1], edge[0]] == pair;
    let mut places: Vec<[u32; 2]> = edges.iter().copied().filter(|edge| !same(edge)).collect();
    places.push(pair);
    let touch = |one: &[u32; 2], other: &[u32; 2]| one.iter().any(|end| other.contains(end));
    let mut distances: Vec<Option<usize>> = vec![None; places.len()];
    let start = places.len() - 1;
    distances[start] = Some(0);
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for next in 0..places.len() {
            if distances[next].is_none() && touch(&places[at], &places[next]) {
                distances[next] = distances[at].map(|distance| distance + 1);
                queue.push_back(next);
            }
        }
    }
    let found: BTreeMap<[u32; 2], Option<usize>> = places.iter().copied().zip(distances).collect();
    edges.iter().map(|edge| if same(edge) { Some(0) } else { found[edge] }).collect()
}

#[test]
fn line_distances_are_those_of_the_line_graph() {
    let mut random = Stream::named(1, "line distances", 0);
    for _ in 0..60 {
        let nodes = 2 + random.below(14);
        let density = random.uniform() * 2.0;
        let edges: Vec<[u32; 2]> = edges_of(&random_tables(&mut random, 1, nodes, density)).into_iter().collect();
        let graph = ReorderedGraph::new(Graph::new(nodes, edges.iter().copied(), false));
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for one in 0..nodes as u32 {
            pairs.extend((0..nodes as u32).filter(|other| *other != one).map(|other| [one, other]));
        }
        let mut search = DistanceSearch::default();
        for pairs in pairs.chunks(RECEIVERS_AT_ONCE) {
            let mut rows = vec![0; pairs.len() * edges.len()];
            let longest = line_distances_to(&graph, &edges, pairs, &mut search, &mut rows).unwrap();
            let mut expected_longest = 0;
            for (pair, row) in pairs.iter().zip(rows.chunks(edges.len().max(1))) {
                let expected = line_graph_distances(&edges, *pair);
                let found: Vec<Option<usize>> =
                    row.iter().map(|d| (*d != UNREACHABLE).then_some(usize::from(*d))).collect();
                assert_eq!(found, expected, "{edges:?} {pair:?}");
                expected_longest = expected.into_iter().flatten().fold(expected_longest, usize::max);
            }
            assert_eq!(usize::from(longest), expected_longest);
        }
    }
}

#[test]
fn parts_are_disjoint_and_nothing_that_is_held_out_is_a_message() {
    let mut random = Stream::named(2, "parts", 0);
    for seed in 0..20 {
        let graphs = 1 + random.below(3);
        let tables = random_tables(&mut random, graphs, 14, 2.0);
        let edges = edges_of(&tables);
        let division = LinkDivision { seed, test_share: Some(0.2), negatives: 1.5, most_pairs: None };
        let data = divided(&tables, &division);
        let split = data.given_split(0, 0).unwrap();
        let messages: BTreeSet<[u32; 2]> = messages_of(&tables, &data).into_iter().collect();
        assert!(messages.is_subset(&edges));
        let mut seen = BTreeSet::new();
        for part in [&split.train, &split.valid, &split.test] {
            let (mut positives, mut negatives) = (0usize, 0usize);
            for item in part.items() {
                let pair = pair_of(&tables, &data.item_id(*item));
                assert!(seen.insert(pair), "{pair:?} is asked about twice");
                let link = data.targets()[0].values[*item as usize] == 1.0;
                assert_eq!(link, edges.contains(&pair));
                if link {
                    positives += 1;
                } else {
                    negatives += 1;
                    assert_eq!(
                        data.graph_of(*item as usize),
                        tables.node_offsets.partition_point(|o| *o <= pair[1] as usize) - 1
                    );
                }
                let held_out = !std::ptr::eq(part, &split.train);
                assert_eq!(messages.contains(&pair), link && !held_out);
            }
            assert!(positives > 0);
            assert_eq!(negatives, (positives as f64 * 1.5).ceil() as usize);
        }
        let again = divided(&tables, &division);
        assert_eq!(again.content_checksum(), data.content_checksum());
        let other = divided(&tables, &LinkDivision { seed: seed + 1, ..division });
        assert_ne!(other.content_checksum(), data.content_checksum());
    }
}

#[test]
fn features_of_the_graph_do_not_know_what_is_asked() {
    let tables = random_tables(&mut Stream::named(3, "described", 0), 1, 30, 2.0);
    let pairs = LinkPairs::Divided(LinkDivision { test_share: Some(0.2), ..LinkDivision::default() });
    let options = DatasetOptions {
        links: Some(LinkOptions { pairs, features: LinkFeatures::All { own: true } }),
        describe: vec!["degree".parse().unwrap()],
        ..DatasetOptions::default()
    };
    let data = Dataset::from_tables(tables.clone(), &options).unwrap();
    let messages = messages_of(&tables, &data);
    for item in data.items() {
        assert!(!messages.contains(&pair_of(&tables, &data.item_id(*item))), "a candidate is a message");
    }
    // The pair of degrees that the first message edge has, counted on the message edges alone.
    let degree = |node: u32| messages.iter().flatten().filter(|end| **end == node).count().to_string();
    let feature = data.features().iter().find(|feature| feature.name == "neighbours (pair)").expect("a feature");
    let Values::Categories { codes, levels } = &feature.values else { panic!("categories") };
    for (edge, code) in messages.iter().zip(codes) {
        let mut degrees = edge.map(degree);
        degrees.sort();
        assert_eq!(levels[*code as usize], degrees.join("–"));
    }
}

#[test]
fn samples_and_dense_graphs() {
    let mut random = Stream::named(4, "samples", 0);
    let tables = random_tables(&mut random, 1, 60, 4.0);
    let sampled = divided(&tables, &LinkDivision { most_pairs: Some(40), ..LinkDivision::default() });
    assert!(sampled.len() <= 40 && sampled.len() > 30, "{}", sampled.len());
    assert!(sampled.links().unwrap().sample().unwrap().contains("a sample of 40"));
    // Nearly everybody knows everybody: pairs without a link are listed, not tried at random.
    let mut dense = random_tables(&mut random, 1, 12, 0.0);
    for one in 0..12u32 {
        dense.edges.extend((0..one).map(|other| [one, other]));
    }
    dense.edges.truncate(50);
    let data = divided(&dense, &LinkDivision { negatives: 0.3, ..LinkDivision::default() });
    assert!(data.len() > 60);
    let error = links(&dense, LinkPairs::Divided(LinkDivision::default())).unwrap_err().to_string();
    assert!(error.contains("there are only 16") && error.contains("the option negatives"), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    let mut random = Stream::named(5, "refusals", 0);
    let tables = random_tables(&mut random, 1, 20, 2.0);
    let refused = |tables: &Tables, division: LinkDivision| {
        links(tables, LinkPairs::Divided(division)).expect_err("a refusal").to_string()
    };
    let usual = LinkDivision::default();
    let directed = Tables { directed: true, ..tables.clone() };
    assert!(refused(&directed, usual.clone()).contains("the option directed with the value false"));
    // A graph alone is enough for features of pairs, and for nothing else.
    let bare = Tables { node_columns: Vec::new(), ..tables.clone() };
    assert_eq!(divided(&bare, &usual).features().len(), 5);
    let error = links_with(false, &bare, LinkPairs::Divided(usual.clone())).unwrap_err().to_string();
    assert!(error.contains("the option describe with the value degree"), "{error}");
    let few = Tables { edges: tables.edges[..5].to_vec(), ..tables.clone() };
    assert!(refused(&few, usual.clone()).contains("too few"));
    for share in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(refused(&tables, LinkDivision { test_share: Some(share), ..usual.clone() }).contains("test share"));
    }
    for share in [0.9, 0.95, 0.999] {
        // As few edges as may be left: an answer or a refusal, and no panic.
        let few = Tables { edges: (0..10u32).map(|node| [node, node + 1]).collect(), ..tables.clone() };
        let division = LinkDivision { test_share: Some(share), ..usual.clone() };
        if let Err(error) = links(&few, LinkPairs::Divided(division)) {
            assert!(error.to_string().contains("the option test-share"), "{error}");
        }
    }
    for negatives in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        assert!(refused(&tables, LinkDivision { negatives, ..usual.clone() }).contains("for each link"));
    }
    assert!(refused(&tables, LinkDivision { most_pairs: Some(0), ..usual.clone() }).contains("0 pairs"));
    let asked = |words: &str| links(&tables, LinkPairs::Queried(vec![QueriedPair::Words(words.to_owned())]));
    for words in ["0-1", "0–1", "0--1", " 0 - 1 "] {
        assert_eq!(asked(words).unwrap().item_id(asked(words).unwrap().items()[0]), "0–1");
    }
    for words in ["", "0", "0-0", "0-99", "–", "0–1–2"] {
        assert!(asked(words).is_err(), "{words}");
    }
}

/// A small training of each kind.
fn trainings() -> Vec<Spec> {
    let usual = Spec::default().hidden(16).layers(2).epochs(15).learning_rate(0.02);
    vec![
        usual.clone().rho(RhoChoice::Shared),
        usual.clone().rho(RhoChoice::PerFeature),
        usual.clone().normalise(false).output_bias(true).logits(LogitChoice::One),
        usual.clone().hop_cap(2).rho(RhoChoice::PerFeature),
        usual.ignore_unreachable(true),
    ]
}

fn trained(training: &Spec, data: &Dataset) -> Model {
    let split = data.given_split(0, 0).expect("a split");
    let fitted = training.fit_watched(&split.train, Some(&split.valid), &mut |_| ControlFlow::Continue(()));
    fitted.expect("a model").model
}

/// The value of a feature of a pair, from the equations.
fn pair_value(tables: &Tables, name: &str, [one, other]: [u32; 2]) -> Value {
    let (base, way) = name.strip_suffix(')').and_then(|name| name.split_once(" (")).expect("a way");
    let column = tables.node_columns.iter().find(|column| column.name == base).expect("a column");
    match &column.values {
        Values::Categories { codes, levels } => {
            let names = [one, other].map(|node| levels.get(codes[node as usize] as usize));
            let [Some(one), Some(other)] = names else { return Value::Missing };
            let mut names = [one.as_str(), other.as_str()];
            names.sort_unstable();
            Value::Category(names.join("–"))
        }
        Values::Numbers(numbers) => {
            let [one, other] = [one, other].map(|node| numbers[node as usize]);
            let value = if way == "sum" { one + other } else { (one - other).abs() };
            if value.is_nan() { Value::Missing } else { Value::Number(value) }
        }
        Values::Sparse { .. } => panic!("columns are dense here"),
    }
}

/// The feature of a pair that it alone has, from its definition, given message edges, of which its own is left out.
fn own_value(tables: &Tables, messages: &[[u32; 2]], name: &str, [one, other]: [u32; 2]) -> Value {
    let others: Vec<[usize; 2]> = (messages.iter())
        .filter(|edge| **edge != [one, other] && **edge != [other, one])
        .map(|edge| edge.map(|node| node as usize))
        .collect();
    let nodes = *tables.node_offsets.last().expect("an end");
    let neighbours = |node: u32| -> BTreeSet<usize> {
        let far_end = |edge: &[usize; 2]| match edge.map(|end| end == node as usize) {
            [true, _] => Some(edge[1]),
            [_, true] => Some(edge[0]),
            _ => None,
        };
        others.iter().filter_map(far_end).collect()
    };
    let (mine, theirs) = (neighbours(one), neighbours(other));
    let number = |x: f64| if x.is_nan() { Value::Missing } else { Value::Number(x) };
    match name {
        "common neighbours" => number(mine.intersection(&theirs).count() as f64),
        "rare common neighbours" => {
            number(mine.intersection(&theirs).map(|node| 1.0 / (neighbours(*node as u32).len() as f64).ln()).sum())
        }
        "smaller degree" => number(mine.len().min(theirs.len()) as f64),
        "larger degree" => number(mine.len().max(theirs.len()) as f64),
        "distance without this link" => {
            Value::Category(match oracle::queue_search(nodes, &others, false, one as usize)[other as usize] {
                None => "no path".to_owned(),
                Some(distance @ 0..10) => distance.to_string(),
                Some(_) => "10 or more".to_owned(),
            })
        }
        name => {
            let ways = ["same ", "both ", "product of ", "difference in "];
            let column = ways.iter().find_map(|way| name.strip_prefix(way)).expect("a way");
            let column = tables.node_columns.iter().find(|known| known.name == column).expect("a column");
            match &column.values {
                Values::Categories { codes, .. } => match [codes[one as usize], codes[other as usize]] {
                    [MISSING, _] | [_, MISSING] => Value::Missing,
                    [one, other] => number(f64::from(u8::from(one == other))),
                },
                Values::Numbers(numbers) => {
                    let [one, other] = [one, other].map(|node| numbers[node as usize]);
                    number(if name.starts_with("difference") { (one - other).abs() } else { one * other })
                }
                Values::Sparse { .. } => panic!("columns are dense here"),
            }
        }
    }
}

/// What a data set has as the value of a feature at a node; `None`: it has none.
fn value_of(feature: &Feature, node: usize) -> Option<Value> {
    let number = |x: f64| if x.is_nan() { Value::Missing } else { Value::Number(x) };
    match &feature.values {
        Values::Categories { codes, levels } => levels.get(codes[node] as usize).cloned().map(Value::Category),
        Values::Numbers(numbers) => Some(number(numbers[node])),
        Values::Sparse { rows, values, .. } => match rows.binary_search(&(node as u32)) {
            Ok(at) => Some(number(values[at])),
            Err(_) => (feature.kind != Kind::Continuous).then_some(Value::Number(0.0)),
        },
    }
}

#[test]
fn features_of_pairs_are_those_of_the_message_edges_without_their_own() {
    let mut random = Stream::named(12, "own features", 0);
    let mut changed = [0usize; 2];
    for round in 0..12 {
        let tables = random_tables(&mut random, 1 + round % 2, 16, 1.0 + 0.1 * round as f64);
        let data = divided(&tables, &LinkDivision { test_share: Some(0.2), ..LinkDivision::default() });
        let messages = messages_of(&tables, &data);
        let all: Vec<[u32; 2]> = edges_of(&tables).into_iter().collect();
        let own: Vec<&Feature> = data.features().iter().filter(|feature| feature.own_only).collect();
        assert_eq!(own.len(), 9);
        for item in data.items() {
            let pair = pair_of(&tables, &data.item_id(*item));
            for feature in &own {
                let found = value_of(feature, *item as usize).expect("a value");
                assert_eq!(found, own_value(&tables, &messages, &feature.name, pair), "{} of {pair:?}", feature.name);
                // Neither edges that are held out nor the own edge are used: with them, some values would be others.
                let held_out_too = own_value(&tables, &all, &feature.name, pair);
                changed[0] += usize::from(found != held_out_too);
            }
            let has_own_edge = messages.contains(&pair);
            let degree = messages.iter().filter(|edge| edge.contains(&pair[0])).count();
            let [smaller, larger] = [3, 4].map(|k| value_of(own[k], *item as usize).expect("a degree"));
            let counted = Value::Number(degree as f64);
            changed[1] += usize::from(has_own_edge && counted != smaller && counted != larger);
        }
        // Message edges have no such values.
        for source in (0..data.graph_count()).flat_map(|graph| data.sources_of(graph)) {
            assert!(own.iter().all(|f| matches!(value_of(f, source), None | Some(Value::Number(0.0)))));
        }
    }
    assert!(changed.iter().all(|count| *count > 50), "{changed:?}");
}

/// What is held out may be anything: features of training pairs, and what is learned from them, stay the same.
#[test]
fn held_out_links_change_no_feature_of_training_pairs() {
    let mut random = Stream::named(13, "held out", 0);
    for _ in 0..6 {
        let tables = random_tables(&mut random, 1, 24, 1.8);
        let data = divided(&tables, &LinkDivision { test_share: Some(0.3), ..LinkDivision::default() });
        let messages = messages_of(&tables, &data);
        let train = data.given_split(0, 0).unwrap().train;
        let ids: Vec<String> = train.items().iter().map(|item| data.item_id(*item)).collect();
        let pairs = LinkPairs::Queried(ids.iter().map(|id| QueriedPair::Words(id.clone())).collect());
        let only_messages = links(&with_edges(&tables, messages), pairs).unwrap();
        for (feature, expected) in data.features().iter().zip(only_messages.features()).filter(|(f, _)| f.own_only) {
            for (item, queried) in train.items().iter().zip(only_messages.items()) {
                let [found, expected] = [(feature, item), (expected, queried)].map(|(f, i)| value_of(f, *i as usize));
                assert_eq!(found, expected, "{}", feature.name);
            }
        }
    }
}

/// Where features are many, agreement in all of them is one number each.
#[test]
fn many_features_are_taken_together() {
    let mut random = Stream::named(14, "words", 0);
    let mut tables = random_tables(&mut random, 1, 30, 2.0);
    let words: Vec<Vec<f64>> =
        (0..60).map(|_| (0..30).map(|_| f64::from(u8::from(random.below(5) == 0))).collect()).collect();
    let number = |at: usize| format!("word_{at}");
    let column = |(at, values): (usize, &Vec<f64>)| {
        Column::new(number(at), Values::Numbers(values.clone())).with_kind(Kind::Binary)
    };
    tables.node_columns = words.iter().enumerate().map(column).collect();
    let data = divided(&tables, &LinkDivision::default());
    let own: Vec<&Feature> = data.features().iter().filter(|feature| feature.own_only).collect();
    let names: Vec<&str> = own[5..].iter().map(|feature| feature.name.as_str()).collect();
    assert_eq!(names, ["shared words", "rare shared words"]);
    for item in data.items() {
        let [one, other] = pair_of(&tables, &data.item_id(*item)).map(|node| node as usize);
        let shared = words.iter().filter(|word| word[one] * word[other] == 1.0);
        let rarity: f64 = shared.clone().map(|word| (30.0 / word.iter().sum::<f64>()).ln()).sum();
        assert_eq!(value_of(own[5], *item as usize), Some(Value::Number(shared.count() as f64)));
        let Some(Value::Number(found)) = value_of(own[6], *item as usize) else { panic!("a number") };
        assert!((found - rarity).abs() < 1e-9);
    }
    // A model knows how rare words were in training, whatever it is asked about.
    let model = trained(&trainings()[0], &data);
    let expected = model.outputs_on(&data).unwrap().values;
    let ids: Vec<String> = data.items().iter().map(|item| data.item_id(*item)).collect();
    assert_eq!(asked(&model, &with_edges(&tables, messages_of(&tables, &data)), &ids), expected);
}

/// What the model in a file says of a pair, given message edges of its graph: the line graph without the pair's own edge, and the
/// pair itself.
fn oracle_outputs(
    file: &FileModel,
    model: &Model,
    tables: &Tables,
    messages: &[[u32; 2]],
    pair: [u32; 2],
) -> Vec<Answer> {
    let graph = |node: u32| tables.node_offsets.partition_point(|offset| *offset <= node as usize);
    let own = |edge: &[u32; 2]| *edge == pair || [edge[1], edge[0]] == pair;
    let sources: Vec<[u32; 2]> =
        messages.iter().copied().filter(|edge| graph(edge[0]) == graph(pair[0]) && !own(edge)).collect();
    let features = (model.definition().learned.features.iter())
        .map(|feature| {
            let value = |edge: &[u32; 2]| match (feature.name.ends_with(')'), *edge == pair) {
                (true, _) => pair_value(tables, &feature.name, *edge),
                (false, true) => own_value(tables, messages, &feature.name, pair),
                (false, false) => Value::Missing,
            };
            let values = sources.iter().chain([&pair]).map(value).collect();
            CaseFeature { name: feature.name.clone(), kind: feature.kind.name(), values }
        })
        .collect();
    let graphs = vec![CaseGraph { nodes: sources.len() + 1, edges: Vec::new() }];
    let case = Case { graph_task: true, directed: false, graphs, features };
    let mut distances = line_graph_distances(&sources, pair);
    distances.push(Some(0));
    let receiver = Receiver { item: 0, first: 0, distances, others: Vec::new() };
    file.outputs_of(&case, &[receiver], 1.0).remove(0)
}

#[test]
fn outputs_are_those_of_the_line_graph() {
    let mut random = Stream::named(6, "oracle", 0);
    for (round, training) in trainings().iter().enumerate().chain(trainings().iter().enumerate()) {
        let tables = random_tables(&mut random, 1 + round % 2, 16, 1.5);
        let data = divided_in(round / 3, &tables, &LinkDivision { test_share: Some(0.2), ..LinkDivision::default() });
        let bytes = trained(training, &data).to_bytes().unwrap();
        let (file, model) = (FileModel::read(&bytes), Model::from_bytes(&bytes).unwrap());
        assert_eq!(model.to_bytes().unwrap(), bytes, "what is read is what was written");
        let messages = messages_of(&tables, &data);
        let found = model.outputs_on(&data).unwrap();
        for (item, row) in data.items().iter().zip(found.values.chunks_exact(found.width)) {
            let pair = pair_of(&tables, &data.item_id(*item));
            for (found, expected) in row.iter().zip(oracle_outputs(&file, &model, &tables, &messages, pair)) {
                let miss = (f64::from(*found) - expected.value).abs() / expected.magnitude.max(1.0);
                assert!(miss <= 1e-5, "{pair:?}: {found}, oracle {expected:?}");
            }
        }
    }
}

#[test]
fn gradients_are_those_of_the_line_graph() {
    let mut random = Stream::named(7, "gradients", 0);
    for training in trainings().into_iter().take(4) {
        let tables = random_tables(&mut random, 1, 14, 1.5);
        let data = divided(&tables, &LinkDivision::default());
        let model = trained(&training, &data);
        let (messages, outputs) = (messages_of(&tables, &data), model.outputs());
        // The loss is the outputs weighed at random.
        let weights: Vec<f32> = (0..data.len() * outputs).map(|_| random.normal() as f32).collect();
        let features = model.features_of(&data).unwrap();
        let statistics = Arc::new(model.statistics(&data, &features).unwrap());
        let mut engine = Engine::new(model.definition().engine_model(), statistics, 1.0);
        let mut parameters = model.parameters().clone();
        engine.tables(&parameters, true);
        let mut rows = engine.rows(&(0..data.len()).collect::<Vec<_>>(), false);
        engine.outputs(&mut rows, &mut vec![0.0; weights.len()]);
        let mut state = OptimiserState::new(&parameters);
        let adam = Adam { learning_rate: 0.0, weight_decay: 0.0, beta1: 0.0, ..Adam::default() };
        engine.step(
            &mut rows,
            &weights,
            &mut parameters,
            &mut state,
            StepSettings { adam, output_bias: true, group_penalty: 0.0 },
        );
        let gradient: Vec<f64> = state.first_moments().into_iter().flatten().map(|g| f64::from(*g)).collect();
        let loss = |parameters: &Parameters| -> f64 {
            let moved = Model::from_parts(model.definition().clone(), parameters.clone());
            let file = FileModel::read(&moved.to_bytes().unwrap());
            let of_item =
                |item: &u32| oracle_outputs(&file, &model, &tables, &messages, pair_of(&tables, &data.item_id(*item)));
            let found = data.items().iter().flat_map(of_item);
            found.zip(&weights).map(|(answer, weight)| answer.value * f64::from(*weight)).sum()
        };
        for _ in 0..3 {
            let direction: Vec<f64> = gradient.iter().map(|_| random.normal()).collect();
            let moved = |size: f64| {
                let mut moved = model.parameters().clone();
                let mut steps = direction.iter();
                let mut step = |number: &mut f32| *number += (size * steps.next().expect("a step")) as f32;
                for bank in [&mut moved.shapes, &mut moved.rhos] {
                    (0..bank.len()).for_each(|k| bank.block_mut(k).iter_mut().for_each(&mut step));
                }
                moved.values.iter_mut().chain(&mut moved.bias).chain(&mut moved.output_bias).for_each(step);
                moved
            };
            const STEP: f64 = 1e-4;
            let difference = (loss(&moved(STEP)) - loss(&moved(-STEP))) / (2.0 * STEP);
            let found: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            let size = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            // Kinks of ReLU within the step, and parameters of 32 bits.
            assert!((found - difference).abs() <= 0.01 * size.max(1.0), "{found}, differences {difference}, {size}");
        }
    }
}

/// The same tables with other edges.
fn with_edges(tables: &Tables, edges: Vec<[u32; 2]>) -> Tables {
    Tables { edges, ..tables.clone() }
}

/// What a model says about pairs, given all edges of tables.
fn asked(model: &Model, tables: &Tables, ids: &[String]) -> Vec<f32> {
    let mut options = model.data_options();
    let pairs = ids.iter().map(|id| QueriedPair::Words(id.clone())).collect();
    options.links.as_mut().expect("links").pairs = LinkPairs::Queried(pairs);
    let data = Dataset::from_tables(tables.clone(), &options).expect("links");
    assert_eq!(data.items().iter().map(|item| data.item_id(*item)).collect::<Vec<_>>(), ids);
    model.outputs_on(&data).expect("outputs").values
}

#[test]
fn nothing_leaks() {
    let mut random = Stream::named(8, "leaks", 0);
    for (round, training) in trainings().iter().enumerate() {
        let tables = random_tables(&mut random, 1 + round % 2, 16, 1.6);
        let data = divided_in(round / 2, &tables, &LinkDivision { test_share: Some(0.2), ..LinkDivision::default() });
        let model = trained(training, &data);
        let messages = messages_of(&tables, &data);
        let ids: Vec<String> = data.items().iter().map(|item| data.item_id(*item)).collect();
        let found = model.outputs_on(&data).unwrap();
        // What is held out does not matter: the same without those edges, whose existence nobody can know.
        assert_eq!(asked(&model, &with_edges(&tables, messages.clone()), &ids), found.values);
        // Neither does the own edge: the same where it is taken out, and where it is put in.
        for (id, outputs) in ids.iter().zip(found.values.chunks_exact(found.width)) {
            let pair = pair_of(&tables, id);
            let mut without = messages.clone();
            without.retain(|edge| *edge != pair);
            let with = [&without[..], &[pair]].concat();
            for edges in [without, with] {
                let one = asked(&model, &with_edges(&tables, edges), std::slice::from_ref(id));
                // With a rho per feature, sums run in the order of the levels that occur.
                let close = |(one, other): (&f32, &f32)| (one - other).abs() <= 1e-5 * other.abs().max(1.0);
                assert!(one.iter().zip(outputs).all(close), "{id}: {one:?}, {outputs:?}");
            }
        }
        // A pair has no first end.
        let turned: Vec<String> = (ids.iter())
            .map(|id| match (id.split_once('/'), id.split_once('–')) {
                (Some((graph, pair)), _) => {
                    let (one, other) = pair.split_once('–').expect("a pair");
                    format!("{graph}/{other}–{one}")
                }
                (None, Some((one, other))) => format!("{other}–{one}"),
                _ => panic!("{id} is no pair"),
            })
            .collect();
        assert_eq!(asked(&model, &with_edges(&tables, messages), &turned), found.values);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let tables = random_tables(&mut Stream::named(9, "threads", 0), 2, 30, 2.0);
    let bytes = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let data = divided(&tables, &LinkDivision { seed, ..LinkDivision::default() });
            trained(&trainings()[0].clone().seed(seed), &data).to_bytes().unwrap()
        })
    };
    let one = bytes(1, 3);
    assert_eq!(one, bytes(3, 3));
    assert_ne!(one, bytes(1, 4));
}

#[test]
fn explanations_add_up_and_nobody_explains_itself() {
    let mut random = Stream::named(10, "explanations", 0);
    for (round, training) in trainings().iter().enumerate() {
        let tables = random_tables(&mut random, 1 + round % 2, 14, 1.4);
        let data = divided_in(round + 1, &tables, &LinkDivision::default());
        let model = trained(training, &data);
        if round % 2 == 1 {
            explanations_have_features_of_pairs(&model, &data);
            continue;
        }
        for position in 0..data.len() {
            let why = model.explain(&data, position).unwrap();
            assert!(why.adds_up(), "{} misses by {}", why.id, why.worst_miss());
            assert_eq!(why.nodes.len(), data.sources_of(data.graph_of(data.items()[position] as usize)).len());
            assert_eq!(why.receivers[0], 0);
            assert!(why.by_feature_and_distance.iter().all(|slots| slots[0].iter().all(|part| *part == 0.0)));
            let own = why.nodes.iter().position(|id| why.id.ends_with(id.as_str()) && why.id.len() <= id.len() + 3);
            if let Some(own) = own {
                assert_eq!(why.by_node(0)[own], 0.0, "{} contributes to itself", why.id);
                assert_eq!(why.labels[own], "itself, no source");
            }
            assert!(why.labels.iter().all(|label| label != "distance 0"));
        }
        let overview = gnan::explain::Explainer::new(&model, &data).unwrap().overview().unwrap();
        assert_eq!(overview.receivers[0], 0.0);
    }
}

/// At distance 0 there are the features of the pair itself and nothing else.
fn explanations_have_features_of_pairs(model: &Model, data: &Dataset) {
    for position in 0..data.len() {
        let why = model.explain(data, position).unwrap();
        assert!(why.adds_up(), "{} misses by {}", why.id, why.worst_miss());
        assert_eq!(why.receivers[0], 1);
        let itself: Vec<usize> = (0..why.nodes.len()).filter(|source| why.labels[*source] == "itself").collect();
        let [itself] = itself[..] else { panic!("{} is a source {} times", why.id, itself.len()) };
        assert!(why.id.ends_with(&why.nodes[itself]));
        for (k, (feature, slots)) in data.features().iter().zip(&why.by_feature_and_distance).enumerate() {
            let at = |distance: std::ops::Range<usize>| slots[distance].iter().flatten().all(|part| *part == 0.0);
            assert!(if feature.own_only { at(1..slots.len()) } else { at(0..1) }, "{}", feature.name);
            let parts = why.by_node_and_feature.iter().filter(|part| part.feature == k && part.values[0] != 0.0);
            assert!(parts.clone().all(|part| (part.node == itself) == feature.own_only), "{}", feature.name);
            assert_eq!(why.own_values[k].is_empty(), !feature.own_only);
        }
        assert_ne!(why.by_node(0)[itself], 0.0);
    }
    let overview = gnan::explain::Explainer::new(model, data).unwrap().overview().unwrap();
    let train = model.definition().record.train_items as f64;
    assert_eq!(overview.receivers[0], train);
    for feature in overview.features.iter().filter(|feature| !feature.name.ends_with(')')) {
        assert!(feature.own_value && feature.support.items <= train as u64, "{}", feature.name);
    }
}

/// Links can be fitted by penalised likelihood, with the edges around them and without.
#[test]
fn penalised_fits_of_links_add_up_and_leak_nothing() {
    let tables = random_tables(&mut Stream::named(16, "penalised", 0), 1, 24, 2.0);
    for cap in [None, Some(0), Some(1)] {
        let data = divided(&tables, &LinkDivision { test_share: Some(0.2), ..LinkDivision::default() });
        let spec = Spec::default().method(FitMethod::Penalised);
        let model = trained(&cap.into_iter().fold(spec, Spec::hop_cap), &data);
        explanations_add_up_with_pairs(&model, &data);
        let ids: Vec<String> = data.items().iter().map(|item| data.item_id(*item)).collect();
        let found = model.outputs_on(&data).unwrap().values;
        let expected = asked(&model, &with_edges(&tables, messages_of(&tables, &data)), &ids);
        assert!(found.iter().zip(&expected).all(|(one, other)| (one - other).abs() <= 1e-5 * other.abs().max(1.0)));
    }
}

fn explanations_add_up_with_pairs(model: &Model, data: &Dataset) {
    for position in 0..data.len() {
        let why = model.explain(data, position).unwrap();
        assert!(why.adds_up(), "{} misses by {}", why.id, why.worst_miss());
        assert_eq!(why.receivers[0], 1);
    }
}

/// A graph whose only edge is held out has no sources but the node pair itself.
#[test]
fn a_node_pair_without_any_edge_around_it_is_explained_by_itself() {
    let mut tables = random_tables(&mut Stream::named(17, "alone", 0), 2, 12, 2.5);
    tables.edges.retain(|edge| edge[0] < 12);
    tables.edges.push([12, 13]);
    let alone = |seed: u64| {
        let data = divided(&tables, &LinkDivision { seed, test_share: Some(0.4), ..LinkDivision::default() });
        data.sources_of(1).is_empty().then_some(data)
    };
    let data = (0..20).find_map(alone).expect("a division that holds the edge out");
    for spec in trainings() {
        let model = trained(&spec, &data);
        let of_second = |position: &usize| data.graph_of(data.items()[*position] as usize) == 1;
        for position in (0..data.len()).filter(of_second) {
            let why = model.explain(&data, position).unwrap();
            assert!(why.adds_up(), "{} misses by {}", why.id, why.worst_miss());
            assert_eq!((why.nodes.len(), why.labels[0].as_str()), (1, "itself"));
        }
    }
}

/// Without shells there are the features of pairs alone.
#[test]
fn node_pairs_can_be_predicted_by_their_own_features_alone() {
    let tables = random_tables(&mut Stream::named(15, "cap", 0), 2, 16, 1.6);
    for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
        let data = divided(&tables, &LinkDivision::default());
        let model = trained(&trainings()[0].clone().rho(rho).hop_cap(0), &data);
        let why = model.explain(&data, 3).unwrap();
        assert!(why.adds_up());
        assert!(why.by_distance(0)[1..].iter().all(|part| *part == 0.0));
        explanations_have_features_of_pairs(&model, &data);
    }
}

#[test]
fn a_file_that_lies_about_links_is_refused() {
    let tables = random_tables(&mut Stream::named(11, "lies", 0), 1, 20, 2.0);
    let model = trained(&trainings()[0], &divided(&tables, &LinkDivision::default()));
    let lie = |change: &dyn Fn(&mut gnan::model::Definition)| {
        let mut definition = model.definition().clone();
        change(&mut definition);
        let bytes = Model::from_parts(definition, model.parameters().clone()).to_bytes().unwrap();
        Model::from_bytes(&bytes).map(|_| ()).unwrap_err().to_string()
    };
    let error = lie(&|definition| definition.learned.links.as_mut().unwrap().ends.clear());
    assert!(error.contains("is not made of"), "{error}");
    let error = lie(&|definition| definition.learned.links.as_mut().unwrap().own = None);
    assert!(error.contains("is not made of"), "{error}");
    let error = lie(&|definition| definition.learned.features.last_mut().unwrap().reach = None);
    assert!(error.contains("has no values"), "{error}");
    let error = lie(&|definition| definition.learned.features[0].reach = Some(gnan::internals::lens::Reach::OWN));
    assert!(error.contains("has no values"), "{error}");
    let error = lie(&|definition| definition.learned.links.as_mut().unwrap().division.negatives = -1.0);
    assert!(error.contains("for each link"), "{error}");
    let error = lie(&|definition| definition.learned.directed = true);
    assert!(error.contains("something else"), "{error}");
    let error = lie(&|definition| definition.learned.targets[0].classes = Some(vec!["a".to_owned(), "b".to_owned()]));
    assert!(error.contains("something else"), "{error}");
    // Data of nodes are not data of links.
    let options = DatasetOptions { targets_optional: true, ..DatasetOptions::default() };
    let nodes = Dataset::from_tables(tables.clone(), &options).unwrap();
    let error = model.outputs_on(&nodes).unwrap_err().to_string();
    assert!(error.contains("no feature") || error.contains("predicts links"), "{error}");
}
