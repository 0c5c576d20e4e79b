//! The statements that DataFusion cannot plan.

mod dialect;
mod parse;
mod printer;
mod statement;
mod tokens;
