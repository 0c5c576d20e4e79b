//! Named fields with ids, and rows of them.

use super::data_type::DataType;

/// A field of a row: a column of a table, or a part of a ROW.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataField {
    /// Id that stays through renames.
    pub id: i32,
    /// Name.
    pub name: String,
    /// Type.
    pub data_type: DataType,
    /// Comment.
    pub description: Option<String>,
    /// Text of the value that replaces null on write.
    pub default_value: Option<String>,
}

impl DataField {
    /// A field without comment and default.
    pub fn new(id: i32, name: impl Into<String>, data_type: DataType) -> Self {
        Self { id, name: name.into(), data_type, description: None, default_value: None }
    }
}

/// ROW: fields in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RowType {
    nullable: bool,
    fields: Vec<DataField>,
}

impl RowType {
    /// The nullable row of these fields.
    pub fn new(fields: Vec<DataField>) -> Self {
        Self::with_nullable(true, fields)
    }

    /// The row with this nullability.
    pub fn with_nullable(nullable: bool, fields: Vec<DataField>) -> Self {
        Self { nullable, fields }
    }

    /// The fields in order.
    pub fn fields(&self) -> &[DataField] {
        &self.fields
    }

    /// The types of the fields in order.
    pub fn types(&self) -> Vec<DataType> {
        self.fields.iter().map(|f| f.data_type.clone()).collect()
    }

    /// Whether values may be null.
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// The position of the field with exactly this name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name == name)
    }

    /// The position of the field with this id.
    pub fn index_of_id(&self, id: i32) -> Option<usize> {
        self.fields.iter().position(|f| f.id == id)
    }

    /// The field with exactly this name.
    pub fn field(&self, name: &str) -> Option<&DataField> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// The row of the fields at these positions, in this order.
    #[must_use]
    pub fn project(&self, positions: &[usize]) -> Self {
        Self { nullable: self.nullable, fields: positions.iter().map(|&i| self.fields[i].clone()).collect() }
    }
}
