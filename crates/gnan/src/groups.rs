//! Groups: entries that stand group by group in one list.

/// Where the entries of every group begin, and where those of the last one end, given the group of each entry: those of
/// group `g` are `offsets[g]..offsets[g + 1]`.
pub(crate) fn group_offsets(groups: usize, of_entries: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut offsets = vec![0; groups + 1];
    of_entries.for_each(|group| offsets[group + 1] += 1);
    for group in 0..groups {
        offsets[group + 1] += offsets[group];
    }
    offsets
}
