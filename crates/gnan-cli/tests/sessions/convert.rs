//! `gnan data convert`: any data set as tables.

use crate::desk::Desk;

#[test]
fn a_data_set_is_written_as_tables_and_read_again() {
    let desk = Desk::new();
    let before = desk.json("data info solubility");
    desk.works("data convert solubility -o tables").says("wrote 1,282 graphs");
    desk.works("data convert solubility -o parquet --format parquet");
    for folder in ["tables", "parquet"] {
        let after = desk.json(&format!("data info {folder}"));
        for same in ["name", "graphs", "nodes", "edges", "targets", "features"] {
            assert_eq!(before[same], after[same], "{same} of {folder}");
        }
    }
    assert!(desk.exists("tables/nodes.csv") && desk.exists("tables/gnan.toml"));
    desk.gnan("data convert solubility -o tables").expect(2).says("exists already").says("--force");
    assert_eq!(desk.json("data convert solubility -o tables --force --format parquet")["graphs"], 1282);
    assert!(desk.exists("tables/nodes.parquet") && !desk.exists("tables/nodes.csv"));
}

#[test]
fn a_set_of_the_catalogue_that_is_not_here_says_how_to_get_it() {
    let desk = Desk::new();
    let session =
        crate::desk::Session::of(desk.command("data convert cornell -o tables").env("GNAN_DATA", desk.path(".")));
    session.expect(3).says("gnan data fetch cornell");
    assert!(!desk.exists("tables"));
}
