//! Options from a file, the environment and flags, each stronger than the one before.

use serde_json::Value;

use crate::desk::{Desk, Session};

const QUICK: &str = "--hidden 16 --layers 1 --json --force";

fn options(session: Session) -> Value {
    session.expect(0).document()["options"]["spec"].clone()
}

#[test]
fn file_then_environment_then_flags() {
    let desk = Desk::new();
    desk.molecules("molecules");
    desk.write("options.toml", "epochs = 2\nseed = 1\nbalance = true\n[train]\nlearning-rate = 0.02\nseed = 5\n[predict]\nformat = \"jsonl\"\n");
    let line = format!("train molecules --config options.toml {QUICK}");

    let found = options(desk.gnan(&line));
    assert_eq!((&found["fit"]["epochs"], &found["fit"]["learning-rate"]), (&2.into(), &0.02.into()));
    assert_eq!(found["fit"]["balance"], true);
    assert_eq!(found["fit"]["seed"], 5, "the command's own table is the narrower one");

    let found = options(Session::of(desk.command(&line).env("GNAN_EPOCHS", "3").env("GNAN_BALANCE", "no")));
    assert_eq!((&found["fit"]["epochs"], &found["fit"]["balance"]), (&3.into(), &false.into()));

    let found = options(Session::of(desk.command(&format!("{line} --epochs 4")).env("GNAN_EPOCHS", "3")));
    assert_eq!(found["fit"]["epochs"], 4);

    // The table of another command leaves training alone, and is followed by its own.
    let predicted = desk.works("predict model.gnan molecules --config options.toml").stdout;
    assert!(predicted.starts_with('{'), "{predicted}");
}

#[test]
fn a_file_can_be_named_in_the_environment() {
    let desk = Desk::new();
    desk.molecules("molecules");
    desk.write("options.toml", "[evaluate]\nfolds = 2\nepochs = 2\nhidden = 16\ntarget = [\"toxic\"]\n");
    let session = Session::of(desk.command("evaluate molecules --json").env("GNAN_CONFIG", "options.toml"));
    let document = session.expect(0).document();
    assert_eq!(document["folds"].as_array().unwrap().len(), 2);
    assert_eq!(document["options"]["spec"]["data"]["target"][0], "toxic");
}

#[test]
fn a_flag_beats_its_opposite_in_the_file() {
    let desk = Desk::new();
    desk.molecules("molecules");
    desk.write("options.toml", "directed = true\n");
    desk.works("data info molecules --config options.toml").shows(", directed");
    desk.works("data info molecules --config options.toml --directed=false").shows(", undirected");
}

#[test]
fn an_option_that_may_stand_alone_can_be_true_or_false() {
    let desk = Desk::new();
    desk.molecules("molecules");
    let select = |truth: &str| {
        desk.write("options.toml", &format!("select = {truth}\nepochs = 2\n"));
        options(desk.gnan(&format!("train molecules --config options.toml --target toxic {QUICK}")))["model"]["select"]
            .clone()
    };
    assert_eq!((select("true"), select("false")), ("path".into(), Value::Null));
}

#[test]
fn mistakes_in_the_file_are_named_with_their_place() {
    let desk = Desk::new();
    desk.molecules("molecules");
    let says = |text: &str, words: &str| {
        desk.write("options.toml", text);
        desk.gnan(&format!("train molecules --config options.toml {QUICK}")).expect(2).says("options.toml").says(words)
    };
    says("epochs = 2\nepoch = 3\n", "options.toml:2: \"epoch\" is not an option of any command");
    says("learning_rate = 0.1\n", "near it are: learning-rate");
    says("[train]\nfolds = 3\n", "options.toml:2: \"folds\" is not an option of gnan train");
    says("[training]\nepochs = 3\n", "options.toml:1: \"training\"");
    says("epochs = \"many\"\n", "options.toml:1: invalid value 'many' for 'epochs'");
    says("epochs = {}\n", "must be a word, a number or a list");
    says("seed = 1\n\n[train]\nfar-from = 0\n", "options.toml:4: invalid value '0' for 'far-from'");
    says("epochs = \n", "options.toml:1:");
    says("config = \"other.toml\"\n", "\"config\" is not an option");
    desk.gnan("train molecules --config absent.toml").expect(3).says("absent.toml");
    assert!(!desk.exists("model.gnan"));
}
