//! Model files are for ever: every file of an earlier format version that was ever written is read, and predicts, explains and
//! exports what it did when it was made.
//!
//! The files, and what the build that wrote them made of them, are under `models/v1` and `models/v2`; a `README.md` there says
//! how they came about. A file that is put there is tested, without a line here.

use std::fs;
use std::path::{Path, PathBuf};

use gnan::bootstrap::Replicates;
use gnan::model::BEFORE_READOUT;
use gnan::{Dataset, Intervals, Model};
use serde_json::{Value as Json, json};

/// Numbers agree to this, relative to the larger of 1 and the number. Outputs are f32.
const TOLERANCE: f64 = 1e-6;
/// How many models, replicates and tables there are at least, so that files that are lost are missed.
const MODELS: usize = 21 + 9;
const REPLICATES: usize = 1 + 1;
const TABLES: usize = 5 + 1;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

/// The files of earlier versions whose names end so, and their names (behind their version) without that, in order.
fn files(ending: &str) -> Vec<(String, PathBuf)> {
    let entries = |version: &str| fs::read_dir(folder().join(version)).expect("the folder of a version");
    let all = ["v1", "v2"].into_iter().flat_map(|version| entries(version).map(move |entry| (version, entry)));
    let named = all.map(|(version, entry)| (version, entry.expect("an entry").path())).filter_map(|(version, path)| {
        let name = path.file_name()?.to_str()?.strip_suffix(ending)?.to_owned();
        Some((format!("{version}/{name}"), path))
    });
    let mut files: Vec<(String, PathBuf)> = named.collect();
    files.sort();
    files
}

fn load(name: &str) -> Model {
    Model::load(folder().join(format!("{name}.gnan"))).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn read_json(path: &Path) -> Json {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn agree(expected: f64, found: f64) -> bool {
    (expected - found).abs() <= TOLERANCE * expected.abs().max(1.0)
}

/// Demands everything that is expected, numbers within the tolerance; what was added since is no difference.
fn compare(place: &str, expected: &Json, found: &Json) {
    match (expected, found) {
        (Json::Number(expected), Json::Number(found)) => {
            let (expected, found) = (expected.as_f64().expect("a number"), found.as_f64().expect("a number"));
            assert!(agree(expected, found), "{place}: {found}, not {expected}");
        }
        (Json::Array(expected), Json::Array(found)) => {
            assert_eq!(expected.len(), found.len(), "{place}: how many there are");
            for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
                compare(&format!("{place}[{number}]"), expected, found);
            }
        }
        (Json::Object(expected), Json::Object(found)) => {
            for (key, expected) in expected {
                let found = found.get(key).unwrap_or_else(|| panic!("{place} has no {key} any more"));
                compare(&format!("{place}.{key}"), expected, found);
            }
        }
        // The one name in tables that was changed: that of the sum that a readout takes.
        (Json::String(before), Json::String(now)) if before == "heard" => assert_eq!(now, BEFORE_READOUT, "{place}"),
        _ => assert_eq!(expected, found, "{place}"),
    }
}

/// The data that a recorded file names, opened as the model remembers them.
fn open(model: &Model, recorded: &Json) -> Dataset {
    let data = folder().join("data").join(recorded["data"].as_str().expect("the name of the data"));
    Dataset::open_with(&data, &model.data_options()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn predictions_are_what_they_were() {
    let models = files(".gnan");
    assert!(models.len() >= MODELS, "{} models of {MODELS}", models.len());
    for (name, path) in models {
        let model = load(&name);
        let recorded = read_json(&path.with_extension("predictions.json"));
        let predictions = model.predict(&open(&model, &recorded)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let items = predictions.items.iter();
        let found = items.map(|item| json!({ "id": item.id, "outputs": item.outputs, "classes": item.classes }));
        compare(&name, &recorded["items"], &found.collect());
    }
}

#[test]
fn explanations_add_up() {
    for (name, path) in files(".gnan") {
        let model = load(&name);
        let data = open(&model, &read_json(&path.with_extension("predictions.json")));
        let adds_up = match model.readout_curves().is_empty() {
            true => model.explain(&data, 0).map(|explanation| explanation.adds_up()),
            false => model.explain_readout(&data, &[0]).map(|found| found.iter().all(|both| both.adds_up())),
        };
        assert!(adds_up.unwrap_or_else(|error| panic!("{name}: {error}")), "{name}");
    }
}

#[test]
fn replicates_give_the_same_bands() {
    let replicates = files(".bootstrap");
    assert!(replicates.len() >= REPLICATES, "{} files of replicates of {REPLICATES}", replicates.len());
    for (name, path) in replicates {
        let model = load(&name);
        let found = Replicates::load(&path, &model).and_then(|replicates| Intervals::new(&model, &replicates));
        let Intervals { resamples, points, structure, importance, .. } =
            found.unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = json!({
            "resamples": resamples, "points": points.features, "structure": structure, "importance": importance.by_feature,
        });
        let mut recorded = read_json(&path.with_extension("bands.json"));
        // At the time rho was 1 where it was largest, and shapes were those at that distance.
        for scaled in ["rho", "shapes"] {
            recorded.as_object_mut().expect("bands").remove(scaled).expect("bands");
        }
        compare(&name, &recorded, &found);
    }
}

#[test]
fn tables_are_what_they_were() {
    let (documents, lists) = (files(".tables.json"), files(".tables.csv"));
    let count = documents.len() + lists.len();
    assert!(count >= TABLES, "{count} exported models of {TABLES}");
    for (name, path) in documents {
        let found = load(&name).tables().json().expect("tables");
        let (mut recorded, mut found) = (read_json(&path), serde_json::from_slice(&found).expect("JSON"));
        compare(&format!("{name}, products"), &products(&recorded), &products(&found));
        [&mut recorded, &mut found].into_iter().for_each(remove_scale);
        compare(&name, &recorded, &found);
    }
    for (name, path) in lists {
        let found = load(&name).tables().csv().expect("tables");
        compare(&name, &rows(&fs::read(path).expect("a table")), &rows(&found));
    }
}

/// The effect of every level, and of every curve at its knots, at every point of its rho by every lens: what does not depend
/// on where rho is 1.
fn products(tables: &Json) -> Json {
    let rows = |json: &Json| -> Vec<Vec<f64>> { serde_json::from_value(json.clone()).expect("rows of numbers") };
    let list = |json: &Json| json.as_array().cloned().unwrap_or_default();
    let rhos: Vec<Vec<Vec<f64>>> = list(&tables["rho"]).iter().map(|rho| rows(&rho["values"])).collect();
    let per_lens = tables["rhos_per_lens"].as_u64().expect("a number") as usize;
    let product = |values: &[f64], rho: &Json| -> Json {
        let rho = rho.as_u64().expect("the number of a rho") as usize;
        let by_lens = rhos[rho..].iter().step_by(per_lens).flatten();
        by_lens.map(|row| row.iter().zip(values).map(|(rho, value)| rho * value).collect::<Json>()).collect()
    };
    let mut found = Vec::new();
    for feature in list(&tables["features"]) {
        for level in list(&feature["levels"]) {
            found.push(product(&rows(&json!([level["values"]]))[0], &level["rho"]));
        }
        if feature["curve"].is_object() {
            found.extend(rows(&feature["curve"]["values"]).iter().map(|values| product(values, &feature["rho"])));
        }
    }
    assert!(!found.is_empty());
    json!(found)
}

/// Leaves out of tables what depends on where rho is 1.
fn remove_scale(tables: &mut Json) {
    tables["version"].take();
    tables["rho"].as_array_mut().expect("rhos").iter_mut().for_each(|rho| drop(rho["values"].take()));
    for feature in tables["features"].as_array_mut().expect("features") {
        feature["curve"].take();
        feature["levels"].as_array_mut().expect("levels").iter_mut().for_each(|level| drop(level["values"].take()));
    }
}

/// Tables of the CSV form whose numbers depend on where rho is 1; "effect" was added.
const SCALED: [&str; 9] =
    ["rho", "level", "missing", "knot", "bend p", "bend q", "left slope", "right slope", "effect"];

/// The rows of a CSV table that do not depend on where rho is 1, cells by their columns, numbers where they can be.
fn rows(text: &[u8]) -> Json {
    let mut reader = csv::Reader::from_reader(text);
    let columns: Vec<String> = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    let cell = |cell: &str| cell.parse().map_or_else(|_| json!(cell), |number: f64| json!(number));
    let rows = reader.records().map(|row| row.expect("a row")).filter(|row| !SCALED.contains(&&row[0]));
    rows.map(|row| columns.iter().cloned().zip(row.iter().map(cell)).collect::<Json>()).collect()
}
