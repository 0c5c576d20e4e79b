//! ORC.
//!
//! Invariants: files are described by their tail and stripe footers alone. A hostile file gives an error of kind
//! `Corrupt`, never a panic, and no more memory than its content takes: streams are decoded chunk by chunk and lengths are
//! not believed. Decoding is our own, since libraries read neither single parts of rows nor damaged files with bounded
//! memory. Writing is not supported. Source: data-file sheet section 3; `format/orc/OrcFileFormat.java`; ORC specification.

mod bits;
mod codec;
mod decimals;
mod decoder;
mod footer;
mod integers;
mod lzo;
mod node;
mod prune;
mod read;
mod stripe;
mod texts;
mod timestamps;
mod wire;

#[cfg(test)]
mod tests;

use async_trait::async_trait;

pub(super) use footer::OrcFooter;

use super::{BatchStream, FileFormat, FileWriter, InputFile, OutputFile, ReadRequest};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::types::DataField;

/// The name in options and file names.
pub const IDENTIFIER: &str = "orc";

/// The ORC format.
#[derive(Debug, Clone, Copy, Default)]
pub struct OrcFormat;

#[async_trait]
impl FileFormat for OrcFormat {
    fn identifier(&self) -> &'static str {
        IDENTIFIER
    }

    async fn read(&self, file: InputFile, request: ReadRequest) -> Result<BatchStream> {
        read::read(file, request).await
    }

    fn write(&self, _: OutputFile, _: &[DataField], _: &Options) -> Result<Box<dyn FileWriter>> {
        Err(Error::unsupported("writing data files of format 'orc' is not supported, only parquet"))
    }
}
