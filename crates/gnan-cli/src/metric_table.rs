//! Metrics side by side: one row per metric, one column per part of the data.

use gnan::Task;
use gnan::baseline;
use gnan::dataset::Outcome;
use gnan::evaluate::PartMetrics;
use gnan::metric::{Metric, Metrics};
use gnan::model::Definition;
use gnan::numbers::{count, counted};
use gnan_report::words;

use crate::table::{Align, Table};

/// The metrics of every part of some data, how sure those of the best part are, and the baseline there.
pub fn part_table(found: &PartMetrics, outcome: Outcome) -> Table {
    let parts = [
        ("trained on", &found.training),
        ("validated by", &found.validation),
        ("test", &found.test),
        ("similar to those", &found.doubtful),
        ("other items", &found.new),
    ];
    let alone = found.items.iter().filter(|items| **items > 0).count() == 1;
    let mut columns = Vec::new();
    for ((name, metrics), items) in parts.into_iter().zip(found.items) {
        let Some(metrics) = metrics else { continue };
        let name = if alone { counted(items, "item") } else { format!("{name} ({})", count(items)) };
        columns.push((name, cells(&found.shown, metrics)));
    }
    let interval = |shown: &Metric| {
        found.intervals.get(shown).map(|[low, high]| format!("{} to {}", shown.words(*low), shown.words(*high)))
    };
    let intervals = found.shown.iter().map(|shown| interval(shown).unwrap_or_default()).collect();
    columns.push(("95 % interval".to_owned(), intervals));
    if let Some(baseline) = &found.baseline {
        columns.push((format!("baseline ({})", baseline::words(outcome)), cells(&found.shown, baseline)));
    }
    table_of(&found.shown, found.rare_class.as_deref(), &columns)
}

/// What readers of the metrics of a model should know: why some are missing, and of which class effects are.
pub fn class_notes(found: &PartMetrics, definition: &Definition) -> Vec<String> {
    let missing = words::only_class(found.only_class.as_deref());
    missing.into_iter().chain(words::shown_class(definition, found.rare_class.as_deref())).collect()
}

/// What readers of such a table should know about its parts.
pub fn part_note(found: &PartMetrics, task: Task) -> Option<String> {
    let [.., doubtful, _] = found.items;
    let same = match task {
        Task::Graph => "the structure of an item that training used, and another name",
        Task::Node => "the id of an item that training used, and other values",
    };
    (doubtful > 0)
        .then(|| format!("{} {} {same}", counted(doubtful, "item"), if doubtful == 1 { "has" } else { "have" }))
}

/// A table of these metrics; one that a column does not have is left empty.
pub fn metric_table(shown: &[Metric], columns: &[(String, &Metrics)]) -> Table {
    let columns: Vec<(String, Vec<String>)> =
        columns.iter().map(|(name, metrics)| (name.clone(), cells(shown, metrics))).collect();
    table_of(shown, None, &columns)
}

/// The values of these metrics, empty where there is none.
fn cells(shown: &[Metric], metrics: &Metrics) -> Vec<String> {
    shown.iter().map(|shown| metrics.get(*shown).map(|value| shown.words(value)).unwrap_or_default()).collect()
}

/// A row for every metric that a column has a cell for.
fn table_of(shown: &[Metric], rare_class: Option<&str>, columns: &[(String, Vec<String>)]) -> Table {
    let aligns: Vec<Align> = std::iter::once(Align::Left).chain(columns.iter().map(|_| Align::Right)).collect();
    let header = std::iter::once(String::new()).chain(columns.iter().map(|(name, _)| name.clone()));
    let mut table = Table::new(&aligns).header(header);
    for (row, shown) in shown.iter().enumerate() {
        let cells: Vec<String> = columns.iter().map(|(_, cells)| cells[row].clone()).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            let label = shown.label().to_owned() + &shown.class_words(rare_class);
            table.row(std::iter::once(label).chain(cells));
        }
    }
    table
}
