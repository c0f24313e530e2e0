//! Protocols and searches: what is chosen depends on training and validation items alone, a stopped evaluation goes on
//! where it was, and nothing depends on the number of threads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use gnan::dataset::Split;
use gnan::evaluate::{
    Criterion, Division, Evaluation, EvaluationEvent, Journal, Protocol, Search, Space, Strategy, Tuning,
};
use gnan::files::{Column, SplitPart, Tables, Task, Values};
use gnan::internals::random::Stream;
use gnan::{Dataset, DatasetOptions, Metric, Spec};

const GRAPHS: usize = 60;

/// Paths of coloured nodes whose class is told, mostly, by how many are red. `test` shuffles the classes of the items of
/// the second half, which are the test part of the given split.
fn tables(shuffle_test: bool) -> Tables {
    let mut stream = Stream::named(5, "paths", 0);
    let mut tables = Tables { name: "paths".to_owned(), task: Some(Task::Graph), ..Tables::default() };
    tables.node_offsets.push(0);
    let (mut colours, mut classes) = (Vec::new(), Vec::new());
    for graph in 0..GRAPHS {
        let start = colours.len() as u32;
        let size = 4 + stream.below(4);
        let own: Vec<u32> = (0..size).map(|_| stream.below(3) as u32).collect();
        let red = own.iter().filter(|colour| **colour == 0).count();
        classes.push(u32::from(red > 1) ^ u32::from(stream.uniform() < 0.1));
        colours.extend(own);
        tables.edges.extend((1..size as u32).map(|node| [start + node - 1, start + node]));
        tables.node_offsets.push(colours.len());
        tables.graph_ids.push(graph.to_string());
    }
    let half = GRAPHS / 2;
    if shuffle_test {
        Stream::named(6, "shuffle", 0).shuffle(&mut classes[half..]);
    }
    let part = |graph: usize| match graph {
        _ if graph >= half => SplitPart::Test,
        _ if graph.is_multiple_of(3) => SplitPart::Valid,
        _ => SplitPart::Train,
    };
    tables.splits = vec![(0..GRAPHS).map(part).collect()];
    let levels = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let colours = Values::Categories { codes: colours, levels: levels(&["red", "green", "blue"]) };
    tables.node_columns = vec![Column::new("colour", colours)];
    tables.graph_columns =
        vec![Column::new("class", Values::Categories { codes: classes, levels: levels(&["no", "yes"]) })];
    tables.targets = vec!["class".to_owned()];
    tables
}

fn data(shuffle_test: bool) -> Dataset {
    Dataset::from_tables(tables(shuffle_test), &DatasetOptions::default()).unwrap()
}

fn search() -> Search {
    let base = Spec::default().epochs(60).hidden(16);
    let axes = ["layers=1,3", "weight-decay=0,0.03", "describe=none,degree/environment"];
    let space = axes.iter().try_fold(Space::default(), |space, axis| space.with(axis)).unwrap();
    Search::new(&base, &space, Strategy::Grid, 0).unwrap()
}

fn go_on(_: EvaluationEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn evaluate(data: &Dataset, division: Division, search: &Search) -> Evaluation {
    Evaluation::run(data, search, &Protocol::new(division, 0), &Journal::in_memory(), &go_on).unwrap()
}

#[test]
fn test_labels_do_not_change_what_is_chosen() {
    for criterion in [Criterion::Loss, Criterion::Metric(Metric::Accuracy)] {
        let search = Search { criterion: Some(criterion), ..search() };
        let [one, other] = [false, true].map(|shuffled| evaluate(&data(shuffled), Division::GivenSplits, &search));
        assert!(one.folds[0].chosen.is_some());
        assert_eq!(one.folds[0].chosen, other.folds[0].chosen);
        let losses = |found: &Evaluation| found.tried.iter().map(|trial| trial.valid_loss).collect::<Vec<_>>();
        assert_eq!(losses(&one), losses(&other));
        // The shuffle is not idle: the figures on the test part do change.
        assert_ne!(one.folds[0].metrics, other.folds[0].metrics);
    }
}

#[test]
fn a_metric_that_the_task_does_not_have_is_refused_in_place_of_another() {
    let search = Search { criterion: Some(Criterion::Metric(Metric::R2)), ..search() };
    let protocol = Protocol::new(Division::GivenSplits, 0);
    let error =
        Evaluation::run(&data(false), &search, &protocol, &Journal::in_memory(), &go_on).unwrap_err().to_string();
    assert!(error.contains("no r2") && error.contains("accuracy"), "{error}");
}

#[test]
fn a_file_that_is_no_journal_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gnan");
    std::fs::write(&path, b"\x10\0\0\0 not a journal").unwrap();
    let error = Journal::open(&path).err().expect("refused").to_string();
    assert!(error.contains("not a journal"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"\x10\0\0\0 not a journal");
}

#[test]
fn a_search_tries_everything_and_takes_the_best_on_validation() {
    let found = evaluate(&data(false), Division::Folds(3), &search());
    assert_eq!((found.folds.len(), found.tried.len()), (3, 3 * 8));
    for fold in &found.folds {
        let trials: Vec<_> = found.tried.iter().filter(|trial| trial.fold == fold.fold).collect();
        let best = trials.iter().map(|trial| trial.valid_loss).fold(f64::INFINITY, f64::min);
        let chosen: Vec<_> = trials.iter().filter(|trial| trial.chosen).collect();
        assert_eq!(chosen.len(), 1);
        assert_eq!(chosen[0].valid_loss, best);
        assert_eq!(fold.chosen.as_deref(), Some(chosen[0].candidate.as_str()));
    }
}

#[test]
fn tuning_on_the_first_split_serves_all_and_says_so() {
    let protocol = Protocol { tuning: Tuning::FirstSplit, ..Protocol::new(Division::Folds(3), 0) };
    let found = Evaluation::run(&data(false), &search(), &protocol, &Journal::in_memory(), &go_on).unwrap();
    assert_eq!(found.tried.len(), 8);
    assert!(found.folds.iter().all(|fold| fold.chosen == found.folds[0].chosen));
    assert!(found.notes.iter().any(|note| note.contains("first split")));
}

#[test]
fn a_stopped_evaluation_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    let data = data(false);
    let protocol = Protocol::new(Division::Folds(3), 0);
    let whole = evaluate(&data, Division::Folds(3), &search());
    let done = AtomicUsize::new(0);
    let stop_after_five = |event: EvaluationEvent<'_>| {
        if matches!(event, EvaluationEvent::Done(_)) {
            done.fetch_add(1, Ordering::SeqCst);
        }
        if done.load(Ordering::SeqCst) >= 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let stopped = Evaluation::run(&data, &search(), &protocol, &Journal::open(&path).unwrap(), &stop_after_five);
    assert!(stopped.unwrap_err().to_string().contains("interrupted"));
    let journal = Journal::open(&path).unwrap();
    assert!(!journal.is_empty());
    let remembered = AtomicUsize::new(0);
    let count = |event: EvaluationEvent<'_>| {
        if let EvaluationEvent::Planned { remembered: some, .. } = event {
            remembered.fetch_add(some, Ordering::SeqCst);
        }
        ControlFlow::Continue(())
    };
    let finished = Evaluation::run(&data, &search(), &protocol, &journal, &count).unwrap();
    assert!(remembered.load(Ordering::SeqCst) >= 1);
    assert_eq!(serde_json::to_string(&finished).unwrap(), serde_json::to_string(&whole).unwrap());
}

/// How many of the runs that an evaluation plans are in the journal; nothing is trained.
fn remembered(data: &Dataset, search: &Search, protocol: &Protocol, journal: &Journal) -> usize {
    let found = AtomicUsize::new(0);
    let stop = |event: EvaluationEvent<'_>| match event {
        EvaluationEvent::Planned { remembered, .. } => {
            found.store(remembered, Ordering::SeqCst);
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    };
    Evaluation::run(data, search, protocol, journal, &stop).expect_err("interrupted");
    found.into_inner()
}

/// One thing is changed at a time. What each option does to the journal is in `options.rs`.
#[test]
fn other_options_another_seed_and_other_data_are_other_runs() {
    let protocol = |seed: u64| Protocol::new(Division::Folds(3), seed);
    let (data, journal) = (data(false), Journal::in_memory());
    Evaluation::run(&data, &quick(), &protocol(0), &journal, &go_on).unwrap();
    assert_eq!(remembered(&data, &quick(), &protocol(0), &journal), 3);
    let longer = Search::of(Spec::default().epochs(4));
    assert_eq!(remembered(&data, &longer, &protocol(0), &journal), 0);
    assert_eq!(remembered(&data, &quick(), &protocol(1), &journal), 0);
    assert_eq!(remembered(&self::data(true), &quick(), &protocol(0), &journal), 0);
    // The seed also divides the data; on the same parts it makes another run by itself.
    let given = |seed: u64| Protocol::new(Division::GivenSplits, seed);
    Evaluation::run(&data, &quick(), &given(0), &journal, &go_on).unwrap();
    assert_eq!(remembered(&data, &quick(), &given(0), &journal), 1);
    assert_eq!(remembered(&data, &quick(), &given(1), &journal), 0);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let data = data(false);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| evaluate(&data, Division::Folds(3), &search()));
        serde_json::to_string(&found).unwrap()
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_budget_of_nothing_still_tries_one_candidate_everywhere() {
    let search = Search { budget: Some(std::time::Duration::ZERO), ..search() };
    let found = evaluate(&data(false), Division::Folds(3), &search);
    assert!(found.tried.len() >= 3 && found.tried.len() < 24, "{}", found.tried.len());
    assert_eq!(found.folds.len(), 3);
    assert!(found.notes.iter().any(|note| note.contains("time budget")));
}

#[test]
fn repeats_of_a_division_share_its_splits_or_make_their_own() {
    let data = data(false);
    let sizes = |protocol: Protocol| {
        let found = Evaluation::run(&data, &quick(), &protocol, &Journal::in_memory(), &go_on).unwrap();
        found.folds.iter().map(|fold| (fold.fold, fold.seed)).collect::<Vec<_>>()
    };
    let random = Protocol::new(Division::Random { valid: 0.2, test: 0.2 }, 3).repeated(2);
    assert_eq!(sizes(random.clone()), [(1, 3), (1, 4)]);
    let [one, other] = [3, 4].map(|seed| random.splits(&data, seed).unwrap().swap_remove(0));
    let Split { train, valid, test } = &one;
    assert_eq!([train, valid, test].map(Dataset::len), [36, 12, 12]);
    assert_ne!(test.items(), other.test.items());
    let given = Protocol { new_division_each: false, ..Protocol::new(Division::GivenSplits, 0).repeated(3) };
    assert_eq!(sizes(given), [(1, 0), (1, 1), (1, 2)]);
}

fn quick() -> Search {
    Search::of(Spec::default().epochs(3))
}

#[test]
fn blocks_are_contiguous_and_the_first_ones_longer() {
    let data = data(false);
    let folds = data.blocks(7).unwrap();
    let sizes: Vec<usize> = folds.iter().map(|(_, test)| test.len()).collect();
    assert_eq!(sizes, [9, 9, 9, 9, 8, 8, 8]);
    let mut all: Vec<u32> = Vec::new();
    for (train, test) in &folds {
        assert_eq!(train.len() + test.len(), GRAPHS);
        assert!(test.items().windows(2).all(|pair| pair[1] == pair[0] + 1));
        all.extend(test.items());
    }
    assert_eq!(all, (0..GRAPHS as u32).collect::<Vec<_>>());
    assert!(data.blocks(1).is_err() && data.blocks(GRAPHS + 1).is_err());
}

/// Options name edge types, so a journal must not take data with other names for the same.
#[test]
fn names_of_edge_types_are_part_of_the_data() {
    let checksum = |names: [&str; 2]| {
        let mut tables = tables(false);
        let codes = (0..tables.edges.len() as u32).map(|edge| edge % 2).collect();
        let values = Values::Categories { codes, levels: names.map(str::to_owned).to_vec() };
        tables.edge_labels = Some(Column::new("type", values));
        Dataset::from_tables(tables, &DatasetOptions::default()).unwrap().content_checksum()
    };
    assert_eq!(checksum(["road", "rail"]), checksum(["road", "rail"]));
    assert_ne!(checksum(["road", "rail"]), checksum(["rail", "road"]));
}
