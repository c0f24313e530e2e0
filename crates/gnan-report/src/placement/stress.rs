//! Any graph, so that straight distances are like hop distances: stress majorisation.
//!
//! Minimised is the sum over pairs of `(|x_i - x_j| - d_ij)^2 / d_ij^2` (Gansner, Koren and North 2004), one node at a
//! time, from a start by classical scaling of the distances. Nothing is random.

use gnan::Graph;

use super::part::{MOST_NODES, subgraph};
use super::{Point, apart, pack, turned};

/// How often every node is moved to where its distances want it.
const SWEEPS: usize = 80;

/// A sweep that moves no node further ends the search.
const STILL: f64 = 2e-3;

/// Nodes are pushed apart to this distance at least.
const LEAST_GAP: f64 = 0.4;

/// Places for all nodes, directions of edges disregarded. Components stand side by side.
///
/// Above [`MOST_NODES`] nodes of one component its nodes are put on a circle instead; choose a part to draw first.
pub fn stress(graph: &Graph) -> Vec<Point> {
    let (component_of, count) = graph.components();
    let mut members = vec![Vec::new(); count];
    for (node, &component) in component_of.iter().enumerate() {
        members[component as usize].push(node);
    }
    let mut parts: Vec<Vec<Point>> = members.iter().map(|nodes| component(graph, nodes)).collect();
    pack::side_by_side(&mut parts);
    let mut places = vec![[0.0; 2]; graph.len()];
    for (nodes, part) in members.iter().zip(&parts) {
        for (&node, &place) in nodes.iter().zip(part) {
            places[node] = place;
        }
    }
    places
}

/// Places for the nodes (ascending) of one component.
fn component(graph: &Graph, nodes: &[usize]) -> Vec<Point> {
    match nodes.len() {
        0 | 1 => return vec![[0.0; 2]; nodes.len()],
        2 => return vec![[0.0, 0.0], [1.0, 0.0]],
        many if many > MOST_NODES => return circle(many),
        _ => {}
    }
    let distances = distances(graph, nodes);
    let mut places = start(&distances, nodes.len());
    for _ in 0..SWEEPS {
        if sweep(&distances, &mut places) < STILL {
            break;
        }
    }
    push_apart(&mut places);
    lie_down(&places)
}

fn circle(nodes: usize) -> Vec<Point> {
    let turn = std::f64::consts::TAU / nodes as f64;
    let radius = 0.5 / (turn / 2.0).sin();
    (0..nodes)
        .map(|node| (node as f64 * turn).sin_cos())
        .map(|(sine, cosine)| [radius * cosine, radius * sine])
        .collect()
}

/// Hop distances between all pairs, row by row, directions of edges disregarded.
fn distances(graph: &Graph, nodes: &[usize]) -> Vec<f64> {
    let part = subgraph(graph, nodes);
    let rows = (0..part.len()).flat_map(|node| part.distances_to(&[node]));
    rows.map(|distance| distance.map_or(f64::INFINITY, f64::from)).collect()
}

/// Classical scaling: the two strongest directions of the doubly centred squared distances, by power iteration. A small
/// spiral keeps nodes apart that have the same distances to all others.
fn start(distances: &[f64], count: usize) -> Vec<Point> {
    let rows = || distances.chunks_exact(count);
    let means: Vec<f64> = rows().map(|row| row.iter().map(|d| d * d).sum::<f64>() / count as f64).collect();
    let mean = means.iter().sum::<f64>() / count as f64;
    let product = |vector: &[f64]| -> Vec<f64> {
        let centred = |(row, one): (&[f64], &f64)| {
            let entry = |((d, other), x): ((&f64, &f64), &f64)| -0.5 * (d * d - one - other + mean) * x;
            row.iter().zip(&means).zip(vector).map(entry).sum()
        };
        rows().zip(&means).map(centred).collect()
    };
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for axis in 0..2 {
        // A start that no symmetry of the numbering makes zero.
        let mut vector: Vec<f64> = (0..count).map(|node| ((node + 1) as f64 * (1.7 + axis as f64)).sin()).collect();
        let mut length = 0.0;
        for _ in 0..30 {
            for known in &axes {
                let size: f64 = known.iter().map(|x| x * x).sum();
                let along: f64 = known.iter().zip(&vector).map(|(a, b)| a * b).sum::<f64>() / size.max(1e-12);
                vector.iter_mut().zip(known).for_each(|(x, k)| *x -= along * k);
            }
            let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-12);
            vector.iter_mut().for_each(|x| *x /= norm);
            let next = product(&vector);
            length = next.iter().zip(&vector).map(|(a, b)| a * b).sum::<f64>();
            vector = next;
        }
        // The strength of a direction is the size of the drawing along it.
        let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-12);
        let scale = length.max(0.0).sqrt() / norm;
        vector.iter_mut().for_each(|x| *x *= scale);
        axes.push(vector);
    }
    let spiral = |node: usize| (node as f64 * 2.399_963).sin_cos();
    (0..count).map(|node| [axes[0][node] + 0.2 * spiral(node).1, axes[1][node] + 0.2 * spiral(node).0]).collect()
}

/// Moves every node to the mean of where the others want it, and returns the largest move.
fn sweep(distances: &[f64], places: &mut [Point]) -> f64 {
    let count = places.len();
    let mut largest: f64 = 0.0;
    for node in 0..count {
        let here = places[node];
        let [mut x, mut y, mut total] = [0.0; 3];
        for (&there, &wanted) in places.iter().zip(&distances[node * count..]) {
            if wanted == 0.0 {
                continue;
            }
            let weight = 1.0 / (wanted * wanted);
            let stretch = wanted / apart(here, there).max(1e-9);
            x += weight * (there[0] + stretch * (here[0] - there[0]));
            y += weight * (there[1] + stretch * (here[1] - there[1]));
            total += weight;
        }
        let next = [x / total, y / total];
        largest = largest.max(apart(here, next));
        places[node] = next;
    }
    largest
}

/// Moves nodes that are too close away from each other.
pub(super) fn push_apart(places: &mut [Point]) {
    for _ in 0..40 {
        let mut moved = false;
        for one in 0..places.len() {
            for other in one + 1..places.len() {
                let [dx, dy] = [places[other][0] - places[one][0], places[other][1] - places[one][1]];
                if dx.abs() >= LEAST_GAP || dy.abs() >= LEAST_GAP {
                    continue;
                }
                let gap = dx.hypot(dy);
                if gap >= LEAST_GAP {
                    continue;
                }
                moved = true;
                let angle = (one + other) as f64;
                let [ux, uy] = if gap > 1e-6 { [dx / gap, dy / gap] } else { [angle.cos(), angle.sin()] };
                let step = 0.52 * (LEAST_GAP - gap);
                places[one] = [places[one][0] - step * ux, places[one][1] - step * uy];
                places[other] = [places[other][0] + step * ux, places[other][1] + step * uy];
            }
        }
        if !moved {
            return;
        }
    }
}

/// The drawing turned so that its longest direction lies flat.
fn lie_down(places: &[Point]) -> Vec<Point> {
    let count = places.len() as f64;
    let middle = [0, 1].map(|axis| places.iter().map(|place| place[axis]).sum::<f64>() / count);
    let sum = |a: usize, b: usize| places.iter().map(|p| (p[a] - middle[a]) * (p[b] - middle[b])).sum::<f64>();
    let (xx, yy, xy) = (sum(0, 0), sum(1, 1), sum(0, 1));
    turned(places, -0.5 * (2.0 * xy).atan2(xx - yy))
}
