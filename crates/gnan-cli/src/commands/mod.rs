//! One file per command: its arguments, what it does, what it prints.

pub mod completions;
pub mod data;
pub mod demo;
pub mod evaluate;
pub mod inspect;
pub mod predict;
pub mod selftest;
pub mod train;

use crate::cli::{Cli, Command};
use crate::exit::{Answer, Result};

/// Runs the chosen command.
pub fn run(cli: Cli) -> Result<Answer> {
    cli.general.apply()?;
    let json = cli.general.json;
    match cli.command {
        Command::Demo(args) => demo::run(&args, json),
        Command::Data(args) => data::run(&args, json),
        Command::Train(args) => train::run(&args, json),
        Command::Evaluate(args) => evaluate::run(&args, json),
        Command::Predict(args) => predict::run(&args, json),
        Command::Inspect(args) => inspect::run(&args, json),
        Command::Selftest(args) => selftest::run(&args, json),
        Command::Completions(args) => completions::run(&args),
    }
}
