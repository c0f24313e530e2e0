//! Which columns of a table hold ids and names, by what people usually call them: `node_id`, `Node ID` and `id` are the same.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::files::table::text_column::{TextColumn, is_missing};
use crate::files::table::typed_column::{are_dates, are_words};
use crate::files::table::{Table, quoted};
use crate::remedy::Remedy;

/// What a column of node ids is called, the most usual first.
const NODE: [&str; 5] = ["nodeid", "node", "id", "vertexid", "vertex"];
/// What it is called where no other column ends in "id".
const NODE_NAME: [&str; 3] = ["name", "index", "key"];
/// What the column is called that says which graph a node, an edge or a row of graphs belongs to.
const GRAPH: [&str; 3] = ["graphid", "graph", "graphname"];
/// What the columns of the ends of edges are called.
const ENDS: [[&str; 2]; 16] = [
    ["source", "target"],
    ["from", "to"],
    ["src", "dst"],
    ["sourceid", "targetid"],
    ["fromid", "toid"],
    ["sourcenode", "targetnode"],
    ["fromnode", "tonode"],
    ["node1", "node2"],
    ["id1", "id2"],
    ["u", "v"],
    ["i", "j"],
    ["sender", "receiver"],
    ["payer", "payee"],
    ["citing", "cited"],
    ["head", "tail"],
    ["start", "end"],
];
/// What a column of names of molecules is called, the most usual first.
const MOLECULE: [&str; 11] = [
    "name",
    "id",
    "compoundid",
    "title",
    "molid",
    "moleculeid",
    "compound",
    "compoundname",
    "moleculename",
    "chemblid",
    "identifier",
];

/// The largest share of names that may be missing or occur before where names are nearly all different.
const MOST_REPEATED: f64 = 0.05;
/// In a table of fewer rows, words that are all different may be anything.
const FEWEST_NAMES: usize = 10;

/// A name without case, spaces and punctuation.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The column that has the first of these names that any has.
fn find(table: &Table, names: &[&str]) -> Option<String> {
    let found = |wanted: &&str| table.names().find(|name| plain(name) == *wanted).map(str::to_owned);
    names.iter().find_map(found)
}

/// Whether the last word of a name is "id": `account_id`, `Account ID`, `accountId`, but not `paid`.
fn ends_in_id(name: &str) -> bool {
    let Some(before) = name.len().checked_sub(2).filter(|at| name.is_char_boundary(*at)) else { return false };
    let (rest, last) = name.split_at(before);
    let new_word = rest.ends_with(|letter: char| !letter.is_alphanumeric()) || last.starts_with('I');
    last.eq_ignore_ascii_case("id") && new_word
}

/// The column that was named, which must be there.
fn named(table: &Table, name: &str) -> Result<String> {
    match table.names().find(|known| *known == name) {
        Some(known) => Ok(known.to_owned()),
        None => Err(Error::usage(format!("there is no column \"{name}\" of names; the columns are {}", listed(table)))),
    }
}

fn listed(table: &Table) -> String {
    table.names().map(quoted).collect::<Vec<_>>().join(", ")
}

/// Whether every cell is there and no two are the same.
fn is_unique(cells: &TextColumn) -> bool {
    let mut seen = HashSet::with_capacity(cells.len());
    cells.len() > 0 && cells.iter().all(|cell| !cell.is_empty() && seen.insert(cell))
}

/// Whether nearly every cell is there and different from all others.
fn is_nearly_unique(cells: &TextColumn) -> bool {
    let different: HashSet<&str> = cells.iter().filter(|cell| !is_missing(cell)).collect();
    (cells.len() - different.len()) as f64 <= MOST_REPEATED * cells.len() as f64
}

/// How the columns of ids are called in the tables of a format.
#[derive(Clone, Debug)]
pub enum IdNames {
    /// `node_id`, `graph_id`, `source` and `target`: the reader of the format has made them, and others are features.
    Exact,
    /// As people call them; the column of node ids may be named.
    Usual(Option<String>),
}

impl IdNames {
    /// Takes the ids of the nodes out: the column that was named, one of a usual name, one that ends in "id" and has no id
    /// twice, or words in the first column that are all different.
    pub fn take_node_ids(&self, nodes: &mut Table) -> Result<TextColumn> {
        let name = match self {
            IdNames::Exact => Some("node_id".to_owned()),
            IdNames::Usual(Some(wanted)) => Some(named(nodes, wanted)?),
            IdNames::Usual(None) => find(nodes, &NODE),
        };
        if let Some(name) = name {
            return nodes.take_ids(&name);
        }
        let mut columns = nodes.columns().iter();
        let ends_in_id = columns.clone().find(|cells| ends_in_id(&cells.name) && is_unique(cells));
        let found = ends_in_id.map(|cells| cells.name.clone()).or_else(|| find(nodes, &NODE_NAME)).or_else(|| {
            let first = columns.next().filter(|cells| is_unique(cells) && are_words(cells));
            first.map(|cells| cells.name.clone())
        });
        let Some(name) = found else {
            return Err(nodes
                .header_error(format!("there is no column \"node_id\"; the columns are {}", listed(nodes)))
                .with_remedy(Remedy::Use("name-column").to("name the column that holds the ids of the nodes")));
        };
        nodes.notes.push(format!("the ids of the nodes are those in column \"{name}\""));
        nodes.take_ids(&name)
    }

    /// Takes out which graph each row belongs to, where a column says so.
    pub fn take_graph_ids(&self, table: &mut Table) -> Result<Option<TextColumn>> {
        let name = match self {
            IdNames::Exact => table.names().find(|name| *name == "graph_id").map(str::to_owned),
            IdNames::Usual(_) => find(table, &GRAPH),
        };
        name.map(|name| table.take_ids(&name)).transpose()
    }

    /// Takes the ids out of a table of graphs, whose rows are what its ids name.
    pub fn take_own_graph_ids(&self, graphs: &mut Table) -> Result<TextColumn> {
        let name = match self {
            IdNames::Exact => None,
            IdNames::Usual(_) => find(graphs, &GRAPH).or_else(|| find(graphs, &["id", "name"])),
        };
        graphs.take_ids(name.as_deref().unwrap_or("graph_id"))
    }

    /// Takes out the two ends of each edge. Columns of dates are ends only if they are called source and target: `start` and
    /// `end` may be those of a period.
    pub fn take_ends(&self, edges: &mut Table) -> Result<[TextColumn; 2]> {
        let both = |ends: &[&str; 2]| Some([find(edges, &ends[..1])?, find(edges, &ends[1..])?]);
        let has_dates =
            |names: &[String; 2]| edges.columns().iter().any(|cells| names.contains(&cells.name) && are_dates(cells));
        let mut periods = String::new();
        let names = match self {
            IdNames::Exact => Some(["source".to_owned(), "target".to_owned()]),
            IdNames::Usual(_) => ENDS.iter().find_map(|ends| {
                let names = both(ends)?;
                if *ends == ENDS[0] || !has_dates(&names) {
                    return Some(names);
                }
                periods = format!(" (\"{}\" and \"{}\" hold dates)", names[0], names[1]);
                None
            }),
        };
        let Some([source, target]) = names else {
            let columns = listed(edges);
            return Err(edges
                .header_error(format!(
                    "there are no columns \"source\" and \"target\"; the columns are {columns}{periods}"
                ))
                .with_remedy("call the columns that hold the two ends of an edge source and target"));
        };
        Ok([edges.take_ids(&source)?, edges.take_ids(&target)?])
    }
}

/// Whether a table of nodes has a column of ids by its name.
pub fn has_node_ids(nodes: &Table) -> bool {
    find(nodes, &NODE).is_some()
}

/// Whether two words head a list of edges.
pub fn name_ends(source: &str, target: &str) -> bool {
    ENDS.contains(&[plain(source).as_str(), plain(target).as_str()])
}

/// Takes the names of molecules out: the column that was named, one of a usual name (the first whose names are nearly all
/// different, if there is one), or the first of words that are all different and no structures.
pub fn take_molecule_names(table: &mut Table, wanted: Option<&str>) -> Result<Option<TextColumn>> {
    let name = match wanted {
        Some(wanted) => Some(named(table, wanted)?),
        None => {
            let usual =
                MOLECULE.iter().flat_map(|wanted| table.columns().iter().filter(|cells| plain(&cells.name) == *wanted));
            let unique = usual.clone().find(|cells| is_nearly_unique(cells));
            unique.or_else(|| usual.clone().next()).map(|cells| cells.name.clone())
        }
    };
    if let Some(name) = name {
        return Ok(table.take(&name));
    }
    let structure = |name: &str| ["smiles", "inchi"].iter().any(|word| plain(name).contains(word));
    let many = table.rows() >= FEWEST_NAMES;
    let found = (table.columns().iter().filter(|_| many))
        .find(|cells| !structure(&cells.name) && is_unique(cells) && are_words(cells));
    let Some(name) = found.map(|cells| cells.name.clone()) else { return Ok(None) };
    table.notes.push(format!("the names of the molecules are those in column \"{name}\""));
    Ok(table.take(&name))
}
