//! Pairs: two features of one node as one categorical feature, whose levels are the cells of a grid.
//!
//! Each of the two is cut into bins: a number between edges that training has set, a category by its levels, and a
//! missing value as a bin of its own. Once it is cut, a pair is an ordinary feature with a free value per cell; a model
//! remembers the bins, so that new data are cut alike.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Dataset, Feature};
use crate::error::{Error, Result};
use crate::files::{Kind, MISSING, Values};
use crate::spec::RARE;

/// Numbers are cut into at most so many bins, about equally full.
pub const MOST_BINS: usize = 8;
/// A category with more levels than this cannot be in a pair.
pub const MOST_LEVELS: usize = 32;
/// The bin of missing values.
const MISSING_BIN: &str = "missing";
/// What stands between the two bins in the name of a cell.
const BETWEEN: &str = " & ";

/// How the values of a feature are cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureBins {
    /// Numbers, ascending edges: a value that equals an edge is above it.
    Edges(Vec<f64>),
    /// 0 and 1.
    Flag,
    /// The levels of a category; another one counts as rare where there is a level for that.
    Levels(Vec<String>),
}

/// One of the two features of a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairMember {
    /// Its name.
    pub feature: String,
    /// How its values are cut.
    pub bins: FeatureBins,
    /// Whether values that are rare or were not seen in training share its level "rare".
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pooled: bool,
}

/// A cell of the grid of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PairCell {
    /// The bins of the two members.
    pub at: [usize; 2],
    /// Of each of the two whether it is one of ascending numbers.
    pub ordered: [bool; 2],
}

/// Two features of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeaturePair {
    /// The two.
    pub members: [PairMember; 2],
    /// Whether it counts for the item itself, once, and not for others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_item: bool,
}

impl PairMember {
    /// Cuts a feature by its values on the nodes that are wanted; `levels` are those that a category has in training, with one
    /// of all rare values where they are `pooled`.
    pub fn of(
        feature: &Feature,
        levels: &[String],
        pooled: bool,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<PairMember> {
        let bins = match (&feature.values, feature.kind) {
            (Values::Categories { .. }, _) if levels.len() > MOST_LEVELS => {
                return Err(Error::usage(format!(
                    "feature \"{}\" has {} levels, and a pair takes at most {MOST_LEVELS}",
                    feature.name,
                    levels.len()
                ))
                .with_remedy("choose another feature for the pair"));
            }
            (Values::Categories { .. }, _) => FeatureBins::Levels(levels.to_vec()),
            (_, Kind::Binary) => FeatureBins::Flag,
            _ => FeatureBins::Edges(edges(dense(feature, wanted))),
        };
        Ok(PairMember { feature: feature.name.clone(), bins, pooled })
    }

    /// The names of its bins, missing last.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = match &self.bins {
            FeatureBins::Flag => vec!["0".to_owned(), "1".to_owned()],
            FeatureBins::Levels(levels) => levels.iter().map(|level| quoted(level)).collect(),
            FeatureBins::Edges(edges) => match (edges.first(), edges.last()) {
                (Some(first), Some(last)) => {
                    let between = edges.windows(2).map(|pair| format!("{} to {}", pair[0], pair[1]));
                    [format!("< {first}")].into_iter().chain(between).chain([format!("≥ {last}")]).collect()
                }
                _ => vec!["any".to_owned()],
            },
        };
        names.push(MISSING_BIN.to_owned());
        names
    }

    /// Number of bins, missing included.
    pub fn len(&self) -> usize {
        1 + match &self.bins {
            FeatureBins::Flag => 2,
            FeatureBins::Levels(levels) => levels.len(),
            FeatureBins::Edges(edges) => edges.len() + 1,
        }
    }

    /// Whether there is but one bin beside that of missing values.
    pub fn is_empty(&self) -> bool {
        self.len() < 3
    }

    /// The bin of every node; `u16::MAX` for a category that training had not seen.
    pub fn cut(&self, feature: &Feature) -> Result<Vec<u16>> {
        let unfit = || Error::input(format!("feature \"{}\" does not fit the pair it is in", self.feature));
        let missing = self.len() as u16 - 1;
        match (&self.bins, &feature.values) {
            (FeatureBins::Levels(levels), Values::Categories { codes, levels: found }) => {
                let known: HashMap<&str, u16> = levels.iter().map(String::as_str).zip(0..).collect();
                let other = known.get(RARE).filter(|_| self.pooled || feature.description.is_some());
                let place = |name: &String| known.get(name.as_str()).or(other).copied().unwrap_or(u16::MAX);
                let places: Vec<u16> = found.iter().map(place).collect();
                Ok(codes.iter().map(|code| if *code == MISSING { missing } else { places[*code as usize] }).collect())
            }
            (FeatureBins::Levels(_), _) | (_, Values::Categories { .. }) => Err(unfit()),
            (bins, _) => {
                let bin = |x: f64| match bins {
                    FeatureBins::Edges(edges) => edges.partition_point(|edge| *edge <= x) as u16,
                    _ => u16::from(x != 0.0),
                };
                Ok(dense(feature, |_| true).into_iter().map(|x| if x.is_nan() { missing } else { bin(x) }).collect())
            }
        }
    }
}

impl FeaturePair {
    /// The name of the feature that the pair is.
    pub fn feature_name(&self) -> String {
        let [first, second] = &self.members;
        format!("{} × {}", first.feature, second.feature)
    }

    /// The name of a cell, by the names of its bins.
    pub fn cell_name(first: &str, second: &str) -> String {
        format!("{first}{BETWEEN}{second}")
    }

    /// Where every cell of the grid is, by its name.
    pub(crate) fn cells(&self) -> HashMap<String, PairCell> {
        let [rows, columns] = self.members.each_ref().map(PairMember::names);
        // The last bin is that of missing values, which has no neighbours.
        let ordered = |member: usize, bin: usize| {
            matches!(self.members[member].bins, FeatureBins::Edges(_)) && bin + 1 < self.members[member].len()
        };
        let mut cells = HashMap::new();
        for (row, first) in rows.iter().enumerate() {
            for (column, second) in columns.iter().enumerate() {
                let cell = PairCell { at: [row, column], ordered: [ordered(0, row), ordered(1, column)] };
                cells.insert(FeaturePair::cell_name(first, second), cell);
            }
        }
        cells
    }

    /// The pair as a feature, its members found among `features`.
    pub fn feature(&self, features: &[Feature]) -> Result<Feature> {
        let cut = |member: &PairMember| {
            let found = features.iter().find(|feature| feature.name == member.feature);
            let found = found.ok_or_else(|| {
                Error::input(format!("there is no feature \"{}\" for \"{}\"", member.feature, self.feature_name()))
            })?;
            member.cut(found)
        };
        let [first, second] = [cut(&self.members[0])?, cut(&self.members[1])?];
        let names = self.members.each_ref().map(PairMember::names);
        let width = names[1].len();
        let name = |names: &[String], bin: u16| names.get(usize::from(bin)).cloned().unwrap_or("unseen".to_owned());
        // One level per cell that occurs, row by row of the grid; all cells with an unseen category are one.
        let unseen = names[0].len() * width;
        let cell = |(first, second): (&u16, &u16)| match (usize::from(*first), usize::from(*second)) {
            (first, second) if first < names[0].len() && second < width => first * width + second,
            _ => unseen,
        };
        let cells: Vec<usize> = first.iter().zip(&second).map(cell).collect();
        let mut codes = vec![MISSING; unseen + 1];
        cells.iter().for_each(|cell| codes[*cell] = 0);
        let mut levels = Vec::new();
        for (cell, code) in codes.iter_mut().enumerate().filter(|(_, code)| **code == 0) {
            *code = levels.len() as u32;
            let bins = if cell == unseen { [u16::MAX; 2] } else { [(cell / width) as u16, (cell % width) as u16] };
            levels.push(FeaturePair::cell_name(&name(&names[0], bins[0]), &name(&names[1], bins[1])));
        }
        let codes = cells.into_iter().map(|cell| codes[cell]).collect();
        let values = Values::Categories { codes, levels };
        Ok(Feature { pair: Some(self.clone()), ..Feature::new(self.feature_name(), Kind::Categorical, values) })
    }
}

impl Dataset {
    /// The same data with pairs as further features, after the others.
    pub fn paired(&self, pairs: &[FeaturePair]) -> Result<Dataset> {
        let mut content = (*self.content).clone();
        for pair in pairs {
            let feature = pair.feature(self.features())?;
            if content.features.iter().any(|other| other.name == feature.name) {
                return Err(Error::usage(format!("there would be two features called \"{}\"", feature.name))
                    .with_remedy("leave that pair out, or rename the column of the data"));
            }
            content.features.push(feature);
        }
        Ok(self.with_content(content))
    }
}

/// A level as part of the name of a cell: in quotes where it could be taken for something else.
fn quoted(level: &str) -> String {
    let plain = !level.contains(['&', '"']) && ![MISSING_BIN, "unseen"].contains(&level);
    if plain { level.to_owned() } else { format!("{level:?}") }
}

/// The numbers of the nodes that are wanted.
fn dense(feature: &Feature, wanted: impl Fn(usize) -> bool) -> Vec<f64> {
    let numbers = super::feature::dense(feature.values.clone());
    numbers.into_iter().enumerate().filter(|(node, _)| wanted(*node)).map(|(_, x)| x).collect()
}

/// Edges between at most [`MOST_BINS`] bins of about the same number of values. A value that many nodes have is a bin of
/// its own, and the others share what is left; an edge is the shortest number that divides the values.
fn edges(mut values: Vec<f64>) -> Vec<f64> {
    values.retain(|x| !x.is_nan());
    // -0 and 0 are one value.
    values.iter_mut().for_each(|x| *x += 0.0);
    values.sort_unstable_by(f64::total_cmp);
    let mut edges = Vec::new();
    let (mut start, mut at) = (0, 0);
    for same in values.chunk_by(|a, b| a == b) {
        let bins_left = MOST_BINS - edges.len();
        let share = (values.len() - start) / bins_left;
        if at > start && bins_left > 1 && at - start + same.len() / 2 >= share {
            edges.push(shortest_between(values[at - 1], same[0]));
            start = at;
        }
        at += same.len();
    }
    edges
}

/// The shortest number above `below` and not above `above`.
fn shortest_between(below: f64, above: f64) -> f64 {
    let mut rounded = (0..17)
        .map(|digits| format!("{above:.digits$e}").parse::<f64>().expect("a number that was written is a number"));
    rounded.find(|edge| *edge > below && *edge <= above).expect("with 16 decimals it is the upper number itself")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_divide_values_evenly_and_are_short() {
        let values: Vec<f64> = (0..1000).map(|x| f64::from(x) / 997.0).collect();
        let edges = edges(values);
        assert_eq!(edges.len(), MOST_BINS - 1);
        assert!(edges.iter().all(|edge| edge.to_string().len() <= 7), "{edges:?}");
        assert!(edges.is_sorted());
    }

    #[test]
    fn few_values_and_many_equal_ones_have_a_bin_each() {
        assert_eq!(edges(vec![1.0, 2.0, -0.0, 2.0, 0.0, 5.0]), [1.0, 2.0, 5.0]);
        assert_eq!(edges(vec![3.0; 9]), [0.0; 0]);
        assert_eq!(edges(vec![f64::NAN]), [0.0; 0]);
        let mut values = vec![0.0; 900];
        values.extend((1..100).map(f64::from));
        assert_eq!(edges(values).len(), MOST_BINS - 1);
    }

    #[test]
    fn a_level_cannot_pass_for_another_cell() {
        assert_eq!(quoted("high"), "high");
        assert_eq!(quoted("missing"), "\"missing\"");
        assert_ne!(
            FeaturePair::cell_name(&quoted("a & b"), &quoted("c")),
            FeaturePair::cell_name(&quoted("a"), &quoted("b & c"))
        );
    }
}
