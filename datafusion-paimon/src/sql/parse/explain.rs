//! EXPLAIN of statements that the engine cannot parse; everything else is left to it. Source: SQL sheet SQL-231.

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::Result;

use super::Grammar;
use super::cursor::Cursor;
use crate::sql::statement::Statement;

impl Grammar<'_> {
    pub(super) fn explain(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        c.next();
        // `EXPLAIN (ANALYZE, ..) ..` is the engine's own form.
        let options = *c.peek() == Token::LParen;
        let mut at = c.clone();
        let (analyze, verbose) = match options {
            true => {
                at.skip_group()?;
                (false, false)
            }
            false => (at.eat(&["ANALYZE"]), at.eat(&["VERBOSE"])),
        };
        let format = match !options && at.eat(&["FORMAT"]) {
            true => Some(at.identifier()?),
            false => None,
        };
        let statement = self.statement(&mut at)?;
        if matches!(
            statement,
            Statement::Engine(_) | Statement::Prepare { .. } | Statement::Execute { .. } | Statement::Deallocate(_)
        ) {
            return Ok(None);
        }
        if options {
            return Err(c.unsupported("EXPLAIN with options in parentheses for this statement"));
        }
        *c = at;
        Ok(Some(Statement::Explain { analyze, verbose, format, statement: Box::new(statement) }))
    }
}
