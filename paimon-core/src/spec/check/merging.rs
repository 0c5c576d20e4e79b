//! How rows of one key become one row: merge engines, sequence fields, sequence groups, aggregates.
//!
//! Source: merge-engine sheet sections 4.2, 5 and 6.

use std::collections::HashMap;

use super::{is_on, names};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::table_schema::TableSchema;
use crate::spec::{
    BUCKET, CHANGELOG_PRODUCER, ChangelogProducer, DELETION_VECTORS, IGNORE_DELETE, MERGE_ENGINE, MergeEngine,
    ROWKIND_FIELD, SEQUENCE_FIELD, SEQUENCE_SNAPSHOT_ORDERING, WRITE_ONLY,
};

const AGGREGATES: [&str; 22] = [
    "primary-key",
    "sum",
    "product",
    "max",
    "min",
    "last_value",
    "last_non_null_value",
    "first_value",
    "first_non_null_value",
    "first_not_null_value",
    "bool_and",
    "bool_or",
    "listagg",
    "collect",
    "merge_map",
    "merge_map_with_keytime",
    "nested_update",
    "nested_partial_update",
    "theta_sketch",
    "hll_sketch",
    "rbm32",
    "rbm64",
];

pub(super) fn check(schema: &TableSchema, options: &Options) -> Result<()> {
    let engine = options.value(&MERGE_ENGINE)?;
    check_sequence_fields(schema, options, engine)?;
    check_row_kind_field(schema, options)?;
    check_producers(options, engine)?;
    check_snapshot_ordering(schema, options)?;
    if matches!(engine, MergeEngine::PartialUpdate | MergeEngine::Aggregation) {
        check_aggregates(options)?;
    }
    let groups = SequenceGroups::read(schema, options)?;
    check_retracts(options, engine, &groups)?;
    if engine == MergeEngine::PartialUpdate {
        check_grouped_aggregates(schema, options, &groups)?;
    }
    Ok(())
}

fn column_exists(schema: &TableSchema, name: &str) -> bool {
    schema.fields.iter().any(|f| f.name == name)
}

fn check_sequence_fields(schema: &TableSchema, options: &Options, engine: MergeEngine) -> Result<()> {
    let fields = options.value(&SEQUENCE_FIELD)?;
    for (at, name) in fields.iter().enumerate() {
        if !column_exists(schema, name) {
            return Err(Error::invalid_config(format!("Sequence field: '{name}' can not be found in table schema.")));
        }
        if fields[..at].contains(name) {
            return Err(Error::invalid_config(format!("Sequence field '{name}' is defined repeatedly.")));
        }
        if options.contains(&format!("fields.{name}.aggregate-function")) {
            return Err(Error::invalid_config(format!("Should not define aggregation on sequence field: '{name}'.")));
        }
    }
    if fields.is_empty() {
        return Ok(());
    }
    if engine == MergeEngine::FirstRow {
        return Err(Error::invalid_config("Do not support use sequence field on FIRST_ROW merge engine."));
    }
    let keeps_partition = schema.partition_keys.iter().all(|p| schema.primary_keys.contains(p));
    if schema.has_primary_key() && !keeps_partition && options.value(&BUCKET)? == -1 {
        return Err(Error::invalid_config(format!(
            "You can not use sequence.field in cross partition update case (Primary key constraint [{}] not include all \
             partition fields [{}]).",
            schema.primary_keys.join(", "),
            schema.partition_keys.join(", ")
        )));
    }
    Ok(())
}

fn check_row_kind_field(schema: &TableSchema, options: &Options) -> Result<()> {
    match options.find(&ROWKIND_FIELD)? {
        Some(name) if !column_exists(schema, &name) => {
            Err(Error::invalid_config(format!("Rowkind field: '{name}' can not be found in table schema.")))
        }
        _ => Ok(()),
    }
}

fn check_producers(options: &Options, engine: MergeEngine) -> Result<()> {
    let producer = options.value(&CHANGELOG_PRODUCER)?;
    if engine == MergeEngine::FirstRow && !matches!(producer, ChangelogProducer::None | ChangelogProducer::Lookup) {
        return Err(Error::invalid_config(
            "Only support 'none' and 'lookup' changelog-producer on FIRST_ROW merge engine",
        ));
    }
    if options.value(&DELETION_VECTORS)? {
        if producer == ChangelogProducer::FullCompaction {
            return Err(Error::invalid_config(
                "Deletion vectors mode is only supported for NONE/INPUT/LOOKUP changelog producer now.",
            ));
        }
        if engine == MergeEngine::FirstRow && !is_on(options, "pk-clustering-override")? {
            return Err(Error::invalid_config(
                "First row merge engine does not need deletion vectors because there is no deletion of old data in this \
                 merge engine.",
            ));
        }
    }
    Ok(())
}

fn check_snapshot_ordering(schema: &TableSchema, options: &Options) -> Result<()> {
    if !options.value(&SEQUENCE_SNAPSHOT_ORDERING)? {
        return Ok(());
    }
    let wrong = if !schema.has_primary_key() {
        "needs a primary key"
    } else if !options.value(&SEQUENCE_FIELD)?.is_empty() {
        "cannot be used with 'sequence.field'"
    } else if !options.value(&WRITE_ONLY)? {
        "needs 'write-only' = true"
    } else {
        return Ok(());
    };
    Err(Error::invalid_config(format!("Option 'sequence.snapshot-ordering' {wrong}.")))
}

fn check_aggregates(options: &Options) -> Result<()> {
    for (key, name) in options.iter() {
        let is_function = key == "fields.default-aggregate-function"
            || key.starts_with("fields.") && key.ends_with(".aggregate-function");
        if is_function && !AGGREGATES.contains(&name) {
            let text = format!(
                "Could not find any factory for identifier '{name}' that implements 'FieldAggregatorFactory' in the \
                 classpath."
            );
            return Err(Error::invalid_config(text).with_context("option", key));
        }
    }
    Ok(())
}

/// Sequence groups of partial updates: the group of each protected column.
struct SequenceGroups<'a> {
    of_column: HashMap<&'a str, &'a str>,
    ordering: Vec<&'a str>,
}

impl<'a> SequenceGroups<'a> {
    fn read(schema: &TableSchema, options: &'a Options) -> Result<Self> {
        let mut groups = Self { of_column: HashMap::new(), ordering: Vec::new() };
        for (key, protected) in options.iter() {
            let Some(ordering) = key.strip_prefix("fields.").and_then(|k| k.strip_suffix(".sequence-group")) else {
                continue;
            };
            groups.add(schema, ordering, protected).map_err(|e| e.with_context("option", key))?;
        }
        Ok(groups)
    }

    fn add(&mut self, schema: &TableSchema, ordering: &'a str, protected: &'a str) -> Result<()> {
        // The names are not trimmed: ` a` is another column than `a`.
        for name in ordering.split(',').chain(protected.split(',')) {
            if !column_exists(schema, name) {
                return Err(Error::invalid_config(format!("Field {name} can not be found in table schema.")));
            }
            if schema.primary_keys.iter().any(|k| k == name) {
                return Err(Error::invalid_config(format!(
                    "The sequence-group '{ordering}' contains primary key field '{name}', which is not allowed."
                )));
            }
        }
        self.ordering.extend(ordering.split(','));
        for name in protected.split(',') {
            if let Some(other) = self.of_column.insert(name, ordering).filter(|other| *other != ordering) {
                return Err(Error::invalid_config(format!(
                    "Field {name} is defined repeatedly by multiple groups: [{other}, {ordering}]"
                )));
            }
        }
        Ok(())
    }
}

fn check_retracts(options: &Options, engine: MergeEngine, groups: &SequenceGroups<'_>) -> Result<()> {
    const ON_DELETE: &str = "partial-update.remove-record-on-delete";
    const ON_GROUP: &str = "partial-update.remove-record-on-sequence-group";
    let conflict = |a: &str, b: &str| {
        Err(Error::invalid_config(format!(
            "{a} and {b} have conflicting behavior so should not be enabled at the same time."
        )))
    };
    if engine == MergeEngine::Aggregation && is_on(options, "aggregation.remove-record-on-delete")? {
        for (key, value) in options.iter() {
            if key.starts_with("fields.") && key.ends_with(".ignore-retract") && value.eq_ignore_ascii_case("true") {
                return conflict("aggregation.remove-record-on-delete", key);
            }
        }
    }
    if engine != MergeEngine::PartialUpdate {
        return Ok(());
    }
    let (ignores, on_delete) = (options.value(&IGNORE_DELETE)?, is_on(options, ON_DELETE)?);
    if ignores && on_delete {
        return conflict("ignore-delete", ON_DELETE);
    }
    if let Some(listed) = options.get(ON_GROUP) {
        if ignores {
            return conflict("ignore-delete", ON_GROUP);
        }
        if let Some(name) = names(listed).find(|name| !groups.ordering.contains(name)) {
            return Err(Error::invalid_config(format!(
                "field '{name}' defined in '{ON_GROUP}' option must be part of sequence groups"
            )));
        }
    }
    if on_delete && !groups.ordering.is_empty() {
        return conflict("sequence-group", ON_DELETE);
    }
    Ok(())
}

/// Outside of groups only the aggregate that acts as no aggregate makes sense.
fn check_grouped_aggregates(schema: &TableSchema, options: &Options, groups: &SequenceGroups<'_>) -> Result<()> {
    let default = options.get("fields.default-aggregate-function");
    for field in &schema.fields {
        let name = field.name.as_str();
        if schema.primary_keys.iter().any(|k| k == name) || groups.ordering.contains(&name) {
            continue;
        }
        let function = options.get(&format!("fields.{name}.aggregate-function")).or(default);
        if function.is_some_and(|f| f != "last_non_null_value") && !groups.of_column.contains_key(name) {
            return Err(Error::invalid_config(format!(
                "Must use sequence group for aggregation functions but not found for field {name}."
            )));
        }
    }
    Ok(())
}
