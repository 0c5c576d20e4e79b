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
pub(super) struct Spilled(Arc<dyn TempFile>);

impl Spilled {
    /// Writes all rows into a new file.
    ///
    /// # Errors
    /// Those of the rows; `DiskFull` or `Storage`.
    pub(super) async fn write(mut rows: BatchStream, memory: &Arc<dyn MemoryBudget>) -> Result<Self> {
        let file: Arc<dyn TempFile> = Arc::from(memory.temp_file()?);
        let mut writer: Option<StreamWriter<Box<dyn Write + Send>>> = None;
        while let Some(batch) = rows.next().await {
            let batch = batch?;
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
        if let Some(mut writer) = writer {
            runtime::cpu(move || {
                writer.finish().map_err(of_arrow)?;
                writer.into_inner().map_err(of_arrow)?.flush().map_err(of_disk)
            })
            .await?;
        } else {
            // A file without rows has no schema either; it is read as no batches.
            return Ok(Self(Arc::new(NoRows)));
        }
        Ok(Self(file))
    }

    /// The rows.
    pub(super) fn read(&self) -> BatchStream {
        let file = Arc::clone(&self.0);
        async_stream::try_stream! {
            let opened = runtime::cpu({
                let file = Arc::clone(&file);
                move || match file.reader() {
                    Ok(input) => StreamReader::try_new(input, None).map(Some).map_err(of_arrow),
                    Err(error) if error.kind() == IoKind::NotFound => Ok(None),
                    Err(error) => Err(of_disk(error)),
                }
            });
            let mut reader: Option<StreamReader<Box<dyn Read + Send>>> = opened.await?;
            while let Some(mut open) = reader.take() {
                let (batch, open) = runtime::cpu(move || {
                    let batch = open.next().transpose().map_err(of_arrow)?;
                    Ok((batch, open))
                })
                .await?;
                if let Some(batch) = batch {
                    yield batch;
                    reader = Some(open);
                }
            }
            drop(file);
        }
        .boxed()
    }
}

/// A run without rows.
#[derive(Debug)]
struct NoRows;

impl TempFile for NoRows {
    fn writer(&self) -> std::io::Result<Box<dyn Write + Send>> {
        Err(IoKind::Unsupported.into())
    }

    fn reader(&self) -> std::io::Result<Box<dyn Read + Send>> {
        Err(IoKind::NotFound.into())
    }
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
