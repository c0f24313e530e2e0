//! A summary of a data set: what is worth knowing before any training.

use serde::Serialize;

use crate::files::{Kind, SkippedRow, SplitPart, Task, Values};

use super::Dataset;

/// What is in a data set.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the set.
    pub name: String,
    /// Format it was read from.
    pub format: String,
    /// Whether targets belong to graphs or nodes.
    pub task: Task,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Number of graphs.
    pub graphs: usize,
    /// Number of nodes over all graphs.
    pub nodes: usize,
    /// Number of nodes of the largest graph.
    pub largest_graph: usize,
    /// Number of distinct edges without self-loops; an undirected edge counts once.
    pub edges: usize,
    /// Edges as listed in the files, before self-loops and repeats were dropped.
    pub listed_edges: usize,
    /// Number of connected components over all graphs, ignoring direction.
    pub components: usize,
    /// Graphs with more than one component.
    pub disconnected_graphs: usize,
    /// Graphs without nodes.
    pub empty_graphs: usize,
    /// Nodes without any edge.
    pub isolated_nodes: usize,
    /// The features.
    pub features: Vec<FeatureSummary>,
    /// The targets.
    pub targets: Vec<TargetSummary>,
    /// For every given split the number of training, validation and test items.
    pub splits: Vec<[usize; 3]>,
    /// Columns of what is predicted that are neither targets nor features: each may be named as a target.
    pub other_columns: Vec<String>,
    /// Rows of a table of molecules that could not be read.
    pub skipped: Vec<SkippedRow>,
    /// What the reader did that a user should know.
    pub notes: Vec<String>,
}

/// What is known of a feature.
#[derive(Clone, Debug, Serialize)]
pub struct FeatureSummary {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The unit of its values, where known.
    pub unit: Option<String>,
    /// Number of distinct values, missing not counted.
    pub levels: usize,
    /// Number of nodes whose value is missing.
    pub missing: usize,
    /// Smallest value of a numeric feature.
    pub min: Option<f64>,
    /// Largest value of a numeric feature.
    pub max: Option<f64>,
    /// The most frequent levels of a categorical feature with their number of nodes.
    pub most_frequent: Vec<(String, usize)>,
}

/// What is known of a target.
#[derive(Clone, Debug, Serialize)]
pub struct TargetSummary {
    /// Its name.
    pub name: String,
    /// Number of items that have it.
    pub labelled: usize,
    /// Classes with their number of items; empty for a quantity.
    pub classes: Vec<(String, usize)>,
    /// Mean and standard deviation of a quantity.
    pub mean_and_deviation: Option<(f64, f64)>,
}

impl Dataset {
    /// Counts what is in the whole content.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary {
            name: self.name().to_owned(),
            format: self.format().to_owned(),
            task: self.task(),
            directed: self.directed(),
            graphs: self.graph_count(),
            nodes: self.node_count(),
            largest_graph: (0..self.graph_count()).map(|g| self.nodes_of(g).len()).max().unwrap_or(0),
            edges: 0,
            listed_edges: self.content.tables.edges.len(),
            components: 0,
            disconnected_graphs: 0,
            empty_graphs: 0,
            isolated_nodes: 0,
            features: self.features().iter().map(FeatureSummary::of).collect(),
            targets: self.targets().iter().map(TargetSummary::of).collect(),
            splits: self.content.tables.splits.iter().map(|split| part_sizes(split)).collect(),
            other_columns: self.content.other_columns.clone(),
            skipped: self.skipped().to_vec(),
            notes: self.cautions().iter().chain(self.notes()).cloned().collect(),
        };
        for index in 0..self.graph_count() {
            let graph = self.graph(index);
            let (_, components) = graph.components();
            summary.edges += graph.edge_count();
            summary.components += components;
            summary.disconnected_graphs += usize::from(components > 1);
            summary.empty_graphs += usize::from(graph.is_empty());
            let alone = |node: &usize| graph.successors(*node).is_empty() && graph.predecessors(*node).is_empty();
            summary.isolated_nodes += (0..graph.len()).filter(alone).count();
        }
        summary
    }

    /// Of the graphs of this view, or of at most `most` of them evenly chosen: how many have several components, and
    /// how many were looked at. Of links, these are the graphs of message edges.
    pub fn disconnected_graphs(&self, most: usize) -> [usize; 2] {
        let graphs = self.graphs();
        let every = graphs.len().div_ceil(most.max(1)).max(1);
        let looked_at: Vec<usize> = graphs.into_iter().step_by(every).collect();
        let structure = |graph: usize| match self.links() {
            Some(links) => links.message_graph(self, graph),
            None => self.graph(graph),
        };
        let disconnected = looked_at.iter().filter(|graph| structure(**graph).components().1 > 1).count();
        [disconnected, looked_at.len()]
    }
}

fn part_sizes(split: &[SplitPart]) -> [usize; 3] {
    [SplitPart::Train, SplitPart::Valid, SplitPart::Test].map(|part| split.iter().filter(|p| **p == part).count())
}

impl FeatureSummary {
    fn of(feature: &super::Feature) -> FeatureSummary {
        let mut summary = FeatureSummary {
            name: feature.name.clone(),
            kind: feature.kind,
            unit: feature.unit.clone(),
            levels: 0,
            missing: feature.missing(),
            min: None,
            max: None,
            most_frequent: Vec::new(),
        };
        match &feature.values {
            Values::Categories { codes, levels } => {
                let mut counts: Vec<(String, usize)> = levels.iter().map(|level| (level.clone(), 0)).collect();
                codes.iter().for_each(|code| {
                    if let Some(entry) = counts.get_mut(*code as usize) {
                        entry.1 += 1;
                    }
                });
                counts.retain(|(_, count)| *count > 0);
                summary.levels = counts.len();
                counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
                counts.truncate(8);
                summary.most_frequent = counts;
            }
            Values::Numbers(values) | Values::Sparse { values, .. } => {
                let mut distinct: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
                if let Values::Sparse { len, rows, .. } = &feature.values
                    && rows.len() < *len
                {
                    distinct.push(0.0);
                }
                distinct.sort_unstable_by(f64::total_cmp);
                distinct.dedup();
                summary.levels = distinct.len();
                summary.min = distinct.first().copied();
                summary.max = distinct.last().copied();
            }
        }
        summary
    }
}

impl TargetSummary {
    fn of(target: &super::Target) -> TargetSummary {
        let known: Vec<f64> = target.values.iter().copied().filter(|x| !x.is_nan()).collect();
        let mut classes: Vec<(String, usize)> =
            target.classes.iter().flatten().map(|class| (class.clone(), 0)).collect();
        let mut mean_and_deviation = None;
        if target.classes.is_some() {
            known.iter().for_each(|class| classes[*class as usize].1 += 1);
        } else if !known.is_empty() {
            let mean = known.iter().sum::<f64>() / known.len() as f64;
            let variance = known.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / known.len() as f64;
            mean_and_deviation = Some((mean, variance.sqrt()));
        }
        TargetSummary { name: target.name.clone(), labelled: known.len(), classes, mean_and_deviation }
    }
}
