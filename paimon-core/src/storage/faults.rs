//! A store in memory whose operations fail on demand, for tests of what a failure leaves behind.
//!
//! Invariants: an operation that creates a file only if it is absent takes place as a whole or not at all, as every store
//! must promise; any other write may leave the first half of its content.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use opendal::raw::*;
use opendal::*;

use super::FileIO;

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing happens.
    Before,
    /// It happens, but the answer gets lost.
    AnswerLost,
    /// A write leaves half of its content; other operations fail as in [`Mode::Before`].
    Short,
    /// Writes leave half of their content because the disk is full; other operations work.
    DiskFull,
}

/// Which operations fail.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// The first one, counted from 0.
    pub(crate) at: usize,
    /// Whether all later ones fail too.
    pub(crate) forever: bool,
    /// How.
    pub(crate) mode: Mode,
}

#[derive(Debug, Default)]
struct State {
    plan: Option<Plan>,
    seen: usize,
    hits: Vec<String>,
}

/// What is to fail, and what did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Arc<Mutex<State>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Delete,
}

impl Faults {
    /// Makes operations fail from now on.
    pub(crate) fn arm(&self, plan: Plan) {
        *self.lock() = State { plan: Some(plan), ..State::default() };
    }

    /// Lets all operations work again; gives those that failed, as `kind path`.
    pub(crate) fn disarm(&self) -> Vec<String> {
        let mut state = self.lock();
        state.plan = None;
        std::mem::take(&mut state.hits)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// How this operation fails; `None` if it works.
    fn hit(&self, kind: Kind, path: &str) -> Option<Mode> {
        let mut state = self.lock();
        let plan = state.plan?;
        if plan.mode == Mode::DiskFull && kind != Kind::Write {
            return None;
        }
        let number = state.seen;
        state.seen += 1;
        let fails = number == plan.at || (plan.forever && number > plan.at);
        fails.then(|| {
            state.hits.push(format!("{kind:?} {path}"));
            plan.mode
        })
    }

    fn check(&self, kind: Kind, path: &str) -> Result<()> {
        self.hit(kind, path).map_or(Ok(()), |mode| Err(failure(mode)))
    }
}

fn failure(mode: Mode) -> Error {
    let kind = if mode == Mode::DiskFull { io::ErrorKind::StorageFull } else { io::ErrorKind::BrokenPipe };
    Error::new(ErrorKind::Unexpected, "planned failure").set_source(io::Error::from(kind))
}

/// A fresh store with these files, its operations under the control of the faults.
pub(crate) async fn store(files: &[(String, Bytes)]) -> (FileIO, Faults) {
    let faults = Faults::default();
    let operator = Operator::new(services::Memory::default()).unwrap().layer(FaultLayer(faults.clone()));
    for (path, content) in files {
        operator.write(path, content.clone()).await.unwrap();
    }
    (FileIO::from_operator(operator), faults)
}

/// All files of a store.
pub(crate) async fn files(io: &FileIO) -> Vec<(String, Bytes)> {
    let (operator, _) = io.resolve("memory:/").unwrap();
    let mut out = Vec::new();
    for entry in operator.list_with("/").recursive(true).await.unwrap() {
        if !entry.metadata().is_dir() {
            out.push((entry.path().to_owned(), operator.read(entry.path()).await.unwrap().to_bytes()));
        }
    }
    out.sort();
    out
}

#[derive(Debug)]
struct FaultLayer(Faults);

impl Layer for FaultLayer {
    fn apply_service(&self, inner: Servicer) -> Servicer {
        Arc::new(FaultService { inner, faults: self.0.clone() })
    }
}

#[derive(Debug)]
struct FaultService {
    inner: Servicer,
    faults: Faults,
}

impl Service for FaultService {
    type Reader = Wrapped<oio::Reader>;
    type Writer = FaultWriter;
    type Lister = Wrapped<oio::Lister>;
    type Deleter = Wrapped<oio::Deleter>;
    type Copier = oio::Copier;

    fn info(&self) -> ServiceInfo {
        self.inner.info()
    }

    fn capability(&self) -> Capability {
        self.inner.capability()
    }

    async fn create_dir(&self, ctx: &OperationContext, path: &str, args: OpCreateDir) -> Result<RpCreateDir> {
        self.inner.create_dir(ctx, path, args).await
    }

    async fn stat(&self, ctx: &OperationContext, path: &str, args: OpStat) -> Result<RpStat> {
        self.faults.check(Kind::Read, path)?;
        self.inner.stat(ctx, path, args).await
    }

    fn read(&self, ctx: &OperationContext, path: &str, args: OpRead) -> Result<Self::Reader> {
        Ok(self.wrap(path, self.inner.read(ctx, path, args)?))
    }

    fn write(&self, ctx: &OperationContext, path: &str, args: OpWrite) -> Result<Self::Writer> {
        let exclusive = args.if_not_exists();
        let inner = self.wrap(path, self.inner.write(ctx, path, args)?);
        Ok(FaultWriter { inner, exclusive, content: Vec::new() })
    }

    fn delete(&self, ctx: &OperationContext) -> Result<Self::Deleter> {
        Ok(self.wrap("", self.inner.delete(ctx)?))
    }

    fn list(&self, ctx: &OperationContext, path: &str, args: OpList) -> Result<Self::Lister> {
        self.faults.check(Kind::Read, path)?;
        Ok(self.wrap(path, self.inner.list(ctx, path, args)?))
    }

    fn copy(
        &self,
        ctx: &OperationContext,
        from: &str,
        to: &str,
        args: OpCopy,
        options: OpCopier,
    ) -> Result<Self::Copier> {
        self.inner.copy(ctx, from, to, args, options)
    }

    async fn rename(&self, ctx: &OperationContext, from: &str, to: &str, args: OpRename) -> Result<RpRename> {
        self.inner.rename(ctx, from, to, args).await
    }

    async fn presign(&self, ctx: &OperationContext, path: &str, args: OpPresign) -> Result<RpPresign> {
        self.inner.presign(ctx, path, args).await
    }
}

impl FaultService {
    fn wrap<T>(&self, path: &str, inner: T) -> Wrapped<T> {
        Wrapped { inner, path: path.to_owned(), faults: self.faults.clone() }
    }
}

struct Wrapped<T> {
    inner: T,
    path: String,
    faults: Faults,
}

impl<T: oio::Read> oio::Read for Wrapped<T> {
    async fn open(&self, range: BytesRange) -> Result<(RpRead, Box<dyn oio::ReadStreamDyn>)> {
        self.faults.check(Kind::Read, &self.path)?;
        self.inner.open(range).await
    }

    async fn read(&self, range: BytesRange) -> Result<(RpRead, Buffer)> {
        self.faults.check(Kind::Read, &self.path)?;
        self.inner.read(range).await
    }
}

impl<T: oio::List> oio::List for Wrapped<T> {
    async fn next(&mut self) -> Result<Option<oio::Entry>> {
        self.inner.next().await
    }
}

impl<T: oio::Delete> oio::Delete for Wrapped<T> {
    async fn delete(&mut self, path: &str, args: OpDelete) -> Result<()> {
        match self.faults.hit(Kind::Delete, path) {
            None => self.inner.delete(path, args).await,
            Some(mode) => {
                if mode == Mode::AnswerLost {
                    self.inner.delete(path, args).await?;
                    self.inner.close().await?;
                }
                Err(failure(mode))
            }
        }
    }

    async fn close(&mut self) -> Result<()> {
        self.inner.close().await
    }
}

struct FaultWriter {
    inner: Wrapped<oio::Writer>,
    exclusive: bool,
    content: Vec<u8>,
}

impl FaultWriter {
    async fn put(&mut self, bytes: usize) -> Result<Metadata> {
        let content = self.content[..bytes].to_vec();
        oio::Write::write(&mut self.inner.inner, Buffer::from(content)).await?;
        oio::Write::close(&mut self.inner.inner).await
    }
}

impl oio::Write for FaultWriter {
    async fn write(&mut self, bytes: Buffer) -> Result<()> {
        self.content.extend_from_slice(&bytes.to_bytes());
        match self.inner.faults.hit(Kind::Write, &self.inner.path) {
            None => Ok(()),
            Some(mode) => {
                // A stream has its earlier parts on the disk when a later one fails.
                if matches!(mode, Mode::Short | Mode::DiskFull) && !self.exclusive {
                    let _ = self.put(self.content.len() / 2).await;
                }
                Err(failure(mode))
            }
        }
    }

    async fn close(&mut self) -> Result<Metadata> {
        let Some(mode) = self.inner.faults.hit(Kind::Write, &self.inner.path) else {
            return self.put(self.content.len()).await;
        };
        match mode {
            Mode::AnswerLost => drop(self.put(self.content.len()).await?),
            Mode::Short | Mode::DiskFull if !self.exclusive => drop(self.put(self.content.len() / 2).await?),
            _ => {}
        }
        Err(failure(mode))
    }

    async fn abort(&mut self) -> Result<()> {
        oio::Write::abort(&mut self.inner.inner).await
    }
}
