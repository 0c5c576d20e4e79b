//! Manifest lists, manifests and index manifests: reading through a cache, writing with rolling.
//!
//! Invariants: these files have fresh names and never change, so what was read once stays right; the cache is bounded by
//! bytes and shared by the tables of a process. Source: manifest sheet; `manifest/ManifestFile.java`,
//! `manifest/ManifestList.java`, `manifest/IndexManifestFile.java`.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use moka::future::Cache;

use super::columnar_manifest::{ManifestKind, columnar_format, to_avro};
use super::paths::TablePaths;
use crate::clock::Clock;
use crate::error::{Result, ResultExt};
use crate::format::{FooterCache, InputFile};
use crate::options::Options;
use crate::runtime;
use crate::spec::avro::AvroCompression;
use crate::spec::{
    IndexManifestEntry, MANIFEST_TARGET_SIZE, ManifestEntry, ManifestFileMeta, ManifestSummary, ManifestWriter,
    Snapshot, TableSchema, decode_index_manifest, decode_manifest, decode_manifest_list, encode_index_manifest,
    encode_manifest_list,
};
use crate::storage::FileIO;
use crate::types::DataType;

/// Manifests that are read at once.
const PARALLEL_READS: usize = 8;
/// Bytes of decoded manifests that a process keeps, about.
const CACHE_BYTES: u64 = 128 << 20;
/// Decoded bytes per byte on disk, about, for the weight of what is cached.
const DECODED_PER_STORED: usize = 4;
/// Larger files are decoded off the reactor.
const DECODE_INLINE_BYTES: usize = 128 << 10;
/// Entries between two looks at the size of a manifest, as Java has it.
const ROLLING_CHECK: usize = 1000;

/// What was decoded from one file.
#[derive(Debug, Clone)]
enum Decoded {
    List(Arc<Vec<ManifestFileMeta>>),
    Manifest(Arc<Vec<ManifestEntry>>),
    Index(Arc<Vec<IndexManifestEntry>>),
}

/// By location; the weight stands beside the value.
static CACHE: LazyLock<Cache<String, (u32, Decoded)>> = LazyLock::new(|| {
    Cache::builder()
        .max_capacity(CACHE_BYTES)
        .weigher(|path: &String, value: &(u32, Decoded)| value.0 + path.len() as u32)
        .build()
});

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

    /// Reads a file once; `pick` takes what `decode` made of it out of the cache again.
    async fn cached<T: Send + Sync + 'static>(
        &self,
        name: &str,
        kind: ManifestKind,
        decode: fn(&[u8]) -> Result<Vec<T>>,
        wrap: fn(Arc<Vec<T>>) -> Decoded,
        pick: fn(Decoded) -> Option<Arc<Vec<T>>>,
    ) -> Result<Arc<Vec<T>>> {
        let path = FileIO::normalize(&self.paths.manifest(name))?;
        if let Some(found) = CACHE.get(&path).await.and_then(|(_, value)| pick(value)) {
            return Ok(found);
        }
        let bytes = self.io.read(&path).await?;
        let stored = bytes.len();
        let bytes = match columnar_format(&bytes) {
            Some(format) => Bytes::from(self.columnar(format, &path, stored, kind).await?),
            None => bytes,
        };
        let work = move || decode(&bytes).map(Arc::new);
        let decoded = if stored > DECODE_INLINE_BYTES { runtime::cpu(work).await } else { work() };
        let decoded = decoded.context("file", &path)?;
        keep(path, stored, decoded.len() * size_of::<T>(), wrap(Arc::clone(&decoded))).await;
        Ok(decoded)
    }

    /// The rows of a file that is not Avro, as an Avro file.
    async fn columnar(&self, format: &str, path: &str, stored: usize, kind: ManifestKind) -> Result<Vec<u8>> {
        // What is decoded is cached here: the footer is not needed again.
        let footers = FooterCache::with_limit(0);
        let file = InputFile { io: self.io.clone(), path: path.to_owned(), size: stored as u64, footers };
        to_avro(format, file, kind).await.context("file", path)
    }

    /// Keeps what was just written, since the next commit reads it. Large files are not worth the copy.
    async fn keep_written<T: Clone>(
        &self,
        path: &str,
        stored: usize,
        values: &[T],
        wrap: fn(Arc<Vec<T>>) -> Decoded,
    ) -> Result<()> {
        if stored <= DECODE_INLINE_BYTES {
            let path = FileIO::normalize(path)?;
            keep(path, stored, size_of_val(values), wrap(Arc::new(values.to_vec()))).await;
        }
        Ok(())
    }

    /// The entries of a manifest list.
    ///
    /// # Errors
    /// `NotFound(File)`, `Storage` or `Corrupt`, naming the file; `Unsupported` for codecs and versions that are not built.
    pub async fn read_list(&self, name: &str) -> Result<Vec<ManifestFileMeta>> {
        let pick = |decoded| if let Decoded::List(list) = decoded { Some(list) } else { None };
        let list = self.cached(name, ManifestKind::List, decode_manifest_list, Decoded::List, pick).await?;
        Ok(list.as_ref().clone())
    }

    /// The manifests of a snapshot: base list, then delta list.
    ///
    /// # Errors
    /// As [`Manifests::read_list`].
    pub async fn of_snapshot(&self, snapshot: &Snapshot) -> Result<Vec<ManifestFileMeta>> {
        let base = self.read_list(&snapshot.base_manifest_list);
        let (mut all, delta) = futures::try_join!(base, self.read_list(&snapshot.delta_manifest_list))?;
        all.extend(delta);
        Ok(all)
    }

    /// The entries of a manifest, in order; shared, since manifests never change and are cached by name.
    ///
    /// # Errors
    /// As [`Manifests::read_list`].
    pub async fn read(&self, manifest: &ManifestFileMeta) -> Result<Arc<Vec<ManifestEntry>>> {
        let pick = |decoded| if let Decoded::Manifest(entries) = decoded { Some(entries) } else { None };
        self.cached(&manifest.file_name, ManifestKind::Entries, decode_manifest, Decoded::Manifest, pick).await
    }

    /// The entries of several manifests, in their order.
    ///
    /// # Errors
    /// As [`Manifests::read_list`].
    pub(crate) async fn read_all(&self, manifests: Vec<ManifestFileMeta>) -> Result<Vec<Arc<Vec<ManifestEntry>>>> {
        let read = stream::iter(manifests).map(|manifest| {
            let store = self.clone();
            async move { store.read(&manifest).await }
        });
        read.buffered(PARALLEL_READS).try_collect().await
    }

    /// The entries of an index manifest.
    ///
    /// # Errors
    /// As [`Manifests::read_list`].
    pub async fn read_index(&self, name: &str) -> Result<Vec<IndexManifestEntry>> {
        let pick = |decoded| if let Decoded::Index(entries) = decoded { Some(entries) } else { None };
        let entries = self.cached(name, ManifestKind::Index, decode_index_manifest, Decoded::Index, pick).await?;
        Ok(entries.as_ref().clone())
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
        let mut writing = Writing {
            id: self.clock.fresh_id(),
            compression: AvroCompression::from_options(options)?,
            target: options.value(&MANIFEST_TARGET_SIZE)?,
            partition_types: schema.partition_type().types(),
            schema_id: schema.id,
            written: Vec::new(),
        };
        match self.write_rolling(entries, &mut writing).await {
            Ok(()) => Ok(writing.written),
            Err(error) => {
                for manifest in &writing.written {
                    // The first error counts; what stays behind is an orphan.
                    let _ = self.delete(&manifest.file_name).await;
                }
                Err(error)
            }
        }
    }

    async fn write_rolling(&self, entries: &[ManifestEntry], writing: &mut Writing) -> Result<()> {
        let mut open: Option<(ManifestWriter, ManifestSummary)> = None;
        let mut start = 0;
        for (at, chunk) in entries.chunks(ROLLING_CHECK).enumerate() {
            let new =
                || (ManifestWriter::new(writing.compression, sync_marker(&self.clock)), ManifestSummary::default());
            let (writer, summary) = open.get_or_insert_with(new);
            for entry in chunk {
                writer.push(entry)?;
                summary.add(entry);
            }
            if writer.flushed_bytes() as u64 >= writing.target
                && let Some((writer, summary)) = open.take()
            {
                let end = at * ROLLING_CHECK + chunk.len();
                self.close(writer, summary, &entries[start..end], writing).await?;
                start = end;
            }
            // A chunk takes milliseconds to compress: others get their turn.
            tokio::task::yield_now().await;
        }
        match open {
            Some((writer, summary)) => self.close(writer, summary, &entries[start..], writing).await,
            None => Ok(()),
        }
    }

    async fn close(
        &self,
        writer: ManifestWriter,
        summary: ManifestSummary,
        entries: &[ManifestEntry],
        writing: &mut Writing,
    ) -> Result<()> {
        let bytes = writer.finish()?;
        let stored = bytes.len();
        let name = format!("manifest-{}-{}", writing.id, writing.written.len());
        let meta = summary.finish(name, bytes.len() as i64, &writing.partition_types, writing.schema_id)?;
        let path = self.paths.manifest(&meta.file_name);
        writing.written.push(meta);
        self.io.write(&path, Bytes::from(bytes)).await?;
        self.keep_written(&path, stored, entries, Decoded::Manifest).await
    }

    /// Writes a manifest list, also an empty one. Gives its name and size.
    ///
    /// # Errors
    /// `Storage`; then the file is deleted again.
    pub async fn write_list(&self, manifests: &[ManifestFileMeta], options: &Options) -> Result<(String, i64)> {
        let compression = AvroCompression::from_options(options)?;
        let bytes = encode_manifest_list(manifests, compression, sync_marker(&self.clock))?;
        let (name, size) = (format!("manifest-list-{}-0", self.clock.fresh_id()), bytes.len());
        let path = self.put(&name, bytes).await?;
        self.keep_written(&path, size, manifests, Decoded::List).await?;
        Ok((name, size as i64))
    }

    /// Writes an index manifest. Gives its name.
    ///
    /// # Errors
    /// `Storage`; then the file is deleted again.
    pub async fn write_index(&self, entries: &[IndexManifestEntry], options: &Options) -> Result<String> {
        let compression = AvroCompression::from_options(options)?;
        let bytes = encode_index_manifest(entries, compression, sync_marker(&self.clock))?;
        let name = format!("index-manifest-{}-0", self.clock.fresh_id());
        self.put(&name, bytes).await?;
        Ok(name)
    }

    /// Writes a file; gives its path.
    async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<String> {
        let path = self.paths.manifest(name);
        if let Err(error) = self.io.write(&path, Bytes::from(bytes)).await {
            // It may exist although the store says that it failed. The first error counts.
            let _ = self.io.delete(&path).await;
            return Err(error);
        }
        Ok(path)
    }

    /// Deletes a file below `manifest/`.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn delete(&self, name: &str) -> Result<()> {
        let path = self.paths.manifest(name);
        CACHE.invalidate(&FileIO::normalize(&path)?).await;
        self.io.delete(&path).await
    }
}

/// Keeps decoded values within the limit of the cache.
async fn keep(path: String, stored: usize, fixed: usize, value: Decoded) {
    let weight = u32::try_from(stored * DECODED_PER_STORED + fixed).unwrap_or(u32::MAX / 2);
    CACHE.insert(path, (weight, value)).await;
}

/// One call of [`Manifests::write`].
struct Writing {
    id: String,
    compression: AvroCompression,
    target: u64,
    partition_types: Vec<DataType>,
    schema_id: i64,
    written: Vec<ManifestFileMeta>,
}

/// Random bytes for the end of Avro blocks.
fn sync_marker(clock: &Arc<dyn Clock>) -> [u8; 16] {
    let id = clock.fresh_id();
    match uuid::Uuid::parse_str(&id) {
        Ok(uuid) => *uuid.as_bytes(),
        Err(_) => {
            let mut marker = [0; 16];
            marker.iter_mut().zip(id.bytes().rev()).for_each(|(to, from)| *to = from);
            marker
        }
    }
}

#[cfg(test)]
mod tests;
