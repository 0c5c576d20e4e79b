//! One entry of a manifest list: a manifest file and what it covers.

use super::avro::{AvroCompression, AvroWriter};
use super::avro::{
    Cursor, FieldName, MANIFEST_LIST_SCHEMA, Shape, decode_all, put_list, put_long, put_optional, put_text, required,
    required_file_name,
};
use super::manifest_entry::{MANIFEST_VERSION, check_version};
use super::stats::SimpleStats;
use crate::error::Result;

/// An entry of a manifest list. Source: `manifest/ManifestFileMeta.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFileMeta {
    /// Name within the `manifest` directory.
    pub file_name: String,
    /// Bytes.
    pub file_size: i64,
    /// Entries that add.
    pub num_added_files: i64,
    /// Entries that delete.
    pub num_deleted_files: i64,
    /// Statistics over the partition rows, untruncated.
    pub partition_stats: SimpleStats,
    /// Greatest schema id of the entries.
    pub schema_id: i64,
    /// Least bucket; `None` unknown.
    pub min_bucket: Option<i32>,
    /// Greatest bucket; `None` unknown.
    pub max_bucket: Option<i32>,
    /// Least level; `None` unknown.
    pub min_level: Option<i32>,
    /// Greatest level; `None` unknown.
    pub max_level: Option<i32>,
    /// Least row id; `None` unknown.
    pub min_row_id: Option<i64>,
    /// Greatest row id, inclusive; `None` unknown.
    pub max_row_id: Option<i64>,
    /// The bucket count if all entries share it; `None` unknown.
    pub total_buckets: Option<i32>,
    /// Files that this manifest owns.
    pub extra_files: Option<Vec<String>>,
}

/// Reads the bytes of a manifest list.
///
/// # Errors
/// `Corrupt` naming the field that is wrong; `Unsupported` for formats, codecs and versions that are not built.
pub fn decode_manifest_list(bytes: &[u8]) -> Result<Vec<ManifestFileMeta>> {
    decode_all(bytes, ManifestFileMeta::decode)
}

/// The bytes of a manifest list whose blocks end with `sync`, which must be random.
///
/// # Errors
/// `Internal` if compressing fails.
pub(crate) fn encode_manifest_list(
    manifests: &[ManifestFileMeta],
    compression: AvroCompression,
    sync: [u8; 16],
) -> Result<Vec<u8>> {
    let mut writer = AvroWriter::new(MANIFEST_LIST_SCHEMA, compression, sync);
    for manifest in manifests {
        writer.push(|out| manifest.encode(out))?;
    }
    writer.finish()
}

/// The values of a record while it is read.
#[derive(Default)]
struct Fields {
    version: Option<i32>,
    file_name: Option<String>,
    file_size: Option<i64>,
    num_added_files: Option<i64>,
    num_deleted_files: Option<i64>,
    partition_stats: Option<SimpleStats>,
    schema_id: Option<i64>,
    min_bucket: Option<i32>,
    max_bucket: Option<i32>,
    min_level: Option<i32>,
    max_level: Option<i32>,
    min_row_id: Option<i64>,
    max_row_id: Option<i64>,
    total_buckets: Option<i32>,
    extra_files: Option<Vec<String>>,
}

impl Fields {
    fn take(&mut self, cursor: &mut Cursor<'_>, name: FieldName, shape: &Shape) -> Result<()> {
        match name {
            FieldName::Version => self.version = cursor.int(shape)?,
            FieldName::FileName => self.file_name = cursor.text(shape)?,
            FieldName::FileSize => self.file_size = cursor.long(shape)?,
            FieldName::NumAddedFiles => self.num_added_files = cursor.long(shape)?,
            FieldName::NumDeletedFiles => self.num_deleted_files = cursor.long(shape)?,
            FieldName::PartitionStats => self.partition_stats = Some(SimpleStats::decode(cursor, shape)?),
            FieldName::SchemaId => self.schema_id = cursor.long(shape)?,
            FieldName::MinBucket => self.min_bucket = cursor.int(shape)?,
            FieldName::MaxBucket => self.max_bucket = cursor.int(shape)?,
            FieldName::MinLevel => self.min_level = cursor.int(shape)?,
            FieldName::MaxLevel => self.max_level = cursor.int(shape)?,
            FieldName::MinRowId => self.min_row_id = cursor.long(shape)?,
            FieldName::MaxRowId => self.max_row_id = cursor.long(shape)?,
            FieldName::TotalBuckets => self.total_buckets = cursor.int(shape)?,
            FieldName::ExtraFiles => {
                self.extra_files =
                    cursor.list(shape, |c, item| required_file_name(c.text(item)?, FieldName::ExtraFiles))?;
            }
            _ => cursor.skip(shape)?,
        }
        Ok(())
    }
}

impl ManifestFileMeta {
    fn decode(cursor: &mut Cursor<'_>, shape: &Shape) -> Result<Self> {
        let mut fields = Fields::default();
        cursor.record(shape, |c, name, shape| fields.take(c, name, shape))?;
        check_version(fields.version, MANIFEST_VERSION)?;
        Ok(Self {
            file_name: required_file_name(fields.file_name, FieldName::FileName)?,
            file_size: required(fields.file_size, FieldName::FileSize)?,
            num_added_files: required(fields.num_added_files, FieldName::NumAddedFiles)?,
            num_deleted_files: required(fields.num_deleted_files, FieldName::NumDeletedFiles)?,
            partition_stats: required(fields.partition_stats, FieldName::PartitionStats)?,
            schema_id: required(fields.schema_id, FieldName::SchemaId)?,
            min_bucket: fields.min_bucket,
            max_bucket: fields.max_bucket,
            min_level: fields.min_level,
            max_level: fields.max_level,
            min_row_id: fields.min_row_id,
            max_row_id: fields.max_row_id,
            total_buckets: fields.total_buckets,
            extra_files: fields.extra_files,
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_long(out, i64::from(MANIFEST_VERSION));
        put_text(out, &self.file_name);
        put_long(out, self.file_size);
        put_long(out, self.num_added_files);
        put_long(out, self.num_deleted_files);
        self.partition_stats.encode(out);
        put_long(out, self.schema_id);
        for number in [self.min_bucket, self.max_bucket, self.min_level, self.max_level] {
            put_optional(out, number.map(i64::from), put_long);
        }
        put_optional(out, self.min_row_id, put_long);
        put_optional(out, self.max_row_id, put_long);
        put_optional(out, self.total_buckets.map(i64::from), put_long);
        put_optional(out, self.extra_files.as_ref(), |out, files| {
            put_list(out, files, |out, file| put_text(out, file))
        });
    }
}
