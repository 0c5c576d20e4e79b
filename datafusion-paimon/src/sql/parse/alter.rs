//! ALTER TABLE and COMMENT ON.
//!
//! Invariants: actions keep their order; `,` begins the next action; what is not an action of the sheet is refused by name.
//! Source: SQL sheet section 5.

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::catalog::{ColumnMove, SchemaChange};
use paimon_core::types::DataField;
use paimon_core::{Error, Result};

use super::Grammar;
use super::cursor::Cursor;
use crate::sql::statement::{AlterAction, Statement, TagAction};

/// Actions that are refused, by their first words.
const REFUSED: [(&[&str], &str); 20] = [
    (&["ADD", "CONSTRAINT"], "ADD CONSTRAINT"),
    (&["ADD", "PRIMARY"], "ADD PRIMARY KEY"),
    (&["ADD", "UNIQUE"], "ADD UNIQUE"),
    (&["ADD", "FOREIGN"], "ADD FOREIGN KEY"),
    (&["ADD", "CHECK"], "ADD CHECK"),
    (&["ADD", "WATERMARK"], "ADD WATERMARK"),
    (&["ADD", "INDEX"], "ADD INDEX"),
    (&["ADD", "PARTITION"], "ADD PARTITION (a filesystem catalog has no list of partitions; insert rows)"),
    (&["ADD", "IF", "NOT", "EXISTS", "PARTITION"], "ADD PARTITION (a filesystem catalog has no list of partitions)"),
    (&["DROP", "CONSTRAINT"], "DROP CONSTRAINT"),
    (&["DROP", "PRIMARY"], "DROP PRIMARY KEY"),
    (&["DROP", "WATERMARK"], "DROP WATERMARK"),
    (&["RENAME", "PARTITION"], "RENAME PARTITION"),
    (&["RENAME", "CONSTRAINT"], "RENAME CONSTRAINT"),
    (&["PARTITION"], "a change of one partition"),
    (&["SWAP"], "SWAP"),
    (&["SET", "LOCATION"], "SET LOCATION"),
    (&["REPLACE", "COLUMNS"], "REPLACE COLUMNS"),
    (&["RECOVER"], "RECOVER PARTITIONS"),
    (&["OWNER"], "OWNER TO"),
];
/// Tags and branches by DDL.
const REFS: [&str; 5] = ["CREATE", "DELETE", "REPLACE", "FAST", "RENAME"];

impl Grammar<'_> {
    pub(super) fn alter(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        c.next();
        if c.is_any(&["DATABASE", "SCHEMA"]) {
            return Err(Error::unsupported("Alter database is not supported."));
        }
        if c.eat(&["VIEW"]) {
            let mut at = c.clone();
            at.eat(&["IF", "EXISTS"]);
            return match (self.is_ours)(&at.name()?) {
                true => Err(c.unsupported("ALTER VIEW (filesystem catalogs hold no views)")),
                false => Ok(None),
            };
        }
        if !c.eat(&["TABLE"]) {
            return Ok(None);
        }
        let if_exists = c.eat(&["IF", "EXISTS"]);
        let name = c.name()?;
        if !(self.is_ours)(&name) {
            return Ok(None);
        }
        let mut actions = action(c)?;
        while c.eat_token(&Token::Comma) {
            actions.extend(action(c)?);
        }
        let alone = |a: &AlterAction| {
            matches!(a, AlterAction::RenameTo(_) | AlterAction::Tag(_) | AlterAction::DropPartitions { .. })
        };
        if actions.len() > 1 && actions.iter().any(alone) {
            return Err(Error::unsupported(
                "RENAME TO, DROP PARTITION and changes of tags together with other actions are not supported; write two \
                 statements",
            ));
        }
        Ok(Some(Statement::AlterTable { name, if_exists, actions }))
    }

    pub(super) fn comment_on(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        c.next();
        c.expect("ON")?;
        let column = match (c.eat(&["TABLE"]), c.eat(&["COLUMN"])) {
            (true, _) => false,
            (_, true) => true,
            _ => return Err(c.unsupported("COMMENT ON anything but TABLE and COLUMN")),
        };
        let mut name = if column { c.path()? } else { c.name()? };
        let field = column.then(|| name.pop()).flatten();
        if name.is_empty() || name.len() > 3 {
            return Err(c.expected("the name of a table and of its column"));
        }
        if !(self.is_ours)(&name) {
            return Ok(None);
        }
        c.expect("IS")?;
        let comment = comment(c)?;
        let change = match field {
            Some(column) => SchemaChange::UpdateColumnComment { path: vec![column], comment },
            None => SchemaChange::UpdateComment { comment },
        };
        Ok(Some(Statement::AlterTable { name, if_exists: false, actions: vec![AlterAction::Change(change)] }))
    }
}

/// One action; some forms are several.
fn action(c: &mut Cursor) -> Result<Vec<AlterAction>> {
    for (words, what) in REFUSED {
        if c.are(words) {
            return Err(c.unsupported(what));
        }
    }
    if c.is_any(&REFS) && (c.is_at(1, "BRANCH") || c.is("FAST")) {
        return Err(c.unsupported("a change of branches by ALTER TABLE (CALL sys.create_branch and the like)"));
    }
    if c.is_any(&REFS) && (c.is_at(1, "TAG") || c.are(&["CREATE", "OR", "REPLACE", "TAG"])) {
        return tag(c).map(|action| vec![AlterAction::Tag(action)]);
    }
    if c.eat(&["ADD"]) {
        return add(c);
    }
    if c.eat(&["DROP"]) {
        return drop(c);
    }
    if c.eat(&["RENAME"]) {
        return rename(c).map(|a| vec![a]);
    }
    if c.eat(&["ALTER"]) {
        c.eat(&["COLUMN"]);
        return alter_column(c);
    }
    if c.eat(&["MODIFY"]) {
        c.eat(&["COLUMN"]);
        let path = c.path()?;
        return redefine(c, path);
    }
    if c.eat(&["CHANGE"]) {
        c.eat(&["COLUMN"]);
        return change(c);
    }
    if c.eat(&["SET"]) {
        return set(c);
    }
    if c.eat(&["UNSET"]) {
        c.eat(&["TBLPROPERTIES"]);
        let if_exists = c.eat(&["IF", "EXISTS"]);
        let keys = c.list(Cursor::option_key)?;
        return Ok(vec![AlterAction::Unset { keys, if_exists }]);
    }
    if c.eat(&["RESET"]) {
        let keys = c.list(Cursor::option_key)?;
        return Ok(vec![AlterAction::Unset { keys, if_exists: true }]);
    }
    if c.eat(&["COMMENT"]) {
        c.eat_token(&Token::Eq);
        let comment = comment(c)?;
        return Ok(vec![AlterAction::Change(SchemaChange::UpdateComment { comment })]);
    }
    Err(c.expected("ADD, DROP, RENAME, ALTER, MODIFY, CHANGE, SET, UNSET, RESET or COMMENT"))
}

/// CREATE, REPLACE, DELETE and RENAME TAG.
fn tag(c: &mut Cursor) -> Result<TagAction> {
    let or_replace = c.are(&["CREATE", "OR", "REPLACE"]);
    let must_exist = c.is("REPLACE");
    if or_replace {
        c.eat(&["CREATE", "OR", "REPLACE"]);
    }
    if !or_replace && c.eat(&["DELETE"]) {
        c.expect("TAG")?;
        let if_exists = c.eat(&["IF", "EXISTS"]);
        return Ok(TagAction::Delete { names: tag_name(c)?, if_exists });
    }
    if !or_replace && c.eat(&["RENAME"]) {
        c.expect("TAG")?;
        let from = tag_name(c)?;
        c.expect("TO")?;
        return Ok(TagAction::Rename { from, to: tag_name(c)? });
    }
    if !or_replace {
        c.next();
    }
    c.expect("TAG")?;
    let if_not_exists = !must_exist && c.eat(&["IF", "NOT", "EXISTS"]);
    if if_not_exists && or_replace {
        return Err(Error::invalid_input("OR REPLACE and IF NOT EXISTS exclude each other"));
    }
    let name = tag_name(c)?;
    let snapshot = match c.eat(&["AS", "OF", "VERSION"]) {
        true => Some(c.unsigned()?),
        false => None,
    };
    let retain = match c.eat(&["RETAIN"]) {
        true => Some(duration(c)?),
        false => None,
    };
    Ok(TagAction::Create { name, or_replace, must_exist, if_not_exists, snapshot, retain })
}

/// The name of a tag: an identifier, or a string, which is never folded.
fn tag_name(c: &mut Cursor) -> Result<String> {
    match c.peek() {
        Token::SingleQuotedString(_) => c.string(),
        _ => c.identifier(),
    }
}

/// `7 DAYS`.
fn duration(c: &mut Cursor) -> Result<String> {
    let number = c.unsigned()?;
    for (word, unit) in [("DAYS", "d"), ("HOURS", "h"), ("MINUTES", "min")] {
        if c.eat(&[word]) {
            return Ok(format!("{number} {unit}"));
        }
    }
    Err(c.expected("DAYS, HOURS or MINUTES"))
}

/// A comment, or NULL for none.
fn comment(c: &mut Cursor) -> Result<Option<String>> {
    if c.eat(&["NULL"]) { Ok(None) } else { c.string().map(Some) }
}

fn add(c: &mut Cursor) -> Result<Vec<AlterAction>> {
    let many = c.eat(&["COLUMNS"]);
    if !many {
        c.eat(&["COLUMN"]);
    }
    let if_not_exists = c.eat(&["IF", "NOT", "EXISTS"]);
    if many || *c.peek() == Token::LParen {
        return c.list(|c| add_column(c, if_not_exists));
    }
    Ok(vec![add_column(c, if_not_exists)?])
}

fn add_column(c: &mut Cursor, if_not_exists: bool) -> Result<AlterAction> {
    let path = c.path()?;
    let column = path.join(".");
    let data_type = c.bare_type().map_err(|e| Error::new(e.kind(), format!("{} for column {column}", e.message())))?;
    let mut field = DataField::new(0, path.last().cloned().unwrap_or_default(), data_type);
    let mut position = None;
    loop {
        if c.is("NOT") || c.is("NULL") {
            if c.nullability()? == Some(false) {
                return Err(Error::invalid_input(format!(
                    "column {column} cannot be added as NOT NULL, because rows that exist have no value for it"
                )));
            }
        } else if c.eat(&["COMMENT"]) {
            field.description = Some(c.string()?);
        } else if c.is("DEFAULT") {
            return Err(c.unsupported("DEFAULT of a column that is added (add it, then ALTER COLUMN .. SET DEFAULT)"));
        } else if let Some(given) = move_to(c)? {
            position = Some(given);
        } else {
            break;
        }
    }
    let next = c.peek().clone();
    if !matches!(next, Token::Comma | Token::RParen | Token::EOF) {
        return Err(match next {
            Token::Word(word) if word.quote_style.is_none() => {
                c.unsupported(&format!("{} of a column that is added", word.value.to_ascii_uppercase()))
            }
            _ => c.expected("COMMENT, FIRST, AFTER or the end of the column"),
        });
    }
    Ok(AlterAction::AddColumn { path, field, position, if_not_exists })
}

/// `FIRST` or `AFTER c`.
fn move_to(c: &mut Cursor) -> Result<Option<ColumnMove>> {
    if c.eat(&["FIRST"]) {
        return Ok(Some(ColumnMove::First));
    }
    if c.eat(&["AFTER"]) {
        return Ok(Some(ColumnMove::After(c.identifier()?)));
    }
    Ok(None)
}

fn drop(c: &mut Cursor) -> Result<Vec<AlterAction>> {
    let partition_if_exists = c.are(&["IF", "EXISTS", "PARTITION"]);
    if partition_if_exists || c.is("PARTITION") {
        if partition_if_exists {
            c.eat(&["IF", "EXISTS"]);
        }
        return drop_partitions(c, partition_if_exists).map(|a| vec![a]);
    }
    let many = c.eat(&["COLUMNS"]);
    if !many {
        c.eat(&["COLUMN"]);
    }
    let if_exists = c.eat(&["IF", "EXISTS"]);
    let dropped = |path| AlterAction::DropColumn { path, if_exists };
    let actions = if many || *c.peek() == Token::LParen {
        c.list(Cursor::path)?.into_iter().map(dropped).collect()
    } else {
        vec![dropped(c.path()?)]
    };
    for word in ["CASCADE", "RESTRICT"] {
        if c.is(word) {
            return Err(c.unsupported(&format!("{word} of DROP COLUMN")));
        }
    }
    Ok(actions)
}

fn drop_partitions(c: &mut Cursor, if_exists: bool) -> Result<AlterAction> {
    let mut specs = Vec::new();
    loop {
        c.expect("PARTITION")?;
        specs.push(c.partition_spec(false)?);
        // `DROP PARTITION (..), PARTITION (..)` is one action, also written with DROP before each.
        if *c.peek() == Token::Comma && c.is_at(1, "PARTITION") {
            c.next();
        } else if *c.peek() == Token::Comma && c.is_at(1, "DROP") && c.is_at(2, "PARTITION") {
            c.next();
            c.next();
        } else {
            break;
        }
    }
    if c.is("PURGE") {
        return Err(c.unsupported("PURGE (files stay as long as snapshots need them)"));
    }
    Ok(AlterAction::DropPartitions { specs, if_exists })
}

fn rename(c: &mut Cursor) -> Result<AlterAction> {
    if c.eat(&["TO"]) && !c.is("TO") {
        return Ok(AlterAction::RenameTo(c.name()?));
    }
    c.eat(&["COLUMN"]);
    let path = c.path()?;
    c.expect("TO")?;
    Ok(AlterAction::Change(SchemaChange::RenameColumn { path, new_name: c.identifier()? }))
}

fn alter_column(c: &mut Cursor) -> Result<Vec<AlterAction>> {
    let path = c.path()?;
    let one = |change| Ok(vec![AlterAction::Change(change)]);
    if c.eat(&["TYPE"]) || c.eat(&["SET", "DATA", "TYPE"]) {
        let data_type = c.bare_type()?;
        if c.is_any(&["USING", "COLLATE"]) {
            return Err(c.unsupported("USING and COLLATE of ALTER COLUMN"));
        }
        return one(SchemaChange::UpdateColumnType { path, data_type, keep_nullability: true });
    }
    if c.eat(&["SET", "NOT", "NULL"]) {
        return one(SchemaChange::UpdateColumnNullability { path, nullable: false });
    }
    if c.eat(&["DROP", "NOT", "NULL"]) {
        return one(SchemaChange::UpdateColumnNullability { path, nullable: true });
    }
    if c.eat(&["SET", "DEFAULT"]) {
        return Ok(vec![AlterAction::SetDefault { path, default: c.expression(&[])? }]);
    }
    if c.eat(&["DROP", "DEFAULT"]) {
        return one(SchemaChange::UpdateColumnDefault { path, default_value: None });
    }
    if c.eat(&["COMMENT"]) {
        return one(SchemaChange::UpdateColumnComment { path, comment: comment(c)? });
    }
    if let Some(position) = move_to(c)? {
        return one(moved(&path, position)?);
    }
    Err(c.expected("TYPE, SET, DROP, COMMENT, FIRST or AFTER"))
}

fn moved(path: &[String], position: ColumnMove) -> Result<SchemaChange> {
    match path {
        [column] => Ok(SchemaChange::UpdateColumnPosition { column: column.clone(), position }),
        _ => Err(Error::unsupported(format!("moving the nested field {} is not supported", path.join(".")))),
    }
}

/// `c T [NOT NULL] [COMMENT 'x'] [FIRST | AFTER d]`
fn redefine(c: &mut Cursor, path: Vec<String>) -> Result<Vec<AlterAction>> {
    let data_type = c.bare_type()?;
    let mut changes = vec![SchemaChange::UpdateColumnType { path: path.clone(), data_type, keep_nullability: true }];
    loop {
        if let Some(nullable) = c.nullability()? {
            changes.push(SchemaChange::UpdateColumnNullability { path: path.clone(), nullable });
        } else if c.eat(&["COMMENT"]) {
            changes.push(SchemaChange::UpdateColumnComment { path: path.clone(), comment: Some(c.string()?) });
        } else if c.is("DEFAULT") {
            return Err(c.unsupported("DEFAULT here (ALTER COLUMN .. SET DEFAULT)"));
        } else if let Some(position) = move_to(c)? {
            changes.push(moved(&path, position)?);
        } else {
            break;
        }
    }
    Ok(changes.into_iter().map(AlterAction::Change).collect())
}

/// `CHANGE a b T ..`, and `CHANGE a ..` with no new name in the forms of ALTER COLUMN.
fn change(c: &mut Cursor) -> Result<Vec<AlterAction>> {
    let start = c.position();
    let mut path = c.path()?;
    if c.is_any(&["TYPE", "SET", "DROP", "COMMENT", "FIRST", "AFTER"])
        && !matches!(c.peek_at(1), Token::Word(w) if is_type(&w.value))
    {
        c.rewind(start);
        return alter_column(c);
    }
    let new_name = c.identifier()?;
    let mut actions = Vec::new();
    if path.last() != Some(&new_name) {
        actions
            .push(AlterAction::Change(SchemaChange::RenameColumn { path: path.clone(), new_name: new_name.clone() }));
        if let Some(last) = path.last_mut() {
            *last = new_name;
        }
    }
    actions.extend(redefine(c, path)?);
    Ok(actions)
}

/// Whether a word begins a type.
fn is_type(word: &str) -> bool {
    const WORDS: [&str; 24] = [
        "BOOLEAN",
        "TINYINT",
        "SMALLINT",
        "INT",
        "INTEGER",
        "BIGINT",
        "FLOAT",
        "REAL",
        "DOUBLE",
        "DECIMAL",
        "NUMERIC",
        "CHAR",
        "VARCHAR",
        "STRING",
        "TEXT",
        "BINARY",
        "VARBINARY",
        "BYTES",
        "DATE",
        "TIME",
        "TIMESTAMP",
        "ARRAY",
        "MAP",
        "ROW",
    ];
    WORDS.iter().any(|t| t.eq_ignore_ascii_case(word))
}

fn set(c: &mut Cursor) -> Result<Vec<AlterAction>> {
    if !c.eat(&["TBLPROPERTIES"]) {
        c.eat(&["OPTIONS"]);
    }
    if *c.peek() != Token::LParen {
        return Err(c.expected("TBLPROPERTIES or OPTIONS and a list of options"));
    }
    let options = c.options()?;
    if options.is_empty() {
        return Err(c.expected("an option"));
    }
    let change = |(key, value): (String, String)| {
        AlterAction::Change(match key.as_str() {
            "comment" => SchemaChange::UpdateComment { comment: Some(value) },
            _ => SchemaChange::SetOption { key, value },
        })
    };
    Ok(options.into_iter().map(change).collect())
}
