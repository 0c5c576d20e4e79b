//! How far the consumers of a table have read.
//!
//! Source: metadata sheet section 4; `consumer/ConsumerManager.java`.

use crate::error::{Error, Result, ResultExt};
use crate::storage::unless_gone;
use crate::table::Table;

/// A consumer of a table: a stream that notes how far it has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Consumer {
    /// Its name.
    pub(crate) id: String,
    /// The snapshot that it reads next.
    pub(crate) next_snapshot: i64,
}

/// The consumers of the table's branch, by name.
///
/// # Errors
/// `Storage`; `Corrupt` naming the file.
pub(crate) async fn consumers(table: &Table) -> Result<Vec<Consumer>> {
    let directory = table.paths().consumer_dir();
    let mut found = Vec::new();
    for (name, is_dir) in table.io().list_names(&directory).await? {
        let Some(id) = name.strip_prefix("consumer-").filter(|_| !is_dir) else { continue };
        let path = format!("{directory}/{name}");
        let Some(content) = unless_gone(table.io().read(&path).await.map(Some))? else { continue };
        let next_snapshot = next_snapshot(&content).context("file", path)?;
        found.push(Consumer { id: id.to_owned(), next_snapshot });
    }
    Ok(found)
}

fn next_snapshot(content: &[u8]) -> Result<i64> {
    let document: serde_json::Value =
        serde_json::from_slice(content).map_err(|e| Error::corrupt("a consumer is no JSON document").with_source(e))?;
    document
        .get("nextSnapshot")
        .and_then(serde_json::Value::as_i64)
        .ok_or_else(|| Error::corrupt("key 'nextSnapshot' of the consumer must be a whole number"))
}
