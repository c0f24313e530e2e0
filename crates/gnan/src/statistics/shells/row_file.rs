//! A cache file of rows, so that a graph is searched once and not at every run.
//!
//! The file is named after a checksum of the graph, the receivers and the way of measuring distance. It is read in large
//! pieces at their places, not mapped into memory: a file that someone cuts short is then an error that can be answered
//! by searching again, where a mapped one would end the program; and the system keeps what is read in its cache either way.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::checksum::Checksum;

/// What the file begins with: name and version, and below them checksum and number of words.
const MAGIC: [u8; 8] = *b"gnanrow1";
/// Bytes before the first word.
const HEADER: u64 = 24;

/// An open cache file.
pub(super) struct RowFile {
    file: Mutex<File>,
}

impl RowFile {
    /// Opens the file of this checksum, or has it written first: `fill` is given a function that writes words.
    pub(super) fn open_or_create(
        folder: &Path,
        checksum: Checksum,
        words: usize,
        fill: impl FnOnce(&mut dyn FnMut(&[u64]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<RowFile> {
        let path = folder.join(format!("{:016x}.rows", checksum.number()));
        if let Some(file) = RowFile::open(&path, checksum, words) {
            return Ok(file);
        }
        std::fs::create_dir_all(folder)?;
        let mut file = io::BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
        file.write_all(&header(checksum, words))?;
        fill(&mut |words| file.write_all(bytemuck::cast_slice(words)))?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(&path).map_err(|error| error.error)?;
        RowFile::open(&path, checksum, words).ok_or_else(|| io::Error::other("the cache file was not written whole"))
    }

    fn open(path: &Path, checksum: Checksum, words: usize) -> Option<RowFile> {
        let mut file = File::open(path).ok()?;
        let mut found = [0; HEADER as usize];
        file.read_exact(&mut found).ok()?;
        let whole = file.metadata().ok()?.len() == HEADER + 8 * words as u64;
        (whole && found == header(checksum, words)).then(|| RowFile { file: Mutex::new(file) })
    }

    /// Reads words from a place on.
    pub(super) fn read(&self, start: usize, words: &mut [u64]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(HEADER + 8 * start as u64))?;
        file.read_exact(bytemuck::cast_slice_mut(words))
    }
}

fn header(checksum: Checksum, words: usize) -> [u8; HEADER as usize] {
    let mut header = [0; HEADER as usize];
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&checksum.number().to_ne_bytes());
    header[16..].copy_from_slice(&(words as u64).to_ne_bytes());
    header
}
