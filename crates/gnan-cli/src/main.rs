//! The `gnan` command: a way into the library, with no mathematics of its own.
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
    keep_readers_quiet();
    let outcome = config::parse(std::env::args_os()).and_then(commands::run);
    exit::code(outcome)
}

/// Malformed Parquet files make their reader panic, which the library answers with an error: the panic itself is no news.
fn keep_readers_quiet() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(gnan::files::PARQUET_THREAD) {
            usual(panic);
        }
    }));
}
