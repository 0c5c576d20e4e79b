//! Which types cast into which, for ALTER and for reading files of older schemas.
//!
//! Invariants: a type casts to itself only if the table says so, as in Java; nullability plays no part. Source: schema
//! sheet section 3; `types/DataTypeCasts.java`, `casting/CastExecutors.java`.

use super::data_type::{DataType, MAX_LENGTH};

/// How a cast comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CastKind {
    /// Everywhere. Not always without loss.
    Implicit,
    /// Unless `disable-explicit-type-casting` is set.
    Explicit,
}

/// Targets in the order of the columns of [`RULES`].
const TARGETS: usize = 17;

/// One row per source: `I` implicit, `E` explicit, `-` none.
#[rustfmt::skip]
const RULES: [(&str, &[u8; TARGETS]); 17] = [
    // from          TSIBFDDB CVS BV DTTL
    ("TINYINT",    b"IIIIIIIEEEE------"),
    ("SMALLINT",   b"EIIIIIIEEEE------"),
    ("INT",        b"EEIIIIIEEEE----EE"),
    ("BIGINT",     b"EEEIIIIEEEE----EE"),
    ("FLOAT",      b"EEEEIII-EEE------"),
    ("DOUBLE",     b"EEEEEII-EEE------"),
    ("DECIMAL",    b"EEEEIII-EEE------"),
    ("BOOLEAN",    b"EEEEEEE-EEE------"),
    ("CHAR",       b"EEEEEEEEIIIEEEEEE"),
    ("VARCHAR",    b"EEEEEEEEEIIEEEEEE"),
    ("STRING",     b"EEEEEEEEEIIEEEEEE"),
    ("BINARY",     b"--------EEEII----"),
    ("VARBINARY",  b"--------EEEEI----"),
    ("DATE",       b"----------E----EE"),
    ("TIME",       b"----------E----EE"),
    ("TIMESTAMP",  b"--EE------E--IIII"),
    ("LTZ",        b"--EE------E--EEII"),
];

/// Position in [`RULES`]; `None` for types that have no row.
fn position(data_type: &DataType) -> Option<usize> {
    Some(match data_type {
        DataType::TinyInt(_) => 0,
        DataType::SmallInt(_) => 1,
        DataType::Int(_) => 2,
        DataType::BigInt(_) => 3,
        DataType::Float(_) => 4,
        DataType::Double(_) => 5,
        DataType::Decimal(_) => 6,
        DataType::Boolean(_) => 7,
        DataType::Char(_) => 8,
        DataType::VarChar(t) if t.length() < MAX_LENGTH => 9,
        DataType::VarChar(_) => 10,
        DataType::Binary(_) => 11,
        DataType::VarBinary(_) => 12,
        DataType::Date(_) => 13,
        DataType::Time(_) => 14,
        DataType::Timestamp(_) => 15,
        DataType::LocalZonedTimestamp(_) => 16,
        DataType::Array(_)
        | DataType::Map(_)
        | DataType::Row(_)
        | DataType::Multiset(_)
        | DataType::Variant(_)
        | DataType::Blob(_)
        | DataType::Vector(_) => return None,
    })
}

/// How values of `from` cast to `to`; `None` if they do not.
pub fn cast_kind(from: &DataType, to: &DataType) -> Option<CastKind> {
    let Some(row) = position(from) else {
        let prints = matches!(from, DataType::Array(_) | DataType::Map(_) | DataType::Row(_));
        let is_text = matches!(to, DataType::Char(_) | DataType::VarChar(_));
        return (prints && is_text).then_some(CastKind::Explicit);
    };
    match RULES.get(row)?.1.get(position(to)?)? {
        b'I' => Some(CastKind::Implicit),
        b'E' => Some(CastKind::Explicit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(from: &str, to: &str) -> Option<CastKind> {
        cast_kind(&from.parse().unwrap(), &to.parse().unwrap())
    }

    #[test]
    fn rules_of_the_table() {
        use CastKind::{Explicit, Implicit};
        let cases = [
            ("TINYINT", "BIGINT", Some(Implicit)),
            ("BIGINT", "TINYINT", Some(Explicit)),
            ("TINYINT", "TIMESTAMP(3)", None),
            ("INT", "TIMESTAMP(3)", Some(Explicit)),
            ("DOUBLE", "BOOLEAN", None),
            ("DECIMAL(5, 2)", "FLOAT", Some(Implicit)),
            ("DECIMAL(5, 2)", "DECIMAL(3, 0)", Some(Implicit)),
            ("BOOLEAN", "BOOLEAN", None),
            ("BOOLEAN", "DECIMAL(1, 0)", Some(Explicit)),
            ("VARCHAR(5)", "VARCHAR(2)", Some(Implicit)),
            ("STRING", "CHAR(2)", Some(Explicit)),
            ("STRING", "DATE", Some(Explicit)),
            ("DATE", "VARCHAR(10)", None),
            ("DATE", "STRING", Some(Explicit)),
            ("DATE", "DATE", None),
            ("TIMESTAMP(9)", "TIMESTAMP(0)", Some(Implicit)),
            ("TIMESTAMP(3)", "DATE", Some(Implicit)),
            ("TIMESTAMP_LTZ(3)", "DATE", Some(Explicit)),
            ("VARBINARY(3)", "BINARY(3)", Some(Explicit)),
            ("BINARY(3)", "INT", None),
            ("ARRAY<INT>", "STRING", Some(Explicit)),
            ("ARRAY<INT>", "ARRAY<BIGINT>", None),
            ("VARIANT", "STRING", None),
            ("INT", "VARIANT", None),
        ];
        for (from, to, expected) in cases {
            assert_eq!(kind(from, to), expected, "{from} to {to}");
        }
    }

    #[test]
    fn rows_stand_where_their_types_are_looked_up() {
        for (at, (name, _)) in RULES.iter().enumerate() {
            let text = match *name {
                "LTZ" => "TIMESTAMP_LTZ",
                other => other,
            };
            assert_eq!(position(&text.parse().unwrap()), Some(at), "{name}");
        }
    }
}
