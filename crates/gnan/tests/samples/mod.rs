//! One tiny data set per format: text that is written by hand, Parquet that pyarrow wrote, and the rest made
//! by `make_samples.py`. Those of a new format need a folder and a line here.

use std::path::{Path, PathBuf};

/// The folders of the samples, each with the path inside it that is read (empty: the folder itself).
pub const SAMPLES: &[(&str, &str)] = &[
    ("csv_tables", ""),
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
    ("edge_list", ""),
    ("node_link", "one.json"),
    ("node_link_set", "several.json"),
    ("graphml", "people.graphml"),
    ("graphml_set", "several.graphml"),
    ("qm9_table", "qm9.csv"),
    ("qm9_arrays", "qm9_graphs.npz"),
    ("parquet_tables", ""),
    ("parquet_smiles", "molecules.parquet"),
];

/// The folder that holds the samples.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}
