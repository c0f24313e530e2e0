//! Names that people type: found as they are, in lists with commas, by row, or else met with near ones.

use std::collections::HashMap;

use gnan::files::Task;
use gnan::{Dataset, Error, Result};
use strsim::normalized_damerau_levenshtein as likeness;

use crate::style::{count, escape_control};
use crate::table::shorten;

/// Near names that a message lists.
const NEAR: usize = 5;
/// Two names at least this alike are near.
const ALIKE: f64 = 0.5;
/// Widest name in a message.
const NAME_WIDTH: usize = 48;

/// Names in order, with an index.
pub struct Names {
    names: Vec<String>,
    places: HashMap<String, Vec<usize>>,
}

impl Names {
    /// An index of names, which may occur more than once.
    pub fn new(names: Vec<String>) -> Names {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        names.iter().enumerate().for_each(|(place, name)| places.entry(name.clone()).or_default().push(place));
        Names { names, places }
    }

    /// Where a name occurs.
    pub fn find(&self, name: &str) -> Vec<usize> {
        self.places.get(name).cloned().unwrap_or_default()
    }

    /// What to say about a name that is not there: the names it is like, or else the first.
    pub fn remedy(&self, name: &str) -> String {
        let quoted = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| shorten(&escape_control(name), NAME_WIDTH)).collect();
            names.join(", ")
        };
        let near = self.near(name);
        if !near.is_empty() {
            return format!("near it are: {}", quoted(&near));
        }
        let first: Vec<&str> = self.names.iter().take(NEAR).map(String::as_str).collect();
        let more = self.names.len() - first.len();
        let more = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
        format!("there are: {}{more}", quoted(&first))
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
        let places = if whole.is_empty() {
            let parts = list.split(',').map(str::trim).filter(|name| !name.is_empty() || list.is_empty());
            let mut places = Vec::new();
            for name in parts {
                let some = find(name);
                if some.is_empty() {
                    return Err(name.to_owned());
                }
                places.extend(some);
            }
            places
        } else {
            whole
        };
        found.extend(places);
    }
    if found.is_empty() {
        return Err(wanted.first().cloned().unwrap_or_default());
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|place| seen.insert(*place));
    Ok(found)
}

/// Positions of the items that are asked for by id, or by row as `#12`.
pub fn items(data: &Dataset, wanted: &[String], listing: &str) -> Result<Vec<usize>> {
    if data.links().is_some() && data.given_splits() == 0 {
        // These pairs, and no others, were asked for.
        return Ok((0..data.len()).collect());
    }
    let names = Names::new(data.items().iter().map(|item| data.item_id(*item)).collect());
    // In several graphs the id of a node stands behind that of its graph; alone it may still be clear.
    let short = match data.task() {
        Task::Node if data.graph_count() > 1 => {
            Names::new(data.items().iter().map(|item| data.node_id(*item as usize)).collect())
        }
        _ => Names::new(Vec::new()),
    };
    let find = |name: &str| {
        let found = names.find(name);
        if !found.is_empty() {
            return found;
        }
        match name.strip_prefix('#').map(str::parse::<usize>) {
            Some(Ok(row)) => (1..=data.len()).contains(&row).then(|| row - 1).into_iter().collect(),
            _ => Some(short.find(name)).filter(|found| found.len() == 1).unwrap_or_default(),
        }
    };
    pick(wanted, find).map_err(|name| {
        let error =
            Error::usage(format!("there is no item \"{}\" in the data", shorten(&escape_control(&name), NAME_WIDTH)));
        let row = name.parse::<usize>().is_ok_and(|row| (1..=data.len()).contains(&row));
        let row = if row { format!("; --id=#{name} is the item in row {name}") } else { String::new() };
        let several = short.find(&name).len();
        let several = if several > 1 {
            format!("; {} graphs have such a node: write graph/node", count(several))
        } else {
            String::new()
        };
        error.with_remedy(format!("{}{row}{several}\n  {listing} lists every id", names.remedy(&name)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new(["caffeine", "water", "1,2-ethanediol", "Water", "x"].map(str::to_owned).to_vec())
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
}
