//! Horizontal bars, one row per name, one bar per output in a row: shared by shape functions and importances.

use super::Estimate;
use crate::axis::{self, Scale};
use crate::colour::Colour;
use crate::layout::{self, MARGIN};
use crate::scene::{Anchor, Element};
use crate::text;

/// One row.
pub(crate) struct BarRow {
    pub name: String,
    /// One per output.
    pub values: Vec<Estimate>,
    /// Its support in words, for the tooltip; may be empty.
    pub support: String,
    /// Little support: hatched.
    pub weak: bool,
    /// The sum of what is not shown: grey.
    pub rest: bool,
}

/// How bars are drawn.
pub(crate) struct Bars<'a> {
    /// Names of the outputs; a single one is coloured by sign.
    pub outputs: &'a [String],
    /// Name and unit of the axis.
    pub unit: &'a str,
    /// The numbers that the axis must show.
    pub extent: Vec<f64>,
    /// Room for names, the same in all blocks of a figure.
    pub names: f64,
}

impl Bars<'_> {
    /// Draws the rows from `top` down; returns where they end, axis included.
    pub fn draw(&self, elements: &mut Vec<Element>, rows: &[BarRow], top: f64, width: f64) -> f64 {
        let outputs = self.outputs.len().max(1);
        let usual = if outputs == 1 { 19.0 } else { (5.0 * outputs as f64 + 6.0).max(19.0) };
        let height = layout::row_height(rows.iter().map(|row| row.name.as_str()), self.names, usual);
        let left = MARGIN + self.names + 10.0;
        let right = width - MARGIN;
        // One bar per row carries its number; room for it at both ends.
        let room = if outputs == 1 { 46f64.min(0.14 * width) } else { 4.0 };
        let low = self.extent.iter().any(|&value| value < 0.0);
        let high = self.extent.iter().any(|&value| value > 0.0) || !low;
        let (from, to) = (left + if low { room } else { 0.0 }, right - if high { room } else { 0.0 });
        let scale = Scale::with_zero(self.extent.iter().copied(), from, to);
        let bottom = top + height * rows.len() as f64 + 4.0;
        let ticks = axis::fitting_width(&scale, to - from);
        elements.extend(axis::horizontal(&scale, top, bottom, ticks));
        for (k, row) in rows.iter().enumerate() {
            let y = top + 2.0 + height * k as f64;
            if outputs > 1 && k > 0 {
                elements.push(Element::line([MARGIN, y], [right, y]).stroke(Colour::Grid, 1.0));
            }
            elements.push(layout::row_name_lines(&row.name, left - 8.0, y + 0.5 * height, self.names, false));
            let bar = (height - 5.0) / outputs as f64;
            for (series, estimate) in row.values.iter().enumerate().take(outputs) {
                let at = y + 2.5 + bar * series as f64;
                let one = self.bar(row, series, estimate, &scale, at, bar);
                elements.push(if outputs > 1 { Element::group(one).series(series) } else { Element::group(one) });
            }
        }
        elements.push(axis::wide_unit(self.unit, [left, right], bottom + 30.0, width));
        bottom + 36.0
    }

    fn bar(
        &self,
        row: &BarRow,
        series: usize,
        estimate: &Estimate,
        scale: &Scale,
        y: f64,
        height: f64,
    ) -> Vec<Element> {
        let single = self.outputs.len() < 2;
        let colour = match (row.rest, single) {
            (true, _) => Colour::Muted,
            (false, true) if estimate.value < 0.0 => Colour::Negative,
            (false, true) => Colour::Positive,
            (false, false) => Colour::Class(series),
        };
        let (zero, end) = (scale.at(0.0), scale.at(estimate.value));
        let mut elements = Vec::new();
        let thick = if single { height } else { height - 1.0 };
        if row.weak {
            let (x, width) = (zero.min(end), (end - zero).abs());
            elements.extend(layout::hatched(x, y, width, thick, colour));
        } else {
            elements.push(Element::rectangle(zero, y, end - zero, thick, colour));
        }
        if estimate.value.is_finite() && !scale.holds(estimate.value) {
            // A broken bar: it ends outside of the figure, its number is beside it.
            let at = zero + 0.9 * (end - zero);
            for x in [at, at + 5.0] {
                let ends = [[x - 2.0, y + thick + 1.0], [x + 2.0, y - 1.0]];
                elements.push(Element::line(ends[0], ends[1]).stroke(Colour::Surface, 2.0));
            }
        }
        let mut outer = [zero.min(end), zero.max(end)];
        if let Some(interval) = estimate.interval() {
            let ends = [scale.at(interval.low), scale.at(interval.high)];
            outer = [outer[0].min(ends[0]), outer[1].max(ends[1])];
            elements.extend(whisker(ends, y + 0.5 * thick, height));
        }
        if single {
            let finite = estimate.value.is_finite();
            let number = if finite { text::number(estimate.value, 3) } else { "absent".into() };
            outer = if finite { outer } else { [zero, zero] };
            let (x, anchor) =
                if estimate.value < 0.0 { (outer[0] - 4.0, Anchor::End) } else { (outer[1] + 4.0, Anchor::Start) };
            let label = Element::text([x, y + 0.5 * thick], number).size(10.5).anchor(anchor).centred();
            elements.push(label.fill(Colour::Muted));
        }
        let output = if single { String::new() } else { format!(", {}", text::one_line(&self.outputs[series])) };
        let support = if row.support.is_empty() { String::new() } else { format!("\n{}", row.support) };
        let words = format!("{}{output}\n{}{support}", text::one_line(&row.name), estimate.words(self.unit));
        // A field over the whole bar and its whisker is easier to point at than a short bar.
        let field = Element::rectangle(outer[0] - 3.0, y, outer[1] - outer[0] + 6.0, thick, Colour::Surface);
        elements.push(field.opacity(0.0).tooltip(words));
        elements
    }
}

/// A horizontal interval with small ends.
fn whisker(ends: [f64; 2], y: f64, height: f64) -> Vec<Element> {
    let cap = (0.22 * height).clamp(1.0, 3.0);
    let mut lines = vec![Element::line([ends[0], y], [ends[1], y])];
    lines.extend(ends.map(|x| Element::line([x, y - cap], [x, y + cap])));
    lines
}
