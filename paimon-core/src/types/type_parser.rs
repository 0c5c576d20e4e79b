//! The SQL text of types to types.
//!
//! Invariants: words match in any case; nesting is bounded; no text makes it panic. Source: metadata sheet section 2;
//! `types/DataTypeJsonParser.java`.

use super::data_type::*;
use super::field::{DataField, RowType};
use crate::error::{Error, Result};

/// How deep types may nest.
const MAX_DEPTH: usize = 100;

/// Where ids of fields come from: all from the text, or all counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldIds {
    counted: Option<bool>,
    next: i32,
}

impl FieldIds {
    /// Ids that count up from `next`; those in the text are ignored.
    pub(crate) fn counted_from(next: i32) -> Self {
        Self { counted: Some(true), next }
    }

    /// Ids that must stand in the text.
    pub(crate) fn given() -> Self {
        Self { counted: Some(false), next: 0 }
    }

    /// The id of the next field, in the order of the document.
    ///
    /// # Errors
    /// `Corrupt` if some fields have ids and others not.
    pub(crate) fn take(&mut self, given: Option<i32>) -> Result<i32> {
        match (*self.counted.get_or_insert(given.is_none()), given) {
            (false, Some(id)) => Ok(id),
            (false, None) => Err(Error::corrupt("key 'id' is missing in the field")),
            (true, _) => {
                let id = self.next;
                self.next += 1;
                Ok(id)
            }
        }
    }
}

/// The type of a text.
///
/// # Errors
/// `InvalidInput` if it is none; `Unsupported` naming the type for types that exist but are not built.
pub(crate) fn parse(text: &str, ids: &mut FieldIds) -> Result<DataType> {
    let tokens = tokenize(text)?;
    let mut parser = Parser { text, tokens: &tokens, ids, depth: 0 };
    let data_type = parser.data_type()?;
    match parser.tokens.first() {
        None => Ok(data_type),
        Some(_) => Err(parser.wrong("the end")),
    }
}

/// VECTOR of elements that it may have.
///
/// # Errors
/// `InvalidInput` for other element types and lengths.
pub(crate) fn vector(nullable: bool, element: DataType, length: i64) -> Result<DataType> {
    let fits = matches!(
        element,
        DataType::Boolean(_)
            | DataType::TinyInt(_)
            | DataType::SmallInt(_)
            | DataType::Int(_)
            | DataType::BigInt(_)
            | DataType::Float(_)
            | DataType::Double(_)
    );
    if !fits {
        return Err(Error::invalid_input(format!("VECTOR cannot have elements of type {element}")));
    }
    match u32::try_from(length) {
        Ok(n) if (1..=MAX_LENGTH).contains(&n) => Ok(DataType::Vector(VectorType::with_nullable(nullable, element, n))),
        _ => Err(Error::invalid_input(format!("the length of VECTOR must be at least 1, but is {length}"))),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A bare word: a keyword or a name.
    Word(String),
    /// A name in back quotes.
    Name(String),
    /// Text in single quotes.
    Text(String),
    Number(u32),
    Symbol(char),
}

fn tokenize(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            c if c.is_whitespace() => c.len_utf8(),
            '<' | '>' | '(' | ')' | ',' => {
                tokens.push(Token::Symbol(c));
                1
            }
            '`' | '\'' => {
                let (content, length) = unquote(rest, c).ok_or_else(|| {
                    Error::invalid_input(format!("'{text}' is not a data type: a quote {c} is not closed"))
                })?;
                tokens.push(if c == '`' { Token::Name(content) } else { Token::Text(content) });
                length
            }
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || "<>(),`'".contains(c)).unwrap_or(rest.len());
                let word = &rest[..end];
                tokens.push(match word.parse() {
                    Ok(number) => Token::Number(number),
                    Err(_) => Token::Word(word.to_owned()),
                });
                end
            }
        };
        rest = &rest[length..];
    }
    Ok(tokens)
}

/// The content of the quoted text at the start, and its length with quotes. Doubled quotes stand for one.
fn unquote(text: &str, quote: char) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            content.push(c);
        } else if chars.peek().is_some_and(|(_, next)| *next == quote) {
            chars.next();
            content.push(c);
        } else {
            return Some((content, at + 1));
        }
    }
    None
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    ids: &'a mut FieldIds,
    depth: usize,
}

impl Parser<'_> {
    fn wrong(&self, expected: &str) -> Error {
        let found = match self.tokens.first() {
            None => "the end".to_owned(),
            Some(Token::Word(t) | Token::Name(t) | Token::Text(t)) => format!("'{t}'"),
            Some(Token::Number(n)) => n.to_string(),
            Some(Token::Symbol(c)) => format!("'{c}'"),
        };
        Error::invalid_input(format!("'{}' is not a data type: expected {expected}, found {found}", self.text))
    }

    fn next(&mut self) -> Option<&Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn accept_symbol(&mut self, symbol: char) -> bool {
        let found = self.tokens.first() == Some(&Token::Symbol(symbol));
        if found {
            self.next();
        }
        found
    }

    fn expect_symbol(&mut self, symbol: char) -> Result<()> {
        if self.accept_symbol(symbol) { Ok(()) } else { Err(self.wrong(&format!("'{symbol}'"))) }
    }

    /// Takes these words if they stand next.
    fn accept_words(&mut self, words: &[&str]) -> bool {
        let found = self.tokens.len() >= words.len()
            && words.iter().zip(self.tokens).all(|(w, t)| matches!(t, Token::Word(t) if t.eq_ignore_ascii_case(w)));
        if found {
            self.tokens = &self.tokens[words.len()..];
        }
        found
    }

    fn number(&mut self) -> Result<u32> {
        match self.tokens.first() {
            Some(Token::Number(number)) => {
                let number = *number;
                self.next();
                Ok(number)
            }
            _ => Err(self.wrong("a number")),
        }
    }

    /// `(n)`, or the default without it.
    fn parameter(&mut self, default: u32) -> Result<u32> {
        if !self.accept_symbol('(') {
            return Ok(default);
        }
        let number = self.number()?;
        self.expect_symbol(')')?;
        Ok(number)
    }

    fn nullability(&mut self) -> bool {
        if self.accept_words(&["NOT", "NULL"]) {
            return false;
        }
        self.accept_words(&["NULL"]);
        true
    }

    fn data_type(&mut self) -> Result<DataType> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::invalid_input(format!("data types cannot nest deeper than {MAX_DEPTH} levels")));
        }
        let base = self.base()?;
        let mut data_type = base.with_nullable(self.nullability());
        let mut suffixes = self.depth;
        loop {
            suffixes += 1;
            if suffixes > MAX_DEPTH + 1 {
                return Err(Error::invalid_input(format!("data types cannot nest deeper than {MAX_DEPTH} levels")));
            }
            data_type = if self.accept_words(&["ARRAY"]) {
                DataType::Array(ArrayType::with_nullable(self.nullability(), data_type))
            } else if self.accept_words(&["MULTISET"]) {
                DataType::Multiset(MultisetType::with_nullable(self.nullability(), data_type))
            } else {
                self.depth -= 1;
                return Ok(data_type);
            };
        }
    }

    /// A type without nullability and suffixes.
    fn base(&mut self) -> Result<DataType> {
        let word = match self.tokens.first() {
            Some(Token::Word(word)) => word.to_ascii_uppercase(),
            _ => return Err(self.wrong("the name of a type")),
        };
        self.next();
        Ok(match word.as_str() {
            "BOOLEAN" => DataType::Boolean(BooleanType::new()),
            "TINYINT" => DataType::TinyInt(TinyIntType::new()),
            "SMALLINT" => DataType::SmallInt(SmallIntType::new()),
            "INT" | "INTEGER" => DataType::Int(IntType::new()),
            "BIGINT" => DataType::BigInt(BigIntType::new()),
            "FLOAT" => DataType::Float(FloatType::new()),
            "DOUBLE" => {
                self.accept_words(&["PRECISION"]);
                DataType::Double(DoubleType::new())
            }
            "DECIMAL" | "DEC" | "NUMERIC" => self.decimal()?,
            "CHAR" => DataType::Char(CharType::new(self.parameter(1)?)?),
            "VARCHAR" => DataType::VarChar(VarCharType::new(self.parameter(1)?)?),
            "STRING" => DataType::VarChar(VarCharType::string_type()),
            "BINARY" => DataType::Binary(BinaryType::new(self.parameter(1)?)?),
            "VARBINARY" => DataType::VarBinary(VarBinaryType::new(self.parameter(1)?)?),
            "BYTES" => DataType::VarBinary(VarBinaryType::bytes_type()),
            "DATE" => DataType::Date(DateType::new()),
            "TIME" => {
                let precision = self.parameter(0)?;
                self.accept_words(&["WITHOUT", "TIME", "ZONE"]);
                DataType::Time(TimeType::new(precision)?)
            }
            "TIMESTAMP" => self.timestamp()?,
            "TIMESTAMP_LTZ" => DataType::LocalZonedTimestamp(LocalZonedTimestampType::new(self.parameter(6)?)?),
            "VARIANT" => DataType::Variant(VariantType::new()),
            "BLOB" => DataType::Blob(BlobType::new()),
            "ARRAY" => DataType::Array(ArrayType::new(self.element()?)),
            "MULTISET" => DataType::Multiset(MultisetType::new(self.element()?)),
            "MAP" => {
                self.expect_symbol('<')?;
                let key = self.data_type()?;
                self.expect_symbol(',')?;
                let value = self.data_type()?;
                self.expect_symbol('>')?;
                DataType::Map(MapType::new(key, value))
            }
            "ROW" => DataType::Row(RowType::new(self.fields()?)),
            "VECTOR" => {
                self.expect_symbol('<')?;
                let element = self.data_type()?;
                self.expect_symbol(',')?;
                let length = self.number()?;
                self.expect_symbol('>')?;
                vector(true, element, i64::from(length))?
            }
            "GEOMETRY" | "GEOGRAPHY" | "INTERVAL" => {
                return Err(Error::unsupported(format!("the data type {word} is not supported")));
            }
            _ => return Err(Error::invalid_input(format!("'{}' is not a data type: '{word}' is unknown", self.text))),
        })
    }

    fn decimal(&mut self) -> Result<DataType> {
        let (mut precision, mut scale) = (10, 0);
        if self.accept_symbol('(') {
            precision = self.number()?;
            if self.accept_symbol(',') {
                scale = self.number()?;
            }
            self.expect_symbol(')')?;
        }
        let digits = |n: u32| u8::try_from(n).unwrap_or(u8::MAX);
        Ok(DataType::Decimal(DecimalType::new(digits(precision), digits(scale))?))
    }

    fn timestamp(&mut self) -> Result<DataType> {
        let precision = self.parameter(6)?;
        if self.accept_words(&["WITH", "LOCAL", "TIME", "ZONE"]) {
            return Ok(DataType::LocalZonedTimestamp(LocalZonedTimestampType::new(precision)?));
        }
        if self.accept_words(&["WITH", "TIME", "ZONE"]) {
            return Err(Error::unsupported("the data type TIMESTAMP WITH TIME ZONE is not supported"));
        }
        self.accept_words(&["WITHOUT", "TIME", "ZONE"]);
        Ok(DataType::Timestamp(TimestampType::new(precision)?))
    }

    fn element(&mut self) -> Result<DataType> {
        self.expect_symbol('<')?;
        let element = self.data_type()?;
        self.expect_symbol('>')?;
        Ok(element)
    }

    fn fields(&mut self) -> Result<Vec<DataField>> {
        let close = if self.accept_symbol('(') {
            ')'
        } else {
            self.expect_symbol('<')?;
            '>'
        };
        let mut fields = Vec::new();
        while !self.accept_symbol(close) {
            if !fields.is_empty() {
                self.expect_symbol(',')?;
            }
            fields.push(self.field()?);
        }
        Ok(fields)
    }

    fn field(&mut self) -> Result<DataField> {
        let name = match self.tokens.first() {
            Some(Token::Word(name) | Token::Name(name)) => name.clone(),
            Some(Token::Number(number)) => number.to_string(),
            _ => return Err(self.wrong("the name of a field")),
        };
        self.next();
        let id = self.ids.take(None)?;
        let mut field = DataField::new(id, name, self.data_type()?);
        self.accept_words(&["COMMENT"]);
        if let Some(Token::Text(comment)) = self.tokens.first() {
            field.description = Some(comment.clone());
            self.next();
        }
        Ok(field)
    }
}
