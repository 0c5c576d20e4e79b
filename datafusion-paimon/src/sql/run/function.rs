//! Temporary functions: names for expressions, put in their place while a statement is planned. Source: SQL sheet SQL-305.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, internal_err};
use datafusion::error::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    Cast, ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::prelude::DataFrame;
use datafusion::sql::parser::DFParserBuilder;
use paimon_core::Error;
use paimon_core::error::Entity;
use paimon_core::types::arrow_type;

use crate::error::to_datafusion;
use crate::sql::dialect::PaimonDialect;
use crate::sql::literals::keep_literals;
use crate::sql::session::Session;
use crate::sql::statement::CreateFunction;

impl Session<'_> {
    pub(super) fn create_function(&self, function: &CreateFunction) -> Result<DataFrame> {
        let name = function.name.as_str();
        let known = self.state.scalar_functions().get(name);
        let temporary = known.is_none_or(|known| known.inner().is::<Macro>());
        if known.is_some() && !(function.or_replace && temporary) {
            return Err(to_datafusion(Error::already_exists(
                Entity::Table,
                format!("Function {name} already exists."),
            )));
        }
        let parameters: Vec<Field> =
            function.parameters.iter().map(|p| Field::new(&p.name, arrow_type(&p.data_type), true)).collect();
        let types: Vec<DataType> = parameters.iter().map(|p| p.data_type().clone()).collect();
        let schema = DFSchema::try_from(Schema::new(parameters))?;
        let limit = self.state.config().options().sql_parser.recursion_limit.get();
        let mut parsed = DFParserBuilder::new(function.body.0.clone())
            .with_dialect(&PaimonDialect)
            .with_recursion_limit(limit)
            .build()?
            .parse_into_expr()?;
        keep_literals(&mut parsed.expr);
        let body = self.state.create_logical_expr_from_sql_expr(parsed, &schema)?;
        // Calls are expanded after the engine has brought types together, so that the body must have been through it.
        let simplify =
            SimplifyContext::builder().with_config_options(Arc::clone(self.state.config().options())).build();
        let body = ExprSimplifier::new(simplify).coerce(body, &schema)?;
        let returns = arrow_type(&function.returns);
        let body = body.cast_to(&returns, &schema)?;
        let signature = match types.is_empty() {
            true => Signature::nullary(Volatility::Volatile),
            false => Signature::any(types.len(), Volatility::Volatile),
        };
        let parameters = function.parameters.iter().map(|p| p.name.clone()).zip(types).collect();
        let function = Macro { name: name.to_owned(), parameters, body, returns, signature };
        self.context.register_udf(ScalarUDF::new_from_impl(function));
        self.ok()
    }

    pub(super) fn drop_function(&self, name: &str, if_exists: bool) -> Result<DataFrame> {
        let temporary = self.state.scalar_functions().get(name).is_some_and(|f| f.inner().is::<Macro>());
        if temporary {
            let state = self.context.state_ref();
            state.write().deregister_udf(name)?;
        } else if !if_exists {
            return Err(to_datafusion(Error::not_found(
                Entity::Table,
                format!("Temporary function {name} does not exist."),
            )));
        }
        self.ok()
    }
}

/// An expression over parameters. Never runs: the simplifier replaces each call.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Macro {
    name: String,
    parameters: Vec<(String, DataType)>,
    body: Expr,
    returns: DataType,
    signature: Signature,
}

impl ScalarUDFImpl for Macro {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.returns.clone())
    }

    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        let argument = |name: &str| {
            let position = self.parameters.iter().position(|(parameter, _)| parameter == name)?;
            let (_, data_type) = self.parameters.get(position)?;
            Some(Expr::Cast(Cast::new(Box::new(args.get(position)?.clone()), data_type.clone())))
        };
        let expanded = self.body.clone().transform(|expr| {
            Ok(match &expr {
                Expr::Column(column) => match argument(&column.name) {
                    Some(value) => Transformed::yes(value),
                    None => Transformed::no(expr),
                },
                _ => Transformed::no(expr),
            })
        })?;
        Ok(ExprSimplifyResult::Simplified(expanded.data))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        internal_err!("the temporary function {} was not expanded", self.name)
    }
}
