//! Metadata of a data file as a binary row, as splits and commit messages carry it between processes.
//!
//! Invariants: the fields are those of the record `_FILE` in their order; older forms have fewer. Source: read-path sheet
//! section 8, manifest sheet section 2; `io/DataFileMetaSerializer.java` and its legacy forms.

use bytes::Bytes;

use super::data_file::{DataFileMeta, FileSource};
use super::file_name::file_name;
use super::stats::SimpleStats;
use crate::error::{Error, Result, ResultExt};
use crate::row::{BinaryRow, PartsReader, PartsWriter};

/// Fields of the form of today.
pub(crate) const FILE_ROW_FIELDS: usize = 21;
/// Fields of the oldest form.
const LEAST_FIELDS: usize = 15;

impl DataFileMeta {
    /// The bytes of the row with so many of its fields, at least 15.
    pub(crate) fn to_row(&self, fields: usize) -> Vec<u8> {
        let mut row = PartsWriter::row(fields.clamp(LEAST_FIELDS, FILE_ROW_FIELDS));
        row.bytes(0, self.file_name.as_bytes());
        row.long(1, self.file_size);
        row.long(2, self.row_count);
        row.bytes(3, &self.min_key.to_serialized());
        row.bytes(4, &self.max_key.to_serialized());
        row.part(5, &stats_row(&self.key_stats));
        row.part(6, &stats_row(&self.value_stats));
        row.long(7, self.min_sequence_number);
        row.long(8, self.max_sequence_number);
        row.long(9, self.schema_id);
        row.int(10, self.level);
        row.texts(11, &self.extra_files);
        let mut optional = Optional { row: &mut row, fields };
        optional.put(12, self.creation_time_ms, PartsWriter::long);
        optional.put(13, self.delete_row_count, PartsWriter::long);
        optional.put(14, self.embedded_index.as_deref(), PartsWriter::bytes);
        optional.put(15, self.file_source.map(FileSource::number), |row, at, n| row.int(at, n as i32));
        optional.put(16, self.value_stats_cols.as_deref(), PartsWriter::texts);
        optional.put(17, self.external_path.as_deref(), |row, at, path| row.bytes(at, path.as_bytes()));
        optional.put(18, self.first_row_id, PartsWriter::long);
        optional.put(19, self.write_cols.as_deref(), PartsWriter::texts);
        optional.put(20, self.write_cols_sequences.as_deref(), |row, at, numbers: &[i64]| {
            row.longs(at, numbers.iter().map(|n| Some(*n)));
        });
        row.finish()
    }

    /// Reads a row of so many fields; those that it lacks are absent.
    ///
    /// # Errors
    /// `Corrupt` naming the field.
    pub(crate) fn from_row(bytes: &[u8], fields: usize) -> Result<Self> {
        let row = PartsReader::row(bytes, fields)?;
        let required = |at: usize, name: &'static str| match row.is_null(at) {
            true => Err(Error::corrupt(format!("the field {name} of a data file is null"))),
            false => Ok(at),
        };
        let row_at = |at: usize, name: &'static str| -> Result<BinaryRow> {
            BinaryRow::from_serialized(Bytes::copy_from_slice(row.bytes(required(at, name)?)?)).context("field", name)
        };
        let stats_at = |at: usize, name: &'static str| -> Result<SimpleStats> {
            stats_from_row(row.part(required(at, name)?)?).context("field", name)
        };
        let optional = |at: usize| (at < fields && !row.is_null(at)).then_some(at);
        let sequences = optional(20).map(|at| row.longs(at)).transpose()?;
        Ok(Self {
            file_name: file_name(row.text(required(0, "_FILE_NAME")?)?, "_FILE_NAME")?,
            file_size: row.long(1)?,
            row_count: row.long(2)?,
            min_key: row_at(3, "_MIN_KEY")?,
            max_key: row_at(4, "_MAX_KEY")?,
            key_stats: stats_at(5, "_KEY_STATS")?,
            value_stats: stats_at(6, "_VALUE_STATS")?,
            min_sequence_number: row.long(7)?,
            max_sequence_number: row.long(8)?,
            schema_id: row.long(9)?,
            level: row.int(10)?,
            extra_files: row.texts(required(11, "_EXTRA_FILES")?)?,
            creation_time_ms: optional(12).map(|at| row.long(at)).transpose()?,
            delete_row_count: optional(13).map(|at| row.long(at)).transpose()?,
            embedded_index: optional(14).map(|at| row.bytes(at).map(<[u8]>::to_vec)).transpose()?,
            file_source: optional(15).map(|at| row.int(at).and_then(FileSource::from_number)).transpose()?,
            value_stats_cols: optional(16).map(|at| row.texts(at)).transpose()?,
            external_path: optional(17).map(|at| row.text(at)).transpose()?,
            first_row_id: optional(18).map(|at| row.long(at)).transpose()?,
            write_cols: optional(19).map(|at| row.texts(at)).transpose()?,
            write_cols_sequences: sequences.map(|numbers| numbers.into_iter().map(Option::unwrap_or_default).collect()),
        })
    }
}

/// Puts fields that may be null, as far as the form has them.
struct Optional<'a> {
    row: &'a mut PartsWriter,
    fields: usize,
}

impl Optional<'_> {
    fn put<T>(&mut self, position: usize, value: Option<T>, put: impl Fn(&mut PartsWriter, usize, T)) {
        match value {
            _ if position >= self.fields => {}
            Some(value) => put(self.row, position, value),
            None => self.row.null(position),
        }
    }
}

fn stats_row(stats: &SimpleStats) -> Vec<u8> {
    let mut row = PartsWriter::row(3);
    row.bytes(0, &stats.min_values.to_serialized());
    row.bytes(1, &stats.max_values.to_serialized());
    row.longs(2, stats.null_counts.iter().copied());
    row.finish()
}

fn stats_from_row(bytes: &[u8]) -> Result<SimpleStats> {
    let row = PartsReader::row(bytes, 3)?;
    let bounds = |at: usize| BinaryRow::from_serialized(Bytes::copy_from_slice(row.bytes(at)?));
    let null_counts = if row.is_null(2) { Vec::new() } else { row.longs(2)? };
    Ok(SimpleStats { min_values: bounds(0)?, max_values: bounds(1)?, null_counts })
}
