//! Where the nodes of a graph are drawn. Every layout is deterministic: the same graph has the same picture everywhere.
//!
//! Places are in units of one edge (a bond, or the gap between two rings), y downwards. [`molecule`] draws what a
//! chemist expects, [`mod@stress`] any graph by its distances, [`mod@rings`] the neighbourhood of one node, [`part`] chooses
//! what to draw of a graph that is too large, [`mod@line`] which edges around a node pair.

pub mod line;
pub mod molecule;
mod pack;
pub mod part;
pub mod rings;
pub mod stress;

pub use molecule::Depiction;
pub use part::MOST_NODES;
pub use rings::Rings;

/// A place in a drawing.
pub type Point = [f64; 2];

/// The straight distance of two places.
pub(crate) fn apart(one: Point, other: Point) -> f64 {
    (one[0] - other[0]).hypot(one[1] - other[1])
}

/// The smallest distance between any two places.
pub(crate) fn closest(places: &[Point]) -> f64 {
    let mut closest = f64::INFINITY;
    for (row, &one) in places.iter().enumerate() {
        for &other in &places[row + 1..] {
            closest = closest.min(apart(one, other));
        }
    }
    closest
}

/// The upper left and lower right corner of what is drawn.
pub(crate) fn bounds(places: &[Point]) -> [Point; 2] {
    let mut corners = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
    for place in places {
        for axis in 0..2 {
            corners[0][axis] = corners[0][axis].min(place[axis]);
            corners[1][axis] = corners[1][axis].max(place[axis]);
        }
    }
    if places.is_empty() { [[0.0; 2]; 2] } else { corners }
}

/// The places turned by an angle in radians.
pub(crate) fn turned(places: &[Point], angle: f64) -> Vec<Point> {
    let (sine, cosine) = angle.sin_cos();
    places.iter().map(|[x, y]| [cosine * x - sine * y, sine * x + cosine * y]).collect()
}
