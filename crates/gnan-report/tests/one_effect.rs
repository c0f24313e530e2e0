//! One effect is one number: in the figure of effects, in the heatmap, in the overview, in the exported tables, and in words.

use std::fmt::Write as _;

use gnan::explain::{Explainer, Overview};
use gnan::spec::RhoChoice;
use gnan::{Dataset, DatasetOptions, Model, Spec};
use gnan_report::bands::Bands;
use gnan_report::figure::table::{FigureCell, FigureTable};
use gnan_report::model_figures::{Figure, ModelFigures};
use gnan_report::report::Report;

/// Graphs of five to nine nodes with a category, a number and a flag, and a target that follows from them.
fn data(folder: &std::path::Path, seed: usize, classes: bool) -> Dataset {
    let (mut nodes, mut edges) =
        ("graph_id,node_id,kind,size,marked\n".to_owned(), "graph_id,source,target\n".to_owned());
    let mut graphs = "graph_id,y\n".to_owned();
    let mut state = 12345 + 7919 * seed as u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for graph in 0..120 {
        let mut y = 0.0;
        let count = 5 + random(5);
        for node in 0..count {
            let (kind, size, marked) = (random(3), random(50) as f64 / 10.0, random(4) / 3);
            y += [1.0, -0.7, 0.1][(kind as usize + seed) % 3]
                + 0.2 * size * if seed.is_multiple_of(2) { 1.0 } else { -1.0 }
                - marked as f64;
            writeln!(nodes, "g{graph},n{node},{},{size},{marked}", ["a", "b", "c"][kind as usize]).unwrap();
            if node > 0 {
                writeln!(edges, "g{graph},n{},n{node}", random(node)).unwrap();
            }
        }
        let y = if classes {
            ["low", "high", "top"][((y + 9.0) / 6.0).clamp(0.0, 2.0) as usize].to_owned()
        } else {
            format!("{y}")
        };
        writeln!(graphs, "g{graph},{y}").unwrap();
    }
    for (name, text) in [("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", graphs)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
    Dataset::open_with(folder, &options).unwrap()
}

/// The number of a row that has these words, in the column of this name.
fn find(table: &FigureTable, words: &[&str], column: &str) -> Option<f64> {
    let place = table.header.iter().position(|name| name == column)?;
    let has = |row: &&Vec<FigureCell>| words.iter().all(|word| row.contains(&FigureCell::Words((*word).to_owned())));
    match table.rows.iter().find(has)?[place] {
        FigureCell::Number(value) => Some(value),
        _ => None,
    }
}

fn check(model: &Model, data: &Dataset) {
    let explainer = Explainer::new(model, data).unwrap();
    let overview = explainer.overview().unwrap();
    let canonical = explainer.canonical();
    let figures = ModelFigures::new(canonical, &overview, Bands::default());
    let [effects, heatmap] =
        [figures.effects(), figures.features_by_distance()].map(|figure: Figure| figure.content.table());
    let json: serde_json::Value = serde_json::from_slice(&overview.json().unwrap()).unwrap();
    let tables: serde_json::Value = serde_json::from_slice(&model.tables().json().unwrap()).unwrap();
    let definition = model.definition();
    let outputs = &overview.shown_outputs;
    let mut compared = 0;
    for (k, feature) in overview.features.iter().enumerate() {
        let anchor = canonical.axis().key(canonical.anchor(k));
        for (place, level) in feature.levels.iter().enumerate() {
            let exported: Vec<f64> = tables["features"][k]["levels"][place]["effect"]
                .as_array()
                .unwrap()
                .iter()
                .map(|x| x.as_f64().unwrap())
                .collect();
            let exported = definition.shown(&exported);
            for (c, output) in outputs.iter().enumerate() {
                let expected = canonical.effect(k, level.point(feature.kind).value(), canonical.anchor(k))[c];
                let mut place_words: Vec<&str> = if outputs.len() > 1 { vec![output] } else { Vec::new() };
                let name = if feature.levels.len() > 1 {
                    format!("{}: {}", feature.name, level.name)
                } else {
                    feature.name.clone()
                };
                place_words.extend([name.as_str(), &anchor]);
                let in_heatmap = find(&heatmap, &place_words, "value").unwrap_or_else(|| panic!("{place_words:?}"));
                let shape_name = if feature.own_value {
                    feature.name.clone()
                } else {
                    format!("{} ({})", feature.name, feature.anchor)
                };
                let mut words = vec![shape_name.as_str()];
                words.extend((feature.levels.len() > 1).then_some(level.name.as_str()));
                words.extend((outputs.len() > 1).then_some(output.as_str()));
                let in_figure = find(&effects, &words, "effect").unwrap_or_else(|| panic!("{words:?}"));
                let in_json = json["features"][k]["levels"][place]["values"][c].as_f64().unwrap();
                for (what, found) in
                    [("heatmap", in_heatmap), ("figure", in_figure), ("JSON", in_json), ("export", exported[c])]
                {
                    assert!(
                        (found - expected).abs() < 1e-6 * (1.0 + expected.abs()),
                        "{what}, {name}: {found}, not {expected}"
                    );
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 3);
    check_words(model, data, &overview);
}

/// What the first sentences of a report say of levels has the sign of their effects.
fn check_words(model: &Model, data: &Dataset, overview: &Overview) {
    let report = Report {
        model,
        data,
        bands: Bands::default(),
        test_share: None,
        wanted: Vec::new(),
        palette: gnan_report::Palette::default(),
        model_name: "model.gnan",
        data_name: "data",
        train_command: String::new(),
        options: String::new(),
    };
    let page = report.html().unwrap();
    let list = page.split("<ul>").nth(1).and_then(|rest| rest.split("</ul>").next()).expect("sentences");
    let mut seen = 0;
    for feature in &overview.features {
        for level in &feature.levels {
            for verb in ["raises", "lowers"] {
                let subject = if feature.levels.len() > 1 {
                    format!(" {} {verb} ", level.name)
                } else {
                    format!("{}: a node that has it {verb} ", feature.name)
                };
                let Some(sentence) = list.split("<li>").find(|sentence| {
                    sentence.starts_with(&format!("{}: ", feature.name))
                        || sentence.starts_with(&format!("{} (", feature.name))
                }) else {
                    continue;
                };
                let Some((_, rest)) = sentence.split_once(&subject) else { continue };
                // Of several outputs, the one that is moved most.
                let most = level.values.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
                assert_eq!(most > 0.0, verb == "raises", "{sentence}: {:?}", level.values);
                let amount = rest.split(" by ").nth(1).unwrap();
                let digits: String = amount.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
                let shown: f64 = digits.trim_end_matches('.').parse().unwrap();
                assert!((shown - most.abs()).abs() <= 0.06 * most.abs(), "{sentence}: {most}");
                seen += 1;
            }
        }
    }
    assert!(seen > 0, "{list}");
}

#[test]
fn an_effect_is_the_same_number_everywhere() {
    for seed in 0..4 {
        for classes in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let data = data(folder.path(), seed, classes);
            let rho = [RhoChoice::Shared, RhoChoice::PerFeature][seed % 2];
            let spec = Spec::default().epochs(60).hidden(16).layers(2).rho(rho).seed(seed as u64);
            let spec = if seed == 3 { spec.neighbours_only(vec!["kind".to_owned()]) } else { spec };
            check(&spec.fit(&data).unwrap(), &data);
        }
    }
}
