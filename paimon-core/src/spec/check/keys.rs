//! Primary key, partition columns and buckets.

use super::columns::check_distinct;
use super::is_on;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::table_schema::TableSchema;
use crate::spec::{BUCKET, BUCKET_FUNCTION, BucketFunction, FULL_COMPACTION_DELTA_COMMITS};
use crate::types::DataType;

pub(super) fn check(schema: &TableSchema, options: &Options) -> Result<()> {
    check_constraint(schema, "Partition key constraint", "partition fields", &schema.partition_keys)?;
    check_constraint(schema, "Primary key constraint", "primary key constraint", &schema.primary_keys)?;
    check_types(schema, "primary key", &schema.primary_keys)?;
    check_types(schema, "partition", &schema.partition_keys)?;
    if schema.has_primary_key() && schema.trimmed_primary_keys().is_empty() {
        return Err(Error::invalid_input(format!(
            "Primary key constraint [{}] should not be same with partition fields [{}], this will result in only one \
             record in a partition",
            schema.primary_keys.join(", "),
            schema.partition_keys.join(", ")
        )));
    }
    if is_on(options, "primary-key.nullable")? && !schema.has_primary_key() {
        return Err(Error::invalid_config(
            "Option 'primary-key.nullable' can only be enabled for a table with primary keys.",
        ));
    }
    check_bucket_keys(schema, options)?;
    check_buckets(schema, options)
}

fn check_constraint(schema: &TableSchema, what: &str, plural: &str, keys: &[String]) -> Result<()> {
    check_distinct(what, &keys.iter().map(String::as_str).collect::<Vec<_>>())?;
    if keys.iter().all(|key| schema.fields.iter().any(|f| f.name == *key)) {
        return Ok(());
    }
    let columns: Vec<_> = schema.fields.iter().map(|f| f.name.as_str()).collect();
    Err(Error::invalid_input(format!(
        "Table column [{}] should include all {plural} [{}]",
        columns.join(", "),
        keys.join(", ")
    )))
}

fn check_types(schema: &TableSchema, what: &str, keys: &[String]) -> Result<()> {
    for field in schema.fields.iter().filter(|f| keys.contains(&f.name)) {
        if field.data_type.is_nested() || matches!(field.data_type, DataType::Blob(_)) {
            let (name, data_type) = (&field.name, field.data_type.sql_text());
            return Err(Error::unsupported(format!("The type {data_type} in {what} field {name} is unsupported")));
        }
    }
    Ok(())
}

fn check_bucket_keys(schema: &TableSchema, options: &Options) -> Result<()> {
    if !options.contains("bucket-key") {
        return Ok(());
    }
    let keys = schema.bucket_keys();
    let listed = |names: &[String]| names.join(", ");
    check_distinct("Bucket keys", &keys.iter().map(String::as_str).collect::<Vec<_>>())?;
    if let Some(unknown) = keys.iter().find(|k| !schema.fields.iter().any(|f| f.name == **k)) {
        return Err(Error::invalid_config(format!(
            "Field names should contains all bucket keys [{}], but column '{unknown}' does not exist",
            listed(&keys)
        )));
    }
    if keys.iter().any(|k| schema.partition_keys.contains(k)) {
        return Err(Error::invalid_config(format!(
            "Bucket keys [{}] should not in partition keys [{}].",
            listed(&keys),
            listed(&schema.partition_keys)
        )));
    }
    if schema.has_primary_key() && !keys.iter().all(|k| schema.primary_keys.contains(k)) {
        return Err(Error::invalid_config(format!(
            "Primary keys [{}] should contains all bucket keys [{}].",
            listed(&schema.primary_keys),
            listed(&keys)
        )));
    }
    let is_nested = |k: &&String| schema.fields.iter().any(|f| f.name == **k && f.data_type.is_nested());
    let nested: Vec<_> = keys.iter().filter(is_nested).cloned().collect();
    if nested.is_empty() {
        return Ok(());
    }
    Err(Error::invalid_config(format!(
        "nested type can not in bucket-key, in your table these key are [{}]",
        listed(&nested)
    )))
}

fn check_buckets(schema: &TableSchema, options: &Options) -> Result<()> {
    let bucket = options.value(&BUCKET)?;
    let has_bucket_key = options.contains("bucket-key");
    match bucket {
        -1 if has_bucket_key => {
            return Err(Error::invalid_config(
                "Cannot define 'bucket-key' with bucket = -1, please remove the 'bucket-key' setting or specify a bucket \
                 number.",
            ));
        }
        -1 if !schema.has_primary_key() && options.contains(FULL_COMPACTION_DELTA_COMMITS.key) => {
            return Err(Error::invalid_config(
                "AppendOnlyTable of unaware or dynamic bucket does not support 'full-compaction.delta-commits'",
            ));
        }
        -1 => {}
        -2 if schema.has_primary_key() => {}
        ..=0 => return Err(Error::invalid_config("The number of buckets needs to be greater than 0.")),
        _ => {}
    }
    // Tables of version 1 had one bucket without being asked.
    let is_old = schema.version <= 1 && bucket == 1;
    if bucket > 0 && !schema.has_primary_key() && !has_bucket_key && !is_old {
        return Err(Error::invalid_config("You should define a 'bucket-key' for bucketed append mode."));
    }
    if options.value(&BUCKET_FUNCTION)? == BucketFunction::Mod && bucket != -1 {
        let keys = schema.bucket_key_positions();
        let is_integer = |at: &usize| matches!(schema.fields[*at].data_type, DataType::Int(_) | DataType::BigInt(_));
        if keys.len() != 1 || !keys.iter().all(is_integer) {
            return Err(Error::invalid_config(
                "bucket-function.type 'mod' needs exactly one bucket key of type INT or BIGINT",
            ));
        }
    }
    Ok(())
}
