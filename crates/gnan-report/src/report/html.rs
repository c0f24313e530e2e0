//! The few pieces of HTML that a report is made of. Everything that comes from data or a model goes through [`text`].

use crate::svg::escaped;
use crate::text::visible;

/// Words as text: markup in them is shown, not obeyed.
pub(super) fn text(words: &str) -> String {
    escaped(&words.chars().map(visible).collect::<String>())
}

/// A paragraph of words.
pub(super) fn paragraph(words: &str) -> String {
    format!("<p>{}</p>\n", text(words))
}

/// A section with its heading, for the contents.
pub(super) fn section(id: &str, heading: &str, inner: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{}</h2>\n{inner}</section>\n", text(heading))
}

/// A list of sentences.
pub(super) fn list(sentences: &[String]) -> String {
    let items: String = sentences.iter().map(|sentence| format!("<li>{}</li>\n", text(sentence))).collect();
    format!("<ul>\n{items}</ul>\n")
}

/// Pairs of a name and what there is to say about it.
pub(super) fn facts(pairs: &[(&str, String)]) -> String {
    let rows: String = pairs
        .iter()
        .map(|(name, value)| format!("<tr><th>{}</th><td>{}</td></tr>\n", text(name), text(value)))
        .collect();
    format!("<table class=\"facts\">\n{rows}</table>\n")
}

/// A cell of a table.
pub(super) enum Cell {
    /// Words, to the left.
    Words(String),
    /// A number, to the right.
    Number(String),
    /// A bar from a middle line, from -1 to 1.
    Bar(f64),
}

/// A table with a header.
pub(super) fn table(header: &[&str], rows: Vec<Vec<Cell>>) -> String {
    let head: String = header.iter().map(|name| format!("<th>{}</th>", text(name))).collect();
    let body: String = rows.into_iter().map(|row| format!("<tr>{}</tr>\n", cells(row))).collect();
    format!("<div class=\"scroll\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n")
}

/// A row under a line: a total.
pub(super) fn with_total(mut table: String, row: Vec<Cell>) -> String {
    let total = format!("<tr class=\"total\">{}</tr>\n</tbody>", cells(row));
    if let Some(at) = table.rfind("</tbody>") {
        table.replace_range(at..at + "</tbody>".len(), &total);
    }
    table
}

fn cells(row: Vec<Cell>) -> String {
    row.into_iter()
        .map(|cell| match cell {
            Cell::Words(words) => format!("<td>{}</td>", text(&words)),
            Cell::Number(number) => format!("<td class=\"number\">{}</td>", text(&number)),
            Cell::Bar(share) => bar(share),
        })
        .collect()
}

fn bar(share: f64) -> String {
    let share = if share.is_finite() { share.clamp(-1.0, 1.0) } else { 0.0 };
    let (class, left) = if share < 0.0 { ("negative", 50.0 + 50.0 * share) } else { ("positive", 50.0) };
    format!(
        "<td class=\"bar\"><span class=\"{class}\" style=\"left:{left:.1}%;width:{:.1}%\"></span></td>",
        50.0 * share.abs()
    )
}

/// Something that opens when it is asked for.
pub(super) fn details(summary: &str, inner: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n{inner}</details>\n", text(summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        let hostile = "<script>alert(\"x\")</script>&\u{202e}";
        for html in [paragraph(hostile), list(&[hostile.to_owned()]), facts(&[(hostile, hostile.to_owned())])] {
            assert!(!html.contains("<script") && html.contains("&lt;script&gt;"), "{html}");
            assert!(!html.contains('\u{202e}'));
        }
    }

    #[test]
    fn a_total_is_the_last_row() {
        let html = with_total(table(&["a"], vec![vec![Cell::Bar(-2.0)]]), vec![Cell::Number("1".to_owned())]);
        assert!(html.contains("left:0.0%;width:50.0%"));
        assert!(
            html.trim_end().ends_with("<tr class=\"total\"><td class=\"number\">1</td></tr>\n</tbody></table></div>")
        );
    }
}
