//! File formats: bytes of data files to batches and back. Knows nothing of tables and snapshots.

pub mod parquet;

use arrow::record_batch::RecordBatch;
use futures::stream::BoxStream;

use crate::error::Result;

/// A stream of batches; ends at the first error.
pub type BatchStream = BoxStream<'static, Result<RecordBatch>>;
