//! Splits in a JSON file of their own, which replace those of the data.
//!
//! Three layouts are known. Plain: `{"train": [..], "valid": [..], "test": [..]}`, or a list of such. Errica et al.,
//! "A fair comparison of graph neural networks", 2020: a list of outer folds
//! `{"test": [..], "model_selection": [{"train": [..], "validation": [..]}]}`. Pro-GNN (Jin et al., 2020):
//! `{"idx_train": [..], "idx_val": [..], "idx_test": [..]}`, which counts within the largest component. Numbers are
//! those of graphs or nodes, from 0.

use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::files::ReadOptions;
use crate::files::tables::{SplitPart, Tables, Task};
use crate::numbers::counted;
use crate::remedy::Remedy;

/// One split, or an outer fold with the splits of its inner folds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fold {
    #[serde(default)]
    train: Vec<u64>,
    #[serde(default, alias = "val", alias = "validation")]
    valid: Vec<u64>,
    #[serde(default)]
    test: Vec<u64>,
    #[serde(default)]
    model_selection: Vec<Fold>,
    #[serde(default)]
    idx_train: Vec<u64>,
    #[serde(default)]
    idx_val: Vec<u64>,
    #[serde(default)]
    idx_test: Vec<u64>,
}

/// Replaces the splits of `tables`, whose largest component was kept already if it is to be.
pub fn apply(tables: &mut Tables, path: &Path, options: &ReadOptions) -> Result<()> {
    let splits = read(tables, path, options).map_err(|error| error.in_file(path))?;
    if !tables.splits.is_empty() {
        tables.notes.push(format!("the splits of {} replace those of the data", path.display()));
    }
    tables.splits = splits;
    Ok(())
}

fn read(tables: &Tables, path: &Path, options: &ReadOptions) -> Result<Vec<Vec<SplitPart>>> {
    let (items, what) = match tables.task {
        Some(Task::Node) => (tables.nodes(), "nodes"),
        _ => (tables.graphs(), "graphs"),
    };
    if !tables.skipped.is_empty() {
        let rows = counted(tables.skipped.len(), "row");
        return Err(Error::usage(format!(
            "{rows} of the data cannot be read, so the numbers of a split are not clear"
        ))
        .with_remedy(Remedy::Use("strict").to("see the first such row, and remove or correct all of them")));
    }
    let bytes = options.limits.read(path, "bytes")?;
    let list = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let folds =
        if list { serde_json::from_slice(&bytes) } else { serde_json::from_slice(&bytes).map(|fold| vec![fold]) };
    let folds: Vec<Fold> = folds.map_err(|error| {
        Error::json("this is not a file of splits", error)
            .with_remedy("use {\"train\": [..], \"valid\": [..], \"test\": [..]}, or a list of such")
    })?;
    let mut splits = Vec::new();
    for fold in &folds {
        if !fold.idx_train.is_empty() && !options.largest_component {
            return Err(Error::usage("idx_train, idx_val and idx_test count within the largest component")
                .with_remedy(Remedy::Use("largest-component").to("keep only that")));
        }
        let own = [[&fold.train, &fold.idx_train], [&fold.valid, &fold.idx_val], [&fold.test, &fold.idx_test]];
        let inner = fold.model_selection.iter().map(|inner| [vec![&inner.train], vec![&inner.valid], vec![&fold.test]]);
        let mut all: Vec<_> = inner.collect();
        if all.is_empty() {
            all.push(own.map(|lists| lists.to_vec()));
        }
        for lists in all {
            let split = parts(&lists, items, what)
                .map_err(|error| error.with_remedy(format!("split {} counts {what} from 0", splits.len() + 1)))?;
            splits.push(split);
        }
    }
    if splits.is_empty() {
        return Err(Error::input("there is no split in this file"));
    }
    Ok(splits)
}

fn parts(lists: &[Vec<&Vec<u64>>; 3], items: usize, what: &str) -> Result<Vec<SplitPart>> {
    let mut parts = vec![SplitPart::Unused; items];
    for (lists, part) in lists.iter().zip([SplitPart::Train, SplitPart::Valid, SplitPart::Test]) {
        for &&item in lists.iter().copied().flatten().collect::<Vec<_>>().iter() {
            let slot = usize::try_from(item).ok().and_then(|item| parts.get_mut(item));
            let slot = slot.ok_or_else(|| Error::input(format!("there is no number {item} among {items} {what}")))?;
            if *slot != SplitPart::Unused {
                return Err(Error::input(format!("number {item} of the {what} is listed twice")));
            }
            *slot = part;
        }
    }
    if parts.contains(&SplitPart::Train) { Ok(parts) } else { Err(Error::input("a split has no training part")) }
}
