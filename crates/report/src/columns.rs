//! Tables by column, as Parquet.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers that count something.
    Whole(Vec<u64>),
    /// Measured numbers.
    Real(Vec<f64>),
    /// Names.
    Text(Vec<String>),
}

/// Writes a table of named columns of equal length as Parquet (zstd).
///
/// # Errors
/// If columns differ in length, or writing fails.
pub fn parquet(out: &mut (dyn Write + Send), columns: Vec<(&str, Column)>) -> std::io::Result<()> {
    written(out, columns).map_err(std::io::Error::other)
}

fn written(out: &mut (dyn Write + Send), columns: Vec<(&str, Column)>) -> Result<(), ParquetError> {
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (name, column) in columns {
        let (kind, array): (DataType, ArrayRef) = match column {
            Column::Whole(values) => (DataType::UInt64, Arc::new(UInt64Array::from(values))),
            Column::Real(values) => (DataType::Float64, Arc::new(Float64Array::from(values))),
            Column::Text(values) => (DataType::Utf8, Arc::new(StringArray::from(values))),
        };
        fields.push(Field::new(name, kind, false));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)?;
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder().set_compression(zstd).build();
    let mut writer = ArrowWriter::try_new(out, schema, Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}
