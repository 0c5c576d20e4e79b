//! Every directory and file name rule of a table.

use crate::error::{Error, Result};
use crate::options::Options;
use crate::row::BinaryRow;
use crate::spec::{DataFileMeta, TableSchema};

/// Names and directories of one table. Metadata of a branch lives under `branch/branch-<name>`; data, manifests and
/// indexes always in the main table.
#[derive(Debug, Clone)]
pub struct TablePaths {
    location: String,
    branch: String,
}

impl TablePaths {
    /// Paths of the table at `location` on `branch` (`main` for none).
    pub fn new(location: impl Into<String>, branch: impl Into<String>) -> Self {
        Self { location: location.into(), branch: branch.into() }
    }

    /// The directory of the table.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// The branch.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    fn branch_root(&self) -> String {
        if self.branch == "main" {
            self.location.clone()
        } else {
            format!("{}/branch/branch-{}", self.location, self.branch)
        }
    }

    /// `schema/`.
    pub fn schema_dir(&self) -> String {
        format!("{}/schema", self.branch_root())
    }

    /// `schema/schema-<id>`.
    pub fn schema(&self, id: i64) -> String {
        format!("{}/schema-{id}", self.schema_dir())
    }

    /// `snapshot/`.
    pub fn snapshot_dir(&self) -> String {
        format!("{}/snapshot", self.branch_root())
    }

    /// `snapshot/snapshot-<id>`.
    pub fn snapshot(&self, id: i64) -> String {
        format!("{}/snapshot-{id}", self.snapshot_dir())
    }

    /// `tag/`.
    pub fn tag_dir(&self) -> String {
        format!("{}/tag", self.branch_root())
    }

    /// `tag/tag-<name>`.
    pub fn tag(&self, name: &str) -> String {
        format!("{}/tag-{name}", self.tag_dir())
    }

    /// `branch/`.
    pub fn branches_dir(&self) -> String {
        format!("{}/branch", self.location)
    }

    /// `manifest/<name>`: manifests, manifest lists and index manifests.
    pub fn manifest(&self, name: &str) -> String {
        format!("{}/manifest/{name}", self.location)
    }

    /// `index/<name>`.
    pub fn index(&self, name: &str) -> String {
        format!("{}/index/{name}", self.location)
    }

    /// `statistics/<name>`.
    pub fn statistics(&self, name: &str) -> String {
        format!("{}/statistics/{name}", self.location)
    }

    /// The escaped path of a partition, `k1=v1/k2=v2`; empty for unpartitioned tables.
    ///
    /// # Errors
    /// `Corrupt` if the row does not fit the partition columns; `Unsupported` for types without a path form.
    pub fn partition_path(&self, schema: &TableSchema, options: &Options, partition: &BinaryRow) -> Result<String> {
        let _ = (schema, options, partition);
        Err(Error::unsupported("partition paths"))
    }

    /// The text of each partition value as in the path, but not escaped; nulls and blanks are the default name.
    ///
    /// # Errors
    /// As [`TablePaths::partition_path`].
    pub fn partition_values(
        &self,
        schema: &TableSchema,
        options: &Options,
        partition: &BinaryRow,
    ) -> Result<Vec<String>> {
        let _ = (schema, options, partition);
        Err(Error::unsupported("partition paths"))
    }

    /// The directory of a bucket.
    ///
    /// # Errors
    /// As [`TablePaths::partition_path`].
    pub fn bucket_dir(
        &self,
        schema: &TableSchema,
        options: &Options,
        partition: &BinaryRow,
        bucket: i32,
    ) -> Result<String> {
        let _ = (schema, options, partition, bucket);
        Err(Error::unsupported("partition paths"))
    }

    /// Where a data file of a bucket stands.
    pub fn data_file(bucket_dir: &str, file: &DataFileMeta) -> String {
        file.external_path.clone().unwrap_or_else(|| format!("{bucket_dir}/{}", file.file_name))
    }
}
