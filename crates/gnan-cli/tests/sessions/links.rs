//! Links: from a graph to a model of which nodes are joined, asked about pairs by name.

use crate::desk::Desk;

/// A model of the ring of people.
fn desk_with_model() -> Desk {
    let desk = Desk::new();
    desk.people("people");
    desk.works("train people --task link --test-share 0.2 --epochs 15 --hidden 16 --layers 1 -o links.gnan")
        .shows("link of node pairs")
        .shows("ROC-AUC")
        .shows("average precision");
    desk
}

#[test]
fn pairs_are_predicted_and_explained_by_name() {
    let desk = desk_with_model();
    desk.works("inspect links.gnan")
        .shows("age (sum)")
        .shows("age (difference)")
        .shows("group (pair)")
        .shows("common neighbours")
        .shows("difference in age")
        .shows("same group")
        .shows("message edge");
    desk.write("pairs.csv", "source,target\np0,p1\np40,p7\n");
    let predicted = desk.works("predict links.gnan people --pairs pairs.csv");
    assert_eq!(predicted.stdout.lines().count(), 3);
    predicted.shows("\np0–p1,").shows("\np40–p7,").shows("probability:yes");
    let why = desk.works("explain links.gnan people --id p0-p1,p40–p7").shows("p0–p1").shows("p40–p7");
    why.shows("by edge").shows("distance 1").shows("age (sum)").shows("p40–p7 (itself)");
    let why = desk.works("explain links.gnan people --id p0-p1 --by feature --top 30");
    why.shows("distance without this link = ").shows("common neighbours = 0").shows("smaller degree = 1");
    let document = desk.json("explain links.gnan people --id p40-p7");
    assert_eq!(document["id"], "p40–p7");
    desk.works("explain links.gnan people --verify --all").shows("adds up");
    desk.works("explain links.gnan people").shows("importance by distance").shows("pair");
    desk.works("plot links.gnan people --id p0-p1 --format svg -o drawn");
    assert!(desk.exists("drawn/graph-p0-p1.svg") && desk.exists("drawn/waterfall-p0-p1.svg"));
    desk.works("report links.gnan people -o links.html");
    assert!(desk.exists("links.html"));
}

#[test]
fn pairs_have_features_of_their_own_unless_they_are_left_out() {
    let desk = Desk::new();
    desk.people("people");
    desk.works("train people --task link --hop-cap 0 --epochs 3 --hidden 16 --layers 1 -o own.gnan");
    desk.works("explain own.gnan people --verify --all").shows("adds up");
    desk.works("train people --task link --pair-features false --epochs 3 --hidden 16 --layers 1 -o plain.gnan");
    assert!(!desk.works("inspect plain.gnan").stdout.contains("common neighbours"));
}

#[test]
fn links_are_evaluated_over_seeds() {
    let desk = Desk::new();
    desk.people("people");
    let line = "evaluate people --task link --seeds 2 --epochs 5 --hidden 16 --layers 1 --negatives 2";
    let document = desk.json(line);
    assert_eq!(document["folds"].as_array().map(Vec::len), Some(2));
    for metric in ["roc_auc", "average_precision"] {
        let mean = document["metrics"][metric]["mean"].as_f64().expect("a number");
        assert!((0.0..=1.0).contains(&mean), "{metric} {mean}");
    }
    assert_eq!(desk.json(line), document);
    desk.works("evaluate people --task link --epochs 3 --hidden 16 --layers 1 --try learning-rate=0.01,0.1 --fresh --journal j")
        .shows("tried");
}

#[test]
fn a_sample_is_announced() {
    let desk = Desk::new();
    desk.people("people");
    let session = desk.works("train people --task link --most-node-pairs 40 --epochs 2 --hidden 16 --layers 1");
    session.says("a sample of 40 of");
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    let desk = desk_with_model();
    desk.gnan("predict links.gnan people").expect(2).says("--pairs");
    desk.write("strangers.csv", "source,target\np0,p1\np0,nobody\n");
    desk.gnan("predict links.gnan people --pairs strangers.csv").expect(3).says("strangers.csv:3").says("nobody");
    desk.write("nameless.csv", "a,b\np0,p1\n");
    desk.gnan("predict links.gnan people --pairs nameless.csv").expect(3).says("source");
    desk.gnan("explain links.gnan people --id p0-nobody").expect(2).says("no pair of nodes");
    desk.gnan("train people --task link --target label").expect(2).says("leave --target");
    desk.gnan("train people --task link --directed").expect(2).says("--directed=false");
    desk.gnan("train people --task link --hop-cap 0 --pair-features false").expect(2).says("--hop-cap");
    desk.gnan("train people --pair-features false").expect(2).says("--task link");
    desk.gnan("train people --task link --feature-pairs 2").expect(2).says("feature-pairs");
    desk.gnan("train people --negatives 2").expect(2).says("--task link");
    desk.gnan("evaluate people --task link --folds 3").expect(2).says("--seeds");
    desk.works("train people --target label --epochs 2 --hidden 16 --layers 1 -o nodes.gnan");
    desk.write("pairs.csv", "source,target\np0,p1\n");
    desk.gnan("predict nodes.gnan people --pairs pairs.csv").expect(2).says("predicts no links");
}
