//! The formats in which only benchmark data sets are published: one file each, one line each in [`FORMATS`].

mod citation;
mod geom;
mod heterophilous;
mod linqs;
mod ogb;
mod planetoid;
mod planetoid_pickles;
mod pubmed;
mod qm9;

use gnan::ReadOptions;
use gnan::files::Format;

/// The formats of benchmark data sets, for [`ReadOptions::formats`](gnan::ReadOptions::formats).
pub const FORMATS: &[Format] = &[
    planetoid::FORMAT,
    planetoid_pickles::FORMAT,
    heterophilous::FORMAT,
    citation::FORMAT,
    geom::FORMAT,
    linqs::FORMAT,
    pubmed::FORMAT,
    ogb::FORMAT,
    qm9::FORMAT,
];

/// Options that read gnan's own formats and those of benchmark data sets.
pub fn read_options() -> ReadOptions {
    ReadOptions { formats: FORMATS, ..ReadOptions::default() }
}
