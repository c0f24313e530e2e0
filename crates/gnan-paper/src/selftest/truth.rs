//! The canonical form of a planted truth, by section 3 of the model's definition.
//!
//! It shares no code with the canonical form of models: a mistake there would show as a truth that is not recovered.

use gnan::dataset::Dataset;
use gnan::files::{Kind, Task};

use super::planted::{Planted, PlantedGraph, PlantedValue};

/// A planted truth in canonical form, with the support that training gives to every part of it.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// `[features][values]`: training nodes.
    pub nodes: Vec<Vec<f64>>,
    /// `[slots]`: receivers in training with sources there; "unreachable" last.
    pub receivers: Vec<f64>,
    /// `[rhos][slots][outputs]`, as they were planted.
    rhos: Vec<Vec<Vec<f64>>>,
    /// The effect table, `[features][values][slots][outputs]`: rho times shape function, centred.
    pub products: Vec<Vec<Vec<Vec<f64>>>>,
    /// `[slots][outputs]`: what centring takes out, and the bias of a source.
    pub structure: Vec<Vec<f64>>,
}

/// The distance of a slot; the last one is "unreachable".
fn distance_of(slot: usize, slots: usize) -> Option<usize> {
    (slot + 1 < slots).then_some(slot)
}

impl Truth {
    /// The canonical form for a model that was trained on `train`, a view of `graphs`, and knows `slots` slots.
    pub fn new(planted: &Planted, graphs: &[PlantedGraph], train: &Dataset, slots: usize) -> Truth {
        let nodes = count_nodes(planted, graphs, train);
        let receivers = count_receivers(graphs, train, slots);
        Truth::with_support(planted, nodes, receivers)
    }

    /// The canonical form given the training nodes of every value and the receivers of every slot.
    pub fn with_support(planted: &Planted, nodes: Vec<Vec<f64>>, receivers: Vec<f64>) -> Truth {
        let (slots, outputs) = (receivers.len(), planted.outputs());
        let rho = |r: usize, slot: usize, c: usize| planted.rhos[r].at(distance_of(slot, slots))[c];
        let rhos = (0..planted.rhos.len()).map(|r| table(slots, outputs, |slot, c| rho(r, slot, c))).collect();
        let mut products = Vec::new();
        let mut structure = table(slots, outputs, |slot, c| rho(0, slot, c) * planted.bias[c]);
        for (feature, nodes) in planted.features.iter().zip(&nodes) {
            let total = nodes.iter().sum::<f64>().max(1.0);
            // The weights of the mean that centring takes out: value 0 alone, or every value by its training nodes.
            let weight = |index: usize| match feature.kind {
                Kind::Binary | Kind::Sparse => f64::from(u8::from(feature.values[index].number == 0.0)),
                Kind::Continuous | Kind::Categorical => nodes[index] / total,
            };
            let values = || feature.values.iter().enumerate();
            let centre = table(slots, outputs, |slot, c| {
                values().map(|(index, value)| weight(index) * value.effects[c] * rho(value.rho, slot, c)).sum()
            });
            let product = |value: &PlantedValue| {
                table(slots, outputs, |slot, c| value.effects[c] * rho(value.rho, slot, c) - centre[slot][c])
            };
            products.push(feature.values.iter().map(product).collect());
            for (row, centre) in structure.iter_mut().zip(&centre) {
                row.iter_mut().zip(centre).for_each(|(beta, centre)| *beta += centre);
            }
        }
        Truth { nodes, receivers, rhos, products, structure }
    }

    /// The influence by distance of a rho on the first output: relative to its value in the slot of the anchor.
    pub fn influence(&self, rho: usize, slot: usize, anchor: Option<usize>) -> f64 {
        let at = |slot: usize| self.rhos[rho][slot][0];
        match anchor.map(at) {
            Some(anchor) if anchor != 0.0 => at(slot) / anchor,
            _ => 0.0,
        }
    }
}

fn table(slots: usize, outputs: usize, at: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    (0..slots).map(|slot| (0..outputs).map(|c| at(slot, c)).collect()).collect()
}

/// The nodes of the training graphs that have each value of each feature.
fn count_nodes(planted: &Planted, graphs: &[PlantedGraph], train: &Dataset) -> Vec<Vec<f64>> {
    let mut counts: Vec<Vec<f64>> = planted.features.iter().map(|feature| vec![0.0; feature.values.len()]).collect();
    for graph in train.graphs() {
        for values in &graphs[graph].values {
            counts.iter_mut().zip(values).for_each(|(counts, value)| counts[*value] += 1.0);
        }
    }
    counts
}

/// The receivers in training, as (graph, node of the graph).
pub(super) fn receivers_of(train: &Dataset, item: u32) -> (usize, Vec<usize>) {
    match train.task() {
        Task::Graph => (item as usize, (0..train.nodes_of(item as usize).len()).collect()),
        Task::Node => {
            let graph = train.graph_of(item as usize);
            (graph, vec![item as usize - train.nodes_of(graph).start])
        }
    }
}

/// How many receivers of an item have sources at each slot.
pub(super) fn receivers_by_slot(graphs: &[PlantedGraph], train: &Dataset, item: u32, slots: usize) -> Vec<f64> {
    let (graph, receivers) = receivers_of(train, item);
    let mut counts = vec![0.0; slots];
    for receiver in receivers {
        let distances = graphs[graph].distances_to(receiver);
        for (slot, count) in counts.iter_mut().enumerate() {
            *count += f64::from(u8::from(distances.contains(&distance_of(slot, slots))));
        }
    }
    counts
}

fn count_receivers(graphs: &[PlantedGraph], train: &Dataset, slots: usize) -> Vec<f64> {
    let mut counts = vec![0.0; slots];
    for item in train.items() {
        let receivers = receivers_by_slot(graphs, train, *item, slots);
        counts.iter_mut().zip(receivers).for_each(|(count, receivers)| *count += receivers);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selftest::cases::Case;

    fn support(planted: &Planted) -> (Vec<Vec<f64>>, Vec<f64>) {
        let nodes = planted.features.iter().map(|feature| feature.values.iter().map(|v| 1000.0 * v.share).collect());
        (nodes.collect(), vec![1000.0, 1000.0, 900.0, 700.0, 300.0, 20.0, 0.0, 100.0])
    }

    fn numbers(planted: &Planted) -> Vec<f64> {
        let (nodes, receivers) = support(planted);
        let truth = Truth::with_support(planted, nodes, receivers);
        let slots = 0..truth.receivers.len();
        let influence = |r: usize| slots.clone().map(move |slot| (r, slot));
        let places = (0..truth.rhos.len()).flat_map(influence);
        let mut numbers: Vec<f64> = places.map(|(r, slot)| truth.influence(r, slot, Some(0))).collect();
        numbers.extend(truth.products.into_iter().flatten().flatten().flatten());
        numbers.extend(truth.structure.into_iter().flatten());
        numbers
    }

    fn assert_same(a: &Planted, b: &Planted, what: &str) {
        let (a, b) = (numbers(a), numbers(b));
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()), "{what}: {a} {b}");
        }
    }

    #[test]
    fn scale_sign_and_shift_of_the_raw_truth_do_not_show() {
        for case in Case::all() {
            let planted = &case.planted;
            for factor in [0.2, -1.0, -7.0] {
                let mut scaled = planted.clone();
                let rows = scaled.rhos.iter_mut().flat_map(|rho| rho.near.iter_mut().chain([&mut rho.unreachable]));
                rows.flatten().for_each(|rho| *rho *= factor);
                let effects =
                    scaled.features.iter_mut().flat_map(|f| f.values.iter_mut().map(|value| &mut value.effects));
                effects.chain([&mut scaled.bias]).flatten().for_each(|effect| *effect /= factor);
                assert_same(planted, &scaled, case.name);
            }
            if planted.shares_rho() {
                let mut shifted = planted.clone();
                let Planted { features, bias, .. } = &mut shifted;
                for (k, feature) in features.iter_mut().enumerate() {
                    for (c, bias) in bias.iter_mut().enumerate() {
                        let constant = 0.7 * (k as f64 + 1.0) - 0.3 * c as f64;
                        feature.values.iter_mut().for_each(|value| value.effects[c] += constant);
                        *bias -= constant;
                    }
                }
                assert_same(planted, &shifted, case.name);
            }
        }
    }

    #[test]
    fn influence_is_one_at_the_anchor_and_effects_have_mean_zero() {
        let planted = Case::all().remove(0).planted;
        let (nodes, receivers) = support(&planted);
        let truth = Truth::with_support(&planted, nodes, receivers);
        // Raw rho is -2 at distance 0 and -0.6 where there is no path.
        assert!((truth.influence(0, 0, Some(0)) - 1.0).abs() < 1e-12);
        assert!((truth.influence(0, 7, Some(0)) - 0.3).abs() < 1e-12);
        for feature in [0, 1] {
            let effects = truth.products[feature].iter().zip(&truth.nodes[feature]);
            assert!(effects.map(|(effects, nodes)| effects[0][0] * nodes).sum::<f64>().abs() < 1e-9);
        }
        // Binary: 0 at 0, and 0.8 * -2 at 1.
        assert_eq!(truth.products[2][0][0][0], 0.0);
        assert!((truth.products[2][1][0][0] + 1.6).abs() < 1e-12);
    }
}
