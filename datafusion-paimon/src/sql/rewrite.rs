//! From the tokens of a query to tokens that the engine's parser reads: versions by name, and hints.
//!
//! Invariants: only `VERSION AS OF`, `FOR {VERSION | SYSTEM_VERSION | TIMESTAMP} AS OF` and hints are touched, never strings,
//! quoted names or comments; positions are kept. The parser takes a version of any form only where a table may have one,
//! so a hint elsewhere is a syntax error. Source: SQL sheet section 7, SQL-210, SQL-340.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};
use paimon_core::Result;

use super::parse::hint_options;
use super::tokens::hint_text;

/// Function that stands for `VERSION AS OF x` behind `TIMESTAMP AS OF`.
pub(crate) const VERSION_CALL: &str = "__paimon_version";
/// Function that stands for a hint: perhaps a version or time, then keys and values.
pub(crate) const HINT_CALL: &str = "__paimon_hint";
/// Function that stands for `TIMESTAMP AS OF x` within a hint.
pub(crate) const TIME_CALL: &str = "__paimon_time";

/// Words behind a relation and its version: where one of them stands, the version has ended.
const ENDS: [Keyword; 20] = [
    Keyword::AS,
    Keyword::JOIN,
    Keyword::LEFT,
    Keyword::RIGHT,
    Keyword::FULL,
    Keyword::INNER,
    Keyword::CROSS,
    Keyword::NATURAL,
    Keyword::WHERE,
    Keyword::GROUP,
    Keyword::HAVING,
    Keyword::ORDER,
    Keyword::LIMIT,
    Keyword::UNION,
    Keyword::EXCEPT,
    Keyword::INTERSECT,
    Keyword::ON,
    Keyword::USING,
    Keyword::SELECT,
    Keyword::WINDOW,
];

/// Rewrites the tokens of a statement.
///
/// # Errors
/// `InvalidInput` for a malformed hint.
pub(crate) fn rewrite(tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>> {
    Rewriter { output: Vec::with_capacity(tokens.len()), clause: None, depth: 0 }.run(tokens)
}

/// A version clause that has begun.
struct Clause {
    /// Where it begins in the output.
    start: usize,
    /// Brackets open there.
    depth: usize,
    /// Whether its value is a time.
    time: bool,
}

struct Rewriter {
    output: Vec<TokenWithSpan>,
    clause: Option<Clause>,
    depth: usize,
}

fn keyword(token: Option<&TokenWithSpan>) -> Keyword {
    match token.map(|t| &t.token) {
        Some(Token::Word(Word { keyword, quote_style: None, .. })) => *keyword,
        _ => Keyword::NoKeyword,
    }
}

fn is_word(token: Option<&TokenWithSpan>, text: &str) -> bool {
    matches!(token.map(|t| &t.token), Some(Token::Word(Word { value, quote_style: None, .. })) if value.eq_ignore_ascii_case(text))
}

impl Rewriter {
    fn run(mut self, tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>> {
        let mut i = 0;
        while let Some(token) = tokens.get(i) {
            if hint_text(&token.token).is_some() {
                self.hint(token)?;
                i += 1;
            } else if let Some(taken) = self.version(&tokens, i) {
                i += taken;
            } else {
                self.track(token);
                self.output.push(token.clone());
                i += 1;
            }
        }
        Ok(self.output)
    }

    /// Notices where a version clause ends.
    fn track(&mut self, token: &TokenWithSpan) {
        match token.token {
            Token::LParen | Token::LBracket => self.depth += 1,
            Token::RParen | Token::RBracket => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        let ended = self.clause.as_ref().is_some_and(|clause| {
            self.depth < clause.depth
                || self.depth == clause.depth && (token.token == Token::Comma || ENDS.contains(&keyword(Some(token))))
        });
        if ended {
            self.clause = None;
        }
    }

    fn push(&mut self, text: &str, span: Span) {
        self.output.push(TokenWithSpan::new(Token::make_word(text, None), span));
    }

    fn push_token(&mut self, token: Token, span: Span) {
        self.output.push(TokenWithSpan::new(token, span));
    }

    /// `[FOR] {VERSION | SYSTEM_VERSION | TIMESTAMP | SYSTEM_TIME} AS OF`; gives how many tokens it took. A string behind
    /// VERSION is taken too.
    fn version(&mut self, tokens: &[TokenWithSpan], at: usize) -> Option<usize> {
        let with_for = usize::from(keyword(tokens.get(at)) == Keyword::FOR);
        let word = tokens.get(at + with_for);
        let by_version = is_word(word, "VERSION") || with_for == 1 && is_word(word, "SYSTEM_VERSION");
        let by_time = is_word(word, "TIMESTAMP") || with_for == 1 && is_word(word, "SYSTEM_TIME");
        let (as_word, of_word) = (tokens.get(at + with_for + 1), tokens.get(at + with_for + 2));
        if !(by_version || by_time) || keyword(as_word) != Keyword::AS || !is_word(of_word, "OF") {
            return None;
        }
        // Behind a list of columns this is an alias called `of`.
        if at == 0 || matches!(self.output.last().map(|t| &t.token), Some(Token::Comma | Token::LParen)) {
            return None;
        }
        self.clause = Some(Clause { start: self.output.len(), depth: self.depth, time: by_time });
        let span = word?.span;
        let value = tokens.get(at + with_for + 3);
        self.push(if by_time { "TIMESTAMP" } else { "VERSION" }, span);
        self.output.extend([as_word?.clone(), of_word?.clone()]);
        match value {
            Some(TokenWithSpan { token: Token::SingleQuotedString(text), span }) if by_version => {
                // The parser reads only a number behind VERSION.
                let start = self.output.len() - 3;
                self.output[start].token = Token::make_word("TIMESTAMP", None);
                self.push(VERSION_CALL, *span);
                self.push_token(Token::LParen, *span);
                self.push_token(Token::SingleQuotedString(text.clone()), *span);
                self.push_token(Token::RParen, *span);
                Some(with_for + 4)
            }
            _ => Some(with_for + 3),
        }
    }

    /// A hint, behind a name or behind a version clause.
    fn hint(&mut self, hint: &TokenWithSpan) -> Result<()> {
        let options = hint_options(hint)?;
        let span = hint.span;
        let selector = match self.clause.take() {
            Some(clause) => {
                let value = self.output.split_off(clause.start).split_off(3);
                Some((clause.time, value))
            }
            None => None,
        };
        for word in ["TIMESTAMP", "AS", "OF", HINT_CALL] {
            self.push(word, span);
        }
        self.push_token(Token::LParen, span);
        let mut first = true;
        if let Some((time, value)) = selector {
            first = false;
            let call = if is_word(value.first(), VERSION_CALL) {
                None
            } else if time {
                Some(TIME_CALL)
            } else {
                Some(VERSION_CALL)
            };
            if let Some(call) = call {
                self.push(call, span);
                self.push_token(Token::LParen, span);
            }
            self.output.extend(value);
            if call.is_some() {
                self.push_token(Token::RParen, span);
            }
        }
        for text in options.into_iter().flat_map(|(key, value)| [key, value]) {
            if !std::mem::take(&mut first) {
                self.push_token(Token::Comma, span);
            }
            self.push_token(Token::SingleQuotedString(text), span);
        }
        self.push_token(Token::RParen, span);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;
    use crate::sql::dialect::PaimonDialect;
    use crate::sql::tokens::{Fragment, tokenize};

    fn rewritten(sql: &str) -> String {
        Fragment(rewrite(tokenize(sql).unwrap()).unwrap()).to_string()
    }

    fn parses(sql: &str) -> bool {
        let tokens = rewrite(tokenize(sql).unwrap()).unwrap();
        Parser::new(&PaimonDialect).with_tokens_with_locations(tokens).parse_statements().is_ok()
    }

    #[test]
    fn versions_by_name() {
        let cases = [
            ("SELECT * FROM t VERSION AS OF 3", "SELECT * FROM t VERSION AS OF 3"),
            ("SELECT * FROM t version  as of 'a b' x", "SELECT * FROM t TIMESTAMP as of __paimon_version ('a b') x"),
            ("SELECT * FROM t FOR VERSION AS OF 3", "SELECT * FROM t VERSION AS OF 3"),
            ("SELECT * FROM t FOR SYSTEM_TIME AS OF now()", "SELECT * FROM t TIMESTAMP AS OF now ()"),
            ("SELECT 1 AS \"version as of 1 x\"", "SELECT 1 AS \"version as of 1 x\""),
            ("SELECT 'VERSION AS OF 1' FROM t", "SELECT 'VERSION AS OF 1' FROM t"),
            ("SELECT * FROM t FOR UPDATE", "SELECT * FROM t FOR UPDATE"),
        ];
        for (sql, expected) in cases {
            assert_eq!(rewritten(sql), expected, "{sql}");
            assert!(parses(sql), "{sql}");
        }
    }

    #[test]
    fn hints_become_versions() {
        let cases = [
            (
                "SELECT * FROM d.t /*+ OPTIONS('a' = 'b', 'c' = '1') */ AS x",
                "SELECT * FROM d.t TIMESTAMP AS OF __paimon_hint ('a', 'b', 'c', '1') AS x",
            ),
            (
                "SELECT * FROM t VERSION AS OF 'x' /*+ OPTIONS('a' = 'b') */ y",
                "SELECT * FROM t TIMESTAMP AS OF __paimon_hint (__paimon_version ('x'), 'a', 'b') y",
            ),
            (
                "SELECT * FROM t VERSION AS OF 3 /*+ OPTIONS('a' = 'b') */",
                "SELECT * FROM t TIMESTAMP AS OF __paimon_hint (__paimon_version (3), 'a', 'b')",
            ),
            (
                "SELECT * FROM t TIMESTAMP AS OF now() - INTERVAL '1' HOUR /*+ OPTIONS('a' = 'b') */, u",
                "SELECT * FROM t TIMESTAMP AS OF __paimon_hint (__paimon_time (now () - INTERVAL '1' HOUR), 'a', 'b'), u",
            ),
            (
                "SELECT * FROM t VERSION AS OF 3 JOIN u /*+ OPTIONS('a' = 'b') */ ON true",
                "SELECT * FROM t VERSION AS OF 3 JOIN u TIMESTAMP AS OF __paimon_hint ('a', 'b') ON true",
            ),
        ];
        for (sql, expected) in cases {
            assert_eq!(rewritten(sql), expected, "{sql}");
            assert!(parses(sql), "{sql}");
        }
    }

    #[test]
    fn hints_elsewhere_are_no_sql() {
        for sql in [
            "SELECT /*+ OPTIONS('a' = 'b') */ * FROM t",
            "SELECT * FROM t AS x /*+ OPTIONS('a' = 'b') */",
            "SELECT * FROM t x /*+ OPTIONS('a' = 'b') */ WHERE true",
            "SELECT * FROM t VERSION AS OF 1 x /*+ OPTIONS('a' = 'b') */",
            "SELECT a FROM t WHERE a /*+ OPTIONS('a' = 'b') */ = 1",
            "SELECT * FROM t a VERSION AS OF 1",
            "SELECT * FROM t VERSION AS OF tag",
            "SELECT * FROM t VERSION AS OF -1",
        ] {
            assert!(!parses(sql), "{sql}: {}", rewritten(sql));
        }
    }
}
