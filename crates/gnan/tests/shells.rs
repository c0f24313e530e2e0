//! Shells: every way of storing distances gives the same numbers, and those of a plain sum; samples give them on average.

mod oracle;

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gnan::Graph;
use gnan::internals::distance::{DistanceSearch, Far, RECEIVERS_PER_BLOCK, ReorderedGraph};
use gnan::internals::lens::Lens;
use gnan::internals::random::Stream;
use gnan::internals::statistics::{DistanceStorage, Sample, ShellCounts, ShellWeighting, Shells};
use gnan::run::DistanceCache;
use gnan::spec::RhoChoice;
use gnan::{Dataset, DatasetOptions, Spec};

use oracle::{CaseGraph, queue_search};

/// Graphs large enough to be reordered: flat, heavy-tailed, grid-like, chain-like and in pieces.
fn large_graphs() -> Vec<(&'static str, CaseGraph)> {
    let mut random = Stream::named(5, "large graphs", 0);
    let nodes = 4500;
    let flat = (0..3 * nodes).map(|_| [random.below(nodes), random.below(nodes)]).collect();
    let mut heavy = vec![[0, 1]];
    for node in 2..nodes {
        for _ in 0..2 {
            let to = heavy[random.below(heavy.len())][random.below(2)];
            heavy.push([node, to]);
        }
    }
    let side = 68;
    let right = (0..side * side).filter(|node| node % side + 1 < side).map(|node| [node, node + 1]);
    let grid = right.chain((0..side * (side - 1)).map(|node| [node, node + side])).collect();
    let chain = (1..nodes).map(|node| [node - 1, node]).collect();
    let pieces = (0..nodes).filter(|node| node % 50 != 0).map(|node| [node - 1, node]).collect();
    vec![
        ("flat", CaseGraph { nodes, edges: flat }),
        ("heavy", CaseGraph { nodes, edges: heavy }),
        ("grid", CaseGraph { nodes: side * side, edges: grid }),
        ("chain", CaseGraph { nodes, edges: chain }),
        ("pieces", CaseGraph { nodes, edges: pieces }),
    ]
}

fn check<const WORDS: usize>(name: &str, case: &CaseGraph, directed: bool, receivers: &[u32], far: Option<u16>) {
    let edges = case.edges.iter().map(|edge| edge.map(|node| node as u32));
    let graph = ReorderedGraph::new(Graph::new(case.nodes, edges, directed));
    let components = (!directed).then(|| graph.graph.components().0);
    let far = far.map(|from| Far { from, components: components.as_deref() });
    let starts: Vec<[u32; 1]> = receivers.iter().map(|receiver| [*receiver]).collect();
    let mut search = DistanceSearch::<WORDS>::default();
    // The working memory of a search may hold what another left.
    search.run(&graph, &starts[..1], None).expect("distances");
    let planes = search.run(&graph, &starts, far).expect("distances");
    let mut wide = vec![[0; RECEIVERS_PER_BLOCK]; case.nodes];
    let mut bytes = vec![0; case.nodes];
    for (place, receiver) in receivers.iter().enumerate() {
        let expected = queue_search(case.nodes, &case.edges, directed, *receiver as usize);
        let expected = expected.into_iter().map(|distance| match (distance, far) {
            (None, _) => u16::MAX,
            (Some(distance), Some(far)) => (distance as u16).min(far.from),
            (Some(distance), None) => distance as u16,
        });
        let expected: Vec<u16> = expected.collect();
        planes.write_wide(place / RECEIVERS_PER_BLOCK, &graph, u16::MAX, &mut wide);
        let found: Vec<u16> = wide.iter().map(|lanes| lanes[place % RECEIVERS_PER_BLOCK]).collect();
        assert!(found == expected, "{name}, {WORDS} words, directed {directed}, receiver {receiver}");
        for distance in 0..=planes.longest {
            let count = expected.iter().filter(|found| **found == distance).count();
            assert_eq!(planes.count(place, distance) as usize, count, "{name}, distance {distance}");
        }
        if planes.longest < 255 {
            planes.write_bytes(place / RECEIVERS_PER_BLOCK, &graph, 255, &mut bytes);
            let byte = |word: &u64| (word >> (8 * (place % RECEIVERS_PER_BLOCK))) as u8;
            assert!(bytes.iter().map(byte).eq(expected.iter().map(|distance| (*distance).min(255) as u8)), "{name}");
        }
    }
}

#[test]
fn searches_of_64_and_256_find_what_a_queue_finds() {
    let mut random = Stream::named(1, "receivers", 0);
    for (name, graph) in large_graphs() {
        for directed in [false, true] {
            let receivers: Vec<u32> = (0..70).map(|_| random.below(graph.nodes) as u32).collect();
            check::<1>(name, &graph, directed, &receivers[..9], None);
            check::<2>(name, &graph, directed, &receivers, None);
            check::<4>(name, &graph, directed, &receivers, None);
            check::<4>(name, &graph, directed, &receivers, Some(3));
            check::<1>(name, &graph, directed, &receivers[..9], Some(1));
        }
    }
}

/// A data set of one graph, or several, whose nodes all have targets.
fn dataset(case: &CaseGraph, graphs: usize) -> Dataset {
    let folder = tempfile::tempdir().expect("folder");
    let (mut nodes, mut edges) = ("graph_id,node_id,x,y\n".to_owned(), "graph_id,source,target\n".to_owned());
    for graph in 0..graphs {
        // The first graph is the case, the others are its beginning.
        let size = if graph == 0 { case.nodes } else { (case.nodes / 7).max(1) };
        (0..size).for_each(|node| nodes += &format!("{graph},{node},{}.5,{}\n", node % 7, node % 7 / 3));
        for [from, to] in case.edges.iter().filter(|edge| edge.iter().all(|node| *node < size)) {
            edges += &format!("{graph},{from},{to}\n");
        }
    }
    std::fs::write(folder.path().join("nodes.csv"), nodes).expect("nodes");
    std::fs::write(folder.path().join("edges.csv"), edges).expect("edges");
    let options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
    Dataset::open_with(folder.path(), &options).expect("data")
}

/// Numbers of small integers, so that sums in any order are exact.
fn whole_numbers(random: &mut Stream, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.below(17) as f32 - 8.0).collect()
}

struct Swept {
    sums: Vec<f64>,
    gradient: Vec<f32>,
}

/// Sums over shells by receiver, slot and lane, and the gradients of source values, from the shells.
fn swept(shells: &Shells, width: usize, values: &[f32], shell_gradient: &[f32]) -> Swept {
    let slots = shells.slots;
    let lane_blocks = values.len() / (shells.source_count * width);
    let per_lane_block = shells.receiver_blocks().len() * slots * RECEIVERS_PER_BLOCK * width;
    let mut means = vec![0.0; lane_blocks * per_lane_block];
    shells.means(values, width, &mut means);
    let mut sums = vec![0.0; shells.receivers * slots * width * lane_blocks];
    let mut own_gradient = vec![0.0; means.len()];
    for (place, block) in shells.receiver_blocks().iter().enumerate() {
        for (lane, receiver) in block.members().enumerate() {
            for slot in 0..slots {
                for lane_block in 0..lane_blocks {
                    for w in 0..width {
                        let at = lane_block * per_lane_block
                            + ((place * slots + slot) * RECEIVERS_PER_BLOCK + lane) * width
                            + w;
                        let own = ((receiver * slots + slot) * lane_blocks + lane_block) * width + w;
                        let share = shells.shares[(place * slots + slot) * RECEIVERS_PER_BLOCK + lane];
                        sums[own] = if share == 0.0 { 0.0 } else { f64::from(means[at]) / f64::from(share) };
                        own_gradient[at] = shell_gradient[own];
                    }
                }
            }
        }
    }
    let mut gradient = vec![0.0; values.len()];
    shells.gather(&mut own_gradient, width, &mut gradient);
    Swept { sums, gradient }
}

#[test]
fn every_way_of_storing_distances_gives_the_sums_of_the_definition() {
    let mut random = Stream::named(3, "ways", 0);
    let small = CaseGraph { nodes: 40, edges: (0..60).map(|_| [random.below(40), random.below(40)]).collect() };
    let chain = CaseGraph { nodes: 300, edges: (1..300).map(|node| [node - 1, node]).collect() };
    let star = CaseGraph { nodes: 90, edges: (1..90).map(|node| [node, 0]).collect() };
    let folder = tempfile::tempdir().expect("folder");
    for (case, graphs) in [(small.clone(), 1), (small, 3), (chain, 1), (star, 2)] {
        let data = dataset(&case, graphs);
        for width in [1, 2, 4, 8, 16] {
            let shell_counts =
                ShellCounts::new(&data, &Lens::default(), ShellWeighting::Mean, 0).expect("shell counts");
            let receivers: Vec<usize> = (0..data.len()).filter(|receiver| receiver % 3 != 1).collect();
            let (slots, blocks) = (shell_counts.slots, 1 + width % 3);
            let values = whole_numbers(&mut random, data.node_count() * width * blocks);
            let shell_gradient = whole_numbers(&mut random, receivers.len() * slots * width * blocks);
            let expected = by_definition(&data, &receivers, slots, width, &values, &shell_gradient);
            let mut ways = vec![
                Shells::stored(&shell_counts, &receivers, &DistanceStorage::Bytes),
                Shells::stored(&shell_counts, &receivers, &DistanceStorage::Recomputed),
                Shells::stored(&shell_counts, &receivers, &DistanceStorage::File(DistanceCache::new(folder.path()))),
                // The file is there now.
                Shells::stored(&shell_counts, &receivers, &DistanceStorage::File(DistanceCache::new(folder.path()))),
                Shells::listed(&shell_counts, &receivers),
                Shells::new(&shell_counts, &receivers, None, None),
                Shells::new(&shell_counts, &receivers, Some(Sample { size: 1000, seed: 1, draw: 0 }), None),
            ];
            if slots <= 16 {
                ways.push(Shells::stored(&shell_counts, &receivers, &DistanceStorage::HalfBytes));
            }
            let all: Vec<usize> = (0..data.len()).collect();
            for whole in [DistanceStorage::Bytes, DistanceStorage::Recomputed] {
                ways.push(Shells::stored(&shell_counts, &all, &whole).select(&receivers));
            }
            ways.push(Shells::listed(&shell_counts, &all).select(&receivers));
            for (way, shells) in ways.iter().enumerate() {
                let found = swept(shells, width, &values, &shell_gradient);
                for (found, expected) in found.sums.iter().zip(&expected.sums) {
                    assert!((found - expected).abs() < 1e-3, "way {way}, width {width}: {found} {expected}");
                }
                assert!(found.gradient == expected.gradient, "way {way}, width {width}");
            }
        }
    }
    assert!(std::fs::read_dir(folder.path()).expect("folder").count() > 0);
}

fn by_definition(
    data: &Dataset,
    receivers: &[usize],
    slots: usize,
    width: usize,
    values: &[f32],
    shell_gradient: &[f32],
) -> Swept {
    let blocks = values.len() / (data.node_count() * width);
    let mut found = Swept { sums: vec![0.0; shell_gradient.len()], gradient: vec![0.0; values.len()] };
    for (place, receiver) in receivers.iter().enumerate() {
        let item = data.items()[*receiver] as usize;
        let graph = data.graph_of(item);
        let nodes = data.nodes_of(graph);
        let own = data.graph(graph);
        let ends = |node: usize| own.successors(node).iter().map(move |other| [node, *other as usize]);
        let edges: Vec<[usize; 2]> = (0..nodes.len()).flat_map(ends).collect();
        for (source, distance) in queue_search(nodes.len(), &edges, false, item - nodes.start).into_iter().enumerate() {
            let slot = distance.unwrap_or(slots - 1);
            for block in 0..blocks {
                for w in 0..width {
                    let own = ((place * slots + slot) * blocks + block) * width + w;
                    let at = (block * data.node_count() + nodes.start + source) * width + w;
                    found.sums[own] += f64::from(values[at]);
                    found.gradient[at] += shell_gradient[own];
                }
            }
        }
    }
    found
}

/// The mean over a sample, and the gradients of source values through it, are right on average: over many draws they lie within
/// five standard errors of the exact ones, and single draws differ from them.
#[test]
fn samples_are_right_on_average() {
    let mut random = Stream::named(9, "sample", 0);
    let case = CaseGraph { nodes: 120, edges: (0..300).map(|_| [random.below(120), random.below(120)]).collect() };
    let data = dataset(&case, 1);
    for weighting in [ShellWeighting::Mean, ShellWeighting::Sum] {
        let shell_counts = ShellCounts::new(&data, &Lens::default(), weighting, 0).expect("shell counts");
        let receivers: Vec<usize> = (0..10).collect();
        let values: Vec<f32> = (0..data.node_count()).map(|_| random.normal() as f32).collect();
        let exact = Shells::stored(&shell_counts, &receivers, &DistanceStorage::Bytes);
        let weights: Vec<f32> = (0..receivers.len() * exact.slots).map(|_| random.normal() as f32).collect();
        let (means, gradient) = means_and_gradients(&exact, &values, &weights);
        let draws = 4000;
        let mut sampled = Shells::new(&shell_counts, &receivers, Some(Sample { size: 4, seed: 7, draw: 0 }), None);
        let (mut sampled_means, mut sampled_gradients) = (Moments::new(means.len()), Moments::new(gradient.len()));
        for draw in 0..draws {
            sampled.redraw(draw);
            let (means, gradient) = means_and_gradients(&sampled, &values, &weights);
            sampled_means.add(&means);
            sampled_gradients.add(&gradient);
        }
        assert!(sampled_means.check(&means) > 20, "single draws differ from the mean of a shell");
        assert!(sampled_gradients.check(&gradient) > 60, "single draws differ from the gradient of a shell");
    }
}

/// Means over shells by receiver and slot, and the gradient of every source value where means have these weights.
fn means_and_gradients(shells: &Shells, values: &[f32], weights: &[f32]) -> (Vec<f64>, Vec<f64>) {
    let slots = shells.slots;
    let mut means = vec![0.0; shells.receiver_blocks().len() * slots * RECEIVERS_PER_BLOCK];
    shells.means(values, 1, &mut means);
    let mut by_receiver = vec![0.0; shells.receivers * slots];
    let mut shell_gradient = vec![0.0; means.len()];
    for (place, block) in shells.receiver_blocks().iter().enumerate() {
        for (lane, receiver) in block.members().enumerate() {
            for slot in 0..slots {
                let at = (place * slots + slot) * RECEIVERS_PER_BLOCK + lane;
                by_receiver[receiver * slots + slot] = f64::from(means[at]);
                shell_gradient[at] = weights[receiver * slots + slot] * shells.shares[at];
            }
        }
    }
    let mut gradient = vec![0.0; values.len()];
    shells.gather(&mut shell_gradient, 1, &mut gradient);
    (by_receiver, gradient.into_iter().map(f64::from).collect())
}

struct Moments {
    count: f64,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    fn new(len: usize) -> Moments {
        Moments { count: 0.0, sums: vec![0.0; len], squares: vec![0.0; len] }
    }

    fn add(&mut self, values: &[f64]) {
        self.count += 1.0;
        self.sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        self.squares.iter_mut().zip(values).for_each(|(sum, value)| *sum += value * value);
    }

    /// Compares the averages with what is expected; how many of them vary at all.
    fn check(&self, expected: &[f64]) -> usize {
        let mut vary = 0;
        for ((sum, squares), expected) in self.sums.iter().zip(&self.squares).zip(expected) {
            let mean = sum / self.count;
            let error = ((squares / self.count - mean * mean).max(0.0) / self.count).sqrt();
            vary += usize::from(error > 1e-6);
            assert!((mean - expected).abs() <= 5.0 * error + 1e-5, "{mean} instead of {expected}, error {error}");
        }
        vary
    }
}

#[test]
fn a_sample_is_the_same_for_the_same_seed_and_draw() {
    let case = large_graphs().swap_remove(1).1;
    let data = dataset(&case, 1);
    let shell_counts = ShellCounts::new(&data, &Lens::default(), ShellWeighting::Mean, 0).expect("shell counts");
    let receivers: Vec<usize> = (0..50).collect();
    let values: Vec<f32> = (0..data.node_count()).map(|node| (node % 101) as f32).collect();
    let means = |sample: Sample, receivers: &[usize]| {
        let shells = Shells::new(&shell_counts, receivers, Some(sample), None);
        means_and_gradients(&shells, &values, &vec![0.0; receivers.len() * shells.slots]).0
    };
    let sample = Sample { size: 8, seed: 4, draw: 2 };
    assert_eq!(means(sample, &receivers), means(sample, &receivers));
    assert_ne!(means(sample, &receivers), means(Sample { draw: 3, ..sample }, &receivers));
    assert_ne!(means(sample, &receivers), means(Sample { seed: 5, ..sample }, &receivers));
    // A receiver's sample does not depend on who else is there.
    let slots = shell_counts.slots;
    assert_eq!(means(sample, &receivers[7..8]), means(sample, &receivers)[7 * slots..8 * slots]);
}

/// A small graph whose distances are kept in files, with the sums that are expected whatever happens to them.
struct Cached {
    shell_counts: Arc<ShellCounts>,
    receivers: Vec<usize>,
    expected: (Vec<f64>, Vec<f64>),
    folder: tempfile::TempDir,
}

impl Cached {
    fn new() -> Cached {
        let data = dataset(&large_graphs().swap_remove(4).1, 1);
        let shell_counts = ShellCounts::new(&data, &Lens::default(), ShellWeighting::Mean, 0).expect("shell counts");
        let receivers: Vec<usize> = (0..30).collect();
        let expected = sums_of(&Shells::stored(&shell_counts, &receivers, &DistanceStorage::Bytes));
        Cached { shell_counts, receivers, expected, folder: tempfile::tempdir().expect("folder") }
    }

    fn shells(&self, cache: &DistanceCache) -> Shells {
        Shells::stored(&self.shell_counts, &self.receivers, &DistanceStorage::File(cache.clone()))
    }

    /// Sums with a new cache in this folder are right; returns the problem that it reports.
    fn problem_in(&self, folder: &Path) -> Option<String> {
        let cache = DistanceCache::new(folder);
        assert_eq!(sums_of(&self.shells(&cache)), self.expected);
        cache.problem().map(str::to_owned)
    }

    /// The path and the bytes of the cache file.
    fn file(&self) -> (PathBuf, Vec<u8>) {
        let mut files = std::fs::read_dir(self.folder.path()).expect("folder");
        let path = files.next().expect("a file").expect("a file").path();
        assert!(files.next().is_none(), "there is one file, and no temporary one is left");
        let bytes = std::fs::read(&path).expect("file");
        (path, bytes)
    }
}

/// Sums over shells and the gradient of their sum, for sources that all have different values.
fn sums_of(shells: &Shells) -> (Vec<f64>, Vec<f64>) {
    let values: Vec<f32> = (0..shells.source_count).map(|node| (node % 101) as f32).collect();
    means_and_gradients(shells, &values, &vec![1.0; shells.receivers * shells.slots])
}

#[test]
fn a_cache_file_is_used_as_it_was_written() {
    let cached = Cached::new();
    assert_eq!(cached.problem_in(cached.folder.path()), None);
    let (path, whole) = cached.file();
    let written = std::fs::metadata(&path).and_then(|file| file.modified()).expect("time");
    assert_eq!(cached.problem_in(cached.folder.path()), None);
    assert_eq!(std::fs::metadata(&path).and_then(|file| file.modified()).expect("time"), written);
    assert!(cached.file().1 == whole);
}

/// Every byte of the header and of the checksums at the end, and every 1009th of the distances between them.
#[test]
fn a_cache_file_with_a_changed_byte_is_reported_and_written_anew() {
    let cached = Cached::new();
    cached.problem_in(cached.folder.path());
    let (path, whole) = cached.file();
    let (header, checksums) = (40, whole.len() - 8 * cached.receivers.len().div_ceil(RECEIVERS_PER_BLOCK));
    let positions = (0..header).chain((header..checksums).step_by(1009)).chain(checksums..whole.len());
    for position in positions {
        let mut damaged = whole.clone();
        damaged[position] ^= 1 << (position % 8);
        std::fs::write(&path, damaged).expect("file");
        let problem = cached.problem_in(cached.folder.path()).expect("a problem");
        assert!(problem.contains(".rows was not used") && problem.contains("damaged"), "{position}: {problem}");
        assert!(cached.file().1 == whole, "{position}");
    }
}

#[test]
fn a_cache_file_that_is_cut_short_of_another_version_or_no_file_is_replaced() {
    let cached = Cached::new();
    cached.problem_in(cached.folder.path());
    let (path, whole) = cached.file();
    let mut older = whole.clone();
    older[7] = b'1';
    let longer = [&whole[..], b"more"].concat();
    for damaged in [&whole[..whole.len() - 1], &whole[..10], b"", b"something else", &longer, &older] {
        std::fs::write(&path, damaged).expect("file");
        assert!(cached.problem_in(cached.folder.path()).is_some_and(|problem| problem.contains("written again")));
        assert!(cached.file().1 == whole);
    }
    std::fs::remove_file(&path).expect("file");
    std::fs::create_dir(&path).expect("folder");
    let problem = cached.problem_in(cached.folder.path()).expect("a problem");
    assert!(problem.contains("cannot be kept in") && problem.contains("searched again for every pass"), "{problem}");
}

/// What is checked when a file is opened is checked again whenever it is read.
#[test]
fn a_cache_file_that_changes_while_it_is_used_is_reported() {
    let cached = Cached::new();
    for change in 0..2 {
        // Writes the file, the second time because it is damaged.
        cached.problem_in(cached.folder.path());
        let cache = DistanceCache::new(cached.folder.path());
        let shells = cached.shells(&cache);
        let mut file = std::fs::OpenOptions::new().write(true).open(cached.file().0).expect("file");
        match change {
            0 => file.seek(SeekFrom::Start(4321)).and_then(|_| file.write_all(b"0123")).expect("written"),
            _ => file.set_len(4321).expect("cut short"),
        }
        assert_eq!(cache.problem(), None);
        assert_eq!(sums_of(&shells), cached.expected);
        let problem = cache.problem().expect("a problem");
        assert!(problem.contains("was not used") && problem.contains("searched again"), "{problem}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_reported() {
    let cached = Cached::new();
    let no_folder = cached.folder.path().join("a file");
    std::fs::write(&no_folder, b"").expect("file");
    let mut folders = vec![no_folder.clone(), no_folder.join("folder")];
    if cfg!(target_os = "linux") {
        folders.push(PathBuf::from("/proc/gnan"));
    }
    let read_only = cached.folder.path().join("read-only");
    std::fs::create_dir(&read_only).expect("folder");
    let mut permissions = std::fs::metadata(&read_only).expect("folder").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&read_only, permissions).expect("permissions");
    // Some users may write everywhere.
    if std::fs::write(read_only.join("probe"), b"").is_err() {
        folders.push(read_only);
    }
    for folder in folders {
        let problem = cached.problem_in(&folder).expect("a problem");
        assert!(problem.contains(&format!("cannot be kept in {} (", folder.display())), "{problem}");
    }
}

/// Training on samples is the same whatever the number of threads, with and without batches; it differs from exact
/// training and comes near to it; and what comes out says so.
#[test]
fn training_on_samples_repeats_and_is_recorded() {
    let case = large_graphs().swap_remove(1).1;
    let case = CaseGraph { nodes: 400, edges: case.edges.into_iter().filter(|e| e[0] < 400 && e[1] < 400).collect() };
    let data = dataset(&case, 1);
    let train = |sample: Option<u32>, batch: Option<usize>, threads: usize| {
        let mut training = Spec::default().hidden(16).epochs(40).resample(7).rho(RhoChoice::Shared);
        (training.statistics.shell_sample, training.fit.batch) = (sample, batch);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| training.fit(&data).expect("a model"))
    };
    let exact = train(None, None, 2);
    for batch in [None, Some(64)] {
        let one = train(Some(8), batch, 1);
        assert!(one.to_bytes().expect("bytes") == train(Some(8), batch, 3).to_bytes().expect("bytes"), "{batch:?}");
        let record = &one.definition().record;
        assert_eq!(record.resolved.statistics.shell_sample, Some(8));
        assert!(record.sample_error.is_some_and(|error| error > 0.0 && error < 1.0), "{:?}", record.sample_error);
    }
    assert_eq!(exact.definition().record.resolved.statistics.shell_sample, None);
    let sampled = train(Some(8), None, 2);
    let [exact, sampled] = [exact, sampled].map(|model| model.outputs_on(&data).expect("outputs").values);
    let size = exact.iter().map(|y| y.abs()).sum::<f32>();
    let difference = exact.iter().zip(&sampled).map(|(a, b)| (a - b).abs()).sum::<f32>();
    assert!(difference > 0.0 && difference < 0.5 * size, "{difference} of {size}");
    // A sample as large as the largest shell is no sample.
    let all = train(Some(4096), None, 2).outputs_on(&data).expect("outputs").values;
    let difference = exact.iter().zip(&all).map(|(a, b)| (a - b).abs()).sum::<f32>();
    assert!(difference <= 1e-3 * size, "{difference} of {size}");
}

#[test]
fn samples_that_make_no_sense_are_refused() {
    let molecules = Dataset::open("solubility").expect("data");
    let refused = |training: Spec| training.fit(&molecules).expect_err("refused").to_string();
    assert!(refused(Spec::default().shell_sample(16)).contains("nothing to sample"));
    assert!(refused(Spec::default().shell_sample(0)).contains("shell-sample cannot be 0"));
    assert!(refused(Spec::default().resample(0)).contains("resample cannot be 0"));
}
