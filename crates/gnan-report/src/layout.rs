//! What stands around the data of every figure: heading, legend, names of rows, notes.

use crate::axis::SMALL;
use crate::colour::{CLASS_COLOURS, Colour};
use crate::scene::{Anchor, Element};
use crate::text;

/// Space to the edge of a figure.
pub(crate) const MARGIN: f64 = 12.0;

/// How high a row is whose name has two lines.
pub(crate) const TWO_LINES: f64 = 27.0;

/// Widths a figure may have; others are moved here.
pub(crate) fn figure_width(width: f64) -> f64 {
    if width.is_finite() { width.clamp(280.0, 4000.0) } else { 760.0 }
}

/// The title of a figure, and the height at which what follows may start.
pub(crate) fn heading(elements: &mut Vec<Element>, title: &str, width: f64) -> f64 {
    let mut y = MARGIN + 12.0;
    let lines = text::wrapped(&text::one_line(title), 15.0, width - 2.0 * MARGIN);
    for (k, line) in lines.iter().take(3).enumerate() {
        let more = if k == 2 && lines.len() > 3 { "…" } else { "" };
        elements.push(Element::text([MARGIN, y], format!("{line}{more}")).size(14.0).bold());
        y += 18.0;
    }
    y
}

/// A muted line of explanation below the data, wrapped; returns the height at which what follows may start.
pub(crate) fn note(elements: &mut Vec<Element>, words: &str, y: f64, width: f64) -> f64 {
    let mut y = y;
    for line in text::wrapped(words, SMALL, width - 2.0 * MARGIN) {
        y += 15.0;
        elements.push(Element::text([MARGIN, y], line).size(SMALL).fill(Colour::Muted));
    }
    y
}

/// The classes with their colours, each a switch of its series; returns the height at which what follows may start.
pub(crate) fn legend(elements: &mut Vec<Element>, names: &[String], y: f64, width: f64) -> f64 {
    if names.len() < 2 {
        return y;
    }
    let (mut x, mut y) = (MARGIN, y + 4.0);
    for (series, name) in names.iter().enumerate() {
        let most = 150f64.min(width - 4.0 * MARGIN);
        let room = 20.0 + text::width(&text::one_line(name), 12.0).min(most);
        if x > MARGIN && x + room > width - MARGIN {
            (x, y) = (MARGIN, y + 18.0);
        }
        let colour = Colour::Class(series);
        let swatch = match series / CLASS_COLOURS {
            0 => Element::rectangle(x, y - 5.0, 12.0, 10.0, colour).rounded(2.0),
            _ => Element::rectangle(x + 1.0, y - 4.0, 10.0, 8.0, colour).hollow().stroke(colour, 2.0),
        };
        let words = Element::name([x + 17.0, y], name, 12.0, most).centred();
        let field = Element::rectangle(x - 2.0, y - 9.0, room + 2.0, 18.0, Colour::Surface).opacity(0.0);
        let entry = Element::group(vec![field, swatch, words]);
        elements.push(entry.toggles(series));
        x += room + 16.0;
    }
    y + 14.0
}

/// The name of a row, ending at `right`, shortened to the room there is, whole when pointed at.
pub(crate) fn row_name(name: &str, right: f64, y: f64, room: f64) -> Element {
    Element::name([right, y], name, 12.0, room).anchor(Anchor::End).centred()
}

/// The same name on two lines where it does not fit one.
pub(crate) fn row_name_lines(name: &str, right: f64, y: f64, room: f64, bold: bool) -> Element {
    let lines = row_lines(name, room);
    let weight = |line: Element| if bold { line.bold() } else { line };
    let [first, second] = lines.as_slice() else { return weight(row_name(name, right, y, room)) };
    let line =
        |words: &str, y: f64| weight(Element::name([right, y], words, SMALL, room)).anchor(Anchor::End).centred();
    Element::group(vec![line(first, y - 6.0), line(second, y + 6.0)]).tooltip(text::one_line(name))
}

/// The name of a row on one line, or on two of smaller letters.
fn row_lines(name: &str, room: f64) -> Vec<String> {
    let whole = text::one_line(name);
    let mut lines = text::wrapped(&whole, SMALL, room);
    if text::width(&whole, 12.0) <= room || lines.len() < 2 {
        return vec![whole];
    }
    // What does not fit the second line is cut off there.
    let rest = lines.split_off(1).join(" ");
    lines.push(rest);
    lines
}

/// How high rows are whose names have so much room: as high as usual, or enough for two lines.
pub(crate) fn row_height<'a>(mut names: impl Iterator<Item = &'a str>, room: f64, usual: f64) -> f64 {
    if names.any(|name| row_lines(name, room).len() > 1) { usual.max(TWO_LINES) } else { usual }
}

/// How much room names of rows get: what the longest needs, at most a share of the width.
pub(crate) fn names_room<'a>(names: impl Iterator<Item = &'a str>, most: f64) -> f64 {
    names.map(|name| text::width(&text::one_line(name), 12.0)).fold(24.0, f64::max).min(most).ceil()
}

/// A small sample of hatching or of a mark with its meaning, for the notes; returns the height that follows.
pub(crate) fn key(elements: &mut Vec<Element>, sample: Vec<Element>, words: &str, y: f64, width: f64) -> f64 {
    elements.extend(sample);
    let mut y = y;
    for line in text::wrapped(words, SMALL, width - 2.0 * MARGIN - 22.0) {
        y += 15.0;
        elements.push(Element::text([MARGIN + 20.0, y], line).size(SMALL).fill(Colour::Muted));
    }
    y
}

/// The note about what hatching means.
pub(crate) fn key_of_hatching(elements: &mut Vec<Element>, words: &str, y: f64, width: f64) -> f64 {
    let sample = hatched(MARGIN, y + 6.0, 14.0, 10.0, Colour::Muted);
    key(elements, sample, words, y, width)
}

/// A rectangle with little support: faint, with diagonal lines.
pub(crate) fn hatched(x: f64, y: f64, width: f64, height: f64, colour: Colour) -> Vec<Element> {
    vec![
        Element::rectangle(x, y, width, height, colour).opacity(0.22),
        Element::rectangle(x, y, width, height, colour).hatch(colour).stroke(colour, 0.75).opacity(0.8),
    ]
}
