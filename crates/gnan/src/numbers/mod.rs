//! How numbers are written for people: counts, measurements, metrics, shares, times, amounts of memory, and amounts that
//! must add up as printed. Every message, table and figure uses these functions, so that a number reads the same
//! everywhere. Files for programs (models, JSON, CSV) keep every digit and do not come here.

mod dates;
mod precision;

pub use dates::{DAYS, date, days_of, in_unit};
pub use precision::Precision;

/// A count with its thousands apart: "1,282".
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count and its noun: "1 graph", "1,282 graphs".
pub fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// How many more there are: "1 more graph", "1,282 more graphs".
pub fn counted_more(number: usize, noun: &str) -> String {
    counted(number, &format!("more {noun}"))
}

/// A number with so many significant digits, zeros at its end included: "0.500". Powers of ten are written below 1e-5
/// and from 1e7 on.
pub fn significant(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "not a number".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "infinity" } else { "-infinity" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = digits.max(1);
    let scientific = format!("{value:.*e}", digits - 1);
    // The exponent after rounding: 9.996 with three digits is 10.0.
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok()).unwrap_or(0);
    if !(-5..7).contains(&exponent) {
        return scientific;
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    format!("{value:.decimals$}")
}

/// A number with four significant digits at most, without needless zeros: "0.5", "31.25", "1e9".
pub fn number(value: f64) -> String {
    let text = significant(value, 4);
    let (mantissa, exponent) = text.find('e').map_or((text.as_str(), ""), |at| text.split_at(at));
    match mantissa.contains('.') {
        true => format!("{}{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.')),
        false => text,
    }
}

/// A number with so many decimals; what rounds to zero has no sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    unsigned_zero(format!("{value:.decimals$}"))
}

/// A number with so many decimals and always a sign; what rounds to zero is "+0.00".
pub fn with_sign(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

fn unsigned_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| matches!(c, '0' | '.')) => zero.to_owned(),
        _ => text,
    }
}

/// A metric or a loss: four decimals, unless it is too large or too small for them.
pub fn metric(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-4..1e6).contains(&size) { fixed(value, 4) } else { number(value) }
}

/// A share as a percentage with so many decimals: 0.973 is "97.3 %".
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{} %", fixed(100.0 * share, decimals))
}

/// A probability, never rounded to certainty: "probability 97.3 %", "probability above 99.9 %".
pub fn probability(share: f64) -> String {
    match share {
        _ if share > 0.0 && share < 0.001 => "probability below 0.1 %".to_owned(),
        _ if share > 0.999 && share < 1.0 => "probability above 99.9 %".to_owned(),
        _ => format!("probability {}", percent(share, 1)),
    }
}

/// A mean with its standard deviation: "84.2 ± 1.3".
pub fn mean_and_std(mean: f64, std: f64, decimals: usize) -> String {
    format!("{} ± {}", fixed(mean, decimals), fixed(std, decimals))
}

/// A span of time in at most two units: "12.5 ms", "0.4 s", "12 s", "3 min 20 s".
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s > 0.0 && s < 0.1 => format!("{:.1} ms", 1000.0 * s),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 59.5 => format!("{s:.0} s"),
        s => {
            let whole = s.round();
            format!("{:.0} min {:.0} s", (whole / 60.0).floor(), whole % 60.0)
        }
    }
}

/// An amount of memory: "1.2 GB".
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} bytes");
    }
    let mut amount = bytes as f64 / 1e3;
    let mut unit = 0;
    // 999.96 would be written as 1000.0.
    while amount >= 999.95 && unit + 1 < UNITS.len() {
        amount /= 1e3;
        unit += 1;
    }
    let decimals = usize::from(amount < 99.95);
    format!("{amount:.decimals$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_their_thousands_apart() {
        assert_eq!([0, 999, 1282, 1_000_000].map(count), ["0", "999", "1,282", "1,000,000"]);
        assert_eq!([counted(1, "graph"), counted(1282, "graph")], ["1 graph", "1,282 graphs"]);
        assert_eq!([counted_more(1, "node"), counted_more(0, "node")], ["1 more node", "0 more nodes"]);
    }

    #[test]
    fn significant_digits_are_kept() {
        let shown = [-0.012345, 1234.5, 0.0, -0.0, 9.996, 0.5, 1.5e-9, 2e7].map(|value| significant(value, 3));
        assert_eq!(shown, ["-0.0123", "1234", "0", "0", "10.0", "0.500", "1.50e-9", "2.00e7"]);
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|value| significant(value, 0));
        assert_eq!(odd, ["not a number", "infinity", "-infinity"]);
    }

    #[test]
    fn numbers_have_no_needless_zeros() {
        let shown = [0.0, 1.0, -0.5, 1234.5678, 0.00012346, 1e9, 31.25, 5e-5, 100.0, -2.5e-8].map(number);
        assert_eq!(shown, ["0", "1", "-0.5", "1235", "0.0001235", "1e9", "31.25", "0.00005", "100", "-2.5e-8"]);
        assert_eq!(number(f64::NAN), "not a number");
    }

    #[test]
    fn zero_has_no_sign_of_its_own() {
        assert_eq!([fixed(-0.001, 2), fixed(-0.3, 0), fixed(-1.005, 1)], ["0.00", "0", "-1.0"]);
        assert_eq!([with_sign(-0.001, 2), with_sign(0.5, 2), with_sign(-2.0, 1)], ["+0.00", "+0.50", "-2.0"]);
    }

    #[test]
    fn metrics_have_four_decimals_where_that_says_something() {
        assert_eq!([0.80342, -0.0057, 0.0, 2.5e-6, 3e9].map(metric), ["0.8034", "-0.0057", "0.0000", "2.5e-6", "3e9"]);
    }

    #[test]
    fn shares_and_probabilities() {
        assert_eq!([percent(0.97349, 1), percent(1.0, 0), percent(-0.0001, 1)], ["97.3 %", "100 %", "0.0 %"]);
        let shown = [0.0, 0.0004, 0.25, 0.9996, 1.0].map(probability);
        assert_eq!(
            shown,
            [
                "probability 0.0 %",
                "probability below 0.1 %",
                "probability 25.0 %",
                "probability above 99.9 %",
                "probability 100.0 %"
            ]
        );
        assert_eq!(mean_and_std(84.249, 1.0, 1), "84.2 ± 1.0");
    }

    #[test]
    fn times_roll_over_into_minutes() {
        let shown = [0.0, 0.0125, 0.31, 9.94, 12.4, 59.6, 119.7, 200.0].map(duration);
        assert_eq!(shown, ["0.0 s", "12.5 ms", "0.3 s", "9.9 s", "12 s", "1 min 0 s", "2 min 0 s", "3 min 20 s"]);
    }

    #[test]
    fn amounts_of_memory_have_a_unit() {
        let found = [0, 999, 1500, 99_949, 999_960, 123_400_000, 1_610_612_736, u64::MAX].map(bytes);
        assert_eq!(found, ["0 bytes", "999 bytes", "1.5 kB", "99.9 kB", "1.0 MB", "123 MB", "1.6 GB", "18446744 TB"]);
    }
}
