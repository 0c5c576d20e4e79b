//! What metadata says about one data file.

use super::avro::{
    Cursor, FieldName, Shape, put_bytes, put_list, put_long, put_optional, put_text, required, required_file_name,
};
use super::stats::SimpleStats;
use crate::error::{Error, Result};
use crate::row::BinaryRow;

/// How a file came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSource {
    /// Written by a writer.
    Append,
    /// Written by a compaction.
    Compact,
}

impl FileSource {
    pub(super) fn from_number(number: i32) -> Result<Self> {
        match number {
            0 => Ok(Self::Append),
            1 => Ok(Self::Compact),
            _ => Err(Error::corrupt(format!("the source of a file must be 0 or 1, but is {number}"))),
        }
    }

    pub(super) fn number(self) -> i64 {
        match self {
            Self::Append => 0,
            Self::Compact => 1,
        }
    }
}

/// The `_FILE` record of a manifest entry. Source: `io/DataFileMeta.java`; manifest sheet section 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFileMeta {
    /// Name within the bucket directory.
    pub file_name: String,
    /// Bytes.
    pub file_size: i64,
    /// Rows, retracts included.
    pub row_count: i64,
    /// Trimmed primary key of the first row; arity 0 for append tables.
    pub min_key: BinaryRow,
    /// Trimmed primary key of the last row; arity 0 for append tables.
    pub max_key: BinaryRow,
    /// Statistics of the trimmed key columns.
    pub key_stats: SimpleStats,
    /// Statistics of the value columns that `value_stats_cols` names.
    pub value_stats: SimpleStats,
    /// Least sequence number.
    pub min_sequence_number: i64,
    /// Greatest sequence number.
    pub max_sequence_number: i64,
    /// Schema that the file was written with.
    pub schema_id: i64,
    /// Level; 0 for append tables.
    pub level: i32,
    /// Files beside this one that live and die with it.
    pub extra_files: Vec<String>,
    /// Wall clock of the writer in milliseconds, its zone taken for UTC.
    pub creation_time_ms: Option<i64>,
    /// Rows of kind `-U` and `-D`; unknown in old files.
    pub delete_row_count: Option<i64>,
    /// A whole file-index container.
    pub embedded_index: Option<Vec<u8>>,
    /// How the file came to be.
    pub file_source: Option<FileSource>,
    /// Columns of `value_stats`: `None` all columns of the file, empty none.
    pub value_stats_cols: Option<Vec<String>>,
    /// Full path if the file is not in the bucket directory.
    pub external_path: Option<String>,
    /// First row id of tables with row tracking.
    pub first_row_id: Option<i64>,
    /// Columns physically in the file, for data evolution.
    pub write_cols: Option<Vec<String>>,
    /// Greatest sequence number per column of `write_cols`.
    pub write_cols_sequences: Option<Vec<i64>>,
}

/// The sum of numbers from metadata, which may be damaged: too much is the largest number.
pub(crate) fn saturating_sum(numbers: impl IntoIterator<Item = i64>) -> i64 {
    numbers.into_iter().fold(0, i64::saturating_add)
}

impl DataFileMeta {
    /// Whether the file holds no retracts, as far as planning may assume.
    pub fn is_free_of_deletes(&self) -> bool {
        self.delete_row_count.unwrap_or(0) == 0
    }

    /// The same file at another level.
    #[must_use]
    pub fn upgraded(&self, level: i32) -> Self {
        Self { level, ..self.clone() }
    }

    /// The format identifier from the file's name, such as `parquet`.
    pub fn format(&self) -> &str {
        const CODECS: [&str; 8] = ["gz", "gzip", "bz2", "zst", "zstd", "lz4", "snappy", "deflate"];
        let mut parts = self.file_name.rsplit('.');
        match (parts.next(), parts.next()) {
            (Some(last), Some(previous)) if CODECS.contains(&last) => previous,
            (Some(last), Some(_)) => last,
            _ => "",
        }
    }

    /// Reads the record `_FILE`; `None` for null. Fields that the writer did not know are absent.
    pub(super) fn decode(cursor: &mut Cursor<'_>, shape: &Shape) -> Result<Option<Self>> {
        let mut fields = Fields::default();
        let present = cursor.record(shape, |c, name, shape| fields.take(c, name, shape))?;
        if present { fields.finish().map(Some) } else { Ok(None) }
    }

    /// Writes the record `_FILE`.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_text(out, &self.file_name);
        put_long(out, self.file_size);
        put_long(out, self.row_count);
        put_bytes(out, &self.min_key.to_serialized());
        put_bytes(out, &self.max_key.to_serialized());
        self.key_stats.encode(out);
        self.value_stats.encode(out);
        put_long(out, self.min_sequence_number);
        put_long(out, self.max_sequence_number);
        put_long(out, self.schema_id);
        put_long(out, i64::from(self.level));
        put_list(out, &self.extra_files, |out, name| put_text(out, name));
        put_optional(out, self.creation_time_ms, put_long);
        put_optional(out, self.delete_row_count, put_long);
        put_optional(out, self.embedded_index.as_deref(), put_bytes);
        put_optional(out, self.file_source.map(FileSource::number), put_long);
        let put_texts = |out: &mut Vec<u8>, list: &Vec<String>| put_list(out, list, |out, text| put_text(out, text));
        put_optional(out, self.value_stats_cols.as_ref(), put_texts);
        put_optional(out, self.external_path.as_deref(), put_text);
        put_optional(out, self.first_row_id, put_long);
        put_optional(out, self.write_cols.as_ref(), put_texts);
        put_optional(out, self.write_cols_sequences.as_ref(), |out, list| {
            put_list(out, list, |out, number| put_long(out, *number));
        });
    }
}

/// The values of a record while it is read.
#[derive(Default)]
struct Fields {
    file_name: Option<String>,
    file_size: Option<i64>,
    row_count: Option<i64>,
    min_key: Option<BinaryRow>,
    max_key: Option<BinaryRow>,
    key_stats: Option<SimpleStats>,
    value_stats: Option<SimpleStats>,
    min_sequence_number: Option<i64>,
    max_sequence_number: Option<i64>,
    schema_id: Option<i64>,
    level: Option<i32>,
    extra_files: Option<Vec<String>>,
    creation_time_ms: Option<i64>,
    delete_row_count: Option<i64>,
    embedded_index: Option<Vec<u8>>,
    file_source: Option<i32>,
    value_stats_cols: Option<Vec<String>>,
    external_path: Option<String>,
    first_row_id: Option<i64>,
    write_cols: Option<Vec<String>>,
    write_cols_sequences: Option<Vec<i64>>,
}

impl Fields {
    fn take(&mut self, cursor: &mut Cursor<'_>, name: FieldName, shape: &Shape) -> Result<()> {
        let texts = |c: &mut Cursor<'_>| c.list(shape, |c, item| required(c.text(item)?, name));
        match name {
            FieldName::FileName => self.file_name = cursor.text(shape)?,
            FieldName::FileSize => self.file_size = cursor.long(shape)?,
            FieldName::RowCount => self.row_count = cursor.long(shape)?,
            FieldName::MinKey => self.min_key = cursor.row(shape)?,
            FieldName::MaxKey => self.max_key = cursor.row(shape)?,
            FieldName::KeyStats => self.key_stats = Some(SimpleStats::decode(cursor, shape)?),
            FieldName::ValueStats => self.value_stats = Some(SimpleStats::decode(cursor, shape)?),
            FieldName::MinSequenceNumber => self.min_sequence_number = cursor.long(shape)?,
            FieldName::MaxSequenceNumber => self.max_sequence_number = cursor.long(shape)?,
            FieldName::SchemaId => self.schema_id = cursor.long(shape)?,
            FieldName::Level => self.level = cursor.int(shape)?,
            FieldName::ExtraFiles => self.extra_files = texts(cursor)?,
            FieldName::CreationTime => self.creation_time_ms = cursor.long(shape)?,
            FieldName::DeleteRowCount => self.delete_row_count = cursor.long(shape)?,
            FieldName::EmbeddedFileIndex => self.embedded_index = cursor.bytes(shape)?.map(<[u8]>::to_vec),
            FieldName::FileSource => self.file_source = cursor.int(shape)?,
            FieldName::ValueStatsCols => self.value_stats_cols = texts(cursor)?,
            FieldName::ExternalPath => self.external_path = cursor.text(shape)?,
            FieldName::FirstRowId => self.first_row_id = cursor.long(shape)?,
            FieldName::WriteCols => self.write_cols = texts(cursor)?,
            FieldName::WriteColsSequences => {
                self.write_cols_sequences = cursor.list(shape, |c, item| required(c.long(item)?, name))?;
            }
            _ => cursor.skip(shape)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<DataFileMeta> {
        let extra_files = self.extra_files.unwrap_or_default().into_iter();
        Ok(DataFileMeta {
            file_name: required_file_name(self.file_name, FieldName::FileName)?,
            file_size: required(self.file_size, FieldName::FileSize)?,
            row_count: required(self.row_count, FieldName::RowCount)?,
            min_key: required(self.min_key, FieldName::MinKey)?,
            max_key: required(self.max_key, FieldName::MaxKey)?,
            key_stats: required(self.key_stats, FieldName::KeyStats)?,
            value_stats: required(self.value_stats, FieldName::ValueStats)?,
            min_sequence_number: required(self.min_sequence_number, FieldName::MinSequenceNumber)?,
            max_sequence_number: required(self.max_sequence_number, FieldName::MaxSequenceNumber)?,
            schema_id: required(self.schema_id, FieldName::SchemaId)?,
            level: required(self.level, FieldName::Level)?,
            extra_files: extra_files
                .map(|name| required_file_name(Some(name), FieldName::ExtraFiles))
                .collect::<Result<_>>()?,
            creation_time_ms: self.creation_time_ms,
            delete_row_count: self.delete_row_count,
            embedded_index: self.embedded_index,
            file_source: self.file_source.map(FileSource::from_number).transpose()?,
            value_stats_cols: self.value_stats_cols,
            external_path: self.external_path,
            first_row_id: self.first_row_id,
            write_cols: self.write_cols,
            write_cols_sequences: self.write_cols_sequences,
        })
    }
}
