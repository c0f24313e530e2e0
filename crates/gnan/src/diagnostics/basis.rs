//! Whether curves have knots enough: residuals of items that follow one another along a feature should not be alike.
//!
//! The k-index is the variance of the differences of neighbouring residuals, halved, by the variance of all (Wood 2017, section
//! 5.9): 1 where their order means nothing, less where something is left along the feature. Its p-value is the share of
//! permutations of the residuals, of a fixed seed, with a lower one.

use rayon::prelude::*;
use serde::Serialize;

use super::concurvity::TermContributions;
use super::{KnownItems, deviation};
use crate::dataset::{Dataset, Feature};
use crate::error::Result;
use crate::files::{Kind, Task, Values};
use crate::model::{CoefficientMap, EffectKnots, Model, Rho};
use crate::numbers::fixed;
use crate::random::Stream;

/// Permutations of residuals.
const PERMUTATIONS: u64 = 500;
/// Features that are looked at, the most important first.
const MOST_FEATURES: usize = 20;
/// Below this p-value neighbours are more alike than chance has it ...
const CLEAR: f64 = 0.01;
/// ... and it matters below this k-index.
const LEAST_INDEX: f64 = 0.97;
/// Fewest distinct values that residuals are ordered by.
const FEWEST_VALUES: usize = 5;
/// Distances at which features are looked at: of the node itself, and of its neighbours.
const DISTANCES: usize = 2;

/// How alike the residuals of neighbours are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KIndex {
    pub index: f64,
    pub p_value: f64,
}

/// A curve, and whether something is left along it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BasisRow {
    /// What items are ordered by: "charge at distance 0".
    pub name: String,
    /// Coefficients of the term, all values, distances and outputs; `None` where it was not fitted by penalised likelihood.
    pub coefficients: Option<usize>,
    /// Effective degrees of freedom of the term.
    pub edf: Option<f64>,
    /// Number of knots of a numeric feature.
    pub knots: Option<usize>,
    /// Near 1 where nothing is left, lower where neighbours are left over alike.
    pub k_index: f64,
    /// The share of permutations with a lower one.
    pub p_value: f64,
    /// Whether that is fine.
    pub fine: bool,
}

/// Whether curves have knots enough.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BasisCheck {
    /// The curves, the lowest k-index first.
    pub rows: Vec<BasisRow>,
    /// Whether all are fine.
    pub fine: bool,
    /// What it means and what to do.
    pub sentence: String,
}

impl BasisCheck {
    /// The check; `None` where no curve can be looked at.
    pub(super) fn new(
        model: &Model,
        data: &Dataset,
        known: &KnownItems,
        terms: &TermContributions,
    ) -> Result<Option<BasisCheck>> {
        let residuals = standardised(known);
        let items: Vec<u32> = known.rows.iter().map(|row| row.item).collect();
        let features = model.features_of(data)?;
        let definition = model.definition();
        let map = definition.record.summary.as_ref().map(|_| CoefficientMap::new(definition));
        let summary = definition.record.summary.as_ref();
        let fitted = |feature: Option<usize>| {
            let place = feature.unwrap_or(features.len());
            let edf = summary.and_then(|summary| Some(summary.terms.get(place)?.edf));
            let own = map.as_ref().map(|map| match (definition.learned.rho, feature) {
                (Rho::PerFeature, _) => map.coefficients_of(feature).len() * model.outputs(),
                // Values share a distance function.
                (_, Some(k)) => definition.learned.features[k].value_count() * model.outputs(),
                (_, None) => model.outputs(),
            });
            (own, edf)
        };
        let mut rows = Vec::new();
        let is_numeric =
            |k: &usize| matches!(features[*k].kind, Kind::Continuous | Kind::Sparse) && features[*k].pair.is_none();
        for k in terms.by_size().into_iter().filter(|k| *k < features.len()).filter(is_numeric).take(MOST_FEATURES) {
            let schema = &definition.learned.features[k];
            let own =
                (0..DISTANCES).filter(|distance| schema.reach_within(definition.reach()).includes(Some(*distance)));
            for distance in own {
                let at = along(data, &items, &features[k], distance);
                let name = match schema.is_of_item() {
                    true => schema.name.clone(),
                    false => format!("{} at distance {distance}", schema.name),
                };
                let Some(found) = k_index(&at, &residuals, &name) else { continue };
                let (coefficients, edf) = fitted(Some(k));
                let knots = schema.effect_knots.as_ref().map(EffectKnots::bends);
                rows.push(row(name, found, coefficients, edf, knots));
            }
        }
        let (name, sizes) = match data.task() {
            Task::Graph => ("structure, by number of nodes", sizes(data, &items)),
            Task::Node => ("structure, by number of neighbours", degrees(data, &items)),
        };
        if let Some(found) = k_index(&sizes, &residuals, name) {
            let (coefficients, edf) = fitted(None);
            rows.push(row(name.to_owned(), found, coefficients, edf, None));
        }
        rows.sort_by(|a, b| a.k_index.total_cmp(&b.k_index));
        Ok((!rows.is_empty()).then(|| BasisCheck::of_rows(rows)))
    }

    fn of_rows(rows: Vec<BasisRow>) -> BasisCheck {
        let low: Vec<&BasisRow> = rows.iter().filter(|row| !row.fine).collect();
        let sentence = match low.first() {
            None => "Fine: no pattern is left along any of these curves.".to_owned(),
            Some(worst) => format!(
                "Not fine: items that are near each other in {} are left over alike (k-index {}){}. The curve has too few knots, or \
                 the effect of this feature depends on something else: bend the feature beforehand (logarithm, bins), or train \
                 networks by gradient descent, which have no knots.",
                worst.name,
                fixed(worst.k_index, 2),
                if low.len() > 1 { format!(", and in {} more", low.len() - 1) } else { String::new() },
            ),
        };
        BasisCheck { fine: low.is_empty(), sentence, rows }
    }
}

fn row(
    name: String,
    KIndex { index, p_value }: KIndex,
    coefficients: Option<usize>,
    edf: Option<f64>,
    knots: Option<usize>,
) -> BasisRow {
    let fine = p_value >= CLEAR || index >= LEAST_INDEX;
    BasisRow { name, coefficients, edf, knots, k_index: index, p_value, fine }
}

/// The residuals of every item, each target divided by its spread; 0 where a target is missing.
fn standardised(known: &KnownItems) -> Vec<Vec<f64>> {
    let found = known.residuals();
    let targets = found.first().map_or(0, Vec::len);
    let scale = |place: usize| {
        let own: Vec<f64> = found.iter().filter_map(|row| Some(row[place]?[1])).collect();
        let sd = deviation(&own);
        if sd > 0.0 { sd } else { 1.0 }
    };
    let scales: Vec<f64> = (0..targets).map(scale).collect();
    let row = |row: &Vec<Option<[f64; 2]>>| {
        row.iter().zip(&scales).map(|(found, scale)| found.map_or(0.0, |[_, residual]| residual / scale)).collect()
    };
    found.iter().map(row).collect()
}

/// The k-index of residuals ordered along some numbers; `None` where these are nearly all alike or residuals are. Items of equal
/// numbers are compared in a random order.
pub(super) fn k_index(along: &[f64], residuals: &[Vec<f64>], name: &str) -> Option<KIndex> {
    let mut order: Vec<usize> = (0..along.len()).filter(|at| along[*at].is_finite()).collect();
    Stream::named(0, "order of equal numbers", 0).shuffle(&mut order);
    order.sort_by(|a, b| along[*a].total_cmp(&along[*b]));
    let distinct = order.windows(2).filter(|pair| along[pair[0]] != along[pair[1]]).count() + 1;
    if order.len() <= FEWEST_VALUES || distinct < FEWEST_VALUES {
        return None;
    }
    let ordered: Vec<&[f64]> = order.iter().map(|at| &residuals[*at][..]).collect();
    let width = ordered[0].len();
    let count = ordered.len() as f64;
    let centre: Vec<f64> = (0..width).map(|c| ordered.iter().map(|row| row[c]).sum::<f64>() / count).collect();
    let square = |row: &&[f64]| row.iter().zip(&centre).map(|(r, centre)| (r - centre).powi(2)).sum::<f64>();
    let variance = ordered.iter().map(square).sum::<f64>() / (count - 1.0);
    if variance.is_nan() || variance <= f64::MIN_POSITIVE {
        return None;
    }
    let differences = |rows: &[&[f64]]| {
        let pair = |pair: &[&[f64]]| pair[0].iter().zip(pair[1]).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        rows.windows(2).map(pair).sum::<f64>() / (2.0 * (count - 1.0))
    };
    let index = differences(&ordered) / variance;
    let is_lower = |number: u64| {
        let mut shuffled = ordered.clone();
        Stream::named(number, name, 0).shuffle(&mut shuffled);
        differences(&shuffled) / variance <= index
    };
    let lower = (0..PERMUTATIONS).into_par_iter().filter(|number| is_lower(*number)).count();
    Some(KIndex { index, p_value: (lower as f64 + 1.0) / (PERMUTATIONS as f64 + 1.0) })
}

/// A number per node: of a node itself, or the mean over its neighbours; a node without has none.
fn along(data: &Dataset, items: &[u32], feature: &Feature, distance: usize) -> Vec<f64> {
    let absent = if matches!(feature.values, Values::Sparse { .. }) { 0.0 } else { f64::NAN };
    let mut values = vec![absent; data.node_count()];
    feature.values.numbers().for_each(|(node, x)| values[node] = x);
    let average = |nodes: &mut dyn Iterator<Item = f64>| {
        let (sum, count) = nodes.filter(|x| !x.is_nan()).fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
        if count > 0.0 { sum / count } else { f64::NAN }
    };
    let mut last = None;
    let mut of_node = |graph: usize, node: usize| {
        if distance == 0 {
            return values[node];
        }
        let first = data.nodes_of(graph).start;
        if last.as_ref().is_none_or(|(known, _)| *known != graph) {
            last = Some((graph, data.graph(graph)));
        }
        let neighbours = last.as_ref().map_or(&[][..], |(_, own)| own.predecessors(node - first));
        average(&mut neighbours.iter().map(|other| values[first + *other as usize]))
    };
    let of_item = |item: &u32| match data.task() {
        Task::Graph => {
            let nodes = data.nodes_of(*item as usize);
            let own: Vec<f64> = nodes.map(|node| of_node(*item as usize, node)).collect();
            average(&mut own.into_iter())
        }
        Task::Node => of_node(data.graph_of(*item as usize), *item as usize),
    };
    items.iter().map(of_item).collect()
}

fn sizes(data: &Dataset, items: &[u32]) -> Vec<f64> {
    items.iter().map(|item| data.nodes_of(*item as usize).len() as f64).collect()
}

fn degrees(data: &Dataset, items: &[u32]) -> Vec<f64> {
    let mut last = None;
    let degree = |item: &u32| {
        let graph = data.graph_of(*item as usize);
        if last.as_ref().is_none_or(|(known, _)| *known != graph) {
            last = Some((graph, data.graph(graph)));
        }
        let first = data.nodes_of(graph).start;
        last.as_ref().map_or(0.0, |(_, own)| own.predecessors(*item as usize - first).len() as f64)
    };
    items.iter().map(degree).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wave that no curve of few knots follows is found; noise alone is not, and neither are constants.
    #[test]
    fn waves_are_found_and_noise_is_not() {
        let mut random = Stream::named(1, "k-index", 0);
        let along: Vec<f64> = (0..400).map(|_| random.uniform()).collect();
        let noise: Vec<Vec<f64>> = along.iter().map(|_| vec![random.normal()]).collect();
        let found = k_index(&along, &noise, "noise").unwrap();
        assert!((found.index - 1.0).abs() < 0.2 && found.p_value > 0.05, "{found:?}");
        let wave = |(x, noise): (&f64, &Vec<f64>)| vec![(40.0 * x).sin() + 0.3 * noise[0]];
        let waves: Vec<Vec<f64>> = along.iter().zip(&noise).map(wave).collect();
        let found = k_index(&along, &waves, "waves").unwrap();
        assert!(found.index < 0.5 && found.p_value < 0.005, "{found:?}");
        assert_eq!(k_index(&vec![1.0; 400], &noise, "constant"), None);
        assert_eq!(k_index(&along, &vec![vec![2.0]; 400], "exact"), None);
        assert_eq!(k_index(&along[..3], &noise[..3], "few"), None);
    }
}
