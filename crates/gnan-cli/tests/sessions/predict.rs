//! Prediction on data that are not quite those of training.

use crate::desk::Desk;

fn desk_with_model() -> Desk {
    let desk = Desk::new();
    desk.molecules("molecules");
    desk.works("train molecules --epochs 30 --hidden 16 --layers 1");
    desk
}

#[test]
fn columns_in_another_order_and_without_targets() {
    let desk = desk_with_model();
    let expected = desk.works("predict model.gnan molecules").stdout;
    let nodes = String::from_utf8(desk.read("molecules/nodes.csv")).unwrap();
    let turned =
        nodes.lines().map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n").collect::<String>();
    desk.write("new/nodes.csv", &turned);
    desk.write("new/edges.csv", &String::from_utf8(desk.read("molecules/edges.csv")).unwrap());
    let session = desk.works("predict model.gnan new");
    assert_eq!(session.stdout, expected);
    assert_eq!(session.stderr, "", "no targets, nothing new, nothing to say");
}

#[test]
fn a_missing_column_is_named() {
    let desk = desk_with_model();
    desk.write("new/nodes.csv", "graph_id,node_id,mass\nx,a,12\n");
    desk.gnan("predict model.gnan new").expect(3).says("no feature \"element\"").says("mass");
}

#[test]
fn what_training_had_not_seen_is_predicted_and_said_once() {
    let desk = desk_with_model();
    desk.write(
        "new/nodes.csv",
        "graph_id,node_id,element,mass,colour\nx,a,C,12,red\nx,b,Xe,131,blue\nx,c,,12,\ny,a,N,14,red\n",
    );
    desk.write("new/edges.csv", "graph_id,source,target\nx,a,b\n");
    let session = desk.works("predict model.gnan new").says("Xe").says("outside the training range").says("colour");
    let session = session.says("missing value").says("unreachable");
    assert_eq!(session.stdout.lines().count(), 3);
    assert_eq!(session.stderr.matches("colour").count(), 1);
}

#[test]
fn ids_with_commas_and_quotes_survive() {
    let desk = Desk::new();
    let mut table = "name,smiles,y\n".to_owned();
    (1..20).for_each(|size| table.push_str(&format!("\"{size},\"\"x\"\"\",{},{size}.5\n", "C".repeat(size))));
    desk.write("names.csv", &table);
    desk.works("train names.csv --epochs 2 --hidden 16");
    desk.works("predict model.gnan names.csv").shows("\n\"1,\"\"x\"\"\",");
}

#[test]
fn targets_that_cannot_be_compared_do_not_stop_predictions() {
    let desk = desk_with_model();
    let graphs = String::from_utf8(desk.read("molecules/graphs.csv")).unwrap();
    desk.write("molecules/graphs.csv", &graphs.replacen(",no\n", ",perhaps\n", 1));
    desk.works("predict model.gnan molecules").shows("g59,").says("perhaps");
}
