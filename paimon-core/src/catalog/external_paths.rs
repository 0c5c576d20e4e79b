//! Directories outside of a table's own that hold its files, as every schema of every branch names them.
//!
//! Invariants: a path that holds the warehouse is never given out for deletion.
//! Source: catalog sheet section 6, drop table; `catalog/FileSystemCatalog.java`.

use std::collections::BTreeSet;

use crate::error::{Error, ErrorKind, Result};
use crate::meta::{Schemas, TablePaths};
use crate::options::Options;
use crate::storage::FileIO;

const KEYS: [&str; 2] = ["data-file.external-paths", "global-index.external-path"];

/// The external paths of the table at `location`, in canonical form. A schema that cannot be decoded names none, so that a
/// damaged table can still be dropped.
///
/// # Errors
/// `PermissionDenied` or `Storage`; `InvalidInput` for a path that is no location.
pub(super) async fn of_table(io: &FileIO, location: &str) -> Result<Vec<String>> {
    let main = TablePaths::new(location, "main");
    let mut branches = vec!["main".to_owned()];
    let directories = io.list_names(&main.branches_dir()).await?;
    branches.extend(directories.iter().filter_map(|(name, _)| name.strip_prefix("branch-")).map(str::to_owned));
    let mut found = BTreeSet::new();
    for branch in branches {
        let schemas = Schemas::new(io.clone(), TablePaths::new(location, branch));
        for id in schemas.ids().await? {
            let schema = match schemas.get(id).await {
                Ok(schema) => schema,
                Err(e) if matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::NotFound(_)) => continue,
                Err(e) => return Err(e),
            };
            for paths in KEYS.iter().filter_map(|key| schema.options.get(*key)) {
                for path in paths.split(',').map(str::trim).filter(|p| !p.is_empty()) {
                    found.insert(FileIO::normalize(path)?);
                }
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// The store of each path, to be known before anything is deleted.
///
/// # Errors
/// `Unsupported` for a store that is not built in; `InvalidConfig` for a path that holds the warehouse.
pub(super) fn stores(paths: &[String], warehouse: &str, options: &Options) -> Result<Vec<FileIO>> {
    let plain = |location: &str| format!("{}/", location.trim_start_matches("file:").trim_end_matches('/'));
    paths
        .iter()
        .map(|path| {
            if plain(warehouse).starts_with(&plain(path)) {
                return Err(Error::invalid_config(format!(
                    "the external path '{path}' of the table holds the whole warehouse and is not deleted; drop the \
                     table by hand"
                )));
            }
            FileIO::from_location(path, options)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_around_the_warehouse_is_refused() {
        let check = |path: &str| stores(&[path.to_owned()], "/a/w", &Options::new()).is_ok();
        for path in ["/a/w", "file:/a/w", "/a", "/", "file:/"] {
            assert!(!check(path), "{path}");
        }
        for path in ["/a/w2", "/a/w/x", "/b", "memory:/a/w"] {
            assert!(check(path), "{path}");
        }
    }
}
