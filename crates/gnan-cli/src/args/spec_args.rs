//! The options of a specification as arguments: one for every row of the library's table.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use gnan::Model;
use gnan::Spec;
use gnan::dataset::SplitOrigin;
use gnan::spec::{Form, OPTIONS, SpecOption, Stage};
use gnan_report::report::quoted;

/// Every option of a specification.
#[derive(Clone, Debug)]
pub struct SpecArgs {
    /// What they request.
    pub spec: Spec,
}

impl SpecArgs {
    /// The specification that has nothing but the options of these that say how files are read.
    pub fn reading_alone(&self) -> Spec {
        let mut spec = Spec::default();
        for option in reading() {
            spec.set(option.name, &self.spec.get(option.name)).expect("a value that an option has can be given again");
        }
        spec
    }
}

/// The options of a specification that concern the data alone.
#[derive(Clone, Debug)]
pub struct DataSpecArgs {
    /// What they request.
    pub spec: Spec,
}

/// The options that say how files are read, for commands that have a model: everything else is in its file.
#[derive(Clone, Debug)]
pub struct ReadSpecArgs {
    /// What they request.
    pub spec: Spec,
}

/// Names of the options that say how files are read.
const READING: [&str; 6] =
    ["largest-component", "explicit-hydrogens", "smiles-column", "name-column", "strict", "splits"];

fn all() -> impl Iterator<Item = &'static SpecOption> {
    OPTIONS.iter()
}

fn of_data() -> impl Iterator<Item = &'static SpecOption> {
    OPTIONS.iter().filter(|option| option.stage == Stage::Data)
}

fn reading() -> impl Iterator<Item = &'static SpecOption> {
    OPTIONS.iter().filter(|option| READING.contains(&option.name))
}

/// The argument of an option.
fn argument(option: &'static SpecOption) -> Arg {
    let mut help = option.help.trim().to_owned();
    if let Some(default) = option.default_words() {
        help.push_str(&format!(" [default: {default}]"));
    }
    let argument = Arg::new(option.name)
        .long(option.name)
        .help(help)
        .help_heading(option.stage.heading())
        .value_name(option.value_name)
        .value_parser(move |text: &str| checked(option, text));
    match option.form {
        Form::Switch => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
        Form::OneOr(missing) => argument.num_args(0..=1).require_equals(true).default_missing_value(missing),
        Form::One => argument.allow_negative_numbers(true),
        Form::List => argument.action(ArgAction::Append).value_delimiter(','),
        Form::Repeat => argument.action(ArgAction::Append),
    }
}

/// A value that the library accepts for the option.
fn checked(option: &SpecOption, text: &str) -> Result<String, String> {
    let accepted = Spec::default().set(option.name, &[text.to_owned()]);
    accepted.map(|()| text.to_owned()).map_err(|error| error.to_string().replace("\n  ", ": "))
}

fn read(matches: &ArgMatches, options: impl Iterator<Item = &'static SpecOption>) -> Result<Spec, clap::Error> {
    let mut spec = Spec::default();
    for option in options {
        let Some(texts) = matches.get_many::<String>(option.name) else { continue };
        let texts: Vec<String> = texts.cloned().collect();
        spec.set(option.name, &texts)
            .map_err(|error| clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{error}\n")))?;
    }
    Ok(spec)
}

macro_rules! arguments_of {
    ($type:ident, $options:ident) => {
        impl Args for $type {
            fn augment_args(command: Command) -> Command {
                command.args($options().map(argument))
            }

            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }

        impl FromArgMatches for $type {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                Ok($type { spec: read(matches, $options())? })
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

arguments_of!(SpecArgs, all);
arguments_of!(DataSpecArgs, of_data);
arguments_of!(ReadSpecArgs, reading);

/// The arguments that request a specification: what differs from the default, as it is written on the command line.
pub fn arguments(spec: &Spec) -> Vec<String> {
    let usual = Spec::default();
    let mut arguments = Vec::new();
    for option in OPTIONS {
        let texts = spec.get(option.name);
        if texts == usual.get(option.name) {
            continue;
        }
        match option.form {
            Form::List => arguments.push(format!("--{}={}", option.name, texts.join(","))),
            _ => arguments.extend(texts.iter().map(|text| format!("--{}={text}", option.name))),
        }
    }
    arguments
}

/// The command that trains a model of the same options on `data` again.
pub fn train_command(model: &Model, data: &str) -> String {
    let mut words = vec!["gnan train".to_owned(), quoted(data)];
    words.extend(arguments(model.spec()).iter().map(|argument| quoted(argument)));
    let of_links = model.learned().links.as_ref().and_then(|links| links.division.test_share);
    let share = match model.record().origin {
        Some(SplitOrigin::Random(share)) => Some(share),
        _ => of_links,
    };
    words.extend(share.map(|share| format!("--test-share={share}")));
    words.push("-o again.gnan".to_owned());
    words.join(" ")
}
