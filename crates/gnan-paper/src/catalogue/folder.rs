//! Where data sets are kept, so that what fetches them and what opens them agree.

use std::ffi::OsString;
use std::path::PathBuf;

use gnan::error::{Error, Result};

/// The variable that names the folder of data sets.
pub const FOLDER_VARIABLE: &str = "GNAN_DATA";

/// The folder of data sets: `$GNAN_DATA`, or else `gnan` in the cache folder of the system.
pub fn folder() -> Result<PathBuf> {
    place(variable, std::env::consts::OS).ok_or_else(unknown)
}

/// The folder of whatever else is worth keeping: `gnan` in the cache folder of the system.
pub fn cache_folder() -> Result<PathBuf> {
    let without_data = |name: &str| if name == FOLDER_VARIABLE { None } else { variable(name) };
    place(without_data, std::env::consts::OS).ok_or_else(unknown)
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn unknown() -> Error {
    Error::usage("no folder for data sets: neither a home nor a cache folder is known")
        .with_remedy(format!("set {FOLDER_VARIABLE} to a folder"))
}

fn place(variable: impl Fn(&str) -> Option<OsString>, system: &str) -> Option<PathBuf> {
    // Relative paths would change their meaning with the working folder; the cache folder's standard says to ignore them.
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.has_root());
    if let Some(chosen) = variable(FOLDER_VARIABLE) {
        return Some(PathBuf::from(chosen));
    }
    let cache = match system {
        "windows" => absolute("LOCALAPPDATA"),
        "macos" => absolute("HOME").map(|home| home.join("Library").join("Caches")),
        _ => absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache"))),
    };
    cache.map(|cache| cache.join("gnan"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)], system: &str) -> Option<String> {
        let get =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        place(get, system).map(|path| path.display().to_string().replace('\\', "/"))
    }

    #[test]
    fn the_variable_comes_first_then_the_cache_of_the_system() {
        let all =
            [("GNAN_DATA", "data"), ("XDG_CACHE_HOME", "/cache"), ("HOME", "/home/me"), ("LOCALAPPDATA", "/local")];
        assert_eq!(with(&all, "linux").as_deref(), Some("data"));
        assert_eq!(with(&all[1..], "linux").as_deref(), Some("/cache/gnan"));
        assert_eq!(with(&all[2..], "linux").as_deref(), Some("/home/me/.cache/gnan"));
        assert_eq!(with(&all[1..], "macos").as_deref(), Some("/home/me/Library/Caches/gnan"));
        assert_eq!(with(&all[1..], "windows").as_deref(), Some("/local/gnan"));
        assert_eq!(with(&[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")], "linux").as_deref(), Some("/h/.cache/gnan"));
        assert_eq!(with(&[], "linux"), None);
    }
}
