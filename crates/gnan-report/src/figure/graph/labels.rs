//! The letters of the drawing: symbols of atoms with hydrogens and charge where there is room for them, and names of
//! other nodes where they cover nothing.

use super::{Label, Sheet};
use crate::colour::Colour;
use crate::placement::{Point, apart};
use crate::scene::{Anchor, Element};
use crate::text;

/// Letters are written on atoms from this length of a bond on; below, only where a disc is large.
const LEGIBLE: f64 = 13.0;

/// A graph of at most so many nodes has all names written that fit.
const FEW: usize = 40;

/// In a larger one, so many of the strongest have their names written.
const STRONGEST: usize = 15;

impl Sheet<'_> {
    /// All letters; names stay within the width.
    pub(super) fn labels(&self, width: f64) -> Vec<Element> {
        let atoms = (0..self.at.len()).flat_map(|node| self.atom(node));
        atoms.chain(self.names(width)).collect()
    }

    /// Whether letters are written on an atom.
    fn is_lettered(&self, node: usize) -> bool {
        let Label::Atom { element, charge, .. } = &self.figure.nodes[node].label else { return false };
        let room = self.unit >= LEGIBLE || self.radii[node] >= 0.62 * self.size;
        room && (element != "C" || *charge != 0 || self.neighbours[node].is_empty())
    }

    fn letter_size(&self, element: &str) -> f64 {
        if element == "H" { 0.8 * self.size } else { self.size }
    }

    /// How far from the middle of a node its bonds begin.
    pub(super) fn letter_gap(&self, node: usize) -> f64 {
        match &self.figure.nodes[node].label {
            Label::Atom { element, .. } if self.is_lettered(node) => {
                0.5 * self.letter_size(element) * if element.len() > 1 { 1.3 } else { 1.12 } + 1.0
            }
            _ => 0.0,
        }
    }

    /// The symbol in the middle, hydrogens where the bonds leave most room, the charge behind it all.
    fn atom(&self, node: usize) -> Vec<Element> {
        if !self.is_lettered(node) {
            return Vec::new();
        }
        let Label::Atom { element, hydrogens, charge } = &self.figure.nodes[node].label else { return Vec::new() };
        let size = self.letter_size(element);
        let [x, y] = self.at[node];
        let write = |at: Point, words: String, anchor| Element::text(at, words).size(size).anchor(anchor).centred();
        let attached = match hydrogens {
            0 => String::new(),
            1 => "H".to_string(),
            count => format!("H{}", small(*count, SUBSCRIPTS)),
        };
        let charge = match charge {
            0 => String::new(),
            1 => "⁺".to_string(),
            -1 => "⁻".to_string(),
            many => format!("{}{}", small(many.unsigned_abs(), SUPERSCRIPTS), if *many > 0 { "⁺" } else { "⁻" }),
        };
        let half = text::width(element, size) / 2.0;
        let mut letters = vec![write([x, y], text::shortened(element, size, 40.0), Anchor::Middle)];
        let mut behind = charge;
        match self.free_side(node) {
            _ if attached.is_empty() => {}
            Side::Right => behind = attached + &behind,
            Side::Left => letters.push(write([x - half, y], attached, Anchor::End)),
            Side::Above => letters.push(write([x, y - 0.92 * size], attached, Anchor::Middle)),
            Side::Below => letters.push(write([x, y + 0.92 * size], attached, Anchor::Middle)),
        }
        if !behind.is_empty() {
            // A bond to the right runs below the charge.
            let crowded = self.neighbours[node].iter().any(|&other| {
                let [dx, dy] = [self.at[other][0] - x, self.at[other][1] - y];
                dx > 0.0 && dy.abs() < 0.4 * dx
            });
            letters.push(write([x + half, if crowded { y - 0.3 * size } else { y }], behind, Anchor::Start));
        }
        letters
    }

    /// The side on which the bonds of a node leave most room.
    fn free_side(&self, node: usize) -> Side {
        let [x, y] = self.at[node];
        let bonds: Vec<f64> =
            self.neighbours[node].iter().map(|&other| (self.at[other][1] - y).atan2(self.at[other][0] - x)).collect();
        let room = |angle: f64| bonds.iter().map(|bond| (bond - angle).cos()).fold(-1.0, f64::max);
        let sides = [(Side::Right, 0.0), (Side::Left, 180.0), (Side::Above, -90.0), (Side::Below, 90.0_f64)];
        let mut best = (Side::Right, f64::INFINITY);
        for (side, degrees) in sides {
            // Above and below, letters are harder to read: they must be worth it.
            let penalty = if matches!(side, Side::Above | Side::Below) { 0.5 } else { 0.0 };
            let crowding = room(degrees.to_radians()) + penalty;
            if crowding < best.1 - 0.05 {
                best = (side, crowding);
            }
        }
        best.0
    }

    /// Names of nodes that are not atoms, the strongest first, each where it covers no disc and no other name.
    fn names(&self, width: f64) -> Vec<Element> {
        let size = 11.0;
        let mut order: Vec<usize> = (0..self.at.len()).collect();
        order.sort_by(|&one, &other| self.radii[other].total_cmp(&self.radii[one]).then(one.cmp(&other)));
        let mut taken: Vec<[f64; 4]> =
            self.at.iter().zip(&self.radii).map(|(at, &radius)| around(*at, radius.max(2.5))).collect();
        let mut names = Vec::new();
        let few = self.at.len() <= FEW;
        for node in order {
            let Label::Words(words) = &self.figure.nodes[node].label else { continue };
            if words.is_empty() || (!few && (names.len() >= STRONGEST || self.radii[node] < 5.0)) {
                continue;
            }
            let words = text::shortened(words, size, 90.0);
            let length = text::width(&words, size);
            let radius = self.radii[node].max(2.5);
            let [x, y] = self.at[node];
            if length + 4.0 <= 1.9 * radius {
                names.push(Element::text([x, y], words).size(size).anchor(Anchor::Middle).centred());
                continue;
            }
            let away = radius + 3.0;
            let places = [
                [x + away, y - 0.5 * size],
                [x - away - length, y - 0.5 * size],
                [x - length / 2.0, y - away - size],
                [x - length / 2.0, y + away],
                [x + 0.75 * away, y - 0.75 * away - size],
                [x + 0.75 * away, y + 0.75 * away],
                [x - 0.75 * away - length, y - 0.75 * away - size],
                [x - 0.75 * away - length, y + 0.75 * away],
            ];
            let boxes = places.map(|[left, top]| [left, top, left + length, top + size]);
            let free = |place: &&[f64; 4]| {
                let inside = place[0] >= 2.0 && place[2] <= width - 2.0;
                inside && !taken.iter().enumerate().any(|(k, other)| k != node && overlap(place, other))
            };
            let clear = |place: &&[f64; 4]| free(place) && !self.edge_crosses(place);
            if let Some(place) = boxes.iter().find(clear).or_else(|| boxes.iter().find(free)) {
                taken.push(*place);
                let label = Element::text([place[0], (place[1] + place[3]) / 2.0], words).size(size).centred();
                names.push(label.stroke(Colour::Surface, 2.5));
            }
        }
        names
    }

    /// Whether an edge runs through a rectangle.
    fn edge_crosses(&self, [left, top, right, bottom]: &[f64; 4]) -> bool {
        self.drawn_edges().any(|edge| {
            let [from, to] = edge.nodes.map(|node| self.at[node]);
            // The part of the edge between two parallel sides, along its length from 0 to 1.
            let between = |axis: usize, low: f64, high: f64| {
                let run = to[axis] - from[axis];
                if run.abs() < 1e-9 {
                    let inside = low <= from[axis] && from[axis] <= high;
                    return if inside { [0.0, 1.0] } else { [1.0, 0.0] };
                }
                let [one, other] = [(low - from[axis]) / run, (high - from[axis]) / run];
                [one.min(other), one.max(other)]
            };
            let [across, down] = [between(0, *left, *right), between(1, *top, *bottom)];
            across[0].max(down[0]).max(0.0) < across[1].min(down[1]).min(1.0)
        })
    }

    /// The direction in which the numbers of rings stand, all of them, farthest from all nodes.
    pub(super) fn ring_axis(&self, middle: Point) -> Point {
        let axis = |step: u32| (step as f64 * std::f64::consts::PI / 18.0 - std::f64::consts::FRAC_PI_2).sin_cos();
        let room = |(sine, cosine): (f64, f64)| {
            let numbers = self.figure.rings.iter().map(|ring| {
                let radius = ring.radius * self.unit;
                [middle[0] + radius * cosine, middle[1] + radius * sine]
            });
            let gap = |number: Point| {
                let gaps = self.at.iter().zip(&self.radii).map(|(&at, radius)| apart(at, number) - radius);
                gaps.fold(f64::INFINITY, f64::min)
            };
            numbers.map(gap).fold(f64::INFINITY, f64::min)
        };
        let mut best = (0, room(axis(0)));
        for step in 1..36 {
            let found = room(axis(step));
            if found > best.1 + 1.0 {
                best = (step, found);
            }
        }
        let (sine, cosine) = axis(best.0);
        [cosine, sine]
    }
}

/// Where the hydrogens of an atom are written.
#[derive(Clone, Copy)]
enum Side {
    Right,
    Left,
    Above,
    Below,
}

const SUBSCRIPTS: [char; 10] = ['₀', '₁', '₂', '₃', '₄', '₅', '₆', '₇', '₈', '₉'];
const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

fn small(number: u8, digits: [char; 10]) -> String {
    number.to_string().bytes().map(|digit| digits[(digit - b'0') as usize]).collect()
}

fn around([x, y]: Point, radius: f64) -> [f64; 4] {
    [x - radius, y - radius, x + radius, y + radius]
}

fn overlap(one: &[f64; 4], other: &[f64; 4]) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}
