//! Which sources count from which distances: pooling, directions, edge types, weights, groups and association rules at the shell.

use crate::desk::Desk;

const QUICK: &str = "--epochs 30 --hidden 16 --layers 2";

/// A town of directed roads with a kind and a length each; people are at risk if their own debt is high.
fn town() -> Desk {
    let desk = Desk::new();
    let (mut nodes, mut edges) = ("node_id,debt,faith,risk\n".to_owned(), "source,target,type,days\n".to_owned());
    for person in 0..80usize {
        let debt = (person * 29) % 80;
        let risk = if debt > 40 { "high" } else { "low" };
        nodes.push_str(&format!("p{person},{debt},{},{risk}\n", ["x", "y", "z"][person % 3]));
        edges.push_str(&format!(
            "p{person},p{},{},{}\n",
            (person * 7 + 3) % 80,
            ["kin", "trade"][person % 2],
            person % 9
        ));
    }
    desk.write("town/nodes.csv", &nodes);
    desk.write("town/edges.csv", &edges);
    desk
}

#[test]
fn association_rules_are_certified_and_certificates_are_checked_again() {
    let desk = town();
    desk.works(&format!("train town --target risk --own-only faith --hop-cap-of debt=1 {QUICK}"));
    let shown = desk.works("inspect model.gnan");
    let shown = shown.shows("faith").shows("faith of another node never counts");
    assert!(shown.stdout.contains("exactly 0"), "{}", shown.stdout);
    let document = desk.json("explain model.gnan town --id p5");
    let outputs = document["outputs"].as_object().expect("outputs");
    for parts in outputs.values() {
        let cells = parts["by_feature_and_distance"]["faith"].as_object().expect("distances");
        assert!(cells.iter().all(|(distance, amount)| distance == "0" || amount.as_f64() == Some(0.0)), "{cells:?}");
    }
    desk.works("explain model.gnan town --verify");
    desk.gnan("train town --target risk --own-only debts -o x.gnan").expect(2).says("no feature \"debts\"");
    desk.gnan("train town --target risk --own-only debt --neighbours-only debt -o x.gnan")
        .expect(2)
        .says("no distance");
    desk.gnan("train town --target risk --hop-cap-of debt -o x.gnan").expect(2).says("for example age=2");
    assert!(!desk.exists("x.gnan"));
}

/// One rho for all features, and a copy of it for the feature under a rule: both have a verdict.
#[test]
fn a_report_has_a_verdict_on_the_rho_of_all_features_beside_rules() {
    let desk = town();
    // Of the difference of two logits there is no influence, but effects by distance.
    for (logits, what) in [("one", "Influence"), ("two", "Effect")] {
        desk.works(&format!(
            "train town --target risk --rho shared --logits {logits} --own-only faith {QUICK} --force"
        ));
        desk.works("bootstrap model.gnan town --resamples 2 --restart");
        desk.works("report model.gnan town --force");
        let page = String::from_utf8(desk.read("report.html")).expect("UTF-8");
        for rho in ["all features", "faith"] {
            assert!(page.contains(&format!("{what} of {rho}")), "{logits}: {what} of {rho}");
        }
    }
}

#[test]
fn several_ways_of_measuring_distance_have_a_place_in_every_ledger() {
    let desk = town();
    desk.write("town/town.toml", "directed = true\n");
    desk.works(&format!("train town --target risk --direction along,against {QUICK}"));
    desk.works("inspect model.gnan").shows("along edges").shows("against edges");
    desk.works("explain model.gnan town --id p5 --by distance").shows("against, distance 1");
    desk.works("explain model.gnan town --verify");
    desk.works("explain model.gnan").shows("along");
    desk.works("plot model.gnan town -o figures --format svg");
    desk.works("report model.gnan town");
    desk.works("export model.gnan");

    desk.works(&format!("train town --target risk --edge-types kin,all -o kin.gnan {QUICK}"));
    desk.works("explain kin.gnan town --verify");
    desk.gnan("train town --target risk --edge-types friend -o x.gnan").expect(2).says("the types are: kin, trade");

    desk.works(&format!("train town --target risk --edge-weight days=2,5,20 -o days.gnan {QUICK}"));
    desk.works("explain days.gnan town --id p5 --by distance").shows("days 2 to 5");
    desk.works("explain days.gnan town --verify");
    desk.gnan("train town --target risk --edge-weight weeks=2 -o x.gnan").expect(2).says("choose from: days");
    desk.gnan("train town --target risk --edge-weight days -o x.gnan").expect(2).says("days=1,7,30");
}

#[test]
fn graphs_are_pooled_by_sum_and_mean_and_read_out() {
    let desk = Desk::new();
    desk.molecules("molecules");
    desk.works(&format!("train molecules --pool both --rho-group both=element,mass {QUICK}"));
    desk.works("inspect model.gnan").shows("averaged over receivers");
    desk.works("explain model.gnan molecules --id g3").shows("mean, distance 1");
    desk.works("explain model.gnan molecules --verify");
    desk.works("report model.gnan molecules");

    desk.works(&format!("train molecules --readout -o readout.gnan {QUICK}"));
    desk.works("inspect readout.gnan").shows("readout");
    desk.works("explain readout.gnan molecules --id g3").shows("first stage").shows("second stage");
    desk.works("explain readout.gnan molecules --verify").shows("both stages add up");
    desk.works("explain readout.gnan").shows("readout of");
    let document = desk.json("explain readout.gnan molecules --id g3");
    assert_eq!(document["terms"][0]["part"], "structure");
    assert!(desk.json("export readout.gnan")["readout"]["functions"].as_array().is_some_and(|all| all.len() == 3));
    desk.works("plot readout.gnan molecules -o figures --format svg");
    desk.gnan("report readout.gnan molecules -o r.html").expect(2).says("two stages");
    desk.gnan("bootstrap readout.gnan molecules").expect(2).says("readout");
    desk.people("people");
    desk.gnan("train people --readout -o x.gnan").expect(2).says("tasks about graphs");
    desk.gnan("train people --pool mean -o x.gnan").expect(2).says("pooling is for graphs");
}
