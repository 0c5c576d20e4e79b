//! Deletion vectors by data file, from an index manifest.
//!
//! Source: deletion-vector sheet, read-path sheet section 1 stage 9; `table/source/snapshot/SnapshotReaderImpl.java`.

use std::collections::HashMap;

use super::partitions::Partitions;
use super::split::DeletionFile;
use crate::error::{Result, ResultExt};
use crate::spec::{DELETION_VECTORS, IndexManifestEntry};
use crate::table::Table;

/// The index type of deletion vectors.
const INDEX_TYPE: &str = "DELETION_VECTORS";

/// Deletion files by partition, bucket and data file name.
#[derive(Debug, Default)]
pub(super) struct DeletionFiles(HashMap<(usize, i32), HashMap<String, DeletionFile>>);

impl DeletionFiles {
    /// Those of an index manifest; none if the table does not keep any now.
    ///
    /// # Errors
    /// `InvalidConfig` for a bad option; `Corrupt` for partitions that do not decode.
    pub(super) fn try_new(entries: &[IndexManifestEntry], partitions: &mut Partitions, table: &Table) -> Result<Self> {
        if !table.options().value(&DELETION_VECTORS)? {
            return Ok(Self::default());
        }
        let in_bucket_dir = table.options().get("index-file-in-data-file-dir").is_some_and(|v| v.trim() == "true");
        let mut files: HashMap<(usize, i32), HashMap<String, DeletionFile>> = HashMap::new();
        for entry in entries.iter().filter(|e| e.index_type == INDEX_TYPE) {
            let path = match &entry.external_path {
                Some(path) => path.clone(),
                None if in_bucket_dir => {
                    let (schema, options) = (table.schema(), table.options());
                    let dir = table.paths().bucket_dir(schema, options, &entry.partition, entry.bucket)?;
                    format!("{dir}/{}", entry.file_name)
                }
                None => table.paths().index(&entry.file_name),
            };
            let partition = partitions.id(&entry.partition).context("file", &entry.file_name)?;
            let of_bucket = files.entry((partition, entry.bucket)).or_default();
            for range in entry.dv_ranges.iter().flatten() {
                let file = DeletionFile {
                    path: path.clone(),
                    offset: i64::from(range.offset),
                    length: i64::from(range.length),
                    cardinality: range.cardinality,
                };
                of_bucket.insert(range.data_file_name.clone(), file);
            }
        }
        Ok(Self(files))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, partition: usize, bucket: i32, file_name: &str) -> Option<&DeletionFile> {
        self.0.get(&(partition, bucket))?.get(file_name)
    }
}
