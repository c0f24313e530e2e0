//! How large an input may be. Every reader checks these before it allocates, because a file can claim anything.

use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Result};
use crate::memory::MemoryLimit;

/// As many things as can be numbered with 32 bits, but for the last number.
const NUMBERED: u64 = u32::MAX as u64;

/// Upper bounds on what a reader accepts; the defaults fit a laptop.
///
/// ```
/// use gnan::{Limits, ReadOptions, files};
/// let limits = Limits { graphs: 100, ..Limits::default() };
/// let error = files::read("solubility", &ReadOptions { limits, ..ReadOptions::default() }).unwrap_err();
/// println!("{error}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file, or of everything an archive expands to.
    pub bytes: u64,
    /// Graphs in a data set.
    pub graphs: u64,
    /// Nodes over all graphs.
    pub nodes: u64,
    /// Edges over all graphs.
    pub edges: u64,
    /// Features, counting the columns of a table.
    pub features: u64,
    /// Memory that may be in use while it is read.
    pub memory: MemoryLimit,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            bytes: 2 << 30,
            graphs: 20_000_000,
            nodes: 100_000_000,
            edges: 500_000_000,
            features: 1_000_000,
            memory: MemoryLimit::default(),
        }
    }
}

impl Limits {
    /// The bytes of a file, unless there are too many.
    pub fn read(&self, path: &Path, what: &str) -> Result<Vec<u8>> {
        let io = |error: io::Error| Error::io(path, error);
        let file = std::fs::File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        Limits::check(length, self.bytes, what)
            .and_then(|()| self.memory.demand(length, "to read this file"))
            .map_err(|error| error.in_file(path))?;
        let too_long = || Error::limit(format!("more than the limit of {} bytes", self.bytes)).in_file(path);
        read_at_most(file, self.bytes, self.memory).map_err(io)?.ok_or_else(too_long)
    }

    /// Accepts so many nodes; they are numbered with 32 bits, the last of which numbers mean "none".
    pub fn check_nodes(&self, count: u64) -> Result<()> {
        Limits::check(count, self.nodes.min(NUMBERED), "nodes")
    }

    /// Accepts so many graphs, which are numbered as nodes are.
    pub fn check_graphs(&self, count: u64) -> Result<()> {
        Limits::check(count, self.graphs.min(NUMBERED), "graphs")
    }

    /// Accepts `count` if it is at most `limit`; `what` names it in the error.
    pub fn check(count: u64, limit: u64, what: &str) -> Result<()> {
        if count <= limit {
            Ok(())
        } else {
            Err(Error::limit(format!("{count} {what}: more than the limit of {limit}")))
        }
    }
}

/// Reads everything that `reader` yields, unless that is more than `limit` bytes; more than the memory that is left is an
/// error of the kind [`io::ErrorKind::OutOfMemory`].
pub(crate) fn read_at_most(reader: impl Read, limit: u64, memory: MemoryLimit) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let left = memory.left().unwrap_or(u64::MAX);
    reader.take(limit.min(left).saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        length if length > limit => Ok(None),
        length if length > left => Err(io::ErrorKind::OutOfMemory.into()),
        _ => Ok(Some(bytes)),
    }
}
