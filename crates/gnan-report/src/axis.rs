//! Axes: from numbers to pixels, ticks at round numbers, a zero line, the unit beside the numbers.

use gnan::numbers;

use crate::colour::Colour;
use crate::layout::MARGIN;
use crate::scene::{Anchor, Element};
use crate::text;

/// Size of tick labels.
pub(crate) const SMALL: f64 = 11.0;

/// Numbers beyond this are drawn at the edge: the span of two of them must be finite.
const LARGEST: f64 = 1e300;

/// A straight map from numbers to pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    of: Numbers,
}

/// What the numbers of a scale are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Numbers {
    /// Any numbers.
    #[default]
    Any,
    /// Whole numbers: ticks are whole too.
    Counts,
    /// Days since 1970-01-01, written as dates.
    Dates,
}

impl Scale {
    /// A scale that shows zero and all these numbers with a little air; numbers that are not finite do not count.
    pub fn with_zero(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Scale {
        let values = values.into_iter().filter(|value| value.is_finite());
        let (low, high) = values.fold((0.0f64, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = (low.max(-LARGEST), high.min(LARGEST));
        let span = high - low;
        if span < 1e-300 {
            return Scale { low: -1.0, high: 1.0, from, to, of: Numbers::Any };
        }
        let low = if low < 0.0 { low - 0.06 * span } else { low };
        let high = if high > 0.0 { high + 0.06 * span } else { high };
        Scale { low, high, from, to, of: Numbers::Any }
    }

    /// A scale between two numbers; equal ones are moved apart.
    pub fn between(low: f64, high: f64, from: f64, to: f64) -> Scale {
        let finite = |value: f64| if value.is_finite() { value.clamp(-LARGEST, LARGEST) } else { 0.0 };
        let (low, high) = (finite(low.min(high)), finite(high.max(low)));
        let least = 1e-9 * low.abs().max(high.abs()).max(1e-290);
        if high - low > least {
            return Scale { low, high, from, to, of: Numbers::Any };
        }
        let half = if low.abs() < 1e-290 { 1.0 } else { 0.5 * low.abs() };
        Scale { low: low - half, high: high + half, from, to, of: Numbers::Any }
    }

    /// The same scale for whole numbers.
    pub fn of_counts(self) -> Scale {
        Scale { of: Numbers::Counts, ..self }
    }

    /// The same scale for days since 1970-01-01.
    pub fn of_dates(self) -> Scale {
        Scale { of: Numbers::Dates, ..self }
    }

    /// The same numbers on other pixels.
    pub fn onto(self, from: f64, to: f64) -> Scale {
        Scale { from, to, ..self }
    }

    /// The pixel of a number, at most at the ends; not a number where the number is not finite.
    pub fn at(&self, value: f64) -> f64 {
        if !value.is_finite() {
            return f64::NAN;
        }
        let share = (value - self.low) / (self.high - self.low);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// The parts of a line through points, each a pixel across and a number, that are within the scale, in pixels.
    pub fn visible(&self, points: &[[f64; 2]]) -> Vec<Vec<[f64; 2]>> {
        let points = self.with_crossings(points);
        let parts = points.split(|[_, number]| !self.holds(*number)).filter(|part| part.len() > 1);
        parts.map(|part| part.iter().map(|&[x, number]| [x, self.at(number)]).collect()).collect()
    }

    /// The edge of an area through such points, in pixels: where it is beyond the scale, the area ends with the scale.
    pub fn edge(&self, points: &[[f64; 2]]) -> Vec<[f64; 2]> {
        self.with_crossings(points).into_iter().map(|[x, number]| [x, self.at(number)]).collect()
    }

    /// The points, and those where the line through them crosses an end of the scale.
    fn with_crossings(&self, points: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let mut found: Vec<[f64; 2]> = points.first().copied().into_iter().collect();
        for pair in points.windows(2) {
            let ([x, from], [end, to]) = (pair[0], pair[1]);
            let mut bounds = [self.low, self.high];
            if to < from {
                bounds.reverse();
            }
            let crossed =
                bounds.into_iter().filter(|bound| (from < *bound) != (to < *bound) && from != *bound && to != *bound);
            found.extend(crossed.map(|bound| [x + (bound - from) / (to - from) * (end - x), bound]));
            found.push([end, to]);
        }
        found
    }

    /// The number at a pixel.
    pub fn value(&self, pixel: f64) -> f64 {
        self.low + (pixel - self.from) / (self.to - self.from) * (self.high - self.low)
    }

    /// Whether dates are so far apart that years alone are written.
    fn shows_years(&self) -> bool {
        self.of == Numbers::Dates && self.high - self.low > 730.0 && self.low > -700_000.0 && self.high < 2_900_000.0
    }

    /// The first days of years within the scale, at most so many.
    fn years(&self, most: usize) -> Vec<f64> {
        let year = |days: f64| numbers::date(days)[..4].parse::<i64>().unwrap_or(0);
        let (first, last) = (year(self.low), year(self.high));
        let every = [1, 2, 5, 10, 20, 50, 100, 200, 500].into_iter().find(|step| (last - first) / step < most as i64);
        let every = every.unwrap_or(1000);
        let days = (first..=last).filter(|year| year % every == 0).filter_map(|year| numbers::days_of(year, 1, 1));
        days.map(|days| days as f64).filter(|days| self.holds(*days)).collect()
    }

    /// Round numbers within the scale, about as many as requested or fewer.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        if self.shows_years() {
            return self.years(most);
        }
        let step = self.step(most);
        let first = (self.low / step).ceil();
        let mut ticks = Vec::new();
        for k in 0..=(2 * most.max(2)) {
            let tick = (first + k as f64) * step;
            if tick > self.high + 1e-9 * step {
                break;
            }
            ticks.push(tick);
        }
        ticks
    }

    fn step(&self, most: usize) -> f64 {
        let rough = (self.high - self.low) / most.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * (1.0 - 1e-9));
        let step = factor.unwrap_or(10.0) * power;
        match self.of {
            Numbers::Any => step,
            Numbers::Counts => step.max(1.0).ceil(),
            Numbers::Dates if rough > 0.5 => step.max(1.0).ceil(),
            // Times of the day: minutes, quarters of an hour, hours.
            Numbers::Dates => {
                let minutes = [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 180.0, 360.0, 720.0];
                minutes.into_iter().map(|minutes| minutes / 1440.0).find(|step| *step >= rough).unwrap_or(1.0)
            }
        }
    }

    /// The number of a tick as text, with as many decimals as its neighbours need.
    pub fn label(&self, tick: f64, most: usize) -> String {
        let step = self.step(most);
        if self.of == Numbers::Dates {
            let date = numbers::date(tick);
            return if self.shows_years() { date[..4].to_owned() } else { date };
        }
        if tick.abs() < 1e-9 * step {
            return "0".into();
        }
        if !(1e-5..1e7).contains(&tick.abs()) {
            return text::number(tick, 2);
        }
        let decimals = (-step.log10().floor()).clamp(0.0, 10.0) as usize;
        text::with_minus(&numbers::fixed(tick, decimals))
    }

    /// How wide the widest tick label is.
    pub fn label_width(&self, most: usize) -> f64 {
        self.ticks(most).into_iter().map(|tick| text::width(&self.label(tick, most), SMALL)).fold(0.0, f64::max)
    }

    /// Whether a number is within the scale.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether zero is within the scale.
    pub fn shows_zero(&self) -> bool {
        self.holds(0.0)
    }
}

/// Horizontal grid lines with a stronger one at zero, from `left` to `right`; numbers beside them where wanted.
pub(crate) fn vertical(scale: &Scale, left: f64, right: f64, most: usize, numbers: bool) -> Vec<Element> {
    let mut elements = Vec::new();
    for tick in scale.ticks(most) {
        let y = scale.at(tick);
        elements.push(Element::line([left, y], [right, y]).stroke(Colour::Grid, 1.0));
        if numbers {
            let label = Element::text([left - 6.0, y], scale.label(tick, most)).size(SMALL).fill(Colour::Muted);
            elements.push(label.anchor(Anchor::End).centred());
        }
    }
    if scale.shows_zero() {
        let y = scale.at(0.0);
        elements.push(Element::line([left, y], [right, y]).stroke(Colour::Muted, 1.0).class("zero"));
    }
    elements
}

/// Vertical grid lines with a stronger one at zero, from `top` to `bottom`, with their numbers below.
pub(crate) fn horizontal(scale: &Scale, top: f64, bottom: f64, most: usize) -> Vec<Element> {
    let mut elements = Vec::new();
    for tick in scale.ticks(most) {
        let x = scale.at(tick);
        elements.push(Element::line([x, top], [x, bottom]).stroke(Colour::Grid, 1.0));
        let label = Element::text([x, bottom + 14.0], scale.label(tick, most)).size(SMALL).fill(Colour::Muted);
        elements.push(label.anchor(Anchor::Middle));
    }
    if scale.shows_zero() {
        let x = scale.at(0.0);
        elements.push(Element::line([x, top], [x, bottom]).stroke(Colour::Muted, 1.0).class("zero"));
    }
    elements
}

/// The numbers of a horizontal axis alone, kept within its ends.
pub(crate) fn labels_below(scale: &Scale, y: f64, most: usize, [left, right]: [f64; 2]) -> Vec<Element> {
    let label = |tick: f64| {
        let words = scale.label(tick, most);
        let half = 0.5 * text::width(&words, SMALL);
        let x = scale.at(tick).clamp(left + half.min(0.5 * (right - left)), right - half.min(0.5 * (right - left)));
        Element::text([x, y], words).size(SMALL).fill(Colour::Muted).anchor(Anchor::Middle)
    };
    scale.ticks(most).into_iter().map(label).collect()
}

/// How many ticks fit a height.
pub(crate) fn fitting_height(pixels: f64) -> usize {
    ((pixels / 24.0).floor() as usize).clamp(3, 10)
}

/// How many ticks fit a width, given how wide their numbers are.
pub(crate) fn fitting_width(scale: &Scale, pixels: f64) -> usize {
    let fits = |most: usize| (scale.label_width(most) + 14.0) * scale.ticks(most).len() as f64 <= pixels;
    // A single tick does not show how long a unit is.
    let several = |most: &usize| scale.ticks(*most).len() > 1;
    let found = (2..=10).rev().filter(several).find(|&most| fits(most));
    found.or_else(|| (2..=10).find(several)).unwrap_or(2)
}

/// The name and unit of a vertical axis, written upwards.
pub(crate) fn vertical_unit(unit: &str, x: f64, top: f64, bottom: f64) -> Element {
    let room = (bottom - top + 40.0).max(60.0);
    Element::name([x, 0.5 * (top + bottom)], unit, 12.0, room).anchor(Anchor::Middle).rotate(-90.0)
}

/// The name and unit of a horizontal axis.
pub(crate) fn horizontal_unit(unit: &str, left: f64, right: f64, y: f64) -> Element {
    Element::name([0.5 * (left + right), y], unit, 12.0, right - left).anchor(Anchor::Middle)
}

/// The name and unit of the only horizontal axis of a figure: below the axis, and as far beyond its ends as it needs.
pub(crate) fn wide_unit(unit: &str, [left, right]: [f64; 2], y: f64, width: f64) -> Element {
    let half = 0.5 * text::width(&text::one_line(unit), 12.0).min(width - 2.0 * MARGIN);
    let middle = (0.5 * (left + right)).min(width - MARGIN - half).max(MARGIN + half);
    Element::name([middle, y], unit, 12.0, 2.0 * half + 0.01).anchor(Anchor::Middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let scale = Scale::with_zero([-0.31, 0.72], 0.0, 100.0);
        let labels: Vec<String> = scale.ticks(6).into_iter().map(|tick| scale.label(tick, 6)).collect();
        assert_eq!(labels, ["−0.2", "0", "0.2", "0.4", "0.6"]);
    }

    #[test]
    fn a_line_ends_where_it_leaves_the_scale() {
        let scale = Scale::between(0.0, 10.0, 100.0, 0.0);
        let line = [[0.0, 5.0], [10.0, 15.0], [20.0, 5.0], [30.0, -5.0]];
        let expected = vec![vec![[0.0, 50.0], [5.0, 0.0]], vec![[15.0, 0.0], [20.0, 50.0], [25.0, 100.0]]];
        assert_eq!(scale.visible(&line), expected);
        let edge = [[0.0, 50.0], [5.0, 0.0], [10.0, 0.0], [15.0, 0.0], [20.0, 50.0], [25.0, 100.0], [30.0, 100.0]];
        assert_eq!(scale.edge(&line), edge);
        assert_eq!(scale.visible(&[[0.0, -20.0], [10.0, 20.0]]), [[[5.0, 100.0], [7.5, 0.0]]]);
        assert!(scale.visible(&[[0.0, 20.0], [10.0, 30.0]]).is_empty());
    }

    #[test]
    fn a_narrow_axis_has_two_ticks() {
        for (low, high) in [(-0.4, 0.7), (1.1, 1.9), (0.2, 9.7), (95.0, 123.0)] {
            let scale = Scale::between(low, high, 0.0, 60.0);
            assert!(scale.ticks(fitting_width(&scale, 60.0)).len() >= 2, "{low} to {high}");
        }
    }

    #[test]
    fn times_of_a_day_have_ticks() {
        let scale = Scale::between(19_787.3, 19_787.8, 0.0, 100.0).of_dates();
        let labels: Vec<String> = scale.ticks(4).into_iter().map(|tick| scale.label(tick, 4)).collect();
        assert_eq!(labels, ["2024-03-05 09:00", "2024-03-05 12:00", "2024-03-05 15:00", "2024-03-05 18:00"]);
    }

    #[test]
    fn odd_ranges_have_a_scale() {
        let odd = [vec![], vec![0.0], vec![f64::NAN, f64::INFINITY], vec![1e308, -1e308], vec![5e-324], vec![7.0; 3]];
        for values in odd {
            for scale in [
                Scale::with_zero(values.clone(), 100.0, 0.0),
                Scale::between(
                    values.first().copied().unwrap_or(0.0),
                    values.last().copied().unwrap_or(0.0),
                    0.0,
                    100.0,
                ),
            ] {
                let ticks = scale.ticks(5);
                assert!(!ticks.is_empty() && ticks.len() <= 11, "{values:?} {scale:?} {ticks:?}");
                assert!(ticks.iter().all(|&tick| scale.at(tick).is_finite()));
                assert!(scale.at(f64::NAN).is_nan());
            }
        }
    }
}
