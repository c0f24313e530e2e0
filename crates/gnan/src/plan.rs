//! A plan: what training on some data would take, in each way of running, and which of them it would choose.
//!
//! Nothing is fitted. Distances are looked at from few receivers, one batch of them is searched for and stepped over on
//! this machine, and the rest is proportion. Everything here is an estimate.

use std::time::Instant;

use serde::Serialize;

use crate::dataset::Dataset;
use crate::error::Result;
use crate::files::Task;
use crate::lens::View;
use crate::memory;
use crate::model::Rho;
use crate::statistics::{Keeping, Sample, Shells, Statistics, Surroundings};
use crate::train::{Probe, Training};

/// Items from which distances are looked at.
const LOOKED_FROM: usize = 128;
/// Receivers that are searched for together.
const BATCH: usize = 256;
/// Items whose step is compared with that of a batch, to separate what an item adds from what a step costs in any case.
const FEW: usize = 8;
/// The sample that is planned where none is set.
const USUAL_SAMPLE: u32 = 16;
/// The way in which all but the largest shell of a receiver is listed.
const LISTED: &str = "the nodes of all but the largest shell listed";
/// Memory in which a cache file is read, in bytes.
const FILE_BYTES: u64 = 64 << 20;

/// What training would take.
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
    /// The ways of running, those that are exact first.
    pub ways: Vec<Way>,
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

/// A way of running.
#[derive(Clone, Debug, Serialize)]
pub struct Way {
    /// What is done with distances.
    pub name: String,
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

impl Training {
    /// What a fit on `train`, stopped by `valid`, would take.
    pub fn plan(&self, train: &Dataset, valid: &Dataset) -> Result<Plan> {
        let (train, valid) = (train.labelled(), valid.labelled());
        self.check_for(&train)?;
        let in_use = memory::anonymous();
        let settled = self.first_candidate(&train)?;
        let exact = Training { shell_sample: None, cache: None, ..self.clone() };
        let started = Instant::now();
        let near = near_items(&exact, &train)?;
        let view_seconds = started.elapsed().as_secs_f64();
        let mut probe = Probe::new(&exact, &settled, &near)?;
        let probe_seconds = started.elapsed().as_secs_f64() - view_seconds;
        let statistics = |items: &Dataset, at_least: &[usize]| {
            let known = probe.statistics();
            let levels = known.levels().clone();
            Statistics::with_levels(items, train.features(), levels, known.options().clone(), at_least)
        };
        let spaced = spaced(&train, LOOKED_FROM);
        let far = statistics(&spaced, &[])?;
        let (axis, slots) = (far.axis(), far.axis().slots());
        let started = Instant::now();
        statistics(&near, &axis.longest())?;
        let items = train.len() + valid.len();
        let batches = items as f64 / near.len().max(1) as f64;
        let threads = rayon::current_num_threads().max(1);
        let side_by_side = batches.min(threads as f64).max(1.0);
        let count_seconds = (started.elapsed().as_secs_f64() - view_seconds).max(0.0) * batches / side_by_side;
        let cells = far.rows().cells.len() as f64 / far.items().len().max(1) as f64;
        let searches: u64 = far.surroundings().iter().map(|of_lens| of_lens.bytes_at_once()).max().unwrap_or(0);
        let common = Common {
            items,
            start: probe_seconds + count_seconds,
            // The probe holds all levels and tables. Cells are listed with their distances before they are numbered.
            memory: memory::anonymous().unwrap_or(0)
                + (cells * items as f64 * (8.0 + 24.0)) as u64
                + searches
                + (items * slots * (4 + 8 * probe.lanes())) as u64,
            steps: settled.batch.map_or(1.0, |batch| train.len().div_ceil(batch) as f64),
        };
        let mut ways = match far.surroundings().first() {
            None => vec![cells_way(&mut probe, &common)],
            Some(_) => shell_ways(self, &mut probe, &common, &far, &train, side_by_side),
        };
        let limit = memory::limit();
        ways.iter_mut().for_each(|way| way.fits = limit.is_none_or(|limit| way.memory <= limit));
        let why = choose(self, &mut ways, &common, far.surroundings(), &train);
        Ok(Plan {
            data: train.name().to_owned(),
            task: train.task(),
            graphs: train.graph_count(),
            nodes: train.node_count(),
            edges: (0..train.graph_count()).map(|graph| train.listed_edges(graph)).sum(),
            features: train.features().len(),
            units: probe.statistics().levels().unit_count(),
            train: train.len(),
            valid: valid.len(),
            rho: settled.rho,
            batch: settled.batch.unwrap_or(0),
            distances: Distances {
                longest: axis.longest().into_iter().max().unwrap_or(0),
                unreachable: far.has_unreachable().contains(&true),
                looked_from: spaced.len(),
            },
            threads,
            limit,
            in_use,
            ways,
            why,
        })
    }
}

/// Items evenly spaced among all.
fn spaced(data: &Dataset, most: usize) -> Dataset {
    let every = data.len().div_ceil(most).max(1);
    data.subset(&(0..data.len()).step_by(every).collect::<Vec<_>>())
}

/// A batch of items as training would search for them together: near each other in the graph that has the most.
fn near_items(training: &Training, data: &Dataset) -> Result<Dataset> {
    if data.task() == Task::Graph {
        return Ok(spaced(data, BATCH));
    }
    let graph_of = |position: &usize| data.graph_of(data.items()[*position] as usize);
    let mut positions: Vec<usize> = (0..data.len()).collect();
    positions.sort_by_key(graph_of);
    let largest = positions.chunk_by(|a, b| graph_of(a) == graph_of(b)).max_by_key(|same| same.len());
    let mut near: Vec<usize> = largest.unwrap_or_default().to_vec();
    let Some(graph) = near.first().map(graph_of) else { return Ok(data.clone()) };
    let view = View::new(data, graph, &training.lenses[0])?;
    let first = data.nodes_of(graph).start as u32;
    near.sort_by_key(|position| view.nearness(data.items()[*position] - first));
    let start = near.len().saturating_sub(BATCH) / 2;
    Ok(data.subset(&near[start..near.len().min(start + BATCH)]))
}

/// What a step costs in any case and for every item, and what it costs to make the rows of a batch, in seconds.
fn costs(probe: &mut Probe<'_>, make: impl Fn(&Statistics, &[usize]) -> Vec<Shells>) -> (f64, f64, f64) {
    let (mut few, _) = probe.rows(FEW, &make);
    let (mut many, made) = probe.rows(BATCH, &make);
    let fixed = probe.step_seconds(&mut few);
    let (little, much) = (probe.sweep_seconds(&mut few), probe.sweep_seconds(&mut many));
    let more = many.len().saturating_sub(few.len());
    let each = if more == 0 { much / many.len().max(1) as f64 } else { (much - little).max(0.0) / more as f64 };
    (fixed, each, made)
}

fn cells_way(probe: &mut Probe<'_>, common: &Common) -> Way {
    let (fixed, each, _) = costs(probe, |_, _| Vec::new());
    Way {
        name: "sums over the graphs".to_owned(),
        exact: true,
        memory: common.memory,
        start_seconds: common.start,
        epoch_seconds: common.steps * fixed + each * common.items as f64,
        redraw_seconds: None,
        fits: true,
        chosen: false,
    }
}

fn shell_ways(
    training: &Training,
    probe: &mut Probe<'_>,
    common: &Common,
    far: &Statistics,
    train: &Dataset,
    side_by_side: f64,
) -> Vec<Way> {
    let slots = far.surroundings().iter().map(|of_lens| of_lens.slots()).max().unwrap_or(0);
    let sources = train.graphs().into_iter().map(|graph| train.sources_of(graph).len()).max().unwrap_or(0) as u64;
    let pairs = common.items as u64 * sources * far.surroundings().len() as u64;
    let batches = common.items as f64 / BATCH as f64;
    let probe_folder = tempfile::tempdir().ok();
    let mut ways = Vec::new();
    let wide = slots > 256;
    let mut kept = vec![(Keeping::Bytes, if wide { 2 * pairs } else { pairs })];
    kept.extend((slots <= 16).then_some((Keeping::HalfBytes, pairs / 2)));
    let folder = probe_folder.as_ref().filter(|_| !wide).map(|folder| folder.path().to_path_buf());
    kept.extend(folder.map(|folder| (Keeping::File(folder), FILE_BYTES)));
    kept.push((Keeping::Recomputed, 0));
    for (keeping, bytes) in kept {
        let make = |statistics: &Statistics, rows: &[usize]| -> Vec<Shells> {
            statistics.surroundings().iter().map(|of_lens| Shells::kept(of_lens, rows, &keeping)).collect()
        };
        let (fixed, each, made) = costs(probe, make);
        let written = if keeping == Keeping::Recomputed { 0.0 } else { made * batches / side_by_side };
        // A batch is searched for on one thread; the batches of an epoch are side by side.
        let each = if keeping == Keeping::Recomputed { each / side_by_side } else { each };
        ways.push(Way {
            name: format!("distances as {}", keeping.name()).replace("as searched", "searched").replace("as a", "in a"),
            exact: true,
            memory: common.memory + bytes,
            start_seconds: common.start + written,
            epoch_seconds: common.steps * fixed + each * common.items as f64,
            redraw_seconds: None,
            fits: true,
            chosen: false,
        });
    }
    let looked = far.items().len().max(1);
    // What lists take for an item, if so many sources of a shell are listed.
    let list_bytes = |listed: &dyn Fn(&[u32]) -> u64| {
        let of_lens = |of_lens: &Surroundings| (0..looked).map(|item| listed(of_lens.counts(item))).sum::<u64>();
        let all: u64 = far.surroundings().iter().map(|shells| of_lens(shells)).sum();
        // Every source is listed once by receiver and once by itself.
        8 * all / looked as u64 + 8 * (slots * far.surroundings().len()) as u64
    };
    if far.surroundings().iter().all(|of_lens| Shells::are_listed(of_lens)) {
        let make = |statistics: &Statistics, rows: &[usize]| -> Vec<Shells> {
            statistics.surroundings().iter().map(|of_lens| Shells::listed(of_lens, rows)).collect()
        };
        let (fixed, each, made) = costs(probe, make);
        let but_largest = |counts: &[u32]| -> u64 {
            let sizes = || counts.iter().map(|count| u64::from(*count));
            sizes().sum::<u64>() - sizes().max().unwrap_or(0)
        };
        ways.push(Way {
            name: LISTED.to_owned(),
            exact: true,
            memory: common.memory + common.items as u64 * list_bytes(&but_largest),
            start_seconds: common.start + made * batches / side_by_side,
            epoch_seconds: common.steps * fixed + each * common.items as f64,
            redraw_seconds: None,
            fits: true,
            chosen: false,
        });
    }
    let size = training.shell_sample.unwrap_or(USUAL_SAMPLE);
    let sample = Sample { size, seed: training.seed, draw: 0 };
    let make = |statistics: &Statistics, rows: &[usize]| -> Vec<Shells> {
        statistics.surroundings().iter().map(|of_lens| Shells::new(of_lens, rows, Some(sample), None)).collect()
    };
    let (fixed, each, made) = costs(probe, make);
    let per_item = list_bytes(&|counts: &[u32]| counts.iter().map(|count| u64::from((*count).min(size))).sum::<u64>());
    let redraw = made * batches / side_by_side;
    ways.push(Way {
        name: format!("a sample of {size} from every shell"),
        exact: false,
        memory: common.memory + common.items as u64 * per_item,
        start_seconds: common.start + redraw,
        epoch_seconds: common.steps * fixed + each * common.items as f64,
        redraw_seconds: Some(redraw),
        fits: true,
        chosen: false,
    });
    ways
}

/// Marks the way that training would choose, and returns why.
fn choose(
    training: &Training,
    ways: &mut [Way],
    common: &Common,
    surroundings: &[std::sync::Arc<Surroundings>],
    train: &Dataset,
) -> String {
    let [only] = ways else {
        let slots = surroundings.iter().map(|of_lens| of_lens.slots()).max().unwrap_or(0);
        let left = memory::limit().map(|limit| limit.saturating_sub(common.memory));
        let keeping = Keeping::choose(train.pairs(), slots, left, training.cache.as_ref());
        let sampled = training.shell_sample.is_some();
        let listed = !sampled && ways.iter().any(|way| way.name == LISTED);
        let wanted = |way: &&mut Way| match (sampled, listed) {
            (true, _) => !way.exact,
            (_, true) => way.name == LISTED,
            _ => way.name.ends_with(keeping.name()),
        };
        let Some(way) = ways.iter_mut().find(wanted) else {
            return "a cache file, which could not be tried: there is no folder for temporary files".to_owned();
        };
        way.chosen = true;
        if !way.fits {
            return format!(
                "nothing fits: about {} are needed; raise the option memory, label fewer items, or train on a sample with the \
                 option shell-sample",
                memory::in_words(way.memory)
            );
        }
        return match keeping {
            _ if sampled => "the option shell-sample is set".to_owned(),
            _ if listed => "nearly all nodes are in the largest shell, which follows from the others".to_owned(),
            Keeping::Bytes => "it is the fastest exact way, and it fits".to_owned(),
            Keeping::HalfBytes => "bytes do not fit, half bytes do".to_owned(),
            Keeping::File(_) => {
                "neither bytes nor half bytes fit, and the option cache names a folder for a file".to_owned()
            }
            Keeping::Recomputed => "distances do not fit; the option cache would keep them in a file".to_owned(),
        };
    };
    only.chosen = true;
    match only.fits {
        true => "it is the only way".to_owned(),
        false => {
            format!("it does not fit: about {} are needed; raise the option memory", memory::in_words(only.memory))
        }
    }
}
