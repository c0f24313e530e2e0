//! `gnan check`: whether what a model assumes holds, in the manner of mgcv's `gam.check()`.

use std::path::PathBuf;

use clap::Args;
use gnan::ModelCheck;
use gnan::diagnostics::{BasisCheck, CalibrationCheck, ConcurvityCheck, ResidualCheck};
use gnan::evaluate::Judgement;
use gnan::numbers::{count, counted, fixed, metric, number, percent, significant};
use gnan_report::check_figures::check_figures;
use gnan_report::text::one_line;
use serde::Serialize;

use super::data::{FIRST_ROWS, NAME_WIDTH, rest};
use super::plot::{Format, write_figures};
use crate::args::heading::{DATA, OUTPUT};
use crate::args::{ForceArgs, OutputArgs, PaletteArgs, ReadArgs};
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::progress::working;
use crate::screen::{eprint_line, print};
use crate::style::{dim, heading};
use crate::table::{Align, Table, shorten};

const EXAMPLES: &str = examples!(
    "gnan check model.gnan my-data/",
    "gnan check model.gnan my-data/ --plot checks/    with figures of residuals and calibration",
    "gnan check model.gnan my-data/ --all -o checks.txt",
    "gnan check model.gnan my-data/ --json | jq '.concurvity.rows[] | {name, by_all}'",
);

/// Width of the figures in pixels.
const WIDTH: u16 = 860;

/// Arguments of `gnan check`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// The model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Data with targets, best those it was trained on, test part included: a path or the name of a built-in or fetched set
    #[arg(value_name = "DATA")]
    data: String,

    #[command(flatten)]
    read: ReadArgs,

    /// The test share that the model was trained with, for model files that do not remember their test items
    #[arg(long, value_name = "SHARE", help_heading = DATA, allow_negative_numbers = true)]
    test_share: Option<f64>,

    /// Also draw residuals, their quantiles and the calibration into this folder
    #[arg(long, value_name = "FOLDER", help_heading = OUTPUT)]
    plot: Option<PathBuf>,

    /// List every curve and term, not the first 20
    #[arg(long, help_heading = OUTPUT)]
    all: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    palette: PaletteArgs,

    #[command(flatten)]
    force: ForceArgs,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    items: usize,
    #[serde(flatten)]
    check: &'a ModelCheck,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    figures: Vec<PathBuf>,
}

/// Runs `gnan check`.
pub fn run(args: &CheckArgs, json: bool) -> Result<Completion> {
    args.output.check(args.force)?;
    let model = crate::args::load_model(&args.model)?;
    let data = args.read.open_for(&model, &args.data)?;
    let (judged, check) = working("checking", || -> gnan::Result<_> {
        let judged = Judgement::new(&model, &data, args.test_share)?;
        let check = ModelCheck::of(&model, &data, &judged)?;
        Ok((judged, check))
    })
    .map_err(|error| error.in_file(&args.data))?;
    let figures = match &args.plot {
        None => Vec::new(),
        Some(folder) => {
            let figures = check_figures(&check, model.definition());
            let formats = [Format::Svg, Format::Png, Format::Html];
            write_figures(folder, &figures, &formats, WIDTH, args.palette.palette(), args.force.force)?
        }
    };
    if json {
        let document = Document { items: judged.data.len(), check: &check, figures };
        let mut text = serde_json::to_vec_pretty(&document)
            .map_err(|error| gnan::Error::because("the result cannot be written as JSON", error))?;
        text.push(b'\n');
        args.output.write(&text, "the checks")?;
        return Ok(Completion::Done);
    }
    let shown = if args.all { usize::MAX } else { FIRST_ROWS };
    let title = heading(format!("checks of {}", args.model.display()));
    let on = dim(format!("{} on {}", counted(judged.data.len(), "item"), args.data));
    let text = format!("{title}  {on}\n\n{}", words(&check, shown));
    // Text for people goes to the terminal with its colours, to a file without.
    match &args.output.output {
        None => print(text)?,
        Some(_) => args.output.write(anstream::adapter::strip_str(&text).to_string().as_bytes(), "the checks")?,
    }
    if let Some(folder) = &args.plot {
        eprint_line(format!("wrote {} to {}", counted(figures.len(), "file"), heading(folder.display())));
    }
    Ok(Completion::Done)
}

/// All checks as tables, each with its sentence.
fn words(check: &ModelCheck, shown: usize) -> String {
    let mut parts = vec![residuals(&check.residuals)];
    parts.extend(check.calibration.as_ref().map(calibration));
    parts.extend(check.basis.as_ref().map(|check| basis(check, shown)));
    parts.extend(check.concurvity.as_ref().map(|check| concurvity(check, shown)));
    parts.extend(check.left_out.iter().map(|sentence| format!("{}\n", dim(sentence))));
    parts.join("\n")
}

fn section(name: &str, table: &Table, sentence: &str) -> String {
    format!("{}\n{}  {}\n", heading(name), table.render(), one_line(sentence))
}

fn residuals(check: &ResidualCheck) -> String {
    let mut facts = Table::facts();
    facts.fact("residuals", format!("{}: {}", count(check.count), check.kind));
    facts.fact("mean, sd", format!("{}, {}", number(check.mean), number(check.sd)));
    facts.fact(
        "skewness, excess kurtosis",
        format!("{}, {}", fixed(check.skewness, 2), fixed(check.excess_kurtosis, 2)),
    );
    let straight = format!("{} (p = {})", metric(check.straightness), significant(check.normal_p_value, 2));
    facts.fact("correlation with normal quantiles", straight);
    facts.fact("size against prediction", format!("correlation {}", fixed(check.spread_trend, 2)));
    let index = format!("{} (p = {})", fixed(check.index_by_prediction, 2), significant(check.index_p_value, 2));
    facts.fact("k-index by prediction", index);
    section("residuals", &facts, &check.sentence)
}

fn calibration(check: &CalibrationCheck) -> String {
    let mut table =
        Table::new(&[Align::Right; 4]).header(["predictions", "mean predicted", "observed", "95 % interval"]);
    for group in &check.groups {
        table.row([
            count(group.count),
            metric(group.predicted),
            metric(group.observed),
            format!("{} to {}", metric(group.lower), metric(group.upper)),
        ]);
    }
    let slope = match (check.slope, check.slope_interval) {
        (Some(slope), Some([low, high])) => {
            format!("slope of log-odds {} ({} to {})", fixed(slope, 2), fixed(low, 2), fixed(high, 2))
        }
        _ => "the slope of log-odds cannot be estimated".to_owned(),
    };
    let numbers = format!(
        "{}; expected calibration error {}; p = {} ({})",
        slope,
        metric(check.error),
        significant(check.p_value, 2),
        check.of
    );
    format!("{}  {}\n", section("calibration", &table, &check.sentence), dim(numbers))
}

fn basis(check: &BasisCheck, shown: usize) -> String {
    let [left, right] = [Align::Left, Align::Right];
    let mut table = Table::new(&[left, right, right, right, right, right])
        .header(["along", "k'", "edf", "knots", "k-index", "p-value"]);
    for row in check.rows.iter().take(shown) {
        table.row([
            shorten(&one_line(&row.name), NAME_WIDTH),
            row.coefficients.map(count).unwrap_or_default(),
            row.edf.map(|edf| fixed(edf, 1)).unwrap_or_default(),
            row.knots.map(count).unwrap_or_default(),
            fixed(row.k_index, 2),
            significant(row.p_value, 2),
        ]);
    }
    let legend = "k': coefficients of the whole term, at all values and distances; k-index: variance of differences of residuals that \
                  follow one another, 1 where their order means nothing";
    format!(
        "{}{}  {}\n",
        section("knots of curves", &table, &check.sentence),
        rest(check.rows.len(), shown),
        dim(legend)
    )
}

fn concurvity(check: &ConcurvityCheck, shown: usize) -> String {
    let [left, right] = [Align::Left, Align::Right];
    let mut table =
        Table::new(&[left, right, left, right]).header(["term", "explained by others", "nearest", "by it alone"]);
    for row in check.rows.iter().take(shown) {
        table.row([
            shorten(&one_line(&row.name), NAME_WIDTH),
            percent(row.by_all, 0),
            shorten(&one_line(&row.nearest), NAME_WIDTH),
            percent(row.by_nearest, 0),
        ]);
    }
    format!("{}{}", section("concurvity", &table, &check.sentence), rest(check.rows.len(), shown))
}
