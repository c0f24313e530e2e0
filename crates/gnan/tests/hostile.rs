//! Damaged files: every prefix of every file of every sample, and every byte of it changed in several ways, gives an
//! error or a valid data set, soon, and never a panic.

mod samples;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gnan::files::ReadOptions;
use gnan::{Dataset, DatasetOptions};
use rayon::prelude::*;
use samples::SAMPLES;

/// Far above what any of these files should take, far below a hang.
const SLOW: Duration = Duration::from_secs(5);
const FLIPS: [u8; 4] = [0x01, 0x10, 0x80, 0xff];

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

/// Reads `source` with every damage done to one `file` of a folder that is the test's own.
fn attack(file: &Path, source: &Path, options: &DatasetOptions) {
    let whole = fs::read(file).unwrap();
    for (damage, bytes) in damaged(&whole) {
        fs::write(file, bytes).unwrap();
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| Dataset::open_with(source, options).map(|data| data.len())));
        let outcome = outcome.unwrap_or_else(|_| panic!("a panic: {} {damage}", file.display()));
        if let Err(error) = outcome {
            assert!(!error.to_string().is_empty());
        }
        assert!(start.elapsed() < SLOW, "slow: {} {damage}", file.display());
    }
    fs::write(file, whole).unwrap();
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
        let options = DatasetOptions::default();
        Dataset::open_with(&source, &options).unwrap_or_else(|error| panic!("{}: {error}", sample.display()));
        attack(&folder.path().join(file), &source, &options);
    });
}

#[test]
fn damaged_splits_are_refused_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("errica.json");
    fs::copy(samples::folder().join("splits/errica.json"), &file).unwrap();
    let read = ReadOptions { splits: Some(file.clone()), ..ReadOptions::default() };
    let options = DatasetOptions { read, ..DatasetOptions::default() };
    let source = samples::folder().join("csv_folder");
    assert_eq!(Dataset::open_with(&source, &options).unwrap().given_splits(), 1);
    attack(&file, &source, &options);
}
