//! The whole walk: look at the data, train, evaluate, predict, inspect.

use crate::desk::Desk;

const QUICK: &str = "--epochs 150 --hidden 16 --layers 2 --learning-rate 0.01";

#[test]
fn graphs_from_tables_to_predictions() {
    let desk = Desk::new();
    desk.molecules("molecules");
    desk.works("data info molecules").shows("60").shows("element").shows("categorical").shows("target toxic");
    let info = desk.json("data info molecules");
    assert_eq!((&info["graphs"], &info["task"]), (&60.into(), &"graph".into()));

    let session = desk.works(&format!("train molecules {QUICK} --test-share 0.2"));
    session.shows("trained on molecules").shows("accuracy").shows("baseline (largest class)").shows("wrote model.gnan");
    assert!(desk.exists("model.gnan"));

    let evaluation = desk.json(&format!("evaluate molecules --folds 3 {QUICK}"));
    assert!(evaluation["metrics"]["accuracy"]["mean"].as_f64().unwrap() > 0.9, "{evaluation}");
    assert!(evaluation["metrics"]["accuracy"]["std"].is_number());
    assert_eq!(evaluation["folds"].as_array().unwrap().len(), 3);
    desk.works(&format!("evaluate molecules --folds 3 --seeds 2 {QUICK}"))
        .shows("mean")
        .shows("± std")
        .shows("baseline");

    let predictions = desk.works("predict model.gnan molecules").shows("id,class,probability:no,probability:yes\n");
    assert_eq!(predictions.stdout.lines().count(), 61);
    predictions.says("accuracy");

    desk.works("inspect model.gnan").shows("toxic of graphs").shows("element").shows("format version 3");
    let inside = desk.json("inspect model.gnan");
    assert_eq!(inside["definition"]["learned"]["task"], "graph");
    assert_eq!(inside["format_version"], 3);
}

#[test]
fn nodes_from_tables_to_predictions() {
    let desk = Desk::new();
    desk.people("people");
    desk.works("data info people").shows("nodes").shows("target label").shows("80 labelled").shows("young");
    let training = desk.json(&format!("train people -o people.gnan {QUICK}"));
    assert!(training["metrics"]["validation"]["accuracy"].as_f64().unwrap() > 0.6, "{training}");
    let lines = desk.works("predict people.gnan people --json").stdout;
    assert_eq!(lines.lines().count(), 90);
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["id"], &first["class"]), (&"p0".into(), &"young".into()));
    let sum: f64 = first["probabilities"].as_object().unwrap().values().map(|p| p.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-6);
    desk.works("inspect people.gnan").shows("label: grown, old, young").shows("label of nodes");
}

#[test]
fn a_table_of_molecules_with_its_split() {
    let desk = Desk::new();
    let mut table = "name,smiles,weight,split\n".to_owned();
    for size in 1..40usize {
        table.push_str(&format!(
            "m{size},{},{}.5,{}\n",
            "C".repeat(size),
            size * 14,
            ["train", "train", "test"][size % 3]
        ));
    }
    desk.write("alkanes.csv", &table);
    let training = desk.json(&format!("train alkanes.csv {QUICK}"));
    assert_eq!(training["data"]["test"], 13);
    assert!(training["metrics"]["test"]["r2"].is_number());
    assert!(training["metrics"]["baseline"]["mae"].is_number());
    assert_eq!(training["record"]["resolved"]["fit"]["loss"], "squared");
    assert_eq!(training["options"]["spec"]["model"]["hidden"], 16);
    let predictions = desk.works("predict model.gnan alkanes.csv --format jsonl").stdout;
    let first: serde_json::Value = serde_json::from_str(predictions.lines().next().unwrap()).unwrap();
    assert!(first["values"]["weight"].is_number(), "{first}");
    desk.works("evaluate alkanes.csv --epochs 5").shows("1 given split");
}

#[test]
fn several_targets_at_once() {
    let desk = Desk::new();
    desk.molecules("molecules");
    let graphs = String::from_utf8(desk.read("molecules/graphs.csv")).unwrap();
    let rows = graphs.lines().enumerate().map(|(row, line)| match row {
        0 => format!("{line},odd,size\n"),
        _ => format!("{line},{},{}.5\n", ["no", "yes"][row % 2], 3 + (row - 1) % 5),
    });
    desk.write("molecules/graphs.csv", &rows.collect::<String>());
    desk.works(&format!("train molecules --target toxic,odd {QUICK}"));
    desk.works("predict model.gnan molecules").shows("id,toxic,probability:toxic,odd,probability:odd\n");
    let lines = desk.works("predict model.gnan molecules --json").stdout;
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert!(first["classes"]["odd"].is_string() && first["probabilities"]["toxic"].is_number(), "{first}");
    desk.works(&format!("train molecules --target size {QUICK} -o size.gnan"));
    desk.works("predict size.gnan molecules").shows("id,size\n");
    desk.gnan("train molecules -o other.gnan").expect(2).says("--target").says("toxic, odd, size");
}
