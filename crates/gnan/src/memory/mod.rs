//! Memory: how much the process may hold, and whether something large still fits.
//!
//! The limit counts anonymous resident memory, what a program has made for itself rather than mapped from files. Whoever
//! is about to make something large asks first with [`demand`], which refuses before anything is allocated. Nobody keeps
//! a ledger of what was given back: the operating system is asked how much is in use. The limit decides whether and how
//! work is done, never the numbers that come out.

mod system;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::numbers;
use crate::remedy::Remedy;

/// Less than this is not worth asking for.
const LITTLE: u64 = 1 << 18;
/// How often a [`Watch`] looks.
const GLANCE: Duration = Duration::from_millis(5);

/// The limit that was set; 0: none was.
static SET: AtomicU64 = AtomicU64::new(0);
/// The limit that holds where none was set.
static USUAL: OnceLock<Option<u64>> = OnceLock::new();

/// Sets the limit of the process, in bytes; 0 goes back to the usual one.
pub fn set_limit(bytes: u64) {
    SET.store(bytes, Ordering::Relaxed);
}

/// The limit of the process in bytes: what was set, or what is in use and three quarters of what is free when it is first
/// asked for. `None`: this system does not say what is free, and nothing is refused.
pub fn limit() -> Option<u64> {
    match SET.load(Ordering::Relaxed) {
        0 => *USUAL.get_or_init(|| Some(system::free()? / 4 * 3 + anonymous()?)),
        bytes => Some(bytes),
    }
}

/// Anonymous resident memory of the process in bytes, where the system says so.
pub fn anonymous() -> Option<u64> {
    system::anonymous()
}

/// What may still be made, in bytes; `None`: there is no limit, or nothing is known of what is in use.
pub fn left() -> Option<u64> {
    Some(limit()?.saturating_sub(anonymous()?))
}

/// Refuses what would exceed the limit, before it is made: `what` needs so many bytes more.
pub fn demand(bytes: u64, what: &str) -> Result<()> {
    demand_or(bytes, what, &[])
}

/// The same where there are leaner ways, such as a smaller sample.
pub fn demand_or(bytes: u64, what: &str, leaner: &[Remedy]) -> Result<()> {
    if bytes < LITTLE {
        return Ok(());
    }
    let (Some(limit), Some(used)) = (limit(), anonymous()) else { return Ok(()) };
    if used.saturating_add(bytes) <= limit {
        return Ok(());
    }
    Err(refusal(&format!("{what}: {} are needed", numbers::bytes(bytes)), used, limit, Some(bytes), leaner))
}

/// What was read or made so far has used the limit up, and it is not known how much more there is.
pub(crate) fn exhausted(what: &str) -> Error {
    let (limit, used) = (limit().unwrap_or(0), anonymous().unwrap_or(0));
    refusal(&format!("{what}: more is needed than there is"), used, limit, None, &[])
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
                std::thread::sleep(GLANCE);
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
