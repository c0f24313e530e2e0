//! Files of data sets that may be there compressed, and data sets of two such files whose names begin the same.

use std::path::{Path, PathBuf};

use gnan::internals::files::text::Text;
use gnan::limits::Limits;
use gnan::{Error, Result};

/// The text of a file that must be there, itself or compressed.
pub fn open_either(path: &Path, limits: &Limits) -> Result<Text> {
    let found = find(path).ok_or_else(|| Error::input("this file of the data set is missing").in_file(path))?;
    Text::open(&found, limits)
}

/// The file itself, or its compressed form `<file>.gz`, whichever there is.
pub fn find(path: &Path) -> Option<PathBuf> {
    let mut compressed = path.as_os_str().to_owned();
    compressed.push(".gz");
    [path.to_path_buf(), PathBuf::from(compressed)].into_iter().find(|path| path.is_file())
}

/// The path of the main file `<name><main>` of the set of two that a file belongs to, without the ending of a
/// compressed file.
pub fn main_of(path: &Path, main: &str, other: &str) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let stem = name.strip_suffix(main).or_else(|| name.strip_suffix(other)).filter(|stem| !stem.is_empty())?;
    (path.is_file() || find(path).is_some()).then(|| path.with_file_name(format!("{stem}{main}")))
}
