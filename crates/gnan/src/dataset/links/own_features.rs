//! Features of node pairs themselves, which count for the pair alone, at distance 0.
//!
//! | feature | value |
//! |---|---|
//! | `common neighbours` | nodes that are joined with both ends |
//! | `rare common neighbours` | the same, each counted as `1 / ln(its degree)` (Adamic and Adar 2003) |
//! | `distance without this link` | edges on the shortest path between the ends; a category, of which `no path` is one |
//! | `smaller degree`, `larger degree` | neighbours of either end, whichever comes first |
//! | `same x`, `both x`, `product of x`, `difference in x` | agreement of the ends in a categorical, binary, sparse or continuous feature |
//! | `shared words` (or what the features are called), `rare shared words` | how many features both ends have, where there are too many for one curve each |
//!
//! All of them are computed from the message edges without the pair's own, and from features that were read, so that nothing gives
//! away whether the pair is a link. Message edges have no such values: numbers are listed for candidates alone, and the category of a
//! message edge is missing.

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::EndFeature;
use super::path_search::PathSearch;
use crate::dataset::Feature;
use crate::error::{Error, Result};
use crate::files::{Kind, MISSING, Values};
use crate::graph::Graph;
use crate::groups::group_offsets;
use crate::memory::MemoryLimit;
use crate::numbers::DAYS;

/// With more features of the nodes than this, agreement in all of them is one number.
const MOST_CURVES: usize = 50;
/// From this distance on all are one category.
const FAR: u32 = 10;
/// The last category of the distance.
const NO_PATH: &str = "no path";
/// The bytes that the values of a pair take while they are computed.
const BYTES_OF_A_PAIR: u64 = 128;

/// Which features node pairs have of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OwnFeatures {
    /// Those of the graph, and the agreement in every feature of the nodes.
    Each,
    /// Those of the graph, and the agreement in all features of the nodes together.
    Together,
}

/// What a feature of node pairs is computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OwnValue {
    CommonNeighbours,
    RareCommonNeighbours,
    Distance,
    SmallerDegree,
    LargerDegree,
    /// Of the feature of the nodes with this number.
    Agreement(usize),
    Shared,
    RareShared,
    SameCategories,
    MeanDifference,
}

/// The candidates: which node of the data set each of them is, ascending, and its ends.
pub struct Candidates<'a> {
    pub nodes: &'a [u32],
    pub ends: &'a [[u32; 2]],
}

impl OwnFeatures {
    /// The way that suits nodes with these features.
    pub fn suited(ends: &[EndFeature]) -> OwnFeatures {
        let read = ends.iter().filter(|end| end.description.is_none()).count();
        if read > MOST_CURVES { OwnFeatures::Together } else { OwnFeatures::Each }
    }

    /// The features by name and kind.
    pub fn names(self, ends: &[EndFeature]) -> Vec<(String, Kind)> {
        self.listed(ends).into_iter().map(|(name, kind, _)| (name, kind)).collect()
    }

    fn listed(self, ends: &[EndFeature]) -> Vec<(String, Kind, OwnValue)> {
        let mut listed: Vec<(String, Kind, OwnValue)> = [
            ("common neighbours", Kind::Continuous, OwnValue::CommonNeighbours),
            ("rare common neighbours", Kind::Continuous, OwnValue::RareCommonNeighbours),
            ("distance without this link", Kind::Categorical, OwnValue::Distance),
            ("smaller degree", Kind::Continuous, OwnValue::SmallerDegree),
            ("larger degree", Kind::Continuous, OwnValue::LargerDegree),
        ]
        .map(|(name, kind, value)| (name.to_owned(), kind, value))
        .into();
        // What is computed from the graph would give the pair's own edge away.
        let read = || ends.iter().enumerate().filter(|(_, end)| end.description.is_none());
        if self == OwnFeatures::Each {
            listed.extend(read().map(|(k, end)| {
                let (words, kind) = match end.kind {
                    Kind::Categorical => ("same", Kind::Binary),
                    Kind::Binary => ("both", Kind::Binary),
                    Kind::Sparse => ("product of", Kind::Sparse),
                    Kind::Continuous => ("difference in", Kind::Continuous),
                };
                (format!("{words} {}", end.name), kind, OwnValue::Agreement(k))
            }));
            return listed;
        }
        let has = |wanted: &[Kind]| read().any(|(_, end)| wanted.contains(&end.kind));
        if has(&[Kind::Binary, Kind::Sparse]) {
            let noun = plural(read().filter(|(_, end)| is_listed(end.kind)).map(|(_, end)| end.name.as_str()));
            listed.push((format!("shared {noun}"), Kind::Continuous, OwnValue::Shared));
            listed.push((format!("rare shared {noun}"), Kind::Continuous, OwnValue::RareShared));
        }
        if has(&[Kind::Categorical]) {
            listed.push(("same categories".to_owned(), Kind::Continuous, OwnValue::SameCategories));
        }
        if has(&[Kind::Continuous]) {
            listed.push(("mean difference of numbers".to_owned(), Kind::Continuous, OwnValue::MeanDifference));
        }
        listed
    }

    /// What agreement in a feature of the nodes counts among all features, as training data have it: the rarer a word, the more;
    /// numbers in units of their spread. `None` where every feature is on its own.
    pub(super) fn weight(self, feature: &Feature) -> Option<f64> {
        if self == OwnFeatures::Each || feature.description.is_some() {
            return None;
        }
        match feature.kind {
            Kind::Binary | Kind::Sparse => {
                let having = feature.values.numbers().filter(|(_, x)| *x != 0.0 && !x.is_nan()).count();
                Some((feature.values.len().max(1) as f64 / having.max(1) as f64).ln())
            }
            Kind::Continuous => {
                let known = || feature.values.numbers().map(|(_, x)| x).filter(|x| x.is_finite());
                let count = known().count().max(1) as f64;
                let mean = known().map(|x| x / count).sum::<f64>();
                let spread = known().map(|x| (x - mean).powi(2) / count).sum::<f64>().sqrt();
                Some(if spread.is_finite() && spread > 0.0 { 1.0 / spread } else { 0.0 })
            }
            Kind::Categorical => None,
        }
    }

    /// The features of the candidates, of a data set of `len` nodes, given the features of the nodes that pairs are made of.
    pub(super) fn features(
        self,
        (ends, features): (&[EndFeature], &[Feature]),
        messages: &Graph,
        candidates: &Candidates<'_>,
        len: usize,
        memory: MemoryLimit,
    ) -> Result<Vec<Feature>> {
        let listed = self.listed(ends);
        let bytes = BYTES_OF_A_PAIR + 16 * listed.len() as u64;
        memory.demand(candidates.nodes.len() as u64 * bytes + 4 * len as u64, "the features of node pairs")?;
        let around = Surroundings::all(messages, candidates.ends);
        let shared = match listed.iter().any(|(.., value)| *value == OwnValue::Shared) {
            true => shared_features(ends, features, messages.len(), candidates.ends),
            false => Vec::new(),
        };
        let made = listed.into_iter().map(|(name, kind, value)| {
            let numbers = |of: &dyn Fn(&Surroundings) -> f64| around.iter().map(of).collect::<Vec<f64>>();
            let numbers = match value {
                OwnValue::Distance => {
                    let (mut codes, levels) = (vec![MISSING; len], distance_levels());
                    for (node, around) in candidates.nodes.iter().zip(&around) {
                        codes[*node as usize] = distance_code(around.distance);
                    }
                    return own_feature(name, kind, None, Values::Categories { codes, levels });
                }
                OwnValue::CommonNeighbours => numbers(&|around| f64::from(around.common)),
                OwnValue::RareCommonNeighbours => numbers(&|around| around.rare_common),
                OwnValue::SmallerDegree => numbers(&|around| f64::from(around.degrees[0])),
                OwnValue::LargerDegree => numbers(&|around| f64::from(around.degrees[1])),
                OwnValue::Shared => shared.iter().map(|(count, _)| f64::from(*count)).collect(),
                OwnValue::RareShared => shared.iter().map(|(_, sum)| *sum).collect(),
                OwnValue::Agreement(k) => agreement(&features[k], candidates.ends),
                OwnValue::SameCategories => summed(features, Kind::Categorical, candidates.ends, |_| 1.0),
                OwnValue::MeanDifference => {
                    summed(features, Kind::Continuous, candidates.ends, |k| ends[k].weight.unwrap_or(0.0))
                }
            };
            let unit = match value {
                OwnValue::Agreement(k) if kind == Kind::Continuous => match ends[k].unit.as_deref() {
                    Some(DAYS) => Some("days".to_owned()),
                    unit => unit.map(str::to_owned),
                },
                _ => None,
            };
            // Zeros of numbers are values like any other; those of binary and sparse features are not listed.
            let counts = |x: f64| kind == Kind::Continuous || x != 0.0;
            let (rows, values) =
                candidates.nodes.iter().zip(numbers).filter(|(_, x)| counts(*x)).map(|(node, x)| (*node, x)).unzip();
            own_feature(name, kind, unit, Values::Sparse { len, rows, values })
        });
        Ok(made.collect())
    }
}

/// Refuses two features of one name, which odd names of columns can lead to.
pub(super) fn check_names(features: &[Feature]) -> Result<()> {
    let mut seen = BTreeSet::new();
    match features.iter().find(|feature| !seen.insert(feature.name.as_str())) {
        Some(twice) => Err(Error::input(format!("two features of node pairs would be called \"{}\"", twice.name))
            .with_remedy("give the columns of the nodes other names")),
        None => Ok(()),
    }
}

fn own_feature(name: String, kind: Kind, unit: Option<String>, values: Values) -> Feature {
    Feature { unit, own_only: true, ..Feature::new(name, kind, values) }
}

/// Whether nodes list a feature of this kind only where they have it.
fn is_listed(kind: Kind) -> bool {
    matches!(kind, Kind::Binary | Kind::Sparse)
}

/// What features with these names are called together: `words` for `word_0`, `word_1`, ...; `features` where names have nothing in
/// common but numbers.
fn plural<'a>(mut names: impl Iterator<Item = &'a str>) -> String {
    let stem =
        |name: &'a str| name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['_', ' ', '-', '.']);
    let first = names.next().map(stem).unwrap_or_default();
    let word =
        first.chars().count() > 1 && first.chars().all(char::is_alphabetic) && names.all(|name| stem(name) == first);
    if word { format!("{first}s") } else { "features".to_owned() }
}

fn distance_levels() -> Vec<String> {
    (2..FAR).map(|distance| distance.to_string()).chain([format!("{FAR} or more"), NO_PATH.to_owned()]).collect()
}

fn distance_code(distance: Option<u32>) -> u32 {
    // Without the pair's own edge its ends are at least two edges apart.
    distance.map_or(FAR - 1, |distance| distance.clamp(2, FAR) - 2)
}

/// What a node pair has around it, its own edge left out.
struct Surroundings {
    common: u32,
    rare_common: f64,
    distance: Option<u32>,
    /// The smaller first.
    degrees: [u32; 2],
}

impl Surroundings {
    /// The surroundings of pairs in a graph without direction, in their order.
    fn all(graph: &Graph, pairs: &[[u32; 2]]) -> Vec<Surroundings> {
        let search = || PathSearch::new(graph);
        pairs.par_iter().map_init(search, |search, pair| Surroundings::of(graph, *pair, search)).collect()
    }

    fn of(graph: &Graph, [one, other]: [u32; 2], search: &mut PathSearch<'_>) -> Surroundings {
        let [mine, others] = [one, other].map(|node| graph.successors(node as usize));
        let own_edge = u32::from(mine.binary_search(&other).is_ok());
        let (mut common, mut rare_common) = (0, 0.0);
        // A common neighbour is neither of the ends, so its degree does not depend on the pair's own edge; it is 2 or more.
        each_common(mine, others, |node| {
            common += 1;
            rare_common += 1.0 / (graph.successors(node as usize).len() as f64).ln();
        });
        let mut degrees = [mine, others].map(|neighbours| neighbours.len() as u32 - own_edge);
        degrees.sort_unstable();
        Surroundings { common, rare_common, distance: search.distance([one, other]), degrees }
    }
}

/// Calls `visit` with everything that two ascending lists have in common.
fn each_common(one: &[u32], other: &[u32], mut visit: impl FnMut(u32)) {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let mut rest = long;
    for entry in short {
        let at = rest.partition_point(|known| known < entry);
        rest = &rest[at..];
        if rest.first() == Some(entry) {
            visit(*entry);
        }
    }
}

/// For every pair how many binary and sparse features both ends have, and the sum of their weights.
fn shared_features(ends: &[EndFeature], features: &[Feature], nodes: usize, pairs: &[[u32; 2]]) -> Vec<(u32, f64)> {
    let mut held: Vec<(u32, u32)> = Vec::new();
    for (k, feature) in (0u32..).zip(features).filter(|(_, f)| is_listed(f.kind) && f.description.is_none()) {
        let having = feature.values.numbers().filter(|(_, x)| *x != 0.0 && !x.is_nan());
        held.extend(having.map(|(node, _)| (node as u32, k)));
    }
    // Stable, so that the features of a node ascend.
    held.sort_by_key(|(node, _)| *node);
    let offsets = group_offsets(nodes, held.iter().map(|(node, _)| *node as usize));
    let list: Vec<u32> = held.into_iter().map(|(_, k)| k).collect();
    let of_node = |node: u32| &list[offsets[node as usize]..offsets[node as usize + 1]];
    let shared = |pair: &[u32; 2]| {
        let (mut count, mut sum) = (0, 0.0);
        each_common(of_node(pair[0]), of_node(pair[1]), |k| {
            count += 1;
            sum += ends[k as usize].weight.unwrap_or(0.0);
        });
        (count, sum)
    };
    pairs.par_iter().map(shared).collect()
}

/// The agreement of the ends of pairs in a feature: see the table of this module. One of two that is missing leaves it missing.
fn agreement(feature: &Feature, pairs: &[[u32; 2]]) -> Vec<f64> {
    match &feature.values {
        Values::Categories { codes, .. } => {
            let same = |pair: &[u32; 2]| match pair.map(|node| codes[node as usize]) {
                [MISSING, _] | [_, MISSING] => f64::NAN,
                [one, other] => f64::from(u8::from(one == other)),
            };
            pairs.iter().map(same).collect()
        }
        numeric => {
            let at = |node: u32| numeric.numbers_in(node as usize..node as usize + 1).next().map_or(0.0, |(_, x)| x);
            let combine = |[one, other]: [f64; 2]| match feature.kind {
                // Numbers stay finite, however large they are.
                Kind::Continuous => (one - other).abs().clamp(0.0, f64::MAX),
                _ => (one * other).clamp(f64::MIN, f64::MAX),
            };
            pairs.iter().map(|pair| combine(pair.map(at))).collect()
        }
    }
}

/// Agreement in all features of a kind that were read, each times its weight: the number of same categories, or the mean of
/// differences. Missing values are left out; a pair without any other is missing.
fn summed(features: &[Feature], kind: Kind, pairs: &[[u32; 2]], weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let (mut sums, mut counts) = (vec![0.0; pairs.len()], vec![0.0; pairs.len()]);
    for (k, feature) in features.iter().enumerate().filter(|(_, f)| f.kind == kind && f.description.is_none()) {
        for ((sum, count), x) in sums.iter_mut().zip(&mut counts).zip(agreement(feature, pairs)) {
            if !x.is_nan() {
                *sum = f64::min(*sum + x * weight(k), f64::MAX);
                *count += 1.0;
            }
        }
    }
    let mean = kind == Kind::Continuous;
    let whole = |(sum, count): (f64, f64)| match count {
        0.0 => f64::NAN,
        count if mean => sum / count,
        _ => sum,
    };
    sums.into_iter().zip(counts).map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_called_by_what_they_have_in_common() {
        let plural = |names: &[&str]| plural(names.iter().copied());
        assert_eq!(plural(&["word_0", "word_1", "word_17"]), "words");
        assert_eq!(plural(&["insulin", "rat"]), "features");
        assert_eq!(plural(&["0", "1"]), "features");
        assert_eq!(plural(&["x1", "x2"]), "features");
    }

    #[test]
    fn distances_have_a_category_each() {
        let levels = distance_levels();
        let name = |distance: Option<u32>| levels[distance_code(distance) as usize].as_str();
        assert_eq!(
            [Some(2), Some(9), Some(10), Some(11), None].map(name),
            ["2", "9", "10 or more", "10 or more", "no path"]
        );
    }

    #[test]
    fn the_own_edge_does_not_count() {
        // A triangle 0 1 2, a tail 2 - 3, and a node alone.
        let edges = [[0, 1], [0, 2], [1, 2], [2, 3]];
        let graph = Graph::new(5, edges.into_iter(), false);
        let found = Surroundings::all(&graph, &[[0, 1], [2, 3], [0, 3], [0, 4]]);
        let rows: Vec<_> = found.iter().map(|pair| (pair.common, pair.distance, pair.degrees)).collect();
        assert_eq!(rows, [(1, Some(2), [1, 1]), (0, None, [0, 2]), (1, Some(2), [1, 2]), (0, None, [0, 2])]);
        assert_eq!(found[0].rare_common, 1.0 / 3f64.ln());
        assert_eq!(found[2].rare_common, found[0].rare_common);
    }
}
