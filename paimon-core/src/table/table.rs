//! A handle of a table: identity, schema, options, branch, and how to reach its files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{CompactBuilder, ReadBuilder, WriteBuilder};
use crate::catalog::Identifier;
use crate::clock::Clock;
use crate::commit::SnapshotCommit;
use crate::error::{Entity, Error, ErrorKind, Result};
use crate::format::FooterCache;
use crate::meta::{Changelogs, Consumers, Manifests, Schemas, Snapshots, TablePaths, Tags, Travel};
use crate::options::Options;
use crate::spec::{BRANCH, BUCKET, Snapshot, TableSchema, options_of_then};
use crate::storage::FileIO;

/// The option that names the branch for partitions that the table lacks.
const SCAN_FALLBACK_BRANCH: &str = "scan.fallback-branch";
/// How often a table that is being replaced is looked at again, and the wait before that.
const REPLACEMENT_WAITS: u32 = 10;
const REPLACEMENT_WAIT: Duration = Duration::from_millis(20);

/// A table of a catalog. Cheap to clone; keeps the schema that it was loaded with, while snapshots are looked up anew by
/// every call that plans.
#[derive(Debug, Clone)]
pub struct Table(Arc<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    identifier: Identifier,
    io: FileIO,
    paths: TablePaths,
    schema: Arc<TableSchema>,
    options: Options,
    /// The snapshot that reads are pinned to.
    pinned: Option<Arc<Snapshot>>,
    /// Whether reads see compacted rows only.
    read_optimized: bool,
    /// The schema of the table that the first commit of this handle replaces.
    replaces: Option<Arc<TableSchema>>,
    schemas: Schemas,
    footers: FooterCache,
    publisher: Arc<dyn SnapshotCommit>,
    clock: Arc<dyn Clock>,
}

impl Table {
    /// A handle of the table at `location`; its branch is that of the identifier.
    pub fn new(
        identifier: Identifier,
        io: FileIO,
        location: &str,
        schema: Arc<TableSchema>,
        publisher: Arc<dyn SnapshotCommit>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let branch = identifier.branch().unwrap_or("main").to_owned();
        let paths = TablePaths::new(location, branch);
        let options = stored_options(&paths, &schema);
        let schemas = Schemas::new(io.clone(), paths.clone());
        Self(Arc::new(Inner {
            identifier,
            io,
            paths,
            schema,
            options,
            pinned: None,
            read_optimized: false,
            replaces: None,
            schemas,
            footers: FooterCache::default(),
            publisher,
            clock,
        }))
    }

    /// Database and object name.
    pub fn identifier(&self) -> &Identifier {
        &self.0.identifier
    }

    /// The directory of the table.
    pub fn location(&self) -> &str {
        self.0.paths.location()
    }

    /// The branch; `main` for an ordinary table.
    pub fn branch(&self) -> &str {
        self.0.paths.branch()
    }

    /// The schema of reads: the newest one when the handle was made, or that of the snapshot it is pinned to.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.0.schema
    }

    /// Stored options with the dynamic ones laid over them.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// Access to files.
    pub fn io(&self) -> &FileIO {
        &self.0.io
    }

    /// Names of files and directories.
    pub fn paths(&self) -> &TablePaths {
        &self.0.paths
    }

    /// Where time and names come from.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.0.clock
    }

    /// Who makes snapshots visible.
    pub fn publisher(&self) -> &Arc<dyn SnapshotCommit> {
        &self.0.publisher
    }

    /// The snapshots of the branch.
    pub fn snapshots(&self) -> Snapshots {
        Snapshots::new(self.0.io.clone(), self.0.paths.clone())
    }

    /// The tags of the branch.
    pub fn tags(&self) -> Tags {
        Tags::new(self.0.io.clone(), self.0.paths.clone())
    }

    /// The changelogs of the branch that outlive their snapshots.
    pub fn changelogs(&self) -> Changelogs {
        Changelogs::new(self.0.io.clone(), self.0.paths.clone())
    }

    /// The consumers of the branch.
    pub fn consumers(&self) -> Consumers {
        Consumers::new(self.0.io.clone(), self.0.paths.clone())
    }

    /// Refuses a handle whose table is gone: what it knows of schemas and files is not true of another table of that name.
    ///
    /// # Errors
    /// `NotFound(Table)` if the table was dropped, `InvalidState` if it was made again since; `PermissionDenied`, `Storage` or
    /// `Corrupt`.
    pub async fn check_alive(&self) -> Result<()> {
        self.gone().await?.map_or(Ok(()), Err)
    }

    /// The table that replaces this one, with `schema`, which is made by [`TableSchema::replace`] and not stored yet. A commit
    /// that overwrites everything stores it: until then this table is as it was.
    #[must_use]
    pub(crate) fn replaced_by(&self, schema: TableSchema) -> Self {
        let options = Options::from(schema.options.clone());
        let replaces = Some(Arc::clone(self.schema()));
        let schema = Arc::new(schema);
        Self(Arc::new(Inner { schema, options, replaces, pinned: None, ..self.0.as_ref().clone() }))
    }

    /// The schema of the table that the first commit of this handle replaces.
    pub(crate) fn replaces(&self) -> Option<&Arc<TableSchema>> {
        self.0.replaces.as_ref()
    }

    /// Refuses files or a handle of a table that another one has replaced.
    ///
    /// # Errors
    /// `InvalidState` if the table was replaced between the schema of this handle and the one with this id;
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub(crate) async fn check_not_replaced(&self, schema_id: i64) -> Result<()> {
        if schema_id == self.schema().id {
            return Ok(());
        }
        let Some(replaced) = self.schemas().replaced_between(self.schema(), schema_id).await? else { return Ok(()) };
        let table = self.identifier();
        Err(Error::invalid_state(match schema_id > self.schema().id {
            true => format!("table {table} was replaced since this handle was opened; get it again"),
            false => format!(
                "table {table} was replaced by that of schema {replaced}: what was written before, with schema {schema_id}, \
                 can be read by time travel to a snapshot of then. If it is in the latest snapshot, the replacement was \
                 interrupted, and is to be done again"
            ),
        }))
    }

    /// Why the table of this handle is gone, if it is.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub(crate) async fn gone(&self) -> Result<Option<Error>> {
        let current = match (self.schemas().is_current(self.schema()).await?, self.replaces()) {
            // Until it is stored, the table that is there is the one to be replaced.
            (None | Some(false), Some(replaced)) => self.schemas().is_current(replaced).await?,
            (current, _) => current,
        };
        Ok(match current {
            Some(true) => None,
            Some(false) => Some(Error::new(
                ErrorKind::InvalidState,
                format!(
                    "table {} was dropped and made again since this handle was opened; get it again",
                    self.identifier()
                ),
            )),
            None => Some(self.identifier().not_found()),
        })
    }

    /// The error of an operation that missed a file, did not understand one or could not store one; if that is so because the
    /// table is gone, or another one is in its place, what [`Table::check_alive`] says.
    pub async fn explain_failure(&self, error: Error) -> Error {
        use ErrorKind::{Corrupt, NotFound, Storage};
        if !matches!(error.kind(), NotFound(Entity::File | Entity::Snapshot) | Corrupt | Storage { .. }) {
            return error;
        }
        self.gone().await.ok().flatten().unwrap_or(error)
    }

    /// What a look at the metadata of this table finds, unless it is gone by then.
    ///
    /// # Errors
    /// As [`Table::check_alive`] if the table is gone; those of the look.
    pub async fn while_alive<T>(&self, look: impl Future<Output = Result<T>>) -> Result<T> {
        match look.await {
            Ok(found) => self.check_alive().await.map(|()| found),
            Err(error) => Err(self.explain_failure(error).await),
        }
    }

    /// The schema versions of the branch.
    pub fn schemas(&self) -> &Schemas {
        &self.0.schemas
    }

    /// Footers of data files that were read.
    pub fn footers(&self) -> &FooterCache {
        &self.0.footers
    }

    /// The manifests of the table.
    pub fn manifests(&self) -> Manifests {
        Manifests::new(self.0.io.clone(), self.0.paths.clone(), self.0.clock.clone())
    }

    /// The option `bucket`.
    ///
    /// # Errors
    /// `InvalidConfig` if it is no number.
    pub fn bucket_option(&self) -> Result<i32> {
        self.0.options.value(&BUCKET)
    }

    /// The snapshot that reads are pinned to.
    pub fn pinned(&self) -> Option<&Arc<Snapshot>> {
        self.0.pinned.as_ref()
    }

    /// The snapshot that a read sees now: the pinned one, else the one that the options select, else the latest.
    ///
    /// # Errors
    /// `NotFound` if a selector selects nothing; `InvalidConfig` for options that do not go together; `Storage` or
    /// `Corrupt`.
    pub async fn current_snapshot(&self) -> Result<Option<Snapshot>> {
        match (self.pinned(), Travel::from_options(self.options())?) {
            (Some(snapshot), _) => Ok(Some(snapshot.as_ref().clone())),
            (None, Travel::Snapshot(selector)) => selector.resolve(&self.snapshots(), &self.tags()).await.map(Some),
            (None, _) => self.latest_snapshot().await,
        }
    }

    /// The latest snapshot. While the table is being replaced its schema is there and its snapshot is not yet: then this waits
    /// for a moment, and gives the one of before if that does not end.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub(crate) async fn latest_snapshot(&self) -> Result<Option<Snapshot>> {
        for _ in 0..REPLACEMENT_WAITS {
            let latest = self.snapshots().latest().await?;
            if !self.is_being_replaced(latest.as_ref()).await? {
                return Ok(latest);
            }
            tokio::time::sleep(REPLACEMENT_WAIT).await;
        }
        self.snapshots().latest().await
    }

    /// Whether the snapshot is of the table that this one replaces, and it is not this handle that replaces it.
    async fn is_being_replaced(&self, latest: Option<&Snapshot>) -> Result<bool> {
        match latest {
            Some(latest) if latest.schema_id < self.schema().id && self.replaces().is_none() => {
                Ok(self.schemas().replaced_between(self.schema(), latest.schema_id).await?.is_some())
            }
            _ => Ok(false),
        }
    }

    /// The same table as batch reads see it: a selector of a snapshot among its options, stored ones included, pins the
    /// handle to that snapshot with its schema. Anything else that options ask of a read, such as changes, is planned
    /// with the schema of the handle.
    ///
    /// # Errors
    /// As [`Table::current_snapshot`]; `NotFound(Schema)`.
    pub async fn for_reading(&self) -> Result<Self> {
        match (self.pinned(), Travel::from_options(self.options())?) {
            (None, Travel::Snapshot(selector)) => {
                self.at(selector.resolve(&self.snapshots(), &self.tags()).await?).await
            }
            _ => Ok(self.clone()),
        }
    }

    /// The same table with reads pinned to this snapshot and its schema. Options stay, but name columns as that schema does.
    ///
    /// # Errors
    /// `NotFound(Schema)`, `Storage` or `Corrupt`.
    pub async fn at(&self, snapshot: Snapshot) -> Result<Self> {
        let schema = self.schemas().get(snapshot.schema_id).await?;
        let options = options_of_then(self.options(), self.schema(), &schema);
        Ok(Self(Arc::new(Inner { schema, options, pinned: Some(Arc::new(snapshot)), ..self.0.as_ref().clone() })))
    }

    /// The same table with reads pinned to this snapshot; the schema stays, as for a read of the latest snapshot.
    #[must_use]
    pub fn pinned_to(&self, snapshot: Snapshot) -> Self {
        Self(Arc::new(Inner { pinned: Some(Arc::new(snapshot)), ..self.0.as_ref().clone() }))
    }

    /// The same table, of which reads see only what full compactions have made: rows of the highest level. Reads of tables
    /// without primary key see all rows.
    #[must_use]
    pub fn read_optimized(&self) -> Self {
        Self(Arc::new(Inner { read_optimized: true, ..self.0.as_ref().clone() }))
    }

    /// Whether reads see only rows of the highest level.
    pub fn is_read_optimized(&self) -> bool {
        self.0.read_optimized
    }

    /// The same table with dynamic options laid over the stored ones (`None` removes a key), as batch reads see it: see
    /// [`Table::for_reading`].
    ///
    /// # Errors
    /// As [`Table::with_options`] and [`Table::for_reading`].
    pub async fn with_dynamic_options(&self, dynamic: &BTreeMap<String, Option<String>>) -> Result<Self> {
        self.with_options(dynamic).await?.for_reading().await
    }

    /// The same table with dynamic options laid over the stored ones (`None` removes a key). Selectors are checked but not
    /// looked up: streams may start at what does not exist yet.
    ///
    /// # Errors
    /// `InvalidConfig` for a bad value, an option that may not change, or two selectors; `NotFound(Branch)`; `Unsupported`
    /// for a known option that is not built.
    pub async fn with_options(&self, dynamic: &BTreeMap<String, Option<String>>) -> Result<Self> {
        if let Some(Some(branch)) = dynamic.get(BRANCH.key)
            && branch != self.branch()
        {
            return Box::pin(self.on_branch(branch).await?.with_options(dynamic)).await;
        }
        let mut options = self.0.options.clone();
        crate::spec::check_dynamic_options(&options, dynamic)?;
        for (key, value) in dynamic {
            match value {
                Some(value) => options.set(key, value),
                None => {
                    options.remove(key);
                    &mut options
                }
            };
        }
        // The merged options must be ones that the table could have been created with.
        TableSchema { options: options.to_map(), ..self.0.schema.as_ref().clone() }.check()?;
        Travel::from_options(&options)?;
        Ok(Self(Arc::new(Inner { options, ..self.0.as_ref().clone() })))
    }

    /// The branch whose partitions stand in for those that the table lacks, if the option `scan.fallback-branch` names
    /// one. A table that travels to a snapshot falls back to what the branch was then.
    ///
    /// # Errors
    /// `NotFound(Branch)`; `InvalidConfig`, `Storage` or `Corrupt`.
    pub(crate) async fn fallback(&self) -> Result<Option<Self>> {
        let Some(name) = self.options().get(SCAN_FALLBACK_BRANCH) else { return Ok(None) };
        let branch = self.whole_branch(name).await?;
        match (Travel::from_options(self.options())?, self.pinned()) {
            (Travel::Snapshot(_), Some(snapshot)) => {
                match branch.snapshots().at_or_before(snapshot.time_millis).await? {
                    Some(then) => branch.at(then).await.map(Some),
                    None => Ok(None),
                }
            }
            _ => Ok(Some(branch)),
        }
    }

    /// The table as `t$branch_x` opens it, with the newest schema and the options of the branch.
    async fn whole_branch(&self, branch: &str) -> Result<Self> {
        let paths = TablePaths::new(self.location(), branch);
        let schemas = Schemas::new(self.0.io.clone(), paths.clone());
        let Some(schema) = schemas.latest().await? else {
            let name = self.identifier().to_string();
            return Err(Error::not_found(Entity::Branch, format!("branch {branch} of table {name} does not exist")));
        };
        let options = stored_options(&paths, &schema);
        Ok(Self(Arc::new(Inner { paths, schema, schemas, options, pinned: None, ..self.0.as_ref().clone() })))
    }

    /// The same table with the newest schema.
    ///
    /// # Errors
    /// `NotFound(Table)` if it was dropped; `Storage` or `Corrupt`.
    pub async fn refresh(&self) -> Result<Self> {
        let schema = self.schemas().latest().await?.ok_or_else(|| self.identifier().not_found())?;
        let options = stored_options(self.paths(), &schema);
        Ok(Self(Arc::new(Inner { schema, options, pinned: None, ..self.0.as_ref().clone() })))
    }

    /// The same table on another branch. Schema and options stay those of this handle, as in Java: columns of the branch
    /// are found by their ids.
    ///
    /// # Errors
    /// `NotFound(Branch)`; `Unsupported` if the branch has another schema of this id; `Storage` or `Corrupt`.
    async fn on_branch(&self, branch: &str) -> Result<Self> {
        let paths = TablePaths::new(self.location(), branch);
        let schemas = Schemas::new(self.0.io.clone(), paths.clone());
        if !schemas.exist().await? {
            let name = self.identifier().to_string();
            return Err(Error::not_found(Entity::Branch, format!("branch {branch} of table {name} does not exist")));
        }
        // Files name their schema by id, which must mean the same on both branches.
        let id = self.schema().id;
        let same = schemas.get(id).await.is_ok_and(|s| s.fields == self.schema().fields);
        if !same {
            let text = format!("schema {id} differs on branch {branch}: read the table as 't$branch_{branch}' instead");
            return Err(Error::unsupported(text));
        }
        Ok(Self(Arc::new(Inner { paths, schemas, pinned: None, ..self.0.as_ref().clone() })))
    }

    /// Starts a read.
    pub fn new_read_builder(&self) -> ReadBuilder {
        ReadBuilder::new(self.clone())
    }

    /// Starts a batch write; writer and committer of one builder share a fresh commit user.
    pub fn new_batch_write_builder(&self) -> WriteBuilder {
        WriteBuilder::new(self.clone())
    }

    /// Starts a compaction.
    pub fn new_compact_builder(&self) -> CompactBuilder {
        CompactBuilder::new(self.clone())
    }
}

/// The options of a schema that was read from its file.
fn stored_options(paths: &TablePaths, schema: &TableSchema) -> Options {
    Options::stored_in(paths.schema(schema.id), &schema.options)
}
