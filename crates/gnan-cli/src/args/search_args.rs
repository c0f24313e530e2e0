//! Which options are tried, and how they are compared.

use std::time::Duration;

use clap::{Args, ValueEnum};
use gnan::evaluate::{Criterion, Search, Space, Strategy};
use gnan::{Error, Result, Spec};
use serde::Serialize;

use super::heading::SEARCH;

/// Combinations that a random search tries unless told otherwise.
const TRIALS: usize = 20;
/// Stands for the grid of the paper among values to try.
const PAPER: &str = "paper";

/// Which combinations are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyArg {
    /// All of them
    Grid,
    /// Some of them, drawn with the seed
    Random,
}

/// Which options are tried, and how they are compared.
#[derive(Args, Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SearchArgs {
    /// Values to try for an option, e.g. hidden=32,64 or describe=none,degree/environment or (random search)
    /// weight-decay=1e-5..3e-2; "paper" stands for the grid of the paper; may be repeated
    #[arg(long = "try", value_name = "OPTION=VALUES", help_heading = SEARCH)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<String>,

    /// Try all combinations, or some at random
    #[arg(long, value_name = "grid|random", default_value = "grid", hide_possible_values = true, help_heading = SEARCH)]
    pub search: StrategyArg,

    /// Combinations that a random search tries
    #[arg(long, value_name = "N", default_value_t = TRIALS, help_heading = SEARCH)]
    pub trials: usize,

    /// Begin no further combination after this time, e.g. 90s, 30m or 2h
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = SEARCH)]
    #[serde(skip)]
    pub budget: Option<Duration>,

    /// What decides on the validation items: loss, or a metric such as accuracy, roc_auc or mae [default: loss]
    #[arg(long, value_name = "WHAT", help_heading = SEARCH)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select_by: Option<String>,
}

impl SearchArgs {
    /// Whether there is anything to choose.
    pub fn is_wanted(&self) -> bool {
        !self.tries.is_empty()
    }

    /// The search around a candidate.
    pub fn search(&self, base: &Spec, seed: u64) -> Result<Search> {
        let mut space = Space::default();
        for axis in &self.tries {
            if axis == PAPER {
                if self.tries.len() > 1 {
                    return Err(Error::usage("the grid of the paper leaves nothing else to try")
                        .with_remedy("use --try paper alone, or list all values"));
                }
                space = Space::paper();
            } else {
                space = space.with(axis)?;
            }
        }
        let strategy = match self.search {
            StrategyArg::Grid => Strategy::Grid,
            StrategyArg::Random => Strategy::Random(self.trials),
        };
        let mut search = Search::new(base, &space, strategy, seed)?;
        search.budget = self.budget;
        search.criterion = self.criterion()?;
        Ok(search)
    }

    fn criterion(&self) -> Result<Option<Criterion>> {
        self.select_by.as_deref().map(str::parse).transpose()
    }
}

/// Reads `90s`, `30m`, `2h`, or seconds.
fn parse_duration(word: &str) -> std::result::Result<Duration, String> {
    let (number, unit) = match word.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, &word[number.len()..]),
        None => (word, "s"),
    };
    let factor = match unit {
        "h" => 3600.0,
        "m" => 60.0,
        _ => 1.0,
    };
    let seconds = number.trim().parse::<f64>().ok().map(|number| number * factor);
    let seconds = seconds.filter(|seconds| seconds.is_finite() && (0.0..=1e9).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "a time such as 90s, 30m or 2h is needed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn times_are_read_with_their_units() {
        let seconds = |word| parse_duration(word).map(|time| time.as_secs_f64());
        assert_eq!(["90s", "1.5m", "2h", "7"].map(|word| seconds(word).unwrap()), [90.0, 90.0, 7200.0, 7.0]);
        for word in ["", "m", "-1s", "1e99h", "nan", "soon"] {
            assert!(seconds(word).is_err(), "{word}");
        }
    }
}
