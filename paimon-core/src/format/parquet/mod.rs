//! Parquet.
//!
//! Invariants: files are described by their footer alone; nothing is inferred from options. A hostile file gives an error
//! of kind `Corrupt`, never a panic. Source: data-file sheet section 3; `format/parquet/ParquetFileFormat.java`.

mod bounds;
mod conform;
mod encode;
mod failure;
mod footer;
mod int96;
mod late;
#[cfg(test)]
mod legacy_tests;
mod projection;
mod properties;
mod prune;
mod read;
mod schema;
mod side_by_side;
mod source;
mod write;

use async_trait::async_trait;

use super::{BatchStream, FileFormat, FileWriter, InputFile, OutputFile, ReadRequest};
use crate::error::Result;
use crate::options::Options;
use crate::types::DataField;

/// The name in options and file names.
pub const IDENTIFIER: &str = "parquet";

/// The Parquet format.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParquetFormat;

#[async_trait]
impl FileFormat for ParquetFormat {
    fn identifier(&self) -> &'static str {
        IDENTIFIER
    }

    async fn read(&self, file: InputFile, request: ReadRequest) -> Result<BatchStream> {
        read::read(file, request).await
    }

    fn write(&self, file: OutputFile, columns: &[DataField], options: &Options) -> Result<Box<dyn FileWriter>> {
        Ok(Box::new(write::ParquetWriter::try_new(file, columns, options)?))
    }
}
