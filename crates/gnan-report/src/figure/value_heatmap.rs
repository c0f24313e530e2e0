//! The effect of one feature by value and distance, `rho[c](l) * f_k[c](v)`, one panel per class on one colour scale. Rows are the
//! levels of the feature, or a grid of values with the largest on top.

use super::FigureContent;
use super::heatmap::{self, Cell, Heatmap, Panel, RowKind};
use super::table::FigureTable;
use crate::scene::Scene;

/// What the figure shows.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueHeatmap {
    /// Title of the figure.
    pub title: String,
    /// What a cell is and its unit.
    pub unit: String,
    /// What the columns are, with their unit.
    pub column_unit: String,
    /// Names of the columns: distances.
    pub columns: Vec<String>,
    /// Whether the last column, "unreachable", stands apart.
    pub last_apart: bool,
    /// Name and unit of the values, written above them.
    pub value_unit: String,
    /// The feature's values.
    pub values: Values,
    /// How many levels are shown at most; a grid is always shown whole.
    pub most: usize,
    /// One panel per class; `cells[value][column]`.
    pub panels: Vec<Panel>,
    /// What items are, for instance "graph".
    pub items: String,
}

/// The values of one feature.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Names of levels, in the order to draw them.
    Levels(Vec<String>),
    /// A grid of numbers, rising, with their unit where it is known.
    Grid(Vec<f64>, Option<String>),
}

impl FigureContent for ValueHeatmap {
    fn scene(&self, width: f64) -> Scene {
        self.heatmap().scene(width)
    }

    fn table(&self) -> FigureTable {
        self.heatmap().table()
    }
}

impl ValueHeatmap {
    fn heatmap(&self) -> Heatmap {
        let (rows, turned) = match &self.values {
            Values::Levels(names) => (names.clone(), false),
            // The largest value on top, as on a y-axis.
            Values::Grid(values, unit) => {
                (heatmap::value_names(values, unit.as_deref()).into_iter().rev().collect(), true)
            }
        };
        let count = rows.len();
        let panel = |panel: &Panel| {
            let mut cells: Vec<Vec<Option<Cell>>> = panel.cells.iter().take(count).cloned().collect();
            cells.resize(count, Vec::new());
            if turned {
                cells.reverse();
            }
            Panel { name: panel.name.clone(), cells }
        };
        Heatmap {
            title: self.title.clone(),
            unit: self.unit.clone(),
            column_unit: self.column_unit.clone(),
            columns: self.columns.clone(),
            last_apart: self.last_apart,
            rows,
            row_kind: if turned { RowKind::Values } else { RowKind::Levels },
            row_unit: self.value_unit.clone(),
            most: if turned { count } else { self.most },
            panels: self.panels.iter().map(panel).collect(),
            items: self.items.clone(),
        }
    }
}
