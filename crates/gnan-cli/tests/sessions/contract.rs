//! The contract that scripts rely on: exit codes, clean stdout, nothing overwritten, messages that help.

use std::process::Stdio;

use crate::desk::{Desk, GNAN, Session};

const QUICK: &str = "--epochs 3 --hidden 16 --layers 1";

#[test]
fn wrong_usage_is_2_and_suggests_what_was_meant() {
    let desk = Desk::new();
    desk.gnan("train solubility --learning-rat 0.1").expect(2).says("--learning-rate");
    desk.gnan("trian solubility").expect(2).says("train");
    desk.gnan("train solubility --rho sharde").expect(2).says("shared");
    desk.gnan("train solubility --epochs many").expect(2).says("--epochs");
    desk.gnan("train solubility --epochs 0").expect(2).says("epochs cannot be 0");
    desk.gnan("train solubility --learning-rate -1").expect(2).says("it must be above 0");
    desk.gnan("train solubility --learning-rate 0").expect(2).says("it must be above 0");
    desk.gnan("train solubility --threads 0").expect(2).says("--threads");
    desk.gnan("train solubility --test-share 1.5").expect(2).says("between 0 and 1");
    desk.gnan("train solubility --directed=perhaps").expect(2).says("true or false");
    desk.gnan("train solubility --loss hinge").expect(2).says("squared");
    desk.gnan("evaluate solubility --folds 1").expect(2).says("folds");
    desk.gnan("").expect(2);
    assert!(!desk.exists("model.gnan"));
}

#[test]
fn bad_input_is_3_and_names_file_and_line() {
    let desk = Desk::new();
    desk.gnan("data info nowhere").expect(3).says("error: there is no file or folder \"nowhere\"").says("solubility");
    desk.molecules("molecules");
    let mut edges = String::from_utf8(desk.read("molecules/edges.csv")).unwrap();
    edges.insert_str("graph_id,source,target\n".len(), "g0,a0,a99\n");
    desk.write("molecules/edges.csv", &edges);
    desk.gnan("train molecules").expect(3).says("molecules/edges.csv:2:").says("a99");
    desk.write("broken.gnan", "not a model");
    desk.gnan("inspect broken.gnan").expect(3).says("broken.gnan: this is not a usable model file");
    desk.gnan("predict absent.gnan solubility").expect(3).says("absent.gnan");
    desk.write("one.csv", "smiles,toxic\nC,1\nCC,1\nCCC,1\n");
    desk.gnan("train one.csv").expect(3).says("one class only");
}

#[test]
fn help_has_a_summary_groups_and_examples() {
    let desk = Desk::new();
    for command in [
        "demo",
        "data list",
        "data info",
        "data fetch",
        "train",
        "evaluate",
        "predict",
        "explain",
        "export",
        "inspect",
        "summary",
        "check",
        "completions",
    ] {
        let help = desk.works(&format!("{command} --help")).shows("Examples:").shows("General options:").stdout;
        assert!(help.contains(&format!("gnan {command}")), "{help}");
        assert!(!help.contains('\x1b'), "colours in a pipe");
    }
    desk.works("--help").shows("Exit codes: 0 done, 1 a check answered no, 2 wrong usage, 3 bad input");
    desk.works("--version").shows("gnan 0.");
    // Defaults are those of the library.
    desk.works("train --help").shows("[default: 3]").shows("[default: 64]").shows("[default: model.gnan]");
}

#[test]
fn nothing_is_overwritten_without_force() {
    let desk = Desk::new();
    desk.molecules("molecules");
    desk.write("model.gnan", "precious");
    desk.gnan(&format!("train molecules {QUICK}"))
        .expect(2)
        .says("model.gnan: this file exists already")
        .says("--force");
    assert_eq!(desk.read("model.gnan"), b"precious");
    desk.works(&format!("train molecules {QUICK} --force"));
    assert_ne!(desk.read("model.gnan"), b"precious");
    desk.write("out.csv", "precious");
    desk.gnan("predict model.gnan molecules -o out.csv").expect(2).says("--force");
    assert_eq!(desk.read("out.csv"), b"precious");
    desk.works("predict model.gnan molecules -o out.csv --force").says("wrote 60 predictions to out.csv");
    assert!(desk.read("out.csv").starts_with(b"id,class,"));
    desk.gnan(&format!("train molecules {QUICK} -o no/such/folder/model.gnan")).expect(2).says("no such folder");
    desk.gnan(&format!("train molecules {QUICK} -o molecules")).expect(2).says("a folder, not a file");
    #[cfg(unix)]
    desk.gnan(&format!("train molecules {QUICK} -o /dev/null --force")).expect(2).says("not an ordinary file");
}

#[test]
fn stdout_holds_the_document_and_nothing_else() {
    let desk = Desk::new();
    desk.molecules("molecules");
    for line in [
        format!("train molecules --json {QUICK}"),
        format!("evaluate molecules --folds 2 --json {QUICK}"),
        "data info molecules --json".to_owned(),
        "inspect model.gnan --json".to_owned(),
    ] {
        let session = desk.works(&line);
        assert!(session.document().is_object());
        assert_eq!(session.stderr, "", "{line}");
    }
    // The option may stand before the command as well.
    assert!(desk.works("--json inspect model.gnan").document().is_object());
    let lines = desk.works("predict model.gnan molecules --json").stdout;
    assert!(lines.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].is_string()));
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let desk = Desk::new();
    desk.molecules("molecules");
    for threads in ["1", "2", "5"] {
        desk.works(&format!("train molecules --epochs 20 --threads {threads} -o {threads}.gnan"));
        desk.works(&format!("predict {threads}.gnan molecules --threads {threads} -o {threads}.csv"));
    }
    assert_eq!(desk.read("1.gnan"), desk.read("2.gnan"));
    assert_eq!(desk.read("1.gnan"), desk.read("5.gnan"));
    assert_eq!(desk.read("1.csv"), desk.read("2.csv"));
    let evaluate = |threads: u8| desk.json(&format!("evaluate molecules --folds 3 {QUICK} --threads {threads}"));
    assert_eq!(evaluate(1), evaluate(2));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let desk = Desk::new();
    let mut child = std::process::Command::new(GNAN)
        .args(["data", "info", "solubility", "--all"])
        .current_dir(desk.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn colours_stay_out_of_pipes_and_no_color_is_honoured() {
    let desk = Desk::new();
    assert!(!desk.works("data info solubility").stdout.contains('\x1b'));
    let forced = Session::of(desk.command("data info solubility").env("CLICOLOR_FORCE", "1"));
    assert!(forced.stdout.contains('\x1b'));
    let plain = Session::of(desk.command("data info solubility").env("NO_COLOR", "1"));
    assert!(!plain.stdout.contains('\x1b'));
}

#[test]
fn completions_know_the_commands() {
    let desk = Desk::new();
    desk.works("completions bash").shows("evaluate").shows("--learning-rate");
    desk.works("completions zsh").shows("#compdef gnan");
}
