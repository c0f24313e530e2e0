//! Items by their ids, as people type them.

use super::Dataset;
use crate::files::Task;
use crate::names::{Names, pick};

impl Dataset {
    /// Positions of the items with these ids, or in these rows (`#12`, from 1); of links that were queried by their ends,
    /// all. The first id that is not there comes back as the error.
    pub fn positions_of(&self, ids: &[String]) -> Result<Vec<usize>, String> {
        if self.links().is_some() && self.given_splits() == 0 {
            return Ok((0..self.len()).collect());
        }
        let (names, short) = (self.item_names(), self.short_names());
        pick(ids, |id| {
            let found = names.find(id);
            if !found.is_empty() {
                return found;
            }
            match id.strip_prefix('#').map(str::parse::<usize>) {
                Some(Ok(row)) => (1..=self.len()).contains(&row).then(|| row - 1).into_iter().collect(),
                _ => Some(short.find(id)).filter(|found| found.len() == 1).unwrap_or_default(),
            }
        })
    }

    /// The ids of the items.
    pub fn item_names(&self) -> Names {
        Names::new(self.items().iter().map(|item| self.item_id(*item)))
    }

    /// In several graphs the id of a node stands behind that of its graph: the ids of nodes alone. Elsewhere there are
    /// none.
    pub fn short_names(&self) -> Names {
        let has_short = self.task() == Task::Node && self.graph_count() > 1;
        Names::new(self.items().iter().filter(|_| has_short).map(|item| self.node_id(*item as usize)))
    }
}
