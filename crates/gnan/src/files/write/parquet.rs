//! A grid as Parquet: numbers as doubles, words as strings, empty cells as null.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::written_table::{WrittenColumn, WrittenTable};
use crate::error::{Error, Result};

/// Rows that are written together.
const ROW_GROUP: usize = 1 << 17;

/// Writes the grid as a new file.
pub fn write(grid: &WrittenTable, path: &Path) -> Result<()> {
    let io = |error: std::io::Error| Error::io(path, error);
    let file = File::create(path).map_err(io)?;
    write_to(grid, file).map_err(|error| io(std::io::Error::other(error)))
}

fn write_to(grid: &WrittenTable, file: File) -> ParquetResult<()> {
    let fields = grid.columns.iter().map(|(name, column)| {
        let builder = match column {
            WrittenColumn::Numbers(_) => Type::primitive_type_builder(name, Physical::DOUBLE),
            WrittenColumn::Text(_) => {
                Type::primitive_type_builder(name, Physical::BYTE_ARRAY).with_converted_type(ConvertedType::UTF8)
            }
        };
        builder.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    });
    let fields = fields.collect::<ParquetResult<Vec<_>>>()?;
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_created_by("gnan".to_string());
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()))?;
    for start in (0..grid.rows).step_by(ROW_GROUP) {
        let rows = start..grid.rows.min(start + ROW_GROUP);
        let mut group = writer.next_row_group()?;
        for (_, column) in &grid.columns {
            let missing = || ParquetError::General("a column is missing".to_string());
            let mut target = group.next_column()?.ok_or_else(missing)?;
            match column {
                WrittenColumn::Numbers(number) => {
                    let cells = rows.clone().map(|row| Some(number(row)).filter(|number| !number.is_nan()));
                    let (levels, values) = split(cells);
                    target.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
                }
                WrittenColumn::Text(word) => {
                    let cells = rows.clone().map(|row| word(row).map(|word| ByteArray::from(word.as_ref())));
                    let (levels, values) = split(cells);
                    target.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
                }
            }
            target.close()?;
        }
        group.close()?;
    }
    let file = writer.into_inner()?;
    file.sync_all()?;
    Ok(())
}

/// Which cells there are, and what they hold.
fn split<T>(cells: impl Iterator<Item = Option<T>>) -> (Vec<i16>, Vec<T>) {
    let mut values = Vec::new();
    let levels = cells.map(|cell| i16::from(cell.map(|value| values.push(value)).is_some())).collect();
    (levels, values)
}
