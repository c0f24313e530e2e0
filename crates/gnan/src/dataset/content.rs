//! The content of a data set: what was read, and what it means. All views of a data set share one.

use std::ops::Range;
use std::sync::Arc;

use super::feature::{read_as_dates, read_as_numbers};
use super::roles::{check_weights, choose_targets, leave_out_names, take_weights};
use super::{DatasetOptions, Feature, Links, Problem, Target};
use crate::checksum::Checksum;
use crate::error::{Error, Result};
use crate::files::{self, Column, Tables, Task, Values};
use crate::numbers::DAYS;
use crate::spec::DataSpec;

/// Why there is an end of the nodes.
const OFFSETS: &str = "offsets of nodes begin with 0: the tables were checked";

/// Everything in a data set.
#[derive(Clone, Debug)]
pub(super) struct Content {
    /// What was read, edges graph by graph; its columns of nodes and graphs have become features, targets and weights.
    pub tables: Tables,
    pub task: Task,
    /// The edges of graph `g` are `edge_offsets[g]..edge_offsets[g + 1]`.
    pub edge_offsets: Vec<usize>,
    pub features: Vec<Feature>,
    pub targets: Vec<Target>,
    pub weights: Option<Vec<f32>>,
    /// Columns of the graphs that are not targets.
    pub other_columns: Vec<String>,
    /// How it was to be read.
    pub spec: DataSpec,
    pub links: Option<Arc<Links>>,
}

impl Content {
    /// Interprets what a reader found.
    pub(super) fn new(mut tables: Tables, options: &DatasetOptions) -> Result<Content> {
        files::check(&tables, &options.read.limits)?;
        let [mut node_columns, mut graph_columns] =
            [&mut tables.node_columns, &mut tables.graph_columns].map(std::mem::take);
        let weights = match &options.weight {
            Some(name) if graph_columns.iter().any(|column| column.name == *name) => {
                Some(take_weights(&mut graph_columns, name)?)
            }
            Some(name) => Some(take_weights(&mut node_columns, name)?),
            None => None,
        };
        let named = std::mem::take(&mut tables.targets);
        let choice = if options.targets.is_empty() { named } else { options.targets.clone() };
        let (task, choice) = match &options.links {
            // Every column of the nodes is a feature, but for what the format calls a target.
            Some(_) => (Task::Node, choice),
            None => {
                let task = options.task.or(tables.task);
                choose_targets(&choice, task, &node_columns, &graph_columns, options.targets_optional)?
            }
        };
        let (item_columns, other_columns) = match task {
            Task::Graph => (graph_columns, node_columns),
            Task::Node => (node_columns, Vec::new()),
        };
        let (target_columns, rest): (Vec<Column>, Vec<Column>) =
            item_columns.into_iter().partition(|column| choice.contains(&column.name));
        let mut target_columns = target_columns;
        let (mut feature_columns, unused) = match task {
            Task::Graph => (other_columns, rest),
            Task::Node => (rest, Vec::new()),
        };
        for known in options.known.iter().flatten() {
            if let Some(column) = feature_columns.iter_mut().find(|column| column.name == known.name) {
                known.read(column)?;
            }
        }
        if options.problem == Some(Problem::Regression) {
            for column in &mut target_columns {
                match column.unit.as_deref() {
                    Some(DAYS) => read_as_dates(column, None)?,
                    _ => read_as_numbers(column),
                }
            }
        }
        if !options.targets_optional && options.problem != Some(Problem::Classification) {
            target_columns.iter().try_for_each(Target::check_known)?;
        }
        // Someone who has not chosen a target yet may choose any column.
        let candidates = if target_columns.is_empty() { unused.as_slice() } else { &[] };
        let read = feature_columns.iter().chain(&target_columns).chain(candidates);
        for column in read {
            let kept = if column.doubtful { &mut tables.cautions } else { &mut tables.notes };
            kept.extend(column.note.clone());
        }
        let unused: Vec<String> = unused.into_iter().map(|column| column.name).collect();
        leave_out_names(&mut feature_columns, options.known.as_deref(), &mut tables.notes);
        let features = Feature::from_columns(feature_columns, options.known.as_deref())?;
        let mut targets = target_columns
            .into_iter()
            .map(|column| Target::from_column(column, options.problem))
            .collect::<Result<Vec<_>>>()?;
        if options.problem.is_none() {
            targets.iter().try_for_each(Target::check_classes)?;
        }
        targets.sort_by_key(|target| choice.iter().position(|name| *name == target.name));
        let edge_offsets = group_edges(&mut tables)?;
        if let (Some(weights), Some(name)) = (&weights, &options.weight) {
            check_weights(weights, &targets, name)?;
        }
        // Splits are of what the format predicts, graphs where it does not say: so they were checked.
        if !tables.splits.is_empty() && task != tables.task.unwrap_or(Task::Graph) {
            tables.splits = Vec::new();
            tables
                .notes
                .push("the splits that come with the data are not of what is predicted: they are not used".into());
        }
        // Descriptions that are computed later are added there; those of links are computed with them.
        let spec = DataSpec { describe: options.describe_of_links(), ..options.spec() };
        let content = Content {
            tables,
            task,
            edge_offsets,
            features,
            targets,
            weights,
            other_columns: unused,
            spec,
            links: None,
        };
        if content.weights.as_ref().is_some_and(|weights| weights.len() != content.item_count()) {
            return Err(Error::usage("the weights do not belong to what is predicted")
                .with_remedy("give them in graphs.csv to predict graphs, in nodes.csv to predict nodes"));
        }
        Ok(content)
    }

    /// Number of graphs or nodes, whichever are predicted.
    pub(super) fn item_count(&self) -> usize {
        match self.task {
            Task::Graph => self.tables.graph_ids.len(),
            Task::Node => self.node_count(),
        }
    }

    pub(super) fn node_count(&self) -> usize {
        *self.tables.node_offsets.last().expect(OFFSETS)
    }

    /// Where the edges of a graph are among all edges.
    pub(super) fn edge_range(&self, graph: usize) -> Range<usize> {
        self.edge_offsets[graph]..self.edge_offsets[graph + 1]
    }

    /// A checksum of graphs, features and targets.
    pub(super) fn checksum(&self) -> Checksum {
        let tables = &self.tables;
        let mut sum = Checksum::of(tables.name.as_bytes()).and(&[u8::from(tables.directed)]);
        for edge in &tables.edges {
            sum = sum.and_codes(edge);
        }
        for offset in &tables.node_offsets {
            sum = sum.and(&offset.to_le_bytes());
        }
        for feature in &self.features {
            sum = sum.and(feature.name.as_bytes()).and(feature.kind.name().as_bytes());
            sum = match &feature.values {
                Values::Numbers(values) => sum.and_numbers(values),
                Values::Sparse { rows, values, .. } => sum.and_codes(rows).and_numbers(values),
                Values::Categories { codes, levels } => and_levels(sum, codes, levels),
            };
        }
        if let Some(Column { values: Values::Categories { codes, levels }, .. }) = &tables.edge_labels {
            sum = and_levels(sum, codes, levels);
        }
        for column in &tables.edge_numbers {
            if let Values::Numbers(numbers) = &column.values {
                sum = sum.and(column.name.as_bytes()).and_numbers(numbers);
            }
        }
        sum = tables.bonds.iter().flatten().fold(sum, |sum, bond| sum.and(&[*bond as u8]));
        for target in &self.targets {
            sum = sum.and(target.name.as_bytes()).and_numbers(&target.values);
        }
        sum = self.links.iter().fold(sum, |sum, links| links.add_to(sum));
        self.weights.iter().fold(sum, |sum, weights| sum.and_floats(weights))
    }
}

fn and_levels(sum: Checksum, codes: &[u32], levels: &[String]) -> Checksum {
    levels.iter().fold(sum.and_codes(codes), |sum, level| sum.and(level.as_bytes()).and(b"\n"))
}

/// Brings the edges into the order of their graphs, keeping their order within one; where those of each graph begin and end.
fn group_edges(tables: &mut Tables) -> Result<Vec<usize>> {
    let starts = &tables.node_offsets;
    let graph_of = |node: u32| starts.partition_point(|start| *start <= node as usize).saturating_sub(1);
    let graph_count = starts.len().saturating_sub(1);
    let mut offsets = vec![0; graph_count + 1];
    let (mut in_order, mut last) = (true, 0);
    for edge in &tables.edges {
        let [source, target] = edge.map(graph_of);
        if source != target || source >= graph_count {
            return Err(Error::input("an edge joins two graphs"));
        }
        offsets[source + 1] += 1;
        in_order &= last <= source;
        last = source;
    }
    for graph in 0..graph_count {
        offsets[graph + 1] += offsets[graph];
    }
    if !in_order {
        let mut order: Vec<usize> = (0..tables.edges.len()).collect();
        order.sort_by_key(|edge| graph_of(tables.edges[*edge][0]));
        tables.select_edges(&order);
    }
    Ok(offsets)
}
