//! Data as people have them: a chemist's spreadsheet and an analyst's accounts, from the files to predictions.

use crate::desk::Desk;

/// Eighty compounds with names, dates, bounds and comments; two of them cannot be read.
fn spreadsheet(desk: &Desk) {
    let rows: String = (0..80)
        .map(|row| {
            let smiles = match row {
                7 => "C((".to_owned(),
                40 => String::new(),
                row => format!("{}{}", "C".repeat(1 + row % 6), ["O", "N", "Cl"][row % 3]),
            };
            let activity = match row {
                3 => "<-4.0".to_owned(),
                5 => "n.d.".to_owned(),
                row => format!("{:.2}", (row % 3) as f64 - 0.3 * (row % 6) as f64),
            };
            format!("CMP-{row},{smiles},{activity},2024-{:02}-01,note {row}\n", 1 + row % 12)
        })
        .collect();
    desk.write("compounds.csv", &format!("Compound ID,SMILES,activity,assayed,comment\n{rows}"));
}

#[test]
fn a_spreadsheet_of_molecules() {
    let desk = Desk::new();
    spreadsheet(&desk);
    let info = desk.works("data info compounds.csv").shows("78").shows("one of: activity, assayed, comment");
    info.shows("2 rows that cannot be read").shows("CMP-7").shows("has no SMILES").shows("\"<-4.0\" line 5");
    let session = desk.works("train compounds.csv --target activity --epochs 40 --hidden 16 --test-share 0.2");
    let session = session.shows("(regression)").shows("2 rows could not be read").says("wrote why 2 rows");
    session.says("2 cells, which count as missing (bounds are kept)");
    let list = String::from_utf8(desk.read("model.skipped.csv")).expect("UTF-8");
    assert_eq!(list.lines().map(|line| line.split(',').next().unwrap()).collect::<Vec<_>>(), ["line", "9", "42"]);
    desk.gnan("train compounds.csv --target activity --strict --force")
        .expect(3)
        .says("compounds.csv:9: molecule \"CMP-7\"");

    let predictions = desk.works("predict model.gnan compounds.csv").says("trained on").says("test (");
    let rows: Vec<&str> = predictions.stdout.lines().collect();
    assert_eq!((rows.len(), rows[0]), (81, "id,activity,problem"));
    assert!(rows[8].starts_with("CMP-7,,\"has a SMILES that cannot be read"), "{}", rows[8]);
    assert_eq!(rows[41], "CMP-40,,has no SMILES");
    assert!(rows[81 - 1].starts_with("CMP-79,") && rows[80].ends_with(','));
    let lines = desk.works("predict model.gnan compounds.csv --json").stdout;
    assert!(lines.lines().nth(40).unwrap().contains("\"problem\":\"has no SMILES\""));

    // The model knows its items, without being told how they were divided.
    let judged = desk.works("evaluate compounds.csv --model model.gnan").shows("validated by").shows("95 % interval");
    judged.shows("test (15)");
    desk.gnan("evaluate compounds.csv --model model.gnan --epochs 5").expect(2).says("its options are in its file");
    // Beyond 5 % it is refused, whatever the command.
    let many = String::from_utf8(desk.read("compounds.csv")).unwrap().replace("CO,", "C(O,");
    desk.write("many.csv", &many);
    desk.gnan("predict model.gnan many.csv").expect(3).says("of 80 rows cannot be read").says("up to 5 %");
}

#[test]
fn accounts_with_names_dates_and_a_rare_class() {
    let desk = Desk::new();
    let account = |k: usize| {
        let fraud = k % 16 == 3;
        let country = if k.is_multiple_of(97) { "Rare land" } else { ["DE", "FR"][k % 2] };
        format!(
            "A{k},Holder {k},{country},2025-0{}-11,{},{}\n",
            1 + k % 9,
            if fraud { 5 } else { k % 4 },
            ["no", "yes"][usize::from(fraud)]
        )
    };
    let nodes: String = (0..600).map(account).collect();
    let edges: String = (0..600).map(|k| format!("A{k},A{},transfer\n", (k * 7 + 1) % 600)).collect();
    desk.write("accounts/nodes.csv", &format!("account_id,holder,country,opened,chargebacks,fraud\n{nodes}"));
    desk.write("accounts/edges.csv", &format!("from,to,type\n{edges}"));
    let trained = desk.works("train accounts --target fraud --epochs 200 --hidden 16 --rho shared --test-share 0.3");
    let trained = trained.says("\"account_id\"").says("\"opened\" holds dates").says("\"holder\" is left out");
    let trained = trained.shows("average precision").shows("ROC-AUC").shows("95 % interval");
    assert!(!trained.stdout.contains("\n  accuracy "), "accuracy beside a better constant: {}", trained.stdout);
    let words = desk.works("explain model.gnan accounts").shows("2025-0").shows("labelled").stdout;
    assert!(!words.contains("Holder"), "{words}");
    // The report leads with the right metric.
    desk.works("report model.gnan accounts --id A3");
    let page = String::from_utf8(desk.read("report.html")).expect("UTF-8");
    let start = page.find("In short").expect("a beginning");
    let (precision, accuracy) =
        (page[start..].find("its average precision of yes is"), page[start..].find("its accuracy is"));
    assert!(precision.is_some() && accuracy.is_none());
    // Effects and metric are of one class: there is nothing to explain.
    assert!(!page.contains("the rarer class") && !trained.stdout.contains("the rarer class"));
    // A neighbour's chargebacks and its own are apart, with its own values named.
    assert!(
        page.contains("chargebacks = 5")
            && page.contains("neighbours' chargebacks")
            && page.contains("opened = 2025-04-11")
    );
    desk.works("predict model.gnan accounts --name-column account_id");
    desk.gnan("predict model.gnan accounts --name-column nobody").expect(2).says("no column \"nobody\"");
}

/// Nodes in a ring, each with a number and the class that `class` gives it.
fn ring(desk: &Desk, folder: &str, nodes: usize, class: impl Fn(usize) -> &'static str) {
    let rows: String = (0..nodes).map(|k| format!("n{k},{},{}\n", (k * 37 % 101) as f64 / 10.0, class(k))).collect();
    let edges: String = (0..nodes).map(|k| format!("n{k},n{}\n", (k + 1) % nodes)).collect();
    desk.write(&format!("{folder}/nodes.csv"), &format!("node_id,x,y\n{rows}"));
    desk.write(&format!("{folder}/edges.csv"), &format!("source,target\n{edges}"));
}

#[test]
fn effects_name_their_class_where_metrics_are_of_the_other() {
    let desk = Desk::new();
    ring(&desk, "accounts", 300, |k| if k % 12 == 5 { "fraud" } else { "ok" });
    const WORDS: &str = "Effects and contributions are of the log-odds of ok: what raises them lowers those of fraud";
    let trained = desk.works("train accounts --target y --epochs 20 --hidden 16").shows("average precision of fraud");
    assert_eq!(trained.stdout.matches(WORDS).count(), 1, "{}", trained.stdout);
    desk.works("evaluate accounts --model model.gnan").shows(WORDS);
    desk.works("report model.gnan accounts");
    let page = String::from_utf8(desk.read("report.html")).expect("UTF-8");
    assert_eq!(page.matches(WORDS).count(), 1);
}

#[test]
fn no_metric_flatters_a_model_of_one_large_class() {
    let desk = Desk::new();
    ring(&desk, "uneven", 400, |k| ["a", "b", "c"][usize::from(k % 10 == 3) + usize::from(k % 30 == 3)]);
    let trained = desk.works("train uneven --target y --epochs 20 --hidden 16 -o uneven.gnan");
    let metrics: Vec<&str> =
        trained.stdout.lines().filter(|line| line.contains(" to 0") || line.contains(" to 1")).collect();
    assert!(metrics[0].starts_with("  balanced accuracy"), "{}", trained.stdout);
    assert!(!trained.stdout.contains("\n  accuracy "), "{}", trained.stdout);

    // The only "yes" is a training item: validation items are all "no".
    ring(&desk, "single", 300, |k| if k == 17 { "yes" } else { "no" });
    const REASON: &str = "All these items are of class no: metrics that compare classes cannot be computed on them.";
    let trained = desk.works("train single --target y --epochs 20 --hidden 16 -o single.gnan").shows(REASON);
    assert!(!trained.stdout.contains("balanced accuracy"), "{}", trained.stdout);
    desk.works("report single.gnan single");
    let page = String::from_utf8(desk.read("report.html")).expect("UTF-8");
    assert!(page.contains(REASON) && !page.contains("balanced accuracy"));
    assert!(page.contains("Accuracy says little about them; see the confusion matrix."));
}
