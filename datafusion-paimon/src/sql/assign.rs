//! The function that stores a value into a column, in plans of INSERT.
//!
//! Invariants: it is strict, as `write/store.rs`; a constant that does not fit is an error while planning.

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{ExprSchema, ScalarValue, exec_err};
use datafusion::error::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use paimon_core::types::{DataField, arrow_type};

use crate::error::to_datafusion;
use crate::write::{has_instants, store_in_zone};

/// The expression as a value of a column's type; a wall clock is of this zone where it becomes an instant, of UTC if that
/// is `None`.
///
/// # Errors
/// Those of finding the type of the expression.
pub(super) fn assign(
    expr: Expr,
    column: &str,
    target: &DataType,
    schema: &dyn ExprSchema,
    zone: Option<&str>,
) -> Result<Expr> {
    if expr.get_type(schema)? == *target {
        return Ok(expr);
    }
    let signature = Signature::any(1, Volatility::Immutable);
    let zone = zone.map(str::to_owned);
    let function = Assign { column: column.to_owned(), target: target.clone(), zone, signature };
    let function = Arc::new(ScalarUDF::new_from_impl(function));
    Ok(Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![expr])))
}

/// As [`assign`], of a column that the writer does not store the same way itself: one with parts, or with instants in a
/// session that has a zone.
///
/// # Errors
/// As [`assign`].
pub(super) fn assign_where_needed(
    expr: Expr,
    field: &DataField,
    schema: &dyn ExprSchema,
    zone: Option<&str>,
) -> Result<Expr> {
    let target = arrow_type(&field.data_type);
    if field.data_type.is_nested() || zone.is_some() && has_instants(&target) {
        return assign(expr, &field.name, &target, schema, zone);
    }
    Ok(expr)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Assign {
    column: String,
    target: DataType,
    zone: Option<String>,
    signature: Signature,
}

impl Assign {
    fn store(&self, array: &ArrayRef) -> Result<ArrayRef> {
        store_in_zone(array, &self.column, &self.target, self.zone.as_deref()).map_err(to_datafusion)
    }
}

impl ScalarUDFImpl for Assign {
    fn name(&self) -> &str {
        "paimon_store"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.target.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match &args.args[..] {
            [ColumnarValue::Array(array)] => Ok(ColumnarValue::Array(self.store(array)?)),
            [ColumnarValue::Scalar(value)] => {
                let stored = self.store(&value.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&stored, 0)?))
            }
            _ => exec_err!("paimon_store takes one value"),
        }
    }
}
