//! GraphML: an XML file with `<graph>` elements of `<node>` and `<edge>`, whose `<data>` the `<key>`s name.
//!
//! Several graphs in one file are a set of graphs, whose data are targets and descriptions. Entities other than the
//! five of XML itself are refused, so nothing expands.
//!
//! Brandes et al., "GraphML progress report", 2001.

use std::collections::HashMap;
use std::path::Path;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::{Error, Result};
use crate::files::ReadOptions;
use crate::files::formats::{Format, itself};
use crate::files::naming::{has_ending, name_of};
use crate::files::table::assembly::Assembly;
use crate::files::table::id_columns::IdNames;
use crate::files::table::overrides::Overrides;
use crate::files::table::quoted;
use crate::files::table::ragged::Ragged;
use crate::files::table::text_column::is_missing;
use crate::files::tables::Tables;
use crate::files::text::Text;
use crate::limits::Limits;

pub const FORMAT: Format = Format {
    name: "GraphML",
    appearance: "a .graphml file",
    detect: |path| path.is_file() && has_ending(path, "graphml"),
    read,
    set_of: itself,
};

const INVALID: &str = "this is not valid XML";

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let limits = &options.limits;
    let text = Text::open(path, limits)?;
    limits
        .memory
        .demand(2 * text.text.len() as u64, "the tables of this document")
        .map_err(|error| error.in_file(path))?;
    let mut reader = Reader::from_str(&text.text);
    reader.config_mut().expand_empty_elements = true;
    let mut document = Document::new(limits);
    loop {
        let event = reader.read_event();
        let byte = if event.is_err() { reader.error_position() } else { reader.buffer_position() };
        let event = event.map_err(|error| Error::because(INVALID, error));
        let done = event.and_then(|event| document.event(event));
        if done.map_err(|error| text.place(error, byte as usize))? {
            break;
        }
    }
    document.tables(path, limits)
}

/// What a piece of data describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Graph,
    Node,
    Edge,
}

/// A declared attribute.
struct Key {
    /// `None` means all items.
    item: Option<Item>,
    /// The name of the attribute; keys of drawing programs have none.
    name: Option<String>,
    kind: String,
    default: Option<String>,
}

/// What was read so far.
struct Document {
    keys: Vec<Key>,
    key_of: HashMap<String, usize>,
    graphs: Ragged,
    nodes: Ragged,
    edges: Ragged,
    directed: Option<bool>,
    graph_id: String,
    /// The items that are open, innermost last: a graph, and a node or edge in it.
    open: Vec<Item>,
    depth: usize,
    /// The key whose value or default is being read, and the text of it.
    reading: Option<usize>,
    text: String,
    unnamed: bool,
}

impl Document {
    fn new(limits: &Limits) -> Document {
        Document {
            keys: Vec::new(),
            key_of: HashMap::new(),
            graphs: Ragged::new(limits),
            nodes: Ragged::new(limits),
            edges: Ragged::new(limits),
            directed: None,
            graph_id: String::new(),
            open: Vec::new(),
            depth: 0,
            reading: None,
            text: String::new(),
            unnamed: false,
        }
    }

    /// Takes in a piece of the file; whether it was the last.
    fn event(&mut self, event: Event) -> Result<bool> {
        match event {
            Event::Start(start) => {
                self.depth += 1;
                self.start(&start)?;
            }
            Event::End(end) => {
                self.depth = self.depth.saturating_sub(1);
                self.end(end.local_name().as_ref())?;
            }
            Event::Text(text) => self.text.push_str(&text.xml10_content()),
            Event::CData(text) => self.text.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let unknown = || Error::input("this file uses an entity that XML itself does not define");
                let character = reference.resolve_char_ref().map_err(|_| unknown())?;
                match (character, reference.xml10_content().as_ref()) {
                    (Some(character), _) => self.text.push(character),
                    (None, "amp") => self.text.push('&'),
                    (None, "lt") => self.text.push('<'),
                    (None, "gt") => self.text.push('>'),
                    (None, "quot") => self.text.push('"'),
                    (None, "apos") => self.text.push('\''),
                    _ => return Err(unknown()),
                }
            }
            Event::Eof if self.depth > 0 => return Err(Error::input("this file is cut short")),
            Event::Eof => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    fn start(&mut self, start: &BytesStart) -> Result<()> {
        self.text.clear();
        match start.local_name().as_ref() {
            "key" => self.key(start),
            "graph" => self.graph(start),
            "node" => {
                self.enter(Item::Node)?;
                self.nodes.next_row()?;
                self.nodes.put("node_id", &required(start, "id")?, true)?;
                self.nodes.put("graph_id", &self.graph_id, true)
            }
            "edge" => self.edge(start),
            "hyperedge" => Err(Error::input("hyperedges are not read").with_remedy("an edge joins two nodes")),
            "data" => {
                let id = required(start, "key")?;
                let unknown = || Error::input(format!("there is no key \"{id}\""));
                self.reading = Some(*self.key_of.get(&id).ok_or_else(unknown)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, name: &str) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        match name {
            "default" => {
                if let Some(key) = self.reading {
                    self.keys[key].default = Some(text);
                }
            }
            "key" => self.reading = None,
            "data" => {
                if let (Some(key), Some(&item)) = (self.reading.take(), self.open.last()) {
                    self.put(key, item, &text)?;
                }
            }
            "graph" | "node" | "edge" => {
                if let Some(item) = self.open.pop() {
                    self.put_defaults(item)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn key(&mut self, start: &BytesStart) -> Result<()> {
        let item = match attribute(start, "for")?.as_deref() {
            Some("node") => Some(Item::Node),
            Some("edge") => Some(Item::Edge),
            Some("graph") => Some(Item::Graph),
            _ => None,
        };
        let id = required(start, "id")?;
        let name = attribute(start, "attr.name")?;
        let kind = attribute(start, "attr.type")?.unwrap_or_else(|| "string".to_string());
        self.unnamed |= name.is_none();
        self.reading = Some(self.keys.len());
        if self.key_of.insert(id.clone(), self.keys.len()).is_some() {
            return Err(Error::input(format!("the key \"{id}\" is declared twice")));
        }
        self.keys.push(Key { item, name, kind, default: None });
        Ok(())
    }

    fn graph(&mut self, start: &BytesStart) -> Result<()> {
        if !self.open.is_empty() {
            return Err(Error::input("a graph inside a node is not read"));
        }
        self.open.push(Item::Graph);
        self.graphs.next_row()?;
        self.graph_id = attribute(start, "id")?.unwrap_or_else(|| self.graphs.rows().to_string());
        self.graphs.put("graph_id", &self.graph_id, true)?;
        let directed = attribute(start, "edgedefault")?.as_deref() == Some("directed");
        self.agree(directed)
    }

    fn edge(&mut self, start: &BytesStart) -> Result<()> {
        self.enter(Item::Edge)?;
        self.edges.next_row()?;
        self.edges.put("source", &required(start, "source")?, true)?;
        self.edges.put("target", &required(start, "target")?, true)?;
        self.edges.put("graph_id", &self.graph_id, true)?;
        match attribute(start, "directed")? {
            Some(word) => self.agree(word == "true"),
            None => Ok(()),
        }
    }

    fn enter(&mut self, item: Item) -> Result<()> {
        if self.open != [Item::Graph] {
            return Err(Error::input("nodes and edges belong directly into a graph"));
        }
        self.open.push(item);
        Ok(())
    }

    fn agree(&mut self, directed: bool) -> Result<()> {
        if *self.directed.get_or_insert(directed) == directed {
            return Ok(());
        }
        Err(Error::input("some edges are directed and others are not"))
    }

    fn put(&mut self, key: usize, item: Item, text: &str) -> Result<()> {
        let Key { name: Some(name), kind, .. } = &self.keys[key] else { return Ok(()) };
        let text = text.trim();
        let words = kind == "string";
        let cell = match (kind.as_str(), text) {
            ("boolean", "true" | "True") => "1",
            ("boolean", "false" | "False") => "0",
            _ => text,
        };
        if !words && !is_missing(cell) && cell.parse::<f64>().is_err() {
            return Err(Error::input(format!("\"{text}\" is not a value of \"{name}\", which is of type {kind}")));
        }
        match item {
            Item::Graph => self.graphs.put(name, cell, words),
            Item::Node => self.nodes.put(name, cell, words),
            Item::Edge => self.edges.put(name, cell, words),
        }
    }

    /// Gives the item that ends the values that it was not given.
    fn put_defaults(&mut self, item: Item) -> Result<()> {
        for key in 0..self.keys.len() {
            let Key { item: of, name: Some(name), default: Some(default), .. } = &self.keys[key] else { continue };
            let rows = match item {
                Item::Graph => &self.graphs,
                Item::Node => &self.nodes,
                Item::Edge => &self.edges,
            };
            if of.is_none_or(|of| of == item) && !rows.has(name) {
                let default = default.clone();
                self.put(key, item, &default)?;
            }
        }
        Ok(())
    }

    fn tables(self, path: &Path, limits: &Limits) -> Result<Tables> {
        let empty = |what: &str| Error::input(format!("this file has no {what}"));
        let several = self.graphs.rows() > 1;
        if self.nodes.rows() == 0 {
            return Err(empty(if self.graphs.rows() == 0 { "graph" } else { "nodes" }));
        }
        let mut nodes = self.nodes.table(path)?;
        let mut edges = if self.edges.rows() > 0 { Some(self.edges.table(path)?) } else { None };
        let mut graphs = self.graphs.table(path)?;
        let mut notes = Vec::new();
        if self.unnamed {
            notes.push("keys without a name (of drawing programs) are left out".to_string());
        }
        if !several {
            nodes.take("graph_id");
            edges.as_mut().map(|edges| edges.take("graph_id"));
            graphs.take("graph_id");
            let names: Vec<_> = graphs.names().map(quoted).collect();
            if !names.is_empty() {
                notes.push(format!("there is one graph, so its data are not used: {}", names.join(", ")));
            }
        }
        let overrides = Overrides { directed: self.directed, ..Overrides::default() };
        let graphs = several.then_some(graphs);
        let mut tables =
            Assembly { name: name_of(path), nodes, edges, graphs, overrides, ids: IdNames::Exact }.assemble(limits)?;
        tables.notes.append(&mut notes);
        Ok(tables)
    }
}

fn attribute(start: &BytesStart, name: &str) -> Result<Option<String>> {
    let found = start.try_get_attribute(name).map_err(|error| Error::because(INVALID, error))?;
    let Some(attribute) = found else { return Ok(None) };
    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
    let value = value.map_err(|error| Error::because(INVALID, error))?;
    Ok(Some(value.trim().to_string()))
}

fn required(start: &BytesStart, name: &str) -> Result<String> {
    attribute(start, name)?
        .ok_or_else(|| Error::input(format!("a <{}> has no attribute \"{name}\"", start.local_name().as_ref())))
}
