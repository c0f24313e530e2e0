//! The few pieces of HTML that a report is made of, beside plain paragraphs.

use maud::{Markup, Render, html};

/// A list of sentences.
pub(super) fn list(sentences: &[String]) -> Markup {
    html! { ul { @for sentence in sentences { li { (sentence) } } } }
}

/// Names, each with a value beside it.
pub(super) fn facts(rows: &[(&str, String)]) -> Markup {
    html! { table.facts { @for (name, value) in rows { tr { th { (name) } td { (value) } } } } }
}

/// Something that is closed until the reader opens it.
pub(super) fn details(summary: &str, inner: &Markup) -> Markup {
    html! { details { summary { (summary) } (inner) } }
}

/// A table with a header; totals stand below a line.
pub(super) fn table(header: &[&str], rows: &[Vec<TableCell>], totals: &[Vec<TableCell>]) -> Markup {
    html! {
        div.scroll {
            table {
                thead { tr { @for name in header { th { (name) } } } }
                tbody {
                    @for row in rows { tr { @for cell in row { (cell) } } }
                    @for row in totals { tr.total { @for cell in row { (cell) } } }
                }
            }
        }
    }
}

/// A cell of a table.
pub(super) enum TableCell {
    /// Text, to the left.
    Text(String),
    /// A number, to the right.
    Number(String),
    /// A bar from a middle line, from -1 to 1.
    Bar(f64),
}

impl Render for TableCell {
    fn render(&self) -> Markup {
        match self {
            TableCell::Text(text) => html! { td { (text) } },
            TableCell::Number(number) => html! { td.number { (number) } },
            TableCell::Bar(share) => bar(*share),
        }
    }
}

fn bar(share: f64) -> Markup {
    let share = if share.is_finite() { share.clamp(-1.0, 1.0) } else { 0.0 };
    let (class, left) = if share < 0.0 { ("negative", 50.0 + 50.0 * share) } else { ("positive", 50.0) };
    let place = format!("left:{left:.1}%;width:{:.1}%", 50.0 * share.abs());
    html! { td.bar { span class=(class) style=(place) {} } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        let hostile = "<script>alert(\"x\")</script>&";
        let cells = || vec![TableCell::Text(hostile.to_owned()), TableCell::Number(hostile.to_owned())];
        for (html, times) in [
            (list(&[hostile.to_owned()]), 1),
            (facts(&[(hostile, hostile.to_owned())]), 2),
            (details(hostile, &list(&[hostile.to_owned()])), 2),
            (table(&[hostile], &[cells()], &[cells()]), 5),
        ] {
            let html = html.into_string();
            assert!(!html.contains("<script") && html.matches("&lt;script&gt;").count() == times, "{html}");
        }
    }

    #[test]
    fn bars_and_totals_have_their_places() {
        let total = vec![TableCell::Number("1".to_owned())];
        let html = table(&["a"], &[vec![TableCell::Bar(-2.0)]], &[total]).into_string();
        assert!(html.contains("left:0.0%;width:50.0%"));
        assert!(html.ends_with("<tr class=\"total\"><td class=\"number\">1</td></tr></tbody></table></div>"));
    }
}
