//! Taking files out of a fetched zip archive. Only members that the catalogue names are looked for, so that no name in an
//! archive ever decides where something is written, and only so many bytes are.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use gnan::error::{Error, Result};
use gnan::output::AtomicFile;

/// Bytes that are copied at a time.
const PIECE: usize = 1 << 16;

/// Writes members of the zip archive at `archive` to their places, each whole or not at all, `most_bytes` together at most.
/// What is in place already stays unless `replace`.
pub fn unpack(archive: &Path, members: &[(&str, PathBuf)], most_bytes: u64, replace: bool) -> Result<()> {
    let damaged = |error: Error| error.in_file(archive).with_remedy("fetch it again");
    let unreadable = |error: ZipError| damaged(Error::because("this zip archive cannot be read", error));
    let file = File::open(archive).map_err(|error| Error::io(archive, error))?;
    let mut zip = ZipArchive::new(BufReader::new(file)).map_err(unreadable)?;
    let mut bytes_left = most_bytes;
    for (member, place) in members.iter().filter(|(_, place)| replace || !place.exists()) {
        let mut source = zip.by_name(member).map_err(|error| unreadable(error).about(member))?;
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent).map_err(|error| Error::io(parent, error))?;
        }
        let mut target = AtomicFile::create(place)?;
        let mut piece = vec![0; PIECE];
        loop {
            let count = source.read(&mut piece).map_err(|error| unreadable(ZipError::Io(error)))?;
            if count == 0 {
                break;
            }
            let too_long = || Error::limit(format!("this archive expands to more than {most_bytes} bytes"));
            bytes_left = bytes_left.checked_sub(count as u64).ok_or_else(|| too_long().in_file(archive))?;
            target.write(&piece[..count])?;
        }
        target.commit()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(folder: &Path, members: &[(&str, &[u8])]) -> PathBuf {
        let path = folder.join("set.zip");
        let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
        for (name, bytes) in members {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
        path
    }

    #[test]
    fn only_named_members_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = archive(folder.path(), &[("set/a.csv", b"1"), ("../evil", b"x"), ("/evil", b"x")]);
        let place = folder.path().join("out/set/a.csv");
        unpack(&path, &[("set/a.csv", place.clone())], 10, false).unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"1");
        let mut found: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        found.sort();
        assert_eq!(found, ["out", "set.zip"]);
        assert!(!folder.path().parent().unwrap().join("evil").exists());
        // What is there stays, unless it is to be replaced.
        std::fs::write(&place, "mine").unwrap();
        unpack(&path, &[("set/a.csv", place.clone())], 10, false).unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"mine");
        unpack(&path, &[("set/a.csv", place.clone())], 10, true).unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"1");
    }

    #[test]
    fn too_much_too_little_and_rubbish_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = archive(folder.path(), &[("bomb", &vec![0; 1 << 20])]);
        let place = folder.path().join("bomb");
        let error = unpack(&path, &[("bomb", place.clone())], 1 << 10, false).unwrap_err();
        assert!(error.to_string().contains("expands to more than 1024 bytes"), "{error}");
        let error = unpack(&path, &[("absent", place.clone())], 1 << 10, false).unwrap_err();
        assert!(error.to_string().contains("absent"), "{error}");
        std::fs::write(&path, "rubbish").unwrap();
        assert!(unpack(&path, &[("bomb", place.clone())], 1 << 30, false).is_err());
        assert!(!place.exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
