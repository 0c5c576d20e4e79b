//! Schema versions of a table.
//!
//! Invariants: a version that was read never changes for the life of a [`Schemas`], which is that of one table handle: a
//! table that is dropped and made again reuses the numbers. The newest version is found by listing, for there is no hint.
//! Source: layout sheet section 1; `schema/SchemaManager.java`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};

use super::paths::TablePaths;
use super::snapshots::numbered;
use crate::error::{Entity, Error, ErrorKind, Result};
use crate::spec::{Snapshot, TableSchema};
use crate::storage::FileIO;

/// Documents that are read at once.
const PARALLEL_READS: usize = 16;

/// The schema versions of one branch of a table; those that were read stay for the life of this value.
#[derive(Debug, Clone)]
pub struct Schemas {
    io: FileIO,
    paths: TablePaths,
    read: Arc<Mutex<HashMap<i64, Arc<TableSchema>>>>,
}

impl Schemas {
    /// The schemas below these paths.
    pub fn new(io: FileIO, paths: TablePaths) -> Self {
        Self { io, paths, read: Arc::default() }
    }

    /// The schema with this id.
    ///
    /// # Errors
    /// `NotFound(Schema)`, `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn get(&self, id: i64) -> Result<Arc<TableSchema>> {
        self.find(id).await?.ok_or_else(|| {
            Error::not_found(Entity::Schema, format!("schema {id} does not exist"))
                .with_context("file", self.paths.schema(id))
        })
    }

    async fn find(&self, id: i64) -> Result<Option<Arc<TableSchema>>> {
        if let Some(schema) = self.cache().get(&id) {
            return Ok(Some(schema.clone()));
        }
        let file = self.paths.schema(id);
        let content = match self.io.read(&file).await {
            Ok(content) => content,
            Err(e) if e.kind() == ErrorKind::NotFound(Entity::File) => return Ok(None),
            Err(e) => return Err(e),
        };
        let schema = TableSchema::from_json(&content).map_err(|e| e.with_context("file", &file))?;
        if schema.id != id {
            return Err(Error::corrupt(format!("expected the schema with id {id}, found id {}", schema.id))
                .with_context("file", file));
        }
        Ok(Some(self.cache().entry(id).or_insert(Arc::new(schema)).clone()))
    }

    /// Whether `schema`, which was read before, is still that of its number: a table that was dropped and made again has
    /// another. `None` if there is no schema of that number any more.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn is_current(&self, schema: &TableSchema) -> Result<Option<bool>> {
        let again = Self::new(self.io.clone(), self.paths.clone());
        let Some(found) = again.find(schema.id).await? else { return Ok(None) };
        // Options may be laid over those of a handle.
        let shape = |s: &TableSchema| (s.time_millis, s.highest_field_id);
        let keys = |s: &TableSchema| (s.partition_keys.clone(), s.primary_keys.clone());
        Ok(Some(shape(&found) == shape(schema) && keys(&found) == keys(schema) && found.fields == schema.fields))
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<i64, Arc<TableSchema>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ids of all schemas that exist, ascending.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn ids(&self) -> Result<Vec<i64>> {
        Ok(numbered(&self.io.list_names(&self.paths.schema_dir()).await?, "schema-", 0))
    }

    /// Whether there is any schema, which is what makes a directory a table.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn exist(&self) -> Result<bool> {
        // The first version is nearly always there, and one look is cheaper than a listing on most stores.
        Ok(self.io.exists(&self.paths.schema(0)).await? || !self.ids().await?.is_empty())
    }

    /// The newest schema, found by listing; `None` if there is none.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn latest(&self) -> Result<Option<Arc<TableSchema>>> {
        match self.ids().await?.last() {
            Some(id) => self.find(*id).await,
            None => Ok(None),
        }
    }

    /// Whether `newest`, which was found by listing, is as new as the schema of a snapshot; if not, others have made a newer one
    /// since. A new schema must not take the id of one that is lost: files name their schema by id.
    ///
    /// # Errors
    /// `NotFound(Schema)` naming the file if the schema of the snapshot is gone; `PermissionDenied` or `Storage`.
    pub(crate) async fn is_new_enough(&self, newest: &TableSchema, snapshot: Option<&Snapshot>) -> Result<bool> {
        let Some(snapshot) = snapshot.filter(|snapshot| snapshot.schema_id > newest.id) else { return Ok(true) };
        let (id, file) = (snapshot.schema_id, self.paths.schema(snapshot.schema_id));
        if self.io.exists(&file).await? {
            return Ok(false);
        }
        let message = format!("schema {id} does not exist, but it is that of snapshot {}", snapshot.id);
        Err(Error::not_found(Entity::Schema, message).with_context("file", file))
    }

    /// All schemas that exist, by id ascending.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn list(&self) -> Result<Vec<Arc<TableSchema>>> {
        let ids = self.ids().await?;
        let read = stream::iter(ids).map(|id| self.find(id)).buffered(PARALLEL_READS);
        read.try_filter_map(|s| async { Ok(s) }).try_collect().await
    }

    /// The schema between these two that began another table, which replaced the one of before. `None` if there is none, or
    /// no schema with the id `other`, without which nothing of it can be read.
    ///
    /// # Errors
    /// As [`Schemas::list`].
    pub(crate) async fn replaced_between(&self, one: &TableSchema, other: i64) -> Result<Option<i64>> {
        let Some(other) = self.find(other).await? else { return Ok(None) };
        let (first, last) = if one.id <= other.id { (one, other.as_ref()) } else { (other.as_ref(), one) };
        // Nearly always a column is left, and no other schema is looked at.
        if first.id == last.id || !first.is_replaced_by(last) {
            return Ok(None);
        }
        let between = self.ids().await?.into_iter().filter(|id| first.id < *id && *id < last.id);
        let between: Vec<_> =
            stream::iter(between).map(|id| self.find(id)).buffered(PARALLEL_READS).try_collect().await?;
        let mut before = first;
        for schema in between.iter().flatten().map(Arc::as_ref).chain([last]) {
            if before.is_replaced_by(schema) {
                return Ok(Some(schema.id));
            }
            before = schema;
        }
        Ok(None)
    }

    /// Whether the document of a schema spells out that its comment is null.
    ///
    /// # Errors
    /// `NotFound(File)`, `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn has_null_comment(&self, id: i64) -> Result<bool> {
        let file = self.paths.schema(id);
        let content = self.io.read(&file).await?;
        let document = crate::json::parse(&content, "schema").map_err(|e| e.with_context("file", &file))?;
        Ok(document.get("comment").is_some_and(serde_json::Value::is_null))
    }

    /// Creates a schema file if its id is free; `false` if it is taken.
    ///
    /// # Errors
    /// `DiskFull`, `PermissionDenied` or `Storage`; then the file does not exist, or it cannot be told.
    pub async fn create(&self, schema: &TableSchema) -> Result<bool> {
        let file = self.paths.schema(schema.id);
        let error = match self.io.create_if_absent(&file, Bytes::from(schema.to_json())).await {
            Ok(created) => return Ok(created),
            Err(error) => error,
        };
        // A failure after the file appeared is a success.
        match self.io.read(&file).await {
            Ok(found) => Ok(TableSchema::from_json(&found).is_ok_and(|s| s == *schema)),
            Err(_) => Err(error),
        }
    }
}
