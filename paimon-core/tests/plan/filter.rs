//! The filters of fixtures: `a = 1 and b in ["x"] || c isnull`.

use paimon_core::predicate::{Function, Predicate, PredicateBuilder};
use paimon_core::types::{DataType, Datum, RowType, Timestamp};
use serde_json::Value;

/// The predicate of a filter over the columns of `row`.
pub(crate) fn parse(text: &str, row: &RowType) -> Predicate {
    let builder = PredicateBuilder::new(row, true);
    Predicate::or(text.split(" || ").map(|alternative| {
        let mut terms = Vec::new();
        let mut rest = alternative.trim();
        while !rest.is_empty() {
            let (term, more) = term(rest, &builder, row);
            terms.push(term);
            rest = more.trim_start().strip_prefix("and ").unwrap_or("").trim_start();
        }
        Predicate::and(terms)
    }))
}

fn term<'a>(text: &'a str, builder: &PredicateBuilder, row: &RowType) -> (Predicate, &'a str) {
    let (column, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').unwrap(),
        None => text.split_once(' ').unwrap(),
    };
    let rest = rest.trim_start();
    let (operator, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let function = match operator {
        "=" => Function::Equal,
        "!=" => Function::NotEqual,
        "<" => Function::LessThan,
        "<=" => Function::LessOrEqual,
        ">" => Function::GreaterThan,
        ">=" => Function::GreaterOrEqual,
        "in" => Function::In,
        "notin" => Function::NotIn,
        "between" => Function::Between,
        "startswith" => Function::StartsWith,
        "endswith" => Function::EndsWith,
        "contains" => Function::Contains,
        "like" => Function::Like,
        "isnull" => Function::IsNull,
        "isnotnull" | "notnull" => Function::IsNotNull,
        other => panic!("operator {other}"),
    };
    if function.arity() == Some(0) {
        return (builder.leaf(column, function, vec![]).unwrap(), rest);
    }
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let value = values.next().unwrap().unwrap();
    let rest = &rest[values.byte_offset()..];
    let data_type = &row.field(column).unwrap_or_else(|| panic!("column {column}")).data_type;
    let values = match value {
        Value::Array(values) => values,
        single => vec![single],
    };
    if values.iter().any(Value::is_null) {
        // `in` finds the others, `notin` nothing.
        let others: Vec<Datum> = values.iter().filter(|v| !v.is_null()).map(|v| literal(v, data_type)).collect();
        let found = match function {
            Function::In => builder.is_in(column, others).unwrap(),
            _ => Predicate::AlwaysFalse,
        };
        return (found, rest);
    }
    let literals = values.iter().map(|v| literal(v, data_type)).collect();
    (builder.leaf(column, function, literals).unwrap(), rest)
}

fn literal(value: &Value, data_type: &DataType) -> Datum {
    let text = || value.as_str().unwrap_or_else(|| panic!("{value} for {data_type}")).to_owned();
    match data_type {
        DataType::Boolean(_) => Datum::Boolean(value.as_bool().unwrap()),
        DataType::TinyInt(_) | DataType::SmallInt(_) | DataType::Int(_) | DataType::BigInt(_) => {
            Datum::BigInt(value.as_i64().unwrap())
        }
        DataType::Float(_) => match value {
            Value::String(name) => Datum::Float(name.parse().unwrap()),
            number => Datum::Float(number.to_string().parse().unwrap()),
        },
        DataType::Double(_) => match value {
            Value::String(name) => Datum::Double(name.parse().unwrap()),
            number => Datum::Double(number.as_f64().unwrap()),
        },
        DataType::Decimal(_) => {
            let text = text();
            let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
            Datum::Decimal(text.replace('.', "").parse().unwrap(), scale as u8)
        }
        DataType::Char(_) | DataType::VarChar(_) => Datum::String(text()),
        DataType::Binary(_) | DataType::VarBinary(_) => {
            let digits = text();
            let digits = digits.strip_prefix("0x").unwrap().as_bytes();
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
            Datum::Bytes(digits.chunks(2).map(byte).collect())
        }
        DataType::Date(_) => {
            let date: chrono::NaiveDate = text().parse().unwrap();
            Datum::Date(date.to_epoch_days())
        }
        DataType::Time(_) => {
            let time: chrono::NaiveTime = text().parse().unwrap();
            let millis = (time - chrono::NaiveTime::MIN).num_milliseconds();
            Datum::Time(millis as i32)
        }
        DataType::Timestamp(_) => Datum::Timestamp(timestamp(&text())),
        DataType::LocalZonedTimestamp(_) => Datum::LocalZonedTimestamp(timestamp(text().trim_end_matches('Z'))),
        other => panic!("literal of type {other}"),
    }
}

fn timestamp(text: &str) -> Timestamp {
    let time = text.parse::<chrono::NaiveDateTime>().unwrap().and_utc();
    let nanos = time.timestamp_subsec_nanos();
    let millis = time.timestamp() * 1_000 + i64::from(nanos / 1_000_000);
    Timestamp { millis, nanos: nanos % 1_000_000 }
}
