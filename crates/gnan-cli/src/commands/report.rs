//! `gnan report`: one self-contained page about a model.

use std::path::{Path, PathBuf};

use clap::Args;
use gnan::Error;
use gnan::bootstrap::BandKind;
use gnan::output::write_atomically;
use gnan_report::Palette;
use gnan_report::bands::Bands;
use gnan_report::report::{Report, quoted};
use serde::Serialize;

use super::explain::names;
use crate::args::heading::{DATA, OUTPUT};
use crate::args::{BandsArgs, ForceArgs, PaletteArgs, ReadArgs, check_can_write, train_command};
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::intervals;
use crate::progress::working;
use crate::screen::{print, print_json};
use crate::style::heading;

const EXAMPLES: &str = examples!(
    "gnan report model.gnan my-data/",
    "gnan report model.gnan solubility --id caffeine -o solubility.html --force",
    "gnan bootstrap model.gnan my-data/ && gnan report model.gnan my-data/    with 95 % bands",
);

/// Arguments of `gnan report`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// The model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The data it was trained on, test part included: a path or the name of a built-in or fetched set
    #[arg(value_name = "DATA")]
    data: String,

    #[command(flatten)]
    read: ReadArgs,

    /// The test share that the model was trained with, for model files that do not remember their test items
    #[arg(long, value_name = "SHARE", help_heading = DATA, allow_negative_numbers = true)]
    test_share: Option<f64>,

    /// Also explain this prediction: id of a graph or node, name of a molecule, or =#12 for row 12
    #[arg(long, value_name = "ID", help_heading = OUTPUT)]
    id: Vec<String>,

    /// Where to write the page
    #[arg(short, long, value_name = "FILE", default_value = "report.html", help_heading = OUTPUT)]
    output: PathBuf,

    #[command(flatten)]
    bands: BandsArgs,

    #[command(flatten)]
    palette: PaletteArgs,

    #[command(flatten)]
    force: ForceArgs,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    report: &'a Path,
    bytes: usize,
    resamples: Option<usize>,
    bands: Option<BandKind>,
}

/// Runs `gnan report`.
pub fn run(args: &ReportArgs, json: bool) -> Result<Completion> {
    check_can_write(&args.output, args.force.force)?;
    let model = crate::args::load_model(&args.model)?;
    if model.definition().spec.model.readout {
        return Err(Error::usage("a report cannot show the two stages of a readout yet")
            .with_remedy("see `gnan explain` and `gnan plot`, or train without --readout")
            .into());
    }
    let data = args.read.open_for(&model, &args.data)?;
    let wanted =
        if args.id.is_empty() { Vec::new() } else { names::items(&data, &args.id, "gnan predict MODEL DATA")? };
    let intervals = intervals::of_model(&args.model, &model, args.bands);
    let report = Report {
        model: &model,
        data: &data,
        bands: Bands::new(intervals.as_ref()),
        test_share: args.test_share,
        wanted,
        palette: args.palette.palette(),
        model_name: &args.model.display().to_string(),
        data_name: &args.data,
        train_command: train_command(&model, &args.data),
        options: options(args),
    };
    let page = write(&report, &args.output).map_err(|error| error.in_file(&args.data))?;
    if json {
        print_json(&Document {
            report: &args.output,
            bytes: page,
            resamples: report.bands.resamples(),
            bands: report.bands.kind(),
        })?;
    } else {
        print(format!("wrote {}: open it in any browser; it needs no network", heading(args.output.display())))?;
    }
    Ok(Completion::Done)
}

/// The options that shape the page, as they would be typed.
fn options(args: &ReportArgs) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(args.test_share.map(|share| format!("--test-share {share}")));
    words.extend(args.id.iter().map(|id| format!("--id={}", quoted(id))));
    words.extend(args.bands.simultaneous().then(|| "--bands simultaneous".to_owned()));
    words.extend((args.palette.palette() == Palette::GreenRed).then(|| "--palette green-red".to_owned()));
    words.extend(args.read.arguments().iter().map(|argument| quoted(argument)));
    words.iter().map(|word| format!(" {word}")).collect()
}

/// Writes the page, and returns its size.
pub fn write(report: &Report<'_>, path: &Path) -> gnan::Result<usize> {
    let page = working("writing the report", || report.html())?;
    write_atomically(path, page.as_bytes())?;
    Ok(page.len())
}
