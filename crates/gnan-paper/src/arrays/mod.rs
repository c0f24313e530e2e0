//! The named arrays of a NumPy `.npz` archive, which several formats of the field use.

pub mod npy;
pub mod pickle;
pub mod pickled_arrays;
pub mod sparse_rows;

use std::path::{Path, PathBuf};

use gnan::error::{Error, Result};
use gnan::files::SplitPart;
use gnan::internals::files::bundle::Bundle;
use gnan::internals::files::naming::has_extension;
use gnan::limits::Limits;
use npy::Array;
use sparse_rows::SparseRows;

/// The arrays of an archive.
pub struct Arrays {
    archive: Bundle,
    limits: Limits,
}

/// Whether `path` is an archive with an array of this name; `None` if it is one that cannot be opened.
pub fn holds(path: &Path, name: &str) -> Option<bool> {
    if !has_extension(path, "npz") {
        return Some(false);
    }
    let archive = Bundle::open(path, &Limits::default()).ok()?;
    Some(archive.contains(&member(name)))
}

fn member(name: &str) -> String {
    format!("{name}.npy")
}

impl Arrays {
    /// Opens an archive.
    pub fn open(path: &Path, limits: &Limits) -> Result<Arrays> {
        Ok(Arrays { archive: Bundle::open(path, limits)?, limits: *limits })
    }

    /// Whether there is an array of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.archive.contains(&member(name))
    }

    /// Where an array is, for messages.
    pub fn place(&self, name: &str) -> PathBuf {
        self.archive.place(&member(name))
    }

    fn bytes(&mut self, name: &str) -> Result<Vec<u8>> {
        let bytes = self.archive.bytes(&member(name))?;
        bytes.ok_or_else(|| self.error(name, "this array is missing"))
    }

    /// An array of whole numbers.
    pub fn integers(&mut self, name: &str) -> Result<Array<i64>> {
        npy::integers(&self.bytes(name)?, &self.place(name), self.limits.memory)
    }

    /// An array of numbers.
    pub fn numbers(&mut self, name: &str) -> Result<Array<f64>> {
        npy::numbers(&self.bytes(name)?, &self.place(name), self.limits.memory)
    }

    /// An array of marks: truth values, bytes that are 0 or not, or longer whole numbers that are 0 or 1.
    pub fn masks(&mut self, name: &str) -> Result<Array<bool>> {
        npy::masks(&self.bytes(name)?, &self.place(name), self.limits.memory)
    }

    /// An array of words, one for each of `count` items.
    pub fn words(&mut self, name: &str, count: usize) -> Result<Vec<String>> {
        let words = npy::words(&self.bytes(name)?, &self.place(name))?.values;
        if words.len() == count {
            return Ok(words);
        }
        Err(self.error(name, format!("{} names for {count} items", words.len())))
    }

    /// An error about one array.
    pub fn error(&self, name: &str, message: impl Into<String>) -> Error {
        Error::input(message).in_file(self.place(name))
    }

    /// A number of an array as an index below `bound`.
    pub fn index(&self, name: &str, value: i64, bound: usize) -> Result<u32> {
        let index = u32::try_from(value).ok().filter(|&index| (index as usize) < bound);
        index.ok_or_else(|| self.error(name, format!("{value} is not an index from 0 to below {bound}")))
    }

    /// The matrix in the arrays `<name>_data`, `<name>_indices`, `<name>_indptr` and `<name>_shape`.
    pub fn sparse_rows(&mut self, name: &str) -> Result<SparseRows> {
        let part = |ending: &str| format!("{name}_{ending}");
        let shape = self.integers(&part("shape"))?.values;
        let pointers = self.integers(&part("indptr"))?.values;
        let indices = self.integers(&part("indices"))?.values;
        let values = self.numbers(&part("data"))?.values;
        SparseRows::new(&shape, &pointers, &indices, values, &self.limits)
            .map_err(|(array, error)| error.in_file(self.place(&part(array))))
    }

    /// The pairs of nodes in an array of two columns.
    pub fn edges(&mut self, name: &str, nodes: usize) -> Result<Vec<[u32; 2]>> {
        let edges = self.integers(name)?;
        if edges.shape.len() != 2 || edges.shape[1] != 2 {
            return Err(self.error(name, "this should be pairs of nodes"));
        }
        Limits::check(edges.shape[0] as u64, self.limits.edges, "edges")
            .map_err(|error| error.in_file(self.place(name)))?;
        let (pairs, _) = edges.values.as_chunks::<2>();
        let index = |node| self.index(name, node, nodes);
        pairs.iter().map(|&[source, target]| Ok([index(source)?, index(target)?])).collect()
    }

    /// One class for each of `nodes` nodes; -1 is not known.
    pub fn labels(&mut self, name: &str, nodes: usize) -> Result<Vec<Option<i64>>> {
        let labels = self.integers(name)?.values;
        if labels.len() != nodes {
            return Err(self.error(name, format!("{} labels for {nodes} nodes", labels.len())));
        }
        Ok(labels.into_iter().map(|label| (label != -1).then_some(label)).collect())
    }

    /// Splits from marks of the nodes in training, validation and test: a row of each array for each split.
    pub fn splits(&mut self, names: [&str; 3], nodes: usize) -> Result<Vec<Vec<SplitPart>>> {
        let mut splits: Option<Vec<Vec<SplitPart>>> = None;
        for (name, part) in names.into_iter().zip([SplitPart::Train, SplitPart::Valid, SplitPart::Test]) {
            let masks = self.masks(name)?;
            let count = match masks.shape[..] {
                [length] if length == nodes => 1,
                [count, length] if length == nodes && nodes > 0 => count,
                _ => return Err(self.error(name, format!("this should be a mark for each of {nodes} nodes"))),
            };
            let splits = splits.get_or_insert_with(|| vec![vec![SplitPart::Unused; nodes]; count]);
            if splits.len() != count {
                return Err(self.error(name, format!("marks for {count} splits, others are for {}", splits.len())));
            }
            for (split, marks) in splits.iter_mut().zip(masks.values.chunks(nodes.max(1))) {
                for (node, (slot, _)) in split.iter_mut().zip(marks).enumerate().filter(|(_, (_, mark))| **mark) {
                    if *slot != SplitPart::Unused {
                        return Err(self.error(name, format!("node {node} is in two parts of a split")));
                    }
                    *slot = part;
                }
            }
        }
        Ok(splits.expect("each of the three arrays makes the splits if they are not made yet"))
    }
}
