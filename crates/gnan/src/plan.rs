//! A plan: what training on some data would take, in each way of running, and which of them it would choose.
//!
//! Nothing is fitted. Distances are looked at from few receivers, one batch of them is searched for and stepped over on
//! this machine, and the rest is proportion. Everything here is an estimate.

mod way;

use std::time::Instant;

use serde::Serialize;

use crate::dataset::Dataset;
use crate::error::Result;
use crate::files::Task;
use crate::lens::View;
use crate::memory;
use crate::model::Rho;
use crate::numbers;
use crate::run::DistanceCache;
use crate::spec::{FitMethod, Spec};
use crate::statistics::{DistanceStorage, Sample, ShellCounts, Shells, Statistics};
use crate::train::{PenalisedSize, Probe, ProbeSetup};
pub use way::Way;

/// Items from which distances are looked at.
const LOOKED_FROM: usize = 128;
/// Receivers that are searched for together.
const BATCH: usize = 256;
/// Items whose step is compared with that of a batch, to separate what an item adds from what a step costs in any case.
const FEW: usize = 8;
/// The sample that is planned where none is set.
const USUAL_SAMPLE: u32 = 16;
/// Memory in which a cache file is read, in bytes.
const FILE_BYTES: u64 = 64 << 20;

/// What a penalised fit would take.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PenalisedPlan {
    /// How large it would be.
    #[serde(flatten)]
    pub size: PenalisedSize,
    /// Whether it would be taken.
    pub chosen: bool,
}

/// What training would take.
///
/// ```
/// use gnan::{Dataset, Plan, Spec};
/// let (train, valid) = Dataset::open("solubility")?.split(0.9, 1)?;
/// let plan: Plan = Spec::default().plan(&train, &valid)?;
/// println!("{}", plan.why);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// Name of the data set.
    pub data: String,
    /// Whether graphs or nodes are predicted.
    pub task: Task,
    /// Number of graphs.
    pub graphs: usize,
    /// Nodes of all graphs.
    pub nodes: usize,
    /// Edges of all graphs, as they are listed.
    pub edges: usize,
    /// Number of features.
    pub features: usize,
    /// Distinct values of all features: what shape functions are evaluated at.
    pub units: usize,
    /// Items to fit on.
    pub train: usize,
    /// Items to stop by.
    pub valid: usize,
    /// The choice of rho that is planned for.
    pub rho: Rho,
    /// Items per step; 0: all of them.
    pub batch: usize,
    /// The distances.
    pub distances: Distances,
    /// Threads that were measured with.
    pub threads: usize,
    /// The limit of memory, where there is one.
    pub limit: Option<u64>,
    /// What the data take already.
    pub in_use: Option<u64>,
    /// What a penalised fit would take, and whether it would be taken in place of gradient descent.
    pub penalised: PenalisedPlan,
    /// The ways of running gradient descent, those that are exact first.
    pub ways: Vec<Estimate>,
    /// Why the chosen one is chosen.
    pub why: String,
}

/// The range of distances, estimated from few receivers.
#[derive(Clone, Debug, Serialize)]
pub struct Distances {
    /// The longest.
    pub longest: usize,
    /// Whether some sources have no path to a receiver.
    pub unreachable: bool,
    /// Receivers that were looked from, evenly spaced among all.
    pub looked_from: usize,
}

/// What a way of running would take.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// What is done with distances.
    #[serde(rename = "name")]
    pub way: Way,
    /// Whether it is exact, or on a sample of every shell.
    pub exact: bool,
    /// Memory at the peak, in bytes, data included.
    pub memory: u64,
    /// Seconds until the first epoch.
    pub start_seconds: f64,
    /// Seconds of an epoch.
    pub epoch_seconds: f64,
    /// Seconds to draw a sample anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redraw_seconds: Option<f64>,
    /// Whether it fits in the limit.
    pub fits: bool,
    /// Whether training would choose it.
    pub chosen: bool,
}

/// What all ways have in common.
struct Common {
    items: usize,
    /// Seconds until distances are written down or listed.
    start: f64,
    memory: u64,
    /// Steps of an epoch.
    steps: f64,
}

/// Seconds of a step in any case, of every item in an epoch, and to make the rows of a batch.
struct Costs {
    fixed: f64,
    each: f64,
    made: f64,
}

impl Common {
    /// A way that takes so many more bytes and so many more seconds to start.
    fn estimate(&self, way: Way, bytes: u64, start: f64, costs: &Costs) -> Estimate {
        Estimate {
            way,
            exact: way.is_exact(),
            memory: self.memory + bytes,
            start_seconds: self.start + start,
            epoch_seconds: self.steps * costs.fixed + costs.each * self.items as f64,
            redraw_seconds: (!way.is_exact()).then_some(start),
            fits: true,
            chosen: false,
        }
    }
}

impl Spec {
    /// What a fit on `train`, stopped by `valid`, would take.
    pub fn plan(&self, train: &Dataset, valid: &Dataset) -> Result<Plan> {
        let (train, valid) = (train.labelled(), valid.labelled());
        self.check_for(&train)?;
        let penalised =
            PenalisedPlan { size: self.penalised_size(&train), chosen: self.with_method(&train)?.is_penalised() };
        let gradient = self.clone().method(FitMethod::Gradient);
        gradient.plan_gradient(&train, &valid, penalised)
    }

    /// What gradient descent would take.
    fn plan_gradient(&self, train: &Dataset, valid: &Dataset, penalised: PenalisedPlan) -> Result<Plan> {
        let in_use = memory::anonymous();
        let resolved = self.resolutions(train)?.swap_remove(0);
        let mut exact = self.clone();
        exact.statistics.shell_sample = None;
        let started = Instant::now();
        let near = near_items(&exact, train)?;
        let view_seconds = started.elapsed().as_secs_f64();
        let setup = ProbeSetup::new(&exact, &resolved, &near)?;
        let mut probe = setup.probe()?;
        let probe_seconds = started.elapsed().as_secs_f64() - view_seconds;
        let statistics = |items: &Dataset, at_least: &[usize]| {
            let known = probe.statistics();
            let levels = known.levels.clone();
            Statistics::with_levels(items, train.features(), levels, known.request.clone(), at_least)
        };
        let spaced = train.spaced(LOOKED_FROM);
        let far = statistics(&spaced, &[])?;
        let (axis, slots) = (&far.axis, far.axis.slots());
        let started = Instant::now();
        statistics(&near, &axis.longest())?;
        let items = train.len() + valid.len();
        let batches = items as f64 / near.len().max(1) as f64;
        let threads = rayon::current_num_threads().max(1);
        let side_by_side = batches.min(threads as f64).max(1.0);
        let count_seconds = (started.elapsed().as_secs_f64() - view_seconds).max(0.0) * batches / side_by_side;
        let cells = far.rows.cells.len() as f64 / far.items.len().max(1) as f64;
        let searches: u64 = far.shell_counts.iter().map(|of_lens| of_lens.bytes_at_once()).max().unwrap_or(0);
        let common = Common {
            items,
            start: probe_seconds + count_seconds,
            // The probe holds all levels and tables. Cells are listed with their distances before they are numbered.
            memory: memory::anonymous().unwrap_or(0)
                + (cells * items as f64 * (8.0 + 24.0)) as u64
                + searches
                + (items * slots * (4 + 8 * probe.lanes())) as u64,
            steps: resolved.batch.map_or(1.0, |batch| train.len().div_ceil(batch) as f64),
        };
        let mut ways = match far.shell_counts.first() {
            None => vec![common.estimate(Way::StatisticsAlone, 0, 0.0, &costs(&mut probe, |_, _| Vec::new()))],
            Some(_) => shell_ways(self, &mut probe, &common, &far, train, side_by_side),
        };
        let limit = train.run().memory.bytes();
        ways.iter_mut().for_each(|way| way.fits = limit.is_none_or(|limit| way.memory <= limit));
        let why = choose(self, &mut ways, &common, &far.shell_counts, train);
        Ok(Plan {
            data: train.name().to_owned(),
            task: train.task(),
            graphs: train.graph_count(),
            nodes: train.node_count(),
            edges: (0..train.graph_count()).map(|graph| train.listed_edges(graph)).sum(),
            features: train.features().len(),
            units: probe.statistics().levels.unit_count(),
            train: train.len(),
            valid: valid.len(),
            rho: resolved.rho,
            batch: resolved.batch.unwrap_or(0),
            distances: Distances {
                longest: axis.longest().into_iter().max().unwrap_or(0),
                unreachable: far.has_unreachable.contains(&true),
                looked_from: spaced.len(),
            },
            threads,
            limit,
            in_use,
            penalised,
            ways,
            why,
        })
    }
}

/// A batch of items as training would search for them together: near each other in the graph that has the most.
fn near_items(spec: &Spec, data: &Dataset) -> Result<Dataset> {
    if data.task() == Task::Graph {
        return Ok(data.spaced(BATCH));
    }
    let graph_of = |position: &usize| data.graph_of(data.items()[*position] as usize);
    let mut positions: Vec<usize> = (0..data.len()).collect();
    positions.sort_by_key(graph_of);
    let largest = positions.chunk_by(|a, b| graph_of(a) == graph_of(b)).max_by_key(|same| same.len());
    let mut near: Vec<usize> = largest.unwrap_or_default().to_vec();
    let Some(graph) = near.first().map(graph_of) else { return Ok(data.clone()) };
    let view = View::new(data, graph, &spec.lenses()[0])?;
    let first = data.nodes_of(graph).start as u32;
    near.sort_by_key(|position| view.nearness(data.items()[*position] - first));
    let start = near.len().saturating_sub(BATCH) / 2;
    Ok(data.subset(&near[start..near.len().min(start + BATCH)]))
}

/// What is measured with rows that are made in one way.
fn costs(probe: &mut Probe<'_>, make: impl Fn(&Statistics, &[usize]) -> Vec<Shells>) -> Costs {
    let (mut few, _) = probe.rows(FEW, &make);
    let (mut many, made) = probe.rows(BATCH, &make);
    let fixed = probe.step_seconds(&mut few);
    let (little, much) = (probe.sweep_seconds(&mut few), probe.sweep_seconds(&mut many));
    let more = many.len().saturating_sub(few.len());
    let each = if more == 0 { much / many.len().max(1) as f64 } else { (much - little).max(0.0) / more as f64 };
    Costs { fixed, each, made }
}

fn shell_ways(
    spec: &Spec,
    probe: &mut Probe<'_>,
    common: &Common,
    far: &Statistics,
    train: &Dataset,
    side_by_side: f64,
) -> Vec<Estimate> {
    let slots = far.shell_counts.iter().map(|of_lens| of_lens.slots).max().unwrap_or(0);
    let sources = train.graphs().into_iter().map(|graph| train.sources_of(graph).len()).max().unwrap_or(0) as u64;
    let pairs = common.items as u64 * sources * far.shell_counts.len() as u64;
    let batches = common.items as f64 / BATCH as f64;
    let probe_folder = tempfile::tempdir().ok();
    let mut ways = Vec::new();
    let wide = slots > 256;
    let mut kept = vec![(DistanceStorage::Bytes, if wide { 2 * pairs } else { pairs })];
    kept.extend((slots <= 16).then_some((DistanceStorage::HalfBytes, pairs / 2)));
    let folder = probe_folder.as_ref().filter(|_| !wide).map(|folder| DistanceCache::new(folder.path()));
    kept.extend(folder.map(|folder| (DistanceStorage::File(folder), FILE_BYTES)));
    kept.push((DistanceStorage::Recomputed, 0));
    for (keeping, bytes) in kept {
        let make = |statistics: &Statistics, rows: &[usize]| -> Vec<Shells> {
            statistics.shell_counts.iter().map(|of_lens| Shells::stored(of_lens, rows, &keeping)).collect()
        };
        let mut costs = costs(probe, make);
        let mut written = costs.made * batches / side_by_side;
        if keeping == DistanceStorage::Recomputed {
            // A batch is searched for on one thread; the batches of an epoch are side by side.
            costs.each /= side_by_side;
            written = 0.0;
        }
        ways.push(common.estimate(Way::from(&keeping), bytes, written, &costs));
    }
    let looked = far.items.len().max(1);
    // What lists take for an item, if so many sources of a shell are listed.
    let list_bytes = |listed: &dyn Fn(&[u32]) -> u64| {
        let of_lens = |of_lens: &ShellCounts| (0..looked).map(|item| listed(of_lens.counts(item))).sum::<u64>();
        let all: u64 = far.shell_counts.iter().map(|shells| of_lens(shells)).sum();
        // Every source is listed once by receiver and once by itself.
        8 * all / looked as u64 + 8 * (slots * far.shell_counts.len()) as u64
    };
    if far.shell_counts.iter().all(|of_lens| Shells::are_listed(of_lens)) {
        let make = |statistics: &Statistics, rows: &[usize]| -> Vec<Shells> {
            statistics.shell_counts.iter().map(|of_lens| Shells::listed(of_lens, rows)).collect()
        };
        let costs = costs(probe, make);
        let but_largest = |counts: &[u32]| -> u64 {
            let sizes = || counts.iter().map(|count| u64::from(*count));
            sizes().sum::<u64>() - sizes().max().unwrap_or(0)
        };
        let bytes = common.items as u64 * list_bytes(&but_largest);
        ways.push(common.estimate(Way::Listed, bytes, costs.made * batches / side_by_side, &costs));
    }
    let size = spec.statistics.shell_sample.unwrap_or(USUAL_SAMPLE);
    let sample = Sample { size, seed: spec.fit.seed, draw: 0 };
    let make = |statistics: &Statistics, rows: &[usize]| -> Vec<Shells> {
        statistics.shell_counts.iter().map(|of_lens| Shells::new(of_lens, rows, Some(sample), None)).collect()
    };
    let costs = costs(probe, make);
    let per_item = list_bytes(&|counts: &[u32]| counts.iter().map(|count| u64::from((*count).min(size))).sum::<u64>());
    let bytes = common.items as u64 * per_item;
    ways.push(common.estimate(Way::Sampled(size), bytes, costs.made * batches / side_by_side, &costs));
    ways
}

/// Marks the way that training would choose, and returns why.
fn choose(
    spec: &Spec,
    ways: &mut [Estimate],
    common: &Common,
    surroundings: &[std::sync::Arc<ShellCounts>],
    train: &Dataset,
) -> String {
    let slots = surroundings.iter().map(|of_lens| of_lens.slots).max().unwrap_or(0);
    let left = train.run().memory.bytes().map(|limit| limit.saturating_sub(common.memory));
    let keeping = DistanceStorage::choose(train.receiver_source_pairs(), slots, left, train.run().cache.as_ref());
    let is_there = |way: Way| ways.iter().any(|estimate| estimate.way == way);
    let (way, why) = match (spec.statistics.shell_sample, &keeping) {
        _ if is_there(Way::StatisticsAlone) => (Way::StatisticsAlone, "it is the only way"),
        (Some(size), _) => (Way::Sampled(size), "a sample of shells is requested"),
        _ if is_there(Way::Listed) => {
            (Way::Listed, "nearly all nodes are in the largest shell, which follows from the others")
        }
        (None, DistanceStorage::Bytes) => (Way::Bytes, "it is the fastest exact way, and it fits"),
        (None, DistanceStorage::HalfBytes) => (Way::HalfBytes, "bytes do not fit, half bytes do"),
        (None, DistanceStorage::File(_)) => {
            (Way::CacheFile, "neither bytes nor half bytes fit, and there is a cache folder for a file")
        }
        (None, DistanceStorage::Recomputed) => {
            (Way::Recomputed, "distances do not fit; with a cache folder they would be kept in a file")
        }
    };
    let Some(chosen) = ways.iter_mut().find(|estimate| estimate.way == way) else {
        return "there is no way to run this".to_owned();
    };
    chosen.chosen = true;
    let needed = numbers::bytes(chosen.memory);
    if chosen.fits {
        return why.to_owned();
    }
    let remedy = match ways.iter().find(|estimate| estimate.fits) {
        Some(other) => format!("this would fit: {}", other.way.name()),
        None if way == Way::StatisticsAlone => "allow more memory".to_owned(),
        None => "allow more memory, label fewer items, or train on a sample of shells".to_owned(),
    };
    format!("it does not fit: about {needed} are needed; {remedy}")
}
