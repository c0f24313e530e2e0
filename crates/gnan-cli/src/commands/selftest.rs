//! `gnan selftest`: plants truths, trains on what they make, and says how well they are recovered.

use std::time::Instant;

use clap::Args;
use gnan::numbers::{count, counted, duration, fixed, metric, percent};
use gnan::spec::ShapeKind;
use gnan_paper::selftest::{
    ACCEPTED_FALSE, ACCEPTED_POSTERIOR, CoverageReport, CoverageVerdict, CurveRow, CurveSort, LEAST_CORRELATION,
    POSTERIOR_DATA_SETS, PosteriorReport, Progress, Selftest, SelftestReport, Verdict,
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
    "gnan selftest --full",
    "gnan selftest --full --data-sets 5 --seed 7",
    "gnan selftest --shape spline --rho-shape spline",
    "gnan selftest --json | jq .recovered"
);

/// Resamples behind every band of `--full --bootstrap`.
const RESAMPLES: usize = 100;

/// Arguments of `gnan selftest`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SelftestArgs {
    /// Also fit simulated data sets by penalised likelihood and count how often its 95 % bands hold the truth; takes minutes
    #[arg(long)]
    full: bool,

    /// Data sets that --full simulates of every case
    #[arg(long, value_name = "N", default_value_t = POSTERIOR_DATA_SETS, requires = "full")]
    data_sets: usize,

    /// With --full, count the bands of a bootstrap of networks instead; takes hours
    #[arg(long, requires = "full")]
    bootstrap: bool,

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
    #[serde(skip_serializing_if = "Option::is_none")]
    posterior: Option<&'a PosteriorReport>,
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
    let watch = &mut |at: &Progress<'_>| progress.show(at);
    let (coverage, posterior) = match (args.full, args.bootstrap) {
        (false, _) => (None, None),
        (true, true) => (Some(selftest.bootstrap_coverage(args.data_sets, RESAMPLES, watch)), None),
        (true, false) => (None, Some(selftest.posterior_coverage(args.data_sets, watch))),
    };
    progress.finish();
    let (report, coverage, posterior) = (result?, coverage.transpose()?, posterior.transpose()?);
    if json {
        print_json(&Document { report: &report, coverage: coverage.as_ref(), posterior: posterior.as_ref() })?;
    } else {
        let coverage = coverage.as_ref().map(coverage_words).unwrap_or_default();
        let posterior = posterior.as_ref().map(posterior_words).unwrap_or_default();
        print(format!("{}\n{coverage}{posterior}", words(&report, seconds)))?;
    }
    let covers = coverage.is_none_or(|coverage| coverage.overall.verdict == CoverageVerdict::AsStated);
    let holds = posterior.is_none_or(|posterior| posterior.holds());
    Ok(if report.recovered && covers && holds { Completion::Done } else { Completion::CheckFailed })
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

fn posterior_words(report: &PosteriorReport) -> String {
    let [left, right] = [Align::Left, Align::Right];
    let columns = [left, left, right, right, right, right, left];
    let header = ["case", "curve", "points", "coverage", "error / sd", "bias / sd", "verdict"];
    let mut table = Table::new(&columns).header(header);
    for row in &report.rows {
        table.row([
            row.case.clone(),
            row.curve.clone(),
            fixed(row.points, 0),
            format!("{} +- {}", percent(row.coverage, 1), fixed(100.0 * row.standard_error, 1)),
            fixed(row.error_in_sds, 2),
            fixed(row.bias_in_sds, 2),
            row.reason.clone(),
        ]);
    }
    let mut tests = Table::new(&[left, right, right, right, right]).header([
        "case",
        "tested",
        "called reliable",
        "share",
        "seconds per data set",
    ]);
    for case in &report.false_alarms {
        tests.row([
            case.case.clone(),
            count(case.tested),
            count(case.called),
            percent(case.share(), 1),
            fixed(case.seconds, 1),
        ]);
    }
    let title = heading("how often the 95 % bands of penalised fits hold the truth");
    let sets = dim(format!("{} of each case", counted(report.data_sets, "data set")));
    let [low, high] = ACCEPTED_POSTERIOR.map(|share| percent(share, 0));
    let note = dim(format!(
        "  points: of a data set, on average; error / sd: root mean square error in the standard deviations that bands state,\n  \
         1 where these are right; bias / sd: what all data sets have in common of it; as stated: {low} to {high}"
    ));
    let [few, many] = ACCEPTED_FALSE.map(|share| percent(share, 0));
    let tests_title = heading("a feature without effect, tested at 5 %");
    let tests_note = dim(format!("  it should be called reliable in {few} to {many} of the data sets"));
    format!("\n{title}  {sets}\n\n{}\n{note}\n\n{tests_title}\n\n{}\n{tests_note}", table.render(), tests.render())
}
