//! Data sets written as tables read back as what they were.

use std::fs;
use std::path::{Path, PathBuf};

use gnan::files::{Column, Kind, MISSING, SplitPart, TableFormat, Tables, Task, Values, read, write_tables};

const FORMATS: [TableFormat; 2] = [TableFormat::Csv, TableFormat::Parquet];

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name)
}

fn read_at(path: &Path) -> Tables {
    read(path.to_str().unwrap(), &gnan_paper::read_options()).unwrap_or_else(|error| panic!("{error}"))
}

#[derive(Debug, PartialEq)]
struct PlainColumn {
    name: String,
    kind: Option<Kind>,
    unit: Option<String>,
    cells: Vec<Option<String>>,
    levels: Vec<String>,
}

/// Values whose representation does not matter: missing numbers are equal, zeros may be stored or not.
fn plain(column: &Column) -> PlainColumn {
    let number = |number: f64| (!number.is_nan()).then(|| number.to_string());
    let (cells, levels) = match &column.values {
        Values::Numbers(numbers) => (numbers.iter().map(|&x| number(x)).collect(), Vec::new()),
        Values::Sparse { len, rows, values } => {
            let mut cells = vec![Some("0".to_string()); *len];
            rows.iter().zip(values).for_each(|(&row, &value)| cells[row as usize] = number(value));
            (cells, Vec::new())
        }
        Values::Categories { codes, levels } => {
            let word = |&code: &u32| (code != MISSING).then(|| levels[code as usize].clone());
            (codes.iter().map(word).collect(), levels.clone())
        }
    };
    PlainColumn { name: column.name.clone(), kind: column.kind, unit: column.unit.clone(), cells, levels }
}

fn node_ids(tables: &Tables) -> Vec<String> {
    let positions =
        || tables.node_offsets.windows(2).flat_map(|range| (0..range[1] - range[0]).map(|node| node.to_string()));
    tables.node_ids.clone().unwrap_or_else(|| positions().collect())
}

fn same(one: &Tables, other: &Tables) {
    assert_eq!(one.name, other.name);
    assert_eq!(one.graph_ids, other.graph_ids);
    assert_eq!(one.node_offsets, other.node_offsets);
    assert_eq!(node_ids(one), node_ids(other));
    assert_eq!(one.edges, other.edges);
    assert_eq!(one.bonds, other.bonds);
    assert_eq!((one.directed, one.task), (other.directed, other.task));
    assert_eq!((&one.targets, &one.splits), (&other.targets, &other.splits));
    let all = |columns: &[Column]| columns.iter().map(plain).collect::<Vec<_>>();
    assert_eq!(all(&one.node_columns), all(&other.node_columns));
    assert_eq!(all(&one.graph_columns), all(&other.graph_columns));
    let labels = |tables: &Tables| tables.edge_labels.as_ref().map(plain);
    assert_eq!(labels(one), labels(other));
}

/// Writes a data set in both formats and reads it again.
fn round_trip(tables: &Tables) {
    for format in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("written");
        write_tables(tables, &path, format, false).unwrap_or_else(|error| panic!("{error}"));
        same(tables, &read_at(&path));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something temporary was left behind");
    }
}

#[test]
fn every_sample_reads_back_the_same() {
    let samples = [
        "csv_tables",
        "edge_list",
        "graphml/people.graphml",
        "graphml_set/several.graphml",
        "node_link/one.json",
        "node_link_set/several.json",
        "parquet_tables",
        "parquet_smiles",
        "qm9_table/qm9.csv",
        "qm9_arrays/qm9_graphs.npz",
    ];
    samples.iter().for_each(|name| round_trip(&read_at(&sample(name))));
    round_trip(&read("solubility", &gnan_paper::read_options()).unwrap());
}

#[test]
fn names_and_levels_of_any_kind_survive() {
    let words = |codes: &[u32], levels: &[&str]| Values::Categories {
        codes: codes.to_vec(),
        levels: levels.iter().map(|level| level.to_string()).collect(),
    };
    let tables = Tables {
        name: "odd \"set\"\n<b>".to_string(),
        graph_ids: vec!["g,1".to_string(), "empty".to_string(), "\"2\"".to_string()],
        node_offsets: vec![0, 2, 2, 3],
        edges: vec![[0, 1], [1, 1], [2, 2]],
        edge_labels: Some(Column::new("label", words(&[1, MISSING, 0], &["b", "a"])).with_kind(Kind::Categorical)),
        node_columns: vec![
            Column::new("label", words(&[0, MISSING, 1], &["NA", ""])).with_kind(Kind::Categorical),
            Column::new("numbers, as words", words(&[2, 0, 1], &["10", "01", " x ", "unused"])),
            Column::new("line\nbreak", Values::Numbers(vec![1e-300, f64::NAN, -1.0 / 3.0])).with_kind(Kind::Continuous),
            Column::new("sparse", Values::Sparse { len: 3, rows: vec![1], values: vec![2.5] }).with_kind(Kind::Sparse),
        ],
        graph_columns: vec![
            Column::new("label", words(&[1, 1, 0], &["yes", "no"])),
            Column { unit: Some("kJ/mol".to_string()), ..Column::new("energy", Values::Numbers(vec![1e20, 0.1, 7.0])) },
        ],
        task: Some(Task::Graph),
        targets: vec!["label".to_string(), "energy".to_string()],
        splits: vec![
            vec![SplitPart::Train, SplitPart::Unused, SplitPart::Test],
            vec![SplitPart::Test, SplitPart::Valid, SplitPart::Train],
        ],
        ..Tables::default()
    };
    round_trip(&tables);
}

#[test]
fn names_that_tables_cannot_hold_are_refused() {
    let base = read_at(&sample("edge_list"));
    let folder = tempfile::tempdir().unwrap();
    let refused = |tables: &Tables, word: &str| {
        let error = write_tables(tables, &folder.path().join("x"), TableFormat::Csv, false).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    };
    let mut clash = base.clone();
    clash.node_columns[0].name = "node_id".to_string();
    refused(&clash, "node_id");
    let mut spaces = base.clone();
    spaces.node_ids.as_mut().unwrap()[0] = " ann".to_string();
    refused(&spaces, "spaces");
}

#[test]
fn only_tables_are_ever_replaced() {
    let tables = read_at(&sample("csv_tables"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    write_tables(&tables, &path, TableFormat::Csv, false).unwrap();
    let error = write_tables(&tables, &path, TableFormat::Parquet, false).unwrap_err().to_string();
    assert!(error.contains("exists already") && error.contains("the option force"), "{error}");
    write_tables(&tables, &path, TableFormat::Parquet, true).unwrap();
    same(&tables, &read_at(&path));
    assert!(!path.join("nodes.csv").exists());
    fs::write(path.join("thesis.txt"), "years of work").unwrap();
    let error = write_tables(&tables, &path, TableFormat::Csv, true).unwrap_err().to_string();
    assert!(error.contains("nothing but tables"), "{error}");
    assert!(path.join("thesis.txt").exists());
}
