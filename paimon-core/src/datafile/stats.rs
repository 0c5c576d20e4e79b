//! Statistics of columns: collected batch by batch, cut by their mode, laid out as metadata stores them.
//!
//! Invariants: bounds hold for every row that was seen, in the order of [`Datum`] (-0.0 before 0.0, NaN greatest); a text
//! that is cut bounds the whole text. Source: binary-row sheet section 8; `statistics/*StatsCollector.java`. As Java does
//! since 1.4, null values of wide types keep their room in rows of bounds.

#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::types::*;
use arrow::array::{
    Array, ArrayRef, ArrowNumericType, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray, StringArray,
};
use arrow::compute;
use arrow::datatypes::{DataType as ArrowType, TimeUnit};

use crate::error::{Error, Result};
use crate::options::Options;
use crate::row::{BinaryRow, NullLayout};
use crate::spec::{STATS_DENSE_STORE, STATS_KEEP_FIRST_N, STATS_MODE, SimpleStats, StatsMode};
use crate::types::{DataField, DataType, Datum, datum_at};

/// What bounds of keys are cut to.
pub(super) const KEY_STATS_MODE: StatsMode = StatsMode::Truncate(128);

/// The mode of each column of a file at a level.
///
/// # Errors
/// `InvalidConfig` naming the option.
pub(super) fn stats_modes(columns: &[DataField], options: &Options, level: i32) -> Result<Vec<StatsMode>> {
    let table_mode = table_stats_mode(options, level)?;
    let keep = options.value(&STATS_KEEP_FIRST_N)?;
    columns
        .iter()
        .enumerate()
        .map(|(i, column)| {
            let key = format!("fields.{}.stats-mode", column.name);
            if let Some(text) = options.get(&key) {
                let parsed = StatsMode::parse(text);
                return parsed.map_err(|e| Error::invalid_config(format!("option '{key}': {}", e.message())));
            }
            let beyond = usize::try_from(keep).is_ok_and(|keep| i >= keep);
            Ok(if beyond { StatsMode::None } else { table_mode })
        })
        .collect()
}

/// The mode of the table at a level.
///
/// # Errors
/// `InvalidConfig` naming the option.
pub(super) fn table_stats_mode(options: &Options, level: i32) -> Result<StatsMode> {
    const KEY: &str = "metadata.stats-mode.per.level";
    match super::level_options::at_level(options, KEY, level)? {
        Some(text) => {
            StatsMode::parse(&text).map_err(|e| Error::invalid_config(format!("option '{KEY}': {}", e.message())))
        }
        None => options.value(&STATS_MODE),
    }
}

/// Collects the statistics of one column.
#[derive(Debug, Clone)]
struct Collector {
    data_type: DataType,
    mode: StatsMode,
    with_bounds: bool,
    nulls: i64,
    min: Option<Datum>,
    max: Option<Datum>,
}

impl Collector {
    fn update(&mut self, array: &ArrayRef) -> Result<()> {
        self.nulls += i64::try_from(array.null_count()).unwrap_or(i64::MAX);
        if !self.with_bounds {
            return Ok(());
        }
        let Some((min, max)) = ends(array, &self.data_type)? else { return Ok(()) };
        if self.min.as_ref().is_none_or(|known| min < *known) {
            self.min = Some(min);
        }
        if self.max.as_ref().is_none_or(|known| max > *known) {
            self.max = Some(max);
        }
        Ok(())
    }

    fn bounds(&self) -> (Option<Datum>, Option<Datum>) {
        match (&self.min, &self.max, self.mode) {
            (Some(min), Some(max), StatsMode::Truncate(length)) => match raised(max, length) {
                Some(max) => (Some(cut(min, length)), Some(max)),
                None => (None, None),
            },
            (min, max, _) => (min.clone(), max.clone()),
        }
    }
}

/// Collects the statistics of the columns of a file.
#[derive(Debug, Clone)]
pub(super) struct StatsCollector {
    names: Vec<String>,
    columns: Vec<Collector>,
}

impl StatsCollector {
    /// For columns with these modes.
    pub(super) fn new(fields: &[DataField], modes: &[StatsMode]) -> Self {
        let columns = fields.iter().zip(modes).map(|(field, mode)| Collector {
            data_type: field.data_type.clone(),
            mode: if field.data_type.is_nested() { StatsMode::None } else { *mode },
            with_bounds: matches!(mode, StatsMode::Truncate(_) | StatsMode::Full) && has_bounds(&field.data_type),
            nulls: 0,
            min: None,
            max: None,
        });
        Self { names: fields.iter().map(|f| f.name.clone()).collect(), columns: columns.collect() }
    }

    /// Adds rows; one array per column.
    pub(super) fn update(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        for (column, array) in self.columns.iter_mut().zip(arrays) {
            if column.mode != StatsMode::None {
                column.update(array)?;
            }
        }
        Ok(())
    }

    /// Statistics of all columns, unknown where the mode is `none`.
    pub(super) fn all(&self) -> Result<SimpleStats> {
        self.stats(|_| true)
    }

    /// Statistics of the columns that have any, and their names; no names if that is all columns.
    pub(super) fn dense(&self) -> Result<(SimpleStats, Option<Vec<String>>)> {
        let has = |column: &Collector| column.mode != StatsMode::None;
        if self.columns.iter().all(has) {
            return Ok((self.all()?, None));
        }
        let names = self.names.iter().zip(&self.columns).filter(|(_, c)| has(c)).map(|(n, _)| n.clone()).collect();
        Ok((self.stats(has)?, Some(names)))
    }

    /// As options ask for: dense or of all columns.
    pub(super) fn finish(&self, options: &Options) -> Result<(SimpleStats, Option<Vec<String>>)> {
        if options.value(&STATS_DENSE_STORE)? { self.dense() } else { Ok((self.all()?, None)) }
    }

    fn stats(&self, chosen: impl Fn(&Collector) -> bool) -> Result<SimpleStats> {
        let columns: Vec<_> = self.columns.iter().filter(|c| chosen(c)).collect();
        let types: Vec<_> = columns.iter().map(|c| c.data_type.with_nullable(true)).collect();
        let (min, max): (Vec<_>, Vec<_>) = columns.iter().map(|c| c.bounds()).unzip();
        Ok(SimpleStats {
            min_values: BinaryRow::encode(&min, &types, NullLayout::Reserved)?,
            max_values: BinaryRow::encode(&max, &types, NullLayout::Reserved)?,
            null_counts: columns.iter().map(|c| (c.mode != StatsMode::None).then_some(c.nulls)).collect(),
        })
    }
}

/// Types whose bounds Java takes from Parquet.
fn has_bounds(data_type: &DataType) -> bool {
    match data_type {
        DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_) => false,
        DataType::Timestamp(t) => t.precision() <= 6,
        DataType::LocalZonedTimestamp(t) => t.precision() <= 6,
        other => !other.is_nested(),
    }
}

/// The least and the greatest value; `None` if there is none.
fn ends(array: &ArrayRef, data_type: &DataType) -> Result<Option<(Datum, Datum)>> {
    macro_rules! of {
        ($t:ty) => {
            primitive_ends::<$t>(array)
        };
    }
    let two = match array.data_type() {
        ArrowType::Boolean => {
            let array = array.as_boolean();
            compute::min_boolean(array).zip(compute::max_boolean(array)).map(|(min, max)| -> [ArrayRef; 2] {
                [Arc::new(BooleanArray::from(vec![min])), Arc::new(BooleanArray::from(vec![max]))]
            })
        }
        ArrowType::Int8 => of!(Int8Type),
        ArrowType::Int16 => of!(Int16Type),
        ArrowType::Int32 => of!(Int32Type),
        ArrowType::Int64 => of!(Int64Type),
        ArrowType::Float32 => float_ends::<Float32Type>(array),
        ArrowType::Float64 => float_ends::<Float64Type>(array),
        ArrowType::Decimal128(..) => of!(Decimal128Type),
        ArrowType::Date32 => of!(Date32Type),
        ArrowType::Time32(TimeUnit::Millisecond) => of!(Time32MillisecondType),
        ArrowType::Timestamp(TimeUnit::Second, _) => of!(TimestampSecondType),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => of!(TimestampMillisecondType),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => of!(TimestampMicrosecondType),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => of!(TimestampNanosecondType),
        ArrowType::Utf8 => text_ends(array.as_string()),
        _ => None,
    };
    let Some([min, max]) = two else { return Ok(None) };
    Ok(datum_at(&min, 0, data_type)?.zip(datum_at(&max, 0, data_type)?))
}

fn primitive_ends<T: ArrowNumericType>(array: &ArrayRef) -> Option<[ArrayRef; 2]> {
    let array = array.as_primitive::<T>();
    let (min, max) = (compute::min(array)?, compute::max(array)?);
    Some(pair::<T>(array.data_type(), min, max))
}

fn pair<T: ArrowPrimitiveType>(data_type: &ArrowType, min: T::Native, max: T::Native) -> [ArrayRef; 2] {
    let one =
        |value| -> ArrayRef { Arc::new(PrimitiveArray::<T>::from_value(value, 1).with_data_type(data_type.clone())) };
    [one(min), one(max)]
}

/// NaN of either sign is the greatest, and is stored in one form.
fn float_ends<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<[ArrayRef; 2]>
where
    T::Native: Float,
{
    let array = array.as_primitive::<T>();
    let mut ends: Option<(T::Native, T::Native)> = None;
    for value in array.iter().flatten() {
        let value = value.canonical();
        ends = Some(match ends {
            None => (value, value),
            Some((min, max)) => {
                (if value.is_before(min) { value } else { min }, if max.is_before(value) { value } else { max })
            }
        });
    }
    ends.map(|(min, max)| pair::<T>(array.data_type(), min, max))
}

trait Float: Copy {
    fn canonical(self) -> Self;
    fn is_before(self, other: Self) -> bool;
}

macro_rules! floats {
    ($($t:ty),*) => {
        $(impl Float for $t {
            fn canonical(self) -> Self {
                if self.is_nan() { <$t>::NAN } else { self }
            }

            fn is_before(self, other: Self) -> bool {
                self.total_cmp(&other).is_lt()
            }
        })*
    };
}
floats!(f32, f64);

fn text_ends(array: &StringArray) -> Option<[ArrayRef; 2]> {
    let mut values = array.iter().flatten();
    let first = values.next()?;
    let (min, max) = values.fold((first, first), |(min, max), value| (min.min(value), max.max(value)));
    let one = |value: &str| -> ArrayRef { Arc::new(StringArray::from(vec![value])) };
    Some([one(min), one(max)])
}

/// The first characters of a text; other values as they are.
fn cut(value: &Datum, length: usize) -> Datum {
    match value {
        Datum::String(text) => Datum::String(text.chars().take(length).collect()),
        other => other.clone(),
    }
}

/// A text of at most so many characters that is not below `value`; `None` if there is none.
fn raised(value: &Datum, length: usize) -> Option<Datum> {
    let Datum::String(text) = value else { return Some(value.clone()) };
    let mut prefix: Vec<char> = text.chars().take(length).collect();
    if prefix.len() == text.chars().count() {
        return Some(value.clone());
    }
    while let Some(last) = prefix.pop() {
        if let Some(next) = next_char(last) {
            prefix.push(next);
            return Some(Datum::String(prefix.into_iter().collect()));
        }
    }
    None
}

/// The next character; the surrogates are none.
fn next_char(c: char) -> Option<char> {
    match c {
        '\u{d7ff}' => Some('\u{e000}'),
        other => char::from_u32(u32::from(other) + 1),
    }
}

/// Null counts and bounds by name, for tests and messages.
#[cfg(test)]
pub(super) fn by_name(stats: &SimpleStats, fields: &[DataField], cols: Option<&[String]>) -> BTreeMap<String, Bound> {
    let all: Vec<String> = fields.iter().map(|f| f.name.clone()).collect();
    let names = cols.unwrap_or(&all);
    let types: Vec<_> = names.iter().map(|n| fields.iter().find(|f| f.name == *n).unwrap().data_type.clone()).collect();
    let (min, max) = (stats.min_values.decode(&types).unwrap(), stats.max_values.decode(&types).unwrap());
    let bounds = min.into_iter().zip(max).zip(&stats.null_counts).map(|((min, max), n)| (min, max, *n));
    names.iter().cloned().zip(bounds).collect()
}

#[cfg(test)]
pub(super) type Bound = (Option<Datum>, Option<Datum>, Option<i64>);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::types::{ArrayType, DoubleType, IntType, VarCharType, array_from_datums};

    fn text(s: &str) -> Datum {
        Datum::String(s.to_owned())
    }

    #[test]
    fn texts_are_cut_as_java_does() {
        let cases = [
            ("exactly sixteen!", Some("exactly sixteen!")),
            ("exactly sixteen!!", Some("exactly sixteen\"")),
            ("fifteen chars..\u{1f600} more", Some("fifteen chars..\u{1f601}")),
            (&"\u{ffff}".repeat(20), Some(&*format!("{}\u{10000}", "\u{ffff}".repeat(15)))),
            (&"\u{10ffff}".repeat(20), None),
            (&format!("{}\u{7f}~", "a".repeat(15)), Some(&*format!("{}\u{80}", "a".repeat(15)))),
            (&format!("a{}", "\u{10ffff}".repeat(20)), Some("b")),
            (&"\u{d7ff}".repeat(17), Some(&*format!("{}\u{e000}", "\u{d7ff}".repeat(15)))),
        ];
        for (value, expected) in cases {
            assert_eq!(raised(&text(value), 16), expected.map(text), "{value}");
        }
        assert_eq!(cut(&text("fifteen chars..\u{1f600} more"), 16), text("fifteen chars..\u{1f600}"));
    }

    #[test]
    fn modes_come_from_the_column_then_the_level_then_the_table() {
        let fields: Vec<_> = ["a", "b", "c"]
            .iter()
            .enumerate()
            .map(|(i, n)| DataField::new(i as i32, *n, DataType::Int(IntType::new())))
            .collect();
        let options: Options = [
            ("metadata.stats-mode", "counts"),
            ("metadata.stats-mode.per.level", "5:full"),
            ("fields.c.stats-mode", "truncate(4)"),
            ("metadata.stats-keep-first-n-columns", "1"),
        ]
        .into_iter()
        .collect();
        let at = |level| stats_modes(&fields, &options, level).unwrap();
        assert_eq!(at(0), [StatsMode::Counts, StatsMode::None, StatsMode::Truncate(4)]);
        assert_eq!(at(5), [StatsMode::Full, StatsMode::None, StatsMode::Truncate(4)]);
    }

    #[test]
    fn dense_statistics_name_their_columns() {
        let int = DataType::Int(IntType::new());
        let fields = [
            DataField::new(0, "id", int.clone()),
            DataField::new(1, "v", DataType::VarChar(VarCharType::string_type())),
            DataField::new(2, "n", int.clone()),
            DataField::new(3, "l", DataType::Array(ArrayType::new(int.clone()))),
        ];
        let modes = [StatsMode::Full, StatsMode::Counts, StatsMode::None, StatsMode::Full];
        let mut collector = StatsCollector::new(&fields, &modes);
        let ids = array_from_datums(&[Some(Datum::Int(2)), Some(Datum::Int(-1))], &int).unwrap();
        let texts = array_from_datums(&[Some(text("x")), None], &fields[1].data_type).unwrap();
        let lists = arrow::array::new_null_array(&crate::types::arrow_type(&fields[3].data_type), 2);
        collector.update(&[ids.clone(), texts, ids, lists]).unwrap();
        let (stats, cols) = collector.dense().unwrap();
        assert_eq!(cols.as_deref().unwrap(), ["id", "v"]);
        let found = by_name(&stats, &fields, cols.as_deref());
        assert_eq!(found["id"], (Some(Datum::Int(-1)), Some(Datum::Int(2)), Some(0)));
        assert_eq!(found["v"], (None, None, Some(1)));
    }

    proptest! {
        #[test]
        fn bounds_of_doubles_are_those_of_sorted_values(
            batches in prop::collection::vec(prop::collection::vec(
                prop::option::of(prop_oneof![any::<f64>(), Just(-0.0), Just(0.0), Just(-f64::NAN)]), 0..20), 0..5)
        ) {
            let fields = [DataField::new(0, "d", DataType::Double(DoubleType::new()))];
            let mut collector = StatsCollector::new(&fields, &[StatsMode::Truncate(16)]);
            for batch in &batches {
                let array: ArrayRef = Arc::new(arrow::array::Float64Array::from(batch.clone()));
                collector.update(&[array]).unwrap();
            }
            let mut values: Vec<Datum> = batches.iter().flatten().flatten().map(|v| Datum::Double(*v)).collect();
            values.sort();
            let nulls = batches.iter().flatten().filter(|v| v.is_none()).count() as i64;
            let found = by_name(&collector.all().unwrap(), &fields, None);
            prop_assert_eq!(&found["d"], &(values.first().cloned(), values.last().cloned(), Some(nulls)));
        }

        #[test]
        fn cut_texts_bound_all_values(values in prop::collection::vec("[a-c\u{d7fe}\u{d7ff}\u{10fffe}\u{10ffff}]{0,6}", 1..8)) {
            let fields = [DataField::new(0, "s", DataType::VarChar(VarCharType::string_type()))];
            let mut collector = StatsCollector::new(&fields, &[StatsMode::Truncate(3)]);
            let array: ArrayRef = Arc::new(StringArray::from(values.clone()));
            collector.update(&[array]).unwrap();
            let found = by_name(&collector.all().unwrap(), &fields, None);
            let (min, max, _) = &found["s"];
            prop_assert_eq!(min.is_some(), max.is_some());
            for value in values.iter().map(|v| text(v)) {
                prop_assert!(min.as_ref().is_none_or(|m| *m <= value) && max.as_ref().is_none_or(|m| value <= *m));
            }
        }
    }
}
