//! Which data, and how they are to be understood.

use std::path::{Path, PathBuf};

use clap::Args;
use gnan::dataset::{LinkPairs, Links, QueriedPair};
use gnan::files::{BUILT_IN, ReadOptions, known_formats, skipped_note};
use gnan::numbers::counted_more;
use gnan::run::DistanceCache;
use gnan::spec::TaskChoice;
use gnan::{Dataset, DatasetOptions, Error, Model, Spec};
use gnan_paper::{FORMATS, catalogue, read_options};

use super::general_args::run;
use super::heading::GENERAL;
use super::spec_args::{DataSpecArgs, ReadSpecArgs, SpecArgs, arguments};
use crate::exit::Result;
use crate::progress::working;
use crate::screen::eprint_line;
use crate::style::{escape_control, warning};

/// How files are read for a model.
#[derive(Args, Clone, Debug)]
pub struct ReadArgs {
    #[command(flatten)]
    options: ReadSpecArgs,
}

impl ReadArgs {
    /// Adds what these arguments request.
    pub fn apply(&self, read: &mut ReadOptions) {
        let data = &self.options.spec.data;
        // A model remembers how its data were read, so that this need not be said again.
        read.largest_component |= data.largest_component;
        read.explicit_hydrogens |= data.explicit_hydrogens;
        read.strict = data.strict;
        read.splits.clone_from(&data.splits);
        for (known, given) in
            [(&mut read.smiles_column, &data.smiles_column), (&mut read.name_column, &data.name_column)]
        {
            if given.is_some() {
                known.clone_from(given);
            }
        }
    }

    /// The same arguments as they are written.
    pub fn arguments(&self) -> Vec<String> {
        arguments(&self.options.spec)
    }

    /// Opens data for a model, which knows how its data were read; links are divided as they were for training.
    pub fn open_for(&self, model: &Model, data: &str) -> Result<Dataset> {
        open(data, self.options_for(model)?)
    }

    /// Opens data in which items are named by id. Any node pair may be named for a model of links; rows (`#12`)
    /// are those of its training.
    pub fn open_for_ids(&self, model: &Model, data: &str, ids: &[String]) -> Result<Dataset> {
        let rows = ids.iter().all(|id| id.starts_with('#'));
        if model.learned().links.is_none() || rows {
            return self.open_for(model, data);
        }
        let pairs = ids.iter().flat_map(|list| list.split(',')).map(|id| QueriedPair::Words(id.trim().to_owned()));
        self.open_pairs(model, data, pairs.collect())
    }

    /// Opens data for a model of links, to predict these node pairs.
    pub fn open_pairs(&self, model: &Model, data: &str, pairs: Vec<QueriedPair>) -> Result<Dataset> {
        let mut options = self.options_for(model)?;
        match &mut options.links {
            Some(links) => links.pairs = LinkPairs::Queried(pairs),
            None => return Err(Error::usage("the model predicts no links, and node pairs were given").into()),
        }
        open(data, options)
    }

    fn options_for(&self, model: &Model) -> Result<DatasetOptions> {
        if self.options.spec.data.explicit_hydrogens && !model.spec().data.explicit_hydrogens {
            return Err(Error::usage("the model was trained on molecules without explicit hydrogens").into());
        }
        let mut options = DatasetOptions { run: run(), ..model.data_options() };
        self.apply(&mut options.read);
        Ok(options)
    }
}

/// Notes on the data that are shown; the others are counted.
const NOTES_SHOWN: usize = 8;

/// Opens the data set at a path, a built-in one, or one of the catalogue that was fetched, to train on it: shows what there is
/// to know about reading it.
fn open_to_train(data: &str, options: DatasetOptions) -> Result<Dataset> {
    let found = open(data, options)?;
    show_notes(found.notes());
    Ok(found)
}

/// The same for a model, which knows its columns: shows what could not be read as it stands.
fn open(data: &str, options: DatasetOptions) -> Result<Dataset> {
    let found = open_quietly(data, options)?;
    if let Some(note) = skipped_note(found.skipped()) {
        show_notes(&[format!("{note} (gnan data info lists all)")]);
    }
    show_notes(found.cautions());
    Ok(found)
}

fn show_notes(notes: &[String]) {
    for note in notes.iter().take(NOTES_SHOWN) {
        eprint_line(format!("{}: {}", warning("note"), escape_control(note)));
    }
    if let Some(more) = notes.len().checked_sub(NOTES_SHOWN + 1) {
        eprint_line(format!("{}: and {} (gnan data info lists them)", warning("note"), counted_more(more + 1, "note")));
    }
}

fn open_quietly(data: &str, mut options: DatasetOptions) -> Result<Dataset> {
    options.read.formats = FORMATS;
    let place = fetched(data)?;
    Ok(working("reading the data", || Dataset::open_with(place.as_deref().unwrap_or(data), &options))?)
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
    let formats: Vec<_> = known_formats(&read_options()).into_iter().map(|(name, _)| name).collect();
    format!(
        "A path, whose format is recognised ({}), the built-in set `{}`, or a fetched set of `gnan data list`",
        formats.join(", "),
        BUILT_IN.join("`, `")
    )
}

/// A data set, and the specification of a model of it.
#[derive(Args, Clone, Debug)]
pub struct DataArgs {
    /// The data set.
    #[arg(value_name = "DATA", help = data_help())]
    pub data: String,

    #[command(flatten)]
    options: SpecArgs,

    /// Keep distances that do not fit in memory in this folder, for this run and the next ones on the same graph
    #[arg(long, value_name = "FOLDER", help_heading = GENERAL)]
    cache: Option<PathBuf>,
}

impl DataArgs {
    /// What is requested.
    pub fn spec(&self) -> &Spec {
        &self.options.spec
    }

    /// Whether links are predicted.
    pub fn predicts_links(&self) -> bool {
        self.spec().data.task == Some(TaskChoice::Link)
    }

    /// Opens the data to train on; links are divided with a seed, a share of them to be tested.
    pub fn open(&self, seed: u64, test_share: Option<f64>) -> Result<Dataset> {
        self.open_as(self.spec(), seed, test_share)
    }

    /// Opens the data for a model, which knows how its data were read.
    pub fn open_for(&self, model: &Model) -> Result<Dataset> {
        let options = ReadSpecArgs { spec: self.spec().clone() };
        ReadArgs { options }.open_for(model, &self.data)
    }

    /// The specification that has nothing but the options of these arguments that say how files are read.
    pub fn reading_alone(&self) -> Spec {
        self.options.reading_alone()
    }

    /// Opens the data without descriptions of their nodes, which candidates bring; links are described when they are made.
    pub fn open_to_try(&self, seed: u64, test_share: Option<f64>) -> Result<Dataset> {
        let mut spec = self.spec().clone();
        if !self.predicts_links() {
            spec.data.describe.clear();
        }
        self.open_as(&spec, seed, test_share)
    }

    /// The specification that candidates begin with: links are described already when they are tried.
    pub fn tried(&self) -> Spec {
        let mut spec = self.spec().clone();
        if self.predicts_links() {
            spec.data.describe.clear();
        }
        spec
    }

    fn open_as(&self, spec: &Spec, seed: u64, test_share: Option<f64>) -> Result<Dataset> {
        let run = match &self.cache {
            Some(file) if file.is_file() => {
                return Err(Error::usage("distances are kept in a folder, and this is a file")
                    .in_file(file)
                    .with_remedy("name a folder with --cache: one that is not there is made")
                    .into());
            }
            Some(folder) => run().with_cache(DistanceCache::new(folder)),
            None => run(),
        };
        let options = DatasetOptions { run, ..DatasetOptions::of(&spec.data, seed, test_share) };
        let data = open_to_train(&self.data, options)?;
        if let Some(sample) = data.links().and_then(Links::sample) {
            eprint_line(format!("{}: {sample}", warning("note")));
        }
        Ok(data)
    }
}

/// A data set to look at.
#[derive(Args, Clone, Debug)]
pub struct LookArgs {
    /// The data set.
    #[arg(value_name = "DATA", help = data_help())]
    data: String,

    #[command(flatten)]
    options: DataSpecArgs,
}

impl LookArgs {
    /// Opens the data. Someone who looks for the name of the target does not know it yet.
    pub fn open(&self) -> Result<Dataset> {
        let spec = &self.options.spec.data;
        let options = DatasetOptions {
            targets_optional: spec.target.is_empty(),
            links: None,
            run: run(),
            ..DatasetOptions::of(spec, 0, None)
        };
        open_quietly(&self.data, options)
    }
}
