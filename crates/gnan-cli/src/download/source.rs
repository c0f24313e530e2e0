//! Where files come from: the addresses of the catalogue, another address, or a folder.

use std::path::{Path, PathBuf};

use gnan::{Error, Result};
use gnan_paper::catalogue::RemoteFile;

/// Where files come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Each from its public address.
    Origin,
    /// All from below one address.
    Address(String),
    /// All from below a folder.
    Folder(PathBuf),
}

impl Source {
    /// The value of `--mirror`: an address, or the path of a folder.
    pub fn mirror(text: &str) -> Result<Source> {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_lowercase());
        match scheme.as_deref() {
            Some("http" | "https") => Ok(Source::Address(text.trim_end_matches('/').to_owned())),
            Some(_) => Err(Error::usage(format!("the mirror \"{text}\" is neither an http address nor a folder"))
                .with_remedy("give https://... or the path of a folder")),
            None if Path::new(text).is_dir() => Ok(Source::Folder(PathBuf::from(text))),
            None => Err(Error::usage(format!("there is no folder \"{text}\" to be the mirror"))
                .with_remedy("an address begins with https://")),
        }
    }

    /// The address of a file; a folder has none and gives the path.
    pub fn address(&self, file: &RemoteFile) -> String {
        match self {
            Source::Origin => file.url.to_owned(),
            Source::Address(base) => format!("{base}/{}", file.path),
            Source::Folder(folder) => folder.join(file.path).display().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_is_an_address_or_a_folder() {
        let address = Source::mirror("HTTPS://example.org/data//").unwrap();
        assert_eq!(address, Source::Address("HTTPS://example.org/data".to_owned()));
        assert!(matches!(Source::mirror(".").unwrap(), Source::Folder(_)));
        for text in ["ftp://example.org", "file:///tmp", "no/such/folder", ""] {
            assert!(Source::mirror(text).is_err(), "{text}");
        }
    }
}
