//! Files in the directories of old Python writers.
//!
//! Python before 2.1 spelled dates and timestamps in the names of partition directories in ISO form although the table
//! asked for the legacy form. Such files get their full path, as files outside of their bucket have it.
//!
//! Invariants: the canonical directory wins; a table whose partitions have no such columns costs nothing, others one
//! listing per parent directory. Source: layout sheet section 4; public report P#10034.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};

use super::plan::Plan;
use super::split::Split;
use crate::error::Result;
use crate::row::BinaryRow;
use crate::spec::DataFileMeta;
use crate::table::Table;

/// Files that are looked for at once.
const PARALLEL_LOOKS: usize = 16;

/// Gives files their full path where only the directory of an old writer holds them.
///
/// # Errors
/// `PermissionDenied` or `Storage`.
pub(super) async fn find_old_directories(table: &Table, plan: Plan) -> Result<Plan> {
    let old = old_directories(table, plan.splits())?;
    let existing = existing(table, &old).await?;
    if existing.is_empty() {
        return Ok(plan);
    }
    let moved = stream::iter(plan.splits().to_vec()).map(|split| async {
        match old.get(&(split.partition.clone(), split.bucket)) {
            Some(directory) if existing.contains(directory) => moved(table, split, directory).await,
            _ => Ok(split),
        }
    });
    let splits: Vec<Split> = moved.buffered(PARALLEL_LOOKS).try_collect().await?;
    Ok(Plan::new(plan.snapshot().cloned(), splits, plan.trace().clone()))
}

type Buckets = HashMap<(BinaryRow, i32), String>;

/// The other directory of each bucket that has one.
fn old_directories(table: &Table, splits: &[Split]) -> Result<Buckets> {
    let mut old = Buckets::new();
    for split in splits {
        let key = (split.partition.clone(), split.bucket);
        if old.contains_key(&key) {
            continue;
        }
        let (schema, options) = (table.schema(), table.options());
        if let Some(directory) = table.paths().old_python_bucket_dir(schema, options, &split.partition, split.bucket)? {
            old.insert(key, directory);
        }
    }
    Ok(old)
}

/// Those of the directories whose partition exists. All partitions below one parent are found by one listing.
async fn existing(table: &Table, old: &Buckets) -> Result<HashSet<String>> {
    let mut by_parent: HashMap<&str, Vec<(&str, &String)>> = HashMap::new();
    for directory in old.values() {
        let Some((partition, _)) = directory.rsplit_once('/') else { continue };
        let Some((parent, name)) = partition.rsplit_once('/') else { continue };
        by_parent.entry(parent).or_default().push((name, directory));
    }
    let mut existing = HashSet::new();
    for (parent, directories) in by_parent {
        let names = table.io().list_names(parent).await?;
        let names: HashSet<&str> = names.iter().filter(|(_, is_dir)| *is_dir).map(|(name, _)| name.as_str()).collect();
        existing.extend(directories.into_iter().filter(|(name, _)| names.contains(name)).map(|(_, d)| d.clone()));
    }
    Ok(existing)
}

async fn moved(table: &Table, mut split: Split, directory: &str) -> Result<Split> {
    let mut files = Vec::with_capacity(split.files.len());
    for file in &split.files {
        files.push(moved_file(table, &split.bucket_path, file, directory).await?);
    }
    split.files = files;
    Ok(split)
}

async fn moved_file(
    table: &Table,
    bucket_path: &str,
    file: &Arc<DataFileMeta>,
    directory: &str,
) -> Result<Arc<DataFileMeta>> {
    if file.external_path.is_some() || table.io().exists(&format!("{bucket_path}/{}", file.file_name)).await? {
        return Ok(Arc::clone(file));
    }
    let path = format!("{directory}/{}", file.file_name);
    if !table.io().exists(&path).await? {
        // The reader says which file is missing.
        return Ok(Arc::clone(file));
    }
    Ok(Arc::new(DataFileMeta { external_path: Some(path), ..file.as_ref().clone() }))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::scan::testing::*;
    use crate::types::testing::int;
    use crate::types::{DataType, DateType, Datum};

    #[tokio::test]
    async fn files_are_found_where_old_python_put_them() {
        let date = DataType::Date(DateType::new());
        let test = TestTable::new(&[("d", date.clone()), ("v", int())], "d", "", &[]);
        let day = |day| row(&[Some(Datum::Date(day))], std::slice::from_ref(&date));
        let names = ["both", "old", "new", "gone"];
        let entries: Vec<_> = names.iter().map(|name| add_to(day(19_723), 0, -1, file(name))).collect();
        let elsewhere = add_to(day(19_724), 0, -1, file("elsewhere"));
        let location = test.table.location();
        for path in [
            "d=19723/bucket-0/both.parquet",
            "d=2024-01-01/bucket-0/both.parquet",
            "d=2024-01-01/bucket-0/old.parquet",
            "d=19723/bucket-0/new.parquet",
            "d=19724/bucket-0/elsewhere.parquet",
        ] {
            test.table.io().write(&format!("{location}/{path}"), Bytes::from_static(b"x")).await.unwrap();
        }
        let plan = test.plan(&[entries, vec![elsewhere]].concat(), None, None);
        let found = find_old_directories(&test.table, plan).await.unwrap();
        let moved: Vec<_> = found.splits().iter().flat_map(|s| &s.files).map(|f| f.external_path.clone()).collect();
        let old = format!("{location}/d=2024-01-01/bucket-0/old.parquet");
        assert_eq!(moved, [None, Some(old), None, None, None]);
        assert!(found.splits()[0].bucket_path.ends_with("/d=19723/bucket-0"));
    }
}
