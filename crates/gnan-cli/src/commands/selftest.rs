//! `gnan selftest`: plants truths, trains on what they make, and says how well they were recovered.

use clap::Args;
use gnan::selftest::{COVERAGE_DATA_SETS, CoverageReport, CoverageVerdict, Selftest, SelftestReport};
use serde::Serialize;

use crate::args::heading::TRAINING;
use crate::cli::examples;
use crate::exit::{Answer, Result};
use crate::progress::SelftestProgress;
use crate::screen::{print, print_json};
use crate::style::{count, dim, heading};
use crate::table::{Align, Table};

const EXAMPLES: &str = examples!("gnan selftest", "gnan selftest --full", "gnan selftest --seed 3 --json");

/// Resamples behind every band of `--full`.
const RESAMPLES: usize = 100;

/// Arguments of `gnan selftest`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SelftestArgs {
    /// Also find out how often the 95 % bands hold the truth, over many simulated data sets; takes a while
    #[arg(long)]
    full: bool,

    /// Data sets that --full simulates of every case
    #[arg(long, value_name = "N", default_value_t = COVERAGE_DATA_SETS, requires = "full")]
    data_sets: usize,

    /// Seed of everything random
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
pub fn run(args: &SelftestArgs, json: bool) -> Result<Answer> {
    let selftest = Selftest { seed: args.seed };
    let progress = SelftestProgress::new();
    let report = selftest.run(&mut |at| progress.show(at))?;
    let coverage = match args.full {
        true => Some(selftest.bootstrap_coverage(args.data_sets, RESAMPLES, &mut |at| progress.show(at))?),
        false => None,
    };
    progress.finish();
    let covers = coverage.as_ref().is_none_or(|coverage| coverage.overall.verdict == CoverageVerdict::AsStated);
    if json {
        print_json(&Document { report: &report, coverage: coverage.as_ref() })?;
    } else {
        print(format!("{}{}", recovery(&report), coverage.as_ref().map(coverage_text).unwrap_or_default()))?;
    }
    Ok(if report.recovered && covers { Answer::Done } else { Answer::No })
}

fn recovery(report: &SelftestReport) -> String {
    let mut text = String::new();
    for case in &report.cases {
        let facts = format!(
            "{} graphs, {} nodes, {} items; {} epochs",
            count(case.graphs),
            count(case.nodes),
            count(case.items),
            count(case.epochs)
        );
        text.push_str(&format!("{}  {}\n", heading(&case.case), dim(facts)));
        let columns = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Left];
        let header = ["planted curve", "correlation", "error", "support", "verdict"];
        let mut table = Table::new(&columns).header(header);
        for row in &case.rows {
            let correlation = row.correlation.map(|correlation| format!("{correlation:.3}")).unwrap_or_default();
            let error = row.relative_error.map(|error| format!("{:.1} %", 100.0 * error)).unwrap_or_default();
            table.row([
                row.curve.clone(),
                correlation,
                error,
                count(row.support.round() as usize),
                row.verdict.words().to_owned(),
            ]);
        }
        text.push_str(&table.render());
        text.push('\n');
    }
    let answer =
        if report.recovered { "every planted curve was recovered" } else { "NOT every planted curve was recovered" };
    text.push_str(&format!("{answer} (correlation with the truth at least {})\n", report.least_correlation));
    text
}

fn coverage_text(report: &CoverageReport) -> String {
    let title = format!("how often 95 % bands hold the truth, over {} data sets of each case", count(report.data_sets));
    let columns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left];
    let header = ["case", "curve", "points", "coverage", "bias / half-width", "verdict"];
    let mut table = Table::new(&columns).header(header);
    for row in report.rows.iter().chain([&report.overall]) {
        table.row([
            row.case.clone(),
            row.curve.clone(),
            count(row.points),
            format!("{:.1} %", 100.0 * row.coverage),
            format!("{:.2}", row.bias),
            row.verdict.words().to_owned(),
        ]);
    }
    format!("\n{}\n{}", heading(title), table.render())
}
