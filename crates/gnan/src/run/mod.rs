//! How work is done: on how many threads, with how much memory, who is told about it and who may stop it.
//!
//! Nothing here changes a number that comes out. A [`Run`] is handed down with the data: see
//! [`Dataset::with_run`](crate::Dataset::with_run). Several runs may go on in one process, each with its own limit,
//! progress and way to stop.

mod distance_cache;

pub use distance_cache::DistanceCache;

/// How work is done.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Where distances are kept that do not fit in memory.
    pub cache: Option<DistanceCache>,
}
