//! `sys.<procedure>(..)` in FROM, with positional and named arguments.
//!
//! The engine alone keeps the first word of such a name only and refuses named arguments.

use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::sql::sqlparser::ast::{FunctionArg, FunctionArgExpr, ObjectName, TableAlias, TableFactor};

use super::constant::constant;
use super::procedures::ProcedureTable;
use super::target::{Target, context};
use crate::error::{invalid_input, to_datafusion};
use crate::extension::Extension;
use crate::procedure::{self, Argument};

/// Plans table functions whose name is `[catalog.]sys.<procedure>`.
#[derive(Debug, Clone)]
pub(crate) struct QualifiedProcedures {
    extension: Extension,
}

impl QualifiedProcedures {
    pub(crate) fn new(extension: Extension) -> Self {
        Self { extension }
    }
}

/// A call as written.
struct Call {
    catalog: Option<String>,
    procedure: String,
    arguments: Vec<FunctionArg>,
    alias: Option<TableAlias>,
}

impl RelationPlanner for QualifiedProcedures {
    fn plan_relation(
        &self,
        relation: TableFactor,
        planner: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let Some(call) = call_of(&relation, planner) else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        let arguments = call.arguments.iter().map(|a| argument(a, planner)).collect::<Result<Vec<_>>>()?;
        let bound = procedure::bind(&call.procedure, arguments).map_err(to_datafusion)?;
        let (catalog, database) = self.catalog(call.catalog.as_deref(), planner)?;
        let handle = catalog.handle().clone();
        let table =
            ProcedureTable { call: bound, context: context(&catalog, database), handle, names_procedure: false };
        let plan = LogicalPlanBuilder::scan(call.procedure, provider_as_source(Arc::new(table)), None)?.build()?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, call.alias))))
    }
}

impl QualifiedProcedures {
    fn catalog(
        &self,
        named: Option<&str>,
        planner: &dyn RelationPlannerContext,
    ) -> Result<(crate::catalog::PaimonCatalogProvider, String)> {
        let options = &planner.context_provider().options().catalog;
        let target = match named {
            None => Target::Session(self.extension.clone()),
            Some(name) => match self.extension.catalog(name) {
                Some(catalog) => Target::Catalog(catalog.as_ref().clone()),
                None => return invalid_input(format!("{name} is no Paimon catalog")),
            },
        };
        target.resolve(&options.default_catalog, &options.default_schema)
    }
}

fn call_of(relation: &TableFactor, planner: &dyn RelationPlannerContext) -> Option<Call> {
    let (name, arguments, alias) = match relation {
        TableFactor::Table { name, args: Some(args), alias, .. } => (name, &args.args, alias),
        TableFactor::Function { name, args, alias, .. } => (name, args, alias),
        _ => return None,
    };
    let parts = parts(name, planner)?;
    let (catalog, procedure) = match &parts[..] {
        [sys, procedure] if sys == "sys" => (None, procedure),
        [catalog, sys, procedure] if sys == "sys" => (Some(catalog.clone()), procedure),
        _ => return None,
    };
    Some(Call { catalog, procedure: procedure.clone(), arguments: arguments.clone(), alias: alias.clone() })
}

fn parts(name: &ObjectName, planner: &dyn RelationPlannerContext) -> Option<Vec<String>> {
    name.0.iter().map(|part| part.as_ident().map(|ident| planner.normalize_ident(ident.clone()))).collect()
}

fn argument(argument: &FunctionArg, planner: &mut dyn RelationPlannerContext) -> Result<Argument> {
    let (name, value) = match argument {
        FunctionArg::Unnamed(value) => (None, value),
        FunctionArg::Named { name, arg, .. } => (Some(planner.normalize_ident(name.clone())), arg),
        FunctionArg::ExprNamed { .. } => return invalid_input("the name of an argument must be one word"),
    };
    let FunctionArgExpr::Expr(value) = value else {
        return invalid_input("an argument of a procedure must be a constant");
    };
    let value = constant(&planner.sql_to_expr(value.clone(), &DFSchema::empty())?)?;
    Ok(Argument { name, value })
}
