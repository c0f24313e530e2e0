//! Text files, read no further than the limits allow, with the number of each line at hand.

pub mod gzip;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::limits::Limits;

/// The text of a file, and where it came from.
pub struct Text {
    /// The file, or `archive.zip/member`.
    pub path: PathBuf,
    /// Its text, without a byte order mark.
    pub text: String,
}

impl Text {
    /// Reads the file at `path`, which may be compressed.
    pub fn open(path: &Path, limits: &Limits) -> Result<Text> {
        let bytes = gzip::expand(limits.read(path, "bytes")?, path, limits)?;
        Text::decode(path.to_path_buf(), bytes)
    }

    /// Takes bytes for UTF-8.
    pub fn decode(path: PathBuf, bytes: Vec<u8>) -> Result<Text> {
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Text { path, text: without_mark(text) }),
            Err(error) => {
                let (line, character) = position(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
                Err(Error::input("this is not UTF-8 text")
                    .in_file(path)
                    .on_line(line)
                    .at_character(character)
                    .with_remedy("save the file as UTF-8")
                    .caused_by(error))
            }
        }
    }

    /// The lines that are not blank, trimmed, each with its number counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &str)> {
        (1..).zip(self.text.lines().map(str::trim)).filter(|(_, line)| !line.is_empty())
    }

    /// The error with its place in this text: the line and character of a byte.
    pub fn place(&self, error: Error, byte: usize) -> Error {
        let (line, character) = position(&self.text.as_bytes()[..byte.min(self.text.len())]);
        error.in_file(&self.path).on_line(line).at_character(character)
    }

    /// An error about one line of this text.
    pub fn error(&self, line: u64, message: impl Into<String>) -> Error {
        Error::input(message).in_file(&self.path).on_line(line)
    }
}

fn without_mark(text: String) -> String {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_string(),
        None => text,
    }
}

/// The line and the character that follow some UTF-8 text, both counted from 1.
fn position(before: &[u8]) -> (u64, u64) {
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    // All bytes of a character but its first begin with the bits 10.
    let characters = before[line_start..].iter().filter(|&byte| byte & 0b1100_0000 != 0b1000_0000).count();
    (1 + newlines(before), 1 + characters as u64)
}

/// How many lines end within `bytes`.
pub fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// The files and folders inside a folder, by name.
pub fn children(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let mut paths: Vec<_> =
        entries.map_err(|error| Error::io(folder, error))?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}
