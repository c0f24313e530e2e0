//! Memory: how much may be in use, and whether something large still fits.
//!
//! A limit counts anonymous resident memory of the process, what it has made for itself rather than mapped from files. Before
//! anything large is made, [`MemoryLimit::demand`] refuses what would exceed the limit. No ledger is kept of what was given
//! back: the operating system knows how much is in use. A limit decides whether and how work is done, never the numbers that
//! come out.

mod system;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::numbers;
use crate::remedy::Remedy;

/// Less than this is not worth a check.
const LITTLE: u64 = 1 << 18;
/// How often a [`Watch`] looks.
const INTERVAL: Duration = Duration::from_millis(5);

/// How much memory may be in use. By default three quarters of what is free at each moment may be taken.
///
/// ```
/// use gnan::{Dataset, ErrorKind, MemoryLimit, Run, Spec};
/// let run = Run::default().with_memory(MemoryLimit::of(1));
/// let data = Dataset::open("solubility")?.with_run(&run);
/// let error = Spec::default().fit(&data).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Limit);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryLimit {
    bytes: Option<u64>,
}

impl MemoryLimit {
    /// At most so many bytes in use by the process.
    pub fn of(bytes: u64) -> MemoryLimit {
        MemoryLimit { bytes: Some(bytes) }
    }

    /// What is in use now and three quarters of what is free now, from now on.
    pub fn usual() -> MemoryLimit {
        MemoryLimit { bytes: MemoryLimit::default().bytes() }
    }

    /// The limit in bytes; `None`: it is unknown what is free, and nothing is refused.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes.or_else(|| Some(system::free()? / 4 * 3 + anonymous()?))
    }

    /// What may still be made, in bytes; `None`: there is no limit, or nothing is known of what is in use.
    pub fn left(&self) -> Option<u64> {
        Some(self.bytes()?.saturating_sub(anonymous()?))
    }

    /// Refuses what would exceed the limit, before it is made: `what` needs so many bytes more.
    pub fn demand(&self, bytes: u64, what: &str) -> Result<()> {
        self.demand_or(bytes, what, &[])
    }

    /// The same where there are leaner ways, such as "give fewer nodes a target".
    pub fn demand_or(&self, bytes: u64, what: &str, leaner: &[Remedy]) -> Result<()> {
        if bytes < LITTLE {
            return Ok(());
        }
        let (Some(limit), Some(used)) = (self.bytes(), anonymous()) else { return Ok(()) };
        if used.saturating_add(bytes) <= limit {
            return Ok(());
        }
        Err(refusal(&format!("{what}: {} are needed", numbers::bytes(bytes)), used, limit, Some(bytes), leaner))
    }

    /// What was read or made so far has used the limit up, and it is not known how much more there is.
    pub(crate) fn exhausted(&self, what: &str) -> Error {
        let (limit, used) = (self.bytes().unwrap_or(0), anonymous().unwrap_or(0));
        refusal(&format!("{what}: more is needed than there is"), used, limit, None, &[])
    }
}

/// Anonymous resident memory of the process in bytes, where the system says so.
pub fn anonymous() -> Option<u64> {
    system::anonymous()
}

fn refusal(what: &str, used: u64, limit: u64, bytes: Option<u64>, leaner: &[Remedy]) -> Error {
    let enough = bytes.map(|bytes| numbers::bytes(used.saturating_add(bytes)));
    let remedies = std::iter::once(Remedy::Raise("memory", enough)).chain(leaner.iter().cloned());
    let (used, limit) = (numbers::bytes(used), numbers::bytes(limit));
    Error::limit(format!("{what}, {used} are in use and the limit of memory is {limit}"))
        .with_remedy(Remedy::AnyOf(remedies.collect()))
}

/// An amount of memory as people write it: `500MB`, `2GB`, `1.5GiB`.
pub fn parse_size(text: &str) -> Result<u64> {
    const UNITS: [(&str, f64); 9] = [
        ("b", 1.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
        ("kib", 1024.0),
        ("mib", 1048576.0),
        ("gib", 1073741824.0),
        ("tib", 1099511627776.0),
    ];
    let wrong = || {
        Error::usage(format!("\"{}\" is not an amount of memory", text.escape_debug()))
            .with_remedy("write 500MB, 2GB or 1.5GiB")
    };
    let text = text.trim();
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let unit = text[digits..].trim().to_ascii_lowercase();
    let (_, bytes) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    let bytes = text[..digits].parse::<f64>().map_err(|_| wrong())? * bytes;
    if !(1.0..=1e18).contains(&bytes) {
        return Err(wrong());
    }
    Ok(bytes as u64)
}

/// Watches the anonymous memory of the process from a thread of its own, and keeps the peak.
pub struct Watch {
    peak: Arc<AtomicU64>,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to watch.
    pub fn start() -> Watch {
        let (peak, done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (seen, over) = (Arc::clone(&peak), Arc::clone(&done));
        let look = move || {
            while !over.load(Ordering::Relaxed) {
                seen.fetch_max(anonymous().unwrap_or(0), Ordering::Relaxed);
                std::thread::sleep(INTERVAL);
            }
        };
        Watch { peak, done, thread: std::thread::Builder::new().spawn(look).ok() }
    }

    /// The most that was in use at a glance so far; `None` where the system does not say.
    pub fn peak_anonymous(&self) -> Option<u64> {
        anonymous().map(|now| self.peak.fetch_max(now, Ordering::Relaxed).max(now))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        let found = ["500MB", "2GB", "1.5GiB", " 64 kB ", "7b", "0.5tb"].map(|text| parse_size(text).unwrap());
        assert_eq!(found, [500_000_000, 2_000_000_000, 1_610_612_736, 64_000, 7, 500_000_000_000]);
    }
}
