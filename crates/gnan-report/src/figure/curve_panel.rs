//! One small panel with the exact curves of a continuous feature over the data's density.

use gnan::explain::ShapeCurve;
use gnan::numbers::DAYS;

use super::shapes::{ShapeFunction, Shapes};
use super::{Bin, Estimate, Interval, cut_mark, support_words};
use crate::axis::{self, Scale};
use crate::colour::{CLASS_COLOURS, Colour};
use crate::scene::Element;
use crate::text;

/// Height of the strip below a panel that shows where the data are.
pub(crate) const STRIP: f64 = 16.0;

/// Points per curve that have a tooltip.
const POINTS: usize = 24;

/// A panel: what is drawn and where.
pub(crate) struct CurvePanel<'a> {
    pub shapes: &'a Shapes,
    pub feature: &'a ShapeFunction,
    pub knots: &'a [Vec<[f64; 2]>],
    pub bands: &'a [Vec<(f64, Interval)>],
    pub bins: &'a [Bin],
    pub left: f64,
    pub width: f64,
    pub top: f64,
    pub height: f64,
}

impl CurvePanel<'_> {
    /// Draws bands, curves, density strip and the x-axis.
    pub fn draw(&self, out: &mut Vec<Element>, y: &Scale) {
        let x = self.horizontal();
        let (right, bottom) = (self.left + self.width, self.top + self.height);
        for bin in self.bins.iter().filter(|bin| bin.support.is_little()) {
            let [from, to] = self.ends(bin, &x);
            out.push(Element::rectangle(from, self.top, to - from, self.height, Colour::Grid).hatch(Colour::Grid));
        }
        let several = self.knots.len() > 1;
        for (series, knots) in self.knots.iter().enumerate() {
            let colour = Colour::Class(series);
            let mut marks = Vec::new();
            let curve = through(knots);
            let band = band_through(self.bands.get(series).map_or(&[], Vec::as_slice));
            let places = |curve: &ShapeCurve, which: usize| {
                let within = curve.between(x.value(self.left), x.value(right));
                within.into_iter().map(|(at, values)| [x.at(at), values[which]]).collect::<Vec<_>>()
            };
            let mut area = y.edge(&places(&band, 1));
            area.extend(y.edge(&places(&band, 0)).into_iter().rev());
            marks.push(Element::polygon(area, colour).opacity(0.16));
            for part in y.visible(&places(&curve, 0)) {
                let line = Element::polyline(part).stroke(colour, 1.8);
                marks.push(if series / CLASS_COLOURS % 2 == 1 { line.dashed(6.0, 3.0) } else { line });
            }
            self.points(&mut marks, series, [&curve, &band], &x, y);
            self.cut_marks(&mut marks, series, &curve, &x, y);
            out.push(if several { Element::group(marks).series(series) } else { Element::group(marks) });
        }
        self.strip(out, &x, bottom + 3.0);
        let ticks = axis::fitting_width(&x, self.width);
        out.extend(axis::labels_below(&x, bottom + STRIP + 16.0, ticks, [self.left, right]));
        let unit = match self.feature.unit.as_str() {
            "" | DAYS => &self.feature.name,
            unit => unit,
        };
        out.push(axis::horizontal_unit(unit, self.left, right, bottom + STRIP + 31.0));
    }

    /// The x-axis: all knots and bins, or where the data are if knots lie far outside of them.
    fn horizontal(&self) -> Scale {
        let bins: Vec<f64> = self.bins.iter().flat_map(|bin| [bin.from, bin.to]).filter(|x| x.is_finite()).collect();
        let knots = self.knots.iter().flatten().map(|&[x, _]| x).filter(|x| x.is_finite());
        let values: Vec<f64> = if bins.is_empty() { knots.collect() } else { bins };
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let scale = match self.feature.counts {
            true => Scale::between(low.min(0.0), high, self.left, self.left + self.width).of_counts(),
            false => Scale::between(low, high, self.left, self.left + self.width),
        };
        if self.feature.unit == DAYS { scale.of_dates() } else { scale }
    }

    /// Where a bin begins and ends; a single value has some width, so that it can be seen.
    fn ends(&self, bin: &Bin, x: &Scale) -> [f64; 2] {
        let (from, to) = (x.at(bin.from), x.at(bin.to));
        let wide = if bin.from == bin.to { 3.0 } else { 0.0 };
        [(from - wide).max(self.left), (to + wide).min(self.left + self.width)]
    }

    /// A mark at the edge of the panel for every part of a curve beyond it, at its farthest point.
    fn cut_marks(&self, out: &mut Vec<Element>, series: usize, curve: &ShapeCurve, x: &Scale, y: &Scale) {
        let within = curve.between(x.value(self.left), x.value(self.left + self.width));
        let beyond = |value: f64| !y.holds(value);
        for run in within.chunk_by(|a, b| beyond(a.1[0]) == beyond(b.1[0])) {
            let farthest = run.iter().max_by(|a, b| a.1[0].abs().total_cmp(&b.1[0].abs()));
            let Some((at, values)) = farthest.filter(|(_, values)| beyond(values[0])) else { continue };
            let up = values[0] > 0.0;
            let words = format!(
                "{} = {}{}\n{}",
                text::one_line(&self.feature.name),
                self.feature.value_words(*at),
                self.shapes.of_output(series),
                Estimate::from(values[0]).words(&self.shapes.unit)
            );
            let edge = if up { self.top } else { self.top + self.height };
            out.push(cut_mark([x.at(*at), edge], up, words));
        }
    }

    /// Invisible circles along the curve with x, value, interval and support as tooltips.
    fn points(&self, out: &mut Vec<Element>, series: usize, [curve, band]: [&ShapeCurve; 2], x: &Scale, y: &Scale) {
        for k in 0..=POINTS {
            let at = x.value(self.left + self.width * k as f64 / POINTS as f64);
            let known = known_at(curve, at).map(|values| values[0]);
            let Some(value) = known.filter(|value| y.holds(*value)) else { continue };
            let interval = known_at(band, at).map(|ends| Interval { low: ends[0], high: ends[1] });
            let estimate = Estimate { value, interval };
            let support = match self.bins {
                [] => String::new(),
                bins => format!("\n{} here", support_words(Bin::support_at(bins, at), &self.shapes.items)),
            };
            let words = format!(
                "{} = {}{}\n{}{support}",
                text::one_line(&self.feature.name),
                self.feature.value_words(at),
                self.shapes.of_output(series),
                estimate.words(&self.shapes.unit)
            );
            let mark = Element::circle([x.at(at), y.at(value)], 0.5 * self.width / POINTS as f64, Colour::Surface);
            out.push(mark.opacity(0.0).tooltip(words));
        }
    }

    fn strip(&self, out: &mut Vec<Element>, x: &Scale, top: f64) {
        // Density, not count: bins may be of different widths.
        let density = |bin: &Bin| {
            let [from, to] = self.ends(bin, x);
            let wide = (to - from).abs();
            if wide.is_finite() { bin.support.nodes as f64 / wide.max(0.5) } else { 0.0 }
        };
        let largest = self.bins.iter().map(density).fold(0.0, f64::max);
        for bin in self.bins {
            let height = if largest > 0.0 { (STRIP - 3.0) * density(bin) / largest } else { 0.0 };
            let [from, to] = self.ends(bin, x);
            let bar = Element::rectangle(from, top + STRIP - 3.0 - height, to - from, height, Colour::Muted);
            let support = support_words(bin.support, &self.shapes.items);
            out.push(bar.opacity(0.45).tooltip(format!("{}\n{support}", self.feature.range_words(bin))));
        }
        let base = top + STRIP - 3.0;
        out.push(Element::line([self.left, base], [self.left + self.width, base]).stroke(Colour::Grid, 1.0));
    }
}

/// The curve through knots.
pub(crate) fn through(knots: &[[f64; 2]]) -> ShapeCurve {
    ShapeCurve::through(knots.iter().map(|[at, value]| (*at, vec![*value])))
}

/// The lower and the upper end of a band as curves.
pub(crate) fn band_through(band: &[(f64, Interval)]) -> ShapeCurve {
    ShapeCurve::through(band.iter().map(|(at, band)| (*at, vec![band.low, band.high])))
}

/// The values of a curve at `x`; nothing beyond its ends, and nothing of a single point, which has no line.
pub(crate) fn known_at(curve: &ShapeCurve, x: f64) -> Option<Vec<f64>> {
    let [from, to] = curve.ends()?;
    (from < to && from <= x && x <= to).then(|| curve.value_at(x))
}
