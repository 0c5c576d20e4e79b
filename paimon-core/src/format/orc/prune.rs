//! Stripes that cannot hold a row that a predicate lets pass.
//!
//! Invariants: unknown keeps. Used are counts of nulls, and the bounds of integers, dates, decimals and text, whose order
//! is that of the format. Not those of floats, which NaN spoils, of timestamps, which depend on zones, and of CHAR, whose
//! blanks are cut off on read. Source: ORC specification, "Column Statistics".

use super::codec::ByteStream;
use super::footer::{Kind, OrcFooter};
use super::wire::{Message, Value};
use crate::error::{Error, Result};
use crate::format::InputFile;
use crate::format::ranges::fetch_one;
use crate::predicate::{ColumnStats, Leaf, Predicate, may_match};
use crate::types::{DataType, Datum};

/// For each stripe whether it must be read.
pub(super) async fn wanted_stripes(
    file: &InputFile,
    footer: &OrcFooter,
    predicate: Option<&Predicate>,
) -> Result<Vec<bool>> {
    let all = vec![true; footer.stripes.len()];
    let Some(predicate) = predicate.filter(|_| !footer.statistics.is_empty()) else { return Ok(all) };
    let stored = fetch_one(file, footer.statistics.clone()).await?;
    let plain = ByteStream::new(stored, footer.compression).read_to_end()?;
    let mut message = Message::new(&plain);
    let mut stripes = Vec::with_capacity(footer.stripes.len());
    while let Some((field, value)) = message.next()? {
        if field == 1 {
            stripes.push(columns(value)?);
        }
    }
    if stripes.len() != footer.stripes.len() {
        return Ok(all);
    }
    let wanted = footer.stripes.iter().zip(&stripes).map(|(info, columns)| {
        let rows =
            i64::try_from(info.rows).map_err(|_| Error::corrupt("a stripe of the ORC file has too many rows"))?;
        Ok(may_match(predicate, rows, &|leaf| statistics(footer, columns, leaf, rows)))
    });
    wanted.collect()
}

/// The statistics of each type of a stripe, not decoded yet.
fn columns(value: Value<'_>) -> Result<Vec<Message<'_>>> {
    let mut columns = Vec::new();
    let mut message = value.message()?;
    while let Some((field, value)) = message.next()? {
        if field == 1 {
            columns.push(value.message()?);
        }
    }
    Ok(columns)
}

fn statistics(footer: &OrcFooter, columns: &[Message<'_>], leaf: &Leaf, rows: i64) -> Option<ColumnStats> {
    let position = footer.column(&leaf.name).ok()??;
    let kind = footer.types.get(position)?.kind;
    let mut message = columns.get(position)?.clone();
    let (mut values, mut min, mut max) = (None, None, None);
    while let Some((field, value)) = message.next().ok()? {
        match (field, kind) {
            (1, _) => values = i64::try_from(value.number().ok()?).ok(),
            (2, Kind::Byte | Kind::Short | Kind::Int | Kind::Long) | (7, Kind::Date) => {
                let (low, high) = bounds(value)?;
                let datum = |v: Value<'_>| integer(v.signed().ok()?, &leaf.data_type);
                (min, max) = (low.and_then(datum), high.and_then(datum));
            }
            (4, Kind::String | Kind::Varchar) if matches!(leaf.data_type, DataType::Char(_) | DataType::VarChar(_)) => {
                let (low, high) = bounds(value)?;
                let datum = |v: Value<'_>| v.text().ok().map(Datum::String);
                (min, max) = (low.and_then(datum), high.and_then(datum));
            }
            (6, Kind::Decimal) => {
                let (low, high) = bounds(value)?;
                let datum = |v: Value<'_>| decimal(&v.text().ok()?);
                (min, max) = (low.and_then(datum), high.and_then(datum));
            }
            _ => {}
        }
    }
    let nulls = values.and_then(|v| rows.checked_sub(v)).filter(|n| *n >= 0);
    Some(ColumnStats { min, max, null_count: nulls })
}

/// The fields of a pair of bounds.
fn bounds(value: Value<'_>) -> Option<(Option<Value<'_>>, Option<Value<'_>>)> {
    let (mut min, mut max) = (None, None);
    let mut message = value.message().ok()?;
    while let Some((field, value)) = message.next().ok()? {
        match field {
            1 => min = Some(value),
            2 => max = Some(value),
            _ => {}
        }
    }
    Some((min, max))
}

fn integer(number: i64, data_type: &DataType) -> Option<Datum> {
    match data_type {
        DataType::TinyInt(_) => i8::try_from(number).ok().map(Datum::TinyInt),
        DataType::SmallInt(_) => i16::try_from(number).ok().map(Datum::SmallInt),
        DataType::Int(_) => i32::try_from(number).ok().map(Datum::Int),
        DataType::BigInt(_) => Some(Datum::BigInt(number)),
        DataType::Date(_) => i32::try_from(number).ok().map(Datum::Date),
        DataType::Time(_) => i32::try_from(number).ok().map(Datum::Time),
        _ => None,
    }
}

/// Plain decimal text, such as `-12.50`.
fn decimal(text: &str) -> Option<Datum> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let unscaled: i128 = format!("{whole}{fraction}").parse().ok()?;
    Some(Datum::Decimal(unscaled, u8::try_from(fraction.len()).ok().filter(|scale| *scale <= 38)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_of_text() {
        assert_eq!(decimal("-12.50"), Some(Datum::Decimal(-1250, 2)));
        assert_eq!(decimal("7"), Some(Datum::Decimal(7, 0)));
        assert_eq!((decimal("1e5"), decimal("")), (None, None));
    }
}
