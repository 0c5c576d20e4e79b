//! Leaves by column name, with literals checked against the column's type.
//!
//! Invariants: a leaf that this makes obeys the invariants of the tree; nothing is guessed: a name that fits two columns
//! only up to case is refused. Source: read-path sheet section 9, Python API sheet section 10;
//! `predicate/PredicateBuilder.java`, `predicate/LikeOptimization.java`.

use super::literal::{Literal, coerce};
use super::{Function, Leaf, Predicate};
use crate::error::{Entity, Error, Result};
use crate::types::{DataField, DataType, Datum, RowType};

/// Makes predicates over the columns of a row.
#[derive(Debug, Clone)]
pub struct PredicateBuilder {
    row: RowType,
    case_sensitive: bool,
}

macro_rules! one_literal {
    ($($(#[$doc:meta])* $name:ident => $function:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            /// As [`PredicateBuilder::leaf`].
            pub fn $name(&self, column: &str, literal: Datum) -> Result<Predicate> {
                self.leaf(column, Function::$function, vec![literal])
            }
        )*
    };
}

impl PredicateBuilder {
    /// Predicates over the columns of `row`. Names are looked up exactly, then, unless `case_sensitive`, in any case.
    pub fn new(row: &RowType, case_sensitive: bool) -> Self {
        Self { row: row.clone(), case_sensitive }
    }

    one_literal! {
        /// `column = literal`.
        equal => Equal;
        /// `column <> literal`.
        not_equal => NotEqual;
        /// `column < literal`.
        less_than => LessThan;
        /// `column <= literal`.
        less_or_equal => LessOrEqual;
        /// `column > literal`.
        greater_than => GreaterThan;
        /// `column >= literal`.
        greater_or_equal => GreaterOrEqual;
        /// Text starts with the literal.
        starts_with => StartsWith;
        /// Text ends with the literal.
        ends_with => EndsWith;
        /// Text contains the literal.
        contains => Contains;
        /// SQL LIKE: `%` any run, `_` one character, `\` escapes these three.
        like => Like;
    }

    /// `column IS NULL`.
    ///
    /// # Errors
    /// As [`PredicateBuilder::leaf`].
    pub fn is_null(&self, column: &str) -> Result<Predicate> {
        self.leaf(column, Function::IsNull, Vec::new())
    }

    /// `column IS NOT NULL`.
    ///
    /// # Errors
    /// As [`PredicateBuilder::leaf`].
    pub fn is_not_null(&self, column: &str) -> Result<Predicate> {
        self.leaf(column, Function::IsNotNull, Vec::new())
    }

    /// `column IN (literals)`; no row passes an empty list.
    ///
    /// # Errors
    /// As [`PredicateBuilder::leaf`].
    pub fn is_in(&self, column: &str, literals: Vec<Datum>) -> Result<Predicate> {
        self.leaf(column, Function::In, literals)
    }

    /// `column NOT IN (literals)`.
    ///
    /// # Errors
    /// As [`PredicateBuilder::leaf`].
    pub fn is_not_in(&self, column: &str, literals: Vec<Datum>) -> Result<Predicate> {
        self.leaf(column, Function::NotIn, literals)
    }

    /// `column BETWEEN low AND high`, both ends included.
    ///
    /// # Errors
    /// As [`PredicateBuilder::leaf`].
    pub fn between(&self, column: &str, low: Datum, high: Datum) -> Result<Predicate> {
        self.leaf(column, Function::Between, vec![low, high])
    }

    /// `column NOT BETWEEN low AND high`.
    ///
    /// # Errors
    /// As [`PredicateBuilder::leaf`].
    pub fn not_between(&self, column: &str, low: Datum, high: Datum) -> Result<Predicate> {
        self.leaf(column, Function::NotBetween, vec![low, high])
    }

    /// The column with this name.
    ///
    /// # Errors
    /// `NotFound(Column)`; `InvalidInput` if two columns differ from it only in case; `Unsupported` for `a.b` where `a` is
    /// a ROW.
    pub fn column(&self, name: &str) -> Result<&DataField> {
        if let Some(field) = self.row.field(name) {
            return Ok(field);
        }
        if !self.case_sensitive {
            let mut matches = self.row.fields().iter().filter(|f| f.name.to_lowercase() == name.to_lowercase());
            match (matches.next(), matches.next()) {
                (Some(field), None) => return Ok(field),
                (Some(a), Some(b)) => {
                    let (a, b) = (&a.name, &b.name);
                    return Err(Error::invalid_input(format!("column {name} may be {a} or {b}: quote its name")));
                }
                _ => {}
            }
        }
        let parent = name.split_once('.').and_then(|(parent, _)| self.row.field(parent));
        if parent.is_some_and(|f| f.data_type.is_nested()) {
            return Err(Error::unsupported(format!("predicates on nested field {name}")));
        }
        let names = self.row.fields().iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ");
        Err(Error::not_found(Entity::Column, format!("column {name} does not exist; the columns are {names}")))
    }

    /// A test of one column. Literals may be of another type of their family: integers of any width, floats of any width
    /// or integers for floating-point columns, decimals of any scale or integers for DECIMAL; comparisons stay exact.
    ///
    /// # Errors
    /// `NotFound(Column)`; `InvalidInput` naming column and literal if their number is wrong, one does not fit the column,
    /// or a LIKE pattern has a wrong escape; `Unsupported` for literals of nested columns.
    pub fn leaf(&self, column: &str, function: Function, literals: Vec<Datum>) -> Result<Predicate> {
        let field = self.column(column)?;
        if let Some(expected) = function.arity().filter(|n| *n != literals.len()) {
            let (name, found) = (&field.name, literals.len());
            return Err(Error::invalid_input(format!(
                "a test {function:?} of column {name} takes {expected} literals, found {found}"
            )));
        }
        if is_text_function(function) && !matches!(field.data_type, DataType::Char(_) | DataType::VarChar(_)) {
            if field.data_type.is_nested() || matches!(field.data_type, DataType::Blob(_)) {
                return Err(Error::unsupported(format!("a test {function:?} of column {}", field.name)));
            }
            return Err(Error::invalid_input(format!(
                "a test {function:?} of column {} needs a text column",
                field.name
            )));
        }
        let literals = literals.into_iter().map(|l| coerce(field, l)).collect::<Result<Vec<_>>>()?;
        match (function, literals.as_slice()) {
            (Function::Like, [Literal::Exact(Datum::String(pattern))]) => like(field, pattern),
            _ => Ok(compare(field, function, literals)),
        }
    }
}

fn is_text_function(function: Function) -> bool {
    matches!(function, Function::StartsWith | Function::EndsWith | Function::Contains | Function::Like)
}

fn make(field: &DataField, function: Function, literals: Vec<Datum>) -> Predicate {
    Predicate::Leaf(Leaf {
        field_id: field.id,
        name: field.name.clone(),
        data_type: field.data_type.clone(),
        function,
        literals,
    })
}

/// The test, with literals between two values of the type replaced by these neighbours.
fn compare(field: &DataField, function: Function, mut literals: Vec<Literal>) -> Predicate {
    let at_most = |high: Option<Datum>| match high {
        Some(high) => make(field, Function::LessOrEqual, vec![high]),
        None => Predicate::AlwaysFalse,
    };
    let at_least = |low: Option<Datum>| match low {
        Some(low) => make(field, Function::GreaterOrEqual, vec![low]),
        None => Predicate::AlwaysFalse,
    };
    if matches!(function, Function::In | Function::NotIn) {
        return list(field, function, literals);
    }
    if literals.iter().all(|l| matches!(l, Literal::Exact(_))) {
        let exact = literals.into_iter().filter_map(|l| if let Literal::Exact(d) = l { Some(d) } else { None });
        return make(field, function, exact.collect());
    }
    let second = if literals.len() > 1 { literals.pop() } else { None };
    let (below, above) = match literals.pop() {
        Some(Literal::Between { below, above }) => (below, above),
        Some(Literal::Exact(d)) => (Some(d.clone()), Some(d)),
        None => (None, None),
    };
    match (function, second) {
        (Function::NotEqual, _) => make(field, Function::IsNotNull, Vec::new()),
        (Function::LessThan | Function::LessOrEqual, _) => at_most(below),
        (Function::GreaterThan | Function::GreaterOrEqual, _) => at_least(above),
        (Function::Between, Some(high)) => {
            let high = match high {
                Literal::Exact(d) => Some(d),
                Literal::Between { below, .. } => below,
            };
            Predicate::and([at_least(above), at_most(high)])
        }
        (Function::NotBetween, Some(high)) => {
            let low = match literals_low(&below, &above) {
                Some(exact) => make(field, Function::LessThan, vec![exact]),
                None => at_most(below),
            };
            let high = match high {
                Literal::Exact(d) => make(field, Function::GreaterThan, vec![d]),
                Literal::Between { above, .. } => at_least(above),
            };
            Predicate::or([low, high])
        }
        // Equality with a value that the type does not have.
        _ => Predicate::AlwaysFalse,
    }
}

/// The literal if both neighbours are the literal itself.
fn literals_low(below: &Option<Datum>, above: &Option<Datum>) -> Option<Datum> {
    below.clone().filter(|b| above.as_ref() == Some(b))
}

fn list(field: &DataField, function: Function, literals: Vec<Literal>) -> Predicate {
    let mut values: Vec<Datum> = Vec::with_capacity(literals.len());
    let mut seen = std::collections::HashSet::new();
    for literal in literals {
        if let Literal::Exact(value) = literal
            && seen.insert(value.clone())
        {
            values.push(value);
        }
    }
    match (function, values.len()) {
        (Function::In, 0) => Predicate::AlwaysFalse,
        (Function::In, 1) => make(field, Function::Equal, values),
        (_, 0) => make(field, Function::IsNotNull, values),
        (_, 1) => make(field, Function::NotEqual, values),
        _ => make(field, function, values),
    }
}

/// LIKE as the simplest test that means the same.
fn like(field: &DataField, pattern: &str) -> Result<Predicate> {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && !matches!(chars.next(), Some('\\' | '%' | '_')) {
            let name = &field.name;
            return Err(Error::invalid_input(format!(
                "Invalid escape sequence in the LIKE pattern '{pattern}' for column {name}: \\ may stand before \\, % and _"
            )));
        }
    }
    let (function, text) = simplify(pattern).unwrap_or((Function::Like, pattern));
    Ok(make(field, function, vec![Datum::String(text.to_owned())]))
}

fn simplify(pattern: &str) -> Option<(Function, &str)> {
    if pattern.contains(['_', '\\']) || pattern.bytes().all(|b| b == b'%') {
        return None;
    }
    let (start, end) = (pattern.starts_with('%'), pattern.ends_with('%'));
    let text = pattern.trim_matches('%');
    let function = match (start, end) {
        (false, false) => Function::Equal,
        (false, true) => Function::StartsWith,
        (true, false) => Function::EndsWith,
        (true, true) => Function::Contains,
    };
    (!text.contains('%')).then_some((function, text))
}
