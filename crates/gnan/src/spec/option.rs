//! What is known of one option: a row of the table.

use super::Spec;
use crate::error::Result;

/// Which part of the program an option concerns; results of a stage depend on options of this and earlier stages only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// How files are read and what their columns mean.
    Data,
    /// How distance is measured and from which distances features count.
    Distances,
    /// What is counted and summed up before training.
    Statistics,
    /// What the model looks like.
    Model,
    /// How it is fitted.
    Fit,
}

impl Stage {
    /// The heading under which options of this stage are listed.
    pub fn heading(self) -> &'static str {
        match self {
            Stage::Data => "Data options",
            Stage::Distances => "Distance options",
            Stage::Statistics => "Options of the statistics",
            Stage::Model => "Model options",
            Stage::Fit => "Training options",
        }
    }
}

/// How the value of an option is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `true` or `false`; the name alone means `true`.
    Switch,
    /// One value.
    One,
    /// One value, or the name alone, which means this value.
    OneOr(&'static str),
    /// Several values with commas between them.
    List,
    /// Several values, the name repeated for each.
    Repeat,
}

/// One option: its name, how it is written, what it means, and how it is read from and written to a [`Spec`].
///
/// ```
/// use gnan::{Spec, SpecOption};
/// let hidden: &SpecOption = Spec::option("hidden")?;
/// let mut spec = Spec::default();
/// hidden.set_from_text(&mut spec, "16")?;
/// assert_eq!(spec, Spec::default().hidden(16));
/// println!("{}: {}", hidden.name, hidden.help);
/// # Ok::<(), gnan::Error>(())
/// ```
pub struct SpecOption {
    /// Its name, in lower case with dashes.
    pub name: &'static str,
    /// Which part of the program it concerns.
    pub stage: Stage,
    /// What it means.
    pub help: &'static str,
    /// How its value is written.
    pub form: Form,
    /// What stands for the value in help texts.
    pub value_name: &'static str,
    /// Whether a search may try several values of it.
    pub tried: bool,
    /// What the default is where it depends on the data, in words.
    pub(super) usual: Option<fn() -> String>,
    pub(super) set: fn(&mut Spec, &[String]) -> Result<()>,
    pub(super) get: fn(&Spec) -> Vec<String>,
    pub(super) check: fn(&Spec) -> Result<()>,
}

impl SpecOption {
    /// The default in words; `None`: nothing, or off.
    pub fn default_words(&self) -> Option<String> {
        match self.usual {
            Some(words) => Some(words()),
            None => {
                let texts = (self.get)(&Spec::default());
                let off = texts.is_empty() || texts == ["false"];
                (!off).then(|| texts.join(","))
            }
        }
    }

    /// Refuses a value that makes no sense, whatever the other options.
    pub fn check(&self, spec: &Spec) -> Result<()> {
        (self.check)(spec)
    }

    /// Its value in a specification for people: "32", "degree/ring", "default" where the data decide, "none".
    pub fn words(&self, spec: &Spec) -> String {
        let texts = (self.get)(spec);
        match (texts.is_empty(), self.usual) {
            (false, _) => texts.join("/"),
            (true, Some(_)) => DEFAULT.to_owned(),
            (true, None) => NONE.to_owned(),
        }
    }

    /// Sets it from one text, in which several values are separated by slashes and `default` or `none` means the default.
    pub fn set_from_text(&self, spec: &mut Spec, text: &str) -> Result<()> {
        let texts: Vec<String> = match (self.form, text) {
            (_, DEFAULT | NONE) => Vec::new(),
            (Form::List | Form::Repeat, several) => several.split('/').map(str::to_owned).collect(),
            (_, one) => vec![one.to_owned()],
        };
        spec.set(self.name, &texts)
    }
}

/// The word for an option that is left at its default.
const DEFAULT: &str = "default";
/// The word for an option that is off, or for no values.
const NONE: &str = "none";
