//! A cache file of rows, so that a graph is searched once and not at every run.
//!
//! The file is named after a checksum of the graph, the receivers and the way of measuring distance. After a header come
//! the rows of all receiver blocks and then one checksum per row; the header has a checksum of its own. The whole file is checked
//! when it is opened, and every row again whenever it is read, so a damaged file is never believed.
//!
//! It is read in large pieces, not mapped into memory: a file that someone cuts short is then an error that can be
//! answered by searching again, where a mapped one would end the program; and the system keeps what is read in its cache
//! either way.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use twox_hash::XxHash64;

use super::slot_rows::ReceiverBlock;
use crate::checksum::Checksum;
use crate::run::DistanceCache;

/// What the file begins with: name and version.
const MAGIC: u64 = u64::from_ne_bytes(*b"gnanrow2");
/// Words of the header: name and version, checksum of what the rows depend on, words and number of rows, and the
/// checksum of these four.
const HEADER: usize = 5;
/// Words of a file that are read at a time.
const WORDS_AT_ONCE: usize = 8 << 20;

/// An open cache file.
pub(super) struct RowFile {
    file: Mutex<File>,
    /// One per row.
    checksums: Vec<u64>,
    path: PathBuf,
    cache: DistanceCache,
}

impl RowFile {
    /// Opens the file of these rows, or has it written first: `fill` hands the words of all rows, some rows at a time
    /// and in order, to the function that it is given.
    pub(super) fn open_or_create(
        cache: &DistanceCache,
        key: Checksum,
        rows: &[ReceiverBlock],
        fill: impl FnOnce(&mut dyn FnMut(Range<usize>, &[u64]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<RowFile> {
        let path = cache.folder().join(format!("{key}.rows"));
        let header = header(key, rows);
        let damage = match RowFile::open(&path, cache, header, rows) {
            Ok(file) => return Ok(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(error),
        };
        let file = RowFile::create(path, cache, header, rows, fill)?;
        if let Some(damage) = damage {
            file.report("written again", &damage);
        }
        Ok(file)
    }

    /// Opens a file that is there, if every byte of it is as it was written.
    fn open(path: &Path, cache: &DistanceCache, header: [u64; HEADER], rows: &[ReceiverBlock]) -> io::Result<RowFile> {
        let mut file = File::open(path)?;
        if file.metadata()?.len() != 8 * (HEADER + word_count(rows) + rows.len()) as u64 {
            return Err(damaged("it has another length than it should have"));
        }
        let mut found = [0; HEADER];
        file.read_exact(bytemuck::cast_slice_mut(&mut found))?;
        if found != header {
            return Err(damaged("its header is damaged, or another version of gnan wrote it"));
        }
        let mut checksums = vec![0; rows.len()];
        file.seek(SeekFrom::Start(8 * (HEADER + word_count(rows)) as u64))?;
        file.read_exact(bytemuck::cast_slice_mut(&mut checksums))?;
        let file = RowFile { file: Mutex::new(file), checksums, path: path.to_owned(), cache: cache.clone() };
        let mut words = Vec::new();
        pieces(rows).into_iter().try_for_each(|range| file.read(range, rows, &mut words))?;
        Ok(file)
    }

    fn create(
        path: PathBuf,
        cache: &DistanceCache,
        header: [u64; HEADER],
        rows: &[ReceiverBlock],
        fill: impl FnOnce(&mut dyn FnMut(Range<usize>, &[u64]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<RowFile> {
        std::fs::create_dir_all(cache.folder())?;
        let mut file = io::BufWriter::new(tempfile::NamedTempFile::new_in(cache.folder())?);
        file.write_all(bytemuck::cast_slice(&header))?;
        let mut checksums = Vec::with_capacity(rows.len());
        fill(&mut |range, words| {
            checksums.extend(row_checksums(range, rows, words));
            file.write_all(bytemuck::cast_slice(words))
        })?;
        file.write_all(bytemuck::cast_slice(&checksums))?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let mut file = file.persist(&path).map_err(|error| error.error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(RowFile { file: Mutex::new(file), checksums, path, cache: cache.clone() })
    }

    /// Reads the words of some rows; an error where they are not those that were written.
    pub(super) fn read(&self, range: Range<usize>, rows: &[ReceiverBlock], words: &mut Vec<u64>) -> io::Result<()> {
        words.resize(word_count(&rows[range.clone()]), 0);
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(8 * (HEADER + rows[range.start].start) as u64))?;
            file.read_exact(bytemuck::cast_slice_mut(words))?;
        }
        match row_checksums(range.clone(), rows, words) == self.checksums[range] {
            true => Ok(()),
            false => Err(damaged("it is damaged")),
        }
    }

    /// Notes that the file could not be used, and what was done in its place.
    pub(super) fn report(&self, instead: &str, error: &io::Error) {
        let path = self.path.display();
        self.cache.report(format!("the cache file {path} was not used ({error}): its distances were {instead}"));
    }
}

/// Runs of rows that are read at a time, at least one each.
pub(super) fn pieces(rows: &[ReceiverBlock]) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut words = 0;
    for (place, row) in rows.iter().enumerate() {
        match pieces.last_mut() {
            Some(piece) if words + row.len <= WORDS_AT_ONCE => piece.end = place + 1,
            _ => {
                pieces.push(place..place + 1);
                words = 0;
            }
        }
        words += row.len;
    }
    pieces
}

fn word_count(rows: &[ReceiverBlock]) -> usize {
    rows.iter().map(|row| row.len).sum()
}

/// The checksum of each row of a range. The number of the row takes part: rows that change places do not pass.
fn row_checksums(range: Range<usize>, rows: &[ReceiverBlock], words: &[u64]) -> Vec<u64> {
    let first = rows[range.start].start;
    let checksum = |place: usize| {
        let row = &rows[place];
        XxHash64::oneshot(place as u64, bytemuck::cast_slice(&words[row.start - first..][..row.len]))
    };
    range.into_par_iter().map(checksum).collect()
}

fn header(key: Checksum, rows: &[ReceiverBlock]) -> [u64; HEADER] {
    let fields = [MAGIC, key.number(), word_count(rows) as u64, rows.len() as u64];
    let [magic, key, words, count] = fields;
    [magic, key, words, count, XxHash64::oneshot(0, bytemuck::cast_slice(&fields))]
}

fn damaged(how: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, how)
}
