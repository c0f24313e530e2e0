//! One prediction from base to sum: every term a step to the right or to the left of where the last one ended, the
//! largest first, the small ones summed into one step and never dropped. What is printed adds up to the prediction.

use gnan::numbers::{Precision, counted, probability};

use super::FigureContent;
use super::table::{FigureCell, FigureTable};
use crate::axis::{self, Scale};
use crate::colour::Colour;
use crate::layout::{self, MARGIN};
use crate::scene::{Element, Scene};
use crate::text;

/// What the figure shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Waterfall {
    /// Title of the figure.
    pub title: String,
    /// Name and unit of the axis, for instance "log-odds of mutagenic".
    pub unit: String,
    /// The output bias from which the sum starts.
    pub base: f64,
    /// The structure term: what the shape of the graph alone contributes.
    pub structure: Option<f64>,
    /// The terms, in any order.
    pub terms: Vec<Term>,
    /// The output of the model; the terms must sum to it.
    pub prediction: f64,
    /// How many terms are shown at most, besides the sum of the others.
    pub most: usize,
    /// The probability at the base and at the prediction.
    pub probability: Option<[f64; 2]>,
}

/// One term.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What contributed.
    pub name: String,
    /// How much, signed.
    pub value: f64,
    /// More for the tooltip, for instance "3 nodes"; may be empty.
    pub detail: String,
}

/// One row of the figure.
struct Step {
    name: String,
    kind: Kind,
    from: f64,
    to: f64,
    detail: String,
}

/// Where the sum starts, one of its terms (or the sum of the small ones), where it ends.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Base,
    Term(f64),
    Rest(f64),
    Prediction,
}

impl Step {
    fn is_level(&self) -> bool {
        matches!(self.kind, Kind::Base | Kind::Prediction)
    }
}

const HEIGHT: f64 = 21.0;
/// The largest share of the width that names have.
const NAMES: f64 = 0.38;
/// The share of the width that bars have at least, where that is possible.
const BARS: f64 = 0.4;
/// The least width of the bars, where names and numbers leave little.
const LEAST_BARS: f64 = 60.0;

/// Values beyond this are drawn as this: sums of them must stay finite.
const LARGEST: f64 = 1e290;

impl FigureContent for Waterfall {
    fn scene(&self, width: f64) -> Scene {
        let width = layout::figure_width(width);
        let mut elements = Vec::new();
        let top = layout::heading(&mut elements, &self.title, width) + 2.0;
        let rows = self.rows();
        let mut labels = self.labels(&rows, true);
        let room_of =
            |labels: &[String]| labels.iter().map(|label| text::width(label, 11.0)).fold(20.0, f64::max) + 10.0;
        let mut names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        // Where there is little room, probabilities stand below the names.
        let below: Vec<Option<String>> = rows.iter().map(|row| self.probability_words(row.kind)).collect();
        let most = NAMES * width;
        let is_narrow = width - layout::names_room(names.iter().copied(), most) - room_of(&labels) < BARS * width;
        let below = |row: usize| below[row].as_deref().filter(|_| is_narrow);
        if is_narrow {
            labels = self.labels(&rows, false);
            names.extend((0..rows.len()).filter_map(below));
        }
        let names_room = layout::names_room(names.iter().copied(), most);
        let left = MARGIN + names_room + 10.0;
        let (from, to) = (left + 4.0, (width - MARGIN - room_of(&labels)).max(left + LEAST_BARS));
        let scale = scale(&rows, from, to);
        let two_lines = (0..rows.len()).any(|row| below(row).is_some());
        let height =
            layout::row_height(names.into_iter(), names_room, if two_lines { layout::TWO_LINES } else { HEIGHT });
        let bottom = top + height * rows.len() as f64 + 2.0;
        elements.extend(axis::horizontal(&scale, top, bottom, axis::fitting_width(&scale, to - from)));
        for (k, row) in rows.iter().enumerate() {
            let y = top + height * k as f64 + 1.0;
            let (right, middle) = (left - 8.0, y + 0.5 * height);
            match below(k) {
                Some(words) => {
                    elements.push(layout::row_name(&row.name, right, middle - 6.0, names_room).bold());
                    elements.push(layout::row_name(words, right, middle + 6.5, names_room).size(11.0));
                }
                None => elements.push(layout::row_name_lines(&row.name, right, middle, names_room, row.is_level())),
            }
            elements.extend(self.bar(row, &scale, y, height));
            if k + 1 < rows.len() {
                let x = scale.at(row.to);
                let line = Element::line([x, y + height - 3.0], [x, y + height + 3.0]);
                elements.push(line.stroke(Colour::Muted, 1.0));
            }
            let start = if row.is_level() && !scale.shows_zero() { row.to } else { row.from };
            let beside = scale.at(row.to).max(scale.at(start)) + 6.0;
            let x = beside.min(width - MARGIN - text::width(&labels[k], 11.0)).max(left);
            elements.push(Element::text([x, y + 0.5 * height], &labels[k]).size(11.0).centred());
        }
        elements.push(axis::wide_unit(&self.unit, [left, to], bottom + 30.0, width));
        let mut y = bottom + 36.0;
        if let Some(words) = self.mismatch() {
            y = layout::note(&mut elements, &words, y, width);
        }
        let mut scene = Scene::new(width, y + MARGIN, text::one_line(&self.title));
        scene.description = format!("From {} to {}.", text::number(self.base, 6), text::number(self.prediction, 6));
        scene.elements = elements;
        scene
    }

    fn table(&self) -> FigureTable {
        let mut table = FigureTable::new(["term", "contribution", "running sum", ""]);
        let mut sum = self.base;
        table.rows.push(vec!["base".into(), FigureCell::Empty, FigureCell::Number(sum), FigureCell::Empty]);
        let structure = self.structure.map(|value| ("structure", value, ""));
        let terms = self.terms.iter().map(|term| (term.name.as_str(), term.value, term.detail.as_str()));
        for (name, value, detail) in structure.into_iter().chain(terms) {
            sum += value;
            table.rows.push(vec![name.into(), FigureCell::Number(value), FigureCell::Number(sum), detail.into()]);
        }
        let prediction = FigureCell::Number(self.prediction);
        table.rows.push(vec!["prediction".into(), FigureCell::Empty, prediction, FigureCell::Empty]);
        table.without_empty_columns()
    }
}

impl Waterfall {
    fn rows(&self) -> Vec<Step> {
        let base = finite(self.base);
        let mut sum = base;
        let level = |name: &str, kind: Kind, to: f64| {
            let detail = String::new();
            Step { name: name.into(), kind, from: 0.0, to, detail }
        };
        let mut rows = vec![level("base", Kind::Base, base)];
        let mut push = |name: String, kind: Kind, value: f64, detail: String| {
            rows.push(Step { name, kind, from: sum, to: sum + finite(value), detail });
            sum += finite(value);
        };
        if let Some(value) = self.structure {
            let detail = "the shape of the graph alone, whatever the features".into();
            push("structure".into(), Kind::Term(value), value, detail);
        }
        let mut order: Vec<&Term> = self.terms.iter().collect();
        order.sort_by(|a, b| finite(b.value).abs().total_cmp(&finite(a.value).abs()));
        let shown = if order.len() <= self.most.saturating_add(1) { order.len() } else { self.most };
        for term in &order[..shown] {
            push(term.name.clone(), Kind::Term(term.value), term.value, term.detail.clone());
        }
        if let Some(others @ [_, ..]) = order.get(shown..) {
            let value: f64 = others.iter().map(|term| finite(term.value)).sum();
            let detail = format!("the sum of {} with smaller values", counted(others.len(), "term"));
            push(format!("{} (sum)", counted(others.len(), "other")), Kind::Rest(value), value, detail);
        }
        rows.push(level("prediction", Kind::Prediction, finite(self.prediction)));
        rows
    }

    /// The probability at a row.
    fn probability_words(&self, kind: Kind) -> Option<String> {
        let [start, end] = self.probability?;
        let share = match kind {
            Kind::Base => start,
            Kind::Prediction => end,
            Kind::Term(_) | Kind::Rest(_) => return None,
        };
        (0.0..=1.0).contains(&share).then(|| probability(share))
    }

    /// The numbers at the ends of the rows, rounded so that base and steps as printed add up to the prediction as printed;
    /// with the probability at the first and the last where wanted.
    fn labels(&self, rows: &[Step], with_probability: bool) -> Vec<String> {
        let amounts: Vec<f64> = rows.iter().map(|row| self.amount(row)).collect();
        let precision = Precision::for_amounts(amounts.iter().copied()).finer();
        let (prediction, parts) = match amounts.split_last() {
            Some((prediction, parts)) if amounts.iter().all(|amount| amount.is_finite()) => (*prediction, parts),
            _ => (f64::NAN, &amounts[..]),
        };
        let total = precision.units(prediction);
        // What does not add up is not made to look as if it did.
        let sum: f64 = parts.iter().sum();
        let units = match (precision.units(sum) - total).abs() <= 1 {
            true => precision.adding_up(parts, total, 0),
            false => parts.iter().map(|amount| precision.units(*amount)).collect(),
        };
        let scale = precision.words();
        let label = |(row, units): (&Step, i64)| {
            if !self.amount(row).is_finite() {
                return "absent".to_owned();
            }
            let number = text::with_minus(&format!("{}{scale}", precision.show(units)));
            let number = if row.is_level() { number.trim_start_matches('+').to_owned() } else { number };
            match self.probability_words(row.kind).filter(|_| with_probability) {
                Some(words) => format!("{number} ({words})"),
                None => number,
            }
        };
        rows.iter().zip(units.into_iter().chain([total])).map(label).collect()
    }

    /// The number of a row as it was given.
    fn amount(&self, row: &Step) -> f64 {
        match row.kind {
            Kind::Term(step) | Kind::Rest(step) => step,
            Kind::Base => self.base,
            Kind::Prediction => self.prediction,
        }
    }

    fn bar(&self, row: &Step, scale: &Scale, y: f64, row_height: f64) -> Vec<Element> {
        let (y, height) = (y + 3.0, row_height - 6.0);
        let mut words = format!("{}\n", text::one_line(&row.name));
        let mut elements = Vec::new();
        let end = scale.at(row.to);
        match row.kind {
            Kind::Term(step) | Kind::Rest(step) => {
                let colour = match row.kind {
                    Kind::Rest(_) => Colour::Muted,
                    _ if step < 0.0 => Colour::Negative,
                    _ => Colour::Positive,
                };
                let start = scale.at(row.from);
                elements.push(Element::rectangle(start, y, end - start, height, colour));
                if (end - start).abs() < 1.0 {
                    elements.push(Element::line([start, y], [start, y + height]).stroke(colour, 1.5));
                }
                words += &format!("{}: {}\n", text::one_line(&self.unit), text::signed(step, 6));
                words += &format!("running sum {}", text::number(row.to, 6));
                if !row.detail.is_empty() {
                    words += &format!("\n{}", row.detail);
                }
            }
            Kind::Base | Kind::Prediction => {
                let start = if scale.shows_zero() { scale.at(0.0) } else { end - 3.0 };
                elements.push(Element::rectangle(start, y, end - start, height, Colour::Muted).opacity(0.45));
                elements.push(Element::line([end, y - 2.0], [end, y + height + 2.0]).stroke(Colour::Ink, 2.0));
                words += &format!("{}: {}", text::one_line(&self.unit), text::number(row.to, 6));
            }
        }
        let (low, high) = (end.min(scale.at(row.from)), end.max(scale.at(row.from)));
        let low = if row.is_level() { end } else { low };
        let high = if row.is_level() { end } else { high };
        let field = Element::rectangle(low - 4.0, y - 3.0, high - low + 8.0, row_height, Colour::Surface);
        elements.push(field.opacity(0.0).tooltip(words));
        elements
    }

    /// A note where the parts do not sum to the prediction.
    fn mismatch(&self) -> Option<String> {
        let parts =
            || self.terms.iter().map(|term| finite(term.value)).chain([self.base, self.structure.unwrap_or(0.0)]);
        let (sum, size): (f64, f64) = (parts().map(finite).sum(), parts().map(|part| finite(part).abs()).sum());
        let gap = (sum - self.prediction).abs();
        (!gap.is_finite() || gap > 1e-5 * size.max(1.0)).then(|| {
            let prediction = text::number(self.prediction, 6);
            format!("Warning: these terms sum to {}, but the prediction is {prediction}.", text::number(sum, 6))
        })
    }
}

/// A scale over all steps; zero is shown unless it is so far away that the steps would vanish.
fn scale(rows: &[Step], from: f64, to: f64) -> Scale {
    let ends = rows.iter().flat_map(|row| if row.is_level() { [row.to, row.to] } else { [row.from, row.to] });
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let span = high - low;
    let far = low.max(-high).max(0.0);
    if far <= 2.0 * span || span == 0.0 {
        return Scale::with_zero([low, high], from, to);
    }
    Scale::between(low - 0.08 * span, high + 0.08 * span, from, to)
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value.clamp(-LARGEST, LARGEST) } else { 0.0 }
}
