//! `gnan selftest`: plants truths, trains on what they make, and says how well they are recovered.

use std::time::Instant;

use clap::Args;
use gnan::numbers::{count, counted, duration, fixed, metric, percent};
use gnan::spec::ShapeKind;
use gnan_paper::selftest::{
    COVERAGE_DATA_SETS, CoverageReport, CoverageVerdict, CurveRow, CurveSort, LEAST_CORRELATION, Selftest,
    SelftestReport, Verdict,
};
use serde::Serialize;

use crate::args::heading::TRAINING;
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::progress::SelftestProgress;
use crate::screen::{print, print_json};
use crate::style::{BOLD, DIM, dim, heading};
use crate::table::{Align, Table};

const EXAMPLES: &str = examples!(
    "gnan selftest",
    "gnan selftest --full --seed 7",
    "gnan selftest --shape spline --rho-shape spline",
    "gnan selftest --json | jq .recovered"
);

/// Resamples behind every band of `--full`.
const RESAMPLES: usize = 100;

/// Arguments of `gnan selftest`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SelftestArgs {
    /// Also find out how often the 95 % bands hold the truth, over many simulated data sets; takes minutes
    #[arg(long)]
    full: bool,

    /// Data sets that --full simulates of every case
    #[arg(long, value_name = "N", default_value_t = COVERAGE_DATA_SETS, requires = "full")]
    data_sets: usize,

    /// Strength of L2 in place of the usual one, to see what it does to the curves
    #[arg(long, value_name = "STRENGTH", help_heading = TRAINING)]
    weight_decay: Option<f64>,

    /// What shape functions are made of [default: network]
    #[arg(long, value_name = "network|spline", help_heading = TRAINING)]
    shape: Option<ShapeKind>,

    /// What distance functions are made of [default: network]
    #[arg(long, value_name = "network|spline", help_heading = TRAINING)]
    rho_shape: Option<ShapeKind>,

    /// Strength of the smoothness of splines in place of the usual one
    #[arg(long, value_name = "STRENGTH", help_heading = TRAINING)]
    smooth: Option<f64>,

    /// Seed of graphs, values, labels and training
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = TRAINING)]
    seed: u64,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: &'a SelftestReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<&'a CoverageReport>,
}

/// Runs `gnan selftest`.
pub fn run(args: &SelftestArgs, json: bool) -> Result<Completion> {
    let start = Instant::now();
    let selftest = Selftest {
        seed: args.seed,
        weight_decay: args.weight_decay,
        shape: args.shape,
        rho_shape: args.rho_shape,
        smooth: args.smooth,
    };
    let progress = SelftestProgress::new();
    let result = selftest.run(&mut |at| progress.show(at));
    let seconds = start.elapsed().as_secs_f64();
    let coverage =
        args.full.then(|| selftest.bootstrap_coverage(args.data_sets, RESAMPLES, &mut |at| progress.show(at)));
    progress.finish();
    let (report, coverage) = (result?, coverage.transpose()?);
    if json {
        print_json(&Document { report: &report, coverage: coverage.as_ref() })?;
    } else {
        let coverage = coverage.as_ref().map(coverage_words).unwrap_or_default();
        print(format!("{}\n{coverage}", words(&report, seconds)))?;
    }
    let covers = coverage.is_none_or(|coverage| coverage.overall.verdict == CoverageVerdict::AsStated);
    Ok(if report.recovered && covers { Completion::Done } else { Completion::CheckFailed })
}

fn words(report: &SelftestReport, seconds: f64) -> String {
    let curves = report.rows().count();
    let recovered = report.rows().filter(|row| row.verdict == Verdict::Recovered).count();
    let title = heading(format!("{recovered} of {curves} planted curves recovered"));
    let time = dim(format!("{} in {}", counted(report.cases.len(), "case"), duration(seconds)));
    let note = dim(format!(
        "  a curve is recovered when it correlates with the truth above {LEAST_CORRELATION}; the structure term and \
         features\n  without effect are judged by their relative error and size"
    ));
    format!("{title}  {time}\n\n{}\n{note}", table(report).render())
}

fn table(report: &SelftestReport) -> Table {
    let columns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left];
    let header = ["case", "curve", "correlation", "relative error", "support", "verdict"];
    let mut table = Table::new(&columns).header(header);
    for row in report.rows() {
        let style = if row.verdict == Verdict::Recovered { DIM } else { BOLD };
        let mut cells = cells(row).map(|cell| (cell, anstyle::Style::new())).to_vec();
        cells[5].1 = style;
        table.painted_row(cells);
    }
    table
}

fn cells(row: &CurveRow) -> [String; 6] {
    let curve = match row.sort {
        CurveSort::NoEffect => format!("{} (no effect)", row.curve),
        _ => row.curve.clone(),
    };
    [
        row.case.clone(),
        curve,
        row.correlation.map(metric).unwrap_or_default(),
        row.relative_error.map(metric).unwrap_or_default(),
        count(row.support as usize),
        row.verdict.words().to_owned(),
    ]
}

fn coverage_words(report: &CoverageReport) -> String {
    let columns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left];
    let header = ["case", "curve", "points", "coverage", "bias / half-width", "verdict"];
    let mut table = Table::new(&columns).header(header);
    for row in report.rows.iter().chain([&report.overall]) {
        table.row([
            row.case.clone(),
            row.curve.clone(),
            count(row.points),
            percent(row.coverage, 1),
            fixed(row.bias, 2),
            row.verdict.words().to_owned(),
        ]);
    }
    let title =
        heading(format!("the 95 % bands hold the truth at {} of the points", percent(report.overall.coverage, 1)));
    let sets = dim(format!("{} of each case, {RESAMPLES} resamples each", counted(report.data_sets, "data set")));
    format!("\n{title}  {sets}\n\n{}", table.render())
}
