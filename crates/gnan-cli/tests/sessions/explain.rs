//! Explanations at the shell: the whole model, single predictions, ledgers that add up in every form.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::desk::{Desk, Session};

const QUICK: &str = "--epochs 30 --hidden 16 --layers 2";

fn desk_with_model() -> Desk {
    let desk = Desk::new();
    desk.molecules("molecules");
    desk.works(&format!("train molecules {QUICK}"));
    desk
}

fn desk_with_people() -> Desk {
    let desk = Desk::new();
    desk.people("people");
    desk.works(&format!("train people -o people.gnan {QUICK}"));
    desk
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// All numbers in a table, and in the tables in it.
fn sum(value: &Value) -> f64 {
    value.as_object().map_or_else(|| number(value), |table| table.values().map(sum).sum())
}

fn size(value: &Value) -> f64 {
    value.as_object().map_or_else(|| number(value).abs(), |table| table.values().map(size).sum())
}

/// Every marginal of every output, with base and structure, is the prediction.
#[track_caller]
fn assert_adds_up(document: &Value, marginals: usize) {
    let outputs = document["outputs"].as_object().expect("outputs");
    assert!(!outputs.is_empty());
    for (name, parts) in outputs {
        let rest = number(&parts["base"]) + number(&parts["structure"]);
        // Structure and features are differences from the average item, the other parts are not.
        let average = &parts["average_item"];
        let [structure, features] = match average.is_object() {
            true => [number(&average["structure"]), sum(&average["by_feature"])],
            false => [0.0, 0.0],
        };
        // Parts by node and feature need not be there, and the weakest nodes of a large graph are not.
        let parts_listed = if parts["by_node_and_feature"].is_object() { "by_node_and_feature" } else { "by_node" };
        let whole = number(&parts["base"]).abs() + size(&parts["structure_by_distance"]) + size(&parts[parts_listed]);
        let other_nodes = parts["other_nodes"]["sum"].as_f64().unwrap_or(0.0);
        let tolerated = 1e-5 * whole.max(1.0);
        let by: Vec<&String> = parts.as_object().unwrap().keys().filter(|key| key.starts_with("by_")).collect();
        assert_eq!(by.len(), marginals, "{by:?}");
        for marginal in by {
            let average = if marginal == "by_feature" { 0.0 } else { features };
            let unlisted = if marginal == "by_node" { other_nodes } else { 0.0 };
            let miss = (rest + sum(&parts[marginal]) + unlisted - average - number(&parts["prediction"])).abs();
            assert!(miss <= tolerated, "{name}, {marginal}: off by {miss}");
        }
        assert!((number(&parts["total"]) - number(&parts["prediction"])).abs() <= tolerated);
        assert!((sum(&parts["structure_by_distance"]) - structure - number(&parts["structure"])).abs() <= tolerated);
    }
    assert_eq!(document["adds_up"], true);
}

/// Every ledger in the text adds up as printed, and ends in prediction of the model; how many there are.
#[track_caller]
fn assert_ledgers_add_up(text: &str) -> usize {
    let mut ledgers = 0;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.trim_start().starts_with("base ") {
            continue;
        }
        // In every line of a ledger the first number with a sign is the amount.
        let hundredths = |line: &str| {
            let amount = line.split_whitespace().find(|word| word.starts_with(['+', '-']) && word.contains('.'));
            (amount.unwrap_or_else(|| panic!("no amount in: {line}")).parse::<f64>().unwrap() * 1e5).round() as i64
        };
        let mut total = hundredths(line);
        for line in lines.by_ref().take_while(|line| !line.contains("──")) {
            total += hundredths(line);
        }
        assert_eq!(hundredths(lines.next().expect("a total")), total, "{text}");
        let model = lines.next().expect("the model");
        assert!(model.contains("prediction of the model") && hundredths(model) == total, "{text}");
        ledgers += 1;
    }
    ledgers
}

#[test]
fn the_whole_model_in_words() {
    let desk = desk_with_model();
    let session = desk.works("explain model.gnan molecules").shows("toxic of graphs").shows("log-odds of yes");
    let session = session.shows("importance by feature").shows("importance by distance").shows("60 predictions");
    let session = session.shows("rho").shows("structure").shows("element  categorical").shows("mass  continuous");
    assert!(session.stdout.contains("nodes in") && session.stderr.is_empty());
    // Without data there is nothing to average over.
    let session = desk.works("explain model.gnan").shows("none given").shows("element  categorical");
    assert!(!session.stdout.contains("importance by"));
    let session = desk.works("explain model.gnan molecules --feature mass").shows("its importance by distance");
    assert!(!session.stdout.contains("element  categorical"));
    desk.works("explain model.gnan molecules --top 1").shows("1 more feature ").shows("together");
    desk.works("explain model.gnan molecules --class no").shows("element");
    desk.works("explain model.gnan molecules -o model.txt").says("wrote the overview to model.txt");
    assert!(!desk.read("model.txt").contains(&0x1b));
}

#[test]
fn little_support_is_said() {
    let desk = Desk::new();
    desk.molecules("molecules");
    let nodes = String::from_utf8(desk.read("molecules/nodes.csv")).unwrap();
    desk.write("molecules/nodes.csv", &nodes.replacen("g7,a0,C", "g7,a0,Xe", 1).replacen("g7,a0,O", "g7,a0,Xe", 1));
    desk.works(&format!("train molecules {QUICK}"));
    desk.works("explain model.gnan").shows("1 node in 1 graph: little support");
}

#[test]
fn the_whole_model_for_programs() {
    let desk = desk_with_model();
    let document = desk.json("explain model.gnan molecules");
    assert_eq!(document["features"][0]["name"], "element");
    assert_eq!(document["importance"]["items"], 60);
    assert!(desk.json("explain model.gnan")["importance"].is_null());
    let table = desk.works("explain model.gnan molecules --csv").stdout;
    assert!(table.starts_with("table,feature,level,from,to,distance,output,value,nodes,graphs,items\n"));
    for kind in ["base", "structure", "rho", "level", "curve", "bin", "importance by feature and distance"] {
        assert!(table.contains(&format!("\n{kind},")), "{kind}");
    }
    desk.works("explain model.gnan molecules --csv -o model.csv").says("wrote the overview");
    assert_eq!(String::from_utf8(desk.read("model.csv")).unwrap(), table);
    desk.gnan("explain model.gnan molecules --csv -o model.csv").expect(2).says("--force");
    desk.gnan("explain model.gnan --csv --json").expect(2).says("not two of them");
}

#[test]
fn predictions_as_ledgers() {
    let desk = desk_with_model();
    let one = desk.works("explain model.gnan molecules --id g7").shows("g7  toxic: ").shows("log-odds of yes").stdout;
    assert_eq!(assert_ledgers_add_up(&one), 3);
    assert!(one.contains("by feature") && one.contains("by distance") && one.contains("by node"));
    let line = "explain model.gnan molecules --id g7,g8 --id=#1 --by feature-distance,node-feature,receiver --top 2";
    let several = desk.works(line).shows("more pairs").shows("g8  toxic").shows("g0  toxic").stdout;
    assert_eq!(assert_ledgers_add_up(&several), 9);
    // What speaks for one class speaks against the other.
    let against = desk.works("explain model.gnan molecules --id g7 --class no").shows("log-odds of no").stdout;
    assert_eq!(assert_ledgers_add_up(&against), 3);
    let base = |text: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with("base ")).expect("base");
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(base(&one), -base(&against));
    let predicted = desk.works("predict model.gnan molecules --json").stdout;
    let predicted: Value = serde_json::from_str(predicted.lines().nth(7).unwrap()).unwrap();
    let percent = 100.0 * number(&predicted["probabilities"]["yes"]);
    assert!(one.contains(&format!("prediction of the model, probability {percent:.1} %")), "{one}");
}

#[test]
fn a_prediction_as_a_document_and_a_table() {
    let desk = desk_with_model();
    let document = desk.json("explain model.gnan molecules --id g7");
    assert_eq!((&document["id"], &document["unit"]), (&"g7".into(), &"log-odds".into()));
    assert_adds_up(&document, 6);
    let raw = desk.json("explain model.gnan molecules --id g7 --reference zero");
    assert_adds_up(&raw, 6);
    assert!(raw["outputs"]["yes"]["average_item"].is_null());
    desk.works("explain model.gnan molecules --id g7 --by feature").shows("the average of the training items");
    desk.works("explain model.gnan molecules --id g7 --by node").shows("average item");
    desk.works("explain model.gnan molecules --id g7 --by node --reference zero").shows("the same for all");
    let parts = &document["outputs"]["yes"];
    assert_ne!(parts["base"], raw["outputs"]["yes"]["base"]);
    assert!(parts["by_feature"]["element"].is_number() && parts["by_node_and_feature"]["a1"]["mass"].is_number());
    assert!(
        parts["by_feature_and_distance"]["mass"]["1"].is_number() && parts["structure_by_receiver"]["a0"].is_number()
    );
    let chosen = desk.json("explain model.gnan molecules --id g7 --class no --by feature");
    assert_eq!(number(&chosen["outputs"]["no"]["prediction"]), -number(&parts["prediction"]));
    assert!(chosen["outputs"]["no"]["by_node"].is_null());

    let table = desk.works("explain model.gnan molecules --id g7,g8 --csv").stdout;
    let mut sums: BTreeMap<(String, String), f64> = BTreeMap::new();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    assert_eq!(reader.headers().unwrap(), &["id", "output", "by", "term", "amount"][..]);
    for row in reader.records() {
        let row = row.unwrap();
        *sums.entry((row[0].to_owned(), row[2].to_owned())).or_default() += row[4].parse::<f64>().unwrap();
    }
    for id in ["g7", "g8"] {
        let sum = |by: &str| sums[&(id.to_owned(), by.to_owned())];
        for by in ["feature", "node", "distance", "feature-distance", "node-feature", "receiver"] {
            // By receiver the structure is among the terms.
            let structure = if by == "receiver" { 0.0 } else { sum("structure") };
            let miss = sum("base") + structure + sum(by) - sum("prediction");
            assert!(miss.abs() < 1e-4, "{id}, {by}: off by {miss}");
        }
    }
}

#[test]
fn every_prediction_as_json_lines() {
    let desk = desk_with_model();
    let lines = desk.works("explain model.gnan molecules --all").stdout;
    let documents: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.len(), 60);
    for (graph, document) in documents.iter().enumerate() {
        assert_eq!(document["id"], format!("g{graph}"));
        assert_adds_up(document, 4);
    }
    for threads in [1, 3] {
        let session =
            desk.works(&format!("explain model.gnan molecules --all --json --threads {threads} -o {threads}.jsonl"));
        session.says("wrote 60 explanations");
        assert_eq!(String::from_utf8(desk.read(&format!("{threads}.jsonl"))).unwrap(), lines);
    }
    let rows = desk.works("explain model.gnan molecules --all --csv --by feature").stdout;
    // Base, structure, two features, total, prediction and probability of each, and the header.
    assert_eq!(rows.lines().count(), 1 + 60 * 7);
    // Several that are named are one document, with everything about them.
    let several = desk.json("explain model.gnan molecules --id g1,g2");
    let [first, second] = several.as_array().expect("a list").as_slice() else { panic!("{several}") };
    assert_eq!((&first["id"], &second["id"]), (&"g1".into(), &"g2".into()));
    assert_adds_up(first, 6);
    assert_eq!(*second, desk.json("explain model.gnan molecules --id g2"));
}

/// Every prediction of a large graph has all its nodes behind it: those that matter least are summed.
#[test]
fn nodes_of_a_large_graph_are_not_repeated_for_every_prediction() {
    let desk = desk_with_people();
    let lines = desk.works("explain people.gnan people --all").stdout;
    for line in lines.lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        assert_adds_up(&document, 4);
        let parts = document["outputs"].as_object().unwrap().values().next().unwrap();
        assert_eq!(parts["by_node"].as_object().unwrap().len(), 20);
        assert_eq!(parts["other_nodes"]["count"], 70);
        assert!(
            document["labels"].as_object().unwrap().len() <= 60,
            "labels of nodes that are listed for one of 3 classes"
        );
    }
    let whole = desk.works("explain people.gnan people --all --by node-feature").stdout;
    assert!(whole.len() > lines.len(), "everything can still be had");
}

#[test]
fn explanations_as_parquet_are_those_of_the_table() {
    let desk = desk_with_model();
    let table = desk.works("explain model.gnan molecules --all --csv").stdout;
    desk.works("explain model.gnan molecules --all --parquet -o all.parquet").says("wrote 60 explanations to");
    assert!(desk.read("all.parquet").starts_with(b"PAR1") && desk.read("all.parquet").ends_with(b"PAR1"));
    desk.gnan("explain model.gnan molecules --all --parquet").expect(2).says("--output");
    desk.gnan("explain model.gnan --parquet -o x.parquet").expect(2).says("--id or --all");
    desk.gnan("explain model.gnan molecules --all --parquet -o all.parquet").expect(2).says("--force");
    desk.write("table.csv", &table);
    let script = "import pandas as pd\n\
         p = pd.read_parquet('all.parquet')\n\
         c = pd.read_csv('table.csv', keep_default_na=False)\n\
         assert list(p.columns) == list(c.columns) and len(p) == len(c) > 1000\n\
         assert (p[['id', 'output', 'by', 'term']] == c[['id', 'output', 'by', 'term']]).all().all()\n\
         assert (p['amount'] == c['amount']).all()\n";
    in_pandas(&desk, script);
}

/// What programs read, pandas reads: documents, lines and tables.
#[test]
fn everything_for_programs_opens_in_pandas() {
    let desk = desk_with_model();
    for (name, line) in [
        ("one.json", "explain model.gnan molecules --id g3 --json"),
        ("two.json", "explain model.gnan molecules --id g3,g4 --json"),
        ("all.jsonl", "explain model.gnan molecules --all --json"),
        ("model.json", "explain model.gnan molecules --json"),
        ("predictions.jsonl", "predict model.gnan molecules --json"),
        ("predictions.csv", "predict model.gnan molecules"),
        ("inspect.json", "inspect model.gnan --json"),
        ("export.json", "export model.gnan"),
    ] {
        desk.write(name, &desk.works(line).stdout);
    }
    let script = "import json, pandas as pd\n\
         for name in ['one', 'two', 'model', 'inspect', 'export']:\n\
         \x20   frame = pd.json_normalize(json.load(open(name + '.json')))\n\
         \x20   assert len(frame) == (2 if name == 'two' else 1), name\n\
         frame = pd.read_json('all.jsonl', lines=True)\n\
         assert list(frame['id']) == [f'g{k}' for k in range(60)]\n\
         flat = pd.json_normalize([json.loads(line) for line in open('all.jsonl')])\n\
         parts = ['base', 'structure', 'by_feature.element', 'by_feature.mass']\n\
         total = sum(flat['outputs.yes.' + part] for part in parts)\n\
         assert (total - flat['outputs.yes.prediction']).abs().max() < 1e-4\n\
         lines = pd.json_normalize(pd.read_json('predictions.jsonl', lines=True).to_dict('records'))\n\
         table = pd.read_csv('predictions.csv')\n\
         assert (lines['probabilities.yes'] - table['probability:yes']).abs().max() < 1e-9\n";
    in_pandas(&desk, script);
}

/// Runs a Python script; skipped, with a message, where there is no pandas.
fn in_pandas(desk: &Desk, script: &str) {
    let python =
        |arguments: &[&str]| std::process::Command::new("python3").args(arguments).current_dir(desk.path("")).output();
    if !python(&["-c", "import pandas, pyarrow"]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no python3 with pandas and pyarrow to open results with");
        return;
    }
    desk.write("script.py", script);
    let output = python(&["script.py"]).expect("Python");
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn sums_are_verified() {
    let desk = desk_with_model();
    let session = desk.works("explain model.gnan molecules --verify").shows("everything adds up");
    assert!(session.shows("in 60 predictions").stdout.lines().count() == 1);
    desk.works("explain model.gnan molecules --verify --id g1,g2").shows("in 2 predictions");
    let answer = desk.json("explain model.gnan molecules --verify --all");
    assert_eq!((&answer["predictions"], &answer["adds_up"]), (&60.into(), &true.into()));
    assert!(number(&answer["largest_deviation"]) <= 1.0);
    desk.gnan("explain model.gnan molecules --verify --csv").expect(2).says("--json");
}

#[test]
fn nodes_and_several_classes() {
    let desk = desk_with_people();
    desk.works("explain people.gnan people").shows("grown").shows("young").shows("age  continuous");
    let one =
        desk.works("explain people.gnan people --id p5").shows("p5  label: ").shows("above the mean of the 3 classes");
    assert_eq!(assert_ledgers_add_up(&one.stdout), 3);
    let document = desk.json("explain people.gnan people --id p5");
    assert_adds_up(&document, 5);
    assert_eq!(document["outputs"].as_object().unwrap().len(), 3);
    let logits: f64 = document["outputs"].as_object().unwrap().values().map(|parts| number(&parts["prediction"])).sum();
    assert!(logits.abs() < 1e-6, "centred over classes");
    desk.works("explain people.gnan people --id p5 --class old,young").shows("logit of old").shows("logit of young");
    desk.works("explain people.gnan people --id p5 --by receiver").shows("only receiver");
    desk.works("explain people.gnan people --verify").shows("in 90 predictions");
}

#[test]
fn molecules_by_name_and_several_targets() {
    let desk = Desk::new();
    desk.works("train solubility --epochs 3 --hidden 16");
    let session = desk.works("explain model.gnan solubility --id caffeine").shows("caffeine  log_solubility ");
    let session =
        session.shows("(log10 mol/L)").shows("by functional group").shows("carbonyl oxygen on a ring (2 of them)");
    assert_eq!(assert_ledgers_add_up(&session.stdout), 4);
    desk.gnan("explain model.gnan solubility --id cafeine").expect(2).says("caffeine");
    desk.molecules("molecules");
    let graphs = String::from_utf8(desk.read("molecules/graphs.csv")).unwrap();
    let rows = graphs.lines().enumerate().map(|(row, line)| match row {
        0 => format!("{line},odd\n"),
        _ => format!("{line},{}\n", ["no", "yes"][row % 2]),
    });
    desk.write("molecules/graphs.csv", &rows.collect::<String>());
    desk.works(&format!("train molecules --target toxic,odd {QUICK} -o both.gnan"));
    let session = desk.works("explain both.gnan molecules --id g3").shows("log-odds of toxic").shows("log-odds of odd");
    assert_eq!(assert_ledgers_add_up(&session.stdout), 6);
    assert_adds_up(&desk.json("explain both.gnan molecules --id g3"), 6);
    desk.gnan("explain both.gnan molecules --id g3 --class od").expect(2).says("no target \"od\"").says("odd");
}

#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let desk = desk_with_model();
    let gnan = |line: &str| desk.gnan(&format!("explain model.gnan molecules {line}"));
    gnan("--id gg7")
        .expect(2)
        .says("there is no item \"gg7\"")
        .says("g7")
        .says("gnan predict model.gnan molecules lists");
    gnan("--id 12").expect(2).says("--id=#12");
    gnan("--id=#61").expect(2).says("\"#61\"");
    gnan("--id g1,g2,nothing").expect(2).says("\"nothing\"");
    gnan("--id g1 --all").expect(2).says("cannot be used with");
    gnan("--id g1 --by atoms").expect(2).says("feature-distance");
    gnan("--by node").expect(2).says("--id");
    gnan("--top 0").expect(2).says("at least one row");
    gnan("--class perhaps").expect(2).says("no class \"perhaps\"").says("no, yes");
    gnan("--feature elemnt").expect(2).says("near it are: element");
    desk.gnan("explain model.gnan --id g1").expect(2).says("<DATA>");
    desk.gnan("explain model.gnan --verify").expect(2).says("<DATA>");
    desk.people("people");
    desk.gnan("explain model.gnan people --id p1").expect(3).says("people").says("element");
}

#[test]
fn what_training_had_not_seen_is_said() {
    let desk = desk_with_model();
    desk.write("new/nodes.csv", "graph_id,node_id,element,mass\nx,a,C,12\nx,b,Xe,131\n");
    desk.write("new/edges.csv", "graph_id,source,target\nx,a,b\n");
    let session = desk.works("explain model.gnan new --id x").shows("not seen in training").shows("Xe").shows("range");
    assert_eq!(assert_ledgers_add_up(&session.stdout), 3);
    let session = desk.works("explain model.gnan new --id x --json").says("Xe");
    assert_eq!(session.document()["unseen"][0], "element: Xe");
    desk.works("explain model.gnan new --verify");
}

/// What is said below a node is what its JSON has; what is new in the graph as a whole is a note.
#[test]
fn what_is_new_about_a_node_is_apart_from_what_is_new_in_its_graph() {
    let desk = Desk::new();
    let folder = |name: &str, colours: [&str; 3]| {
        let rows: String = (0..90).map(|k| format!("n{k},{},{}\n", colours[k % 3], k % 7)).collect();
        let edges: String = (1..90).map(|k| format!("n{},n{k}\n", k / 2)).collect();
        desk.write(&format!("{name}/nodes.csv"), &format!("node_id,colour,y\n{rows}"));
        desk.write(&format!("{name}/edges.csv"), &format!("source,target\n{edges}"));
    };
    folder("old", ["red", "blue", "green"]);
    folder("new", ["red", "blue", "purple"]);
    desk.works(&format!("train old --target y --task regression {QUICK}"));
    let text = desk.works("explain model.gnan new --id n3").says("note: colour: 30 nodes with a category unseen");
    assert!(text.stdout.contains("not seen in training: colour: purple (contributes 0)"), "{}", text.stdout);
    assert!(!text.stdout.contains("30 nodes"), "{}", text.stdout);
    let json =
        desk.works("explain model.gnan new --id n3 --json").says("note: colour: 30 nodes with a category unseen");
    assert_eq!(json.document()["unseen"], serde_json::json!(["colour: purple"]));
}

#[test]
fn hostile_names_are_harmless() {
    let desk = Desk::new();
    desk.molecules("molecules");
    let evil = "\x1b[31m<b>\r\nx\u{202e}";
    let nodes = String::from_utf8(desk.read("molecules/nodes.csv")).unwrap();
    desk.write("molecules/nodes.csv", &nodes.replace("g0,a0,", &format!("g0,\"{evil}\",")));
    let edges = String::from_utf8(desk.read("molecules/edges.csv")).unwrap();
    desk.write("molecules/edges.csv", &edges.replace("g0,a0,", &format!("g0,\"{evil}\",")));
    desk.works(&format!("train molecules {QUICK}"));
    for colours in ["0", "1"] {
        let mut command = desk.command("explain model.gnan molecules --id g0 --by node,node-feature,receiver");
        let session = Session::of(command.env("CLICOLOR_FORCE", colours)).expect(0).shows("\\u{1b}[31m<b>");
        assert!(!session.stdout.contains("\x1b[31m") && !session.stdout.contains('\u{202e}'));
    }
    let text = desk.works("explain model.gnan molecules --id g0 --by node").stdout;
    assert_eq!(assert_ledgers_add_up(&text), 1);
    let document = desk.json("explain model.gnan molecules --id g0");
    assert!(document["outputs"]["yes"]["by_node"].as_object().unwrap().keys().any(|name| name.contains("<b>")));
    let mut command = desk.command("explain model.gnan molecules --id");
    let session = Session::of(command.arg(evil).env("CLICOLOR_FORCE", "1")).expect(2);
    assert!(!session.stderr.contains("\x1b[31m<b>"), "{}", session.stderr);
}

#[test]
fn the_whole_model_as_tables() {
    let desk = desk_with_model();
    let document = desk.works("export model.gnan").document();
    assert_eq!((&document["format"], &document["outputs"][0]), (&"gnan tables".into(), &"yes".into()));
    assert!(document["features"][1]["curve"]["knots"].is_array());
    let table = desk.works("export model.gnan --format csv").stdout;
    assert!(table.starts_with("table,feature,level,rho,at,output,value,nodes,graphs,items\n"));
    desk.works("export model.gnan -o tables.json").says("wrote the model's tables to tables.json");
    assert_eq!(serde_json::from_slice::<Value>(&desk.read("tables.json")).unwrap(), document);
    desk.gnan("export model.gnan --format csv -o tables.json").expect(2).says("exists already").says("--force");
    desk.works("export model.gnan --format csv -o tables.json --force");
    assert_eq!(String::from_utf8(desk.read("tables.json")).unwrap(), table);
    desk.gnan("export model.gnan --format xml").expect(2).says("csv");
    desk.gnan("export nothing.gnan").expect(3).says("nothing.gnan");
}
