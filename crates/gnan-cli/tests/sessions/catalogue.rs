//! The paper's data sets: what there is, fetching from mirrors, and names that stand for paths.

use crate::desk::{Desk, Session};

impl Desk {
    /// Runs the command with a folder of data sets of its own.
    fn with_data(&self, line: &str) -> Session {
        Session::of(self.command(line).env("GNAN_DATA", self.path("data")))
    }
}

#[test]
fn the_list_says_what_there_is_and_what_is_here() {
    let desk = Desk::new();
    let listed = desk.with_data("data list").expect(0);
    listed.shows("ogbn-arxiv").shows("mutagenicity").shows("ODC-BY 1.0").shows("0 of 11 are here");
    desk.write("data/planetoid/ind.cora.x", "");
    desk.with_data("data list").expect(0).shows("in part");
    std::fs::remove_dir_all(desk.path("data")).unwrap();
    desk.write("data/tu/PTC_MR/PTC_MR_A.txt", "");
    desk.with_data("data list").expect(0).shows("1 of 11 are here");
    desk.works("data list --folder data").shows("1 of 11 are here");
    let document = desk.with_data("data list --json").expect(0).document();
    let sets = document["sets"].as_array().unwrap();
    assert_eq!(sets.len(), 11);
    let ptc = sets.iter().find(|set| set["name"] == "ptc").unwrap();
    assert!(ptc["here"].as_str().unwrap().ends_with("PTC_MR"), "{ptc}");
    assert_eq!(ptc["paper"][0]["rows"][6]["mean"], 64.9);
    let sums = sets.iter().flat_map(|set| set["files"].as_array().unwrap()).filter(|file| file["sha256"].is_string());
    assert!(sums.count() > 30);
}

#[test]
fn fetching_needs_names_that_exist() {
    let desk = Desk::new();
    desk.gnan("data fetch").expect(2).says("<NAME>");
    desk.gnan("data fetch --all cora").expect(2).says("cannot be used with");
    desk.gnan("data fetch pubmd").expect(2).says("did you mean pubmed?");
    desk.gnan("data fetch ../../etc/passwd").expect(2).says("it holds cora");
    desk.gnan("data fetch ptc --mirror no-such-folder").expect(2).says("there is no folder \"no-such-folder\"");
    desk.gnan("data fetch ptc --mirror ftp://example.org").expect(2).says("https://");
    assert!(!desk.exists("data"));
}

#[test]
fn a_mirror_with_wrong_bytes_leaves_nothing() {
    let desk = Desk::new();
    desk.write("mirror/tu/PTC_MR.zip", "not the file");
    desk.with_data("data fetch ptc --mirror mirror")
        .expect(3)
        .says("2f935126a9ec684e13ed9ff5ea389f62c4c70f41dcedb3e1114c0b0947103200 was expected")
        .says("it was removed");
    assert!(!desk.exists("data/tu/PTC_MR.zip") && !desk.exists("data/tu/PTC_MR.zip.part"));
    desk.with_data("data fetch ptc cornell --mirror mirror")
        .expect(3)
        .says("not fetched: PTC")
        .says("not fetched: Cornell")
        .says("2 of 2 data sets were not fetched: ptc, cornell");
    desk.with_data("data fetch ptc --mirror http://127.0.0.1:1/nobody --json").expect(3).says("cannot be reached");
}

#[test]
fn files_without_a_checksum_are_not_called_verified() {
    let desk = Desk::new();
    let rows = (1..30).map(|size| format!("m{size},{},{size}.5\n", "C".repeat(size)));
    let table = format!("mol_id,smiles,mu\n{}", rows.collect::<String>());
    desk.write("mirror/qm9/qm9.csv", &table);
    let fetched = desk.with_data("data fetch QM9 --mirror mirror").expect(0);
    fetched
        .shows("cannot be verified")
        .shows("gnan data info qm9")
        .shows("gnan evaluate qm9 --target mu")
        .shows("Ramakrishnan");
    assert_eq!(desk.read("data/qm9/qm9.csv"), table.as_bytes());
    let again = desk.with_data("data fetch qm9 --mirror mirror --json").expect(0).document();
    assert_eq!(again["sets"][0]["files"][0]["state"], "already-there");
    assert_eq!(again["sets"][0]["files"][0]["verified"], false);
    desk.works("data fetch qm9 --mirror mirror --folder other").shows("gnan data info other");
    // The name stands for the path from now on.
    desk.with_data("data info qm9").expect(0).shows("SMILES table");
    desk.with_data("train qm9 --target mu --epochs 2 --hidden 16 --layers 1").expect(0);
    desk.with_data("predict model.gnan qm9").expect(0);
}

#[test]
fn a_name_that_was_not_fetched_says_how() {
    let desk = Desk::new();
    desk.with_data("data info cora").expect(3).says("Cora is not in").says("run gnan data fetch cora");
    desk.with_data("train PROTEINS").expect(3).says("gnan data fetch proteins");
    // A path of that name comes first.
    desk.molecules("cora");
    desk.with_data("data info cora").expect(0).shows("element");
}
