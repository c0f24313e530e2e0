//! Damaged files: every prefix of every file of every sample, and every byte of it changed in several ways, gives an
//! error or a valid data set, soon, and never a panic. Compressed files are also damaged within, where no checksum
//! protects the reader.

mod samples;

use std::fs;
use std::io::{Cursor, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use gnan::files::ReadOptions;
use gnan::{Dataset, DatasetOptions};
use rayon::prelude::*;
use samples::SAMPLES;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Far above what any of these files should take, far below a hang.
const SLOW: Duration = Duration::from_secs(5);
const FLIPS: [u8; 3] = [0x01, 0x80, 0xff];

/// The files in a folder and its subfolders, relative to it.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found.into_iter().map(|file| file.strip_prefix(folder).unwrap().to_path_buf()).collect()
}

fn copy(from: &Path, to: &Path) {
    for file in files_in(from) {
        fs::create_dir_all(to.join(&file).parent().unwrap()).unwrap();
        fs::copy(from.join(&file), to.join(&file)).unwrap();
    }
}

/// Prefixes and changed bytes, each with a word for what was done.
fn damaged(bytes: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
    let prefixes = (0..bytes.len()).map(|length| (format!("cut to {length} bytes"), bytes[..length].to_vec()));
    let flips = (0..bytes.len()).flat_map(move |place| {
        FLIPS.map(|flip| {
            let mut changed = bytes.to_vec();
            changed[place] ^= flip;
            (format!("byte {place} ^ {flip:#04x}"), changed)
        })
    });
    prefixes.chain(flips)
}

/// Reads `source` with every damage done to one `file` of a folder that is the test's own, and to what it holds.
fn attack(file: &Path, source: &Path, options: &DatasetOptions) {
    let whole = fs::read(file).unwrap();
    attack_content(&whole, <[u8]>::to_vec, file, source, options);
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => {
            let mut content = Vec::new();
            GzDecoder::new(whole.as_slice()).read_to_end(&mut content).unwrap();
            attack_content(&content, compressed, file, source, options);
        }
        Some("zip" | "npz") => {
            let members = unpacked(&whole);
            for (place, (_, content)) in members.iter().enumerate() {
                let around = |damaged: &[u8]| {
                    let mut members = members.clone();
                    members[place].1 = damaged.to_vec();
                    packed(&members)
                };
                attack_content(content, around, file, source, options);
            }
        }
        _ => {}
    }
    fs::write(file, whole).unwrap();
}

fn compressed(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn unpacked(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = ZipArchive::new(Cursor::new(archive)).unwrap();
    let count = archive.len();
    let member = |index| {
        let mut file = archive.by_index(index).unwrap();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        (file.name().unwrap().to_string(), content)
    };
    (0..count).map(member).collect()
}

fn packed(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        archive.start_file(name.as_str(), options).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Reads `source` with every damage done to `content`, which `around` makes a file of.
fn attack_content(
    content: &[u8],
    around: impl Fn(&[u8]) -> Vec<u8>,
    file: &Path,
    source: &Path,
    options: &DatasetOptions,
) {
    for (damage, bytes) in damaged(content) {
        // Some file systems write a file that is overwritten to disk at once, but not a new one.
        fs::remove_file(file).unwrap();
        fs::write(file, around(&bytes)).unwrap();
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| Dataset::open_with(source, options).map(|data| data.len())));
        let outcome = outcome.unwrap_or_else(|_| panic!("a panic: {} {damage}", file.display()));
        if let Err(error) = outcome {
            assert!(!error.to_string().is_empty());
        }
        assert!(start.elapsed() < SLOW, "slow: {} {damage}", file.display());
    }
}

#[test]
fn damaged_samples_are_refused_or_read() {
    let every = |(name, path): &(&'static str, &'static str)| {
        let sample = samples::folder().join(name);
        files_in(&sample).into_iter().map(|file| (sample.clone(), *path, file)).collect::<Vec<_>>()
    };
    let attacks: Vec<_> = SAMPLES.iter().flat_map(every).collect();
    attacks.into_par_iter().for_each(|(sample, path, file)| {
        let folder = tempfile::tempdir().unwrap();
        copy(&sample, folder.path());
        let source = if path.is_empty() { folder.path().to_path_buf() } else { folder.path().join(path) };
        // Some samples do not say what is to be predicted.
        let options =
            DatasetOptions { targets_optional: true, read: gnan_paper::read_options(), ..DatasetOptions::default() };
        Dataset::open_with(&source, &options).unwrap_or_else(|error| panic!("{}: {error}", sample.display()));
        attack(&folder.path().join(file), &source, &options);
    });
}

#[test]
fn damaged_splits_are_refused_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("errica.json");
    fs::copy(samples::folder().join("splits/errica.json"), &file).unwrap();
    let read = ReadOptions { splits: Some(file.clone()), ..gnan_paper::read_options() };
    let options = DatasetOptions { read, ..DatasetOptions::default() };
    let source = samples::folder().join("csv_tables");
    assert_eq!(Dataset::open_with(&source, &options).unwrap().given_splits(), 1);
    attack(&file, &source, &options);
}
