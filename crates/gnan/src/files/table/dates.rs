//! Dates in the cells of a table: as numbers of days, where every cell of a column is a date of one form.
//!
//! `2024-03-05`, `2024/3/5`, `5.3.2024` and `5 Mar 2024` say which number is the day; `5/3/2024` does not, so that the cells
//! of the whole column must (one of them has a number above 12), or the data that a model was trained on. A year may have two
//! digits behind the day and the month. A time of day behind the date counts as a part of a day.

use serde::{Deserialize, Serialize};

use crate::numbers::days_of;

/// Whether the day or the month is written first, where both are numbers before the year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// As in 31/12/2024.
    DayFirst,
    /// As in 12/31/2024.
    MonthFirst,
}

/// How a date is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DateForm {
    YearFirst,
    /// `5 Jun 2022`, `Jun 5, 2022`, `5-Jun-2022`.
    MonthName,
    Ordered(DateOrder),
}

/// What the cells of a column are.
#[derive(Debug, PartialEq)]
pub enum Dates {
    /// Dates.
    Days(DateColumn),
    /// Dates of which it cannot be told whether the day or the month comes first.
    Ambiguous,
    /// No dates.
    Other,
}

/// The dates of a column.
#[derive(Debug, PartialEq)]
pub struct DateColumn {
    /// Days since 1970-01-01; NaN where a cell is missing, or is one of the few that are no dates.
    pub days: Vec<f64>,
    /// Whether the day or the month comes first, where that can be told and matters.
    pub order: Option<DateOrder>,
    /// The first row whose year has two digits.
    pub short_year: Option<usize>,
}

/// So many dates make a column one of dates, although a few cells are none ...
const MANY: usize = 20;
/// ... up to this share.
const MOST_OTHERS: f64 = 0.05;
/// Years of two digits up to this are of this century, those above of the last.
const PIVOT: i64 = 68;
/// The same for people.
pub const SHORT_YEARS: &str = "years 00 to 68 are 2000 to 2068, 69 to 99 are 1969 to 1999";
/// Names of the months, of which the first three letters suffice.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Reads cells, `None` where one is missing, as dates of one form; where they do not show whether the day or the month comes
/// first, it is as in `known`.
pub fn read<'a>(cells: impl Iterator<Item = Option<&'a str>> + Clone, known: Option<DateOrder>) -> Dates {
    let count = cells.clone().flatten().count();
    let read = |form: DateForm| -> (usize, DateColumn) {
        let mut column = DateColumn { days: Vec::new(), order: None, short_year: None };
        for (row, cell) in cells.clone().enumerate() {
            let date = cell.and_then(|cell| date(cell, form));
            column.days.push(date.map_or(f64::NAN, |date| date.days));
            if date.is_some_and(|date| date.short_year) {
                column.short_year = column.short_year.or(Some(row));
            }
        }
        if let DateForm::Ordered(order) = form {
            column.order = Some(order);
        }
        (column.days.iter().filter(|day| !day.is_nan()).count(), column)
    };
    let enough = |dates: usize| {
        dates > 0 && (dates == count || (dates >= MANY && (count - dates) as f64 <= MOST_OTHERS * count as f64))
    };
    for form in [DateForm::YearFirst, DateForm::MonthName] {
        let (dates, column) = read(form);
        if enough(dates) {
            return Dates::Days(column);
        }
    }
    let [(day_dates, mut day_first), (month_dates, month_first)] =
        [DateOrder::DayFirst, DateOrder::MonthFirst].map(|order| read(DateForm::Ordered(order)));
    // A number above 12 shows which of the two is the day.
    match day_dates.cmp(&month_dates) {
        std::cmp::Ordering::Greater if enough(day_dates) => Dates::Days(day_first),
        std::cmp::Ordering::Less if enough(month_dates) => Dates::Days(month_first),
        std::cmp::Ordering::Equal if enough(day_dates) => {
            let same = |(one, other): (&f64, &f64)| one == other || (one.is_nan() && other.is_nan());
            match (day_first.days.iter().zip(&month_first.days).all(same), known) {
                (true, _) => {
                    day_first.order = None;
                    Dates::Days(day_first)
                }
                (false, Some(DateOrder::DayFirst)) => Dates::Days(day_first),
                (false, Some(DateOrder::MonthFirst)) => Dates::Days(month_first),
                (false, None) => Dates::Ambiguous,
            }
        }
        _ => Dates::Other,
    }
}

/// One date.
#[derive(Clone, Copy)]
struct CellDate {
    days: f64,
    short_year: bool,
}

/// A date; `None` where the cell is not one of this form.
fn date(cell: &str, form: DateForm) -> Option<CellDate> {
    if form == DateForm::MonthName {
        return date_with_month_name(cell);
    }
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
        DateForm::Ordered(DateOrder::DayFirst) => (third, second, first),
        // A point is never written between month and day.
        DateForm::Ordered(DateOrder::MonthFirst) if separator == '.' => return None,
        DateForm::Ordered(DateOrder::MonthFirst) => (third, first, second),
        _ => (first, second, third),
    };
    // Versions such as 1.2.10 are no dates, and 24-03-05 may begin with the year.
    let short = match separator {
        '/' => true,
        '.' => day.len() == 2 && month.len() == 2,
        _ => false,
    };
    let short = short && form != DateForm::YearFirst;
    let (year, short_year) = year_of(year).filter(|(_, is_short)| short || !is_short)?;
    let day = days_of(year, digits(month)?, digits(day)?)?;
    Some(CellDate { days: day as f64 + time.map_or(Some(0.0), share_of_day)?, short_year })
}

/// A date whose month is a word.
fn date_with_month_name(cell: &str) -> Option<CellDate> {
    let mut rest = cell;
    let mut words = [""; 3];
    for (place, word) in words.iter_mut().enumerate() {
        if place > 0 {
            rest = rest.trim_start_matches([' ', '-', '/', '.', ',']);
        }
        let is_number = rest.starts_with(|letter: char| letter.is_ascii_digit());
        let is_part = |letter: char| if is_number { letter.is_ascii_digit() } else { letter.is_ascii_alphabetic() };
        let end = rest.find(|letter: char| !is_part(letter)).unwrap_or(rest.len());
        (*word, rest) = rest.split_at(end);
    }
    let (year, month, day) = match words.map(month_of) {
        [None, Some(month), None] if words[0].len() == 4 => (words[0], month, words[2]),
        [None, Some(month), None] => (words[2], month, words[0]),
        [Some(month), None, None] => (words[2], month, words[1]),
        _ => return None,
    };
    let rest = rest.strip_prefix(',').unwrap_or(rest);
    let time = match rest.strip_prefix([' ', 'T']) {
        Some(time) => share_of_day(time)?,
        None if rest.is_empty() => 0.0,
        None => return None,
    };
    let (year, short_year) = year_of(year)?;
    let day = days_of(year, month, digits(day).filter(|day| *day < 32)?)?;
    Some(CellDate { days: day as f64 + time, short_year })
}

/// The number of a month by its name, or the first three letters of it.
fn month_of(word: &str) -> Option<i64> {
    let word = word.to_ascii_lowercase();
    let place = MONTHS.iter().position(|name| word == *name || word == name[..3]);
    place.or((word == "sept").then_some(8)).map(|place| place as i64 + 1)
}

/// A year of four digits, or of two; and whether it had two.
fn year_of(word: &str) -> Option<(i64, bool)> {
    let year = digits(word)?;
    match word.len() {
        4 => Some((year, false)),
        2 => Some((if year <= PIVOT { 2000 + year } else { 1900 + year }, true)),
        _ => None,
    }
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
        read_known(cells, None)
    }

    fn read_known(cells: &[&str], known: Option<DateOrder>) -> Dates {
        read(cells.iter().map(|cell| Some(*cell).filter(|cell| !cell.is_empty())), known)
    }

    /// The days of cells that are dates.
    fn days(cells: &[&str]) -> Vec<f64> {
        match read_all(cells) {
            Dates::Days(column) => column.days,
            other => panic!("{cells:?}: {other:?}"),
        }
    }

    #[test]
    fn dates_are_of_one_form() {
        assert_eq!(days(&["2024-03-05", "1970-01-01"]), [19_787.0, 0.0]);
        assert_eq!(read_all(&["2024/3/5", "5.3.2024"]), Dates::Other);
        assert_eq!(days(&["5.3.2024"]), [19_787.0]);
    }

    #[test]
    fn the_whole_column_tells_day_from_month() {
        assert_eq!(days(&["03/05/2024", "31/12/1969"]), [19_846.0, -1.0]);
        assert_eq!(days(&["03/05/2024", "12/31/1969"]), [19_787.0, -1.0]);
        assert_eq!(read_all(&["03/05/2024", "01/02/2024"]), Dates::Ambiguous);
        assert_eq!(read_all(&["03/05/2024", "31/12/1969", "12/31/1969"]), Dates::Other);
        let mut many = vec!["03/05/2024"; 30];
        many.extend(["31/12/1969", "soon"]);
        let days_of_many = days(&many);
        assert_eq!((days_of_many[0], days_of_many[30], days_of_many[31].is_nan()), (19_846.0, -1.0, true));
        assert_eq!(days(&["03/03/2024"]), [19_785.0]);
    }

    #[test]
    fn a_known_order_decides_where_the_cells_do_not() {
        let (day, month) = (DateOrder::DayFirst, DateOrder::MonthFirst);
        let read = |cells: &[&str], known| match read_known(cells, Some(known)) {
            Dates::Days(column) => (column.days[0], column.order),
            other => panic!("{other:?}"),
        };
        assert_eq!(read(&["03/05/2024"], day), (19_846.0, Some(day)));
        assert_eq!(read(&["03/05/2024"], month), (19_787.0, Some(month)));
        // What the cells show counts more.
        assert_eq!(read(&["03/05/2024", "12/31/1969"], day), (19_787.0, Some(month)));
        assert_eq!(read(&["03/03/2024"], day), (19_785.0, None));
        assert_eq!(read(&["2024-03-05"], day), (19_787.0, None));
    }

    /// 2022-06-05 is day 19,148: `date -u -d 2022-06-05 +%s` divided by 86,400.
    #[test]
    fn months_may_have_names() {
        for cell in [
            "05 Jun 2022",
            "5 june 2022",
            "Jun 5, 2022",
            "June 5 2022",
            "5-Jun-2022",
            "05-JUN-22",
            "05JUN2022",
            "2022-Jun-05",
            "5. June 2022",
        ] {
            assert_eq!(days(&[cell]), [19_148.0], "{cell}");
        }
        assert_eq!(days(&["5 Jun 2022 12:00", "Jun 5, 2022, 12:00"]), [19_148.5, 19_148.5]);
        assert_eq!(days(&["1 Sept 2022"]), days(&["2022-09-01"]));
        let odd = [
            "Jun 2022",
            "32 Jun 2022",
            "30 Feb 2022",
            "5 Juno 2022",
            "Jun Jun 2022",
            "5 Jun 2022 x",
            "-5 Jun 2022",
            "ä",
        ];
        for odd in odd {
            assert_eq!(read_all(&[odd]), Dates::Other, "{odd}");
        }
    }

    #[test]
    fn years_of_two_digits_are_of_this_century_up_to_68() {
        assert_eq!(days(&["05/06/22", "13/06/68"]), days(&["2022-06-05", "2068-06-13"]));
        assert_eq!(days(&["5/13/69", "6/5/22"]), days(&["1969-05-13", "2022-06-05"]));
        assert_eq!(days(&["05.06.22"]), [19_148.0]);
        let Dates::Days(column) = read_all(&["13/06/2022", "05/06/22"]) else { panic!("dates") };
        assert_eq!(column.short_year, Some(1));
        assert_eq!(read_all(&["05/06/22"]), Dates::Ambiguous);
        for version in ["1.2.10", "5-6-22", "1/2/3"] {
            assert_eq!(read_all(&[version]), Dates::Other, "{version}");
        }
    }

    #[test]
    fn times_are_parts_of_a_day() {
        for time in ["2024-03-05T12:00", "2024-03-05 12:00:00.0", "2024-03-05T12:00:00Z", "2024-03-05T14:00+02:00"] {
            assert_eq!(days(&[time]), [19_787.5], "{time}");
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
