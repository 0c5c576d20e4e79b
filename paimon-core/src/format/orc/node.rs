//! Which types of a file serve the columns that are asked for.
//!
//! Invariants: a column and a part of a ROW are found by their exact names; what nobody asks for is not read; a type of
//! another family is refused when the tree is made. Source: data-file sheet sections 3 and 5.

use super::footer::{Kind, OrcFooter};
use crate::error::{Error, Result};
use crate::types::{DataField, DataType};

/// A type that is asked for, and where the file has it.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Position of the type in the file.
    pub(super) position: usize,
    pub(super) kind: Kind,
    pub(super) data_type: DataType,
    /// Parts in the order of `data_type`; `None` for a part of a ROW that the file lacks.
    pub(super) parts: Vec<Option<Node>>,
}

impl Node {
    /// The column of a file; `None` if it lacks the column.
    ///
    /// # Errors
    /// `Corrupt` if the column has another type; `Unsupported` naming its type.
    pub(super) fn column(footer: &OrcFooter, column: &DataField) -> Result<Option<Self>> {
        match footer.column(&column.name)? {
            Some(position) => Self::new(footer, position, &column.name, &column.data_type).map(Some),
            None => Ok(None),
        }
    }

    fn new(footer: &OrcFooter, position: usize, column: &str, data_type: &DataType) -> Result<Self> {
        let found = footer.types.get(position);
        let found = found.ok_or_else(|| Error::corrupt(format!("the type of column {column} is missing")))?;
        let kind = found.kind;
        if !fits(kind, data_type) {
            let expected = data_type.sql_text();
            return Err(Error::corrupt(format!("column {column} of the ORC file is {kind:?}, expected {expected}")));
        }
        let part = |i: usize, data_type: &DataType| match found.parts.get(i) {
            Some(position) => Self::new(footer, *position, column, data_type).map(Some),
            None => Err(Error::corrupt(format!("column {column} of the ORC file lacks a part"))),
        };
        let parts = match data_type {
            DataType::Array(t) => vec![part(0, t.element_type())?],
            DataType::Map(t) => vec![part(0, t.key_type())?, part(1, t.value_type())?],
            DataType::Multiset(t) => vec![part(0, t.element_type())?, part(1, &count_type())?],
            DataType::Row(row) => {
                let place = |field: &DataField| found.names.iter().position(|name| *name == field.name);
                let parts = row.fields().iter().map(|f| match place(f) {
                    Some(i) => part(i, &f.data_type),
                    None => Ok(None),
                });
                parts.collect::<Result<_>>()?
            }
            _ => Vec::new(),
        };
        Ok(Self { position, kind, data_type: data_type.clone(), parts })
    }

    /// Marks the types whose streams are read.
    pub(super) fn mark(&self, wanted: &mut [bool]) {
        if let Some(mark) = wanted.get_mut(self.position) {
            *mark = true;
        }
        self.parts.iter().flatten().for_each(|part| part.mark(wanted));
    }
}

/// The type of the counts of a multiset.
fn count_type() -> DataType {
    DataType::Int(crate::types::IntType::with_nullable(false))
}

fn fits(kind: Kind, data_type: &DataType) -> bool {
    let is_integer = matches!(kind, Kind::Byte | Kind::Short | Kind::Int | Kind::Long);
    match data_type {
        DataType::Boolean(_) => kind == Kind::Boolean,
        DataType::TinyInt(_) | DataType::SmallInt(_) | DataType::Int(_) | DataType::BigInt(_) => is_integer,
        DataType::Float(_) => kind == Kind::Float,
        DataType::Double(_) => matches!(kind, Kind::Float | Kind::Double),
        DataType::Decimal(_) => kind == Kind::Decimal,
        DataType::Char(_) | DataType::VarChar(_) => matches!(kind, Kind::String | Kind::Varchar | Kind::Char),
        DataType::Binary(_) | DataType::VarBinary(_) => kind == Kind::Binary,
        DataType::Date(_) => kind == Kind::Date,
        DataType::Time(_) => kind == Kind::Int,
        DataType::Timestamp(_) | DataType::LocalZonedTimestamp(_) => {
            matches!(kind, Kind::Timestamp | Kind::TimestampInstant)
        }
        DataType::Array(_) => kind == Kind::List,
        DataType::Map(_) | DataType::Multiset(_) => kind == Kind::Map,
        DataType::Row(_) => kind == Kind::Struct,
        DataType::Variant(_) | DataType::Blob(_) | DataType::Vector(_) => false,
    }
}
