//! Links: the line graph is never built by the engine, so it is built here, explicitly, and everything is compared with it.

mod common;
mod oracle;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gnan::dataset::{AskedPair, LinkDivision, LinkOptions, LinkQuestion};
use gnan::distance::{RECEIVERS_AT_ONCE, Search, UNREACHABLE, line_distances_to};
use gnan::files::{Column, Kind, MISSING, Tables, Values};
use gnan::graph::Graph;
use gnan::random::Stream;
use gnan::{Dataset, DatasetOptions};

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

fn links(tables: &Tables, question: LinkQuestion) -> gnan::Result<Dataset> {
    let options = DatasetOptions { links: Some(LinkOptions { question, ends: None }), ..DatasetOptions::default() };
    Dataset::from_tables(tables.clone(), &options)
}

fn divided(tables: &Tables, division: &LinkDivision) -> Dataset {
    links(tables, LinkQuestion::Divided(division.clone())).expect("links")
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
        let graph = Graph::new(nodes, edges.iter().copied(), false);
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for one in 0..nodes as u32 {
            pairs.extend((0..nodes as u32).filter(|other| *other != one).map(|other| [one, other]));
        }
        let mut search = Search::default();
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
fn parts_are_disjoint_and_nothing_that_is_held_out_is_heard() {
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
                    assert_eq!(data.graph_of(*item as usize), tables.node_offsets.partition_point(|o| *o <= pair[1] as usize) - 1);
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
    let question = LinkQuestion::Divided(LinkDivision { test_share: Some(0.2), ..LinkDivision::default() });
    let options = DatasetOptions {
        links: Some(LinkOptions { question, ends: None }),
        describe: vec!["degree".parse().unwrap()],
        ..DatasetOptions::default()
    };
    let data = Dataset::from_tables(tables.clone(), &options).unwrap();
    let messages = messages_of(&tables, &data);
    for item in data.items() {
        assert!(!messages.contains(&pair_of(&tables, &data.item_id(*item))), "a candidate is heard");
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
    assert!(sampled.notes().iter().any(|note| note.contains("sample")), "{:?}", sampled.notes());
    // Nearly everybody knows everybody: pairs without a link are listed, not tried at random.
    let mut dense = random_tables(&mut random, 1, 12, 0.0);
    for one in 0..12u32 {
        dense.edges.extend((0..one).map(|other| [one, other]));
    }
    dense.edges.truncate(50);
    let data = divided(&dense, &LinkDivision { negatives: 0.3, ..LinkDivision::default() });
    assert!(data.len() > 60);
    let error = links(&dense, LinkQuestion::Divided(LinkDivision::default())).unwrap_err().to_string();
    assert!(error.contains("there are only 16") && error.contains("--negatives"), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    let mut random = Stream::named(5, "refusals", 0);
    let tables = random_tables(&mut random, 1, 20, 2.0);
    let refused = |tables: &Tables, division: LinkDivision| {
        links(tables, LinkQuestion::Divided(division)).expect_err("a refusal").to_string()
    };
    let usual = LinkDivision::default();
    let directed = Tables { directed: true, ..tables.clone() };
    assert!(refused(&directed, usual.clone()).contains("--undirected"));
    let bare = Tables { node_columns: Vec::new(), ..tables.clone() };
    assert!(refused(&bare, usual.clone()).contains("--describe degree"));
    let few = Tables { edges: tables.edges[..5].to_vec(), ..tables.clone() };
    assert!(refused(&few, usual.clone()).contains("too few"));
    for share in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(refused(&tables, LinkDivision { test_share: Some(share), ..usual.clone() }).contains("test share"));
    }
    for negatives in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        assert!(refused(&tables, LinkDivision { negatives, ..usual.clone() }).contains("for each link"));
    }
    assert!(refused(&tables, LinkDivision { most_pairs: Some(0), ..usual.clone() }).contains("0 pairs"));
    let asked = |words: &str| links(&tables, LinkQuestion::Asked(vec![AskedPair::Words(words.to_owned())]));
    for words in ["0-1", "0–1", "0--1", " 0 - 1 "] {
        assert_eq!(asked(words).unwrap().item_id(asked(words).unwrap().items()[0]), "0–1");
    }
    for words in ["", "0", "0-0", "0-99", "–", "0–1–2"] {
        assert!(asked(words).is_err(), "{words}");
    }
}
