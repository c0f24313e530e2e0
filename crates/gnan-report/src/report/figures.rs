//! The figures of a page: numbered, laid out for wide and narrow screens, each with the table behind it.

use gnan::numbers::count;
use maud::{Markup, html};

use super::html::{TableCell, details, table};
use crate::Palette;
use crate::figure::table::{FigureCell, FigureTable};
use crate::model_figures::Figure;
use crate::page;
use crate::text::{number, one_line};

/// Width of the figures in pixels, and on narrow screens.
const WIDE: f64 = 860.0;
const NARROW: f64 = 370.0;
/// Rows of a table behind a figure.
const MOST_ROWS: usize = 400;

/// Numbers the figures of a page.
pub(super) struct Figures {
    palette: Palette,
    count: usize,
}

impl Figures {
    pub(super) fn new(palette: Palette) -> Figures {
        Figures { palette, count: 0 }
    }

    /// A figure with its number, its caption and its table.
    pub(super) fn html(&mut self, figure: Figure) -> Markup {
        self.count += 1;
        let [wide, narrow] = [WIDE, NARROW].map(|width| figure.content.scene(width).with_palette(self.palette));
        let below = html! {
            figcaption { "Figure " (self.count) ". " (figure.caption) }
            (table_html(&figure.content.table()))
        };
        page::responsive_figure(&wide, &narrow, &format!("figure-{}", self.count), &below)
    }
}

/// The table behind a figure, closed until the reader opens it.
fn table_html(found: &FigureTable) -> Markup {
    let cell = |cell: &FigureCell| match cell {
        FigureCell::Words(words) => TableCell::Text(one_line(words)),
        FigureCell::Number(value) if value.is_finite() => TableCell::Number(number(*value, 4)),
        FigureCell::Count(value) => TableCell::Number(count(*value as usize)),
        FigureCell::Number(_) | FigureCell::Empty => TableCell::Text(String::new()),
    };
    let rows: Vec<Vec<TableCell>> =
        found.rows.iter().take(MOST_ROWS).map(|row| row.iter().map(cell).collect()).collect();
    let header: Vec<&str> = found.header.iter().map(String::as_str).collect();
    let inner = html! {
        (table(&header, &rows, &[]))
        @if found.rows.len() > MOST_ROWS {
            p { "The first " (count(MOST_ROWS)) " of " (count(found.rows.len())) " rows; gnan export writes all numbers of the model." }
        }
    };
    details("Table", &inner)
}
