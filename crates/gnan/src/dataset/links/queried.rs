//! Node pairs that a user names, by the ids of their ends.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{CandidatePair, CandidatePairs, JOINT};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::files::{SplitPart, read_pairs};
use crate::limits::Limits;

/// What may stand between the ids of a pair, besides [`JOINT`], which no keyboard has.
const JOINTS: [&str; 3] = [JOINT, "--", "-"];

/// A node pair that a user wants a prediction of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueriedPair {
    /// A row of a table.
    Row {
        /// The file.
        file: PathBuf,
        /// The line.
        line: u64,
        /// Id of the graph, where there are several.
        graph: Option<String>,
        /// Ids of the ends.
        ends: [String; 2],
    },
    /// In words: `a–b`, `a-b`, or with two hyphens, with `graph/` before it where there are several graphs.
    Words(String),
}

impl QueriedPair {
    /// Reads a table with columns `source` and `target`, and `graph_id` where there are several graphs.
    pub fn read(path: &Path) -> Result<Vec<QueriedPair>> {
        let rows = read_pairs(path, &Limits::default())?;
        let pair = |(line, graph, ends)| QueriedPair::Row { file: path.to_path_buf(), line, graph, ends };
        Ok(rows.into_iter().map(pair).collect())
    }
}

/// The ids of nodes and graphs, to be looked up.
struct Ids<'a> {
    data: &'a Dataset,
    nodes: HashMap<(usize, String), u32>,
    graphs: HashMap<&'a str, usize>,
}

/// The queried pairs as candidates, given all edges.
pub(super) fn candidates(data: &Dataset, pairs: &[QueriedPair]) -> Result<CandidatePairs> {
    let nodes = (0..data.graph_count()).flat_map(|graph| data.nodes_of(graph).map(move |node| (graph, node)));
    let ids = Ids {
        data,
        nodes: nodes.map(|(graph, node)| ((graph, data.node_id(node)), node as u32)).collect(),
        graphs: (0..data.graph_count()).map(|graph| (data.graph_id(graph), graph)).collect(),
    };
    let pairs = pairs
        .iter()
        .map(|pair| Ok(CandidatePair { ends: ids.ends(pair)?, part: SplitPart::Unused, link: None }))
        .collect::<Result<_>>()?;
    Ok(CandidatePairs { messages: data.distinct_edges(), pairs, sample: None })
}

impl Ids<'_> {
    fn ends(&self, pair: &QueriedPair) -> Result<[u32; 2]> {
        match pair {
            QueriedPair::Words(words) => self.of_words(words),
            QueriedPair::Row { file, line, graph, ends } => {
                self.of_row(graph.as_deref(), ends).map_err(|error| error.in_file(file).on_line(*line))
            }
        }
    }

    fn of_row(&self, graph: Option<&str>, ends: &[String; 2]) -> Result<[u32; 2]> {
        let graph = match graph {
            Some(id) => {
                self.graphs.get(id).copied().ok_or_else(|| Error::input(format!("there is no graph \"{id}\"")))?
            }
            None if self.data.graph_count() > 1 => {
                return Err(
                    Error::input("it is not clear in which graph these nodes are").with_remedy("add a column graph_id")
                );
            }
            None => 0,
        };
        let find = |id: &String| {
            self.node(graph, id).ok_or_else(|| Error::input(format!("there is no node \"{id}\" in the data")))
        };
        let ends = [find(&ends[0])?, find(&ends[1])?];
        if ends[0] == ends[1] {
            return Err(Error::input("a node has no link to itself"));
        }
        Ok(ends)
    }

    fn of_words(&self, words: &str) -> Result<[u32; 2]> {
        let several = self.data.graph_count() > 1;
        let places: Vec<(usize, &str)> = match several {
            false => vec![(0, words)],
            true => (words.match_indices('/'))
                .filter_map(|(at, _)| Some((*self.graphs.get(&words[..at])?, &words[at + 1..])))
                .collect(),
        };
        let mut found: Vec<[u32; 2]> = Vec::new();
        for (graph, pair) in places {
            for joint in JOINTS {
                let cuts = pair.match_indices(joint).map(|(at, _)| [&pair[..at], &pair[at + joint.len()..]]);
                let known = cuts.filter_map(|[one, other]| Some([self.node(graph, one)?, self.node(graph, other)?]));
                found.extend(known.filter(|[one, other]| one != other));
            }
        }
        found.dedup();
        match found.as_slice() {
            [pair] => Ok(*pair),
            [] => Err(Error::usage(format!("\"{words}\" is no pair of nodes of the data")).with_remedy(format!(
                "write the ids of two nodes with a dash between them{}",
                if several { ", and the graph and a slash before" } else { "" }
            ))),
            _ => Err(Error::usage(format!("\"{words}\" may be several pairs of nodes"))
                .with_remedy(format!("put {JOINT} between the ids, or use a table of pairs"))),
        }
    }

    fn node(&self, graph: usize, id: &str) -> Option<u32> {
        self.nodes.get(&(graph, id.trim().to_owned())).copied()
    }
}
