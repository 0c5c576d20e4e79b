//! Predicates in dictionary form to predicates of the table format; literals by the declared type of their column.

use paimon_core::meta::named_value;
use paimon_core::predicate::{Function, Leaf, Predicate};
use paimon_core::types::{DataField, DataType, Datum, RowType, Timestamp};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDate, PyDateTime, PyDict, PyFloat, PyInt, PyList, PyString, PyTime, PyTuple,
};

use crate::errors::raise;
use crate::number::without_numpy;

/// How deep trees may nest.
const MAX_DEPTH: usize = 1_000;

/// Converts a predicate over the columns of `row`.
pub(crate) fn from_py(predicate: &Bound<'_, PyAny>, row: &RowType, case_sensitive: bool) -> PyResult<Predicate> {
    convert(predicate, row, case_sensitive, 0)
}

fn invalid(py: Python<'_>, message: impl AsRef<str>) -> PyErr {
    raise(py, "PaimonValueError", message.as_ref())
}

/// A predicate as a dict, and its method.
#[inline(never)]
fn opened<'a, 'py>(predicate: &'a Bound<'py, PyAny>) -> PyResult<(&'a Bound<'py, PyDict>, String)> {
    let py = predicate.py();
    let Ok(dict) = predicate.cast::<PyDict>() else {
        let found = predicate.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a predicate is a dict, found {found}")));
    };
    match dict.get_item("method")? {
        Some(method) => {
            let method = method.extract().map_err(|_| invalid(py, "the 'method' of a predicate must be a string"))?;
            Ok((dict, method))
        }
        None => Err(invalid(py, "a predicate needs the key 'method'")),
    }
}

fn convert(predicate: &Bound<'_, PyAny>, row: &RowType, case_sensitive: bool, depth: usize) -> PyResult<Predicate> {
    if depth > MAX_DEPTH {
        return Err(invalid(predicate.py(), format!("predicates may nest {MAX_DEPTH} levels deep")));
    }
    let (dict, method) = opened(predicate)?;
    if method != "and" && method != "or" {
        return leaf(dict, &method, row, case_sensitive);
    }
    let mut children = Vec::new();
    for child in children_of(dict, &method)? {
        children.push(convert(&child, row, case_sensitive, depth + 1)?);
    }
    Ok(if method == "and" { Predicate::And(children) } else { Predicate::Or(children) })
}

/// The children of a compound predicate.
#[inline(never)]
fn children_of<'py>(dict: &Bound<'py, PyDict>, method: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = dict.py();
    check_keys(dict, &["method", "children"])?;
    let children =
        dict.get_item("children")?.ok_or_else(|| invalid(py, format!("'{method}' needs the key 'children'")))?;
    let children = sequence(&children, "children")?;
    if children.is_empty() {
        return Err(invalid(py, format!("'{method}' needs at least one child")));
    }
    Ok(children)
}

/// A comparison of one column. Apart from [`convert`], whose frames stand on the stack once per level.
#[inline(never)]
fn leaf(dict: &Bound<'_, PyDict>, method: &str, row: &RowType, case_sensitive: bool) -> PyResult<Predicate> {
    let py = dict.py();
    let function = function_of(py, method)?;
    check_keys(dict, &["method", "field", "literals"])?;
    let name: String = match dict.get_item("field")? {
        Some(field) => field.extract().map_err(|_| invalid(py, "the 'field' of a predicate must be a string"))?,
        None => return Err(invalid(py, format!("'{method}' needs the key 'field'"))),
    };
    let field = find_field(py, row, &name, case_sensitive)?;
    let literals = match dict.get_item("literals")? {
        Some(literals) if !literals.is_none() => sequence(&literals, "literals")?,
        _ => Vec::new(),
    };
    check_arity(py, method, function, literals.len())?;
    if !literals.is_empty() && field.data_type.is_nested() {
        return Err(raise(
            py,
            "UnsupportedError",
            &format!("literals of column {name}, which is nested, are not supported"),
        ));
    }
    let text_only = matches!(function, Function::StartsWith | Function::EndsWith | Function::Contains | Function::Like);
    if text_only && !matches!(field.data_type, DataType::Char(_) | DataType::VarChar(_)) {
        return Err(invalid(py, format!("'{method}' needs a text column, but {name} is {}", field.data_type)));
    }
    let literals = literals.iter().map(|literal| literal_of(literal, field)).collect::<PyResult<Vec<_>>>()?;
    Ok(leaf_of(function, field, literals))
}

/// The leaf with these literals. Of one between two values of the column the nearest value takes the place where order counts;
/// it equals nothing.
fn leaf_of(function: Function, field: &DataField, literals: Vec<Literal>) -> Predicate {
    let leaf = |function, literals| {
        Predicate::Leaf(Leaf {
            field_id: field.id,
            name: field.name.clone(),
            data_type: field.data_type.clone(),
            function,
            literals,
        })
    };
    let nothing = || Predicate::AlwaysFalse;
    let everything = || leaf(Function::IsNotNull, Vec::new());
    match (function, literals.as_slice()) {
        (Function::In | Function::NotIn, _) => {
            let exact: Vec<Datum> = literals.into_iter().filter_map(Literal::exact).collect();
            match (function, exact.is_empty()) {
                (_, false) => leaf(function, exact),
                (Function::In, true) => nothing(),
                (_, true) => everything(),
            }
        }
        (Function::Between | Function::NotBetween, [low, high]) => match (low.at_least(), high.at_most()) {
            (Some(low), Some(high)) => leaf(function, vec![low, high]),
            _ if function == Function::Between => nothing(),
            _ => everything(),
        },
        (_, [Literal::Between { below, above }]) => match function {
            Function::NotEqual => everything(),
            Function::LessThan | Function::LessOrEqual => {
                below.clone().map_or_else(nothing, |value| leaf(Function::LessOrEqual, vec![value]))
            }
            Function::GreaterThan | Function::GreaterOrEqual => {
                above.clone().map_or_else(nothing, |value| leaf(Function::GreaterOrEqual, vec![value]))
            }
            _ => nothing(),
        },
        _ => leaf(function, literals.into_iter().filter_map(Literal::exact).collect()),
    }
}

fn check_keys(dict: &Bound<'_, PyDict>, known: &[&str]) -> PyResult<()> {
    for key in dict.keys() {
        let text: String = key.extract().map_err(|_| invalid(dict.py(), "keys of a predicate are strings"))?;
        if !known.contains(&text.as_str()) {
            return Err(invalid(
                dict.py(),
                format!("unknown key '{text}' in a predicate, expected {}", known.join(", ")),
            ));
        }
    }
    Ok(())
}

fn sequence<'py>(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return object.try_iter()?.collect();
    }
    Err(invalid(object.py(), format!("'{what}' of a predicate must be a list")))
}

fn function_of(py: Python<'_>, method: &str) -> PyResult<Function> {
    Ok(match method {
        "equal" => Function::Equal,
        "notEqual" => Function::NotEqual,
        "lessThan" => Function::LessThan,
        "lessOrEqual" => Function::LessOrEqual,
        "greaterThan" => Function::GreaterThan,
        "greaterOrEqual" => Function::GreaterOrEqual,
        "isNull" => Function::IsNull,
        "isNotNull" => Function::IsNotNull,
        "in" => Function::In,
        "notIn" => Function::NotIn,
        "startsWith" => Function::StartsWith,
        "endsWith" => Function::EndsWith,
        "contains" => Function::Contains,
        "like" => Function::Like,
        "between" => Function::Between,
        "notBetween" => Function::NotBetween,
        other => {
            return Err(raise(py, "UnsupportedError", &format!("the predicate method '{other}' is not supported")));
        }
    })
}

fn check_arity(py: Python<'_>, method: &str, function: Function, found: usize) -> PyResult<()> {
    let (fits, expected) = match function {
        Function::IsNull | Function::IsNotNull => (found == 0, "no literal"),
        Function::In | Function::NotIn => (found > 0, "at least one literal"),
        Function::Between | Function::NotBetween => (found == 2, "two literals"),
        _ => (found == 1, "one literal"),
    };
    if fits { Ok(()) } else { Err(invalid(py, format!("'{method}' needs {expected}, found {found}"))) }
}

fn find_field<'a>(py: Python<'_>, row: &'a RowType, name: &str, case_sensitive: bool) -> PyResult<&'a DataField> {
    if case_sensitive {
        if let Some(field) = row.field(name) {
            return Ok(field);
        }
        if let Some((parent, _)) = name.split_once('.')
            && row.field(parent).is_some_and(|f| f.data_type.is_nested())
        {
            return Err(raise(
                py,
                "UnsupportedError",
                &format!("predicates on the nested field {name} are not supported"),
            ));
        }
    } else {
        let mut matching = row.fields().iter().filter(|f| f.name.eq_ignore_ascii_case(name));
        match (matching.next(), matching.next()) {
            (Some(field), None) => return Ok(field),
            (Some(a), Some(b)) => {
                return Err(invalid(py, format!("column {name} is ambiguous: {} and {}", a.name, b.name)));
            }
            _ => {}
        }
    }
    Err(raise(py, "NotFoundError", &format!("column {name} does not exist")))
}

enum Literal {
    Value(Datum),
    /// Between two values that the column can hold, next to each other.
    Between {
        /// The greatest one below it.
        below: Option<Datum>,
        /// The least one above it.
        above: Option<Datum>,
    },
}

impl Literal {
    fn exact(self) -> Option<Datum> {
        if let Self::Value(value) = self { Some(value) } else { None }
    }

    /// The least value that is not below it.
    fn at_least(&self) -> Option<Datum> {
        match self {
            Self::Value(value) => Some(value.clone()),
            Self::Between { above, .. } => above.clone(),
        }
    }

    /// The greatest value that is not above it.
    fn at_most(&self) -> Option<Datum> {
        match self {
            Self::Value(value) => Some(value.clone()),
            Self::Between { below, .. } => below.clone(),
        }
    }
}

fn literal_of(literal: &Bound<'_, PyAny>, field: &DataField) -> PyResult<Literal> {
    let py = literal.py();
    let literal = &without_numpy(literal);
    if literal.is_none() {
        return Err(invalid(py, format!("None is no literal for column {}; use isNull or isNotNull", field.name)));
    }
    let refuse = |why: &str| {
        let found = literal.repr().map(|r| r.to_string()).unwrap_or_default();
        let kind = literal.get_type().name().map(|n| n.to_string()).unwrap_or_default();
        invalid(
            py,
            format!("{found} of type {kind} is no literal for column {} of type {}{why}", field.name, field.data_type),
        )
    };
    let is_bool = literal.is_instance_of::<PyBool>();
    let is_int = literal.is_instance_of::<PyInt>() && !is_bool;
    let integer = |min: i64, max: i64| -> PyResult<i64> {
        if !is_int {
            return Err(refuse(""));
        }
        match literal.extract::<i64>() {
            Ok(value) if (min..=max).contains(&value) => Ok(value),
            _ => Err(refuse(&format!(", which holds {min} to {max}"))),
        }
    };
    let float = || -> PyResult<f64> {
        if is_int || literal.is_instance_of::<PyFloat>() {
            literal.extract().map_err(|_| refuse(""))
        } else {
            Err(refuse(""))
        }
    };
    let is_datetime = literal.is_instance_of::<PyDateTime>();
    Ok(Literal::Value(match &field.data_type {
        DataType::Boolean(_) => {
            if !is_bool {
                return Err(refuse(""));
            }
            Datum::Boolean(literal.extract()?)
        }
        DataType::TinyInt(_) => Datum::TinyInt(integer(i8::MIN.into(), i8::MAX.into())? as i8),
        DataType::SmallInt(_) => Datum::SmallInt(integer(i16::MIN.into(), i16::MAX.into())? as i16),
        DataType::Int(_) => Datum::Int(integer(i32::MIN.into(), i32::MAX.into())? as i32),
        DataType::BigInt(_) => Datum::BigInt(integer(i64::MIN, i64::MAX)?),
        DataType::Float(_) => return Ok(single(float()?)),
        DataType::Double(_) => Datum::Double(float()?),
        DataType::Char(_) | DataType::VarChar(_) => {
            Datum::String(literal.cast::<PyString>().map_err(|_| refuse(""))?.extract()?)
        }
        DataType::Binary(_) | DataType::VarBinary(_) => {
            if literal.is_instance_of::<PyBytes>() || literal.is_instance_of::<PyByteArray>() {
                Datum::Bytes(literal.extract::<Vec<u8>>()?)
            } else {
                return Err(refuse(""));
            }
        }
        DataType::Date(_) => {
            if is_datetime || !literal.is_instance_of::<PyDate>() {
                return Err(refuse(", a datetime.date is needed"));
            }
            let ordinal: i32 = literal.call_method0("toordinal")?.extract()?;
            Datum::Date(ordinal - 719_163)
        }
        DataType::Time(_) => {
            if !literal.is_instance_of::<PyTime>() || !literal.getattr("tzinfo")?.is_none() {
                return Err(refuse(", a datetime.time without zone is needed"));
            }
            let part = |name: &str| literal.getattr(name)?.extract::<i32>();
            let micros = part("microsecond")?;
            if micros % 1_000 != 0 {
                return Err(refuse(", which holds whole milliseconds"));
            }
            Datum::Time(((part("hour")? * 60 + part("minute")?) * 60 + part("second")?) * 1_000 + micros / 1_000)
        }
        DataType::Timestamp(t) => {
            if !is_datetime || is_aware(literal)? {
                return Err(refuse(
                    ", a datetime.datetime without zone is needed; one with zone fits TIMESTAMP WITH LOCAL TIME ZONE",
                ));
            }
            return Ok(at_precision(micros_of(literal)?, t.precision(), Datum::Timestamp));
        }
        DataType::LocalZonedTimestamp(t) => {
            if !is_datetime || !is_aware(literal)? {
                return Err(refuse(", a datetime.datetime with zone is needed"));
            }
            return Ok(at_precision(micros_of(literal)?, t.precision(), Datum::LocalZonedTimestamp));
        }
        DataType::Decimal(t) => {
            let decimal = py.import("decimal")?.getattr("Decimal")?;
            if !is_int && !literal.is_instance(&decimal)? {
                return Err(refuse(", an int or decimal.Decimal is needed"));
            }
            Datum::Decimal(unscaled(literal, &decimal, t.precision(), t.scale())?.ok_or_else(|| refuse(""))?, t.scale())
        }
        _ => {
            let message = format!("literals of column {} of type {} are not supported", field.name, field.data_type);
            return Err(raise(py, "UnsupportedError", &message));
        }
    }))
}

fn is_aware(literal: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(!literal.call_method0("utcoffset")?.is_none())
}

/// Microseconds since the epoch, of the instant for a `datetime` with zone, else of the wall clock.
fn micros_of(literal: &Bound<'_, PyAny>) -> PyResult<i64> {
    let py = literal.py();
    let datetime = py.import("datetime")?;
    let aware = is_aware(literal)?;
    let zone = if aware { datetime.getattr("timezone")?.getattr("utc")? } else { py.None().into_bound(py) };
    let epoch = datetime.getattr("datetime")?.call1((1970, 1, 1, 0, 0, 0, 0, zone))?;
    let delta = literal.sub(epoch)?;
    let part = |name: &str| delta.getattr(name)?.extract::<i64>();
    Ok((part("days")? * 86_400 + part("seconds")?) * 1_000_000 + part("microseconds")?)
}

/// The value if a column of this precision can hold it.
fn at_precision(micros: i64, precision: u32, datum: impl Fn(Timestamp) -> Datum) -> Literal {
    let step = 10i64.pow(6u32.saturating_sub(precision));
    let below = micros - micros.rem_euclid(step);
    let value = |micros: i64| datum(Timestamp::from_micros(micros));
    match below == micros {
        true => Literal::Value(value(micros)),
        false => Literal::Between { below: Some(value(below)), above: below.checked_add(step).map(value) },
    }
}

/// A number as a FLOAT.
fn single(value: f64) -> Literal {
    let nearest = value as f32;
    if value.is_nan() || f64::from(nearest) == value {
        return Literal::Value(Datum::Float(nearest));
    }
    let (below, above) = match f64::from(nearest) < value {
        true => (nearest, nearest.next_up()),
        false => (nearest.next_down(), nearest),
    };
    Literal::Between { below: Some(Datum::Float(below)), above: Some(Datum::Float(above)) }
}

/// The unscaled value at this scale; `None` if it does not fit without loss.
fn unscaled(
    literal: &Bound<'_, PyAny>,
    decimal: &Bound<'_, PyAny>,
    precision: u8,
    scale: u8,
) -> PyResult<Option<i128>> {
    let value = decimal.call1((literal,))?;
    if !value.call_method0("is_finite")?.extract::<bool>()? {
        return Ok(None);
    }
    let parts = value.call_method0("as_tuple")?;
    let digits: Vec<u8> = parts.getattr("digits")?.extract()?;
    let exponent: i64 = parts.getattr("exponent")?.extract()?;
    let negative: u8 = parts.getattr("sign")?.extract()?;
    let mut unscaled: i128 = 0;
    for digit in digits {
        match unscaled.checked_mul(10).and_then(|v| v.checked_add(digit.into())) {
            Some(next) => unscaled = next,
            None => return Ok(None),
        }
    }
    let shift = exponent + i64::from(scale);
    let scaled = match u32::try_from(shift.unsigned_abs()).ok().and_then(|n| 10i128.checked_pow(n)) {
        _ if unscaled == 0 => Some(0),
        Some(factor) if shift >= 0 => unscaled.checked_mul(factor),
        Some(factor) if unscaled % factor == 0 => Some(unscaled / factor),
        _ => None,
    };
    let limit = 10i128.pow(u32::from(precision));
    Ok(scaled.filter(|v| *v < limit).map(|v| if negative == 1 { -v } else { v }))
}

/// Values of a partition specification: `None` or the default name is the null partition, and what `list_partitions` gives is
/// taken too.
pub(crate) fn partition_spec(
    spec: &Bound<'_, PyDict>,
    row: &RowType,
    default_name: &str,
) -> PyResult<std::collections::BTreeMap<String, Option<Datum>>> {
    let py = spec.py();
    let mut out = std::collections::BTreeMap::new();
    for (key, value) in spec.iter() {
        let key: String = key.extract().map_err(|_| PyTypeError::new_err("partition columns are named by strings"))?;
        let Some(field) = row.field(&key) else {
            return Err(invalid(py, format!("column {key} is no partition column")));
        };
        let text = value.extract::<String>().ok();
        let named = text.as_deref().and_then(|text| named_value(text, &field.data_type));
        let value = if value.is_none() || text.is_some_and(|text| text == default_name) {
            None
        } else if named.is_some() {
            named
        } else {
            match literal_of(&value, field)? {
                Literal::Value(datum) => Some(datum),
                Literal::Between { .. } => {
                    return Err(invalid(py, format!("column {key} of type {} cannot hold {value}", field.data_type)));
                }
            }
        };
        out.insert(key, value);
    }
    Ok(out)
}
