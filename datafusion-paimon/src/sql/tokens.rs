//! From text to the tokens of one statement, and back.
//!
//! Invariants: strings, quoted names and comments are never looked into; every token keeps its position; white space is
//! dropped, but a hint `/*+ OPTIONS(..) */` stays in the stream, where nothing but [`super::rewrite`] and the target of an
//! INSERT takes it. Nesting and chains of operators are bounded, because syntax trees are walked recursively.
//! Source: SQL sheet SQL-003, SQL-340, SQL-342.

use std::fmt;

use datafusion::sql::sqlparser::keywords::{ALL_KEYWORDS, Keyword};
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Whitespace, Word};
use paimon_core::{Error, Result};

use super::dialect::PaimonDialect;

/// Brackets may nest so deep, and so many queries may be united.
const MAX_DEPTH: usize = 1_000;
/// So many OR may be chained in one expression; their tree is balanced (`balance.rs`). Of AND as many as of levels: the
/// engine takes such a chain apart and puts it together again one below the other.
const MAX_ALTERNATIVES: usize = 10_000;
/// So many other operators may be chained in one expression: the engine names the columns of SELECT by a recursion that is
/// not protected against deep expressions.
const MAX_CHAIN: usize = 200;

/// Some tokens of a statement, kept for the engine's parser. Equal if the tokens are; positions do not count.
#[derive(Clone, Default)]
pub(crate) struct Fragment(pub(crate) Vec<TokenWithSpan>);

impl Fragment {
    /// The tokens of a text, as [`tokenize`] gives them.
    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Result<Self> {
        tokenize(text).map(Self)
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> Location {
        self.0.first().map_or_else(Location::empty, |t| t.span.start)
    }
}

impl PartialEq for Fragment {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(|t| &t.token).eq(other.0.iter().map(|t| &t.token))
    }
}

impl fmt::Debug for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

impl fmt::Display for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |i: usize| matches!(self.0.get(i).map(|t| &t.token), Some(Token::Word(_)));
        for (i, token) in self.0.iter().enumerate() {
            // Brackets, commas, and dots between words read the same without a blank; anything else may not.
            let glued = i == 0
                || matches!(token.token, Token::Comma | Token::RParen | Token::RBracket)
                || matches!(self.0[i - 1].token, Token::LParen | Token::LBracket)
                || token.token == Token::Period && word(i - 1) && word(i + 1)
                || self.0[i - 1].token == Token::Period && word(i) && i > 1 && word(i - 2);
            if !glued {
                f.write_str(" ")?;
            }
            write_token(f, &token.token)?;
        }
        Ok(())
    }
}

/// Writes a token so that it reads back as itself; sqlparser's own `Display` leaves out the escapes.
fn write_token(f: &mut fmt::Formatter<'_>, token: &Token) -> fmt::Result {
    match token {
        Token::SingleQuotedString(text) => f.write_str(&quote_string(text)),
        Token::NationalStringLiteral(text) => write!(f, "N{}", quote_string(text)),
        Token::EscapedStringLiteral(text) => {
            let escaped = text.replace('\\', "\\\\").replace('\'', "''").replace('\n', "\\n");
            write!(f, "E'{escaped}'")
        }
        Token::Word(Word { value, quote_style: Some(quote @ ('"' | '`')), .. }) => {
            let doubled = value.replace(*quote, &format!("{quote}{quote}"));
            write!(f, "{quote}{doubled}{quote}")
        }
        other => write!(f, "{other}"),
    }
}

/// A string literal.
pub(crate) fn quote_string(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// An identifier, in quotes unless it reads back as itself without.
pub(crate) fn quote_identifier(name: &str) -> String {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(|c| c.is_ascii_lowercase() || c == '_')
        && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '$'))
        && !is_keyword(name);
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Words that are keywords somewhere but stand for themselves as names in every statement of ours.
const HARMLESS: [&str; 24] = [
    "id",
    "name",
    "key",
    "value",
    "data",
    "date",
    "time",
    "timestamp",
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
    "type",
    "status",
    "text",
    "level",
    "location",
    "owner",
    "comment",
    "version",
    "action",
    "number",
];

fn is_keyword(name: &str) -> bool {
    !HARMLESS.contains(&name) && ALL_KEYWORDS.binary_search(&name.to_ascii_uppercase().as_str()).is_ok()
}

/// Whether a comment is a hint of ours.
fn is_hint(comment: &str) -> bool {
    let Some(rest) = comment.strip_prefix('+') else { return false };
    let rest = rest.trim_start();
    rest.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("OPTIONS"))
        && !rest[7..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

/// The text of a hint, behind its `+`, if the token is one.
pub(crate) fn hint_text(token: &Token) -> Option<&str> {
    match token {
        Token::Whitespace(Whitespace::MultiLineComment(text)) => text.strip_prefix('+'),
        _ => None,
    }
}

/// The tokens of exactly one statement.
///
/// # Errors
/// `InvalidInput` with line and column: text that is no token, no statement, a second statement, nesting too deep.
pub(crate) fn tokenize(text: &str) -> Result<Vec<TokenWithSpan>> {
    let tokens = Tokenizer::new(&PaimonDialect, text)
        .tokenize_with_location()
        .map_err(|e| Error::invalid_input(format!("{}{}", e.message, at(e.location))))?;
    let mut tokens: Vec<TokenWithSpan> = tokens
        .into_iter()
        .filter(|t| match &t.token {
            Token::Whitespace(Whitespace::MultiLineComment(text)) => is_hint(text),
            Token::Whitespace(_) | Token::EOF => false,
            _ => true,
        })
        .collect();
    while tokens.last().is_some_and(|t| t.token == Token::SemiColon) {
        tokens.pop();
    }
    if tokens.is_empty() {
        return Err(Error::invalid_input("No SQL statement"));
    }
    if let Some(i) = tokens.iter().position(|t| t.token == Token::SemiColon) {
        let second = tokens.get(i + 1).unwrap_or(&tokens[i]).span.start;
        return Err(Error::invalid_input(format!("expected one statement, found a second one{}", at(second))));
    }
    check_depth(&tokens)?;
    Ok(tokens)
}

/// ` at line l, column c`, or nothing if the position is not known.
pub(crate) fn at(location: Location) -> String {
    match location.line {
        0 => String::new(),
        line => format!(" at line {line}, column {}", location.column),
    }
}

/// What a token does to the depth of the expression it stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// One level more.
    Chain,
    /// AND.
    And,
    /// OR.
    Or,
    /// UNION and the like.
    SetOperator,
    /// Another expression begins.
    Fresh,
    None,
}

fn effect(token: &Token) -> Effect {
    use Keyword as K;
    let word = match token {
        Token::Comma => return Effect::Fresh,
        Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::HexStringLiteral(_)
        | Token::Placeholder(_)
        | Token::Whitespace(_)
        | Token::LParen
        | Token::RParen
        | Token::LBrace
        | Token::RBracket
        | Token::RBrace => return Effect::None,
        Token::Word(word) if word.quote_style.is_some() => return Effect::None,
        Token::Word(word) => word.keyword,
        // Operators, dots and subscripts.
        _ => return Effect::Chain,
    };
    match word {
        K::AND => Effect::And,
        K::OR => Effect::Or,
        K::XOR | K::NOT | K::IS | K::IN | K::LIKE | K::ILIKE | K::BETWEEN | K::DIV | K::COLLATE | K::AT => {
            Effect::Chain
        }
        K::UNION | K::EXCEPT | K::INTERSECT | K::MINUS => Effect::SetOperator,
        K::SELECT | K::FROM | K::WHERE | K::VALUES | K::ON | K::HAVING | K::SET => Effect::Fresh,
        K::WHEN | K::THEN | K::ELSE => Effect::Fresh,
        _ => Effect::None,
    }
}

/// The expression within one pair of brackets.
#[derive(Clone, Copy, Default)]
struct Level {
    chain: usize,
    conditions: usize,
    alternatives: usize,
    set_operators: usize,
    deepest_chain: usize,
    most_conditions: usize,
    most_alternatives: usize,
}

impl Level {
    fn take(&mut self, effect: Effect) {
        match effect {
            Effect::Chain => self.chain += 1,
            Effect::And => {
                self.conditions += 1;
                self.chain = 0;
            }
            Effect::Or => {
                self.alternatives += 1;
                (self.chain, self.conditions) = (0, 0);
            }
            Effect::SetOperator => self.set_operators += 1,
            Effect::Fresh => (self.chain, self.conditions, self.alternatives) = (0, 0, 0),
            Effect::None => {}
        }
        self.deepest_chain = self.deepest_chain.max(self.chain);
        self.most_conditions = self.most_conditions.max(self.conditions);
        self.most_alternatives = self.most_alternatives.max(self.alternatives);
    }

    /// What stood in brackets is an operand of this expression.
    fn close(&mut self, inner: &Self) {
        self.chain = self.chain.max(inner.deepest_chain + 1);
        self.conditions = self.conditions.max(inner.most_conditions);
        self.alternatives = self.alternatives.max(inner.most_alternatives);
        self.take(Effect::None);
    }

    fn is_too_deep(&self) -> bool {
        self.deepest_chain > MAX_CHAIN
            || self.most_conditions > MAX_DEPTH
            || self.most_alternatives > MAX_ALTERNATIVES
            || self.set_operators > MAX_DEPTH
    }
}

fn check_depth(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut outer: Vec<Level> = Vec::new();
    let mut level = Level::default();
    for token in tokens {
        level.take(effect(&token.token));
        match &token.token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                outer.push(level);
                level = Level::default();
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                if let Some(mut around) = outer.pop() {
                    around.close(&level);
                    level = around;
                }
            }
            _ => {}
        }
        if level.is_too_deep() || outer.len() > MAX_DEPTH {
            return Err(Error::invalid_input(format!(
                "the statement nests too deep: more than {MAX_CHAIN} operators in one chain, {MAX_ALTERNATIVES} OR, \
                 {MAX_DEPTH} AND or {MAX_DEPTH} levels{}",
                at(token.span.start)
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sql: &str) -> Vec<String> {
        tokenize(sql).unwrap().iter().map(|t| t.token.to_string()).collect()
    }

    #[test]
    fn comments_go_and_hints_stay() {
        assert_eq!(texts("SELECT /* a /* nested */ b */ 1 -- end\n;;"), ["SELECT", "1"]);
        assert_eq!(texts("t /*+ OPTIONS('a' = 'b') */"), ["t", "/*+ OPTIONS('a' = 'b') */"]);
        assert_eq!(texts("t /*+ BROADCAST(t) */ /*+ OPTIONSET */"), ["t"]);
    }

    #[test]
    fn exactly_one_statement() {
        for sql in ["", " ; ", "-- nothing"] {
            assert_eq!(tokenize(sql).unwrap_err().message(), "No SQL statement", "{sql}");
        }
        let error = tokenize("SELECT 1;\n SELECT 2").unwrap_err();
        assert!(error.message().contains("line 2, column 2"), "{error}");
        assert_eq!(texts("SELECT ';'").len(), 2);
    }

    #[test]
    fn depth_is_bounded() {
        let cases = [
            format!("SELECT 1{}", " + 1".repeat(20_000)),
            format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000)),
            format!("SELECT {}1", "- ".repeat(20_000)),
            format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(20_000)),
            format!("SELECT a{}", "[1]".repeat(20_000)),
            format!("SELECT a{}", "::INT".repeat(20_000)),
            format!("SELECT {}1{}", "(".repeat(30), " + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1)".repeat(30)),
            format!("SELECT 1 WHERE a{}", " OR a".repeat(20_000)),
        ];
        for sql in cases {
            let error = tokenize(&sql).map(|tokens| tokens.len()).unwrap_err();
            assert!(error.message().contains("too deep"), "{error}");
        }
        tokenize(&format!("INSERT INTO t VALUES {}", "(1, -2), ".repeat(20_000) + "(1, 2)")).unwrap();
        tokenize(&format!("SELECT a IN ({}1)", "1, ".repeat(20_000))).unwrap();
        tokenize(&format!("SELECT 1 WHERE (a = 1{}) AND b", " OR a = 2".repeat(900))).unwrap();
        tokenize(&format!("SELECT {}1", "a + b, ".repeat(20_000))).unwrap();
        tokenize(&format!("SELECT a{}", " OR a AND b".repeat(5_000))).unwrap();
        tokenize(&format!("SELECT a{}", " AND a".repeat(900))).unwrap();
        assert!(tokenize(&format!("SELECT a{}", " AND a".repeat(1_100))).is_err());
    }

    #[test]
    fn fragments_read_back_as_themselves() {
        for sql in [
            r#"SELECT "a""b", `c``d`, 'it''s', X'00FF', a.b[1], x::INT, 1.5, -2, f(a => 1) FROM c.d."T x" t"#,
            "SELECT a FROM t /*+ OPTIONS('k' = 'v''w') */ AS x WHERE b <> 1 AND c <= 2 -- end",
            r"SELECT E'a\\b\'c', N'x', 'back\slash'",
        ] {
            let first = Fragment::parse(sql).unwrap();
            assert_eq!(Fragment::parse(&first.to_string()).unwrap(), first, "{first}");
        }
    }

    #[test]
    fn identifiers_are_quoted_where_they_must_be() {
        let cases = [
            ("id", "id"),
            ("t$snapshots", "t$snapshots"),
            ("select", "\"select\""),
            ("Id", "\"Id\""),
            ("a b", "\"a b\""),
            ("a\"b", "\"a\"\"b\""),
            ("naïve", "\"naïve\""),
            ("1a", "\"1a\""),
        ];
        for (name, expected) in cases {
            assert_eq!(quote_identifier(name), expected);
        }
    }
}
