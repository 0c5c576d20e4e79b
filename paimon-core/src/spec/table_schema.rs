//! The schema document of a table, both ways.
//!
//! Invariants: names and ids of columns are distinct and keys name columns, also in what was read. Source: metadata sheet
//! section 2; `schema/TableSchema.java`, `schema/SchemaSerializer.java`.

use std::collections::{BTreeMap, HashSet};

use super::field_ids::FieldIdCounter;
use super::schema::Schema;
use super::schema_change::SchemaChange;
use crate::error::{Error, Result};
use crate::json::{self, Json, Object};
use crate::types::{DataField, DataType, FieldIds, RowType, field_from_json, field_to_json};

/// The version of documents that are written.
pub(super) const CURRENT_VERSION: i32 = 3;

/// The keys of the declaration, or those of an option, which is removed then.
pub(super) fn keys_of(
    options: &mut BTreeMap<String, String>,
    option: &str,
    what: &str,
    declared: &[String],
) -> Result<Vec<String>> {
    let Some(text) = options.remove(option) else { return Ok(declared.to_vec()) };
    if !declared.is_empty() {
        return Err(Error::invalid_config(format!("Cannot define {what} on DDL and table options at the same time.")));
    }
    Ok(text.split(',').map(|key| key.trim().to_owned()).collect())
}

/// A version of a table's schema. Source: specification chapter "Table Schema"; `schema/TableSchema.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSchema {
    /// Version of the document; 3 for new ones.
    pub version: i32,
    /// Id, from 0.
    pub id: i64,
    /// Columns in order.
    pub fields: Vec<DataField>,
    /// Greatest field id ever given, nested and dropped fields included.
    pub highest_field_id: i32,
    /// Partition columns.
    pub partition_keys: Vec<String>,
    /// Primary-key columns as declared, partition columns included.
    pub primary_keys: Vec<String>,
    /// Options as stored, with the defaults that the document's version implies.
    pub options: BTreeMap<String, String>,
    /// Comment.
    pub comment: Option<String>,
    /// Creation time in milliseconds.
    pub time_millis: i64,
}

impl TableSchema {
    /// The first schema of a new table; gives ids to all fields.
    ///
    /// # Errors
    /// `InvalidInput`, `InvalidConfig` or `Unsupported` by the rules of the schema sheet section 7.
    pub fn create(schema: &Schema, time_millis: i64) -> Result<Self> {
        Self::with_ids(schema, 0, FieldIdCounter::after(-1), time_millis)
    }

    /// The next schema of a table that is replaced: nothing of this one but its partition columns, which manifests name by
    /// position, is kept. One field id is left out, which no change of columns does, and none is used again: no file of
    /// this schema is taken for one of the new table.
    ///
    /// # Errors
    /// As [`TableSchema::create`]; `Unsupported` for other partition columns.
    pub fn replace(&self, schema: &Schema, time_millis: i64) -> Result<Self> {
        let ids = FieldIdCounter::after(self.highest_field_id.saturating_add(1));
        let next = Self::with_ids(schema, self.id + 1, ids, time_millis)?;
        let columns = |schema: &Self| -> Vec<(String, DataType)> {
            let fields = schema.partition_type().fields().to_vec();
            fields.into_iter().map(|f| (f.name, f.data_type.with_nullable(true))).collect()
        };
        let (old, new) = (columns(self), columns(&next));
        if old != new {
            let text = |columns: Vec<(String, DataType)>| {
                columns.iter().map(|(name, data_type)| format!("{name} {data_type}")).collect::<Vec<_>>().join(", ")
            };
            return Err(Error::unsupported(format!(
                "replacing a table by one with other partition columns (old [{}], new [{}]); drop it and create it again",
                text(old),
                text(new)
            )));
        }
        Ok(next)
    }

    /// Whether `later`, the next schema that exists, is that of another table, which replaced this one, and no change of it.
    pub(crate) fn is_replaced_by(&self, later: &Self) -> bool {
        later.fields.iter().all(|field| field.id > self.highest_field_id.saturating_add(1))
    }

    fn with_ids(schema: &Schema, id: i64, mut ids: FieldIdCounter, time_millis: i64) -> Result<Self> {
        let mut options = schema.options.clone();
        let primary_keys = keys_of(&mut options, "primary-key", "primary key", &schema.primary_keys)?;
        let partition_keys = keys_of(&mut options, "partition", "partition", &schema.partition_keys)?;
        let nullable_keys = options.get("primary-key.nullable").is_some_and(|v| v.eq_ignore_ascii_case("true"));
        let mut fields = schema.fields.iter().map(|f| ids.renumber(f)).collect::<Result<Vec<_>>>()?;
        for field in fields.iter_mut().filter(|f| primary_keys.contains(&f.name)) {
            field.data_type = field.data_type.with_nullable(nullable_keys);
        }
        let created = Self {
            version: CURRENT_VERSION,
            id,
            fields,
            highest_field_id: ids.highest(),
            partition_keys,
            primary_keys,
            options,
            comment: schema.comment.clone(),
            time_millis,
        };
        created.check()?;
        Ok(created)
    }

    /// The next schema after these changes, in their order.
    ///
    /// # Errors
    /// `InvalidInput` or `InvalidConfig` for a change that the rules forbid, `NotFound(Column)` and
    /// `AlreadyExists(Column)` for columns; else as [`TableSchema::create`].
    pub fn change(&self, changes: &[SchemaChange], has_snapshots: bool, time_millis: i64) -> Result<Self> {
        super::change::apply(self, changes, has_snapshots, time_millis)
    }

    /// Whether two schemas of one table differ in nothing but their id, time and version.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        *self == Self { version: self.version, id: self.id, time_millis: self.time_millis, ..other.clone() }
    }

    /// Checks the rules of the schema sheet section 7, as for a table to be created.
    ///
    /// # Errors
    /// `InvalidInput`, `InvalidConfig` or `Unsupported` naming the column or option.
    pub fn check(&self) -> Result<()> {
        super::check::check(self)
    }

    /// The JSON document with Java's keys in Java's order.
    pub fn to_json(&self) -> String {
        let mut entries = vec![
            ("version", Json::Number(i64::from(self.version))),
            ("id", Json::Number(self.id)),
            ("fields", Json::List(self.fields.iter().map(field_to_json).collect())),
            ("highestFieldId", Json::Number(i64::from(self.highest_field_id))),
            ("partitionKeys", Json::texts(&self.partition_keys)),
            ("primaryKeys", Json::texts(&self.primary_keys)),
            ("options", Json::text_map(&self.options)),
        ];
        if let Some(comment) = &self.comment {
            entries.push(("comment", Json::text(comment)));
        }
        entries.push(("timeMillis", Json::Number(self.time_millis)));
        Json::Object(entries.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()).pretty()
    }

    /// The columns as JSON in one line, as the system table of schemas shows them.
    pub fn fields_json(&self) -> String {
        Json::List(self.fields.iter().map(field_to_json).collect()).compact()
    }

    /// Reads a document of any version; unknown keys are ignored. The options get what the version implies: one bucket
    /// in version 1, ORC files up to version 2.
    ///
    /// # Errors
    /// `Corrupt` naming the key or type that is wrong; `Unsupported` naming a type that is not built.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let document = json::parse(text, "schema")?;
        let object = Object::new(&document, "schema")?;
        let version = object.find_int("version")?.unwrap_or(1);
        let mut options: BTreeMap<String, String> = object.find_text_map("options")?.unwrap_or_default();
        if version <= 1 {
            options.entry("bucket".to_owned()).or_insert_with(|| "1".to_owned());
        }
        if version <= 2 {
            options.entry("file.format".to_owned()).or_insert_with(|| "orc".to_owned());
        }
        let mut ids = FieldIds::given();
        let schema = Self {
            version,
            id: object.long("id")?,
            fields: object.list("fields")?.iter().map(|f| field_from_json(f, &mut ids)).collect::<Result<_>>()?,
            highest_field_id: object.int("highestFieldId")?,
            partition_keys: object.texts("partitionKeys")?,
            primary_keys: object.texts("primaryKeys")?,
            options,
            comment: object.find_text("comment")?,
            time_millis: object.find_long("timeMillis")?.unwrap_or(0),
        };
        schema.check_references()?;
        Ok(schema)
    }

    /// Checks that columns are told apart by name and id, and that keys name columns.
    fn check_references(&self) -> Result<()> {
        let mut names = HashSet::new();
        let mut ids = HashSet::new();
        for field in &self.fields {
            if !names.insert(field.name.as_str()) {
                return Err(Error::corrupt(format!("the schema has two columns named '{}'", field.name)));
            }
            if !ids.insert(field.id) {
                return Err(Error::corrupt(format!("the schema has two columns with id {}", field.id)));
            }
        }
        for (list, keys) in [("partitionKeys", &self.partition_keys), ("primaryKeys", &self.primary_keys)] {
            if let Some(key) = keys.iter().find(|k| !names.contains(k.as_str())) {
                return Err(Error::corrupt(format!("key '{list}' of the schema names '{key}', which is no column")));
            }
        }
        Ok(())
    }

    /// The columns as a row.
    pub fn row_type(&self) -> RowType {
        RowType::with_nullable(false, self.fields.clone())
    }

    /// Positions of the partition columns, in partition-key order.
    pub fn partition_positions(&self) -> Vec<usize> {
        self.positions(&self.partition_keys)
    }

    /// The partition columns as a row.
    pub fn partition_type(&self) -> RowType {
        self.row_type().project(&self.partition_positions())
    }

    /// Primary-key columns without the partition columns, in primary-key order.
    pub fn trimmed_primary_keys(&self) -> Vec<String> {
        self.primary_keys.iter().filter(|k| !self.partition_keys.contains(k)).cloned().collect()
    }

    /// Positions of the trimmed primary-key columns, in primary-key order.
    pub fn key_positions(&self) -> Vec<usize> {
        self.positions(&self.trimmed_primary_keys())
    }

    /// The trimmed primary-key columns as a row.
    pub fn key_type(&self) -> RowType {
        self.row_type().project(&self.key_positions())
    }

    /// Columns that assign buckets: the option `bucket-key`, else the trimmed primary key.
    pub fn bucket_keys(&self) -> Vec<String> {
        match self.options.get("bucket-key") {
            Some(keys) => keys.split(',').map(str::to_owned).collect(),
            None => self.trimmed_primary_keys(),
        }
    }

    /// Positions of the columns that assign buckets.
    pub fn bucket_key_positions(&self) -> Vec<usize> {
        self.positions(&self.bucket_keys())
    }

    /// Whether the table has a primary key.
    pub fn has_primary_key(&self) -> bool {
        !self.primary_keys.is_empty()
    }

    fn positions(&self, names: &[String]) -> Vec<usize> {
        names.iter().filter_map(|name| self.fields.iter().position(|f| f.name == *name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    const NESTED: &str = include_str!("../../tests/golden/java-1.4.2/nested_parquet/schema-0");
    const DEFAULTS: &str = include_str!("../../tests/golden/java-1.4.2/column_defaults/schema-0");

    #[test]
    fn prints_what_java_wrote() {
        for document in [NESTED, DEFAULTS] {
            let schema = TableSchema::from_json(document.as_bytes()).unwrap();
            assert_eq!(schema.to_json(), document);
            assert_eq!(TableSchema::from_json(schema.to_json().as_bytes()).unwrap(), schema);
        }
    }

    #[test]
    fn old_versions_imply_options() {
        let document = |version: &str| {
            let text =
                NESTED.replace("\"version\" : 3,", version).replace("\"file.format\" : \"parquet\"", "\"x\" : true");
            TableSchema::from_json(text.as_bytes()).unwrap().options
        };
        let map = |entries: &[(&str, &str)]| entries.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        assert_eq!(document(""), map(&[("bucket", "1"), ("file.format", "orc"), ("x", "true")]));
        assert_eq!(document("\"version\" : 2,"), map(&[("file.format", "orc"), ("x", "true")]));
        assert_eq!(document("\"version\" : 3,"), map(&[("x", "true")]));
    }

    #[test]
    fn corrupt_documents_name_what_is_wrong() {
        let cases = [
            ("\"highestFieldId\" : 14", "\"highestFieldId\" : null", "key 'highestFieldId' is missing in the schema"),
            ("\"TIMESTAMP(3)\"", "\"TIMESTAMP(12)\"", "the precision of TIMESTAMP must be between 0 and 9, but is 12"),
            ("\"name\" : \"sa\"", "\"name\" : \"id\"", "the schema has two columns named 'id'"),
            (
                "\"partitionKeys\" : [ ]",
                "\"partitionKeys\" : [\"z\"]",
                "key 'partitionKeys' of the schema names 'z', which is no column",
            ),
        ];
        for (from, to, message) in cases {
            let error = TableSchema::from_json(NESTED.replace(from, to).as_bytes()).unwrap_err();
            assert_eq!((error.kind(), error.message()), (ErrorKind::Corrupt, message));
        }
        let error = TableSchema::from_json(NESTED.replace("TIMESTAMP(3)", "GEOMETRY").as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "the data type GEOMETRY is not supported (field: t, field: mr)");
    }
}
