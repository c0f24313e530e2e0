//! `gnan data fetch`: downloads data sets of the paper, whole and verified.

use std::path::{Path, PathBuf};

use clap::Args;
use gnan::Error;
use gnan_paper::catalogue::{self, Entry};
use indicatif::DecimalBytes;
use serde::Serialize;

use super::list::folder;
use crate::args::heading::DATA;
use crate::cli::examples;
use crate::download::{Downloader, Fetched, Patience, Source, State, can_go_on};
use crate::exit::{Completion, Failure, Result};
use crate::interrupt;
use crate::progress::DownloadProgress;
use crate::screen::{eprint_line, print, print_json};
use crate::style::{self, dim, escape_control, heading};
use crate::table::{Align, Table};

const EXAMPLES: &str = examples!(
    "gnan data fetch cora",
    "gnan data fetch mutagenicity ptc --folder my-data",
    "gnan data fetch --all --mirror https://mirror.example.org/gnan",
    "gnan data fetch proteins --mirror /media/stick/data",
);

/// Arguments of `gnan data fetch`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct FetchArgs {
    /// Data sets, as `gnan data list` names them
    #[arg(value_name = "NAME", required_unless_present = "all")]
    names: Vec<String>,

    /// Fetch all of them
    #[arg(long, conflicts_with = "names")]
    all: bool,

    /// Folder to put them in [default: GNAN_DATA, or gnan in your cache folder]
    #[arg(long, value_name = "DIR", help_heading = DATA)]
    folder: Option<PathBuf>,

    /// Another base address, or a folder, that has the files as they lie in the folder (tu/PTC_MR.zip and so on)
    #[arg(long, value_name = "URL|DIR", help_heading = DATA)]
    mirror: Option<String>,

    /// Fetch again what is there already
    #[arg(long)]
    force: bool,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    folder: &'a Path,
    sets: &'a [Set],
}

/// A data set that is there now.
#[derive(Serialize)]
struct Set {
    name: &'static str,
    title: &'static str,
    path: PathBuf,
    splits: Option<PathBuf>,
    /// The first of the paper's targets, where the set has several.
    target: Option<&'static str>,
    licence: &'static str,
    citation: &'static str,
    files: Vec<Fetched>,
}

/// Runs `gnan data fetch`.
pub fn run(args: &FetchArgs, json: bool) -> Result<Completion> {
    let entries: Vec<&Entry> = if args.all {
        catalogue::entries().collect()
    } else {
        args.names.iter().map(|name| catalogue::find(name)).collect::<gnan::Result<_>>()?
    };
    let folder = folder(args.folder.as_deref())?;
    let source = args.mirror.as_deref().map_or(Ok(Source::Origin), Source::mirror)?;
    interrupt::listen("stopping; what has arrived is kept, and the same command resumes")?;
    let (mut sets, mut missed) = (Vec::new(), Vec::new());
    for entry in &entries {
        match fetch(entry, &folder, &source, args.force) {
            Ok(set) => {
                if !json {
                    print(report(&set, args.folder.is_none()))?;
                }
                sets.push(set);
            }
            Err(Failure::Library(error)) if entries.len() > 1 && can_go_on(&error) => {
                let lines: Vec<String> =
                    error.to_string().lines().map(|line| escape_control(line).into_owned()).collect();
                eprint_line(format!("{}: {}: {}", style::warning("not fetched"), entry.title, lines.join("\n")));
                missed.push(entry.name);
            }
            Err(failure) => return Err(failure),
        }
    }
    if json {
        print_json(&Document { folder: &folder, sets: &sets })?;
    }
    if missed.is_empty() {
        return Ok(Completion::Done);
    }
    let message = format!("{} of {} data sets were not fetched: {}", missed.len(), entries.len(), missed.join(", "));
    Err(Error::input(message).into())
}

fn fetch(entry: &'static Entry, folder: &Path, source: &Source, force: bool) -> Result<Set> {
    let mut files = Vec::new();
    for file in entry.files {
        let progress = DownloadProgress::new(file.path, file.bytes);
        let watch = |arrived, total| progress.show(arrived, total);
        let downloader = Downloader { source, folder, force, patience: Patience::default(), watch: &watch };
        let fetched = downloader.fetch(file);
        progress.finish();
        files.push(fetched?);
    }
    Ok(Set {
        name: entry.name,
        title: entry.title,
        path: folder.join(entry.open),
        splits: entry.split_file_in(folder),
        target: entry.paper.first().and_then(|task| task.target),
        licence: entry.licence,
        citation: entry.citation,
        files,
    })
}

fn report(set: &Set, usual_folder: bool) -> String {
    let mut text = format!("{}  {}\n\n", heading(set.title), dim(set.path.display()));
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Left]);
    for file in &set.files {
        let size = if file.bytes == 0 { String::new() } else { DecimalBytes(file.bytes).to_string() };
        table.row([file.path, &size, state(file.state), trust(file)]);
    }
    text.push_str(&table.render());
    for file in set.files.iter().filter(|file| !file.verified) {
        if let Some(found) = &file.sha256 {
            text.push_str(&format!(
                "  {}: no checksum is known to compare with; its SHA-256 is\n    {found}\n",
                file.path
            ));
        }
    }
    let mut facts = Table::facts();
    facts.fact("licence", set.licence);
    facts.fact("cite", set.citation);
    // In the usual folder a set is known by its name.
    let path = set.path.display().to_string();
    let data = match usual_folder {
        true => set.name.to_owned(),
        false if path.contains(char::is_whitespace) => format!("\"{path}\""),
        false => path,
    };
    let target = set.target.map_or(String::new(), |target| format!(" --target {target}"));
    facts.fact("next", format!("gnan data info {data}"));
    facts.fact("", format!("gnan evaluate {data}{target}"));
    text.push('\n');
    text.push_str(&facts.render());
    text
}

fn state(state: State) -> &'static str {
    match state {
        State::AlreadyThere => "already there",
        State::Fetched => "fetched",
        State::Resumed => "resumed",
    }
}

fn trust(file: &Fetched) -> &'static str {
    match file.sha256 {
        Some(_) if file.verified => "SHA-256 verified",
        Some(_) => "cannot be verified",
        None => "unpacked earlier",
    }
}
