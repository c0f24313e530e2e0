//! The readers of node tasks, on the tiny samples: what they find, and what they say about what they refuse.

mod samples;

use std::fs;
use std::path::{Path, PathBuf};

use gnan::files::{Column, Kind, MISSING, ReadOptions, SplitPart, Tables, Task, Values, read};
use gnan::{Dataset, DatasetOptions, Model, Result, Spec};
use tempfile::TempDir;

fn read_at(path: &Path, options: &ReadOptions) -> Result<Tables> {
    read(path.to_str().unwrap(), options)
}

fn sample(path: &str) -> Tables {
    let tables = read_at(&samples::folder().join(path), &gnan_paper::read_options());
    tables.unwrap_or_else(|error| panic!("{error}"))
}

/// A copy of some files of a sample, to be changed.
fn copy(sample: &str, files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        fs::copy(samples::folder().join(sample).join(file), folder.path().join(file)).unwrap();
    }
    folder
}

fn refused(path: &Path, words: &[&str]) {
    let message = read_at(path, &gnan_paper::read_options()).expect_err("this should be refused").to_string();
    for word in words {
        assert!(message.contains(word), "\"{word}\" is not in: {message}");
    }
}

fn names(tables: &Tables) -> Vec<&str> {
    tables.node_columns.iter().map(|column| column.name.as_str()).collect()
}

fn column<'a>(tables: &'a Tables, name: &str) -> &'a Column {
    tables.node_columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("no column {name}"))
}

fn numbers(tables: &Tables, name: &str) -> Vec<f64> {
    match &column(tables, name).values {
        Values::Numbers(numbers) => numbers.clone(),
        Values::Sparse { len, rows, values } => {
            let mut numbers = vec![0.0; *len];
            rows.iter().zip(values).for_each(|(&row, &value)| numbers[row as usize] = value);
            numbers
        }
        Values::Categories { .. } => panic!("{name} is categorical"),
    }
}

/// The class of each node, `-` where it is missing.
fn classes(tables: &Tables) -> Vec<&str> {
    assert_eq!((tables.task, tables.targets.join(" ")), (Some(Task::Node), "class".to_string()));
    let Values::Categories { codes, levels } = &column(tables, "class").values else { panic!("no categories") };
    codes.iter().map(|&code| if code == MISSING { "-" } else { &levels[code as usize] }).collect()
}

/// The parts of a split by their first letters.
fn parts(split: &[SplitPart]) -> String {
    let letter = |part: &SplitPart| match part {
        SplitPart::Train => 't',
        SplitPart::Valid => 'v',
        SplitPart::Test => 'T',
        SplitPart::Unused => '-',
    };
    split.iter().map(letter).collect()
}

fn noted(tables: &Tables, words: &str) -> bool {
    tables.notes.iter().any(|note| note.contains(words))
}

#[test]
fn every_sample_is_read() {
    for (folder, path) in samples::SAMPLES {
        // Some name no target, as tables may.
        let options =
            DatasetOptions { targets_optional: true, read: gnan_paper::read_options(), ..DatasetOptions::default() };
        let data = Dataset::open_with(samples::folder().join(folder).join(path), &options);
        assert!(!data.unwrap_or_else(|error| panic!("{folder}: {error}")).is_empty());
    }
}

#[test]
fn planetoid_arrays() {
    let tables = sample("planetoid/tiny.npz");
    assert_eq!(tables.format, "Planetoid arrays");
    assert_eq!((classes(&tables), parts(&tables.splits[0])), (vec!["0", "1", "0", "1", "-"], "ttvT-".to_string()));
}

#[test]
fn planetoid_pickles() {
    let tables = sample("planetoid_pickles/ind.tiny");
    assert_eq!((tables.format.as_str(), tables.name.as_str()), ("Planetoid pickles", "tiny"));
    assert_eq!(classes(&tables), ["0", "1", "0", "-", "1"]);
    assert_eq!(parts(&tables.splits[0]), "tvT-T");
    assert_eq!(numbers(&tables, "word_0"), [1.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(numbers(&tables, "word_1"), [0.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(tables.edges, [[0, 1], [1, 2], [2, 3]]);
    assert!(noted(&tables, "1 and 1 were found") && noted(&tables, "1 nodes have neither words nor a class"));
    for path in ["planetoid_pickles", "planetoid_pickles/ind.tiny.graph", "planetoid_pickles/ind.tiny.test.index"] {
        assert_eq!(sample(path).edges, tables.edges, "{path}");
    }
}

#[test]
fn planetoid_pickles_that_are_several_or_incomplete() {
    let folder = copy("planetoid_pickles", &["ind.tiny.graph", "ind.tiny.allx"]);
    refused(&folder.path().join("ind.tiny"), &["ind.tiny.test.index", "No such file"]);
    fs::write(folder.path().join("ind.other.x"), "").unwrap();
    refused(folder.path(), &["2 data sets", "ind.other", "ind.tiny"]);
    refused(&folder.path().join("ind.unknown"), &["there is no file or folder"]);
    fs::write(folder.path().join("ind.tiny.graph"), "cos\nsystem\n.").unwrap();
    refused(&folder.path().join("ind.tiny"), &["ind.tiny.graph", "\"os.system\"", "neither read nor run"]);
}

#[test]
fn a_vocabulary_beside_the_matrix_names_its_columns() {
    let all: Vec<PathBuf> =
        fs::read_dir(samples::folder().join("planetoid_pickles")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let files: Vec<&str> = all.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    let folder = copy("planetoid_pickles", &files);
    let header =
        "NODE\tpaper\ncat=1,2:label\tnumeric:w-rat:0.0\tnumeric:w-a:b:0.0\tnumeric:w-class:0.0\tstring:summary\n";
    fs::write(folder.path().join("Any.NODE.paper.tab"), header).unwrap();
    let tables = read_at(&folder.path().join("ind.tiny"), &gnan_paper::read_options()).unwrap();
    assert_eq!(names(&tables), ["rat", "a:b", "word_2", "class"]);
    fs::copy(samples::folder().join("planetoid/tiny.npz"), folder.path().join("tiny.npz")).unwrap();
    let tables = read_at(&folder.path().join("tiny.npz"), &gnan_paper::read_options()).unwrap();
    assert_eq!(names(&tables)[0], "rat");
    fs::write(folder.path().join("Any.NODE.paper.tab"), "NODE\nnumeric:w-rat:0.0\n").unwrap();
    let tables = read_at(&folder.path().join("tiny.npz"), &gnan_paper::read_options()).unwrap();
    assert_eq!(names(&tables)[0], "word_0");
}

#[test]
fn heterophilous_arrays() {
    let tables = sample("heterophilous");
    assert_eq!(names(&tables), ["rate", "education=none", "education=high", "class"]);
    assert_eq!(classes(&tables), ["not banned", "banned", "not banned"]);
    assert_eq!(tables.splits.iter().map(|split| parts(split)).collect::<Vec<_>>(), ["tvT", "Ttv"]);
    assert_eq!(tables.edges, [[0, 1], [1, 2]]);
    let data = Dataset::open_with(
        samples::folder().join("heterophilous"),
        &DatasetOptions { read: gnan_paper::read_options(), ..DatasetOptions::default() },
    )
    .unwrap();
    let kinds: Vec<_> = data.features().iter().map(|feature| (feature.name.as_str(), feature.kind)).collect();
    assert_eq!(kinds, [("rate", Kind::Continuous), ("education", Kind::Categorical)]);

    let folder = copy("heterophilous", &["tolokers.npz"]);
    assert_eq!(names(&read_at(folder.path(), &gnan_paper::read_options()).unwrap())[0], "feature_0");
    fs::write(folder.path().join("tolokers_feature_names.txt"), "one\n").unwrap();
    assert!(noted(&read_at(folder.path(), &gnan_paper::read_options()).unwrap(), "names 1 features of 3"));
}

#[test]
fn geom_folder() {
    let tables = sample("geom");
    assert_eq!((tables.format.as_str(), tables.directed), ("Geom-GCN", false));
    assert_eq!(numbers(&tables, "word_1"), [0.0, 1.0, 0.0]);
    assert_eq!(column(&tables, "word_1").kind, Some(Kind::Binary));
    assert_eq!(classes(&tables), ["0", "1", "1"]);
    assert_eq!(tables.edges, [[0, 1], [1, 0], [2, 2], [1, 2]]);
    // Split 2 comes before split 10, and bytes are marks like truth values.
    assert_eq!(tables.splits.iter().map(|split| parts(split)).collect::<Vec<_>>(), ["tvT", "Tvt"]);
    assert!(noted(&tables, "the option directed") && noted(&tables, "1 and 0 were found"));
    let directed = ReadOptions { directed: Some(true), ..gnan_paper::read_options() };
    let tables = read_at(&samples::folder().join("geom"), &directed).unwrap();
    assert!(tables.directed && !noted(&tables, "the option directed"));
}

/// Where nodes have different numbers of features, these are the words that they have.
#[test]
fn geom_word_lists() {
    let folder = copy("geom", &["out1_graph_edges.txt"]);
    let file = folder.path().join("out1_node_feature_label.txt");
    fs::write(&file, "node_id\tfeature\tlabel\n2\t3\t1\n0\t2,0\t0\n1\t\t1\n").unwrap();
    let tables = read_at(folder.path(), &gnan_paper::read_options()).unwrap();
    assert_eq!(numbers(&tables, "word_0"), [1.0, 0.0, 0.0]);
    assert_eq!(numbers(&tables, "word_2"), [1.0, 0.0, 0.0]);
    assert_eq!(numbers(&tables, "word_3"), [0.0, 0.0, 1.0]);
    assert_eq!(classes(&tables), ["0", "1", "1"]);
    assert!(noted(&tables, "numbers of the words"));
    // No node has a word twice.
    fs::write(&file, "node_id\tfeature\tlabel\n0\t0,1,0\t0\n1\t1,0\t1\n2\t1,0,1\t1\n").unwrap();
    refused(folder.path(), &["out1_node_feature_label.txt:3", "2 features, others have 3"]);
    fs::write(&file, "node_id\tfeature\tlabel\n0\t0,4294967295\t0\n1\t1\t1\n2\t1\t1\n").unwrap();
    refused(folder.path(), &["features"]);
}

#[test]
fn citation_arrays() {
    let tables = sample("citation/tiny.npz");
    assert_eq!(classes(&tables), ["n\u{e9}w", "old", "n\u{e9}w"]);
    assert_eq!(tables.node_ids.as_deref().unwrap(), ["p1", "p2", "p3"]);
    assert_eq!(tables.edges, [[0, 1], [1, 2], [2, 0]]);
    assert_eq!((numbers(&tables, "word_1"), column(&tables, "word_1").kind), (vec![0.0, 1.0, 0.5], Some(Kind::Sparse)));
    assert!(noted(&tables, "the option directed"));
}

#[test]
fn linqs_text() {
    for path in ["linqs", "linqs/tiny.content.gz", "linqs/tiny.cites"] {
        let tables = sample(path);
        assert_eq!((tables.format.as_str(), tables.name.as_str()), ("LINQS", "tiny"));
        assert_eq!(classes(&tables), ["Theory", "Practice", "Theory"]);
        assert_eq!(tables.node_ids.as_deref().unwrap(), ["p1", "p2", "p3"]);
        assert_eq!(tables.edges, [[1, 0], [2, 1], [1, 0]]);
        assert!(noted(&tables, "left out 1 citations") && noted(&tables, "0 and 1 were found"));
    }
    refused(copy("linqs", &["tiny.cites"]).path().join("tiny.cites").as_path(), &["tiny.content", "missing"]);
}

#[test]
fn pubmed_tables() {
    for path in ["pubmed", "pubmed/tiny.NODE.paper.tab", "pubmed/tiny.DIRECTED.cites.tab"] {
        let tables = sample(path);
        assert_eq!(names(&tables), ["rat", "common", "class"]);
        assert_eq!((numbers(&tables, "rat"), classes(&tables)), (vec![0.09, 0.1], vec!["1", "2"]));
        assert_eq!(tables.edges, [[0, 1]]);
    }
}

#[test]
fn ogb_folder() {
    let tables = sample("ogb");
    assert_eq!((names(&tables), classes(&tables)), (vec!["year", "class"], vec!["cs na", "cs mm", "cs na"]));
    assert_eq!((tables.edges.len(), parts(&tables.splits[0])), (2, "tvT".to_string()));
    assert!(noted(&tables, "node features are missing"));
    let tables = sample("ogb_features");
    assert_eq!(names(&tables), ["feature_0", "feature_1", "label_1", "label_2"]);
    assert_eq!((numbers(&tables, "feature_1"), tables.targets.len()), (vec![0.001, 2.0], 2));
    assert!(tables.splits.is_empty() && !noted(&tables, "missing"));
}

#[test]
fn an_archive_that_is_not_a_data_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    fs::write(&path, "nothing").unwrap();
    refused(&path, &["this zip archive cannot be read"]);
    fs::copy(samples::folder().join("tu_zip/TINY.zip"), &path).unwrap();
    refused(&path, &["not a data set in a format that gnan knows"]);
}

#[test]
fn a_model_remembers_that_only_the_largest_component_was_kept() {
    let source = samples::folder().join("planetoid/tiny.npz");
    for largest_component in [false, true] {
        let read = ReadOptions { largest_component, ..gnan_paper::read_options() };
        let data = Dataset::open_with(&source, &DatasetOptions { read, ..DatasetOptions::default() }).unwrap();
        let training = Spec::default().hidden(16).epochs(1);
        let model = Model::from_bytes(&training.fit(&data).unwrap().to_bytes().unwrap()).unwrap();
        assert_eq!(model.definition().spec.data.largest_component, largest_component);
        let mut options = model.data_options();
        options.read.formats = gnan_paper::FORMATS;
        let again = Dataset::open_with(&source, &options).unwrap();
        assert_eq!((again.len(), again.spec().largest_component), (data.len(), largest_component));
    }
}

fn with_splits(source: &str, splits: &str, largest_component: bool) -> Result<Tables> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("splits.json");
    fs::write(&file, splits).unwrap();
    let options = ReadOptions { splits: Some(file), largest_component, ..gnan_paper::read_options() };
    read_at(&samples::folder().join(source), &options)
}

#[test]
fn splits_from_a_file() {
    let split = |source: &str, splits: &str| {
        let tables = with_splits(source, splits, true).unwrap_or_else(|error| panic!("{error}"));
        tables.splits.iter().map(|split| parts(split)).collect::<Vec<_>>()
    };
    let plain = r#"{"train": [0], "valid": [1], "test": [3, 2]}"#;
    assert_eq!(split("planetoid/tiny.npz", plain), ["tvTT"]);
    assert_eq!(split("planetoid/tiny.npz", &format!("[{plain}, {plain}]")), ["tvTT", "tvTT"]);
    let pro_gnn = r#"{"idx_train": [3], "idx_val": [2], "idx_test": [0]}"#;
    assert_eq!(split("planetoid/tiny.npz", pro_gnn), ["T-vt"]);
    let errica = r#"[{"test": [0], "model_selection": [{"train": [1], "validation": []}]}]"#;
    assert_eq!(split("csv_tables", errica), ["Tt"]);
}

#[test]
fn splits_that_do_not_fit() {
    let complaint = |splits: &str, component| {
        with_splits("planetoid/tiny.npz", splits, component).expect_err("this should be refused").to_string()
    };
    assert!(complaint(r#"{"train": [5]}"#, false).contains("there is no number 5 among 5 nodes"));
    assert!(complaint(r#"{"train": [4]}"#, true).contains("there is no number 4 among 4 nodes"));
    assert!(complaint(r#"{"train": [1], "test": [1]}"#, false).contains("listed twice"));
    assert!(complaint(r#"{"test": [1]}"#, false).contains("no training part"));
    assert!(complaint(r#"{"training": [1]}"#, false).contains("unknown field"));
    assert!(complaint("[]", false).contains("no split"));
    assert!(complaint("", false).contains("splits.json"));
    assert!(complaint(r#"{"idx_train": [1]}"#, false).contains("the option largest-component"));
}
