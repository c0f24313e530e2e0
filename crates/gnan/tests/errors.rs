//! What errors promise: the library is called in several ways, so it names no option or command as one of them does,
//! and an error leads to its cause and its place.

use std::error::Error as _;
use std::path::{Path, PathBuf};

use gnan::error::ErrorColumn;
use gnan::files::ReadOptions;
use gnan::{Error, ErrorKind};

fn source_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { source_files(&path, files) } else { files.push(path) }
    }
}

/// Commands of the command line that would be easy to name in a message.
const COMMANDS: [&str; 16] = [
    "demo",
    "data",
    "plan",
    "train",
    "evaluate",
    "predict",
    "explain",
    "plot",
    "report",
    "bootstrap",
    "export",
    "inspect",
    "check",
    "reproduce",
    "selftest",
    "completions",
];

/// Whether a line writes an option or a command as the command line does.
fn names_command_line(line: &str) -> bool {
    let flag =
        line.match_indices("--").any(|(at, _)| line[at + 2..].starts_with(|letter: char| letter.is_ascii_lowercase()));
    let command = line.match_indices("gnan ").any(|(at, _)| {
        let word = line[at + 5..].split(|letter: char| !letter.is_ascii_lowercase()).next();
        word.is_some_and(|word| COMMANDS.contains(&word))
    });
    flag || command
}

#[test]
fn the_library_names_no_flag_and_no_command() {
    assert!(names_command_line("use --force") && names_command_line("run `gnan train`"));
    assert!(!names_command_line("a -- b --> c") && !names_command_line("this gnan reads"));
    let mut files = Vec::new();
    source_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 100, "only {} source files were found", files.len());
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines = (1..).zip(text.lines()).filter(|(_, line)| names_command_line(line));
        found.extend(lines.map(|(number, line)| format!("{}:{number}: {}", file.display(), line.trim())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What reading a folder of CSV tables complains about.
fn refusal(files: &[(&str, &str)], splits: Option<&str>) -> Error {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let options = ReadOptions { splits: splits.map(|name| folder.path().join(name)), ..ReadOptions::default() };
    gnan::files::read(folder.path().to_str().unwrap(), &options).map(|_| ()).unwrap_err()
}

/// File, line and column of an error, and whether it has a cause.
fn place(error: &Error) -> (String, Option<u64>, Option<ErrorColumn>, bool) {
    let file = error.file().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    (file, error.line(), error.column().cloned(), error.source().is_some())
}

#[test]
fn an_error_leads_to_its_place_and_its_cause() {
    let named = |name: &str| Some(ErrorColumn::Named(name.to_owned()));
    let nodes = ("nodes.csv", "node_id,x\na,1\nb,2\n");

    let error = refusal(&[nodes, ("edges.csv", "source,target\na,b\na,c\n")], None);
    assert_eq!(place(&error), ("edges.csv".into(), Some(3), named("target"), false));
    assert_eq!(error.kind(), ErrorKind::Input);

    let error = refusal(&[("nodes.csv", "node_id,x\na,inf\n")], None);
    assert_eq!(place(&error), ("nodes.csv".into(), Some(2), named("x"), false));

    let error = refusal(&[("nodes.csv", "node_id,x\na,1,2\n")], None);
    assert_eq!(place(&error), ("nodes.csv".into(), Some(2), None, false));

    let error = refusal(&[nodes, ("gnan.toml", "task = \"node\"\nname = é\n")], None);
    assert_eq!(place(&error), ("gnan.toml".into(), Some(2), Some(ErrorColumn::Character(8)), true));

    let error = refusal(&[nodes, ("splits.json", "{\"train\": [0],\n \"test\": [x]}")], Some("splits.json"));
    assert_eq!(place(&error), ("splits.json".into(), Some(2), Some(ErrorColumn::Character(11)), true));
    assert!(error.to_string().contains("splits.json:2:11: this is not a file of splits: expected value\n"), "{error}");

    let missing = Path::new("no/such/model.gnan");
    let error = gnan::Limits::default().read(missing, "bytes").unwrap_err();
    let cause = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    assert_eq!(cause.map(std::io::Error::kind), Some(std::io::ErrorKind::NotFound));
}
