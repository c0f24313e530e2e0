//! The two streams: results on stdout, messages on stderr. Colours are stripped where they are not wanted (`NO_COLOR`, a
//! pipe, a dumb terminal), and a reader that has gone away is not an error.

use std::io::{ErrorKind, Write};
use std::path::Path;

use gnan::run::DistanceCache;
use gnan::{Error, Spec};
use serde::Serialize;

use crate::exit::{Failure, Result};
use crate::style;

/// Prints a result for people.
pub fn print(text: impl AsRef<str>) -> Result<()> {
    written(write_line(&mut anstream::stdout().lock(), text.as_ref()))
}

/// Prints a result for programs, byte for byte.
pub fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    written(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Prints one JSON document.
pub fn print_json(document: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(document)
        .map_err(|error| Error::because("the result cannot be written as JSON", error))?;
    text.push(b'\n');
    print_bytes(&text)
}

/// Warns of what went wrong with the cache of distances, if there is one and anything did.
pub fn warn_of_cache(cache: Option<&DistanceCache>) {
    if let Some(problem) = cache.and_then(DistanceCache::problem) {
        eprint_line(format!("{}: {}", style::warning("warning"), style::escape_control(problem)));
    }
}

/// Notes options that were chosen and change nothing in any of these specifications.
pub fn note_without_effect(specs: &[Spec]) {
    let Some((first, others)) = specs.split_first() else { return };
    let elsewhere: Vec<_> = others.iter().map(Spec::without_effect).collect();
    for unused in first.without_effect() {
        if elsewhere.iter().all(|of_other| of_other.contains(&unused)) {
            let (name, why) = unused;
            eprint_line(format!("{}: --{name} has no effect: {why}", style::warning("note")));
        }
    }
}

/// Says something on stderr; if nobody listens, so be it.
pub fn eprint_line(text: impl AsRef<str>) {
    let _ = write_line(&mut anstream::stderr().lock(), text.as_ref());
}

fn write_line(stream: &mut impl Write, text: &str) -> std::io::Result<()> {
    stream.write_all(text.trim_end_matches('\n').as_bytes())?;
    stream.write_all(b"\n")?;
    stream.flush()
}

fn written(result: std::io::Result<()>) -> Result<()> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Pipe),
        Err(error) => Err(Error::io(Path::new("standard output"), error).into()),
    }
}
