//! Options of every command.

use std::path::PathBuf;

use clap::{Args, value_parser};
use gnan::Error;

use super::heading::GENERAL;
use crate::exit::Result;

/// More threads than this are a slip of the keyboard.
const MOST_THREADS: i64 = 1024;

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub struct GeneralArgs {
    /// Print one JSON document on stdout instead of words
    #[arg(long, global = true, help_heading = GENERAL)]
    pub json: bool,

    /// Threads to work with; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", help_heading = GENERAL, value_parser = value_parser!(u16).range(1..=MOST_THREADS))]
    pub threads: Option<u16>,

    /// TOML file with options, e.g. learning-rate = 0.01; weaker than GNAN_* variables and flags
    #[arg(long, global = true, value_name = "FILE", help_heading = GENERAL)]
    pub config: Option<PathBuf>,
}

impl GeneralArgs {
    /// Makes the threads.
    pub fn apply(&self) -> Result<()> {
        let Some(threads) = self.threads else { return Ok(()) };
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .map_err(|error| Error::usage(format!("{threads} threads cannot be had: {error}")).into())
    }
}
