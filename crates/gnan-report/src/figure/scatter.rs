//! Predicted against measured: one point per item, and the line on which all would lie if every prediction were right.

use crate::axis::{self, Scale};
use crate::colour::Colour;
use crate::layout::{self, MARGIN};
use crate::scene::{Element, Scene};
use crate::text;

/// What the figure shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// Title of the figure.
    pub title: String,
    /// The quantity and its unit.
    pub unit: String,
    /// The items.
    pub items: Vec<Item>,
    /// How many items are drawn at most, evenly chosen from all.
    pub most: usize,
}

/// One item.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its id.
    pub name: String,
    /// What was measured.
    pub measured: f64,
    /// What was predicted.
    pub predicted: f64,
}

impl Scatter {
    /// Lays the figure out at a width in pixels.
    pub fn scene(&self, width: f64) -> Scene {
        let width = layout::figure_width(width);
        let side = (width - 90.0).min(420.0);
        let mut elements = Vec::new();
        let top = layout::heading(&mut elements, &self.title, width) + 4.0;
        let finite = |item: &&Item| item.measured.is_finite() && item.predicted.is_finite();
        let known: Vec<&Item> = self.items.iter().filter(finite).collect();
        let every = known.len().div_ceil(self.most.max(1)).max(1);
        let values = || known.iter().flat_map(|item| [item.measured, item.predicted]);
        let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let air = 0.03 * (high - low);
        let (left, bottom) = (MARGIN + 62.0, top + side);
        let across = Scale::between(low - air, high + air, left, left + side);
        let up = across.onto(bottom, top);
        let ticks = axis::fitting(side, 64.0);
        elements.extend(axis::vertical(&up, left, left + side, ticks, true));
        elements.extend(axis::horizontal(&across, top, bottom, ticks));
        let right = Element::line([across.at(low), up.at(low)], [across.at(high), up.at(high)]);
        if !known.is_empty() {
            elements.push(right.stroke(Colour::Muted, 1.0).dashed(4.0, 3.0));
        }
        for item in known.iter().step_by(every) {
            let at = [across.at(item.measured), up.at(item.predicted)];
            let (measured, predicted) = (text::number(item.measured, 4), text::number(item.predicted, 4));
            let words = format!("{}\nmeasured {measured}\npredicted {predicted}", text::one_line(&item.name));
            elements.push(Element::circle(at, 2.6, Colour::Class(0)).opacity(0.55).tooltip(words));
        }
        elements.push(axis::vertical_unit(&format!("predicted {}", self.unit), MARGIN + 10.0, top, bottom));
        elements.push(axis::horizontal_unit(&format!("measured {}", self.unit), left, left + side, bottom + 32.0));
        let mut y = bottom + 38.0;
        if every > 1 {
            let words = format!("One of {every} of {} items is drawn.", text::count(known.len() as u64));
            y = layout::note(&mut elements, &words, y, width);
        }
        let mut scene = Scene::new(width, y + MARGIN, text::one_line(&self.title));
        scene.description = format!("{} items, predicted against measured.", known.len());
        scene.elements = elements;
        scene
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_items_are_drawn_or_left_out() {
        let item = |measured, predicted| Item { name: "<b>".to_owned(), measured, predicted };
        for items in [vec![], vec![item(1.0, 1.0)], vec![item(f64::NAN, 1.0), item(0.0, 1e300), item(-2.0, 3.0)]] {
            let drawn = items.iter().filter(|item| item.measured.is_finite()).count();
            let figure = Scatter { title: "t".to_owned(), unit: "u".to_owned(), items, most: 10 };
            let svg = figure.scene(500.0).svg();
            assert_eq!(svg.matches("<circle").count(), drawn);
            assert!(!svg.contains("NaN") && !svg.contains("<b>"));
        }
    }
}
