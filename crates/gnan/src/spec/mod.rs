//! The specification of a model: everything that decides what a training run gives, except the data themselves.
//!
//! [`Spec`] is one struct per stage (data, distances, statistics, model, fit), made by the one table of options in
//! `table`. Whoever needs to know about options reads that table: the command line and its TOML file, searches over options,
//! JSON, the words of a report, the model file. A part of the program that depends on some options takes the struct
//! that holds exactly those, so it cannot depend on another option by accident.
//!
//! ```
//! use gnan::Spec;
//! let spec = Spec::default().hidden(32).learning_rate(0.01);
//! assert_eq!(spec.get("hidden"), ["32"]);
//! assert_ne!(spec, Spec::default());
//! ```

mod bin_choice;
mod choices;
mod description;
mod distances;
mod option;
mod rules;
mod table;
mod value;

pub use bin_choice::{BinChoice, FEWEST_KNOTS, MANY_VALUES, MOST_KNOTS, USUAL_KNOTS};
pub use choices::{
    CurveChoice, EdgeDirection, FamilyChoice, FitMethod, LevelChoice, LogitChoice, Loss, PoolChoice, RhoChoice,
    Selection, ShapeKind, TaskChoice,
};
pub use description::{Aspect, LEAST_SUPPORT, NodeDescription, RARE};
pub use distances::{EdgeTypes, FeatureHopCap, FeaturePairName, RhoGroup, WeightBins};
pub use option::{Form, SpecOption, Stage};
pub use rules::{Curvature, FeatureRules, Rules, Trend};
pub use table::*;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Names more alike than this are taken for a slip of the keyboard.
const LIKE: f64 = 0.85;

impl Spec {
    /// The option of that name.
    pub fn option(name: &str) -> Result<&'static SpecOption> {
        OPTIONS.iter().find(|option| option.name == name).ok_or_else(|| {
            let near = OPTIONS.iter().map(|option| (strsim::jaro_winkler(option.name, name), option.name));
            let (likeness, near) = near.max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are options");
            let remedy = match likeness > LIKE {
                true => format!("did you mean {near}?"),
                false => {
                    let names: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
                    format!("the options are {}", names.join(", "))
                }
            };
            Error::usage(format!("there is no option \"{name}\"")).with_remedy(remedy)
        })
    }

    /// The value of an option as texts, in the form in which [`set`](Self::set) reads it; nothing where it is left to the data.
    ///
    /// # Panics
    ///
    /// If there is no option of that name.
    pub fn get(&self, name: &str) -> Vec<String> {
        (Self::option(name).expect("an option of the table").get)(self)
    }

    /// Sets an option by its name; no text at all sets it back to its default.
    pub fn set(&mut self, name: &str, texts: &[String]) -> Result<()> {
        let option = Self::option(name)?;
        (option.set)(self, texts)?;
        (option.check)(self)
    }

    /// The same specification in one line of JSON, always written the same way: two specifications are equal if and only if
    /// this text is.
    pub fn canonical(&self) -> String {
        canonical(self)
    }

    /// What a run with this specification on some data is known by: SHA-256 of both. The seed is part of the specification.
    pub fn identity(&self, data: &str) -> String {
        let mut hash = Sha256::new();
        for part in [env!("CARGO_PKG_VERSION"), &self.canonical(), data] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hex(&hash.finalize())
    }
}

impl StatisticsSpec {
    /// Whether the sources of a shell are averaged; where nothing else was chosen, they are.
    pub fn normalises(&self) -> bool {
        self.normalise.unwrap_or(true)
    }
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One line of JSON. Floats are written with all their digits, so equal text means equal bits.
fn canonical<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("options are plain values, which JSON can hold")
}
