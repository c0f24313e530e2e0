//! One file per command: its arguments, what it does, what it prints.

pub mod bootstrap;
pub mod check;
pub mod completions;
pub mod data;
pub mod demo;
pub mod evaluate;
pub mod explain;
pub mod export;
pub mod inspect;
pub mod plan;
pub mod plot;
pub mod predict;
pub mod report;
pub mod reproduce;
pub mod selftest;
pub mod summary;
pub mod train;

use crate::cli::{Cli, Command};
use crate::exit::{Completion, Result};

/// Runs the chosen command.
pub fn run(cli: Cli) -> Result<Completion> {
    cli.general.apply()?;
    let json = cli.general.json;
    match cli.command {
        Command::Demo(args) => demo::run(&args, json),
        Command::Data(args) => data::run(&args, json),
        Command::Plan(args) => plan::run(&args, json),
        Command::Train(args) => train::run(&args, json),
        Command::Evaluate(args) => evaluate::run(&args, json),
        Command::Predict(args) => predict::run(&args, json),
        Command::Explain(args) => explain::run(&args, json),
        Command::Plot(args) => plot::run(&args, json),
        Command::Report(args) => report::run(&args, json),
        Command::Bootstrap(args) => bootstrap::run(&args, json),
        Command::Export(args) => export::run(&args, json),
        Command::Inspect(args) => inspect::run(&args, json),
        Command::Summary(args) => summary::run(&args, json),
        Command::Check(args) => check::run(&args, json),
        Command::Reproduce(args) => reproduce::run(&args, json),
        Command::Selftest(args) => selftest::run(&args, json),
        Command::Completions(args) => completions::run(&args),
    }
}
