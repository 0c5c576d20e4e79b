//! Names for the columns of a query that are taken by position.
//!
//! `INSERT INTO t SELECT 1, 1` is right, but the engine refuses a projection with two columns of one name.
//! Invariants: a name that occurs once stays, so that ORDER BY finds it; without a wildcard the first of some keeps it.

use datafusion::sql::sqlparser::ast::{Expr, Ident, Query, SelectItem, SetExpr};

/// Gives an alias to each column of a query, and of the queries that it unites, whose name another one has.
pub(crate) fn make_names_unique(query: &mut Query) {
    let mut open: Vec<&mut SetExpr> = vec![query.body.as_mut()];
    while let Some(body) = open.pop() {
        match body {
            SetExpr::Select(select) => rename(&mut select.projection),
            SetExpr::Query(inner) => open.push(inner.body.as_mut()),
            SetExpr::SetOperation { left, right, .. } => open.extend([left.as_mut(), right.as_mut()]),
            _ => {}
        }
    }
}

fn rename(items: &mut [SelectItem]) {
    let wildcard = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    let has_wildcard = items.iter().any(wildcard);
    let mut seen: Vec<String> = Vec::new();
    for (i, item) in items.iter_mut().enumerate() {
        let name = match item {
            SelectItem::UnnamedExpr(Expr::Identifier(name)) => name.value.clone(),
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(path)) => {
                path.last().map(|name| name.value.clone()).unwrap_or_default()
            }
            SelectItem::UnnamedExpr(expr) => expr.to_string(),
            SelectItem::ExprWithAlias { alias, .. } => alias.value.clone(),
            _ => continue,
        };
        let name = name.to_lowercase();
        if !has_wildcard && !seen.contains(&name) {
            seen.push(name);
            continue;
        }
        let expr = match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => expr.clone(),
            _ => continue,
        };
        *item = SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', format!("{name} #{i}")) };
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;
    use crate::sql::dialect::PaimonDialect;

    #[test]
    fn only_repeated_names_are_replaced() {
        let cases = [
            ("SELECT 1, 1", "SELECT 1, 1 AS \"1 #1\""),
            ("SELECT a, t.a, b FROM t", "SELECT a, t.a AS \"a #1\", b FROM t"),
            ("SELECT a AS x, b AS X FROM t", "SELECT a AS x, b AS \"x #1\" FROM t"),
            ("SELECT *, a FROM t", "SELECT *, a AS \"a #1\" FROM t"),
            ("(SELECT 1, 2) UNION ALL SELECT 3, 3", "(SELECT 1, 2) UNION ALL SELECT 3, 3 AS \"3 #1\""),
            ("VALUES (1, 1)", "VALUES (1, 1)"),
        ];
        for (sql, expected) in cases {
            let mut query = Parser::new(&PaimonDialect).try_with_sql(sql).unwrap().parse_query().unwrap();
            make_names_unique(&mut query);
            assert_eq!(query.to_string(), expected);
        }
    }
}
