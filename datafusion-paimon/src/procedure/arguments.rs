//! Arguments of a call: from literals by position or name to typed values by parameter.

use std::collections::BTreeMap;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use paimon_core::meta::local_time;
use paimon_core::{Error, Result};

use super::registry::{Parameter, ParameterType, Procedure};

/// An argument as written.
#[derive(Debug, Clone)]
pub struct Argument {
    /// Name, if it has one.
    pub name: Option<String>,
    /// Value.
    pub value: ScalarValue,
}

impl Argument {
    /// An argument by position.
    pub fn positional(value: ScalarValue) -> Self {
        Self { name: None, value }
    }

    /// An argument by name.
    pub fn named(name: impl Into<String>, value: ScalarValue) -> Self {
        Self { name: Some(name.into()), value }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Options(BTreeMap<String, String>),
    Integer(i64),
    Boolean(bool),
}

/// The arguments that were given, by parameter.
#[derive(Debug, Clone, Default)]
pub struct Arguments(BTreeMap<&'static str, Value>);

impl Arguments {
    pub(super) fn bind(procedure: &Procedure, given: Vec<Argument>) -> Result<Self> {
        let mut bound = BTreeMap::new();
        let mut seen: Vec<&str> = Vec::new();
        let mut named = false;
        for (position, argument) in given.into_iter().enumerate() {
            let parameter = match &argument.name {
                Some(name) => {
                    named = true;
                    by_name(procedure, name)?
                }
                None if named => {
                    return Err(Error::invalid_input(format!(
                        "{procedure:?}: a positional argument follows a named one"
                    )));
                }
                None => procedure.parameters.get(position).ok_or_else(|| {
                    Error::invalid_input(format!(
                        "{procedure:?} takes at most {} arguments: {}",
                        procedure.parameters.len(),
                        known(procedure)
                    ))
                })?,
            };
            if seen.contains(&parameter.name) {
                return Err(Error::invalid_input(format!("{procedure:?}: argument {} is given twice", parameter.name)));
            }
            seen.push(parameter.name);
            if let Some(value) = convert(procedure, parameter, &argument.value)? {
                bound.insert(parameter.name, value);
            }
        }
        if let Some(missing) = procedure.parameters.iter().find(|p| p.required && !bound.contains_key(p.name)) {
            return Err(Error::invalid_input(format!(
                "{procedure:?}: argument {} is missing; known are {}",
                missing.name,
                known(procedure)
            )));
        }
        Ok(Self(bound))
    }

    /// A text that must be there.
    ///
    /// # Errors
    /// `InvalidInput` if it is not.
    pub fn text(&self, name: &str) -> Result<&str> {
        self.optional_text(name).ok_or_else(|| Error::invalid_input(format!("argument {name} is missing")))
    }

    /// A text, if given.
    pub fn optional_text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The options in a map or a text `key=value,key=value`, if given.
    ///
    /// # Errors
    /// `InvalidInput` for a part without `=`, or a key that stands twice.
    pub fn options(&self, name: &str) -> Result<BTreeMap<String, String>> {
        if let Some(Value::Options(options)) = self.0.get(name) {
            return Ok(options.clone());
        }
        let mut options = BTreeMap::new();
        let parts = self.optional_text(name).unwrap_or_default().split(',').filter(|part| !part.trim().is_empty());
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                return Err(Error::invalid_input(format!("argument {name}: expected key=value, found '{part}'")));
            };
            if options.insert(key.trim().to_owned(), value.trim().to_owned()).is_some() {
                return Err(Error::invalid_input(format!("argument {name}: '{}' is given twice", key.trim())));
            }
        }
        Ok(options)
    }

    /// A number or a time in milliseconds, if given.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.0.get(name) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// An integer or a time, which must be given.
    ///
    /// # Errors
    /// `InvalidInput` naming the argument.
    pub fn required_integer(&self, name: &str) -> Result<i64> {
        self.integer(name).ok_or_else(|| Error::invalid_input(format!("argument {name} is missing")))
    }

    /// A boolean; false if not given.
    pub fn boolean(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(Value::Boolean(true)))
    }
}

fn known(procedure: &Procedure) -> String {
    procedure.parameters.iter().filter(|p| p.supported).map(|p| p.name).collect::<Vec<_>>().join(", ")
}

/// An error in the value of an argument.
pub(super) fn named(error: &Error, argument: &str) -> Error {
    Error::new(error.kind(), format!("argument {argument}: {}", error.message()))
}

fn by_name<'a>(procedure: &'a Procedure, name: &str) -> Result<&'a Parameter> {
    procedure.parameters.iter().find(|p| p.is_named(name)).ok_or_else(|| {
        Error::invalid_input(format!("{procedure:?} has no argument {name}; known are {}", known(procedure)))
    })
}

fn convert(procedure: &Procedure, parameter: &Parameter, value: &ScalarValue) -> Result<Option<Value>> {
    if value.is_null() {
        return Ok(None);
    }
    if !parameter.supported {
        let message = format!("argument {} of procedure {} is not supported yet", parameter.name, procedure.name);
        return Err(Error::unsupported(message));
    }
    let text = value.try_as_str().flatten();
    let converted = match (parameter.kind, text) {
        (ParameterType::Options, Some(text)) => Some(Value::Text(text.to_owned())),
        (ParameterType::Options, None) => map_of_texts(value).map(Value::Options),
        (ParameterType::Text, Some(text)) => Some(Value::Text(text.to_owned())),
        (ParameterType::Text, None) => integer(value).map(|n| Value::Text(n.to_string())),
        (ParameterType::Boolean, Some(text)) => match text.to_ascii_lowercase().as_str() {
            "true" => Some(Value::Boolean(true)),
            "false" => Some(Value::Boolean(false)),
            _ => None,
        },
        (ParameterType::Boolean, None) => match value {
            ScalarValue::Boolean(Some(b)) => Some(Value::Boolean(*b)),
            _ => None,
        },
        (ParameterType::Integer, Some(text)) => text.trim().parse().ok().map(Value::Integer),
        (ParameterType::Integer, None) => integer(value).map(Value::Integer),
        (ParameterType::Time, Some(text)) => {
            text.trim().parse().ok().or_else(|| local_time::parse(text).ok()).map(Value::Integer)
        }
        (ParameterType::Time, None) => milliseconds(value).or_else(|| integer(value)).map(Value::Integer),
    };
    converted.map(Some).ok_or_else(|| {
        let expected = match parameter.kind {
            ParameterType::Text => "text",
            ParameterType::Options => "text key=value,key=value or a map of texts",
            ParameterType::Integer => "a whole number",
            ParameterType::Boolean => "true or false",
            ParameterType::Time => "a timestamp, its text or milliseconds since the epoch",
        };
        Error::invalid_input(format!("{procedure:?}: argument {} must be {expected}, found {value}", parameter.name))
    })
}

fn map_of_texts(value: &ScalarValue) -> Option<BTreeMap<String, String>> {
    let ScalarValue::Map(map) = value else { return None };
    let entries = map.value(0);
    let texts = |column: usize| cast(entries.column(column), &DataType::Utf8).ok();
    let (keys, values) = (texts(0)?, texts(1)?);
    let pairs = keys.as_string::<i32>().iter().zip(values.as_string::<i32>());
    pairs.map(|(key, value)| Some((key?.to_owned(), value?.to_owned()))).collect()
}

fn integer(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::Int8(Some(v)) => Some(i64::from(*v)),
        ScalarValue::Int16(Some(v)) => Some(i64::from(*v)),
        ScalarValue::Int32(Some(v)) => Some(i64::from(*v)),
        ScalarValue::Int64(Some(v)) => Some(*v),
        ScalarValue::UInt8(Some(v)) => Some(i64::from(*v)),
        ScalarValue::UInt16(Some(v)) => Some(i64::from(*v)),
        ScalarValue::UInt32(Some(v)) => Some(i64::from(*v)),
        ScalarValue::UInt64(Some(v)) => i64::try_from(*v).ok(),
        _ => None,
    }
}

fn milliseconds(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::TimestampSecond(Some(v), _) => v.checked_mul(1_000),
        ScalarValue::TimestampMillisecond(Some(v), _) => Some(*v),
        ScalarValue::TimestampMicrosecond(Some(v), _) => Some(v.div_euclid(1_000)),
        ScalarValue::TimestampNanosecond(Some(v), _) => Some(v.div_euclid(1_000_000)),
        _ => None,
    }
}
