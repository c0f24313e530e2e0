//! Tables as people have them: cells that are no numbers, dates, names in columns of any name, rows that cannot be read,
//! rare categories, and items that a model has seen before.

use std::fs;
use std::path::{Path, PathBuf};

use gnan::dataset::{Problem, SplitOrigin};
use gnan::evaluate::{JudgedPart, Judgement, PartMetrics};
use gnan::files::{Side, TableFormat, Values, write_tables};
use gnan::score::shown_metrics;
use gnan::{Dataset, DatasetOptions, Kind, Metric, Model, Outcome, ReadOptions, Result, Spec, Task};
use tempfile::TempDir;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, content)| fs::write(folder.path().join(name), content).unwrap());
    folder
}

fn open(path: &Path, target: &str) -> Result<Dataset> {
    let targets = if target.is_empty() { Vec::new() } else { vec![target.to_owned()] };
    Dataset::open_with(path, &DatasetOptions { targets, ..DatasetOptions::default() })
}

/// A table of molecules: rings and chains of growing size, each with a cell for the target.
fn molecules(cells: &[String]) -> String {
    let rows = cells.iter().enumerate().map(|(row, cell)| {
        let chain = "C".repeat(1 + row % 5);
        let smiles = if row % 2 == 0 { format!("{chain}O") } else { format!("{chain}N") };
        format!("M-{row},{smiles},{cell}\n")
    });
    format!("Compound ID,smiles,activity\n{}", rows.collect::<String>())
}

fn activities(rows: usize) -> Vec<String> {
    (0..rows).map(|row| format!("{}", 0.1 * row as f64 - 1.0)).collect()
}

fn notes(data: &Dataset) -> String {
    [data.cautions(), data.notes()].concat().join("\n")
}

#[test]
fn bounds_keep_a_quantity_a_quantity() {
    let mut cells = activities(40);
    (cells[3], cells[7], cells[8], cells[9]) = ("<-4.0".into(), ">= 100".into(), "n.d.".into(), "≤2".into());
    // The usual signs of a missing value, which need no mention.
    (cells[12], cells[13]) = ("n/a".into(), String::new());
    let files = folder(&[("m.csv", &molecules(&cells))]);
    let data = open(&files.path().join("m.csv"), "").unwrap();
    assert_eq!(data.outcome().unwrap(), Outcome::Regression);
    let target = &data.targets()[0];
    assert_eq!(data.labelled().len(), 34);
    let bounds: Vec<(u32, Side, f64)> = target.bounds.iter().map(|b| (b.row, b.side, b.value)).collect();
    assert_eq!(bounds, [(3, Side::Below, -4.0), (7, Side::Above, 100.0), (9, Side::Below, 2.0)]);
    let said = notes(&data);
    for word in ["4 cells", "\"<-4.0\" line 5", "\"n.d.\" line 10", "bounds are kept"] {
        assert!(said.contains(word), "\"{word}\" is not in: {said}");
    }
}

#[test]
fn bounds_survive_a_conversion() {
    let mut cells = activities(30);
    cells[3] = "<-4.5".into();
    let files = folder(&[("m.csv", &molecules(&cells))]);
    let tables = gnan::files::read(files.path().join("m.csv").to_str().unwrap(), &ReadOptions::default()).unwrap();
    for format in [TableFormat::Csv, TableFormat::Parquet] {
        let place = files.path().join(format!("{format:?}"));
        write_tables(&tables, &place, format, false).unwrap();
        let again = open(&place, "activity").unwrap();
        let [bound] = again.targets()[0].bounds[..] else { panic!("{:?}", again.targets()[0].bounds) };
        assert_eq!((bound.side, bound.value), (Side::Below, -4.5), "{format:?}");
        assert_eq!(again.outcome().unwrap(), Outcome::Regression);
    }
}

#[test]
fn a_few_words_among_many_numbers_are_missing_and_many_are_levels() {
    let column = |words: usize, numbers: usize, distinct: usize| {
        let mut rows: Vec<String> = (0..numbers).map(|n| format!("n{n},{}\n", n % distinct)).collect();
        rows.extend((0..words).map(|n| format!("w{n},other\n")));
        let files = folder(&[("nodes.csv", &format!("node_id,x\n{}", rows.concat()))]);
        gnan::files::read(files.path().to_str().unwrap(), &ReadOptions::default()).unwrap().node_columns.remove(0)
    };
    assert!(matches!(column(2, 60, 50).values, Values::Numbers(_)));
    assert!(matches!(column(20, 60, 50).values, Values::Categories { .. }), "too many words");
    assert!(matches!(column(2, 60, 5).values, Values::Categories { .. }), "numbers that may be levels");
}

#[test]
fn very_many_classes_are_refused_with_the_likely_reason() {
    let refusal = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..60).map(|row| format!("\"{}\"", cell(row))).collect();
        let files = folder(&[("m.csv", &molecules(&cells))]);
        open(&files.path().join("m.csv"), "activity").map(|_| ()).unwrap_err().to_string()
    };
    let numbers = refusal(&|row| if row % 5 == 0 { format!("{row} mM") } else { format!("{row}.5") });
    for word in ["60 classes", "look like numbers", "\"0 mM\""] {
        assert!(numbers.contains(word), "{numbers}");
    }
    assert!(refusal(&|row| format!("word {row}")).contains("look like names"));
    for (cell, reason) in [
        (refusal(&|row| format!("{},234", row + 1)), "\"1,234\" has a thousands separator (write 1234)"),
        (refusal(&|row| format!("{row},25")), "\"0,25\" has a decimal comma (write 0.25"),
        (refusal(&|row| format!("1.{row}kg")), "\"1.0kg\" has a unit in the cell (write 1.0"),
        (refusal(&|row| format!("{row} %")), "\"0 %\" has a unit in the cell (write 0,"),
    ] {
        let cell = cell.replace("\"\"", "\"");
        assert!(cell.contains("look like numbers read as text") && cell.contains(reason), "{cell}");
    }
    // A request for classes is granted.
    let cells: Vec<String> = (0..60).map(|row| format!("word {row}")).collect();
    let files = folder(&[("m.csv", &molecules(&cells))]);
    let options = DatasetOptions {
        targets: vec!["activity".to_owned()],
        problem: Some(Problem::Classification),
        ..DatasetOptions::default()
    };
    assert!(Dataset::open_with(files.path().join("m.csv"), &options).is_ok());
}

#[test]
fn a_quantity_with_hardly_a_known_value_is_refused() {
    let opened = |known: usize, cell: &str, problem: Option<Problem>| {
        let cells: Vec<String> =
            (0..60).map(|row| if row < known { format!("{row}.5") } else { cell.to_owned() }).collect();
        let files = folder(&[("m.csv", &molecules(&cells))]);
        let options = DatasetOptions { targets: vec!["activity".to_owned()], problem, ..DatasetOptions::default() };
        Dataset::open_with(files.path().join("m.csv"), &options)
    };
    for known in [1, 2, 5] {
        let refusal = opened(known, "<4.0", None).unwrap_err().to_string();
        for word in ["mostly bounds", &format!("{} bounds such as \"<4\"", 60 - known), "tenth of all"] {
            assert!(refusal.contains(word), "\"{word}\" is not in: {refusal}");
        }
    }
    assert_eq!(opened(6, "<4.0", None).unwrap().labelled().len(), 6);
    // Numbers that are read as text, where a quantity was requested.
    let refusal = opened(2, "\"1,234\"", Some(Problem::Regression)).unwrap_err().to_string();
    assert!(refusal.contains("2 known values") && refusal.contains("thousands separator"), "{refusal}");
    // Values that are just missing: data may be looked at, but nothing can be learned.
    let spec = Spec::default().hidden(16).layers(2).epochs(2);
    let refusal = spec.fit(&opened(2, "", None).unwrap()).map(|_| ()).unwrap_err().to_string();
    assert!(refusal.contains("2 known values") && refusal.contains("at least 3"), "{refusal}");
    let model = spec.fit(&opened(3, "", None).unwrap()).unwrap();
    assert_eq!(model.record().valid_items, 0);
    let long = Spec::default().hidden(16).layers(2).patience(2).learning_rate(1e-9).epochs(1000);
    let model = long.fit(&opened(3, "", None).unwrap()).unwrap();
    assert_eq!(model.record().ending(), "the training loss stopped improving");
}

/// 60 rows, of which three cannot be read: a broken SMILES, none at all, and a row with a comma too many.
fn broken_table() -> String {
    let mut lines: Vec<String> = molecules(&activities(60)).lines().map(str::to_owned).collect();
    (lines[5], lines[31], lines[60]) = ("M-4,C((,1".into(), "M-30,,1".into(), "M-59,CC,1,2".into());
    lines.join("\n")
}

#[test]
fn rows_that_cannot_be_read_are_skipped_and_listed() {
    let files = folder(&[("m.csv", &broken_table())]);
    let data = open(&files.path().join("m.csv"), "activity").unwrap();
    assert_eq!(data.len(), 57);
    let skipped: Vec<_> = data.skipped().iter().map(|row| (row.place, row.line, row.id.as_str())).collect();
    assert_eq!(skipped, [(4, Some(6), "M-4"), (30, Some(32), "M-30"), (59, Some(61), "line 61")]);
    assert!(data.skipped()[0].reason.contains("C((") && data.skipped()[2].reason.contains("4 cells"));
    let list = String::from_utf8(gnan::files::skipped_csv(data.skipped()).unwrap()).unwrap();
    assert!(list.starts_with("line,id,reason\n6,M-4,") && list.lines().count() == 4, "{list}");
    // The values of the others still stand beside their molecules.
    let at = data.find("M-31").unwrap();
    assert!((data.targets()[0].values[at] - 2.1).abs() < 1e-12);
}

#[test]
fn predictions_match_the_rows_of_the_file() {
    let files = folder(&[("m.csv", &broken_table())]);
    let data = open(&files.path().join("m.csv"), "activity").unwrap();
    let model = Spec::default().hidden(16).layers(2).epochs(3).fit(&data).unwrap();
    assert_eq!(model.record().skipped_rows, 3);
    let mut rows = Vec::new();
    let collect = |prediction| -> Result<()> {
        rows.push(prediction);
        Ok(())
    };
    model.predict_rows(&data, collect).unwrap();
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let expected: Vec<String> =
        (0..60).map(|row| if row == 59 { "line 61".to_owned() } else { format!("M-{row}") }).collect();
    assert_eq!(ids, expected);
    let empty: Vec<usize> = (0..60).filter(|row| rows[*row].problem.is_some()).collect();
    assert_eq!(empty, [4, 30, 59]);
    let table = [model.csv_header(true).unwrap(), model.csv_lines(&rows, true).unwrap()].concat();
    let table = String::from_utf8(table).unwrap();
    assert_eq!(table.lines().count(), 61);
    assert_eq!(table.lines().next(), Some("id,activity,problem"));
    assert!(table.lines().nth(5).unwrap().starts_with("M-4,,\"has a SMILES"), "{table}");
    assert!(table.lines().nth(1).unwrap().ends_with(','), "no problem: {table}");
    let lines = String::from_utf8(model.json_lines(&rows).unwrap()).unwrap();
    assert!(lines.lines().nth(30).unwrap().contains("\"problem\":\"has no SMILES\""), "{lines}");
}

/// Nodes of a ring with these columns behind their ids.
fn ring(header: &str, row: impl Fn(usize) -> String, nodes: usize) -> TempDir {
    let rows: String = (0..nodes).map(|node| format!("{}\n", row(node))).collect();
    let edges: String = (0..nodes).map(|node| format!("a{node},a{}\n", (node + 1) % nodes)).collect();
    folder(&[("nodes.csv", &format!("{header}\n{rows}")), ("edges.csv", &format!("from,to\n{edges}"))])
}

#[test]
fn ids_are_found_in_columns_of_usual_names() {
    for header in ["Node ID,x", "id,x", "Vertex,x", "account_id,x", "name,x", "person,x"] {
        let files = ring(header, |node| format!("a{node},{}", node * node), 12);
        let data = Dataset::open_with(files.path(), &DatasetOptions { targets_optional: true, ..Default::default() })
            .unwrap_or_else(|error| panic!("{header}: {error}"));
        assert_eq!((data.node_id(3).as_str(), data.graph(0).edge_count()), ("a3", 12), "{header}");
        assert_eq!(data.features().len(), 1, "{header}");
    }
    // An id is found before a name, and the column may be named.
    let files = ring("name,account_id,x", |node| format!("Holder {node},a{node},{}", node * node), 12);
    let optional = DatasetOptions { targets_optional: true, ..DatasetOptions::default() };
    assert_eq!(Dataset::open_with(files.path(), &optional).unwrap().node_id(0), "a0");
    let mut named = optional.clone();
    named.read.name_column = Some("account_id".to_owned());
    assert_eq!(Dataset::open_with(files.path(), &named).unwrap().node_id(0), "a0");
    named.read.name_column = Some("holder".to_owned());
    let refusal = Dataset::open_with(files.path(), &named).unwrap_err().to_string();
    assert!(refusal.contains("no column \"holder\"") && refusal.contains("\"name\""), "{refusal}");
}

#[test]
fn molecules_are_named_by_the_first_column_of_different_words() {
    let table: String =
        (0..12).map(|row| format!("C{},2024-01-{:02},ref {row},{row}.5\n", "C".repeat(row), row + 1)).collect();
    let files = folder(&[("m.csv", &format!("smiles,assayed,reference,y\n{table}"))]);
    let data = open(&files.path().join("m.csv"), "y").unwrap();
    assert_eq!(data.graph_id(2), "ref 2");
    assert!(notes(&data).contains("\"reference\""), "{}", notes(&data));
    let options = DatasetOptions {
        read: ReadOptions { name_column: Some("assayed".to_owned()), ..ReadOptions::default() },
        targets: vec!["y".to_owned()],
        ..DatasetOptions::default()
    };
    let named = Dataset::open_with(files.path().join("m.csv"), &options).unwrap();
    assert_eq!(named.graph_id(2), "2024-01-03");
}

#[test]
fn names_that_are_all_different_are_taken_before_those_that_repeat() {
    let named = |column: &str, id: &dyn Fn(usize) -> String| {
        let table: String = (0..12)
            .map(|row| format!("Project {},{},C{},{row}.5\n", ["A", "B"][row % 2], id(row), "C".repeat(row)))
            .collect();
        let files = folder(&[("m.csv", &format!("name,{column},smiles,y\n{table}"))]);
        open(&files.path().join("m.csv"), "y").unwrap().graph_id(2).to_owned()
    };
    assert_eq!(named("Compound ID", &|row| format!("M-{row}")), "M-2");
    // Where all repeat, the most usual name stays.
    assert_eq!(named("Compound ID", &|row| format!("M-{}", row % 3)), "Project A (2)");
}

#[test]
fn periods_are_no_ends_of_edges() {
    let nodes: String = (0..12).map(|node| format!("a{node},{node}.5\n")).collect();
    let nodes = format!("node_id,y\n{nodes}");
    let edges = |header: &str| -> String {
        let rows =
            (0..11).map(|node| format!("2024-01-{:02},2024-02-{:02},a{node},a{}\n", node + 1, node + 1, node + 1));
        format!("{header}\n{}", rows.collect::<String>())
    };
    let opened = |header: &str| {
        let files = folder(&[("nodes.csv", &nodes), ("edges.csv", &edges(header))]);
        open(files.path(), "y").map(|data| data.graph(0).edge_count())
    };
    assert_eq!(opened("start,end,head,tail").unwrap(), 11);
    assert_eq!(opened("from,to,start,end").unwrap(), 11);
    let refusal = opened("start,end,one,other").unwrap_err().to_string();
    for word in ["no columns \"source\" and \"target\"", "\"start\" and \"end\" hold dates"] {
        assert!(refusal.contains(word), "{refusal}");
    }
    // A node that is not there: the columns of the ends are named.
    let files = folder(&[("nodes.csv", &nodes), ("edges.csv", "from,to\na1,a99\n")]);
    let refusal = open(files.path(), "y").map(|_| ()).unwrap_err().to_string();
    for word in ["node \"a99\" is not in nodes.csv", "\"from\" and \"to\" are not the ends", "source and target"] {
        assert!(refusal.contains(word), "{refusal}");
    }
}

#[test]
fn a_model_remembers_whether_the_day_comes_first() {
    let ring_of = |date: &dyn Fn(usize) -> String, nodes: usize| {
        ring("node_id,opened,y", |node| format!("a{node},{},{}", date(node), node as f64 * 0.5), nodes)
    };
    let trained = |date: &dyn Fn(usize) -> String| {
        let data = open(ring_of(date, 28).path(), "y").unwrap();
        let model = Spec::default().hidden(16).layers(2).epochs(2).fit(&data).unwrap();
        Model::from_bytes(&model.to_bytes().unwrap()).unwrap()
    };
    let day_first = trained(&|node| format!("{:02}/06/2022", node + 1));
    let month_first = trained(&|node| format!("06/{:02}/22", node + 1));
    // 05/06/2022 is day 19,148 or, with the month first, 2022-05-06: day 19,118.
    for (model, first, expected) in [(&day_first, "day", 19_148.0), (&month_first, "month", 19_118.0)] {
        for batch in ["05/06/2022", "05/06/22"] {
            let new = ring_of(&|_| batch.to_owned(), 5);
            let data = Dataset::open_with(new.path(), &model.data_options()).unwrap();
            let Values::Numbers(days) = &data.features()[0].values else { panic!("days are numbers") };
            assert_eq!(days[0], expected, "{first}: {batch}");
            assert!(
                notes(&data).contains(&format!("the {first} comes first, as in the training data")),
                "{}",
                notes(&data)
            );
            assert!(data.cautions().is_empty(), "{:?}", data.cautions());
            model.predict(&data).unwrap();
        }
    }
    // Dates that say themselves what is what need no memory, and a model that has none still refuses.
    let iso = trained(&|node| format!("2022-06-{:02}", node + 1));
    let new = ring_of(&|_| "05/06/2022".to_owned(), 5);
    let refusal = Dataset::open_with(new.path(), &iso.data_options()).map(|_| ()).unwrap_err().to_string();
    assert!(refusal.contains("cannot be told apart"), "{refusal}");
}

#[test]
fn dates_are_days_and_names_are_left_out() {
    let row = |node: usize| {
        format!("a{node},2024-01-{:02},Holder {node},{},{}", node % 28 + 1, ["x", "y"][node % 2], node % 3)
    };
    let files = ring("node_id,opened,holder,kind,label", row, 30);
    let data = open(files.path(), "label").unwrap();
    let features: Vec<(&str, Kind)> = data.features().iter().map(|f| (f.name.as_str(), f.kind)).collect();
    assert_eq!(features, [("opened", Kind::Continuous), ("kind", Kind::Categorical)]);
    assert_eq!(data.features()[0].unit.as_deref(), Some("days since 1970-01-01"));
    let Values::Numbers(days) = &data.features()[0].values else { panic!("days are numbers") };
    assert_eq!(days[0], 19_723.0); // date -u -d 2024-01-01 +%s, divided by 86,400
    assert_eq!(data.notes().iter().filter(|note| note.contains("\"holder\" is left out")).count(), 1);
    // A declaration keeps it, and so does a model that has it, however few rows it sees.
    fs::write(files.path().join("gnan.toml"), "[kinds]\nholder = \"categorical\"\n").unwrap();
    let kept = open(files.path(), "label").unwrap();
    assert_eq!(kept.features().len(), 3);
    let model = Spec::default().hidden(16).layers(2).epochs(2).fit(&kept).unwrap();
    fs::remove_file(files.path().join("gnan.toml")).unwrap();
    let again = Dataset::open_with(files.path(), &model.data_options()).unwrap();
    assert_eq!(again.features().len(), 3);
    model.predict(&again).unwrap();
}

#[test]
fn dates_that_can_be_read_two_ways_are_words() {
    let files =
        ring("node_id,opened,y", |node| format!("a{node},0{}/0{}/2024,{node}.5", node % 2 + 1, node % 3 + 1), 40);
    let data = open(files.path(), "y").unwrap();
    assert_eq!(data.features()[0].kind, Kind::Categorical);
    assert!(notes(&data).contains("day or the month"), "{}", notes(&data));
}

/// A ring of 600 nodes: "a" and "b" in turn, but for three rare towns.
fn towns() -> (TempDir, Dataset) {
    let town = |node: usize| match node {
        100 => "Rareville",
        200 => "Rareham",
        300 => "Rareton",
        node => ["a", "b"][node % 2],
    };
    let files = ring("node_id,town,y", |node| format!("a{node},{},{}", town(node), (node % 2) as f64 + 0.25), 600);
    let data = open(files.path(), "y").unwrap();
    (files, data)
}

#[test]
fn rare_and_unseen_categories_share_a_level() {
    let (files, data) = towns();
    let model = Spec::default().hidden(16).layers(2).epochs(60).fit(&data).unwrap();
    let town = &model.learned().features[0];
    let levels: Vec<(&str, u64)> = town.levels.iter().map(|level| (level.name.as_str(), level.support.nodes)).collect();
    assert_eq!(levels, [("a", 297), ("b", 300), ("rare", 3)]);
    assert_eq!(town.rare, ["Rareham", "Rareton", "Rareville"]);
    // What training had not seen counts as what was rare: the prediction is the same, and said to be of a new value.
    let nodes = fs::read_to_string(files.path().join("nodes.csv")).unwrap();
    fs::write(files.path().join("nodes.csv"), nodes.replace("Rareville", "Newtown")).unwrap();
    let new = Dataset::open_with(files.path(), &model.data_options()).unwrap();
    let (before, after) = (model.predict(&data).unwrap(), model.predict(&new).unwrap());
    assert_eq!(before.items, after.items);
    assert!(after.novelty.iter().any(|note| note.contains("Newtown") && note.contains("counts as rare")));
    let why = model.explain(&new, 100).unwrap();
    assert!(why.adds_up());
    // The file remembers it.
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.predict(&new).unwrap().items, after.items);
}

#[test]
fn a_category_that_is_called_rare_is_not_a_pool() {
    let files = ring("node_id,town,y", |node| format!("a{node},{},{}.5", ["rare", "b", "c"][node % 3], node % 2), 600);
    let nodes = fs::read_to_string(files.path().join("nodes.csv")).unwrap();
    fs::write(files.path().join("nodes.csv"), nodes.replace("a7,b", "a7,Once")).unwrap();
    let model = Spec::default().hidden(16).layers(2).epochs(2).fit(&open(files.path(), "y").unwrap()).unwrap();
    assert_eq!(model.learned().features[0].rare_level(), None);
    assert_eq!(model.learned().features[0].levels.len(), 4);
}

/// Solubility with a random test part, the model of it read from its file, and the path of that.
fn tested() -> (TempDir, PathBuf, Dataset, Model) {
    let data = Dataset::open("solubility").unwrap();
    let (split, origin) = data.parts(Some(0.3), 5).unwrap();
    assert_eq!(origin, SplitOrigin::Random(0.3));
    let spec = Spec::default().hidden(16).layers(2).epochs(5).seed(5);
    let fitted = spec.fit_watched(&split.train, Some(&split.valid), &mut |_| std::ops::ControlFlow::Continue(()));
    let model = fitted.unwrap().model.tested_on(&split.test, origin);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gnan");
    model.save(&path).unwrap();
    let model = Model::load(&path).unwrap();
    (folder, path, data, model)
}

#[test]
fn a_model_remembers_its_items() {
    let (_folder, _, data, model) = tested();
    let (split, origin) = data.parts(Some(0.3), 5).unwrap();
    assert_eq!(model.record().origin, Some(origin));
    let found = model.remembered(&data).unwrap();
    assert!(found.is_whole && found.new.is_empty());
    assert_eq!(found.split.train.items(), split.train.items());
    assert_eq!(found.split.valid.items(), split.valid.items());
    assert_eq!(found.split.test.items(), split.test.items());
    // Without being told the share, it is judged on its test items.
    let judged = Judgement::new(&model, &data, None).unwrap();
    assert_eq!((judged.part, judged.data.items()), (JudgedPart::Test, split.test.items()));
    let parts = PartMetrics::of_data(&model, &data).unwrap();
    assert_eq!(parts.items, [split.train.len(), split.valid.len(), split.test.len(), 0, 0]);
    assert_eq!(parts.test.unwrap().get(Metric::Mae), judged.metrics.get(Metric::Mae));
}

#[test]
fn other_data_are_told_from_those_trained_on() {
    let (_folder, _, data, model) = tested();
    let (split, _) = data.parts(Some(0.3), 5).unwrap();
    // A file with the same names and other molecules: nothing of it was trained on.
    let renamed: String = (data.items().iter().take(50))
        .map(|item| format!("\"{}\",{}O,{}\n", data.item_id(*item), "C".repeat(20 + *item as usize), -1.5))
        .collect();
    let files = folder(&[("m.csv", &format!("name,smiles,log_solubility\n{renamed}"))]);
    let other = Dataset::open_with(files.path().join("m.csv"), &model.data_options()).unwrap();
    let found = model.remembered(&other).unwrap();
    assert_eq!((found.split.train.len(), found.new.len(), found.is_whole), (0, 50, false));
    assert_eq!(Judgement::new(&model, &other, None).unwrap().part, JudgedPart::New);
    // Some of the training data: they are recognised, and left out of what the model is judged on.
    let some = split.train.subset(&[0, 1, 2]).union(&split.test.subset(&[0, 1]));
    let found = model.remembered(&some).unwrap();
    assert_eq!((found.split.train.len(), found.split.test.len(), found.is_whole), (3, 2, false));
    let judged = Judgement::new(&model, &some, None).unwrap();
    assert_eq!((judged.part, judged.data.len()), (JudgedPart::Test, 2));
}

#[test]
fn a_rare_class_is_judged_by_precision() {
    for (rare, usual) in [("yes", "no"), ("fraud", "honest")] {
        let class = |node: usize| if node.is_multiple_of(10) { rare } else { usual };
        let row = |node: usize| {
            format!("a{node},{},{}", if node.is_multiple_of(10) { 3 + node % 3 } else { node % 3 }, class(node))
        };
        let files = ring("node_id,x,label", row, 300);
        let data = open(files.path(), "label").unwrap();
        assert_eq!(data.task(), Task::Node);
        assert_eq!(shown_metrics(data.targets())[0], Metric::AveragePrecision);
        assert!(!shown_metrics(data.targets()).contains(&Metric::Accuracy));
        let (split, _) = data.parts(Some(0.3), 1).unwrap();
        let model = Spec::default().hidden(16).layers(2).epochs(300).learning_rate(0.02).fit(&split.train).unwrap();
        let metrics = model.evaluate(&split.test).unwrap();
        // The rare class can be told by its own value, so a good ranking has a precision of 1; whichever class comes first.
        let precision = metrics.get(Metric::AveragePrecision).unwrap();
        assert!(precision > 0.9, "{rare}: {metrics}");
        let constant = gnan::baseline::baseline(&split.train, &split.test, None).unwrap();
        assert!((constant.get(Metric::AveragePrecision).unwrap() - 0.1).abs() < 0.02, "{constant}");
        assert_eq!(Judgement::new(&model, &split.test, None).unwrap().beats_baseline(), Some(true));
    }
    let balanced = ring("node_id,x,label", |node| format!("a{node},{node},{}", ["p", "q"][node % 2]), 30);
    assert_eq!(shown_metrics(open(balanced.path(), "label").unwrap().targets())[0], Metric::Accuracy);
}
