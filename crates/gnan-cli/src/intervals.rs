//! The intervals that `gnan bootstrap` left beside a model, which every figure uses.

use std::path::Path;

use gnan::bootstrap::Replicates;
use gnan::numbers::counted;
use gnan::{Intervals, Model};

use crate::screen::eprint_line;
use crate::style::warning;

/// The intervals beside a model file, if there are any that belong to it.
pub fn beside(path: &Path, model: &Model) -> Option<Intervals> {
    let file = Replicates::path_beside(path);
    if !file.is_file() {
        return None;
    }
    let note = warning("note");
    let found = Replicates::load(&file, model).and_then(|replicates| {
        if !replicates.is_complete() {
            let done = counted(replicates.len(), "replicate");
            eprint_line(format!("{note}: {} holds {done} so far; gnan bootstrap goes on with it", file.display()));
        }
        Intervals::new(model, &replicates)
    });
    match found {
        Ok(intervals) => Some(intervals),
        Err(error) => {
            eprint_line(format!("{note}: no intervals are shown: {error}"));
            None
        }
    }
}
