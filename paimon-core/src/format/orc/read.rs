//! Reads an ORC file as batches.
//!
//! Invariants: only streams of columns that are asked for are fetched, stripe by stripe; stripes without a wanted row are
//! not read at all. Memory is bounded by the chosen streams of one stripe and one batch.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, new_null_array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use futures::stream::{self, StreamExt};

use super::decoder::{Decoder, Settings};
use super::footer::{OrcFooter, StripeInfo, footer};
use super::node::Node;
use super::prune::wanted_stripes;
use super::stripe::Stripe;
use crate::error::{Error, Result, ResultExt};
use crate::format::guard::guarded;
use crate::format::readable::check_readable;
use crate::format::{BatchStream, InputFile, ReadRequest};
use crate::types::{RowType, to_arrow_schema};

/// The option that says how zoned timestamps are stored.
const LEGACY_ZONED: &str = "orc.timestamp-ltz.legacy.type";
/// Decoded bytes that a batch should not exceed by much; wide rows make shorter batches.
const BATCH_BYTES: usize = 32 << 20;
/// How much larger decoded values are than stored ones, roughly.
const GROWTH: usize = 4;
/// Rows of a batch at least.
const LEAST_ROWS: usize = 64;

/// Starts to read; the tail of the file is read before this returns.
pub(super) async fn read(file: InputFile, request: ReadRequest) -> Result<BatchStream> {
    check_readable("ORC", false, &request.columns)?;
    let path = file.path.clone();
    let reader = Reader::open(file, request).await.context("file", &path)?;
    let batches =
        stream::try_unfold(reader, |mut reader| async move { Ok(reader.next().await?.map(|batch| (batch, reader))) });
    Ok(batches.map(move |batch: Result<RecordBatch>| batch.context("file", &path)).boxed())
}

struct Reader {
    file: InputFile,
    footer: Arc<OrcFooter>,
    /// Per column what the file has of it.
    nodes: Vec<Option<Node>>,
    names: Vec<String>,
    schema: SchemaRef,
    /// The types whose streams are read.
    wanted: Vec<bool>,
    /// Stripes to read, each with the position of its first row.
    stripes: VecDeque<(StripeInfo, usize)>,
    rows: Option<BooleanBuffer>,
    batch_rows: usize,
    settings: Settings,
    open: Option<OpenStripe>,
}

impl Reader {
    async fn open(file: InputFile, request: ReadRequest) -> Result<Self> {
        let footer = footer(&file).await?;
        let found = footer.rows()?;
        if let Some(rows) = request.rows.as_ref().filter(|rows| rows.len() != found) {
            let selected = rows.len();
            return Err(Error::corrupt(format!("the file has {found} rows, but {selected} by its metadata")));
        }
        let nodes = request.columns.iter().map(|c| Node::column(&footer, c)).collect::<Result<Vec<_>>>()?;
        let mut wanted = vec![false; footer.types.len()];
        nodes.iter().flatten().for_each(|node| node.mark(&mut wanted));
        let may_match = wanted_stripes(&file, &footer, request.predicate.as_ref()).await?;
        let mut stripes = VecDeque::new();
        let mut start = 0;
        for (info, may_match) in footer.stripes.iter().zip(may_match) {
            let selected = request.rows.as_ref().is_none_or(|r| r.slice(start, info.rows).count_set_bits() > 0);
            if may_match && selected && info.rows > 0 {
                stripes.push_back((info.clone(), start));
            }
            start += info.rows;
        }
        let legacy = request.options.get(LEGACY_ZONED).is_none_or(|v| !v.trim().eq_ignore_ascii_case("false"));
        Ok(Self {
            file,
            footer,
            nodes,
            names: request.columns.iter().map(|c| c.name.clone()).collect(),
            schema: to_arrow_schema(&RowType::new(request.columns)),
            wanted,
            stripes,
            rows: request.rows,
            batch_rows: request.batch_rows.max(1),
            settings: Settings { legacy_zoned: legacy },
            open: None,
        })
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(open) = &mut self.open {
                if let Some(batch) = guarded("ORC", || open.next(&self.names, &self.schema, self.rows.as_ref()))? {
                    return Ok(Some(batch));
                }
                self.open = None;
            }
            let Some((info, start)) = self.stripes.pop_front() else { return Ok(None) };
            let stripe = Stripe::load(&self.file, &self.footer, &info, &self.wanted).await?;
            let settings = self.settings;
            let decoders = guarded("ORC", || {
                let pairs = self.nodes.iter().zip(&self.names);
                let decoder = |(node, name): (&Option<Node>, &String)| {
                    node.as_ref().map(|node| Decoder::new(name, node, &stripe, settings)).transpose()
                };
                pairs.map(decoder).collect::<Result<Vec<_>>>()
            })?;
            let per_row = stripe.stored_bytes.saturating_mul(GROWTH) / info.rows.max(1);
            let batch_rows = self.batch_rows.min((BATCH_BYTES / per_row.max(1)).max(LEAST_ROWS));
            self.open = Some(OpenStripe { decoders, at: start, end: start + info.rows, batch_rows });
        }
    }
}

/// A stripe that is decoded.
struct OpenStripe {
    decoders: Vec<Option<Decoder>>,
    at: usize,
    end: usize,
    batch_rows: usize,
}

impl OpenStripe {
    /// The next batch; `None` at the end of the stripe.
    fn next(
        &mut self,
        names: &[String],
        schema: &SchemaRef,
        selected: Option<&BooleanBuffer>,
    ) -> Result<Option<RecordBatch>> {
        while self.at < self.end {
            let rows = self.batch_rows.min(self.end - self.at);
            let mask = selected.map(|s| s.slice(self.at, rows)).filter(|m| m.count_set_bits() < rows);
            self.at += rows;
            if mask.as_ref().is_some_and(|m| m.count_set_bits() == 0) {
                self.decoders.iter_mut().flatten().try_for_each(|d| d.skip(rows))?;
                continue;
            }
            let batch = self.read(rows, names, schema)?;
            return Ok(Some(match mask {
                Some(mask) => filter_record_batch(&batch, &BooleanArray::new(mask, None))?,
                None => batch,
            }));
        }
        Ok(None)
    }

    fn read(&mut self, rows: usize, names: &[String], schema: &SchemaRef) -> Result<RecordBatch> {
        let columns = self.decoders.iter_mut().zip(schema.fields()).zip(names);
        let columns = columns.map(|((decoder, field), name)| -> Result<ArrayRef> {
            let array = match decoder {
                Some(decoder) => decoder.read(rows, None)?,
                None => new_null_array(field.data_type(), rows),
            };
            if !field.is_nullable() && array.null_count() > 0 {
                return Err(Error::corrupt(format!("column {name} is NOT NULL, but holds nulls")));
            }
            Ok(array)
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
    }
}
