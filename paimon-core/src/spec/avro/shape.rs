//! The writer's schema as a tree to walk.

use std::collections::HashMap;

use serde_json::Value;

use super::names::FieldName;
use crate::error::{Error, Result};

/// How many types a schema may spell out when named types are put in place.
const MAX_TYPES: usize = 10_000;

/// A field of a record; `name` is `None` if no reader here needs it.
#[derive(Debug, Clone)]
pub(crate) struct ShapeField {
    /// The known name.
    pub(crate) name: Option<FieldName>,
    /// The type.
    pub(crate) shape: Shape,
}

/// A type of the writer's schema. Logical types are what carries them.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    /// No bytes.
    Null,
    /// One byte.
    Boolean,
    /// Zigzag number of 32 or 64 bits, or position in an enumeration.
    Long,
    /// Four bytes.
    Float,
    /// Eight bytes.
    Double,
    /// A length and bytes, or text.
    Bytes,
    /// So many bytes.
    Fixed(usize),
    /// Blocks of items.
    Array(Box<Shape>),
    /// Blocks of texts and values.
    Map(Box<Shape>),
    /// Position of a branch, and its value.
    Union(Vec<Shape>),
    /// Fields in order.
    Record(Vec<ShapeField>),
}

impl Shape {
    /// Reads the JSON of a schema.
    ///
    /// # Errors
    /// `Corrupt` if it is no Avro schema.
    pub(crate) fn parse(schema: &[u8]) -> Result<Self> {
        let value = crate::json::parse(schema, "Avro schema")?;
        let mut types = Types { named: HashMap::new(), count: 0 };
        types.shape(&value, "")
    }
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
            Value::String(word) => self.word(word, namespace),
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

    fn word(&mut self, word: &str, namespace: &str) -> Result<Shape> {
        Ok(match word {
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "int" | "long" => Shape::Long,
            "float" => Shape::Float,
            "double" => Shape::Double,
            "bytes" | "string" => Shape::Bytes,
            name => {
                let shape = self.named.get(&full_name(name, namespace)).or_else(|| self.named.get(name)).cloned();
                let shape = shape.ok_or_else(|| wrong(format!("type '{name}' is unknown")))?;
                self.count += size_of_tree(&shape);
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
            "enum" => Shape::Long,
            "fixed" => {
                let size = part("size")?.as_u64().and_then(|n| usize::try_from(n).ok());
                Shape::Fixed(size.ok_or_else(|| wrong("the size of fixed is no number"))?)
            }
            other => return self.word(other, namespace),
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
            Ok(ShapeField { name: FieldName::of(text), shape: self.shape(data_type, &namespace)? })
        };
        let shape = Shape::Record(fields.iter().map(field).collect::<Result<_>>()?);
        self.named.insert(name, shape.clone());
        Ok(shape)
    }
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

fn size_of_tree(shape: &Shape) -> usize {
    1 + match shape {
        Shape::Array(inner) | Shape::Map(inner) => size_of_tree(inner),
        Shape::Union(branches) => branches.iter().map(size_of_tree).sum(),
        Shape::Record(fields) => fields.iter().map(|f| size_of_tree(&f.shape)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_types_are_put_in_place() {
        let shape = Shape::parse(
            br#"{"type":"record","name":"r","namespace":"n","fields":[
                {"name":"_KIND","type":{"type":"fixed","name":"f","size":3}},
                {"name":"x","type":["null","n.f"]},
                {"name":"_LEVEL","type":{"type":{"type":"enum","name":"e","symbols":["A"]}}},
                {"name":"_BUCKET","type":"f"}]}"#,
        );
        let text = format!("{:?}", shape.unwrap());
        assert!(text.contains("Some(Kind), shape: Fixed(3)") && text.contains("Union([Null, Fixed(3)])"), "{text}");
        assert!(text.contains("Some(Bucket), shape: Fixed(3)") && text.contains("Some(Level), shape: Long"), "{text}");
    }

    #[test]
    fn wrong_schemas_are_corrupt() {
        let doubled = |i: usize| {
            format!(
                r#"{{"name":"x","type":{{"type":"record","name":"r{i}","fields":[{{"name":"a","type":"r{0}"}},{{"name":"b","type":"r{0}"}}]}}}}"#,
                i - 1
            )
        };
        let fields: Vec<String> = (1..40).map(doubled).collect();
        let bomb = format!(
            r#"{{"type":"record","name":"t","fields":[{{"name":"x","type":{{"type":"fixed","name":"r0","size":1}}}},{}]}}"#,
            fields.join(",")
        );
        let recursive = r#"{"type":"record","name":"r","fields":[{"name":"next","type":["null","r"]}]}"#;
        for schema in ["", "{}", "7", r#""text""#, r#"{"type":"record","name":"r"}"#, recursive, &bomb] {
            assert_eq!(
                Shape::parse(schema.as_bytes()).unwrap_err().kind(),
                crate::error::ErrorKind::Corrupt,
                "{schema}"
            );
        }
    }
}
