//! Which data, and how they are to be understood.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gnan::catalogue;
use gnan::dataset::{LinkPairs, Links, NodeDescription, Problem, QueriedPair};
use gnan::files::{BUILT_IN, ReadOptions, known_formats};
use gnan::{Dataset, DatasetOptions, Error, Model};
use serde::Serialize;

use super::LinkArgs;
use super::heading::DATA;
use crate::exit::Result;
use crate::progress::working;
use crate::screen::eprint_line;
use crate::style::warning;

/// How files are read.
#[derive(Args, Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ReadArgs {
    /// Keep only the largest connected component of each graph
    #[arg(long, help_heading = DATA)]
    pub lcc: bool,

    /// Make the hydrogens of molecules atoms of their own
    #[arg(long, help_heading = DATA)]
    pub explicit_hydrogens: bool,

    /// Column that holds the SMILES [default: smiles]
    #[arg(long, value_name = "NAME", help_heading = DATA)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smiles_column: Option<String>,

    /// JSON file of splits that replace those of the data
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub splits: Option<PathBuf>,
}

impl ReadArgs {
    /// Fills in what these arguments say.
    pub fn apply(&self, options: &mut ReadOptions) {
        // A model remembers how its data were read, so that this need not be said again.
        options.largest_component |= self.lcc;
        options.explicit_hydrogens |= self.explicit_hydrogens;
        options.splits.clone_from(&self.splits);
        options.smiles_column.clone_from(&self.smiles_column);
    }

    /// Opens data for a model, which knows how its data were read; links are divided as they were for training.
    pub fn open_for(&self, model: &Model, data: &str) -> Result<Dataset> {
        open(data, &self.options_for(model)?)
    }

    /// Opens data in which predictions are asked for by id. Any pair may be asked for of a model of links; rows (`#12`) are
    /// those of its training.
    pub fn open_for_ids(&self, model: &Model, data: &str, ids: &[String]) -> Result<Dataset> {
        let rows = ids.iter().all(|id| id.starts_with('#'));
        if model.description().links.is_none() || rows {
            return self.open_for(model, data);
        }
        let pairs = ids.iter().flat_map(|list| list.split(',')).map(|id| QueriedPair::Words(id.trim().to_owned()));
        self.open_pairs(model, data, pairs.collect())
    }

    /// Opens data for a model of links, to ask about these pairs.
    pub fn open_pairs(&self, model: &Model, data: &str, pairs: Vec<QueriedPair>) -> Result<Dataset> {
        let mut options = self.options_for(model)?;
        match &mut options.links {
            Some(links) => links.pairs = LinkPairs::Queried(pairs),
            None => return Err(Error::usage("the model predicts no links, and pairs were asked about").into()),
        }
        open(data, &options)
    }

    fn options_for(&self, model: &Model) -> Result<DatasetOptions> {
        if self.explicit_hydrogens && !model.description().explicit_hydrogens {
            return Err(Error::usage("the model was trained on molecules without explicit hydrogens").into());
        }
        let mut options = model.data_options();
        self.apply(&mut options.read);
        Ok(options)
    }
}

/// Opens the data set at a path, a built-in one, or one of the catalogue that was fetched.
fn open(data: &str, options: &DatasetOptions) -> Result<Dataset> {
    let place = fetched(data)?;
    Ok(working("reading the data", || Dataset::open_with(place.as_deref().unwrap_or(data), options))?)
}

/// Where the data set of that name was fetched to; `None` if it is a path, built in, or not in the catalogue.
pub fn fetched(name: &str) -> Result<Option<String>> {
    if Path::new(name).exists() || BUILT_IN.contains(&name) {
        return Ok(None);
    }
    let Ok(entry) = catalogue::find(name) else { return Ok(None) };
    match entry.found_in(&catalogue::folder()?)?.into_os_string().into_string() {
        Ok(place) => Ok(Some(place)),
        Err(place) => Err(Error::usage("the path of this data set is not UTF-8").in_file(place).into()),
    }
}

/// What may be given as data.
fn data_help() -> String {
    let formats: Vec<_> = known_formats().into_iter().map(|(name, _)| name).collect();
    format!(
        "A path, whose format is recognised ({}), the built-in set `{}`, or a fetched set of `gnan data list`",
        formats.join(", "),
        BUILT_IN.join("`, `")
    )
}

/// Whether numbers to be predicted are classes or quantities, or links are predicted instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemArg {
    /// Each distinct value is a class
    Classification,
    /// They are quantities
    Regression,
    /// Which nodes are joined
    Link,
}

/// A data set with its targets.
#[derive(Args, Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DataArgs {
    /// The data set.
    #[arg(value_name = "DATA", help = data_help())]
    pub data: String,

    /// Column to predict; several with commas or by repeating [default: what the data say]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = DATA)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target: Vec<String>,

    /// What numbers to be predicted are [default: few whole numbers are classes]; or link: predict which nodes are joined
    #[arg(long, help_heading = DATA, hide_possible_values = true, value_name = "classification|regression|link")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<ProblemArg>,

    /// Column that says how much each graph (or labelled node) counts in training
    #[arg(long, value_name = "NAME", help_heading = DATA)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,

    /// Describe every node by the graph around it, as further features: degree, ring, triangles (each also with
    /// +label), environment (environment:2 looks two edges far); values of fewer than 5 training graphs (nodes, where
    /// nodes are predicted) count as rare, with environment@20 those of fewer than 20
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = DATA)]
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_words")]
    pub describe: Vec<NodeDescription>,

    /// Edges have a direction, whatever the data say
    #[arg(long, conflicts_with = "undirected", help_heading = DATA)]
    pub directed: bool,

    /// Edges have no direction, whatever the data say
    #[arg(long, conflicts_with = "directed", help_heading = DATA)]
    pub undirected: bool,

    #[command(flatten)]
    #[serde(flatten)]
    pub links: LinkArgs,

    #[command(flatten)]
    #[serde(flatten)]
    pub read: ReadArgs,
}

impl DataArgs {
    /// The library's options.
    pub fn options(&self) -> DatasetOptions {
        let mut options = DatasetOptions {
            targets: self.target.iter().map(|name| name.trim().to_owned()).collect(),
            problem: self.task.and_then(|task| match task {
                ProblemArg::Classification => Some(Problem::Classification),
                ProblemArg::Regression => Some(Problem::Regression),
                ProblemArg::Link => None,
            }),
            weight: self.weight.clone(),
            describe: self.describe.clone(),
            ..DatasetOptions::default()
        };
        self.read.apply(&mut options.read);
        options.read.directed = match (self.directed, self.undirected) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        options
    }

    /// Whether links are predicted.
    pub fn predicts_links(&self) -> bool {
        self.task == Some(ProblemArg::Link)
    }

    /// Opens the data to train on; links are divided with a seed, a share of them to be tested.
    pub fn open(&self, seed: u64, test_share: Option<f64>) -> Result<Dataset> {
        let mut options = self.options();
        if !self.predicts_links() {
            if self.links.is_wanted() {
                return Err(Error::usage("--negatives and --most-pairs say how links are asked about")
                    .with_remedy("predict links with --task link")
                    .into());
            }
            return self.open_with(&options);
        }
        if !self.target.is_empty() || self.weight.is_some() {
            return Err(Error::usage("links are predicted, and no column")
                .with_remedy("leave --target and --weight out")
                .into());
        }
        options.links = Some(self.links.options(seed, test_share));
        let data = self.open_with(&options)?;
        if let Some(sample) = data.links().and_then(Links::sample) {
            eprint_line(format!("{}: {sample}", warning("note")));
        }
        Ok(data)
    }

    /// Opens the data without those descriptions of their nodes that [`tried`](Self::tried) lists.
    pub fn open_to_try(&self, seed: u64, test_share: Option<f64>) -> Result<Dataset> {
        let described = self.describe.iter().filter(|_| self.predicts_links()).cloned().collect();
        DataArgs { describe: described, ..self.clone() }.open(seed, test_share)
    }

    /// The descriptions that candidates begin with: none of links, which are described when they are made.
    pub fn tried(&self) -> Vec<NodeDescription> {
        self.describe.iter().filter(|_| !self.predicts_links()).cloned().collect()
    }

    /// Opens the data with other options.
    pub fn open_with(&self, options: &DatasetOptions) -> Result<Dataset> {
        open(&self.data, options)
    }
}

/// Descriptions as they are written on the command line.
fn as_words<S: serde::Serializer>(
    descriptions: &[NodeDescription],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(descriptions.iter().map(ToString::to_string))
}
