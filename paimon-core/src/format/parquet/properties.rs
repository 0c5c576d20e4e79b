//! Options of a table as settings of the Parquet writer.
//!
//! Source: data-file sheet section 4; `format/parquet/writer/RowDataParquetBuilder.java`.

use ::parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::schema::types::ColumnPath;

use crate::error::{Error, Result};
use crate::options::{Options, parse_bool, parse_size};
use crate::spec::{FILE_BLOCK_SIZE, FILE_COMPRESSION, ZSTD_LEVEL};

/// Bytes of a row group unless options say otherwise: less than Java's 128 MiB, since a row group is what a writer keeps in
/// memory, and what a merge keeps of every run.
const ROW_GROUP_BYTES: u64 = 32 << 20;
/// Rows of a row group at most.
const ROW_GROUP_ROWS: usize = 1 << 20;
/// Java's limits of a page.
const PAGE_BYTES: u64 = 1 << 20;
const PAGE_ROWS: usize = 20_000;

/// How a file is written.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) properties: WriterProperties,
    pub(super) row_group_bytes: usize,
    pub(super) row_group_rows: usize,
}

impl Settings {
    /// The settings that options ask for.
    ///
    /// # Errors
    /// `Unsupported` naming the codec; `InvalidConfig` naming the option.
    pub(super) fn new(options: &Options) -> Result<Self> {
        let size = |key: &str, default: u64| match options.get(key) {
            Some(text) => {
                parse_size(text).map_err(|e| Error::invalid_config(format!("option '{key}': {}", e.message())))
            }
            None => Ok(default),
        };
        let block = options.find(&FILE_BLOCK_SIZE)?.unwrap_or(ROW_GROUP_BYTES);
        let block = size("parquet.block.size", block)?;
        let page = size("parquet.page.size", PAGE_BYTES)?;
        let dictionary = size("parquet.dictionary.page.size", PAGE_BYTES)?;
        let mut builder = WriterProperties::builder()
            .set_created_by(concat!("paimon-core version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(compression(options)?)
            .set_data_page_size_limit(to_usize(page))
            .set_dictionary_page_size_limit(to_usize(dictionary))
            .set_data_page_row_count_limit(PAGE_ROWS)
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_max_row_group_row_count(None);
        for (key, value) in options.iter() {
            let Some(rest) = key.strip_prefix("parquet.enable.dictionary") else { continue };
            let enabled =
                parse_bool(value).map_err(|e| Error::invalid_config(format!("option '{key}': {}", e.message())))?;
            builder = match rest.strip_prefix('#') {
                Some(column) => builder.set_column_dictionary_enabled(ColumnPath::from(column), enabled),
                None => builder.set_dictionary_enabled(enabled),
            };
        }
        Ok(Self {
            properties: builder.build(),
            row_group_bytes: to_usize(block).max(1),
            row_group_rows: ROW_GROUP_ROWS,
        })
    }
}

fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn compression(options: &Options) -> Result<Compression> {
    let name = options.value(&FILE_COMPRESSION)?;
    Ok(match name.to_ascii_lowercase().as_str() {
        "none" | "uncompressed" => Compression::UNCOMPRESSED,
        "snappy" => Compression::SNAPPY,
        "gzip" => Compression::GZIP(GzipLevel::default()),
        "brotli" => Compression::BROTLI(BrotliLevel::default()),
        "lz4" => Compression::LZ4,
        "lz4_raw" => Compression::LZ4_RAW,
        "zstd" => {
            let level = options.value(&ZSTD_LEVEL)?;
            let level = ZstdLevel::try_new(level)
                .map_err(|e| Error::invalid_config(format!("option '{}' is {level}", ZSTD_LEVEL.key)).with_source(e))?;
            Compression::ZSTD(level)
        }
        _ => {
            return Err(Error::unsupported(format!(
                "codec '{name}' of option '{}' cannot be written to Parquet; use none, snappy, gzip, brotli, lz4 or zstd",
                FILE_COMPRESSION.key
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn codecs_are_read_from_options() {
        let settings = |pairs: &[(&str, &str)]| Settings::new(&pairs.iter().copied().collect());
        let column = ColumnPath::from("a");
        let codec = |pairs: &[(&str, &str)]| settings(pairs).unwrap().properties.compression(&column);
        assert_eq!(codec(&[]), Compression::ZSTD(ZstdLevel::try_new(1).unwrap()));
        assert_eq!(codec(&[("file.compression", "NONE")]), Compression::UNCOMPRESSED);
        assert_eq!(codec(&[("file.compression.zstd-level", "7")]), Compression::ZSTD(ZstdLevel::try_new(7).unwrap()));
        let error = settings(&[("file.compression", "lzo")]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("lzo"));
        let error = settings(&[("file.compression.zstd-level", "99")]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    }

    #[test]
    fn dictionaries_can_be_switched_off() {
        let options: Options =
            [("parquet.enable.dictionary", "false"), ("parquet.enable.dictionary#b", "true")].into_iter().collect();
        let properties = Settings::new(&options).unwrap().properties;
        assert!(!properties.dictionary_enabled(&ColumnPath::from("a")));
        assert!(properties.dictionary_enabled(&ColumnPath::from("b")));
    }
}
