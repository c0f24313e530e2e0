//! Features of pairs from those of their ends, whichever end comes first.
//!
//! | ends | pair |
//! |---|---|
//! | continuous, sparse | `x (sum)` and `x (difference)`, which has no sign |
//! | binary | `x (sum)`: how many ends have it, which also says whether they differ |
//! | categorical | `x (pair)`: both levels, in the order of the alphabet |
//!
//! A pair one of whose ends is missing is missing.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::JOINT;
use crate::dataset::Feature;
use crate::files::{Kind, MISSING, Values};
use crate::groups::group_offsets;
use crate::numbers::DAYS;

/// The pairs, and which of them every node is an end of.
pub struct Incidence<'a> {
    pairs: &'a [[u32; 2]],
    offsets: Vec<usize>,
    pairs_of_node: Vec<u32>,
}

impl<'a> Incidence<'a> {
    pub fn new(pairs: &'a [[u32; 2]], nodes: usize) -> Incidence<'a> {
        let offsets = group_offsets(nodes, pairs.iter().flatten().map(|node| *node as usize));
        let mut next = offsets.clone();
        let mut pairs_of_node = vec![0; 2 * pairs.len()];
        for (place, pair) in (0u32..).zip(pairs) {
            for node in pair {
                pairs_of_node[next[*node as usize]] = place;
                next[*node as usize] += 1;
            }
        }
        Incidence { pairs, offsets, pairs_of_node }
    }

    fn of_node(&self, node: usize) -> &[u32] {
        &self.pairs_of_node[self.offsets[node]..self.offsets[node + 1]]
    }
}

/// How two numbers become one.
type Combine = fn(f64, f64) -> f64;

/// The ways to combine numbers of a kind: what they are called, and the kind of the result.
fn combinations(kind: Kind) -> &'static [(&'static str, Kind, Combine)] {
    // Numbers stay finite, however large they are.
    const SUM: Combine = |one, other| (one + other).clamp(f64::MIN, f64::MAX);
    const DIFFERENCE: Combine = |one, other| (one - other).abs().clamp(0.0, f64::MAX);
    match kind {
        Kind::Continuous => &[("sum", Kind::Continuous, SUM), ("difference", Kind::Continuous, DIFFERENCE)],
        Kind::Sparse => &[("sum", Kind::Sparse, SUM), ("difference", Kind::Sparse, DIFFERENCE)],
        Kind::Binary => &[("sum", Kind::Sparse, SUM)],
        Kind::Categorical => &[],
    }
}

/// The names and kinds of the features of pairs that a feature of the nodes gives.
pub fn names(name: &str, kind: Kind) -> Vec<(String, Kind)> {
    match kind {
        Kind::Categorical => vec![(format!("{name} (pair)"), kind)],
        kind => combinations(kind).iter().map(|(word, kind, _)| (format!("{name} ({word})"), *kind)).collect(),
    }
}

/// The unit of a feature of pairs: between two dates there are days, and the sum of dates has no unit.
fn combined_unit(name: &str, unit: Option<&str>) -> Option<String> {
    match unit {
        Some(DAYS) => name.ends_with("(difference)").then(|| "days".to_owned()),
        unit => unit.map(str::to_owned),
    }
}

/// The features of pairs, in the order of those of the nodes.
pub fn pair_features(features: &[Feature], incidence: &Incidence<'_>) -> Vec<Feature> {
    let of_pairs: Vec<Vec<Feature>> = features.par_iter().map(|feature| pair_features_of(feature, incidence)).collect();
    of_pairs.into_iter().flatten().collect()
}

fn pair_features_of(feature: &Feature, incidence: &Incidence<'_>) -> Vec<Feature> {
    let values: Vec<Values> = match &feature.values {
        Values::Categories { codes, levels } => vec![category_pairs(codes, levels, incidence.pairs)],
        Values::Numbers(numbers) => (combinations(feature.kind).iter())
            .map(|(_, _, combine)| {
                let of_pair = |pair: &[u32; 2]| combine(numbers[pair[0] as usize], numbers[pair[1] as usize]);
                Values::Numbers(incidence.pairs.iter().map(of_pair).collect())
            })
            .collect(),
        Values::Sparse { rows, values, .. } => {
            let mut listed: Vec<(u32, f64)> = Vec::new();
            for (row, value) in rows.iter().zip(values) {
                listed.extend(incidence.of_node(*row as usize).iter().map(|pair| (*pair, *value)));
            }
            // Stable: rows ascend, so the smaller end comes first.
            listed.sort_by_key(|(pair, _)| *pair);
            let ways = combinations(feature.kind).iter();
            ways.map(|(_, _, combine)| sparse_pairs(&listed, incidence.pairs.len(), *combine)).collect()
        }
    };
    let named = names(&feature.name, feature.kind).into_iter().zip(values);
    named
        .map(|((name, kind), values)| Feature {
            unit: combined_unit(&name, feature.unit.as_deref()),
            description: feature.description.clone(),
            ..Feature::new(name, kind, values)
        })
        .collect()
}

/// Combines what is listed of every pair: both ends, or one whose other is 0.
fn sparse_pairs(listed: &[(u32, f64)], len: usize, combine: Combine) -> Values {
    let (rows, values) = (listed.chunk_by(|one, other| one.0 == other.0))
        .map(|ends| (ends[0].0, combine(ends[0].1, ends.get(1).map_or(0.0, |other| other.1))))
        .filter(|(_, value)| *value != 0.0)
        .unzip();
    Values::Sparse { len, rows, values }
}

/// Both levels of every pair as one; levels in the order of the alphabet.
fn category_pairs(codes: &[u32], levels: &[String], pairs: &[[u32; 2]]) -> Values {
    let both = |pair: &[u32; 2]| {
        let [one, other] = pair.map(|node| levels.get(codes[node as usize] as usize));
        let (one, other) = (one?, other?);
        Some(if one <= other { (one, other) } else { (other, one) })
    };
    let found: Vec<Option<(&String, &String)>> = pairs.iter().map(both).collect();
    let mut places: BTreeMap<(&String, &String), u32> = BTreeMap::new();
    for pair in found.iter().flatten() {
        places.insert(*pair, 0);
    }
    // Levels that are spelled alike, however they came about, are one.
    let mut words: BTreeMap<String, u32> = BTreeMap::new();
    let mut names = Vec::new();
    for ((one, other), place) in &mut places {
        *place = *words.entry(format!("{one}{JOINT}{other}")).or_insert_with_key(|word| {
            names.push(word.clone());
            names.len() as u32 - 1
        });
    }
    let code = |pair: &Option<(&String, &String)>| pair.map_or(MISSING, |pair| places[&pair]);
    Values::Categories { codes: found.iter().map(code).collect(), levels: names }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_pairs(kind: Kind, values: Values, pairs: &[[u32; 2]]) -> Vec<(String, Kind, Values)> {
        let nodes = values.len();
        let feature = Feature::new("x".to_owned(), kind, values);
        let found = pair_features(&[feature], &Incidence::new(pairs, nodes));
        found.into_iter().map(|feature| (feature.name, feature.kind, feature.values)).collect()
    }

    #[test]
    fn numbers_are_summed_and_subtracted() {
        let found = of_pairs(Kind::Continuous, Values::Numbers(vec![1.0, 4.0, f64::NAN]), &[[0, 1], [1, 0], [0, 2]]);
        assert_eq!((found[0].0.as_str(), found[1].0.as_str()), ("x (sum)", "x (difference)"));
        let Values::Numbers(sums) = &found[0].2 else { panic!() };
        let Values::Numbers(differences) = &found[1].2 else { panic!() };
        assert!(sums[..2] == [5.0, 5.0] && differences[..2] == [3.0, 3.0]);
        assert!(sums[2].is_nan() && differences[2].is_nan());
    }

    #[test]
    fn between_two_dates_there_are_days() {
        let unit = |name: &str| combined_unit(name, Some(DAYS));
        assert_eq!((unit("opened (difference)").as_deref(), unit("opened (sum)")), (Some("days"), None));
        assert_eq!(combined_unit("age (sum)", Some("years")).as_deref(), Some("years"));
    }

    #[test]
    fn what_both_ends_have_counts_twice() {
        let sparse = Values::Sparse { len: 3, rows: vec![0, 2], values: vec![1.0, 1.0] };
        let found = of_pairs(Kind::Binary, sparse.clone(), &[[0, 2], [0, 1], [1, 2]]);
        let expected = Values::Sparse { len: 3, rows: vec![0, 1, 2], values: vec![2.0, 1.0, 1.0] };
        assert_eq!(found, [("x (sum)".to_owned(), Kind::Sparse, expected)]);
        let found = of_pairs(Kind::Sparse, sparse, &[[0, 2], [0, 1], [1, 2]]);
        let expected = Values::Sparse { len: 3, rows: vec![1, 2], values: vec![1.0, 1.0] };
        assert_eq!(found[1], ("x (difference)".to_owned(), Kind::Sparse, expected));
    }

    #[test]
    fn a_pair_of_levels_has_no_order() {
        let levels = ["N", "C"].map(str::to_owned).to_vec();
        let values = Values::Categories { codes: vec![0, 1, MISSING], levels };
        let found = of_pairs(Kind::Categorical, values, &[[0, 1], [1, 0], [1, 2], [0, 0]]);
        let levels = ["C–N", "N–N"].map(str::to_owned).to_vec();
        let expected = Values::Categories { codes: vec![0, 0, MISSING, 1], levels };
        assert_eq!(found, [("x (pair)".to_owned(), Kind::Categorical, expected)]);
    }
}
