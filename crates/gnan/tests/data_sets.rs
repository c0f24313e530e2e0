//! The readers, on real data sets. The numbers are those of the README that comes with the data.
//!
//! `GNAN_DATA=/path/to/data cargo test --test data_sets`

use std::collections::HashSet;
use std::path::PathBuf;

use gnan::files::{Column, Kind, MISSING, Part, ReadOptions, Tables, Values, read};

/// Reads a data set of the folder that `GNAN_DATA` names, if it is set.
fn data_set(name: &str, options: &ReadOptions) -> Option<Tables> {
    let Some(folder) = std::env::var_os("GNAN_DATA") else {
        println!("skipped: set GNAN_DATA to the folder of real data sets");
        return None;
    };
    let path = PathBuf::from(folder).join(name);
    Some(read(path.to_str().unwrap(), options).unwrap_or_else(|error| panic!("{error}")))
}

fn undirected_edges(tables: &Tables) -> usize {
    tables.edges.iter().map(|&[one, other]| (one.min(other), one.max(other))).collect::<HashSet<_>>().len()
}

fn find<'a>(columns: &'a [Column], name: &str) -> &'a Column {
    columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("no column {name}"))
}

/// How often each level of a column occurs.
fn counts<'a>(columns: &'a [Column], name: &str) -> Vec<(&'a str, usize)> {
    let Values::Categories { codes, levels } = &find(columns, name).values else { panic!("{name} is no category") };
    let count = |code: usize| codes.iter().filter(|&&other| other as usize == code).count();
    levels.iter().enumerate().map(|(code, level)| (level.as_str(), count(code))).collect()
}

fn sizes(columns: &[Column], name: &str) -> Vec<usize> {
    counts(columns, name).into_iter().map(|(_, count)| count).collect()
}

fn part_sizes(tables: &Tables) -> [usize; 3] {
    [Part::Train, Part::Valid, Part::Test].map(|part| tables.splits[0].iter().filter(|other| **other == part).count())
}

/// Graphs, mean nodes and mean undirected edges, the means rounded to two digits.
fn means(tables: &Tables) -> (usize, String, String) {
    let mean = |total: usize| format!("{:.2}", total as f64 / tables.graphs() as f64);
    (tables.graphs(), mean(tables.nodes()), mean(undirected_edges(tables)))
}

fn expected(graphs: usize, nodes: &str, edges: &str) -> (usize, String, String) {
    (graphs, nodes.to_string(), edges.to_string())
}

#[test]
fn mutagenicity() {
    for name in ["tu/Mutagenicity.zip", "tu/Mutagenicity"] {
        let Some(tables) = data_set(name, &ReadOptions::default()) else { return };
        assert_eq!(means(&tables), expected(4337, "30.32", "30.77"));
        assert_eq!(counts(&tables.graph_columns, "label"), [("mutagen", 2401), ("nonmutagen", 1936)]);
        let atoms = [
            ("C", 53856),
            ("O", 10645),
            ("Cl", 1312),
            ("H", 58205),
            ("N", 6006),
            ("F", 240),
            ("Br", 299),
            ("S", 654),
            ("P", 119),
            ("I", 23),
            ("Na", 112),
            ("K", 14),
            ("Li", 1),
            ("Ca", 2),
        ];
        assert_eq!(counts(&tables.node_columns, "atom"), atoms);
    }
}

#[test]
fn proteins() {
    let Some(tables) = data_set("tu/PROTEINS.zip", &ReadOptions::default()) else { return };
    assert_eq!(means(&tables), expected(1113, "39.06", "72.82"));
    assert_eq!(counts(&tables.graph_columns, "label"), [("1", 663), ("2", 450)]);
    assert_eq!(sizes(&tables.node_columns, "label").len(), 3);
    assert!(matches!(find(&tables.node_columns, "attribute_1").values, Values::Numbers(_)));
}

#[test]
fn nci1() {
    let Some(tables) = data_set("tu/NCI1.zip", &ReadOptions::default()) else { return };
    assert_eq!(means(&tables), expected(4110, "29.87", "32.30"));
    assert_eq!(counts(&tables.graph_columns, "label"), [("0", 2053), ("1", 2057)]);
    let labels = counts(&tables.node_columns, "label");
    assert_eq!((labels.len(), labels[0].0), (37, "1"));
}

#[test]
fn ptc_mr() {
    let Some(tables) = data_set("tu/PTC_MR.zip", &ReadOptions::default()) else { return };
    assert_eq!(means(&tables), expected(344, "14.29", "14.69"));
    assert_eq!(counts(&tables.graph_columns, "label"), [("-1", 192), ("1", 152)]);
    let atoms: Vec<_> = counts(&tables.node_columns, "atom").into_iter().map(|(name, _)| name).collect();
    let names = "In P O N Na C Cl S Br F K Cu Zn I Ba Sn Pb Ca";
    assert_eq!(atoms, names.split(' ').collect::<Vec<_>>());
}

#[test]
fn cora() {
    let Some(tables) = data_set("planetoid/cora.npz", &ReadOptions::default()) else { return };
    assert_eq!((tables.nodes(), undirected_edges(&tables), tables.node_columns.len() - 1), (2708, 5278, 1433));
    let classes = [
        ("Theory", 351),
        ("Reinforcement_Learning", 217),
        ("Genetic_Algorithms", 418),
        ("Neural_Networks", 818),
        ("Probabilistic_Methods", 426),
        ("Case_Based", 298),
        ("Rule_Learning", 180),
    ];
    assert_eq!(counts(&tables.node_columns, "class"), classes);
    assert_eq!(part_sizes(&tables), [140, 500, 1000]);
    assert_eq!(find(&tables.node_columns, "word_0").kind, Some(Kind::Binary));
    assert_eq!(non_zeros(&tables), 49_216);
    check_largest("planetoid/cora.npz", 2485, 5069, [122, 459, 915]);
}

#[test]
fn citeseer() {
    let Some(tables) = data_set("planetoid/citeseer.npz", &ReadOptions::default()) else { return };
    assert_eq!((tables.nodes(), undirected_edges(&tables), tables.node_columns.len() - 1), (3327, 4552, 3703));
    let classes = [("AI", 249), ("ML", 590), ("IR", 668), ("DB", 701), ("Agents", 596), ("HCI", 508)];
    assert_eq!(counts(&tables.node_columns, "class"), classes);
    let Values::Categories { codes, .. } = &find(&tables.node_columns, "class").values else { panic!("no classes") };
    assert_eq!(codes.iter().filter(|&&code| code == MISSING).count(), 15);
    assert_eq!(part_sizes(&tables), [120, 500, 1000]);
    assert_eq!(non_zeros(&tables), 105_165);
    check_largest("planetoid/citeseer.npz", 2120, 3679, [80, 328, 663]);
}

#[test]
fn pubmed() {
    let Some(tables) = data_set("planetoid/pubmed.npz", &ReadOptions::default()) else { return };
    assert_eq!((tables.nodes(), undirected_edges(&tables), tables.node_columns.len() - 1), (19_717, 44_324, 500));
    assert_eq!(counts(&tables.node_columns, "class"), [("0", 4103), ("1", 7739), ("2", 7875)]);
    assert_eq!(part_sizes(&tables), [60, 500, 1000]);
    assert_eq!(find(&tables.node_columns, "word_0").kind, Some(Kind::Sparse));
    assert_eq!(non_zeros(&tables), 988_031);
    check_largest("planetoid/pubmed.npz", 19_717, 44_324, [60, 500, 1000]);
}

fn non_zeros(tables: &Tables) -> usize {
    let entries = |column: &Column| match &column.values {
        Values::Sparse { rows, .. } => rows.len(),
        _ => 0,
    };
    tables.node_columns.iter().map(entries).sum()
}

fn check_largest(name: &str, nodes: usize, edges: usize, parts: [usize; 3]) {
    let options = ReadOptions { largest_component: true, ..ReadOptions::default() };
    let Some(tables) = data_set(name, &options) else { return };
    assert_eq!((tables.nodes(), undirected_edges(&tables), part_sizes(&tables)), (nodes, edges, parts));
}

#[test]
fn a_folder_of_several_sets_lists_them() {
    let Some(folder) = std::env::var_os("GNAN_DATA") else {
        println!("skipped: set GNAN_DATA to the folder of real data sets");
        return;
    };
    let path = PathBuf::from(folder).join("tu");
    let error = read(path.to_str().unwrap(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(["Mutagenicity.zip", "NCI1.zip", "PROTEINS.zip", "PTC_MR.zip"].iter().all(|name| error.contains(name)));
}

/// Mean and standard deviation of a quantity, to four digits.
fn spread(columns: &[Column], name: &str) -> String {
    let Values::Numbers(numbers) = &find(columns, name).values else { panic!("{name} is no number") };
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / numbers.len() as f64;
    format!("{mean:.4} {:.4}", variance.sqrt())
}

#[test]
fn qm9_as_smiles() {
    let options = ReadOptions { explicit_hydrogens: true, ..ReadOptions::default() };
    let start = std::time::Instant::now();
    let Some(tables) = data_set("qm9/qm9.csv.gz", &options) else { return };
    println!("QM9 as SMILES: {:.1} s", start.elapsed().as_secs_f64());
    assert_eq!((tables.name.as_str(), tables.graphs(), tables.nodes()), ("qm9", 130_831, 2_359_210));
    assert_eq!(means(&tables), expected(130_831, "18.03", "18.65"));
    check_quantities(&tables);
}

#[test]
fn qm9_as_arrays() {
    let start = std::time::Instant::now();
    let Some(tables) = data_set("qm9/qm9_graphs.npz", &ReadOptions::default()) else { return };
    println!("QM9 as arrays: {:.1} s", start.elapsed().as_secs_f64());
    assert_eq!((tables.graphs(), tables.nodes(), tables.edges.len()), (130_831, 2_359_210, 2_440_360));
    let sizes = tables.node_offsets.windows(2).map(|range| range[1] - range[0]);
    assert_eq!((sizes.clone().min(), sizes.max()), (Some(3), Some(29)));
    assert_eq!(counts(&tables.node_columns, "element").len(), 5);
    check_quantities(&tables);
}

fn check_quantities(tables: &Tables) {
    let number = |graph: usize| tables.graph_ids[graph].trim_start_matches("gdb_");
    assert_eq!((number(0), number(130_830), tables.graph_columns.len()), ("1", "133885", 19));
    assert_eq!(spread(&tables.graph_columns, "mu"), "2.6730 1.5035");
    assert_eq!(spread(&tables.graph_columns, "alpha"), "75.2812 8.1738");
    assert_eq!(spread(&tables.graph_columns, "homo"), "-0.2402 0.0220");
    assert_eq!(find(&tables.graph_columns, "homo").unit.as_deref(), Some("Hartree"));
}

#[test]
fn edge_labels_of_the_tu_sets() {
    for (name, edges, first) in [
        ("tu/Mutagenicity.zip", 266_894, Some("single")),
        ("tu/PTC_MR.zip", 10_108, Some("triple")),
        ("tu/PROTEINS.zip", 162_088, None),
    ] {
        let Some(tables) = data_set(name, &ReadOptions::default()) else { return };
        assert_eq!(tables.edges.len(), edges, "{name}");
        let labels = tables.edge_labels.as_ref().map(|labels| &labels.values);
        let Some(Values::Categories { codes, levels }) = labels else {
            assert!(first.is_none(), "{name} has no labels of edges");
            continue;
        };
        println!("{name}: {levels:?}");
        assert_eq!((codes.len(), tables.bonds.as_ref().map(Vec::len)), (edges, Some(edges)));
        assert!(levels.iter().any(|level| Some(level.as_str()) == first), "{name} has {levels:?}");
    }
}

#[test]
fn the_attribute_of_proteins_is_a_quantity() {
    let Some(tables) = data_set("tu/PROTEINS.zip", &ReadOptions::default()) else { return };
    assert!(tables.notes.iter().any(|note| note.contains("do not say what the node labels stand for")));
    let data = gnan::Dataset::from_tables(tables, &gnan::DatasetOptions::default()).unwrap();
    let attribute = data.features().iter().find(|feature| feature.name == "attribute_1").unwrap();
    assert_eq!(attribute.kind, Kind::Continuous);
}
