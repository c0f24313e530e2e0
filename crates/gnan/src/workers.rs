//! Workers: independent jobs on all threads, each job begun when a thread is free.
//!
//! A job may use threads itself. Were all jobs thrown into one pool, a thread that waits for a part of its job would
//! begin another whole job meanwhile, and with many jobs the memory of all of them would be held at once. So every
//! worker has a pool of its own, and the threads are divided among them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does `jobs` jobs and returns their results in order.
pub fn run<R: Send>(jobs: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let threads = rayon::current_num_threads().max(1);
    let workers = jobs.min(threads);
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(jobs));
    let work_through = || {
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return;
            }
            let result = work(job);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((job, result));
        }
    };
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let own = threads / workers + usize::from(worker < threads % workers);
            let work_through = &work_through;
            scope.spawn(move || match rayon::ThreadPoolBuilder::new().num_threads(own).build() {
                Ok(pool) => pool.install(work_through),
                // Threads cannot be had: the results are the same with fewer.
                Err(_) => work_through(),
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(job, _)| *job);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    #[test]
    fn results_come_in_order_and_jobs_may_use_threads() {
        let found = super::run(50, |job| (0..job).into_par_iter().sum::<usize>());
        assert_eq!(found, (0..50).map(|job| (0..job).sum()).collect::<Vec<usize>>());
        assert!(super::run(0, |job| job).is_empty());
    }
}
