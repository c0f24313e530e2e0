//! Which numeric features are trained on few knots in place of all their distinct values.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A numeric feature with more distinct values than this is trained on knots, unless they are switched off.
pub const MANY_VALUES: usize = 10_000;
/// How many knots that takes.
pub const USUAL_KNOTS: usize = 256;
/// Fewest knots that make a curve.
pub const FEWEST_KNOTS: usize = 2;
/// Most knots that are accepted.
pub const MOST_KNOTS: usize = 65_536;

/// Which numeric features are trained on knots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum BinChoice {
    /// Those with more than [`MANY_VALUES`] distinct values, on [`USUAL_KNOTS`].
    #[default]
    Auto,
    /// None.
    Off,
    /// Those with more distinct values than this, on as many.
    Count(usize),
}

impl BinChoice {
    /// Refuses numbers that make no sense.
    pub fn check(self) -> Result<()> {
        match self {
            BinChoice::Count(count) if !(FEWEST_KNOTS..=MOST_KNOTS).contains(&count) => Err(Error::usage(format!(
                "{count} knots"
            ))
            .with_remedy(format!("choose {FEWEST_KNOTS} to {MOST_KNOTS}, or auto or off; {USUAL_KNOTS} is usual"))),
            _ => Ok(()),
        }
    }

    /// On how many knots a feature with so many distinct values is trained; `None`: on all of them.
    pub(crate) fn count(self, distinct: usize) -> Option<usize> {
        match self {
            BinChoice::Auto => (distinct > MANY_VALUES).then_some(USUAL_KNOTS),
            BinChoice::Off => None,
            BinChoice::Count(count) => (distinct > count).then_some(count),
        }
    }
}

impl FromStr for BinChoice {
    type Err = Error;

    fn from_str(word: &str) -> Result<BinChoice> {
        let choice = match word {
            "auto" => BinChoice::Auto,
            "off" => BinChoice::Off,
            number => BinChoice::Count(number.parse().map_err(|_| {
                Error::usage(format!("\"{number}\" is no number of bins")).with_remedy("give a number, auto or off")
            })?),
        };
        choice.check().map(|()| choice)
    }
}

impl fmt::Display for BinChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BinChoice::Auto => f.write_str("auto"),
            BinChoice::Off => f.write_str("off"),
            BinChoice::Count(count) => write!(f, "{count}"),
        }
    }
}

super::distances::as_text!(BinChoice);
