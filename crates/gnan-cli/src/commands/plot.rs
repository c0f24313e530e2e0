//! `gnan plot`: the figures of a model, and of single predictions, as files.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gnan::explain::{Explainer, Output, Overview};
use gnan::files::Task;
use gnan::names::Names;
use gnan::numbers::counted;
use gnan::output::write_atomically;
use gnan::{Dataset, Error, Model};
use gnan_report::Palette;
use gnan_report::bands::Bands;
use gnan_report::figure::graph::NodeRole;
use gnan_report::model_figures::{Figure, ModelFigures};
use gnan_report::prediction_figures;
use serde::Serialize;

use super::explain::names;
use crate::args::heading::OUTPUT;
use crate::args::{BandsArgs, ForceArgs, PaletteArgs, ReadArgs, check_can_write};
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::intervals;
use crate::progress::working;
use crate::screen::{print, print_json};
use crate::style::heading;

const EXAMPLES: &str = examples!(
    "gnan plot model.gnan                                        the curves alone",
    "gnan plot model.gnan my-data/ -o figures/                   with importances",
    "gnan plot model.gnan solubility --id caffeine -o caffeine/  its waterfall and its graph",
    "gnan plot model.gnan my-data/ --figure influence --format svg --width 500",
);

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Scalable, for documents
    Svg,
    /// Pixels
    Png,
    /// Interactive, one file, no network
    Html,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Format::Svg => "svg",
            Format::Png => "png",
            Format::Html => "html",
        }
    }
}

/// Most letters of an id in the name of a file.
const MOST_LETTERS: usize = 60;

/// Arguments of `gnan plot`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct PlotArgs {
    /// The model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Data: a path or the name of a built-in or fetched set; for importances, densities and predictions
    #[arg(value_name = "DATA")]
    data: Option<String>,

    /// Draw single predictions instead of the model: id of a graph or node, name of a molecule, or =#12 for row 12
    #[arg(long, value_name = "ID", requires = "data")]
    id: Vec<String>,

    /// Class or target of the predictions [default: the predicted one of several classes, the second of two, every target]
    #[arg(long, value_name = "NAME", requires = "id")]
    class: Vec<String>,

    /// Only the figures whose name begins so (influence, effects, features, value, importance, structure, graph, waterfall)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    figure: Vec<String>,

    /// Feature whose values by distance are drawn [default: the three most important]
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    feature: Vec<String>,

    #[command(flatten)]
    read: ReadArgs,

    /// Folder to write into
    #[arg(short, long, value_name = "FOLDER", default_value = "figures", help_heading = OUTPUT)]
    output: PathBuf,

    /// Formats: svg, png, html
    #[arg(long, value_name = "FORMATS", value_delimiter = ',', default_value = "svg,png,html", hide_possible_values = true, help_heading = OUTPUT)]
    format: Vec<Format>,

    /// Width of the figures in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 860, value_parser = clap::value_parser!(u16).range(280..=4000), help_heading = OUTPUT)]
    width: u16,

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
    files: Vec<PathBuf>,
    folder: &'a Path,
}

/// Runs `gnan plot`.
pub fn run(args: &PlotArgs, json: bool) -> Result<Completion> {
    if args.output.exists() && !args.output.is_dir() {
        let error = Error::usage("this is a file, not a folder").in_file(&args.output);
        return Err(error.with_remedy("name a folder with --output").into());
    }
    let model = crate::args::load_model(&args.model)?;
    // What stands before a readout is drawn; its functions are in `gnan explain` and `gnan export`.
    let model = model.before_readout().unwrap_or(model);
    let data = args.data.as_ref().map(|data| args.read.open_for_ids(&model, data, &args.id)).transpose()?;
    let figures = match &data {
        Some(data) if !args.id.is_empty() => of_predictions(args, &model, data)?,
        data => of_model(args, &model, data.as_ref())?,
    };
    let chosen = choose(figures, &args.figure)?;
    let files =
        write_figures(&args.output, &chosen, &args.format, args.width, args.palette.palette(), args.force.force)?;
    if json {
        print_json(&Document { files, folder: &args.output })?;
    } else {
        let list: Vec<String> = files.iter().map(|file| format!("  {}", file.display())).collect();
        let count = counted(chosen.len(), "figure");
        print(format!("wrote {count} to {}\n{}", heading(args.output.display()), list.join("\n")))?;
    }
    Ok(Completion::Done)
}

/// The model's own figures.
fn of_model(args: &PlotArgs, model: &Model, data: Option<&Dataset>) -> Result<Vec<Figure>> {
    let intervals = intervals::of_model(&args.model, model, args.bands);
    let (canonical, overview): (_, Overview) = match data {
        None => (model.canonical(), model.overview()),
        Some(data) => {
            let explainer = Explainer::new(model, data)?;
            let overview = working("adding up contributions", || explainer.overview())?;
            (explainer.canonical().clone(), overview)
        }
    };
    let drawn = ModelFigures::new(&canonical, &overview, Bands::new(intervals.as_ref()));
    if args.feature.is_empty() {
        return Ok(drawn.all());
    }
    let known = Names::new(overview.features.iter().map(|feature| feature.name.clone()));
    let wanted = known.pick(&args.feature, "the model has no feature")?;
    Ok(drawn.of_features(&wanted))
}

/// The figures of single predictions.
fn of_predictions(args: &PlotArgs, model: &Model, data: &Dataset) -> Result<Vec<Figure>> {
    let definition = model.definition();
    let positions = names::items(data, &args.id, "gnan predict MODEL DATA")?;
    let wanted = Output::named(definition, &args.class)?;
    let explainer = Explainer::new(model, data)?;
    let mut figures = Vec::new();
    for (position, why) in positions.iter().zip(explainer.explain(&positions)?) {
        let chosen = wanted.clone().unwrap_or_else(|| Output::foremost(definition, &why));
        let weak = explainer.weak_values(*position);
        // What raises one of two classes lowers the other: both are one picture.
        let mut shown: Vec<usize> = chosen.iter().map(|output| output.shown.0).collect();
        shown.dedup();
        for output in &shown {
            let mut add = |name: &str, figure: Figure| {
                // Ids may be the same, or be so once they are fit for files: then the row tells them apart.
                let of_item = file_name(&why.id);
                let same = positions.iter().filter(|other| file_name(&data.item_id(data.items()[**other])) == of_item);
                let row = if same.count() > 1 { format!("-{}", position + 1) } else { String::new() };
                let item = if of_item.is_empty() { format!("-{}", position + 1) } else { format!("-{of_item}{row}") };
                let class = if shown.len() > 1 { format!("-class-{}", output + 1) } else { String::new() };
                figures.push(Figure { name: format!("{name}{item}{class}"), ..figure });
            };
            let drawing = |role: NodeRole| {
                prediction_figures::graph_drawing(definition, data, *position, &why, *output, role, &weak)
            };
            add("graph", drawing(NodeRole::Source));
            if definition.learned.task == Task::Graph {
                add("graph-receivers", drawing(NodeRole::Receiver));
            }
            add("waterfall", prediction_figures::waterfall(definition, &why, *output));
        }
    }
    Ok(figures)
}

/// An id as a part of a file name: letters, digits, `-` and `_`, and not too long.
fn file_name(id: &str) -> String {
    let fit = |letter: char| if letter.is_alphanumeric() || "-_".contains(letter) { letter } else { '-' };
    id.chars().take(MOST_LETTERS).map(fit).collect::<String>().trim_matches('-').to_owned()
}

/// The figures whose names begin with one of the wanted words.
fn choose(figures: Vec<Figure>, wanted: &[String]) -> gnan::Result<Vec<Figure>> {
    let names: Vec<String> = figures.iter().map(|figure| figure.name.clone()).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.starts_with(word.trim()));
    let unknown = wanted.iter().find(|word| !names.iter().any(|name| name.starts_with(word.trim())));
    if let Some(unknown) = unknown {
        return Err(Error::usage(format!("there is no figure \"{}\"", crate::style::escape_control(unknown)))
            .with_remedy(format!("there are: {}", names.join(", "))));
    }
    Ok(figures.into_iter().filter(|figure| is_wanted(&figure.name)).collect())
}

/// Writes every figure in every format; nothing is written if one of the files may not be.
pub fn write_figures(
    folder: &Path,
    figures: &[Figure],
    wanted: &[Format],
    width: u16,
    palette: Palette,
    force: bool,
) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    let mut formats: Vec<Format> = Vec::new();
    wanted.iter().for_each(|format| formats.extend((!formats.contains(format)).then_some(*format)));
    let files: Vec<(PathBuf, &Figure, Format)> = figures
        .iter()
        .flat_map(|figure| formats.iter().map(move |format| (figure, *format)))
        .map(|(figure, format)| (folder.join(format!("{}.{}", figure.name, format.extension())), figure, format))
        .collect();
    files.iter().try_for_each(|(path, _, _)| check_can_write(path, force))?;
    working("drawing", || {
        for (path, figure, format) in &files {
            let scene = figure.content.scene(f64::from(width)).with_palette(palette);
            let bytes = match format {
                Format::Svg => scene.svg().into_bytes(),
                Format::Html => scene.html().into_bytes(),
                Format::Png => scene.png(PNG_SCALE).map_err(|error| {
                    Error::limit(format!("this figure cannot be drawn as pixels: {error}")).in_file(path)
                })?,
            };
            write_atomically(path, &bytes)?;
        }
        gnan::Result::Ok(())
    })?;
    Ok(files.into_iter().map(|(path, _, _)| path).collect())
}

/// Pixels of a PNG per pixel of the figure.
const PNG_SCALE: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn ids_become_parts_of_file_names() {
        let names = ["g7", "../../etc/passwd", "2,4-dinitro/phenol", "p0–p1", "..", "Öl_1"].map(file_name);
        assert_eq!(names, ["g7", "etc-passwd", "2-4-dinitro-phenol", "p0-p1", "", "Öl_1"]);
        assert_eq!(file_name(&"x".repeat(500)).len(), 60);
    }
}
