//! Numbers with more digits than a DOUBLE holds, kept until it is known what they are for.
//!
//! The engine reads a number with a point, and one beyond 64 bits, as DOUBLE. Such a literal with many digits is made a call
//! of a function that gives this DOUBLE but remembers the text; where a DECIMAL is wanted, the text is taken
//! (`exact.rs`). One that is beyond DOUBLE, which the engine would read as infinity, is an error where no text is wanted.
//! Source: SQL sheet SQL-134.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{ScalarValue, exec_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::sql::sqlparser::ast::{
    Expr as Ast, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName,
    Value, ValueWithSpan,
};

const NAME: &str = "__paimon_number";
/// Every text of so many digits is the shortest text of its DOUBLE.
const DOUBLE_DIGITS: usize = 15;

/// The function.
pub(crate) fn number_function() -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::new_from_impl(NumberFunction {
        signature: Signature::exact(vec![DataType::Utf8], Volatility::Immutable),
    }))
}

/// The text of a number that was kept.
pub(crate) fn kept_number(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::ScalarFunction(call) if call.func.name() == NAME => match &call.args[..] {
            [Expr::Literal(text, _)] => text.try_as_str().flatten(),
            _ => None,
        },
        _ => None,
    }
}

/// Makes a number that a DOUBLE cannot hold a call of the function.
pub(super) fn keep_number(expr: &mut Ast) {
    if let Ast::Value(ValueWithSpan { value: Value::Number(text, _), .. }) = expr
        && (has_many_digits(text) || text.parse().is_ok_and(f64::is_infinite))
    {
        let text = Ast::Value(Value::SingleQuotedString(text.clone()).into());
        *expr = Ast::Function(call(text));
    }
}

fn call(argument: Ast) -> Function {
    Function {
        name: ObjectName::from(vec![Ident::new(NAME)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))],
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

fn has_many_digits(text: &str) -> bool {
    if !text.contains('.') {
        // The engine reads what fits 64 bits as an integer, also below a sign.
        return text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<u64>().is_err();
    }
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let digits = text.trim_start_matches(['0', '.']).bytes().filter(u8::is_ascii_digit).count();
    plain && digits > DOUBLE_DIGITS
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct NumberFunction {
    signature: Signature,
}

fn value(text: &str) -> Result<ScalarValue> {
    match text.parse::<f64>() {
        Ok(number) if number.is_infinite() => plan_err!("the number {text} is beyond the range of DOUBLE"),
        Ok(number) => Ok(ScalarValue::Float64(Some(number))),
        Err(_) => plan_err!("{text} is no number"),
    }
}

fn value_of(args: &[Expr]) -> Result<ScalarValue> {
    match args {
        [Expr::Literal(text, _)] => value(text.try_as_str().flatten().unwrap_or_default()),
        _ => plan_err!("{NAME} takes the text of a number"),
    }
}

impl ScalarUDFImpl for NumberFunction {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match &args.args[..] {
            [ColumnarValue::Scalar(text)] => {
                Ok(ColumnarValue::Scalar(value(text.try_as_str().flatten().unwrap_or_default())?))
            }
            _ => exec_err!("{NAME} takes the text of a number"),
        }
    }

    // The engine's own name of the literal.
    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        // A number beyond DOUBLE has its own text.
        match (value_of(args), args) {
            (Err(_), [Expr::Literal(text, _)]) => Ok(text.to_string()),
            (value, _) => Ok(format!("{:?}", value?)),
        }
    }

    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        Ok(ExprSimplifyResult::Simplified(Expr::Literal(value_of(&args)?, None)))
    }
}
