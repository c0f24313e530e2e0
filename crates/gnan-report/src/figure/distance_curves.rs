//! Curves over distance: the influence by distance (rho) and the structure term. One curve per class in one panel, or one
//! panel per feature or way of measuring distance with a shared y-axis; 95 % bands; "unreachable" stands apart at the right;
//! below every panel, how many receivers have a source at that distance, and hatching where their items are few.

use gnan::numbers::{count, counted};

use super::table::{ESTIMATE, FigureCell, FigureTable, estimate_cells};
use super::{CUT_OFF, Estimate, FigureContent, Support, cut_mark, hatching_words, supported_extent};
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
    /// Name and unit of the y-axis, for instance "influence".
    pub unit: String,
    /// One panel, or one per feature, level or way of measuring distance, on one y-axis, in order of importance.
    pub panels: Vec<DistancePanel>,
    /// The names of the curves of every panel (classes); with one or none a panel has one curve.
    pub series: Vec<String>,
    /// How many panels are drawn at most.
    pub most: usize,
    /// What items are, for instance "graph".
    pub items: String,
}

/// One panel.
#[derive(Clone, Debug, PartialEq)]
pub struct DistancePanel {
    /// What its curves belong to; may be empty for a single panel.
    pub name: String,
    /// A curve per series.
    pub curves: Vec<Curve>,
    /// The support of distance 0, 1, 2, ...: receivers with a source there (as nodes) and their items.
    pub support: Vec<Support>,
    /// The support of unreachable sources, where there are any.
    pub unreachable: Option<Support>,
}

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its value at distance 0, 1, 2, ...
    pub points: Vec<Estimate>,
    /// Its value for unreachable sources.
    pub unreachable: Option<Estimate>,
}

impl DistancePanel {
    fn support_at(&self, distance: Option<usize>) -> Support {
        match distance {
            Some(distance) => self.support.get(distance).copied().unwrap_or_default(),
            None => self.unreachable.unwrap_or_default(),
        }
    }

    fn is_weak(&self, distance: Option<usize>) -> bool {
        self.support_at(distance).is_little()
    }

    /// Every number of its curves, and whether it has little support.
    fn numbers(&self) -> impl Iterator<Item = (f64, bool)> + '_ {
        self.curves.iter().flat_map(Curve::estimates).flat_map(|(distance, estimate)| {
            let weak = self.is_weak(distance);
            estimate.extent().map(move |number| (number, weak))
        })
    }

    /// Its support, distance by distance.
    fn supports(&self) -> impl Iterator<Item = Support> + '_ {
        self.support.iter().copied().chain(self.unreachable)
    }
}

impl Curve {
    /// Its values by distance, "unreachable" last.
    fn estimates(&self) -> impl Iterator<Item = (Option<usize>, &Estimate)> {
        let distances = self.points.iter().enumerate().map(|(distance, point)| (Some(distance), point));
        distances.chain(self.unreachable.iter().map(|point| (None, point)))
    }
}

/// "distance 3", or "unreachable".
fn place_words(distance: Option<usize>) -> String {
    distance.map_or("unreachable".into(), |distance| format!("distance {distance}"))
}

const STRIP: f64 = 22.0;
const LARGE: f64 = 230.0;
const SMALL_PANEL: f64 = 96.0;

impl FigureContent for DistanceCurves {
    fn scene(&self, width: f64) -> Scene {
        let width = layout::figure_width(width);
        let mut elements = Vec::new();
        let mut y = layout::heading(&mut elements, &self.title, width);
        y = layout::legend(&mut elements, &self.series, y, width);
        let panels = &self.panels[..self.panels.len().min(self.most.max(1))];
        let several = panels.len() > 1;
        let height = if several { SMALL_PANEL } else { LARGE };
        let extent = supported_extent(panels.iter().flat_map(DistancePanel::numbers));
        let scale = Scale::with_zero(extent, height, 0.0);
        let ticks = axis::fitting_height(height);
        let left = MARGIN + 20.0 + scale.label_width(ticks);
        let least = if width < 520.0 { 160.0 } else { 190.0 };
        let columns = (((width - left) / least) as usize).clamp(1, panels.len().max(1));
        let gap = 16.0;
        let each = (width - left - MARGIN - gap * (columns - 1) as f64) / columns as f64;
        let named = panels.iter().any(|panel| !panel.name.is_empty());
        let title = if named { 20.0 } else { 8.0 };
        let row_height = title + height + 16.0 + STRIP + if several { 12.0 } else { 0.0 };
        let top = y;
        for (index, panel) in panels.iter().enumerate() {
            let (row, column) = (index / columns, index % columns);
            let x = left + column as f64 * (each + gap);
            let y = top + row as f64 * row_height + title;
            let places = Places::new(panels, x, each);
            let scale = scale.onto(y + height, y);
            if !panel.name.is_empty() {
                elements.push(Element::name([x, y - 6.0], &panel.name, 12.0, 0.93 * each).bold());
            }
            elements.extend(background(panel, &places, y, height));
            elements.extend(axis::vertical(&scale, x, x + each, ticks, column == 0));
            for series in 0..panel.curves.len() {
                let curve = self.curve(panel, series, &places, &scale, [y, y + height]);
                elements.push(Element::group(curve).series(series));
            }
            elements.extend(self.strip(panel, &places, y + height + 16.0, x, each));
        }
        let names_unreachable = Places::new(panels, left, each).names_unreachable();
        let rows = panels.len().div_ceil(columns).max(1);
        let bottom = top + rows as f64 * row_height;
        let middle = if rows > 1 { top + title + 1.5 * row_height } else { top + title + height };
        elements.push(axis::vertical_unit(&self.unit, MARGIN + 6.0, top + title, middle.min(bottom)));
        elements.push(axis::horizontal_unit("distance (edges)", left, width - MARGIN, bottom + 14.0));
        let mut y = bottom + 20.0;
        if self.panels.len() > panels.len() {
            let more = count(self.panels.len() - panels.len());
            y = layout::note(&mut elements, &format!("and {more} more of less importance, not drawn"), y, width);
        }
        if panels.iter().any(|panel| panel.unreachable.is_some()) && !names_unreachable {
            y = layout::note(&mut elements, "∞: unreachable (no path).", y, width);
        }
        let points = || panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
        if points().any(|point| point.interval().is_some()) {
            y = layout::note(&mut elements, "Shaded: 95 % intervals.", y, width);
        }
        let largest = panels.iter().flat_map(DistancePanel::supports).map(|support| support.nodes).max().unwrap_or(0);
        let words = format!(
            "Grey bars: number of receivers with a source at that distance, up to {}.",
            count(largest as usize)
        );
        y = layout::note(&mut elements, &words, y, width);
        if panels.iter().flat_map(DistancePanel::supports).any(|support| support.is_little()) {
            y = layout::key_of_hatching(&mut elements, &hatching_words(&self.items), y, width);
        }
        if panels.iter().flat_map(DistancePanel::numbers).any(|(number, _)| !scale.holds(number)) {
            y = layout::note(&mut elements, CUT_OFF, y, width);
        }
        let mut scene = Scene::new(width, y + MARGIN, text::one_line(&self.title));
        scene.description = format!("{} over distance, {}.", self.unit, counted(self.panels.len(), "panel"));
        scene.elements = elements;
        scene
    }

    fn table(&self) -> FigureTable {
        let header = ["of", "output", "distance"].into_iter().chain(ESTIMATE).chain(["items", "receivers"]);
        let mut table = FigureTable::new(header);
        for panel in &self.panels {
            for (series, curve) in panel.curves.iter().enumerate() {
                let output = self.series.get(series).filter(|_| self.series.len() > 1).map_or("", String::as_str);
                for (distance, estimate) in curve.estimates().filter(|(_, estimate)| estimate.value.is_finite()) {
                    let place = distance.map_or("unreachable".to_owned(), |distance| distance.to_string());
                    let support = panel.support_at(distance);
                    let mut row = vec![(&panel.name).into(), output.into(), (&place).into()];
                    row.extend(estimate_cells(estimate));
                    row.extend([support.items, support.nodes].map(FigureCell::Count));
                    table.rows.push(row);
                }
            }
        }
        table.without_empty_columns()
    }
}

/// Hatching behind the slots with little support, and the break before "unreachable".
fn background(panel: &DistancePanel, places: &Places, top: f64, height: f64) -> Vec<Element> {
    let mut elements = Vec::new();
    for distance in places.slots() {
        if panel.is_weak(distance) {
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

impl DistanceCurves {
    /// The curve of one series of a panel between its upper and its lower edge.
    fn curve(
        &self,
        panel: &DistancePanel,
        series: usize,
        places: &Places,
        scale: &Scale,
        [top, bottom]: [f64; 2],
    ) -> Vec<Element> {
        let curve = &panel.curves[series];
        let colour = Colour::Class(series);
        let mut elements = Vec::new();
        let place = |distance: usize, value: f64| [places.at(Some(distance)), value];
        for run in runs(&curve.points, |point| point.interval().is_some() && point.value.is_finite()) {
            let band = |pick: fn(super::Interval) -> f64| {
                run.clone().filter_map(move |d| Some(place(d, pick(curve.points[d].interval()?)))).collect::<Vec<_>>()
            };
            let mut points = scale.edge(&band(|interval| interval.high));
            points.extend(scale.edge(&band(|interval| interval.low)).into_iter().rev());
            elements.push(Element::polygon(points, colour).opacity(0.16));
        }
        let dash = series / CLASS_COLOURS % 2 == 1;
        for distance in 1..curve.points.len() {
            let (from, to) = (curve.points[distance - 1].value, curve.points[distance].value);
            for part in scale.visible(&[place(distance - 1, from), place(distance, to)]) {
                let mut line = Element::polyline(part).stroke(colour, 1.8);
                if dash {
                    line = line.dashed(6.0, 3.0);
                }
                if panel.is_weak(Some(distance)) {
                    line = line.dashed(2.0, 3.0).opacity(0.6);
                }
                elements.push(line);
            }
        }
        let radius = (0.16 * places.step).clamp(1.2, 3.5);
        for (distance, point) in curve.estimates() {
            let [mut x, y] = [places.at(distance), scale.at(point.value)];
            if distance.is_none() {
                // Beside each other: no line leads to them that would tell them apart.
                let (all, wide) = (panel.curves.len() as f64, 0.8 * places.step);
                x += (series as f64 - 0.5 * (all - 1.0)) * (wide / all).min(8.0);
            }
            if let (None, Some(interval)) = (distance, point.interval()) {
                let ends = [[x, scale.at(interval.low)], [x, scale.at(interval.high)]];
                elements.push(Element::line(ends[0], ends[1]).stroke(colour, 5.0).opacity(0.25));
            }
            let words = self.words(panel, series, distance, point);
            if point.value.is_finite() && !scale.holds(point.value) {
                let up = point.value > 0.0;
                elements.push(cut_mark([x, if up { top } else { bottom }], up, words));
                continue;
            }
            let mut mark = Element::circle([x, y], radius, colour);
            if panel.is_weak(distance) {
                mark = mark.fill(Colour::Surface).stroke(colour, 1.2);
            }
            // A wider field than the mark is easier to point at.
            let field = Element::circle([x, y], (0.45 * places.step).clamp(2.0, 8.0), Colour::Surface).opacity(0.0);
            elements.push(Element::group(vec![mark, field]).tooltip(words));
        }
        elements
    }

    /// A point in words.
    fn words(&self, panel: &DistancePanel, series: usize, distance: Option<usize>, point: &Estimate) -> String {
        let class = self.series.get(series).filter(|_| self.series.len() > 1).map(|name| text::one_line(name));
        let mut name = if panel.name.is_empty() { String::new() } else { text::one_line(&panel.name) };
        match class {
            Some(class) if name.is_empty() => name = class,
            Some(class) => name += &format!(" ({class})"),
            None => {}
        }
        let name = if name.is_empty() { name } else { format!("{name}, ") };
        let support = receiver_words(panel.support_at(distance), &self.items);
        format!("{name}{}\n{}\n{support}", place_words(distance), point.words(&self.unit))
    }

    /// Labels of distances and, below them, the number of receivers as bars.
    fn strip(&self, panel: &DistancePanel, places: &Places, top: f64, x: f64, width: f64) -> Vec<Element> {
        let mut elements = Vec::new();
        let largest = panel.supports().map(|support| support.nodes).max().unwrap_or(0).max(1);
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
            let support = panel.support_at(distance);
            let height = (STRIP - 6.0) * support.nodes as f64 / largest as f64;
            let wide = (0.7 * places.step).min(26.0);
            let bar = Element::rectangle(at - 0.5 * wide, top + STRIP - 4.0 - height, wide, height, Colour::Muted);
            let words = format!("{}: {}", place_words(distance), receiver_words(support, &self.items));
            elements.push(bar.opacity(0.45).tooltip(words));
        }
        let base = top + STRIP - 4.0;
        elements.push(Element::line([x, base], [x + width, base]).stroke(Colour::Grid, 1.0));
        elements
    }
}

/// How many receivers have a source at a distance, and how many items they belong to.
fn receiver_words(support: Support, items: &str) -> String {
    let receivers = counted(support.nodes as usize, "receiver");
    match support.items == support.nodes {
        true => receivers,
        false => format!("{receivers} in {}", counted(support.items as usize, items)),
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
    /// The same places in all panels.
    fn new(panels: &[DistancePanel], left: f64, width: f64) -> Places {
        let curves = || panels.iter().flat_map(|panel| &panel.curves);
        let points = curves().map(|curve| curve.points.len());
        let distances = points.chain(panels.iter().map(|panel| panel.support.len())).max().unwrap_or(0).max(1);
        let unreachable =
            panels.iter().any(|panel| panel.unreachable.is_some()) || curves().any(|curve| curve.unreachable.is_some());
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
