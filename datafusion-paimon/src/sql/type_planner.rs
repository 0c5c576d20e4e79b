//! Types in expressions, `CAST(x AS BYTES)`, for those that the engine does not plan itself.
//!
//! Invariants: what the engine plans keeps the engine's meaning. Source: SQL sheet SQL-040.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::sql::sqlparser::ast::{DataType as Ast, TimezoneInfo};
use paimon_core::types::arrow_type;

use super::parse::type_of_text;

/// Plans the types of our grammar.
#[derive(Debug)]
pub(crate) struct PaimonTypePlanner;

impl TypePlanner for PaimonTypePlanner {
    fn plan_type_field(&self, sql_type: &Ast) -> Result<Option<FieldRef>> {
        if !is_ours(sql_type) {
            return Ok(None);
        }
        // A type that is none of ours either is the engine's to refuse.
        let field = |data_type| Arc::new(Field::new("", arrow_type(&data_type), true));
        Ok(type_of_text(&sql_type.to_string()).ok().map(field))
    }
}

/// Whether the engine would refuse a type.
fn is_ours(sql_type: &Ast) -> bool {
    match sql_type {
        Ast::Nvarchar(_)
        | Ast::Binary(_)
        | Ast::Varbinary(_)
        | Ast::Bytes(_)
        | Ast::Datetime(_)
        | Ast::Character(_)
        | Ast::CharacterVarying(_)
        | Ast::CharVarying(_)
        | Ast::CharacterLargeObject(_)
        | Ast::CharLargeObject(_)
        | Ast::Clob(_)
        | Ast::Dec(_)
        | Ast::TimestampNtz(..)
        | Ast::Map(..)
        | Ast::Custom(..) => true,
        Ast::Time(Some(_), zone) => matches!(zone, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone),
        Ast::Timestamp(Some(precision), TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => {
            !matches!(precision, 0 | 3 | 6 | 9)
        }
        _ => false,
    }
}
