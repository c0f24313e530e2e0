//! Explanations as a Parquet file: the same long table as in CSV, written as explanations come.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::document::ExplanationRow;
use crate::error::{Error, Result};

/// Rows that are written together.
const ROW_GROUP: usize = 1 << 17;
/// The columns; the last only where standard deviations are known.
const COLUMNS: [&str; 6] = ["id", "output", "by", "term", "amount", "sd"];

/// A Parquet file of explanations that is being written.
pub struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    waiting: Vec<ExplanationRow>,
    /// Whether there is a column of standard deviations.
    has_sds: bool,
}

impl<W: Write + Send> ParquetTable<W> {
    /// Begins a file, with a column of standard deviations or without.
    pub fn new(out: W, has_sds: bool) -> Result<ParquetTable<W>> {
        let writer = begin(out, has_sds).map_err(broken)?;
        Ok(ParquetTable { writer, waiting: Vec::new(), has_sds })
    }

    /// Adds rows.
    pub fn add(&mut self, rows: Vec<ExplanationRow>) -> Result<()> {
        self.waiting.extend(rows);
        if self.waiting.len() >= ROW_GROUP { self.write_group().map_err(broken) } else { Ok(()) }
    }

    /// Writes what is left and ends the file.
    pub fn finish(mut self) -> Result<()> {
        self.write_group().and_then(|()| self.writer.finish()).map_err(broken)?;
        self.writer.inner_mut().flush().map_err(broken)
    }

    fn write_group(&mut self) -> ParquetResult<()> {
        let rows = std::mem::take(&mut self.waiting);
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        let words: [fn(&ExplanationRow) -> &str; 4] = [|row| &row.id, |row| &row.output, |row| row.by, |row| &row.term];
        for word in words {
            let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(word(row))).collect();
            let mut column = group.next_column()?.ok_or_else(missing)?;
            column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            column.close()?;
        }
        let amounts: Vec<f64> = rows.iter().map(|row| row.amount).collect();
        let mut column = group.next_column()?.ok_or_else(missing)?;
        column.typed::<DoubleType>().write_batch(&amounts, None, None)?;
        column.close()?;
        if self.has_sds {
            let sds: Vec<f64> = rows.iter().filter_map(|row| row.sd).collect();
            let known: Vec<i16> = rows.iter().map(|row| i16::from(row.sd.is_some())).collect();
            let mut column = group.next_column()?.ok_or_else(missing)?;
            column.typed::<DoubleType>().write_batch(&sds, Some(&known), None)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

fn begin<W: Write + Send>(out: W, has_sds: bool) -> ParquetResult<SerializedFileWriter<W>> {
    let columns = if has_sds { &COLUMNS[..] } else { &COLUMNS[..5] };
    let fields = columns.iter().copied().map(|name| {
        let builder = match name {
            "amount" | "sd" => Type::primitive_type_builder(name, Physical::DOUBLE),
            _ => Type::primitive_type_builder(name, Physical::BYTE_ARRAY).with_converted_type(ConvertedType::UTF8),
        };
        let repetition = if name == "sd" { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        builder.with_repetition(repetition).build().map(Arc::new)
    });
    let fields = fields.collect::<ParquetResult<Vec<_>>>()?;
    let schema = Arc::new(Type::group_type_builder("explanations").with_fields(fields).build()?);
    let compression = Compression::ZSTD(ZstdLevel::try_new(3)?);
    let properties = WriterProperties::builder().set_compression(compression).set_created_by("gnan".to_owned());
    SerializedFileWriter::new(out, schema, Arc::new(properties.build()))
}

fn missing() -> ParquetError {
    ParquetError::General("a column is missing".to_owned())
}

fn broken(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::because("the explanations cannot be written as Parquet", error)
}
