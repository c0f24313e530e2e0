//! What can be required of distances, feature by feature: groups that share a distance function, limits, weights in bins.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Lets serde write a type as the text that it displays as, and read it as it is parsed.
macro_rules! as_text {
    ($type:ty) => {
        impl From<$type> for String {
            fn from(value: $type) -> String {
                value.to_string()
            }
        }

        impl TryFrom<String> for $type {
            type Error = crate::error::Error;

            fn try_from(text: String) -> crate::error::Result<Self> {
                text.parse()
            }
        }
    };
}
pub(super) use as_text;

/// Types of edges that a distance is counted over; none: all edges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EdgeTypes(pub Vec<String>);

/// Stands for all edges.
const ALL_TYPES: &str = "all";

impl fmt::Display for EdgeTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str(ALL_TYPES) } else { f.write_str(&self.0.join("+")) }
    }
}

impl FromStr for EdgeTypes {
    type Err = Error;

    fn from_str(text: &str) -> Result<EdgeTypes> {
        if text == ALL_TYPES {
            return Ok(EdgeTypes::default());
        }
        Ok(EdgeTypes(text.split('+').map(str::to_owned).collect()))
    }
}

/// A distance that is the sum of a weight over the edges of a path, cut into bins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightBins {
    /// The column of the edges that holds the weight.
    pub weight: String,
    /// Where the bins end, ascending; the first begins at 0. What is beyond the last counts as unreachable.
    pub ends: Vec<f64>,
}

impl fmt::Display for WeightBins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends: Vec<String> = self.ends.iter().map(f64::to_string).collect();
        write!(f, "{}={}", self.weight, ends.join(","))
    }
}

impl FromStr for WeightBins {
    type Err = Error;

    fn from_str(text: &str) -> Result<WeightBins> {
        let parsed = text.rsplit_once('=').and_then(|(weight, ends)| {
            let ends = ends.split(',').map(|end| end.trim().parse().ok()).collect::<Option<Vec<f64>>>()?;
            Some(WeightBins { weight: weight.to_owned(), ends })
        });
        parsed.ok_or_else(|| {
            Error::usage(format!("\"{text}\" does not state how a distance is cut into bins"))
                .with_remedy("name a column of the edges and where its bins end, for example days=1,7,30")
        })
    }
}

/// Features that share a distance function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RhoGroup {
    /// The name of the group.
    pub name: String,
    /// The names of its features.
    pub features: Vec<String>,
}

impl fmt::Display for RhoGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.features.join(","))
    }
}

impl FromStr for RhoGroup {
    type Err = Error;

    fn from_str(text: &str) -> Result<RhoGroup> {
        let (name, members) = text.split_once('=').unwrap_or((text, text));
        let features: Vec<String> = members.split(',').map(|name| name.trim().to_owned()).collect();
        if name.trim().is_empty() || features.iter().any(String::is_empty) {
            return Err(Error::usage(format!("\"{text}\" is not a group of features"))
                .with_remedy("give a name and the features, for example size=mass,charge"));
        }
        Ok(RhoGroup { name: name.trim().to_owned(), features })
    }
}

/// A limit on the distance from which one feature counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FeatureHopCap {
    /// The name of the feature.
    pub feature: String,
    /// The largest distance from which it counts.
    pub cap: usize,
}

impl fmt::Display for FeatureHopCap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.feature, self.cap)
    }
}

impl FromStr for FeatureHopCap {
    type Err = Error;

    fn from_str(text: &str) -> Result<FeatureHopCap> {
        let parsed = text.rsplit_once('=').and_then(|(name, cap)| Some((name.to_owned(), cap.trim().parse().ok()?)));
        let Some((feature, cap)) = parsed else {
            return Err(Error::usage(format!("\"{text}\" is not a hop cap of a feature"))
                .with_remedy("give a name and a number of edges, for example age=2"));
        };
        Ok(FeatureHopCap { feature, cap })
    }
}

/// Stands between the names of the features of a pair wherever a pair has a name.
pub(crate) const TIMES: &str = " × ";

/// Two features of one node, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FeaturePairName(pub [String; 2]);

impl fmt::Display for FeaturePairName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.0;
        write!(f, "{first}{TIMES}{second}")
    }
}

impl FromStr for FeaturePairName {
    type Err = Error;

    fn from_str(text: &str) -> Result<FeaturePairName> {
        let parts = text.split_once(TIMES).or_else(|| text.split_once(','));
        match parts.map(|(first, second)| [first, second].map(|name| name.trim().to_owned())) {
            Some(names) if names.iter().all(|name| !name.is_empty()) => Ok(FeaturePairName(names)),
            _ => Err(Error::usage(format!("\"{text}\" does not name two features"))
                .with_remedy("give two names with a comma between them")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: FromStr<Err = Error> + fmt::Display>(texts: &[&str], broken: &[&str]) {
        for text in texts {
            let written = text.parse::<T>().unwrap_or_else(|error| panic!("{text}: {error}")).to_string();
            assert_eq!(written, *text);
        }
        for text in broken {
            assert!(text.parse::<T>().is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_read_as_they_are_written() {
        round_trip::<EdgeTypes>(&["all", "single", "double+triple"], &[]);
        round_trip::<WeightBins>(&["days=1,7,30", "a=b=0.5"], &["days", "days=x", "days="]);
        round_trip::<RhoGroup>(&["size=mass,charge"], &["=a", "a=", "a=b,"]);
        round_trip::<FeatureHopCap>(&["age=2", "a=b=0"], &["age", "age=-1", "age=x"]);
        round_trip::<FeaturePairName>(&["a × b", "a,b × c"], &["a", "a,", ",b"]);
        assert_eq!("a, b".parse::<FeaturePairName>().unwrap().to_string(), "a × b");
        assert_eq!("a,b".parse::<RhoGroup>().unwrap().to_string(), "a,b=a,b");
    }
}
