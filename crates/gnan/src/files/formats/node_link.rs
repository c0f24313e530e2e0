//! Node-link JSON, as NetworkX writes it: `{"directed": .., "graph": {..}, "nodes": [{"id": ..}], "links": [..]}`.
//!
//! A list of such graphs, or `{"graphs": [..]}`, is a set of graphs whose attributes (`graph`) are targets and
//! descriptions. Attributes of nodes are features: numbers, words, truth values, null (missing) and lists of numbers.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::files::ReadOptions;
use crate::files::formats::{Format, itself};
use crate::files::naming::{has_extension, name_of};
use crate::files::table::assembly::Assembly;
use crate::files::table::id_columns::IdNames;
use crate::files::table::overrides::Overrides;
use crate::files::table::quoted;
use crate::files::table::ragged::Ragged;
use crate::files::tables::Tables;
use crate::limits::Limits;

pub const FORMAT: Format = Format {
    name: "node-link JSON",
    appearance: "a .json file of NetworkX with nodes and links",
    detect: |path| has_extension(path, "json") && looks_like_graphs(path),
    read,
    set_of: itself,
};

type Object = Map<String, Value>;

/// What a letter of JSON takes once it is parsed, about.
const BYTES_OF_A_LETTER: u64 = 14;

/// Names that the beginning of such a file mentions; other JSON (splits, configurations) does not.
fn looks_like_graphs(path: &Path) -> bool {
    const BEGINNING: u64 = 4096;
    const MARKS: [&str; 5] = ["\"directed\"", "\"multigraph\"", "\"nodes\"", "\"links\"", "\"graphs\""];
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    read.is_ok() && MARKS.iter().any(|mark| text.contains(mark))
}

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let limits = &options.limits;
    let bytes = limits.read(path, "bytes")?;
    limits.memory.demand(BYTES_OF_A_LETTER * bytes.len() as u64, "the values of this document")?;
    // The parser refuses what is nested deeper than 128 levels.
    let document: Value = serde_json::from_slice(&bytes).map_err(|error| {
        Error::json("this is not valid JSON", error).with_remedy("a missing value is written null, not NaN")
    })?;
    let (graphs, several) = match document {
        Value::Array(graphs) => (graphs, true),
        Value::Object(mut object) => match object.remove("graphs") {
            Some(Value::Array(graphs)) => (graphs, true),
            _ => (vec![Value::Object(object)], false),
        },
        _ => return Err(Error::input("this is neither a graph nor a list of graphs")),
    };
    limits.check_graphs(graphs.len() as u64)?;
    let mut reading = Reading {
        nodes: Ragged::new(limits),
        edges: Ragged::new(limits),
        graphs: Ragged::new(limits),
        directed: None,
        left_out: BTreeSet::new(),
    };
    let ids = graph_ids(&graphs);
    for (place, graph) in graphs.into_iter().enumerate() {
        let number = (place + 1).to_string();
        let (key, id) = ids.as_ref().map_or(("", number.as_str()), |(key, ids)| (key, &ids[place]));
        let Value::Object(graph) = graph else {
            return Err(Error::input(format!("graph {number} is not an object with nodes and links")));
        };
        if several {
            reading.graph_row(graph.get("graph"), id, key)?;
        }
        reading.graph(graph, several.then_some(id)).map_err(|error| match several {
            true => error.about(format!("graph \"{id}\"")),
            false => error,
        })?;
    }
    reading.tables(path, several, limits)
}

/// What was read so far.
struct Reading {
    nodes: Ragged,
    edges: Ragged,
    graphs: Ragged,
    directed: Option<bool>,
    /// Attributes that no table can hold.
    left_out: BTreeSet<String>,
}

impl Reading {
    /// Adds the attributes of a graph, all but the one that is its id.
    fn graph_row(&mut self, attributes: Option<&Value>, id: &str, key: &str) -> Result<()> {
        self.graphs.next_row()?;
        self.graphs.put("graph_id", id, true)?;
        for (name, value) in attributes.and_then(Value::as_object).into_iter().flatten() {
            if name != key {
                put(&mut self.graphs, name, value, &mut self.left_out)?;
            }
        }
        Ok(())
    }

    /// Adds the nodes and edges of a graph.
    fn graph(&mut self, mut graph: Object, id: Option<&str>) -> Result<()> {
        let directed = match graph.get("directed") {
            None => false,
            Some(Value::Bool(directed)) => *directed,
            Some(other) => return Err(Error::input(format!("\"directed\" is {other}, neither true nor false"))),
        };
        if *self.directed.get_or_insert(directed) != directed {
            return Err(Error::input("some graphs are directed and others are not"));
        }
        let Some(Value::Array(nodes)) = graph.remove("nodes") else {
            return Err(Error::input("there is no list \"nodes\""));
        };
        for (place, node) in nodes.iter().enumerate() {
            let node = node.as_object().ok_or_else(|| Error::input(format!("node {place} is not an object")))?;
            let name = node.get("id").map_or_else(|| Some(place.to_string()), word);
            let name = name.ok_or_else(|| Error::input(format!("the id of node {place} is no number or word")))?;
            self.nodes.next_row()?;
            self.nodes.put("node_id", &name, true)?;
            row(&mut self.nodes, id, node, &["id"], &mut self.left_out)?;
        }
        let links = ["links", "edges"].into_iter().find_map(|key| graph.remove(key));
        let Some(Value::Array(links)) = links else {
            return Err(Error::input("there is no list \"links\" or \"edges\""));
        };
        for (place, link) in links.iter().enumerate() {
            let link = link.as_object().ok_or_else(|| Error::input(format!("link {place} is not an object")))?;
            self.edges.next_row()?;
            for end in ["source", "target"] {
                let missing = || Error::input(format!("link {place} has no {end}"));
                self.edges.put(end, &link.get(end).and_then(word).ok_or_else(missing)?, true)?;
            }
            row(&mut self.edges, id, link, &["source", "target", "key"], &mut self.left_out)?;
        }
        Ok(())
    }

    fn tables(self, path: &Path, several: bool, limits: &Limits) -> Result<Tables> {
        if self.nodes.rows() == 0 {
            return Err(Error::input("this data set is empty: its graphs have no nodes"));
        }
        let assembly = Assembly {
            name: name_of(path),
            nodes: self.nodes.table(path)?,
            edges: if self.edges.rows() > 0 { Some(self.edges.table(path)?) } else { None },
            graphs: if several { Some(self.graphs.table(path)?) } else { None },
            overrides: Overrides { directed: self.directed, ..Overrides::default() },
            ids: IdNames::Exact,
        };
        let mut tables = assembly.assemble(limits)?;
        if !self.left_out.is_empty() {
            let names: Vec<_> = self.left_out.iter().map(|name| quoted(name)).collect();
            tables.notes.push(format!("left out, because they are no numbers or words: {}", names.join(", ")));
        }
        Ok(tables)
    }
}

/// Adds the attributes of a node or edge, all but those that were taken care of.
fn row(
    rows: &mut Ragged,
    graph: Option<&str>,
    item: &Object,
    done: &[&str],
    left: &mut BTreeSet<String>,
) -> Result<()> {
    if let Some(graph) = graph {
        rows.put("graph_id", graph, true)?;
    }
    for (name, value) in item.iter().filter(|(name, _)| !done.contains(&name.as_str())) {
        put(rows, name, value, left)?;
    }
    Ok(())
}

fn put(rows: &mut Ragged, name: &str, value: &Value, left_out: &mut BTreeSet<String>) -> Result<()> {
    match value {
        Value::Null => rows.put(name, "", false),
        Value::Bool(flag) => rows.put(name, if *flag { "1" } else { "0" }, false),
        Value::Number(number) => rows.put(name, &number.to_string(), false),
        Value::String(word) => rows.put(name, word, true),
        Value::Array(items) if items.iter().all(|item| item.is_number() || item.is_null()) => {
            let mut items = items.iter().enumerate();
            items.try_for_each(|(place, item)| put(rows, &format!("{name}_{place}"), item, left_out))
        }
        Value::Array(_) | Value::Object(_) => {
            left_out.insert(name.to_string());
            Ok(())
        }
    }
}

/// The ids of the graphs: the attribute `id` or `name`, if each has one of its own.
fn graph_ids(graphs: &[Value]) -> Option<(&'static str, Vec<String>)> {
    ["id", "name"].into_iter().find_map(|key| {
        let id = |graph: &Value| word(graph.get("graph")?.get(key)?).filter(|id| !id.is_empty());
        let ids = graphs.iter().map(id).collect::<Option<Vec<_>>>()?;
        let distinct: HashSet<_> = ids.iter().collect();
        (distinct.len() == ids.len()).then_some((key, ids))
    })
}

/// A number or a word as it names something.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(word) => Some(word.trim().to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
