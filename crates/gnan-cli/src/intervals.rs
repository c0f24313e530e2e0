//! The intervals that every figure uses: those that `gnan bootstrap` left beside a model, or those of a penalised fit.

use std::path::Path;

use gnan::bootstrap::Replicates;
use gnan::numbers::counted;
use gnan::{Intervals, Model};

use crate::args::BandsArgs;
use crate::screen::eprint_line;
use crate::style::warning;

/// The intervals of a model: from the replicates beside its file, if there are any that belong to it, else from its posterior, if it
/// has one.
pub fn of_model(path: &Path, model: &Model, bands: BandsArgs) -> Option<Intervals> {
    let note = warning("note");
    let file = Replicates::path_beside(path);
    let found = if file.is_file() {
        Replicates::load(&file, model).and_then(|replicates| {
            if !replicates.is_complete() {
                let done = counted(replicates.len(), "replicate");
                eprint_line(format!("{note}: {} holds {done} so far; gnan bootstrap goes on with it", file.display()));
            }
            Intervals::new(model, &replicates)
        })
    } else if model.has_posterior() {
        Intervals::of_posterior(model, bands.simultaneous())
    } else {
        return None;
    };
    match found {
        Ok(intervals) => Some(intervals),
        Err(error) => {
            eprint_line(format!("{note}: no intervals are shown: {error}"));
            None
        }
    }
}
