//! Prepared statements: kept as text, so that each EXECUTE sees tables, options and functions as they are then, and runs by
//! the same rules as the statement written out.
//!
//! Invariants: a parameter is a constant, put where its placeholder stands. Source: SQL sheet SQL-008, SQL-037, SQL-215.

use datafusion::error::Result;
use datafusion::prelude::DataFrame;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use paimon_core::Error;

use crate::error::{invalid_input, to_datafusion};
use crate::extension::Extension;
use crate::sql::constant::evaluate;
use crate::sql::parse::parse;
use crate::sql::session::Session;
use crate::sql::statement::Prepared;
use crate::sql::tokens::{Fragment, tokenize};

impl Session<'_> {
    /// The engine plans the statement, which finds what is wrong with it, and refuses a name that is taken.
    pub(super) async fn prepare(&self, name: &str, prepared: &Prepared, original: &Fragment) -> Result<DataFrame> {
        let done = self.run_in_engine(original).await?;
        if let Some(extension) = Extension::of(&self.state) {
            extension.prepared().insert(name.to_owned(), prepared.clone());
        }
        Ok(done)
    }

    pub(super) async fn execute(&self, name: &str, parameters: &[Fragment], original: &Fragment) -> Result<DataFrame> {
        let prepared = Extension::of(&self.state).and_then(|extension| extension.prepared().get(name).cloned());
        let Some(prepared) = prepared else { return self.run_in_engine(original).await };
        let tokens = self.filled(name, &prepared, parameters)?;
        // Chains and nesting are bounded again, now with the parameters.
        let tokens = tokenize(&tokens.to_string()).map_err(to_datafusion)?;
        let filled = Fragment(tokens.clone());
        let statement = parse(tokens, self.folds(), &|name| self.is_ours(name)).map_err(to_datafusion)?;
        self.run(&statement, &filled).await
    }

    pub(super) async fn deallocate(&self, name: &str, original: &Fragment) -> Result<DataFrame> {
        let done = self.run_in_engine(original).await?;
        if let Some(extension) = Extension::of(&self.state) {
            extension.prepared().remove(name);
        }
        Ok(done)
    }

    /// The statement with its parameters.
    fn filled(&self, name: &str, prepared: &Prepared, parameters: &[Fragment]) -> Result<Fragment> {
        for parameter in parameters {
            evaluate(&self.state, parameter)?;
        }
        let types = prepared.types.len();
        let expected = if types > 0 { types } else { prepared.places() };
        if expected != parameters.len() {
            return invalid_input(format!(
                "the prepared statement {name} expects {expected} parameters, but {} are given",
                parameters.len()
            ));
        }
        let mut filled = Vec::with_capacity(prepared.body.0.len());
        for token in &prepared.body.0 {
            match &token.token {
                Token::Placeholder(place) => {
                    let number = Prepared::number(place).ok_or_else(|| {
                        to_datafusion(Error::invalid_input(format!(
                            "parameters of prepared statements are $1, $2 and so on, but {name} has {place}"
                        )))
                    })?;
                    // A number beyond the declared types has no parameter.
                    let Some(parameter) = parameters.get(number - 1) else {
                        return invalid_input(format!("the prepared statement {name} has no parameter {place}"));
                    };
                    fill(&mut filled, parameter, prepared.types.get(number - 1));
                }
                _ => filled.push(token.clone()),
            }
        }
        Ok(Fragment(filled))
    }
}

/// Adds a parameter as one operand, of a type if one is declared.
fn fill(out: &mut Vec<TokenWithSpan>, parameter: &Fragment, data_type: Option<&Fragment>) {
    let token = |token| TokenWithSpan::wrap(token);
    if let Some(data_type) = data_type {
        out.extend([token(Token::make_keyword("CAST")), token(Token::LParen)]);
        out.extend(parameter.0.iter().cloned());
        out.push(token(Token::make_keyword("AS")));
        out.extend(data_type.0.iter().cloned());
        out.push(token(Token::RParen));
    } else if parameter.0.len() == 1 {
        out.extend(parameter.0.iter().cloned());
    } else {
        out.push(token(Token::LParen));
        out.extend(parameter.0.iter().cloned());
        out.push(token(Token::RParen));
    }
}
