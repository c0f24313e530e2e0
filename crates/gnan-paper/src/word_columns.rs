//! WordColumns of documents as columns: for each word the nodes that have it, and how strongly.

use std::collections::HashSet;
use std::path::Path;

use gnan::error::Result;
use gnan::files::{Column, Kind, Values};
use gnan::internals::files::text::{Text, children};
use gnan::limits::Limits;

/// The name of the column that holds the classes of the nodes.
pub const CLASS: &str = "class";

/// The words of a set of documents.
pub struct WordColumns {
    nodes: usize,
    words: Vec<(Vec<u32>, Vec<f64>)>,
}

impl WordColumns {
    /// No node has any of `words` words yet.
    pub fn new(nodes: usize, words: usize) -> WordColumns {
        WordColumns { nodes, words: vec![(Vec::new(), Vec::new()); words] }
    }

    /// Gives a node a word. Nodes must come in ascending order, the word must be one of those announced.
    pub fn add(&mut self, node: u32, word: u32, value: f64) {
        let (nodes, values) = &mut self.words[word as usize];
        nodes.push(node);
        values.push(value);
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// A column for each word, called by its name or `word_0`, `word_1`, ...
    pub fn columns(self, names: Option<Vec<String>>) -> Vec<Column> {
        let binary = self.words.iter().all(|(_, values)| values.iter().all(|&value| value == 1.0));
        let kind = if binary { Kind::Binary } else { Kind::Sparse };
        let names = unique(names.unwrap_or_default(), self.words.len());
        let column = |(name, (rows, values))| {
            Column::new(name, Values::Sparse { len: self.nodes, rows, values }).with_kind(kind)
        };
        names.into_iter().zip(self.words).map(column).collect()
    }
}

/// `count` names of columns: those given where they are new, and the number of the word where not.
fn unique(given: Vec<String>, count: usize) -> Vec<String> {
    let mut given = given.into_iter();
    let mut used = HashSet::from([CLASS.to_string()]);
    let mut names = Vec::with_capacity(count);
    for number in 0..count {
        let name = given.next().filter(|name| !name.is_empty() && !used.contains(name));
        let name = name.unwrap_or_else(|| format!("word_{number}"));
        used.insert(name.clone());
        names.push(name);
    }
    names
}

/// The vocabulary of PubMed, where the table `*.NODE.paper.tab` that has it lies beside `path` and has `count` words.
///
/// The second line of that table lists them in the order of the columns: `numeric:w-<word>:0.0`.
pub fn vocabulary_beside(path: &Path, count: usize, limits: &Limits) -> Result<Option<Vec<String>>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_table = |file: &&std::path::PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(NODE_TABLE) || name.strip_suffix(".gz").is_some_and(|name| name.ends_with(NODE_TABLE))
    };
    let Ok(files) = children(folder) else { return Ok(None) };
    let Some(file) = files.iter().find(is_table) else { return Ok(None) };
    let text = Text::open(file, limits)?;
    Ok(Some(vocabulary(&text)).filter(|words| words.len() == count))
}

/// What the name of PubMed's table of papers ends in.
pub const NODE_TABLE: &str = ".NODE.paper.tab";

/// The words that the second line of a table of papers declares.
pub fn vocabulary(table: &Text) -> Vec<String> {
    let fields = table.text.lines().nth(1).unwrap_or_default().split('\t');
    let word = |field: &str| Some(field.trim().strip_prefix("numeric:w-")?.rsplit_once(':')?.0.to_string());
    fields.filter_map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_words_are_unique_and_never_that_of_the_class() {
        let given = ["rat", "class", "", "rat"].map(str::to_string).to_vec();
        assert_eq!(unique(given, 5), ["rat", "word_1", "word_2", "word_3", "word_4"]);
    }
}
