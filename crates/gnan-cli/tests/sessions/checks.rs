//! `gnan check` at a shell: tables, documents, figures, and data that cannot be checked.

use super::desk::Desk;

#[test]
fn a_model_is_checked_in_tables_documents_and_figures() {
    let desk = Desk::new();
    desk.molecules("chains");
    desk.works("train chains --fit penalised --choose false -o model.gnan");
    let text = desk.works("check model.gnan chains --plot figures").says("wrote").stdout;
    for part in ["residuals", "calibration", "knots of curves", "concurvity", "expected calibration error", "k-index"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for figure in ["residuals", "residual-quantiles", "calibration"] {
        assert!(["svg", "png", "html"].iter().all(|format| desk.exists(&format!("figures/{figure}.{format}"))));
    }
    desk.gnan("check model.gnan chains --plot figures").expect(2).says("--force");
    let document = desk.works("check model.gnan chains --json").document();
    assert!(document["residuals"]["sentence"].is_string() && document["fine"].is_boolean(), "{document}");
    assert!(document["calibration"]["groups"].as_array().is_some_and(|groups| !groups.is_empty()));
    desk.works("check model.gnan chains -o checks.txt");
    assert!(!String::from_utf8(desk.read("checks.txt")).expect("UTF-8").contains('\x1b'));
    desk.gnan("check model.gnan chains -o checks.txt").expect(2).says("--force");
    desk.works("report model.gnan chains -o report.html");
    let page = String::from_utf8(desk.read("report.html")).expect("UTF-8");
    assert!(page.contains("id=\"checks\"") && page.contains("Quantiles of residuals") && page.contains("Concurvity"));
}

#[test]
fn networks_are_checked_without_coefficients_and_data_without_targets_are_refused() {
    let desk = Desk::new();
    desk.molecules("chains");
    desk.works("train chains -o model.gnan --epochs 5");
    desk.works("check model.gnan chains").shows("residuals").shows("trained by gradient descent");
    let document = desk.works("check model.gnan chains --json").document();
    assert!(document["basis"]["rows"].as_array().is_some_and(|rows| rows.iter().all(|row| row["edf"].is_null())));
    for name in ["nodes.csv", "edges.csv"] {
        desk.write(
            &format!("unlabelled/{name}"),
            &String::from_utf8(desk.read(&format!("chains/{name}"))).expect("UTF-8"),
        );
    }
    desk.gnan("check model.gnan unlabelled").expect(3).says("target");
}
