//! The neighbourhood of one receiver: the node in the middle, its sources on rings by distance.
//!
//! The strongest sources are drawn, each with a shortest path to the middle, so that the picture hangs together; they
//! get room around the middle by the size of the branch behind them, in an order with few crossing edges.

use gnan::Graph;

use super::Point;
use super::part::{edges_between, strength};

/// How many nodes are drawn, the middle included.
pub const MOST_SOURCES: usize = 60;

/// How many rings are drawn: what comes from farther away would push everything else into the middle.
pub const MOST_RINGS: u32 = 6;

/// The least room of a node along its ring.
const ROOM: f64 = 0.36;

/// How often branches are put in the order that their edges want.
const SWEEPS: usize = 12;

/// A receiver and some of its sources, on rings.
#[derive(Clone, Debug, PartialEq)]
pub struct Rings {
    /// The nodes that are drawn; the receiver is the first.
    pub nodes: Vec<usize>,
    /// The place of each; the receiver is at the origin.
    pub places: Vec<Point>,
    /// The distance of each to the receiver.
    pub distances: Vec<u32>,
    /// For each the place in `nodes` of the next node on its path to the receiver; the receiver has none.
    pub parents: Vec<Option<usize>>,
    /// The radius of each distance that is drawn, from 1 on.
    pub radii: Vec<f64>,
    /// The sources that have a path to the receiver and are not drawn.
    pub left_out: Vec<usize>,
    /// The nodes without a path to the receiver.
    pub unreachable: Vec<usize>,
}

/// Arranges the sources of a receiver; `contributions` has what each node of the graph contributes to it.
///
/// A receiver that is not a node of the graph gives an empty arrangement.
pub fn rings(graph: &Graph, receiver: usize, contributions: &[f64]) -> Rings {
    let mut rings = Rings {
        nodes: Vec::new(),
        places: Vec::new(),
        distances: Vec::new(),
        parents: Vec::new(),
        radii: Vec::new(),
        left_out: Vec::new(),
        unreachable: Vec::new(),
    };
    if receiver >= graph.len() {
        return rings;
    }
    let distances = graph.distances_to(&[receiver]);
    let mut chosen = choose(graph, receiver, &distances, contributions);
    // The receiver first, then ring by ring: parents stand before their children.
    chosen.sort_by_key(|&(node, _)| (distances[node], node));
    let place_of =
        |node: usize| chosen.binary_search_by_key(&(distances[node], node), |&(n, _)| (distances[n], n)).ok();
    rings.nodes = chosen.iter().map(|&(node, _)| node).collect();
    rings.distances = rings.nodes.iter().filter_map(|&node| distances[node]).collect();
    rings.parents = chosen.iter().map(|&(_, parent)| place_of(parent?)).collect();
    let others = (0..graph.len()).filter(|&node| place_of(node).is_none());
    (rings.unreachable, rings.left_out) = others.partition(|&node| distances[node].is_none());

    let edges: Vec<[usize; 2]> = edges_between(graph, &rings.nodes).into_iter().map(|(ends, _)| ends).collect();
    let angles = Tree::new(&rings.parents, &rings.distances).arranged(&rings.distances, &edges);
    rings.radii = radii(&rings.distances);
    let radius = |distance: u32| distance.checked_sub(1).map_or(0.0, |ring| rings.radii[ring as usize]);
    let place = |(&angle, &distance): (&f64, &u32)| [radius(distance) * angle.cos(), radius(distance) * angle.sin()];
    rings.places = angles.iter().zip(&rings.distances).map(place).collect();
    rings
}

/// The nodes to draw, each with the next one on its way to the receiver: the strongest first, if there is room for the
/// whole path.
fn choose(
    graph: &Graph,
    receiver: usize,
    distances: &[Option<u32>],
    contributions: &[f64],
) -> Vec<(usize, Option<usize>)> {
    let near = |&node: &usize| distances[node].is_some_and(|distance| distance <= MOST_RINGS);
    let mut wanted: Vec<usize> = (0..graph.len()).filter(near).collect();
    let order = |&one: &usize, &other: &usize| {
        let by_strength = strength(contributions, other).total_cmp(&strength(contributions, one));
        by_strength.then(distances[one].cmp(&distances[other])).then(one.cmp(&other))
    };
    wanted.sort_by(order);
    let mut drawn = vec![false; graph.len()];
    drawn[receiver] = true;
    let mut chosen = vec![(receiver, None)];
    for node in wanted {
        let mut path = Vec::new();
        let mut at = node;
        while !drawn[at] && chosen.len() + path.len() < MOST_SOURCES {
            let closer = |next: &usize| distances[*next].map(|distance| distance + 1) == distances[at];
            let nexts = graph.successors(at).iter().map(|&next| next as usize).filter(closer);
            // A node that is drawn already costs nothing; of the others the strongest explains most.
            let best = nexts.min_by(|one, other| drawn[*other].cmp(&drawn[*one]).then(order(one, other)));
            let Some(next) = best else { break };
            path.push((at, Some(next)));
            at = next;
        }
        if drawn[at] {
            path.iter().for_each(|&(node, _)| drawn[node] = true);
            chosen.extend(path);
        }
        if chosen.len() >= MOST_SOURCES {
            break;
        }
    }
    chosen
}

/// Equal steps from ring to ring, the first one wide enough that no ring is crowded.
fn radii(distances: &[u32]) -> Vec<f64> {
    let farthest = distances.iter().copied().max().unwrap_or(0);
    let on_ring = |ring: u32| distances.iter().filter(|&&distance| distance == ring).count() as f64;
    let need = |ring: u32| on_ring(ring) * ROOM / std::f64::consts::TAU - ring as f64;
    let extra = (1..=farthest).map(need).fold(0.0, f64::max);
    (1..=farthest).map(|ring| ring as f64 + extra).collect()
}

/// The paths to the receiver as a tree.
struct Tree {
    children: Vec<Vec<usize>>,
    /// How much room each branch needs.
    weights: Vec<f64>,
}

impl Tree {
    fn new(parents: &[Option<usize>], distances: &[u32]) -> Tree {
        let mut children = vec![Vec::new(); parents.len()];
        for (node, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(node);
            }
        }
        // The same room is a wider angle near the middle.
        let mut weights: Vec<f64> = distances.iter().map(|&distance| 1.0 / distance.max(1) as f64).collect();
        // Children stand behind their parents.
        for node in (0..parents.len()).rev() {
            let behind: f64 = children[node].iter().map(|&child: &usize| weights[child]).sum();
            weights[node] = behind.max(weights[node]);
        }
        Tree { children, weights }
    }

    /// The angle of each node, in the order of branches with the fewest crossings that was found.
    fn arranged(mut self, distances: &[u32], edges: &[[usize; 2]]) -> Vec<f64> {
        let mut angles = self.angles();
        let mut best = (crossings(&angles, distances, edges), angles.clone());
        for _ in 0..SWEEPS {
            if best.0 == 0 {
                break;
            }
            self.order_children(&angles, edges);
            angles = self.angles();
            let found = crossings(&angles, distances, edges);
            if found < best.0 {
                best = (found, angles.clone());
            }
        }
        best.1
    }

    /// Gives every branch a wedge as wide as it is heavy, from the top clockwise; a node stands in the middle of its own.
    fn angles(&self) -> Vec<f64> {
        let mut angles = vec![0.0; self.children.len()];
        let mut wedges = vec![(-std::f64::consts::FRAC_PI_2, std::f64::consts::TAU); self.children.len()];
        for node in 0..self.children.len() {
            let (start, width) = wedges[node];
            angles[node] = start + width / 2.0;
            let total: f64 = self.children[node].iter().map(|&child| self.weights[child]).sum();
            let mut at = start;
            for &child in &self.children[node] {
                let share = width * self.weights[child] / total;
                wedges[child] = (at, share);
                at += share;
            }
        }
        angles
    }

    /// Puts the children of each node in the order of the directions in which their branches' other ends lie.
    fn order_children(&mut self, angles: &[f64], edges: &[[usize; 2]]) {
        let mut pull: Vec<[f64; 2]> = angles.iter().map(|angle| [angle.cos(), angle.sin()]).collect();
        for &[one, other] in edges.iter().filter(|[one, other]| *one != 0 && *other != 0) {
            for [from, to] in [[one, other], [other, one]] {
                pull[from][0] += angles[to].cos();
                pull[from][1] += angles[to].sin();
            }
        }
        for node in (0..pull.len()).rev() {
            for child in self.children[node].clone() {
                pull[node] = [pull[node][0] + pull[child][0], pull[node][1] + pull[child][1]];
            }
        }
        for (node, children) in self.children.iter_mut().enumerate() {
            // Directions are compared within the wedge around the node, so that none is cut in two.
            let middle = if node == 0 { std::f64::consts::FRAC_PI_2 } else { angles[node] };
            let turn = |child: &usize| {
                (pull[*child][1].atan2(pull[*child][0]) - middle + 3.0 * std::f64::consts::PI)
                    .rem_euclid(std::f64::consts::TAU)
            };
            children.sort_by(|one, other| turn(one).total_cmp(&turn(other)).then(one.cmp(other)));
        }
    }
}

/// How many pairs of edges cross, drawn with rings at equal steps.
fn crossings(angles: &[f64], distances: &[u32], edges: &[[usize; 2]]) -> usize {
    let places: Vec<Point> = angles
        .iter()
        .zip(distances)
        .map(|(angle, &distance)| [distance as f64 * angle.cos(), distance as f64 * angle.sin()])
        .collect();
    let side = |a: Point, b: Point, c: Point| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let cross = |[a, b]: [usize; 2], [c, d]: [usize; 2]| {
        let [p, q, r, s] = [a, b, c, d].map(|node| places[node]);
        a != c
            && a != d
            && b != c
            && b != d
            && side(p, q, r) * side(p, q, s) < 0.0
            && side(r, s, p) * side(r, s, q) < 0.0
    };
    let pairs =
        edges.iter().enumerate().map(|(row, &one)| edges[row + 1..].iter().filter(|&&other| cross(one, other)).count());
    pairs.sum()
}
