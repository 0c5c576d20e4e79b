//! Faults of files that the engine's Parquet source reads, as errors of the table format: of their kind, and with the file.
//!
//! Invariants: an error that is not about the bytes of a file stays as it is.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::error::{DataFusionError, Result};
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner, Morselizer};
use futures::StreamExt;
use futures::stream::BoxStream;
use paimon_core::datafile::missing_data_file;
use paimon_core::storage::FileIO;
use paimon_core::{Error, ErrorKind};
use tokio::runtime::Handle;

use crate::blocking;
use crate::error::{core_error, to_datafusion};

/// The full path of a file; an extension of the file.
#[derive(Debug)]
pub(crate) struct FullPath(pub(crate) String);

/// Opens files; their errors say which file it was and what is wrong with it.
#[derive(Debug)]
pub(crate) struct NamingMorselizer {
    pub(crate) inner: Box<dyn Morselizer>,
    pub(crate) io: FileIO,
    pub(crate) handle: Handle,
}

impl Morselizer for NamingMorselizer {
    fn plan_file(&self, file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        let Some(path) = file.extensions.get_arc::<FullPath>() else { return self.inner.plan_file(file) };
        let size = file.object_meta.size;
        let faults = Faults { io: self.io.clone(), path, size, handle: self.handle.clone() };
        Ok(Box::new(NamingPlanner { inner: self.inner.plan_file(file)?, faults }))
    }
}

#[derive(Debug)]
struct NamingPlanner {
    inner: Box<dyn MorselPlanner>,
    faults: Faults,
}

impl NamingPlanner {
    fn boxed(inner: Box<dyn MorselPlanner>, faults: &Faults) -> Box<dyn MorselPlanner> {
        Box::new(Self { inner, faults: faults.clone() })
    }
}

impl MorselPlanner for NamingPlanner {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        let Self { inner, faults } = *self;
        let mut plan = match inner.plan() {
            Ok(Some(plan)) => plan,
            Ok(None) => return Ok(None),
            // Whether the file is there is looked up where waiting is allowed.
            Err(error) => {
                let failed = async move { Err(faults.named(error).await) };
                return Ok(Some(MorselPlan::new().with_pending_planner(failed)));
            }
        };
        let morsels = plan.take_morsels().into_iter();
        let morsels = morsels.map(|inner| Box::new(NamingMorsel { inner, faults: faults.clone() }) as Box<dyn Morsel>);
        let planners = plan.take_ready_planners().into_iter().map(|inner| NamingPlanner::boxed(inner, &faults));
        let mut named = MorselPlan::new().with_morsels(morsels.collect()).with_planners(planners.collect());
        if let Some(pending) = plan.take_pending_planner() {
            named.set_pending_planner(async move {
                match pending.await {
                    Ok(inner) => Ok(NamingPlanner::boxed(inner, &faults)),
                    Err(error) => Err(faults.named(error).await),
                }
            });
        }
        Ok(Some(named))
    }
}

struct NamingMorsel {
    inner: Box<dyn Morsel>,
    faults: Faults,
}

impl fmt::Debug for NamingMorsel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamingMorsel").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Morsel for NamingMorsel {
    fn into_stream(self: Box<Self>) -> BoxStream<'static, Result<RecordBatch>> {
        let Self { inner, faults } = *self;
        let named = inner.into_stream().then(move |batch| {
            let faults = batch.is_err().then(|| faults.clone());
            async move {
                match (batch, faults) {
                    (Err(error), Some(faults)) => Err(faults.named(error).await),
                    (batch, _) => batch,
                }
            }
        });
        named.boxed()
    }
}

/// What is known of a file whose reading failed.
#[derive(Debug, Clone)]
struct Faults {
    io: FileIO,
    path: Arc<FullPath>,
    /// Its bytes, as metadata says.
    size: u64,
    handle: Handle,
}

impl Faults {
    async fn named(&self, error: DataFusionError) -> DataFusionError {
        if core_error(&error).is_some() {
            return error;
        }
        let Some(fault) = fault(&error) else { return error };
        let (io, path) = (self.io.clone(), self.path.0.clone());
        let found = blocking::on(&self.handle, async move { io.status(&path).await }).await;
        let named = match (found, fault) {
            (Ok(Ok(None)), _) => missing_data_file(&self.path.0),
            (Ok(Ok(Some(status))), _) if status.size < self.size => {
                let (size, expected) = (status.size, self.size);
                Error::corrupt(format!("the file is shorter than expected: {size} instead of {expected} bytes"))
            }
            (_, Fault::Store) => {
                Error::new(ErrorKind::Storage { retryable: false }, "the file cannot be read").with_source(error)
            }
            (_, Fault::Bytes) => Error::corrupt("the Parquet file cannot be read").with_source(error),
        };
        to_datafusion(named.with_context("file", &self.path.0))
    }
}

#[derive(Debug)]
enum Fault {
    /// The store failed.
    Store,
    /// The bytes are not those of a Parquet file.
    Bytes,
}

/// What the error says of a file, if it is about one. The source tells the failures of its store and of filters that it
/// evaluates by their words alone.
fn fault(error: &DataFusionError) -> Option<Fault> {
    let root = error.find_root();
    match root {
        DataFusionError::ObjectStore(_) => Some(Fault::Store),
        DataFusionError::ParquetError(_) => by_words(&root.to_string()),
        DataFusionError::ArrowError(inner, _) => match inner.as_ref() {
            ArrowError::ParquetError(text) => by_words(text),
            _ => None,
        },
        _ => None,
    }
}

fn by_words(text: &str) -> Option<Fault> {
    match text {
        _ if text.contains("evaluating filter predicate") => None,
        _ if text.contains("Object Store error") => Some(Fault::Store),
        _ => Some(Fault::Bytes),
    }
}
