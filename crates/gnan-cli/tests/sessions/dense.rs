//! Numbers with many distinct values: trained on knots, named wherever the model is described.

use crate::desk::Desk;

const QUICK: &str = "--epochs 5 --hidden 16 --target label";

#[test]
fn knots_are_announced_named_and_searched_over() {
    let desk = Desk::new();
    desk.people("people");
    desk.works(&format!("train people {QUICK} --bins 16 -o m.gnan"))
        .says("at quantiles")
        .shows("1 feature was trained on 16 quantile knots, an approximation; predictions are exact");
    desk.works("inspect m.gnan").shows("quantile knots").shows("16 knots");
    assert_eq!(desk.json("inspect m.gnan")["definition"]["learned"]["features"][0]["knots"], 16);
    desk.works("predict m.gnan people");
    desk.works("explain m.gnan people --all --verify -o ledgers.jsonl");
    desk.works("report m.gnan people -o report.html");
    assert!(String::from_utf8(desk.read("report.html")).unwrap().contains("trained on 16 quantile knots"));
    let auto = desk.works(&format!("train people {QUICK} -o auto.gnan"));
    assert!(!auto.stdout.contains("knots") && !auto.stderr.contains("quantiles"));
    assert_eq!(
        desk.json(&format!("train people {QUICK} --bins off -o off.gnan"))["options"]["spec"]["statistics"]["bins"],
        "off"
    );
    // The files differ in what was requested, and in nothing that was trained.
    assert_ne!(desk.read("auto.gnan"), desk.read("off.gnan"));
    assert_eq!(desk.works("predict auto.gnan people").stdout, desk.works("predict off.gnan people").stdout);
    desk.works(&format!("train people {QUICK} --try bins=off,8 -o tried.gnan")).shows("bins");
}

#[test]
fn numbers_of_bins_that_make_no_sense_are_refused() {
    let desk = Desk::new();
    desk.people("people");
    for wrong in ["0", "1", "-4", "many", "65537", "1e3", "99999999999999999999"] {
        desk.gnan(&format!("train people {QUICK} --bins={wrong}")).expect(2).says("bins");
    }
    desk.gnan(&format!("train people {QUICK} --try bins=1")).expect(2).says("knots");
}
