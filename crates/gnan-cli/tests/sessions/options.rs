//! Every option of the table at a shell: in the help, on the command line, in a file, in the model, and back.

use gnan::spec::{Form, OPTIONS, SpecOption};
use serde_json::Value;

use crate::desk::{Desk, Session};

/// A value of an option that is not its default, data that it fits, and what else must be requested with it.
struct Row {
    option: &'static str,
    texts: &'static [&'static str],
    data: &'static str,
    with: &'static str,
}

const fn row(option: &'static str, texts: &'static [&'static str], data: &'static str, with: &'static str) -> Row {
    Row { option, texts, data, with }
}

const ROWS: &[Row] = &[
    row("target", &["odd"], "towns", ""),
    row("task", &["regression"], "people", "--target rank"),
    row("weight", &["importance"], "towns", ""),
    row("describe", &["degree", "environment:2@3"], "towns", ""),
    row("directed", &["false"], "towns", ""),
    row("largest-component", &["true"], "towns", ""),
    row("explicit-hydrogens", &["true"], "alkanes.csv", "--smiles-column formula"),
    row("smiles-column", &["formula"], "alkanes.csv", ""),
    row("name-column", &["node_id"], "people", ""),
    row("strict", &["true"], "alkanes.csv", "--smiles-column formula"),
    row("splits", &["splits.json"], "towns", ""),
    row("negatives", &["0.5"], "people", "--task link"),
    row("most-node-pairs", &["40"], "people", "--task link"),
    row("pair-features", &["false"], "people", "--task link"),
    row("hop-cap", &["1"], "towns", ""),
    row("far-from", &["2"], "towns", ""),
    row("ignore-unreachable", &["true"], "towns", ""),
    row("pool", &["both"], "towns", ""),
    row("direction", &["along", "against"], "towns", ""),
    row("edge-types", &["road", "rail+river"], "towns", ""),
    row("edge-weight", &["days=1,3.5"], "towns", ""),
    row("rho-group", &["both=mass,element"], "towns", ""),
    row("own-only", &["mass"], "towns", ""),
    row("neighbours-only", &["element", "mass"], "towns", ""),
    row("hop-cap-of", &["mass=1", "element=2"], "towns", ""),
    row("normalise", &["false"], "towns", ""),
    row("bins", &["4"], "towns", ""),
    row("pieces-above", &["2"], "towns", "--bins off"),
    row("shell-sample", &["2"], "people", ""),
    row("rho", &["shared"], "towns", ""),
    row("logits", &["two"], "towns", ""),
    row("layers", &["2"], "towns", ""),
    row("hidden", &["32"], "towns", ""),
    row("shape", &["spline"], "towns", ""),
    row("rho-shape", &["spline"], "towns", ""),
    row("constrain", &["mass: up, bounded 0.5"], "towns", ""),
    row("rho-monotone", &["true"], "towns", ""),
    row("readout", &["true"], "towns", ""),
    row("feature-pairs", &["1"], "towns", ""),
    row("feature-pair", &["mass,element"], "towns", ""),
    row("scale-shells", &["true"], "people", ""),
    row("select", &["path"], "towns", ""),
    row("output-bias", &["false"], "towns", ""),
    row("learning-rate", &["0.05"], "towns", ""),
    row("weight-decay", &["0.25"], "towns", ""),
    row("smooth", &["0.5"], "towns", "--shape spline"),
    row("dropout", &["0.3"], "towns", ""),
    row("epochs", &["7"], "towns", ""),
    row("fit", &["penalised"], "towns", "--choose false"),
    row("choose", &["false"], "towns", "--fit penalised"),
    row("level", &["2"], "towns", "--fit penalised --choose false"),
    row("curves", &["linear"], "towns", "--fit penalised --choose false"),
    row("family", &["gamma"], "alkanes.csv", "--smiles-column formula --fit penalised --choose false"),
    row("patience", &["3"], "towns", ""),
    row("batch", &["7"], "towns", ""),
    row("resample", &["2"], "people", "--shell-sample 2"),
    row("loss", &["absolute"], "alkanes.csv", "--smiles-column formula"),
    row("balance", &["true"], "towns", ""),
    row("seed", &["5"], "towns", ""),
];

/// Sixty graphs of directed edges with a type and a length, ninety people with a class and a rank, and some molecules.
fn desk() -> Desk {
    let desk = Desk::new();
    let (mut nodes, mut edges) =
        ("graph_id,node_id,mass,element\n".to_owned(), "graph_id,source,target,type,days\n".to_owned());
    let mut graphs = "graph_id,toxic,odd,importance\n".to_owned();
    for graph in 0..60usize {
        for node in 0..5 + graph % 3 {
            let kind = (graph * 7 + node * node) % 3;
            nodes += &format!("g{graph},n{node},{},{}\n", (graph * 13 + node * 5) % 17, ["C", "N", "O"][kind]);
            // The last node is out of reach.
            if node > 0 && node < 4 + graph % 3 {
                let kind = (graph + node) % 3;
                edges += &format!("g{graph},n{},n{node},{},{}\n", node / 2, ["road", "rail", "river"][kind], node);
            }
        }
        let toxic = ["no", "no", "yes"][(graph * 13 % 17) % 3];
        graphs += &format!("g{graph},{toxic},{},{}\n", ["no", "yes"][graph % 2], 1 + graph % 3);
    }
    desk.write("towns/nodes.csv", &nodes);
    desk.write("towns/edges.csv", &edges);
    desk.write("towns/graphs.csv", &graphs);
    desk.write("towns/towns.toml", "directed = true\ntarget = \"toxic\"\n");
    desk.people("people");
    let people = String::from_utf8(desk.read("people/nodes.csv")).unwrap();
    let ranked = people.lines().enumerate().map(|(row, line)| match row {
        0 => format!("{line},rank\n"),
        _ => format!("{line},{}\n", row % 5),
    });
    desk.write("people/nodes.csv", &ranked.collect::<String>());
    desk.write("people/people.toml", "target = \"label\"\n");
    let alkanes = (1..30).map(|size| format!("{},{}.5\n", "C".repeat(size), size * 14));
    desk.write("alkanes.csv", &format!("formula,mass\n{}", alkanes.collect::<String>()));
    let part = |part: usize| (0..60).filter(|graph| graph % 3 == part).collect::<Vec<usize>>();
    desk.write("splits.json", &format!("{{\"train\":{:?},\"valid\":{:?},\"test\":{:?}}}", part(0), part(1), part(2)));
    desk
}

/// Options that make a model small, but for the one that is looked at and what is given with it.
fn quick(row: &Row) -> Vec<String> {
    let usual = ["--epochs=3", "--hidden=16", "--layers=1"].into_iter();
    let given = |argument: &&str| !argument.starts_with(&format!("--{}=", row.option));
    usual.filter(given).chain(row.with.split_whitespace()).map(str::to_owned).collect()
}

/// Trains on the data of a row; what was written.
fn trained(desk: &Desk, row: &Row, arguments: &[String]) -> Vec<u8> {
    let line = format!("train {} --force -o model.gnan", row.data);
    let session = Session::of(desk.command(&line).args(arguments));
    assert_eq!(session.code, 0, "{} {arguments:?}:\n{}", row.option, session.stderr);
    desk.read("model.gnan")
}

/// How the value of an option is given on the command line.
fn flags(option: &SpecOption, texts: &[&str]) -> Vec<String> {
    match option.form {
        Form::Switch if texts == ["true"] => vec![format!("--{}", option.name)],
        Form::OneOr(word) if texts == [word] => vec![format!("--{}", option.name)],
        Form::List => vec![format!("--{}={}", option.name, texts.join(","))],
        _ => texts.iter().map(|text| format!("--{}={text}", option.name)).collect(),
    }
}

/// How it is given in a file.
fn toml(option: &SpecOption, texts: &[&str]) -> String {
    let quoted = texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ");
    match option.form {
        Form::List | Form::Repeat => format!("{} = [{quoted}]\n", option.name),
        _ if texts[0].parse::<f64>().is_ok() || texts[0].parse::<bool>().is_ok() => {
            format!("{} = {}\n", option.name, texts[0])
        }
        _ => format!("{} = {quoted}\n", option.name),
    }
}

/// The value of an option in a specification as JSON.
fn value<'a>(spec: &'a Value, option: &str) -> &'a Value {
    let stages = spec.as_object().expect("a specification");
    stages.values().find_map(|stage| stage.get(option)).unwrap_or_else(|| panic!("{option} is not in {spec}"))
}

#[test]
fn every_option_is_in_the_help_once() {
    let help = Desk::new().works("train --help").stdout;
    for option in OPTIONS {
        let lines = help.lines().map(str::trim_start).filter(|line| {
            line.strip_prefix(&format!("--{}", option.name)).is_some_and(|rest| rest.starts_with([' ', '[', '=']))
        });
        assert_eq!(lines.count(), 1, "{} in {help}", option.name);
    }
}

#[test]
fn every_option_counts_by_flag_by_file_and_by_what_the_model_says() {
    let desk = desk();
    for option in OPTIONS {
        let rows: Vec<&Row> = ROWS.iter().filter(|row| row.option == option.name).collect();
        assert!(!rows.is_empty(), "{} has no value to test", option.name);
        for row in rows {
            let quick = quick(row);
            let by_flag = trained(&desk, row, &[quick.clone(), flags(option, row.texts)].concat());
            let document = desk.json("inspect model.gnan");
            let usual = serde_json::to_value(gnan::Spec::default()).unwrap();
            let found = value(&document["definition"]["spec"], option.name);
            assert_ne!(found, value(&usual, option.name), "{} is not in the model", option.name);

            let arguments: Vec<String> = serde_json::from_value(document["options"].clone()).unwrap();
            assert!(arguments.iter().any(|argument| argument.starts_with(&format!("--{}", option.name))));
            assert!(trained(&desk, row, &arguments) == by_flag, "{} by {arguments:?}", option.name);

            desk.write("options.toml", &toml(option, row.texts));
            let config = ["--config".to_owned(), "options.toml".to_owned()];
            assert!(trained(&desk, row, &[quick, config.to_vec()].concat()) == by_flag, "{} by file", option.name);
        }
    }
}

#[test]
fn what_is_tried_differs_and_does_not_depend_on_the_order() {
    let desk = Desk::new();
    let losses = |values: &str| {
        let line =
            format!("evaluate solubility --folds 2 --epochs 3 --hidden 16 --try pool={values} --journal {values}");
        let document = desk.json(&line);
        let tried = document["tried"].as_array().expect("trials").iter();
        let mut losses: Vec<(String, u64, String)> = tried
            .map(|trial| {
                let candidate = trial["candidate"].as_str().expect("its options").to_owned();
                (candidate, trial["fold"].as_u64().expect("its fold"), trial["valid_loss"].to_string())
            })
            .collect();
        losses.sort();
        losses
    };
    let found = losses("sum,mean");
    assert_eq!(found.len(), 4);
    // Sorted: mean on both folds, then sum on both.
    assert!(found[0].0.contains("mean") && found[2].0.contains("sum"), "{found:?}");
    assert!((0..2).all(|fold| found[fold].2 != found[fold + 2].2), "{found:?}");
    assert_eq!(found, losses("mean,sum"));
}
