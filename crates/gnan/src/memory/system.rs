//! What the operating system says about memory. Only Linux is asked; elsewhere nothing is known.

use std::path::Path;

/// Anonymous resident memory of this process.
pub fn anonymous() -> Option<u64> {
    kilobytes(&read(Path::new("/proc/self/status"))?, "RssAnon:")
}

/// What is free: what the machine has available, or what the group of this process may still take if that is less.
pub fn free() -> Option<u64> {
    let available = kilobytes(&read(Path::new("/proc/meminfo"))?, "MemAvailable:")?;
    Some(group_free().map_or(available, |free| free.min(available)))
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The number of a line such as `RssAnon:   1234 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// What the control groups of this process leave, by the narrowest of them (version 2, then version 1).
fn group_free() -> Option<u64> {
    let groups = read(Path::new("/proc/self/cgroup"))?;
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?.trim_start_matches('/'));
        match controllers {
            "" => narrowest("/sys/fs/cgroup", path, "memory.max", "memory.current"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                narrowest("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => None,
        }
    };
    groups.lines().filter_map(of_line).min()
}

/// The least that a group or one above it leaves. Inactive pages of files count as free: the system drops them.
fn narrowest(root: &str, path: &str, limit: &str, usage: &str) -> Option<u64> {
    let number = |folder: &Path, name: &str| read(&folder.join(name))?.trim().parse::<u64>().ok();
    let left = |folder: &Path| {
        let stat = read(&folder.join("memory.stat")).unwrap_or_default();
        let inactive = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok());
        let used = number(folder, usage)?.saturating_sub(inactive.unwrap_or(0));
        Some(number(folder, limit)?.saturating_sub(used))
    };
    let own = Path::new(root).join(path);
    own.ancestors().take_while(|folder| folder.starts_with(root)).filter_map(left).min()
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
}
