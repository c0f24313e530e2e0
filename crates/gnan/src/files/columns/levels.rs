//! From raw values to the levels of a categorical column: each level once, in an order that people expect.

use std::collections::{BTreeMap, HashMap};

use crate::files::tables::{MISSING, Values};

/// Levels that are whole numbers, in numerical order, called what `name` calls them; `None` is missing.
///
/// Two numbers of one name stay two levels: the number is added to the name.
pub fn of_numbers(values: &[Option<i64>], name: impl Fn(i64) -> String) -> Values {
    let mut code_of: BTreeMap<i64, u32> = values.iter().flatten().map(|&value| (value, 0)).collect();
    let mut uses: HashMap<String, u32> = HashMap::new();
    for (code, (&value, slot)) in (0..).zip(&mut code_of) {
        *slot = code;
        *uses.entry(name(value)).or_default() += 1;
    }
    let level = |&value: &i64| match name(value) {
        unique if uses.get(&unique) == Some(&1) => unique,
        shared => format!("{shared} ({value})"),
    };
    let codes = values.iter().map(|value| value.map_or(MISSING, |value| code_of[&value]));
    Values::Categories { codes: codes.collect(), levels: code_of.keys().map(level).collect() }
}

/// Levels that are words, in numerical order if all are whole numbers and alphabetically otherwise; `None` is missing.
pub fn of_words<'a>(words: impl Iterator<Item = Option<&'a str>>) -> Values {
    let mut first_code: HashMap<&str, u32> = HashMap::new();
    let mut codes: Vec<u32> = words
        .map(|word| match word {
            None => MISSING,
            Some(word) => {
                let next = first_code.len() as u32;
                *first_code.entry(word).or_insert(next)
            }
        })
        .collect();
    let mut ordered: Vec<(&str, u32)> = first_code.into_iter().collect();
    ordered.sort_unstable();
    if let Some(mut numbers) =
        ordered.iter().map(|&entry| Some((whole_number(entry.0)?, entry))).collect::<Option<Vec<_>>>()
    {
        numbers.sort_unstable();
        ordered = numbers.into_iter().map(|(_, entry)| entry).collect();
    }
    let mut final_code = vec![0; ordered.len()];
    for (code, &(_, first)) in (0..).zip(&ordered) {
        final_code[first as usize] = code;
    }
    for code in codes.iter_mut().filter(|code| **code != MISSING) {
        *code = final_code[*code as usize];
    }
    Values::Categories { codes, levels: ordered.into_iter().map(|(word, _)| word.to_string()).collect() }
}

fn whole_number(word: &str) -> Option<i64> {
    word.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(values: Values) -> Vec<String> {
        match values {
            Values::Categories { levels, .. } => levels,
            _ => Vec::new(),
        }
    }

    #[test]
    fn whole_numbers_are_ordered_as_numbers_and_words_as_words() {
        assert_eq!(levels(of_words(["10", "9", "-1"].map(Some).into_iter())), ["-1", "9", "10"]);
        assert_eq!(levels(of_words(["10", "9", "x"].map(Some).into_iter())), ["10", "9", "x"]);
    }

    #[test]
    fn two_numbers_of_one_name_stay_apart() {
        assert_eq!(levels(of_numbers(&[Some(2), Some(0)], |_| "C".to_string())), ["C (0)", "C (2)"]);
    }
}
