//! PubMed's papers on diabetes as LINQS published them: `<name>.NODE.paper.tab` and `<name>.DIRECTED.cites.tab`, each
//! with two header lines and perhaps compressed.
//!
//! A paper is a line `id TAB label=1 TAB w-rat=0.09 ... TAB summary=...` with the words that it has; the second header
//! line lists all of them. A citation is a line `number TAB paper:citing TAB | TAB paper:cited`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::compressed_files;
use crate::formats::linqs::add_citations;
use crate::word_columns::{CLASS, NODE_TABLE, WordColumns, vocabulary};
use gnan::error::{Error, Result};
use gnan::files::Format;
use gnan::files::ReadOptions;
use gnan::files::{Column, Kind, Tables, Task};
use gnan::internals::files::columns::levels;
use gnan::internals::files::text::Text;
use gnan::limits::Limits;

const CITES_TABLE: &str = ".DIRECTED.cites.tab";

pub const FORMAT: Format = Format {
    name: "PubMed tables",
    appearance: "<name>.NODE.paper.tab beside <name>.DIRECTED.cites.tab",
    detect: |path| papers_of(path).is_some(),
    read,
    set_of: |path| compressed_files::find(&papers_of(path)?),
};

/// The path of the table of papers of the set that a file belongs to, without the ending of a compressed file.
fn papers_of(path: &Path) -> Option<PathBuf> {
    compressed_files::main_of(path, NODE_TABLE, CITES_TABLE)
}

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let table = papers_of(path).unwrap_or_else(|| path.to_path_buf());
    let file_name = table.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = file_name.strip_suffix(NODE_TABLE).unwrap_or(&file_name).to_string();
    let open = |path: &Path| compressed_files::open_either(path, &options.limits);
    let mut tables = Tables { name: name.clone(), task: Some(Task::Node), ..Tables::default() };
    let papers = read_papers(&open(&table)?, &options.limits, &mut tables)?;
    let cites = open(&table.with_file_name(format!("{name}{CITES_TABLE}")))?;
    let pairs = body(&cites).map(|(line, row)| {
        let mut papers = row.split('\t').filter_map(|cell| cell.trim().strip_prefix("paper:"));
        match (papers.next(), papers.next()) {
            (Some(citing), Some(cited)) => Ok([citing, cited]),
            _ => Err(cites.error(line, "this is not a citation such as 1 TAB paper:2 TAB | TAB paper:3")),
        }
    });
    add_citations(&mut tables, &papers, pairs, options)?;
    tables.graph_ids = vec![name];
    Ok(tables)
}

/// The lines below the two header lines.
fn body(text: &Text) -> impl Iterator<Item = (u64, &str)> {
    text.lines().filter(|(line, _)| *line > 2)
}

/// Reads the papers with their words and classes; returns the ids.
fn read_papers(text: &Text, limits: &Limits, tables: &mut Tables) -> Result<Vec<String>> {
    let vocabulary = vocabulary(text);
    let place: HashMap<&str, u32> = vocabulary.iter().map(String::as_str).zip(0..).collect();
    let papers = body(text).count();
    let in_file = |error: Error| error.in_file(&text.path);
    limits.check_nodes(papers as u64).map_err(in_file)?;
    Limits::check(vocabulary.len() as u64, limits.features, "features").map_err(in_file)?;
    let mut words = WordColumns::new(papers, vocabulary.len());
    let mut last_node = vec![None; vocabulary.len()];
    let (mut ids, mut classes) = (Vec::new(), Vec::new());
    for (node, (line, row)) in (0..).zip(body(text)) {
        let mut cells = row.split('\t').map(str::trim);
        ids.push(cells.next().expect("a line has a first cell").to_string());
        let mut class = None;
        for cell in cells {
            match cell.split_once('=') {
                Some(("label", label)) => class = Some(label),
                Some((name, number)) if name.starts_with("w-") => {
                    let wrong = |what: &str| text.error(line, format!("\"{cell}\" is not {what}"));
                    let &word = place.get(&name[2..]).ok_or_else(|| wrong("one of the words of the second line"))?;
                    let value = number.parse::<f64>().ok().filter(|value| value.is_finite());
                    let value = value.ok_or_else(|| wrong("a number"))?;
                    if last_node[word as usize].replace(node) == Some(node) {
                        return Err(wrong("the only value of its word"));
                    }
                    if value != 0.0 {
                        words.add(node, word, value);
                    }
                }
                _ => {}
            }
        }
        classes.push(class);
    }
    tables.node_columns = words.columns(Some(vocabulary));
    tables.node_columns.push(Column::new(CLASS, levels::of_words(classes.into_iter())).with_kind(Kind::Categorical));
    tables.targets = vec![CLASS.to_string()];
    Ok(ids)
}
