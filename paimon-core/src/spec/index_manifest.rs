//! One entry of an index manifest: an index file of a bucket.

use super::avro::{
    AvroCompression, AvroWriter, INDEX_MANIFEST_SCHEMA, put_bytes, put_list, put_long, put_optional, put_text,
};
use super::avro::{Cursor, FieldName, Shape, decode_all, required, required_file_name};
use super::manifest_entry::check_version;
use crate::error::{Error, Result};
use crate::row::BinaryRow;

/// The version of index manifests.
const INDEX_MANIFEST_VERSION: i32 = 1;

/// Where one deletion vector stands in an index file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionVectorRange {
    /// Name of the data file.
    pub data_file_name: String,
    /// Offset of the length word.
    pub offset: i32,
    /// Length as the layout defines it.
    pub length: i32,
    /// Deleted rows; unknown in old files.
    pub cardinality: Option<i64>,
}

/// What a global index covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalIndexMeta {
    /// First row id.
    pub row_range_start: i64,
    /// Last row id, inclusive.
    pub row_range_end: i64,
    /// Indexed column.
    pub index_field_id: i32,
    /// Further columns.
    pub extra_field_ids: Option<Vec<i32>>,
    /// Data of the index kind.
    pub index_meta: Option<Vec<u8>>,
    /// Data about the source.
    pub source_meta: Option<Vec<u8>>,
}

/// An entry of an index manifest. Source: `manifest/IndexManifestEntry.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexManifestEntry {
    /// Values of the partition columns.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// `HASH`, `DELETION_VECTORS` or the name of a global index kind.
    pub index_type: String,
    /// Name of the index file.
    pub file_name: String,
    /// Bytes.
    pub file_size: i64,
    /// Hashes, or number of deletion vectors.
    pub row_count: i64,
    /// Deletion vectors of the file.
    pub dv_ranges: Option<Vec<DeletionVectorRange>>,
    /// Full path if the file is not in the `index` directory.
    pub external_path: Option<String>,
    /// What a global index covers.
    pub global_index: Option<GlobalIndexMeta>,
}

/// Reads the bytes of an index manifest.
///
/// # Errors
/// `Corrupt` naming the field that is wrong; `Unsupported` for formats, codecs and versions that are not built.
pub fn decode_index_manifest(bytes: &[u8]) -> Result<Vec<IndexManifestEntry>> {
    decode_all(bytes, IndexManifestEntry::decode)
}

/// The bytes of an index manifest whose blocks end with `sync`, which must be random.
///
/// # Errors
/// `Internal` if compressing fails.
pub(crate) fn encode_index_manifest(
    entries: &[IndexManifestEntry],
    compression: AvroCompression,
    sync: [u8; 16],
) -> Result<Vec<u8>> {
    let mut writer = AvroWriter::new(INDEX_MANIFEST_SCHEMA, compression, sync);
    for entry in entries {
        writer.push(|out| entry.encode(out))?;
    }
    writer.finish()
}

impl DeletionVectorRange {
    fn decode(cursor: &mut Cursor<'_>, shape: &Shape) -> Result<Option<Self>> {
        let (mut file, mut offset, mut length, mut cardinality) = (None, None, None, None);
        let present = cursor.record(shape, |c, name, shape| {
            match name {
                FieldName::RangeFile => file = c.text(shape)?,
                FieldName::RangeOffset => offset = c.int(shape)?,
                FieldName::RangeLength => length = c.int(shape)?,
                FieldName::Cardinality => cardinality = c.long(shape)?,
                _ => c.skip(shape)?,
            }
            Ok(())
        })?;
        if !present {
            return Ok(None);
        }
        Ok(Some(Self {
            data_file_name: required_file_name(file, FieldName::RangeFile)?,
            offset: required(offset, FieldName::RangeOffset)?,
            length: required(length, FieldName::RangeLength)?,
            cardinality,
        }))
    }

    /// Writes the item of the list, which is a union with null.
    fn encode(&self, out: &mut Vec<u8>) {
        put_optional(out, Some(self), |out, range| {
            put_text(out, &range.data_file_name);
            put_long(out, i64::from(range.offset));
            put_long(out, i64::from(range.length));
            put_optional(out, range.cardinality, put_long);
        });
    }
}

impl GlobalIndexMeta {
    fn decode(cursor: &mut Cursor<'_>, shape: &Shape) -> Result<Option<Self>> {
        let (mut start, mut end, mut field, mut extra, mut index_meta, mut source_meta) =
            (None, None, None, None, None, None);
        let present = cursor.record(shape, |c, name, shape| {
            match name {
                FieldName::RowRangeStart => start = c.long(shape)?,
                FieldName::RowRangeEnd => end = c.long(shape)?,
                FieldName::IndexFieldId => field = c.int(shape)?,
                FieldName::ExtraFieldIds => extra = c.list(shape, |c, item| required(c.int(item)?, name))?,
                FieldName::IndexMeta => index_meta = c.bytes(shape)?.map(<[u8]>::to_vec),
                FieldName::SourceMeta => source_meta = c.bytes(shape)?.map(<[u8]>::to_vec),
                _ => c.skip(shape)?,
            }
            Ok(())
        })?;
        if !present {
            return Ok(None);
        }
        Ok(Some(Self {
            row_range_start: required(start, FieldName::RowRangeStart)?,
            row_range_end: required(end, FieldName::RowRangeEnd)?,
            index_field_id: required(field, FieldName::IndexFieldId)?,
            extra_field_ids: extra,
            index_meta,
            source_meta,
        }))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_long(out, self.row_range_start);
        put_long(out, self.row_range_end);
        put_long(out, i64::from(self.index_field_id));
        put_optional(out, self.extra_field_ids.as_ref(), |out, ids| {
            put_list(out, ids, |out, id| put_long(out, i64::from(*id)));
        });
        put_optional(out, self.index_meta.as_deref(), put_bytes);
        put_optional(out, self.source_meta.as_deref(), put_bytes);
    }
}

/// The values of a record while it is read.
#[derive(Default)]
struct Fields {
    version: Option<i32>,
    kind: Option<i32>,
    partition: Option<BinaryRow>,
    bucket: Option<i32>,
    index_type: Option<String>,
    file_name: Option<String>,
    file_size: Option<i64>,
    row_count: Option<i64>,
    dv_ranges: Option<Vec<DeletionVectorRange>>,
    external_path: Option<String>,
    global_index: Option<GlobalIndexMeta>,
}

impl Fields {
    fn take(&mut self, cursor: &mut Cursor<'_>, name: FieldName, shape: &Shape) -> Result<()> {
        match name {
            FieldName::Version => self.version = cursor.int(shape)?,
            FieldName::Kind => self.kind = cursor.int(shape)?,
            FieldName::Partition => self.partition = cursor.row(shape)?,
            FieldName::Bucket => self.bucket = cursor.int(shape)?,
            FieldName::IndexType => self.index_type = cursor.text(shape)?,
            FieldName::FileName => self.file_name = cursor.text(shape)?,
            FieldName::FileSize => self.file_size = cursor.long(shape)?,
            FieldName::RowCount => self.row_count = cursor.long(shape)?,
            FieldName::DeletionVectorsRanges => {
                self.dv_ranges = cursor.list(shape, |c, item| required(DeletionVectorRange::decode(c, item)?, name))?;
            }
            FieldName::ExternalPath => self.external_path = cursor.text(shape)?,
            FieldName::GlobalIndex => self.global_index = GlobalIndexMeta::decode(cursor, shape)?,
            _ => cursor.skip(shape)?,
        }
        Ok(())
    }
}

impl IndexManifestEntry {
    fn decode(cursor: &mut Cursor<'_>, shape: &Shape) -> Result<Self> {
        let mut fields = Fields::default();
        cursor.record(shape, |c, name, shape| fields.take(c, name, shape))?;
        check_version(fields.version, INDEX_MANIFEST_VERSION)?;
        if let Some(kind) = fields.kind.filter(|k| *k != 0) {
            return Err(Error::corrupt(format!("the kind of an index manifest entry must be 0, but is {kind}")));
        }
        Ok(Self {
            partition: required(fields.partition, FieldName::Partition)?,
            bucket: required(fields.bucket, FieldName::Bucket)?,
            index_type: required(fields.index_type, FieldName::IndexType)?,
            file_name: required_file_name(fields.file_name, FieldName::FileName)?,
            file_size: required(fields.file_size, FieldName::FileSize)?,
            row_count: required(fields.row_count, FieldName::RowCount)?,
            dv_ranges: fields.dv_ranges,
            external_path: fields.external_path,
            global_index: fields.global_index,
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_long(out, i64::from(INDEX_MANIFEST_VERSION));
        put_long(out, 0);
        put_bytes(out, &self.partition.to_serialized());
        put_long(out, i64::from(self.bucket));
        put_text(out, &self.index_type);
        put_text(out, &self.file_name);
        put_long(out, self.file_size);
        put_long(out, self.row_count);
        put_optional(out, self.dv_ranges.as_ref(), |out, ranges| {
            put_list(out, ranges, |out, range| range.encode(out));
        });
        put_optional(out, self.external_path.as_deref(), put_text);
        put_optional(out, self.global_index.as_ref(), |out, index| index.encode(out));
    }
}
