//! The text of the LINQS collection: `<name>.content` (paper, words, class) and `<name>.cites` (cited and citing
//! paper), each perhaps compressed. PubMed's own tables are read by [`pubmed`](crate::formats::pubmed).
//!
//! Sen et al., "Collective classification in network data", 2008.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::compressed_files;
use crate::edge_notes::note_directions;
use crate::word_columns::{CLASS, WordColumns};
use gnan::error::{Error, Result};
use gnan::files::Format;
use gnan::files::ReadOptions;
use gnan::files::{Column, Kind, Tables, Task};
use gnan::internals::files::columns::levels;
use gnan::internals::files::text::Text;
use gnan::limits::Limits;

const CONTENT: &str = ".content";
const CITES: &str = ".cites";

pub const FORMAT: Format = Format {
    name: "LINQS",
    appearance: "<name>.content beside <name>.cites",
    detect: |path| content_of(path).is_some(),
    read,
    set_of: |path| compressed_files::find(&content_of(path)?),
};

/// The path of `<name>.content` of the set that a file belongs to, without the ending of a compressed file.
fn content_of(path: &Path) -> Option<PathBuf> {
    compressed_files::main_of(path, CONTENT, CITES)
}

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let content = content_of(path).unwrap_or_else(|| path.to_path_buf());
    let open = |path: &Path| compressed_files::open_either(path, &options.limits);
    let name = content.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut tables = Tables { name: name.clone(), task: Some(Task::Node), ..Tables::default() };
    let papers = read_papers(&open(&content)?, &options.limits, &mut tables)?;
    let cites = open(&content.with_extension("cites"))?;
    let pairs = cites.lines().map(|(line, pair)| {
        let ends: Vec<&str> = pair.split_whitespace().collect();
        let [cited, citing] = ends[..] else {
            return Err(cites.error(line, format!("\"{pair}\" is not a cited and a citing paper")));
        };
        Ok([citing, cited])
    });
    add_citations(&mut tables, &papers, pairs, options)?;
    tables.graph_ids = vec![name];
    Ok(tables)
}

/// Reads the papers with their words and classes; returns the ids.
fn read_papers(text: &Text, limits: &Limits, tables: &mut Tables) -> Result<Vec<String>> {
    let width = text.lines().next().map_or(0, |(_, line)| line.split('\t').count().saturating_sub(2));
    let papers = text.lines().count();
    let in_file = |error: Error| error.in_file(&text.path);
    limits.check_nodes(papers as u64).map_err(in_file)?;
    Limits::check(width as u64, limits.features, "features").map_err(in_file)?;
    let mut words = WordColumns::new(papers, width);
    let (mut ids, mut classes) = (Vec::new(), Vec::new());
    for (node, (line, row)) in (0..).zip(text.lines()) {
        let found = row.split('\t').count();
        if found != width + 2 || found < 2 {
            return Err(text.error(line, format!("{found} cells, but an id, {width} words and a class are expected")));
        }
        let mut cells = row.split('\t').map(str::trim);
        ids.push(cells.next().expect("a line has a first cell").to_string());
        for (word, cell) in (0..).zip(cells.by_ref().take(width)) {
            let value = cell.parse::<f64>().ok().filter(|value| value.is_finite());
            let value = value.ok_or_else(|| text.error(line, format!("\"{cell}\" is not a number")))?;
            if value != 0.0 {
                words.add(node, word, value);
            }
        }
        classes.push(cells.next());
    }
    tables.node_columns = words.columns(None);
    tables.node_columns.push(Column::new(CLASS, levels::of_words(classes.into_iter())).with_kind(Kind::Categorical));
    tables.targets = vec![CLASS.to_string()];
    Ok(ids)
}

/// Adds citations between known papers, from the citing to the cited one, and the ids of the papers.
pub fn add_citations<'a>(
    tables: &mut Tables,
    papers: &[String],
    pairs: impl Iterator<Item = Result<[&'a str; 2]>>,
    options: &ReadOptions,
) -> Result<()> {
    let place: HashMap<&str, u32> = papers.iter().map(String::as_str).zip(0..).collect();
    let mut unknown = 0;
    for pair in pairs {
        match pair?.map(|paper| place.get(paper)) {
            [Some(&citing), Some(&cited)] => tables.edges.push([citing, cited]),
            _ => unknown += 1,
        }
    }
    if unknown > 0 {
        tables.notes.push(format!("left out {unknown} citations of or by papers that are not in the set"));
    }
    note_directions(tables, options);
    tables.node_offsets = vec![0, papers.len()];
    tables.node_ids = Some(papers.to_vec());
    Ok(())
}
