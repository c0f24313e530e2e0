//! Writing results: what is there already stays there unless the user says otherwise.

use std::path::{Path, PathBuf};

use clap::Args;
use gnan::output::{AtomicFile, write_atomically};
use gnan::{Error, Result};

use super::heading::OUTPUT;
use crate::exit;
use crate::interrupt;
use crate::screen::{eprint_line, print_bytes};
use crate::style::heading;

/// Permission to overwrite.
#[derive(Args, Clone, Copy, Debug)]
pub struct ForceArgs {
    /// Replace files that exist already
    #[arg(long, help_heading = OUTPUT)]
    pub force: bool,
}

/// Where results go.
#[derive(Args, Clone, Debug)]
pub struct OutputArgs {
    /// Where to write the result [default: stdout]
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,
}

impl OutputArgs {
    /// Refuses a file that cannot be written, before any work is done for it.
    pub fn check(&self, force: ForceArgs) -> Result<()> {
        self.output.as_deref().map_or(Ok(()), |path| check_can_write(path, force.force))
    }

    /// Writes a result whole, and says so where it does not go to stdout.
    pub fn write(&self, bytes: &[u8], what: &str) -> exit::Result<()> {
        let Some(path) = &self.output else { return print_bytes(bytes) };
        write_atomically(path, bytes)?;
        eprint_line(format!("wrote {what} to {}", heading(path.display())));
        Ok(())
    }
}

/// Where a result goes that is written as it is made.
pub enum Sink {
    /// To stdout, at once.
    Stdout,
    /// To a file, which appears when it is whole.
    File(AtomicFile),
}

impl Sink {
    /// Opens what the arguments name; Ctrl-C leaves no half a file.
    pub fn open(args: &OutputArgs) -> exit::Result<Sink> {
        let Some(path) = &args.output else { return Ok(Sink::Stdout) };
        interrupt::listen("stopping; nothing will be written")?;
        Ok(Sink::File(AtomicFile::create(path)?))
    }

    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) -> exit::Result<()> {
        match self {
            Sink::Stdout => print_bytes(bytes),
            Sink::File(file) => Ok(file.write(bytes)?),
        }
    }

    /// Makes a file appear, and says what was written.
    pub fn close(self, args: &OutputArgs, what: &str) -> exit::Result<()> {
        if let (Sink::File(file), Some(path)) = (self, &args.output) {
            file.commit()?;
            eprint_line(format!("wrote {what} to {}", heading(path.display())));
        }
        Ok(())
    }
}

/// Refuses a path that cannot be written, before any work is done for it.
pub fn check_can_write(path: &Path, force: bool) -> Result<()> {
    if path.is_dir() {
        return Err(Error::usage("this is a folder, not a file")
            .in_file(path)
            .with_remedy("name a file with --output"));
    }
    if path.exists() && !path.is_file() {
        // Writing renames a finished file into place: a device or a pipe would be lost.
        return Err(Error::usage("this is not an ordinary file")
            .in_file(path)
            .with_remedy("name a file with --output"));
    }
    if path.exists() && !force {
        return Err(Error::usage("this file exists already")
            .in_file(path)
            .with_remedy("use --force to replace it, or --output to write elsewhere"));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(Error::usage("there is no such folder to write into")
            .in_file(folder)
            .with_remedy("create it first"));
    }
    // Permissions, read-only file systems, quotas: the only honest answer comes from trying.
    let probe = folder.join(format!(".gnan-probe-{}", std::process::id()));
    let tried = std::fs::File::create_new(&probe);
    let _ = std::fs::remove_file(&probe);
    tried.map(drop).map_err(|error| Error::io(folder, error).with_remedy("this folder cannot be written into"))
}
