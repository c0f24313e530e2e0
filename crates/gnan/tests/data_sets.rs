//! The readers, on real data sets. The numbers are those of the README that comes with the data.
//!
//! `GNAN_DATA=/path/to/data cargo test --test data_sets`

use std::collections::HashSet;
use std::path::PathBuf;

use gnan::files::{Column, Kind, MISSING, ReadOptions, SplitPart, Tables, Values, read};
use gnan::{Dataset, DatasetOptions};

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
    sizes_of(&tables.splits[0])
}

fn sizes_of(split: &[SplitPart]) -> [usize; 3] {
    [SplitPart::Train, SplitPart::Valid, SplitPart::Test]
        .map(|part| split.iter().filter(|other| **other == part).count())
}

/// Without self-loops.
fn proper_edges(tables: &Tables) -> usize {
    let loops: HashSet<_> = tables.edges.iter().filter(|[one, other]| one == other).collect();
    undirected_edges(tables) - loops.len()
}

fn noted(tables: &Tables, words: &str) {
    assert!(tables.notes.iter().any(|note| note.contains(words)), "{words}: {:?}", tables.notes);
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
        let Some(tables) = data_set(name, &gnan_paper::read_options()) else { return };
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
    let Some(tables) = data_set("tu/PROTEINS.zip", &gnan_paper::read_options()) else { return };
    assert_eq!(means(&tables), expected(1113, "39.06", "72.82"));
    assert_eq!(counts(&tables.graph_columns, "label"), [("1", 663), ("2", 450)]);
    assert_eq!(sizes(&tables.node_columns, "label").len(), 3);
    assert!(matches!(find(&tables.node_columns, "attribute_1").values, Values::Numbers(_)));
}

#[test]
fn nci1() {
    let Some(tables) = data_set("tu/NCI1.zip", &gnan_paper::read_options()) else { return };
    assert_eq!(means(&tables), expected(4110, "29.87", "32.30"));
    assert_eq!(counts(&tables.graph_columns, "label"), [("0", 2053), ("1", 2057)]);
    let labels = counts(&tables.node_columns, "label");
    assert_eq!((labels.len(), labels[0].0), (37, "1"));
}

#[test]
fn ptc_mr() {
    let Some(tables) = data_set("tu/PTC_MR.zip", &gnan_paper::read_options()) else { return };
    assert_eq!(means(&tables), expected(344, "14.29", "14.69"));
    assert_eq!(counts(&tables.graph_columns, "label"), [("-1", 192), ("1", 152)]);
    let atoms: Vec<_> = counts(&tables.node_columns, "atom").into_iter().map(|(name, _)| name).collect();
    let names = "In P O N Na C Cl S Br F K Cu Zn I Ba Sn Pb Ca";
    assert_eq!(atoms, names.split(' ').collect::<Vec<_>>());
}

#[test]
fn cora() {
    let Some(tables) = data_set("planetoid/cora.npz", &gnan_paper::read_options()) else { return };
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
    let Some(tables) = data_set("planetoid/citeseer.npz", &gnan_paper::read_options()) else { return };
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
    let Some(tables) = data_set("planetoid/pubmed.npz", &gnan_paper::read_options()) else { return };
    assert_eq!((tables.nodes(), undirected_edges(&tables), tables.node_columns.len() - 1), (19_717, 44_324, 500));
    assert_eq!(counts(&tables.node_columns, "class"), [("0", 4103), ("1", 7739), ("2", 7875)]);
    assert_eq!(part_sizes(&tables), [60, 500, 1000]);
    assert_eq!(find(&tables.node_columns, "word_0").kind, Some(Kind::Sparse));
    assert_eq!(non_zeros(&tables), 988_031);
    check_largest("planetoid/pubmed.npz", 19_717, 44_324, [60, 500, 1000]);
}

#[test]
fn planetoid_pickles_equal_the_arrays() {
    // Entries of the adjacency lists beyond one each way, and self-loops, by the README.
    for (name, loops, repeated) in
        [("cora", 0, 10_858 - 10_556), ("citeseer", 248, 9464 - 248 - 9104), ("pubmed", 6, 22)]
    {
        let Some(arrays) = data_set(&format!("planetoid/{name}.npz"), &gnan_paper::read_options()) else { return };
        let Some(pickles) = data_set(&format!("planetoid/ind.{name}"), &gnan_paper::read_options()) else { return };
        assert_eq!((&pickles.name, &pickles.splits), (&arrays.name, &arrays.splits));
        assert!(pickles.node_columns == arrays.node_columns, "the features or classes of {name} differ");
        let edges = |tables: &Tables| tables.edges.iter().copied().collect::<HashSet<_>>();
        assert_eq!(pickles.edges.len(), arrays.edges.len());
        assert!(edges(&pickles) == edges(&arrays), "the edges of {name} differ");
        noted(&pickles, &format!("{loops} and {repeated} were found"));
    }
    let Some(citeseer) = data_set("planetoid/ind.citeseer.graph", &gnan_paper::read_options()) else { return };
    noted(&citeseer, "15 nodes have neither words nor a class");
    check_largest("planetoid/ind.citeseer", 2120, 3679, [80, 328, 663]);
    check_largest("planetoid/ind.cora", 2485, 5069, [122, 459, 915]);
}

#[test]
fn tolokers() {
    let Some(tables) = data_set("heterophilous/tolokers.npz", &gnan_paper::read_options()) else { return };
    assert_eq!((tables.nodes(), undirected_edges(&tables), tables.edges.len()), (11_758, 519_000, 519_000));
    assert_eq!(counts(&tables.node_columns, "class"), [("not banned", 9192), ("banned", 2566)]);
    assert_eq!(tables.splits.len(), 10);
    assert!(tables.splits.iter().all(|split| sizes_of(split) == [5879, 2939, 2940]));
    let names: Vec<_> = tables.node_columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[9]), (11, "approved_rate", "english_tested"));
    let data = Dataset::from_tables(tables, &DatasetOptions::default()).unwrap();
    let kinds: Vec<_> = data.features().iter().map(|feature| (feature.name.as_str(), feature.kind)).collect();
    let expected = [
        ("approved_rate", Kind::Continuous),
        ("skipped_rate", Kind::Continuous),
        ("expired_rate", Kind::Continuous),
        ("rejected_rate", Kind::Continuous),
        ("education", Kind::Categorical),
        ("english_profile", Kind::Binary),
        ("english_tested", Kind::Binary),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn cornell() {
    let Some(tables) = data_set("geom/cornell", &gnan_paper::read_options()) else { return };
    assert_eq!((tables.nodes(), tables.edges.len(), proper_edges(&tables)), (183, 298, 277));
    assert_eq!(tables.node_columns.len() - 1, 1703);
    assert_eq!(find(&tables.node_columns, "word_0").kind, Some(Kind::Binary));
    assert_eq!(sizes(&tables.node_columns, "class"), [38, 16, 30, 82, 17]);
    assert_eq!(tables.splits.len(), 10);
    assert!(tables.splits.iter().all(|split| sizes_of(split) == [87, 59, 37]));
    noted(&tables, "3 and 0 were found");
}

#[test]
fn citation_arrays() {
    let Some(cora) = data_set("citation_npz/cora.npz", &gnan_paper::read_options()) else { return };
    assert_eq!((cora.nodes(), cora.edges.len(), cora.node_columns.len() - 1), (2708, 5429, 1433));
    let mut classes = sizes(&cora.node_columns, "class");
    classes.sort_unstable();
    assert_eq!(classes, [180, 217, 298, 351, 418, 426, 818]);
    assert_eq!(non_zeros(&cora), 49_216);
    let Some(citeseer) = data_set("citation_npz/citeseer.npz", &gnan_paper::read_options()) else { return };
    assert_eq!((citeseer.nodes(), non_zeros(&citeseer)), (3312, 105_165));
    assert!(citeseer.node_ids.is_some());
    for (name, nodes, edges, parts) in
        [("cora", 2485, 5069, [247, 249, 1988]), ("citeseer", 2110, 3668, [210, 211, 1688])]
    {
        let splits = real(&format!("citation_npz/{name}_prognn_splits.json"));
        let options = ReadOptions { largest_component: true, splits, ..gnan_paper::read_options() };
        let Some(tables) = data_set(&format!("citation_npz/{name}.npz"), &options) else { return };
        assert_eq!((tables.nodes(), proper_edges(&tables), part_sizes(&tables)), (nodes, edges, parts));
    }
}

#[test]
fn linqs_cora() {
    for name in ["linqs/cora.content.gz", "linqs/cora.cites", "linqs"] {
        let Some(tables) = data_set(name, &gnan_paper::read_options()) else { return };
        assert_eq!((tables.nodes(), tables.edges.len(), undirected_edges(&tables)), (2708, 5429, 5278));
        assert_eq!((tables.node_columns.len() - 1, non_zeros(&tables)), (1433, 49_216));
        let classes = counts(&tables.node_columns, "class");
        assert_eq!((classes.len(), classes[3]), (7, ("Probabilistic_Methods", 426)));
    }
    let Some(cites) = real("linqs/Pubmed-Diabetes.DIRECTED.cites.tab.gz") else { return };
    let error = read(cites.to_str().unwrap(), &gnan_paper::read_options()).unwrap_err().to_string();
    assert!(error.contains("Pubmed-Diabetes.NODE.paper.tab") && error.contains("missing"), "{error}");
}

#[test]
fn arxiv() {
    let start = std::time::Instant::now();
    let Some(tables) = data_set("ogb/arxiv", &gnan_paper::read_options()) else { return };
    println!("arxiv read in {:?}", start.elapsed());
    assert_eq!((tables.nodes(), tables.edges.len()), (169_343, 1_166_243));
    assert_eq!(undirected_edges(&tables), 1_157_799);
    assert_eq!(part_sizes(&tables), [90_941, 29_799, 48_603]);
    let classes = counts(&tables.node_columns, "class");
    assert_eq!((classes.len(), classes[0].0), (40, "arxiv cs na"));
    let sizes = || classes.iter().map(|(_, size)| *size);
    assert_eq!((sizes().min(), sizes().max()), (Some(29), Some(27_321)));
    let Values::Numbers(years) = &find(&tables.node_columns, "year").values else { panic!("no years") };
    let [first, last] = [f64::min, f64::max].map(|choose| years.iter().copied().reduce(choose).unwrap());
    assert_eq!((first, last), (1971.0, 2020.0));
    noted(&tables, "node features are missing");
}

#[test]
fn errica_splits() {
    for (set, file, parts) in [("PROTEINS", "PROTEINS_full", [900, 101, 112]), ("NCI1", "NCI1", [3328, 370, 412])] {
        let options = ReadOptions { splits: real(&format!("splits/{file}_splits.json")), ..gnan_paper::read_options() };
        let Some(tables) = data_set(&format!("tu/{set}.zip"), &options) else { return };
        assert_eq!((tables.splits.len(), part_sizes(&tables)), (10, parts));
        let tested = |graph: usize| tables.splits.iter().filter(|split| split[graph] == SplitPart::Test).count();
        assert!((0..tables.graphs()).all(|graph| tested(graph) == 1));
    }
}

/// A file of the folder of real data sets, if that is known.
fn real(name: &str) -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("GNAN_DATA")?).join(name))
}

fn non_zeros(tables: &Tables) -> usize {
    let entries = |column: &Column| match &column.values {
        Values::Sparse { rows, .. } => rows.len(),
        _ => 0,
    };
    tables.node_columns.iter().map(entries).sum()
}

fn check_largest(name: &str, nodes: usize, edges: usize, parts: [usize; 3]) {
    let options = ReadOptions { largest_component: true, ..gnan_paper::read_options() };
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
    let error = read(path.to_str().unwrap(), &gnan_paper::read_options()).unwrap_err().to_string();
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
    let options = ReadOptions { explicit_hydrogens: true, ..gnan_paper::read_options() };
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
    let Some(tables) = data_set("qm9/qm9_graphs.npz", &gnan_paper::read_options()) else { return };
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
        let Some(tables) = data_set(name, &gnan_paper::read_options()) else { return };
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
    let Some(tables) = data_set("tu/PROTEINS.zip", &gnan_paper::read_options()) else { return };
    assert!(tables.notes.iter().any(|note| note.contains("do not name the node labels")));
    let data = Dataset::from_tables(tables, &DatasetOptions::default()).unwrap();
    let attribute = data.features().iter().find(|feature| feature.name == "attribute_1").unwrap();
    assert_eq!(attribute.kind, Kind::Continuous);
}
