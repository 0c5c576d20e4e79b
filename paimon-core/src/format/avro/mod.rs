//! Avro.
//!
//! Invariants: files are described by their header alone; columns are found by name in the writer's schema. A hostile file
//! gives an error of kind `Corrupt`, never a panic. Writing is not supported. Source: data-file sheet section 3;
//! `format/avro/AvroFileFormat.java`; Avro specification 1.11.

mod blocks;
mod column;
mod read;
mod shape;

#[cfg(test)]
mod tests;

use async_trait::async_trait;

use super::{BatchStream, FileFormat, FileWriter, InputFile, OutputFile, ReadRequest};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::types::DataField;

/// The name in options and file names.
pub const IDENTIFIER: &str = "avro";

/// The Avro format.
#[derive(Debug, Clone, Copy, Default)]
pub struct AvroFormat;

#[async_trait]
impl FileFormat for AvroFormat {
    fn identifier(&self) -> &'static str {
        IDENTIFIER
    }

    fn uses_predicates(&self) -> bool {
        false
    }

    async fn read(&self, file: InputFile, request: ReadRequest) -> Result<BatchStream> {
        read::read(file, request).await
    }

    fn write(&self, _: OutputFile, _: &[DataField], _: &Options) -> Result<Box<dyn FileWriter>> {
        Err(Error::unsupported("writing data files of format 'avro' is not supported, only parquet"))
    }
}
