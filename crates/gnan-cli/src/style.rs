//! The few styles of the command, and numbers as people read them.

use std::borrow::Cow;

use anstyle::{AnsiColor, Color, Style};
use clap::builder::Styles;

const fn coloured(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(colour)))
}

/// Headings and what matters most.
pub const BOLD: Style = Style::new().bold();
/// What may be skipped.
pub const DIM: Style = Style::new().dimmed();
/// Contributions that raise an output. Blue and orange-like yellow stay apart for every kind of colour vision.
pub const UP: Style = coloured(AnsiColor::Blue);
/// Contributions that lower an output.
pub const DOWN: Style = coloured(AnsiColor::Yellow);

/// Help in the same styles.
pub const HELP: Styles = Styles::styled()
    .header(BOLD.underline())
    .usage(BOLD.underline())
    .literal(coloured(AnsiColor::Cyan).bold())
    .placeholder(coloured(AnsiColor::Cyan));

/// The text in a style.
pub fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A name as it can be shown: what would move the cursor, change colours or the direction of writing is spelled out.
pub fn escape_control(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let spelled = |letter: char| if is_harmful(letter) { letter.escape_default().to_string() } else { letter.into() };
    Cow::Owned(text.chars().map(spelled).collect())
}

/// Control characters, line and paragraph separators, and marks that turn the direction of writing.
pub fn is_harmful(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A heading.
pub fn heading(text: impl std::fmt::Display) -> String {
    paint(BOLD, text)
}

/// What may be skipped.
pub fn dim(text: impl std::fmt::Display) -> String {
    paint(DIM, text)
}

/// The word before an error.
pub fn error(text: &str) -> String {
    paint(coloured(AnsiColor::Red).bold(), text)
}

/// The word before a warning.
pub fn warning(text: &str) -> String {
    paint(coloured(AnsiColor::Yellow).bold(), text)
}

/// The style of a contribution.
pub fn signed(value: f64) -> Style {
    if value < 0.0 { DOWN } else { UP }
}

/// A count with its thousands apart: 1,282.
pub fn count(number: usize) -> String {
    gnan_report::text::count(number as u64)
}

/// A count and its noun: "1 graph", "1,282 graphs".
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// How many more there are: "1 more graph", "1,282 more graphs".
pub fn counted_more(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} more {noun}{plural}", count(number))
}

/// A number with about four significant digits, without needless zeros.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs();
    if !(1e-4..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let decimals = (3 - size.log10().floor() as i64).clamp(0, 7) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A contribution with its sign and two decimals; what rounds to zero has none below it.
pub fn contribution(value: f64) -> String {
    let text = format!("{value:+.2}");
    if text == "-0.00" { "+0.00".to_owned() } else { text }
}

/// A metric: four decimals, unless it is too large or too small for them.
pub fn metric(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-4..1e6).contains(&size) { format!("{value:.4}") } else { format!("{value:.3e}") }
}

/// The name of a metric, for people.
pub fn metric_name(name: &str) -> String {
    match name {
        "roc_auc" => "ROC-AUC".to_owned(),
        "f1" => "F1".to_owned(),
        "r2" => "R2".to_owned(),
        "mae" => "MAE".to_owned(),
        "rmse" => "RMSE".to_owned(),
        other => other.replace('_', " "),
    }
}

/// Two words at most for a span of time: "0.4 s", "12 s", "3 min 20 s".
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 60.0 => format!("{s:.0} s"),
        s => format!("{:.0} min {:.0} s", (s / 60.0).floor(), s % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_their_thousands_apart() {
        assert_eq!([0, 999, 1282, 1_000_000].map(count), ["0", "999", "1,282", "1,000,000"]);
        assert_eq!(counted(1, "graph"), "1 graph");
    }

    #[test]
    fn names_cannot_steer_the_terminal() {
        assert_eq!(escape_control("\x1b[31mred\n"), "\\u{1b}[31mred\\n");
        assert_eq!(escape_control("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(escape_control("Ethanol, <b>水</b>"), "Ethanol, <b>水</b>");
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 1.0, -0.5, 1234.5678, 0.00012346, 1e9, 31.25].map(number);
        assert_eq!(shown, ["0", "1", "-0.5", "1235", "0.0001235", "1.000e9", "31.25"]);
    }
}
