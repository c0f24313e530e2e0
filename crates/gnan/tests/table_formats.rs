//! Formats that hold graphs as tables, on the handwritten samples: what is read, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use gnan::files::{BondOrder, Column, Kind, MISSING, ReadOptions, SplitPart, Tables, Task, Values, read};
use gnan::{Limits, Result};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name)
}

fn read_at(path: &Path) -> Result<Tables> {
    read(path.to_str().unwrap(), &gnan_paper::read_options())
}

fn read_sample(name: &str) -> Tables {
    read_at(&sample(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// Reads text as a file of this name.
fn read_text(name: &str, text: &str) -> Result<Tables> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    read_at(&path)
}

fn refused(result: Result<Tables>, words: &[&str]) {
    let message = result.map(|tables| format!("{tables:?}")).expect_err("this should be refused").to_string();
    for word in words {
        assert!(message.contains(word), "\"{word}\" is not in: {message}");
    }
}

fn find<'a>(columns: &'a [Column], name: &str) -> &'a Column {
    let names: Vec<_> = columns.iter().map(|column| &column.name).collect();
    columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("no column {name} in {names:?}"))
}

/// Numbers with -1 for what is missing.
fn numbers(columns: &[Column], name: &str) -> Vec<f64> {
    match &find(columns, name).values {
        Values::Numbers(numbers) => numbers.iter().map(|x| if x.is_nan() { -1.0 } else { *x }).collect(),
        other => panic!("{name} is {other:?}"),
    }
}

/// The level of each row, `-` where it is missing.
fn words(column: &Column) -> Vec<&str> {
    let Values::Categories { codes, levels } = &column.values else { panic!("{} is no category", column.name) };
    codes.iter().map(|&code| if code == MISSING { "-" } else { levels[code as usize].as_str() }).collect()
}

fn names(columns: &[Column]) -> Vec<&str> {
    columns.iter().map(|column| column.name.as_str()).collect()
}

fn noted(tables: &Tables, word: &str) {
    assert!(tables.notes.iter().any(|note| note.contains(word)), "\"{word}\" is not in {:?}", tables.notes);
}

#[test]
fn node_link_graphs_are_a_graph_task() {
    let tables = read_sample("node_link_set/several.json");
    assert_eq!((tables.format.as_str(), tables.task), ("node-link JSON", Some(Task::Graph)));
    assert_eq!(tables.graph_ids, ["water", "oxygen"]);
    assert_eq!(words(find(&tables.graph_columns, "soluble")), ["yes", "no"]);
    assert_eq!(tables.splits, [[SplitPart::Train, SplitPart::Test]]);
    assert_eq!(tables.edges, [[0, 1], [0, 2], [3, 4]]);
    assert_eq!(tables.bonds, Some(vec![BondOrder::Single, BondOrder::Single, BondOrder::Double]));
    assert_eq!(words(find(&tables.node_columns, "element")), ["O", "H", "H", "O", "O"]);
    assert_eq!(numbers(&tables.node_columns, "mass"), [15.999, -1.0, 1.008, 15.999, 15.999]);
    assert_eq!(numbers(&tables.node_columns, "charged"), [0.0, 1.0, -1.0, -1.0, -1.0]);
    assert_eq!(numbers(&tables.node_columns, "place_1"), [0.5, -1.0, -1.0, -1.0, -1.0]);
    noted(&tables, "\"more\"");
    assert_eq!(names(&tables.edge_numbers), ["weight"]);
}

#[test]
fn a_node_link_graph_is_a_node_task() {
    let tables = read_sample("node_link/one.json");
    assert_eq!((tables.directed, tables.task, tables.graphs()), (true, Some(Task::Node), 1));
    assert_eq!(tables.node_ids.as_deref().unwrap(), ["ann", "bob", "eve"]);
    assert_eq!(tables.splits, [[SplitPart::Train, SplitPart::Valid, SplitPart::Test]]);
    assert_eq!(words(tables.edge_labels.as_ref().unwrap()), ["knows", "likes"]);
    assert_eq!((names(&tables.node_columns), tables.bonds), (vec!["age", "club"], None));
}

#[test]
fn mistakes_in_node_link_json_are_named() {
    let json = |text: &str| read_text("graph.json", text);
    refused(json(r#"{"nodes": [{"id": 1}], "links": [{"source": 1}]}"#), &["graph.json", "link 0 has no target"]);
    refused(json(r#"{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}"#), &["node \"2\" is not in"]);
    refused(json(r#"{"nodes": [{"id": 1}, {"id": "1"}], "links": []}"#), &["row 2", "already in row 1"]);
    refused(json("{\"nodes\": [\n{\"id\": NaN}], \"links\": []}"), &["graph.json:2", "null, not NaN"]);
    refused(json(r#"{"nodes": [], "links": []}"#), &["no nodes"]);
    refused(json(r#"{"nodes": 7}"#), &["no list \"nodes\""]);
    refused(json(r#"{"directed": "yes", "nodes": [], "links": []}"#), &["\"directed\" is \"yes\""]);
    refused(json(r#"[{"directed": true, "nodes": [], "links": []}, {"nodes": [], "links": []}]"#), &["directed"]);
    refused(json(&format!("{{\"nodes\": {}", "[".repeat(100_000))), &["not valid JSON"]);
    refused(json(r#"{"train": [1, 2]}"#), &["not a data set"]);
}

#[test]
fn a_word_that_looks_like_a_number_stays_a_word() {
    let tables =
        read_text("graph.json", r#"{"nodes": [{"id": 1, "zip": "0815"}, {"id": 2, "zip": "17"}], "links": []}"#);
    assert_eq!(words(find(&tables.unwrap().node_columns, "zip")), ["0815", "17"]);
}

#[test]
fn many_attributes_of_few_nodes_stop_at_a_limit() {
    let nodes: Vec<_> = (0..2000).map(|node| format!("{{\"id\": {node}, \"a{node}\": 1}}")).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.json");
    fs::write(&path, format!("{{\"nodes\": [{}], \"links\": []}}", nodes.join(","))).unwrap();
    let options = ReadOptions { limits: Limits { bytes: 1 << 20, ..Limits::default() }, ..gnan_paper::read_options() };
    refused(read(path.to_str().unwrap(), &options), &["cells: more than the limit"]);
}

#[test]
fn graphml_is_read_with_types_defaults_and_escapes() {
    let tables = read_sample("graphml/people.graphml");
    assert_eq!((tables.directed, tables.task, tables.format.as_str()), (true, Some(Task::Node), "GraphML"));
    assert_eq!(tables.node_ids.as_deref().unwrap(), ["ann", "bob", "eve"]);
    assert_eq!(numbers(&tables.node_columns, "age"), [30.0, 41.5, -1.0]);
    assert_eq!(words(find(&tables.node_columns, "club")), ["chess & go", "none", "<go>"]);
    assert_eq!(numbers(&tables.node_columns, "member"), [-1.0, 1.0, 0.0]);
    assert_eq!(words(tables.edge_labels.as_ref().unwrap()), ["knows", "likes"]);
    assert_eq!(tables.splits, [[SplitPart::Train, SplitPart::Valid, SplitPart::Test]]);
    noted(&tables, "without a name");

    let tables = read_sample("graphml_set/several.graphml");
    assert_eq!((tables.task, tables.directed), (Some(Task::Graph), false));
    assert_eq!(tables.graph_ids, ["ethanol", "monoxide"]);
    assert_eq!(words(find(&tables.node_columns, "element")), ["C", "C", "O", "C", "O"]);
    assert_eq!(words(find(&tables.graph_columns, "toxic")), ["no", "yes"]);
    assert_eq!(tables.bonds, Some(vec![BondOrder::Single, BondOrder::Single, BondOrder::Triple]));
}

#[test]
fn mistakes_in_graphml_are_named() {
    let graph = |inside: &str| read_text("g.graphml", &format!("<graphml>\n<graph>{inside}</graph></graphml>"));
    refused(graph("<node/>"), &["g.graphml:2", "no attribute \"id\""]);
    refused(graph("<node id=\"a\"/><edge source=\"a\" target=\"b\"/>"), &["node \"b\" is not in g.graphml"]);
    refused(graph("<node id=\"a\"><data key=\"k\">1</data></node>"), &["no key \"k\""]);
    refused(graph("<node id=\"a\"><graph/></node>"), &["graph inside a node"]);
    refused(graph("<hyperedge/>"), &["hyperedges"]);
    refused(graph(""), &["no nodes"]);
    refused(graph("<node id=\"&bomb;\"/>"), &["not valid XML"]);
    refused(graph("<node id=\"a\">&bomb;</node>"), &["entity"]);
    refused(read_text("g.graphml", "<graphml><graph><node id=\"a\"/>"), &["cut short"]);
    let typed = "<graphml><key id=\"k\" for=\"node\" attr.name=\"age\" attr.type=\"int\"/>\
                 <graph><node id=\"a\"><data key=\"k\">old</data></node></graph></graphml>";
    refused(read_text("g.graphml", typed), &["\"old\" is not a value of \"age\""]);
    let entities = "<!DOCTYPE g [<!ENTITY a \"&b;&b;\"><!ENTITY b \"boom\">]><graphml><graph><node id=\"x\">&a;</node></graph></graphml>";
    refused(read_text("g.graphml", entities), &["entity"]);
}

#[test]
fn an_edge_list_takes_its_nodes_from_the_table_beside_it() {
    for name in ["edge_list", "edge_list/edges.txt"] {
        let tables = read_sample(name);
        assert_eq!((tables.format.as_str(), tables.nodes()), ("edge list", 4));
        assert_eq!(tables.edges, [[0, 1], [2, 0]]);
        assert_eq!(words(tables.edge_labels.as_ref().unwrap()), ["knows", "likes"]);
        assert_eq!(numbers(&tables.node_columns, "age"), [30.0, 41.5, -1.0, 7.0]);
    }
}

#[test]
fn an_edge_list_alone_has_nodes_without_features() {
    let tables = read_text("roads.edgelist", "source,target,length\nb,a,1.5\nb,c,2\n").unwrap();
    assert_eq!(tables.node_ids.as_deref().unwrap(), ["b", "a", "c"]);
    assert_eq!((tables.edges.as_slice(), tables.node_columns.len()), ([[0, 1], [0, 2]].as_slice(), 0));
    assert!(tables.edge_labels.is_none());
    noted(&tables, "no features");
    noted(&tables, "weights are not used");
    refused(read_text("roads.edgelist", "a b\nc\n"), &["roads.edgelist:2", "not an edge"]);
    refused(read_text("roads.edgelist", "a b\na b c\n"), &["roads.edgelist:2", "3 words"]);
    refused(read_text("roads.edgelist", "# nothing\n"), &["no edges"]);
}

#[test]
fn tables_may_have_labels_of_edges_levels_and_several_splits() {
    let tables = read_sample("csv_tables");
    assert_eq!(tables.name, "small molecules");
    assert_eq!(words(tables.edge_labels.as_ref().unwrap()), ["single", "single", "triple"]);
    assert_eq!(tables.bonds, Some(vec![BondOrder::Single, BondOrder::Single, BondOrder::Triple]));
    assert_eq!(tables.splits, [[SplitPart::Train, SplitPart::Test], [SplitPart::Test, SplitPart::Train]]);
    let Values::Categories { levels, codes } = &find(&tables.node_columns, "atom").values else { panic!("no atoms") };
    assert_eq!(
        (levels.as_slice(), codes.as_slice()),
        (["O".to_string(), "C".to_string()].as_slice(), [1, 1, 0, 1, 0].as_slice())
    );
    assert_eq!(find(&tables.node_columns, "mass").unit.as_deref(), Some("u"));
}

#[test]
fn compressed_tables_are_read_like_plain_ones() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["nodes.csv", "edges.csv", "graphs.csv"] {
        let bytes = fs::read(sample("csv_tables").join(name)).unwrap();
        fs::write(folder.path().join(format!("{name}.gz")), gzipped(&bytes)).unwrap();
    }
    fs::copy(sample("csv_tables/gnan.toml"), folder.path().join("gnan.toml")).unwrap();
    let (plain, compressed) = (read_sample("csv_tables"), read_at(folder.path()).unwrap());
    assert_eq!((plain.edges, plain.node_columns), (compressed.edges, compressed.node_columns));
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_table_of_qm9_knows_its_units() {
    let folder = tempfile::tempdir().unwrap();
    let compressed = folder.path().join("qm9.csv.gz");
    fs::write(&compressed, gzipped(&fs::read(sample("qm9_table/qm9.csv")).unwrap())).unwrap();
    for path in [sample("qm9_table/qm9.csv"), compressed] {
        let tables = read_at(&path).unwrap();
        assert_eq!((tables.name.as_str(), tables.graph_ids.join(" ").as_str()), ("qm9", "gdb_1 gdb_2 gdb_3"));
        let unit = |name| find(&tables.graph_columns, name).unit.as_deref();
        assert_eq!([unit("mu"), unit("alpha"), unit("homo")], [Some("Debye"), Some("Bohr^3"), Some("Hartree")]);
        assert_eq!((tables.graph_columns.len(), tables.targets.len()), (19, 0));
    }
    // Another table with such columns is not QM9.
    let tables = read_text("x.csv", "smiles,mu\nC,1\n").unwrap();
    assert_eq!(find(&tables.graph_columns, "mu").unit, None);
}

#[test]
fn qm9_arrays_are_molecules_with_hydrogens() {
    let tables = read_sample("qm9_arrays/qm9_graphs.npz");
    assert_eq!((tables.format.as_str(), tables.graph_ids.join(" ").as_str()), ("QM9 arrays", "3 1"));
    assert_eq!(words(find(&tables.node_columns, "element")), ["O", "H", "H", "C", "H", "H", "H", "H"]);
    assert_eq!(numbers(&tables.node_columns, "sp3"), [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(words(find(&tables.node_columns, "bonded_hydrogens"))[..4], ["2", "0", "0", "4"]);
    assert_eq!(names(&tables.node_columns), ["element", "aromatic", "sp", "sp2", "sp3", "bonded_hydrogens"]);
    assert_eq!(find(&tables.node_columns, "aromatic").kind, Some(Kind::Binary));
    assert_eq!(tables.edges, [[0, 1], [0, 2], [3, 4], [3, 5], [3, 6], [3, 7]]);
    assert_eq!(tables.bonds, Some(vec![BondOrder::Single; 6]));
    assert_eq!(numbers(&tables.graph_columns, "mu"), [1.851, 0.0]);
    assert_eq!(find(&tables.graph_columns, "mu").unit.as_deref(), Some("Debye"));
    noted(&tables, "atomic number");

    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("qm9_graphs.npz");
    fs::copy(sample("qm9_arrays/qm9_graphs.npz"), &alone).unwrap();
    let tables = read_at(&alone).unwrap();
    assert!(tables.graph_columns.is_empty());
    noted(&tables, "nothing to predict");
    fs::write(folder.path().join("qm9.csv"), "mol_id,mu\n1,0\n").unwrap();
    refused(read_at(&alone), &["qm9.csv", "\"3\""]);
}
