//! How work is done: on how many threads, within how much memory, observed by whom and stopped by whom.
//!
//! Nothing here changes a number that comes out. A [`Run`] is handed down with the data: see
//! [`Dataset::with_run`](crate::Dataset::with_run). Several runs may go on in one process, each with its own limit,
//! observer and way to stop.

mod distance_cache;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use distance_cache::DistanceCache;

use crate::error::{Error, Result};
use crate::memory::MemoryLimit;

/// Stops the work of every run that it was given to. Clones stop the same runs.
///
/// ```
/// use gnan::model::Ended;
/// use gnan::{Dataset, Run, Spec};
/// let run = Run::default();
/// let data = Dataset::open("solubility")?.with_run(&run);
/// // From another thread, or when somebody presses a button:
/// run.cancel.cancel();
/// assert_eq!(Spec::default().fit(&data)?.record().ended, Ended::Interrupted);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Stops the work: training keeps the best model so far, everything else ends with an error.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work is to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How much of some long work is done.
///
/// ```
/// use gnan::{Dataset, Run, Spec};
/// let run = Run::default().observed_by(|work| println!("{}: {} of {}", work.what, work.done, work.all));
/// let data = Dataset::open("solubility")?.with_run(&run);
/// Spec::default().epochs(1).fit(&data)?;
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkDone {
    /// What is being done.
    pub what: &'static str,
    /// How much is done ...
    pub done: usize,
    /// ... of how much.
    pub all: usize,
}

type Observer = dyn Fn(WorkDone) + Send + Sync;

/// How work is done. The default: on the threads of the caller, within three quarters of what memory is free, unobserved.
///
/// ```
/// use gnan::{Dataset, Run, Spec};
/// let run = Run::default().with_threads(2)?;
/// let data = Dataset::open("solubility")?.with_run(&run);
/// let model = Spec::default().hidden(16).epochs(2).fit(&data)?;
/// # assert_eq!(model.record().epochs, 2);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Run {
    /// How much memory may be in use.
    pub memory: MemoryLimit,
    /// Where distances are kept that do not fit in memory.
    pub cache: Option<DistanceCache>,
    /// Stops the work.
    pub cancel: Cancel,
    threads: Option<Arc<rayon::ThreadPool>>,
    observer: Option<Arc<Observer>>,
}

impl Run {
    /// The same with threads of its own.
    pub fn with_threads(self, threads: usize) -> Result<Run> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Error::usage(format!("{threads} threads are not available: {error}")))?;
        Ok(Run { threads: Some(Arc::new(pool)), ..self })
    }

    /// The same within a limit of memory.
    pub fn with_memory(self, memory: MemoryLimit) -> Run {
        Run { memory, ..self }
    }

    /// The same with a folder in which distances are kept that do not fit in memory.
    pub fn with_cache(self, cache: DistanceCache) -> Run {
        Run { cache: Some(cache), ..self }
    }

    /// The same, with long work reported to an observer, from several threads.
    pub fn observed_by(self, observer: impl Fn(WorkDone) + Send + Sync + 'static) -> Run {
        Run { observer: Some(Arc::new(observer)), ..self }
    }

    /// Does some work on the threads of this run.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.threads {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Reports how much of some long work is done; an error if the work is to stop.
    pub(crate) fn progress(&self, what: &'static str, done: usize, all: usize) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Error::cancelled());
        }
        self.observe(what, done, all);
        Ok(())
    }

    /// Reports how much of some long work is done, where that cannot stop.
    pub(crate) fn observe(&self, what: &'static str, done: usize, all: usize) {
        if let Some(observer) = &self.observer {
            observer(WorkDone { what, done, all });
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.threads.as_ref().map(|pool| pool.current_num_threads());
        f.debug_struct("Run")
            .field("memory", &self.memory)
            .field("cache", &self.cache)
            .field("threads", &threads)
            .finish_non_exhaustive()
    }
}
