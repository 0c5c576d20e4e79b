//! A new file that is written as a stream.
//!
//! Invariants: a step that was begun runs to its end even if its caller stops waiting, and [`NewFile::abort`] waits for it,
//! so that nothing appears after the file was deleted. Source: storage sheet section 1.

use std::fmt;

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::failure::from_operator;
use super::file_io::FileIO;
use crate::error::{Error, Result};

/// What a step gives back: the stream, if it is still open, and how the step went.
type Step = (Option<opendal::Writer>, Result<()>);

/// A new file, created by its first [`NewFile::write`]. Nothing may be taken for visible before it is closed.
///
/// # Cancellation
/// Dropping it may leave the file, or a part of it; [`NewFile::abort`] deletes it.
pub struct NewFile {
    io: FileIO,
    location: String,
    stream: Option<opendal::Writer>,
    step: Option<JoinHandle<Step>>,
    /// Whether the file may exist.
    begun: bool,
    bytes: u64,
}

impl fmt::Debug for NewFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewFile").field("location", &self.location).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl NewFile {
    /// A file that does not exist yet. Contacts nothing.
    pub fn new(io: FileIO, location: String) -> Self {
        Self { io, location, stream: None, step: None, begun: false, bytes: 0 }
    }

    /// Where it will be.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Bytes that were handed over.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds to its content.
    ///
    /// # Errors
    /// `DiskFull`, `PermissionDenied` or `Storage`, naming the file; `InvalidState` after a step that was dropped or failed.
    pub async fn write(&mut self, content: Bytes) -> Result<()> {
        let (io, location) = (self.io.clone(), self.location.clone());
        let stream = self.stream.take();
        if stream.is_none() && self.begun {
            return Err(self.unusable());
        }
        self.bytes += content.len() as u64;
        self.run(async move {
            let mut stream = match stream {
                Some(stream) => stream,
                None => match io.writer(&location).await {
                    Ok(stream) => stream,
                    Err(error) => return (None, Err(error)),
                },
            };
            let written = stream.write(content).await.map_err(|e| from_operator(e, &location));
            (Some(stream), written)
        })
        .await
    }

    /// Ends it; then it is visible. A file without content is not made.
    ///
    /// # Errors
    /// As [`NewFile::write`].
    pub async fn close(&mut self) -> Result<()> {
        let Some(mut stream) = self.stream.take() else {
            return if self.begun { Err(self.unusable()) } else { Ok(()) };
        };
        let location = self.location.clone();
        self.run(async move {
            match stream.close().await {
                Ok(_) => (None, Ok(())),
                Err(error) => (Some(stream), Err(from_operator(error, &location))),
            }
        })
        .await
    }

    /// Deletes it, best effort: what cannot be deleted stays as a file that nothing names.
    pub async fn abort(&mut self) {
        if let Some(step) = self.step.take()
            && let Ok((stream, _)) = step.await
        {
            self.stream = stream;
        }
        if let Some(mut stream) = self.stream.take() {
            let _ = stream.abort().await;
        }
        if self.begun {
            let _ = self.io.delete(&self.location).await;
        }
    }

    async fn run(&mut self, work: impl Future<Output = Step> + Send + 'static) -> Result<()> {
        let handle = Handle::try_current().map_err(|e| Error::internal("there is no runtime").with_source(e))?;
        self.begun = true;
        let ended = self.step.insert(handle.spawn(work)).await;
        self.step = None;
        let (stream, outcome) = ended.map_err(|e| Error::internal("writing a file was ended").with_source(e))?;
        self.stream = stream;
        outcome
    }

    fn unusable(&self) -> Error {
        Error::invalid_state("an earlier step of writing the file was dropped or failed")
            .with_context("file", &self.location)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;
    use crate::error::ErrorKind;
    use crate::options::Options;

    /// Polls `work` once and drops it, as a caller does that stops waiting.
    async fn give_up(work: impl Future<Output = Result<()>>) -> bool {
        let mut work = std::pin::pin!(work);
        std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context).is_pending())).await
    }

    #[tokio::test]
    async fn nothing_appears_after_an_abort() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().to_str().unwrap();
        let io = FileIO::from_location(root, &Options::new()).unwrap();
        for i in 0..200 {
            let mut file = NewFile::new(io.clone(), format!("{root}/f-{i}"));
            assert!(give_up(file.write(Bytes::from_static(b"content"))).await);
            if i % 4 == 0 {
                // The step is on its way, or not even begun.
                tokio::task::yield_now().await;
            }
            let refused = file.write(Bytes::from_static(b"more")).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidState);
            file.abort().await;
        }
        assert!(io.list_names(root).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn an_end_that_nobody_waits_for_is_undone() {
        let io = FileIO::from_location("memory:/new-file", &Options::new()).unwrap();
        let mut file = NewFile::new(io.clone(), "memory:/new-file/f".to_owned());
        file.write(Bytes::from_static(b"content")).await.unwrap();
        assert!(give_up(file.close()).await);
        file.abort().await;
        assert!(!io.exists("memory:/new-file/f").await.unwrap());
    }

    #[tokio::test]
    async fn a_file_without_content_is_not_made() {
        let io = FileIO::from_location("memory:/new-file", &Options::new()).unwrap();
        let mut file = NewFile::new(io.clone(), "memory:/new-file/empty".to_owned());
        file.close().await.unwrap();
        assert!(!io.exists("memory:/new-file/empty").await.unwrap());
    }
}
