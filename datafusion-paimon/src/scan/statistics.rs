//! What metadata says about the values of a file, as statistics of the engine.
//!
//! Invariants: a number is exact only if no later step can make it wrong: counts of rows of files that are read as they
//! are, null counts, and bounds of booleans, integers and dates. Bounds of text and bytes may be cut, those of floats
//! order NaN and zeros differently: they are estimates. What is unknown stays unknown. Source: engine sheet section 6;
//! manifest sheet section 4.

use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use paimon_core::Result;
use paimon_core::row::BinaryRow;
use paimon_core::spec::{DataFileMeta, TableSchema};
use paimon_core::types::{DataType, Datum, arrow_type};

use super::columns::FileColumn;
use crate::expr::to_scalar;

/// Statistics of files of one schema, for some columns of the table.
#[derive(Debug)]
pub(crate) struct FileStatistics<'a> {
    file_schema: &'a TableSchema,
    /// The wanted columns: type in the table and place in the file; `None` for columns nobody asks about.
    wanted: Vec<Option<(DataType, FileColumn)>>,
}

impl<'a> FileStatistics<'a> {
    /// For these columns; `None` for one nobody asks about.
    pub(crate) fn new(file_schema: &'a TableSchema, wanted: Vec<Option<(DataType, FileColumn)>>) -> Self {
        Self { file_schema, wanted }
    }

    /// The statistics of a file, one item per column.
    ///
    /// # Errors
    /// `Corrupt` if the stored statistics cannot be decoded.
    pub(crate) fn of(&self, file: &DataFileMeta) -> Result<Statistics> {
        let rows = usize::try_from(file.row_count).unwrap_or(0);
        let columns = self.wanted.iter().map(|wanted| match wanted {
            Some((data_type, column)) => self.column(file, data_type, column, rows),
            None => Ok(ColumnStatistics::new_unknown()),
        });
        Ok(Statistics {
            num_rows: Precision::Exact(rows),
            total_byte_size: Precision::Inexact(usize::try_from(file.file_size).unwrap_or(0)),
            column_statistics: columns.collect::<Result<_>>()?,
        })
    }

    fn column(
        &self,
        file: &DataFileMeta,
        data_type: &DataType,
        column: &FileColumn,
        rows: usize,
    ) -> Result<ColumnStatistics> {
        let unknown = ColumnStatistics::new_unknown();
        let (name, same_type) = match column {
            FileColumn::Same(name) => (name, true),
            FileColumn::Widened(name) => (name, false),
            FileColumn::Missing => return Ok(ColumnStatistics { null_count: Precision::Exact(rows), ..unknown }),
            FileColumn::Core => return Ok(unknown),
        };
        let Some((position, stored_type)) = self.position(file, name) else { return Ok(unknown) };
        let stats = &file.value_stats;
        let null_count = stats.null_counts.get(position).copied().flatten().and_then(|n| usize::try_from(n).ok());
        let bound = |row: &BinaryRow| -> Result<Precision<ScalarValue>> {
            if !same_type || stored_type.is_nested() || row.is_null(position) {
                return Ok(Precision::Absent);
            }
            Ok(row.field(position, stored_type)?.map_or(Precision::Absent, |datum| bound(&datum, data_type)))
        };
        Ok(ColumnStatistics {
            null_count: null_count.map_or(Precision::Absent, Precision::Exact),
            min_value: bound(&stats.min_values)?,
            max_value: bound(&stats.max_values)?,
            ..unknown
        })
    }

    /// Where the statistics of a column are, and its type. Some writers stored other columns than they said: then
    /// nothing is known.
    fn position(&self, file: &DataFileMeta, name: &str) -> Option<(usize, &'a DataType)> {
        let fields = &self.file_schema.fields;
        let in_schema = fields.iter().position(|f| f.name == name)?;
        let (position, count) = match &file.value_stats_cols {
            None => (in_schema, fields.len()),
            Some(names) => (names.iter().position(|n| n == name)?, names.len()),
        };
        let stats = &file.value_stats;
        let complete = [stats.min_values.arity(), stats.max_values.arity(), stats.null_counts.len()] == [count; 3];
        complete.then_some((position, &fields[in_schema].data_type))
    }
}

/// The statistics of a partition column: one value in all rows.
pub(crate) fn of_partition_value(value: &ScalarValue, rows: usize) -> ColumnStatistics {
    if value.is_null() {
        return ColumnStatistics { null_count: Precision::Exact(rows), ..ColumnStatistics::new_unknown() };
    }
    let bound = match value {
        ScalarValue::Float32(_) | ScalarValue::Float64(_) => Precision::Inexact(value.clone()),
        _ => Precision::Exact(value.clone()),
    };
    ColumnStatistics {
        null_count: Precision::Exact(0),
        min_value: bound.clone(),
        max_value: bound,
        ..ColumnStatistics::new_unknown()
    }
}

/// The statistics of a file once deleted rows are left out: the number of rows stays exact if it is known how many are
/// deleted; bounds and null counts may be those of deleted rows. A partition column keeps its value in what is left.
pub(crate) fn without_deleted(file: Statistics, deleted: Option<i64>, partition: &[ScalarValue]) -> Statistics {
    let rows = file.num_rows.get_value().copied().unwrap_or(0);
    let left = deleted.and_then(|d| rows.checked_sub(usize::try_from(d).ok()?));
    let mut statistics = file.to_inexact();
    let Some(left) = left else { return statistics };
    statistics.num_rows = Precision::Exact(left);
    let values = statistics.column_statistics.len().saturating_sub(partition.len());
    for (column, value) in statistics.column_statistics.iter_mut().skip(values).zip(partition) {
        *column = match left {
            // A column without rows has no least value.
            0 => ColumnStatistics { null_count: Precision::Exact(0), ..ColumnStatistics::new_unknown() },
            _ => of_partition_value(value, left),
        };
    }
    statistics
}

fn bound(datum: &Datum, data_type: &DataType) -> Precision<ScalarValue> {
    let arrow: ArrowType = arrow_type(data_type);
    let Ok(scalar) = to_scalar(Some(datum), &arrow) else { return Precision::Absent };
    match datum {
        Datum::Boolean(_)
        | Datum::TinyInt(_)
        | Datum::SmallInt(_)
        | Datum::Int(_)
        | Datum::BigInt(_)
        | Datum::Date(_) => Precision::Exact(scalar),
        // A NaN bound says nothing that the engine's order would agree with.
        Datum::Float(v) if v.is_nan() => Precision::Absent,
        Datum::Double(v) if v.is_nan() => Precision::Absent,
        _ => Precision::Inexact(scalar),
    }
}
