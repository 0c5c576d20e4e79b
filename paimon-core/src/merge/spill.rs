//! Runs in temporary files, as Arrow's stream format.
//!
//! Invariants: one batch is in memory at a time; the file lives as long as anything that reads it. Every call that
//! touches the disk runs where it may take long.

use std::io::{ErrorKind as IoKind, Read, Write};
use std::sync::Arc;

use arrow::error::ArrowError;
use arrow::ipc::CompressionType;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use futures::StreamExt;

use crate::error::{Error, ErrorKind, Result};
use crate::format::BatchStream;
use crate::runtime::{self, MemoryBudget, TempFile};

/// A run in a temporary file.
#[derive(Debug, Clone)]
pub(super) struct Spilled {
    /// `None` for a run without rows.
    file: Option<Arc<dyn TempFile>>,
    rows: usize,
}

impl Spilled {
    /// Writes all rows into a new file.
    ///
    /// # Errors
    /// Those of the rows; `DiskFull` or `Storage`.
    pub(super) async fn write(mut batches: BatchStream, memory: &Arc<dyn MemoryBudget>) -> Result<Self> {
        let file: Arc<dyn TempFile> = Arc::from(memory.temp_file()?);
        let mut writer: Option<StreamWriter<Box<dyn Write + Send>>> = None;
        let mut rows = 0;
        while let Some(batch) = batches.next().await {
            let batch = batch?;
            rows += batch.num_rows();
            let (open, file) = (writer.take(), Arc::clone(&file));
            let written = runtime::cpu(move || {
                let mut writer = match open {
                    Some(writer) => writer,
                    None => {
                        let options =
                            IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
                        let output = file.writer().map_err(of_disk)?;
                        StreamWriter::try_new_with_options(output, &batch.schema(), options).map_err(of_arrow)?
                    }
                };
                writer.write(&batch).map_err(of_arrow)?;
                Ok(writer)
            });
            writer = Some(written.await?);
        }
        let Some(mut writer) = writer else { return Ok(Self { file: None, rows }) };
        runtime::cpu(move || {
            writer.finish().map_err(of_arrow)?;
            writer.into_inner().map_err(of_arrow)?.flush().map_err(of_disk)
        })
        .await?;
        Ok(Self { file: Some(file), rows })
    }

    /// The rows. Ends with an error if the file was shortened or deleted by somebody else.
    pub(super) fn read(&self) -> BatchStream {
        let Self { file, rows } = self.clone();
        async_stream::try_stream! {
            if let Some(file) = file {
                let opened = Arc::clone(&file);
                let open = runtime::cpu(move || {
                    StreamReader::try_new(opened.reader().map_err(of_disk)?, None).map_err(of_arrow)
                });
                let mut reader: StreamReader<Box<dyn Read + Send>> = open.await?;
                let mut left = rows;
                while left > 0 {
                    let (batch, open) = runtime::cpu(move || {
                        let batch = reader.next().transpose().map_err(of_arrow)?;
                        Ok((batch.ok_or_else(shortened)?, reader))
                    })
                    .await?;
                    reader = open;
                    left = left.checked_sub(batch.num_rows()).ok_or_else(shortened)?;
                    yield batch;
                }
                drop(file);
            }
        }
        .boxed()
    }
}

fn shortened() -> Error {
    Error::new(ErrorKind::Storage { retryable: false }, "a temporary file does not hold what was written to it")
}

fn of_disk(error: std::io::Error) -> Error {
    let kind = match error.kind() {
        IoKind::StorageFull | IoKind::QuotaExceeded => ErrorKind::DiskFull,
        _ => ErrorKind::Storage { retryable: false },
    };
    Error::new(kind, "a temporary file cannot be used").with_source(error)
}

fn of_arrow(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => of_disk(error),
        other => Error::from(other),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Mutex;

    use arrow::array::Int32Array;
    use arrow::record_batch::RecordBatch;
    use futures::{TryStreamExt, stream};

    use super::*;

    /// A file of which somebody takes the end away.
    #[derive(Debug, Clone, Default)]
    struct Shortened {
        content: Arc<Mutex<Vec<u8>>>,
        keep: usize,
    }

    impl TempFile for Shortened {
        fn writer(&self) -> std::io::Result<Box<dyn Write + Send>> {
            Ok(Box::new(self.clone()))
        }

        fn reader(&self) -> std::io::Result<Box<dyn Read + Send>> {
            let content = self.content.lock().unwrap();
            Ok(Box::new(Cursor::new(content[..self.keep.min(content.len())].to_vec())))
        }
    }

    impl Write for Shortened {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.content.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[derive(Debug)]
    struct Budget(Shortened);

    impl MemoryBudget for Budget {
        fn try_grow(&self, _: usize) -> Result<()> {
            Ok(())
        }

        fn shrink(&self, _: usize) {}

        fn temp_file(&self) -> Result<Box<dyn TempFile>> {
            Ok(Box::new(self.0.clone()))
        }
    }

    async fn write(batches: usize, keep: usize) -> (Spilled, Shortened) {
        let batch = |i: i32| {
            let column: Arc<dyn arrow::array::Array> = Arc::new(Int32Array::from(vec![i, i + 1]));
            RecordBatch::try_from_iter([("k", column)]).map_err(Error::from)
        };
        let file = Shortened { keep, ..Shortened::default() };
        let budget: Arc<dyn MemoryBudget> = Arc::new(Budget(file.clone()));
        let rows = stream::iter((0..i32::try_from(batches).unwrap()).map(batch)).boxed();
        (Spilled::write(rows, &budget).await.unwrap(), file)
    }

    #[tokio::test]
    async fn a_shortened_file_is_an_error_and_never_fewer_rows() {
        let (whole, file) = write(3, usize::MAX).await;
        let batches: Vec<RecordBatch> = whole.read().try_collect().await.unwrap();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [2, 2, 2]);
        let length = file.content.lock().unwrap().len();
        let mut failed = 0;
        for keep in 0..length {
            let (spilled, _) = write(3, keep).await;
            // What stands behind the last batch may be missing.
            match spilled.read().try_collect::<Vec<_>>().await {
                Ok(batches) => assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 6, "{keep}"),
                Err(_) => failed += 1,
            }
        }
        assert!(failed > length / 2);
    }

    #[tokio::test]
    async fn a_run_without_rows_is_read_as_none() {
        let (empty, _) = write(0, 0).await;
        assert!(empty.read().try_collect::<Vec<_>>().await.unwrap().is_empty());
    }
}
