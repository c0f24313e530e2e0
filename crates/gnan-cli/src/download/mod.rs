//! Downloading: from a public address, a mirror or a folder to a file that is whole and verified, or to nothing.
//!
//! Bytes arrive in `<file>.part` ([`part`]), which a later attempt continues ([`transfer`]); only what has the right
//! checksum is renamed to the file itself. It lives here and not in the library, so that the library needs no network.

mod part;
mod source;
#[cfg(test)]
mod tests;
mod transfer;

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gnan::{Error, ErrorKind};
use gnan_paper::catalogue::{RemoteFile, unpack};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::exit::{Failure, Result};
use part::PartialFile;
pub use source::Source;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 16;
/// How much larger than guessed a file of unknown size may be.
const SLACK: u64 = 64 << 20;
/// How much larger than its archive an unpacked set may be.
const MOST_EXPANSION: u64 = 20;

/// How long to wait for a server, and how often to try.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Attempts, each of which continues where the last was cut.
    pub attempts: u32,
    /// Pause after the first cut; it doubles with each.
    pub pause: Duration,
    /// Longest silence.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { attempts: 4, pause: Duration::from_secs(1), silence: Duration::from_secs(30) }
    }
}

/// Bytes that have arrived, and how many there will be where that is known.
pub type Watch<'a> = &'a dyn Fn(u64, Option<u64>) -> ControlFlow<()>;

/// How files are fetched.
pub struct Downloader<'a> {
    /// Where from.
    pub source: &'a Source,
    /// The folder below which files are placed.
    pub folder: &'a Path,
    /// Fetches what is there already.
    pub force: bool,
    /// How long to wait.
    pub patience: Patience,
    /// Called with every piece, and may stop.
    pub watch: Watch<'a>,
}

/// How a file came to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It was there.
    AlreadyThere,
    /// It was fetched from its beginning.
    Fetched,
    /// An earlier attempt was continued.
    Resumed,
}

/// A file that is there now.
#[derive(Clone, Debug, Serialize)]
pub struct Fetched {
    /// Where it belongs, relative to the folder.
    pub path: &'static str,
    /// How it came to be there.
    pub state: State,
    /// Its size; 0 for an archive that was unpacked earlier.
    pub bytes: u64,
    /// Its checksum; none for an archive that was unpacked earlier.
    pub sha256: Option<String>,
    /// Whether this is the checksum that the catalogue knows.
    pub verified: bool,
}

impl Downloader<'_> {
    /// Makes a file be there: whole, verified if its checksum is known, and unpacked if it is an archive to unpack.
    pub fn fetch(&self, file: &RemoteFile) -> Result<Fetched> {
        let target = file.place_in(self.folder)?;
        let members = file.member_places_in(self.folder)?;
        if !self.force && !members.is_empty() && file.is_in(self.folder) {
            let state = State::AlreadyThere;
            return Ok(Fetched { path: file.path, state, bytes: 0, sha256: None, verified: false });
        }
        let fetched = match self.present(file, &target)? {
            Some(fetched) => fetched,
            None => self.bring(file, &target)?,
        };
        if !members.is_empty() {
            let wanted: Vec<(&str, PathBuf)> = file.members.iter().copied().zip(members).collect();
            unpack(&target, &wanted, file.bytes.saturating_mul(MOST_EXPANSION), self.force)?;
            std::fs::remove_file(&target).map_err(|error| Error::io(&target, error))?;
        }
        Ok(fetched)
    }

    /// The file, if it is there already and may stay.
    fn present(&self, file: &RemoteFile, target: &Path) -> Result<Option<Fetched>> {
        if self.force || !target.exists() {
            return Ok(None);
        }
        let (bytes, found) = checksum(target)?;
        if let Some(expected) = file.sha256.filter(|expected| *expected != found) {
            let message = format!("this file has the SHA-256 {found}, not {expected} as the catalogue's file");
            return Err(Error::input(message)
                .in_file(target)
                .with_remedy("--force fetches it again and replaces it")
                .into());
        }
        let verified = file.sha256.is_some();
        Ok(Some(Fetched { path: file.path, state: State::AlreadyThere, bytes, sha256: Some(found), verified }))
    }

    /// Brings a file that is not there.
    fn bring(&self, file: &RemoteFile, target: &Path) -> Result<Fetched> {
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(|error| Error::io(parent, error))?;
        }
        let mut part = PartialFile::open(target)?;
        let received = self.receive_fitting(file, &mut part);
        if received.is_err() && part.length() == 0 {
            part.discard()?;
        }
        let (resumed, found) = received?;
        if let Some(expected) = file.sha256.filter(|expected| *expected != found) {
            part.discard()?;
            return Err(Error::input(format!("what arrived has the SHA-256 {found}, but {expected} was expected"))
                .in_file(target)
                .with_remedy(
                    "it was removed: the copy there was changed or damaged; try again later or with another --mirror",
                )
                .into());
        }
        let state = if resumed { State::Resumed } else { State::Fetched };
        let bytes = part.length();
        part.finish(target)?;
        Ok(Fetched { path: file.path, state, bytes, sha256: Some(found), verified: file.sha256.is_some() })
    }

    /// Fills the part. Pieces of two versions of a file make no file: if what was there spoils the sum, all comes anew, once.
    fn receive_fitting(&self, file: &RemoteFile, part: &mut PartialFile) -> Result<(bool, String)> {
        match self.receive(file, part)? {
            (true, found) if file.sha256.is_some_and(|expected| expected != found) => {
                part.restart()?;
                self.receive(file, part)
            }
            received => Ok(received),
        }
    }

    /// Fills the part; returns whether any of it is from earlier, and the checksum.
    fn receive(&self, file: &RemoteFile, part: &mut PartialFile) -> Result<(bool, String)> {
        let whole = part.length() == file.bytes && file.sha256.is_some();
        if whole && Some(part.checksum()?.as_str()) == file.sha256 {
            return Ok((true, part.checksum()?));
        }
        if whole || part.length() > most_bytes(file) {
            part.restart()?;
        }
        let resumed = match self.source {
            Source::Folder(mirror) => self.copy(file, &file.place_in(mirror)?, part).map(|()| false)?,
            _ => transfer::receive(&self.source.address(file), file, part, self.patience, self.watch)?,
        };
        Ok((resumed, part.checksum()?))
    }

    fn copy(&self, file: &RemoteFile, from: &Path, part: &mut PartialFile) -> Result<()> {
        let io = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::input("the mirror does not have this file").in_file(from),
            _ => Error::io(from, error),
        };
        let mut source = File::open(from).map_err(io)?;
        let length = source.metadata().map_err(io)?.len();
        part.restart()?;
        let mut piece = vec![0; PIECE];
        loop {
            let count = source.read(&mut piece).map_err(io)?;
            if count == 0 {
                return Ok(());
            }
            append(part, &piece[..count], file, Some(length), self.watch)?;
        }
    }
}

/// Adds a piece to the part, unless there are too many or the user has had enough.
fn append(part: &mut PartialFile, piece: &[u8], file: &RemoteFile, total: Option<u64>, watch: Watch<'_>) -> Result<()> {
    let most = most_bytes(file);
    if part.length() + piece.len() as u64 > most {
        part.discard()?;
        return Err(
            Error::limit(format!("{}: more than {most} bytes arrive, which cannot be the file", file.path)).into()
        );
    }
    part.append(piece)?;
    match watch(part.length(), total) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(interrupted(part)),
    }
}

fn interrupted(part: &PartialFile) -> Failure {
    let kept = indicatif::DecimalBytes(part.length());
    Failure::Interrupted(format!("{kept} are kept in {}; the same command resumes", part.path().display()))
}

/// How much of a file is accepted: what the catalogue says, or not much more than its guess.
fn most_bytes(file: &RemoteFile) -> u64 {
    if file.sha256.is_some() { file.bytes } else { file.bytes.saturating_mul(2).saturating_add(SLACK) }
}

/// Size and SHA-256 of a file.
fn checksum(path: &Path) -> gnan::Result<(u64, String)> {
    let io = |error: std::io::Error| Error::io(path, error);
    checksum_of(File::open(path).map_err(io)?).map_err(io)
}

fn checksum_of(mut file: impl Read) -> std::io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let mut bytes = 0;
    let mut piece = vec![0; PIECE];
    loop {
        let count = file.read(&mut piece)?;
        if count == 0 {
            let digits = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            return Ok((bytes, digits));
        }
        hash.update(&piece[..count]);
        bytes += count as u64;
    }
}

/// Whether other files may still be had after this error: not if the disk refuses.
pub fn can_go_on(error: &Error) -> bool {
    error.kind() != ErrorKind::Io
}
