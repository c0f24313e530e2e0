//! One tiny data set per format, made by `make_samples.py`; those of a new format need a folder and a line here.

use std::path::{Path, PathBuf};

/// The folders of the samples, each with the path inside it that is read (empty: the folder itself).
pub const SAMPLES: &[(&str, &str)] = &[
    ("csv_folder", ""),
    ("tu", ""),
    ("tu_zip", "TINY.zip"),
    ("smiles", "molecules.csv"),
    ("planetoid", "tiny.npz"),
    ("planetoid_pickles", "ind.tiny"),
    ("heterophilous", "tolokers.npz"),
    ("geom", ""),
    ("citation", "tiny.npz"),
    ("linqs", "tiny.content.gz"),
    ("pubmed", "tiny.NODE.paper.tab"),
    ("ogb", ""),
    ("ogb_features", ""),
];

/// The folder that holds the samples.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}
