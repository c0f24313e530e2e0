//! Numbers that are written so that they are read as text: with thousands separators, a decimal comma, a unit, a sign. They are
//! recognised to say what is wrong, never to guess a value.

use std::collections::HashSet;

use crate::files::table::bounds;
use crate::files::table::quoted;

/// With more different words behind numbers than this, they are parts of names and no units.
const MOST_UNITS: usize = 5;
/// Letters of the longest unit.
const LONGEST_UNIT: usize = 12;
/// Signs that separate thousands besides points and commas.
const SPACES: [char; 5] = [' ', '\'', '’', '\u{a0}', '\u{202f}'];

/// What some cells that are no numbers have in common with numbers.
pub struct NumberText {
    /// How many of the cells are numbers to a reader.
    pub cells: usize,
    /// Why they are not read as numbers, and how to write them; empty where there is none.
    pub reasons: String,
    /// A few cells that are no numbers at all.
    pub others: Vec<String>,
}

/// Why a number is read as text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextForm {
    Bound,
    Thousands,
    DecimalComma,
    /// `1,234`: the other cells decide.
    ThousandsOrComma,
    Unit,
    Sign,
}

/// Looks for numbers among cells that are not read as such.
pub fn written_as_text(cells: &[&str]) -> NumberText {
    let mut forms: Vec<Option<(TextForm, String)>> = cells.iter().map(|cell| form_of(cell)).collect();
    let units: HashSet<&str> = cells.iter().filter_map(|cell| parts_of(cell)).map(|[_, _, unit]| unit).collect();
    if units.len() > MOST_UNITS {
        forms.iter_mut().filter(|form| matches!(form, Some((TextForm::Unit, _)))).for_each(|form| *form = None);
    }
    let found = |form: TextForm| forms.iter().position(|it| matches!(it, Some((of_cell, _)) if *of_cell == form));
    // 1,234 has a decimal comma where 3,25 stands in the same column.
    let comma = found(TextForm::DecimalComma);
    let thousands = found(TextForm::Thousands).or(found(TextForm::ThousandsOrComma).filter(|_| comma.is_none()));
    let mut reasons = Vec::new();
    let mut add = |at: Option<usize>, reason: &dyn Fn(&str) -> String| {
        if let Some((at, (_, plain))) = at.and_then(|at| Some((at, forms[at].as_ref()?))) {
            reasons.push(format!("{} {}", quoted(cells[at]), reason(plain)));
        }
    };
    add(thousands, &|plain| format!("has a thousands separator (write {plain})"));
    add(comma, &|plain| {
        format!("has a decimal comma (write {plain}, or separate the cells of the table by semicolons)")
    });
    add(found(TextForm::Unit), &|plain| format!("has a unit in the cell (write {plain}, and the unit in the header)"));
    add(found(TextForm::Sign), &|plain| format!("has a sign before the number (write {plain})"));
    add(found(TextForm::Bound), &|_| "is a bound and no value".to_owned());
    let others = cells.iter().zip(&forms).filter(|(_, form)| form.is_none()).take(3);
    NumberText {
        cells: forms.iter().flatten().count(),
        reasons: reasons.join("; "),
        others: others.map(|(cell, _)| (*cell).to_owned()).collect(),
    }
}

/// Why a cell is not read as a number, and the number; `None` where it is none to a reader either.
fn form_of(cell: &str) -> Option<(TextForm, String)> {
    if bounds::read(cell).is_some() {
        return Some((TextForm::Bound, String::new()));
    }
    let [sign, body, unit] = parts_of(cell)?;
    let (form, plain) = match body.parse::<f64>() {
        Ok(_) => (None, body.to_owned()),
        Err(_) => grouped(body).map(|(form, plain)| (Some(form), plain))?,
    };
    let form = match form {
        _ if !unit.is_empty() => TextForm::Unit,
        Some(form) => form,
        None if !sign.is_empty() => TextForm::Sign,
        None => return None,
    };
    Some((form, plain))
}

/// The sign before a number, the number, and what stands behind it.
fn parts_of(cell: &str) -> Option<[&str; 3]> {
    let is_sign = |letter: char| !letter.is_alphanumeric() && !['-', '+', '.', ','].contains(&letter);
    let start = cell.find(|letter| !is_sign(letter))?;
    let (sign, rest) = cell.split_at(start);
    let is_number = |letter: char| letter.is_ascii_digit() || ['.', ','].contains(&letter) || SPACES.contains(&letter);
    let unsigned = rest.trim_start_matches(['-', '+']);
    let signs = rest.len() - unsigned.len();
    let end = unsigned.find(|letter| !is_number(letter)).unwrap_or(unsigned.len());
    let (body, unit) = (rest[..signs + end].trim_end_matches(SPACES), &rest[signs + end..]);
    let is_unit = unit.chars().count() <= LONGEST_UNIT
        && unit
            .chars()
            .next()
            .is_none_or(|letter| letter.is_alphabetic() || ['%', '‰', '°', '$', '€', '£', '¥'].contains(&letter));
    let digits = unsigned.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.');
    (signs <= 1 && digits && is_unit && sign.chars().count() <= 2).then_some([sign, body, unit])
}

/// A number with separators: which they are, and the number without.
fn grouped(body: &str) -> Option<(TextForm, String)> {
    let unsigned = body.trim_start_matches(['-', '+']);
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let in_threes = |whole: &str, separator: char| {
        let mut groups = whole.split(separator);
        let first = groups.next().is_some_and(|first| first.len() <= 3 && all_digits(first));
        first && groups.all(|group| group.len() == 3 && all_digits(group))
    };
    let without = |separator: char| body.replace(separator, "");
    let (commas, points) = (unsigned.matches(',').count(), unsigned.matches('.').count());
    if let Some(space) = SPACES.into_iter().find(|space| unsigned.contains(*space)) {
        let [whole, _] = unsigned.split_once(['.', ',']).map_or([unsigned, ""], |(whole, rest)| [whole, rest]);
        return in_threes(whole, space).then(|| (TextForm::Thousands, without(space).replace(',', ".")));
    }
    let last_comma = unsigned.rfind(',').unwrap_or(0) > unsigned.rfind('.').unwrap_or(0);
    match (commas, points) {
        (1, 0) => {
            let (whole, rest) = unsigned.split_once(',')?;
            let threes = in_threes(unsigned, ',') && !whole.starts_with('0');
            let (form, plain) = match threes {
                true => (TextForm::ThousandsOrComma, without(',')),
                false => (TextForm::DecimalComma, body.replace(',', ".")),
            };
            (all_digits(whole) && all_digits(rest)).then_some((form, plain))
        }
        (0, _) => in_threes(unsigned, '.').then(|| (TextForm::Thousands, without('.'))),
        (1, _) if last_comma => {
            let (whole, rest) = unsigned.split_once(',')?;
            let fits = in_threes(whole, '.') && all_digits(rest);
            fits.then(|| (TextForm::DecimalComma, without('.').replace(',', ".")))
        }
        (_, 0 | 1) => {
            let (whole, rest) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
            (in_threes(whole, ',') && all_digits(rest)).then(|| (TextForm::Thousands, without(',')))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_recognised_however_they_are_written() {
        for (cell, reason) in [
            ("1,234", "\"1,234\" has a thousands separator (write 1234)"),
            ("1,234,567.5", "\"1,234,567.5\" has a thousands separator (write 1234567.5)"),
            ("-12 345,6", "\"-12 345,6\" has a thousands separator (write -12345.6)"),
            ("1'234", "\"1'234\" has a thousands separator (write 1234)"),
            ("1.234.567", "\"1.234.567\" has a thousands separator (write 1234567)"),
            ("3,25", "\"3,25\" has a decimal comma (write 3.25, or"),
            ("0,125", "\"0,125\" has a decimal comma (write 0.125, or"),
            ("1.234,5", "\"1.234,5\" has a decimal comma (write 1234.5, or"),
            ("1.2kg", "\"1.2kg\" has a unit in the cell (write 1.2, and"),
            ("12 %", "\"12 %\" has a unit in the cell (write 12, and"),
            ("-5 °C", "\"-5 °C\" has a unit in the cell (write -5, and"),
            ("~4.2", "\"~4.2\" has a sign before the number (write 4.2)"),
            ("$1,200", "\"$1,200\" has a thousands separator (write 1200)"),
            ("<4.0", "\"<4.0\" is a bound and no value"),
        ] {
            let found = written_as_text(&[cell]);
            assert!(found.cells == 1 && found.reasons.starts_with(reason), "{cell}: {}", found.reasons);
        }
        for name in
            ["word 3", "3-methylpentane", "", "-", "A12", "1,2,3", "12:30", "2024-01-05", "1..2", "--3", "ä", "%"]
        {
            assert_eq!(written_as_text(&[name]).cells, 0, "{name}");
        }
    }

    #[test]
    fn other_cells_decide_what_a_comma_means() {
        let found = written_as_text(&["1,234", "3,25"]);
        assert_eq!((found.cells, found.reasons.contains("thousands")), (2, false));
        let names = ["1 Main St", "2 High St", "3 Low St", "4 East St", "5 West St", "6 New St"];
        let found = written_as_text(&names);
        assert_eq!((found.cells, found.reasons.as_str(), found.others.len()), (0, "", 3));
    }
}
