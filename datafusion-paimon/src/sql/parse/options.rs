//! Options in parentheses: `('k' = 'v', file.format = orc, bucket 4)`, and those of hints.
//!
//! Invariants: keys and values are kept as written; a key twice is an error. Source: SQL sheet SQL-071, SQL-210.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use paimon_core::{Error, Result};

use super::cursor::Cursor;
use crate::sql::tokens::{at, hint_text, tokenize};

impl Cursor {
    /// Options in parentheses; may be empty.
    pub(crate) fn options(&mut self) -> Result<Vec<(String, String)>> {
        self.expect_token(&Token::LParen)?;
        let mut options: Vec<(String, String)> = Vec::new();
        if self.eat_token(&Token::RParen) {
            return Ok(options);
        }
        loop {
            let location = self.location();
            let key = self.option_key()?;
            if !self.eat_token(&Token::Eq) {
                self.eat_token(&Token::DoubleEq);
            }
            let value = self.option_value()?;
            if options.iter().any(|(k, _)| *k == key) {
                return Err(Error::invalid_input(format!("option '{key}' is given twice{}", at(location))));
            }
            options.push((key, value));
            if !self.eat_token(&Token::Comma) {
                break;
            }
        }
        self.expect_token(&Token::RParen)?;
        Ok(options)
    }

    /// A key: a string, a quoted identifier, or words with dots and dashes.
    pub(crate) fn option_key(&mut self) -> Result<String> {
        match self.peek() {
            Token::SingleQuotedString(text) if !text.is_empty() => self.string(),
            Token::Word(_) => self.dashed_words(),
            _ => Err(self.expected("an option key")),
        }
    }

    /// A value as text: a string, a number, or words with dots and dashes.
    pub(crate) fn option_value(&mut self) -> Result<String> {
        match self.peek().clone() {
            Token::SingleQuotedString(_) => self.string(),
            Token::Minus | Token::Plus => {
                let sign = if self.next() == Token::Minus { "-" } else { "" };
                match self.next() {
                    Token::Number(number, _) => Ok(format!("{sign}{number}")),
                    _ => Err(self.expected("a number")),
                }
            }
            Token::Number(number, _) => {
                self.next();
                Ok(number)
            }
            Token::Word(_) => self.dashed_words(),
            _ => Err(self.expected("an option value: a string, a number, TRUE or FALSE")),
        }
    }

    /// Words with dots and dashes between, as option keys have them: `scan.snapshot-id`.
    fn dashed_words(&mut self) -> Result<String> {
        let mut text = String::new();
        loop {
            match self.peek() {
                Token::Word(word) => text.push_str(&word.value),
                Token::Number(number, _) => text.push_str(number),
                // `paimon.*.d.t.key`
                Token::Mul if text.ends_with('.') => text.push('*'),
                _ => return Err(self.expected("a word of an option key")),
            }
            self.next();
            match self.peek() {
                Token::Period => text.push('.'),
                Token::Minus => text.push('-'),
                // `a.0` reads as a word and the number `.0`.
                Token::Number(number, _) if number.starts_with('.') => continue,
                _ => return Ok(text),
            }
            self.next();
        }
    }
}

/// The options of a hint `/*+ OPTIONS(..) */`.
///
/// # Errors
/// `InvalidInput` for a hint that is malformed, with its position.
pub(crate) fn hint_options(hint: &TokenWithSpan) -> Result<Vec<(String, String)>> {
    let position = at(hint.span.start);
    let text = hint_text(&hint.token).unwrap_or_default();
    let parse = || {
        let mut cursor = Cursor::new(tokenize(text)?, false);
        cursor.expect("OPTIONS")?;
        let options = cursor.options()?;
        cursor.expect_end()?;
        Ok(options)
    };
    parse().map_err(|e: Error| Error::invalid_input(format!("in the hint{position}: {}", e.message())))
}
