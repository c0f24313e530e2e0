//! Which data, and how they are to be understood.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gnan::dataset::Problem;
use gnan::files::ReadOptions;
use gnan::{Dataset, DatasetOptions, Error, Model};
use serde::Serialize;

use super::heading::DATA;
use crate::exit::Result;
use crate::progress::working;

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

    /// Opens data for a model, which knows how its data were read.
    pub fn open_for(&self, model: &Model, data: &str) -> Result<Dataset> {
        if self.explicit_hydrogens && !model.description().explicit_hydrogens {
            return Err(Error::usage("the model was trained on molecules without explicit hydrogens").into());
        }
        let mut options = model.data_options();
        self.apply(&mut options.read);
        Ok(working("reading the data", || Dataset::open_with(data, &options))?)
    }
}

/// Whether numbers to be predicted are classes or quantities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemArg {
    /// Each distinct value is a class
    Classification,
    /// They are quantities
    Regression,
}

/// A data set with its targets.
#[derive(Args, Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DataArgs {
    /// A path (tables folder, TU folder or zip, SMILES table, Planetoid, Geom-GCN, LINQS or OGB files, npz) or the built-in set `solubility`
    #[arg(value_name = "DATA")]
    pub data: String,

    /// Column to predict; several with commas or by repeating [default: what the data say]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = DATA)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target: Vec<String>,

    /// What numbers to be predicted are [default: few whole numbers are classes]
    #[arg(long, help_heading = DATA, hide_possible_values = true, value_name = "classification|regression")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<ProblemArg>,

    /// Column that says how much each graph (or labelled node) counts in training
    #[arg(long, value_name = "NAME", help_heading = DATA)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,

    /// Edges have a direction, whatever the data say
    #[arg(long, conflicts_with = "undirected", help_heading = DATA)]
    pub directed: bool,

    /// Edges have no direction, whatever the data say
    #[arg(long, conflicts_with = "directed", help_heading = DATA)]
    pub undirected: bool,

    #[command(flatten)]
    #[serde(flatten)]
    pub read: ReadArgs,
}

impl DataArgs {
    /// The library's options.
    pub fn options(&self) -> DatasetOptions {
        let mut options = DatasetOptions {
            targets: self.target.iter().map(|name| name.trim().to_owned()).collect(),
            problem: self.task.map(|task| match task {
                ProblemArg::Classification => Problem::Classification,
                ProblemArg::Regression => Problem::Regression,
            }),
            weight: self.weight.clone(),
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

    /// Opens the data.
    pub fn open(&self) -> Result<Dataset> {
        Ok(working("reading the data", || Dataset::open_with(&self.data, &self.options()))?)
    }
}
