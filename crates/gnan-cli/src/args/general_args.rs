//! Options of every command.

use std::path::PathBuf;

use clap::{Args, value_parser};
use gnan::{Error, memory};

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

    /// Most memory to take, such as 500MB, 2GB or 1.5GiB; what does not fit is done in a leaner way or refused before it
    /// starts, and results do not depend on it [default: three quarters of what is free]
    #[arg(long, global = true, value_name = "SIZE", help_heading = GENERAL, value_parser = size)]
    pub memory: Option<u64>,

    /// TOML file with options, e.g. learning-rate = 0.01; weaker than GNAN_* variables and flags
    #[arg(long, global = true, value_name = "FILE", help_heading = GENERAL)]
    pub config: Option<PathBuf>,
}

impl GeneralArgs {
    /// Sets the limit of memory and makes the threads.
    pub fn apply(&self) -> Result<()> {
        if let Some(bytes) = self.memory {
            memory::set_limit(bytes);
        }
        let Some(threads) = self.threads else { return Ok(()) };
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .map_err(|error| Error::usage(format!("{threads} threads cannot be had: {error}")).into())
    }
}

fn size(text: &str) -> std::result::Result<u64, String> {
    memory::parse_size(text).map_err(|error| error.to_string().replace("\n  ", ": "))
}
