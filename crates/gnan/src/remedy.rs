//! What to do about an error, in a form that every caller (command line, Python, a server) can put into its own words.
//!
//! The library is called from a command line, from Python and from a web page, where the same option is a flag, an
//! argument or a field of a form. So a [`Remedy`] names options as the table of options does ("hop-cap"), names what the
//! library can do as a [`Step`], and leaves the spelling to a [`Wording`]. `Display` has plain words of its own.

use std::fmt;

/// What to do about an error.
///
/// ```
/// use gnan::{Error, Remedy};
/// let error = Error::usage("two folds of one item").with_remedy(Remedy::Lower("folds"));
/// assert!(error.to_string().contains("folds"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Words that name no option and no command.
    Advice(String),
    /// Use an option; its value is the user's choice, or it has none.
    Use(&'static str),
    /// Give an option this value.
    Set(&'static str, String),
    /// Leave these options out.
    LeaveOut(&'static [&'static str]),
    /// Raise an option, to at least this value where it is known.
    Raise(&'static str, Option<String>),
    /// Lower an option.
    Lower(&'static str),
    /// Let the library do something first.
    Run(Step),
    /// A remedy and what it is for: words that continue "in order to".
    For(Box<Remedy>, String),
    /// Any one of several.
    AnyOf(Vec<Remedy>),
}

/// Something the library can do that a remedy may ask for.
///
/// ```
/// use gnan::{Remedy, Step};
/// let remedy = Remedy::Run(Step::Fetch("cora".to_owned())).to("have its files");
/// println!("{remedy}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Train a model and write its file.
    Train,
    /// Download the data set of this name.
    Fetch(String),
    /// List the data sets of the catalogue.
    ListDataSets,
    /// Make the replicates of a model.
    Bootstrap {
        /// Whether those that are there are replaced.
        restart: bool,
    },
}

/// How one caller writes options and steps.
pub trait Wording {
    /// An option, with a value where one is meant: `hop_cap=3` in Python.
    fn option(&self, name: &str, value: Option<&str>) -> String;
    /// What to do to have a step done: "call `gnan.fit`".
    fn step(&self, step: &Step) -> String;
}

/// The wording of a library, which does not know from where it is called.
pub(crate) struct Plain;

impl Wording for Plain {
    fn option(&self, name: &str, value: Option<&str>) -> String {
        match value {
            Some(value) => format!("the option {name} with the value {value}"),
            None => format!("the option {name}"),
        }
    }

    fn step(&self, step: &Step) -> String {
        step.to_string()
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Train => f.write_str("train a model"),
            Step::Fetch(name) => write!(f, "fetch the data set {name}"),
            Step::ListDataSets => f.write_str("list the data sets of the catalogue"),
            Step::Bootstrap { restart: false } => f.write_str("run the bootstrap"),
            Step::Bootstrap { restart: true } => f.write_str("run the bootstrap again from the start"),
        }
    }
}

impl Remedy {
    /// The same remedy, with what it is for: `Remedy::Use("force").to("replace it")`.
    pub fn to(self, purpose: impl Into<String>) -> Remedy {
        Remedy::For(Box::new(self), purpose.into())
    }

    /// The remedy in the words of one caller.
    pub fn in_words(&self, wording: &dyn Wording) -> String {
        match self {
            Remedy::Advice(words) => words.clone(),
            Remedy::Use(option) => format!("use {}", wording.option(option, None)),
            Remedy::Set(option, value) => format!("use {}", wording.option(option, Some(value))),
            Remedy::LeaveOut(options) => {
                let options: Vec<_> = options.iter().map(|option| wording.option(option, None)).collect();
                format!("leave {} out", listed(&options, "and"))
            }
            Remedy::Raise(option, None) => format!("raise {}", wording.option(option, None)),
            Remedy::Raise(option, Some(least)) => format!("raise {} to at least {least}", wording.option(option, None)),
            Remedy::Lower(option) => format!("lower {}", wording.option(option, None)),
            Remedy::Run(step) => wording.step(step),
            Remedy::For(remedy, purpose) => format!("{} to {purpose}", remedy.in_words(wording)),
            Remedy::AnyOf(remedies) => {
                let remedies: Vec<_> = remedies.iter().map(|remedy| remedy.in_words(wording)).collect();
                listed(&remedies, "or")
            }
        }
    }
}

/// `a`, `a or b`, `a, b or c`.
fn listed(words: &[String], last: &str) -> String {
    match words {
        [rest @ .., end] if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        _ => words.concat(),
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&Plain))
    }
}

impl From<&str> for Remedy {
    fn from(words: &str) -> Remedy {
        Remedy::Advice(words.to_owned())
    }
}

impl From<String> for Remedy {
    fn from(words: String) -> Remedy {
        Remedy::Advice(words)
    }
}

impl<const N: usize> From<[Remedy; N]> for Remedy {
    fn from(remedies: [Remedy; N]) -> Remedy {
        Remedy::AnyOf(remedies.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_name_options_plainly() {
        let words = |remedy: Remedy| remedy.to_string();
        assert_eq!(words("add the column".into()), "add the column");
        assert_eq!(words(Remedy::Set("folds", "10".into())), "use the option folds with the value 10");
        assert_eq!(words(Remedy::LeaveOut(&["pool"])), "leave the option pool out");
        assert_eq!(words(Remedy::Raise("memory", Some("2 GB".into()))), "raise the option memory to at least 2 GB");
        assert_eq!(words(Remedy::Run(Step::Fetch("cora".into()))), "fetch the data set cora");
        let several = [Remedy::Use("force").to("replace it"), Remedy::Lower("negatives"), Remedy::Use("output")];
        assert_eq!(
            words(several.into()),
            "use the option force to replace it, lower the option negatives or use the option output"
        );
    }

    #[test]
    fn a_caller_has_its_own_words() {
        struct Python;
        impl Wording for Python {
            fn option(&self, name: &str, value: Option<&str>) -> String {
                format!("{}={}", name.replace('-', "_"), value.unwrap_or("..."))
            }
            fn step(&self, step: &Step) -> String {
                format!("{step:?}")
            }
        }
        assert_eq!(Remedy::Set("hop-cap", "3".into()).in_words(&Python), "use hop_cap=3");
        assert_eq!(Remedy::LeaveOut(&["a", "b", "c"]).in_words(&Python), "leave a=..., b=... and c=... out");
    }
}
