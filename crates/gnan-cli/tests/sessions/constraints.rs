//! Splines and constraints at a shell: requested, certified, inspected, and found out when a file was changed.

use gnan::Model;

use crate::desk::{Desk, Session};

const QUICK: &str = "--epochs 20 --hidden 16 --layers 1 --force";

/// Graphs with a number on every node.
fn numbers(desk: &Desk) {
    let (mut graphs, mut nodes) = ("graph_id,toxic\n".to_owned(), "graph_id,node_id,charge,size\n".to_owned());
    let mut edges = "graph_id,source,target\n".to_owned();
    for graph in 0..40i32 {
        graphs += &format!("g{graph},{}\n", ["no", "yes"][graph as usize % 2]);
        for node in 0..4 {
            let charge = f64::from((graph * 13 + node * 7) % 29) / 10.0 - f64::from(graph % 2);
            nodes += &format!("g{graph},n{node},{charge},{}.5\n", (graph * 5 + node * 3) % 11);
        }
        edges += &format!("g{graph},n0,n1\ng{graph},n1,n2\ng{graph},n2,n3\n");
    }
    desk.write("tables/graphs.csv", &graphs);
    desk.write("tables/nodes.csv", &nodes);
    desk.write("tables/edges.csv", &edges);
}

#[test]
fn constraints_are_kept_by_splines_and_certified() {
    let desk = Desk::new();
    numbers(&desk);
    let line = format!("train tables --target toxic --rho-monotone {QUICK}");
    let trained = Session::of(desk.command(&line).args(["--constrain", "charge: up, bounded 0.5"]));
    trained
        .expect(0)
        .says("constraints are kept by splines")
        .shows("splines")
        .shows("charge never lowers a prediction as it grows")
        .shows("charge never counts for more than 0.5")
        .shows("rho never rises with distance");
    desk.works("inspect model.gnan").shows("3 certificates").shows("all hold");
    let document = desk.works("inspect model.gnan --json").document();
    assert_eq!(document["checked"].as_array().unwrap().len(), 3);
    assert_eq!(document["definition"]["record"]["certificates"][0]["holds"], true);
    desk.works("report model.gnan tables -o report.html");
    assert!(String::from_utf8(desk.read("report.html")).unwrap().contains("charge never lowers a prediction"));

    // The claim of another feature is in the file, its rule is not; whoever changed it also wrote the checksum.
    let model = Model::load(desk.path("model.gnan")).unwrap();
    let mut definition = model.definition().clone();
    definition.record.certificates[0].subject = "chargx".to_owned();
    Model::from_parts(definition, model.parameters().clone()).save(desk.path("model.gnan")).unwrap();
    desk.gnan("inspect model.gnan").expect(1).shows("do NOT hold").shows("FALSE: chargx");
}

#[test]
fn constraints_come_from_a_file_and_are_refused_with_a_reason() {
    let desk = Desk::new();
    numbers(&desk);
    desk.write("options.toml", "[train]\nconstrain = [\"charge: up\", \"size: convex, smooth 2\"]\nsmooth = 0.01\n");
    let line = format!("train tables --target toxic --config options.toml {QUICK}");
    let document = desk.gnan(&format!("{line} --json")).expect(0).document();
    assert_eq!(document["options"]["spec"]["model"]["constrain"][1], "size: convex, smooth 2");
    assert_eq!(document["model"]["certificates"].as_array().unwrap().len(), 2);
    desk.gnan(&format!("{line} --shape network")).expect(2).says("--shape");
    desk.gnan(&format!("{line} --logits two")).expect(2).says("one logit");
    desk.gnan("train tables --constrain charge:sideways").expect(2).says("sideways").says("concave");
    desk.gnan("train tables --target toxic --force --constrain nothing:up").expect(2).says("charge");
    desk.gnan("train tables --shape spline --rho-shape spline --dropout 0.5").expect(2).says("dropout");
}

#[test]
fn splines_can_be_searched_over() {
    let desk = Desk::new();
    numbers(&desk);
    let line = format!("train tables --target toxic --try shape=network,spline --try rho-shape=network,spline {QUICK}");
    desk.works(&line).shows("shape spline");
}

/// Where nothing else is requested the fit is penalised, and keeps to constraints as it is.
#[test]
fn penalised_fits_keep_to_constraints_and_certify_them() {
    let desk = Desk::new();
    numbers(&desk);
    let rules = ["--constrain", "charge: down, bounded 0.3", "--constrain", "size: convex"];
    let trained = Session::of(desk.command("train tables --target toxic").args(rules));
    trained
        .expect(0)
        .shows("charge never raises a prediction as it grows")
        .shows("charge never counts for more than 0.3")
        .shows("size is convex");
    desk.works("inspect model.gnan").shows("3 certificates").shows("all hold");
    let document = desk.works("inspect model.gnan --json").document();
    assert_eq!(document["definition"]["spec"]["fit"]["fit"], "penalised");
    assert_eq!(document["checked"].as_array().unwrap().len(), 3);
    desk.works("summary model.gnan").shows("charge");
    desk.works("report model.gnan tables -o report.html");

    // Effects that were changed are found out.
    let model = Model::load(desk.path("model.gnan")).unwrap();
    let mut parameters = model.parameters().clone();
    let layout = model.definition().layout();
    let rho = layout.function(layout.features[0].first_rho + 2, 0);
    parameters.rhos.block_mut(rho).iter_mut().for_each(|effect| *effect += 1.0);
    Model::from_parts(model.definition().clone(), parameters).save(desk.path("model.gnan")).unwrap();
    desk.gnan("inspect model.gnan").expect(1).shows("do NOT hold").shows("FALSE: charge");

    let smooth = Session::of(
        desk.command("train tables --target toxic --force --fit penalised").args(["--constrain", "size: smooth 2"]),
    );
    smooth.expect(2).says("strengths of smoothness");
}
