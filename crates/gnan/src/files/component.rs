//! The largest connected component of each graph, directions of edges disregarded.

use crate::files::row_selection::RowSelection;
use crate::files::tables::{Column, Tables, Task};

/// Drops every node that is not in the largest component of its graph (of equal ones, the first).
pub fn keep_largest(tables: &mut Tables) {
    let component = components(tables.nodes(), &tables.edges);
    let mut size = vec![0usize; tables.nodes()];
    for &root in &component {
        size[root as usize] += 1;
    }
    let mut keep = vec![false; tables.nodes()];
    for range in tables.node_offsets.windows(2) {
        let nodes = range[0]..range[1];
        let larger = |best: Option<u32>, &root: &u32| match best {
            Some(best) if size[best as usize] >= size[root as usize] => Some(best),
            _ => Some(root),
        };
        let largest = component[nodes.clone()].iter().fold(None, larger);
        for node in nodes {
            keep[node] = Some(component[node]) == largest;
        }
    }
    let dropped = keep.iter().filter(|keep| !**keep).count();
    tables.notes.push(format!("kept the largest component: {dropped} of {} nodes dropped", keep.len()));
    if dropped > 0 {
        retain(tables, &keep);
    }
}

/// For each node the smallest node of its component.
fn components(nodes: usize, edges: &[[u32; 2]]) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..).take(nodes).collect();
    for &[source, target] in edges {
        let [one, other] = [find(&mut parent, source), find(&mut parent, target)];
        parent[one.max(other) as usize] = one.min(other);
    }
    (0..).take(nodes).map(|node| find(&mut parent, node)).collect()
}

/// The node that stands for all that are joined to `node`; paths to it are halved on the way.
pub fn find(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        parent[node as usize] = parent[parent[node as usize] as usize];
        node = parent[node as usize];
    }
    node
}

fn retain(tables: &mut Tables, keep: &[bool]) {
    let selection = RowSelection::keep(keep);
    let kept = |nodes: &[usize]| keep[nodes[0]..nodes[1]].iter().filter(|keep| **keep).count();
    let mut offsets = vec![0];
    let mut end = 0;
    for nodes in tables.node_offsets.windows(2) {
        end += kept(nodes);
        offsets.push(end);
    }
    // Nodes without an id are known by their position, which must not change.
    let ids = tables.node_ids.take().unwrap_or_else(|| positions(&tables.node_offsets));
    tables.node_ids = Some(selection.items(&ids));
    tables.node_offsets = offsets;
    let kept = |edge: &usize| tables.edges[*edge].iter().all(|end| keep[*end as usize]);
    let edges: Vec<usize> = (0..tables.edges.len()).filter(kept).collect();
    tables.select_edges(&edges);
    tables.edges = selection.edges(std::mem::take(&mut tables.edges));
    let columns: Vec<Column> = std::mem::take(&mut tables.node_columns);
    tables.node_columns = columns.into_iter().map(|column| selection.column(column)).collect();
    if tables.task == Some(Task::Node) {
        for split in &mut tables.splits {
            *split = selection.items(split);
        }
    }
}

fn positions(offsets: &[usize]) -> Vec<String> {
    offsets.windows(2).flat_map(|nodes| (0..nodes[1] - nodes[0]).map(|position| position.to_string())).collect()
}
