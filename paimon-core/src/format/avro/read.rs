//! Reads an Avro file as batches.
//!
//! Invariants: one block is decompressed at a time; blocks without a wanted row are not decompressed. The format has no
//! statistics, so predicates skip nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::BooleanArray;
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use futures::stream::{self, StreamExt};

use super::blocks::{Block, Blocks};
use super::column::Rows;
use crate::error::{Error, Result, ResultExt};
use crate::format::guard::guarded;
use crate::format::readable::check_readable;
use crate::format::{BatchStream, InputFile, ReadRequest};
use crate::spec::avro::Cursor;
use crate::types::{RowType, to_arrow_schema};

/// Decoded bytes of blocks after which a batch ends even if it is short.
const BATCH_BYTES: usize = 16 << 20;

/// Starts to read; the header of the file is read before this returns.
pub(super) async fn read(file: InputFile, request: ReadRequest) -> Result<BatchStream> {
    check_readable("Avro", false, &request.columns)?;
    let path = file.path.clone();
    let reader = Reader::open(file, request).await.context("file", &path)?;
    let batches =
        stream::try_unfold(reader, |mut reader| async move { Ok(reader.next().await?.map(|batch| (batch, reader))) });
    Ok(batches.map(move |batch: Result<RecordBatch>| batch.context("file", &path)).boxed())
}

struct Reader {
    blocks: Blocks,
    rows: Rows,
    schema: SchemaRef,
    selected: Option<BooleanBuffer>,
    batch_rows: usize,
    /// Position of the next row of the file.
    at: usize,
    /// Batches that are decoded.
    ready: VecDeque<RecordBatch>,
    /// Rows that were taken, and for each whether it is wanted.
    taken: usize,
    wanted: Vec<bool>,
    ended: bool,
}

impl Reader {
    async fn open(file: InputFile, request: ReadRequest) -> Result<Self> {
        let (blocks, shape) = Blocks::open(file).await?;
        Ok(Self {
            blocks,
            rows: Rows::new(&shape, &request.columns)?,
            schema: to_arrow_schema(&RowType::new(request.columns.clone())),
            selected: request.rows,
            batch_rows: request.batch_rows.max(1),
            at: 0,
            ready: VecDeque::new(),
            taken: 0,
            wanted: Vec::new(),
            ended: false,
        })
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        let mut bytes = 0;
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if self.ended {
                return Ok(None);
            }
            match self.blocks.next().await? {
                Some(block) => {
                    bytes += guarded("Avro", || self.take(&block))?;
                    if bytes >= BATCH_BYTES {
                        bytes = 0;
                        self.flush()?;
                    }
                }
                None => {
                    self.ended = true;
                    self.check_end()?;
                    self.flush()?;
                }
            }
        }
    }

    fn check_end(&self) -> Result<()> {
        match &self.selected {
            Some(rows) if rows.len() != self.at => {
                let (selected, found) = (rows.len(), self.at);
                Err(Error::corrupt(format!("the file has {found} rows, but {selected} by its metadata")))
            }
            _ => Ok(()),
        }
    }

    /// Takes the rows of a block; gives how many bytes it had.
    fn take(&mut self, block: &Block) -> Result<usize> {
        let end = self.at.saturating_add(block.rows);
        let mask = match &self.selected {
            Some(rows) if end > rows.len() => {
                let selected = rows.len();
                return Err(Error::corrupt(format!("the file has more than the {selected} rows of its metadata")));
            }
            Some(rows) => Some(rows.slice(self.at, block.rows)),
            None => None,
        };
        self.at = end;
        if mask.as_ref().is_some_and(|m| m.count_set_bits() == 0) {
            return Ok(0);
        }
        let content = block.decompress()?;
        // A row has at least one byte.
        if block.rows > content.len() {
            return Err(Error::corrupt("a block of the Avro file has fewer rows than it says"));
        }
        let mut cursor = Cursor::new(&content);
        for row in 0..block.rows {
            self.rows.read(&mut cursor)?;
            self.taken += 1;
            if let Some(mask) = &mask {
                self.wanted.push(mask.value(row));
            }
            if self.taken == self.batch_rows {
                self.flush()?;
            }
        }
        if !cursor.rest().is_empty() {
            return Err(Error::corrupt("a block of the Avro file has bytes after its last row"));
        }
        Ok(content.len())
    }

    fn flush(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.taken);
        let wanted = std::mem::take(&mut self.wanted);
        if rows == 0 {
            return Ok(());
        }
        let arrays = self.rows.finish(rows)?;
        for (array, field) in arrays.iter().zip(self.schema.fields()) {
            if !field.is_nullable() && array.null_count() > 0 {
                return Err(Error::corrupt(format!("column {} is NOT NULL, but holds nulls", field.name())));
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)?;
        self.ready.push_back(match wanted.iter().all(|w| *w) {
            true => batch,
            false => filter_record_batch(&batch, &BooleanArray::from(wanted))?,
        });
        Ok(())
    }
}
