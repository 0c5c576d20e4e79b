//! Options that ask for a feature and what the feature needs of the table.

use super::{is_on, names};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::table_schema::TableSchema;
use crate::spec::{
    BUCKET, BUCKET_APPEND_ORDERED, CHANGELOG_PRODUCER, ChangelogProducer, DATA_EVOLUTION, DELETION_VECTORS,
    MERGE_ENGINE, MergeEngine, ROW_TRACKING, SEQUENCE_FIELD,
};
use crate::types::{DataField, DataType};

pub(super) fn check(schema: &TableSchema, options: &Options) -> Result<()> {
    check_record_expiry(schema, options)?;
    check_vectors(schema, options)?;
    check_key_indexes(schema, options)?;
    check_map_layouts(schema, options)?;
    check_file_indexes(schema, options)?;
    check_row_tracking(schema, options)?;
    check_blobs(schema, options)?;
    check_clustering(schema, options)?;
    check_manifest_sort(schema, options)?;
    if is_on(options, "table-read.sequence-number.enabled")? && !schema.has_primary_key() {
        return Err(Error::invalid_config(
            "Cannot enable 'table-read.sequence-number.enabled' for non-primary-key table.",
        ));
    }
    if is_on(options, "chain-table.enabled")? {
        return Err(Error::unsupported("chain tables (option 'chain-table.enabled') are not supported"));
    }
    Ok(())
}

fn column<'a>(schema: &'a TableSchema, name: &str) -> Option<&'a DataField> {
    schema.fields.iter().find(|f| f.name == name)
}

fn check_record_expiry(schema: &TableSchema, options: &Options) -> Result<()> {
    let Some(name) = options.get("record-level.time-field") else { return Ok(()) };
    let Some(field) = column(schema, name) else {
        return Err(Error::invalid_config(format!("Can not find time field {name} for record level expire.")));
    };
    match field.data_type {
        DataType::Int(_) | DataType::BigInt(_) | DataType::Timestamp(_) | DataType::LocalZonedTimestamp(_) => Ok(()),
        _ => Err(Error::invalid_config(format!(
            "The record level time field type should be one of INT, BIGINT, or TIMESTAMP, but field type is {}.",
            field.data_type.sql_text()
        ))),
    }
}

fn check_vectors(schema: &TableSchema, options: &Options) -> Result<()> {
    for name in names(options.get("vector-field").unwrap_or_default()) {
        if !column(schema, name).is_some_and(|f| matches!(f.data_type, DataType::Vector(_))) {
            return Err(Error::invalid_config(format!(
                "Field name[{name}] is configured as vector-field so the type must be vector."
            )));
        }
    }
    let has_vector = schema.fields.iter().any(|f| matches!(f.data_type, DataType::Vector(_)));
    if options.contains("vector.file.format") && has_vector && !options.value(&DATA_EVOLUTION)? {
        return Err(Error::invalid_config("Data evolution config must enabled for table with VECTOR type column."));
    }
    Ok(())
}

fn check_key_indexes(schema: &TableSchema, options: &Options) -> Result<()> {
    let mut owners: Vec<&str> = Vec::new();
    for kind in ["vector", "btree", "bitmap", "multivalue", "full-text"] {
        let key = format!("pk-{kind}.index.columns");
        let Some(listed) = options.get(&key) else { continue };
        let bucket = options.value(&BUCKET)?;
        let wrong = if !schema.has_primary_key() {
            "a primary key"
        } else if bucket <= 0 && bucket != -2 {
            "a fixed or postponed bucket"
        } else if !options.value(&DELETION_VECTORS)? && options.value(&MERGE_ENGINE)? != MergeEngine::FirstRow {
            "'deletion-vectors.enabled' = true"
        } else if is_on(options, "deletion-vectors.merge-on-read")? {
            "'deletion-vectors.merge-on-read' = false"
        } else if is_on(options, "pk-clustering-override")? {
            "'pk-clustering-override' = false"
        } else {
            ""
        };
        if !wrong.is_empty() {
            return Err(Error::invalid_config(format!("Primary-key {kind} index requires {wrong}.")));
        }
        for name in names(listed) {
            if column(schema, name).is_none() {
                let text = format!("Column '{name}' specified in '{key}' does not exist.");
                return Err(Error::invalid_config(text));
            }
            if owners.contains(&name) {
                return Err(Error::invalid_config(format!("Column '{name}' can own at most one primary-key index.")));
            }
            owners.push(name);
        }
    }
    Ok(())
}

fn check_map_layouts(schema: &TableSchema, options: &Options) -> Result<()> {
    for field in &schema.fields {
        let key = format!("fields.{}.map.storage-layout", field.name);
        if options.contains(&key) && !matches!(field.data_type, DataType::Map(_)) {
            return Err(Error::invalid_config(format!(
                "Column '{}' is configured with map.storage-layout, but its type is {}.",
                field.name,
                field.data_type.sql_text()
            )));
        }
    }
    Ok(())
}

fn check_file_indexes(schema: &TableSchema, options: &Options) -> Result<()> {
    for (key, listed) in options.iter() {
        if !(key.starts_with("file-index.") && key.ends_with(".columns")) {
            continue;
        }
        for name in names(listed) {
            let is_entry = name.ends_with(']');
            let base = name.split_once('[').filter(|_| is_entry).map_or(name, |(base, _)| base);
            let Some(field) = column(schema, base) else {
                return Err(Error::invalid_config(format!(
                    "Column '{base}' specified in '{key}' does not exist in table schema."
                )));
            };
            let is_text_map = matches!(&field.data_type, DataType::Map(t) if matches!(t.key_type(), DataType::Char(_) | DataType::VarChar(_)));
            if is_entry && !is_text_map {
                return Err(Error::invalid_config(format!(
                    "Column '{base}' specified in '{key}' must be a MAP with text keys, but is {}.",
                    field.data_type.sql_text()
                )));
            }
        }
    }
    Ok(())
}

fn check_row_tracking(schema: &TableSchema, options: &Options) -> Result<()> {
    let tracked = options.value(&ROW_TRACKING)?;
    if tracked && schema.has_primary_key() {
        return Err(Error::invalid_config("Cannot define primary-key for row tracking table."));
    }
    if tracked && options.value(&BUCKET)? != -1 {
        return Err(Error::invalid_config("Cannot define bucket for row tracking table, it only support bucket = -1"));
    }
    if options.value(&DATA_EVOLUTION)? {
        if !tracked {
            return Err(Error::invalid_config("Data evolution config must enabled with row-tracking.enabled"));
        }
        if is_on(options, "clustering.incremental")? {
            return Err(Error::invalid_config("Data evolution config can not be enabled with clustering.incremental"));
        }
    }
    Ok(())
}

/// Whether a column is kept in files of its own.
fn is_blob(field: &DataField) -> bool {
    match &field.data_type {
        DataType::Blob(_) => true,
        DataType::Array(t) => matches!(t.element_type(), DataType::Blob(_)),
        DataType::Map(t) => matches!(t.value_type(), DataType::Blob(_)),
        _ => false,
    }
}

fn check_blobs(schema: &TableSchema, options: &Options) -> Result<()> {
    for key in ["blob-field", "blob-descriptor-field", "blob-view-field"] {
        for name in names(options.get(key).unwrap_or_default()) {
            if !column(schema, name).is_some_and(is_blob) {
                return Err(Error::invalid_config(format!("Field '{name}' in '{key}' must be a BLOB field.")));
            }
        }
    }
    let blobs = schema.fields.iter().filter(|f| is_blob(f)).count();
    if blobs == 0 {
        return Ok(());
    }
    if !schema.has_primary_key() && !options.value(&DATA_EVOLUTION)? {
        return Err(Error::invalid_config("Data evolution config must enabled for table with BLOB type column."));
    }
    if blobs == schema.fields.len() {
        return Err(Error::invalid_input("Table with BLOB type column must have other normal columns."));
    }
    let only_plain = options.value(&MERGE_ENGINE)? != MergeEngine::Aggregation
        && options.value(&CHANGELOG_PRODUCER)? == ChangelogProducer::None
        && !options.contains("data-file.external-paths")
        && !is_on(options, "pk-clustering-override")?;
    if schema.has_primary_key() && !only_plain {
        return Err(Error::invalid_config(
            "Primary-key managed BLOB tables only support merge engines other than aggregation, no changelog producer, no \
             external paths and no 'pk-clustering-override'.",
        ));
    }
    Ok(())
}

fn check_clustering(schema: &TableSchema, options: &Options) -> Result<()> {
    for name in names(options.get("clustering.columns").unwrap_or_default()) {
        if column(schema, name).is_none() {
            return Err(Error::invalid_config(format!(
                "Field '{name}' in 'clustering.columns' can not be found in table schema."
            )));
        }
    }
    if is_on(options, "clustering.incremental")? {
        if schema.has_primary_key() {
            return Err(Error::invalid_config("Cannot define primary-key for incremental clustering table."));
        }
        let fixed = options.value(&BUCKET)? > 0;
        if fixed && (options.value(&BUCKET_APPEND_ORDERED)? || options.value(&DELETION_VECTORS)?) {
            return Err(Error::invalid_config(
                "Incremental clustering of fixed buckets needs 'bucket-append-ordered' = false and no deletion vectors.",
            ));
        }
    }
    if !is_on(options, "pk-clustering-override")? {
        return Ok(());
    }
    let engine = options.value(&MERGE_ENGINE)?;
    let wrong = if !options.contains("clustering.columns") {
        "tables without 'clustering.columns'"
    } else if !options.value(&DELETION_VECTORS)? && engine != MergeEngine::FirstRow {
        "tables without deletion vectors"
    } else if !matches!(engine, MergeEngine::Deduplicate | MergeEngine::FirstRow) {
        "merge engines other than deduplicate and first-row"
    } else if options.contains("record-level.expire-time") {
        "record level expire"
    } else if !options.value(&SEQUENCE_FIELD)?.is_empty() {
        "sequence fields"
    } else if !matches!(options.value(&CHANGELOG_PRODUCER)?, ChangelogProducer::None | ChangelogProducer::Input) {
        "changelog producers other than none and input"
    } else {
        return Ok(());
    };
    Err(Error::invalid_config(format!("Cannot support {wrong} in 'pk-clustering-override' mode.")))
}

fn check_manifest_sort(schema: &TableSchema, options: &Options) -> Result<()> {
    if !is_on(options, "manifest-sort.enabled")? || options.value(&DATA_EVOLUTION)? {
        return Ok(());
    }
    if schema.partition_keys.is_empty() {
        return Err(Error::invalid_config("Cannot enable 'manifest-sort.enabled' for non-partition table."));
    }
    match options.get("manifest-sort.partition-field") {
        Some(name) if !schema.partition_keys.iter().any(|k| k == name) => {
            Err(Error::invalid_config(format!("'manifest-sort.partition-field' = '{name}' is not a partition key.")))
        }
        _ => Ok(()),
    }
}
