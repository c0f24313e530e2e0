//! Writing files: whole or not at all.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

/// Writes `bytes` to a temporary sibling, syncs it, and renames it to `path`: no reader ever sees half a file, and a
/// failure leaves what was there before.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let io = |error: std::io::Error| Error::io(path, &error);
    let mut file = tempfile::Builder::new().prefix(".gnan-").tempfile_in(folder).map_err(io)?;
    file.write_all(bytes).map_err(io)?;
    make_readable(file.as_file()).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    file.persist(path).map_err(|error| io(error.error))?;
    Ok(())
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
