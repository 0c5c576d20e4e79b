//! Ids of new fields.
//!
//! Invariants: a field takes its id before the fields nested in it; ids only grow. Source: metadata sheet section 2,
//! "Field ids"; `types/ReassignFieldId.java`.

use crate::error::{Error, Result};
use crate::types::{ArrayType, DataField, DataType, KEY_FIELD_ID_START, MapType, MultisetType, RowType};

/// Gives ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldIdCounter {
    next: i32,
}

impl FieldIdCounter {
    /// Ids that follow `highest`; -1 for a new table.
    pub(super) fn after(highest: i32) -> Self {
        Self { next: highest.saturating_add(1) }
    }

    /// The greatest id that was given, also before.
    pub(super) fn highest(self) -> i32 {
        self.next - 1
    }

    /// The field with fresh ids for it and everything in it.
    ///
    /// # Errors
    /// `InvalidInput` if the ids of user fields are used up.
    pub(super) fn renumber(&mut self, field: &DataField) -> Result<DataField> {
        let id = self.next;
        if id >= KEY_FIELD_ID_START {
            return Err(Error::invalid_input(format!("the table has no field id left for '{}'", field.name)));
        }
        self.next += 1;
        Ok(DataField { id, data_type: self.renumber_type(&field.data_type)?, ..field.clone() })
    }

    /// The type with fresh ids for everything in it.
    ///
    /// # Errors
    /// As [`FieldIdCounter::renumber`].
    pub(super) fn renumber_type(&mut self, data_type: &DataType) -> Result<DataType> {
        let nullable = data_type.is_nullable();
        Ok(match data_type {
            DataType::Row(row) => {
                let fields = row.fields().iter().map(|f| self.renumber(f)).collect::<Result<_>>()?;
                DataType::Row(RowType::with_nullable(nullable, fields))
            }
            DataType::Array(t) => {
                DataType::Array(ArrayType::with_nullable(nullable, self.renumber_type(t.element_type())?))
            }
            DataType::Multiset(t) => {
                DataType::Multiset(MultisetType::with_nullable(nullable, self.renumber_type(t.element_type())?))
            }
            DataType::Map(t) => {
                let key = self.renumber_type(t.key_type())?;
                DataType::Map(MapType::with_nullable(nullable, key, self.renumber_type(t.value_type())?))
            }
            other => other.clone(),
        })
    }
}
