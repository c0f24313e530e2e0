//! Curves over distance: the influence by distance (rho) and the structure term. One curve per class in one panel, or one
//! panel per feature with a shared y-axis; 95 % bands; "unreachable" stands apart at the right; below, how many receivers
//! have a source at that distance, and hatching where they are few.

use gnan::numbers::{count, counted};

use super::Estimate;
use crate::axis::{self, SMALL, Scale};
use crate::colour::{CLASS_COLOURS, Colour};
use crate::layout::{self, MARGIN};
use crate::scene::{Anchor, Element, Scene};
use crate::text;

/// What the figure shows.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceCurves {
    /// Title of the figure.
    pub title: String,
    /// Name and unit of the y-axis, for instance "influence (largest = 1)".
    pub unit: String,
    /// One curve per class, feature or group.
    pub curves: Vec<Curve>,
    /// One panel per feature instead of all curves in one (per class).
    pub panels: bool,
    /// The classes of the curves of a panel, which come one after the other; with one or none a panel has one curve.
    pub classes: Vec<String>,
    /// How many panels are drawn at most; the curves come in order of importance.
    pub most: usize,
    /// Number of receivers with a source at distance 0, 1, 2, ...
    pub receivers: Vec<u64>,
    /// Number of receivers with an unreachable source, where there are any.
    pub unreachable_receivers: Option<u64>,
    /// Fewer receivers than this are little support.
    pub enough: u64,
}

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The class, feature or group.
    pub name: String,
    /// Its value at distance 0, 1, 2, ...
    pub points: Vec<Estimate>,
    /// Its value for unreachable sources.
    pub unreachable: Option<Estimate>,
}

const STRIP: f64 = 22.0;
const LARGE: f64 = 230.0;
const SMALL_PANEL: f64 = 96.0;

impl DistanceCurves {
    /// Lays the figure out at a width in pixels.
    pub fn scene(&self, width: f64) -> Scene {
        let width = layout::figure_width(width);
        let mut elements = Vec::new();
        let mut y = layout::heading(&mut elements, &self.title, width);
        let together = self.classes.len().max(1);
        let features = self.curves.len() / together;
        let panels: Vec<Vec<usize>> = if self.panels {
            y = layout::legend(&mut elements, &self.classes, y, width);
            (0..features.min(self.most.max(1))).map(|k| (k * together..(k + 1) * together).collect()).collect()
        } else {
            let names: Vec<String> = self.curves.iter().map(|curve| curve.name.clone()).collect();
            y = layout::legend(&mut elements, &names, y, width);
            vec![(0..self.curves.len()).collect()]
        };
        let height = if self.panels { SMALL_PANEL } else { LARGE };
        let extent = panels.iter().flatten().flat_map(|&k| {
            let curve = &self.curves[k];
            curve.points.iter().chain(&curve.unreachable).flat_map(Estimate::extent)
        });
        let scale = Scale::with_zero(extent, height, 0.0);
        let ticks = axis::fitting_height(height);
        let left = MARGIN + 20.0 + scale.label_width(ticks);
        let least = if width < 520.0 { 160.0 } else { 190.0 };
        let columns = if self.panels { (((width - left) / least) as usize).clamp(1, panels.len().max(1)) } else { 1 };
        let gap = 16.0;
        let each = (width - left - MARGIN - gap * (columns - 1) as f64) / columns as f64;
        let title = if self.panels { 20.0 } else { 8.0 };
        let row_height = title + height + 16.0 + STRIP + if self.panels { 12.0 } else { 0.0 };
        let top = y;
        for (index, panel) in panels.iter().enumerate() {
            let (row, column) = (index / columns, index % columns);
            let x = left + column as f64 * (each + gap);
            let y = top + row as f64 * row_height + title;
            let places = Places::new(self, x, each);
            let scale = scale.onto(y + height, y);
            if self.panels {
                let name = &self.curves[panel[0]].name;
                elements.push(Element::name([x, y - 6.0], name, 12.0, 0.93 * each).bold());
            }
            elements.extend(self.background(&places, y, height));
            elements.extend(axis::vertical(&scale, x, x + each, ticks, column == 0));
            for series in 0..panel.len() {
                elements.push(Element::group(self.curve(panel, series, &places, &scale)).series(series));
            }
            elements.extend(self.strip(&places, y + height + 16.0, x, each));
        }
        let names_unreachable = Places::new(self, left, each).names_unreachable();
        let rows = panels.len().div_ceil(columns).max(1);
        let bottom = top + rows as f64 * row_height;
        let middle = if rows > 1 { top + title + 1.5 * row_height } else { top + title + height };
        elements.push(axis::vertical_unit(&self.unit, MARGIN + 6.0, top + title, middle.min(bottom)));
        elements.push(axis::horizontal_unit("distance (edges)", left, width - MARGIN, bottom + 14.0));
        let mut y = bottom + 20.0;
        if self.panels && features > panels.len() {
            let words =
                format!("and {} more curves of less important features, not drawn", count(features - panels.len()));
            y = layout::note(&mut elements, &words, y, width);
        }
        if self.unreachable_receivers.is_some() && !names_unreachable {
            y = layout::note(&mut elements, "∞: unreachable (no path).", y, width);
        }
        if self.has_bands() {
            y = layout::note(&mut elements, "Shaded: 95 % intervals.", y, width);
        }
        let largest = self.slots().map(|(_, receivers)| receivers).max().unwrap_or(0);
        let words = format!(
            "Grey bars: number of receivers with a source at that distance, up to {}.",
            count(largest as usize)
        );
        y = layout::note(&mut elements, &words, y, width);
        if self.slots().any(|(_, receivers)| receivers < self.enough) {
            let words = format!("fewer than {}: little support", counted(self.enough as usize, "receiver"));
            y = layout::key_of_hatching(&mut elements, &words, y, width);
        }
        let mut scene = Scene::new(width, y + MARGIN, text::one_line(&self.title));
        scene.description = format!("{} over distance, {}.", self.unit, counted(self.curves.len(), "curve"));
        scene.elements = elements;
        scene
    }

    fn has_bands(&self) -> bool {
        self.curves.iter().any(|curve| curve.points.iter().any(|point| point.interval().is_some()))
    }

    /// The slots with their receivers: distances, then "unreachable".
    fn slots(&self) -> impl Iterator<Item = (Option<usize>, u64)> + '_ {
        let distances = self.receivers.iter().enumerate().map(|(distance, &count)| (Some(distance), count));
        distances.chain(self.unreachable_receivers.map(|count| (None, count)))
    }

    fn receivers_at(&self, distance: Option<usize>) -> u64 {
        match distance {
            Some(distance) => self.receivers.get(distance).copied().unwrap_or(0),
            None => self.unreachable_receivers.unwrap_or(0),
        }
    }

    fn weak(&self, distance: Option<usize>) -> bool {
        self.receivers_at(distance) < self.enough
    }

    /// Hatching behind the slots with little support, and the break before "unreachable".
    fn background(&self, places: &Places, top: f64, height: f64) -> Vec<Element> {
        let mut elements = Vec::new();
        for distance in places.slots() {
            if self.weak(distance) {
                let x = places.at(distance) - 0.5 * places.step;
                let strip = Element::rectangle(x, top, places.step, height, Colour::Grid);
                elements.push(strip.hatch(Colour::Grid));
            }
        }
        if places.unreachable {
            let x = places.at(None) - 0.9 * places.step;
            elements.push(Element::line([x, top], [x, top + height]).stroke(Colour::Grid, 1.0).dashed(3.0, 3.0));
        }
        elements
    }

    /// The curve of one series of a panel.
    fn curve(&self, panel: &[usize], series: usize, places: &Places, scale: &Scale) -> Vec<Element> {
        let curve = &self.curves[panel[series]];
        let colour = Colour::Class(series);
        let mut elements = Vec::new();
        let place = |distance: usize, value: f64| [places.at(Some(distance)), scale.at(value)];
        for run in runs(&curve.points, |point| point.interval().is_some() && point.value.is_finite()) {
            let band = |pick: fn(super::Interval) -> f64| {
                run.clone().filter_map(move |d| Some(place(d, pick(curve.points[d].interval()?)))).collect::<Vec<_>>()
            };
            let mut points = band(|interval| interval.high);
            points.extend(band(|interval| interval.low).into_iter().rev());
            elements.push(Element::polygon(points, colour).opacity(0.16));
        }
        let dash = series / CLASS_COLOURS % 2 == 1;
        for distance in 1..curve.points.len() {
            let (from, to) = (curve.points[distance - 1].value, curve.points[distance].value);
            let mut line = Element::line(place(distance - 1, from), place(distance, to)).stroke(colour, 1.8);
            if dash {
                line = line.dashed(6.0, 3.0);
            }
            if self.weak(Some(distance)) {
                line = line.dashed(2.0, 3.0).opacity(0.6);
            }
            elements.push(line);
        }
        let radius = (0.16 * places.step).clamp(1.2, 3.5);
        let distances = curve.points.iter().enumerate().map(|(d, point)| (Some(d), point));
        for (distance, point) in distances.chain(curve.unreachable.iter().map(|point| (None, point))) {
            let [mut x, y] = [places.at(distance), scale.at(point.value)];
            if distance.is_none() {
                // Beside each other: no line leads to them that would tell them apart.
                let (all, wide) = (panel.len() as f64, 0.8 * places.step);
                x += (series as f64 - 0.5 * (all - 1.0)) * (wide / all).min(8.0);
            }
            if let (None, Some(interval)) = (distance, point.interval()) {
                let ends = [[x, scale.at(interval.low)], [x, scale.at(interval.high)]];
                elements.push(Element::line(ends[0], ends[1]).stroke(colour, 5.0).opacity(0.25));
            }
            let mut mark = Element::circle([x, y], radius, colour);
            if self.weak(distance) {
                mark = mark.fill(Colour::Surface).stroke(colour, 1.2);
            }
            let where_ = distance.map_or("unreachable".into(), |d| format!("distance {d}"));
            let receivers = counted(self.receivers_at(distance) as usize, "receiver");
            let mut name = text::one_line(&curve.name);
            if let (true, Some(class)) = (self.panels && panel.len() > 1, self.classes.get(series)) {
                name = format!("{name} ({})", text::one_line(class));
            }
            let words = point.words(&self.unit);
            // A wider field than the mark is easier to point at.
            let field = Element::circle([x, y], (0.45 * places.step).clamp(2.0, 8.0), Colour::Surface).opacity(0.0);
            let mark = Element::group(vec![mark, field]);
            elements.push(mark.tooltip(format!("{name}, {where_}\n{words}\n{receivers}")));
        }
        elements
    }

    /// Labels of distances and, below them, the number of receivers as bars.
    fn strip(&self, places: &Places, top: f64, x: f64, width: f64) -> Vec<Element> {
        let mut elements = Vec::new();
        let largest = self.slots().map(|(_, receivers)| receivers).max().unwrap_or(0).max(1);
        let every = (text::width("00", SMALL) + 6.0) / places.step;
        let every =
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0].into_iter().find(|&n| n >= every).unwrap_or(500.0) as usize;
        for distance in places.slots() {
            let at = places.at(distance);
            let label = match distance {
                Some(d) if d.is_multiple_of(every) => d.to_string(),
                Some(_) => String::new(),
                None if places.names_unreachable() => "unreachable".into(),
                None => "∞".into(),
            };
            if !label.is_empty() {
                let label = Element::text([at, top - 3.0], label).size(SMALL).fill(Colour::Muted);
                let label = label.anchor(Anchor::Middle);
                elements.push(if distance.is_none() { label.tooltip("unreachable: no path") } else { label });
            }
            let receivers = self.receivers_at(distance);
            let height = (STRIP - 6.0) * receivers as f64 / largest as f64;
            let wide = (0.7 * places.step).min(26.0);
            let bar = Element::rectangle(at - 0.5 * wide, top + STRIP - 4.0 - height, wide, height, Colour::Muted);
            let where_ = distance.map_or("unreachable".into(), |d| format!("distance {d}"));
            let bar = bar.opacity(0.45).tooltip(format!("{where_}: {}", counted(receivers as usize, "receiver")));
            elements.push(bar);
        }
        let base = top + STRIP - 4.0;
        elements.push(Element::line([x, base], [x + width, base]).stroke(Colour::Grid, 1.0));
        elements
    }
}

/// Where the distances stand on the x-axis: evenly, "unreachable" after a gap.
struct Places {
    first: f64,
    step: f64,
    distances: usize,
    unreachable: bool,
}

impl Places {
    fn new(figure: &DistanceCurves, left: f64, width: f64) -> Places {
        let points = figure.curves.iter().map(|curve| curve.points.len()).max().unwrap_or(0);
        let distances = points.max(figure.receivers.len()).max(1);
        let unreachable =
            figure.unreachable_receivers.is_some() || figure.curves.iter().any(|curve| curve.unreachable.is_some());
        let slots = distances as f64 + if unreachable { 1.8 } else { 0.0 };
        let step = width / slots;
        Places { first: left + 0.5 * step, step, distances, unreachable }
    }

    fn at(&self, distance: Option<usize>) -> f64 {
        let slot = distance.map_or(self.distances as f64 + 0.6, |distance| distance as f64);
        self.first + slot * self.step
    }

    /// Whether the word fits below its place; else a sign stands there.
    fn names_unreachable(&self) -> bool {
        self.step > 0.62 * text::width("unreachable", SMALL)
    }

    fn slots(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        (0..self.distances).map(Some).chain(self.unreachable.then_some(None))
    }
}

/// Ranges of at least two neighbours that all satisfy a condition.
fn runs<T>(items: &[T], condition: impl Fn(&T) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for end in 0..=items.len() {
        if end == items.len() || !condition(&items[end]) {
            if end >= start + 2 {
                runs.push(start..end);
            }
            start = end + 1;
        }
    }
    runs
}
