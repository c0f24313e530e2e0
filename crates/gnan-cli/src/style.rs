//! The few styles of the command.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_steer_the_terminal() {
        assert_eq!(escape_control("\x1b[31mred\n"), "\\u{1b}[31mred\\n");
        assert_eq!(escape_control("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(escape_control("Ethanol, <b>水</b>"), "Ethanol, <b>水</b>");
    }
}
