//! Metrics side by side: one row per metric, one column per part of the data.

use gnan::metric::Metrics;
use gnan::numbers::metric;

use crate::style::metric_name;
use crate::table::{Align, Table};

/// A table of metrics; a metric that a part does not have is left empty.
pub fn metric_table(columns: &[(String, &Metrics)]) -> Table {
    let aligns: Vec<Align> = std::iter::once(Align::Left).chain(columns.iter().map(|_| Align::Right)).collect();
    let header = std::iter::once(String::new()).chain(columns.iter().map(|(name, _)| name.clone()));
    let mut table = Table::new(&aligns).header(header);
    for name in gnan::metric::ORDER {
        if columns.iter().all(|(_, metrics)| metrics.get(name).is_none()) {
            continue;
        }
        let values = columns.iter().map(|(_, metrics)| metrics.get(name).map(metric).unwrap_or_default());
        table.row(std::iter::once(metric_name(name)).chain(values));
    }
    table
}
