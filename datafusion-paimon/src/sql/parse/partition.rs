//! Partition specs: `PARTITION (dt = 'a', h = 1)`. Source: SQL sheet SQL-113.

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::{Error, Result};

use super::cursor::Cursor;
use crate::sql::statement::PartitionValue;

impl Cursor {
    /// Columns in parentheses, each with `= value` or, if `names_allowed`, without.
    pub(crate) fn partition_spec(&mut self, names_allowed: bool) -> Result<Vec<PartitionValue>> {
        let spec = self.list(|c| {
            let name = c.identifier()?;
            if c.eat_token(&Token::Eq) {
                return Ok((name, Some(c.expression(&[])?)));
            }
            if names_allowed && matches!(c.peek(), Token::Comma | Token::RParen) {
                return Ok((name, None));
            }
            Err(c.expected("= and a value (a partition spec takes nothing else)"))
        })?;
        for (i, (name, _)) in spec.iter().enumerate() {
            if spec[..i].iter().any(|(other, _)| other == name) {
                return Err(Error::invalid_input(format!("partition column {name} is given twice")));
            }
        }
        Ok(spec)
    }
}
