//! Several files that travel together: a folder, or a zip archive.
//!
//! An archive is never unpacked to disk. What counts against the limit is what its members really expand to, not what
//! the archive claims, and the sum over all members that were read.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use crate::error::{Error, Result};
use crate::files::text::{Text, children};
use crate::limits::{Limits, read_at_most};

/// The files of a folder (not of its subfolders) or of an archive.
pub struct Bundle {
    path: PathBuf,
    members: Vec<BundleMember>,
    archive: Option<ZipArchive<BufReader<File>>>,
    limits: Limits,
    /// Bytes that an archive may still expand to.
    bytes_left: u64,
}

struct BundleMember {
    name: String,
    /// Position in the archive.
    index: usize,
}

impl Bundle {
    /// Opens a folder or a zip archive.
    pub fn open(path: &Path, limits: &Limits) -> Result<Bundle> {
        if path.is_dir() { Bundle::folder(path, limits) } else { Bundle::archive(path, limits) }
    }

    fn folder(path: &Path, limits: &Limits) -> Result<Bundle> {
        let files = children(path)?.into_iter().filter(|path| path.is_file());
        let names = files.filter_map(|path| Some(path.file_name()?.to_str()?.to_string()));
        let members = names.enumerate().map(|(index, name)| BundleMember { name, index }).collect();
        Ok(Bundle { path: path.to_path_buf(), members, archive: None, limits: *limits, bytes_left: limits.bytes })
    }

    fn archive(path: &Path, limits: &Limits) -> Result<Bundle> {
        let file = File::open(path).map_err(|error| Error::io(path, error))?;
        let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(path, error))?;
        let mut members = Vec::new();
        for index in 0..archive.len() {
            let Some(name) = archive.name_for_index(index) else { continue };
            let name = plain_name(&name.map_err(|error| damaged(path, error))?);
            if let Some(name) = name {
                members.push(BundleMember { name, index });
            }
        }
        Ok(Bundle {
            path: path.to_path_buf(),
            members,
            archive: Some(archive),
            limits: *limits,
            bytes_left: limits.bytes,
        })
    }

    /// Names of the files; those of an archive are relative, with single slashes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// Whether there is a file of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// Where a file of this bundle is, for messages.
    pub fn place(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The content of a file, or `None` if there is no such file.
    pub fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let place = self.place(name);
        let Some(member) = self.members.iter().find(|member| member.name == name) else { return Ok(None) };
        let Some(archive) = &mut self.archive else { return self.limits.read(&place, "bytes").map(Some) };
        let file = archive.by_index(member.index).map_err(|error| damaged(&place, error))?;
        let too_long =
            || Error::limit(format!("the archive expands to more than the limit of {} bytes", self.limits.bytes));
        let bytes = read_at_most(file, self.bytes_left, self.limits.memory).map_err(|error| match error.kind() {
            io::ErrorKind::OutOfMemory => self.limits.memory.exhausted("to expand this file").in_file(&place),
            _ => damaged(&place, error),
        })?;
        let bytes = bytes.ok_or_else(|| too_long().in_file(&place))?;
        self.bytes_left -= bytes.len() as u64;
        Ok(Some(bytes))
    }

    /// The text of a file, or `None` if there is no such file.
    pub fn text(&mut self, name: &str) -> Result<Option<Text>> {
        let bytes = self.bytes(name)?;
        bytes.map(|bytes| Text::decode(self.place(name), bytes)).transpose()
    }
}

/// The name of a member without doubled slashes; `None` for folders and for what a Mac adds.
fn plain_name(name: &str) -> Option<String> {
    if name.ends_with(['/', '\\']) {
        return None;
    }
    let parts: Vec<_> = name.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.is_empty() || parts.contains(&"__MACOSX") { None } else { Some(parts.join("/")) }
}

fn damaged(path: &Path, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::because("this zip archive cannot be read", error)
        .in_file(path)
        .with_remedy("it may be cut short or damaged: fetch or make it again")
}
