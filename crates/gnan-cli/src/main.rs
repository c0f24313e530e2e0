//! The `gnan` command: a door to the library, with no mathematics of its own.
//!
//! ```text
//! arguments (cli, config, args) -> one file per command (commands) -> stdout and stderr (screen, table, bars, progress)
//! ```

mod amounts;
mod args;
mod bars;
mod cli;
mod commands;
mod config;
mod download;
mod exit;
mod findings;
mod interrupt;
mod intervals;
mod ledger;
mod metric_table;
mod paper;
mod progress;
mod remedy;
mod screen;
mod style;
mod table;

fn main() -> std::process::ExitCode {
    progress::listen();
    let outcome = config::parse(std::env::args_os()).and_then(commands::run);
    exit::code(outcome)
}
