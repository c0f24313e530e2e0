//! Large graphs: samples of shells, far distances as one, distances kept in files.

use crate::desk::Desk;

const QUICK: &str = "--epochs 5 --hidden 16 --target label --seed 3";

#[test]
fn a_model_trained_on_samples_says_so_and_predicts_exactly() {
    let desk = Desk::new();
    desk.people("people");
    desk.works(&format!("train people {QUICK} --shell-sample 2 --resample 2 -o sampled.gnan"));
    desk.works("inspect sampled.gnan").shows("shell sample 2").shows("predictions are exact");
    assert_eq!(desk.json("inspect sampled.gnan")["definition"]["spec"]["statistics"]["shell-sample"], 2);
    desk.works("explain sampled.gnan people --all --verify -o ledgers.jsonl");
    desk.works(&format!("train people {QUICK} --shell-sample 2 --resample 2 --threads 1 -o again.gnan"));
    assert_eq!(desk.read("sampled.gnan"), desk.read("again.gnan"));
    desk.gnan(&format!("train people {QUICK} --shell-sample 0")).expect(2).says("choose 1 to 4096");
    desk.gnan(&format!("train people {QUICK} --shell-sample 4 --resample 0")).expect(2).says("--resample");
    desk.gnan("train solubility --shell-sample 4 --epochs 1").expect(2).says("nothing to sample");
}

#[test]
fn far_distances_are_one_and_called_so() {
    let desk = Desk::new();
    desk.people("people");
    desk.works(&format!("train people {QUICK} --far-from 2 -o far.gnan"));
    let document = desk.json("inspect far.gnan");
    assert_eq!(document["definition"]["learned"]["lenses"][0]["far"], 2);
    desk.works("explain far.gnan people").shows("distance 2 or more").shows("distance 2 or more edges as one");
    desk.works("explain far.gnan people --all --verify -o ledgers.jsonl");
    desk.works("report far.gnan people -o report.html");
    for wrong in ["0", "70000", "near"] {
        desk.gnan(&format!("train people {QUICK} --far-from {wrong}")).expect(2);
    }
}

#[test]
fn distances_in_a_file_change_nothing() {
    let desk = Desk::new();
    desk.people("people");
    desk.works(&format!("train people {QUICK} -o memory.gnan"));
    desk.works(&format!("train people {QUICK} --cache distances -o file.gnan"));
    assert_eq!(desk.read("memory.gnan"), desk.read("file.gnan"));
}

/// 6,000 people in a chain with shortcuts and little memory: distances go into a file, and what is wrong with it is said.
#[test]
fn a_cache_that_cannot_be_used_is_named_and_changes_nothing() {
    if !cfg!(target_os = "linux") {
        return eprintln!("skipped: this system may not say how much memory is in use");
    }
    let desk = Desk::new();
    let (mut nodes, mut edges) = ("node_id,age,label\n".to_owned(), "source,target\n".to_owned());
    for person in 0..6000usize {
        nodes.push_str(&format!("p{person},{},{}\n", (person * 37) % 90, ["young", "old"][(person * 37) % 90 / 45]));
        edges.push_str(&format!("p{},p{person}\n", if person % 4 == 0 { person / 2 } else { person - 1 }));
    }
    desk.write("people/nodes.csv", &nodes);
    desk.write("people/edges.csv", &edges);
    let train = |options: &str| {
        let always = "train people --target label --rho shared --hidden 16 --epochs 1 --threads 2 --memory 52MB";
        let session = desk.works(&format!("{always} {options} -o model.gnan --force"));
        (session.stderr, desk.read("model.gnan"))
    };
    let (_, expected) = train("");
    let (quiet, model) = train("--cache distances");
    assert!(model == expected && !quiet.contains("warning"), "{quiet}");
    let file =
        std::fs::read_dir(desk.path("distances")).expect("folder").next().expect("a file").expect("a file").path();
    let mut bytes = std::fs::read(&file).expect("file");
    bytes[1_000_000] ^= 1;
    std::fs::write(&file, bytes).expect("file");
    let (warned, model) = train("--cache distances");
    assert!(model == expected && warned.contains("warning: the cache file"), "{warned}");
    let (quiet, _) = train("--cache distances");
    assert!(!quiet.contains("warning"), "it was written again: {quiet}");
    desk.write("no-folder", "");
    let (warned, model) = train("--cache no-folder/below");
    assert!(model == expected && warned.contains("warning: distances cannot be kept in no-folder"), "{warned}");
    desk.gnan("train people --target label --cache no-folder --force")
        .expect(2)
        .says("no-folder")
        .says("name a folder");
}
