//! Every option of the table counts: it is part of what a run is known by, a search tries it as if it were trained
//! alone, and it survives texts, JSON and the model file.
//!
//! The tests go through [`OPTIONS`]; the list of other values below must have a row for each of them.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use gnan::dataset::Split;
use gnan::evaluate::{Division, Evaluation, EvaluationEvent, Journal, Protocol, Search};
use gnan::files::{Column, SplitPart, Tables, Task, Values};
use gnan::internals::random::Stream;
use gnan::internals::train::StatisticsCache;
use gnan::spec::{NodeDescription, OPTIONS, SpecOption};
use gnan::train::EpochReport;
use gnan::{Dataset, DatasetOptions, Model, Spec};

/// Small data on which an option makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum World {
    /// Graphs of two classes.
    Graphs,
    /// Graphs with a number each.
    Numbers,
    /// One graph whose nodes have two classes.
    Nodes,
}

use World::{Graphs, Nodes, Numbers};

/// A value of an option that is not its default, where it makes a difference, and with which other options.
struct Row {
    option: &'static str,
    texts: &'static [&'static str],
    world: World,
    with: &'static [(&'static str, &'static str)],
}

const fn row(option: &'static str, texts: &'static [&'static str], world: World) -> Row {
    Row { option, texts, world, with: &[] }
}

impl Row {
    const fn with(self, with: &'static [(&'static str, &'static str)]) -> Row {
        Row { with, ..self }
    }

    /// What the option is compared with: it has its default there, or what the smallest model needs.
    fn base(&self) -> Spec {
        let mut spec = Spec::default().hidden(16).layers(2).epochs(8).learning_rate(0.02).patience(0);
        for (name, text) in [("fit", "gradient")].iter().chain(self.with) {
            spec.set(name, &[(*text).to_owned()]).unwrap();
        }
        spec
    }

    fn changed(&self) -> Spec {
        let mut spec = self.base();
        spec.set(self.option, &self.texts()).unwrap_or_else(|error| panic!("{}: {error}", self.option));
        spec
    }

    fn texts(&self) -> Vec<String> {
        self.texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn option(&self) -> &'static SpecOption {
        Spec::option(self.option).unwrap()
    }
}

const LINKS: &[(&str, &str)] = &[("task", "link"), ("directed", "false")];
const SAMPLED: &[(&str, &str)] = &[("shell-sample", "2")];
const UNSTEADY: &[(&str, &str)] = &[("learning-rate", "0.5"), ("epochs", "40")];

const ROWS: &[Row] = &[
    row("target", &["other"], Graphs),
    row("task", &["regression"], Numbers),
    row("weight", &["importance"], Graphs),
    row("describe", &["degree", "ring@2"], Graphs),
    row("describe", &["degree"], Nodes),
    row("directed", &["false"], Graphs),
    row("largest-component", &["true"], Graphs),
    row("explicit-hydrogens", &["true"], Graphs),
    row("smiles-column", &["formula"], Graphs),
    row("name-column", &["title"], Graphs),
    row("strict", &["true"], Graphs),
    row("splits", &["splits.json"], Graphs),
    row("negatives", &["2"], Nodes).with(LINKS),
    row("most-node-pairs", &["50"], Nodes).with(LINKS),
    row("pair-features", &["false"], Nodes).with(LINKS),
    row("hop-cap", &["1"], Graphs),
    row("hop-cap", &["0"], Nodes),
    row("far-from", &["2"], Graphs),
    row("far-from", &["1"], Nodes),
    row("ignore-unreachable", &["true"], Graphs),
    row("ignore-unreachable", &["true"], Nodes),
    row("pool", &["mean"], Graphs),
    row("pool", &["both"], Graphs),
    row("direction", &["against"], Nodes),
    row("direction", &["along", "ignoring"], Graphs),
    row("edge-types", &["rail"], Nodes),
    row("edge-types", &["rail", "road+river"], Graphs),
    row("edge-weight", &["length=1,2.5"], Nodes),
    row("rho-group", &["size=mass,charge", "kind=element"], Graphs),
    row("own-only", &["mass"], Graphs),
    row("own-only", &["element", "mass"], Nodes),
    row("neighbours-only", &["mass"], Graphs),
    row("neighbours-only", &["mass"], Nodes),
    row("hop-cap-of", &["mass=1", "charge=0"], Graphs),
    row("hop-cap-of", &["mass=1"], Nodes),
    row("normalise", &["false"], Graphs),
    row("normalise", &["false"], Nodes),
    row("bins", &["4"], Graphs),
    row("bins", &["4"], Nodes),
    // Pieces are exact: it takes many steps until the rounding of single numbers shows in the loss.
    row("pieces-above", &["2"], Graphs).with(&[("bins", "off"), ("epochs", "60")]),
    row("shell-sample", &["2"], Nodes),
    row("rho", &["shared"], Graphs),
    row("rho", &["per-feature"], Nodes),
    row("logits", &["two"], Graphs),
    row("layers", &["3"], Graphs),
    row("hidden", &["32"], Graphs),
    row("shape", &["spline"], Graphs),
    row("rho-shape", &["spline"], Graphs),
    row("constrain", &["mass: up, bounded 0.5", "charge: smooth 3"], Graphs),
    row("rho-monotone", &["true"], Graphs),
    row("readout", &["true"], Graphs),
    row("feature-pairs", &["1"], Graphs),
    row("feature-pair", &["mass,charge"], Graphs),
    row("scale-shells", &["true"], Nodes),
    row("select", &["path"], Graphs),
    row("output-bias", &["false"], Graphs),
    row("output-bias", &["true"], Nodes),
    row("learning-rate", &["0.05"], Graphs),
    row("weight-decay", &["0.2"], Graphs),
    row("smooth", &["0.5"], Graphs).with(&[("shape", "spline")]),
    row("dropout", &["0.3"], Graphs),
    row("epochs", &["9"], Graphs),
    row("fit", &["penalised"], Graphs).with(&[("choose", "false")]),
    row("choose", &["false"], Graphs).with(&[("fit", "penalised")]),
    row("level", &["2"], Graphs).with(&[("fit", "penalised"), ("choose", "false"), ("pool", "mean")]),
    row("curves", &["linear"], Graphs).with(&[("fit", "penalised"), ("choose", "false")]),
    row("family", &["gamma"], Numbers).with(&[("fit", "penalised"), ("choose", "false")]),
    row("patience", &["1"], Graphs).with(UNSTEADY),
    row("batch", &["7"], Graphs),
    row("resample", &["2"], Nodes).with(SAMPLED),
    row("loss", &["absolute"], Numbers),
    row("balance", &["true"], Graphs),
    row("seed", &["5"], Graphs),
];

/// Graphs of a few towns in two parts, with roads of several types and lengths that lead one way.
fn tables(world: World) -> Tables {
    let mut random = Stream::named(11, "options", 0);
    let (graphs, size) = if world == Nodes { (1, 60) } else { (40, 6) };
    let (mut edges, mut types, mut lengths, mut offsets) = (Vec::new(), Vec::new(), Vec::new(), vec![0]);
    for graph in 0..graphs {
        let (start, size) = (offsets[graph], size + random.below(4));
        for node in 1..size {
            // The last two nodes are out of reach of the others.
            let before = if node < size - 2 { random.below(node) } else { node - 1 };
            if node != size - 2 {
                edges.push([(start + before) as u32, (start + node) as u32]);
                types.push(random.below(3) as u32);
                lengths.push(random.below(12) as f64 / 4.0);
            }
        }
        offsets.push(start + size);
    }
    let nodes = offsets[graphs];
    let items = if world == Nodes { nodes } else { graphs };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let categories = |codes: Vec<u32>, levels: &[&str]| Values::Categories { codes, levels: names(levels) };
    let mass: Vec<f64> = (0..nodes).map(|_| 3.0 + random.normal()).collect();
    let charge: Vec<f64> = (0..nodes).map(|_| random.below(5) as f64 / 2.0).collect();
    let element: Vec<u32> = (0..nodes).map(|_| random.below(3) as u32).collect();
    let signal = |item: usize| match world {
        Nodes => mass[item] - 3.0 + 0.5 * f64::from(element[item]) - 0.5,
        _ => (offsets[item]..offsets[item + 1]).map(|node| mass[node] - 2.8).sum(),
    };
    let signals: Vec<f64> = (0..items).map(|item| signal(item) + 0.3 * random.normal()).collect();
    // One class is twice as frequent as the other.
    let classes: Vec<u32> = signals.iter().map(|signal| u32::from(*signal > -0.4)).collect();
    let mut columns = vec![
        Column::new("other", categories((0..items).map(|item| (item % 2) as u32).collect(), &["odd", "even"])),
        Column::new("importance", Values::Numbers((0..items).map(|item| 0.5 + (item % 3) as f64).collect())),
    ];
    columns.push(match world {
        // Above 0, as some families need it.
        Numbers => Column::new("class", Values::Numbers(signals.iter().map(|signal| (0.3 * signal).exp()).collect())),
        _ => Column::new("class", categories(classes, &["no", "yes"])),
    });
    let mut node_columns = vec![
        Column::new("mass", Values::Numbers(mass)),
        Column::new("charge", Values::Numbers(charge)),
        Column::new("element", categories(element, &["C", "N", "O"])),
    ];
    let parts = [SplitPart::Train, SplitPart::Train, SplitPart::Valid, SplitPart::Train, SplitPart::Test];
    let mut graph_columns = Vec::new();
    if world == Nodes { &mut node_columns } else { &mut graph_columns }.extend(columns);
    Tables {
        name: format!("{world:?}"),
        task: Some(if world == Nodes { Task::Node } else { Task::Graph }),
        graph_ids: (0..graphs).map(|graph| graph.to_string()).collect(),
        node_offsets: offsets,
        directed: true,
        edge_labels: Some(Column::new("type", categories(types, &["road", "rail", "river"]))),
        edge_numbers: vec![Column::new("length", Values::Numbers(lengths))],
        edges,
        node_columns,
        graph_columns,
        targets: vec!["class".to_owned()],
        splits: vec![(0..items).map(|item| parts[item % parts.len()]).collect()],
        ..Tables::default()
    }
}

fn data(world: World, spec: &Spec) -> Dataset {
    let tables = Tables { directed: spec.data.directed.unwrap_or(true), ..tables(world) };
    Dataset::from_tables(tables, &DatasetOptions::of(&spec.data, spec.fit.seed, None)).unwrap()
}

/// The data of a candidate of a search, in the way in which it describes nodes, and their split.
fn described(data: &Dataset, spec: &Spec) -> Split {
    data.described(&spec.data.describe).unwrap().given_split(0, 0).unwrap()
}

/// A candidate on its own: its validation loss and the bytes of its model.
fn alone(data: &Dataset, spec: &Spec) -> (u64, Vec<u8>) {
    let Split { train, valid, .. } = described(data, spec);
    let fitted = spec.fit_watched(&train, Some(&valid), &mut |_| ControlFlow::Continue(()));
    let fitted = fitted.unwrap_or_else(|error| panic!("{}: {error}", spec.canonical()));
    (fitted.valid_loss.to_bits(), fitted.model.to_bytes().unwrap())
}

fn go_on(_: EvaluationEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// What a search compares on some data: for every row the specification with and without it, each once.
fn candidates(world: World) -> Vec<Spec> {
    let mut candidates: Vec<Spec> = Vec::new();
    for row in ROWS.iter().filter(|row| row.world == world && row.option().tried) {
        for spec in [row.base(), row.changed()] {
            if !candidates.contains(&spec) {
                candidates.push(spec);
            }
        }
    }
    candidates
}

#[test]
fn every_option_has_a_row() {
    for option in OPTIONS {
        assert!(ROWS.iter().any(|row| row.option == option.name), "{} has no other value to test", option.name);
    }
}

#[test]
fn every_option_is_part_of_the_identity_of_a_run() {
    for row in ROWS {
        let (base, changed) = (row.base(), row.changed());
        assert_ne!(base, changed, "{}", row.option);
        assert_ne!(base.identity("data"), changed.identity("data"), "{}", row.option);
        assert_eq!(changed.identity("data"), row.changed().identity("data"));
        assert_ne!(changed.identity("data"), changed.identity("other data"));
        // Nothing else is changed by it.
        let mut back = changed.clone();
        back.set(row.option, &base.get(row.option)).unwrap();
        assert_eq!(back, base, "{}", row.option);
    }
}

#[test]
fn every_option_that_can_be_tried_makes_a_difference() {
    for world in [Graphs, Numbers, Nodes] {
        let data = data(world, &Spec::default());
        for row in ROWS.iter().filter(|row| row.world == world && row.option().tried) {
            let [before, after] = [row.base(), row.changed()].map(|spec| alone(&data, &spec));
            assert_ne!(before.0, after.0, "{} of {:?}", row.option, row.texts);
        }
    }
}

#[test]
fn a_candidate_of_a_search_has_the_loss_that_it_has_alone() {
    for world in [Graphs, Numbers, Nodes] {
        let data = data(world, &Spec::default());
        let mut candidates = candidates(world);
        let expected: HashMap<String, u64> =
            candidates.iter().map(|spec| (spec.canonical(), alone(&data, spec).0)).collect();
        for _ in ["in this order", "in the other"] {
            let search = Search { candidates: candidates.clone(), ..Search::of(Spec::default()) };
            let split = data.given_split(0, 0).unwrap();
            let (_, tried, _) = Evaluation::search(&data, split, &search, 0, &Journal::in_memory(), &go_on).unwrap();
            assert_eq!(tried.len(), candidates.len());
            for (candidate, trial) in candidates.iter().zip(tried) {
                let canonical = candidate.canonical();
                assert_eq!(trial.valid_loss.to_bits(), expected[&canonical], "{canonical}");
            }
            candidates.reverse();
        }
    }
}

#[test]
fn fits_that_share_statistics_give_the_models_that_they_give_alone() {
    for world in [Graphs, Numbers, Nodes] {
        let data = data(world, &Spec::default());
        let mut candidates = candidates(world);
        let expected: HashMap<String, Vec<u8>> =
            candidates.iter().map(|spec| (spec.canonical(), alone(&data, spec).1)).collect();
        for _ in ["in this order", "in the other"] {
            // As in a search, those that describe nodes in the same way share their data.
            let mut shared: HashMap<Vec<NodeDescription>, (Split, StatisticsCache)> = HashMap::new();
            for spec in &candidates {
                let (split, cache) = shared.entry(spec.data.describe.clone()).or_insert_with(|| {
                    let split = described(&data, spec);
                    let cache = StatisticsCache::new(&split.train.union(&split.valid));
                    (split, cache)
                });
                let watch = &mut |_: &EpochReport<'_>| ControlFlow::Continue(());
                let fitted = spec.fit_cached(cache, &split.train, Some(&split.valid), watch).unwrap();
                assert!(fitted.model.to_bytes().unwrap() == expected[&spec.canonical()], "{}", spec.canonical());
            }
            candidates.reverse();
        }
    }
}

/// Runs that an evaluation of this candidate finds in the journal; nothing is trained.
fn remembered(data: &Dataset, candidate: Spec, seed: u64, journal: &Journal) -> usize {
    let found = AtomicUsize::new(0);
    let stop = |event: EvaluationEvent<'_>| match event {
        EvaluationEvent::Planned { remembered, .. } => {
            found.store(remembered, Ordering::SeqCst);
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    };
    let protocol = Protocol::new(Division::GivenSplits, seed);
    let stopped = Evaluation::run(data, &Search::of(candidate), &protocol, journal, &stop);
    assert!(stopped.unwrap_err().to_string().contains("interrupted"));
    found.into_inner()
}

#[test]
fn a_journal_does_not_know_a_run_that_differs_in_any_option() {
    for row in ROWS {
        let base = row.base().epochs(1);
        // Whatever the data are to be read as, the same data are evaluated here.
        let data = data(row.world, &Spec::default());
        let journal = Journal::in_memory();
        let protocol = Protocol::new(Division::GivenSplits, 0);
        Evaluation::run(&data, &Search::of(base.clone()), &protocol, &journal, &go_on).unwrap();
        assert_eq!(remembered(&data, base.clone(), 0, &journal), 1, "{}", row.option);
        let mut changed = base.clone();
        changed.set(row.option, &row.texts()).unwrap();
        // The seed of a run is that of the evaluation.
        let seed = if row.option == "seed" { changed.fit.seed } else { 0 };
        assert_eq!(remembered(&data, changed, seed, &journal), 0, "{}", row.option);
    }
}

#[test]
fn every_option_survives_texts_json_and_the_model_file() {
    for row in ROWS {
        let spec = row.changed();
        let mut from_texts = Spec::default();
        for option in OPTIONS {
            from_texts.set(option.name, &spec.get(option.name)).unwrap();
        }
        assert_eq!(from_texts, spec, "{} by texts", row.option);
        if row.option().tried {
            let mut from_words = row.base();
            row.option().set_from_text(&mut from_words, &row.option().words(&spec)).unwrap();
            assert_eq!(from_words, spec, "{} by words", row.option);
        }
        let from_json: Spec = serde_json::from_str(&spec.canonical()).unwrap();
        assert_eq!(from_json, spec, "{} by JSON", row.option);

        let data = data(row.world, &spec);
        let trained = spec.fit(&data).unwrap_or_else(|error| panic!("{}: {error}", row.option));
        let read = Model::from_bytes(&trained.to_bytes().unwrap()).unwrap();
        for option in OPTIONS {
            assert_eq!(read.spec().get(option.name), spec.get(option.name), "{} after {}", option.name, row.option);
        }
        assert_eq!(read.definition(), trained.definition());
    }
}
