//! `gnan selftest`: plants truths, trains on what they make, and says how well they are recovered.

use std::time::Instant;

use clap::Args;
use gnan::selftest::{CurveRow, CurveSort, LEAST_CORRELATION, Selftest, SelftestReport, Verdict};

use crate::args::heading::TRAINING;
use crate::cli::examples;
use crate::exit::{Answer, Result};
use crate::progress::SelftestProgress;
use crate::screen::{print, print_json};
use crate::style::{BOLD, DIM, count, counted, dim, duration, heading, metric};
use crate::table::{Align, Table};

const EXAMPLES: &str = examples!("gnan selftest", "gnan selftest --seed 7", "gnan selftest --json | jq .recovered");

/// Arguments of `gnan selftest`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SelftestArgs {
    /// Seed of graphs, values, labels and training
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = TRAINING)]
    seed: u64,
}

/// Runs `gnan selftest`.
pub fn run(args: &SelftestArgs, json: bool) -> Result<Answer> {
    let start = Instant::now();
    let progress = SelftestProgress::new();
    let result = Selftest { seed: args.seed }.run(&mut |at| progress.show(at));
    progress.finish();
    let report = result?;
    if json {
        print_json(&report)?;
    } else {
        print(words(&report, start.elapsed().as_secs_f64()))?;
    }
    Ok(if report.recovered { Answer::Done } else { Answer::No })
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
