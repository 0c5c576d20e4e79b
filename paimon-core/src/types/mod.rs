//! Paimon's types and values, and their Arrow form. No bytes, no files.

mod arrow;
mod cast_rules;
mod data_type;
mod datum;
mod datum_arrow;
mod field;
mod row_kind;
mod system_fields;
#[cfg(test)]
pub(crate) mod testing;
mod text_value;
mod type_parser;
mod type_string;

pub use arrow::{arrow_type, field_from_arrow, row_type_from_arrow, to_arrow_field, to_arrow_schema, type_from_arrow};
pub use cast_rules::{CastKind, cast_kind};
pub use data_type::*;
pub use datum::{Datum, Timestamp};
pub use datum_arrow::{array_from_datums, constant_array, datum_at};
pub use field::{DataField, RowType};
pub use row_kind::RowKind;
pub use system_fields::*;
pub(crate) use type_parser::FieldIds;
pub(crate) use type_string::{field_from_json, field_to_json};
