//! Importances: mean absolute contributions as bars, by feature and by distance, with intervals. What does not fit is
//! summed into one bar, never dropped.

use gnan::numbers::counted;

use super::bars::{BarRow, Bars};
use super::table::{ESTIMATE, FigureTable, estimate_cells};
use super::{Estimate, FigureContent};
use crate::layout::{self, MARGIN};
use crate::scene::{Element, Scene};
use crate::text;

/// What the figure shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Importance {
    /// Title of the figure.
    pub title: String,
    /// Name and unit of the axis, for instance "mean |contribution| (log-odds)".
    pub unit: String,
    /// By feature, by distance: one block each, on the same axis.
    pub blocks: Vec<Block>,
    /// How many rows a block shows at most, besides the sum of the others.
    pub most: usize,
}

/// One way of dividing the contributions.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What the rows are, for instance "by feature".
    pub name: String,
    /// The rows, most important first (or in order of distance).
    pub rows: Vec<ImportanceRow>,
}

/// One importance.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportanceRow {
    /// Feature or distance.
    pub name: String,
    /// Its importance.
    pub importance: Estimate,
}

impl FigureContent for Importance {
    fn scene(&self, width: f64) -> Scene {
        let width = layout::figure_width(width);
        let mut elements = Vec::new();
        let mut y = layout::heading(&mut elements, &self.title, width);
        let blocks: Vec<Vec<BarRow>> = self.blocks.iter().map(|block| self.rows(block)).collect();
        let rows = || blocks.iter().flatten();
        let bars = Bars {
            outputs: &[],
            unit: &self.unit,
            // The sum of many others must not squeeze the rows that are shown.
            extent: rows().filter(|row| !row.rest).flat_map(|row| &row.values).flat_map(Estimate::extent).collect(),
            names: layout::names_room(rows().map(|row| row.name.as_str()), 0.4 * width),
        };
        for (block, rows) in self.blocks.iter().zip(&blocks) {
            if self.blocks.len() > 1 {
                elements.push(Element::name([MARGIN, y + 8.0], &block.name, 12.0, 0.9 * width).bold());
                y += 14.0;
            }
            y = bars.draw(&mut elements, rows, y + 2.0, width) + 12.0;
        }
        if rows().flat_map(|row| &row.values).any(|value| value.interval().is_some()) {
            y = layout::note(&mut elements, "Lines over the bars: 95 % intervals.", y - 12.0, width) + 6.0;
        }
        let mut scene = Scene::new(width, y + MARGIN, text::one_line(&self.title));
        let first = self.blocks.first().and_then(|block| block.rows.first());
        scene.description =
            first.map_or("No features.".into(), |item| format!("Largest: {}.", text::one_line(&item.name)));
        scene.elements = elements;
        scene
    }

    fn table(&self) -> FigureTable {
        let mut table = FigureTable::new(["", "of"].into_iter().chain(ESTIMATE));
        for block in &self.blocks {
            for row in &block.rows {
                let place = [(&block.name).into(), (&row.name).into()];
                table.rows.push(place.into_iter().chain(estimate_cells(&row.importance)).collect());
            }
        }
        table.without_empty_columns()
    }
}

impl Importance {
    fn rows(&self, block: &Block) -> Vec<BarRow> {
        let row = |name: String, importance: Estimate, rest: bool| BarRow {
            name,
            values: vec![importance],
            support: String::new(),
            weak: false,
            rest,
        };
        // A single other row takes no more room than the sum of one.
        let shown = if block.rows.len() <= self.most.saturating_add(1) { block.rows.len() } else { self.most.max(1) };
        let mut rows: Vec<BarRow> =
            block.rows.iter().take(shown).map(|item| row(item.name.clone(), item.importance, false)).collect();
        let others = &block.rows[shown.min(block.rows.len())..];
        if !others.is_empty() {
            let sum: f64 = others.iter().map(|item| item.importance.value).filter(|value| value.is_finite()).sum();
            rows.push(row(format!("{} (sum)", counted(others.len(), "other")), sum.into(), true));
        }
        rows
    }
}
