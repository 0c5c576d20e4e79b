//! The statistics of one file, as they speak of the columns that are read.
//!
//! Invariants: columns are matched by field id through the schema of the file; what does not fit together is unknown, and
//! unknown keeps the file. Bounds of a column whose type changed count only if it became a wider integer; a column that
//! the file lacks is all null. Source: schema-evolution sheet section 2, binary-row sheet section 8;
//! `stats/SimpleStatsEvolution.java`, `stats/SimpleStatsEvolutions.java`.

use crate::predicate::{ColumnStats, Leaf, Predicate, may_match};
use crate::spec::{DataFileMeta, SimpleStats, TableSchema};
use crate::types::{DataType, Datum};

/// Whether a row of the file may pass, by the statistics of its value columns. `schema` is that of the file.
pub(crate) fn values_may_match(predicate: &Predicate, file: &DataFileMeta, schema: &TableSchema) -> bool {
    let columns = match (&file.value_stats_cols, &file.write_cols) {
        (Some(columns), _) | (None, Some(columns)) => Columns::Named(columns),
        (None, None) => Columns::All(schema.fields.len()),
    };
    if !columns.fit(&file.value_stats) {
        return true;
    }
    may_match(predicate, file.row_count, &|leaf| {
        let Some(position) = schema.fields.iter().position(|f| f.id == leaf.field_id) else {
            return Some(all_null(file));
        };
        let field = &schema.fields[position];
        let position = match columns {
            Columns::Named(names) => names.iter().position(|n| *n == field.name)?,
            Columns::All(_) => position,
        };
        column(file, &file.value_stats, position, &field.data_type, leaf)
    })
}

/// Whether a key of the file may pass, by the statistics of its key columns. The predicate speaks only of key columns.
pub(crate) fn keys_may_match(predicate: &Predicate, file: &DataFileMeta, schema: &TableSchema) -> bool {
    let keys = schema.key_positions();
    if !Columns::All(keys.len()).fit(&file.key_stats) {
        return true;
    }
    may_match(predicate, file.row_count, &|leaf| {
        let position = keys.iter().position(|&k| schema.fields[k].id == leaf.field_id)?;
        column(file, &file.key_stats, position, &schema.fields[keys[position]].data_type, leaf)
    })
}

/// The columns that statistics cover.
#[derive(Clone, Copy)]
enum Columns<'a> {
    /// These, in this order.
    Named(&'a [String]),
    /// So many, in the order of the schema.
    All(usize),
}

impl Columns<'_> {
    /// Whether all parts of the statistics have one item per column; some writers left them incomplete.
    fn fit(self, stats: &SimpleStats) -> bool {
        let len = match self {
            Self::Named(names) => names.len(),
            Self::All(len) => len,
        };
        stats.min_values.arity() == len && stats.max_values.arity() == len && stats.null_counts.len() == len
    }
}

fn all_null(file: &DataFileMeta) -> ColumnStats {
    ColumnStats { min: None, max: None, null_count: Some(file.row_count) }
}

fn column(
    file: &DataFileMeta,
    stats: &SimpleStats,
    position: usize,
    written: &DataType,
    leaf: &Leaf,
) -> Option<ColumnStats> {
    // The bounds are padded with blanks, which some formats do not give back.
    if matches!(written, DataType::Char(_)) && file.format() != "parquet" {
        return None;
    }
    let null_count = stats.null_counts.get(position).copied().flatten();
    let bound = |row: &crate::row::BinaryRow| match row.field(position, written) {
        Ok(Some(value)) => widen(value, written, &leaf.data_type).map(Some),
        Ok(None) => Some(None),
        Err(_) => None,
    };
    Some(ColumnStats { min: bound(&stats.min_values)?, max: bound(&stats.max_values)?, null_count })
}

/// The value in the type that is read; `None` if its order may differ there.
fn widen(value: Datum, written: &DataType, read: &DataType) -> Option<Datum> {
    if written.equals_ignoring_nullability(read) {
        return Some(value);
    }
    let integer = match value {
        Datum::TinyInt(v) => i64::from(v),
        Datum::SmallInt(v) => i64::from(v),
        Datum::Int(v) => i64::from(v),
        _ => return None,
    };
    match (written, read) {
        (DataType::TinyInt(_), DataType::SmallInt(_)) => i16::try_from(integer).ok().map(Datum::SmallInt),
        (DataType::TinyInt(_) | DataType::SmallInt(_), DataType::Int(_)) => i32::try_from(integer).ok().map(Datum::Int),
        (DataType::TinyInt(_) | DataType::SmallInt(_) | DataType::Int(_), DataType::BigInt(_)) => {
            Some(Datum::BigInt(integer))
        }
        _ => None,
    }
}
