//! The statements that we parse ourselves, as values.
//!
//! Invariants: names are already folded; expressions and queries stay tokens, which the engine's parser reads later;
//! printing a statement and parsing it again gives the same value (`printer.rs`).

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::catalog::{ColumnMove, SchemaChange};
use paimon_core::types::{DataField, DataType};

use super::parse::cursor::Name;
use super::tokens::Fragment;

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Statement {
    /// CREATE DATABASE.
    CreateDatabase {
        /// Database.
        name: Name,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// DROP DATABASE.
    DropDatabase {
        /// Database.
        name: Name,
        /// IF EXISTS.
        if_exists: bool,
        /// CASCADE.
        cascade: bool,
    },
    /// CREATE CATALOG.
    CreateCatalog {
        /// Catalog.
        name: String,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Options in the order given.
        options: Vec<(String, String)>,
    },
    /// CREATE TEMPORARY FUNCTION.
    CreateFunction(Box<CreateFunction>),
    /// DROP TEMPORARY FUNCTION.
    DropFunction {
        /// Function.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CREATE TABLE, also temporary, AS and LIKE.
    CreateTable(Box<CreateTable>),
    /// DROP TABLE.
    DropTable {
        /// Tables.
        names: Vec<Name>,
        /// IF EXISTS.
        if_exists: bool,
        /// TEMPORARY.
        temporary: bool,
    },
    /// CREATE TEMPORARY VIEW.
    CreateView(Box<CreateView>),
    /// DROP TEMPORARY VIEW.
    DropView {
        /// Views.
        names: Vec<Name>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER TABLE; COMMENT ON too.
    AlterTable {
        /// Table.
        name: Name,
        /// IF EXISTS.
        if_exists: bool,
        /// Actions, in order.
        actions: Vec<AlterAction>,
    },
    /// INSERT INTO and INSERT OVERWRITE.
    Insert(Box<Insert>),
    /// TRUNCATE TABLE.
    Truncate {
        /// Table.
        name: Name,
        /// IF EXISTS.
        if_exists: bool,
        /// Partition; empty for the whole table.
        partition: Vec<PartitionValue>,
    },
    /// CALL.
    Call {
        /// Name of the procedure with its schema.
        name: Name,
        /// Arguments: name if it has one, and value.
        arguments: Vec<(Option<String>, Fragment)>,
    },
    /// SET.
    Set {
        /// Key as written.
        key: String,
        /// Value.
        value: String,
    },
    /// RESET; `None` for ALL.
    Reset(Option<String>),
    /// USE.
    Use(UseTarget),
    /// SHOW and DESCRIBE.
    Show(Show),
    /// REFRESH TABLE.
    Refresh(Name),
    /// EXPLAIN of one of the above.
    Explain {
        /// ANALYZE.
        analyze: bool,
        /// VERBOSE.
        verbose: bool,
        /// FORMAT.
        format: Option<String>,
        /// What is explained.
        statement: Box<Statement>,
    },
    /// PREPARE.
    Prepare {
        /// Its name.
        name: String,
        /// What is prepared.
        prepared: Prepared,
    },
    /// EXECUTE.
    Execute {
        /// Name of the prepared statement.
        name: String,
        /// Constants.
        parameters: Vec<Fragment>,
    },
    /// DEALLOCATE.
    Deallocate(String),
    /// Anything that the engine parses.
    Engine(Fragment),
}

/// A prepared statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prepared {
    /// Types of the parameters, if they are declared.
    pub(crate) types: Vec<Fragment>,
    /// The statement.
    pub(crate) body: Fragment,
}

impl Prepared {
    /// The number of a placeholder `$1`.
    pub(crate) fn number(place: &str) -> Option<usize> {
        place.strip_prefix('$')?.parse().ok().filter(|number| *number > 0)
    }

    /// How many parameters the statement has.
    pub(crate) fn places(&self) -> usize {
        let numbers = self.body.0.iter().filter_map(|token| match &token.token {
            Token::Placeholder(place) => Self::number(place),
            _ => None,
        });
        numbers.max().unwrap_or(0)
    }
}

/// CREATE TABLE and REPLACE TABLE.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CreateTable {
    /// Table.
    pub(crate) name: Name,
    /// TEMPORARY.
    pub(crate) temporary: bool,
    /// IF NOT EXISTS.
    pub(crate) if_not_exists: bool,
    /// OR REPLACE: a table that exists is replaced.
    pub(crate) or_replace: bool,
    /// REPLACE TABLE: the table must exist.
    pub(crate) replace: bool,
    /// Columns with types; without types only before AS.
    pub(crate) columns: Columns,
    /// Primary key by column attribute or table constraint.
    pub(crate) primary_key: Option<Vec<String>>,
    /// PARTITIONED BY.
    pub(crate) partitioned_by: Option<Vec<String>>,
    /// COMMENT.
    pub(crate) comment: Option<String>,
    /// Options in the order given.
    pub(crate) options: Vec<(String, String)>,
    /// LIKE.
    pub(crate) like: Option<Like>,
    /// AS.
    pub(crate) query: Option<Fragment>,
}

/// The column list of CREATE TABLE.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Columns {
    /// There is none.
    #[default]
    Absent,
    /// Names only, before AS.
    Named(Vec<String>),
    /// Names and types.
    Typed(Vec<Column>),
}

/// A column of CREATE TABLE. Its default is still an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Name, type and comment.
    pub(crate) field: DataField,
    /// DEFAULT.
    pub(crate) default: Option<Fragment>,
}

/// LIKE of CREATE TABLE.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Like {
    /// The table to copy.
    pub(crate) source: Name,
    /// Whether its options are copied.
    pub(crate) options: bool,
}

/// CREATE TEMPORARY VIEW.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CreateView {
    /// View.
    pub(crate) name: Name,
    /// OR REPLACE.
    pub(crate) or_replace: bool,
    /// IF NOT EXISTS.
    pub(crate) if_not_exists: bool,
    /// Names of the columns.
    pub(crate) columns: Option<Vec<String>>,
    /// Query.
    pub(crate) query: Fragment,
}

/// CREATE TEMPORARY FUNCTION.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CreateFunction {
    /// Function.
    pub(crate) name: String,
    /// OR REPLACE.
    pub(crate) or_replace: bool,
    /// Names and types of the parameters.
    pub(crate) parameters: Vec<DataField>,
    /// Type of the result.
    pub(crate) returns: DataType,
    /// The expression that it stands for.
    pub(crate) body: Fragment,
}

/// A change of the tags of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TagAction {
    /// CREATE TAG and REPLACE TAG.
    Create {
        /// Tag.
        name: String,
        /// OR REPLACE: an existing tag is moved.
        or_replace: bool,
        /// REPLACE TAG: the tag must exist.
        must_exist: bool,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// AS OF VERSION.
        snapshot: Option<u32>,
        /// RETAIN, as a duration.
        retain: Option<String>,
    },
    /// DELETE TAG.
    Delete {
        /// Tags, with commas between.
        names: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME TAG.
    Rename {
        /// Tag.
        from: String,
        /// New name.
        to: String,
    },
}

/// An action of ALTER TABLE.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AlterAction {
    /// A change of the schema as it is.
    Change(SchemaChange),
    /// ADD COLUMN.
    AddColumn {
        /// Path.
        path: Vec<String>,
        /// Type and comment.
        field: DataField,
        /// FIRST or AFTER.
        position: Option<ColumnMove>,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// DROP COLUMN.
    DropColumn {
        /// Path.
        path: Vec<String>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// SET DEFAULT.
    SetDefault {
        /// Path.
        path: Vec<String>,
        /// Expression.
        default: Fragment,
    },
    /// UNSET TBLPROPERTIES.
    Unset {
        /// Keys.
        keys: Vec<String>,
        /// Whether absent keys are fine.
        if_exists: bool,
    },
    /// RENAME TO.
    RenameTo(Name),
    /// A change of tags.
    Tag(TagAction),
    /// DROP PARTITION.
    DropPartitions {
        /// Specs.
        specs: Vec<Vec<PartitionValue>>,
        /// IF EXISTS.
        if_exists: bool,
    },
}

/// A column of a partition spec, with its value if it has one.
pub(crate) type PartitionValue = (String, Option<Fragment>);

/// INSERT.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Insert {
    /// Table.
    pub(crate) target: Name,
    /// Options of a hint behind the name.
    pub(crate) hint: Vec<(String, String)>,
    /// OVERWRITE.
    pub(crate) overwrite: bool,
    /// BY NAME.
    pub(crate) by_name: bool,
    /// PARTITION.
    pub(crate) partition: Option<Vec<PartitionValue>>,
    /// Columns.
    pub(crate) columns: Option<Vec<String>>,
    /// Query, with the WITH that stood before INSERT; `None` for DEFAULT VALUES.
    pub(crate) source: Option<Fragment>,
}

/// What USE sets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum UseTarget {
    /// A database, with its catalog if named.
    Database(Name),
    /// A catalog.
    Catalog(String),
}

/// What SHOW and DESCRIBE show.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Show {
    /// Tables of a database.
    Tables {
        /// Database.
        database: Option<Name>,
        /// LIKE.
        like: Option<String>,
    },
    /// Databases of a catalog.
    Databases {
        /// Catalog.
        catalog: Option<String>,
        /// LIKE.
        like: Option<String>,
    },
    /// Catalogs.
    Catalogs {
        /// LIKE.
        like: Option<String>,
    },
    /// Temporary views.
    Views {
        /// Database.
        database: Option<Name>,
        /// LIKE.
        like: Option<String>,
    },
    /// The statement that creates a table.
    CreateTable(Name),
    /// Columns, in the engine's form.
    Columns(Name),
    /// Partitions.
    Partitions {
        /// Table.
        table: Name,
        /// Only below this one.
        partition: Vec<PartitionValue>,
    },
    /// Options.
    Properties {
        /// Table.
        table: Name,
        /// Only this one.
        key: Option<String>,
    },
    /// Tags.
    Tags(Name),
    /// Branches.
    Branches(Name),
    /// Snapshots.
    Snapshots(Name),
    /// Procedures.
    Procedures,
    /// The current catalog.
    CurrentCatalog,
    /// The current database.
    CurrentDatabase,
    /// An option of the session.
    Variable(String),
    /// All options of the session.
    AllVariables,
    /// Name, type and nullability of the columns.
    Describe {
        /// Table.
        table: Name,
        /// Only this one.
        column: Option<String>,
    },
    /// Columns and everything else about a table.
    DescribeExtended(Name),
    /// What is known of a database.
    DescribeDatabase(Name),
    /// Tables of a database with everything about them.
    TableExtended {
        /// Database.
        database: Option<Name>,
        /// LIKE.
        like: String,
    },
}
