//! Searching for good options, and evaluating as the paper does.

use crate::desk::Desk;

const QUICK: &str = "--epochs 20 --hidden 16 --target toxic";

#[test]
fn a_search_shows_what_was_tried_and_goes_on_from_its_journal() {
    let desk = Desk::new();
    desk.molecules("molecules");
    let line = format!(
        "evaluate molecules --folds 2 {QUICK} --try layers=1,2 --try describe=none,environment --journal runs.jsonl"
    );
    let first = desk.json(&line);
    assert_eq!(first["tried"].as_array().unwrap().len(), 8);
    assert!(first["folds"][0]["chosen"].as_str().unwrap().contains("describe"));
    let lines = String::from_utf8(desk.read("runs.jsonl")).unwrap().lines().count();
    assert_eq!(lines, 8 + 2);
    assert_eq!(desk.json(&line), first);
    assert_eq!(String::from_utf8(desk.read("runs.jsonl")).unwrap().lines().count(), lines);
    desk.works(&line).shows("10 known from before");
    assert!(!desk.works(&format!("{line} --fresh")).stdout.contains("known from before"));
    desk.works(&format!("{line} --fresh")).shows("tried").shows("validation loss").shows("layers 1, describe none");
}

#[test]
fn training_can_search_and_the_model_remembers_what_was_tried() {
    let desk = Desk::new();
    desk.molecules("molecules");
    let line = format!(
        "train molecules {QUICK} --try dropout=0.1..0.5 --try describe=none,environment --search random --trials 3 -o m.gnan"
    );
    desk.works(&line).shows("tried").shows("validation loss");
    let document = desk.json("inspect m.gnan");
    let tried = document["definition"]["record"]["tried"].as_array().unwrap_or_else(|| panic!("{document}"));
    assert_eq!(tried.len(), 3);
    // Data that are not described serve the model all the same.
    desk.works("predict m.gnan molecules");
}

#[test]
fn described_models_are_explained_and_drawn() {
    let desk = Desk::new();
    desk.molecules("molecules");
    desk.works(&format!("train molecules {QUICK} --describe degree@2,ring@2,environment@2 -o m.gnan"));
    desk.works("inspect m.gnan").shows("environment");
    desk.works("explain m.gnan molecules --all --verify -o ledgers.jsonl");
    desk.works("report m.gnan molecules -o report.html");
    let page = String::from_utf8(desk.read("report.html")).unwrap();
    assert!(page.contains("smallest ring") && page.contains("C(C,N)"));
    desk.gnan(&format!("train molecules {QUICK} --describe rings")).expect(2).says("environment").says("rings");
}

#[test]
fn mistakes_in_a_search_are_named() {
    let desk = Desk::new();
    desk.molecules("molecules");
    let gnan = |line: &str| desk.gnan(&format!("evaluate molecules {QUICK} {line}"));
    gnan("--try colour=red").expect(2).says("colour").says("hidden");
    gnan("--journal molecules").expect(2).says("a journal is a file");
    gnan("--resample 5 --folds 2").expect(0).says("--resample has no effect");
    let either = gnan("--smooth 1 --folds 2 --try shape=network,spline").expect(0);
    assert!(!either.stderr.contains("no effect"), "a candidate uses it: {}", either.stderr);
    gnan("--try hidden=33").expect(2).says("33");
    gnan("--try dropout=0.1..0.5").expect(2).says("grid");
    gnan("--try paper --try hidden=32").expect(2).says("paper");
    gnan("--try hidden=16,32 --select-by beauty").expect(2).says("accuracy");
    gnan("--try hidden=16,32 --budget soon").expect(2).says("30m");
    desk.gnan("evaluate molecules --protocol paper").expect(2).says("not a data set of the paper").says("cora");
    desk.gnan("evaluate cora --protocol paper --folds 3").expect(2).says("--folds");
    desk.gnan("reproduce --only coral").expect(2).says("coral").says("cora,");
    let empty = desk.gnan("reproduce --folder .").expect(3);
    empty.says("nothing to reproduce").says("gnan data fetch");
}

#[cfg(unix)]
#[test]
fn a_background_job_that_ignores_ctrl_c_works() {
    let desk = Desk::new();
    desk.molecules("molecules");
    let line = format!("trap '' INT; {} evaluate molecules --folds 2 {QUICK}", crate::desk::GNAN);
    let output = std::process::Command::new("sh").arg("-c").arg(line).current_dir(desk.path(".")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
