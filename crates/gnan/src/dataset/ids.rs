//! Items by their ids, as people type them.

use super::Dataset;
use crate::files::{SkippedRow, Task};
use crate::names::{Names, pick};

impl Dataset {
    /// Positions of the items with these ids, or in these rows of the file (`#12`, from 1); of links that were queried by
    /// their ends, all. The first id that is not there comes back as the error.
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
            match row_number(id) {
                Some(row) => self.position_of_row(row).into_iter().collect(),
                None => Some(short.find(id)).filter(|found| found.len() == 1).unwrap_or_default(),
            }
        })
    }

    /// The position of the item in a row of the file, counted from 0; rows that could not be read have none.
    fn position_of_row(&self, row: usize) -> Option<usize> {
        let before = self.skipped().partition_point(|skipped| skipped.place < row);
        let is_skipped = self.skipped().get(before).is_some_and(|skipped| skipped.place == row);
        Some(row - before).filter(|position| !is_skipped && *position < self.len())
    }

    /// The row that could not be read and has this id or number (`#12`).
    pub fn skipped_row(&self, id: &str) -> Option<&SkippedRow> {
        self.skipped().iter().find(|skipped| skipped.id == id || row_number(id) == Some(skipped.place))
    }

    /// The ids of the items.
    pub fn item_names(&self) -> Names {
        Names::new(self.items().iter().map(|item| self.item_id(*item)))
    }

    /// In several graphs the id of a node follows that of its graph: the ids of nodes alone. Elsewhere there are
    /// none.
    pub fn short_names(&self) -> Names {
        let has_short = self.task() == Task::Node && self.graph_count() > 1;
        Names::new(self.items().iter().filter(|_| has_short).map(|item| self.node_id(*item as usize)))
    }
}

/// The row that `#12` names, counted from 0.
fn row_number(id: &str) -> Option<usize> {
    id.strip_prefix('#')?.parse::<usize>().ok()?.checked_sub(1)
}
