//! The figures, one file each: a plain struct of numbers and names, how it is laid out, and the table behind it. The caller
//! brings the numbers in canonical form and in order of importance; a figure computes nothing but positions.
//!
//! What has little support in training is hatched, and does not decide how far an axis reaches: it is cut off there, and
//! marked.

pub mod table;
pub mod distance_curves;
pub mod shapes;
pub mod heatmap;
pub mod value_heatmap;
pub mod importance;
pub mod waterfall;
pub mod graph;
pub mod scatter;
pub mod point_plot;

pub(crate) mod bars;
pub(crate) mod curve_panel;

use gnan::numbers::counted;

pub use gnan::model::{Bin, Support};

use gnan::model::LITTLE_SUPPORT;

use crate::colour::Colour;
use crate::scene::{Element, Scene};
use crate::text;
use table::FigureTable;

/// What a figure shows.
pub trait FigureContent {
    /// The figure laid out at a width in pixels.
    fn scene(&self, width: f64) -> Scene;

    /// The numbers behind it.
    fn table(&self) -> FigureTable;
}

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number; one that is not finite is absent.
    pub value: f64,
    /// Its interval, where one was computed.
    pub interval: Option<Interval>,
}

impl From<f64> for Estimate {
    fn from(value: f64) -> Estimate {
        Estimate { value, interval: None }
    }
}

impl Estimate {
    /// The interval, where there is one and both ends are finite.
    pub(crate) fn interval(&self) -> Option<Interval> {
        self.interval.filter(|interval| interval.low.is_finite() && interval.high.is_finite())
    }

    /// All finite numbers that a scale must show.
    pub(crate) fn extent(&self) -> impl Iterator<Item = f64> + use<> {
        let interval = self.interval();
        [Some(self.value), interval.map(|interval| interval.low), interval.map(|interval| interval.high)]
            .into_iter()
            .flatten()
            .filter(|value| value.is_finite())
    }

    /// Whether the interval contains zero.
    pub(crate) fn uncertain(&self) -> bool {
        self.interval().is_some_and(|interval| interval.low <= 0.0 && interval.high >= 0.0)
    }

    /// The number with its unit, and its interval on a line of its own.
    pub(crate) fn words(&self, unit: &str) -> String {
        let mut words = format!("{}: {}", text::one_line(unit), text::signed(self.value, 6));
        if let Some(Interval { low, high }) = self.interval() {
            words += &format!("\n95 % interval {} to {}", text::signed(low, 4), text::signed(high, 4));
        }
        words
    }
}

/// How many nodes support a number, and how many items ("graphs", "labelled nodes") they belong to.
pub(crate) fn support_words(support: Support, items: &str) -> String {
    let nodes = counted(support.nodes as usize, "node");
    match support.items == support.nodes {
        true => nodes,
        false => format!("{nodes}, {}", counted(support.items as usize, items)),
    }
}

/// What hatching means.
pub(crate) fn hatching_words(items: &str) -> String {
    format!("fewer than {}: little support", counted(LITTLE_SUPPORT as usize, items))
}

/// The note where something is cut off.
pub(crate) const CUT_OFF: &str =
    "Triangles: parts with little support that reach beyond the axis; point at them for their value.";

/// The numbers that an axis must show: those with enough support, or all where none has.
pub(crate) fn supported_extent(numbers: impl Iterator<Item = (f64, bool)>) -> Vec<f64> {
    let (mut all, mut supported) = (Vec::new(), Vec::new());
    for (number, weak) in numbers.filter(|(number, _)| number.is_finite()) {
        all.push(number);
        if !weak {
            supported.push(number);
        }
    }
    if supported.is_empty() { all } else { supported }
}

/// A triangle at the edge of a panel beyond which a number lies, with that number as tooltip.
pub(crate) fn cut_mark([x, y]: [f64; 2], up: bool, words: String) -> Element {
    let height = if up { 6.0 } else { -6.0 };
    let points = vec![[x - 4.0, y + height], [x + 4.0, y + height], [x, y]];
    Element::polygon(points, Colour::Ink).opacity(0.75).class("cut").tooltip(words)
}
