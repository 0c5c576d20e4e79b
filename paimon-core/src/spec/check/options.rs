//! Options that contradict each other or the columns.

use super::is_on;
use crate::error::{Error, Result};
use crate::options::{Options, parse_number};
use crate::spec::table_schema::TableSchema;
use crate::spec::{
    CHANGELOG_PRODUCER, ChangelogProducer, FILE_COMPRESSION, FILE_FORMAT, FULL_COMPACTION_DELTA_COMMITS, SCAN_MODE,
    SNAPSHOT_RETAINED_MAX, SNAPSHOT_RETAINED_MIN, ScanMode, TARGET_FILE_ROWS,
};
use crate::types::DataType;

/// Formats that a file may have.
const FORMATS: [&str; 11] =
    ["parquet", "orc", "avro", "csv", "json", "text", "row", "blob", "mosaic", "vortex", "lance"];

/// Codecs that the data files of one format or another may have.
const CODECS: [&str; 15] = [
    "none",
    "uncompressed",
    "null",
    "zstd",
    "zstandard",
    "snappy",
    "gzip",
    "zlib",
    "deflate",
    "lz4",
    "lz4_raw",
    "lzo",
    "brotli",
    "bzip2",
    "xz",
];

pub(super) fn check(schema: &TableSchema, options: &Options) -> Result<()> {
    check_scan_mode(options)?;
    check_field_options(schema, options)?;
    check_changelog_producer(schema, options)?;
    check_retention(options)?;
    check_format_names(options)?;
    check_avro_columns(schema, options)?;
    if is_on(options, "streaming-read-overwrite")? && !schema.has_primary_key() {
        return Err(Error::invalid_config(
            "Doesn't support streaming read the changes from overwrite when the primary keys are not defined. Use \
             'streaming-read-append-overwrite' instead.",
        ));
    }
    if options.contains("scan.fallback-branch") && options.contains("scan.primary-branch") {
        return Err(Error::invalid_config("Cannot set both 'scan.fallback-branch' and 'scan.primary-branch'."));
    }
    Ok(())
}

const TIMESTAMPS: [&str; 2] = ["scan.timestamp-millis", "scan.timestamp"];
const INCREMENTS: [&str; 3] = ["incremental-between", "incremental-between-timestamp", "incremental-to-auto-tag"];
const CREATION: &str = "scan.file-creation-time-millis";
const SNAPSHOT: &str = "scan.snapshot-id";
const TAG: &str = "scan.tag-name";
const WATERMARK: &str = "scan.watermark";

fn check_scan_mode(options: &Options) -> Result<()> {
    let given = options.value(&SCAN_MODE)?;
    let any = |keys: &[&str]| keys.iter().any(|k| options.contains(k));
    let mode = match given {
        ScanMode::Default if any(&TIMESTAMPS) => ScanMode::FromTimestamp,
        ScanMode::Default if any(&[SNAPSHOT, TAG, WATERMARK, "scan.version"]) => ScanMode::FromSnapshot,
        ScanMode::Default if any(&[CREATION]) => ScanMode::FromFileCreationTime,
        ScanMode::Default if any(&INCREMENTS) => ScanMode::Incremental,
        other => other,
    };
    let (one_of, absent): (Vec<&str>, Vec<&str>) = match mode {
        ScanMode::FromTimestamp => (TIMESTAMPS.to_vec(), [&[SNAPSHOT, CREATION, TAG], INCREMENTS.as_slice()].concat()),
        ScanMode::FromSnapshot => {
            let one = vec![SNAPSHOT, TAG, WATERMARK, "scan.version"];
            (one, [&TIMESTAMPS, [CREATION].as_slice(), &INCREMENTS].concat())
        }
        ScanMode::FromSnapshotFull => (vec![SNAPSHOT], [&TIMESTAMPS, [CREATION, TAG].as_slice(), &INCREMENTS].concat()),
        ScanMode::FromFileCreationTime => {
            (vec![CREATION], [[SNAPSHOT, TIMESTAMPS[0], TAG].as_slice(), &INCREMENTS].concat())
        }
        ScanMode::Incremental => (INCREMENTS.to_vec(), [[SNAPSHOT, CREATION, TAG].as_slice(), &TIMESTAMPS].concat()),
        ScanMode::FromCreationTimestamp => (vec!["scan.creation-time-millis"], Vec::new()),
        ScanMode::Default
        | ScanMode::LatestFull
        | ScanMode::Full
        | ScanMode::Latest
        | ScanMode::LatestDelta
        | ScanMode::CompactedFull => {
            (Vec::new(), [[SNAPSHOT, CREATION, TAG].as_slice(), &TIMESTAMPS, &INCREMENTS].concat())
        }
    };
    if let Some(key) = absent.iter().find(|k| options.contains(k)) {
        let chosen_by = one_of.iter().find(|k| options.contains(k)).filter(|_| given == ScanMode::Default);
        let because = chosen_by.map(|k| format!(", as {k} does")).unwrap_or_default();
        let mode = mode.as_str();
        return Err(Error::invalid_config(format!("{key} must be null when you use {mode} for scan.mode{because}")));
    }
    if !one_of.is_empty() && one_of.iter().filter(|k| options.contains(k)).count() != 1 {
        let (keys, mode) = (one_of.join(","), mode.as_str());
        return Err(Error::invalid_config(format!(
            "must set only one key in [{keys}] when you use {mode} for scan.mode"
        )));
    }
    Ok(())
}

/// Options `fields.<columns>.<what>` name columns.
fn check_field_options(schema: &TableSchema, options: &Options) -> Result<()> {
    for (key, _) in options.iter() {
        let Some(rest) = key.strip_prefix("fields.") else { continue };
        let (columns, what) = rest.split_once('.').unwrap_or((rest, ""));
        if columns == "default-aggregate-function" {
            continue;
        }
        for column in columns.split(',') {
            let field = schema.fields.iter().find(|f| f.name == column).ok_or_else(|| {
                Error::invalid_config(format!("Field {column} can not be found in table schema."))
                    .with_context("option", key)
            })?;
            if let DataType::Row(row) = &field.data_type
                && what.split_once('.').is_some_and(|(child, _)| row.index_of(child).is_some())
            {
                let text = format!("Nested-field path is not supported on ROW field {column}");
                return Err(Error::invalid_config(text).with_context("option", key));
            }
        }
    }
    Ok(())
}

fn check_changelog_producer(schema: &TableSchema, options: &Options) -> Result<()> {
    let producer = options.value(&CHANGELOG_PRODUCER)?;
    if producer == ChangelogProducer::None {
        return Ok(());
    }
    if !schema.has_primary_key() {
        return Err(Error::invalid_config(format!(
            "Can not set changelog-producer on table without primary keys, please define primary keys. Found: {}",
            producer.as_str()
        )));
    }
    let compacting = matches!(producer, ChangelogProducer::FullCompaction | ChangelogProducer::Lookup);
    if compacting && is_on(options, "streaming-read-overwrite")? {
        return Err(Error::invalid_config(format!(
            "Cannot set streaming-read-overwrite to true when changelog producer is {} because it will read duplicated \
             changes.",
            producer.as_str()
        )));
    }
    if producer == ChangelogProducer::Lookup && options.contains(FULL_COMPACTION_DELTA_COMMITS.key) {
        return Err(Error::invalid_config(
            "'full-compaction.delta-commits' is incompatible with 'changelog-producer'='lookup'. Please use \
             'changelog-producer'='full-compaction' instead.",
        ));
    }
    Ok(())
}

fn check_retention(options: &Options) -> Result<()> {
    if options.value(&TARGET_FILE_ROWS)? < 1 {
        return Err(Error::invalid_config("target-file-row-num should be at least 1"));
    }
    let (min, max) = (options.value(&SNAPSHOT_RETAINED_MIN)?, options.value(&SNAPSHOT_RETAINED_MAX)?);
    let number = |key: &str, default: u64| options.get(key).map_or(Ok(default), parse_number::<u64>);
    let of_changelog = (number("changelog.num-retained.min", min)?, number("changelog.num-retained.max", max)?);
    for (kind, (min, max)) in [("snapshot", (min, max)), ("changelog", of_changelog)] {
        if min < 1 {
            return Err(Error::invalid_config(format!("{kind}.num-retained.min should be at least 1")));
        }
        if min > max {
            return Err(Error::invalid_config(format!(
                "{kind}.num-retained.min should not be larger than {kind}.num-retained.max"
            )));
        }
    }
    Ok(())
}

/// Checks that the options name formats and codecs that there are.
///
/// # Errors
/// `InvalidConfig` naming the option and what was expected.
pub fn check_format_names(options: &Options) -> Result<()> {
    for (option, format) in formats(options)? {
        if !FORMATS.contains(&format.to_ascii_lowercase().as_str()) {
            let text = format!(
                "Could not find any factory for identifier '{format}' that implements FileFormatFactory, expected one of {}",
                FORMATS.join(", ")
            );
            return Err(Error::invalid_config(text).with_context("option", option));
        }
    }
    check_codecs(options)
}

/// The formats that options name, with the option of each.
fn formats(options: &Options) -> Result<Vec<(String, String)>> {
    let mut formats = vec![(FILE_FORMAT.key.to_owned(), options.value(&FILE_FORMAT)?)];
    formats.extend(options.get("changelog-file.format").map(|f| ("changelog-file.format".to_owned(), f.to_owned())));
    for (level, format) in formats_per_level(options)? {
        formats.push((format!("file.format.per.level, level {level}"), format));
    }
    Ok(formats)
}

fn check_avro_columns(schema: &TableSchema, options: &Options) -> Result<()> {
    for (option, format) in formats(options)? {
        if format.eq_ignore_ascii_case("avro") {
            for field in &schema.fields {
                check_avro(&field.data_type)
                    .map_err(|e| e.with_context("column", &field.name).with_context("option", &option))?;
            }
        }
    }
    Ok(())
}

fn check_codecs(options: &Options) -> Result<()> {
    let mut codecs = vec![(FILE_COMPRESSION.key.to_owned(), options.value(&FILE_COMPRESSION)?)];
    codecs.extend(
        options.get("changelog-file.compression").map(|c| ("changelog-file.compression".to_owned(), c.to_owned())),
    );
    for (level, codec) in per_level(options, "file.compression.per.level")? {
        codecs.push((format!("file.compression.per.level, level {level}"), codec));
    }
    match codecs.iter().find(|(_, codec)| !CODECS.iter().any(|known| known.eq_ignore_ascii_case(codec))) {
        Some((option, codec)) => {
            let text = format!("unknown codec '{codec}', expected one of {}", CODECS.join(", "));
            Err(Error::invalid_config(text).with_context("option", option))
        }
        None => Ok(()),
    }
}

/// What `file.format.per.level` says: level and format.
///
/// # Errors
/// `InvalidConfig` if a part is no pair.
pub(in crate::spec) fn formats_per_level(options: &Options) -> Result<Vec<(String, String)>> {
    per_level(options, "file.format.per.level")
}

fn per_level(options: &Options, option: &str) -> Result<Vec<(String, String)>> {
    let pair = |part: &str| match part.split_once(':') {
        Some((level, format)) => Ok((level.trim().to_owned(), format.trim().to_owned())),
        None => Err(Error::invalid_config(format!("Map item is not a key-value pair (missing ':'?): '{part}'"))
            .with_context("option", option)),
    };
    match options.get(option) {
        Some(text) => text.split(',').filter(|p| !p.trim().is_empty()).map(pair).collect(),
        None => {
            let prefixed = |(key, format): (&str, &str)| {
                let level = key.strip_prefix(option)?.strip_prefix('.')?;
                Some(Ok((level.to_owned(), format.to_owned())))
            };
            options.iter().filter_map(prefixed).collect()
        }
    }
}

fn check_avro(data_type: &DataType) -> Result<()> {
    let refuse = |what: &str, precision: u32, most: u32| {
        Err(Error::unsupported(format!(
            "Avro does not support {what} type with precision: {precision}, it only supports precision less than or equal \
             to {most}."
        )))
    };
    match data_type {
        DataType::Timestamp(t) if t.precision() > 6 => refuse("TIMESTAMP", t.precision(), 6),
        DataType::LocalZonedTimestamp(t) if t.precision() > 6 => {
            refuse("TIMESTAMP WITH LOCAL TIME ZONE", t.precision(), 6)
        }
        DataType::Time(t) if t.precision() > 3 => refuse("TIME", t.precision(), 3),
        DataType::Variant(_) => Err(Error::unsupported("Avro does not support the type VARIANT.")),
        DataType::Array(t) => check_avro(t.element_type()),
        DataType::Multiset(t) => check_avro(t.element_type()),
        DataType::Map(t) => check_avro(t.key_type()).and_then(|()| check_avro(t.value_type())),
        DataType::Row(t) => t.fields().iter().try_for_each(|f| check_avro(&f.data_type)),
        _ => Ok(()),
    }
}
