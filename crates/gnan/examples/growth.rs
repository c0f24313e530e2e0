//! How cost grows with the size of a graph: CPU time of distances, of an exact and of a sampled epoch and of drawing a
//! sample anew, and the peak of anonymous memory, for heavy-tailed graphs with 10,000 labelled nodes each.
//!
//! `cargo run --release -p gnan --example growth -- [NODES...] [--memory SIZE] [--json FILE] [--arxiv]`
//!
//! Every size is measured by a process of its own, because memory that was freed may not be given back. With `--arxiv` the
//! real graph and classes of ogbn-arxiv (in `$GNAN_DATA/ogb/arxiv`), with 128 synthetic dense features, are measured
//! instead. Features are dense numbers on 256 knots.

use std::process::Command;
use std::sync::Arc;

use cpu_time::ProcessTime;
use gnan::files::{self, Column, Kind, Tables, Task, Values};
use gnan::internals::lens::Lens;
use gnan::internals::model::{
    Engine, EngineModel, FeatureSchema, ItemRows, Layout, OptimiserState, Parameters, Rho, RhoScale, StepSettings,
    TrainingNodes,
};
use gnan::internals::random::Stream;
use gnan::internals::shape::{Adam, Architecture, ShapeKind};
use gnan::internals::statistics::{ChannelPlan, Sample, ShellWeighting, Statistics, StatisticsRequest, find_levels};
use gnan::memory::{self, MemoryLimit, Watch};
use gnan::numbers;
use gnan::spec::BinChoice;
use gnan::{Dataset, DatasetOptions, Error, Result};
use serde::{Deserialize, Serialize};

/// Nodes of the graphs.
const SIZES: [usize; 5] = [10_000, 30_000, 100_000, 300_000, 1_000_000];
/// Nodes that are fitted on.
const TARGETS: usize = 10_000;
/// Edges that a new node brings.
const EDGES_PER_NODE: usize = 5;
/// Features of a generated graph, and of ogbn-arxiv.
const FEATURES: [usize; 2] = [16, 128];
/// Knots of a feature.
const KNOTS: usize = 256;
/// Sources of a shell in a sample.
const SAMPLE: u32 = 16;

/// What was measured of one graph; seconds are of CPU time.
#[derive(Serialize, Deserialize)]
struct Measured {
    name: String,
    nodes: usize,
    edges: usize,
    targets: usize,
    features: usize,
    slots: usize,
    /// Searching, and counting who is how far away.
    distances_seconds: f64,
    /// Searching, writing the distances down as bytes, and adding up one number per source over every shell.
    rows_seconds: f64,
    exact_epoch_seconds: f64,
    sampled_epoch_seconds: f64,
    redraw_seconds: f64,
    exact_peak_bytes: Option<u64>,
    sampled_peak_bytes: Option<u64>,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value_of = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let limit = value_of("--memory");
    if let Some(what) = value_of("--measure") {
        let limit = limit.as_deref().map(memory::parse_size).transpose()?;
        let measured = measure(&what, limit.map_or_else(MemoryLimit::usual, MemoryLimit::of))?;
        println!("{}", serde_json::to_string(&measured).map_err(|error| Error::input(error.to_string()))?);
        return Ok(());
    }
    let sizes: Vec<String> = arguments.iter().filter(|word| word.parse::<usize>().is_ok()).cloned().collect();
    let wanted = match (arguments.iter().any(|argument| argument == "--arxiv"), sizes.is_empty()) {
        (true, _) => {
            let folder = std::env::var("GNAN_DATA").map_err(|_| Error::usage("GNAN_DATA is not set"))?;
            vec![format!("{folder}/ogb/arxiv")]
        }
        (false, false) => sizes,
        (false, true) => SIZES.iter().map(usize::to_string).collect(),
    };
    println!(
        "| nodes | edges | slots | distances | written, summed | exact epoch | sampled epoch | redraw | memory exact | sampled |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let mut all = Vec::new();
    for what in wanted {
        let measured = in_a_process_of_its_own(&what, limit.as_deref())?;
        println!("{}", row(&measured));
        all.push(measured);
    }
    if let Some(path) = value_of("--json") {
        let text = serde_json::to_string_pretty(&all).map_err(|error| Error::input(error.to_string()))?;
        gnan::output::write_atomically(path.as_ref(), text.as_bytes())?;
    }
    Ok(())
}

fn row(m: &Measured) -> String {
    let seconds = |s: f64| if s < 10.0 { format!("{s:.3} s") } else { format!("{s:.1} s") };
    let bytes = |bytes: Option<u64>| bytes.map_or("not known".to_owned(), numbers::bytes);
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        m.nodes,
        m.edges,
        m.slots,
        seconds(m.distances_seconds),
        seconds(m.rows_seconds),
        seconds(m.exact_epoch_seconds),
        seconds(m.sampled_epoch_seconds),
        seconds(m.redraw_seconds),
        bytes(m.exact_peak_bytes),
        bytes(m.sampled_peak_bytes)
    )
}

fn in_a_process_of_its_own(what: &str, limit: Option<&str>) -> Result<Measured> {
    let broken = |error: &dyn std::fmt::Display| Error::input(format!("{what} could not be measured: {error}"));
    let own = std::env::current_exe().map_err(|error| broken(&error))?;
    let limit = limit.into_iter().flat_map(|limit| ["--memory", limit]);
    let output = Command::new(own).args(["--measure", what]).args(limit).output().map_err(|error| broken(&error))?;
    if !output.status.success() {
        return Err(broken(&String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| broken(&error))
}

/// Seconds of CPU time that some work takes, and what it makes.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = ProcessTime::now();
    let made = work();
    (start.elapsed().as_secs_f64(), made)
}

fn measure(what: &str, memory: MemoryLimit) -> Result<Measured> {
    let tables = match what.parse::<usize>() {
        Ok(nodes) => generated(nodes),
        Err(_) => with_features(files::read(what, &gnan_paper::read_options())?, FEATURES[1]),
    };
    let run = gnan::Run::default().with_memory(memory);
    let options = DatasetOptions { known: Some(Vec::new()), run, ..DatasetOptions::default() };
    let data = Dataset::from_tables(tables, &options)?;
    let train = match data.given_splits() {
        0 => data.labelled(),
        _ => data.given_split(0, 0)?.train,
    };
    let wanted = |sample: Option<u32>| StatisticsRequest {
        in_cells: false,
        weighting: ShellWeighting::Mean,
        lenses: Lens::plain(),
        channels: Some(ChannelPlan::shared(data.features().len())),
        sample: sample.map(|size| Sample { size, seed: 1, draw: 0 }),
        farthest: None,
    };
    let watch = Watch::start();
    let knots = BinChoice::Count(KNOTS).knots(data.features(), |_, _| true);
    let levels = find_levels(&data, data.features(), &knots)?;
    let (distances_seconds, sampled) =
        timed(|| Statistics::with_levels(&train, data.features(), Arc::clone(&levels), wanted(Some(SAMPLE)), &[]));
    let sampled = sampled?;
    let slots = sampled.axis.slots();
    let (rows_seconds, ()) = timed(|| {
        let all: Vec<usize> = (0..train.len()).collect();
        let said = vec![1.0; data.node_count()];
        for shells in sampled.shells_once(&all) {
            let mut means = vec![0.0; shells.shares.len()];
            shells.means(&said, 1, &mut means);
        }
    });
    let mut run = Run::new(&data, &train, Arc::new(sampled));
    let mut rows = run.rows();
    let (redraw_seconds, ()) = timed(|| rows.redraw(1));
    run.epoch(&mut rows);
    let (sampled_epoch_seconds, ()) = timed(|| run.epoch(&mut rows));
    let sampled_peak_bytes = watch.peak_anonymous();
    drop((rows, run));
    let exact = Statistics::with_levels(&train, data.features(), levels, wanted(None), &[])?;
    let mut run = Run::new(&data, &train, Arc::new(exact));
    let mut rows = run.rows();
    let (exact_epoch_seconds, ()) = timed(|| run.epoch(&mut rows));
    Ok(Measured {
        name: data.name().to_owned(),
        nodes: data.node_count(),
        edges: data.listed_edges(0),
        targets: train.len(),
        features: data.features().len(),
        slots,
        distances_seconds,
        rows_seconds,
        exact_epoch_seconds,
        sampled_epoch_seconds,
        redraw_seconds,
        exact_peak_bytes: watch.peak_anonymous(),
        sampled_peak_bytes,
    })
}

/// Training under way: 3 layers of 64, a shared rho.
struct Run {
    engine: Engine,
    parameters: Parameters,
    state: OptimiserState,
    items: usize,
    outputs: usize,
}

impl Run {
    fn new(data: &Dataset, train: &Dataset, statistics: Arc<Statistics>) -> Run {
        let nodes = TrainingNodes::of(data);
        let features: Vec<FeatureSchema> =
            data.features().iter().map(|feature| FeatureSchema::learn(feature, &nodes)).collect();
        let classes = data.targets()[0].classes.as_ref().map_or(1, Vec::len);
        let architecture = Architecture { layers: 3, hidden: 64, outputs: classes };
        let model = EngineModel {
            features: &features,
            architecture,
            readout: None,
            uncentred: false,
            rho: Rho::Shared,
            rho_scale: RhoScale::default(),
            shape: ShapeKind::Network,
            rho_spline: None,
            smooth: 0.0,
            reach: gnan::internals::lens::Reach::ALL,
            pieces_above: None,
            shell_scale: &[],
        };
        let layout = Layout::new(&features, Rho::Shared, gnan::internals::lens::Reach::ALL, 1);
        let parameters = Parameters::random(&layout, &model.bank_specs(&layout), classes, 1);
        let engine = Engine::new(model, statistics, 0.03);
        Run { state: OptimiserState::new(&parameters), engine, parameters, items: train.len(), outputs: classes }
    }

    fn rows(&self) -> ItemRows {
        self.engine.rows(&(0..self.items).collect::<Vec<_>>(), true)
    }

    /// Forward, backward and Adam, once over all items.
    fn epoch(&mut self, rows: &mut ItemRows) {
        let settings = StepSettings { adam: Adam::default(), output_bias: true, group_penalty: 0.0 };
        let mut outputs = vec![0.0; self.items * self.outputs];
        self.engine.tables(&self.parameters, true);
        self.engine.outputs(rows, &mut outputs);
        let gradient: Vec<f32> = outputs.iter().map(|y| 1e-4 * y).collect();
        self.engine.step(rows, &gradient, &mut self.parameters, &mut self.state, settings);
    }
}

/// A graph that grows node by node: a new node joins nodes in proportion to the edges they have (Barabási and Albert
/// 1999).
fn generated(nodes: usize) -> Tables {
    let mut random = Stream::named(1, "growth", nodes as u64);
    let mut tables = Tables { name: format!("{nodes} nodes"), node_offsets: vec![0, nodes], ..Tables::default() };
    tables.graph_ids = vec!["graph".into()];
    tables.task = Some(Task::Node);
    tables.targets = vec!["class".into()];
    // Every edge lists both of its ends, so a node is drawn as often as it has edges.
    let mut ends: Vec<u32> = vec![0];
    for node in 1..nodes as u32 {
        for _ in 0..EDGES_PER_NODE.min(node as usize) {
            let other = ends[random.below(ends.len())];
            tables.edges.push([node, other]);
            ends.extend([node, other]);
        }
    }
    let every = (nodes / TARGETS).max(1);
    let code = |node: usize| {
        if node.is_multiple_of(every) && node / every < TARGETS { (node / every % 2) as u32 } else { files::MISSING }
    };
    let levels = vec!["no".to_owned(), "yes".to_owned()];
    let values = Values::Categories { codes: (0..nodes).map(code).collect(), levels };
    tables.node_columns.push(Column::new("class", values));
    with_features(tables, FEATURES[0])
}

/// The same graph with dense features in place of its own.
fn with_features(mut tables: Tables, count: usize) -> Tables {
    let nodes = tables.nodes();
    let targets = tables.targets.clone();
    tables.node_columns.retain(|column| targets.contains(&column.name));
    for k in 0..count {
        let mut random = Stream::named(2, "features", k as u64);
        let values = (0..nodes).map(|_| random.uniform() - 0.5).collect();
        tables.node_columns.push(Column::new(format!("x{k}"), Values::Numbers(values)).with_kind(Kind::Continuous));
    }
    tables
}
