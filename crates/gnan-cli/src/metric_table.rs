//! Metrics side by side: one row per metric, one column per part of the data.

use gnan::metric::{Metric, Metrics};

use crate::table::{Align, Table};
use gnan::numbers::metric;

/// A table of metrics; a metric that a part does not have is left empty.
pub fn metric_table(columns: &[(String, &Metrics)]) -> Table {
    let aligns: Vec<Align> = std::iter::once(Align::Left).chain(columns.iter().map(|_| Align::Right)).collect();
    let header = std::iter::once(String::new()).chain(columns.iter().map(|(name, _)| name.clone()));
    let mut table = Table::new(&aligns).header(header);
    for shown in Metric::ALL {
        if columns.iter().all(|(_, metrics)| metrics.get(shown).is_none()) {
            continue;
        }
        let values = columns.iter().map(|(_, metrics)| metrics.get(shown).map(metric).unwrap_or_default());
        table.row(std::iter::once(shown.label().to_owned()).chain(values));
    }
    table
}
