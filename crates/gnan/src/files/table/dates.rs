//! Dates in the cells of a table: as numbers of days, where every cell of a column is a date of one form.
//!
//! `2024-03-05`, `2024/3/5` and `5.3.2024` say which number is the day; `5/3/2024` does not, so that the cells of the whole
//! column must: one of them has a number above 12. A time of day behind the date counts as a part of a day.

use crate::numbers::days_of;

/// Which part of a date is written first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstPart {
    Year,
    Day,
    Month,
}

/// What the cells of a column are.
#[derive(Debug, PartialEq)]
pub enum Dates {
    /// Days since 1970-01-01; NaN where a cell is missing, or is none of the few that are no dates.
    Days(Vec<f64>),
    /// Dates of which it cannot be told whether the day or the month comes first.
    Ambiguous,
    /// No dates.
    Other,
}

/// So many dates make a column one of dates, although a few cells are none ...
const MANY: usize = 20;
/// ... up to this share.
const MOST_OTHERS: f64 = 0.05;

/// Reads cells, `None` where one is missing, as dates of one form.
pub fn read<'a>(cells: impl Iterator<Item = Option<&'a str>> + Clone) -> Dates {
    let known = cells.clone().flatten().count();
    let read = |first: FirstPart| -> (usize, Vec<f64>) {
        let days: Vec<f64> =
            cells.clone().map(|cell| cell.and_then(|cell| days(cell, first)).unwrap_or(f64::NAN)).collect();
        (days.iter().filter(|day| !day.is_nan()).count(), days)
    };
    let enough = |dates: usize| {
        dates > 0 && (dates == known || (dates >= MANY && (known - dates) as f64 <= MOST_OTHERS * known as f64))
    };
    let (dates, days) = read(FirstPart::Year);
    if enough(dates) {
        return Dates::Days(days);
    }
    let ((day_dates, day_first), (month_dates, month_first)) = (read(FirstPart::Day), read(FirstPart::Month));
    // A number above 12 shows which of the two is the day.
    match day_dates.cmp(&month_dates) {
        std::cmp::Ordering::Greater if enough(day_dates) => Dates::Days(day_first),
        std::cmp::Ordering::Less if enough(month_dates) => Dates::Days(month_first),
        std::cmp::Ordering::Equal if enough(day_dates) => {
            let same = |(one, other): (&f64, &f64)| one == other || (one.is_nan() && other.is_nan());
            match day_first.iter().zip(&month_first).all(same) {
                true => Dates::Days(day_first),
                false => Dates::Ambiguous,
            }
        }
        _ => Dates::Other,
    }
}

/// The days of one date; `None` where the cell is not a date of this form.
fn days(cell: &str, form: FirstPart) -> Option<f64> {
    let end = cell.find(['T', ' ']).unwrap_or(cell.len());
    let (date, time) = (&cell[..end], cell[end..].get(1..));
    let separator = date.chars().find(|letter| !letter.is_ascii_digit())?;
    if !['-', '/', '.'].contains(&separator) {
        return None;
    }
    let mut parts = date.split(separator);
    let [first, second, third] = [parts.next()?, parts.next()?, parts.next()?];
    if parts.next().is_some() {
        return None;
    }
    let (year, month, day) = match form {
        FirstPart::Year => (first, second, third),
        FirstPart::Day => (third, second, first),
        // A point is never written between month and day.
        FirstPart::Month if separator == '.' => return None,
        FirstPart::Month => (third, first, second),
    };
    if year.len() != 4 {
        return None;
    }
    let day = days_of(digits(year)?, digits(month)?, digits(day)?)?;
    Some(day as f64 + time.map_or(Some(0.0), share_of_day)?)
}

/// A number of at most four digits and nothing else.
fn digits(word: &str) -> Option<i64> {
    let plain = (1..=4).contains(&word.len()) && word.bytes().all(|letter| letter.is_ascii_digit());
    if plain { word.parse().ok() } else { None }
}

/// `10:30`, `10:30:15.5`, `10:30:15Z`, `10:30+02:00` as a part of a day, in universal time where an offset is given.
fn share_of_day(time: &str) -> Option<f64> {
    let time = time.trim();
    if time.is_empty() {
        return None;
    }
    let (clock, offset) = match time.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, 0.0),
        None => match time.rfind(['+', '-']) {
            Some(at) => {
                let sign = if time.as_bytes()[at] == b'-' { -1.0 } else { 1.0 };
                let offset = &time[at + 1..];
                let (hours, minutes) = match offset.len() {
                    2 => (offset, "0"),
                    4 => offset.split_at_checked(2)?,
                    _ => offset.split_once(':')?,
                };
                let (hours, minutes) = (digits(hours)?, digits(minutes)?);
                if hours > 18 || minutes > 59 {
                    return None;
                }
                (&time[..at], sign * (60 * hours + minutes) as f64)
            }
            None => (time, 0.0),
        },
    };
    let mut parts = clock.split(':');
    let (hours, minutes) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let seconds = parts.next().map_or(Some(0.0), |word| match word.bytes().next() {
        Some(first) if first.is_ascii_digit() => word.parse::<f64>().ok(),
        _ => None,
    })?;
    if parts.next().is_some() || hours > 23 || minutes > 59 || !(0.0..61.0).contains(&seconds) {
        return None;
    }
    Some((60 * hours + minutes) as f64 / 1440.0 + seconds / 86_400.0 - offset / 1440.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(cells: &[&str]) -> Dates {
        read(cells.iter().map(|cell| Some(*cell).filter(|cell| !cell.is_empty())))
    }

    #[test]
    fn dates_are_of_one_form() {
        assert_eq!(read_all(&["2024-03-05", "1970-01-01"]), Dates::Days(vec![19_787.0, 0.0]));
        assert_eq!(read_all(&["2024/3/5", "5.3.2024"]), Dates::Other);
        assert_eq!(read_all(&["5.3.2024"]), Dates::Days(vec![19_787.0]));
    }

    #[test]
    fn the_whole_column_tells_day_from_month() {
        assert_eq!(read_all(&["03/05/2024", "31/12/1969"]), Dates::Days(vec![19_846.0, -1.0]));
        assert_eq!(read_all(&["03/05/2024", "12/31/1969"]), Dates::Days(vec![19_787.0, -1.0]));
        assert_eq!(read_all(&["03/05/2024", "01/02/2024"]), Dates::Ambiguous);
        assert_eq!(read_all(&["03/05/2024", "31/12/1969", "12/31/1969"]), Dates::Other);
        let mut many = vec!["03/05/2024"; 30];
        many.extend(["31/12/1969", "soon"]);
        let Dates::Days(days) = read_all(&many) else { panic!("one of many is no date") };
        assert_eq!((days[0], days[30], days[31].is_nan()), (19_846.0, -1.0, true));
        assert_eq!(read_all(&["03/03/2024"]), Dates::Days(vec![19_785.0]));
    }

    #[test]
    fn times_are_parts_of_a_day() {
        for time in ["2024-03-05T12:00", "2024-03-05 12:00:00.0", "2024-03-05T12:00:00Z", "2024-03-05T14:00+02:00"] {
            assert_eq!(read_all(&[time]), Dates::Days(vec![19_787.5]), "{time}");
        }
    }

    #[test]
    fn what_is_no_date_is_left_alone() {
        for odd in [
            "2023-02-29",
            "2024-13-01",
            "2024-00-01",
            "0000-01-01",
            "24-03-05",
            "2024-03",
            "2024-03-05-06",
            "2024-03-05T",
            "2024-03-05 25:00",
            "2024-03-05 noon",
            "2024-03-05T10:00+99:00",
            "1-2-3",
            "ä-ö-ü",
            "2024-03-05Tä",
            "20240305",
            "-",
            "2024-03-05T1:2:nan",
            "+024-03-05",
        ] {
            assert_eq!(read_all(&[odd]), Dates::Other, "{odd}");
        }
        assert_eq!(read_all(&["", ""]), Dates::Other);
    }
}
