//! The demo: the first thing anyone sees, so it must work, and work again.

use crate::desk::Desk;

#[test]
fn the_demo_works_twice_and_leaves_usable_files() {
    let desk = Desk::new();
    let session = desk.works("demo").shows("for caffeine?").shows("Influence by distance");
    let session =
        session.shows("1,282 molecules").shows("R2").shows("always the mean").shows("Try next").shows("gnan-demo");
    assert_ledger_adds_up(&session.stdout);
    let first = desk.read("gnan-demo/model.gnan");
    let document = desk.json("demo");
    assert!(document["test"]["r2"].as_f64().unwrap() >= 0.78, "{document}");
    assert!(document["test"]["mae"].as_f64().unwrap() < document["baseline"]["mae"].as_f64().unwrap());
    let explanation = &document["explanation"];
    assert_eq!((&explanation["id"], &explanation["adds_up"]), (&"caffeine".into(), &true.into()));
    assert_eq!(desk.read("gnan-demo/model.gnan"), first);
    assert!(String::from_utf8(desk.read("gnan-demo/predictions.csv")).unwrap().starts_with("id,log_solubility,sd,"));
    desk.works("inspect gnan-demo/model.gnan").shows("log_solubility");
    let hints = session.stdout.lines().skip_while(|line| !line.contains("Try next"));
    let hints: Vec<&str> = hints.filter_map(|line| line.trim_start().strip_prefix("gnan ")).collect();
    assert_eq!(hints.len(), 4, "{hints:?}");
    for hint in hints.iter().filter_map(|line| line.split("  ").next()).filter(|hint| !hint.contains("your-data")) {
        desk.works(hint);
    }
}

/// The numbers between "base" and the line, added as anyone would, are the prediction as printed.
fn assert_ledger_adds_up(text: &str) {
    let hundredths = |line: &str| {
        // Names have single spaces in them, and more than one after them.
        let number = line.split("  ").map(str::trim).filter(|part| !part.is_empty()).nth(1).unwrap_or_default();
        (number.parse::<f64>().unwrap_or_else(|_| panic!("no number in: {line}")) * 100.0).round() as i64
    };
    let from_base = text.lines().skip_while(|line| !line.trim_start().starts_with("base"));
    let mut lines =
        from_base.take_while(|line| !line.trim_start().starts_with("actual")).filter(|line| !line.contains("──"));
    let prediction = lines.clone().last().map(hundredths).expect("a prediction");
    let all: i64 = lines.by_ref().map(hundredths).sum();
    assert_eq!(all, 2 * prediction, "{text}");
}

#[test]
fn the_demo_leaves_the_things_of_others_alone() {
    let desk = Desk::new();
    desk.write("mine/model.gnan", "precious");
    desk.gnan("demo -o mine").expect(2).says("mine: this folder holds other things").says("--force");
    assert_eq!(desk.read("mine/model.gnan"), b"precious");
    desk.write("file", "precious");
    desk.gnan("demo -o file").expect(2).says("a file, not a folder");
}
