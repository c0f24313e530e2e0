//! The part of a file that has arrived: `<file>.part`, and beside it `<file>.part.version`, the version that it is a part of.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use gnan::{Error, Result};

use super::checksum_of;

/// Longest version that is believed.
const LONGEST_VERSION: u64 = 4096;

/// A part being filled, by one process at a time.
pub struct PartialFile {
    path: PathBuf,
    file: File,
    length: u64,
}

impl PartialFile {
    /// The part of `target` that is there, or an empty one.
    pub fn open(target: &Path) -> Result<PartialFile> {
        let path = with_suffix(target, ".part");
        let io = |error: std::io::Error| Error::io(&path, error);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(io)?;
        let busy =
            || Error::input("another gnan is fetching this file").in_file(&path).with_remedy("wait until it is done");
        match file.try_lock() {
            // The other may have been done, and the file been renamed, between opening and locking.
            Ok(()) if path.exists() => {}
            Ok(()) | Err(TryLockError::WouldBlock) => return Err(busy()),
            // Some network drives know no locks; the checksum still guards the file.
            Err(TryLockError::Error(_)) => {}
        }
        let length = file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok(PartialFile { path, file, length })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes there are.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Adds bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| self.io(error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Forgets everything.
    pub fn restart(&mut self) -> Result<()> {
        self.forget_version();
        let emptied = self.file.set_len(0).and_then(|()| self.file.rewind());
        emptied.map_err(|error| self.io(error))?;
        self.length = 0;
        Ok(())
    }

    /// The SHA-256 of what has arrived.
    pub fn checksum(&mut self) -> Result<String> {
        let sum = self.file.rewind().and_then(|()| checksum_of(&self.file));
        let (_, sum) = sum.map_err(|error| self.io(error))?;
        self.file.seek(SeekFrom::End(0)).map_err(|error| self.io(error))?;
        Ok(sum)
    }

    /// Makes it the file itself.
    pub fn finish(self, target: &Path) -> Result<()> {
        self.file.sync_all().map_err(|error| self.io(error))?;
        // The lock is held until after the renaming: see `open`.
        std::fs::rename(&self.path, target).map_err(|error| self.io(error))?;
        self.forget_version();
        Ok(())
    }

    /// Removes it.
    pub fn discard(&mut self) -> Result<()> {
        self.length = 0;
        self.forget_version();
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(self.io(error)),
            _ => Ok(()),
        }
    }

    /// Remembers what version of what address this is a part of.
    pub fn set_version(&self, address: &str, version: &str) -> Result<()> {
        let path = self.version_path();
        std::fs::write(&path, format!("{address}\n{version}\n")).map_err(|error| Error::io(&path, error))
    }

    /// The version of that address which this is a part of, if it is known.
    pub fn version(&self, address: &str) -> Option<String> {
        let path = self.version_path();
        let short = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= LONGEST_VERSION);
        let text = std::fs::read_to_string(path).ok().filter(|_| short)?;
        let mut lines = text.lines();
        let same = lines.next() == Some(address);
        lines.next().filter(|version| same && !version.is_empty()).map(str::to_owned)
    }

    fn forget_version(&self) {
        // If it stays, it is of no use to anyone: a part without bytes is never continued.
        let _ = std::fs::remove_file(self.version_path());
    }

    fn version_path(&self) -> PathBuf {
        with_suffix(&self.path, ".version")
    }

    fn io(&self, error: std::io::Error) -> Error {
        Error::io(&self.path, error)
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.file_name().expect("a file to fetch has a name"));
    name.push(suffix);
    path.with_file_name(name)
}
