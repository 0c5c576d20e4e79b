//! Changes of a table's schema, as data. [`TableSchema::change`](super::TableSchema::change) applies them.
//!
//! Source: schema sheet section 4; `schema/SchemaChange.java`.

use crate::types::DataType;

/// Where a column goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnMove {
    /// To the front.
    First,
    /// To the end.
    Last,
    /// Behind this column.
    After(String),
    /// Before this column.
    Before(String),
}

/// A change. Paths name nested fields: field names, `element` below an ARRAY, `value` below a MAP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaChange {
    /// Sets an option.
    SetOption {
        /// Key.
        key: String,
        /// Value.
        value: String,
    },
    /// Removes an option.
    RemoveOption {
        /// Key.
        key: String,
    },
    /// Sets or removes the comment of the table.
    UpdateComment {
        /// The comment.
        comment: Option<String>,
    },
    /// Adds a nullable column or nested field.
    AddColumn {
        /// Path.
        path: Vec<String>,
        /// Type.
        data_type: DataType,
        /// Comment.
        comment: Option<String>,
        /// Position; the end if absent.
        position: Option<ColumnMove>,
    },
    /// Renames a column or nested field; the id stays.
    RenameColumn {
        /// Path.
        path: Vec<String>,
        /// New last part of the path.
        new_name: String,
    },
    /// Drops a column or nested field.
    DropColumn {
        /// Path.
        path: Vec<String>,
    },
    /// Changes the type.
    UpdateColumnType {
        /// Path.
        path: Vec<String>,
        /// New type.
        data_type: DataType,
        /// Whether the old nullability stays.
        keep_nullability: bool,
    },
    /// Changes the nullability.
    UpdateColumnNullability {
        /// Path.
        path: Vec<String>,
        /// Whether values may be null.
        nullable: bool,
    },
    /// Sets or removes the comment.
    UpdateColumnComment {
        /// Path.
        path: Vec<String>,
        /// The comment.
        comment: Option<String>,
    },
    /// Sets or removes the default.
    UpdateColumnDefault {
        /// Path.
        path: Vec<String>,
        /// The default's text.
        default_value: Option<String>,
    },
    /// Moves a top-level column.
    UpdateColumnPosition {
        /// The column.
        column: String,
        /// Where it goes.
        position: ColumnMove,
    },
    /// Turns a primary-key table without snapshots into an append table.
    DropPrimaryKey,
}
