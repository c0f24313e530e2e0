//! Predicted against actual: one point per item, and the line on which all would lie if every prediction were right.

use gnan::numbers::count;

use super::FigureContent;
use super::table::{FigureCell, FigureTable};
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
    pub items: Vec<ScatterPoint>,
    /// How many items are drawn at most, evenly chosen from all.
    pub most: usize,
}

/// One item as a point.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPoint {
    /// Its id.
    pub name: String,
    /// The actual value.
    pub actual: f64,
    /// The predicted value.
    pub predicted: f64,
}

impl FigureContent for Scatter {
    fn scene(&self, width: f64) -> Scene {
        let width = layout::figure_width(width);
        let side = (width - 90.0).min(420.0);
        let mut elements = Vec::new();
        let top = layout::heading(&mut elements, &self.title, width) + 4.0;
        let finite = |item: &&ScatterPoint| item.actual.is_finite() && item.predicted.is_finite();
        let known: Vec<&ScatterPoint> = self.items.iter().filter(finite).collect();
        let every = known.len().div_ceil(self.most.max(1)).max(1);
        let values = || known.iter().flat_map(|item| [item.actual, item.predicted]);
        let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let air = 0.03 * (high - low);
        let (left, bottom) = (MARGIN + 62.0, top + side);
        let across = Scale::between(low - air, high + air, left, left + side);
        let up = across.onto(bottom, top);
        let ticks = axis::fitting_width(&across, side);
        elements.extend(axis::vertical(&up, left, left + side, ticks, true));
        elements.extend(axis::horizontal(&across, top, bottom, ticks));
        let right = Element::line([across.at(low), up.at(low)], [across.at(high), up.at(high)]);
        if !known.is_empty() {
            elements.push(right.stroke(Colour::Muted, 1.0).dashed(4.0, 3.0));
        }
        for item in known.iter().step_by(every) {
            let at = [across.at(item.actual), up.at(item.predicted)];
            let (actual, predicted) = (text::number(item.actual, 4), text::number(item.predicted, 4));
            let words = format!("{}\nactual {actual}\npredicted {predicted}", text::one_line(&item.name));
            elements.push(Element::circle(at, 2.6, Colour::Class(0)).opacity(0.55).tooltip(words));
        }
        elements.push(axis::vertical_unit(&format!("predicted {}", self.unit), MARGIN + 10.0, top, bottom));
        elements.push(axis::horizontal_unit(&format!("actual {}", self.unit), left, left + side, bottom + 32.0));
        let mut y = bottom + 38.0;
        if every > 1 {
            let words = format!("Every {every}th of {} items is drawn.", count(known.len()));
            y = layout::note(&mut elements, &words, y, width);
        }
        let mut scene = Scene::new(width, y + MARGIN, text::one_line(&self.title));
        scene.description = format!("{} items, predicted against actual.", known.len());
        scene.elements = elements;
        scene
    }

    fn table(&self) -> FigureTable {
        let mut table = FigureTable::new(["item", "actual", "predicted"]);
        table.rows.extend(self.items.iter().map(|item| {
            vec![(&item.name).into(), FigureCell::Number(item.actual), FigureCell::Number(item.predicted)]
        }));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_items_are_drawn_or_left_out() {
        let item = |actual, predicted| ScatterPoint { name: "<b>".to_owned(), actual, predicted };
        for items in [vec![], vec![item(1.0, 1.0)], vec![item(f64::NAN, 1.0), item(0.0, 1e300), item(-2.0, 3.0)]] {
            let drawn = items.iter().filter(|item| item.actual.is_finite()).count();
            let figure = Scatter { title: "t".to_owned(), unit: "u".to_owned(), items, most: 10 };
            let svg = figure.scene(500.0).svg();
            assert_eq!(svg.matches("<circle").count(), drawn);
            assert!(!svg.contains("NaN") && !svg.contains("<b>"));
        }
    }
}
