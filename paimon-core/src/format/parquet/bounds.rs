//! Bounds of a column in a row group or page, as values that predicates compare.
//!
//! Invariants: a bound that cannot be trusted or decoded is unknown, never wrong. Text and bytes are both
//! [`Datum::Bytes`]; zero of a float stands for both zeros. Statistics of floats leave NaN out.
//! Source: `parquet.thrift` of the Parquet format, "Statistics" and "ColumnOrder".

use ::parquet::basic::{ColumnOrder, LogicalType, SortOrder, TimeUnit, Type as PhysicalType};
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use ::parquet::file::page_index::column_index::ColumnIndexMetaData;
use ::parquet::file::statistics::Statistics;
use ::parquet::schema::types::ColumnDescriptor;

use crate::types::{DataType, Datum, Timestamp};

/// What is known of the values of a column in some rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bounds {
    /// No value is below.
    pub(super) min: Option<Datum>,
    /// No value is above, but for NaN.
    pub(super) max: Option<Datum>,
    /// Whether both bounds are values that occur, and nothing else can be between equal bounds.
    pub(super) exact: bool,
    /// Number of nulls.
    pub(super) nulls: Option<u64>,
    /// Number of rows.
    pub(super) rows: u64,
    /// Whether NaN may occur.
    pub(super) may_hold_nan: bool,
}

/// One end of the bounds as the file stores it.
enum Raw<'a> {
    Boolean(bool),
    Int32(i32),
    Int64(i64),
    Float(f32),
    Double(f64),
    Bytes(&'a [u8]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Min,
    Max,
}

/// Decodes the bounds of one column.
pub(super) struct BoundsReader<'a> {
    descriptor: &'a ColumnDescriptor,
    data_type: &'a DataType,
    trusted_bytes: bool,
}

impl<'a> BoundsReader<'a> {
    /// For the leaf at this position, whose values have this type.
    pub(super) fn new(footer: &'a ParquetMetaData, leaf: usize, data_type: &'a DataType) -> Self {
        let file = footer.file_metadata();
        let trusted_bytes = matches!(
            file.column_order(leaf),
            ColumnOrder::TYPE_DEFINED_ORDER(order) if order != SortOrder::UNDEFINED
        );
        let descriptor: &ColumnDescriptor = file.schema_descr().columns()[leaf].as_ref();
        Self { descriptor, data_type, trusted_bytes }
    }

    /// Bounds over a row group.
    pub(super) fn row_group(&self, chunk: &ColumnChunkMetaData, rows: u64) -> Bounds {
        let mut bounds = self.unknown(rows);
        let Some(statistics) = chunk.statistics() else { return bounds };
        bounds.nulls = statistics.null_count_opt();
        let in_bytes = matches!(statistics, Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_));
        // Old statistics compare bytes as signed.
        if in_bytes && statistics.is_min_max_deprecated() {
            return bounds;
        }
        let (min, max) = match statistics {
            Statistics::Boolean(s) => (s.min_opt().map(|v| Raw::Boolean(*v)), s.max_opt().map(|v| Raw::Boolean(*v))),
            Statistics::Int32(s) => (s.min_opt().map(|v| Raw::Int32(*v)), s.max_opt().map(|v| Raw::Int32(*v))),
            Statistics::Int64(s) => (s.min_opt().map(|v| Raw::Int64(*v)), s.max_opt().map(|v| Raw::Int64(*v))),
            Statistics::Float(s) => (s.min_opt().map(|v| Raw::Float(*v)), s.max_opt().map(|v| Raw::Float(*v))),
            Statistics::Double(s) => (s.min_opt().map(|v| Raw::Double(*v)), s.max_opt().map(|v| Raw::Double(*v))),
            Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_) => {
                (statistics.min_bytes_opt().map(Raw::Bytes), statistics.max_bytes_opt().map(Raw::Bytes))
            }
            Statistics::Int96(_) => (None, None),
        };
        bounds.min = min.and_then(|raw| self.decode(&raw, End::Min));
        bounds.max = max.and_then(|raw| self.decode(&raw, End::Max));
        bounds.exact = !in_bytes || (statistics.min_is_exact() && statistics.max_is_exact());
        bounds
    }

    /// Bounds over a page.
    pub(super) fn page(&self, index: &ColumnIndexMetaData, page: usize, rows: u64) -> Bounds {
        let mut bounds = self.unknown(rows);
        bounds.nulls = index.null_count(page).and_then(|n| u64::try_from(n).ok());
        if index.is_null_page(page) {
            bounds.nulls = Some(rows);
            return bounds;
        }
        macro_rules! ends {
            ($index:expr, $raw:expr) => {
                ($index.min_value(page).map($raw), $index.max_value(page).map($raw))
            };
        }
        let (min, max) = match index {
            ColumnIndexMetaData::BOOLEAN(i) => ends!(i, |v| Raw::Boolean(*v)),
            ColumnIndexMetaData::INT32(i) => ends!(i, |v| Raw::Int32(*v)),
            ColumnIndexMetaData::INT64(i) => ends!(i, |v| Raw::Int64(*v)),
            ColumnIndexMetaData::FLOAT(i) => ends!(i, |v| Raw::Float(*v)),
            ColumnIndexMetaData::DOUBLE(i) => ends!(i, |v| Raw::Double(*v)),
            ColumnIndexMetaData::BYTE_ARRAY(i) | ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(i) => ends!(i, Raw::Bytes),
            ColumnIndexMetaData::INT96(_) | ColumnIndexMetaData::NONE => (None, None),
        };
        bounds.min = min.and_then(|raw| self.decode(&raw, End::Min));
        bounds.max = max.and_then(|raw| self.decode(&raw, End::Max));
        // The page index may cut bytes and does not say whether it did.
        bounds.exact =
            !matches!(index, ColumnIndexMetaData::BYTE_ARRAY(_) | ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(_));
        bounds
    }

    fn unknown(&self, rows: u64) -> Bounds {
        let may_hold_nan = matches!(self.data_type, DataType::Float(_) | DataType::Double(_));
        Bounds { min: None, max: None, exact: false, nulls: None, rows, may_hold_nan }
    }

    fn decode(&self, raw: &Raw<'_>, end: End) -> Option<Datum> {
        match (raw, self.data_type) {
            (Raw::Boolean(v), DataType::Boolean(_)) => Some(Datum::Boolean(*v)),
            (Raw::Int32(v), _) => self.decode_int32(*v),
            (Raw::Int64(v), _) => self.decode_int64(*v),
            (Raw::Float(v), DataType::Float(_)) => float_bound(f64::from(*v), end).map(|v| Datum::Float(v as f32)),
            (Raw::Double(v), DataType::Double(_)) => float_bound(*v, end).map(Datum::Double),
            (Raw::Bytes(v), DataType::Decimal(_)) if self.trusted_bytes => {
                let scale = u8::try_from(self.descriptor.type_scale()).ok()?;
                Some(Datum::Decimal(big_endian(v)?, scale))
            }
            (
                Raw::Bytes(v),
                DataType::Char(_) | DataType::VarChar(_) | DataType::Binary(_) | DataType::VarBinary(_),
            ) if self.trusted_bytes => Some(Datum::Bytes(v.to_vec())),
            _ => None,
        }
    }

    fn decode_int32(&self, value: i32) -> Option<Datum> {
        if self.is_unsigned() {
            return None;
        }
        match self.data_type {
            DataType::TinyInt(_) => i8::try_from(value).ok().map(Datum::TinyInt),
            DataType::SmallInt(_) => i16::try_from(value).ok().map(Datum::SmallInt),
            DataType::Int(_) => Some(Datum::Int(value)),
            DataType::BigInt(_) => Some(Datum::BigInt(i64::from(value))),
            DataType::Date(_) => Some(Datum::Date(value)),
            DataType::Time(_) => Some(Datum::Time(value)),
            DataType::Decimal(_) => self.decimal(i128::from(value)),
            _ => None,
        }
    }

    fn decode_int64(&self, value: i64) -> Option<Datum> {
        if self.is_unsigned() {
            return None;
        }
        match self.data_type {
            DataType::BigInt(_) => Some(Datum::BigInt(value)),
            DataType::Decimal(_) => self.decimal(i128::from(value)),
            DataType::Timestamp(t) => Some(Datum::Timestamp(self.timestamp(value, t.precision()))),
            DataType::LocalZonedTimestamp(t) => Some(Datum::LocalZonedTimestamp(self.timestamp(value, t.precision()))),
            _ => None,
        }
    }

    fn decimal(&self, unscaled: i128) -> Option<Datum> {
        let scale = match self.descriptor.logical_type_ref() {
            Some(LogicalType::Decimal(decimal)) => decimal.scale,
            _ => self.descriptor.type_scale(),
        };
        Some(Datum::Decimal(unscaled, u8::try_from(scale.max(0)).ok()?))
    }

    fn timestamp(&self, value: i64, precision: u32) -> Timestamp {
        use ::parquet::basic::ConvertedType;
        let unit = match (self.descriptor.logical_type_ref(), self.descriptor.converted_type()) {
            (Some(LogicalType::Timestamp(t)), _) => t.unit,
            (_, ConvertedType::TIMESTAMP_MILLIS) => TimeUnit::MILLIS,
            (_, ConvertedType::TIMESTAMP_MICROS) => TimeUnit::MICROS,
            _ if precision <= 3 => TimeUnit::MILLIS,
            _ => TimeUnit::MICROS,
        };
        match unit {
            TimeUnit::MILLIS => Timestamp::from_millis(value),
            TimeUnit::MICROS => Timestamp::from_micros(value),
            TimeUnit::NANOS => Timestamp::from_nanos(value),
        }
    }

    fn is_unsigned(&self) -> bool {
        use ::parquet::basic::ConvertedType;
        let by_logical = matches!(self.descriptor.logical_type_ref(), Some(LogicalType::Integer(t)) if !t.is_signed);
        let by_converted = matches!(
            self.descriptor.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        );
        by_logical || by_converted || self.descriptor.physical_type() == PhysicalType::INT96
    }
}

/// A writer may store either zero for both, and must not store NaN.
fn float_bound(value: f64, end: End) -> Option<f64> {
    match (value, end) {
        (v, _) if v.is_nan() => None,
        (0.0, End::Min) => Some(-0.0),
        (0.0, End::Max) => Some(0.0),
        (v, _) => Some(v),
    }
}

fn big_endian(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.first()? & 0x80 != 0;
    let mut buffer = if negative { [0xff; 16] } else { [0; 16] };
    let start = 16usize.checked_sub(bytes.len())?;
    buffer.get_mut(start..)?.copy_from_slice(bytes);
    Some(i128::from_be_bytes(buffer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_endian_numbers_keep_their_sign() {
        let cases: [(&[u8], Option<i128>); 5] = [
            (&[0x01, 0x00], Some(256)),
            (&[0xff], Some(-1)),
            (&[0x80, 0x00], Some(-32768)),
            (&[], None),
            (&[0; 17], None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(big_endian(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn zero_stands_for_both_zeros() {
        assert!(float_bound(0.0, End::Min).unwrap().is_sign_negative());
        assert!(float_bound(-0.0, End::Max).unwrap().is_sign_positive());
        assert_eq!(float_bound(f64::NAN, End::Max), None);
    }
}
