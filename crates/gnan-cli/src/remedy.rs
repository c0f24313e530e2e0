//! Remedies of the library in the words of the command line: options with dashes, steps as commands.

use gnan::remedy::Wording;
use gnan::spec::Form;
use gnan::{Spec, Step};

/// The wording of the command line.
pub struct CommandLine;

impl Wording for CommandLine {
    fn option(&self, name: &str, value: Option<&str>) -> String {
        // The value of an option that may stand alone must be joined to it.
        let joined = Spec::option(name).is_ok_and(|option| matches!(option.form, Form::Switch | Form::OneOr(_)));
        match value {
            Some(value) if joined => format!("--{name}={value}"),
            Some(value) => format!("--{name} {value}"),
            None => format!("--{name}"),
        }
    }

    fn step(&self, step: &Step) -> String {
        let command = match step {
            Step::Train => "train".to_owned(),
            Step::Fetch(name) => format!("data fetch {name}"),
            Step::ListDataSets => "data list".to_owned(),
            Step::Bootstrap { restart: false } => "bootstrap".to_owned(),
            Step::Bootstrap { restart: true } => "bootstrap --restart".to_owned(),
            _ => return step.to_string(),
        };
        format!("run gnan {command}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use gnan::Remedy;

    use super::*;

    #[test]
    fn remedies_name_options_as_they_are_typed() {
        let several = [Remedy::Use("force").to("replace it"), Remedy::Set("folds", "10".into())];
        assert_eq!(Remedy::from(several).in_words(&CommandLine), "use --force to replace it or use --folds 10");
        assert_eq!(Remedy::LeaveOut(&["pairs", "batch"]).in_words(&CommandLine), "leave --pairs and --batch out");
        assert_eq!(Remedy::Run(Step::Fetch("cora".into())).in_words(&CommandLine), "run gnan data fetch cora");
    }

    fn options_of(command: &clap::Command, options: &mut BTreeSet<String>) {
        options.extend(command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_owned)));
        command.get_subcommands().for_each(|command| options_of(command, options));
    }

    /// The options that remedies name in the source files of a folder.
    fn named_in(folder: &Path, names: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                named_in(&path, names);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            // Tests make up options of their own.
            let text = text.split("#[cfg(test)]").next().unwrap();
            for (form, end) in [("Use(", ')'), ("Set(", ','), ("Lower(", ')'), ("Raise(", ','), ("LeaveOut(&[", ']')] {
                for after in text.split(&format!("Remedy::{form}")).skip(1) {
                    let quoted = after.split(end).next().unwrap().split('"').skip(1).step_by(2);
                    names.extend(quoted.map(str::to_owned));
                }
            }
        }
    }

    #[test]
    fn every_option_that_the_library_names_is_one_of_the_command() {
        let mut options = BTreeSet::new();
        options_of(&crate::cli::command(), &mut options);
        let mut names = Vec::new();
        named_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../gnan/src"), &mut names);
        assert!(names.len() > 20, "only {} options were found", names.len());
        let unknown: Vec<_> = names.iter().filter(|name| !options.contains(*name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
