//! Values of options: how each type is read from texts and written as texts.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use super::bin_choice::BinChoice;
use super::choices::{
    CurveChoice, EdgeDirection, FamilyChoice, FitMethod, LevelChoice, LogitChoice, Loss, PoolChoice, RhoChoice,
    Selection, ShapeKind, TaskChoice,
};
use super::description::NodeDescription;
use super::distances::{EdgeTypes, FeatureHopCap, FeaturePairName, RhoGroup, WeightBins};
use super::rules::FeatureRules;
use crate::error::{Error, Result};

/// A type that an option may have.
pub trait OptionValue: Sized {
    /// What a setter takes: the value itself, without its `Option`.
    type Given;

    /// The value from what a setter takes.
    fn given(given: Self::Given) -> Self;

    /// Reads the texts of an option.
    fn read(name: &str, texts: &[String]) -> Result<Self>;

    /// Writes the texts that [`read`](Self::read) reads.
    fn write(&self) -> Vec<String>;
}

/// A type that is written as one text.
pub trait Scalar: Sized {
    /// Reads it.
    fn parse(name: &str, text: &str) -> Result<Self>;

    /// Writes it.
    fn show(&self) -> String;
}

fn number<T: FromStr>(name: &str, text: &str, what: &str) -> Result<T> {
    text.trim()
        .parse()
        .map_err(|_| Error::usage(format!("{name} cannot be \"{text}\"")).with_remedy(format!("give {what}")))
}

macro_rules! numbers {
    ($($type:ty: $what:literal),*) => { $(
        impl Scalar for $type {
            fn parse(name: &str, text: &str) -> Result<Self> {
                number(name, text, $what)
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )* };
}

numbers!(
    usize: "a whole number", u64: "a whole number of at most 18446744073709551615", u32: "a whole number", u16: "a whole number", f64: "a number"
);

impl Scalar for bool {
    /// A variable of the environment may be yes or 1 as well as true.
    fn parse(name: &str, text: &str) -> Result<Self> {
        match text.trim() {
            "yes" | "on" | "1" => Ok(true),
            "no" | "off" | "0" => Ok(false),
            text => number(name, text, "true or false"),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Scalar for String {
    fn parse(name: &str, text: &str) -> Result<Self> {
        match text.trim() {
            "" => Err(Error::usage(format!("{name} is empty")).with_remedy("give a name")),
            name => Ok(name.to_owned()),
        }
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl Scalar for PathBuf {
    fn parse(_: &str, text: &str) -> Result<Self> {
        Ok(text.into())
    }

    fn show(&self) -> String {
        self.to_string_lossy().into_owned()
    }
}

/// Types of our own read and write themselves.
macro_rules! own_texts {
    ($($type:ty),*) => { $(
        impl Scalar for $type {
            fn parse(name: &str, text: &str) -> Result<Self> {
                own(name, text)
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )* };
}

fn own<T: FromStr<Err = Error> + Display>(name: &str, text: &str) -> Result<T> {
    text.parse().map_err(|error: Error| error.about(name))
}

own_texts!(
    BinChoice,
    EdgeDirection,
    FamilyChoice,
    FitMethod,
    CurveChoice,
    LevelChoice,
    EdgeTypes,
    FeatureHopCap,
    FeaturePairName,
    FeatureRules,
    LogitChoice,
    Loss,
    NodeDescription,
    PoolChoice,
    RhoChoice,
    RhoGroup,
    Selection,
    ShapeKind,
    TaskChoice,
    WeightBins
);

macro_rules! single {
    ($($type:ty),*) => { $(
        impl OptionValue for $type {
            type Given = $type;

            fn given(given: $type) -> Self {
                given
            }

            fn read(name: &str, texts: &[String]) -> Result<Self> {
                Scalar::parse(name, only(name, texts)?)
            }

            fn write(&self) -> Vec<String> {
                vec![self.show()]
            }
        }
    )* };
}

single!(usize, u64, f64, bool, BinChoice, CurveChoice, FamilyChoice, FitMethod, LevelChoice, PoolChoice);

impl<T: Scalar> OptionValue for Option<T> {
    type Given = T;

    fn given(given: T) -> Self {
        Some(given)
    }

    fn read(name: &str, texts: &[String]) -> Result<Self> {
        if texts.is_empty() { Ok(None) } else { T::parse(name, only(name, texts)?).map(Some) }
    }

    fn write(&self) -> Vec<String> {
        self.iter().map(T::show).collect()
    }
}

impl<T: Scalar> OptionValue for Vec<T> {
    type Given = Vec<T>;

    fn given(given: Vec<T>) -> Self {
        given
    }

    fn read(name: &str, texts: &[String]) -> Result<Self> {
        texts.iter().map(|text| T::parse(name, text)).collect()
    }

    fn write(&self) -> Vec<String> {
        self.iter().map(T::show).collect()
    }
}

fn only<'a>(name: &str, texts: &'a [String]) -> Result<&'a str> {
    match texts {
        [text] => Ok(text),
        _ => Err(Error::usage(format!("{name} takes one value, not {}", texts.len())).with_remedy("give one")),
    }
}
