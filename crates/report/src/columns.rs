//! Tables by column, as Parquet, and back.

use std::borrow::Borrow;
use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers that count something.
    Whole(Vec<u64>),
    /// A column of measured numbers.
    Real(Vec<f64>),
    /// Measured numbers, of which some are missing.
    Some(Vec<Option<f64>>),
    /// A column of names.
    Text(Vec<String>),
}

/// Writes a table of named columns of equal length as Parquet (zstd).
///
/// # Errors
/// If columns differ in length, or writing fails.
pub fn parquet(out: &mut (dyn Write + Send), columns: &[(&str, Column)]) -> std::io::Result<()> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    parquet_in_parts(out, &names, [columns.iter().map(|(_, column)| column)])
}

/// The same of a table that is made part by part, so that no more than a part is in memory: columns of all parts are of the same
/// kinds. There is a part at least.
///
/// # Errors
/// If columns of a part differ in length, those of parts in their kind, or writing fails.
pub fn parquet_in_parts<C: Borrow<Column>, P: IntoIterator<Item = C>>(
    out: &mut (dyn Write + Send),
    names: &[&str],
    parts: impl IntoIterator<Item = P>,
) -> std::io::Result<()> {
    let mut writer = None;
    let mut out = Some(out);
    for part in parts {
        let columns: Vec<C> = part.into_iter().collect();
        if let Some(out) = out.take() {
            let named = names.iter().copied().zip(columns.iter().map(Borrow::borrow));
            writer = Some(begin(out, named).map_err(std::io::Error::other)?);
        }
        if let Some(writer) = &mut writer {
            rows(writer, columns.iter().map(Borrow::borrow)).map_err(std::io::Error::other)?;
        }
    }
    match writer {
        Some(writer) => writer.close().map(|_| ()).map_err(std::io::Error::other),
        None => Ok(()),
    }
}

/// A file with this heading.
fn begin<'a, W: Write + Send>(
    out: W,
    columns: impl Iterator<Item = (&'a str, &'a Column)>,
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let mut schema = String::from("message table {\n");
    for (name, column) in columns {
        let _ok = match column {
            Column::Whole(_) => writeln!(schema, "required int64 {name} (INTEGER(64,false));"),
            Column::Real(_) => writeln!(schema, "required double {name};"),
            Column::Some(_) => writeln!(schema, "optional double {name};"),
            Column::Text(_) => writeln!(schema, "required binary {name} (UTF8);"),
        };
    }
    schema.push('}');
    let schema = Arc::new(parse_message_type(&schema)?);
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let properties = Arc::new(WriterProperties::builder().set_compression(zstd).build());
    SerializedFileWriter::new(out, schema, properties)
}

/// Makes the columns of some rows.
fn rows<'a, W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    columns: impl Iterator<Item = &'a Column>,
) -> Result<(), ParquetError> {
    let mut rows = writer.next_row_group()?;
    for column in columns {
        let Some(mut to) = rows.next_column()? else { break };
        match column {
            Column::Whole(values) => {
                // The bits of numbers without a sign, as the format wants them.
                let values: Vec<i64> = values.iter().map(|v| v.cast_signed()).collect();
                to.typed::<Int64Type>().write_batch(&values, None, None)?;
            }
            Column::Real(values) => {
                to.typed::<DoubleType>().write_batch(values, None, None)?;
            }
            Column::Some(values) => {
                let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
                let values: Vec<f64> = values.iter().flatten().copied().collect();
                to.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
            }
            Column::Text(values) => {
                let values: Vec<ByteArray> = values.iter().map(|v| v.as_str().into()).collect();
                to.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            }
        }
        to.close()?;
    }
    rows.close()?;
    Ok(())
}

/// Whether bytes begin as a Parquet file does.
pub fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PAR1")
}

/// Reads a Parquet file as a table of comma-separated values with a heading; nested and binary cells are in the form
/// of Parquet's own printer.
///
/// # Errors
/// If it is not Parquet, is damaged, or would be more than `most` bytes of text.
pub fn to_csv(bytes: Vec<u8>, most: u64) -> std::io::Result<String> {
    csv_of(bytes, most).map_err(std::io::Error::other)
}

fn csv_of(bytes: Vec<u8>, most: u64) -> Result<String, ParquetError> {
    let reader = SerializedFileReader::new(Bytes::from(bytes))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let heading: Vec<&str> = schema.root_schema().get_fields().iter().map(|f| f.name()).collect();
    let mut out = csv::Writer::from_writer(Vec::new());
    let broken = |e: csv::Error| ParquetError::External(Box::new(e));
    out.write_record(&heading).map_err(broken)?;
    for row in reader.get_row_iter(None)? {
        let row = row?;
        let cells = row.get_column_iter().map(|(_, cell)| match cell {
            Field::Str(text) => text.clone(),
            Field::Null => String::new(),
            // Its printer shortens real numbers; these are as exact as they were written.
            Field::Double(number) => number.to_string(),
            Field::Float(number) => number.to_string(),
            other => other.to_string(),
        });
        out.write_record(cells).map_err(broken)?;
        if out.get_ref().len() as u64 > most {
            return Err(ParquetError::General(format!("it is more than {most} B as text")));
        }
    }
    let text = out.into_inner().map_err(|e| ParquetError::General(e.to_string()))?;
    String::from_utf8(text).map_err(|e| ParquetError::General(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let columns = [
            ("name", Column::Text(vec!["a".to_owned(), "b".to_owned()])),
            ("bytes", Column::Whole(vec![u64::MAX, 7])),
            ("seconds", Column::Real(vec![0.5, -1.0])),
        ];
        let mut bytes = Vec::new();
        parquet(&mut bytes, &columns).expect("memory");
        let csv = to_csv(bytes.clone(), 1000).expect("Parquet");
        assert_eq!(csv, "name,bytes,seconds\na,18446744073709551615,0.5\nb,7,-1\n");
        for end in 0..bytes.len() {
            assert!(to_csv(bytes[..end].to_vec(), 1000).is_err(), "cut at {end}");
        }
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("Parquet");
        let rows: Vec<String> = reader
            .get_row_iter(None)
            .expect("rows")
            .map(|r| r.expect("a row").to_string())
            .collect();
        assert_eq!(rows.len(), 2);
        assert!(rows[0].contains("18446744073709551615") && rows[0].contains("0.5"), "{rows:?}");
        assert!(rows[1].contains("\"b\"") && rows[1].contains('7'), "{rows:?}");
    }
}
