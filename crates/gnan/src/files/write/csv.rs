//! A grid as comma-separated values.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use csv::{ByteRecord, Writer};

use super::written_table::{WrittenColumn, WrittenTable, number_text};
use crate::error::{Error, Result};

/// Writes the grid as a new file.
pub fn write(grid: &WrittenTable, path: &Path) -> Result<()> {
    let io = |error: std::io::Error| Error::io(path, error);
    let refused = |error: csv::Error| Error::io(path, std::io::Error::other(error));
    let mut writer = Writer::from_writer(BufWriter::new(File::create(path).map_err(io)?));
    writer.write_record(grid.columns.iter().map(|(name, _)| name)).map_err(refused)?;
    let mut record = ByteRecord::new();
    for row in 0..grid.rows {
        record.clear();
        for (_, column) in &grid.columns {
            match column {
                WrittenColumn::Numbers(number) => record.push_field(number_text(number(row)).as_bytes()),
                WrittenColumn::Text(word) => record.push_field(word(row).unwrap_or_default().as_bytes()),
            }
        }
        writer.write_byte_record(&record).map_err(refused)?;
    }
    let mut file = writer.into_inner().map_err(|error| io(error.into_error()))?;
    file.flush().map_err(io)?;
    file.get_ref().sync_all().map_err(io)
}
