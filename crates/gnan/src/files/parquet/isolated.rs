//! Work by other people's code that may panic on malformed input: done on a thread of its own, where a panic is an answer.

use std::thread::{Builder, scope};

/// The name of the thread that reads Parquet files. A program may keep panics on it from being printed, by a hook of its
/// own: they are answered with an error.
pub const PARQUET_THREAD: &str = "parquet reader";

/// Does some work; `None` if it panicked, or no thread could be had.
pub fn isolated<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    scope(|scope| Builder::new().name(PARQUET_THREAD.to_owned()).spawn_scoped(scope, work).ok()?.join().ok())
}
