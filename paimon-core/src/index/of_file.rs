//! The rows of a data file that a filter over the table may let pass, by the file's indexes.
//!
//! Invariants: the filter is translated to the schema of the file first; what cannot be said of the file keeps every row.
//! Source: file-index sheet section 1, read-path sheet section 7; `io/FileIndexEvaluator.java`.

use bytes::Bytes;
use roaring::RoaringBitmap;

use super::file_index::FileIndex;
use super::load::load;
use crate::datafile::devolve;
use crate::options::Options;
use crate::predicate::Predicate;
use crate::row_selection::RowSelection;
use crate::spec::{DataFileMeta, TableSchema};
use crate::storage::FileIO;
use crate::types::DataType;

/// The extension of files that hold an index.
const SUFFIX: &str = ".index";

/// Whether a table's indexes are to be used.
pub(crate) fn is_enabled(options: &Options) -> bool {
    options.get("file-index.read.enabled").is_none_or(|text| !text.trim().eq_ignore_ascii_case("false"))
}

/// Whether a file has an index.
pub(crate) fn has_index(file: &DataFileMeta) -> bool {
    file.embedded_index.is_some() || index_file(file).is_some()
}

fn index_file(file: &DataFileMeta) -> Option<&str> {
    index_files(file).next()
}

/// Names of the files beside a data file that hold its indexes.
pub(super) fn index_files(file: &DataFileMeta) -> impl Iterator<Item = &str> {
    file.extra_files.iter().filter(|name| name.ends_with(SUFFIX)).map(String::as_str)
}

/// Whether a row may pass, by the index in the manifest entry.
pub(crate) fn may_match(filter: &Predicate, file: &DataFileMeta, schema: &TableSchema) -> bool {
    let Some((bytes, question)) = file.embedded_index.as_ref().zip(translate(filter, file, schema)) else {
        return true;
    };
    let index = FileIndex::decode(&Bytes::copy_from_slice(bytes), &question.filter.column_names());
    index.ok().and_then(|index| question.rows(&index)).is_none_or(|rows| !rows.is_empty())
}

/// The rows that may pass, by the index of the data file at `path`, wherever it is; `None` if that is every row.
pub(crate) async fn rows(
    io: &FileIO,
    path: &str,
    file: &DataFileMeta,
    schema: &TableSchema,
    filter: &Predicate,
) -> Option<RowSelection> {
    let question = translate(filter, file, schema)?;
    let columns = question.filter.column_names();
    // An index that cannot be had says nothing; the data file decides about the read.
    let index = match (&file.embedded_index, index_file(file)) {
        (Some(bytes), _) => FileIndex::decode(&Bytes::copy_from_slice(bytes), &columns).ok()?,
        (None, Some(name)) => {
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            load(io, &format!("{directory}/{name}"), &columns).await.ok()?
        }
        (None, None) => return None,
    };
    let rows = question.rows(&index)?;
    Some(RowSelection::only(question.row_count as usize, &rows))
}

struct FileQuestion {
    /// Over the columns of the file.
    filter: Predicate,
    row_count: u32,
}

fn translate(filter: &Predicate, file: &DataFileMeta, schema: &TableSchema) -> Option<FileQuestion> {
    let row_count = u32::try_from(RowSelection::row_count(file.row_count).ok()?).ok()?;
    let is_padded = file.format() == "orc";
    let filter = devolve(filter, schema)?.map_leaves(&mut |leaf| match leaf.data_type {
        // Readers of ORC fill text of a fixed length with blanks; indexes hold it as it was written.
        DataType::Char(_) if is_padded => Predicate::AlwaysTrue,
        _ => Predicate::Leaf(leaf.clone()),
    });
    Some(FileQuestion { filter, row_count })
}

impl FileQuestion {
    fn rows(&self, index: &FileIndex) -> Option<RoaringBitmap> {
        index.rows(&self.filter, self.row_count)
    }
}
