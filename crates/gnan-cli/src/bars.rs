//! Small bars of text: one value against the largest, to the left or right of a zero line where signs differ.

use anstyle::Style;

use crate::style::signed;

/// Eighths of a cell, so that short bars still differ.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar from zero to the right, `width` cells for `largest`.
pub fn rightward(size: f64, largest: f64, width: usize) -> String {
    let share = if largest > 0.0 && size.is_finite() { (size / largest).clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Bars for a list of values around one zero line; only the sides that occur take room.
#[derive(Clone, Copy, Debug)]
pub struct Bars {
    largest: f64,
    left: usize,
    right: usize,
    width: usize,
}

impl Bars {
    /// Bars of at most `width` cells for the value of largest size; each side takes the room its own values need.
    pub fn new(values: impl IntoIterator<Item = f64>, width: usize) -> Bars {
        let (mut lowest, mut highest) = (0.0f64, 0.0f64);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            lowest = lowest.min(value);
            highest = highest.max(value);
        }
        let largest = highest.max(-lowest);
        let cells = |size: f64| if largest > 0.0 { (size / largest * width as f64).round() as usize } else { 0 };
        Bars { largest, left: cells(-lowest), right: cells(highest), width }
    }

    /// The bar of one value, with its style.
    pub fn bar(&self, value: f64) -> (String, Style) {
        let zero = if self.left > 0 && self.right > 0 { "│" } else { "" };
        let text = if value < 0.0 {
            // Block letters grow from the left only, so bars to the left are made of whole cells.
            let cells = (value.abs() / self.largest * self.width as f64).round() as usize;
            let cells = cells.min(self.left);
            format!("{}{}{zero}", " ".repeat(self.left - cells), "█".repeat(cells))
        } else {
            format!("{}{zero}{}", " ".repeat(self.left), rightward(value, self.largest, self.width))
        };
        (text, signed(value))
    }
}

/// Bars that float, each from one sum to the next, all on one scale from the lowest sum to the highest.
#[derive(Clone, Copy, Debug)]
pub struct Waterfall {
    lowest: f64,
    highest: f64,
    width: usize,
}

impl Waterfall {
    /// A scale of `width` cells that holds zero and these sums.
    pub fn new(sums: impl IntoIterator<Item = f64>, width: usize) -> Waterfall {
        let (mut lowest, mut highest) = (0.0f64, 0.0f64);
        for sum in sums.into_iter().filter(|sum| sum.is_finite()) {
            lowest = lowest.min(sum);
            highest = highest.max(sum);
        }
        Waterfall { lowest, highest, width }
    }

    /// The bar from one sum to the next, with its style; a step too short to be seen is a line.
    pub fn step(&self, from: f64, to: f64) -> (String, Style) {
        let range = self.highest - self.lowest;
        if !(range > 0.0 && range.is_finite() && from.is_finite() && to.is_finite()) {
            return (String::new(), Style::new());
        }
        let cell = |sum: f64| ((sum - self.lowest) / range * self.width as f64).round() as usize;
        let (left, right) = (cell(from.min(to)), cell(from.max(to)));
        let bar = if left == right { "▏".to_owned() } else { "█".repeat(right - left) };
        (format!("{}{bar}", " ".repeat(left)), signed(to - from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_float_from_sum_to_sum() {
        let waterfall = Waterfall::new([4.0, -1.0], 5);
        assert_eq!(waterfall.step(0.0, 4.0).0, " ████");
        assert_eq!(waterfall.step(4.0, -1.0).0, "█████");
        assert_eq!(waterfall.step(2.0, 2.01).0, "   ▏");
        assert_eq!(Waterfall::new([f64::NAN], 5).step(0.0, f64::NAN).0, "");
    }

    #[test]
    fn the_largest_fills_the_width() {
        assert_eq!(rightward(2.0, 2.0, 3), "███");
        assert_eq!(rightward(1.0, 2.0, 3), "█▌");
        assert_eq!(rightward(0.0, 0.0, 3), "");
    }

    #[test]
    fn signs_lie_on_their_sides_of_zero() {
        let bars = Bars::new([-1.0, 2.0], 4);
        assert_eq!(bars.bar(-1.0).0, "██│");
        assert_eq!(bars.bar(2.0).0, "  │████");
        assert_eq!(Bars::new([1.0], 2).bar(1.0).0, "██");
    }
}
