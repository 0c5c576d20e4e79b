//! JSON documents of the format: trees that keep the order of keys, and reading that names the key that is wrong.
//!
//! Invariants: integers are exact in 64 bits; a key whose value is null counts as absent; printing has the white space
//! of Java's pretty printer. Source: metadata sheet; `utils/JsonSerdeUtil.java`.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// A document to be printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Json {
    /// Text.
    Text(String),
    /// An integer.
    Number(i64),
    /// A list.
    List(Vec<Json>),
    /// Keys and values in the order of printing.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of texts.
    pub(crate) fn texts<'a>(texts: impl IntoIterator<Item = &'a String>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// An object whose values are texts.
    pub(crate) fn text_map<'a>(entries: impl IntoIterator<Item = (&'a String, &'a String)>) -> Self {
        Self::Object(entries.into_iter().map(|(k, v)| (k.clone(), Self::text(v))).collect())
    }

    /// Prints with line breaks, as Java does.
    pub(crate) fn pretty(&self) -> String {
        let mut out = String::new();
        self.print(&mut out, Some(0));
        out
    }

    /// Prints in one line without blanks.
    pub(crate) fn compact(&self) -> String {
        let mut out = String::new();
        self.print(&mut out, None);
        out
    }

    fn print(&self, out: &mut String, depth: Option<usize>) {
        match self {
            Self::Text(text) => out.push_str(&quoted(text)),
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::List(items) => {
                let blank = if depth.is_some() { " " } else { "" };
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    out.push_str(blank);
                    item.print(out, depth);
                }
                out.push_str(blank);
                out.push(']');
            }
            Self::Object(entries) => print_object(entries, out, depth),
        }
    }
}

fn print_object(entries: &[(String, Json)], out: &mut String, depth: Option<usize>) {
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    out.push('{');
    for (i, (key, value)) in entries.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        if let Some(depth) = depth {
            line(out, depth + 1);
        }
        out.push_str(&quoted(key));
        out.push_str(if depth.is_some() { " : " } else { ":" });
        value.print(out, depth.map(|d| d + 1));
    }
    match depth {
        Some(_) if entries.is_empty() => out.push(' '),
        Some(depth) => line(out, depth),
        None => {}
    }
    out.push('}');
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// An object that was read. `what` names the document in errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Object<'a> {
    map: &'a Map<String, Value>,
    what: &'static str,
}

/// Parses a document.
///
/// # Errors
/// `Corrupt` if the bytes are no JSON.
pub(crate) fn parse(bytes: &[u8], what: &'static str) -> Result<Value> {
    serde_json::from_slice(bytes).map_err(|e| Error::corrupt(format!("{what} is not a JSON document")).with_source(e))
}

impl<'a> Object<'a> {
    /// The value as an object.
    ///
    /// # Errors
    /// `Corrupt` if it is none.
    pub(crate) fn new(value: &'a Value, what: &'static str) -> Result<Self> {
        match value.as_object() {
            Some(map) => Ok(Self { map, what }),
            None => Err(Error::corrupt(format!("{what} must be a JSON object, but is {}", kind_of(value)))),
        }
    }

    fn wrong(&self, key: &str, expected: &str, value: &Value) -> Error {
        Error::corrupt(format!("key '{key}' of the {} must be {expected}, but is {}", self.what, kind_of(value)))
    }

    fn missing(&self, key: &str) -> Error {
        Error::corrupt(format!("key '{key}' is missing in the {}", self.what))
    }

    /// The value of a key; `None` if it is absent or null.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|v| !v.is_null())
    }

    /// The value of a key that must be there.
    ///
    /// # Errors
    /// `Corrupt` if it is absent or null.
    pub(crate) fn require(&self, key: &str) -> Result<&'a Value> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    /// An integer of 64 bits, if there.
    ///
    /// # Errors
    /// `Corrupt` if it is something else.
    pub(crate) fn find_long(&self, key: &str) -> Result<Option<i64>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.as_i64().map(Some).ok_or_else(|| self.wrong(key, "an integer of 64 bits", value))
    }

    /// An integer of 64 bits.
    ///
    /// # Errors
    /// `Corrupt` if it is absent or something else.
    pub(crate) fn long(&self, key: &str) -> Result<i64> {
        self.find_long(key)?.ok_or_else(|| self.missing(key))
    }

    /// An integer of 32 bits, if there.
    ///
    /// # Errors
    /// `Corrupt` if it is something else.
    pub(crate) fn find_int(&self, key: &str) -> Result<Option<i32>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let int = value.as_i64().and_then(|v| i32::try_from(v).ok());
        int.map(Some).ok_or_else(|| self.wrong(key, "an integer of 32 bits", value))
    }

    /// An integer of 32 bits.
    ///
    /// # Errors
    /// `Corrupt` if it is absent or something else.
    pub(crate) fn int(&self, key: &str) -> Result<i32> {
        self.find_int(key)?.ok_or_else(|| self.missing(key))
    }

    /// Text, if there.
    ///
    /// # Errors
    /// `Corrupt` if it is something else.
    pub(crate) fn find_text(&self, key: &str) -> Result<Option<String>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.as_str().map(|t| Some(t.to_owned())).ok_or_else(|| self.wrong(key, "text", value))
    }

    /// Text.
    ///
    /// # Errors
    /// `Corrupt` if it is absent or something else.
    pub(crate) fn text(&self, key: &str) -> Result<String> {
        self.find_text(key)?.ok_or_else(|| self.missing(key))
    }

    /// A list.
    ///
    /// # Errors
    /// `Corrupt` if it is absent or something else.
    pub(crate) fn list(&self, key: &str) -> Result<&'a [Value]> {
        let value = self.require(key)?;
        value.as_array().map(Vec::as_slice).ok_or_else(|| self.wrong(key, "a list", value))
    }

    /// A list of texts; empty if absent.
    ///
    /// # Errors
    /// `Corrupt` if it is something else.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<String>> {
        if self.get(key).is_none() {
            return Ok(Vec::new());
        }
        let text = |v: &Value| v.as_str().map(str::to_owned).ok_or_else(|| self.wrong(key, "a list of texts", v));
        self.list(key)?.iter().map(text).collect()
    }

    /// An object of scalars as text, whatever their JSON type, without those that are null; `None` if absent.
    ///
    /// # Errors
    /// `Corrupt` if it is something else.
    pub(crate) fn find_text_map<M: FromIterator<(String, String)>>(&self, key: &str) -> Result<Option<M>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let Some(map) = value.as_object() else { return Err(self.wrong(key, "an object", value)) };
        let entry = |(k, v): (&String, &Value)| match v {
            Value::Null => None,
            Value::String(text) => Some(Ok((k.clone(), text.clone()))),
            Value::Bool(_) | Value::Number(_) => Some(Ok((k.clone(), v.to_string()))),
            Value::Array(_) | Value::Object(_) => Some(Err(self.wrong(&format!("{key}.{k}"), "text", v))),
        };
        map.iter().filter_map(entry).collect::<Result<M>>().map(Some)
    }
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => format!("the text '{}'", text.chars().take(40).collect::<String>()),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_java_does() {
        let json = Json::Object(vec![
            ("a".into(), Json::Number(i64::MAX)),
            ("b".into(), Json::List(vec![Json::Object(vec![("c \"".into(), Json::text("ü\n"))])])),
            ("d".into(), Json::Object(vec![])),
            ("e".into(), Json::List(vec![])),
            ("f".into(), Json::List(vec![Json::text("x"), Json::Number(-1)])),
        ]);
        let pretty = "{\n  \"a\" : 9223372036854775807,\n  \"b\" : [ {\n    \"c \\\"\" : \"ü\\n\"\n  } ],\n  \
                      \"d\" : { },\n  \"e\" : [ ],\n  \"f\" : [ \"x\", -1 ]\n}";
        assert_eq!(json.pretty(), pretty);
        assert_eq!(json.compact(), r#"{"a":9223372036854775807,"b":[{"c \"":"ü\n"}],"d":{},"e":[],"f":["x",-1]}"#);
    }

    #[test]
    fn errors_name_the_key() {
        let value =
            parse(br#"{"a": 1.5, "b": null, "c": {"x": [1]}, "d": {"n": null, "t": true, "i": 7}}"#, "note").unwrap();
        let object = Object::new(&value, "note").unwrap();
        let cases = [
            (object.long("a").unwrap_err(), "key 'a' of the note must be an integer of 64 bits, but is 1.5"),
            (object.long("b").unwrap_err(), "key 'b' is missing in the note"),
            (object.text("a").unwrap_err(), "key 'a' of the note must be text, but is 1.5"),
            (object.find_text_map::<Vec<_>>("c").unwrap_err(), "key 'c.x' of the note must be text, but is a list"),
            (parse(b"{", "note").unwrap_err(), "note is not a JSON document"),
        ];
        for (error, message) in cases {
            assert_eq!(error.message(), message);
        }
        let map: Vec<(String, String)> = object.find_text_map("d").unwrap().unwrap();
        assert_eq!(map, [("i".to_owned(), "7".to_owned()), ("t".to_owned(), "true".to_owned())]);
    }
}
