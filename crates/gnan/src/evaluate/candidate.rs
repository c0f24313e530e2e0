//! Candidates: one choice of every option, told apart and written down in words.

use crate::dataset::NodeDescription;
use crate::error::{Error, Result};
use crate::lens::{Lens, Pool};
use crate::shape::ShapeKind;
use crate::train::{LogitChoice, Loss, RhoChoice, Training};

/// Options that could be good ones: how to train, and what to train on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidate {
    /// How to train.
    pub training: Training,
    /// Features to be computed from the graphs.
    pub describe: Vec<NodeDescription>,
}

/// The word for an option that is left to the data.
const USUAL: &str = "default";
/// The word for an option that is off.
const NONE: &str = "none";

impl Candidate {
    /// Names of the options that [`set`](Self::set) knows.
    pub const OPTIONS: [&str; 22] = [
        "rho",
        "logits",
        "shape",
        "rho-shape",
        "layers",
        "hidden",
        "hop-cap",
        "pool",
        "normalise",
        "readout",
        "smooth",
        "learning-rate",
        "weight-decay",
        "dropout",
        "epochs",
        "patience",
        "batch",
        "loss",
        "describe",
        "pairs",
        "scale-shells",
        "bins",
    ];

    /// Sets an option by its name on the command line. Descriptions are separated by slashes.
    pub fn set(&mut self, option: &str, value: &str) -> Result<()> {
        let training = &mut self.training;
        match option {
            "rho" => training.rho = one_of(option, value, &RHOS)?,
            "logits" => training.logits = one_of(option, value, &LOGITS)?,
            "loss" => training.loss = one_of(option, value, &LOSSES)?,
            "shape" => training.shape = one_of(option, value, &SHAPES)?,
            "rho-shape" => training.rho_shape = one_of(option, value, &SHAPES)?,
            "smooth" => training.smooth = optional(option, value, USUAL)?,
            "layers" => training.layers = number(option, value)?,
            "hidden" => training.hidden = number(option, value)?,
            "dropout" => training.dropout = number(option, value)?,
            "hop-cap" => training.hop_cap = optional(option, value, NONE)?,
            "pool" => training.lenses = pooled(&training.lenses, &one_of(option, value, &POOLS)?),
            "normalise" => training.normalise = one_of(option, value, &SWITCH)?,
            "readout" => training.readout = one_of(option, value, &SWITCH)?,
            "batch" => training.batch = optional(option, value, NONE)?,
            "learning-rate" => training.learning_rate = optional(option, value, USUAL)?,
            "weight-decay" => training.weight_decay = optional(option, value, USUAL)?,
            "epochs" => training.epochs = optional(option, value, USUAL)?,
            "patience" => training.patience = optional(option, value, USUAL)?,
            "pairs" => training.pairs = number(option, value)?,
            "scale-shells" => training.scale_shells = one_of(option, value, &SWITCH)?,
            "bins" => training.knots = value.parse()?,
            "describe" if value == NONE => self.describe.clear(),
            "describe" => self.describe = value.split('/').map(str::parse).collect::<Result<_>>()?,
            _ => {
                return Err(Error::usage(format!("there is no option \"{option}\" to try"))
                    .with_remedy(format!("choose from {}", Self::OPTIONS.join(", "))));
            }
        }
        self.training.check()
    }

    /// The value of an option, as [`set`](Self::set) reads it.
    pub fn get(&self, option: &str) -> String {
        let training = &self.training;
        let or = |value: Option<String>, word: &str| value.unwrap_or_else(|| word.to_owned());
        match option {
            "rho" => word_of(training.rho, &RHOS),
            "logits" => word_of(training.logits, &LOGITS),
            "loss" => word_of(training.loss, &LOSSES),
            "shape" => word_of(training.shape, &SHAPES),
            "rho-shape" => word_of(training.rho_shape, &SHAPES),
            "smooth" => or(training.smooth.map(|smooth| smooth.to_string()), USUAL),
            "layers" => training.layers.to_string(),
            "hidden" => training.hidden.to_string(),
            "dropout" => training.dropout.to_string(),
            "hop-cap" => or(training.hop_cap.map(|cap| cap.to_string()), NONE),
            "pool" => {
                let uses = |pool: Pool| training.lenses.iter().any(|lens| lens.pool == pool);
                word_of([uses(Pool::Sum), uses(Pool::Mean)], &POOLS)
            }
            "normalise" => word_of(training.normalise, &SWITCH),
            "readout" => word_of(training.readout, &SWITCH),
            "batch" => or(training.batch.map(|batch| batch.to_string()), NONE),
            "learning-rate" => or(training.learning_rate.map(|rate| rate.to_string()), USUAL),
            "weight-decay" => or(training.weight_decay.map(|decay| decay.to_string()), USUAL),
            "epochs" => or(training.epochs.map(|epochs| epochs.to_string()), USUAL),
            "patience" => or(training.patience.map(|patience| patience.to_string()), USUAL),
            "pairs" => training.pairs.to_string(),
            "scale-shells" => word_of(training.scale_shells, &SWITCH),
            "bins" => training.knots.to_string(),
            "describe" if self.describe.is_empty() => NONE.to_owned(),
            "describe" => self.describe.iter().map(ToString::to_string).collect::<Vec<_>>().join("/"),
            _ => String::new(),
        }
    }

    /// Everything that decides how a run of this candidate goes, but for its data and its seed.
    pub(super) fn fingerprint(&self) -> String {
        let listed = Self::OPTIONS.iter().map(|option| format!("{option}={}", self.get(option)));
        let training = &self.training;
        let others = format!(
            "lenses={:?} unreachable={} groups={:?} associations={:?} output-bias={:?} balance={} pairs={:?} rules={:?} \
             rho-monotone={} support={:?}",
            training.lenses,
            training.silent_unreachable,
            training.rho_groups,
            training.associations,
            training.output_bias,
            training.balance_classes,
            training.named_pairs,
            training.rules.iter().map(ToString::to_string).collect::<Vec<_>>(),
            training.rho_monotone,
            self.describe.iter().map(|description| description.least_support).collect::<Vec<_>>()
        );
        listed.chain([others]).collect::<Vec<_>>().join(" ")
    }

    /// The options named, in words: "hidden 32, dropout 0.6".
    pub(super) fn words(&self, options: &[String]) -> String {
        let words: Vec<String> = options.iter().map(|option| format!("{option} {}", self.get(option))).collect();
        if words.is_empty() { USUAL.to_owned() } else { words.join(", ") }
    }
}

/// The same lenses with these ways of pooling: whether by sum, and whether by mean.
fn pooled(lenses: &[Lens], [sum, mean]: &[bool; 2]) -> Vec<Lens> {
    let pools = [(Pool::Sum, *sum), (Pool::Mean, *mean)].into_iter().filter(|(_, used)| *used).map(|(pool, _)| pool);
    let mut found: Vec<Lens> = Vec::new();
    for lens in lenses {
        for pool in pools.clone() {
            let lens = Lens { pool, ..lens.clone() };
            if !found.contains(&lens) {
                found.push(lens);
            }
        }
    }
    found
}

const POOLS: [(&str, [bool; 2]); 3] = [("sum", [true, false]), ("mean", [false, true]), ("both", [true, true])];

const SWITCH: [(&str, bool); 2] = [("true", true), ("false", false)];

const RHOS: [(&str, RhoChoice); 4] = [
    (USUAL, RhoChoice::ByData),
    ("shared", RhoChoice::Shared),
    ("per-feature", RhoChoice::PerFeature),
    ("auto", RhoChoice::Auto),
];
const LOGITS: [(&str, LogitChoice); 4] =
    [(USUAL, LogitChoice::ByRho), ("one", LogitChoice::One), ("two", LogitChoice::Two), ("auto", LogitChoice::Auto)];
const LOSSES: [(&str, Option<Loss>); 3] =
    [(USUAL, None), ("squared", Some(Loss::Squared)), ("absolute", Some(Loss::Absolute))];

const SHAPES: [(&str, Option<ShapeKind>); 3] =
    [(USUAL, None), ("network", Some(ShapeKind::Network)), ("spline", Some(ShapeKind::Spline))];

fn one_of<T: Copy>(option: &str, value: &str, known: &[(&str, T)]) -> Result<T> {
    let found = known.iter().find(|(word, _)| *word == value).map(|(_, choice)| *choice);
    found.ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        Error::usage(format!("{option} cannot be \"{value}\"")).with_remedy(format!("choose from {}", words.join(", ")))
    })
}

fn word_of<T: PartialEq>(choice: T, known: &[(&str, T)]) -> String {
    known.iter().find(|(_, value)| *value == choice).map_or_else(String::new, |(word, _)| (*word).to_owned())
}

fn number<T: std::str::FromStr>(option: &str, value: &str) -> Result<T> {
    value.parse().map_err(|_| Error::usage(format!("{option} cannot be \"{value}\": a number is needed")))
}

fn optional<T: std::str::FromStr>(option: &str, value: &str, absent: &str) -> Result<Option<T>> {
    if value == absent { Ok(None) } else { number(option, value).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_read_as_it_is_written() {
        let values = [
            ("rho", "per-feature"),
            ("logits", "two"),
            ("shape", "spline"),
            ("rho-shape", "network"),
            ("layers", "5"),
            ("hidden", "32"),
            ("hop-cap", "8"),
            ("pool", "both"),
            ("normalise", "false"),
            ("readout", "true"),
            ("smooth", "0.01"),
            ("learning-rate", "0.01"),
            ("weight-decay", "0.0005"),
            ("dropout", "0.6"),
            ("epochs", "200"),
            ("patience", "7"),
            ("batch", "32"),
            ("loss", "absolute"),
            ("describe", "degree/ring+label/environment:2"),
            ("pairs", "5"),
            ("scale-shells", "true"),
            ("bins", "64"),
        ];
        assert_eq!(values.map(|(option, _)| option), Candidate::OPTIONS);
        let mut candidate = Candidate::default();
        for (option, value) in values {
            candidate.set(option, value).unwrap();
            assert_eq!(candidate.get(option), value);
        }
        for option in Candidate::OPTIONS {
            let usual = Candidate::default().get(option);
            candidate.set(option, &usual).unwrap();
        }
        assert_eq!(candidate, Candidate::default());
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        for (option, value) in [("rho", "both"), ("layers", "many"), ("hidden", "33"), ("colour", "red")] {
            let error = Candidate::default().set(option, value).unwrap_err().to_string();
            assert!(error.contains(value) || error.contains(option), "{error}");
        }
    }
}
