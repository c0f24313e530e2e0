//! Writing files: whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Writes `bytes` to a temporary sibling, syncs it, and renames it to `path`: no reader ever sees half a file, and a
/// failure leaves what was there before.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write(bytes)?;
    file.commit()
}

/// A file that is written piece by piece beside its path, and appears there when it is whole.
pub struct AtomicFile {
    path: PathBuf,
    file: tempfile::NamedTempFile,
}

impl AtomicFile {
    /// A file that will appear at `path`.
    pub fn create(path: &Path) -> Result<AtomicFile> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let file = tempfile::Builder::new().prefix(".gnan-").tempfile_in(folder);
        Ok(AtomicFile { path: path.to_owned(), file: file.map_err(|error| Error::io(path, error))? })
    }

    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| Error::io(&self.path, error))
    }

    /// The same file as a stream.
    pub fn stream(&mut self) -> &mut (impl Write + Send + use<>) {
        self.file.as_file_mut()
    }

    /// Syncs the file and renames it to its path.
    pub fn commit(self) -> Result<()> {
        let io = |error: std::io::Error| Error::io(&self.path, error);
        make_readable(self.file.as_file()).map_err(io)?;
        self.file.as_file().sync_all().map_err(io)?;
        self.file.persist(&self.path).map_err(|error| io(error.error))?;
        Ok(())
    }
}

/// Temporary files are private; a result should be readable like any other new file.
#[cfg(unix)]
fn make_readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}
