//! The readers, on small handwritten data sets: what they accept, and what they say about what they refuse.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use gnan::files::{Column, Kind, MISSING, ReadOptions, SplitPart, Tables, Task, Values, read};
use gnan::{ErrorKind, Limits, Result};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

type Files<'a> = &'a [(&'a str, &'a str)];

fn folder(files: Files) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn read_at(path: &Path, options: &ReadOptions) -> Result<Tables> {
    read(path.to_str().unwrap(), options)
}

/// Reads a folder of files.
fn read_files(files: Files) -> Result<Tables> {
    read_at(folder(files).path(), &gnan_paper::read_options())
}

/// Reads a single file of a given name.
fn read_one(name: &str, content: &[u8], options: &ReadOptions) -> Result<Tables> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    read_at(&path, options)
}

/// Demands an error that mentions each of the words.
fn refused(result: Result<Tables>, words: &[&str]) {
    let message = result.map(|tables| format!("{tables:?}")).expect_err("this should be refused").to_string();
    for word in words {
        assert!(message.contains(word), "\"{word}\" is not in: {message}");
    }
}

fn column<'a>(columns: &'a [Column], name: &str) -> &'a Column {
    columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("no column {name}"))
}

fn numbers<'a>(columns: &'a [Column], name: &str) -> &'a [f64] {
    match &column(columns, name).values {
        Values::Numbers(numbers) => numbers,
        other => panic!("{name} is {other:?}"),
    }
}

/// The level of each row, `-` where it is missing.
fn words(columns: &[Column], name: &str) -> Vec<String> {
    let Values::Categories { codes, levels } = &column(columns, name).values else { panic!("{name} is no category") };
    codes.iter().map(|&code| if code == MISSING { "-".to_string() } else { levels[code as usize].clone() }).collect()
}

fn levels(columns: &[Column], name: &str) -> Vec<String> {
    let Values::Categories { levels, .. } = &column(columns, name).values else { panic!("{name} is no category") };
    levels.clone()
}

fn names(columns: &[Column]) -> Vec<&str> {
    columns.iter().map(|column| column.name.as_str()).collect()
}

// CSV tables

const NODES: &str = "graph_id,node_id,mass,colour\ng1,a,1.5,red\ng2,a,2,blue\ng1,b,,red\n";
const EDGES: &str = "source,target,graph_id\na,b,g1\n";
const GRAPHS: &str = "graph_id,toxic,split\ng2,yes,Test\ng1,no,train\ng3,no,\n";

#[test]
fn csv_tables_are_regrouped_by_graph() {
    let tables = read_files(&[("nodes.csv", NODES), ("edges.csv", EDGES), ("graphs.csv", GRAPHS)]).unwrap();
    assert_eq!(tables.format, "CSV tables");
    assert_eq!(tables.graph_ids, ["g2", "g1", "g3"]);
    assert_eq!(tables.node_offsets, [0, 1, 3, 3]);
    assert_eq!(tables.node_ids.unwrap(), ["a", "a", "b"]);
    assert_eq!(tables.edges, [[1, 2]]);
    let mass = numbers(&tables.node_columns, "mass");
    assert_eq!(mass[..2], [2.0, 1.5]);
    assert!(mass[2].is_nan());
    assert_eq!(words(&tables.node_columns, "colour"), ["blue", "red", "red"]);
    assert_eq!(names(&tables.graph_columns), ["toxic"]);
    assert_eq!(tables.task, Some(Task::Graph));
    assert_eq!(tables.splits, [[SplitPart::Test, SplitPart::Train, SplitPart::Unused]]);
    assert!(!tables.directed);
    assert!(tables.targets.is_empty());
}

#[test]
fn csv_tables_of_one_graph_are_a_node_task() {
    let nodes = "node_id,x,split\na,1,train\nb,2,DEV\nc,3,test\nd,4,validation\n";
    let tables = read_files(&[("nodes.csv", nodes), ("edges.csv", "source,target\nb,a\n")]).unwrap();
    assert_eq!(tables.task, Some(Task::Node));
    assert_eq!(tables.edges, [[1, 0]]);
    assert_eq!(tables.splits, [[SplitPart::Train, SplitPart::Valid, SplitPart::Test, SplitPart::Valid]]);
    assert_eq!(names(&tables.node_columns), ["x"]);
    assert_eq!(tables.graph_ids.len(), 1);
}

#[test]
fn csv_cells_may_be_missing_quoted_or_oddly_ended() {
    let nodes =
        "\u{feff}node_id, x ,y,z,empty\r\n\"a,1\", 1 ,NA,10,\r\n\r\nb,NaN,p,9,?\r\nc,null,\"q \"\"r\"\"\",-1,None\r\n";
    let tables = read_files(&[("nodes.csv", nodes)]).unwrap();
    assert_eq!(tables.node_ids.as_ref().unwrap()[0], "a,1");
    assert_eq!(numbers(&tables.node_columns, "x")[0], 1.0);
    assert!(numbers(&tables.node_columns, "x")[1..].iter().all(|x| x.is_nan()));
    assert_eq!(words(&tables.node_columns, "y"), ["-", "p", "q \"r\""]);
    assert_eq!(numbers(&tables.node_columns, "z"), [10.0, 9.0, -1.0]);
    assert!(numbers(&tables.node_columns, "empty").iter().all(|x| x.is_nan()));
    assert!(column(&tables.node_columns, "empty").note.as_ref().unwrap().contains("\"empty\" has no values"));
    assert!(tables.notes.iter().any(|note| note.contains("no table of edges")));
}

#[test]
fn sodium_is_not_a_missing_value() {
    let tables = read_files(&[("nodes.csv", "node_id,element\n1,Na\n2,C\n")]).unwrap();
    assert_eq!(words(&tables.node_columns, "element"), ["Na", "C"]);
}

#[test]
fn csv_edges_may_leave_the_graph_to_unique_ids() {
    let nodes = "node_id,graph_id\na,g\nb,g\nc,h\nd,h\n";
    let tables = read_files(&[("nodes.csv", nodes), ("edges.csv", "target,source\nd,c\n")]).unwrap();
    assert_eq!(tables.edges, [[2, 3]]);
    assert_eq!(tables.task, None);
    let other_graph = read_files(&[("nodes.csv", nodes), ("edges.csv", "source,target\na,c\n")]);
    refused(other_graph, &["edges.csv:2", "different graphs"]);
    let ambiguous = read_files(&[("nodes.csv", NODES), ("edges.csv", "source,target\na,b\n")]);
    refused(ambiguous, &["edges.csv:1", "graph_id", "\"a\"", "\"g1\"", "\"g2\""]);
}

#[test]
fn csv_mistakes_are_named_with_file_and_line() {
    let with_nodes = |nodes| read_files(&[("nodes.csv", nodes), ("edges.csv", "source,target\n")]);
    refused(with_nodes("node_id,x\na,1\nb,2\n\na,3\n"), &["nodes.csv:5", "\"a\"", "line 2"]);
    refused(with_nodes("node_id,x\na,1\nb\n"), &["nodes.csv:3", "1 cell,", "2"]);
    refused(with_nodes("node_id,x\r\na,1\r\n\r\nb,1,2\r\n"), &["nodes.csv:4", "3 cells"]);
    refused(with_nodes("node_id,x\na,1\nb,inf\n"), &["nodes.csv:3", "infinite", "\"x\"", "empty"]);
    refused(with_nodes("node_id,x\na,-Infinity\n"), &["nodes.csv:2", "infinite"]);
    refused(with_nodes("node_id,x\na,1e999\n"), &["nodes.csv:2", "infinite"]);
    refused(with_nodes("node_id,x\n,1\n"), &["nodes.csv:2", "node_id is empty"]);
    refused(with_nodes("y,x\n1,1\n"), &["nodes.csv:1", "\"node_id\"", "\"y\", \"x\"", "the option name-column"]);
    refused(with_nodes("node_id,x,y,x,y\na,1,1,1,1\n"), &["nodes.csv:1", "\"x\", \"y\""]);
    refused(with_nodes("node_id,split\na,training\n"), &["nodes.csv:2", "\"training\"", "train, valid or test"]);
    refused(with_nodes(""), &["nodes.csv", "empty"]);
    refused(with_nodes("node_id,x\n"), &["no nodes"]);

    let with_edges = |edges| read_files(&[("nodes.csv", NODES), ("edges.csv", edges)]);
    refused(with_edges("source,target,graph_id\na,b,g1\na,z,g1\n"), &["edges.csv:3", "\"z\"", "nodes.csv"]);
    refused(with_edges("source,target,graph_id\na,b,g9\n"), &["edges.csv:2", "\"g9\""]);
    refused(with_edges("from,target\na,b\n"), &["edges.csv:1", "\"source\""]);
    let edges = ("edges.csv", "source,target,graph_id\na,b,g\n");
    refused(read_files(&[("nodes.csv", "node_id\na\nb\n"), edges]), &["edges.csv:1", "graph_id", "nodes.csv"]);
    refused(read_files(&[edges]), &["no nodes.csv"]);

    let with_graphs = |graphs| read_files(&[("nodes.csv", NODES), ("graphs.csv", graphs)]);
    refused(with_graphs("graph_id,y\ng1,1\n"), &["nodes.csv:3", "\"g2\"", "graphs.csv"]);
    refused(with_graphs("graph_id,y\ng1,1\ng2,1\ng1,2\n"), &["graphs.csv:4", "\"g1\"", "line 2"]);
    refused(with_graphs("y\n1\n"), &["graphs.csv:1", "\"graph_id\""]);
    let graphs = ("graphs.csv", "graph_id,y\ng,1\nh,1\n");
    refused(read_files(&[("nodes.csv", "node_id\na\n"), graphs]), &["nodes.csv:1", "\"graph_id\"", "2 graphs"]);
}

#[test]
fn text_that_is_not_utf_8_is_refused_with_its_line() {
    let folder = folder(&[]);
    fs::write(folder.path().join("nodes.csv"), b"node_id,x\na,caf\xe9\n").unwrap();
    refused(read_at(folder.path(), &gnan_paper::read_options()), &["nodes.csv:2", "UTF-8"]);
}

#[test]
fn a_toml_file_declares_kinds_units_targets_and_one_hot_codes() {
    let nodes = "node_id,group,is_red,is_blue,flag,note,mass\na,1,1,0,0,x,2\nb,2.0,0,1,1,y,3\nc,10,0,0,,z,\n";
    let toml = "directed = true\ntask = \"node\"\ntarget = \"mass\"\n\
                [kinds]\ngroup = \"categorical\"\nflag = \"binary\"\nnote = \"ignore\"\n\
                [units]\nmass = \"g/mol\"\n[one_hot]\ncolour = [\"is_red\", \"is_blue\"]\n";
    let tables = read_files(&[("nodes.csv", nodes), ("tables.toml", toml)]).unwrap();
    assert_eq!(names(&tables.node_columns), ["group", "colour", "flag", "mass"]);
    assert_eq!(levels(&tables.node_columns, "group"), ["1", "2", "10"]);
    assert_eq!(words(&tables.node_columns, "colour"), ["red", "blue", "-"]);
    assert_eq!(column(&tables.node_columns, "flag").kind, Some(Kind::Binary));
    assert_eq!(column(&tables.node_columns, "mass").unit.as_deref(), Some("g/mol"));
    assert!(tables.directed);
    assert_eq!((tables.task, tables.targets), (Some(Task::Node), vec!["mass".to_string()]));
}

#[test]
fn mistakes_in_a_toml_file_are_named() {
    let nodes = ("nodes.csv", "node_id,x,y,word\na,1,1,p\nb,3,1,q\n");
    let with = |toml| read_files(&[nodes, ("gnan.toml", toml)]);
    refused(with("task = \"node\"\ncolour = 1\n"), &["gnan.toml:2", "colour"]);
    refused(with("[kinds]\nz = \"binary\"\n"), &["gnan.toml", "\"z\"", "\"x\", \"y\", \"word\""]);
    refused(with("target = [\"x\", \"nothing\"]\n"), &["gnan.toml", "\"nothing\""]);
    refused(with("[one_hot]\nc = [\"x\", \"nothing\"]\n"), &["gnan.toml", "\"nothing\""]);
    refused(with("[kinds]\nx = \"binary\"\n"), &["nodes.csv:3", "\"x\"", "binary", "3"]);
    refused(with("[kinds]\nx = \"wavy\"\n"), &["gnan.toml:2", "wavy"]);
    refused(with("[kinds]\nword = \"continuous\"\n"), &["nodes.csv", "\"word\"", "text"]);
    refused(with("[one_hot]\nc = [\"y\", \"x\"]\n"), &["nodes.csv", "\"x\""]);
    refused(with("task = \"graph\"\ntarget = \"x\"\n"), &["\"x\"", "not a column of the task"]);
    refused(with("this is not toml"), &["gnan.toml:1"]);
    refused(with("[one_hot]\nc = []\n"), &["gnan.toml", "\"c\" has no columns"]);
    let twice = ("nodes.csv", "node_id,x,y\na,1,1\n");
    refused(read_files(&[twice, ("gnan.toml", "[one_hot]\nc = [\"x\", \"y\"]\n")]), &["nodes.csv:2", "more than one"]);
    refused(read_files(&[nodes, ("a.toml", ""), ("b.toml", "")]), &["several .toml", "a.toml, b.toml"]);
    assert!(read_files(&[nodes, ("gnan.toml", ""), ("other.toml", "nonsense")]).is_ok());
}

// TU

const TU: Files = &[
    ("T_A.txt", "1, 2\n2, 1\n4, 3\n3, 4\n"),
    ("T_graph_indicator.txt", "1\n1\n3\n3\n1\n"),
    ("T_graph_labels.txt", "1\n-1\n1\n"),
    ("T_node_labels.txt", "0\n1\n0\n5\n1\n"),
    ("T_node_attributes.txt", "0.5, 1\n1.5, 2\n2.5, 3\n3.5, NaN\n4.5, 5\n"),
    ("T_edge_labels.txt", "0\n0\n1\n1\n"),
    ("README.txt", "Node labels:\n\n  0  C\n  1  Cl\n\nEdge labels:\n\n  0  single\n"),
];

/// The sample with one file replaced, added, or (`None`) left out.
fn tu_with<'a>(name: &'a str, content: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
    let rest = TU.iter().copied().filter(|(other, _)| *other != name);
    rest.chain(content.map(|content| (name, content))).collect()
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn zipped_tu(prefix: &str) -> Vec<u8> {
    let names: Vec<_> = TU.iter().map(|(name, content)| (format!("{prefix}{name}"), content)).collect();
    let mut files: Vec<_> = names.iter().map(|(name, content)| (name.as_str(), content.as_bytes())).collect();
    files.push(("__MACOSX/._T_A.txt", b"\0\x05"));
    zipped(&files)
}

fn check_tu(tables: &Tables) {
    assert_eq!((tables.name.as_str(), tables.format.as_str()), ("T", "TU"));
    assert_eq!(tables.graph_ids, ["1", "2", "3"]);
    assert_eq!(tables.node_offsets, [0, 3, 3, 5]);
    assert_eq!(tables.edges, [[0, 1], [1, 0], [4, 3], [3, 4]]);
    assert_eq!(words(&tables.node_columns, "atom"), ["C", "Cl", "Cl", "C", "5"]);
    assert_eq!(numbers(&tables.node_columns, "attribute_1"), [0.5, 1.5, 4.5, 2.5, 3.5]);
    assert!(numbers(&tables.node_columns, "attribute_2")[4].is_nan());
    assert_eq!(levels(&tables.graph_columns, "label"), ["-1", "1"]);
    assert_eq!(words(&tables.graph_columns, "label"), ["1", "-1", "1"]);
    assert_eq!((tables.task, tables.targets.as_slice()), (Some(Task::Graph), &["label".to_string()][..]));
    assert!(
        tables
            .notes
            .iter()
            .any(|note| note.contains("T_edge_labels.txt is used for drawings and descriptions of nodes"))
    );
}

#[test]
fn a_tu_folder_is_read_with_unsorted_and_empty_graphs() {
    check_tu(&read_files(TU).unwrap());
}

#[test]
fn a_tu_subfolder_is_found() {
    let outer = folder(&[("notes.md", "")]);
    fs::create_dir(outer.path().join("T")).unwrap();
    for (name, content) in TU {
        fs::write(outer.path().join("T").join(name), content).unwrap();
    }
    check_tu(&read_at(outer.path(), &gnan_paper::read_options()).unwrap());
}

#[test]
fn a_tu_zip_is_read_whatever_its_folders_look_like() {
    for prefix in ["", "T/", "T//", "./a/b/T/"] {
        check_tu(&read_one("T.zip", &zipped_tu(prefix), &gnan_paper::read_options()).unwrap());
    }
}

#[test]
fn tu_labels_and_attributes_are_optional() {
    let tables = read_files(&tu_with("T_node_labels.txt", None)).unwrap();
    assert_eq!(names(&tables.node_columns), ["attribute_1", "attribute_2"]);
    assert!(tables.notes.iter().any(|note| note.contains("no node labels")));

    let mut files = tu_with("T_graph_labels.txt", None);
    let without_labels = read_files(&files).unwrap();
    assert_eq!(without_labels.graph_ids, ["1", "3"]);
    assert!(without_labels.targets.is_empty());
    files.push(("T_graph_attributes.txt", "0.5\n1.5\n2.5\n"));
    let tables = read_files(&files).unwrap();
    assert_eq!(tables.targets, ["attribute_1"]);
    assert_eq!(numbers(&tables.graph_columns, "attribute_1"), [0.5, 1.5, 2.5]);
}

#[test]
fn several_tu_label_columns_become_several_columns() {
    let tables = read_files(&tu_with("T_node_labels.txt", Some("0,1\n1,1\n0,2\n5,2\n1,1\n"))).unwrap();
    assert_eq!(words(&tables.node_columns, "atom_1"), ["C", "Cl", "Cl", "C", "5"]);
    assert_eq!(words(&tables.node_columns, "label_2"), ["1", "1", "1", "2", "2"]);
}

#[test]
fn tu_mistakes_are_named_with_file_and_line() {
    let with = |name, content| read_files(&tu_with(name, Some(content)));
    refused(with("T_A.txt", "1, 2\n4000000000, 1\n"), &["T_A.txt:2", "4000000000", "1 to 5"]);
    refused(with("T_A.txt", "0, 1\n"), &["T_A.txt:1", "no node 0"]);
    refused(with("T_A.txt", "1, 2\n\n1\n"), &["T_A.txt:3", "not an edge"]);
    refused(with("T_A.txt", "1, x\n"), &["T_A.txt:1", "\"x\""]);
    refused(with("T_A.txt", "1, 3\n"), &["T_A.txt:1", "different graphs"]);
    refused(
        with("T_graph_indicator.txt", "1\n1\n4000000000\n3\n1\n"),
        &["T_graph_indicator.txt:3", "4000000000", "1 to 3"],
    );
    refused(with("T_graph_indicator.txt", "0\n"), &["T_graph_indicator.txt:1", "no graph 0"]);
    refused(with("T_graph_indicator.txt", "-1\n"), &["T_graph_indicator.txt:1", "\"-1\""]);
    refused(with("T_node_labels.txt", "0\n1\n"), &["T_node_labels.txt", "2 lines for 5 nodes"]);
    refused(with("T_node_labels.txt", "0\n1\n0.5\n0\n0\n"), &["T_node_labels.txt:3", "0.5"]);
    refused(with("T_node_attributes.txt", "1\n1\ninf\n1\n1\n"), &["T_node_attributes.txt:3", "infinite"]);
    refused(with("T_node_attributes.txt", "1\n1,2\n"), &["T_node_attributes.txt:2", "2 numbers"]);
    refused(with("T_graph_attributes.txt", "1\n"), &["T_graph_attributes.txt", "1 lines for 3 graphs"]);
    refused(with("T_graph_labels.txt", "1\nx\n1\n"), &["T_graph_labels.txt:2", "\"x\""]);
    refused(with("U_A.txt", "1, 2\n"), &["2 data sets", "T", "U"]);
    refused(read_files(&tu_with("T_graph_indicator.txt", None)), &["T_graph_indicator.txt", "missing"]);
    refused(read_files(&tu_with("T_A.txt", None)), &["T_A.txt", "missing"]);
}

#[test]
fn a_huge_graph_number_without_labels_is_only_a_name() {
    let files = [("T_A.txt", ""), ("T_graph_indicator.txt", "4000000000\n7\n4000000000\n")];
    let tables = read_files(&files).unwrap();
    assert_eq!(tables.graph_ids, ["7", "4000000000"]);
    assert_eq!(tables.node_offsets, [0, 1, 3]);
}

#[test]
fn an_empty_tu_set_is_refused() {
    refused(read_files(&[("T_A.txt", ""), ("T_graph_indicator.txt", "")]), &["empty"]);
}

#[test]
fn mistakes_inside_a_zip_name_archive_and_member() {
    let files: &[(&str, &[u8])] = &[("T/T_A.txt", b"1, 9\n"), ("T/T_graph_indicator.txt", b"1\n")];
    refused(read_one("T.zip", &zipped(files), &gnan_paper::read_options()), &["T.zip/T/T_A.txt:1", "9"]);
    let stranger: &[(&str, &[u8])] = &[("readme.txt", b"hello")];
    refused(read_one("x.zip", &zipped(stranger), &gnan_paper::read_options()), &["x.zip", "no data set"]);
}

#[test]
fn a_damaged_zip_is_refused() {
    let bytes = zipped_tu("T/");
    let cut = read_one("T.zip", &bytes[..bytes.len() - 30], &gnan_paper::read_options());
    refused(cut, &["T.zip", "zip archive cannot be read", "again"]);
    refused(read_one("T.zip", b"not a zip", &gnan_paper::read_options()), &["T.zip", "cannot be read"]);
    refused(read_one("T.zip", b"", &gnan_paper::read_options()), &["T.zip", "cannot be read"]);
    let mut corrupt = bytes;
    // Behind the 30 bytes of the first local header and its name.
    corrupt[40..45].fill(0xff);
    refused(read_one("T.zip", &corrupt, &gnan_paper::read_options()), &["T.zip/T/T_A.txt", "cannot be read"]);
}

#[test]
fn a_zip_bomb_stops_at_the_limit() {
    let zeros = vec![b'0'; 64 << 20];
    let bomb = zipped(&[("T_A.txt", &zeros), ("T_graph_indicator.txt", b"1\n")]);
    assert!(bomb.len() < 1 << 20);
    let options = ReadOptions { limits: Limits { bytes: 1 << 20, ..Limits::default() }, ..gnan_paper::read_options() };
    let result = read_one("T.zip", &bomb, &options);
    assert_eq!(result.as_ref().map(|_| ()).map_err(|error| error.kind()), Err(ErrorKind::Limit));
    refused(result, &["T.zip/T_A.txt", "1048576 bytes"]);
}

// SMILES

#[test]
fn molecules_are_described_atom_by_atom() {
    let table = "Name,SMILES,y\nethanol,CCO,1.5\nbenzoate,[O-]C(=O)c1ccccc1,2\n";
    let tables = read_one("set.csv", table.as_bytes(), &gnan_paper::read_options()).unwrap();
    assert_eq!(tables.format, "SMILES table");
    assert_eq!(tables.graph_ids, ["ethanol", "benzoate"]);
    assert_eq!(tables.node_offsets, [0, 3, 12]);
    assert_eq!(tables.node_ids.as_ref().unwrap()[..4], ["C1", "C2", "O3", "O1"]);
    assert_eq!(names(&tables.node_columns), ["element", "hydrogens", "degree", "ring", "aromatic", "charge"]);
    assert_eq!(words(&tables.node_columns, "element")[..3], ["C", "C", "O"]);
    assert_eq!(words(&tables.node_columns, "hydrogens")[..4], ["3", "2", "1", "0"]);
    assert_eq!(words(&tables.node_columns, "degree")[..5], ["1", "2", "1", "1", "3"]);
    assert_eq!(words(&tables.node_columns, "charge")[..4], ["0", "0", "0", "-1"]);
    assert_eq!(numbers(&tables.node_columns, "ring").iter().sum::<f64>(), 6.0);
    assert_eq!(numbers(&tables.node_columns, "aromatic").iter().sum::<f64>(), 6.0);
    assert_eq!(column(&tables.node_columns, "degree").kind, Some(Kind::Categorical));
    assert_eq!(column(&tables.node_columns, "ring").kind, Some(Kind::Binary));
    assert_eq!(tables.edges.len(), 2 + 9);
    assert_eq!((tables.task, tables.targets), (Some(Task::Graph), vec!["y".to_string()]));
}

#[test]
fn the_way_a_molecule_is_written_does_not_matter() {
    let describe = |smiles: &str| {
        let tables =
            read_one("set.csv", format!("smiles\n{smiles}\n").as_bytes(), &gnan_paper::read_options()).unwrap();
        (tables.node_columns, tables.edges)
    };
    assert_eq!(describe("C1=CC=CC=C1O"), describe("c1ccccc1O"));
    assert_eq!(describe("[H]OC"), describe("OC"));
    assert_eq!(describe("CN(=O)=O").0, describe("C[N+]([O-])=O").0);
}

#[test]
fn hydrogens_become_atoms_on_request() {
    let options = ReadOptions { explicit_hydrogens: true, ..gnan_paper::read_options() };
    let tables = read_one("set.csv", b"smiles\nCO\n", &options).unwrap();
    assert_eq!(tables.nodes(), 6);
    assert_eq!(tables.node_ids.as_ref().unwrap()[5], "H6");
    assert_eq!(words(&tables.node_columns, "degree")[..2], ["4", "2"]);
    assert_eq!(levels(&tables.node_columns, "hydrogens"), ["0"]);
}

#[test]
fn molecules_without_a_name_are_called_by_row() {
    let tables =
        read_one("set.tsv", b"canonical_smiles\tsplit\tp\tq\nC\tval\t1\tx\n*\t\t2\ty\n", &gnan_paper::read_options())
            .unwrap();
    assert_eq!(tables.graph_ids, ["row 1", "row 2"]);
    assert_eq!(words(&tables.node_columns, "element"), ["C", "*"]);
    assert_eq!(tables.splits, [[SplitPart::Valid, SplitPart::Unused]]);
    assert_eq!(names(&tables.graph_columns), ["p", "q"]);
    assert!(tables.targets.is_empty());
    let twins = b"id,smiles\na,C\na,CC\n,O\na (2),N\na,P\n";
    let tables = read_one("set.csv", twins, &gnan_paper::read_options()).unwrap();
    assert_eq!(tables.graph_ids, ["a", "a (3)", "row 3", "a (2)", "a (4)"]);
    assert!(tables.notes.iter().any(|note| note.contains("2 molecule(s) share a name")));
}

#[test]
fn mistakes_in_a_table_of_molecules_are_named() {
    let plain = |table: &str| read_one("set.csv", table.as_bytes(), &gnan_paper::read_options());
    let strict = ReadOptions { strict: true, ..gnan_paper::read_options() };
    let at_once = |table: &str| read_one("set.csv", table.as_bytes(), &strict);
    refused(at_once("name,smiles\na,C\nb,C(C\n"), &["set.csv:3", "\"b\"", "C(C", "correct or remove"]);
    refused(at_once("name,smiles\na,C\nb,\n"), &["set.csv:3", "\"b\"", "no SMILES"]);
    refused(at_once("name,smiles\na,C\nb,C,7\n"), &["set.csv:3", "3 cells", "comma"]);
    refused(plain("name,smiles\na,Xx\n"), &["set.csv", "1 of 1 row", "\"a\" on line 2", "Xx"]);
    refused(plain("name,smiles\na,Xx\nb,C\nc,\n"), &["2 of 3 rows", "\"c\" on line 4 has no SMILES", "5 %"]);
    refused(plain("name,y\na,1\n"), &["set.csv:1", "\"name\", \"y\"", "the option smiles-column"]);
    refused(plain(""), &["set.csv", "empty"]);
    refused(plain("smiles\n"), &["empty"]);
    let options = ReadOptions { smiles_column: Some("structure".to_string()), ..gnan_paper::read_options() };
    refused(read_one("set.csv", b"smiles\nC\n", &options), &["set.csv", "\"structure\"", "\"smiles\""]);
    assert!(read_one("set.csv", b"structure\nC\n", &options).is_ok());
}

#[test]
fn long_and_deep_molecules_do_no_harm() {
    let read_smiles =
        |smiles: &str| read_one("set.csv", format!("smiles\n{smiles}\n").as_bytes(), &gnan_paper::read_options());
    assert_eq!(read_smiles(&"C".repeat(100_000)).unwrap().nodes(), 100_000);
    for deep in ["C(".repeat(50_000), "[".repeat(100_000), "(".repeat(100_000), format!("C{}", "(C)".repeat(30_000))] {
        drop(read_smiles(&deep));
    }
    let limits = Limits { nodes: 10, ..Limits::default() };
    let result = read_one("set.csv", b"smiles\nCCCCCCCCCCCC\n", &ReadOptions { limits, ..gnan_paper::read_options() });
    refused(result, &["set.csv", "12 nodes", "limit of 10"]);
}

// Planetoid arrays

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", length.as_slice(), header.as_bytes(), data].concat()
}

fn integers(shape: &str, values: &[i64]) -> Vec<u8> {
    npy("<i8", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

fn list(values: &[i64]) -> Vec<u8> {
    integers(&format!("({},)", values.len()), values)
}

fn floats(values: &[f32]) -> Vec<u8> {
    npy(
        "<f4",
        &format!("({},)", values.len()),
        &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>(),
    )
}

/// Four papers, three words, edges 0-1, 1-2, one label not known; one array may be replaced, or left out.
fn npz(replaced: Option<(&str, Option<Vec<u8>>)>) -> Vec<u8> {
    let arrays = [
        ("feat_data", floats(&[1.0, 1.0, 1.0])),
        ("feat_indices", list(&[2, 0, 2])),
        ("feat_indptr", list(&[0, 1, 3, 3, 3])),
        ("feat_shape", list(&[4, 3])),
        ("labels", list(&[1, 0, -1, 1])),
        ("edges", integers("(2, 2)", &[0, 1, 1, 2])),
        ("train_idx", list(&[0])),
        ("val_idx", list(&[1])),
        ("test_idx", list(&[3])),
    ];
    let mut files = Vec::new();
    for (name, array) in arrays {
        match &replaced {
            Some((other, new)) if *other == name => files.extend(new.clone().map(|new| (format!("{name}.npy"), new))),
            _ => files.push((format!("{name}.npy"), array)),
        }
    }
    zipped(&files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect::<Vec<_>>())
}

fn read_npz(bytes: &[u8]) -> Result<Tables> {
    read_one("cora.npz", bytes, &gnan_paper::read_options())
}

#[test]
fn planetoid_arrays_are_one_graph_with_sparse_words() {
    let tables = read_npz(&npz(None)).unwrap();
    assert_eq!(tables.graph_ids, ["cora"]);
    assert_eq!(tables.nodes(), 4);
    assert_eq!(tables.edges, [[0, 1], [1, 2]]);
    assert_eq!(names(&tables.node_columns), ["word_0", "word_1", "word_2", "class"]);
    let word = column(&tables.node_columns, "word_2");
    assert_eq!(word.kind, Some(Kind::Binary));
    assert_eq!(word.values, Values::Sparse { len: 4, rows: vec![0, 1], values: vec![1.0, 1.0] });
    // The counts are not those of Cora, so its class names are not used.
    assert_eq!(words(&tables.node_columns, "class"), ["1", "0", "-", "1"]);
    assert_eq!(tables.splits, [[SplitPart::Train, SplitPart::Valid, SplitPart::Unused, SplitPart::Test]]);
    assert_eq!((tables.task, tables.targets), (Some(Task::Node), vec!["class".to_string()]));

    let weighted = read_npz(&npz(Some(("feat_data", Some(floats(&[0.5, 0.0, 1.0])))))).unwrap();
    assert_eq!(column(&weighted.node_columns, "word_0").kind, Some(Kind::Sparse));
    assert_eq!(
        column(&weighted.node_columns, "word_0").values,
        Values::Sparse { len: 4, rows: vec![], values: vec![] }
    );
}

#[test]
fn arrays_that_lie_are_refused() {
    let with = |name, array| read_npz(&npz(Some((name, Some(array)))));
    refused(with("edges", integers("(2000000000, 2)", &[0, 1])), &["cora.npz/edges.npy", "shorter than its header"]);
    refused(with("edges", integers("(99999999999, 99999999999)", &[0, 1])), &["edges.npy", "plain array"]);
    refused(with("edges", integers("(1, 2)", &[0, 4])), &["edges.npy", "4", "index"]);
    refused(with("edges", integers("(1, 2)", &[0, -1])), &["edges.npy", "-1"]);
    refused(with("edges", list(&[0, 1])), &["edges.npy", "pairs"]);
    refused(with("edges", floats(&[0.0, 1.0])), &["edges.npy", "not whole numbers"]);
    refused(with("feat_shape", list(&[4, 4_000_000_000])), &["feat_shape.npy", "4000000000 features", "limit"]);
    refused(with("feat_shape", list(&[-4, 3])), &["feat_shape.npy"]);
    refused(with("feat_shape", list(&[5, 3])), &["feat_indptr.npy", "do not fit"]);
    refused(with("feat_indptr", list(&[0, 9, 3, 3, 3])), &["feat_indptr.npy", "do not fit"]);
    refused(with("feat_indices", list(&[2, 0, 3])), &["feat_indices.npy", "3"]);
    refused(with("feat_indices", list(&[2, 0, 0])), &["feat_indices.npy", "twice"]);
    refused(with("feat_data", floats(&[1.0, f32::INFINITY, 1.0])), &["feat_data.npy", "infinite"]);
    refused(with("labels", list(&[1])), &["labels.npy", "1 labels for 4 nodes"]);
    refused(with("val_idx", list(&[0])), &["val_idx.npy", "two parts"]);
    refused(with("test_idx", list(&[7])), &["test_idx.npy", "7"]);
    refused(with("labels", b"garbage".to_vec()), &["labels.npy", "not a NumPy array"]);
    refused(with("labels", npy("|O", "(4,)", &[0; 32])), &["labels.npy", "Python objects"]);
    refused(read_npz(&npz(Some(("labels", None)))), &["labels.npy", "missing"]);
}

// Everything

#[test]
fn the_largest_component_can_be_kept() {
    let options = ReadOptions { largest_component: true, ..gnan_paper::read_options() };
    let tables = read_one("cora.npz", &npz(None), &options).unwrap();
    assert_eq!(tables.node_offsets, [0, 3]);
    assert_eq!(tables.node_ids.unwrap(), ["0", "1", "2"]);
    assert_eq!(tables.splits, [[SplitPart::Train, SplitPart::Valid, SplitPart::Unused]]);
    assert_eq!(words(&tables.node_columns, "class"), ["1", "0", "-"]);
    assert!(tables.notes.iter().any(|note| note.contains("1 of 4 nodes dropped")));

    let nodes = "graph_id,node_id,x\ng,a,1\ng,b,2\ng,c,3\nh,d,4\nh,e,5\n";
    let files = folder(&[
        ("nodes.csv", nodes),
        ("edges.csv", "source,target\nc,b\n"),
        ("graphs.csv", "graph_id,y\ng,1\nh,0\n"),
    ]);
    let tables = read_at(files.path(), &options).unwrap();
    assert_eq!(tables.node_ids.unwrap(), ["b", "c", "d"]);
    assert_eq!(tables.node_offsets, [0, 2, 3]);
    assert_eq!(tables.edges, [[1, 0]]);
    assert_eq!(numbers(&tables.node_columns, "x"), [2.0, 3.0, 4.0]);
}

#[test]
fn direction_can_be_overruled() {
    let files = folder(&[("nodes.csv", "node_id\na\n"), ("gnan.toml", "directed = true\n")]);
    let read_with =
        |directed| read_at(files.path(), &ReadOptions { directed, ..gnan_paper::read_options() }).unwrap().directed;
    assert_eq!([None, Some(false), Some(true)].map(read_with), [true, false, true]);
}

#[test]
fn limits_hold_for_every_format() {
    let with = |limits| read_at(folder(TU).path(), &ReadOptions { limits, ..gnan_paper::read_options() });
    refused(with(Limits { bytes: 8, ..Limits::default() }), &["bytes", "limit of 8"]);
    refused(with(Limits { graphs: 2, ..Limits::default() }), &["3 graphs"]);
    refused(with(Limits { nodes: 4, ..Limits::default() }), &["5 nodes"]);
    refused(with(Limits { edges: 3, ..Limits::default() }), &["4 edges"]);
    refused(with(Limits { features: 2, ..Limits::default() }), &["3 columns"]);
    let csv = folder(&[("nodes.csv", NODES), ("edges.csv", EDGES)]);
    let with = |limits| read_at(csv.path(), &ReadOptions { limits, ..gnan_paper::read_options() });
    refused(with(Limits { bytes: 8, ..Limits::default() }), &["nodes.csv", "limit of 8"]);
    refused(with(Limits { nodes: 2, ..Limits::default() }), &["nodes.csv", "3 nodes"]);
    refused(with(Limits { edges: 0, ..Limits::default() }), &["edges.csv", "1 edges"]);
    refused(with(Limits { features: 3, ..Limits::default() }), &["nodes.csv", "4 columns"]);
}

#[test]
fn what_cannot_be_recognised_is_answered_with_what_can() {
    refused(
        read("no/such/place", &gnan_paper::read_options()),
        &["no/such/place", "solubility", "CSV tables", "TU", "SMILES"],
    );
    refused(read_one("photo.png", b"...", &gnan_paper::read_options()), &["photo.png", "not a data set", "CSV tables"]);
    refused(read_files(&[("notes.txt", "")]), &["not a data set", "CSV tables"]);
    refused(read_files(&[("a.csv", "smiles\nC\n"), ("b.csv", "smiles\nC\n")]), &["2 data sets", "a.csv", "b.csv"]);
    assert_eq!(read_files(&[("a.csv", "smiles\nC\n"), ("notes.txt", "")]).unwrap().name, "a");
    let other = zipped(&[("adjacency.npy", b"")]);
    refused(
        read_one("other.npz", &other, &gnan_paper::read_options()),
        &["other.npz", "not a data set", "feat_indptr"],
    );
}

#[test]
fn the_built_in_set_is_there() {
    let tables = read("solubility", &gnan_paper::read_options()).unwrap();
    // 1,282 molecules, 1,025 of them for training: crates/gnan/data/README.md.
    assert_eq!(tables.graphs(), 1282);
    assert_eq!(tables.splits[0].iter().filter(|part| **part == SplitPart::Train).count(), 1025);
    assert_eq!(tables.splits[0].iter().filter(|part| **part == SplitPart::Test).count(), 257);
    assert_eq!(tables.targets, ["log_solubility"]);
    assert_eq!(column(&tables.graph_columns, "log_solubility").unit.as_deref(), Some("log10 mol/L"));
    assert!(tables.notes.is_empty(), "{:?}", tables.notes);
}

#[test]
fn every_prefix_of_every_format_is_read_or_refused() {
    let options = ReadOptions { largest_component: true, ..gnan_paper::read_options() };
    let tables: Files = &[
        ("nodes.csv", NODES),
        ("edges.csv", EDGES),
        ("graphs.csv", GRAPHS),
        ("gnan.toml", "target = [\"toxic\"]\n[kinds]\nmass = \"sparse\"\n"),
    ];
    for set in [tables, TU] {
        let folder = folder(set);
        for (name, content) in set {
            let path = folder.path().join(name);
            for length in 0..content.len() {
                fs::write(&path, &content.as_bytes()[..length]).unwrap();
                drop(read_at(folder.path(), &options));
            }
            fs::write(&path, content).unwrap();
        }
        assert!(read_at(folder.path(), &options).is_ok());
    }
    let smiles = b"name,smiles,y\n\"a\",C[C@H](N)C(=O)[O-],1\nb,C%10CC%10.[Na+],2\n".to_vec();
    for (name, bytes) in [("set.csv", smiles), ("T.zip", zipped_tu("T//")), ("cora.npz", npz(None))] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        for length in 0..bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            drop(read_at(&path, &options));
        }
        fs::write(&path, &bytes).unwrap();
        assert!(read_at(&path, &options).is_ok());
    }
}

#[test]
fn any_changed_byte_is_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("T.zip", zipped_tu("T/")), ("cora.npz", npz(None))] {
        let path = folder.path().join(name);
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << (place % 8);
            fs::write(&path, &changed).unwrap();
            drop(read_at(&path, &gnan_paper::read_options()));
        }
    }
}
