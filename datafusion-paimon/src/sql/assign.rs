//! The function that stores a value into a column, in plans of INSERT.
//!
//! Invariants: it is strict, as `write/store.rs`; a constant that does not fit is an error while planning.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{ExprSchema, ScalarValue, exec_err};
use datafusion::error::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::error::to_datafusion;
use crate::write::store;

/// The expression as a value of a column's type.
///
/// # Errors
/// Those of finding the type of the expression.
pub(super) fn assign(expr: Expr, column: &str, target: &DataType, schema: &dyn ExprSchema) -> Result<Expr> {
    if expr.get_type(schema)? == *target {
        return Ok(expr);
    }
    let signature = Signature::any(1, Volatility::Immutable);
    let function = Assign { column: column.to_owned(), target: target.clone(), signature };
    let function = Arc::new(ScalarUDF::new_from_impl(function));
    Ok(Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![expr])))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Assign {
    column: String,
    target: DataType,
    signature: Signature,
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
            [ColumnarValue::Array(array)] => {
                Ok(ColumnarValue::Array(store(array, &self.column, &self.target).map_err(to_datafusion)?))
            }
            [ColumnarValue::Scalar(value)] => {
                let stored = store(&value.to_array()?, &self.column, &self.target).map_err(to_datafusion)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&stored, 0)?))
            }
            _ => exec_err!("paimon_store takes one value"),
        }
    }
}
