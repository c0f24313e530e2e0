//! One error type for the whole library: what was wrong, where, and what to do about it.
//!
//! An [`Error`] is written for the person who caused it. It carries a kind (so that a program can react),
//! a sentence, the file and line where there is one, and a remedy where one is known.

use std::fmt;
use std::path::{Path, PathBuf};

/// What sort of trouble an [`Error`] reports.
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
    /// The model file was written by a newer version of this library.
    Version,
}

/// An error: what was wrong, in which file and line, and what to do.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    file: Option<PathBuf>,
    line: Option<u64>,
    remedy: Option<String>,
}

/// The result of everything in this library that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), file: None, line: None, remedy: None }))
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

    /// A model file from a newer version.
    pub fn version(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Version, message)
    }

    /// A refusal of the operating system concerning `path`.
    pub fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::new(ErrorKind::Io, error.to_string()).in_file(path)
    }

    /// Names the file the trouble is in, unless one is named already.
    pub fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        self.0.file.get_or_insert_with(|| path.as_ref().to_path_buf());
        self
    }

    /// Names the line (counted from 1) the trouble is on, unless one is named already.
    pub fn on_line(mut self, line: u64) -> Self {
        self.0.line.get_or_insert(line);
        self
    }

    /// Names what the trouble is about, in front of the sentence.
    pub fn concerning(mut self, what: &str) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    /// Says what to do about it.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// What sort of trouble this is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The file the trouble is in, where there is one.
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The line the trouble is on, where there is one.
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        if let Some(file) = &inner.file {
            write!(f, "{}", file.display())?;
            if let Some(line) = inner.line {
                write!(f, ":{line}")?;
            }
            write!(f, ": ")?;
        }
        write!(f, "{}", inner.message)?;
        if let Some(remedy) = &inner.remedy {
            write!(f, "\n  {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_file_line_sentence_remedy() {
        let error = Error::input("node \"x\" is not in nodes.csv").in_file("edges.csv").on_line(7).remedy("add it");
        assert_eq!(error.to_string(), "edges.csv:7: node \"x\" is not in nodes.csv\n  add it");
        assert_eq!(error.kind(), ErrorKind::Input);
    }

    #[test]
    fn the_first_place_named_is_kept() {
        let error = Error::input("bad").in_file("inner.csv").in_file("outer.zip");
        assert_eq!(error.file(), Some(Path::new("inner.csv")));
    }
}
