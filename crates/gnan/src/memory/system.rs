//! What the operating system reports about memory.

use sysinfo::{MemoryRefreshKind, Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// Anonymous resident memory of this process; where the system does not report that part, all of its resident memory.
pub fn anonymous() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok();
    status.and_then(|status| kilobytes(&status, "RssAnon:")).or_else(resident)
}

fn resident() -> Option<u64> {
    let own = Pid::from_u32(std::process::id());
    let mut system = System::new();
    let kind = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[own]), true, kind);
    Some(system.process(own)?.memory())
}

/// What is free: what the machine has available, or what the control group of this process may still take if that is less.
pub fn free() -> Option<u64> {
    let mut system = System::new();
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let available = Some(system.available_memory()).filter(|bytes| *bytes > 0)?;
    Some(system.cgroup_limits().map_or(available, |group| group.free_memory.min(available)))
}

/// The number of a line such as `RssAnon:   1234 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_by_name() {
        let text = "VmPeak:\t  20 kB\nRssAnon:\t     4 kB\nRssFile: x kB\nLarge: 18446744073709551615 kB\n";
        assert_eq!(kilobytes(text, "RssAnon:"), Some(4096));
        assert_eq!([kilobytes(text, "RssFile:"), kilobytes(text, "None:"), kilobytes(text, "Large:")], [None; 3]);
    }

    #[test]
    fn the_system_reports_memory() {
        let used = vec![1u8; 50_000_000];
        assert!(resident().is_some_and(|bytes| bytes > used.len() as u64));
        assert!(anonymous().is_some_and(|bytes| bytes > used.len() as u64));
        assert!(free().is_some_and(|bytes| bytes > 1 << 20));
    }
}
