//! Reserved names and ids of the columns that the format adds to data files.
//!
//! Source: specification chapter "Table Schema"; `table/SpecialFields.java`.

use super::data_type::{BigIntType, DataType, TinyIntType};
use super::field::DataField;

/// Prefix of the copies of key columns in files of primary-key tables.
pub const KEY_FIELD_PREFIX: &str = "_KEY_";
/// What is added to the id of a column for its key copy; ids from here on are reserved.
pub const KEY_FIELD_ID_START: i32 = 1_073_741_823;
/// Name of the sequence number column.
pub const SEQUENCE_NUMBER: &str = "_SEQUENCE_NUMBER";
/// Id of the sequence number column.
pub const SEQUENCE_NUMBER_ID: i32 = 2_147_483_646;
/// Name of the row kind column.
pub const VALUE_KIND: &str = "_VALUE_KIND";
/// Id of the row kind column.
pub const VALUE_KIND_ID: i32 = 2_147_483_645;
/// Name of the row id column.
pub const ROW_ID: &str = "_ROW_ID";
/// Name of the row kind column of results.
pub const ROW_KIND: &str = "rowkind";
/// Names that no column of a table may have.
pub const RESERVED_NAMES: [&str; 5] = [SEQUENCE_NUMBER, VALUE_KIND, "_LEVEL", ROW_KIND, ROW_ID];

/// `_SEQUENCE_NUMBER BIGINT NOT NULL`.
pub fn sequence_number_field() -> DataField {
    DataField::new(SEQUENCE_NUMBER_ID, SEQUENCE_NUMBER, DataType::BigInt(BigIntType::with_nullable(false)))
}

/// `_VALUE_KIND TINYINT NOT NULL`.
pub fn value_kind_field() -> DataField {
    DataField::new(VALUE_KIND_ID, VALUE_KIND, DataType::TinyInt(TinyIntType::with_nullable(false)))
}

/// The copy of a key column in files of primary-key tables, NOT NULL.
pub fn key_field(column: &DataField) -> DataField {
    DataField::new(
        column.id.saturating_add(KEY_FIELD_ID_START),
        format!("{KEY_FIELD_PREFIX}{}", column.name),
        column.data_type.with_nullable(false),
    )
}
