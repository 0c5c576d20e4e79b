//! Aggregate functions of columns: their names, options, and the types they take.
//!
//! Invariants: an unknown name is an error, never a default; a function that is known but not built is kept by name and
//! refused only where its column is read. Source: merge-engine sheet section 5.1 and 5.2;
//! `mergetree/compact/aggregate/factory`.

use crate::error::{Error, Result};
use crate::options::{Options, parse_bool, parse_number};
use crate::types::{DataField, DataType};

/// What is done with a null in a nested key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NullKeys {
    /// It is a value like others.
    Merge,
    /// Its row is dropped.
    Ignore,
    /// It is an error.
    Refuse,
}

/// An aggregate function with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Function {
    /// All rows have the same value.
    Key,
    Sum,
    Product,
    /// `bool_or` too.
    Max,
    /// `bool_and` too.
    Min,
    LastValue,
    LastNonNull,
    FirstValue,
    FirstNonNull,
    ListAgg {
        delimiter: String,
        distinct: bool,
    },
    Collect {
        distinct: bool,
    },
    MergeMap,
    /// `time` is the position of the field of the value that decides.
    MergeMapWithKeyTime {
        time: usize,
    },
    /// Positions of fields of the element.
    NestedUpdate {
        keys: Vec<usize>,
        nulls: NullKeys,
        sequence: Vec<usize>,
        limit: usize,
    },
    NestedPartialUpdate {
        keys: Vec<usize>,
        nulls: NullKeys,
    },
    /// `rbm32`.
    Bitmap32,
    /// Known by Java, not built.
    NotBuilt,
}

/// The function of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnFunction {
    /// As it is written in options.
    pub(super) name: String,
    pub(super) function: Function,
    /// Whether retracts leave the column as it is.
    pub(super) ignore_retract: bool,
}

impl ColumnFunction {
    /// A function without options.
    pub(super) fn plain(name: &str, function: Function) -> Self {
        Self { name: name.to_owned(), function, ignore_retract: false }
    }

    /// The function that options give a column, its own or the default one.
    ///
    /// # Errors
    /// `InvalidConfig` naming the option, for unknown functions, wrong parameters and types that do not fit.
    pub(super) fn find(field: &DataField, options: &Options) -> Result<Option<Self>> {
        let own = format!("fields.{}.aggregate-function", field.name);
        let name = options.get(&own).or_else(|| options.get("fields.default-aggregate-function"));
        let Some(name) = name else { return Ok(None) };
        let of_column = OfColumn { field, options };
        let function = of_column.function(name).map_err(|e| e.with_context("option", &own))?;
        Ok(Some(Self { name: name.to_owned(), function, ignore_retract: of_column.switch("ignore-retract")? }))
    }
}

struct OfColumn<'a> {
    field: &'a DataField,
    options: &'a Options,
}

impl OfColumn<'_> {
    fn option(&self, suffix: &str) -> Option<&str> {
        self.options.get(&format!("fields.{}.{suffix}", self.field.name))
    }

    fn switch(&self, suffix: &str) -> Result<bool> {
        match self.option(suffix) {
            Some(text) => parse_bool(text).map_err(|e| e.with_context("option", suffix)),
            None => Ok(false),
        }
    }

    fn function(&self, name: &str) -> Result<Function> {
        let data_type = &self.field.data_type;
        let numeric = matches!(
            data_type,
            DataType::TinyInt(_)
                | DataType::SmallInt(_)
                | DataType::Int(_)
                | DataType::BigInt(_)
                | DataType::Float(_)
                | DataType::Double(_)
                | DataType::Decimal(_)
        );
        let boolean = matches!(data_type, DataType::Boolean(_));
        let bytes = matches!(data_type, DataType::VarBinary(_));
        let (function, fits, expected) = match name {
            "primary-key" => (Function::Key, true, ""),
            "sum" => (Function::Sum, numeric, "numeric"),
            "product" => (Function::Product, numeric, "numeric"),
            "max" => (Function::Max, is_comparable(data_type), "comparable"),
            "min" => (Function::Min, is_comparable(data_type), "comparable"),
            "bool_or" => (Function::Max, boolean, "BOOLEAN"),
            "bool_and" => (Function::Min, boolean, "BOOLEAN"),
            "last_value" => (Function::LastValue, true, ""),
            "last_non_null_value" => (Function::LastNonNull, true, ""),
            "first_value" => (Function::FirstValue, true, ""),
            "first_non_null_value" | "first_not_null_value" => (Function::FirstNonNull, true, ""),
            "listagg" => (self.list_agg()?, is_string(data_type), "STRING"),
            "collect" => {
                let distinct = self.switch("distinct")?;
                (Function::Collect { distinct }, matches!(data_type, DataType::Array(_)), "ARRAY")
            }
            "merge_map" => (Function::MergeMap, matches!(data_type, DataType::Map(_)), "MAP"),
            "merge_map_with_keytime" => return self.keyed_by_time(),
            "nested_update" | "nested_partial_update" => return self.nested(name),
            "rbm32" => (Function::Bitmap32, bytes, "VARBINARY"),
            "theta_sketch" | "hll_sketch" | "rbm64" => (Function::NotBuilt, bytes, "VARBINARY"),
            other => {
                return Err(Error::invalid_config(format!(
                    "Could not find any factory for identifier '{other}' that implements 'FieldAggregatorFactory' in \
                     the classpath."
                )));
            }
        };
        if fits { Ok(function) } else { Err(self.wrong_type(name, expected)) }
    }

    fn wrong_type(&self, name: &str, expected: &str) -> Error {
        Error::invalid_config(format!(
            "Data type for {name} column '{}' must be {expected} but was '{}'.",
            self.field.name,
            self.field.data_type.sql_text()
        ))
    }

    fn list_agg(&self) -> Result<Function> {
        let delimiter = self.option("list-agg-delimiter").unwrap_or(",").to_owned();
        Ok(Function::ListAgg { delimiter, distinct: self.switch("distinct")? })
    }

    fn keyed_by_time(&self) -> Result<Function> {
        let expected = "MAP with ROW values of at least two fields";
        let wrong = || self.wrong_type("merge_map_with_keytime", expected);
        let DataType::Map(map) = &self.field.data_type else { return Err(wrong()) };
        let DataType::Row(row) = map.value_type() else { return Err(wrong()) };
        if row.fields().len() < 2 {
            return Err(wrong());
        }
        let time = match self.option("ts-field") {
            Some(name) => position(row.fields(), name)?,
            None => row.fields().len() - 1,
        };
        Ok(Function::MergeMapWithKeyTime { time })
    }

    fn nested(&self, name: &str) -> Result<Function> {
        let wrong = || self.wrong_type(name, "ARRAY<ROW>");
        let DataType::Array(array) = &self.field.data_type else { return Err(wrong()) };
        let DataType::Row(row) = array.element_type() else { return Err(wrong()) };
        let positions = |suffix: &str| -> Result<Vec<usize>> {
            let names = self.option(suffix).unwrap_or_default().split(',').map(str::trim).filter(|n| !n.is_empty());
            names.map(|n| position(row.fields(), n)).collect()
        };
        let keys = positions("nested-key")?;
        let nulls = match self.option("nested-key-null-strategy") {
            None => NullKeys::Merge,
            Some(text) if text.eq_ignore_ascii_case("merge") => NullKeys::Merge,
            Some(text) if text.eq_ignore_ascii_case("ignore") => NullKeys::Ignore,
            Some(text) if text.eq_ignore_ascii_case("error") => NullKeys::Refuse,
            Some(text) => {
                return Err(Error::invalid_config(format!(
                    "nested-key-null-strategy must be merge, ignore or error, but is '{text}'"
                )));
            }
        };
        if name == "nested_partial_update" {
            if keys.is_empty() {
                return Err(Error::invalid_config("nested_partial_update needs a nested-key"));
            }
            return Ok(Function::NestedPartialUpdate { keys, nulls });
        }
        let limit = match self.option("count-limit") {
            Some(text) => usize::try_from(parse_number::<i32>(text)?).unwrap_or(0),
            None => i32::MAX as usize,
        };
        Ok(Function::NestedUpdate { keys, nulls, sequence: positions("nested-sequence-field")?, limit })
    }
}

fn position(fields: &[DataField], name: &str) -> Result<usize> {
    let found = fields.iter().position(|f| f.name == name);
    found.ok_or_else(|| Error::invalid_config(format!("Field {name} can not be found in the nested row.")))
}

fn is_string(data_type: &DataType) -> bool {
    matches!(data_type, DataType::VarChar(t) if t.length() == i32::MAX as u32)
}

fn is_comparable(data_type: &DataType) -> bool {
    !matches!(
        data_type,
        DataType::Array(_)
            | DataType::Multiset(_)
            | DataType::Map(_)
            | DataType::Row(_)
            | DataType::Variant(_)
            | DataType::Blob(_)
            | DataType::Vector(_)
    )
}
