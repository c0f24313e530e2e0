//! `gnan data list`: the data sets of the paper, and whether they are here.

use std::path::{Path, PathBuf};

use anstyle::Style;
use clap::Args;
use gnan::files::Task;
use gnan::numbers::count;
use gnan_paper::catalogue::{self, Entry};
use indicatif::DecimalBytes;
use serde::Serialize;

use crate::args::heading::DATA;
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::screen::{print, print_json};
use crate::style::{DIM, dim, heading};
use crate::table::{Align, Table};

const EXAMPLES: &str =
    examples!("gnan data list", "gnan data list --folder my-data", "gnan data list --json | jq '.sets[].citation'");

/// Arguments of `gnan data list`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// Folder of data sets [default: GNAN_DATA, or gnan in your cache folder]
    #[arg(long, value_name = "DIR", help_heading = DATA)]
    folder: Option<PathBuf>,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    folder: &'a Path,
    sets: Vec<Set>,
}

#[derive(Serialize)]
struct Set {
    #[serde(flatten)]
    entry: &'static Entry,
    /// Where it is, if it is there.
    here: Option<PathBuf>,
    /// Where the paper's splits are, if they are there.
    splits_here: Option<PathBuf>,
    /// Files that are not there.
    missing: Vec<&'static str>,
}

/// Runs `gnan data list`.
pub fn run(args: &ListArgs, json: bool) -> Result<Completion> {
    let folder = folder(args.folder.as_deref())?;
    if json {
        let sets = catalogue::entries().map(|entry| Set {
            entry,
            here: entry.place_in(&folder),
            splits_here: entry.split_file_in(&folder),
            missing: entry.missing_in(&folder).iter().map(|file| file.path).collect(),
        });
        print_json(&Document { folder: &folder, sets: sets.collect() })?;
    } else {
        print(list(&folder))?;
    }
    Ok(Completion::Done)
}

/// The folder that was named, or the usual one.
pub fn folder(named: Option<&Path>) -> gnan::Result<PathBuf> {
    named.map_or_else(catalogue::folder, |folder| Ok(folder.to_owned()))
}

fn list(folder: &Path) -> String {
    let mut text = format!("{}  {}\n\n", heading("the data sets of the paper"), dim(folder.display()));
    text.push_str(&table(folder).render());
    let here = catalogue::entries().filter(|entry| entry.place_in(folder).is_some()).count();
    text.push_str(&format!("\n  {here} of {} are here", catalogue::entries().len()));
    text.push_str("; gnan data fetch NAME downloads one, and then its name can stand for its path\n");
    let notes =
        "features: one for each category; ~: no checksum is known for some of the files, so they cannot be verified";
    text.push_str(&format!("  {}\n", dim(notes)));
    text
}

fn table(folder: &Path) -> Table {
    use Align::{Left, Right};
    let columns = [Left, Left, Right, Right, Right, Left, Right, Left, Left];
    let names = ["name", "predicts", "items", "nodes", "features", "target", "size", "licence", "here"];
    let mut table = Table::new(&columns).header(names);
    for entry in catalogue::entries() {
        let (here, style) = match entry.place_in(folder) {
            None => ("no", DIM),
            Some(_) if entry.missing_in(folder).is_empty() => ("yes", Style::new()),
            Some(_) => ("in part", Style::new()),
        };
        let statistics = &entry.statistics;
        let (task, items) = match entry.task {
            Task::Graph => ("graphs", statistics.graphs),
            Task::Node => ("nodes", statistics.nodes),
        };
        let cells = [
            entry.name.to_owned(),
            task.to_owned(),
            count(items),
            count(statistics.nodes),
            count(statistics.features),
            target(entry),
            size(entry),
            entry.licence.to_owned(),
        ];
        let mut row: Vec<_> = cells.map(|cell| (cell, Style::new())).into();
        row.push((here.to_owned(), style));
        table.painted_row(row);
    }
    table
}

fn target(entry: &Entry) -> String {
    match entry.statistics.classes {
        0 => entry.paper.iter().filter_map(|task| task.target).collect::<Vec<_>>().join(", "),
        classes => format!("{classes} classes"),
    }
}

fn size(entry: &Entry) -> String {
    let about = if entry.files.iter().all(|file| file.sha256.is_some()) { "" } else { "~" };
    format!("{about}{}", DecimalBytes(entry.bytes()))
}
