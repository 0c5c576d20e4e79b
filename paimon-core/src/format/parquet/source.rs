//! Lets the library ask for the bytes of a footer.

use std::ops::Range;

use ::parquet::arrow::async_reader::MetadataFetch;
use ::parquet::errors::ParquetError;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::error::Error;
use crate::format::InputFile;
use crate::format::ranges::fetch;

/// A file of which the library reads the footer.
pub(super) struct FooterSource<'a>(pub(super) &'a InputFile);

impl MetadataFetch for FooterSource<'_> {
    fn fetch(&mut self, range: Range<u64>) -> BoxFuture<'_, ::parquet::errors::Result<Bytes>> {
        let file = self.0;
        async move {
            let external = |e: Error| ParquetError::External(Box::new(e));
            let ranges = [range];
            let mut parts = fetch(file, &ranges).await.map_err(external)?;
            Ok(parts.pop().unwrap_or_default())
        }
        .boxed()
    }
}
