//! The planted truth: shape functions and rhos written down as tables, and what they make of a graph.
//!
//! This is section 1 of the model's definition by the shortest route, a loop over all pairs of nodes in f64. It shares
//! no code with the engine, so that a mistake there cannot hide here.

use gnan::files::Kind;

/// A rho as a table: one row per distance from 0 on, the last of them for all beyond, and one for "unreachable".
#[derive(Clone, Debug)]
pub(crate) struct PlantedRho {
    /// `[distances][outputs]`, not empty.
    pub near: Vec<Vec<f64>>,
    /// `[outputs]`.
    pub unreachable: Vec<f64>,
}

impl PlantedRho {
    /// Rho at a distance, per output; `None` is "unreachable".
    pub fn at(&self, distance: Option<usize>) -> &[f64] {
        match distance {
            Some(distance) => &self.near[distance.min(self.near.len() - 1)],
            None => &self.unreachable,
        }
    }
}

/// A value that a feature can take.
#[derive(Clone, Debug)]
pub(crate) struct PlantedValue {
    /// The number of a numeric feature; of a categorical one, the number of the level.
    pub number: f64,
    /// The name of the level of a categorical feature; empty for a numeric one.
    pub level: String,
    /// The share of nodes that have it.
    pub share: f64,
    /// `f_k` there, per output.
    pub effects: Vec<f64>,
    /// Which rho weighs it.
    pub rho: usize,
}

/// A feature and its shape function.
#[derive(Clone, Debug)]
pub(crate) struct PlantedFeature {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Everything it can be; shares add up to 1.
    pub values: Vec<PlantedValue>,
}

/// A truth, raw: any scale, any sign, constants anywhere.
#[derive(Clone, Debug)]
pub(crate) struct Planted {
    /// The features.
    pub features: Vec<PlantedFeature>,
    /// One rho for everything, or several of which the first is the bias's.
    pub rhos: Vec<PlantedRho>,
    /// The bias `b` of a source, per output.
    pub bias: Vec<f64>,
    /// The output bias `b0`, per output.
    pub output_bias: Vec<f64>,
}

/// A graph with the values of its nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlantedGraph {
    /// For every node its neighbours.
    pub neighbours: Vec<Vec<usize>>,
    /// `[nodes][features]`: which of the feature's values each node has.
    pub values: Vec<Vec<usize>>,
}

impl PlantedGraph {
    /// Joins two nodes, unless they are one or joined already.
    pub fn join(&mut self, a: usize, b: usize) {
        if a != b && !self.neighbours[a].contains(&b) {
            self.neighbours[a].push(b);
            self.neighbours[b].push(a);
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.neighbours.len()
    }

    /// The distance from every node to `receiver`, by a queue; `None` is "unreachable".
    pub fn distances_to(&self, receiver: usize) -> Vec<Option<usize>> {
        let mut distances = vec![None; self.len()];
        distances[receiver] = Some(0);
        let mut queue = std::collections::VecDeque::from([(receiver, 0)]);
        while let Some((node, distance)) = queue.pop_front() {
            for next in &self.neighbours[node] {
                if distances[*next].is_none() {
                    distances[*next] = Some(distance + 1);
                    queue.push_back((*next, distance + 1));
                }
            }
        }
        distances
    }
}

impl Planted {
    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.output_bias.len()
    }

    /// Whether one rho weighs every value.
    pub fn shares_rho(&self) -> bool {
        self.rhos.len() == 1
    }

    /// The sum of one receiver: `h_i = sum_l rho(l) * (mean of the source values at distance l)`.
    pub fn receiver_sum(&self, graph: &PlantedGraph, receiver: usize) -> Vec<f64> {
        let distances = graph.distances_to(receiver);
        let mut sum = vec![0.0; self.outputs()];
        for source in 0..graph.len() {
            let distance = distances[source];
            let shell = distances.iter().filter(|other| **other == distance).count() as f64;
            for c in 0..self.outputs() {
                let mut weighed = self.rhos[0].at(distance)[c] * self.bias[c];
                for (feature, value) in self.features.iter().zip(&graph.values[source]) {
                    let value = &feature.values[*value];
                    weighed += self.rhos[value.rho].at(distance)[c] * value.effects[c];
                }
                sum[c] += weighed / shell;
            }
        }
        sum
    }

    /// The outputs of every node: `y_i = h_i + b0`.
    pub fn node_outputs(&self, graph: &PlantedGraph) -> Vec<Vec<f64>> {
        let with_bias = |sum: Vec<f64>| sum.iter().zip(&self.output_bias).map(|(h, b0)| h + b0).collect();
        (0..graph.len()).map(|receiver| with_bias(self.receiver_sum(graph, receiver))).collect()
    }

    /// The outputs of a graph: `y_G = sum_i h_i + b0`.
    pub fn graph_outputs(&self, graph: &PlantedGraph) -> Vec<f64> {
        let mut outputs = self.output_bias.clone();
        for receiver in 0..graph.len() {
            outputs.iter_mut().zip(self.receiver_sum(graph, receiver)).for_each(|(y, h)| *y += h);
        }
        outputs
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn value(number: f64, effects: f64, rho: usize) -> PlantedValue {
        PlantedValue { number, level: String::new(), share: 0.5, effects: vec![effects], rho }
    }

    /// A path of three nodes and one apart; a binary feature whose 1 has the effect 2 (the first and the last node).
    pub fn path_and_one_apart() -> (Planted, PlantedGraph) {
        let mut graph =
            PlantedGraph { neighbours: vec![Vec::new(); 4], values: vec![vec![1], vec![0], vec![0], vec![1]] };
        graph.join(0, 1);
        graph.join(1, 2);
        graph.join(2, 1);
        let rho = PlantedRho { near: vec![vec![1.0], vec![0.5], vec![-0.25]], unreachable: vec![0.125] };
        let feature = PlantedFeature {
            name: "flag".into(),
            kind: Kind::Binary,
            values: vec![value(0.0, 0.0, 0), value(1.0, 2.0, 0)],
        };
        (Planted { features: vec![feature], rhos: vec![rho], bias: vec![1.0], output_bias: vec![10.0] }, graph)
    }

    #[test]
    fn distances_are_numbers_of_edges() {
        let (_, graph) = path_and_one_apart();
        assert_eq!(graph.distances_to(0), [Some(0), Some(1), Some(2), None]);
        assert_eq!(graph.distances_to(3), [None, None, None, Some(0)]);
    }

    /// By hand. Source values are 3, 1, 1, 3. Node 0 sums 1*3 + 0.5*1 - 0.25*1 + 0.125*3 = 3.625, node 1 sums
    /// 1*1 + 0.5*(3+1)/2 + 0.125*3 = 2.375, node 2 sums 1*1 + 0.5*1 - 0.25*3 + 0.125*3 = 1.125, and node 3, to which
    /// no node has a path, 1*3 + 0.125*(3+1+1)/3 = 3.208333...
    #[test]
    fn outputs_are_those_computed_by_hand() {
        let (planted, graph) = path_and_one_apart();
        let expected = [3.625, 2.375, 1.125, 3.0 + 0.625 / 3.0];
        for (found, expected) in planted.node_outputs(&graph).iter().zip(expected) {
            assert!((found[0] - 10.0 - expected).abs() < 1e-12, "{found:?} {expected}");
        }
        let total = expected.iter().sum::<f64>() + 10.0;
        assert!((planted.graph_outputs(&graph)[0] - total).abs() < 1e-12);
    }

    /// With a rho for each: rho 0 weighs the bias, rho 1 the feature (only the node itself).
    #[test]
    fn a_feature_can_have_a_rho_of_its_own() {
        let (mut planted, graph) = path_and_one_apart();
        planted.rhos.push(PlantedRho { near: vec![vec![1.0], vec![0.0]], unreachable: vec![0.0] });
        planted.features[0].values.iter_mut().for_each(|value| value.rho = 1);
        // Node 0: 2 from itself; the bias 1 * (1 + 0.5 - 0.25 + 0.125).
        assert!((planted.receiver_sum(&graph, 0)[0] - 3.375).abs() < 1e-12);
        // Node 1 has the value 0: the bias alone, without a shell at distance 2.
        assert!((planted.receiver_sum(&graph, 1)[0] - 1.625).abs() < 1e-12);
    }
}
