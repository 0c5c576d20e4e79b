//! Keeps decoded footers of files, within a limit of bytes.
//!
//! Invariants: a data file never changes after it was written, so path and size identify its content.

use std::sync::Arc;

use ::parquet::file::metadata::ParquetMetaData;

use super::orc::OrcFooter;

/// Bytes that a cache holds unless told otherwise.
const DEFAULT_BYTES: u64 = 64 << 20;

/// Decoded footers by path and size. Clones share what they hold.
#[derive(Debug, Clone)]
pub struct FooterCache {
    footers: moka::future::Cache<(String, u64), Footer>,
}

/// A decoded footer.
#[derive(Debug, Clone)]
enum Footer {
    Parquet(Arc<ParquetMetaData>),
    Orc(Arc<OrcFooter>),
}

impl Footer {
    fn memory_size(&self) -> usize {
        match self {
            Self::Parquet(footer) => footer.memory_size(),
            Self::Orc(footer) => footer.memory_size(),
        }
    }
}

impl FooterCache {
    /// A cache of at most so many bytes.
    pub fn with_limit(bytes: u64) -> Self {
        let weigher =
            |key: &(String, u64), value: &Footer| u32::try_from(key.0.len() + value.memory_size()).unwrap_or(u32::MAX);
        Self { footers: moka::future::Cache::builder().max_capacity(bytes).weigher(weigher).build() }
    }

    pub(crate) async fn parquet(&self, path: &str, size: u64) -> Option<Arc<ParquetMetaData>> {
        match self.footers.get(&(path.to_owned(), size)).await {
            Some(Footer::Parquet(footer)) => Some(footer),
            _ => None,
        }
    }

    pub(crate) async fn keep_parquet(&self, path: &str, size: u64, footer: Arc<ParquetMetaData>) {
        self.footers.insert((path.to_owned(), size), Footer::Parquet(footer)).await;
    }

    pub(crate) async fn orc(&self, path: &str, size: u64) -> Option<Arc<OrcFooter>> {
        match self.footers.get(&(path.to_owned(), size)).await {
            Some(Footer::Orc(footer)) => Some(footer),
            _ => None,
        }
    }

    pub(crate) async fn keep_orc(&self, path: &str, size: u64, footer: Arc<OrcFooter>) {
        self.footers.insert((path.to_owned(), size), Footer::Orc(footer)).await;
    }
}

impl Default for FooterCache {
    fn default() -> Self {
        Self::with_limit(DEFAULT_BYTES)
    }
}
