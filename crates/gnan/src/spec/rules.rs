//! Rules: what a user requires of the shape function of a feature.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Which way a shape function may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trend {
    /// It never falls.
    Up,
    /// It never rises.
    Down,
}

/// Which way a shape function may bend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Curvature {
    /// Its slope never falls.
    Convex,
    /// Its slope never rises.
    Concave,
}

/// What a user requires of one shape function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Which way it may go. The rho of a function with a direction or a curvature is never negative, so that both hold for
    /// predictions; effects of a penalised fit keep to both at every distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Trend>,
    /// Which way it may bend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curvature: Option<Curvature>,
    /// One source never counts for more than this, at any distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// Strength of its smoothness penalty, instead of that of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smooth: Option<f64>,
}

impl Rules {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Rules::default()
    }

    /// Whether something is promised, more than a preference while training.
    pub fn promise(&self) -> bool {
        self.direction.is_some() || self.curvature.is_some() || self.bound.is_some()
    }

    /// Whether a rho that is negative somewhere would turn the promise round.
    pub fn need_sign(&self) -> bool {
        self.direction.is_some() || self.curvature.is_some()
    }

    /// Whether all numbers make sense.
    pub fn are_sensible(&self) -> bool {
        self.bound.is_none_or(|bound| bound.is_finite() && bound > 0.0)
            && self.smooth.is_none_or(|smooth| smooth.is_finite() && smooth >= 0.0)
    }
}

/// Rules for a feature, by its name: `logp: up, bounded 0.5`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FeatureRules {
    /// The name of the feature.
    pub feature: String,
    /// What is required of it.
    pub rules: Rules,
}

impl fmt::Display for FeatureRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rules { direction, curvature, bound, smooth } = self.rules;
        let mut words: Vec<String> = Vec::new();
        words.extend(direction.map(|direction| if direction == Trend::Up { "up" } else { "down" }.to_owned()));
        words.extend(curvature.map(|bend| if bend == Curvature::Convex { "convex" } else { "concave" }.to_owned()));
        words.extend(bound.map(|bound| format!("bounded {bound}")));
        words.extend(smooth.map(|smooth| format!("smooth {smooth}")));
        write!(f, "{}: {}", self.feature, words.join(", "))
    }
}

super::distances::as_text!(FeatureRules);

impl FromStr for FeatureRules {
    type Err = Error;

    fn from_str(text: &str) -> Result<FeatureRules> {
        let refuse = |what: String| {
            Error::usage(what).with_remedy(
                "write for example \"logp: up, bounded 0.5\"; there are up, down, convex, concave, bounded B and smooth X",
            )
        };
        // A name may hold a colon, the rules do not.
        let Some((feature, words)) = text.rsplit_once(':') else {
            return Err(refuse(format!("\"{text}\" does not state a rule for a feature")));
        };
        let mut rules = Rules::default();
        for word in words.split(',').map(str::trim) {
            let taken = match word.split_once(char::is_whitespace).unwrap_or((word, "")) {
                ("up", "") => rules.direction.replace(Trend::Up).is_some(),
                ("down", "") => rules.direction.replace(Trend::Down).is_some(),
                ("convex", "") => rules.curvature.replace(Curvature::Convex).is_some(),
                ("concave", "") => rules.curvature.replace(Curvature::Concave).is_some(),
                (name @ ("bounded" | "smooth"), number) => {
                    let number: f64 =
                        number.trim().parse().map_err(|_| refuse(format!("\"{word}\" needs a number")))?;
                    let place = if name == "bounded" { &mut rules.bound } else { &mut rules.smooth };
                    place.replace(number).is_some()
                }
                _ => return Err(refuse(format!("\"{word}\" is no rule for a feature"))),
            };
            if taken {
                return Err(refuse(format!("the rules of {} contradict or repeat themselves", feature.trim())));
            }
        }
        if !rules.are_sensible() {
            return Err(refuse("a bound must be above 0, and a strength 0 or more".to_owned()));
        }
        Ok(FeatureRules { feature: feature.trim().to_owned(), rules })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in ["logp: up, bounded 0.5", "a: b: down, convex", "x: concave, smooth 10", "x: smooth 0"] {
            assert_eq!(text.parse::<FeatureRules>().unwrap().to_string(), text);
        }
        let rules: FeatureRules = " x :up,bounded  2 ".parse().unwrap();
        assert_eq!((rules.feature.as_str(), rules.rules.bound), ("x", Some(2.0)));
        for text in
            ["logp", "x:", "x: sideways", "x: up, down", "x: bounded", "x: bounded -1", "x: bounded nan", "x: up 3"]
        {
            assert!(text.parse::<FeatureRules>().is_err(), "{text}");
        }
    }
}
