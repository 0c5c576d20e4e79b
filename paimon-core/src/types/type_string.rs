//! Types as schema files and SQL write them, both ways.
//!
//! Atomic types are words with parameters, the same in JSON and in SQL; nested types are JSON objects in schema files and
//! `ARRAY<INT>` in SQL. Invariants: STRING and BYTES stand for the longest VARCHAR and VARBINARY; what is printed parses
//! to the same type. Source: metadata sheet section 2; `types/DataTypeJsonParser.java`, `types/DataField.java`.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::data_type::*;
use super::field::{DataField, RowType};
use super::type_parser::{self, FieldIds};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, Object};

impl DataType {
    /// The SQL text without the type's own nullability: `INT`, ``ROW<`x` INT NOT NULL>``.
    pub fn sql_text(&self) -> String {
        let text = self.to_string();
        match text.strip_suffix(" NOT NULL") {
            Some(plain) if !self.is_nullable() => plain.to_owned(),
            _ => text,
        }
    }

    /// The JSON text of schema files, in one line: `"INT NOT NULL"` or `{"type":"ARRAY","element":"INT"}`.
    pub fn to_json_text(&self) -> String {
        type_to_json(self).compact()
    }

    /// Reads the JSON text of schema files. Fields without ids, all or none, are numbered from 0.
    ///
    /// # Errors
    /// `Corrupt` if the text is no type; `Unsupported` naming the type for GEOMETRY and GEOGRAPHY.
    pub fn from_json_text(text: &str) -> Result<Self> {
        type_from_json(&crate::json::parse(text.as_bytes(), "data type")?, &mut FieldIds::default())
    }
}

/// Reads SQL text, such as `DECIMAL(10, 2) NOT NULL`, ``ROW<`x` INT>`` or `INT ARRAY`. Fields of rows are numbered from 0.
impl FromStr for DataType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        type_parser::parse(text, &mut FieldIds::counted_from(0))
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(_) => f.write_str("BOOLEAN"),
            Self::TinyInt(_) => f.write_str("TINYINT"),
            Self::SmallInt(_) => f.write_str("SMALLINT"),
            Self::Int(_) => f.write_str("INT"),
            Self::BigInt(_) => f.write_str("BIGINT"),
            Self::Float(_) => f.write_str("FLOAT"),
            Self::Double(_) => f.write_str("DOUBLE"),
            Self::Decimal(t) => write!(f, "DECIMAL({}, {})", t.precision(), t.scale()),
            Self::Char(t) => write!(f, "CHAR({})", t.length()),
            Self::VarChar(t) if t.length() == MAX_LENGTH => f.write_str("STRING"),
            Self::VarChar(t) => write!(f, "VARCHAR({})", t.length()),
            Self::Binary(t) => write!(f, "BINARY({})", t.length()),
            Self::VarBinary(t) if t.length() == MAX_LENGTH => f.write_str("BYTES"),
            Self::VarBinary(t) => write!(f, "VARBINARY({})", t.length()),
            Self::Date(_) => f.write_str("DATE"),
            Self::Time(t) => write!(f, "TIME({})", t.precision()),
            Self::Timestamp(t) => write!(f, "TIMESTAMP({})", t.precision()),
            Self::LocalZonedTimestamp(t) => write!(f, "TIMESTAMP({}) WITH LOCAL TIME ZONE", t.precision()),
            Self::Array(t) => write!(f, "ARRAY<{}>", t.element_type()),
            Self::Multiset(t) => write!(f, "MULTISET<{}>", t.element_type()),
            Self::Map(t) => write!(f, "MAP<{}, {}>", t.key_type(), t.value_type()),
            Self::Row(t) => write_fields(f, t.fields()),
            Self::Variant(_) => f.write_str("VARIANT"),
            Self::Blob(_) => f.write_str("BLOB"),
            Self::Vector(t) => write!(f, "VECTOR<{}, {}>", t.element_type(), t.length()),
        }?;
        f.write_str(if self.is_nullable() { "" } else { " NOT NULL" })
    }
}

fn write_fields(f: &mut fmt::Formatter<'_>, fields: &[DataField]) -> fmt::Result {
    f.write_str("ROW<")?;
    for (i, field) in fields.iter().enumerate() {
        let separator = if i > 0 { ", " } else { "" };
        write!(f, "{separator}`{}` {}", field.name.replace('`', "``"), field.data_type)?;
        if let Some(comment) = &field.description {
            write!(f, " COMMENT '{}'", comment.replace('\'', "''"))?;
        }
    }
    f.write_str(">")
}

/// The type as it stands in schema files.
pub(crate) fn type_to_json(data_type: &DataType) -> Json {
    let object = |word: &str, parts: Vec<(&str, Json)>| {
        let suffix = if data_type.is_nullable() { "" } else { " NOT NULL" };
        let head = ("type".to_owned(), Json::text(format!("{word}{suffix}")));
        Json::Object(std::iter::once(head).chain(parts.into_iter().map(|(k, v)| (k.to_owned(), v))).collect())
    };
    match data_type {
        DataType::Array(t) => object("ARRAY", vec![("element", type_to_json(t.element_type()))]),
        DataType::Multiset(t) => object("MULTISET", vec![("element", type_to_json(t.element_type()))]),
        DataType::Map(t) => {
            object("MAP", vec![("key", type_to_json(t.key_type())), ("value", type_to_json(t.value_type()))])
        }
        DataType::Row(t) => object("ROW", vec![("fields", Json::List(t.fields().iter().map(field_to_json).collect()))]),
        DataType::Vector(t) => object(
            "VECTOR",
            vec![("element", type_to_json(t.element_type())), ("length", Json::Number(i64::from(t.length())))],
        ),
        atomic => Json::text(atomic.to_string()),
    }
}

/// The field as it stands in schema files; absent comment and default are omitted, since Java takes null for a text.
pub(crate) fn field_to_json(field: &DataField) -> Json {
    let mut entries = vec![
        ("id".to_owned(), Json::Number(i64::from(field.id))),
        ("name".to_owned(), Json::text(&field.name)),
        ("type".to_owned(), type_to_json(&field.data_type)),
    ];
    for (key, value) in [("description", &field.description), ("defaultValue", &field.default_value)] {
        if let Some(text) = value {
            entries.push((key.to_owned(), Json::text(text)));
        }
    }
    Json::Object(entries)
}

/// The field that stands in a schema file or in the type of one.
///
/// # Errors
/// `Corrupt` naming the key or field; `Unsupported` naming the type.
pub(crate) fn field_from_json(value: &Value, ids: &mut FieldIds) -> Result<DataField> {
    let object = Object::new(value, "field")?;
    let name = object.text("name")?;
    let in_field = |e: Error| e.with_context("field", &name);
    let id = ids.take(object.find_int("id").map_err(in_field)?).map_err(in_field)?;
    let data_type = type_from_json(object.require("type").map_err(in_field)?, ids).map_err(in_field)?;
    let description = object.find_text("description").map_err(in_field)?;
    let default_value = object.find_text("defaultValue").map_err(in_field)?;
    Ok(DataField { id, name, data_type, description, default_value })
}

/// The type that stands in a schema file.
///
/// # Errors
/// `Corrupt` if it is no type; `Unsupported` naming the type.
pub(crate) fn type_from_json(value: &Value, ids: &mut FieldIds) -> Result<DataType> {
    if let Some(text) = value.as_str() {
        return type_parser::parse(text, ids).map_err(as_corrupt);
    }
    let object = Object::new(value, "data type")?;
    let word = object.text("type")?.to_ascii_uppercase();
    let nullable = !word.contains("NOT NULL");
    let part = |key: &str, ids: &mut FieldIds| type_from_json(object.require(key)?, ids);
    if word.starts_with("ARRAY") {
        Ok(DataType::Array(ArrayType::with_nullable(nullable, part("element", ids)?)))
    } else if word.starts_with("MULTISET") {
        Ok(DataType::Multiset(MultisetType::with_nullable(nullable, part("element", ids)?)))
    } else if word.starts_with("MAP") {
        let key = part("key", ids)?;
        Ok(DataType::Map(MapType::with_nullable(nullable, key, part("value", ids)?)))
    } else if word.starts_with("ROW") {
        let fields = object.list("fields")?.iter().map(|f| field_from_json(f, ids)).collect::<Result<_>>()?;
        Ok(DataType::Row(RowType::with_nullable(nullable, fields)))
    } else if word.starts_with("VECTOR") {
        let length = object.long("length")?;
        type_parser::vector(nullable, part("element", ids)?, length).map_err(as_corrupt)
    } else {
        Err(Error::corrupt(format!("'{word}' is not a nested type, expected ARRAY, MULTISET, MAP, ROW or VECTOR")))
    }
}

fn as_corrupt(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Unsupported => error,
        _ => Error::corrupt(error.message().to_owned()),
    }
}

#[cfg(test)]
mod tests;
