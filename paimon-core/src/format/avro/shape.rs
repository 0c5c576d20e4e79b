//! The writer's schema as a tree with names.
//!
//! Source: Avro specification 1.11, "Schema Declaration".

use std::collections::HashMap;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::spec::avro::Cursor;

/// How many types a schema may spell out when named types are put in place.
const MAX_TYPES: usize = 100_000;

/// What a number of 64 bits counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Millis,
    Micros,
    Nanos,
}

impl Unit {
    pub(super) fn per_second(self) -> i64 {
        match self {
            Self::Millis => 1_000,
            Self::Micros => 1_000_000,
            Self::Nanos => 1_000_000_000,
        }
    }
}

/// A type of the writer's schema.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    Null,
    Boolean,
    /// A number of 32 or 64 bits, and its unit if it is a time.
    Number(Option<Unit>),
    Float,
    Double,
    /// Text or bytes, and the scale if they are a decimal.
    Bytes(Option<u8>),
    /// So many bytes, and the scale if they are a decimal.
    Fixed(usize, Option<u8>),
    /// Position in a list of names.
    Enum,
    Array(Box<Shape>),
    /// Values by text.
    Map(Box<Shape>),
    Union(Vec<Shape>),
    Record(Vec<(String, Shape)>),
}

impl Shape {
    /// Reads the JSON of a schema.
    ///
    /// # Errors
    /// `Corrupt` if it is no Avro schema.
    pub(super) fn parse(schema: &[u8]) -> Result<Self> {
        let value = crate::json::parse(schema, "Avro schema")?;
        Types { named: HashMap::new(), count: 0 }.shape(&value, "")
    }

    /// Passes over a value.
    pub(super) fn skip(&self, cursor: &mut Cursor<'_>) -> Result<()> {
        match self {
            Self::Null => {}
            Self::Boolean => return cursor.take(1).map(|_| ()),
            Self::Number(_) | Self::Enum => return cursor.raw_long().map(|_| ()),
            Self::Float => return cursor.take(4).map(|_| ()),
            Self::Double => return cursor.take(8).map(|_| ()),
            Self::Bytes(_) => return cursor.raw_bytes().map(|_| ()),
            Self::Fixed(length, _) => return cursor.take(*length).map(|_| ()),
            Self::Array(item) => {
                while let Some(count) = cursor.block()? {
                    (0..count).try_for_each(|_| item.skip(cursor))?;
                }
            }
            Self::Map(value) => {
                while let Some(count) = cursor.block()? {
                    for _ in 0..count {
                        cursor.raw_bytes()?;
                        value.skip(cursor)?;
                    }
                }
            }
            Self::Union(branches) => branch(branches, cursor)?.skip(cursor)?,
            Self::Record(fields) => fields.iter().try_for_each(|(_, shape)| shape.skip(cursor))?,
        }
        Ok(())
    }

    fn size_of_tree(&self) -> usize {
        1 + match self {
            Self::Array(inner) | Self::Map(inner) => inner.size_of_tree(),
            Self::Union(branches) => branches.iter().map(Self::size_of_tree).sum(),
            Self::Record(fields) => fields.iter().map(|(_, shape)| shape.size_of_tree()).sum(),
            _ => 0,
        }
    }
}

/// The branch of a union that comes next.
pub(super) fn branch<'s>(branches: &'s [Shape], cursor: &mut Cursor<'_>) -> Result<&'s Shape> {
    let at = cursor.raw_long()?;
    let branch = usize::try_from(at).ok().and_then(|at| branches.get(at));
    branch.ok_or_else(|| Error::corrupt(format!("an Avro union of {} branches has no branch {at}", branches.len())))
}

struct Types {
    named: HashMap<String, Shape>,
    count: usize,
}

fn wrong(what: impl std::fmt::Display) -> Error {
    Error::corrupt(format!("the Avro schema is wrong: {what}"))
}

impl Types {
    fn shape(&mut self, value: &Value, namespace: &str) -> Result<Shape> {
        self.count += 1;
        if self.count > MAX_TYPES {
            return Err(wrong("it has too many types"));
        }
        match value {
            Value::String(word) => self.word(word, value, namespace),
            Value::Array(branches) => {
                branches.iter().map(|b| self.shape(b, namespace)).collect::<Result<_>>().map(Shape::Union)
            }
            Value::Object(map) => match map.get("type") {
                Some(Value::String(word)) => self.object(word, value, namespace),
                Some(nested) => self.shape(nested, namespace),
                None => Err(wrong("a type is missing")),
            },
            _ => Err(wrong(format!("{value} is no type"))),
        }
    }

    fn word(&mut self, word: &str, value: &Value, namespace: &str) -> Result<Shape> {
        let logical = value.get("logicalType").and_then(Value::as_str).unwrap_or_default();
        Ok(match word {
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "int" | "long" => Shape::Number(unit(logical)),
            "float" => Shape::Float,
            "double" => Shape::Double,
            "bytes" | "string" => Shape::Bytes(scale(value, logical)),
            name => {
                let shape = self.named.get(&full_name(name, namespace)).or_else(|| self.named.get(name)).cloned();
                let shape = shape.ok_or_else(|| wrong(format!("type '{name}' is unknown")))?;
                self.count += shape.size_of_tree();
                shape
            }
        })
    }

    fn object(&mut self, word: &str, value: &Value, namespace: &str) -> Result<Shape> {
        let part = |key: &str| value.get(key).ok_or_else(|| wrong(format!("'{key}' of {word} is missing")));
        let shape = match word {
            "array" => return Ok(Shape::Array(Box::new(self.shape(part("items")?, namespace)?))),
            "map" => return Ok(Shape::Map(Box::new(self.shape(part("values")?, namespace)?))),
            "record" | "error" => return self.record(value, namespace),
            "enum" => Shape::Enum,
            "fixed" => {
                let size = part("size")?.as_u64().and_then(|n| usize::try_from(n).ok());
                let logical = value.get("logicalType").and_then(Value::as_str).unwrap_or_default();
                Shape::Fixed(size.ok_or_else(|| wrong("the size of fixed is no number"))?, scale(value, logical))
            }
            other => return self.word(other, value, namespace),
        };
        let (name, _) = name_of(value, namespace)?;
        self.named.insert(name, shape.clone());
        Ok(shape)
    }

    fn record(&mut self, value: &Value, namespace: &str) -> Result<Shape> {
        let (name, namespace) = name_of(value, namespace)?;
        let fields = value.get("fields").and_then(Value::as_array);
        let fields = fields.ok_or_else(|| wrong(format!("'fields' of record '{name}' is missing")))?;
        let field = |field: &Value| {
            let text = field.get("name").and_then(Value::as_str);
            let text = text.ok_or_else(|| wrong(format!("a field of record '{name}' has no name")))?;
            let data_type = field.get("type").ok_or_else(|| wrong(format!("field '{text}' has no type")))?;
            Ok((text.to_owned(), self.shape(data_type, &namespace)?))
        };
        let shape = Shape::Record(fields.iter().map(field).collect::<Result<_>>()?);
        self.named.insert(name, shape.clone());
        Ok(shape)
    }
}

fn unit(logical: &str) -> Option<Unit> {
    let logical = logical.strip_prefix("local-").unwrap_or(logical);
    Some(match logical {
        "timestamp-millis" | "time-millis" => Unit::Millis,
        "timestamp-micros" | "time-micros" => Unit::Micros,
        "timestamp-nanos" => Unit::Nanos,
        _ => return None,
    })
}

fn scale(value: &Value, logical: &str) -> Option<u8> {
    if logical != "decimal" {
        return None;
    }
    let scale = value.get("scale").map_or(Some(0), Value::as_u64);
    scale.and_then(|scale| u8::try_from(scale).ok())
}

/// The full name of a named type, and the namespace for what is inside.
fn name_of(value: &Value, namespace: &str) -> Result<(String, String)> {
    let name = value.get("name").and_then(Value::as_str).ok_or_else(|| wrong("a named type has no name"))?;
    let namespace = value.get("namespace").and_then(Value::as_str).unwrap_or(namespace);
    let full = full_name(name, namespace);
    let inner = full.rsplit_once('.').map_or("", |(space, _)| space).to_owned();
    Ok((full, inner))
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() { name.to_owned() } else { format!("{namespace}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_types_are_put_in_place() {
        let shape = Shape::parse(
            br#"{"type":"record","name":"r","namespace":"n","fields":[
                {"name":"a","type":{"type":"fixed","name":"f","size":3,"logicalType":"decimal","precision":5,"scale":2}},
                {"name":"b","type":["null","n.f"]},
                {"name":"c","type":{"type":"long","logicalType":"local-timestamp-micros"}}]}"#,
        );
        let Ok(Shape::Record(fields)) = shape else { panic!("{shape:?}") };
        let names: Vec<_> = fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let Shape::Union(branches) = &fields[1].1 else { panic!("{fields:?}") };
        assert!(matches!(branches[..], [Shape::Null, Shape::Fixed(3, Some(2))]), "{branches:?}");
        assert!(matches!(fields[2].1, Shape::Number(Some(Unit::Micros))));
        for wrong in ["7", "{}", r#""text""#, r#"{"type":"record","name":"r"}"#, r#"{"type":"fixed","name":"f"}"#] {
            assert!(Shape::parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
