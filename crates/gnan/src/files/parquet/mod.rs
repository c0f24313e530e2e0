//! A Parquet file as a [`Table`]: its flat columns of numbers, truth values and words.

mod check;
mod isolated;

use std::path::Path;

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::error::{Error, Result};
use crate::files::table::Table;
use crate::files::table::text_column::TextColumn;
use crate::limits::Limits;
use crate::numbers::DAYS;
use check::{check_footer, check_pages};
pub use isolated::PARQUET_THREAD;
use isolated::isolated;

/// Rows decoded at a time.
const BATCH: usize = 1 << 16;
/// The column that pandas adds for the numbers of the rows.
const INDEX: &str = "__index_level_0__";

/// Reads the bytes of a Parquet file.
pub fn parse(bytes: Vec<u8>, path: &Path, limits: &Limits) -> Result<Table> {
    let refuse = |reason: &str| {
        Error::input(format!("this Parquet file cannot be read: {reason}"))
            .in_file(path)
            .with_remedy("it may be cut short or damaged: make it again")
    };
    check_footer(&bytes).map_err(refuse)?;
    // The parquet crate panics on some malformed files.
    let read = isolated(|| read(Bytes::from(bytes), limits)).ok_or_else(|| refuse("it is malformed"))?;
    match read {
        Ok(ParquetContent { columns, rows, left_out }) => {
            let mut table = Table::counted(path, columns, rows)?;
            if !left_out.is_empty() {
                let names = left_out.join(", ");
                table.notes.push(format!("left out, because they are no numbers or words: {names}"));
            }
            Ok(table)
        }
        Err(ParquetFault::Compression) => Err(refuse("it is compressed in another way than snappy, zstd or gzip")
            .with_remedy("write it with one of these")),
        Err(ParquetFault::Parquet(error)) => Err(refuse(&error.to_string()).caused_by(error)),
        Err(ParquetFault::Claim(reason)) => Err(refuse(reason)),
        Err(ParquetFault::Limit(error)) => Err(error.in_file(path)),
    }
}

struct ParquetContent {
    columns: Vec<TextColumn>,
    rows: usize,
    left_out: Vec<String>,
}

enum ParquetFault {
    Parquet(ParquetError),
    Claim(&'static str),
    Compression,
    Limit(Error),
}

impl From<ParquetError> for ParquetFault {
    fn from(error: ParquetError) -> ParquetFault {
        ParquetFault::Parquet(error)
    }
}

fn read(bytes: Bytes, limits: &Limits) -> std::result::Result<ParquetContent, ParquetFault> {
    let file = SerializedFileReader::new(bytes.clone())?;
    let schema = file.metadata().file_metadata().schema_descr();
    let mut content = ParquetContent { columns: Vec::new(), rows: 0, left_out: Vec::new() };
    let mut places = Vec::new();
    for (place, column) in schema.columns().iter().enumerate() {
        let name = column.path().string();
        if !is_read(column) {
            content.left_out.push(name);
        } else if name != INDEX {
            let mut cells = TextColumn::new(name);
            cells.words = column.physical_type() == Type::BYTE_ARRAY;
            cells.unit = steps_per_day(column).map(|_| DAYS);
            content.columns.push(cells);
            places.push(place);
        }
    }
    let most_cells = limits.bytes / size_of::<usize>() as u64;
    Limits::check(places.len() as u64, limits.features, "columns").map_err(ParquetFault::Limit)?;
    let mut left = limits.bytes;
    for (number, group) in file.metadata().row_groups().iter().enumerate() {
        let rows = u64::try_from(group.num_rows()).map_err(|_| ParquetFault::Claim("it has fewer than no rows"))?;
        let total = rows.saturating_add(content.rows as u64);
        Limits::check(total, limits.nodes.max(limits.edges), "rows").map_err(ParquetFault::Limit)?;
        Limits::check(total.saturating_mul(places.len() as u64), most_cells, "cells").map_err(ParquetFault::Limit)?;
        let reader = file.get_row_group(number)?;
        for (&place, cells) in places.iter().zip(&mut content.columns) {
            use Compression::{GZIP, SNAPPY, UNCOMPRESSED, ZSTD};
            if !matches!(group.column(place).compression(), UNCOMPRESSED | SNAPPY | GZIP(_) | ZSTD(_)) {
                return Err(ParquetFault::Compression);
            }
            let (start, length) = group.column(place).byte_range();
            let pages = usize::try_from(start).ok().zip(usize::try_from(start.saturating_add(length)).ok());
            let pages = pages.and_then(|(start, end)| bytes.get(start..end));
            let pages = pages.ok_or(ParquetFault::Claim("a column is not inside the file"))?;
            let expanded = check_pages(pages, rows).map_err(ParquetFault::Claim)?;
            Limits::check(expanded, left, "bytes in its pages").map_err(ParquetFault::Limit)?;
            left -= expanded;
            read_column(reader.get_column_reader(place)?, schema.column(place).as_ref(), rows as usize, cells)?;
        }
        content.rows += rows as usize;
    }
    Ok(content)
}

/// Whether a column is flat and holds plain numbers, truth values or words.
fn is_read(column: &ColumnDescriptor) -> bool {
    let plain = match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
        (Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY, _, _) => false,
        (Type::INT32 | Type::INT64, logical, converted) => {
            steps_per_day(column).is_some()
                || (matches!(logical, None | Some(LogicalType::Integer(_)))
                    && !matches!(
                        converted,
                        ConvertedType::DECIMAL | ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS
                    ))
        }
        (Type::BYTE_ARRAY, logical, converted) => {
            !matches!(logical, Some(LogicalType::Decimal(_))) && converted != ConvertedType::DECIMAL
        }
        _ => true,
    };
    plain && column.max_rep_level() == 0 && column.max_def_level() <= 1 && column.path().parts().len() == 1
}

/// Into how many steps a column of dates or times divides a day; `None`: it holds neither.
fn steps_per_day(column: &ColumnDescriptor) -> Option<f64> {
    const SECONDS: f64 = 86_400.0;
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Some(1.0),
        (Some(LogicalType::Timestamp(stamp)), _) => Some(match stamp.unit {
            TimeUnit::MILLIS => SECONDS * 1e3,
            TimeUnit::MICROS => SECONDS * 1e6,
            TimeUnit::NANOS => SECONDS * 1e9,
        }),
        (None, ConvertedType::TIMESTAMP_MILLIS) => Some(SECONDS * 1e3),
        (None, ConvertedType::TIMESTAMP_MICROS) => Some(SECONDS * 1e6),
        _ => None,
    }
}

fn read_column(
    reader: ColumnReader,
    column: &ColumnDescriptor,
    rows: usize,
    cells: &mut TextColumn,
) -> ParquetResult<()> {
    let unsigned = matches!(column.logical_type_ref(), Some(LogicalType::Integer(kind)) if !kind.is_signed);
    let optional = column.max_def_level() > 0;
    let steps = steps_per_day(column);
    match reader {
        ColumnReader::BoolColumnReader(reader) => {
            push_all(reader, rows, optional, cells, |flag| Ok(u8::from(*flag).to_string()))
        }
        ColumnReader::Int32ColumnReader(reader) => push_all(reader, rows, optional, cells, |number| {
            Ok(match steps {
                Some(steps) => (f64::from(*number) / steps).to_string(),
                None if unsigned => (*number as u32).to_string(),
                None => number.to_string(),
            })
        }),
        ColumnReader::Int64ColumnReader(reader) => push_all(reader, rows, optional, cells, |number| {
            Ok(match steps {
                Some(steps) => (*number as f64 / steps).to_string(),
                None if unsigned => (*number as u64).to_string(),
                None => number.to_string(),
            })
        }),
        ColumnReader::FloatColumnReader(reader) => {
            push_all(reader, rows, optional, cells, |number| Ok(number.to_string()))
        }
        ColumnReader::DoubleColumnReader(reader) => {
            push_all(reader, rows, optional, cells, |number| Ok(number.to_string()))
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            push_all(reader, rows, optional, cells, |word| Ok(word.as_utf8()?.to_string()))
        }
        ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
            Err(ParquetError::General("a column is of another type than its description".to_string()))
        }
    }
}

/// Adds a cell for each of the rows; a missing value is an empty one.
fn push_all<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    optional: bool,
    cells: &mut TextColumn,
    cell: impl Fn(&T::T) -> ParquetResult<String>,
) -> ParquetResult<()> {
    let mut left = rows;
    while left > 0 {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let (read, _, _) = reader.read_records(left.min(BATCH), optional.then_some(&mut levels), None, &mut values)?;
        if read == 0 || read > left {
            return Err(ParquetError::General("a column has fewer rows than the file claims".to_string()));
        }
        left -= read;
        if !optional {
            levels.resize(read, 1);
        }
        let mut values = values.iter();
        for level in levels {
            match if level > 0 { values.next() } else { None } {
                Some(value) => cells.push(&cell(value)?),
                None => cells.push(""),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::data_type::{DoubleType, Int32Type, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::files::tables::Values;

    /// After the column's name the footer has a header (0x15) and the code of the compression, twice as large as in the
    /// format's list: SNAPPY is 1, LZ4_RAW 7.
    #[test]
    fn another_compression_is_named() {
        let schema = Arc::new(parse_message_type("message table { required double x; }").unwrap());
        let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[1.0, 2.0], None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        let mut bytes = writer.into_inner().unwrap();
        assert!(parse(bytes.clone(), Path::new("x.parquet"), &Limits::default()).is_ok());
        let code = bytes.windows(3).rposition(|window| window == [b'x', 0x15, 2]).unwrap() + 2;
        bytes[code] = 14;
        let refusal = parse(bytes, Path::new("x.parquet"), &Limits::default()).err().unwrap().to_string();
        assert!(refusal.contains("another way than snappy, zstd or gzip"), "{refusal}");
    }

    /// 2024-03-05 is day 19,787 (`date -u -d 2024-03-05 +%s`, divided by 86,400).
    #[test]
    fn dates_and_times_are_days() {
        let schema = "message table { required int32 day (DATE); required int64 time (TIMESTAMP(MILLIS,true)); \
                      required int64 old (TIMESTAMP_MICROS); required int32 clock (TIME(MILLIS,true)); }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for place in 0..4 {
            let mut column = group.next_column().unwrap().unwrap();
            match place {
                0 => column.typed::<Int32Type>().write_batch(&[19_787], None, None),
                1 => column.typed::<Int64Type>().write_batch(&[19_787 * 86_400_000 + 43_200_000], None, None),
                2 => column.typed::<Int64Type>().write_batch(&[-86_400_000_000], None, None),
                _ => column.typed::<Int32Type>().write_batch(&[5], None, None),
            }
            .unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        let bytes = writer.into_inner().unwrap();
        let mut table = parse(bytes, Path::new("x.parquet"), &Limits::default()).unwrap();
        let columns = table.typed_columns().unwrap();
        let found = columns.iter().map(|column| (column.name.as_str(), column.unit.as_deref(), &column.values));
        let days = [("day", 19_787.0), ("time", 19_787.5), ("old", -1.0)]
            .map(|(name, day)| (name, Values::Numbers(vec![day])));
        assert!(found.eq(days.iter().map(|(name, day)| (*name, Some(DAYS), day))), "{columns:?}");
        assert!(table.notes[0].contains("clock"), "{:?}", table.notes);
    }
}
