//! The architecture as `lib.rs` states it: a module uses only modules that stand before it, so there is no cycle between
//! them; a type name is defined once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).expect("a folder of sources");
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The code of a file without its tests and comments.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("a source file");
    let text = text.split("#[cfg(test)]").next().expect("something before the tests");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The modules of the crate that some code names after `crate::`, alone or in braces.
fn used(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => {
                let (mut depth, mut at_start) = (0, true);
                let mut name = String::new();
                for letter in list.chars() {
                    match letter {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            names.push(std::mem::take(&mut name));
                            at_start = true;
                        }
                        letter if is_name(letter) && depth == 0 && at_start => name.push(letter),
                        letter if letter.is_whitespace() => {}
                        _ => at_start = false,
                    }
                }
                names.push(name);
            }
            None => names.push(rest.chars().take_while(|letter| is_name(*letter)).collect()),
        }
    }
    names
}

#[test]
fn modules_use_only_what_stands_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = std::fs::read_to_string(root.join("lib.rs")).expect("lib.rs");
    let modules: Vec<&str> = lib
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    assert!(modules.len() > 20, "{modules:?}");
    let place = |name: &str| modules.iter().position(|module| *module == name);
    let mut uses = 0;
    for path in sources(&root) {
        let own = path.strip_prefix(&root).expect("a source of this crate");
        let own = own.components().next().expect("a name").as_os_str().to_string_lossy();
        let Some(own_place) = place(own.trim_end_matches(".rs")) else { continue };
        for name in used(&code(&path)) {
            let Some(other) = place(&name) else { continue };
            uses += 1;
            assert!(other <= own_place, "{} uses {name}, which stands after it in lib.rs", path.display());
        }
    }
    assert!(uses > 300, "{uses} uses were found: are they read at all?");
}

#[test]
fn uses_are_found() {
    let code = "use crate::{a::{self, b}, c};\nuse crate::d::E;\nlet x = crate::f(1);";
    assert_eq!(used(code), ["a", "c", "d", "f"]);
}

#[test]
fn a_type_name_is_defined_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in sources(&root) {
        for line in code(&path).lines() {
            let line = line.trim_start();
            let line = line.strip_prefix("pub ").or(line.strip_prefix("pub(super) ")).unwrap_or(line);
            let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
            let Some(rest) = ["struct ", "enum ", "trait "].iter().find_map(|kind| line.strip_prefix(kind)) else {
                continue;
            };
            let name: String = rest.chars().take_while(|letter| is_name(*letter)).collect();
            if !name.is_empty() {
                defined.entry(name).or_default().push(path.strip_prefix(&root).unwrap_or(&path).display().to_string());
            }
        }
    }
    assert!(defined.len() > 150, "{} types were found: are they read at all?", defined.len());
    let twice: Vec<_> = defined.iter().filter(|(_, places)| places.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn every_type_at_the_root_has_an_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = std::fs::read_to_string(root.join("lib.rs")).expect("lib.rs");
    let exported = lib.lines().filter_map(|line| line.strip_prefix("pub use ")?.strip_suffix(';')?.split_once("::"));
    let names: Vec<&str> = exported
        .flat_map(|(_, names)| names.trim_matches(['{', '}']).split(", "))
        .filter(|name| *name != "Result")
        .collect();
    assert!((40..=60).contains(&names.len()), "{} types at the root", names.len());
    let texts: Vec<String> =
        sources(&root).iter().map(|path| std::fs::read_to_string(path).expect("a source file")).collect();
    for name in names {
        let has_example = texts.iter().any(|text| {
            let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
            let is_definition = |line: &&str| {
                ["pub struct ", "pub enum "].iter().any(|kind| {
                    let rest = line.strip_prefix(kind).and_then(|rest| rest.strip_prefix(name));
                    rest.is_some_and(|rest| !rest.starts_with(is_name))
                })
            };
            let Some(place) = lines.iter().position(is_definition) else { return false };
            let above = lines[..place].iter().rev().take_while(|line| line.starts_with("///") || line.starts_with('#'));
            above.filter(|line| **line == "/// ```").count() >= 2
        });
        assert!(has_example, "{name} stands at the root and has no example");
    }
}

#[test]
fn the_doors_use_no_internals() {
    for caller in ["gnan-report", "gnan-cli"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(caller).join("src");
        for path in sources(&folder) {
            assert!(!code(&path).contains("gnan::internals"), "{} uses what is private", path.display());
        }
    }
}
