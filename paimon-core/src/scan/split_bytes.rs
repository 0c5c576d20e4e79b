//! Splits as bytes, in Java's form.
//!
//! A frame names its kind: a split of files, one with selected rows, one of a difference, one of a fallback branch. Bytes
//! of a split of files without frame, as Java before 2.0 knows them, are read too.
//!
//! Invariants: what this crate cannot read is refused by name; nothing may follow a split; damaged bytes are an error,
//! never a panic. Source: read-path sheet section 8; `table/source/SplitSerializer.java`, `DataSplit.java`,
//! `IndexedSplit.java`, `IncrementalSplit.java`.

use std::sync::Arc;

use super::split::{BeforeFiles, DeletionFile, RowRange, Split};
use crate::error::{Error, Result};
use crate::spec::{DataFileMeta, FILE_ROW_FIELDS, JavaReader, JavaWriter};

/// `SPLIT_V1`.
const FRAME_MAGIC: i64 = 0x5350_4C49_545F_5631;
const FRAME_VERSION: i32 = 1;
const DATA_MAGIC: i64 = -2_394_839_472_490_812_314;
/// The form of splits of files that is written.
const DATA_VERSION: i32 = 9;
const INDEXED_MAGIC: i64 = -938_472_394_838_495_695;
const INDEXED_VERSION: i32 = 1;
const INCREMENTAL_VERSION: i32 = 2;

const TYPE_DATA: i32 = 1;
const TYPE_INCREMENTAL: i32 = 2;
const TYPE_INDEXED: i32 = 3;
const TYPE_FALLBACK: i32 = 6;

impl Split {
    /// The split as Java's `SplitSerializer` writes it.
    ///
    /// # Errors
    /// `InvalidInput` if it has parts that are too large; `Unsupported` for a difference in a fallback branch.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let kind = match (&self.before, &self.rows, self.fallback) {
            (None, None, false) => TYPE_DATA,
            (Some(_), None, false) => TYPE_INCREMENTAL,
            (None, Some(_), false) => TYPE_INDEXED,
            (None, None, true) => TYPE_FALLBACK,
            _ => return Err(Error::unsupported("serializing selected rows or differences of a fallback branch")),
        };
        let mut out = JavaWriter::default();
        out.long(FRAME_MAGIC);
        out.int(FRAME_VERSION);
        out.int(kind);
        match (&self.before, &self.rows) {
            (Some(before), _) => write_incremental(&mut out, self, before)?,
            (None, Some(rows)) => {
                out.long(INDEXED_MAGIC);
                out.int(INDEXED_VERSION);
                write_data(&mut out, self, DATA_VERSION)?;
                out.len(rows.len())?;
                for range in rows {
                    out.long(range.from);
                    out.long(range.to);
                }
                // No scores.
                out.bool(false);
            }
            (None, None) => write_data(&mut out, self, DATA_VERSION)?,
        }
        if kind == TYPE_FALLBACK {
            out.bool(true);
        }
        Ok(out.finish())
    }

    /// The bytes of a split of files without frame, in the form of version 8 that Java 1.3 to 1.4 read.
    ///
    /// # Errors
    /// `InvalidInput` if the split has selected rows or is a difference, which that form cannot say.
    pub fn serialize_without_frame(&self) -> Result<Vec<u8>> {
        if self.rows.is_some() || self.before.is_some() || self.fallback {
            return Err(Error::invalid_input("the form without frame holds splits of whole files only"));
        }
        let mut out = JavaWriter::default();
        write_data(&mut out, self, 8)?;
        Ok(out.finish())
    }

    /// Reads what [`Split::serialize`], [`Split::serialize_without_frame`] or Java wrote.
    ///
    /// # Errors
    /// `Corrupt` for bytes that are no split; `Unsupported` naming a kind of split that cannot be read.
    pub fn deserialize(bytes: &[u8]) -> Result<Self> {
        let mut reader = JavaReader::new(bytes, "split");
        let split = match reader.peek_long() {
            Some(FRAME_MAGIC) => read_frame(&mut reader)?,
            Some(DATA_MAGIC) => read_data(&mut reader)?,
            _ => return Err(Error::corrupt("the bytes are no split: they do not begin as one")),
        };
        reader.end()?;
        Ok(split)
    }
}

fn read_frame(reader: &mut JavaReader<'_>) -> Result<Split> {
    reader.long()?;
    let version = reader.int()?;
    if version != FRAME_VERSION {
        return Err(Error::unsupported(format!("splits in a frame of version {version} are not supported")));
    }
    match reader.int()? {
        TYPE_DATA => read_data(reader),
        TYPE_INCREMENTAL => read_incremental(reader),
        TYPE_INDEXED => read_indexed(reader),
        TYPE_FALLBACK => {
            let split = read_data(reader)?;
            Ok(Split { fallback: reader.bool()?, ..split })
        }
        4 => Err(Error::unsupported("splits of chain tables are not supported")),
        5 => Err(Error::unsupported("splits with filters of an authorisation are not supported")),
        7 => Err(Error::unsupported("splits of other kinds than files in a fallback branch are not supported")),
        other => Err(Error::corrupt(format!("a split cannot be of type {other}"))),
    }
}

fn read_indexed(reader: &mut JavaReader<'_>) -> Result<Split> {
    if reader.long()? != INDEXED_MAGIC {
        return Err(Error::corrupt("a split of selected rows does not begin as one"));
    }
    let version = reader.int()?;
    if version != INDEXED_VERSION {
        return Err(Error::unsupported(format!("splits of selected rows of version {version} are not supported")));
    }
    let split = read_data(reader)?;
    let mut rows = Vec::new();
    for _ in 0..reader.len(16)? {
        rows.push(RowRange { from: reader.long()?, to: reader.long()? });
    }
    if reader.bool()? {
        return Err(Error::unsupported("splits of selected rows with scores are not supported"));
    }
    Ok(Split { rows: Some(rows), ..split })
}

fn write_incremental(out: &mut JavaWriter, split: &Split, before: &BeforeFiles) -> Result<()> {
    out.int(INCREMENTAL_VERSION);
    out.long(split.snapshot_id);
    out.row(&split.partition)?;
    out.int(split.bucket);
    out.int(split.total_buckets.unwrap_or(-1));
    write_files(out, &before.files, FILE_ROW_FIELDS)?;
    write_vectors(out, before.deletion_files.as_deref())?;
    write_files(out, &split.files, FILE_ROW_FIELDS)?;
    write_vectors(out, split.deletion_files.as_deref())?;
    out.bool(split.streaming);
    Ok(())
}

fn read_incremental(reader: &mut JavaReader<'_>) -> Result<Split> {
    let version = reader.int()?;
    let fields = match version {
        1 => 20,
        2 => FILE_ROW_FIELDS,
        _ => return Err(Error::unsupported(format!("splits of differences of version {version} are not supported"))),
    };
    let snapshot_id = reader.long()?;
    let partition = reader.row()?;
    let (bucket, total_buckets) = (reader.int()?, reader.int()?);
    let before_files = read_files(reader, fields)?;
    let before = BeforeFiles { deletion_files: read_vectors(reader, before_files.len(), true)?, files: before_files };
    let files = read_files(reader, fields)?;
    let deletion_files = read_vectors(reader, files.len(), true)?;
    Ok(Split {
        snapshot_id,
        partition,
        bucket,
        // This form does not say it: whoever reads the split finds it by partition and bucket.
        bucket_path: String::new(),
        total_buckets: Some(total_buckets),
        files,
        deletion_files,
        streaming: reader.bool()?,
        raw_convertible: false,
        rows: None,
        before: Some(before),
        fallback: false,
    })
}

/// Fields of the rows of files in a version of the form.
fn fields_of(version: i32) -> Option<usize> {
    Some(match version {
        1 => 15,
        2 => 16,
        3 | 4 => 17,
        5 | 6 => 18,
        7 => 19,
        8 => 20,
        9 => FILE_ROW_FIELDS,
        _ => return None,
    })
}

fn write_data(out: &mut JavaWriter, split: &Split, version: i32) -> Result<()> {
    let fields = fields_of(version).unwrap_or(FILE_ROW_FIELDS);
    out.long(DATA_MAGIC);
    out.int(version);
    out.long(split.snapshot_id);
    out.row(&split.partition)?;
    out.int(split.bucket);
    out.utf(&split.bucket_path)?;
    out.bool(split.total_buckets.is_some());
    if let Some(total_buckets) = split.total_buckets {
        out.int(total_buckets);
    }
    // Files that were there before, and their deletion vectors: only other kinds of splits have them.
    out.int(0);
    out.bool(false);
    write_files(out, &split.files, fields)?;
    write_vectors(out, split.deletion_files.as_deref())?;
    out.bool(split.streaming);
    out.bool(split.raw_convertible);
    Ok(())
}

fn read_data(reader: &mut JavaReader<'_>) -> Result<Split> {
    let (version, snapshot_id) = match reader.long()? {
        DATA_MAGIC => (reader.int()?, reader.long()?),
        // The first version has neither.
        snapshot_id => (1, snapshot_id),
    };
    let Some(fields) = fields_of(version) else {
        return Err(Error::unsupported(format!("splits of version {version} are not supported")));
    };
    let partition = reader.row()?;
    let bucket = reader.int()?;
    let bucket_path = reader.utf()?;
    let total_buckets = if version >= 6 && reader.bool()? { Some(reader.int()?) } else { None };
    let before = reader.int()?;
    if before != 0 || reader.bool()? {
        return Err(Error::unsupported("splits of files with files that were there before are not supported"));
    }
    let files = read_files(reader, fields)?;
    let deletion_files = read_vectors(reader, files.len(), version >= 4)?;
    Ok(Split {
        snapshot_id,
        partition,
        bucket,
        bucket_path,
        total_buckets,
        files,
        deletion_files,
        streaming: reader.bool()?,
        raw_convertible: reader.bool()?,
        rows: None,
        before: None,
        fallback: false,
    })
}

fn write_files(out: &mut JavaWriter, files: &[Arc<DataFileMeta>], fields: usize) -> Result<()> {
    out.files(files.iter().map(Arc::as_ref), fields)
}

fn read_files(reader: &mut JavaReader<'_>, fields: usize) -> Result<Vec<Arc<DataFileMeta>>> {
    Ok(reader.files(fields)?.into_iter().map(Arc::new).collect())
}

fn write_vectors(out: &mut JavaWriter, vectors: Option<&[Option<DeletionFile>]>) -> Result<()> {
    out.bool(vectors.is_some());
    let Some(vectors) = vectors else { return Ok(()) };
    out.len(vectors.len())?;
    for vector in vectors {
        out.bool(vector.is_some());
        let Some(vector) = vector else { continue };
        out.utf(&vector.path)?;
        out.long(vector.offset);
        out.long(vector.length);
        out.long(vector.cardinality.unwrap_or(-1));
    }
    Ok(())
}

fn read_vectors(
    reader: &mut JavaReader<'_>,
    files: usize,
    cardinality: bool,
) -> Result<Option<Vec<Option<DeletionFile>>>> {
    if !reader.bool()? {
        return Ok(None);
    }
    let count = reader.len(1)?;
    if count != files {
        return Err(Error::corrupt(format!("a split has {files} files, but {count} deletion vectors")));
    }
    let mut vectors = Vec::with_capacity(count);
    for _ in 0..count {
        if !reader.bool()? {
            vectors.push(None);
            continue;
        }
        let (path, offset, length) = (reader.utf()?, reader.long()?, reader.long()?);
        let cardinality = if cardinality { Some(reader.long()?).filter(|n| *n >= 0) } else { None };
        vectors.push(Some(DeletionFile { path, offset, length, cardinality }));
    }
    Ok(Some(vectors))
}

#[cfg(test)]
mod tests;
