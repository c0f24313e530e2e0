//! One error type for the whole library: what was wrong, where, and what to do about it.
//!
//! An [`Error`] is written for the person who caused it. It carries a kind (so that a program can react), a sentence,
//! the file, line and column where there are any, a [`Remedy`] where one is known, and the error of another library that
//! caused it, if one did. The sentence is complete without that cause.

use std::error::Error as StdError;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::remedy::{Plain, Remedy, Wording};

/// What sort of problem an [`Error`] reports.
///
/// ```
/// use gnan::{Dataset, ErrorKind};
/// let error = Dataset::open("no/such/file.csv").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Input);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An option has a value that makes no sense, or options contradict each other.
    Usage,
    /// A file or a value in it is not what it should be.
    Input,
    /// The input is larger than the limits allow.
    Limit,
    /// The operating system refused to read or write.
    Io,
    /// Training could not produce a usable model.
    Training,
    /// The work was cancelled.
    Cancelled,
    /// The model file was written by a newer version of this library.
    Version,
}

/// The column of a line that an [`Error`] is about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorColumn {
    /// A character of a text, counted from 1.
    Character(u64),
    /// A column of a table, by its name, or its number where it has none.
    Named(String),
}

/// An error: what was wrong, in which file, line and column, and what to do.
///
/// ```
/// use gnan::Dataset;
/// let error = Dataset::open("no/such/file.csv").unwrap_err();
/// println!("{error}");
/// assert!(error.remedy().is_some());
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    file: Option<PathBuf>,
    line: Option<u64>,
    column: Option<ErrorColumn>,
    remedy: Option<Remedy>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The result of everything in this library that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Error(Box::new(Inner { kind, message, file: None, line: None, column: None, remedy: None, source: None }))
    }

    /// An option that cannot be followed.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// A file, or a value in it, that is not what it should be.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// An input larger than the limits.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    /// Training that did not lead to a model.
    pub fn training(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Training, message)
    }

    /// Work that was cancelled.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the work was cancelled")
    }

    /// A model file from a newer version.
    pub fn version(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Version, message)
    }

    /// A refusal of the operating system concerning `path`.
    pub fn io(path: &Path, error: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, error.to_string()).in_file(path).caused_by(error)
    }

    /// A file that another library could not read or write: what could not be done, and that library's reason.
    pub fn because(what: impl fmt::Display, source: impl StdError + Send + Sync + 'static) -> Self {
        Self::input(format!("{what}: {source}")).caused_by(source)
    }

    /// A JSON text that cannot be read, with its line and column.
    pub(crate) fn json(what: impl fmt::Display, error: serde_json::Error) -> Self {
        let words = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let reason = words.strip_suffix(&place).unwrap_or(&words);
        let place = (error.line() as u64, error.column() as u64);
        let refusal = Self::input(format!("{what}: {reason}")).caused_by(error);
        match place {
            (0, _) => refusal,
            (line, 0) => refusal.on_line(line),
            (line, column) => refusal.on_line(line).at_character(column),
        }
    }

    /// Puts in front of the sentence what it is about: `graph "7": there is no list "nodes"`.
    pub fn about(mut self, what: impl fmt::Display) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    /// Names the file the problem is in, unless one is named already.
    pub fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        self.0.file.get_or_insert_with(|| path.as_ref().to_path_buf());
        self
    }

    /// Names the line (counted from 1) the problem is on, unless one is named already.
    pub fn on_line(mut self, line: u64) -> Self {
        self.0.line.get_or_insert(line);
        self
    }

    /// Names the character of the line (counted from 1) where the problem is, unless a column is named already.
    pub fn at_character(mut self, number: u64) -> Self {
        self.0.column.get_or_insert(ErrorColumn::Character(number));
        self
    }

    /// Names the column of a table that the problem is in (its number where it has no name), unless one is named already.
    pub fn in_column(mut self, name: impl Into<String>) -> Self {
        self.0.column.get_or_insert_with(|| ErrorColumn::Named(name.into()));
        self
    }

    /// Adds what to do about it.
    pub fn with_remedy(mut self, remedy: impl Into<Remedy>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// Keeps the error of another library that was the cause.
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What sort of problem this is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The file the problem is in, where there is one.
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The line the problem is on, counted from 1, where there is one.
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// The column the problem is in, where it is known.
    pub fn column(&self) -> Option<&ErrorColumn> {
        self.0.column.as_ref()
    }

    /// What to do about it, where that is known.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.0.remedy.as_ref()
    }

    /// The whole error with its remedy in the words of one caller: place and sentence on the first line, remedy below.
    pub fn in_words(&self, wording: &dyn Wording) -> String {
        let inner = &self.0;
        let mut words = String::new();
        if let Some(file) = &inner.file {
            words += &file.display().to_string();
            words.extend(inner.line.map(|line| format!(":{line}")));
            // The sentence itself names the column of a table.
            if let (Some(_), Some(ErrorColumn::Character(number))) = (inner.line, &inner.column) {
                words += &format!(":{number}");
            }
            words += ": ";
        }
        words += &inner.message;
        words.extend(inner.remedy.iter().map(|remedy| format!("\n  {}", remedy.in_words(wording))));
        words
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&Plain))
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_file_line_sentence_remedy() {
        let error = Error::input("node \"x\" is not in nodes.csv").in_file("edges.csv").on_line(7);
        let error = error.in_column("source").with_remedy("add it");
        assert_eq!(error.to_string(), "edges.csv:7: node \"x\" is not in nodes.csv\n  add it");
        assert_eq!(error.kind(), ErrorKind::Input);
        assert_eq!(error.column(), Some(&ErrorColumn::Named("source".into())));
        assert_eq!(error.remedy(), Some(&Remedy::Advice("add it".into())));
    }

    #[test]
    fn the_column_of_a_text_follows_its_line() {
        let error = Error::input("a comma is missing").in_file("splits.json").on_line(3).at_character(14);
        assert_eq!(error.to_string(), "splits.json:3:14: a comma is missing");
    }

    #[test]
    fn the_first_place_named_is_kept() {
        let error = Error::input("bad").in_file("inner.csv").in_file("outer.zip");
        assert_eq!(error.file(), Some(Path::new("inner.csv")));
    }

    #[test]
    fn the_cause_is_kept() {
        let error = Error::io(Path::new("x"), std::io::ErrorKind::NotFound.into());
        let cause = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        assert_eq!(cause.map(std::io::Error::kind), Some(std::io::ErrorKind::NotFound));
    }
}
