//! What this product can read and write of what the format allows.
//!
//! Invariants: whatever is not built is refused here by name, before any byte is read or written; a table that is only
//! odd, not unreadable, passes. Source: option sheet section 3.

use super::check::formats_per_level;
use super::data_file::DataFileMeta;
use super::table_options::*;
use super::table_schema::TableSchema;
use crate::error::{Error, Result};
use crate::options::{Options, parse_bool};
use crate::types::DataType;

/// Switches that change what a read gives.
const UNREADABLE_SWITCHES: [&str; 6] = [
    "chain-table.enabled",
    "data-evolution.enabled",
    "pk-clustering-override",
    "postpone.merge-on-read",
    "query-auth.enabled",
    "sequence.snapshot-ordering",
];
/// Options that change what a read gives wherever they are set.
const UNREADABLE_KEYS: [&str; 3] =
    ["scan.primary-branch", "scan.fallback-snapshot-branch", "scan.fallback-delta-branch"];
/// Switches that a writer must follow.
const UNWRITABLE_SWITCHES: [&str; 6] = [
    "clustering.incremental",
    "commit.discard-duplicate-files",
    "data-file.thin-mode",
    "primary-key.nullable",
    "row-tracking.enabled",
    "visibility-callback.enabled",
];
/// Options that a writer of rows must follow wherever they are set.
const UNWRITABLE_KEYS: [&str; 1] = ["rowkind.field"];
/// Options that a writer of files must follow wherever they are set.
const UNWRITABLE_FILE_KEYS: [&str; 5] = [
    "data-file.external-paths",
    "record-level.expire-time",
    "pk-vector.index.columns",
    "pk-full-text.index.columns",
    "variant.shreddingSchema",
];

/// The format of manifests in releases before 2.1.
const MANIFEST_FORMAT: &str = "manifest.format";

const WRITING: &str = "writing to";

fn refuse(access: &str, option: &str, value: &str) -> Error {
    Error::unsupported(format!("{access} tables with option '{option}' = '{value}' is not supported"))
}

fn refuse_switches(options: &Options, keys: &[&str], access: &str) -> Result<()> {
    for key in keys {
        if let Some(text) = options.get(key)
            && parse_bool(text).map_err(|e| e.with_context("option", key))?
        {
            return Err(refuse(access, key, text));
        }
    }
    Ok(())
}

fn refuse_keys(options: &Options, keys: &[&str], access: &str) -> Result<()> {
    match keys.iter().find_map(|key| options.get(key).map(|text| (key, text))) {
        Some((key, text)) => Err(refuse(access, key, text)),
        None => Ok(()),
    }
}

/// Checks that rows of the table can be read. `options` are those of the schema with dynamic ones laid over them.
///
/// # Errors
/// `Unsupported` naming the option or type.
pub fn check_readable(schema: &TableSchema, options: &Options) -> Result<()> {
    refuse_switches(options, &UNREADABLE_SWITCHES, "reading")?;
    refuse_keys(options, &UNREADABLE_KEYS, "reading")?;
    check_types(schema, "reading", &|t| matches!(t, DataType::Blob(_) | DataType::Vector(_)))
}

/// Checks that a data file can be read.
///
/// # Errors
/// `Unsupported` naming the file.
pub fn check_file_readable(file: &DataFileMeta) -> Result<()> {
    match file.format() {
        "parquet" | "orc" | "avro" => Ok(()),
        other => Err(Error::unsupported(format!("reading data files of format '{other}' is not supported"))
            .with_context("file", &file.file_name)),
    }
}

/// Checks that rows can be written to the table.
///
/// # Errors
/// `Unsupported` naming the option or type.
pub fn check_writable(schema: &TableSchema, options: &Options) -> Result<()> {
    check_files_writable(schema, options, WRITING)?;
    refuse_keys(options, &UNWRITABLE_KEYS, WRITING)?;
    if schema.has_primary_key() {
        check_keyed(options)?;
    }
    if let Some(mode) = options.get("write.sequence-number-init-mode")
        && !mode.eq_ignore_ascii_case("scan")
    {
        return Err(refuse(WRITING, "write.sequence-number-init-mode", mode));
    }
    Ok(())
}

/// Checks that files of the table can be compacted.
///
/// # Errors
/// `Unsupported` naming the option or type.
pub fn check_compactable(schema: &TableSchema, options: &Options) -> Result<()> {
    const COMPACTING: &str = "compacting";
    check_files_writable(schema, options, COMPACTING)?;
    refuse_switches(options, &["force-lookup"], COMPACTING)?;
    match options.value(&CHANGELOG_PRODUCER)? {
        // Changes of input were noted when it was written.
        ChangelogProducer::None | ChangelogProducer::Input => {}
        producer @ (ChangelogProducer::FullCompaction | ChangelogProducer::Lookup) => {
            return Err(refuse(COMPACTING, CHANGELOG_PRODUCER.key, producer.as_str()));
        }
    }
    match options.value(&BUCKET)? {
        -2 => Err(refuse(COMPACTING, BUCKET.key, "-2")),
        _ => Ok(()),
    }
}

/// What writing and compacting have in common: both make data files.
fn check_files_writable(schema: &TableSchema, options: &Options, access: &str) -> Result<()> {
    let kind = options.value(&TABLE_TYPE)?;
    if !kind.eq_ignore_ascii_case("table") {
        return Err(refuse(access, TABLE_TYPE.key, &kind));
    }
    refuse_switches(options, &UNWRITABLE_SWITCHES, access)?;
    refuse_switches(options, &UNREADABLE_SWITCHES, access)?;
    refuse_keys(options, &UNWRITABLE_FILE_KEYS, access)?;
    if options.value(&DELETION_VECTORS)? {
        return Err(refuse(access, DELETION_VECTORS.key, "true"));
    }
    let engine = options.value(&MERGE_ENGINE)?;
    if schema.has_primary_key() && engine != MergeEngine::Deduplicate {
        return Err(refuse(access, MERGE_ENGINE.key, engine.as_str()));
    }
    check_formats(options, access)?;
    // Java reads the manifests of such a table in that format only, whatever their first bytes say.
    if let Some(format) = options.get(MANIFEST_FORMAT)
        && !format.trim().eq_ignore_ascii_case("avro")
    {
        return Err(refuse(access, MANIFEST_FORMAT, format));
    }
    for (key, value) in options.iter() {
        let is_index = key.starts_with("file-index.") && key.ends_with(".columns");
        let is_key_index = key.starts_with("pk-") && key.ends_with(".index.columns");
        let is_layout = key.starts_with("fields.") && key.ends_with(".map.storage-layout");
        if is_index || is_key_index || is_layout {
            return Err(refuse(access, key, value));
        }
    }
    check_types(schema, access, &|t| match t {
        // No file format has a place for it.
        DataType::Row(row) => row.fields().is_empty(),
        other => matches!(other, DataType::Blob(_) | DataType::Vector(_) | DataType::Variant(_)),
    })
}

fn check_keyed(options: &Options) -> Result<()> {
    let producer = options.value(&CHANGELOG_PRODUCER)?;
    if producer != ChangelogProducer::None {
        return Err(refuse(WRITING, CHANGELOG_PRODUCER.key, producer.as_str()));
    }
    match options.value(&BUCKET)? {
        -1 => Err(Error::unsupported(
            "writing to primary-key tables with dynamic buckets is not supported: set option 'bucket' to a number of \
             buckets when the table is created",
        )),
        -2 => Err(refuse(WRITING, BUCKET.key, "-2")),
        _ => Ok(()),
    }
}

fn check_formats(options: &Options, access: &str) -> Result<()> {
    let format = options.value(&FILE_FORMAT)?;
    let levels = formats_per_level(options)?;
    let per_level = levels.iter().map(|(_, format)| ("file.format.per.level", format.as_str()));
    for (key, format) in std::iter::once((FILE_FORMAT.key, format.as_str())).chain(per_level) {
        if !format.eq_ignore_ascii_case("parquet") {
            return Err(refuse(access, key, format));
        }
    }
    Ok(())
}

fn check_types(schema: &TableSchema, access: &str, is_refused: &dyn Fn(&DataType) -> bool) -> Result<()> {
    for field in &schema.fields {
        if let Some(found) = find_type(&field.data_type, is_refused) {
            let text = format!("{access} tables with a column of type {} is not supported", found.sql_text());
            return Err(Error::unsupported(text).with_context("column", &field.name));
        }
    }
    Ok(())
}

fn find_type<'a>(data_type: &'a DataType, is_wanted: &dyn Fn(&DataType) -> bool) -> Option<&'a DataType> {
    if is_wanted(data_type) {
        return Some(data_type);
    }
    match data_type {
        DataType::Array(t) => find_type(t.element_type(), is_wanted),
        DataType::Multiset(t) => find_type(t.element_type(), is_wanted),
        DataType::Map(t) => find_type(t.key_type(), is_wanted).or_else(|| find_type(t.value_type(), is_wanted)),
        DataType::Row(t) => t.fields().iter().find_map(|f| find_type(&f.data_type, is_wanted)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::spec::Schema;

    fn table(keyed: bool, options: &str) -> TableSchema {
        let mut builder = Schema::builder()
            .column("k", "INT".parse().unwrap())
            .column("v", "STRING".parse().unwrap())
            .column("m", "MAP<STRING, ARRAY<VARIANT>>".parse().unwrap());
        if options != "variant" {
            builder = Schema::builder().column("k", "INT".parse().unwrap()).column("v", "STRING".parse().unwrap());
        }
        for option in options.split(';').filter(|o| o.contains('=')) {
            let (key, value) = option.split_once('=').unwrap();
            builder = builder.option(key, value);
        }
        let schema = builder.primary_key(if keyed { vec!["k"] } else { vec![] }).build().unwrap();
        TableSchema::create(&schema, 0).unwrap()
    }

    #[test]
    fn what_cannot_be_compacted_is_refused_by_name() {
        let cases = [
            ("bucket=1", ""),
            ("bucket=1;changelog-producer=input", ""),
            ("bucket=1;rowkind.field=v", ""),
            ("bucket=-1", ""),
            ("bucket=1;changelog-producer=lookup", "compacting tables with option 'changelog-producer' = 'lookup'"),
            ("bucket=-2", "'bucket' = '-2'"),
            ("bucket=1;merge-engine=first-row", "'merge-engine' = 'first-row'"),
            ("bucket=1;force-lookup=true", "force-lookup"),
            ("bucket=1;deletion-vectors.enabled=true", "deletion-vectors.enabled"),
            ("bucket=1;file.format=orc", "'file.format' = 'orc'"),
            ("bucket=1;manifest.format=Parquet", "compacting tables with option 'manifest.format' = 'Parquet'"),
            ("bucket=1;manifest.format=Avro", ""),
            ("bucket=1;record-level.expire-time=1 d;record-level.time-field=k", "record-level.expire-time"),
        ];
        for (options, expected) in cases {
            let schema = table(true, options);
            let found = check_compactable(&schema, &Options::from(schema.options.clone()));
            let found = found.err().map_or(String::new(), |e| e.to_string());
            assert_eq!(found.is_empty(), expected.is_empty(), "{options}: {found}");
            assert!(found.contains(expected), "{options}: {found}");
        }
    }

    /// What reading and writing name when they refuse; empty if they do not.
    fn refusals(keyed: bool, options: &str) -> (String, String) {
        let schema = table(keyed, options);
        let options = Options::from(schema.options.clone());
        let text = |result: Result<()>| match result {
            Ok(()) => String::new(),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
                error.to_string()
            }
        };
        (text(check_readable(&schema, &options)), text(check_writable(&schema, &options)))
    }

    #[test]
    fn what_is_not_built_is_refused_by_name() {
        let cases = [
            (false, "", "", ""),
            (false, "bucket=2;bucket-key=k", "", ""),
            (true, "bucket=1;sequence.field=v;ignore-delete=true", "", ""),
            (true, "", "", "dynamic buckets"),
            (true, "bucket=1;merge-engine=aggregation", "", "'merge-engine' = 'aggregation'"),
            (true, "bucket=1;changelog-producer=input", "", "'changelog-producer' = 'input'"),
            (true, "bucket=1;deletion-vectors.enabled=true", "", "deletion-vectors"),
            (true, "bucket=-2", "", "'bucket' = '-2'"),
            (true, "bucket=1;rowkind.field=v", "", "rowkind.field"),
            (true, "bucket=1;data-file.thin-mode=true", "", "data-file.thin-mode"),
            (false, "row-tracking.enabled=true", "", "row-tracking.enabled"),
            (
                false,
                "row-tracking.enabled=true;data-evolution.enabled=true",
                "data-evolution.enabled",
                "row-tracking.enabled",
            ),
            (false, "file.format=orc", "", "'file.format' = 'orc'"),
            (false, "manifest.format=orc", "", "'manifest.format' = 'orc'"),
            (true, "bucket=1;file.format.per.level=0:avro", "", "'file.format.per.level' = 'avro'"),
            (false, "file-index.bloom-filter.columns=k", "", "file-index.bloom-filter.columns"),
            (false, "data-file.external-paths=file:/x", "", "data-file.external-paths"),
            (false, "query-auth.enabled=true", "query-auth.enabled", "query-auth.enabled"),
            (false, "scan.primary-branch=b", "scan.primary-branch", ""),
            (false, "variant", "", "column of type VARIANT is not supported (column: m)"),
        ];
        for (keyed, options, read, write) in cases {
            let (found_read, found_write) = refusals(keyed, options);
            for (found, expected) in [(found_read, read), (found_write, write)] {
                assert_eq!(found.is_empty(), expected.is_empty(), "{options}: {found}");
                assert!(found.contains(expected), "{options}: {found}");
            }
        }
    }
}
