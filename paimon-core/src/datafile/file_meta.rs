//! What stands in a file and what metadata says about it.
//!
//! Source: write-path sheet section 6, data-file sheet section 1; `io/KeyValueDataFileWriter.java`,
//! `io/RowDataFileWriter.java`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{max, min};
use arrow::datatypes::{Int8Type, Int64Type, SchemaRef};
use arrow::record_batch::RecordBatch;
use chrono::{Local, TimeZone};

use super::reader::key_value_fields;
use super::rolling::{FileLayout, WriterConfig};
use super::stats::{KEY_STATS_MODE, StatsCollector, stats_modes, table_stats_mode};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::row::{BinaryRow, NullLayout, encode_columns};
use crate::spec::{DataFileMeta, SimpleStats, StatsMode, TableSchema};
use crate::types::{DataField, DataType, RowKind, RowType, key_field, to_arrow_schema};

/// `_SEQUENCE_NUMBER` and `_VALUE_KIND`.
const SYSTEM_COLUMNS: usize = 2;

/// The columns of a file and how they come from a batch.
#[derive(Debug)]
pub(super) struct FileColumns {
    layout: FileLayout,
    /// Positions of the key columns among the table's columns.
    keys: Vec<usize>,
    fields: Vec<DataField>,
    arrow: SchemaRef,
    /// Statistics of a file without rows.
    key_stats: StatsCollector,
    value_stats: StatsCollector,
}

impl FileColumns {
    pub(super) fn new(schema: &TableSchema, options: &Options, layout: FileLayout, level: i32) -> Result<Self> {
        let keys = match layout {
            FileLayout::Append { .. } => Vec::new(),
            FileLayout::KeyValue => schema.key_positions(),
        };
        let key_fields: Vec<DataField> = keys.iter().filter_map(|&i| schema.fields.get(i)).map(key_field).collect();
        let fields = match layout {
            FileLayout::Append { .. } => schema.fields.clone(),
            FileLayout::KeyValue => key_fields.iter().cloned().chain(key_value_fields(&schema.fields)).collect(),
        };
        let key_mode = match table_stats_mode(options, level)? {
            StatsMode::None => StatsMode::None,
            _ => KEY_STATS_MODE,
        };
        let value_modes = stats_modes(&schema.fields, options, level)?;
        Ok(Self {
            layout,
            keys,
            arrow: to_arrow_schema(&RowType::new(fields.clone())),
            fields,
            key_stats: StatsCollector::new(&key_fields, &vec![key_mode; key_fields.len()]),
            value_stats: StatsCollector::new(&schema.fields, &value_modes),
        })
    }

    pub(super) fn fields(&self) -> &[DataField] {
        &self.fields
    }

    /// The rows of a batch as they stand in the file.
    pub(super) fn file_batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let expected = self.fields.len() - self.keys.len();
        if batch.num_columns() != expected {
            let found = batch.num_columns();
            return Err(Error::internal(format!("a batch has {found} columns, but its file takes {expected}")));
        }
        let keys = self.keys.iter().map(|&i| Arc::clone(batch.column(i + SYSTEM_COLUMNS)));
        let columns: Vec<ArrayRef> = keys.chain(batch.columns().iter().cloned()).collect();
        Ok(RecordBatch::try_new(Arc::clone(&self.arrow), columns)?)
    }

    /// Starts to collect what metadata says about a file whose first row has this sequence number.
    pub(super) fn facts(&self, first_sequence: i64) -> FileFacts {
        let (key_stats, value_stats) = (self.key_stats.clone(), self.value_stats.clone());
        let key_types = self.fields.iter().take(self.keys.len()).map(|f| f.data_type.clone()).collect();
        FileFacts {
            layout: self.layout,
            key_types,
            key_stats,
            value_stats,
            rows: 0,
            deletes: 0,
            sequences: None,
            first_sequence,
            first_key: None,
            last_key: None,
        }
    }
}

/// What metadata will say about a file.
#[derive(Debug)]
pub(super) struct FileFacts {
    layout: FileLayout,
    key_types: Vec<DataType>,
    key_stats: StatsCollector,
    value_stats: StatsCollector,
    rows: u64,
    deletes: i64,
    sequences: Option<(i64, i64)>,
    first_sequence: i64,
    first_key: Option<BinaryRow>,
    last_key: Option<BinaryRow>,
}

impl FileFacts {
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds rows as they stand in the file.
    pub(super) fn update(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        if matches!(self.layout, FileLayout::Append { .. }) {
            return self.value_stats.update(batch.columns());
        }
        let columns = batch.columns();
        let (keys, rest) = columns.split_at(self.key_types.len().min(columns.len()));
        let [sequences, kinds, values @ ..] = rest else {
            return Err(Error::internal("a key-value batch has no sequence numbers and kinds"));
        };
        self.key_stats.update(keys)?;
        self.value_stats.update(values)?;
        self.update_sequences(sequences)?;
        self.deletes += deletes(kinds)?;
        if batch.num_rows() > 0 {
            if self.first_key.is_none() {
                self.first_key = Some(self.key(keys, 0)?);
            }
            self.last_key = Some(self.key(keys, batch.num_rows() - 1)?);
        }
        Ok(())
    }

    fn update_sequences(&mut self, sequences: &ArrayRef) -> Result<()> {
        let sequences = sequences
            .as_primitive_opt::<Int64Type>()
            .ok_or_else(|| Error::internal("sequence numbers are not 64-bit integers"))?;
        if let Some((least, greatest)) = min(sequences).zip(max(sequences)) {
            let (known_least, known_greatest) = self.sequences.unwrap_or((least, greatest));
            self.sequences = Some((known_least.min(least), known_greatest.max(greatest)));
        }
        Ok(())
    }

    fn key(&self, keys: &[ArrayRef], row: usize) -> Result<BinaryRow> {
        let keys: Vec<_> = keys.iter().map(|k| k.slice(row, 1)).collect();
        let mut rows = encode_columns(&keys, &self.key_types, NullLayout::Reserved)?;
        rows.pop().ok_or_else(|| Error::internal("a key was not encoded"))
    }

    /// The metadata of a file of `size` bytes.
    pub(super) fn meta(self, name: &str, size: u64, config: &WriterConfig) -> Result<DataFileMeta> {
        let (value_stats, value_stats_cols) = self.value_stats.finish(&config.options)?;
        let rows = i64::try_from(self.rows).unwrap_or(i64::MAX);
        let (min_sequence_number, max_sequence_number) = match self.layout {
            FileLayout::Append { .. } => (self.first_sequence, self.first_sequence + rows - 1),
            FileLayout::KeyValue => self.sequences.unwrap_or((0, 0)),
        };
        let key_stats = match self.layout {
            FileLayout::Append { .. } => SimpleStats::empty(),
            FileLayout::KeyValue => self.key_stats.all()?,
        };
        Ok(DataFileMeta {
            file_name: name.to_owned(),
            file_size: i64::try_from(size).map_err(|_| Error::internal("a file is larger than 2^63 bytes"))?,
            row_count: rows,
            min_key: self.first_key.unwrap_or_else(BinaryRow::empty),
            max_key: self.last_key.unwrap_or_else(BinaryRow::empty),
            key_stats,
            value_stats,
            min_sequence_number,
            max_sequence_number,
            schema_id: config.schema.id,
            level: config.level,
            extra_files: Vec::new(),
            creation_time_ms: Some(wall_clock_ms(config.clock.now_ms())),
            delete_row_count: Some(self.deletes),
            embedded_index: None,
            file_source: Some(config.source),
            value_stats_cols,
            external_path: None,
            first_row_id: None,
            write_cols: None,
            write_cols_sequences: None,
        })
    }
}

fn deletes(kinds: &ArrayRef) -> Result<i64> {
    let kinds =
        kinds.as_primitive_opt::<Int8Type>().ok_or_else(|| Error::internal("row kinds are not 8-bit integers"))?;
    let retracts = [RowKind::UpdateBefore as i8, RowKind::Delete as i8];
    let count = kinds.values().iter().filter(|k| retracts.contains(k)).count();
    Ok(i64::try_from(count).unwrap_or(i64::MAX))
}

/// The wall clock of this place, its zone taken for UTC: how Java stores creation times.
fn wall_clock_ms(now_ms: i64) -> i64 {
    match Local.timestamp_millis_opt(now_ms).earliest() {
        Some(time) => time.naive_local().and_utc().timestamp_millis(),
        None => now_ms,
    }
}
