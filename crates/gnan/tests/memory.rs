//! Limits of memory: what does not fit is refused before it is made, in plain words, and nonsense is no amount.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;
use gnan::Run;
use gnan::explain::{By, Explainer, MOST_PARTS};
use gnan::memory::MemoryLimit;
use gnan::predict::Prediction;
use gnan::run::DistanceCache;
use gnan::{Dataset, DatasetOptions, ErrorKind, Result, memory};

/// Limits count what the whole process holds: tests that set one take turns.
static TURN: Mutex<()> = Mutex::new(());

struct Turn(#[allow(dead_code)] MutexGuard<'static, ()>);

impl Turn {
    fn take() -> Turn {
        Turn(TURN.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A run that may use so many bytes above what is in use; `None` where the system does not report what that is.
    fn leave(&self, bytes: u64) -> Option<Run> {
        match memory::anonymous() {
            Some(used) => Some(Run::default().with_memory(MemoryLimit::of(used + bytes))),
            None => {
                eprintln!("skipped: this system does not report how much memory is in use");
                None
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_numbers() {
    let turn = Turn::take();
    let Some(Run { memory: limit, .. }) = turn.leave(50_000_000) else { return };
    assert!(limit.demand(20_000_000, "the rows").is_ok());
    let before = memory::anonymous().unwrap();
    let error = limit.demand_or(4_000_000_000, "the rows", &["give fewer nodes a target".into()]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    let text = error.to_string();
    assert!(text.contains("the rows: 4.0 GB are needed") && text.contains("are in use"), "{text}");
    assert!(
        text.contains("the option memory to at least 4.") && text.contains("or give fewer nodes a target"),
        "{text}"
    );
    assert!(memory::anonymous().unwrap() < before + 20_000_000, "nothing was made");
    // What others free meanwhile is left too.
    assert!(limit.left().unwrap() <= 200_000_000);
    assert!(limit.demand(u64::MAX, "everything").is_err());
}

#[test]
fn without_a_limit_three_quarters_of_what_is_free_are() {
    let _turn = Turn::take();
    let known = memory::anonymous().is_some();
    for limit in [MemoryLimit::default(), MemoryLimit::usual()] {
        assert_eq!(limit.bytes().is_some_and(|bytes| bytes > memory::anonymous().unwrap_or(0)), known);
    }
}

#[test]
fn a_watch_sees_what_was_given_back() {
    if memory::anonymous().is_none() {
        return eprintln!("skipped: this system does not say how much memory is in use");
    }
    let _turn = Turn::take();
    let watch = memory::Watch::start();
    let large = vec![1u8; 200_000_000];
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert_eq!(large.iter().map(|byte| u64::from(*byte)).sum::<u64>(), 200_000_000);
    drop(large);
    assert!(watch.peak_anonymous().unwrap() >= 200_000_000);
}

#[test]
fn nonsense_is_no_amount() {
    let hostile = [
        "",
        " ",
        "5",
        "MB",
        "-5MB",
        "+5MB",
        "1e400GB",
        "NaNGB",
        "infGB",
        "1..2GB",
        ".GB",
        "5 XB",
        "5MBs",
        "5,5GB",
        "0B",
        "0.1B",
        "99999999999999999999TB",
        "９GB",
        "5\u{0}GB",
        "5GB\u{1b}[2J",
        "0x10MB",
        "İGB",
    ];
    for text in hostile {
        let error = memory::parse_size(text).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("is not an amount of memory"), "{error}");
        assert!(!error.to_string().contains('\u{1b}'), "{text:?}");
    }
}

fn table(rows: usize) -> String {
    let mut text = "node_id,x,y\n".to_owned();
    (0..rows).for_each(|row| writeln!(text, "n{row},{},{}", row % 97, row % 2).unwrap());
    text
}

#[test]
fn a_file_that_does_not_fit_is_not_read() {
    let turn = Turn::take();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("nodes.csv"), table(400_000)).unwrap();
    let open = |run| Dataset::open_with(folder.path(), &DatasetOptions { run, ..DatasetOptions::default() });
    // For the text itself, and for its cells.
    for (bytes, words) in [(3_000_000, "to read this file"), (9_000_000, "the cells of this table")] {
        if let Some(run) = turn.leave(bytes) {
            let error = open(run).expect_err("too large").to_string();
            assert!(error.contains("nodes.csv") && error.contains(words), "{error}");
        }
    }
}

#[test]
fn a_small_file_that_expands_to_a_large_one_is_not_expanded() {
    let folder = tempfile::tempdir().unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"node_id\n").unwrap();
    (0..60).for_each(|_| encoder.write_all(&[b'\n'; 1 << 20]).unwrap());
    std::fs::write(folder.path().join("nodes.csv.gz"), encoder.finish().unwrap()).unwrap();
    let turn = Turn::take();
    let Some(run) = turn.leave(10_000_000) else { return };
    let options = DatasetOptions { run, ..DatasetOptions::default() };
    let error = Dataset::open_with(folder.path(), &options).expect_err("a bomb");
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("to expand this file: more is needed than there is"), "{error}");
}

#[test]
fn predictions_as_they_come_are_those_of_all_at_once() {
    let turn = Turn::take();
    let folder = tempfile::tempdir().unwrap();
    // A chain of 3,000 nodes and a shorter one: chunks differ in their longest distance.
    let (mut nodes, mut edges) = ("node_id,x,word,y\n".to_owned(), "source,target\n".to_owned());
    for node in 0..3000usize {
        writeln!(nodes, "n{node},{},{},{}", (node * 37) % 101, ["a", "b", "c"][node % 3], (node / 5) % 2).unwrap();
        if node > 0 && node != 300 {
            writeln!(edges, "n{},n{node}", if node % 4 == 0 { node / 2 } else { node - 1 }).unwrap();
        }
    }
    std::fs::write(folder.path().join("nodes.csv"), nodes).unwrap();
    std::fs::write(folder.path().join("edges.csv"), edges).unwrap();
    for rho in [gnan::spec::RhoChoice::Shared, gnan::spec::RhoChoice::PerFeature] {
        let training = gnan::Spec::default().epochs(2).rho(rho);
        let mut options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
        options.problem = Some(gnan::dataset::Problem::Classification);
        let data = Dataset::open_with(folder.path(), &options).unwrap();
        let some: Vec<usize> = (0..3000).step_by(40).collect();
        let model = training.fit(&data.subset(&some)).unwrap();
        let whole = model.predict(&data).unwrap();
        let mut chunks = Vec::new();
        // Room for few receivers at a time.
        let Some(run) = turn.leave(6_000_000) else { return };
        let data = data.with_run(&run);
        let mut outputs = Vec::new();
        let novelty = model
            .outputs_each(&data, |first, values| -> Result<()> {
                chunks.push(first);
                outputs.extend_from_slice(values);
                Ok(())
            })
            .unwrap();
        let mut items: Vec<Prediction> = Vec::new();
        let remarks = model
            .predict_each(&data, |prediction| -> Result<()> {
                items.push(prediction);
                Ok(())
            })
            .unwrap();
        assert!(chunks.len() > 2, "{chunks:?}");
        assert_eq!((novelty, &remarks.novelty), (whole.novelty.clone(), &whole.novelty));
        assert_eq!(items, whole.items);
        let expected: Vec<u32> = whole.items.iter().flat_map(|item| &item.outputs).map(|y| y.to_bits()).collect();
        assert_eq!(outputs.iter().map(|y| y.to_bits()).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn an_explanation_is_the_same_whatever_the_memory() {
    let turn = Turn::take();
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..10).map(|k| format!("x{k}")).collect();
    let (mut nodes, mut edges) = (format!("node_id,{},y\n", names.join(",")), "source,target\n".to_owned());
    for node in 0..6000usize {
        let values: Vec<String> = (0..10).map(|k| ((node * (2 * k + 3) * 7919) % 10007).to_string()).collect();
        writeln!(nodes, "n{node},{},{}", values.join(","), ["a", "b", "c"][node % 3]).unwrap();
        if node > 0 {
            writeln!(edges, "n{node},n{}", node * 7 / 9).unwrap();
        }
    }
    std::fs::write(folder.path().join("nodes.csv"), nodes).unwrap();
    std::fs::write(folder.path().join("edges.csv"), edges).unwrap();
    let options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
    let data = Dataset::open_with(folder.path(), &options).unwrap();
    let training = gnan::Spec::default().epochs(2).rho(gnan::spec::RhoChoice::Shared);
    let model = training.fit(&data.subset(&(0..6000).step_by(100).collect::<Vec<_>>())).unwrap();
    let outputs = model.outputs_on(&data.subset(&[17])).unwrap().values;
    let explain = |data: &Dataset| Explainer::new(&model, data).unwrap().explain_predicted(17, &outputs).unwrap();
    let why = explain(&data);
    assert!(why.adds_up(), "{}", why.worst_miss());
    // Of 60,000 parts the largest are listed, the others summed.
    let unlisted = why.unlisted.as_ref().expect("too many to be listed");
    assert_eq!((why.by_node_and_feature.len(), unlisted.count), (MOST_PARTS, 60_000 - MOST_PARTS));
    let strength = |values: &[f64]| values.iter().map(|value| value.abs()).sum::<f64>();
    let least = why.by_node_and_feature.iter().map(|part| strength(&part.values)).fold(f64::INFINITY, f64::min);
    assert!(strength(&unlisted.sizes) / unlisted.count as f64 <= least);
    for output in 0..3 {
        let features: f64 = why.by_feature(output).iter().sum();
        let [by_node, pairs] = [By::Node, By::NodeAndFeature].map(|by| why.ledger(output, by).total);
        let whole = why.base[output] + why.structure(output) + features;
        assert!((by_node - whole).abs() < 1e-9 && (pairs - whole).abs() < 1e-9, "{by_node} {pairs} {whole}");
        let top = why.ledger(output, By::NodeAndFeature).top(3);
        assert_eq!(top.rest.map(|(others, _)| others), Some(59_997));
        let sum = top.base
            + top.structure
            + top.average_item.unwrap_or(0.0)
            + top.terms.iter().map(|term| term.amount).sum::<f64>();
        assert!((sum + top.rest.unwrap().1 - whole).abs() < 1e-9);
    }
    // With little memory the terms of sources are not kept but found again, and not a digit changes.
    if let Some(run) = turn.leave(8_000_000) {
        assert_eq!(format!("{:?}", explain(&data.with_run(&run))), format!("{why:?}"));
    }
}

/// Whatever is wrong with a cache file of distances, the model is that of a run without a cache, and the cache says so.
#[test]
fn a_damaged_cache_of_distances_changes_no_model() {
    let turn = Turn::take();
    let folder = tempfile::tempdir().unwrap();
    let (mut nodes, mut edges) = ("node_id,x,y\n".to_owned(), "source,target\n".to_owned());
    for node in 0..2500usize {
        writeln!(nodes, "n{node},{},{}", (node * 37) % 101, (node / 5) % 2).unwrap();
        if node > 0 {
            writeln!(edges, "n{},n{node}", if node % 4 == 0 { node / 2 } else { node - 1 }).unwrap();
        }
    }
    std::fs::write(folder.path().join("nodes.csv"), nodes).unwrap();
    std::fs::write(folder.path().join("edges.csv"), edges).unwrap();
    let mut options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
    options.problem = Some(gnan::dataset::Problem::Classification);
    let data = Dataset::open_with(folder.path(), &options).unwrap();
    let train = |cache: Option<&DistanceCache>| {
        let rho = gnan::spec::RhoChoice::Shared;
        let training = gnan::Spec::default().epochs(2).hidden(16).rho(rho);
        // 2,250 receivers and 2,500 sources do not fit in 0.6 of this; searches on many threads would need more.
        let run = turn.leave(8_000_000).unwrap_or_default().with_threads(2).unwrap();
        let run = cache.map_or(run.clone(), |cache| run.with_cache(cache.clone()));
        training.fit(&data.with_run(&run)).unwrap().to_bytes().unwrap()
    };
    if memory::anonymous().is_none() {
        return eprintln!("skipped: this system does not say how much memory is in use");
    }
    let expected = train(None);
    let kept = folder.path().join("cache");
    let cache = DistanceCache::new(&kept);
    assert!(train(Some(&cache)) == expected && cache.problem().is_none(), "{:?}", cache.problem());
    let file = std::fs::read_dir(&kept).unwrap().next().expect("distances are in a file").unwrap().path();
    let whole = std::fs::read(&file).unwrap();
    let flipped = [9, 20, 40, 1_234_567, whole.len() - 1].map(|position| {
        let mut damaged = whole.clone();
        damaged[position] ^= 4;
        damaged
    });
    for damaged in flipped.into_iter().chain([whole[..whole.len() / 2].to_vec(), vec![0; whole.len()]]) {
        std::fs::write(&file, damaged).unwrap();
        let cache = DistanceCache::new(&kept);
        assert!(train(Some(&cache)) == expected);
        assert!(cache.problem().is_some_and(|problem| problem.contains("was not used")), "{:?}", cache.problem());
        assert!(std::fs::read(&file).unwrap() == whole, "it is written again");
    }
    let cache = DistanceCache::new(&file);
    assert!(train(Some(&cache)) == expected);
    assert!(cache.problem().is_some_and(|problem| problem.contains("cannot be kept")), "{:?}", cache.problem());
}

/// Two models trained at once, each with its own limit, observer, threads and way to stop.
#[test]
fn runs_in_one_process_know_nothing_of_each_other() {
    let _turn = Turn::take();
    let folder = tempfile::tempdir().unwrap();
    let (mut nodes, mut edges) = ("node_id,x,y\n".to_owned(), "source,target\n".to_owned());
    for node in 0..1200usize {
        writeln!(nodes, "n{node},{},{}", (node * 37) % 101, (node / 5) % 2).unwrap();
        if node > 0 {
            writeln!(edges, "n{},n{node}", node / 2).unwrap();
        }
    }
    std::fs::write(folder.path().join("nodes.csv"), nodes).unwrap();
    std::fs::write(folder.path().join("edges.csv"), edges).unwrap();
    let mut options = DatasetOptions { targets: vec!["y".to_owned()], ..DatasetOptions::default() };
    options.problem = Some(gnan::dataset::Problem::Classification);
    let data = Dataset::open_with(folder.path(), &options).unwrap();
    let spec = gnan::Spec::default().hidden(16).layers(2).epochs(30).rho(gnan::spec::RhoChoice::Shared);
    let expected = spec.fit(&data).unwrap().to_bytes().unwrap();
    let observed = [0, 1, 2].map(|_| std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0)));
    let run_of = |number: usize| {
        let seen = std::sync::Arc::clone(&observed[number]);
        let observe =
            move |work: gnan::run::WorkDone| _ = seen.fetch_max(work.done, std::sync::atomic::Ordering::Relaxed);
        Run::default().with_threads(1 + number % 2).unwrap().observed_by(observe)
    };
    let cancelled = run_of(2);
    cancelled.cancel.cancel();
    let refused = run_of(1).with_memory(MemoryLimit::of(1));
    let [whole, too_little, stopped] = std::thread::scope(|scope| {
        let fits = [run_of(0), refused, cancelled].map(|run| {
            let (spec, data) = (&spec, &data);
            scope.spawn(move || spec.fit(&data.with_run(&run)))
        });
        fits.map(|fit| fit.join().expect("no panic"))
    });
    assert!(whole.unwrap().to_bytes().unwrap() == expected, "the model does not depend on its run");
    assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Cancelled);
    if memory::anonymous().is_some() {
        assert_eq!(too_little.unwrap_err().kind(), ErrorKind::Limit);
    }
    let seen = observed.map(|seen| seen.load(std::sync::atomic::Ordering::Relaxed));
    assert!(seen[0] >= 1000 && seen[2] == 0, "{seen:?}");
}
