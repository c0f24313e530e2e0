//! Ids in tables of nodes, edges and graphs: which graph a node belongs to, and which nodes an edge joins.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::files::table::id_columns::IdNames;
use crate::files::table::text_column::TextColumn;
use crate::files::table::{Table, quoted};
use crate::limits::Limits;
use crate::remedy::Remedy;

/// The graphs, and which of them each row of the table of nodes belongs to.
pub struct GraphIndex {
    /// Ids of the graphs, those without nodes included.
    pub ids: Vec<String>,
    place: HashMap<String, u32>,
    /// For each row of the table of nodes, the place of its graph among the ids.
    pub graph_of_node: Vec<u32>,
    /// Whether the table of nodes says which graph a node belongs to.
    explicit: bool,
}

impl GraphIndex {
    /// Takes the graphs from their table if there is one, and else from the nodes; without either there is one, called
    /// `name`.
    pub fn new(
        name: &str,
        nodes: &Table,
        of_node: Option<&TextColumn>,
        graphs: Option<(&Table, &TextColumn)>,
    ) -> Result<GraphIndex> {
        let listed = graphs.map(|(graphs, _)| graphs.file_name());
        let mut index = GraphIndex {
            ids: Vec::new(),
            place: HashMap::new(),
            graph_of_node: Vec::new(),
            explicit: of_node.is_some(),
        };
        if let Some((graphs, ids)) = graphs {
            for (row, id) in ids.iter().enumerate() {
                let first = index.add(id);
                if first as usize != row {
                    let place = graphs.place(first as usize);
                    return Err(graphs.error(row, format!("graph \"{id}\" is already {place}")).in_column(&ids.name));
                }
            }
        }
        match of_node {
            None if index.ids.len() > 1 => {
                let listed =
                    listed.expect("without a table of graphs and without graphs of nodes there is no graph yet");
                let message = format!("there is no column \"graph_id\", but {listed} lists {} graphs", index.ids.len());
                return Err(nodes.header_error(message));
            }
            None => {
                if index.ids.is_empty() {
                    index.add(name);
                }
                index.graph_of_node = vec![0; nodes.rows()];
            }
            Some(of_node) => {
                for (row, id) in of_node.iter().enumerate() {
                    let graph = match (index.place.get(id), &listed) {
                        (Some(&graph), _) => graph,
                        (None, Some(file)) => {
                            let message = format!("graph \"{id}\" is not in {file}");
                            return Err(nodes.error(row, message).in_column(&of_node.name));
                        }
                        (None, None) => index.add(id),
                    };
                    index.graph_of_node.push(graph);
                }
            }
        }
        Ok(index)
    }

    /// The place of a graph, which is made if it is new.
    fn add(&mut self, id: &str) -> u32 {
        if let Some(&place) = self.place.get(id) {
            return place;
        }
        let place = self.ids.len() as u32;
        self.ids.push(id.to_string());
        self.place.insert(id.to_string(), place);
        place
    }
}

/// Finds the row of the table of nodes by graph and id.
pub struct NodeIndex<'a> {
    rows: HashMap<(u32, &'a str), u32>,
    ids: &'a TextColumn,
    /// The file of the nodes, for messages.
    file: String,
}

impl<'a> NodeIndex<'a> {
    /// Demands that ids are unique within a graph.
    pub fn new(ids: &'a TextColumn, nodes: &Table, graphs: &GraphIndex) -> Result<NodeIndex<'a>> {
        let mut rows = HashMap::with_capacity(nodes.rows());
        for (row, (id, &graph)) in ids.iter().zip(&graphs.graph_of_node).enumerate() {
            if let Some(first) = rows.insert((graph, id), row as u32) {
                let place = nodes.place(first as usize);
                let graph = &graphs.ids[graph as usize];
                return Err(nodes
                    .error(row, format!("node \"{id}\" of graph \"{graph}\" is already {place}"))
                    .in_column(&ids.name)
                    .with_remedy("node ids must be unique within a graph"));
            }
        }
        Ok(NodeIndex { rows, ids, file: nodes.file_name() })
    }

    /// The error of an edge that names a node that is not there; `ends` are the columns of the edges.
    fn unknown(&self, edges: &Table, row: usize, id: &str, of_graph: &str, ends: [&TextColumn; 2]) -> Error {
        let NodeIndex { file, ids, .. } = self;
        let message = format!("node \"{id}\"{of_graph} is not in {file}, whose ids are in column \"{}\"", ids.name);
        let [source, target] = ends.map(|cells| &cells.name);
        edges.error(row, message).with_remedy([
            format!(
                "if \"{source}\" and \"{target}\" are not the ends of the edges, call the columns that are source and target"
            )
            .into(),
            Remedy::Use("name-column").to(format!("name the column of {file} that holds the ids")),
        ])
    }

    /// The row of each id, if no id occurs in two graphs.
    fn without_graphs(&self, edges: &Table, graphs: &GraphIndex) -> Result<HashMap<&'a str, u32>> {
        let mut rows = HashMap::with_capacity(self.rows.len());
        for (row, id) in (0..).zip(self.ids.iter()) {
            if let Some(first) = rows.insert(id, row) {
                let [one, other] =
                    [first, row].map(|row| quoted(&graphs.ids[graphs.graph_of_node[row as usize] as usize]));
                let message =
                    format!("there is no column \"graph_id\", and node \"{id}\" is in graphs {one} and {other}");
                return Err(edges.header_error(message).with_remedy("add a column graph_id"));
            }
        }
        Ok(rows)
    }
}

/// The edges as pairs of rows of the table of nodes; takes the columns it uses.
pub fn read_edges(
    edges: &mut Table,
    ids: &IdNames,
    nodes: &NodeIndex,
    graphs: &GraphIndex,
    limits: &Limits,
) -> Result<Vec<[u32; 2]>> {
    Limits::check(edges.rows() as u64, limits.edges, "edges").map_err(|error| error.in_file(edges.path()))?;
    let graph_of_edge = ids.take_graph_ids(edges)?;
    let [sources, targets] = ids.take_ends(edges)?;
    let file = &nodes.file;
    if graph_of_edge.is_some() && !graphs.explicit {
        return Err(edges.header_error(format!("there is a column \"graph_id\", but {file} has none")));
    }
    let ends = sources.iter().zip(targets.iter()).enumerate();
    let Some(graph_of_edge) = graph_of_edge else {
        // The index of the nodes serves where there is one graph.
        let single = graphs.ids.len() == 1;
        let rows = if single { HashMap::new() } else { nodes.without_graphs(edges, graphs)? };
        let find = |row: usize, column: &str, id: &str| {
            let found = if single { nodes.rows.get(&(0, id)) } else { rows.get(id) }.copied();
            found.ok_or_else(|| nodes.unknown(edges, row, id, "", [&sources, &targets]).in_column(column))
        };
        let resolve = |(row, (source, target))| {
            let pair = [find(row, &sources.name, source)?, find(row, &targets.name, target)?];
            let [one, other] = pair.map(|node| graphs.graph_of_node[node as usize]);
            let message = || format!("nodes \"{source}\" and \"{target}\" are in different graphs");
            if one == other { Ok(pair) } else { Err(edges.error(row, message())) }
        };
        return ends.map(resolve).collect();
    };
    let resolve = |((row, (source, target)), graph_id)| {
        let missing =
            || edges.error(row, format!("graph \"{graph_id}\" is not in {file}")).in_column(&graph_of_edge.name);
        let graph = graphs.place.get(graph_id).copied().ok_or_else(missing)?;
        let find = |column: &str, id| {
            let found = nodes.rows.get(&(graph, id)).copied();
            let of_graph = format!(" of graph \"{graph_id}\"");
            found.ok_or_else(|| nodes.unknown(edges, row, id, &of_graph, [&sources, &targets]).in_column(column))
        };
        Ok([find(&sources.name, source)?, find(&targets.name, target)?])
    };
    ends.zip(graph_of_edge.iter()).map(resolve).collect()
}
