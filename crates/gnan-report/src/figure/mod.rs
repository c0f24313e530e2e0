//! The figures, one file each: a plain struct of numbers and names, and how it is laid out. The caller brings the
//! numbers in canonical form and in order of importance; a figure computes nothing but positions.

pub mod distance_curves;
pub mod shapes;
pub mod heatmap;
pub mod value_heatmap;
pub mod importance;
pub mod waterfall;
pub mod graph;
pub mod scatter;

pub(crate) mod bars;
pub(crate) mod curve_panel;

use gnan::numbers::counted;

pub use gnan::explain::Bin;
pub use gnan::model::Support;

use crate::text;

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

/// How many nodes a number rests on, and in how many graphs where there are several.
pub(crate) fn support_words(support: Support) -> String {
    let nodes = counted(support.nodes as usize, "node");
    match support.graphs {
        0 => nodes,
        graphs => format!("{nodes} in {}", counted(graphs as usize, "graph")),
    }
}
