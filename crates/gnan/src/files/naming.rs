//! What the name of a file says: the name of the data set in it, and the kind of file.

use std::path::Path;

/// What to call the data set at `path`.
pub fn name_of(path: &Path) -> String {
    let full = path.canonicalize();
    let path = full.as_deref().unwrap_or(path);
    let is_folder = path.is_dir();
    let name = if is_folder { path.file_name() } else { path.file_stem() };
    let mut name = name.map_or_else(|| "data".to_string(), |name| name.to_string_lossy().into_owned());
    // qm9.csv.gz is called qm9.
    if !is_folder && path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
        name.truncate(name.rfind('.').filter(|dot| *dot > 0).unwrap_or(name.len()));
    }
    name
}

/// Whether `path` is a file with this extension, in any case.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.is_file() && path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Whether a file is named with this extension, in any case; `.gz` behind it, of a compressed file, does not count.
pub fn has_ending(path: &Path, extension: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(&format!(".{extension}"))
}
