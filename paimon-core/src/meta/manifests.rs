//! Manifest lists, manifests and index manifests: reading in parallel, writing with rolling.

use std::sync::Arc;

use super::paths::TablePaths;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::{IndexManifestEntry, ManifestEntry, ManifestFileMeta, Snapshot, TableSchema};
use crate::storage::FileIO;

/// Reads and writes the files below `manifest/`.
#[derive(Debug, Clone)]
pub struct Manifests {
    io: FileIO,
    paths: TablePaths,
    clock: Arc<dyn Clock>,
}

impl Manifests {
    /// The manifests below these paths.
    pub fn new(io: FileIO, paths: TablePaths, clock: Arc<dyn Clock>) -> Self {
        Self { io, paths, clock }
    }

    /// The entries of a manifest list.
    ///
    /// # Errors
    /// `NotFound(File)`, `Storage` or `Corrupt`, naming the file.
    pub async fn read_list(&self, name: &str) -> Result<Vec<ManifestFileMeta>> {
        let _ = (&self.io, &self.paths, &self.clock, name);
        Err(Error::unsupported("manifests"))
    }

    /// The manifests of a snapshot: base list, then delta list.
    ///
    /// # Errors
    /// As [`Manifests::read_list`].
    pub async fn of_snapshot(&self, snapshot: &Snapshot) -> Result<Vec<ManifestFileMeta>> {
        let mut all = self.read_list(&snapshot.base_manifest_list).await?;
        all.extend(self.read_list(&snapshot.delta_manifest_list).await?);
        Ok(all)
    }

    /// The entries of a manifest, in order; shared, since manifests never change and are cached by name.
    ///
    /// # Errors
    /// As [`Manifests::read_list`].
    pub async fn read(&self, manifest: &ManifestFileMeta) -> Result<Arc<Vec<ManifestEntry>>> {
        let _ = manifest;
        Err(Error::unsupported("manifests"))
    }

    /// The entries of an index manifest.
    ///
    /// # Errors
    /// As [`Manifests::read_list`].
    pub async fn read_index(&self, name: &str) -> Result<Vec<IndexManifestEntry>> {
        let _ = name;
        Err(Error::unsupported("manifests"))
    }

    /// Writes entries into manifests of about `manifest.target-file-size`; nothing for no entries.
    ///
    /// # Errors
    /// `Storage`; files that were written are deleted again.
    pub async fn write(
        &self,
        entries: &[ManifestEntry],
        schema: &TableSchema,
        options: &Options,
    ) -> Result<Vec<ManifestFileMeta>> {
        let _ = (entries, schema, options);
        Err(Error::unsupported("manifests"))
    }

    /// Writes a manifest list, also an empty one. Gives its name and size.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn write_list(&self, manifests: &[ManifestFileMeta], options: &Options) -> Result<(String, i64)> {
        let _ = (manifests, options);
        Err(Error::unsupported("manifests"))
    }

    /// Writes an index manifest. Gives its name.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn write_index(&self, entries: &[IndexManifestEntry], options: &Options) -> Result<String> {
        let _ = (entries, options);
        Err(Error::unsupported("manifests"))
    }

    /// Deletes a file below `manifest/`.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.io.delete(&self.paths.manifest(name)).await
    }
}
