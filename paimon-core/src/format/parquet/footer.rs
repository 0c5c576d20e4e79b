//! Reads footers, and the page index when pruning asks for it.

use std::sync::Arc;

use ::parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};

use super::failure::{guarded, guarded_async};
use super::source::FooterSource;
use crate::error::{Error, Result};
use crate::format::InputFile;

/// Footer and page index of most files fit into this many bytes at the end.
const PREFETCH: usize = 64 << 10;
/// Magic at both ends and the length of the footer.
const LEAST_SIZE: u64 = 12;

/// The footer of a file, from the cache if it is there. With `page_index` it has the page index if the file has one.
pub(super) async fn footer(file: &InputFile, page_index: bool) -> Result<Arc<ParquetMetaData>> {
    if file.size < LEAST_SIZE {
        return Err(Error::corrupt(format!("a Parquet file has at least {LEAST_SIZE} bytes, found {}", file.size)));
    }
    let cached = file.footers.parquet(&file.path, file.size).await;
    if let Some(footer) = &cached
        && (!page_index || footer.offset_index().is_some() || !has_page_index(footer))
    {
        return Ok(Arc::clone(footer));
    }
    let policy = if page_index { PageIndexPolicy::Optional } else { PageIndexPolicy::Skip };
    let footer = match cached {
        Some(footer) => {
            let mut reader =
                ParquetMetaDataReader::new_with_metadata(footer.as_ref().clone()).with_page_index_policy(policy);
            guarded_async(reader.load_page_index(FooterSource(file))).await?;
            guarded(|| reader.finish())?
        }
        None => {
            let prefetch = usize::try_from(file.size).unwrap_or(PREFETCH).min(PREFETCH);
            let reader = ParquetMetaDataReader::new().with_page_index_policy(policy).with_prefetch_hint(Some(prefetch));
            guarded_async(reader.load_and_finish(FooterSource(file), file.size)).await?
        }
    };
    let footer = Arc::new(footer);
    check(&footer)?;
    file.footers.keep_parquet(&file.path, file.size, Arc::clone(&footer)).await;
    Ok(footer)
}

fn has_page_index(footer: &ParquetMetaData) -> bool {
    footer.row_groups().iter().any(|g| g.columns().iter().any(|c| c.offset_index_offset().is_some()))
}

fn check(footer: &ParquetMetaData) -> Result<()> {
    for (i, group) in footer.row_groups().iter().enumerate() {
        if group.num_rows() < 0 || group.num_columns() != footer.file_metadata().schema_descr().num_columns() {
            return Err(Error::corrupt(format!("row group {i} of the Parquet footer does not fit its schema")));
        }
    }
    Ok(())
}
