//! Pairs of features, from the ranking to the figure.

use crate::desk::Desk;

const QUICK: &str = "--epochs 20 --hidden 16 --target toxic";

#[test]
fn pairs_are_ranked_trained_explained_and_drawn() {
    let desk = Desk::new();
    desk.molecules("molecules");
    desk.works(&format!("train molecules {QUICK} --describe degree@2 --feature-pairs 1 -o m.gnan"))
        .shows("pairs")
        .shows("explains");
    desk.works("inspect m.gnan").shows(" × ").shows("explains");
    desk.works("predict m.gnan molecules");
    desk.works("explain m.gnan molecules --all --verify -o ledgers.jsonl");
    desk.works("report m.gnan molecules -o report.html");
    assert!(String::from_utf8(desk.read("report.html")).unwrap().contains("Effect of the feature pair"));
}

#[test]
fn pairs_that_make_no_sense_are_refused() {
    let desk = Desk::new();
    desk.molecules("molecules");
    desk.gnan(&format!("train molecules {QUICK} --feature-pair element,nothing")).expect(2).says("nothing");
    desk.gnan(&format!("train molecules {QUICK} --feature-pair element,element")).expect(2).says("itself");
    desk.gnan(&format!("train molecules {QUICK} --feature-pair element")).expect(2).says("comma");
    desk.gnan(&format!("train molecules {QUICK} --feature-pairs 99999")).expect(2).says("pairs are requested");
}
