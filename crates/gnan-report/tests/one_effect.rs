//! One effect is one number: in the figure of effects, in the heatmap, in the overview, in the exported tables, and in words.

use std::fmt::Write as _;

use gnan::explain::{Canonical, Explainer, FeatureValue, Overview};
use gnan::spec::RhoChoice;
use gnan::{Dataset, DatasetOptions, Model, Spec, Task};
use gnan_report::bands::Bands;
use gnan_report::figure::table::{FigureCell, FigureTable};
use gnan_report::model_figures::{Figure, ModelFigures};
use gnan_report::prediction_figures::waterfall;
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

/// One graph of 240 nodes with the same features, of which those of one kind are seldom labelled, and edges of two types.
fn people(folder: &std::path::Path, seed: usize, classes: bool) -> Dataset {
    let (mut nodes, mut edges) = ("node_id,kind,size,marked,y\n".to_owned(), "source,target,type\n".to_owned());
    for node in 0..240usize {
        let (kind, size, marked) = ((node * 7 + seed) % 3, (node * 13 % 50) as f64 / 10.0, usize::from(node % 4 == 0));
        let y = [1.0, -0.7, 0.1][kind] + 0.2 * size - marked as f64;
        let labelled = kind != 1 || node % 5 == 0;
        let y = match (labelled, classes) {
            (false, _) => String::new(),
            (true, true) => ["low", "high", "top"][((y + 2.0) / 1.4).clamp(0.0, 2.0) as usize].to_owned(),
            (true, false) => format!("{y}"),
        };
        writeln!(nodes, "n{node},{},{size},{marked},{y}", ["a", "b", "c"][kind]).unwrap();
        writeln!(edges, "n{node},n{},road", (node + 1) % 240).unwrap();
        writeln!(edges, "n{node},n{},rail", (node * 7 + 3) % 240).unwrap();
    }
    std::fs::write(folder.join("nodes.csv"), nodes).unwrap();
    std::fs::write(folder.join("edges.csv"), edges).unwrap();
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
    check_distances(canonical, &overview);
    check_own_values(model, data);
    check_words(model, data, &overview);
}

/// Effects at any distance are those at the anchor times the influence there, wherever an influence is shown.
fn check_distances(canonical: &Canonical, overview: &Overview) {
    for (k, feature) in overview.features.iter().enumerate() {
        let influence = &overview.rho[canonical.rho_of(k, 0)];
        assert_eq!(canonical.is_separable(k), influence.anchor.is_some() && !canonical.has_level_rhos(k));
        for level in feature.levels.iter().filter(|_| canonical.is_separable(k)) {
            let effects = canonical.effects(k, level.point(feature.kind).value());
            for (slot, effects) in effects.iter().enumerate() {
                for (c, effect) in effects.iter().enumerate() {
                    let product = level.values[c] * influence.values[slot][c];
                    assert!(
                        (product - effect).abs() < 1e-6 * (1.0 + effect.abs()),
                        "{}: {product} {effect}",
                        feature.name
                    );
                }
            }
        }
        // Where there is none, effects by distance stand in its place.
        for curve in &feature.effects_by_distance {
            let axis = canonical.axis();
            let is_by = |lens: &usize| curve.name.ends_with(&format!(", {}", axis.lens_name(*lens)));
            let slot = axis.range((0..axis.lenses()).find(is_by).unwrap_or(0)).start;
            let name = curve.name.split(": ").nth(1).unwrap().split([' ', ',']).next().unwrap();
            let Some(level) = feature.levels.iter().find(|level| level.name == name) else { continue };
            let effect = canonical.effects(k, level.point(feature.kind).value())[slot][curve.output];
            assert!(curve.values[0].is_none_or(|value| (value - effect).abs() < 1e-9), "{}", curve.name);
        }
    }
}

/// The bar of a node's own value has the effect of that value by every lens, and bars add up.
fn check_own_values(model: &Model, data: &Dataset) {
    if data.task() != Task::Node {
        return;
    }
    let explainer = Explainer::new(model, data).unwrap();
    let canonical = explainer.canonical();
    for position in 0..12 {
        let why = explainer.explain(&[position]).unwrap().remove(0);
        let table = waterfall(model.definition(), &why, 0).content.table();
        let axis = canonical.axis();
        let (mut bars, mut found) = (0.0, 0);
        for row in &table.rows {
            let numbers = row.iter().filter_map(|cell| match cell {
                FigureCell::Number(value) => Some(*value),
                _ => None,
            });
            let FigureCell::Words(name) = &row[0] else { panic!("a step has a name") };
            let value = numbers.clone().next().unwrap();
            if name != "base" && name != "prediction" {
                bars += value;
            }
            let Some(own) = name.strip_prefix("kind = ") else { continue };
            let level = own.split(" (").next().unwrap();
            let lens =
                (0..axis.lenses()).find(|lens| own.ends_with(&format!("({})", axis.lens_name(*lens)))).unwrap_or(0);
            let effect = canonical.effect(0, FeatureValue::Level(level), axis.range(lens).start)[0];
            assert!((value - effect).abs() < 1e-6 * (1.0 + effect.abs()), "{name}: {value} {effect}");
            found += 1;
        }
        assert_eq!(found, axis.lenses(), "{table:?}");
        let expected = why.total(0) - why.reference_base(0);
        assert!((bars - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{bars} {expected}");
    }
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

/// The same of nodes, with one lens and with one for each type of edges.
#[test]
fn own_values_have_the_effects_of_the_figures() {
    for seed in 0..4 {
        for classes in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let data = people(folder.path(), seed, classes);
            let rho = [RhoChoice::Shared, RhoChoice::PerFeature][seed % 2];
            let spec = Spec::default().epochs(40).hidden(16).layers(2).rho(rho).seed(seed as u64);
            let types = ["road".parse().unwrap(), "rail".parse().unwrap()];
            let spec = if seed > 1 { spec.edge_types(types.to_vec()) } else { spec };
            check(&spec.fit(&data).unwrap(), &data);
        }
    }
}
