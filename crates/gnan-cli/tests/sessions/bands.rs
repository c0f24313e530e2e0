//! Bands of penalised fits at a shell: in figures, tables, ledgers and predictions, without a bootstrap.

use super::desk::Desk;

#[test]
fn a_penalised_fit_has_bands_everywhere() {
    let desk = Desk::new();
    desk.molecules("chains");
    desk.works("train chains --fit penalised -o model.gnan");
    desk.works("summary model.gnan")
        .shows("edf")
        .shows("p-value")
        .shows("structure")
        .shows("effective degrees of freedom in all");
    let document = desk.works("summary model.gnan --json").document();
    let terms = document["terms"].as_array().expect("terms");
    assert!(terms.iter().all(|term| term["sentence"].is_string() && term["edf"].is_number()), "{document}");
    assert_eq!(terms.last().expect("the structure")["name"], "structure");
    desk.works("inspect model.gnan").shows("edf").shows("p-value");
    let csv = desk.works("predict model.gnan chains").stdout;
    let header = csv.lines().next().expect("a header").to_owned();
    assert!(header.contains("sd:") && header.contains("lower:") && header.contains("upper:"), "{header}");
    for line in desk.works("predict model.gnan chains --json").stdout.lines() {
        let item: serde_json::Value = serde_json::from_str(line).expect("JSON");
        for (class, p) in item["probabilities"].as_object().expect("probabilities") {
            let [lower, p, upper] =
                [&item["lower"][class], p, &item["upper"][class]].map(|x| x.as_f64().expect("a number"));
            assert!(lower <= p && p <= upper && item["sd"][class].as_f64() > Some(0.0), "{line}");
        }
    }
    desk.works("explain model.gnan chains --id g7").shows("sd").shows("±");
    let why = desk.works("explain model.gnan chains --id g7 --json").document();
    let output = why["outputs"].as_object().and_then(|outputs| outputs.values().next()).expect("an output").clone();
    assert!(output["sd"]["prediction"].is_number() && output["sd"]["by_feature"].is_object(), "{output}");
    desk.works("explain model.gnan chains --verify");
    assert!(desk.works("explain model.gnan chains --all --csv").stdout.starts_with("id,output,by,term,amount,sd\n"));
    desk.works("explain model.gnan").shows("95 %:");
    let whole = desk.works("explain model.gnan --json").document();
    assert_eq!(whole["intervals"]["kind"], "pointwise");
    let wide = desk.works("explain model.gnan --json --bands simultaneous").document();
    assert_eq!(wide["intervals"]["kind"], "simultaneous");
    let tables = desk.works("export model.gnan").document();
    let feature = &tables["features"][0];
    let levels =
        feature["levels"].as_array().expect("levels").iter().chain(feature["knots"].as_array().into_iter().flatten());
    assert!(levels.into_iter().all(|level| level["sd"][0].is_number()), "{feature}");
    desk.works("report model.gnan chains -o report.html");
    let page = String::from_utf8(desk.read("report.html")).expect("UTF-8");
    assert!(page.contains("from the penalised fit") && page.contains("degrees of freedom"));
    assert!(!page.contains("No intervals were computed"));
    desk.works("plot model.gnan -o figures --format svg --bands simultaneous").shows("effects.svg");
}

#[test]
fn without_a_penalised_fit_it_is_said_what_to_do() {
    let desk = Desk::new();
    desk.molecules("chains");
    desk.works("train chains -o model.gnan --epochs 5");
    desk.gnan("summary model.gnan").expect(3).says("gradient descent").says("--fit penalised").says("gnan bootstrap");
    let header = desk.works("predict model.gnan chains").stdout.lines().next().expect("a header").to_owned();
    assert!(!header.contains("sd"), "{header}");
    assert!(desk.works("explain model.gnan --json").document()["intervals"].is_null());
}
