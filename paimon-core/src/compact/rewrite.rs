//! Carries out a task: reads its files, writes the merged or joined rows into new files.
//!
//! Invariants: a task that fails or is cancelled deletes what it wrote; files that are upgraded are never touched; every
//! column of the schema is read and written. Source: compaction sheet sections 6 and 10;
//! `mergetree/compact/MergeTreeCompactRewriter.java`, `append/AppendCompactTask.java`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::datatypes::SchemaRef;
use futures::StreamExt;

use super::merge_plan::target_file_size;
use super::task::{CompactResult, CompactTask, CompactWork, MergeStep};
use crate::datafile::{DataFileReader, FileLayout, RollingWriter, WriterConfig};
use crate::error::{Error, ErrorKind, FILE_LEFT, Result};
use crate::format::BatchStream;
use crate::merge::{MergeRule, Run, merge_in_rounds, rows_of_batches};
use crate::meta::TablePaths;
use crate::options::Options;
use crate::read::{FileRows, RunSource, run_stream};
use crate::runtime::{Reservation, Resources};
use crate::scan::SortedRun;
use crate::spec::{DataFileMeta, FileSource, READ_BATCH_SIZE, TARGET_FILE_ROWS, TARGET_FILE_SIZE};
use crate::table::Table;
use crate::types::{DataField, RowType, sequence_number_field, to_arrow_schema, value_kind_field};

/// Carries out tasks of one table.
#[derive(Debug, Clone)]
pub struct Rewriter {
    table: Table,
    rule: Option<Arc<MergeRule>>,
    batch_rows: usize,
    options: Options,
    resources: Resources,
    cancelled: Vec<Arc<AtomicBool>>,
}

impl Rewriter {
    /// A rewriter of files of `table`, which must have its newest schema. Setting `cancelled` ends all its work.
    ///
    /// # Errors
    /// `Unsupported` naming a merge engine or option that is not built; `InvalidConfig`.
    pub fn try_new(table: Table, resources: Resources, cancelled: Arc<AtomicBool>) -> Result<Self> {
        let rule = match table.schema().has_primary_key() {
            true => Some(Arc::new(MergeRule::try_new(table.schema(), table.options())?)),
            false => None,
        };
        let batch_rows = table.options().value(&READ_BATCH_SIZE)?.max(1);
        let mut options = table.options().clone();
        // The row limit is for what writers append, not for what compactions write.
        options.remove(TARGET_FILE_ROWS.key);
        Ok(Self { table, rule, batch_rows, options, resources, cancelled: vec![cancelled] })
    }

    /// The same rewriter, whose work another flag ends too.
    #[must_use]
    pub fn stopped_by(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancelled.push(flag);
        self
    }

    /// Carries out a task. It ends early, with what it wrote deleted, once a flag is set.
    ///
    /// # Errors
    /// `Cancelled`; those of reading and writing. What the task wrote is deleted again.
    ///
    /// # Cancellation
    /// Dropping the future leaves files that nothing names.
    pub async fn run(&self, task: &CompactTask) -> Result<CompactResult> {
        let mut result = CompactResult::default();
        match self.carry_out(task, &mut result).await {
            Ok(()) => Ok(result),
            Err(error) => Err(self.delete_written(task, &result, error).await),
        }
    }

    /// Deletes the files that a task wrote, because of `error`. One that cannot be deleted is an orphan, which costs space
    /// but no row: the error then names it as [`FILE_LEFT`].
    pub async fn delete_written(&self, task: &CompactTask, result: &CompactResult, mut error: Error) -> Error {
        let Ok(bucket_dir) = self.bucket_dir(task) else { return error };
        for file in &result.written {
            let beside = file.extra_files.iter().map(|extra| format!("{bucket_dir}/{extra}"));
            for path in std::iter::once(TablePaths::data_file(&bucket_dir, file)).chain(beside) {
                if self.table.io().delete(&path).await.is_err() {
                    error = error.with_context(FILE_LEFT, path);
                }
            }
        }
        error
    }

    fn bucket_dir(&self, task: &CompactTask) -> Result<String> {
        let (schema, options) = (self.table.schema(), self.table.options());
        self.table.paths().bucket_dir(schema, options, &task.partition, task.bucket)
    }

    async fn carry_out(&self, task: &CompactTask, result: &mut CompactResult) -> Result<()> {
        match &task.work {
            CompactWork::Merge { steps, output_level, drop_deletes } => {
                for step in steps {
                    match step {
                        MergeStep::Upgrade(file) => {
                            result.upgraded.push((file.as_ref().clone(), file.upgraded(*output_level)));
                        }
                        MergeStep::Rewrite(sections) => {
                            let layout = FileLayout::KeyValue;
                            let mut writer = self.writer(task, layout, *output_level, self.options.clone())?;
                            let mut written = Ok(());
                            for section in sections {
                                written = match self.merged(task, section, *drop_deletes) {
                                    Ok(rows) => self.write(&mut writer, rows).await,
                                    Err(error) => Err(error),
                                };
                                if written.is_err() {
                                    break;
                                }
                            }
                            result.written.extend(finish(writer, written).await?);
                            let files = sections.iter().flatten().flat_map(|run| &run.files);
                            result.rewritten.extend(files.map(|f| f.as_ref().clone()));
                        }
                    }
                }
            }
            CompactWork::Join { files, one_file } => {
                let first_sequence = files.iter().map(|f| f.min_sequence_number).min().unwrap_or(0);
                let mut options = self.options.clone();
                if *one_file {
                    let bytes = 2 * target_file_size(self.table.schema(), &options)?;
                    options.set(TARGET_FILE_SIZE.key, format!("{bytes} b"));
                }
                let mut writer = self.writer(task, FileLayout::Append { first_sequence }, 0, options)?;
                let fields = self.table.schema().fields.clone();
                let written = match self.source(task) {
                    Ok(source) => self.write(&mut writer, run_stream(source, files.clone(), fields, None)).await,
                    Err(error) => Err(error),
                };
                result.written.extend(finish(writer, written).await?);
                result.rewritten.extend(files.iter().map(|f| f.as_ref().clone()));
            }
        }
        Ok(())
    }

    fn source(&self, task: &CompactTask) -> Result<RunSource> {
        Ok(RunSource {
            reader: DataFileReader::for_table(&self.table),
            partition: task.partition.clone(),
            bucket_dir: self.bucket_dir(task)?,
            batch_rows: self.batch_rows,
            levels: self.rule.as_ref().is_some_and(|rule| rule.needs_levels()),
            rows: FileRows::new(&self.table),
            // Tables with deletion vectors are not compacted.
            deletions: Arc::default(),
        })
    }

    fn writer(&self, task: &CompactTask, layout: FileLayout, level: i32, options: Options) -> Result<RollingWriter> {
        RollingWriter::try_new(WriterConfig {
            io: self.table.io().clone(),
            bucket_dir: self.bucket_dir(task)?,
            schema: Arc::clone(self.table.schema()),
            options,
            layout,
            level,
            source: FileSource::Compact,
            clock: Arc::clone(self.table.clock()),
        })
    }

    /// The rows of a section. A single run goes through the merge too: that checks its order and drops its deletes.
    fn merged(&self, task: &CompactTask, section: &[SortedRun], drop_deletes: bool) -> Result<BatchStream> {
        let Some(rule) = &self.rule else {
            return Err(Error::internal("files of a table without primary key cannot be merged"));
        };
        let fields = self.key_value_fields();
        let source = self.source(task)?;
        let source = RunSource {
            batch_rows: rows_of_batches(self.batch_rows, section.len()),
            reader: source.reader.clone().with_memory(Arc::clone(&self.resources.memory)),
            ..source
        };
        let schema: SchemaRef = to_arrow_schema(&RowType::new(fields.clone()));
        let run_schema = source.schema(&fields);
        let open = |run: &SortedRun| {
            let (source, files, fields) = (source.clone(), run.files.clone(), fields.clone());
            Run::new(move || run_stream(source.clone(), files.clone(), fields.clone(), None))
        };
        let (runs, rule) = (section.iter().map(open).collect(), Arc::clone(rule));
        merge_in_rounds(schema, run_schema, runs, rule, drop_deletes, self.batch_rows, &self.resources)
    }

    fn key_value_fields(&self) -> Vec<DataField> {
        let mut fields = vec![sequence_number_field(), value_kind_field()];
        fields.extend_from_slice(&self.table.schema().fields);
        fields
    }

    async fn write(&self, writer: &mut RollingWriter, mut rows: BatchStream) -> Result<()> {
        let mut memory = Reservation::new(Arc::clone(&self.resources.memory));
        while let Some(batch) = rows.next().await {
            if self.cancelled.iter().any(|flag| flag.load(Ordering::Relaxed)) {
                return Err(Error::new(ErrorKind::Cancelled, "the compaction was cancelled"));
            }
            writer.write(&batch?).await?;
            memory.try_resize(writer.buffered_bytes())?;
        }
        Ok(())
    }
}

/// Ends the files, or deletes them if writing failed.
async fn finish(writer: RollingWriter, written: Result<()>) -> Result<Vec<DataFileMeta>> {
    match written {
        Ok(()) => writer.close().await,
        Err(error) => {
            writer.abort().await;
            Err(error)
        }
    }
}
