//! Where options come from: a TOML file, the environment, flags, each stronger than the one before.
//!
//! The arguments are parsed once to find the command and the file. What the file says then becomes the defaults of the
//! command's options, and the arguments are parsed again: so the file is read by the same parsers as the flags.
//!
//! ```toml
//! seed = 3                  # for every command that has --seed
//! [train]                   # for gnan train alone
//! learning-rate = 0.01
//! ```

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command, FromArgMatches};
use gnan::names::Names;
use gnan::spec::Form;
use gnan::{Error, Spec};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cli::{self, Cli};
use crate::exit::Result;

/// Largest options file that is read.
const MOST_BYTES: u64 = 1 << 20;
/// Options that a file cannot set.
const NOT_IN_FILES: [&str; 3] = ["config", "help", "version"];

/// Parses arguments, with options from the file that `--config` names.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Cli> {
    let arguments: Vec<OsString> = arguments.collect();
    let command = cli::command();
    let matches = command.clone().try_get_matches_from(&arguments)?;
    let parsed = Cli::from_arg_matches(&matches)?;
    let Some(path) = &parsed.general.config else { return Ok(parsed) };
    let text = read(path)?;
    let file = File { path, text: &text };
    let options = file.options(&command, &matches)?;
    let command = set_defaults(command, &matches, &options);
    // The arguments were right without the file, so what is wrong now is in it.
    let wrong = |error: clap::Error| file.complaint(&error, &options);
    let matches = command.try_get_matches_from(&arguments).map_err(wrong)?;
    Ok(Cli::from_arg_matches(&matches).map_err(wrong)?)
}

fn read(path: &Path) -> gnan::Result<String> {
    let io = |error: std::io::Error| Error::io(path, error);
    let size = std::fs::metadata(path).map_err(io)?.len();
    gnan::Limits::check(size, MOST_BYTES, "bytes in an options file").map_err(|error| error.in_file(path))?;
    std::fs::read_to_string(path).map_err(io)
}

/// A file of options.
struct File<'a> {
    path: &'a Path,
    text: &'a str,
}

/// Options by long name.
type Options = BTreeMap<String, FileOption>;

/// What a file says of an option.
struct FileOption {
    values: Vec<String>,
    /// Where its name begins in the text.
    start: usize,
}

impl File<'_> {
    /// The options for the command that was chosen.
    fn options(&self, command: &Command, matches: &ArgMatches) -> gnan::Result<Options> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            self.error(start, error.message().trim().replace('\n', " "))
                .with_remedy("a file of options is TOML, with a line such as learning-rate = 0.01 for each")
        })?;
        let mut options = Options::new();
        let chosen: Vec<&str> = chosen_commands(matches);
        self.collect(table.get_ref(), command, Some(&chosen), &mut options)?;
        Ok(options)
    }

    /// Collects the options of a table for `command`, then those of the tables for its subcommands. Everything is checked;
    /// what is not for the chosen command (`None`) is left out.
    fn collect(
        &self,
        table: &DeTable<'_>,
        command: &Command,
        chosen: Option<&[&str]>,
        options: &mut Options,
    ) -> gnan::Result<()> {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let start = key.span().start;
            if let (Some(subcommand), DeValue::Table(inner)) = (command.find_subcommand(name), value.get_ref()) {
                let chosen = chosen.and_then(<[&str]>::split_first).filter(|(first, _)| **first == name);
                self.collect(inner, subcommand, chosen.map(|(_, rest)| rest), options)?;
                continue;
            }
            if !is_option(command, name) {
                return Err(self.unknown(command, name, start));
            }
            let values = self.values(name, value)?;
            if chosen.is_some() && !values.is_empty() {
                // Tables of commands come after plain keys only by chance: the narrower one must win.
                let narrower = command.get_name() != "gnan";
                if narrower || !options.contains_key(name) {
                    options.insert(name.to_owned(), FileOption { values, start });
                }
            }
        }
        Ok(())
    }

    fn values(&self, name: &str, value: &Spanned<DeValue<'_>>) -> gnan::Result<Vec<String>> {
        match value.get_ref() {
            DeValue::String(text) => Ok(vec![text.to_string()]),
            DeValue::Boolean(truth) => Ok(match Spec::option(name).map(|option| option.form) {
                // An option that may stand alone, or with a value that is no truth.
                Ok(Form::OneOr(missing)) if missing != "true" => {
                    truth.then(|| missing.to_owned()).into_iter().collect()
                }
                _ => vec![truth.to_string()],
            }),
            DeValue::Integer(number) => Ok(vec![number.to_string()]),
            DeValue::Float(number) => Ok(vec![number.to_string()]),
            DeValue::Array(several) => {
                let lists = several.iter().map(|one| self.values(name, one)).collect::<gnan::Result<Vec<_>>>()?;
                Ok(lists.concat())
            }
            _ => Err(self.error(value.span().start, format!("\"{name}\" must be a word, a number or a list"))),
        }
    }

    fn unknown(&self, command: &Command, name: &str, start: usize) -> Error {
        let owner = if command.get_name() == "gnan" {
            "any command".to_owned()
        } else {
            format!("gnan {}", command.get_name())
        };
        let error = self.error(start, format!("\"{name}\" is not an option of {owner}"));
        if name == "config" {
            return error.with_remedy("a file of options names no other: leave it out");
        }
        let mut names = Vec::new();
        option_names(command, &mut names);
        error.with_remedy(format!(
            "options are called as in --help, without the dashes; {}",
            Names::new(names).remedy(&name.replace('_', "-"))
        ))
    }

    fn error(&self, start: usize, message: String) -> Error {
        let before = &self.text.as_bytes()[..start.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Error::usage(message).in_file(self.path).on_line(line as u64)
    }

    /// What the parser of arguments complains about, where the file says it.
    fn complaint(&self, error: &clap::Error, options: &Options) -> Error {
        let text = error.to_string();
        let sentence = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let argument = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(argument)) => argument.as_str(),
            _ => "",
        };
        let long = argument.split([' ', '=', '[']).next().unwrap_or_default();
        match options.get(long.trim_start_matches("--")) {
            Some(option) => self.error(option.start, sentence.replace(argument, long.trim_start_matches("--"))),
            None => Error::usage(sentence).in_file(self.path),
        }
    }
}

/// The names of the command and its subcommand that were chosen.
fn chosen_commands(matches: &ArgMatches) -> Vec<&str> {
    let mut names = Vec::new();
    let mut matches = matches;
    while let Some((name, inner)) = matches.subcommand() {
        names.push(name);
        matches = inner;
    }
    names
}

/// Names of the options of a command and its subcommands, each once.
fn option_names(command: &Command, names: &mut Vec<String>) {
    for long in command.get_arguments().filter_map(clap::Arg::get_long) {
        if !NOT_IN_FILES.contains(&long) && !names.iter().any(|name| name == long) {
            names.push(long.to_owned());
        }
    }
    command.get_subcommands().for_each(|subcommand| option_names(subcommand, names));
}

/// Whether a command, or for a plain key any of its subcommands, has an option of this name.
fn is_option(command: &Command, name: &str) -> bool {
    !NOT_IN_FILES.contains(&name)
        && (command.get_arguments().any(|arg| arg.get_long() == Some(name))
            || command.get_subcommands().any(|subcommand| is_option(subcommand, name)))
}

/// Makes `options` the defaults of the chosen command and its parents.
fn set_defaults(command: Command, matches: &ArgMatches, options: &Options) -> Command {
    let given = |id: &str| {
        let known = matches.try_contains_id(id).unwrap_or(false);
        known && matches!(matches.value_source(id), Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    // A flag beats its opposite in the file.
    let beaten: Vec<String> = command
        .get_arguments()
        .filter(|arg| command.get_arg_conflicts_with(arg).iter().any(|other| given(other.get_id().as_str())))
        .map(|arg| arg.get_id().to_string())
        .collect();
    let command = command.mut_args(|arg| {
        let values = arg.get_long().and_then(|long| options.get(long));
        match values {
            Some(FileOption { values, .. }) if !beaten.contains(&arg.get_id().to_string()) => match arg.get_action() {
                ArgAction::Append => arg.default_values(values.clone()),
                _ => arg.default_value(values.join(",")),
            },
            _ => arg,
        }
    });
    match matches.subcommand() {
        Some((name, inner)) => command.mut_subcommand(name, |subcommand| set_defaults(subcommand, inner, options)),
        None => command,
    }
}
