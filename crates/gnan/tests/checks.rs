//! Checks of models on planted data: what is right passes, what is planted wrong is found, and odd data end in an error or in
//! finite numbers.

use gnan::internals::random::Stream;
use gnan::spec::FitMethod;
use gnan::{Dataset, DatasetOptions, Model, ModelCheck, Spec};

fn penalised() -> Spec {
    Spec::default().method(FitMethod::Penalised).choose(false)
}

/// A data set of the given tables, whose target is `y`.
fn opened(tables: &[(&str, String)]) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in tables {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
    Dataset::open_with(folder.path(), &options).unwrap()
}

/// Chains of three to eight nodes with a size and another that is nearly the same, or not at all; the target comes from the sizes.
fn chains(graphs: usize, alike: f64, target: impl Fn(f64, &mut Stream) -> String) -> Dataset {
    let mut random = Stream::named(11, "checks", 0);
    let mut nodes = "graph_id,node_id,size,twin\n".to_owned();
    let mut edges = "graph_id,source,target\n".to_owned();
    let mut table = "graph_id,y\n".to_owned();
    for graph in 0..graphs {
        let count = 3 + random.below(6);
        let mut sum = 0.0;
        for node in 0..count {
            let size = random.normal();
            let twin = alike * size + (1.0 - alike * alike).max(0.0).sqrt() * random.normal();
            nodes.push_str(&format!("g{graph},n{node},{size:.3},{twin:.3}\n"));
            if node > 0 {
                edges.push_str(&format!("g{graph},n{node},n{}\n", node - 1));
            }
            sum += size + 0.5 * twin;
        }
        table.push_str(&format!("g{graph},{}\n", target(sum, &mut random)));
    }
    opened(&[("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", table)])
}

fn class(sum: f64, random: &mut Stream) -> String {
    ["no", "yes"][usize::from(1.0 / (1.0 + (-sum).exp()) > random.uniform())].to_owned()
}

fn checked(model: &Model, data: &Dataset) -> ModelCheck {
    let check = ModelCheck::new(model, data, None).unwrap();
    let text = serde_json::to_string(&check).unwrap();
    // Numbers that are not finite would be written as null.
    assert!(!text.contains("\"sd\":null") && !text.contains("\"k_index\":null") && !text.contains("\"by_all\":null"));
    check
}

#[test]
fn a_calibrated_model_passes_and_one_that_is_too_sure_does_not() {
    let data = chains(900, 0.0, class);
    let (train, test) = data.split(0.5, 3).unwrap();
    let model = penalised().fit(&train).unwrap();
    let check = checked(&model, &test);
    let calibration = check.calibration.as_ref().unwrap();
    assert!(calibration.fine && calibration.groups.len() == 10, "{calibration:#?}");
    let [low, high] = calibration.slope_interval.unwrap();
    assert!(low < 1.0 && 0.7 < high && calibration.error < 0.12, "{calibration:#?}");
    assert!(check.residuals.fine && (check.residuals.sd - 1.0).abs() < 0.15, "{}", check.residuals.sentence);
    assert!(check.concurvity.as_ref().unwrap().fine);
    // The same items with classes of no relation to their nodes.
    let other = chains(900, 0.0, |_, random| class(0.0, random));
    let check = checked(&model, &other);
    let calibration = check.calibration.unwrap();
    assert!(!calibration.fine && calibration.slope_interval.unwrap()[1] < 1.0, "{calibration:#?}");
    assert!(calibration.sentence.contains("too extreme"), "{}", calibration.sentence);
}

#[test]
fn a_duplicated_feature_is_found_by_concurvity() {
    let quantity = |sum: f64, random: &mut Stream| format!("{:.3}", sum + random.normal());
    let data = chains(300, 1.0, quantity);
    let check = checked(&penalised().fit(&data).unwrap(), &data);
    let concurvity = check.concurvity.unwrap();
    let worst = &concurvity.rows[0];
    assert!(!concurvity.fine && worst.by_all > 0.95 && worst.by_nearest > 0.95, "{concurvity:#?}");
    assert!(["size", "twin"].contains(&worst.name.as_str()) && ["size", "twin"].contains(&worst.nearest.as_str()));
    let data = chains(300, 0.0, quantity);
    let check = checked(&penalised().fit(&data).unwrap(), &data);
    assert!(check.concurvity.as_ref().unwrap().fine && check.residuals.fine, "{check:#?}");
    assert!(check.basis.as_ref().unwrap().fine, "{:#?}", check.basis);
    assert!(check.calibration.is_none());
}

/// Nodes of one chain; the target is a wave over the value of the node itself.
fn wave(frequency: f64) -> Dataset {
    let mut random = Stream::named(5, "wave", 0);
    let mut nodes = "node_id,x,y\n".to_owned();
    let mut edges = "source,target\n".to_owned();
    for node in 0..500 {
        let x = random.uniform();
        nodes.push_str(&format!("n{node},{x:.4},{:.4}\n", (frequency * x).sin() + 0.2 * random.normal()));
        if node > 0 {
            edges.push_str(&format!("n{node},n{}\n", node - 1));
        }
    }
    opened(&[("nodes.csv", nodes), ("edges.csv", edges)])
}

/// 10 coefficients follow one wave and not thirteen.
#[test]
fn a_curve_with_too_few_knots_is_found() {
    let of = |frequency: f64| {
        let data = wave(frequency);
        let check = checked(&penalised().hop_cap(1).fit(&data).unwrap(), &data);
        check.basis.unwrap()
    };
    let basis = of(80.0);
    let worst = &basis.rows[0];
    assert!(!basis.fine && worst.name == "x at distance 0" && worst.k_index < 0.7, "{basis:#?}");
    assert!(worst.coefficients.is_some() && worst.edf.is_some() && worst.knots == Some(8), "{worst:?}");
    assert_eq!(of(80.0), basis);
    let smooth = of(6.0);
    assert!(smooth.fine, "{smooth:#?}");
}

#[test]
fn odd_data_end_in_an_error_or_in_finite_numbers() {
    let data = chains(40, 0.0, class);
    let model = penalised().fit(&data).unwrap();
    for few in [0, 1, 2] {
        let positions: Vec<usize> = (0..few).collect();
        let error = ModelCheck::new(&model, &data.subset(&positions), None).unwrap_err().to_string();
        assert!(error.contains("known target"), "{error}");
    }
    checked(&model, &data.subset(&[0, 1, 2]));
    // Every node and graph is the same: all predictions are.
    let (mut nodes, mut edges, mut table) =
        ("graph_id,node_id,size\n".to_owned(), "graph_id,source,target\n".to_owned(), "graph_id,y\n".to_owned());
    for graph in 0..30 {
        nodes.push_str(&format!("g{graph},a,1\ng{graph},b,1\n"));
        edges.push_str(&format!("g{graph},a,b\n"));
        table.push_str(&format!(
            "g{graph},{}\n",
            if graph % 5 == 4 { String::new() } else { format!("{}.5", graph % 7) }
        ));
    }
    let same = opened(&[("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", table)]);
    let check = checked(&penalised().fit(&same).unwrap(), &same);
    assert!(check.concurvity.is_none() && check.left_out.len() == 2, "{check:#?}");
    // Missing targets are left out.
    assert!(check.residuals.count <= 24, "{}", check.residuals.count);
}
