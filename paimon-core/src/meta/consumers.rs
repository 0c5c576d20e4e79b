//! Consumers: streams that note how far they have read.
//!
//! Source: time-travel sheet section 7, metadata sheet section 4; `consumer/ConsumerManager.java`.

use bytes::Bytes;

use super::paths::TablePaths;
use crate::error::{Entity, Error, ErrorKind, Result};
use crate::json::{self, Json, Object};
use crate::storage::FileIO;

/// How often a document that is not whole is read again, and the wait between.
const RETRIES: usize = 10;
const REWRITE_WAIT: std::time::Duration = std::time::Duration::from_millis(50);

/// How far streams of one branch of a table have read, by the name of the consumer.
#[derive(Debug, Clone)]
pub struct Consumers {
    io: FileIO,
    paths: TablePaths,
}

impl Consumers {
    /// The consumers below these paths.
    pub fn new(io: FileIO, paths: TablePaths) -> Self {
        Self { io, paths }
    }

    /// The snapshot that a consumer reads next; `None` if there is no such consumer.
    ///
    /// # Errors
    /// `InvalidInput` for a name that is none; `Corrupt`, `PermissionDenied` or `Storage`.
    pub async fn next_snapshot(&self, id: &str) -> Result<Option<i64>> {
        check_consumer_id(id)?;
        let file = self.paths.consumer(id);
        let mut attempt = 0;
        loop {
            let content = match self.io.read(&file).await {
                Ok(content) => content,
                Err(e) if e.kind() == ErrorKind::NotFound(Entity::File) => return Ok(None),
                Err(e) => return Err(e),
            };
            match decode_consumer(&content) {
                Ok(next) => return Ok(Some(next)),
                // Other writers overwrite the file in place.
                Err(_) if attempt < RETRIES => tokio::time::sleep(REWRITE_WAIT).await,
                Err(error) => return Err(error.with_context("file", file)),
            }
            attempt += 1;
        }
    }

    /// Notes the snapshot that a consumer reads next.
    ///
    /// # Errors
    /// `InvalidInput` for a name that is none; `DiskFull`, `PermissionDenied` or `Storage`.
    pub async fn record(&self, id: &str, next_snapshot: i64) -> Result<()> {
        check_consumer_id(id)?;
        let document = Json::Object(vec![("nextSnapshot".to_owned(), Json::Number(next_snapshot))]);
        self.io.write(&self.paths.consumer(id), Bytes::from(document.pretty())).await
    }
}

fn decode_consumer(content: &[u8]) -> Result<i64> {
    let document = json::parse(content, "consumer")?;
    Object::new(&document, "consumer")?.long("nextSnapshot")
}

/// Checks the name of a consumer, which becomes part of a file's name.
///
/// # Errors
/// `InvalidInput` naming it.
pub fn check_consumer_id(id: &str) -> Result<()> {
    let leaves = id == "." || id == ".." || id.chars().any(|c| matches!(c, '/' | '\\') || c.is_control());
    if id.trim().is_empty() || leaves {
        return Err(Error::invalid_input(format!(
            "the id of a consumer must not be blank, '.' or '..', nor hold '/' or '\\', but is '{}'",
            id.escape_debug()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    #[tokio::test]
    async fn progress_is_kept_by_name() {
        let root = format!("memory:/{}/t", uuid::Uuid::new_v4());
        let io = FileIO::from_location(&root, &Options::new()).unwrap();
        let paths = TablePaths::new(&root, "main");
        let consumers = Consumers::new(io.clone(), paths.clone());
        assert_eq!(consumers.next_snapshot("a").await.unwrap(), None);
        consumers.record("a", 7).await.unwrap();
        consumers.record("a", 8).await.unwrap();
        assert_eq!(consumers.next_snapshot("a").await.unwrap(), Some(8));
        io.write(&paths.consumer("b"), Bytes::from_static(br#"{"nextSnapshot" : 3}"#)).await.unwrap();
        assert_eq!(consumers.next_snapshot("b").await.unwrap(), Some(3));
        io.write(&paths.consumer("b"), Bytes::from_static(br#"{"nextSnap"#)).await.unwrap();
        assert_eq!(consumers.next_snapshot("b").await.unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn names_that_would_leave_the_directory() {
        for id in ["", " ", ".", "..", "a/b", "a\\b", "a\n"] {
            assert_eq!(check_consumer_id(id).unwrap_err().kind(), ErrorKind::InvalidInput, "{id}");
        }
        for id in ["a", "my job.1", "ü"] {
            check_consumer_id(id).unwrap();
        }
    }
}
