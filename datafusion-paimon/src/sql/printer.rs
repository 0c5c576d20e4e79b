//! Writes statements, types and table definitions as text that reads back as the same value.
//!
//! Invariants: every identifier and string is quoted where it must be. SHOW CREATE TABLE and views use this and nothing
//! else. Source: SQL sheet SQL-043, SQL-341.

use std::fmt::{self, Display, Formatter, Write};

use paimon_core::catalog::{ColumnMove, SchemaChange};
use paimon_core::options::is_secret;
use paimon_core::types::{DataField, DataType, MAX_LENGTH};

use super::statement::*;
use super::tokens::{quote_identifier, quote_string};

/// Items with commas between.
fn joined(items: &[impl Display]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A type, with NOT NULL where it does not allow null.
pub(crate) fn type_text(data_type: &DataType) -> String {
    let mut text = bare_type_text(data_type);
    if !data_type.is_nullable() {
        text.push_str(" NOT NULL");
    }
    text
}

/// A type without its own nullability.
pub(crate) fn bare_type_text(data_type: &DataType) -> String {
    match data_type {
        DataType::Boolean(_) => "BOOLEAN".into(),
        DataType::TinyInt(_) => "TINYINT".into(),
        DataType::SmallInt(_) => "SMALLINT".into(),
        DataType::Int(_) => "INT".into(),
        DataType::BigInt(_) => "BIGINT".into(),
        DataType::Float(_) => "FLOAT".into(),
        DataType::Double(_) => "DOUBLE".into(),
        DataType::Decimal(t) => format!("DECIMAL({}, {})", t.precision(), t.scale()),
        DataType::Char(t) => format!("CHAR({})", t.length()),
        DataType::VarChar(t) if t.length() == MAX_LENGTH => "STRING".into(),
        DataType::VarChar(t) => format!("VARCHAR({})", t.length()),
        DataType::Binary(t) => format!("BINARY({})", t.length()),
        DataType::VarBinary(t) if t.length() == MAX_LENGTH => "BYTES".into(),
        DataType::VarBinary(t) => format!("VARBINARY({})", t.length()),
        DataType::Date(_) => "DATE".into(),
        DataType::Time(t) => format!("TIME({})", t.precision()),
        DataType::Timestamp(t) => format!("TIMESTAMP({})", t.precision()),
        DataType::LocalZonedTimestamp(t) => format!("TIMESTAMP({}) WITH LOCAL TIME ZONE", t.precision()),
        DataType::Array(t) => format!("ARRAY<{}>", type_text(t.element_type())),
        DataType::Multiset(t) => format!("MULTISET<{}>", type_text(t.element_type())),
        // Keys are NOT NULL whatever is written.
        DataType::Map(t) => format!("MAP<{}, {}>", bare_type_text(t.key_type()), type_text(t.value_type())),
        DataType::Row(t) => {
            let field = |f: &DataField| {
                let mut text = format!("{} {}", quote_identifier(&f.name), type_text(&f.data_type));
                if let Some(comment) = &f.description {
                    let _ = write!(text, " COMMENT {}", quote_string(comment));
                }
                text
            };
            format!("ROW<{}>", t.fields().iter().map(field).collect::<Vec<_>>().join(", "))
        }
        DataType::Variant(_) => "VARIANT".into(),
        DataType::Blob(_) => "BLOB".into(),
        DataType::Vector(t) => format!("VECTOR<{}, {}>", type_text(t.element_type()), t.length()),
    }
}

/// Parts with dots between.
pub(crate) fn name_text(name: &[String]) -> String {
    name.iter().map(|part| quote_identifier(part)).collect::<Vec<_>>().join(".")
}

fn names_text(names: &[Vec<String>]) -> String {
    names.iter().map(|n| name_text(n)).collect::<Vec<_>>().join(", ")
}

fn columns_text(columns: &[String]) -> String {
    format!("({})", columns.iter().map(|c| quote_identifier(c)).collect::<Vec<_>>().join(", "))
}

fn options_text(options: &[(String, String)]) -> String {
    let option = |(k, v): &(String, String)| format!("{} = {}", quote_string(k), quote_string(v));
    format!("({})", options.iter().map(option).collect::<Vec<_>>().join(", "))
}

fn secrets_hidden(options: &[(String, String)]) -> Vec<(String, String)> {
    let hide = |(k, v): &(String, String)| (k.clone(), if is_secret(k) { "******".to_owned() } else { v.clone() });
    options.iter().map(hide).collect()
}

fn keys_text(keys: &[String]) -> String {
    format!("({})", keys.iter().map(|k| quote_string(k)).collect::<Vec<_>>().join(", "))
}

fn spec_text(spec: &[PartitionValue]) -> String {
    let value = |(name, value): &PartitionValue| match value {
        Some(value) => format!("{} = {value}", quote_identifier(name)),
        None => quote_identifier(name),
    };
    format!("PARTITION ({})", spec.iter().map(value).collect::<Vec<_>>().join(", "))
}

fn when(condition: bool, text: &'static str) -> &'static str {
    if condition { text } else { "" }
}

impl Display for CreateTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.replace { "REPLACE " } else { "CREATE " })?;
        f.write_str(when(self.or_replace, "OR REPLACE "))?;
        f.write_str(when(self.temporary, "TEMPORARY "))?;
        write!(f, "TABLE {}{}", when(self.if_not_exists, "IF NOT EXISTS "), name_text(&self.name))?;
        let mut elements: Vec<String> = match &self.columns {
            Columns::Absent => Vec::new(),
            Columns::Named(names) => names.iter().map(|n| quote_identifier(n)).collect(),
            Columns::Typed(columns) => columns.iter().map(ToString::to_string).collect(),
        };
        if let Some(key) = &self.primary_key {
            elements.push(format!("PRIMARY KEY {} NOT ENFORCED", columns_text(key)));
        }
        if !elements.is_empty() {
            write!(f, " (\n  {}\n)", elements.join(",\n  "))?;
        }
        if let Some(like) = &self.like {
            write!(f, " LIKE {}{}", name_text(&like.source), when(!like.options, " (EXCLUDING OPTIONS)"))?;
        }
        if let Some(comment) = &self.comment {
            write!(f, "\nCOMMENT {}", quote_string(comment))?;
        }
        if let Some(columns) = &self.partitioned_by {
            write!(f, "\nPARTITIONED BY {}", columns_text(columns))?;
        }
        if !self.options.is_empty() {
            let option = |(k, v): &(String, String)| format!("  {} = {}", quote_string(k), quote_string(v));
            write!(f, "\nWITH (\n{}\n)", self.options.iter().map(option).collect::<Vec<_>>().join(",\n"))?;
        }
        if let Some(query) = &self.query {
            write!(f, "\nAS {query}")?;
        }
        Ok(())
    }
}

impl Display for Column {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", quote_identifier(&self.field.name), type_text(&self.field.data_type))?;
        if let Some(default) = &self.default {
            write!(f, " DEFAULT {default}")?;
        }
        if let Some(comment) = &self.field.description {
            write!(f, " COMMENT {}", quote_string(comment))?;
        }
        Ok(())
    }
}

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "INSERT {} {}", if self.overwrite { "OVERWRITE" } else { "INTO" }, name_text(&self.target))?;
        if !self.hint.is_empty() {
            write!(f, " /*+ OPTIONS{} */", options_text(&self.hint))?;
        }
        if let Some(partition) = &self.partition {
            write!(f, " {}", spec_text(partition))?;
        }
        if let Some(columns) = &self.columns {
            write!(f, " {}", columns_text(columns))?;
        }
        f.write_str(when(self.by_name, " BY NAME"))?;
        match &self.source {
            Some(source) => write!(f, " {source}"),
            None => f.write_str(" DEFAULT VALUES"),
        }
    }
}

fn path_text(path: &[String]) -> String {
    name_text(path)
}

fn move_text(position: &ColumnMove) -> String {
    match position {
        ColumnMove::First => " FIRST".into(),
        ColumnMove::After(column) => format!(" AFTER {}", quote_identifier(column)),
        // The grammar has no words for these two.
        ColumnMove::Last => " LAST".into(),
        ColumnMove::Before(column) => format!(" BEFORE {}", quote_identifier(column)),
    }
}

fn comment_text(comment: Option<&str>) -> String {
    comment.map_or_else(|| "NULL".to_owned(), quote_string)
}

fn change_text(change: &SchemaChange) -> String {
    match change {
        SchemaChange::SetOption { key, value } => {
            format!("SET TBLPROPERTIES ({} = {})", quote_string(key), quote_string(value))
        }
        SchemaChange::RemoveOption { key } => format!("RESET ({})", quote_string(key)),
        SchemaChange::UpdateComment { comment } => format!("COMMENT {}", comment_text(comment.as_deref())),
        SchemaChange::AddColumn { path, data_type, comment, position } => {
            let comment = comment.as_ref().map(|c| format!(" COMMENT {}", quote_string(c))).unwrap_or_default();
            let position = position.as_ref().map(move_text).unwrap_or_default();
            format!("ADD COLUMN {} {}{comment}{position}", path_text(path), bare_type_text(data_type))
        }
        SchemaChange::RenameColumn { path, new_name } => {
            format!("RENAME COLUMN {} TO {}", path_text(path), quote_identifier(new_name))
        }
        SchemaChange::DropColumn { path } => format!("DROP COLUMN {}", path_text(path)),
        SchemaChange::UpdateColumnType { path, data_type, .. } => {
            format!("ALTER COLUMN {} TYPE {}", path_text(path), bare_type_text(data_type))
        }
        SchemaChange::UpdateColumnNullability { path, nullable } => {
            format!("ALTER COLUMN {} {} NOT NULL", path_text(path), if *nullable { "DROP" } else { "SET" })
        }
        SchemaChange::UpdateColumnComment { path, comment } => {
            format!("ALTER COLUMN {} COMMENT {}", path_text(path), comment_text(comment.as_deref()))
        }
        SchemaChange::UpdateColumnDefault { path, default_value } => match default_value {
            Some(value) => format!("ALTER COLUMN {} SET DEFAULT {}", path_text(path), quote_string(value)),
            None => format!("ALTER COLUMN {} DROP DEFAULT", path_text(path)),
        },
        SchemaChange::UpdateColumnPosition { column, position } => {
            format!("ALTER COLUMN {}{}", quote_identifier(column), move_text(position))
        }
        SchemaChange::DropPrimaryKey => "DROP PRIMARY KEY".to_owned(),
    }
}

impl Display for AlterAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change(change) => f.write_str(&change_text(change)),
            Self::AddColumn { path, field, position, if_not_exists } => {
                let comment =
                    field.description.as_ref().map(|c| format!(" COMMENT {}", quote_string(c))).unwrap_or_default();
                write!(
                    f,
                    "ADD COLUMN {}{} {}{comment}{}",
                    when(*if_not_exists, "IF NOT EXISTS "),
                    path_text(path),
                    bare_type_text(&field.data_type),
                    position.as_ref().map(move_text).unwrap_or_default()
                )
            }
            Self::DropColumn { path, if_exists } => {
                write!(f, "DROP COLUMN {}{}", when(*if_exists, "IF EXISTS "), path_text(path))
            }
            Self::SetDefault { path, default } => {
                write!(f, "ALTER COLUMN {} SET DEFAULT {default}", path_text(path))
            }
            Self::Unset { keys, if_exists: true } => write!(f, "RESET {}", keys_text(keys)),
            Self::Unset { keys, if_exists: false } => write!(f, "UNSET TBLPROPERTIES {}", keys_text(keys)),
            Self::RenameTo(name) => write!(f, "RENAME TO {}", name_text(name)),
            Self::Tag(tag) => write!(f, "{tag}"),
            Self::DropPartitions { specs, if_exists } => {
                let specs = specs.iter().map(|s| spec_text(s)).collect::<Vec<_>>().join(", ");
                write!(f, "DROP {}{specs}", when(*if_exists, "IF EXISTS "))
            }
        }
    }
}

impl Display for TagAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { name, or_replace, must_exist, if_not_exists, snapshot, retain } => {
                let words = match (must_exist, or_replace) {
                    (true, _) => "REPLACE TAG ",
                    (false, true) => "CREATE OR REPLACE TAG ",
                    (false, false) => "CREATE TAG ",
                };
                write!(f, "{words}{}{}", when(*if_not_exists, "IF NOT EXISTS "), quote_string(name))?;
                if let Some(snapshot) = snapshot {
                    write!(f, " AS OF VERSION {snapshot}")?;
                }
                match retain.as_deref().and_then(|r| r.split_once(' ')) {
                    Some((number, "d")) => write!(f, " RETAIN {number} DAYS"),
                    Some((number, "h")) => write!(f, " RETAIN {number} HOURS"),
                    Some((number, _)) => write!(f, " RETAIN {number} MINUTES"),
                    None => Ok(()),
                }
            }
            Self::Delete { names, if_exists } => {
                write!(f, "DELETE TAG {}{}", when(*if_exists, "IF EXISTS "), quote_string(names))
            }
            Self::Rename { from, to } => write!(f, "RENAME TAG {} TO {}", quote_string(from), quote_string(to)),
        }
    }
}

impl Display for CreateFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let parameter = |p: &DataField| format!("{} {}", quote_identifier(&p.name), bare_type_text(&p.data_type));
        write!(
            f,
            "CREATE {}TEMPORARY FUNCTION {}({}) RETURNS {} RETURN {}",
            when(self.or_replace, "OR REPLACE "),
            quote_identifier(&self.name),
            self.parameters.iter().map(parameter).collect::<Vec<_>>().join(", "),
            bare_type_text(&self.returns),
            self.body
        )
    }
}

impl Display for Show {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let like =
            |like: &Option<String>| like.as_ref().map(|l| format!(" LIKE {}", quote_string(l))).unwrap_or_default();
        let within =
            |name: &Option<Vec<String>>| name.as_ref().map(|n| format!(" IN {}", name_text(n))).unwrap_or_default();
        match self {
            Self::Tables { database, like: l } => write!(f, "SHOW TABLES{}{}", within(database), like(l)),
            Self::Databases { catalog, like: l } => {
                write!(f, "SHOW DATABASES{}{}", within(&catalog.clone().map(|c| vec![c])), like(l))
            }
            Self::Catalogs { like: l } => write!(f, "SHOW CATALOGS{}", like(l)),
            Self::Views { database, like: l } => write!(f, "SHOW VIEWS{}{}", within(database), like(l)),
            Self::CreateTable(name) => write!(f, "SHOW CREATE TABLE {}", name_text(name)),
            Self::Columns(name) => write!(f, "SHOW COLUMNS IN {}", name_text(name)),
            Self::Partitions { table, partition } => {
                write!(f, "SHOW PARTITIONS {}", name_text(table))?;
                if !partition.is_empty() {
                    write!(f, " {}", spec_text(partition))?;
                }
                Ok(())
            }
            Self::Properties { table, key } => {
                write!(f, "SHOW TBLPROPERTIES {}", name_text(table))?;
                if let Some(key) = key {
                    write!(f, " ({})", quote_string(key))?;
                }
                Ok(())
            }
            Self::Tags(name) => write!(f, "SHOW TAGS {}", name_text(name)),
            Self::Snapshots(name) => write!(f, "SHOW SNAPSHOTS {}", name_text(name)),
            Self::Branches(name) => write!(f, "SHOW BRANCHES {}", name_text(name)),
            Self::DescribeDatabase(name) => write!(f, "DESCRIBE DATABASE {}", name_text(name)),
            Self::TableExtended { database, like } => {
                write!(f, "SHOW TABLE EXTENDED{} LIKE {}", within(database), quote_string(like))
            }
            Self::Procedures => f.write_str("SHOW PROCEDURES"),
            Self::CurrentCatalog => f.write_str("SHOW CURRENT CATALOG"),
            Self::CurrentDatabase => f.write_str("SHOW CURRENT DATABASE"),
            Self::Variable(key) => write!(f, "SHOW {}", quote_string(key)),
            Self::AllVariables => f.write_str("SHOW ALL"),
            Self::Describe { table, column } => {
                write!(f, "DESCRIBE {}", name_text(table))?;
                if let Some(column) = column {
                    write!(f, " {}", quote_identifier(column))?;
                }
                Ok(())
            }
            Self::DescribeExtended(name) => write!(f, "DESCRIBE EXTENDED {}", name_text(name)),
        }
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateDatabase { name, if_not_exists } => {
                write!(f, "CREATE DATABASE {}{}", when(*if_not_exists, "IF NOT EXISTS "), name_text(name))
            }
            Self::DropDatabase { name, if_exists, cascade } => write!(
                f,
                "DROP DATABASE {}{}{}",
                when(*if_exists, "IF EXISTS "),
                name_text(name),
                when(*cascade, " CASCADE")
            ),
            Self::CreateCatalog { name, if_not_exists, options } => write!(
                f,
                "CREATE CATALOG {}{} WITH {}",
                when(*if_not_exists, "IF NOT EXISTS "),
                quote_identifier(name),
                options_text(&secrets_hidden(options))
            ),
            Self::CreateFunction(function) => write!(f, "{function}"),
            Self::DropFunction { name, if_exists } => {
                write!(f, "DROP TEMPORARY FUNCTION {}{}", when(*if_exists, "IF EXISTS "), quote_identifier(name))
            }
            Self::CreateTable(table) => write!(f, "{table}"),
            Self::DropTable { names, if_exists, temporary } => write!(
                f,
                "DROP {}TABLE {}{}",
                when(*temporary, "TEMPORARY "),
                when(*if_exists, "IF EXISTS "),
                names_text(names)
            ),
            Self::CreateView(view) => {
                write!(
                    f,
                    "CREATE {}TEMPORARY VIEW {}{}",
                    when(view.or_replace, "OR REPLACE "),
                    when(view.if_not_exists, "IF NOT EXISTS "),
                    name_text(&view.name)
                )?;
                if let Some(columns) = &view.columns {
                    write!(f, " {}", columns_text(columns))?;
                }
                write!(f, " AS {}", view.query)
            }
            Self::DropView { names, if_exists } => {
                write!(f, "DROP TEMPORARY VIEW {}{}", when(*if_exists, "IF EXISTS "), names_text(names))
            }
            Self::AlterTable { name, if_exists, actions } => {
                let actions = actions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                write!(f, "ALTER TABLE {}{} {actions}", when(*if_exists, "IF EXISTS "), name_text(name))
            }
            Self::Insert(insert) => write!(f, "{insert}"),
            Self::Truncate { name, if_exists, partition } => {
                write!(f, "TRUNCATE TABLE {}{}", when(*if_exists, "IF EXISTS "), name_text(name))?;
                if !partition.is_empty() {
                    write!(f, " {}", spec_text(partition))?;
                }
                Ok(())
            }
            Self::Call { name, arguments } => {
                let argument = |(name, value): &(Option<String>, super::tokens::Fragment)| match name {
                    Some(name) => format!("{} => {value}", quote_identifier(name)),
                    None => value.to_string(),
                };
                let arguments: Vec<String> = arguments.iter().map(argument).collect();
                write!(f, "CALL {}({})", name_text(name), joined(&arguments))
            }
            Self::Set { key, value } if key == super::parse::TIME_ZONE => {
                write!(f, "SET TIME ZONE {}", quote_string(value))
            }
            Self::Set { key, value } => write!(f, "SET {} = {}", quote_string(key), quote_string(value)),
            Self::Reset(None) => f.write_str("RESET ALL"),
            Self::Reset(Some(key)) if key == super::parse::TIME_ZONE => f.write_str("RESET TIME ZONE"),
            Self::Reset(Some(key)) => write!(f, "RESET {}", quote_string(key)),
            Self::Use(UseTarget::Catalog(name)) => write!(f, "USE CATALOG {}", quote_identifier(name)),
            Self::Use(UseTarget::Database(name)) => write!(f, "USE DATABASE {}", name_text(name)),
            Self::Show(show) => write!(f, "{show}"),
            Self::Refresh(name) => write!(f, "REFRESH TABLE {}", name_text(name)),
            Self::Explain { analyze, verbose, format, statement } => {
                write!(f, "EXPLAIN {}{}", when(*analyze, "ANALYZE "), when(*verbose, "VERBOSE "))?;
                if let Some(format) = format {
                    write!(f, "FORMAT {} ", quote_identifier(format))?;
                }
                write!(f, "{statement}")
            }
            Self::Prepare { name, prepared: Prepared { types, body } } => {
                write!(f, "PREPARE {}", quote_identifier(name))?;
                if !types.is_empty() {
                    write!(f, " ({})", joined(types))?;
                }
                write!(f, " AS {body}")
            }
            Self::Execute { name, parameters } => {
                write!(f, "EXECUTE {}({})", quote_identifier(name), joined(parameters))
            }
            Self::Deallocate(name) => write!(f, "DEALLOCATE {}", quote_identifier(name)),
            Self::Engine(tokens) => write!(f, "{tokens}"),
        }
    }
}
