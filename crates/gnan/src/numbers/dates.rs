//! Dates: a date is a number of days, and written as a date for people.

/// The unit of a date as a number.
pub const DAYS: &str = "days since 1970-01-01";

/// Days between 0000-03-01 and 1970-01-01.
const TO_1970: i64 = 719_468;
/// Days of 400 years.
const ERA: i64 = 146_097;

/// Days since 1970-01-01 of a day in the Gregorian calendar; `None` where there is no such day.
pub fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=9999).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    // Years begin in March, so that a leap day is the last of its year.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let before_year = 365 * year + year / 4 - year / 100 + year / 400;
    Some(before_year + (153 * month + 2) / 5 + day - 1 - TO_1970)
}

/// Minutes of a day.
const MINUTES: f64 = 1440.0;

/// The date of a number of days since 1970-01-01, such as `2024-03-05`, and `2024-03-05 18:30` where it is not midnight; the
/// number itself where it is no date of our era.
pub fn date(days: f64) -> String {
    if !(-719_162.0..2_932_896.9).contains(&days) {
        return super::number(days);
    }
    let minutes = (days * MINUTES).round() as i64;
    let (days, minutes) = (minutes.div_euclid(MINUTES as i64), minutes.rem_euclid(MINUTES as i64));
    let time = if minutes == 0 { String::new() } else { format!(" {:02}:{:02}", minutes / 60, minutes % 60) };
    let days = days + TO_1970;
    let (era, day_of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (0, month + 3) } else { (1, month - 9) };
    format!("{:04}-{month:02}-{day:02}{time}", year + year_of_era + 400 * era)
}

/// A value in a unit: a date where the unit counts days, else a number.
pub fn in_unit(value: f64, unit: Option<&str>) -> String {
    if unit == Some(DAYS) { date(value) } else { super::number(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of `date -u -d 2024-03-05 +%s` divided by 86,400.
    #[test]
    fn days_are_counted_from_1970() {
        for (year, month, day, expected) in
            [(1970, 1, 1, 0), (2024, 3, 5, 19_787), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (1600, 2, 29, -135_081)]
        {
            assert_eq!(days_of(year, month, day), Some(expected));
        }
        for (year, month, day) in [(2023, 2, 29), (1900, 2, 29), (2024, 13, 1), (2024, 4, 31), (0, 1, 1), (2024, 1, 0)]
        {
            assert_eq!(days_of(year, month, day), None);
        }
    }

    #[test]
    fn every_day_has_its_date() {
        for year in [1, 4, 100, 400, 1899, 1970, 2000, 2023, 2024, 9999] {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(days) = days_of(year, month, day) {
                        let expected = format!("{year:04}-{month:02}-{day:02}");
                        assert_eq!(date(days as f64), expected);
                        assert_eq!(date(days as f64 + 0.5), format!("{expected} 12:00"));
                    }
                }
            }
        }
        assert_eq!(
            [0.999_999, 1.0 - 90.0 / 86_400.0, -0.25].map(date),
            ["1970-01-02", "1970-01-01 23:59", "1969-12-31 18:00"]
        );
        for odd in [f64::NAN, f64::INFINITY, 1e18, -1e18] {
            assert_eq!(date(odd), super::super::number(odd));
        }
    }
}
