//! One entry of a manifest: a data file was added to or deleted from a bucket.

use super::avro::{AvroCompression, AvroWriter};
use super::avro::{Cursor, FieldName, MANIFEST_SCHEMA, Shape, decode_all, put_bytes, put_long, required};
use super::data_file::DataFileMeta;
use crate::error::{Error, Result};
use crate::row::BinaryRow;

/// The version that manifests and manifest lists have since they are Avro.
pub(super) const MANIFEST_VERSION: i32 = 2;

/// What an entry does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// The file is added.
    Add,
    /// The file is deleted.
    Delete,
}

/// An entry of a manifest file. Source: `manifest/ManifestEntry.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestEntry {
    /// Added or deleted.
    pub kind: EntryKind,
    /// Values of the partition columns.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// Bucket count of the partition when the file was written; -1 or -2 if it has none.
    pub total_buckets: i32,
    /// The file.
    pub file: DataFileMeta,
}

/// What makes two entries speak of one file. The level belongs to it: an upgrade is a delete and an add.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    partition: BinaryRow,
    bucket: i32,
    level: i32,
    file_name: String,
    extra_files: Vec<String>,
    embedded_index: Option<Vec<u8>>,
    external_path: Option<String>,
}

impl FileIdentity {
    /// Values of the partition columns.
    pub fn partition(&self) -> &BinaryRow {
        &self.partition
    }
}

impl EntryKind {
    fn from_number(number: i32) -> Result<Self> {
        match number {
            0 => Ok(Self::Add),
            1 => Ok(Self::Delete),
            _ => Err(Error::corrupt(format!("the kind of a manifest entry must be 0 or 1, but is {number}"))),
        }
    }

    fn number(self) -> i64 {
        match self {
            Self::Add => 0,
            Self::Delete => 1,
        }
    }
}

/// Checks the version of an entry.
pub(super) fn check_version(found: Option<i32>, expected: i32) -> Result<()> {
    match required(found, FieldName::Version)? {
        version if version == expected => Ok(()),
        version => Err(Error::unsupported(format!("version {version} of manifests is not supported, only {expected}"))),
    }
}

/// Writes a manifest in memory.
#[derive(Debug)]
pub(crate) struct ManifestWriter(AvroWriter);

impl ManifestWriter {
    /// Starts a manifest whose blocks end with `sync`, which must be random.
    pub(crate) fn new(compression: AvroCompression, sync: [u8; 16]) -> Self {
        Self(AvroWriter::new(MANIFEST_SCHEMA, compression, sync))
    }

    /// Writes an entry.
    ///
    /// # Errors
    /// `Internal` if compressing fails.
    pub(crate) fn push(&mut self, entry: &ManifestEntry) -> Result<()> {
        self.0.push(|out| entry.encode(out))
    }

    /// The bytes of the blocks that are full.
    pub(crate) fn flushed_bytes(&self) -> usize {
        self.0.flushed_bytes()
    }

    /// Ends the manifest.
    ///
    /// # Errors
    /// `Internal` if compressing fails.
    pub(crate) fn finish(self) -> Result<Vec<u8>> {
        self.0.finish()
    }
}

/// Reads the bytes of a manifest.
///
/// # Errors
/// `Corrupt` naming the field that is wrong; `Unsupported` for formats, codecs and versions that are not built.
pub fn decode_manifest(bytes: &[u8]) -> Result<Vec<ManifestEntry>> {
    let mut last: Option<BinaryRow> = None;
    let mut entries = decode_all(bytes, ManifestEntry::decode)?;
    // Neighbours mostly are of one partition: they share its bytes.
    for entry in &mut entries {
        match &last {
            Some(partition) if *partition == entry.partition => entry.partition = partition.clone(),
            _ => last = Some(entry.partition.clone()),
        }
    }
    Ok(entries)
}

impl ManifestEntry {
    fn decode(cursor: &mut Cursor<'_>, shape: &Shape) -> Result<Self> {
        let (mut version, mut kind, mut partition, mut bucket, mut total_buckets, mut file) =
            (None, None, None, None, None, None);
        cursor.record(shape, |c, name, shape| {
            match name {
                FieldName::Version => version = c.int(shape)?,
                FieldName::Kind => kind = c.int(shape)?,
                FieldName::Partition => partition = c.row(shape)?,
                FieldName::Bucket => bucket = c.int(shape)?,
                FieldName::TotalBuckets => total_buckets = c.int(shape)?,
                FieldName::File => file = DataFileMeta::decode(c, shape)?,
                _ => c.skip(shape)?,
            }
            Ok(())
        })?;
        check_version(version, MANIFEST_VERSION)?;
        Ok(Self {
            kind: EntryKind::from_number(required(kind, FieldName::Kind)?)?,
            partition: required(partition, FieldName::Partition)?,
            bucket: required(bucket, FieldName::Bucket)?,
            total_buckets: required(total_buckets, FieldName::TotalBuckets)?,
            file: required(file, FieldName::File)?,
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_long(out, i64::from(MANIFEST_VERSION));
        put_long(out, self.kind.number());
        put_bytes(out, &self.partition.to_serialized());
        put_long(out, i64::from(self.bucket));
        put_long(out, i64::from(self.total_buckets));
        self.file.encode(out);
    }

    /// The identity of the file. Source: `manifest/FileEntry.java`.
    pub fn identity(&self) -> FileIdentity {
        FileIdentity {
            partition: self.partition.clone(),
            bucket: self.bucket,
            level: self.file.level,
            file_name: self.file.file_name.clone(),
            extra_files: self.file.extra_files.clone(),
            embedded_index: self.file.embedded_index.clone(),
            external_path: self.file.external_path.clone(),
        }
    }
}
