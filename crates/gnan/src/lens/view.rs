//! A view: one graph measured by a lens, and the distances from all of its nodes to receivers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Lens;
use super::search_result::SearchResult;
use crate::checksum::Checksum;
use crate::dataset::Dataset;
use crate::distance::{
    DistanceSearch, Far, RECEIVERS_AT_ONCE, ReorderedGraph, UNREACHABLE, distances_to, line_distances_to,
};
use crate::error::{Error, Result};
use crate::files::Values;
use crate::graph::Graph;
use crate::groups::group_offsets;
use crate::remedy::Remedy;
use crate::spec::{EdgeDirection, WeightBins};

/// A graph measured by a lens.
#[derive(Clone)]
pub struct View {
    reordered: ReorderedGraph,
    weighted: Option<Weighted>,
    line: Option<LineGraph>,
    far: Option<u16>,
    /// The component of every place, where the search for what is far can end early.
    components: Option<Vec<u32>>,
}

/// Working memory of searches through a view, kept between them.
#[derive(Default)]
pub struct ViewSearch {
    wide: DistanceSearch<4>,
    narrow: DistanceSearch<1>,
    rows: Vec<u16>,
}

/// The line graph of a data set of links: its message edges, which are the sources, and the ends of all of its pairs.
#[derive(Clone)]
struct LineGraph {
    messages: usize,
    ends: Vec<[u32; 2]>,
}

/// What leads to every node and how much it weighs, and the bins of the sums.
#[derive(Clone)]
struct Weighted {
    offsets: Vec<usize>,
    sources: Vec<u32>,
    weights: Vec<f64>,
    bins: WeightBins,
}

/// The longest distance that occurs, and whether any source is unreachable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Longest {
    /// The longest finite distance.
    pub finite: u16,
    /// Whether a source has no path to a receiver.
    pub unreachable: bool,
}

impl Longest {
    /// Of both.
    pub fn and(self, other: Longest) -> Longest {
        Longest { finite: self.finite.max(other.finite), unreachable: self.unreachable || other.unreachable }
    }
}

impl View {
    /// A graph of `data` measured by `lens`.
    pub fn new(data: &Dataset, graph: usize, lens: &Lens) -> Result<View> {
        let bytes = Graph::bytes(data.nodes_of(graph).len(), data.listed_edges(graph));
        data.run().memory.demand(bytes, "the graph")?;
        if let Some(links) = data.links() {
            if *lens != Lens::default() {
                return Err(Error::usage("the distance between links is the number of edges")
                    .with_remedy("leave out other ways of measuring it"));
            }
            let ends = links.local_ends(data.nodes_of(graph), graph).collect();
            let line = Some(LineGraph { messages: data.sources_of(graph).len(), ends });
            return Ok(View {
                reordered: ReorderedGraph::new(links.message_graph(data, graph)),
                weighted: None,
                line,
                far: None,
                components: None,
            });
        }
        let directed = data.directed();
        if !directed && lens.direction == EdgeDirection::Against {
            return Err(Error::usage("the edges of the data have no direction to go against").with_remedy([
                Remedy::Set("directed", "true".to_owned()).to("read them as directed"),
                Remedy::LeaveOut(&["direction"]),
            ]));
        }
        if lens.types.is_empty() && lens.bins.is_none() && lens.direction == EdgeDirection::Along {
            return Ok(View::plain(ReorderedGraph::new(data.graph(graph)), lens.far));
        }
        let kept = kept_edges(data, graph, lens)?;
        let one_way = directed && lens.direction != EdgeDirection::Ignoring;
        let turn = |[source, target]: [u32; 2]| match lens.direction {
            EdgeDirection::Against => [target, source],
            _ => [source, target],
        };
        let edges: Vec<[u32; 2]> = data.edges_of(graph).collect();
        let nodes = data.nodes_of(graph).len();
        let kept_pairs = kept.iter().map(|edge| turn(edges[*edge]));
        let weighted = match &lens.bins {
            None => None,
            Some(bins) => {
                let weights = weights_of(data, graph, &bins.weight)?;
                let pairs = kept.iter().map(|edge| (turn(edges[*edge]), weights[*edge]));
                Some(Weighted::new(nodes, pairs, one_way, bins.clone()))
            }
        };
        let reordered = ReorderedGraph::new(Graph::new(nodes, kept_pairs, one_way));
        Ok(View { weighted, ..View::plain(reordered, lens.far) })
    }

    fn plain(reordered: ReorderedGraph, far: Option<u16>) -> View {
        let components = far.filter(|_| !reordered.graph.is_directed()).map(|_| reordered.graph.components().0);
        View { reordered, weighted: None, line: None, far, components }
    }

    fn far(&self) -> Option<Far<'_>> {
        self.far.map(|from| Far { from, components: self.components.as_deref() })
    }

    /// A number that receivers near each other have nearly in common: searching for them together is cheap.
    pub fn nearness(&self, receiver: u32) -> u32 {
        if self.line.is_some() { receiver } else { self.reordered.place(receiver) }
    }

    /// The checksum of what came before and of everything that distances through this view depend on.
    pub fn checksum(&self, sum: Checksum) -> Checksum {
        let mut sum = self.reordered.checksum(sum).and(&self.far.unwrap_or(UNREACHABLE).to_le_bytes());
        if let Some(weighted) = &self.weighted {
            sum = sum.and_numbers(&weighted.weights).and_numbers(&weighted.bins.ends);
        }
        if let Some(line) = &self.line {
            sum =
                line.ends.iter().fold(sum.and(&(line.messages as u64).to_le_bytes()), |sum, ends| sum.and_codes(ends));
        }
        sum
    }

    /// Bytes that a search through this view needs for at most `receivers` receivers.
    pub fn search_bytes(&self, receivers: usize, longest: usize) -> u64 {
        match (&self.line, &self.weighted) {
            (None, None) if receivers > DistanceSearch::<1>::RECEIVERS => {
                DistanceSearch::<4>::bytes(self.reordered.graph.len(), longest)
            }
            (None, None) => DistanceSearch::<1>::bytes(self.reordered.graph.len(), longest),
            _ => {
                DistanceSearch::<1>::bytes(self.reordered.graph.len(), longest)
                    + 2 * (receivers * self.sources()) as u64
            }
        }
    }

    /// The distances of at most 256 receivers from every source.
    pub fn find<'a>(&'a self, receivers: &[u32], search: &'a mut ViewSearch) -> Result<SearchResult<'a>> {
        if self.line.is_none() && self.weighted.is_none() {
            let starts = receivers.as_chunks::<1>().0;
            let planes = if receivers.len() > DistanceSearch::<1>::RECEIVERS {
                search.wide.run(&self.reordered, starts, self.far())?
            } else {
                search.narrow.run(&self.reordered, starts, self.far())?
            };
            return Ok(SearchResult::BitPlanes(planes, &self.reordered));
        }
        let (mut longest, mut some) = (Longest::default(), Vec::new());
        search.rows.clear();
        for receivers in receivers.chunks(RECEIVERS_AT_ONCE) {
            longest = longest.and(self.rows(receivers, &mut search.narrow, &mut some)?);
            search.rows.extend_from_slice(&some);
        }
        Ok(SearchResult::Rows(&search.rows, self.sources(), longest))
    }

    /// Number of sources: the length of a row.
    pub fn sources(&self) -> usize {
        self.line.as_ref().map_or(self.reordered.graph.len(), |line| line.messages)
    }

    /// Fills `rows` (`[receivers, sources]`, at most [`RECEIVERS_AT_ONCE`] receivers) with distances or bins;
    /// [`UNREACHABLE`] where there is no path.
    pub fn rows(&self, receivers: &[u32], search: &mut DistanceSearch, rows: &mut Vec<u16>) -> Result<Longest> {
        rows.clear();
        rows.resize(receivers.len() * self.sources(), UNREACHABLE);
        let finite = match (&self.line, &self.weighted) {
            (Some(line), _) => {
                let pairs: Vec<[u32; 2]> = receivers.iter().map(|pair| line.ends[*pair as usize]).collect();
                line_distances_to(&self.reordered, &line.ends[..line.messages], &pairs, search, rows)?
            }
            (None, None) => distances_to(&self.reordered, receivers, self.far(), search, rows)?,
            (None, Some(weighted)) => {
                for (receiver, row) in receivers.iter().zip(rows.chunks_exact_mut(self.sources().max(1))) {
                    weighted.row(*receiver, row);
                }
                weighted.bins.ends.len() as u16
            }
        };
        // All of them are looked at, many at a time.
        let unreachable = rows.iter().fold(false, |any, distance| any | (*distance == UNREACHABLE));
        Ok(Longest { finite, unreachable })
    }

    /// Calls `visit` with every receiver's row, in order.
    pub fn each_row(&self, receivers: &[u32], mut visit: impl FnMut(u32, &[u16])) -> Result<Longest> {
        let mut search = DistanceSearch::default();
        let mut rows = Vec::new();
        let mut longest = Longest::default();
        for batch in receivers.chunks(RECEIVERS_AT_ONCE) {
            longest = longest.and(self.rows(batch, &mut search, &mut rows)?);
            // A row may be empty: a node pair in a graph without message edges has no sources.
            for (place, receiver) in batch.iter().enumerate() {
                visit(*receiver, &rows[place * self.sources()..(place + 1) * self.sources()]);
            }
        }
        Ok(longest)
    }
}

/// The edges of a graph, by position in its list, that a lens follows.
fn kept_edges(data: &Dataset, graph: usize, lens: &Lens) -> Result<Vec<usize>> {
    let count = data.listed_edges(graph);
    if lens.types.is_empty() {
        return Ok((0..count).collect());
    }
    let Some((codes, levels)) = data.edge_types(graph) else {
        return Err(Error::input("the edges of the data have no types")
            .with_remedy("give them a column \"type\" in edges.csv, or measure distance over all edges"));
    };
    let wanted: Vec<bool> = levels.iter().map(|level| lens.types.contains(level)).collect();
    if let Some(unknown) = lens.types.iter().find(|name| !levels.contains(name)) {
        return Err(Error::usage(format!("no edge has the type \"{unknown}\""))
            .with_remedy(format!("the types are: {}", levels.join(", "))));
    }
    Ok((0..count).filter(|edge| wanted.get(codes[*edge] as usize).copied().unwrap_or(false)).collect())
}

/// The weight of every edge of a graph.
fn weights_of<'a>(data: &'a Dataset, graph: usize, name: &str) -> Result<&'a [f64]> {
    let columns = data.edge_numbers();
    let found = columns.iter().find(|column| column.name == *name);
    let Some(Values::Numbers(weights)) = found.map(|column| &column.values) else {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let remedy = match names.is_empty() {
            true => "give the edges a column of numbers in edges.csv".to_owned(),
            false => format!("choose from: {}", names.join(", ")),
        };
        return Err(Error::usage(format!("the edges have no numeric column \"{name}\"")).with_remedy(remedy));
    };
    let weights = &weights[data.edge_range(graph)];
    if weights.iter().any(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        return Err(Error::input(format!("the column \"{name}\" of the edges holds a value that is no distance"))
            .with_remedy("every edge needs a number of at least 0"));
    }
    Ok(weights)
}

impl Weighted {
    fn new(nodes: usize, edges: impl Iterator<Item = ([u32; 2], f64)>, one_way: bool, bins: WeightBins) -> Weighted {
        // By target, so that a search from a receiver goes backwards.
        let mut incoming: Vec<(u32, u32, f64)> = Vec::new();
        for ([source, target], weight) in edges.filter(|([source, target], _)| source != target) {
            incoming.push((target, source, weight));
            if !one_way {
                incoming.push((source, target, weight));
            }
        }
        incoming.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        incoming.dedup_by_key(|(target, source, _)| (*target, *source));
        let offsets = group_offsets(nodes, incoming.iter().map(|(target, ..)| *target as usize));
        let sources = incoming.iter().map(|(_, source, _)| *source).collect();
        let weights = incoming.iter().map(|(.., weight)| *weight).collect();
        Weighted { offsets, sources, weights, bins }
    }

    /// The bin of every node's distance to a receiver, 0 for itself (Dijkstra 1959).
    fn row(&self, receiver: u32, row: &mut [u16]) {
        let mut distances = vec![f64::INFINITY; row.len()];
        distances[receiver as usize] = 0.0;
        // Distances are not negative, so their bits sort as they do.
        let mut queue = BinaryHeap::from([Reverse((0u64, receiver))]);
        while let Some(Reverse((bits, node))) = queue.pop() {
            let distance = f64::from_bits(bits);
            if distance > distances[node as usize] {
                continue;
            }
            for at in self.offsets[node as usize]..self.offsets[node as usize + 1] {
                let (source, longer) = (self.sources[at] as usize, distance + self.weights[at]);
                if longer < distances[source] {
                    distances[source] = longer;
                    queue.push(Reverse((longer.to_bits(), source as u32)));
                }
            }
        }
        for (bin, distance) in row.iter_mut().zip(distances) {
            *bin = if distance.is_finite() {
                self.bins.bin(distance).map_or(UNREACHABLE, |bin| bin as u16)
            } else {
                UNREACHABLE
            };
        }
        row[receiver as usize] = 0;
    }
}
