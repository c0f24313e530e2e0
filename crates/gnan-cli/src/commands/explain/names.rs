//! Items that people name: found by the library, or else answered with the names that are near.

use gnan::names::shown;
use gnan::numbers::count;
use gnan::{Dataset, Error, Result};

/// Positions of the items that are wanted by id, or by row as `#12`; `listing` is the command that lists every id.
pub fn items(data: &Dataset, wanted: &[String], listing: &str) -> Result<Vec<usize>> {
    data.positions_of(wanted).map_err(|name| {
        if let Some(row) = data.skipped_row(&name) {
            return Error::usage(format!("\"{}\" could not be read: {}", shown(&name), row.reason));
        }
        let error = Error::usage(format!("there is no item \"{}\" in the data", shown(&name)));
        let row = name.parse::<usize>().is_ok_and(|row| (1..=data.len()).contains(&row));
        let row = if row { format!("; --id=#{name} is the item in row {name}") } else { String::new() };
        let several = match data.short_names().find(&name).len() {
            0 | 1 => String::new(),
            several => format!("; {} graphs have such a node: write graph/node", count(several)),
        };
        error.with_remedy(format!("{}{row}{several}\n  {listing} lists every id", data.item_names().remedy(&name)))
    })
}
