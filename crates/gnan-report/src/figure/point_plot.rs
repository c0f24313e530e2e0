//! Points in a plane, some with intervals, and the line on which they should lie: residuals, quantiles, calibration.

use gnan::numbers::count;

use super::table::{ESTIMATE, FigureCell, FigureTable, estimate_cells};
use super::{Estimate, FigureContent};
use crate::axis::{self, Scale};
use crate::colour::Colour;
use crate::layout::{self, MARGIN};
use crate::scene::{Element, Scene};
use crate::text;

/// The line on which points should lie, or around which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuideLine {
    /// Zero, at every place.
    Zero,
    /// Equal numbers across and up.
    Equal,
}

/// What the figure shows.
#[derive(Clone, Debug, PartialEq)]
pub struct PointPlot {
    /// Title of the figure.
    pub title: String,
    /// What is measured across.
    pub across: String,
    /// What is measured up.
    pub up: String,
    /// The points.
    pub points: Vec<PlotPoint>,
    /// Where they should lie.
    pub guide: GuideLine,
    /// How many points are drawn at most, evenly chosen from all.
    pub most: usize,
    /// Both axes show at least these numbers.
    pub least_range: Option<[f64; 2]>,
}

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotPoint {
    /// Its name.
    pub name: String,
    /// Where it is across.
    pub x: f64,
    /// Where it is, up, and its interval.
    pub y: Estimate,
}

/// The least and the largest of some numbers, with a little air.
fn range(values: impl Iterator<Item = f64>, least: Option<[f64; 2]>) -> [f64; 2] {
    let start = least.unwrap_or([f64::INFINITY, f64::NEG_INFINITY]);
    let [low, high] = values.fold(start, |[low, high], value| [low.min(value), high.max(value)]);
    if low > high {
        return [-1.0, 1.0];
    }
    // A constant has a range, too.
    let air = if high > low { 0.03 * (high - low) } else { 0.5 * high.abs().max(1.0) };
    [low - air, high + air]
}

impl FigureContent for PointPlot {
    fn scene(&self, width: f64) -> Scene {
        let width = layout::figure_width(width);
        let mut elements = Vec::new();
        let top = layout::heading(&mut elements, &self.title, width) + 4.0;
        let (side, height) = match self.guide {
            GuideLine::Equal => ((width - 90.0).min(420.0), (width - 90.0).min(420.0)),
            GuideLine::Zero => ((width - 90.0).min(640.0), 300.0),
        };
        let finite = |point: &&PlotPoint| point.x.is_finite() && point.y.value.is_finite();
        let known: Vec<&PlotPoint> = self.points.iter().filter(finite).collect();
        let every = known.len().div_ceil(self.most.max(1)).max(1);
        let xs = || known.iter().map(|point| point.x);
        let ys = || known.iter().flat_map(|point| point.y.extent());
        let (of_x, of_y) = match self.guide {
            GuideLine::Equal => (range(xs().chain(ys()), self.least_range), range(xs().chain(ys()), self.least_range)),
            GuideLine::Zero => (range(xs(), None), range(ys().chain([0.0]), None)),
        };
        let (left, bottom) = (MARGIN + 62.0, top + height);
        let across = Scale::between(of_x[0], of_x[1], left, left + side);
        let up = Scale::between(of_y[0], of_y[1], bottom, top);
        let ticks = axis::fitting_width(&across, side);
        elements.extend(axis::vertical(&up, left, left + side, axis::fitting_height(height).min(ticks.max(4)), true));
        elements.extend(axis::horizontal(&across, top, bottom, ticks));
        let guide = match self.guide {
            GuideLine::Zero => Element::line([left, up.at(0.0)], [left + side, up.at(0.0)]),
            GuideLine::Equal => {
                Element::line([across.at(of_x[0]), up.at(of_x[0])], [across.at(of_x[1]), up.at(of_x[1])])
            }
        };
        elements.push(guide.stroke(Colour::Muted, 1.0).dashed(4.0, 3.0));
        let has_intervals = known.iter().any(|point| point.y.interval().is_some());
        for point in known.iter().step_by(every) {
            let at = [across.at(point.x), up.at(point.y.value)];
            let words = format!(
                "{}\n{} {}\n{}",
                text::one_line(&point.name),
                text::one_line(&self.across),
                text::number(point.x, 4),
                point.y.words(&self.up)
            );
            if let Some(interval) = point.y.interval() {
                let ends = [up.at(interval.low), up.at(interval.high)].map(|y| [at[0], y]);
                elements.push(Element::line(ends[0], ends[1]).stroke(Colour::Class(0), 1.5));
            }
            let (radius, opacity) = if has_intervals { (4.0, 1.0) } else { (2.6, 0.55) };
            elements.push(Element::circle(at, radius, Colour::Class(0)).opacity(opacity).tooltip(words));
        }
        elements.push(axis::vertical_unit(&self.up, MARGIN + 10.0, top, bottom));
        elements.push(axis::horizontal_unit(&self.across, left, left + side, bottom + 32.0));
        let mut y = bottom + 38.0;
        if every > 1 {
            let words = format!("Every {every}th of {} points is drawn.", count(known.len()));
            y = layout::note(&mut elements, &words, y, width);
        }
        let mut scene = Scene::new(width, y + MARGIN, text::one_line(&self.title));
        scene.description = format!("{} points.", known.len());
        scene.elements = elements;
        scene
    }

    fn table(&self) -> FigureTable {
        let mut table = FigureTable::new(["item", self.across.as_str()].into_iter().chain(ESTIMATE));
        table.rows.extend(self.points.iter().map(|point| {
            let place: [FigureCell; 2] = [(&point.name).into(), FigureCell::Number(point.x)];
            place.into_iter().chain(estimate_cells(&point.y)).collect()
        }));
        table.without_empty_columns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Interval;

    #[test]
    fn odd_points_are_drawn_or_left_out() {
        let point = |x: f64, y: f64| PlotPoint { name: "<b>".to_owned(), x, y: y.into() };
        let estimate = Estimate { value: 0.5, interval: Some(Interval { low: 0.2, high: 0.9 }) };
        let with_interval = PlotPoint { name: "g".to_owned(), x: 0.4, y: estimate };
        for points in [
            vec![],
            vec![point(1.0, 1.0)],
            vec![point(f64::NAN, 1.0), point(0.0, 1e300), point(-2.0, 3.0)],
            vec![with_interval],
        ] {
            for guide in [GuideLine::Zero, GuideLine::Equal] {
                let drawn = points.iter().filter(|point| point.x.is_finite()).count();
                let [title, across, up] = ["t", "a", "u"].map(str::to_owned);
                let plot = PointPlot { title, across, up, points: points.clone(), guide, most: 10, least_range: None };
                let svg = plot.scene(500.0).svg();
                assert_eq!(svg.matches("<circle").count(), drawn);
                assert!(!svg.contains("NaN") && !svg.contains("<b>"));
                assert_eq!(plot.table().rows.len(), points.len());
            }
        }
    }
}
