//! Aligned tables for the terminal: names to the left, numbers to the right, two spaces between.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::style::{self, BOLD, escape_control, is_harmful, paint};

/// Which way a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table being filled.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Align>,
    header: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
enum Row {
    Cells(Vec<(String, Style)>),
    /// A line under the first columns.
    Rule(usize),
}

const GAP: &str = "  ";

impl Table {
    /// A table whose columns are aligned so.
    pub fn new(columns: &[Align]) -> Table {
        Table { columns: columns.to_vec(), ..Table::default() }
    }

    /// A table of names and values, as `inspect` and `data info` begin.
    pub fn facts() -> Table {
        Table::new(&[Align::Left, Align::Left])
    }

    /// Names the columns.
    pub fn header<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Table {
        self.header = names.into_iter().map(|name| escape_control(&name.into()).into_owned()).collect();
        self
    }

    /// Adds a row.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.styled_row(Style::new(), cells);
    }

    /// Adds a row in a style.
    pub fn styled_row<T: Into<String>>(&mut self, style: Style, cells: impl IntoIterator<Item = T>) {
        self.painted_row(cells.into_iter().map(|cell| (cell.into(), style)).collect());
    }

    /// Adds a row whose cells have their own styles.
    pub fn painted_row(&mut self, mut cells: Vec<(String, Style)>) {
        for (text, _) in cells.iter_mut().filter(|(text, _)| text.contains(is_harmful)) {
            *text = escape_control(text).into_owned();
        }
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a name and a value, unless the value is empty.
    pub fn fact(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.painted_row(vec![(name.to_owned(), style::DIM), (value, Style::new())]);
        }
    }

    /// Adds a line under the first columns, below which a sum stands.
    pub fn rule(&mut self, columns: usize) {
        self.rows.push(Row::Rule(columns));
    }

    /// The table as text, every line indented by two spaces.
    pub fn render(&self) -> String {
        let widths = self.widths();
        let mut text = String::new();
        if !self.header.is_empty() {
            let cells: Vec<_> = self.header.iter().map(|name| (name.clone(), BOLD)).collect();
            text.push_str(&self.line(&cells, &widths));
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) => text.push_str(&self.line(cells, &widths)),
                Row::Rule(columns) => {
                    let under = &widths[..widths.len().min(*columns)];
                    let width = under.iter().sum::<usize>() + GAP.len() * under.len().saturating_sub(1);
                    text.push_str(&format!("{GAP}{}\n", style::dim("─".repeat(width))));
                }
            }
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.columns.len()];
        let mut fit = |index: usize, text: &str| {
            if let Some(width) = widths.get_mut(index) {
                *width = (*width).max(text.width());
            }
        };
        self.header.iter().enumerate().for_each(|(index, name)| fit(index, name));
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                cells.iter().enumerate().for_each(|(index, (text, _))| fit(index, text));
            }
        }
        widths
    }

    fn line(&self, cells: &[(String, Style)], widths: &[usize]) -> String {
        let mut line = String::new();
        // Blanks are put out only when something follows them, so that no line ends in one.
        let mut blanks = 0;
        for (index, (text, style)) in cells.iter().enumerate() {
            let room = widths.get(index).copied().unwrap_or(0).saturating_sub(text.width());
            let align = self.columns.get(index).copied().unwrap_or(Align::Left);
            let (before, after) = if align == Align::Right { (room, 0) } else { (0, room) };
            blanks += GAP.len() + before;
            if !text.is_empty() {
                line.push_str(&" ".repeat(blanks));
                line.push_str(&if *style == Style::new() { text.clone() } else { paint(*style, text) });
                blanks = 0;
            } else {
                blanks += text.width();
            }
            blanks += after;
        }
        line.push('\n');
        line
    }
}

/// The text cut to a width, with an ellipsis if something is missing.
pub fn shorten(text: &str, width: usize) -> String {
    let text = &escape_control(text);
    if text.width() <= width {
        return text.to_string();
    }
    let mut short = String::new();
    for letter in text.chars() {
        if short.width() + 1 >= width {
            break;
        }
        short.push(letter);
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_left_and_numbers_right() {
        let mut table = Table::new(&[Align::Left, Align::Right]);
        table.row(["a", "1"]);
        table.row(["long", "100"]);
        assert_eq!(table.render(), "  a       1\n  long  100\n");
    }

    #[test]
    fn wide_letters_count_double_and_lines_end_clean() {
        let mut table = Table::new(&[Align::Left, Align::Left]);
        table.row(["水", "x"]);
        table.row(["abc", ""]);
        assert_eq!(table.render(), "  水   x\n  abc\n");
        assert_eq!(shorten("abcdef", 4), "abc…");
    }
}
