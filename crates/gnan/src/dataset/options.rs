//! How a data set is to be read and understood, and what of that is part of a specification.

use super::links::{LinkDivision, LinkFeatures, LinkOptions, LinkPairs};
use super::{KnownFeature, Problem};
use crate::files::{ReadOptions, Task};
use crate::run::Run;
use crate::spec::{DataSpec, NEGATIVES, NodeDescription, TaskChoice};

/// How a data set is to be understood.
///
/// ```
/// use gnan::{Dataset, DatasetOptions};
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("molecules.csv");
/// std::fs::write(&path, "smiles,toxic,weight\nCCO,no,46.1\nc1ccccc1,yes,78.1\n").expect("a file");
/// let options = DatasetOptions { targets: vec!["toxic".to_owned()], ..DatasetOptions::default() };
/// assert_eq!(Dataset::open_with(&path, &options)?.targets().len(), 1);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct DatasetOptions {
    /// How to read the files.
    pub read: ReadOptions,
    /// Names of the targets; empty: what the format says, or the only candidate.
    pub targets: Vec<String>,
    /// Whether numeric targets are classes or quantities; `None`: whole numbers with few distinct values are classes.
    pub problem: Option<Problem>,
    /// Whether targets belong to graphs or nodes; `None`: what the format and the targets say.
    pub task: Option<Task>,
    /// The column that says how much each item counts in training.
    pub weight: Option<String>,
    /// The features of the model that the data are opened for; `None`: kinds, names and one-hot codes are detected.
    pub known: Option<Vec<KnownFeature>>,
    /// Features to be computed from the graphs.
    pub describe: Vec<NodeDescription>,
    /// Predict the links between nodes, and no column.
    pub links: Option<LinkOptions>,
    /// How work on the data is done.
    pub run: Run,
    /// Accept data without targets (for prediction): a named target that is absent is not an error.
    pub targets_optional: bool,
}

impl DatasetOptions {
    /// The options that a specification requests. Links are divided with `seed`, `test_share` of them to be tested.
    pub fn of(spec: &DataSpec, seed: u64, test_share: Option<f64>) -> DatasetOptions {
        let links = (spec.task == Some(TaskChoice::Link)).then(|| {
            let negatives = spec.negatives.unwrap_or(NEGATIVES);
            let division = LinkDivision { seed, test_share, negatives, most_pairs: spec.most_node_pairs };
            let features = LinkFeatures::All { own: spec.pair_features };
            LinkOptions { pairs: LinkPairs::Divided(division), features }
        });
        DatasetOptions {
            read: ReadOptions {
                explicit_hydrogens: spec.explicit_hydrogens,
                largest_component: spec.largest_component,
                smiles_column: spec.smiles_column.clone(),
                name_column: spec.name_column.clone(),
                strict: spec.strict,
                directed: spec.directed,
                splits: spec.splits.clone(),
                ..ReadOptions::default()
            },
            targets: spec.target.clone(),
            problem: spec.task.and_then(|task| match task {
                TaskChoice::Classification => Some(Problem::Classification),
                TaskChoice::Regression => Some(Problem::Regression),
                TaskChoice::Link => None,
            }),
            weight: spec.weight.clone(),
            describe: spec.describe.clone(),
            links,
            ..DatasetOptions::default()
        }
    }

    /// The descriptions that belong to links; those of other data are computed once these are read.
    pub(super) fn describe_of_links(&self) -> Vec<NodeDescription> {
        self.describe.iter().filter(|_| self.links.is_some()).cloned().collect()
    }

    /// What of these options is part of a specification: the reverse of [`of`](Self::of).
    pub(super) fn spec(&self) -> DataSpec {
        let division = self.links.as_ref().and_then(|links| match &links.pairs {
            LinkPairs::Divided(division) => Some(division),
            LinkPairs::Queried(_) => None,
        });
        DataSpec {
            target: self.targets.clone(),
            task: match (&self.links, self.problem) {
                (Some(_), _) => Some(TaskChoice::Link),
                (None, Some(Problem::Classification)) => Some(TaskChoice::Classification),
                (None, Some(Problem::Regression)) => Some(TaskChoice::Regression),
                (None, None) => None,
            },
            weight: self.weight.clone(),
            describe: self.describe.clone(),
            directed: self.read.directed,
            largest_component: self.read.largest_component,
            explicit_hydrogens: self.read.explicit_hydrogens,
            smiles_column: self.read.smiles_column.clone(),
            name_column: self.read.name_column.clone(),
            strict: self.read.strict,
            splits: self.read.splits.clone(),
            negatives: division.map(|division| division.negatives).filter(|negatives| *negatives != NEGATIVES),
            most_node_pairs: division.and_then(|division| division.most_pairs),
            pair_features: self.links.as_ref().is_none_or(|links| match &links.features {
                LinkFeatures::All { own } => *own,
                LinkFeatures::Known { own, .. } => own.is_some(),
            }),
        }
    }
}
