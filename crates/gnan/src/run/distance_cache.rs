//! The folder of cache files of distances, and what went wrong with it.
//!
//! A cache saves time and never changes a number: where its files cannot be written, read or trusted, distances are
//! searched again. That is no error, but it is worth knowing, so the first problem is kept to be shown.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A folder in which distances are kept between runs. Clones share what is known of its problems.
///
/// ```
/// use gnan::{DistanceCache, Run};
/// let folder = tempfile::tempdir().expect("a folder");
/// let run = Run::default().with_cache(DistanceCache::new(folder.path()));
/// assert!(run.cache.is_some_and(|cache| cache.problem().is_none()));
/// ```
#[derive(Clone, Debug)]
pub struct DistanceCache {
    folder: PathBuf,
    problem: Arc<OnceLock<String>>,
}

impl DistanceCache {
    /// A cache in this folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> DistanceCache {
        DistanceCache { folder: folder.into(), problem: Arc::default() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The first problem with a file of this cache, in a sentence.
    pub fn problem(&self) -> Option<&str> {
        self.problem.get().map(String::as_str)
    }

    pub(crate) fn report(&self, problem: String) {
        // Only the first problem is kept: the others are mostly the same one.
        let _ = self.problem.set(problem);
    }
}

/// Caches are equal where their folders are.
impl PartialEq for DistanceCache {
    fn eq(&self, other: &DistanceCache) -> bool {
        self.folder == other.folder
    }
}

impl Eq for DistanceCache {}
