//! How one split is read.
//!
//! Invariants: what cannot be read is refused before a byte is read. Source: read-path sheet section 7;
//! `table/source/KeyValueTableRead.java`.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};

use super::columns::Columns;
use super::difference;
use super::fallback;
use super::files::{RunSource, chosen_stream, run_stream};
use super::finish::Finish;
use super::selected::selections;
use crate::error::{Error, Result};
use crate::format::BatchStream;
use crate::merge::{MergeRule, Run, merge_in_rounds, rows_of_batches};
use crate::predicate::Predicate;
use crate::runtime::Resources;
use crate::scan::{RowRange, SortedRun, Split, sections};
use crate::spec::DataFileMeta;
use crate::storage::Location;
use crate::table::Table;
use crate::types::{DataField, RowType, sequence_number_field, to_arrow_schema, value_kind_field};

/// What all splits of a read share.
#[derive(Debug)]
pub(super) struct SplitRead {
    pub(super) table: Table,
    pub(super) columns: Columns,
    /// Whether deletes stay, and raw splits show the kinds that are stored.
    pub(super) keep_deletes: bool,
    pub(super) batch_rows: usize,
    /// Tasks that may decode one file which is not merged.
    pub(super) tasks: usize,
    pub(super) resources: Resources,
}

/// How the files of a split become rows.
enum Way {
    /// One file after another.
    Unmerged(Finish),
    /// Section by section.
    Sections(Vec<Vec<SortedRun>>, Arc<MergeRule>),
}

impl SplitRead {
    /// The rows of a split.
    ///
    /// # Errors
    /// `InvalidInput` for a split of another table and `Unsupported`, before any byte is read; `Corrupt` for keys that cannot
    /// be decoded.
    pub(super) fn read(self: &Arc<Self>, split: &Split) -> Result<BatchStream> {
        self.check_location(split)?;
        if split.fallback {
            return Ok(fallback::fallback(self, split));
        }
        if let Some(before) = &split.before {
            return match split.streaming {
                true => difference::replaced(self, split, before),
                false => difference::differing(self, split, before),
            };
        }
        let way = self.way(split)?;
        let source = RunSource::of_split(&self.table, split, self.bucket_dir(split)?, self.batch_rows);
        match way {
            Way::Unmerged(finish) => {
                let source = RunSource { reader: source.reader.clone().with_tasks(self.tasks), ..source };
                match &split.rows {
                    Some(ranges) => self.selected(source, &split.files, ranges, finish),
                    None => Ok(self.unmerged(source, split.files.clone(), finish)),
                }
            }
            Way::Sections(sections, rule) => {
                let read = Arc::clone(self);
                let parts =
                    stream::iter(sections).map(move |section| read.section(source.clone(), section, Arc::clone(&rule)));
                Ok(parts.try_flatten().boxed())
            }
        }
    }

    /// Files of another table would be read as rows of this one.
    fn check_location(&self, split: &Split) -> Result<()> {
        if split.bucket_path.is_empty() {
            return Ok(());
        }
        let location = self.table.location();
        if Location::parse(location)?.holds(&Location::parse(&split.bucket_path)?) {
            return Ok(());
        }
        Err(Error::invalid_input(format!(
            "the split is of another table: its bucket {} is not in the directory {location} of {}",
            split.bucket_path,
            self.table.identifier()
        )))
    }

    /// The directory of a split's bucket; some forms of serialised splits do not say it.
    fn bucket_dir(&self, split: &Split) -> Result<String> {
        if !split.bucket_path.is_empty() {
            return Ok(split.bucket_path.clone());
        }
        let table = &self.table;
        table.paths().bucket_dir(table.schema(), table.options(), &split.partition, split.bucket)
    }

    fn way(&self, split: &Split) -> Result<Way> {
        let schema = self.table.schema();
        let row_kind = self.columns.row_kind;
        if !schema.has_primary_key() {
            return Ok(Way::Unmerged(Finish { drop_deletes: false, has_kinds: false }));
        }
        if split.streaming {
            return Ok(Way::Unmerged(Finish { drop_deletes: false, has_kinds: row_kind }));
        }
        if split.raw_convertible && self.keep_deletes {
            return Ok(Way::Unmerged(Finish { drop_deletes: false, has_kinds: row_kind }));
        }
        if split.raw_convertible {
            // Old files do not say how many deletes they hold: then kinds must be looked at.
            let has_kinds = split.files.iter().any(|f| f.delete_row_count != Some(0));
            return Ok(Way::Unmerged(Finish { drop_deletes: has_kinds, has_kinds }));
        }
        if split.rows.is_some() {
            return Err(Error::invalid_input(
                "rows of a split that must be merged cannot be selected by their positions",
            ));
        }
        let rule = MergeRule::try_new(schema, self.table.options())?;
        rule.check_columns(&self.columns.needed())?;
        Ok(Way::Sections(sections(split.files.clone(), &schema.key_type().types())?, Arc::new(rule)))
    }

    fn section(
        self: &Arc<Self>,
        source: RunSource,
        section: Vec<SortedRun>,
        rule: Arc<MergeRule>,
    ) -> Result<BatchStream> {
        let needs_kinds = |f: &Arc<DataFileMeta>| f.delete_row_count != Some(0);
        match <[SortedRun; 1]>::try_from(section) {
            Ok([SortedRun { files }]) => {
                let drop_deletes = !self.keep_deletes;
                let has_kinds = self.columns.row_kind || drop_deletes && files.iter().any(needs_kinds);
                Ok(self.unmerged(source, files, Finish { drop_deletes, has_kinds }))
            }
            Err(runs) => self.merged(&source, runs, rule),
        }
    }

    /// Files whose rows are not merged: every conjunct may skip rows.
    fn unmerged(self: &Arc<Self>, source: RunSource, files: Vec<Arc<DataFileMeta>>, finish: Finish) -> BatchStream {
        let mut fields = self.columns.needed();
        if finish.has_kinds {
            fields.push(value_kind_field());
        }
        let rows = run_stream(source, files, fields, self.columns.file_filter.clone());
        self.finish(rows, finish)
    }

    /// The rows of files at these positions, not merged.
    fn selected(
        self: &Arc<Self>,
        source: RunSource,
        files: &[Arc<DataFileMeta>],
        ranges: &[RowRange],
        finish: Finish,
    ) -> Result<BatchStream> {
        let mut fields = self.columns.needed();
        if finish.has_kinds {
            fields.push(value_kind_field());
        }
        let selections = selections(files, ranges)?;
        let files =
            files.iter().zip(selections).filter_map(|(file, rows)| Some((Arc::clone(file), Some(rows?)))).collect();
        Ok(self.finish(chosen_stream(source, files, fields, self.columns.file_filter.clone()), finish))
    }

    /// Runs that are merged: only conjuncts on the key may skip rows below the merge.
    fn merged(self: &Arc<Self>, source: &RunSource, runs: Vec<SortedRun>, rule: Arc<MergeRule>) -> Result<BatchStream> {
        let row_kind = self.columns.row_kind;
        let mut result = self.columns.needed();
        if row_kind {
            result.push(value_kind_field());
        }
        let fields = merge_fields(&self.columns.needed(), &rule, &self.table)?;
        let filter: Option<Predicate> = self.columns.key_filter.clone();
        let source = RunSource {
            levels: rule.needs_levels(),
            batch_rows: rows_of_batches(self.batch_rows, runs.len()),
            reader: source.reader.clone().with_memory(Arc::clone(&self.resources.memory)),
            ..source.clone()
        };
        let schema = to_arrow_schema(&RowType::new(result));
        let run_schema = source.schema(&fields);
        let open = |run: SortedRun| {
            let (source, fields, filter) = (source.clone(), fields.clone(), filter.clone());
            Run::new(move || run_stream(source.clone(), run.files.clone(), fields.clone(), filter.clone()))
        };
        let runs = runs.into_iter().map(open).collect();
        let merged =
            merge_in_rounds(schema, run_schema, runs, rule, !self.keep_deletes, self.batch_rows, &self.resources)?;
        // What is wrong with a run is not the fault of one file.
        let bucket = source.bucket_dir.clone();
        let merged = merged.map_err(move |e| match e.context_value("file") {
            None => e.with_context("bucket", &bucket),
            Some(_) => e,
        });
        let merged = merged.boxed();
        Ok(self.finish(merged, Finish { drop_deletes: false, has_kinds: row_kind }))
    }

    fn finish(self: &Arc<Self>, rows: BatchStream, finish: Finish) -> BatchStream {
        let read = Arc::clone(self);
        rows.try_filter_map(move |batch| {
            let result = finish.apply(&read.columns, &batch);
            async move { result }
        })
        .boxed()
    }
}

/// Columns that runs must give: system columns, columns of the result, and what merging needs besides.
fn merge_fields(needed: &[DataField], rule: &MergeRule, table: &Table) -> Result<Vec<DataField>> {
    let mut fields = vec![sequence_number_field(), value_kind_field()];
    fields.extend_from_slice(needed);
    let ids: Vec<i32> = needed.iter().map(|f| f.id).collect();
    for id in rule.required_ids_for(&ids) {
        if fields.iter().all(|f| f.id != id) {
            let field = table.schema().fields.iter().find(|f| f.id == id);
            fields.push(field.cloned().ok_or_else(|| Error::internal(format!("no column has id {id}")))?);
        }
    }
    Ok(fields)
}
