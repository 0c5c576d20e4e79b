//! The data types of the format, each with its parameters and nullability.
//!
//! Invariants: lengths, precisions and scales are within the bounds of the specification.
//! Source: specification chapter "Data Types"; `types/DataType.java` and its subclasses.

use super::field::RowType;
use crate::error::{Error, Result};

macro_rules! plain_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub struct $name { nullable: bool }

            impl $name {
                /// The nullable type.
                pub fn new() -> Self { Self { nullable: true } }
                /// The type with this nullability.
                pub fn with_nullable(nullable: bool) -> Self { Self { nullable } }
                /// Whether values may be null.
                pub fn is_nullable(&self) -> bool { self.nullable }
            }

            impl Default for $name {
                fn default() -> Self { Self::new() }
            }
        )*
    };
}

plain_types! {
    /// BOOLEAN.
    BooleanType;
    /// TINYINT, 8 bits.
    TinyIntType;
    /// SMALLINT, 16 bits.
    SmallIntType;
    /// INT, 32 bits.
    IntType;
    /// BIGINT, 64 bits.
    BigIntType;
    /// FLOAT, 32 bits.
    FloatType;
    /// DOUBLE, 64 bits.
    DoubleType;
    /// DATE, days since the epoch.
    DateType;
    /// VARIANT, semi-structured.
    VariantType;
    /// BLOB, large binary.
    BlobType;
}

macro_rules! sized_types {
    ($($(#[$doc:meta])* $name:ident, $what:literal, $min:expr, $max:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub struct $name { nullable: bool, size: u32 }

            impl $name {
                /// The nullable type with this parameter.
                ///
                /// # Errors
                /// `InvalidInput` outside the bounds of the specification.
                pub fn new(size: u32) -> Result<Self> { Self::with_nullable(true, size) }

                /// The type with this nullability and parameter.
                ///
                /// # Errors
                /// `InvalidInput` outside the bounds of the specification.
                pub fn with_nullable(nullable: bool, size: u32) -> Result<Self> {
                    let bounds: std::ops::RangeInclusive<u32> = $min..=$max;
                    if !bounds.contains(&size) {
                        return Err(Error::invalid_input(format!(
                            concat!($what, " must be between {} and {}, but is {}"), $min, $max, size
                        )));
                    }
                    Ok(Self { nullable, size })
                }

                /// Whether values may be null.
                pub fn is_nullable(&self) -> bool { self.nullable }
            }
        )*
    };
}

/// The greatest length of a character or binary type; VARCHAR and VARBINARY of this length are STRING and BYTES.
pub const MAX_LENGTH: u32 = 2_147_483_647;

sized_types! {
    /// CHAR(n), n characters.
    CharType, "the length of CHAR", 1, MAX_LENGTH;
    /// VARCHAR(n), at most n characters; STRING is the longest.
    VarCharType, "the length of VARCHAR", 1, MAX_LENGTH;
    /// BINARY(n), n bytes.
    BinaryType, "the length of BINARY", 1, MAX_LENGTH;
    /// VARBINARY(n), at most n bytes; BYTES is the longest.
    VarBinaryType, "the length of VARBINARY", 1, MAX_LENGTH;
    /// TIME(p), milliseconds of the day.
    TimeType, "the precision of TIME", 0, 9;
    /// TIMESTAMP(p), without time zone.
    TimestampType, "the precision of TIMESTAMP", 0, 9;
    /// TIMESTAMP(p) WITH LOCAL TIME ZONE, an instant.
    LocalZonedTimestampType, "the precision of TIMESTAMP WITH LOCAL TIME ZONE", 0, 9;
}

macro_rules! accessor {
    ($accessor:ident, $doc:literal, $($name:ident),*) => {
        $(impl $name {
            #[doc = $doc]
            pub fn $accessor(&self) -> u32 { self.size }
        })*
    };
}
accessor!(length, "The length in characters or bytes.", CharType, VarCharType, BinaryType, VarBinaryType);
accessor!(
    precision,
    "The number of digits of the fraction of a second.",
    TimeType,
    TimestampType,
    LocalZonedTimestampType
);

impl VarCharType {
    /// STRING.
    pub fn string_type() -> Self {
        Self { nullable: true, size: MAX_LENGTH }
    }
}

impl VarBinaryType {
    /// BYTES.
    pub fn bytes_type() -> Self {
        Self { nullable: true, size: MAX_LENGTH }
    }
}

/// DECIMAL(precision, scale).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DecimalType {
    nullable: bool,
    precision: u8,
    scale: u8,
}

impl DecimalType {
    /// The nullable type with this precision (1 to 38) and scale (0 to precision).
    ///
    /// # Errors
    /// `InvalidInput` outside these bounds.
    pub fn new(precision: u8, scale: u8) -> Result<Self> {
        Self::with_nullable(true, precision, scale)
    }

    /// The type with this nullability.
    ///
    /// # Errors
    /// As [`DecimalType::new`].
    pub fn with_nullable(nullable: bool, precision: u8, scale: u8) -> Result<Self> {
        if !(1..=38).contains(&precision) {
            return Err(Error::invalid_input(format!(
                "the precision of DECIMAL must be between 1 and 38, but is {precision}"
            )));
        }
        if scale > precision {
            return Err(Error::invalid_input(format!(
                "the scale of DECIMAL must be between 0 and {precision}, but is {scale}"
            )));
        }
        Ok(Self { nullable, precision, scale })
    }

    /// Digits in all.
    pub fn precision(&self) -> u8 {
        self.precision
    }

    /// Digits after the point.
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// Whether values may be null.
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }
}

macro_rules! element_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Eq, Hash)]
            pub struct $name { nullable: bool, element: Box<DataType> }

            impl $name {
                /// The nullable type of these elements.
                pub fn new(element: DataType) -> Self { Self::with_nullable(true, element) }
                /// The type with this nullability.
                pub fn with_nullable(nullable: bool, element: DataType) -> Self {
                    Self { nullable, element: Box::new(element) }
                }
                /// The type of the elements.
                pub fn element_type(&self) -> &DataType { &self.element }
                /// Whether values may be null.
                pub fn is_nullable(&self) -> bool { self.nullable }
            }
        )*
    };
}

element_types! {
    /// ARRAY of elements.
    ArrayType;
    /// MULTISET: elements with their counts.
    MultisetType;
}

/// MAP from keys to values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MapType {
    nullable: bool,
    key: Box<DataType>,
    value: Box<DataType>,
}

impl MapType {
    /// The nullable type of these keys and values.
    pub fn new(key: DataType, value: DataType) -> Self {
        Self::with_nullable(true, key, value)
    }

    /// The type with this nullability.
    pub fn with_nullable(nullable: bool, key: DataType, value: DataType) -> Self {
        Self { nullable, key: Box::new(key), value: Box::new(value) }
    }

    /// The type of the keys.
    pub fn key_type(&self) -> &DataType {
        &self.key
    }

    /// The type of the values.
    pub fn value_type(&self) -> &DataType {
        &self.value
    }

    /// Whether values may be null.
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }
}

/// VECTOR of a fixed number of elements.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VectorType {
    nullable: bool,
    element: Box<DataType>,
    length: u32,
}

impl VectorType {
    /// The type with this nullability, element type and length.
    pub fn with_nullable(nullable: bool, element: DataType, length: u32) -> Self {
        Self { nullable, element: Box::new(element), length }
    }

    /// The type of the elements.
    pub fn element_type(&self) -> &DataType {
        &self.element
    }

    /// The number of elements.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Whether values may be null.
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }
}

/// A data type of the format.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DataType {
    /// BOOLEAN.
    Boolean(BooleanType),
    /// TINYINT.
    TinyInt(TinyIntType),
    /// SMALLINT.
    SmallInt(SmallIntType),
    /// INT.
    Int(IntType),
    /// BIGINT.
    BigInt(BigIntType),
    /// FLOAT.
    Float(FloatType),
    /// DOUBLE.
    Double(DoubleType),
    /// DECIMAL.
    Decimal(DecimalType),
    /// CHAR.
    Char(CharType),
    /// VARCHAR and STRING.
    VarChar(VarCharType),
    /// BINARY.
    Binary(BinaryType),
    /// VARBINARY and BYTES.
    VarBinary(VarBinaryType),
    /// DATE.
    Date(DateType),
    /// TIME.
    Time(TimeType),
    /// TIMESTAMP.
    Timestamp(TimestampType),
    /// TIMESTAMP WITH LOCAL TIME ZONE.
    LocalZonedTimestamp(LocalZonedTimestampType),
    /// ARRAY.
    Array(ArrayType),
    /// MULTISET.
    Multiset(MultisetType),
    /// MAP.
    Map(MapType),
    /// ROW.
    Row(RowType),
    /// VARIANT.
    Variant(VariantType),
    /// BLOB.
    Blob(BlobType),
    /// VECTOR.
    Vector(VectorType),
}

macro_rules! each {
    ($self:expr, $t:ident => $body:expr) => {
        match $self {
            DataType::Boolean($t) => $body,
            DataType::TinyInt($t) => $body,
            DataType::SmallInt($t) => $body,
            DataType::Int($t) => $body,
            DataType::BigInt($t) => $body,
            DataType::Float($t) => $body,
            DataType::Double($t) => $body,
            DataType::Decimal($t) => $body,
            DataType::Char($t) => $body,
            DataType::VarChar($t) => $body,
            DataType::Binary($t) => $body,
            DataType::VarBinary($t) => $body,
            DataType::Date($t) => $body,
            DataType::Time($t) => $body,
            DataType::Timestamp($t) => $body,
            DataType::LocalZonedTimestamp($t) => $body,
            DataType::Array($t) => $body,
            DataType::Multiset($t) => $body,
            DataType::Map($t) => $body,
            DataType::Row($t) => $body,
            DataType::Variant($t) => $body,
            DataType::Blob($t) => $body,
            DataType::Vector($t) => $body,
        }
    };
}

impl DataType {
    /// Whether values may be null.
    pub fn is_nullable(&self) -> bool {
        each!(self, t => t.is_nullable())
    }

    /// The same type with this nullability.
    #[must_use]
    pub fn with_nullable(&self, nullable: bool) -> Self {
        let mut copy = self.clone();
        match &mut copy {
            Self::Row(t) => *t = RowType::with_nullable(nullable, t.fields().to_vec()),
            Self::Boolean(t) => t.nullable = nullable,
            Self::TinyInt(t) => t.nullable = nullable,
            Self::SmallInt(t) => t.nullable = nullable,
            Self::Int(t) => t.nullable = nullable,
            Self::BigInt(t) => t.nullable = nullable,
            Self::Float(t) => t.nullable = nullable,
            Self::Double(t) => t.nullable = nullable,
            Self::Decimal(t) => t.nullable = nullable,
            Self::Char(t) => t.nullable = nullable,
            Self::VarChar(t) => t.nullable = nullable,
            Self::Binary(t) => t.nullable = nullable,
            Self::VarBinary(t) => t.nullable = nullable,
            Self::Date(t) => t.nullable = nullable,
            Self::Time(t) => t.nullable = nullable,
            Self::Timestamp(t) => t.nullable = nullable,
            Self::LocalZonedTimestamp(t) => t.nullable = nullable,
            Self::Array(t) => t.nullable = nullable,
            Self::Multiset(t) => t.nullable = nullable,
            Self::Map(t) => t.nullable = nullable,
            Self::Variant(t) => t.nullable = nullable,
            Self::Blob(t) => t.nullable = nullable,
            Self::Vector(t) => t.nullable = nullable,
        }
        copy
    }

    /// Whether both are the same type, whatever their own nullability.
    pub fn equals_ignoring_nullability(&self, other: &Self) -> bool {
        self.is_nullable() == other.is_nullable() && self == other
            || self.with_nullable(true) == other.with_nullable(true)
    }

    /// Whether values have parts: ARRAY, MULTISET, MAP, ROW, VECTOR and VARIANT.
    pub fn is_nested(&self) -> bool {
        matches!(
            self,
            Self::Array(_) | Self::Multiset(_) | Self::Map(_) | Self::Row(_) | Self::Vector(_) | Self::Variant(_)
        )
    }
}
