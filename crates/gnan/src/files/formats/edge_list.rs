//! A plain list of edges: a line per edge, `u v`, separated by white space or commas, with `#` and `%` for comments.
//!
//! The nodes are those that the edges name, or the rows of `nodes.csv` or `nodes.tsv` beside the list, whose column
//! `node_id` (or else the first) holds their ids. A third column is the label of the edge; numbers there are weights,
//! which are not used. A line of words, `source target`, may head the list.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::ReadOptions;
use crate::files::formats::{Format, itself};
use crate::files::naming::{has_ending, name_of};
use crate::files::table::assembly::Assembly;
use crate::files::table::id_columns::{self, IdNames};
use crate::files::table::overrides::Overrides;
use crate::files::table::text_column::TextColumn;
use crate::files::table::{Table, csv_table};
use crate::files::tables::Tables;
use crate::files::text::{Text, children};
use crate::limits::Limits;

pub const FORMAT: Format = Format {
    name: "edge list",
    appearance: "an .edgelist file, or a folder with edges.txt or edges.tsv, with nodes.csv or nodes.tsv beside it",
    detect: |path| if path.is_dir() { list_inside(path).is_some() } else { path.is_file() && is_list(path) },
    read,
    set_of: itself,
};

const NODE_TABLES: [&str; 4] = ["nodes.csv", "nodes.tsv", "nodes.csv.gz", "nodes.tsv.gz"];

fn is_list(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    ["edges.txt", "edges.tsv"].contains(&name) || has_ending(path, "edgelist") || has_ending(path, "edges")
}

/// The only list of a folder that has no table of edges.
fn list_inside(folder: &Path) -> Option<PathBuf> {
    if ["edges.csv", "edges.csv.gz", "edges.parquet"].iter().any(|name| folder.join(name).is_file()) {
        return None;
    }
    let mut lists = children(folder).ok()?.into_iter().filter(|path| path.is_file() && is_list(path));
    let first = lists.next()?;
    lists.next().is_none().then_some(first)
}

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let limits = &options.limits;
    let list = if path.is_dir() { list_inside(path).unwrap_or(path.to_path_buf()) } else { path.to_path_buf() };
    let text = Text::open(&list, limits)?;
    let (edges, weighted) = read_edges(&text, limits)?;
    let folder = list.parent().unwrap_or(Path::new("."));
    let beside = NODE_TABLES.iter().map(|name| folder.join(name)).find(|place| place.is_file());
    let alone = beside.is_none();
    let nodes = match beside {
        Some(place) => read_nodes(&place, limits)?,
        None => nodes_of(&edges, &list, limits)?,
    };
    let edges = Some(Table::on_lines(&list, edges.columns, edges.lines)?);
    let name = name_of(path);
    // The nodes of a list are known by what stands in their first column, whatever it is called.
    let first = || nodes.names().next().map(str::to_owned);
    let usual = || if id_columns::has_node_ids(&nodes) { None } else { first() };
    let ids = IdNames::Usual(options.name_column.clone().or_else(usual));
    let assembly = Assembly { name, nodes, edges, graphs: None, overrides: Overrides::default(), ids };
    let mut tables = assembly.assemble(limits)?;
    if alone {
        tables
            .notes
            .push("there is no nodes.csv or nodes.tsv beside the edges: the nodes have no features".to_string());
    }
    if weighted {
        tables.notes.push("the third column of the edges holds numbers: weights are not used".to_string());
    }
    Ok(tables)
}

fn read_nodes(place: &Path, limits: &Limits) -> Result<Table> {
    let delimiter = if has_ending(place, "tsv") { b'\t' } else { b',' };
    csv_table::parse(&Text::open(place, limits)?, delimiter, limits)
}

/// The edges as columns `source`, `target` and perhaps `label`, and the line of each.
struct Edges {
    columns: Vec<TextColumn>,
    lines: Vec<u64>,
}

/// Reads the lines; the second result is whether there are weights.
fn read_edges(text: &Text, limits: &Limits) -> Result<(Edges, bool)> {
    let mut columns = ["source", "target", "label"].map(TextColumn::new);
    let mut lines = Vec::new();
    let mut weighted = true;
    let mut width = 0;
    for (line, content) in text.lines() {
        if content.starts_with(['#', '%']) {
            continue;
        }
        let mut cells = content.split([',', ' ', '\t', ';']).filter(|cell| !cell.is_empty());
        let found = [cells.next(), cells.next(), cells.next()];
        let (Some(source), Some(target)) = (found[0], found[1]) else {
            return Err(text.error(line, format!("\"{content}\" is not an edge such as: a b")));
        };
        if lines.is_empty() && width == 0 && id_columns::name_ends(source, target) {
            continue;
        }
        let cells_here = 2 + usize::from(found[2].is_some()) + cells.count();
        if width == 0 {
            width = cells_here;
        }
        if cells_here != width {
            return Err(text.error(line, format!("this line has {cells_here} words, the first one has {width}")));
        }
        for (column, cell) in columns.iter_mut().zip(found) {
            column.push(cell.unwrap_or_default());
        }
        weighted &= found[2].is_some_and(|cell| cell.parse::<f64>().is_ok());
        lines.push(line);
        Limits::check(lines.len() as u64, limits.edges, "edges").map_err(|error| error.in_file(&text.path))?;
    }
    if lines.is_empty() {
        return Err(Error::input("this list has no edges").in_file(&text.path));
    }
    let used = if width < 3 || weighted { 2 } else { 3 };
    Ok((Edges { columns: columns.into_iter().take(used).collect(), lines }, weighted))
}

/// The nodes that the edges name, in the order in which they do.
fn nodes_of(edges: &Edges, list: &Path, limits: &Limits) -> Result<Table> {
    let mut seen = HashSet::new();
    let mut ids = TextColumn::new("node_id");
    for (source, target) in edges.columns[0].iter().zip(edges.columns[1].iter()) {
        for id in [source, target] {
            if seen.insert(id) {
                ids.push(id);
            }
        }
    }
    let rows = ids.len();
    limits.check_nodes(rows as u64).map_err(|error| error.in_file(list))?;
    Table::counted(list, vec![ids], rows)
}
