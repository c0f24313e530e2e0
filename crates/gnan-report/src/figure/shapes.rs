//! The shape functions: the effect of every value of a feature. Continuous features are exact curves over a strip that
//! shows where the data are, features with few levels are bars, all in small panels with one y-axis; binary features share one
//! block of bars, and a feature with many levels gets one of its own. All classes stand together under one legend.

use gnan::numbers::counted;

use super::bars::{BarRow, Bars};
use super::curve_panel::{CurvePanel, STRIP, band_through, known_at, through};
use super::table::{FigureTable, SUPPORT, estimate_cells, support_cells};
use super::{
    Bin, CUT_OFF, Estimate, FigureContent, Interval, Support, cut_mark, hatching_words, support_words, supported_extent,
};
use crate::axis::{self, SMALL, Scale};
use crate::colour::Colour;
use crate::layout::{self, MARGIN};
use crate::scene::{Anchor, Element, Scene};
use crate::text;

/// What the figure shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shapes {
    /// Title of the figure.
    pub title: String,
    /// Name and unit of the shared y-axis, for instance "effect (log-odds)".
    pub unit: String,
    /// Names of the outputs (classes); with one or none, colours show the sign.
    pub outputs: Vec<String>,
    /// The features, most important first.
    pub features: Vec<ShapeFunction>,
    /// How many features are shown at most, and how many levels of one feature.
    pub most: usize,
    /// What items are, for instance "graph".
    pub items: String,
}

/// The shape function of one feature.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeFunction {
    /// The feature.
    pub name: String,
    /// Unit of its values; may be empty.
    pub unit: String,
    /// Whether its values are counts: whole numbers from 0 on.
    pub counts: bool,
    /// Whether its values are whole numbers.
    pub whole: bool,
    /// The function.
    pub form: Form,
}

/// What kind of function it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Present or absent: the value at 1, relative to 0.
    Binary(Level),
    /// One value per level.
    Levels(Vec<Level>),
    /// A curve.
    Curve {
        /// The knots `[x, f(x)]` of each output, x rising, the ends of the data included: straight lines between
        /// them are exact.
        knots: Vec<Vec<[f64; 2]>>,
        /// The 95 % band of each output at given x, rising; may be empty.
        bands: Vec<Vec<(f64, Interval)>>,
        /// Where the data are.
        bins: Vec<Bin>,
        /// The effect of a missing value, where some are missing.
        missing: Option<Level>,
    },
}

/// One level of a feature.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// Its value for each output.
    pub values: Vec<Estimate>,
    /// Its support in training.
    pub support: Support,
}

const PANEL: f64 = 130.0;

/// Room for the bar of missing values beside a curve.
const MISSING: f64 = 60.0;

impl FigureContent for Shapes {
    fn scene(&self, width: f64) -> Scene {
        let width = layout::figure_width(width);
        let mut elements = Vec::new();
        let y = layout::heading(&mut elements, &self.title, width);
        let y = layout::legend(&mut elements, &self.outputs, y, width);
        let shown = &self.features[..self.features.len().min(self.most.max(1))];
        let extent = supported_extent(shown.iter().flat_map(|feature| feature.form.numbers()));
        let binary = shown.iter().filter_map(|feature| match &feature.form {
            Form::Binary(level) => Some(self.row(feature.name.clone(), level)),
            _ => None,
        });
        let binary: Vec<BarRow> = binary.collect();
        let (panels, blocks): (Vec<&ShapeFunction>, Vec<&ShapeFunction>) = shown
            .iter()
            .filter(|feature| !matches!(feature.form, Form::Binary(_)))
            .partition(|feature| match &feature.form {
                Form::Levels(levels) => self.fits_a_panel(levels),
                _ => true,
            });
        let mut y = self.panels(&mut elements, &panels, &extent, y, width);
        let mut block = |title: &str, rows: Vec<BarRow>, y: f64| {
            let names = layout::names_room(rows.iter().map(|row| row.name.as_str()), 0.36 * width);
            let bars = Bars { outputs: &self.outputs, unit: &self.unit, extent: extent.clone(), names };
            elements.push(Element::name([MARGIN, y + 12.0], title, 12.0, 0.9 * width).bold());
            bars.draw(&mut elements, &rows, y + 18.0, width) + 8.0
        };
        if !binary.is_empty() {
            y = block("Binary features: value 1 against 0", binary, y);
        }
        for feature in blocks {
            if let Form::Levels(levels) = &feature.form {
                let (rows, hidden) = self.sorted_rows(levels);
                let mut title = with_unit(&feature.name, &feature.unit);
                if hidden > 0 {
                    title += &format!(", strongest {} of {} levels", rows.len(), levels.len());
                }
                y = block(&title, rows, y);
            }
        }
        let hidden = self.features.len() - shown.len();
        if hidden > 0 {
            let words = format!("and {}, not drawn", counted(hidden, "weaker feature"));
            y = layout::note(&mut elements, &words, y - 4.0, width);
        }
        y = self.notes(&mut elements, shown, &extent, y, width);
        let mut scene = Scene::new(width, y + MARGIN, text::one_line(&self.title));
        scene.description = format!("{} of {}.", self.unit, counted(self.features.len(), "feature"));
        scene.elements = elements;
        scene
    }

    fn table(&self) -> FigureTable {
        let header = ["feature", "value", "output"].into_iter().chain(["effect", "95 % from", "to"]).chain(SUPPORT);
        let mut table = FigureTable::new(header);
        for feature in &self.features {
            let mut add = |value: String, series: usize, estimate: &Estimate, support: Support| {
                let output = self.outputs.get(series).filter(|_| self.outputs.len() > 1).map_or("", String::as_str);
                let place = [(&feature.name).into(), (&value).into(), output.into()];
                let numbers = estimate_cells(estimate).into_iter().chain(support_cells(support));
                table.rows.push(place.into_iter().chain(numbers).collect());
            };
            let levels: &[Level] = match &feature.form {
                Form::Binary(level) => std::slice::from_ref(level),
                Form::Levels(levels) => levels,
                Form::Curve { knots, bands, bins, missing } => {
                    for (series, knots) in knots.iter().enumerate() {
                        let curve = through(knots);
                        let band = bands.get(series).map(|band| band_through(band));
                        for bin in bins {
                            let Some(value) = known_at(&curve, bin.centre()) else { continue };
                            let ends = band.as_ref().and_then(|band| known_at(band, bin.centre()));
                            let interval = ends.map(|ends| Interval { low: ends[0], high: ends[1] });
                            let name = feature.range_words(bin);
                            add(name, series, &Estimate { value: value[0], interval }, bin.support);
                        }
                    }
                    missing.as_slice()
                }
            };
            for level in levels {
                for (series, estimate) in level.values.iter().enumerate() {
                    add(level.name.clone(), series, estimate, level.support);
                }
            }
        }
        table.without_empty_columns()
    }
}

impl ShapeFunction {
    /// The values of a bin: "3", "0.5 to 1", "2024-01-01 to 2024-02-01".
    pub(crate) fn range_words(&self, bin: &Bin) -> String {
        let largest = match &self.form {
            Form::Curve { knots, .. } => knots.first().and_then(|knots| knots.last()).map(|[x, _]| *x),
            _ => None,
        };
        let ends = text::bin_values(bin, self.whole, largest);
        let [from, to] = ends.map(|value| self.value_words(value));
        if ends[0] == ends[1] { from } else { format!("{from} to {to}") }
    }

    /// A value of the feature.
    pub(crate) fn value_words(&self, value: f64) -> String {
        text::value(value, Some(&self.unit))
    }
}

impl Shapes {
    fn notes(&self, elements: &mut Vec<Element>, shown: &[ShapeFunction], extent: &[f64], y: f64, width: f64) -> f64 {
        let mut y = y - 4.0;
        let strips = shown.iter().any(|feature| matches!(&feature.form, Form::Curve { bins, .. } if !bins.is_empty()));
        if strips {
            y = layout::note(elements, "Grey under a curve: number of nodes with such a value (density).", y, width);
        }
        if shown.iter().any(|feature| feature.form.has_intervals()) {
            y = layout::note(elements, "Shaded areas and lines over bars: 95 % intervals.", y, width);
        }
        if shown.iter().any(|feature| feature.form.supports().any(|support| support.is_little())) {
            y = layout::key_of_hatching(elements, &hatching_words(&self.items), y, width);
        }
        let scale = Scale::with_zero(extent.iter().copied(), PANEL, 0.0);
        let curves = shown.iter().filter(|feature| matches!(feature.form, Form::Curve { .. }));
        if curves.flat_map(|feature| feature.form.numbers()).any(|(number, _)| !scale.holds(number)) {
            y = layout::note(elements, CUT_OFF, y, width);
        }
        y
    }

    fn row(&self, name: String, level: &Level) -> BarRow {
        let (support, weak) = (support_words(level.support, &self.items), level.support.is_little());
        BarRow { name, values: level.values.clone(), support, weak, rest: false }
    }

    /// The levels with the largest values first, and how many are left out.
    fn sorted_rows(&self, levels: &[Level]) -> (Vec<BarRow>, usize) {
        let size = |level: &Level| {
            level.values.iter().map(|value| value.value.abs()).filter(|value| value.is_finite()).fold(0.0, f64::max)
        };
        let signed = |level: &Level| level.values.first().map_or(0.0, |value| value.value);
        let mut order: Vec<&Level> = levels.iter().collect();
        order.sort_by(|a, b| size(b).total_cmp(&size(a)));
        order.truncate(self.most.max(1));
        if self.outputs.len() < 2 {
            order.sort_by(|a, b| signed(b).total_cmp(&signed(a)));
        }
        (order.iter().map(|level| self.row(level.name.clone(), level)).collect(), levels.len() - order.len())
    }

    /// Few enough bars with short enough names for a small panel.
    fn fits_a_panel(&self, levels: &[Level]) -> bool {
        let bars = levels.len() * self.outputs.len().max(1);
        let names: f64 = levels.iter().map(|level| text::width(&text::one_line(&level.name), SMALL) + 6.0).sum();
        bars <= 21 && levels.len() <= 6 && names <= 150.0
    }

    fn panels(&self, out: &mut Vec<Element>, panels: &[&ShapeFunction], extent: &[f64], y: f64, width: f64) -> f64 {
        if panels.is_empty() {
            return y;
        }
        let scale = Scale::with_zero(extent.iter().copied(), PANEL, 0.0);
        let ticks = axis::fitting_height(PANEL);
        let left = MARGIN + 20.0 + scale.label_width(ticks);
        let gap = 18.0;
        let least = if width < 520.0 { 145.0 } else { 200.0 };
        let columns = (((width - left - MARGIN + gap) / (least + gap)) as usize).clamp(1, panels.len());
        let each = ((width - left - MARGIN - gap * (columns - 1) as f64) / columns as f64).min(420.0);
        let height = 22.0 + PANEL + STRIP + 44.0;
        for (index, feature) in panels.iter().enumerate() {
            let (row, column) = (index / columns, index % columns);
            let x = left + column as f64 * (each + gap);
            let top = y + row as f64 * height + 22.0;
            let scale = scale.onto(top + PANEL, top);
            out.push(Element::name([x, top - 8.0], &feature.name, 12.0, 0.93 * each).bold());
            if column == 0 {
                out.push(axis::vertical_unit(&self.unit, MARGIN + 6.0, top, top + PANEL));
            }
            match &feature.form {
                Form::Curve { knots, bands, bins, missing } => {
                    let (left, width, height) = (x, each, PANEL);
                    out.extend(axis::vertical(&scale, left, left + width, ticks, column == 0));
                    let apart = if missing.is_some() { MISSING } else { 0.0 };
                    let width = width - apart;
                    let panel = CurvePanel { shapes: self, feature, knots, bands, bins, left, width, top, height };
                    panel.draw(out, &scale);
                    if let Some(missing) = missing {
                        let line = Element::line([left + width + 6.0, top], [left + width + 6.0, top + height]);
                        out.push(line.stroke(Colour::Grid, 1.0).dashed(3.0, 3.0));
                        let levels = std::slice::from_ref(missing);
                        let place = [left + width + 10.0, apart - 10.0, top];
                        self.level_bars(out, feature, levels, &scale, place, STRIP + 16.0);
                    }
                }
                Form::Levels(levels) => {
                    out.extend(axis::vertical(&scale, x, x + each, ticks, column == 0));
                    self.level_bars(out, feature, levels, &scale, [x, each, top], 15.0);
                    if !feature.unit.is_empty() {
                        out.push(axis::horizontal_unit(&feature.unit, x, x + each, top + PANEL + 31.0));
                    }
                }
                Form::Binary(_) => {}
            }
        }
        y + panels.len().div_ceil(columns) as f64 * height + 6.0
    }

    /// Vertical bars of levels in a place: left, width and top; their names `below` the panel.
    fn level_bars(
        &self,
        out: &mut Vec<Element>,
        feature: &ShapeFunction,
        levels: &[Level],
        scale: &Scale,
        [x, each, top]: [f64; 3],
        below: f64,
    ) {
        let outputs = self.outputs.len().max(1);
        let slot = (each / levels.len().max(1) as f64).min(90.0);
        let wide = (0.78 * slot / outputs as f64).min(34.0);
        for (k, level) in levels.iter().enumerate() {
            let middle = x + (k as f64 + 0.5) * slot;
            for (series, estimate) in level.values.iter().enumerate().take(outputs) {
                let left = middle + (series as f64 - 0.5 * outputs as f64) * wide;
                let colour = self.colour(series, estimate.value);
                let (zero, end) = (scale.at(0.0), scale.at(estimate.value));
                let body = wide - if outputs > 1 { 1.0 } else { 0.0 };
                let mut bar = if level.support.is_little() {
                    layout::hatched(left, zero.min(end), body, (end - zero).abs(), colour)
                } else {
                    vec![Element::rectangle(left, zero, body, end - zero, colour)]
                };
                let mut outer = [zero.min(end), zero.max(end)];
                if let Some(interval) = estimate.interval() {
                    let ends = [scale.at(interval.low), scale.at(interval.high)];
                    outer = [outer[0].min(ends[1]), outer[1].max(ends[0])];
                    let at = left + 0.5 * body;
                    let cap = (0.2 * body).clamp(1.0, 4.0);
                    bar.push(Element::line([at, ends[0]], [at, ends[1]]));
                    bar.extend(ends.map(|y| Element::line([at - cap, y], [at + cap, y])));
                }
                let words = format!(
                    "{}: {}{}\n{}\n{}",
                    text::one_line(&feature.name),
                    text::one_line(&level.name),
                    self.of_output(series),
                    estimate.words(&self.unit),
                    support_words(level.support, &self.items)
                );
                if estimate.value.is_finite() && !scale.holds(estimate.value) {
                    let edge = if estimate.value > 0.0 { top } else { top + PANEL };
                    bar.push(cut_mark([left + 0.5 * body, edge], estimate.value > 0.0, words.clone()));
                }
                let field = Element::rectangle(left, outer[0] - 3.0, body, outer[1] - outer[0] + 6.0, Colour::Surface);
                bar.push(field.opacity(0.0).tooltip(words));
                out.push(if outputs > 1 { Element::group(bar).series(series) } else { Element::group(bar) });
            }
            let label = Element::name([middle, top + PANEL + below], &level.name, SMALL, slot - 2.0);
            out.push(label.anchor(Anchor::Middle).fill(Colour::Muted));
        }
    }

    fn colour(&self, series: usize, value: f64) -> Colour {
        match self.outputs.len() {
            0 | 1 if value < 0.0 => Colour::Negative,
            0 | 1 => Colour::Positive,
            _ => Colour::Class(series),
        }
    }

    pub(crate) fn of_output(&self, series: usize) -> String {
        match self.outputs.get(series) {
            Some(name) if self.outputs.len() > 1 => format!(", {}", text::one_line(name)),
            _ => String::new(),
        }
    }
}

impl Form {
    /// All numbers that it shows, and whether each has little support.
    fn numbers(&self) -> Vec<(f64, bool)> {
        let of_level = |level: &Level| {
            let weak = level.support.is_little();
            level.values.iter().flat_map(Estimate::extent).map(|number| (number, weak)).collect::<Vec<_>>()
        };
        match self {
            Form::Binary(level) => of_level(level),
            Form::Levels(levels) => levels.iter().flat_map(of_level).collect(),
            Form::Curve { knots, bands, bins, missing } => {
                // The curve where there are values counts, whatever it does between them.
                let at_values = knots.iter().flat_map(|knots| {
                    let curve = through(knots);
                    let ends = bins.iter().flat_map(|bin| [bin.from, bin.to].map(|x| (x, bin.support.is_little())));
                    let at_ends = ends.filter_map(|(x, weak)| Some((curve.value_at(x).first().copied()?, weak)));
                    at_ends.collect::<Vec<_>>()
                });
                let weak = |x: f64| !bins.is_empty() && Bin::support_at(bins, x).is_little();
                let knots = knots.iter().flatten().map(|&[x, value]| (value, weak(x)));
                let bands =
                    bands.iter().flatten().flat_map(|(x, band)| [band.low, band.high].map(|end| (end, weak(*x))));
                knots.chain(at_values).chain(bands).chain(missing.iter().flat_map(of_level)).collect()
            }
        }
    }

    fn has_intervals(&self) -> bool {
        match self {
            Form::Binary(level) => level.values.iter().any(|value| value.interval().is_some()),
            Form::Levels(levels) => {
                levels.iter().flat_map(|level| &level.values).any(|value| value.interval().is_some())
            }
            Form::Curve { bands, .. } => bands.iter().any(|band| !band.is_empty()),
        }
    }

    fn supports(&self) -> impl Iterator<Item = Support> + '_ {
        let (levels, bins): (&[Level], &[Bin]) = match self {
            Form::Binary(level) => (std::slice::from_ref(level), &[]),
            Form::Levels(levels) => (levels, &[]),
            Form::Curve { bins, missing, .. } => (missing.as_slice(), bins),
        };
        levels.iter().map(|level| level.support).chain(bins.iter().map(|bin| bin.support))
    }
}

fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.into() } else { format!("{name} ({unit})") }
}
