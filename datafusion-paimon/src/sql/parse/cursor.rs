//! A position in the tokens of a statement, with the small reads that every grammar rule is made of.
//!
//! Invariants: unquoted identifiers are folded here and nowhere else, so DDL and queries agree; every error says what
//! was expected, what was found, and where.

use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Word};
use paimon_core::{Error, Result};

use crate::sql::tokens::{Fragment, at};

/// A name of one to three parts, each as it is looked up.
pub(crate) type Name = Vec<String>;

/// Reads tokens one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Cursor {
    tokens: Vec<TokenWithSpan>,
    position: usize,
    fold: bool,
}

impl Cursor {
    /// A cursor before the first token; `fold` says whether unquoted identifiers become lower case.
    pub(crate) fn new(tokens: Vec<TokenWithSpan>, fold: bool) -> Self {
        Self { tokens, position: 0, fold }
    }

    /// The token at the cursor; [`Token::EOF`] at the end.
    pub(crate) fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    /// The token `n` tokens ahead.
    pub(crate) fn peek_at(&self, n: usize) -> &Token {
        self.tokens.get(self.position + n).map_or(&Token::EOF, |t| &t.token)
    }

    /// Where the cursor stands; empty at the end.
    pub(crate) fn location(&self) -> Location {
        self.tokens.get(self.position).map_or_else(Location::empty, |t| t.span.start)
    }

    /// Whether no token is left.
    pub(crate) fn at_end(&self) -> bool {
        self.position >= self.tokens.len()
    }

    /// Takes the token at the cursor.
    pub(crate) fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.position = (self.position + 1).min(self.tokens.len());
        token
    }

    /// How many tokens were taken.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Goes back to a position.
    pub(crate) fn rewind(&mut self, position: usize) {
        self.position = position;
    }

    /// All that is left.
    pub(crate) fn rest(&mut self) -> Fragment {
        let rest = Fragment(self.tokens[self.position..].to_vec());
        self.position = self.tokens.len();
        rest
    }

    /// The tokens between a position and the cursor.
    pub(crate) fn since(&self, position: usize) -> Fragment {
        Fragment(self.tokens[position..self.position].to_vec())
    }

    /// Whether this unquoted word is at the cursor.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.is_at(0, word)
    }

    /// Whether this unquoted word is `n` tokens ahead.
    pub(crate) fn is_at(&self, n: usize, word: &str) -> bool {
        matches!(self.peek_at(n), Token::Word(Word { value, quote_style: None, .. }) if value.eq_ignore_ascii_case(word))
    }

    /// Whether these unquoted words are at the cursor.
    pub(crate) fn are(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(n, word)| self.is_at(n, word))
    }

    /// Whether one of these unquoted words is at the cursor.
    pub(crate) fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    /// Takes the words if all are there.
    pub(crate) fn eat(&mut self, words: &[&str]) -> bool {
        let found = self.are(words);
        if found {
            self.position += words.len();
        }
        found
    }

    /// Takes the word.
    ///
    /// # Errors
    /// `InvalidInput` if another token is there; so for all that follow.
    pub(crate) fn expect(&mut self, word: &str) -> Result<()> {
        if self.eat(&[word]) { Ok(()) } else { Err(self.expected(word)) }
    }

    /// Takes the token if it is there.
    pub(crate) fn eat_token(&mut self, token: &Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.position += 1;
        }
        found
    }

    /// Takes the token.
    pub(crate) fn expect_token(&mut self, token: &Token) -> Result<()> {
        if self.eat_token(token) { Ok(()) } else { Err(self.expected(&token.to_string())) }
    }

    /// Takes `>`, also out of `>>`, which two nested types end with.
    pub(crate) fn expect_closing_angle(&mut self) -> Result<()> {
        if *self.peek() == Token::ShiftRight {
            // One of the two stays.
            self.tokens[self.position].token = Token::Gt;
            return Ok(());
        }
        self.expect_token(&Token::Gt)
    }

    /// The end of the statement.
    pub(crate) fn expect_end(&self) -> Result<()> {
        if self.at_end() { Ok(()) } else { Err(self.expected("the end of the statement")) }
    }

    /// The error that something else was expected at the cursor.
    pub(crate) fn expected(&self, what: &str) -> Error {
        let found = match self.peek() {
            Token::EOF => "the end of the statement".to_owned(),
            token => Fragment(vec![TokenWithSpan::wrap(token.clone())]).to_string(),
        };
        Error::invalid_input(format!("syntax error: expected {what}, found {found}{}", at(self.location())))
    }

    /// The error that a part of the statement, at the cursor, is not supported.
    pub(crate) fn unsupported(&self, what: &str) -> Error {
        Error::unsupported(format!("{what} is not supported{}", at(self.location())))
    }

    /// An identifier: a quoted one as written, another one folded.
    pub(crate) fn identifier(&mut self) -> Result<String> {
        match self.peek() {
            Token::Word(Word { value, quote_style: Some(_), .. }) if !value.is_empty() => {
                let value = value.clone();
                self.position += 1;
                Ok(value)
            }
            Token::Word(Word { value, quote_style: None, .. }) => {
                let value = if self.fold { value.to_ascii_lowercase() } else { value.clone() };
                self.position += 1;
                Ok(value)
            }
            _ => Err(self.expected("a name")),
        }
    }

    /// A name of one to three parts.
    pub(crate) fn name(&mut self) -> Result<Name> {
        let name = self.path()?;
        if name.len() > 3 {
            return Err(Error::invalid_input(format!(
                "{} has {} parts; a name has one to three: [catalog.][database.]object",
                name.join("."),
                name.len()
            )));
        }
        Ok(name)
    }

    /// Identifiers with dots between.
    pub(crate) fn path(&mut self) -> Result<Vec<String>> {
        let mut path = vec![self.identifier()?];
        while self.eat_token(&Token::Period) {
            path.push(self.identifier()?);
        }
        Ok(path)
    }

    /// A string literal.
    pub(crate) fn string(&mut self) -> Result<String> {
        match self.peek() {
            Token::SingleQuotedString(text) => {
                let text = text.clone();
                self.position += 1;
                Ok(text)
            }
            _ => Err(self.expected("a string")),
        }
    }

    /// A whole number without sign.
    pub(crate) fn unsigned(&mut self) -> Result<u32> {
        match self.peek() {
            Token::Number(text, false) => match text.parse() {
                Ok(number) => {
                    self.position += 1;
                    Ok(number)
                }
                Err(_) => Err(self.expected("a whole number")),
            },
            _ => Err(self.expected("a whole number")),
        }
    }

    /// Items with commas between, in parentheses; at least one.
    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect_token(&Token::LParen)?;
        let mut items = vec![item(self)?];
        while self.eat_token(&Token::Comma) {
            items.push(item(self)?);
        }
        self.expect_token(&Token::RParen)?;
        Ok(items)
    }

    /// Takes a pair of brackets with what is in it, or one token.
    pub(crate) fn skip_group(&mut self) -> Result<()> {
        let closing = match self.next() {
            Token::LParen => Token::RParen,
            Token::LBracket => Token::RBracket,
            Token::LBrace => Token::RBrace,
            Token::EOF => return Err(self.expected("an expression")),
            _ => return Ok(()),
        };
        // Iterative: brackets of one kind are counted, others lie within them.
        let opening = self.tokens[self.position - 1].token.clone();
        let mut depth = 1;
        while depth > 0 {
            match self.next() {
                Token::EOF => return Err(self.expected(&closing.to_string())),
                token if token == opening => depth += 1,
                token if token == closing => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// An expression up to a comma, a closing bracket, the end, or a word that `ends` it; at least one token.
    pub(crate) fn expression(&mut self, ends: &[&str]) -> Result<Fragment> {
        let start = self.position;
        while !matches!(self.peek(), Token::EOF | Token::Comma | Token::RParen | Token::RBracket | Token::RBrace)
            && (self.position == start || !self.is_any(ends))
        {
            self.skip_group()?;
        }
        if self.position == start {
            return Err(self.expected("an expression"));
        }
        Ok(self.since(start))
    }
}
