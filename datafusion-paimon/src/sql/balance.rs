//! Long chains of AND and OR as shallow trees.
//!
//! A parser makes `a OR b OR c ..` a tree as deep as the chain is long, and every later pass walks it recursively. Both
//! operators are associative, also with nulls, so a balanced tree means the same. Source: SQL sheet SQL-342.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value, VisitMut, VisitorMut};

/// Chains with fewer operators stay as they are.
const SHORT: usize = 32;

/// Balances the chains of a statement.
pub(crate) fn balance(statement: &mut impl VisitMut) {
    let ControlFlow::Continue(()) = statement.visit(&mut Balancer);
}

struct Balancer;

impl VisitorMut for Balancer {
    type Break = std::convert::Infallible;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        if let Expr::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } = &*expr
            && depth(expr, op) >= SHORT
        {
            let op = op.clone();
            let operands = operands(std::mem::replace(expr, Expr::value(Value::Null)), &op);
            if let Some(tree) = tree(operands, &op) {
                *expr = tree;
            }
        }
        ControlFlow::Continue(())
    }
}

/// How many operators of a chain lie below one another on the left.
fn depth(expr: &Expr, chain: &BinaryOperator) -> usize {
    let (mut current, mut depth) = (expr, 0);
    while let Expr::BinaryOp { left, op, .. } = current
        && op == chain
    {
        current = left;
        depth += 1;
    }
    depth
}

/// The operands of a chain, in order. Not recursive: the chain may be very long.
fn operands(expr: Expr, chain: &BinaryOperator) -> Vec<Expr> {
    let mut reversed = Vec::new();
    let mut open = vec![expr];
    while let Some(next) = open.pop() {
        match next {
            Expr::BinaryOp { left, op, right } if op == *chain => {
                open.push(*left);
                open.push(*right);
            }
            operand => reversed.push(operand),
        }
    }
    reversed.reverse();
    reversed
}

/// A balanced tree of operands; `None` for none.
fn tree(operands: Vec<Expr>, op: &BinaryOperator) -> Option<Expr> {
    let mut level = operands;
    while level.len() > 1 {
        let mut next = Vec::with_capacity(level.len().div_ceil(2));
        let mut pairs = level.into_iter();
        while let Some(left) = pairs.next() {
            next.push(match pairs.next() {
                Some(right) => Expr::BinaryOp { left: Box::new(left), op: op.clone(), right: Box::new(right) },
                None => left,
            });
        }
        level = next;
    }
    level.pop()
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;
    use crate::sql::dialect::PaimonDialect;

    fn parse(sql: &str) -> Expr {
        Parser::new(&PaimonDialect).try_with_sql(sql).unwrap().parse_expr().unwrap()
    }

    #[test]
    fn long_chains_become_shallow_and_keep_their_order() {
        let names: Vec<String> = (0..1000).map(|i| format!("c{i}")).collect();
        let mut expr = parse(&names.join(" OR "));
        assert_eq!(depth(&expr, &BinaryOperator::Or), 999);
        balance(&mut expr);
        assert_eq!(depth(&expr, &BinaryOperator::Or), 10);
        assert_eq!(expr.to_string(), names.join(" OR "));
    }

    #[test]
    fn short_chains_stay() {
        let mut expr = parse("a AND b AND (c OR d) AND NOT e");
        let before = expr.clone();
        balance(&mut expr);
        assert_eq!(expr, before);
    }

    #[test]
    fn each_kind_of_operator_is_a_chain_of_its_own() {
        let and = |n: usize| (0..100).map(|i| format!("a{n}_{i}")).collect::<Vec<_>>().join(" AND ");
        let sql = format!("{} OR {} OR {}", and(0), and(1), and(2));
        let mut expr = parse(&sql);
        balance(&mut expr);
        assert_eq!(expr.to_string(), sql);
        let Expr::BinaryOp { left, op: BinaryOperator::Or, right } = expr else { panic!("no OR at the top") };
        assert!(depth(&right, &BinaryOperator::And) < 10);
        assert!(matches!(*left, Expr::BinaryOp { op: BinaryOperator::Or, .. }));
    }
}
