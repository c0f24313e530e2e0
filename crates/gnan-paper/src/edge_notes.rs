//! Notes for the user about a list of edges.

use gnan::ReadOptions;
use gnan::files::Tables;

/// Notes that edges which the format gives a direction are read without one unless the user wants it, and how
/// many of them are self-loops or repeated.
pub fn note_directions(tables: &mut Tables, options: &ReadOptions) {
    if options.directed.is_none() {
        let note = "the files give edges a direction, which is not used: the option directed keeps it";
        tables.notes.push(note.to_string());
    }
    note_oddities(tables);
}

/// Notes how many edges are self-loops or repeated.
pub fn note_oddities(tables: &mut Tables) {
    let loops = tables.edges.iter().filter(|[source, target]| source == target).count();
    let mut sorted: Vec<[u32; 2]> = tables.edges.iter().copied().filter(|[source, target]| source != target).collect();
    let others = sorted.len();
    sorted.sort_unstable();
    sorted.dedup();
    note_counts(tables, loops, others - sorted.len());
}

/// The same, where the numbers are known.
pub fn note_counts(tables: &mut Tables, loops: usize, repeated: usize) {
    if loops + repeated > 0 {
        let note = format!("self-loops and repeated edges change nothing: {loops} and {repeated} were found");
        tables.notes.push(note);
    }
}
