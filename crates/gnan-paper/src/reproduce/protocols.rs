//! The protocols of the paper's appendix, one for each column of its table, and the options that are tried here.
//!
//! The options were chosen once, by validation scores only, and stand here so that a reproduction takes an hour and not
//! a day; the paper's own grid of 32 combinations is [`Space::paper`](gnan::evaluate::Space::paper).

use serde::Serialize;

use super::DataFolder;
use crate::FORMATS;
use crate::catalogue::{self, PaperTask};
use gnan::dataset::DatasetOptions;
use gnan::error::{Error, Result};
use gnan::evaluate::{Criterion, Division, Protocol, Tuning};
use gnan::metric::Metric;
use gnan::remedy::{Remedy, Step};
use gnan::spec::{FitMethod, Spec};

/// Whether nodes are described by the graph around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// The paper's features and no others.
    Plain,
    /// With descriptions of nodes as further features.
    Described,
}

/// How the paper evaluates on one column of its table, and what is tried here.
#[derive(Clone, Copy, Debug)]
pub struct PaperProtocol {
    /// The column: a data set, or a target of one.
    pub task: &'static str,
    /// The data set in the catalogue.
    pub entry: &'static str,
    /// The target, where the set has several.
    pub target: Option<&'static str>,
    /// The protocol in words.
    pub words: &'static str,
    /// Whether the paper's figures are by this protocol.
    pub in_paper: bool,
    /// Whether only the largest component is used.
    pub largest_component: bool,
    /// Whether the hydrogens of molecules are nodes.
    pub explicit_hydrogens: bool,
    /// How the data are divided.
    pub division: Division,
    /// How often every split is tested.
    pub repeats: u64,
    /// Whether every repeat divides the data anew.
    pub new_division_each: bool,
    /// Where options are tuned.
    pub tuning: Tuning,
    /// The column on whose data options are tuned, where that is another one.
    pub tuned_on: Option<&'static str>,
    /// What decides between candidates.
    pub criterion: Criterion,
    /// Errors are multiplied by this and given in this unit.
    pub scale: f64,
    /// The unit of errors.
    pub unit: Option<&'static str>,
    /// Options that all candidates share.
    pub fixed: &'static [(&'static str, &'static str)],
    /// Values to try for a plain model.
    pub plain: &'static [&'static str],
    /// How nodes are described, separated by slashes; empty: descriptions are of no use here.
    pub describe: &'static str,
    /// Values to try for a model with descriptions.
    pub described: &'static [&'static str],
}

/// The seed of everything.
pub(super) const SEED: u64 = 0;
/// Hartree in electronvolts, as the field converts energies of QM9.
const ELECTRONVOLTS: f64 = 27.2114;

/// What most columns have in common.
const USUAL: PaperProtocol = PaperProtocol {
    task: "",
    entry: "",
    target: None,
    words: "",
    in_paper: true,
    largest_component: false,
    explicit_hydrogens: false,
    division: Division::GivenSplits,
    repeats: 1,
    new_division_each: false,
    tuning: Tuning::EachSplit,
    tuned_on: None,
    criterion: Criterion::Loss,
    scale: 1.0,
    unit: None,
    fixed: &[],
    plain: &[],
    describe: "",
    described: &[],
};

const ERRICA: PaperProtocol = PaperProtocol {
    words: "10 folds of Errica et al. with their inner hold-outs, 3 seeds each; options tuned on every fold",
    repeats: 3,
    ..USUAL
};

const BLOCKS: PaperProtocol = PaperProtocol {
    words: "10 contiguous folds in file order, 10 % of the rest held out inside; options tuned on every fold",
    division: Division::Blocks(10),
    ..USUAL
};

const PLANETOID: PaperProtocol = PaperProtocol {
    words: "public split, 5 runs",
    repeats: 5,
    criterion: Criterion::Metric(Metric::Accuracy),
    fixed: &[("rho", "shared"), ("dropout", "0.6")],
    plain: &["hidden=32,64", "weight-decay=0.01,0.03", "hop-cap=none,4"],
    ..USUAL
};

const QM9: PaperProtocol = PaperProtocol {
    entry: "qm9",
    explicit_hydrogens: true,
    words: "random 80/10/10 split, 3 runs",
    division: Division::Random { valid: 0.1, test: 0.1 },
    repeats: 3,
    fixed: &[("hidden", "32"), ("loss", "absolute"), ("batch", "512"), ("epochs", "100"), ("patience", "15")],
    plain: &["learning-rate=0.002", "batch=128", "patience=10"],
    describe: "degree/ring/environment/environment:2@50",
    described: &["hop-cap=3", "hidden=16"],
    ..USUAL
};

/// The columns of the table.
const PROTOCOLS: &[PaperProtocol] = &[
    PaperProtocol {
        task: "cornell",
        entry: "cornell",
        words: "10 given splits; options tuned on each",
        fixed: &[("hidden", "16"), ("rho", "per-feature"), ("dropout", "0.6")],
        plain: &["hop-cap=0,1,none", "weight-decay=0.003,0.03"],
        ..USUAL
    },
    PaperProtocol {
        task: "tolokers",
        entry: "tolokers",
        words: "10 given splits",
        tuning: Tuning::FirstSplit,
        fixed: &[
            ("batch", "64"),
            ("epochs", "120"),
            ("patience", "10"),
            ("learning-rate", "0.003"),
            ("weight-decay", "0.00001"),
        ],
        describe: "degree/triangles",
        ..USUAL
    },
    PaperProtocol { task: "cora", entry: "cora", largest_component: true, ..PLANETOID },
    PaperProtocol { task: "citeseer", entry: "citeseer", largest_component: true, tuned_on: Some("cora"), ..PLANETOID },
    PaperProtocol { task: "pubmed", entry: "pubmed", tuned_on: Some("cora"), ..PLANETOID },
    PaperProtocol {
        task: "pubmed-60",
        entry: "pubmed",
        words: "5 random 60/20/20 splits (the paper's 86.9 fits such a split, not the public one)",
        in_paper: false,
        division: Division::Random { valid: 0.2, test: 0.2 },
        repeats: 5,
        new_division_each: true,
        tuning: Tuning::FirstSplit,
        fixed: &[("rho", "shared"), ("hidden", "32"), ("batch", "512"), ("epochs", "60"), ("patience", "8")],
        plain: &["weight-decay=0.00005,0.0005", "hop-cap=none,2"],
        ..USUAL
    },
    PaperProtocol {
        task: "arxiv",
        entry: "ogbn-arxiv",
        words: "split of the Open Graph Benchmark, 10 runs",
        repeats: 10,
        ..USUAL
    },
    PaperProtocol { task: "mu", target: Some("mu"), unit: Some("D"), ..QM9 },
    PaperProtocol { task: "alpha", target: Some("alpha"), unit: Some("Bohr^3"), ..QM9 },
    PaperProtocol { task: "homo", target: Some("homo"), unit: Some("eV"), scale: ELECTRONVOLTS, ..QM9 },
    PaperProtocol {
        task: "proteins",
        entry: "proteins",
        fixed: &[("hidden", "32")],
        plain: &["hop-cap=none,8", "weight-decay=0.0001,0.001"],
        describe: "degree/triangles/environment",
        described: &["hop-cap=8", "weight-decay=0.001,0.003,0.01"],
        ..ERRICA
    },
    PaperProtocol {
        task: "mutagenicity",
        entry: "mutagenicity",
        fixed: &[("hidden", "32")],
        plain: &["hop-cap=none,8", "weight-decay=0.00001,0.00003,0.0001"],
        describe: "degree/ring/environment/environment:2",
        described: &["hop-cap=8", "weight-decay=0.0001,0.0003,0.001"],
        ..BLOCKS
    },
    PaperProtocol {
        task: "ptc",
        entry: "ptc",
        fixed: &[("hidden", "32")],
        plain: &["hop-cap=none,8", "weight-decay=0.0003,0.001,0.003"],
        describe: "degree/ring/environment",
        described: &["hop-cap=8", "weight-decay=0.001,0.003,0.01"],
        ..BLOCKS
    },
    PaperProtocol {
        task: "nci1",
        entry: "nci1",
        fixed: &[("hidden", "32")],
        plain: &["hop-cap=none,8", "weight-decay=0.00001,0.00003,0.0001"],
        describe: "degree/ring/environment/environment:2",
        described: &["hop-cap=8", "weight-decay=0.0003,0.001"],
        ..ERRICA
    },
];

impl PaperProtocol {
    /// Every column, in the order of the table.
    pub fn all() -> &'static [PaperProtocol] {
        PROTOCOLS
    }

    /// A column by its name.
    pub fn find(task: &str) -> Option<&'static PaperProtocol> {
        PROTOCOLS.iter().find(|protocol| protocol.task.eq_ignore_ascii_case(task))
    }

    /// The columns of a data set of the catalogue.
    pub fn of_entry(entry: &str) -> Vec<&'static PaperProtocol> {
        PROTOCOLS.iter().filter(|protocol| protocol.entry == entry).collect()
    }

    /// What the paper reports by this protocol.
    pub fn paper(&self) -> Option<&'static PaperTask> {
        self.reported().filter(|_| self.in_paper)
    }

    /// The metric that the paper reports on these data.
    pub fn metric(&self) -> Metric {
        self.reported().map_or(Metric::Accuracy, |task| task.metric)
    }

    /// What the paper reports on these data, by whichever protocol.
    fn reported(&self) -> Option<&'static PaperTask> {
        let tasks = catalogue::find(self.entry).expect("every protocol is of a set in the catalogue").paper;
        tasks.iter().find(|task| task.target == self.target)
    }

    /// The protocol of the evaluation.
    pub(super) fn protocol(&self) -> Protocol {
        Protocol {
            division: self.division,
            seed: SEED,
            repeats: self.repeats,
            tuning: self.tuning,
            new_division_each: self.new_division_each,
        }
    }

    /// By what a metric is multiplied before it is shown.
    pub(super) fn factor(&self, metric: Metric) -> f64 {
        if metric.is_share() { 100.0 } else { self.scale }
    }

    /// How the data are to be opened.
    pub(super) fn data_options(&self, folder: DataFolder<'_>) -> Result<DatasetOptions> {
        let mut options = DatasetOptions { run: folder.run.clone(), ..DatasetOptions::default() };
        options.read.formats = FORMATS;
        options.targets.extend(self.target.map(str::to_owned));
        options.read.largest_component = self.largest_component;
        options.read.explicit_hydrogens = self.explicit_hydrogens;
        let entry = catalogue::find(self.entry)?;
        if !entry.split_places.is_empty() {
            let found = entry.split_file_in(folder.path).ok_or_else(|| {
                Error::input(format!("the splits of {} are not here", entry.title)).in_file(folder.path).with_remedy([
                    format!("put {} there", entry.split_places[0]).into(),
                    Remedy::Run(Step::Fetch(entry.name.to_owned())),
                ])
            })?;
            options.read.splits = Some(found);
        }
        Ok(options)
    }

    /// The candidate around which a search is made.
    pub(super) fn base(&self, variant: Variant) -> Result<Spec> {
        // The paper trains networks.
        let mut base = Spec::default().method(FitMethod::Gradient).seed(SEED);
        for (option, value) in self.fixed {
            Spec::option(option)?.set_from_text(&mut base, value)?;
        }
        if variant == Variant::Described && !self.describe.is_empty() {
            Spec::option("describe")?.set_from_text(&mut base, self.describe)?;
        }
        Ok(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_data_set_and_a_search_that_makes_sense() {
        let mut names: Vec<&str> = PROTOCOLS.iter().map(|protocol| protocol.task).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PROTOCOLS.len());
        for protocol in PROTOCOLS {
            assert!(catalogue::find(protocol.entry).is_ok(), "{}", protocol.task);
            assert_eq!(protocol.paper().is_some(), protocol.in_paper, "{}", protocol.task);
            assert!(
                !protocol.words.is_empty()
                    && protocol.tuned_on.is_none_or(|other| PaperProtocol::find(other).is_some())
            );
            for variant in [Variant::Plain, Variant::Described] {
                let search = protocol.search(variant, &|_| {}, None).unwrap();
                assert!(!search.candidates.is_empty() && search.candidates.len() <= 32, "{}", protocol.task);
                let described = variant == Variant::Described && !protocol.describe.is_empty();
                assert!(search.candidates.iter().all(|candidate| candidate.data.describe.is_empty() != described));
            }
        }
        // Every column of the paper's table is here.
        for entry in catalogue::entries() {
            let columns = PaperProtocol::of_entry(entry.name).into_iter().filter(|protocol| protocol.in_paper).count();
            assert_eq!(columns, entry.paper.len(), "{}", entry.name);
        }
    }
}
