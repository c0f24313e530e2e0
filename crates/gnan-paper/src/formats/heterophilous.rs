//! The heterophilous graphs (Tolokers and others) as arrays in an `.npz` archive.
//!
//! `node_features`, `node_labels`, `edges` (each undirected edge once), and `train_masks`, `val_masks`, `test_masks`
//! with a row for each split. Names of the features may lie beside it, a line each, in `<name>_feature_names.txt`.
//!
//! Platonov et al., "A critical look at the evaluation of GNNs under heterophily", 2023.

use std::path::Path;

use crate::arrays::{self, Arrays};
use crate::word_columns::CLASS;
use gnan::error::Result;
use gnan::files::ReadOptions;
use gnan::files::{Column, Kind, Tables, Task, Values};
use gnan::files::{Format, itself};
use gnan::internals::files::columns::levels;
use gnan::internals::files::naming::name_of;
use gnan::internals::files::text::Text;
use gnan::limits::Limits;

const MASKS: [&str; 3] = ["train_masks", "val_masks", "test_masks"];

pub const FORMAT: Format = Format {
    name: "heterophilous arrays",
    appearance: "an .npz file with node_features, node_labels, edges, train_masks, val_masks and test_masks",
    detect: |path| arrays::holds(path, "node_features") == Some(true),
    read,
    set_of: itself,
};

/// Classes that the arrays do not name.
const KNOWN_CLASSES: &[(&str, &[&str])] = &[("tolokers", &["not banned", "banned"])];

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let mut arrays = Arrays::open(path, &options.limits)?;
    let name = name_of(path);
    let features = arrays.numbers("node_features")?;
    let [nodes, width] = features.shape[..] else {
        return Err(arrays.error("node_features", "this should be a row of features for each node"));
    };
    let in_array = |error: gnan::Error| error.in_file(arrays.place("node_features"));
    options.limits.check_nodes(nodes as u64).map_err(in_array)?;
    Limits::check(width as u64, options.limits.features, "features").map_err(in_array)?;
    let mut tables = Tables { name: name.clone(), task: Some(Task::Node), ..Tables::default() };
    let names = feature_names(path, width, options, &mut tables.notes)?;
    let column = |(place, name)| {
        let values = (0..nodes).map(|node| features.values[node * width + place]).collect();
        Column::new(name, Values::Numbers(values))
    };
    tables.node_columns = names.into_iter().enumerate().map(column).collect();
    let labels = arrays.labels("node_labels", nodes)?;
    let known = KNOWN_CLASSES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
    let class = |label: i64| {
        let class = known.and_then(|(_, classes)| classes.get(usize::try_from(label).ok()?));
        class.map_or_else(|| label.to_string(), |class| class.to_string())
    };
    tables.node_columns.push(Column::new(CLASS, levels::of_numbers(&labels, class)).with_kind(Kind::Categorical));
    tables.targets = vec![CLASS.to_string()];
    tables.edges = arrays.edges("edges", nodes)?;
    tables.splits = arrays.splits(MASKS, nodes)?;
    tables.node_offsets = vec![0, nodes];
    tables.graph_ids = vec![name];
    Ok(tables)
}

/// The names beside the archive if they fit, and else `feature_0`, `feature_1`, ...
fn feature_names(path: &Path, width: usize, options: &ReadOptions, notes: &mut Vec<String>) -> Result<Vec<String>> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!("{stem}_feature_names.txt"));
    if beside.is_file() {
        let text = Text::open(&beside, &options.limits)?;
        let names: Vec<String> = text.lines().map(|(_, line)| line.to_string()).collect();
        if names.len() == width {
            return Ok(names);
        }
        notes.push(format!("{} is not used: it names {} features of {width}", beside.display(), names.len()));
    }
    Ok((0..width).map(|number| format!("feature_{number}")).collect())
}
