//! Whole data files.
//!
//! The first byte of an input chooses the columns that are read, those of a golden table, and whether a predicate may skip
//! rows; the file follows.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use arrow::buffer::BooleanBuffer;
use bytes::Bytes;
use futures::TryStreamExt;

use super::values::tests;
use super::{decoded, seeds};
use crate::error::{Error, Result};
use crate::format::{FileFormat, FooterCache, InputFile, OutputFile, ReadRequest, file_format};
use crate::options::Options;
use crate::predicate::Predicate;
use crate::spec::TableSchema;
use crate::storage::FileIO;
use crate::types::DataField;

const WITH_PREDICATE: u8 = 0x80;
const BATCH_ROWS: usize = 100;
/// A file may claim any number of rows of which it stores nothing.
const MAX_ROWS: usize = 10_000;

static PARQUET_TABLES: Tables = Tables {
    format: "parquet",
    names: &[
        "types_parquet_a",
        "types_parquet_p",
        "nested_parquet_t",
        "nested_deep_parquet_t",
        "floats_parquet",
        "types_timestamp9_parquet",
        "stats_modes_mixed",
        "index_versions_chunks",
    ],
    columns: OnceLock::new(),
};
static ORC_TABLES: Tables = Tables {
    format: "orc",
    names: &[
        "types_orc_a",
        "nested_orc_t",
        "nested_deep_orc_t",
        "format_compression_orc_none",
        "format_compression_orc_lz4",
        "format_compression_orc_snappy",
        "format_compression_orc_zlib",
        "codec_orc_lzo",
        "multiset_orc",
        "strings_orc",
        "orc_zone_asia_shanghai",
        "orc_zone_instants",
        "py_types_orc",
        "types_timestamp9_orc",
    ],
    columns: OnceLock::new(),
};
static AVRO_TABLES: Tables = Tables {
    format: "avro",
    names: &[
        "types_avro_a",
        "nested_avro_t",
        "nested_deep_avro_t",
        "format_compression_avro_null",
        "format_compression_avro_snappy",
        "format_compression_avro_deflate",
        "codec_avro_bzip2",
        "multiset_avro",
        "strings_avro",
    ],
    columns: OnceLock::new(),
};

pub(super) fn parquet(bytes: &[u8]) {
    PARQUET_TABLES.read(bytes);
}

pub(super) fn orc(bytes: &[u8]) {
    ORC_TABLES.read(bytes);
}

pub(super) fn avro(bytes: &[u8]) {
    AVRO_TABLES.read(bytes);
}

/// The files, and the same rows in files without compression.
pub(super) fn parquet_seeds() -> Vec<Vec<u8>> {
    let stored = PARQUET_TABLES.seeds();
    let plain: Vec<_> = stored.iter().filter_map(|seed| PARQUET_TABLES.rewritten(seed)).collect();
    stored.into_iter().chain(plain).collect()
}

pub(super) fn orc_seeds() -> Vec<Vec<u8>> {
    ORC_TABLES.seeds()
}

pub(super) fn avro_seeds() -> Vec<Vec<u8>> {
    let plain = |seed: &Vec<u8>| {
        let (selector, file) = seed.split_first()?;
        Some(std::iter::once(*selector).chain(seeds::plain_avro(file)?).collect())
    };
    let stored = AVRO_TABLES.seeds();
    let plain: Vec<_> = stored.iter().filter_map(plain).collect();
    stored.into_iter().chain(plain).collect()
}

/// Golden tables of one format.
struct Tables {
    format: &'static str,
    names: &'static [&'static str],
    columns: OnceLock<Vec<Vec<DataField>>>,
}

impl Tables {
    fn columns(&self) -> &[Vec<DataField>] {
        self.columns.get_or_init(|| self.names.iter().map(|name| columns(name)).collect())
    }

    /// Each file, read with a predicate and without.
    fn seeds(&self) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for (table, name) in (0u8..).zip(self.names) {
            let paths = seeds::paths(&format!("tables/{name}"));
            for file in paths.iter().filter(|p| p.extension().is_some_and(|e| e == self.format)) {
                let Some(bytes) = seeds::read(file) else { continue };
                all.extend([table, table | WITH_PREDICATE].map(|first| [&[first][..], &bytes].concat()));
            }
        }
        all
    }

    fn request(&self, selector: u8) -> Option<ReadRequest> {
        let tables = self.columns();
        let table = usize::from(selector & !WITH_PREDICATE).checked_rem(tables.len())?;
        let columns = tables.get(table)?.clone();
        let predicate = (selector & WITH_PREDICATE != 0).then(|| Predicate::or(columns.iter().flat_map(some_tests)));
        Some(ReadRequest { columns, predicate, rows: None, batch_rows: BATCH_ROWS, options: Arc::default(), tasks: 1 })
    }

    /// Reads all rows, and then every third.
    fn read(&self, bytes: &[u8]) {
        let Some((&selector, content)) = bytes.split_first() else { return };
        let (Some(request), Ok(format)) = (self.request(selector), file_format(self.format)) else { return };
        let has_predicate = request.predicate.is_some();
        let outcome = block_on(async {
            let file = store(self.format, content).await?;
            let rows = count(format.as_ref(), &file, request.clone()).await?;
            if !has_predicate && rows < MAX_ROWS {
                let third = BooleanBuffer::collect_bool(rows, |row| row % 3 == 0);
                count(format.as_ref(), &file, ReadRequest { rows: Some(third), ..request }).await?;
            }
            Ok(())
        });
        decoded(outcome);
    }

    /// The rows of a seed in a file without compression.
    fn rewritten(&self, seed: &[u8]) -> Option<Vec<u8>> {
        let (&selector, content) = seed.split_first()?;
        let request = self.request(selector).filter(|r| r.predicate.is_none())?;
        let format = file_format(self.format).ok()?;
        let written = block_on(async {
            let file = store(self.format, content).await?;
            let path = format!("{}-plain", file.path);
            let output = OutputFile { io: file.io.clone(), path: path.clone() };
            let options = Options::from(BTreeMap::from([("file.compression".to_owned(), "none".to_owned())]));
            let mut writer = format.write(output, &request.columns, &options)?;
            let batches: Vec<_> = format.read(file.clone(), request).await?.try_collect().await?;
            for batch in &batches {
                writer.write(batch).await?;
            }
            writer.finish().await?;
            file.io.read(&path).await
        });
        Some(std::iter::once(selector).chain(written.ok()?).collect())
    }
}

fn columns(table: &str) -> Vec<DataField> {
    let paths = seeds::paths(&format!("tables/{table}/schema"));
    let latest = paths.last().map(|path| path.as_path()).unwrap_or(Path::new(""));
    let schema = seeds::read(latest).and_then(|bytes| TableSchema::from_json(&bytes).ok());
    schema.map(|schema| schema.fields).unwrap_or_default()
}

fn some_tests(column: &DataField) -> impl Iterator<Item = Predicate> {
    tests(column).into_iter().skip(2).step_by(3)
}

fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| Error::internal("no runtime").with_source(e))?.block_on(work)
}

async fn store(name: &str, content: &[u8]) -> Result<InputFile> {
    let path = format!("memory:/fuzzing/{name}");
    let io = FileIO::from_location(&path, &Options::new())?;
    io.write(&path, Bytes::copy_from_slice(content)).await?;
    Ok(InputFile { io, path, size: content.len() as u64, footers: FooterCache::default() })
}

/// Reads a file and counts its rows.
async fn count(format: &dyn FileFormat, file: &InputFile, request: ReadRequest) -> Result<usize> {
    let mut batches = format.read(file.clone(), request).await?;
    let mut rows = 0;
    while let Some(batch) = batches.try_next().await? {
        rows += batch.num_rows();
        if rows >= MAX_ROWS {
            break;
        }
    }
    Ok(rows)
}
