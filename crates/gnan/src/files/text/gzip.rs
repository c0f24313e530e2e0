//! Files that are compressed with gzip, by their content rather than their name.

use std::io;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};
use crate::limits::{Limits, read_at_most};

/// The first two bytes of every gzip file.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// What `bytes`, the content of `path`, expand to: themselves, unless they are compressed.
pub fn expand(bytes: Vec<u8>, path: &Path, limits: &Limits) -> Result<Vec<u8>> {
    let limit = limits.bytes;
    if !bytes.starts_with(&MAGIC) {
        return Ok(bytes);
    }
    let damaged = |error: io::Error| match error.kind() {
        io::ErrorKind::OutOfMemory => limits.memory.exhausted("to expand this file").in_file(path),
        _ => Error::because("this gzip file cannot be read", error)
            .in_file(path)
            .with_remedy("it may be cut short or damaged: fetch or make it again"),
    };
    let too_long = || Error::limit(format!("the file expands to more than the limit of {limit} bytes")).in_file(path);
    read_at_most(MultiGzDecoder::new(bytes.as_slice()), limit, limits.memory).map_err(damaged)?.ok_or_else(too_long)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn limit(bytes: u64) -> Limits {
        Limits { bytes, ..Limits::default() }
    }

    fn compressed(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn compressed_and_plain_files_read_the_same() {
        let path = Path::new("x.csv.gz");
        assert_eq!(expand(b"a,b\n".to_vec(), path, &limit(100)).unwrap(), b"a,b\n");
        assert_eq!(expand(compressed(b"a,b\n"), path, &limit(100)).unwrap(), b"a,b\n");
        let members = [compressed(b"a,"), compressed(b"b\n")].concat();
        assert_eq!(expand(members, path, &limit(100)).unwrap(), b"a,b\n");
    }

    #[test]
    fn what_counts_is_what_a_file_expands_to() {
        let bomb = compressed(&[0; 1_000_000]);
        assert!(bomb.len() < 5_000);
        let error = expand(bomb, Path::new("x.gz"), &limit(999_999)).unwrap_err();
        assert_eq!(error.to_string(), "x.gz: the file expands to more than the limit of 999999 bytes");
    }

    #[test]
    fn every_prefix_is_an_error() {
        let bytes = compressed(b"some text");
        let whole = |length: &usize| expand(bytes[..*length].to_vec(), Path::new("x.gz"), &limit(100)).is_ok();
        assert!((2..bytes.len()).find(whole).is_none());
    }
}
