//! Casts of values from the type of a file to the type that is read.
//!
//! Invariants: values are Java's, which differ from those of Arrow's kernels: integers wrap, floats saturate, decimals that
//! overflow are null, text that does not parse is an error. Source: schema-evolution sheet section 3.1;
//! `casting/CastExecutors.java`.

use arrow::array::ArrayRef;

use crate::error::{Error, Result};
use crate::types::{DataType, arrow_type};

/// A cast that was found possible.
pub(crate) type Cast = Box<dyn Fn(&ArrayRef) -> Result<ArrayRef> + Send + Sync>;

/// The cast between two types that differ.
///
/// # Errors
/// `Unsupported` naming column and types.
pub(crate) fn cast(column: &str, from: &DataType, to: &DataType) -> Result<Cast> {
    let (from, to) = (arrow_type(from), arrow_type(to));
    Err(Error::unsupported(format!("column {column} cannot be cast from {from} to {to} yet")))
}
