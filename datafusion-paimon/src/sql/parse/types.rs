//! The types of DDL, read from tokens.
//!
//! Invariants: one parser for CREATE, ALTER and nested types; lengths and precisions are checked by the types themselves;
//! what Paimon has no type for is refused by name, with what to use instead. Source: SQL sheet section 3, SQL-040, SQL-041.

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::types::*;
use paimon_core::{Error, Result};

use super::cursor::Cursor;

const DEFAULT_TIMESTAMP_PRECISION: u32 = 6;
/// Greatest number of binary digits of a FLOAT; more make a DOUBLE (SQL standard).
const FLOAT_DIGITS: u32 = 24;
const DOUBLE_DIGITS: u32 = 53;
/// Types nest so deep at most; the parser and everything that walks a type is recursive.
const MAX_TYPE_DEPTH: usize = 64;

impl Cursor {
    /// A type, nullable unless NOT NULL follows.
    ///
    /// # Errors
    /// `Unsupported` naming the type; `InvalidInput` for a length or precision out of bounds, or a syntax error.
    pub(crate) fn data_type(&mut self) -> Result<DataType> {
        let data_type = self.type_at(0)?;
        Ok(data_type.with_nullable(self.nullability()?.unwrap_or(true)))
    }

    /// A type without a suffix that says whether it is nullable.
    pub(crate) fn bare_type(&mut self) -> Result<DataType> {
        self.type_at(0)
    }

    /// `NOT NULL` or `NULL`, if one follows.
    pub(crate) fn nullability(&mut self) -> Result<Option<bool>> {
        if self.eat(&["NOT"]) {
            self.expect("NULL")?;
            return Ok(Some(false));
        }
        Ok(self.eat(&["NULL"]).then_some(true))
    }

    fn type_at(&mut self, depth: usize) -> Result<DataType> {
        if depth > MAX_TYPE_DEPTH {
            return Err(Error::invalid_input(format!("types nest deeper than {MAX_TYPE_DEPTH} levels")));
        }
        let mut data_type = self.type_without_suffix(depth)?;
        while self.eat_token(&Token::LBracket) {
            self.expect_token(&Token::RBracket)?;
            data_type = DataType::Array(ArrayType::new(data_type));
        }
        Ok(data_type)
    }

    fn type_without_suffix(&mut self, depth: usize) -> Result<DataType> {
        let word = match self.peek() {
            Token::Word(word) if word.quote_style.is_none() => word.value.to_ascii_uppercase(),
            _ => return Err(self.expected("a type")),
        };
        let start = self.position();
        self.next();
        let parsed = match word.as_str() {
            "BOOLEAN" | "BOOL" => DataType::Boolean(BooleanType::new()),
            "TINYINT" => DataType::TinyInt(TinyIntType::new()),
            "SMALLINT" | "INT2" => DataType::SmallInt(SmallIntType::new()),
            "INT" | "INTEGER" | "INT4" => DataType::Int(IntType::new()),
            "BIGINT" | "INT8" => DataType::BigInt(BigIntType::new()),
            "FLOAT" => match self.optional_parameter()? {
                None => DataType::Float(FloatType::new()),
                Some(digits @ 1..=DOUBLE_DIGITS) if digits <= FLOAT_DIGITS => DataType::Float(FloatType::new()),
                Some(1..=DOUBLE_DIGITS) => DataType::Double(DoubleType::new()),
                Some(digits) => {
                    return Err(Error::invalid_input(format!(
                        "the precision of FLOAT must be between 1 and {DOUBLE_DIGITS}, but is {digits}"
                    )));
                }
            },
            "REAL" | "FLOAT4" => DataType::Float(FloatType::new()),
            "DOUBLE" => {
                self.eat(&["PRECISION"]);
                DataType::Double(DoubleType::new())
            }
            "FLOAT8" => DataType::Double(DoubleType::new()),
            "DECIMAL" | "DEC" | "NUMERIC" => self.decimal()?,
            "CHAR" | "CHARACTER" if self.eat(&["VARYING"]) => self.varchar()?,
            "CHAR" | "CHARACTER" => DataType::Char(CharType::new(self.optional_parameter()?.unwrap_or(1))?),
            "VARCHAR" | "NVARCHAR" => self.varchar()?,
            "STRING" | "TEXT" | "CLOB" => DataType::VarChar(VarCharType::new(MAX_LENGTH)?),
            "BINARY" if self.eat(&["VARYING"]) => self.varbinary()?,
            "BINARY" => DataType::Binary(BinaryType::new(self.optional_parameter()?.unwrap_or(1))?),
            "VARBINARY" => self.varbinary()?,
            "BYTES" | "BYTEA" => DataType::VarBinary(VarBinaryType::new(MAX_LENGTH)?),
            "DATE" => DataType::Date(DateType::new()),
            "TIME" => self.time()?,
            "TIMESTAMP" => self.timestamp(true)?,
            "DATETIME" | "TIMESTAMP_NTZ" => self.timestamp(false)?,
            "TIMESTAMPTZ" | "TIMESTAMP_LTZ" => {
                let precision = self.optional_parameter()?.unwrap_or(DEFAULT_TIMESTAMP_PRECISION);
                DataType::LocalZonedTimestamp(LocalZonedTimestampType::new(precision)?)
            }
            "ARRAY" => DataType::Array(ArrayType::new(self.element(depth)?)),
            "MULTISET" => DataType::Multiset(MultisetType::new(self.element(depth)?)),
            "MAP" => self.map(depth)?,
            "STRUCT" | "ROW" => self.row(depth)?,
            "VARIANT" => DataType::Variant(VariantType::new()),
            "BLOB" => DataType::Blob(BlobType::new()),
            "VECTOR" => self.vector(depth)?,
            _ => {
                self.rewind(start);
                return Err(self.unknown_type(&word));
            }
        };
        if self.eat(&["UNSIGNED"]) {
            let other = match parsed {
                DataType::BigInt(_) => "DECIMAL(20,0)",
                DataType::Int(_) => "BIGINT",
                DataType::SmallInt(_) => "INT",
                _ => "SMALLINT",
            };
            return Err(Error::unsupported(format!("Unsupported type {word} UNSIGNED, use {other}")));
        }
        Ok(parsed)
    }

    fn unknown_type(&self, word: &str) -> Error {
        let other = match word {
            "UUID" => Some("STRING"),
            "JSON" | "JSONB" | "XML" => Some("STRING"),
            "UINT8" | "UTINYINT" => Some("SMALLINT"),
            "UINT16" | "USMALLINT" => Some("INT"),
            "UINT32" | "UINTEGER" => Some("BIGINT"),
            "UINT64" | "UBIGINT" => Some("DECIMAL(20,0)"),
            "HUGEINT" | "INT128" | "INT256" | "MONEY" => Some("DECIMAL"),
            "BIT" => Some("BOOLEAN or BINARY"),
            "ENUM" | "SET" => Some("STRING"),
            _ => None,
        };
        let hint = other.map(|o| format!(", use {o}")).unwrap_or_default();
        let found = self.clone().identifier().unwrap_or_else(|_| word.to_owned());
        let at = crate::sql::tokens::at(self.location());
        Error::unsupported(format!("Unsupported type {}{hint}{at}", found.to_ascii_uppercase()))
    }

    /// `(n)`, if it follows.
    fn optional_parameter(&mut self) -> Result<Option<u32>> {
        if !self.eat_token(&Token::LParen) {
            return Ok(None);
        }
        let parameter = self.unsigned()?;
        self.expect_token(&Token::RParen)?;
        Ok(Some(parameter))
    }

    fn decimal(&mut self) -> Result<DataType> {
        let (mut precision, mut scale) = (10, 0);
        if self.eat_token(&Token::LParen) {
            precision = self.unsigned()?;
            if self.eat_token(&Token::Comma) {
                scale = self.unsigned()?;
            }
            self.expect_token(&Token::RParen)?;
        }
        let bounds = || {
            Error::invalid_input(format!(
                "DECIMAL({precision},{scale}): precision must be between 1 and 38, scale between 0 and the precision"
            ))
        };
        let (Ok(p), Ok(s)) = (u8::try_from(precision), u8::try_from(scale)) else { return Err(bounds()) };
        DecimalType::new(p, s).map(DataType::Decimal).map_err(|_| bounds())
    }

    fn varchar(&mut self) -> Result<DataType> {
        Ok(DataType::VarChar(VarCharType::new(self.optional_parameter()?.unwrap_or(MAX_LENGTH))?))
    }

    fn varbinary(&mut self) -> Result<DataType> {
        Ok(DataType::VarBinary(VarBinaryType::new(self.optional_parameter()?.unwrap_or(MAX_LENGTH))?))
    }

    fn time(&mut self) -> Result<DataType> {
        let precision = self.optional_parameter()?.unwrap_or(0);
        if self.are(&["WITH", "TIME", "ZONE"]) {
            return Err(Error::unsupported("Unsupported type TIME WITH TIME ZONE"));
        }
        self.eat(&["WITHOUT", "TIME", "ZONE"]);
        Ok(DataType::Time(TimeType::new(precision)?))
    }

    fn timestamp(&mut self, zone_allowed: bool) -> Result<DataType> {
        let precision = self.optional_parameter()?.unwrap_or(DEFAULT_TIMESTAMP_PRECISION);
        if zone_allowed && (self.eat(&["WITH", "LOCAL", "TIME", "ZONE"]) || self.eat(&["WITH", "TIME", "ZONE"])) {
            return Ok(DataType::LocalZonedTimestamp(LocalZonedTimestampType::new(precision)?));
        }
        self.eat(&["WITHOUT", "TIME", "ZONE"]);
        Ok(DataType::Timestamp(TimestampType::new(precision)?))
    }

    /// `<T>` or `(T)`.
    fn element(&mut self, depth: usize) -> Result<DataType> {
        let angle = self.open()?;
        let element = self.nested(depth)?;
        self.close(angle)?;
        Ok(element)
    }

    fn map(&mut self, depth: usize) -> Result<DataType> {
        let angle = self.open()?;
        let key = self.nested(depth)?;
        self.expect_token(&Token::Comma)?;
        let value = self.nested(depth)?;
        self.close(angle)?;
        // Keys are stored NOT NULL, whatever was written.
        Ok(DataType::Map(MapType::new(key.with_nullable(false), value)))
    }

    fn vector(&mut self, depth: usize) -> Result<DataType> {
        let angle = self.open()?;
        let element = self.nested(depth)?;
        self.expect_token(&Token::Comma)?;
        let length = self.unsigned()?;
        self.close(angle)?;
        Ok(DataType::Vector(VectorType::with_nullable(true, element, length)))
    }

    fn row(&mut self, depth: usize) -> Result<DataType> {
        let angle = self.open()?;
        let mut fields: Vec<DataField> = Vec::new();
        loop {
            let name = self.identifier()?;
            self.eat_token(&Token::Colon);
            if fields.iter().any(|f| f.name == name) {
                return Err(Error::invalid_input(format!("field {name} occurs twice in a ROW")));
            }
            let mut field = DataField::new(0, name, self.nested(depth)?);
            if self.eat(&["COMMENT"]) {
                field.description = Some(self.string()?);
            }
            fields.push(field);
            if !self.eat_token(&Token::Comma) {
                break;
            }
        }
        self.close(angle)?;
        Ok(DataType::Row(RowType::new(fields)))
    }

    fn nested(&mut self, depth: usize) -> Result<DataType> {
        let data_type = self.type_at(depth + 1)?;
        Ok(data_type.with_nullable(self.nullability()?.unwrap_or(true)))
    }

    /// Takes `<` or `(`; says whether it was `<`.
    fn open(&mut self) -> Result<bool> {
        if self.eat_token(&Token::Lt) {
            return Ok(true);
        }
        match self.eat_token(&Token::LParen) {
            true => Ok(false),
            false => Err(self.expected("<")),
        }
    }

    fn close(&mut self, angle: bool) -> Result<()> {
        if angle { self.expect_closing_angle() } else { self.expect_token(&Token::RParen) }
    }
}
