//! Feature by distance: the effect `rho(l) * f_k(v)` of a feature value at a distance. Colours diverge from a neutral zero and mean the same in all panels; cells with little support are hatched, those whose interval
//! contains zero are marked, those without data are blank.

use gnan::numbers::{self, DAYS, counted};

use super::table::{ESTIMATE, FigureCell, FigureTable, SUPPORT, estimate_cells, support_cells};
use super::{Estimate, FigureContent, Support, hatching_words, support_words, supported_extent};
use crate::axis::{SMALL, Scale};
use crate::colour::Colour;
use crate::layout::{self, MARGIN};
use crate::scene::{Anchor, Element, Scene};
use crate::text;

/// What the figure shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Heatmap {
    /// Title of the figure.
    pub title: String,
    /// What a cell is and its unit, for instance "effect (log-odds)".
    pub unit: String,
    /// What the columns are, with their unit.
    pub column_unit: String,
    /// Names of the columns: distances.
    pub columns: Vec<String>,
    /// Whether the last column, "unreachable", stands apart.
    pub last_apart: bool,
    /// Names of the rows, most important first.
    pub rows: Vec<String>,
    /// What the rows are.
    pub row_kind: RowKind,
    /// Name and unit of the rows, written above their names, for instance "feature" or "logP"; may be empty.
    pub row_unit: String,
    /// How many rows are shown at most.
    pub most: usize,
    /// One panel per class.
    pub panels: Vec<Panel>,
    /// What items are, for instance "graph".
    pub items: String,
}

/// What the rows of a heatmap are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// Features; each has its name written.
    #[default]
    Features,
    /// Levels of one feature; each has its name written.
    Levels,
    /// Values in order, of which not every one needs its name written.
    Values,
}

/// One panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The class; not written if it is the only panel.
    pub name: String,
    /// `cells[row][column]`; nothing where there are no data.
    pub cells: Vec<Vec<Option<Cell>>>,
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The number and its interval.
    pub estimate: Estimate,
    /// Its support in training.
    pub support: Support,
}

/// The sizes of everything in a panel.
struct Grid {
    names: f64,
    wide: f64,
    high: f64,
    apart: f64,
    rows: usize,
    columns: ColumnNames,
}

/// The names of the columns as they are written.
struct ColumnNames {
    names: Vec<String>,
    /// Whether they are written upwards.
    turned: bool,
    /// Every how many columns one is written.
    every: usize,
    /// How high they are.
    height: f64,
}

/// What stands for "unreachable" where the word does not fit.
const UNREACHABLE: [&str; 2] = ["unreachable", "∞"];
/// Names of columns are written upwards where they are wider than their column and than this ...
const SHORT_NAME: f64 = 24.0;
/// ... and are cut off here.
const LONGEST_NAME: f64 = 100.0;

impl ColumnNames {
    /// Names of columns of a width.
    fn new(columns: &[String], wide: f64) -> ColumnNames {
        let widest = |names: &[String]| names.iter().map(|name| text::width(name, SMALL)).fold(6.0, f64::max);
        let mut names: Vec<String> = columns.iter().map(|name| text::one_line(name)).collect();
        let fits = |names: &[String]| widest(names) + 4.0 <= wide;
        if !fits(&names) {
            let [word, sign] = UNREACHABLE;
            names.iter_mut().filter(|name| name.ends_with(word)).for_each(|name| *name = name.replace(word, sign));
        }
        let turned = !fits(&names) && widest(&names) > SHORT_NAME;
        let (room, height) =
            if turned { (SMALL, widest(&names).min(LONGEST_NAME)) } else { (widest(&names).min(40.0), 0.72 * SMALL) };
        let every = ((room + 4.0) / wide).ceil().max(1.0) as usize;
        ColumnNames { names, turned, every, height }
    }

    /// Whether a sign stands for "unreachable".
    fn has_sign(&self, columns: &[String]) -> bool {
        self.names.iter().zip(columns).any(|(name, column)| name.ends_with(UNREACHABLE[1]) && name != column)
    }
}

impl FigureContent for Heatmap {
    fn scene(&self, width: f64) -> Scene {
        let width = layout::figure_width(width);
        let mut elements = Vec::new();
        let mut y = layout::heading(&mut elements, &self.title, width);
        let grid = self.grid(width);
        let largest = self.largest(grid.rows);
        y = self.colour_bar(&mut elements, largest, y + 2.0, width);
        let body = grid.wide * self.columns.len() as f64 + grid.apart;
        // Names of panels and columns need some room even where a panel is narrow.
        let pitch = if self.panels.len() > 1 { body.max(100.0) } else { body } + 14.0;
        let room = width - 2.0 * MARGIN - grid.names;
        let across = (((room + 14.0) / pitch) as usize).clamp(1, self.panels.len().max(1));
        let title = if self.panels.len() > 1 || !self.row_unit.is_empty() { 20.0 } else { 6.0 };
        let height = title + grid.high * grid.rows as f64 + grid.columns.height + 30.0;
        for (index, panel) in self.panels.iter().enumerate() {
            let (row, column) = (index / across, index % across);
            let x = MARGIN + grid.names + column as f64 * pitch;
            let top = y + row as f64 * height + title;
            if self.panels.len() > 1 {
                elements.push(Element::name([x, top - 6.0], &panel.name, 12.0, 0.93 * (pitch - 14.0)).bold());
            }
            if column == 0 {
                self.row_names(&mut elements, &grid, x, top);
            }
            self.cells(&mut elements, panel, &grid, largest, [x, top]);
            self.column_names(&mut elements, &grid, x, top + grid.high * grid.rows as f64);
        }
        y += self.panels.len().div_ceil(across) as f64 * height;
        y = self.notes(&mut elements, &grid, y, width);
        let mut scene = Scene::new(width, y + MARGIN, text::one_line(&self.title));
        scene.description = format!("{} by {}.", self.unit, self.column_unit);
        scene.elements = elements;
        scene
    }

    fn table(&self) -> FigureTable {
        let several = self.panels.len() > 1;
        let row_unit = if self.row_unit.is_empty() { "row" } else { &self.row_unit };
        let header = ["output", row_unit, &self.column_unit].into_iter().chain(ESTIMATE).chain(SUPPORT);
        let mut table = FigureTable::new(header);
        for panel in &self.panels {
            let output = if several { FigureCell::from(&panel.name) } else { FigureCell::Empty };
            for (name, cells) in self.rows.iter().zip(&panel.cells) {
                for (column, cell) in self.columns.iter().zip(cells) {
                    let Some(cell) = cell else { continue };
                    let place = [output.clone(), name.into(), column.into()];
                    let numbers = estimate_cells(&cell.estimate).into_iter().chain(support_cells(cell.support));
                    table.rows.push(place.into_iter().chain(numbers).collect());
                }
            }
        }
        table.without_empty_columns()
    }
}

impl Heatmap {
    fn grid(&self, width: f64) -> Grid {
        let rows = self.rows.len().min(self.most.max(1));
        let names =
            layout::names_room(self.rows.iter().take(rows).chain([&self.row_unit]).map(String::as_str), 0.32 * width)
                + 10.0;
        let apart = if self.last_apart && self.columns.len() > 1 { 8.0 } else { 0.0 };
        let columns = self.columns.len().max(1) as f64;
        let room = width - 2.0 * MARGIN - names - apart;
        let panels = self.panels.len().max(1) as f64;
        // As wide as a number needs where all panels fit beside each other, else one to four panels in a line.
        let all = (room - (panels - 1.0) * (14.0 + apart)) / panels / columns;
        let wide = if all >= 22.0 { all.min(54.0) } else { (room / columns).min(38.0) };
        let high = if self.row_kind != RowKind::Values || rows <= 30 { 19.0 } else { (480.0 / rows as f64).max(3.0) };
        Grid { names, wide, high, apart, rows, columns: ColumnNames::new(&self.columns, wide) }
    }

    /// The largest absolute value with enough support: the end of the colours.
    fn largest(&self, rows: usize) -> f64 {
        let cells = self.panels.iter().flat_map(|panel| panel.cells.iter().take(rows).flatten().flatten());
        let values = supported_extent(cells.map(|cell| (cell.estimate.value.abs(), cell.support.is_little())));
        values.into_iter().fold(0.0, f64::max)
    }

    /// The meaning of the colours, with its unit.
    fn colour_bar(&self, elements: &mut Vec<Element>, largest: f64, y: f64, width: f64) -> f64 {
        elements.push(Element::name([MARGIN, y + 5.0], &self.unit, 12.0, width - 2.0 * MARGIN).centred());
        let beside = MARGIN + text::width(&self.unit, 12.0) + 14.0;
        let (x, y) = if beside + 200.0 < width { (beside + 24.0, y) } else { (MARGIN + 24.0, y + 18.0) };
        let (steps, long) = (40, 160.0);
        for k in 0..steps {
            let value = 2.0 * (k as f64 + 0.5) / steps as f64 - 1.0;
            let step = long / steps as f64;
            elements.push(Element::rectangle(
                x + k as f64 * step,
                y,
                if k + 1 < steps { step + 1.0 } else { step },
                10.0,
                Colour::Diverging(value),
            ));
        }
        let ends = [(0.0, -largest), (0.5, 0.0), (1.0, largest)];
        for (share, value) in ends {
            let at = x + share * long;
            elements.push(Element::line([at, y + 10.0], [at, y + 13.0]).stroke(Colour::Muted, 1.0));
            let words = if largest > 0.0 || share == 0.5 { text::signed(value, 3) } else { String::new() };
            let number = Element::text([at, y + 24.0], words).size(SMALL).fill(Colour::Muted);
            elements.push(number.anchor(Anchor::Middle));
        }
        y + 32.0
    }

    fn row_names(&self, elements: &mut Vec<Element>, grid: &Grid, x: f64, top: f64) {
        if !self.row_unit.is_empty() {
            let label = Element::name([x - 6.0, top - 6.0], &self.row_unit, 12.0, grid.names - 10.0);
            elements.push(label.anchor(Anchor::End).fill(Colour::Muted));
        }
        let every = if self.row_kind == RowKind::Values { (15.0 / grid.high).ceil().max(1.0) as usize } else { 1 };
        for (row, name) in self.rows.iter().enumerate().take(grid.rows).step_by(every) {
            let y = top + (row as f64 + 0.5) * grid.high;
            elements.push(layout::row_name(name, x - 6.0, y, grid.names - 10.0));
        }
    }

    fn left_of(&self, column: usize, grid: &Grid, x: f64) -> f64 {
        let apart = if column + 1 == self.columns.len() { grid.apart } else { 0.0 };
        x + column as f64 * grid.wide + apart
    }

    fn column_names(&self, elements: &mut Vec<Element>, grid: &Grid, x: f64, bottom: f64) {
        let ColumnNames { names, turned, every, height } = &grid.columns;
        let (every, last) = (*every, self.columns.len().saturating_sub(1));
        for (column, name) in names.iter().enumerate() {
            let apart = grid.apart > 0.0 && column == last;
            let crowded = grid.apart > 0.0 && last - column < every && column != last && every > 1;
            if (column.is_multiple_of(every) && !crowded) || apart {
                let at = self.left_of(column, grid, x) + 0.5 * grid.wide;
                let label = match turned {
                    true => Element::name([at, bottom + 5.0], name, SMALL, *height)
                        .rotate(-90.0)
                        .centred()
                        .anchor(Anchor::End),
                    false => Element::name([at, bottom + 5.0 + height], name, SMALL, 44.0).anchor(Anchor::Middle),
                };
                elements.push(label.fill(Colour::Muted));
            }
        }
        let body = grid.wide * self.columns.len() as f64 + grid.apart;
        let middle = x + 0.5 * body;
        let unit = Element::name([middle, bottom + height + 20.0], &self.column_unit, 12.0, body.max(100.0));
        elements.push(unit.anchor(Anchor::Middle));
    }

    fn cells(&self, elements: &mut Vec<Element>, panel: &Panel, grid: &Grid, largest: f64, [x, top]: [f64; 2]) {
        let numbers = self.numbers_fit(grid);
        for (row, cells) in panel.cells.iter().enumerate().take(grid.rows) {
            for (column, cell) in cells.iter().enumerate().take(self.columns.len()) {
                let Some(cell) = cell.filter(|cell| cell.estimate.value.is_finite()) else { continue };
                let (left, y) = (self.left_of(column, grid, x), top + row as f64 * grid.high);
                let share = if largest > 0.0 { (cell.estimate.value / largest).clamp(-1.0, 1.0) } else { 0.0 };
                let air = if grid.high > 8.0 && grid.wide > 8.0 { 1.0 } else { 0.0 };
                let (wide, high) = (grid.wide - air, grid.high - air);
                let weak = cell.support.is_little();
                let mut parts = vec![Element::rectangle(left, y, wide, high, Colour::Diverging(share))];
                if weak {
                    let lines = Element::rectangle(left, y, wide, high, Colour::Muted).hatch(Colour::Surface);
                    parts.push(lines.opacity(0.75));
                    let lines = Element::rectangle(left + 0.5, y + 0.5, wide - 1.0, high - 1.0, Colour::Muted);
                    parts.push(lines.hollow().stroke(Colour::Muted, 0.5).dashed(2.0, 2.0));
                }
                let ink = if share.abs() > 0.62 { Colour::Surface } else { Colour::Ink };
                if numbers {
                    let number = short_number(cell.estimate.value, largest);
                    let at = [left + 0.5 * wide, y + 0.5 * high];
                    let label = Element::text(at, number).size(10.0).fill(ink).anchor(Anchor::Middle).centred();
                    parts.push(if weak { label.stroke(Colour::Diverging(share), 2.5) } else { label });
                }
                if cell.estimate.uncertain() {
                    parts.push(corner(left + wide, y, wide.min(high)));
                }
                elements.push(Element::group(parts).tooltip(self.words(panel, row, column, &cell)));
            }
        }
    }

    /// Whether the widest number fits into a cell.
    fn numbers_fit(&self, grid: &Grid) -> bool {
        let cells = self.panels.iter().flat_map(|panel| panel.cells.iter().take(grid.rows).flatten().flatten());
        let largest = self.largest(grid.rows);
        let widest =
            cells.map(|cell| text::width(&short_number(cell.estimate.value, largest), 10.0)).fold(0.0, f64::max);
        grid.high >= 14.0 && widest + 5.0 <= grid.wide
    }

    fn has_marks(&self, rows: usize) -> bool {
        let mut cells = self.panels.iter().flat_map(|panel| panel.cells.iter().take(rows).flatten().flatten());
        cells.any(|cell| cell.estimate.uncertain())
    }

    fn words(&self, panel: &Panel, row: usize, column: usize, cell: &Cell) -> String {
        let class = if self.panels.len() > 1 { format!("{}: ", text::one_line(&panel.name)) } else { String::new() };
        let row = self.rows.get(row).map_or(String::new(), |name| text::one_line(name));
        let column = self.columns.get(column).map_or(String::new(), |name| text::one_line(name));
        let support = support_words(cell.support, &self.items);
        format!("{class}{row}\n{}: {column}\n{}\n{support}", self.column_unit, cell.estimate.words(&self.unit))
    }

    fn notes(&self, elements: &mut Vec<Element>, grid: &Grid, y: f64, width: f64) -> f64 {
        let mut y = y;
        let hidden = self.rows.len() - grid.rows;
        if hidden > 0 {
            let noun = if self.row_kind == RowKind::Features { "weaker feature" } else { "weaker level" };
            let words = format!("and {}, not drawn", counted(hidden, noun));
            y = layout::note(elements, &words, y, width);
        }
        if grid.columns.has_sign(&self.columns) {
            y = layout::note(elements, "∞: unreachable (no path).", y, width);
        }
        let mut cells = self.panels.iter().flat_map(|panel| panel.cells.iter().take(grid.rows).flatten().flatten());
        if cells.any(|cell| cell.support.is_little()) {
            y = layout::key_of_hatching(elements, &hatching_words(&self.items), y, width);
        }
        if self.has_marks(grid.rows) {
            let cell =
                Element::rectangle(MARGIN, y + 6.0, 14.0, 10.0, Colour::Diverging(0.0)).stroke(Colour::Grid, 1.0);
            y = layout::key(
                elements,
                vec![cell, corner(MARGIN + 14.0, y + 6.0, 14.0)],
                "the 95 % interval contains 0: no reliable effect",
                y,
                width,
            );
        }
        y
    }
}

/// The mark of a cell whose interval contains zero: its upper right corner.
fn corner(right: f64, top: f64, size: f64) -> Element {
    let leg = (0.4 * size).min(5.5);
    let points = vec![[right - leg, top], [right, top], [right, top + leg]];
    Element::polygon(points, Colour::Ink).opacity(0.55)
}

/// A number for a small cell: decimals as the largest cell needs them.
fn short_number(value: f64, largest: f64) -> String {
    let decimals = match largest {
        _ if !(1e-3..1e4).contains(&largest) => return text::number(value, 1),
        _ if largest < 0.1 => 3,
        _ if largest < 10.0 => 2,
        _ if largest < 100.0 => 1,
        _ => 0,
    };
    let text = numbers::fixed(value, decimals);
    if text.chars().all(|c| c == '0' || c == '.') { "0".into() } else { text::with_minus(&text) }
}

/// Names of evenly spaced values, with as many decimals as they need; dates where the unit counts days.
pub(crate) fn value_names(values: &[f64], unit: Option<&str>) -> Vec<String> {
    if unit == Some(DAYS) {
        return values.iter().map(|value| text::value(*value, unit)).collect();
    }
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return values.iter().map(|_| "not a number".into()).collect();
    }
    let scale = Scale::between(low, high, 0.0, 1.0);
    values.iter().map(|&value| if value.is_finite() { scale.label(value, 20) } else { "not a number".into() }).collect()
}
