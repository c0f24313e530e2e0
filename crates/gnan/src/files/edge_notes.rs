//! What should be said about a list of edges.

use crate::files::ReadOptions;
use crate::files::tables::Tables;

/// Edges that a format gives a direction, but that are read without one unless the user asks for it; says so, and how
/// many of them are self-loops or repeated.
pub fn note_directions(tables: &mut Tables, options: &ReadOptions) {
    if options.directed.is_none() {
        let note = "the files give edges a direction, which is not used: the option directed keeps it";
        tables.notes.push(note.to_string());
    }
    note_oddities(tables);
}

/// Says how many edges are self-loops or repeated.
pub fn note_oddities(tables: &mut Tables) {
    let loops = tables.edges.iter().filter(|[source, target]| source == target).count();
    let mut sorted: Vec<[u32; 2]> = tables.edges.iter().copied().filter(|[source, target]| source != target).collect();
    let others = sorted.len();
    sorted.sort_unstable();
    sorted.dedup();
    note_counts(tables, loops, others - sorted.len());
}

/// Says how many edges are self-loops or repeated, where that is known.
pub fn note_counts(tables: &mut Tables, loops: usize, repeated: usize) {
    if loops + repeated > 0 {
        let note = format!("self-loops and repeated edges change nothing: {loops} and {repeated} were found");
        tables.notes.push(note);
    }
}
