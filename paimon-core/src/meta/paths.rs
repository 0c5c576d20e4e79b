//! Every directory and file name rule of a table.
//!
//! Invariants: metadata of a branch lives below `branch/branch-<name>`; data, manifests, indexes and statistics always in
//! the main table. Nothing here looks at storage.
//! Source: layout sheet sections 1, 3, 4 and 5; `utils/FileStorePathFactory.java`, `utils/BranchManager.java`.

use super::partition_names::{NameForm, escape, value_name};
use crate::error::Result;
use crate::options::Options;
use crate::row::BinaryRow;
use crate::spec::{DATA_FILE_PATH_DIRECTORY, DataFileMeta, PARTITION_DEFAULT_NAME, PARTITION_LEGACY_NAME, TableSchema};

/// The bucket of rows that have no bucket yet.
const POSTPONE_BUCKET: i32 = -2;
/// The branch that every table has.
const MAIN_BRANCH: &str = "main";

/// Names and directories of one table and branch.
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
        if self.branch == MAIN_BRANCH {
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

    /// `changelog/`.
    pub fn changelog_dir(&self) -> String {
        format!("{}/changelog", self.branch_root())
    }

    /// `changelog/changelog-<id>`.
    pub fn changelog(&self, id: i64) -> String {
        format!("{}/changelog-{id}", self.changelog_dir())
    }

    /// `consumer/consumer-<id>`.
    pub fn consumer(&self, id: &str) -> String {
        format!("{}/consumer-{id}", self.consumer_dir())
    }

    /// `consumer/`.
    pub fn consumer_dir(&self) -> String {
        format!("{}/consumer", self.branch_root())
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

    /// `manifest/`.
    pub fn manifest_dir(&self) -> String {
        format!("{}/manifest", self.location)
    }

    /// The escaped path of a partition, `k1=v1/k2=v2`; empty for unpartitioned tables.
    ///
    /// # Errors
    /// `Corrupt` if the row does not fit the partition columns; `Unsupported` for types without a path form.
    pub fn partition_path(&self, schema: &TableSchema, options: &Options, partition: &BinaryRow) -> Result<String> {
        let values = self.partition_values(schema, options, partition)?;
        Ok(Self::join(&schema.partition_keys, &values))
    }

    /// A partition as people read it: its path with each value cast to STRING, whatever form directories have.
    ///
    /// # Errors
    /// As [`TablePaths::partition_path`].
    pub fn partition_shown(&self, schema: &TableSchema, options: &Options, partition: &BinaryRow) -> Result<String> {
        Ok(Self::join(&schema.partition_keys, &names(schema, options, partition, NameForm::Cast)?))
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
        let form = if options.value(&PARTITION_LEGACY_NAME)? { NameForm::Legacy } else { NameForm::Cast };
        names(schema, options, partition, form)
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
        let path = self.partition_path(schema, options, partition)?;
        self.bucket_below(options, &path, bucket)
    }

    /// Where a file of this bucket may be instead, if it is not in [`TablePaths::bucket_dir`]: Python before 2.1 spelled
    /// dates and timestamps in ISO form although the table asked for the legacy form. `None` if that makes no difference.
    ///
    /// # Errors
    /// As [`TablePaths::partition_path`].
    pub fn old_python_bucket_dir(
        &self,
        schema: &TableSchema,
        options: &Options,
        partition: &BinaryRow,
        bucket: i32,
    ) -> Result<Option<String>> {
        if !options.value(&PARTITION_LEGACY_NAME)? {
            return Ok(None);
        }
        let values = names(schema, options, partition, NameForm::OldPython)?;
        if values == self.partition_values(schema, options, partition)? {
            return Ok(None);
        }
        self.bucket_below(options, &Self::join(&schema.partition_keys, &values), bucket).map(Some)
    }

    fn bucket_below(&self, options: &Options, partition_path: &str, bucket: i32) -> Result<String> {
        let mut path = self.location.clone();
        let directory = options.find(&DATA_FILE_PATH_DIRECTORY)?.flatten().unwrap_or_default();
        for part in [directory.trim_matches('/'), partition_path] {
            if !part.is_empty() {
                path.push('/');
                path.push_str(part);
            }
        }
        if bucket == POSTPONE_BUCKET {
            path.push_str("/bucket-postpone");
        } else {
            path.push_str(&format!("/bucket-{bucket}"));
        }
        Ok(path)
    }

    fn join(keys: &[String], values: &[String]) -> String {
        let mut path = String::new();
        for (key, value) in keys.iter().zip(values) {
            if !path.is_empty() {
                path.push('/');
            }
            escape(key, &mut path);
            path.push('=');
            escape(value, &mut path);
        }
        path
    }

    /// Where a data file of a bucket stands.
    pub fn data_file(bucket_dir: &str, file: &DataFileMeta) -> String {
        file.external_path.clone().unwrap_or_else(|| format!("{bucket_dir}/{}", file.file_name))
    }
}

fn names(schema: &TableSchema, options: &Options, partition: &BinaryRow, form: NameForm) -> Result<Vec<String>> {
    if schema.partition_keys.is_empty() {
        return Ok(Vec::new());
    }
    let types = schema.partition_type().types();
    let default = options.value(&PARTITION_DEFAULT_NAME)?;
    let values = partition.decode(&types)?;
    values.iter().zip(&types).map(|(v, t)| value_name(v.as_ref(), t, form, &default)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::row::NullLayout;
    use crate::types::{DataField, DataType, DateType, Datum, IntType, VarCharType};

    fn unpartitioned() -> TableSchema {
        partitioned(&[])
    }

    fn partitioned(keys: &[&str]) -> TableSchema {
        let field = DataField::new;
        TableSchema {
            version: 3,
            id: 0,
            fields: vec![
                field(0, "q", DataType::Int(IntType::new())),
                field(1, "p", DataType::VarChar(VarCharType::string_type())),
                field(2, "d", DataType::Date(DateType::new())),
            ],
            highest_field_id: 2,
            partition_keys: keys.iter().map(|k| (*k).to_owned()).collect(),
            primary_keys: Vec::new(),
            options: BTreeMap::new(),
            comment: None,
            time_millis: 0,
        }
    }

    #[test]
    fn branches_share_everything_but_metadata() {
        let paths = TablePaths::new("/w/d.db/t", "b1");
        assert_eq!(paths.schema(3), "/w/d.db/t/branch/branch-b1/schema/schema-3");
        assert_eq!(paths.snapshot(1), "/w/d.db/t/branch/branch-b1/snapshot/snapshot-1");
        assert_eq!(paths.tag("x"), "/w/d.db/t/branch/branch-b1/tag/tag-x");
        assert_eq!(paths.manifest("m"), "/w/d.db/t/manifest/m");
        assert_eq!(paths.index("i"), "/w/d.db/t/index/i");
        assert_eq!(TablePaths::new("/t", "main").schema(0), "/t/schema/schema-0");
    }

    #[test]
    fn buckets() {
        let paths = TablePaths::new("/t", "main");
        let dir = |options: &Options, bucket| {
            paths.bucket_dir(&unpartitioned(), options, &BinaryRow::empty(), bucket).unwrap()
        };
        assert_eq!(dir(&Options::new(), 7), "/t/bucket-7");
        assert_eq!(dir(&Options::new(), -2), "/t/bucket-postpone");
        let below: Options = [("data-file.path-directory", "/data/x/")].into_iter().collect();
        assert_eq!(dir(&below, 0), "/t/data/x/bucket-0");
        assert_eq!(paths.bucket_below(&below, "p=1/q=%3A", 0).unwrap(), "/t/data/x/p=1/q=%3A/bucket-0");
    }

    #[test]
    fn partitions_of_java_directories() {
        let (schema, paths) = (partitioned(&["p", "q"]), TablePaths::new("/t", "main"));
        let text = |t: &str| Some(Datum::String(t.to_owned()));
        let cases = [
            (text(":"), Some(Datum::Int(19)), "p=%3A/q=19"),
            (text("  two  "), None, "p=  two  /q=__DEFAULT_PARTITION__"),
            (text(" "), Some(Datum::Int(3)), "p=__DEFAULT_PARTITION__/q=3"),
            (None, None, "p=__DEFAULT_PARTITION__/q=__DEFAULT_PARTITION__"),
            (text("a/b/c"), None, "p=a%2Fb%2Fc/q=__DEFAULT_PARTITION__"),
        ];
        for (p, q, expected) in cases {
            let row = BinaryRow::encode(&[p, q], &schema.partition_type().types(), NullLayout::Reserved).unwrap();
            assert_eq!(paths.partition_path(&schema, &Options::new(), &row).unwrap(), expected);
            let dir = paths.bucket_dir(&schema, &Options::new(), &row, 0).unwrap();
            assert_eq!(dir, format!("/t/{expected}/bucket-0"));
            assert_eq!(paths.old_python_bucket_dir(&schema, &Options::new(), &row, 0).unwrap(), None);
        }
        assert!(paths.partition_path(&schema, &Options::new(), &BinaryRow::empty()).is_err());
    }

    #[test]
    fn dates_have_three_spellings() {
        let (schema, paths) = (partitioned(&["d"]), TablePaths::new("/t", "main"));
        let types = schema.partition_type().types();
        let row = BinaryRow::encode(&[Some(Datum::Date(19_723))], &types, NullLayout::Reserved).unwrap();
        let plain: Options = [("partition.legacy-name", "false")].into_iter().collect();
        let dir = |options: &Options| paths.bucket_dir(&schema, options, &row, 0).unwrap();
        assert_eq!(dir(&Options::new()), "/t/d=19723/bucket-0");
        assert_eq!(dir(&plain), "/t/d=2024-01-01/bucket-0");
        let old = |options: &Options| paths.old_python_bucket_dir(&schema, options, &row, 0).unwrap();
        assert_eq!(old(&Options::new()).as_deref(), Some("/t/d=2024-01-01/bucket-0"));
        assert_eq!(old(&plain), None);
    }

    #[test]
    fn keys_are_escaped_too() {
        let keys = ["a=b".to_owned(), "c".to_owned()];
        assert_eq!(TablePaths::join(&keys, &["x/y".to_owned(), "ü".to_owned()]), "a%3Db=x%2Fy/c=ü");
    }
}
