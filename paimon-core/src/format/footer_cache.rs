//! Keeps decoded footers of files, within a limit of bytes.
//!
//! Invariants: a data file never changes after it was written, so path and size identify its content.

use std::sync::Arc;

use ::parquet::file::metadata::ParquetMetaData;

/// Bytes that a cache holds unless told otherwise.
const DEFAULT_BYTES: u64 = 64 << 20;

/// Decoded footers by path and size. Clones share what they hold.
#[derive(Debug, Clone)]
pub struct FooterCache {
    parquet: moka::future::Cache<(String, u64), Arc<ParquetMetaData>>,
}

impl FooterCache {
    /// A cache of at most so many bytes.
    pub fn with_limit(bytes: u64) -> Self {
        let weigher = |key: &(String, u64), value: &Arc<ParquetMetaData>| {
            u32::try_from(key.0.len() + value.memory_size()).unwrap_or(u32::MAX)
        };
        Self { parquet: moka::future::Cache::builder().max_capacity(bytes).weigher(weigher).build() }
    }

    pub(crate) async fn parquet(&self, path: &str, size: u64) -> Option<Arc<ParquetMetaData>> {
        self.parquet.get(&(path.to_owned(), size)).await
    }

    pub(crate) async fn keep_parquet(&self, path: &str, size: u64, footer: Arc<ParquetMetaData>) {
        self.parquet.insert((path.to_owned(), size), footer).await;
    }
}

impl Default for FooterCache {
    fn default() -> Self {
        Self::with_limit(DEFAULT_BYTES)
    }
}
