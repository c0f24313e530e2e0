//! Names that people type: found as they are, in lists with commas, or else answered with the names that are near.

use std::collections::{HashMap, HashSet};

use strsim::normalized_damerau_levenshtein as likeness;

use crate::error::{Error, Result};
use crate::numbers::count;

/// Near names that a message lists.
const NEAR: usize = 5;
/// Two names at least this alike are near.
const ALIKE: f64 = 0.5;
/// Most letters of a name in a message.
const MOST_LETTERS: usize = 48;

/// Names in order, with an index.
pub struct Names {
    names: Vec<String>,
    places: HashMap<String, Vec<usize>>,
}

impl Names {
    /// An index of names, which may occur more than once.
    pub fn new(names: impl IntoIterator<Item = String>) -> Names {
        let names: Vec<String> = names.into_iter().collect();
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        names.iter().enumerate().for_each(|(place, name)| places.entry(name.clone()).or_default().push(place));
        Names { names, places }
    }

    /// Where a name occurs.
    pub fn find(&self, name: &str) -> Vec<usize> {
        self.places.get(name).cloned().unwrap_or_default()
    }

    /// Places of the wanted names; `missing` begins the error about one that is not there.
    pub fn pick(&self, wanted: &[String], missing: &str) -> Result<Vec<usize>> {
        pick(wanted, |name| self.find(name))
            .map_err(|name| Error::usage(format!("{missing} \"{}\"", shown(&name))).with_remedy(self.remedy(&name)))
    }

    /// What to say about a name that is not there: the names it is like, or else the first.
    pub fn remedy(&self, name: &str) -> String {
        let listed = |names: &[&str]| names.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ");
        let near = self.near(name);
        if !near.is_empty() {
            return format!("near it are: {}", listed(&near));
        }
        let first: Vec<&str> = self.names.iter().take(NEAR).map(String::as_str).collect();
        let more = self.names.len() - first.len();
        let more = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
        format!("there are: {}{more}", listed(&first))
    }

    fn near(&self, name: &str) -> Vec<&str> {
        let wanted = name.to_lowercase();
        let mut near: Vec<(f64, &str)> = Vec::new();
        for candidate in &self.names {
            let lower = candidate.to_lowercase();
            // Long strangers are not worth comparing letter by letter.
            let comparable = lower.len() <= 4 * wanted.len().max(4) && wanted.len() <= 4 * lower.len().max(4);
            let mut score = if comparable { likeness(&wanted, &lower) } else { 0.0 };
            if !wanted.is_empty() && lower.contains(&wanted) {
                score = score.max(ALIKE);
            }
            if score >= ALIKE {
                near.push((score, candidate));
            }
        }
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut names: Vec<&str> = Vec::new();
        for (_, name) in near {
            if names.len() < NEAR && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// Places of the wanted names, in their order and without repetition. A name that is not found as it stands is a list
/// with commas; one that is not found at all comes back as the error.
pub fn pick(wanted: &[String], find: impl Fn(&str) -> Vec<usize>) -> std::result::Result<Vec<usize>, String> {
    let mut found: Vec<usize> = Vec::new();
    for list in wanted {
        let whole = find(list);
        if !whole.is_empty() {
            found.extend(whole);
            continue;
        }
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty() || list.is_empty()) {
            let some = find(name);
            if some.is_empty() {
                return Err(name.to_owned());
            }
            found.extend(some);
        }
    }
    if found.is_empty() {
        return Err(wanted.first().cloned().unwrap_or_default());
    }
    let mut seen = HashSet::new();
    found.retain(|place| seen.insert(*place));
    Ok(found)
}

/// A name as a message has it: on one line, and cut short where it is long.
pub fn shown(name: &str) -> String {
    let letter = |letter: char| if letter.is_control() { ' ' } else { letter };
    let mut short: String = name.chars().take(MOST_LETTERS).map(letter).collect();
    if name.chars().nth(MOST_LETTERS).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new(["caffeine", "water", "1,2-ethanediol", "Water", "x"].map(str::to_owned))
    }

    fn picked(wanted: &[&str]) -> std::result::Result<Vec<usize>, String> {
        let names = names();
        pick(&wanted.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), |name| names.find(name))
    }

    #[test]
    fn lists_and_names_with_commas() {
        assert_eq!(picked(&["water, caffeine", "x", "water"]), Ok(vec![1, 0, 4]));
        assert_eq!(picked(&["1,2-ethanediol"]), Ok(vec![2]));
        assert_eq!(picked(&["water,tea"]), Err("tea".to_owned()));
        assert_eq!(picked(&[","]), Err(",".to_owned()));
        assert_eq!(picked(&[""]), Err(String::new()));
    }

    #[test]
    fn near_names_come_first() {
        assert_eq!(names().near("cafeine"), ["caffeine"]);
        assert_eq!(names().near("WATER"), ["water", "Water"]);
        assert_eq!(names().near("diol"), ["1,2-ethanediol"]);
        assert_eq!(names().remedy("qqqq"), "there are: caffeine, water, 1,2-ethanediol, Water, x");
    }

    #[test]
    fn a_message_stays_on_its_lines() {
        let error = names().pick(&[format!("tea\n{}", "x".repeat(90))], "the model has no feature").unwrap_err();
        let expected = format!("the model has no feature \"tea {}…\"", "x".repeat(44));
        assert_eq!(error.to_string().lines().next(), Some(expected.as_str()));
    }
}
