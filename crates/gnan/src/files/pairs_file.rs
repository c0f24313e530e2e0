//! Pairs of nodes in a table of their own: columns `source` and `target`, and `graph_id` where there are several graphs.

use std::path::Path;

use crate::error::Result;
use crate::files::table::csv_table;
use crate::files::table::id_columns::IdNames;
use crate::files::text::Text;
use crate::limits::Limits;

/// A pair as it is written: its line, the id of its graph, and those of its ends.
pub type WrittenPair = (u64, Option<String>, [String; 2]);

/// Reads a table of pairs: comma-separated values, or with tabs where its name ends so.
pub fn read_pairs(path: &Path, limits: &Limits) -> Result<Vec<WrittenPair>> {
    let delimiter = if path.extension().is_some_and(|extension| extension == "tsv") { b'\t' } else { b',' };
    let mut table = csv_table::parse(&Text::open(path, limits)?, delimiter, limits)?;
    let ids = IdNames::Usual(None);
    let graphs = ids.take_graph_ids(&mut table)?;
    let [sources, targets] = ids.take_ends(&mut table)?;
    if table.rows() == 0 {
        return Err(table.table_error("there is no pair in this table"));
    }
    let mut graphs = graphs.as_ref().map(|graphs| graphs.iter());
    let rows = sources.iter().zip(targets.iter()).enumerate();
    let written = rows.map(|(row, (source, target))| {
        let graph = graphs.as_mut().and_then(|graphs| graphs.next()).map(str::to_owned);
        (
            table.line(row).expect("rows of comma-separated values are on lines"),
            graph,
            [source.to_owned(), target.to_owned()],
        )
    });
    Ok(written.collect())
}
