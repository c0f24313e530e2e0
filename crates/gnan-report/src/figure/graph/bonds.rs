//! The lines of the drawing: bonds as chemists draw them, other edges as thin lines, with a head where they point.

use std::collections::VecDeque;

use gnan::files::BondOrder;

use super::{Edge, Sheet};
use crate::colour::Colour;
use crate::placement::{Point, apart};
use crate::scene::Element;

/// Rings of more atoms are open space: a double bond in them has no inner side.
const LARGEST_RING: usize = 8;

impl Sheet<'_> {
    /// The edges that can be drawn.
    pub(super) fn drawn_edges(&self) -> impl Iterator<Item = &Edge> {
        let count = self.at.len();
        self.figure
            .edges
            .iter()
            .filter(move |edge| edge.nodes[0] != edge.nodes[1] && edge.nodes.iter().all(|&n| n < count))
    }

    /// Thin lines that end at the discs.
    pub(super) fn edges(&self) -> Vec<Element> {
        let count = self.figure.edges.len() as f64;
        let opacity = (60.0 / count.max(1.0)).sqrt().clamp(0.35, 0.8);
        let mut lines = Vec::new();
        for edge in self.drawn_edges() {
            let opacity = if edge.faint { 0.4 * opacity } else { opacity };
            let [from, to] = edge.nodes.map(|node| self.at[node]);
            let length = apart(from, to);
            if length < 1e-6 {
                continue;
            }
            let along = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
            let end = (length - self.radii[edge.nodes[1]].max(2.5)).max(0.0);
            let tip = [from[0] + end * along[0], from[1] + end * along[1]];
            let line = Element::line(from, if edge.directed { tip } else { to });
            lines.push(line.stroke(Colour::Muted, 1.0).opacity(opacity));
            if edge.directed {
                let head = (0.12 * self.unit).clamp(3.0, 7.0);
                let corner = |side: f64| {
                    [tip[0] - head * (along[0] - side * along[1]), tip[1] - head * (along[1] + side * along[0])]
                };
                lines.push(Element::polygon(vec![tip, corner(0.45), corner(-0.45)], Colour::Muted).opacity(opacity));
            }
        }
        lines
    }

    /// Bonds by their order; they leave room for letters.
    pub(super) fn bonds(&self) -> Vec<Element> {
        let mut lines = Vec::new();
        for edge in self.drawn_edges() {
            let [one, other] = edge.nodes;
            let [from, to] = [self.at[one], self.at[other]];
            let length = apart(from, to);
            let gaps = [self.letter_gap(one), self.letter_gap(other)];
            let room = length - gaps[0] - gaps[1];
            if length < 1e-6 || room <= 0.0 {
                continue;
            }
            let bond = BondLine { from, to, length, gaps, width: (0.05 * self.unit).clamp(0.7, 2.0) };
            match edge.order {
                BondOrder::Single | BondOrder::Other => lines.push(bond.line(0.0, 0.0)),
                BondOrder::Double => lines.extend(self.double(&bond, one, other, false)),
                BondOrder::Aromatic => lines.extend(self.double(&bond, one, other, true)),
                BondOrder::Triple => lines.extend([-0.14, 0.0, 0.14].map(|side| bond.line(side * self.unit, 0.0))),
                BondOrder::Quadruple => {
                    lines.extend([-0.18, -0.06, 0.06, 0.18].map(|side| bond.line(side * self.unit, 0.0)));
                }
            }
        }
        lines
    }

    /// Two lines: astride the axis at an open end, else one on the axis and one on the inner side.
    fn double(&self, bond: &BondLine, one: usize, other: usize, dashed: bool) -> Vec<Element> {
        let ends = [&self.neighbours[one], &self.neighbours[other]];
        let inside = self.ring_side(one, other);
        if inside.is_none() && ends.iter().any(|end| end.len() == 1) {
            let side = 0.08 * self.unit;
            return vec![bond.line(side, 0.0), bond.line(-side, 0.0)];
        }
        // Outside of rings, the side that has more neighbours.
        let others = ends.into_iter().flatten().filter(|&&node| node != one && node != other);
        let lean = || others.map(|&node| bond.side(self.at[node]).signum()).sum::<f64>();
        let side = if inside.unwrap_or_else(lean) < 0.0 { -0.16 } else { 0.16 } * self.unit;
        let inner = bond.line(side, 0.13 * self.unit);
        vec![bond.line(0.0, 0.0), if dashed { inner.dashed(3.0, 2.5) } else { inner }]
    }

    /// On which side of a bond its smallest ring lies; nothing outside of rings.
    fn ring_side(&self, one: usize, other: usize) -> Option<f64> {
        let mut before = vec![usize::MAX; self.at.len()];
        let mut queue = VecDeque::from([(one, 1)]);
        before[one] = one;
        while let Some((node, length)) = queue.pop_front() {
            if length >= LARGEST_RING {
                break;
            }
            for &next in &self.neighbours[node] {
                if (node == one && next == other) || before[next] != usize::MAX {
                    continue;
                }
                before[next] = node;
                if next == other {
                    return Some(self.side_of_ring(one, other, &before));
                }
                queue.push_back((next, length + 1));
            }
        }
        None
    }

    fn side_of_ring(&self, one: usize, other: usize, before: &[usize]) -> f64 {
        let bond = BondLine { from: self.at[one], to: self.at[other], length: 1.0, gaps: [0.0; 2], width: 1.0 };
        let mut sum = 0.0;
        let mut node = other;
        while node != one {
            sum += bond.side(self.at[node]);
            node = before[node];
        }
        sum
    }
}

/// The axis of a bond.
struct BondLine {
    from: Point,
    to: Point,
    length: f64,
    /// Room for letters at its ends.
    gaps: [f64; 2],
    width: f64,
}

impl BondLine {
    /// A line beside the axis, shortened at ends that have no letters.
    fn line(&self, beside: f64, shorter: f64) -> Element {
        let along = [(self.to[0] - self.from[0]) / self.length, (self.to[1] - self.from[1]) / self.length];
        let [start, end] = self.gaps.map(|gap| gap.max(shorter));
        let at = |distance: f64| {
            [
                self.from[0] + distance * along[0] - beside * along[1],
                self.from[1] + distance * along[1] + beside * along[0],
            ]
        };
        Element::line(at(start), at((self.length - end).max(start))).stroke(Colour::Ink, self.width)
    }

    /// Positive on the side where `line` draws with a positive distance.
    fn side(&self, point: Point) -> f64 {
        let [dx, dy] = [self.to[0] - self.from[0], self.to[1] - self.from[1]];
        dx * (point[1] - self.from[1]) - dy * (point[0] - self.from[0])
    }
}
