//! Options of every command.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::{Args, value_parser};
use gnan::memory::{self, MemoryLimit};
use gnan::{Error, Limits, Model, Run};

use super::heading::GENERAL;
use crate::exit::Result;
use crate::progress;

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
    /// Makes the run that every command uses.
    pub fn apply(&self) -> Result<()> {
        let memory = self.memory.map_or_else(MemoryLimit::usual, MemoryLimit::of);
        let run = Run::default().with_memory(memory).observed_by(progress::show_work());
        if let Some(threads) = self.threads {
            let built = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
            built.map_err(|error| Error::usage(format!("{threads} threads are not available: {error}")))?;
        }
        RUN.set(run).map_err(|_| Error::usage("the command was set up twice").into())
    }
}

/// How this command works: there is one run in this process.
static RUN: OnceLock<Run> = OnceLock::new();

/// How this command works.
pub fn run() -> Run {
    RUN.get().cloned().unwrap_or_default()
}

/// Reads a model file within the memory that this command may take.
pub fn load_model(path: impl AsRef<Path>) -> Result<Model> {
    Ok(Model::load_within(path, &Limits { memory: run().memory, ..Limits::default() })?)
}

fn size(text: &str) -> std::result::Result<u64, String> {
    memory::parse_size(text).map_err(|error| error.to_string().replace("\n  ", ": "))
}
