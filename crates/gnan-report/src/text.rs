//! Words: how wide they are in the embedded font and how they are shortened. Layouts measure with this table instead of
//! a font, so that a figure has the same places everywhere.

use gnan::model::Bin;
use gnan::numbers;

/// Advance widths of the printable ASCII characters of Noto Sans in thousandths of the font size, from its `hmtx`.
const REGULAR: [u16; 95] = [
    260, 269, 408, 646, 572, 831, 732, 225, 300, 300, 551, 572, 268, 322, 268, 372, 572, 572, 572, 572, 572, 572, 572,
    572, 572, 572, 268, 268, 572, 572, 572, 434, 899, 639, 650, 632, 730, 556, 519, 728, 741, 339, 273, 619, 524, 907,
    760, 781, 605, 781, 622, 549, 556, 731, 600, 930, 586, 566, 572, 329, 372, 329, 572, 444, 580, 561, 615, 480, 615,
    564, 344, 615, 618, 258, 258, 534, 258, 935, 618, 605, 615, 615, 413, 479, 361, 618, 508, 786, 529, 510, 470, 380,
    551, 380, 572,
];

/// The same of Noto Sans Bold.
const BOLD: [u16; 95] = [
    260, 286, 472, 646, 572, 901, 750, 266, 339, 339, 545, 572, 285, 322, 285, 413, 572, 572, 572, 572, 572, 572, 572,
    572, 572, 572, 285, 285, 572, 572, 572, 477, 897, 690, 672, 637, 740, 560, 549, 724, 765, 389, 331, 664, 565, 943,
    813, 796, 628, 796, 660, 551, 579, 756, 650, 967, 667, 624, 579, 331, 413, 331, 572, 411, 607, 604, 633, 514, 633,
    591, 387, 633, 657, 305, 305, 620, 305, 982, 657, 619, 633, 633, 454, 497, 434, 657, 569, 856, 578, 569, 488, 394,
    551, 394, 572,
];

/// How wide words are at a font size, in pixels.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| advance(c, &REGULAR)).sum::<f64>() * size
}

/// How wide bold words are at a font size, in pixels.
pub fn width_bold(text: &str, size: f64) -> f64 {
    text.chars().map(|c| advance(c, &BOLD)).sum::<f64>() * size
}

/// How wide words are where that is known of every letter, which is of English and numbers.
pub(crate) fn known_width(text: &str, size: f64, bold: bool) -> Option<f64> {
    let is_known = |c: char| matches!(c, ' '..='~' | '…' | '−' | '×' | '±');
    let table = if bold { &BOLD } else { &REGULAR };
    text.chars().all(is_known).then(|| text.chars().map(|c| advance(c, table)).sum::<f64>() * size)
}

fn advance(c: char, table: &[u16; 95]) -> f64 {
    match c {
        ' '..='~' => table[c as usize - 32] as f64 / 1000.0,
        '…' => 0.79,
        '−' | '×' | '±' => 0.572,
        '→' | '←' => 1.0,
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ff60}' => 1.0,
        '\u{1f000}'.. => 1.2,
        _ => 0.6,
    }
}

/// The name of something as one line: what would break a line, reorder it or not be seen becomes `�`, nothing becomes
/// "(no name)".
pub fn one_line(name: &str) -> String {
    let line: String = name.trim().chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { visible(c) }).collect();
    if line.is_empty() { "(no name)".into() } else { line }
}

/// The character itself, or `�` for one that steers instead of being read.
pub(crate) fn visible(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        c if c.is_control() => '\u{fffd}',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => '\u{fffd}',
        '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c => c,
    }
}

/// A name in at most so many pixels, on one line: its end is replaced by an ellipsis where it does not fit.
pub fn shortened(name: &str, size: f64, pixels: f64) -> String {
    let line = one_line(name);
    if width(&line, size) <= pixels {
        return line;
    }
    let room = pixels - width("…", size);
    let mut used = 0.0;
    let mut short = String::new();
    for c in line.chars() {
        used += advance(c, &REGULAR) * size;
        if used > room {
            break;
        }
        short.push(c);
    }
    format!("{}…", short.trim_end())
}

/// A long text in lines of at most so many pixels, broken between words.
pub fn wrapped(text: &str, size: f64, pixels: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= pixels => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(shortened(word, size, pixels)),
        }
    }
    lines
}

/// A number with a minus sign instead of a hyphen, as figures and pages write it.
pub fn with_minus(number: &str) -> String {
    number.replace('-', "−")
}

/// A number with so many significant digits.
pub fn number(value: f64, digits: usize) -> String {
    with_minus(&numbers::significant(value, digits))
}

/// A number with so many significant digits, its sign always written.
pub fn signed(value: f64, digits: usize) -> String {
    let text = number(value, digits);
    if value > 0.0 { format!("+{text}") } else { text }
}

/// A value of a feature in its unit: a date where that counts days, else a number.
pub fn value(value: f64, unit: Option<&str>) -> String {
    let text = numbers::in_unit(value, unit);
    if unit == Some(numbers::DAYS) { text } else { with_minus(&text) }
}

/// The ends of a bin as words name them: of whole numbers the first and the last that it may hold, none above `largest`.
pub fn bin_values(bin: &Bin, whole: bool, largest: Option<f64>) -> [f64; 2] {
    let last = if whole && bin.from < bin.to { bin.to - 1.0 } else { bin.to };
    [bin.from, largest.map_or(last, |largest| last.min(largest)).max(bin.from)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_minus_sign() {
        assert_eq!([number(-0.012345, 3), number(1.5e-9, 2)], ["−0.0123", "1.5e−9"]);
        assert_eq!([signed(0.5, 2), signed(-0.5, 2), signed(0.0, 2)], ["+0.50", "−0.50", "0"]);
    }

    /// 24 bins of 167 whole numbers from 3 on reach beyond 4000.
    #[test]
    fn bins_of_whole_numbers_do_not_overlap_and_end_with_the_data() {
        let bin = |from: f64, to: f64| Bin { from, to, support: Default::default() };
        let bins: Vec<Bin> = (0..24).map(|b| bin(3.0 + 167.0 * f64::from(b), 170.0 + 167.0 * f64::from(b))).collect();
        let values: Vec<[f64; 2]> = bins.iter().map(|bin| bin_values(bin, true, Some(4000.0))).collect();
        assert_eq!((values[0], values[1], values[23]), ([3.0, 169.0], [170.0, 336.0], [3844.0, 4000.0]));
        assert!(values.windows(2).all(|pair| pair[0][1] < pair[1][0]));
        assert_eq!(bin_values(&bin(2.0, 2.0), true, Some(9.0)), [2.0, 2.0]);
        assert_eq!(bin_values(&bin(0.5, 1.0), false, Some(9.0)), [0.5, 1.0]);
    }

    #[test]
    fn shortened_names_fit_and_steering_characters_show() {
        let long = "x".repeat(200);
        let short = shortened(&long, 12.0, 80.0);
        assert!(width(&short, 12.0) <= 80.0 && short.ends_with('…'));
        assert_eq!(one_line("a\nb\u{202e}\0"), "a b\u{fffd}\u{fffd}");
        assert_eq!(one_line("  "), "(no name)");
    }
}
