//! The local disk, by system calls that run off the reactor.
//!
//! Invariants: a file made by [`create_if_absent`] or [`write`] appears whole or not at all, for every process that looks;
//! [`create_if_absent`] never replaces. Temporary files are named `.<name>.<uuid>.tmp` beside their target, so that no
//! reader takes one for metadata; a killed process leaves at most such a file.
//! Durability: both write the content through to the disk before the name appears, and [`create_if_absent`] the
//! directory after it, so a published snapshot survives loss of power. Streams are synced by the operator when they are
//! closed. Only advisory files ([`Sync::Lazy`]) are left to the operating system.
//! Source: layout sheet section 6; `fs/local/LocalFileIO.java` (whose lock works inside one process only).

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::FileStatus;

/// What the disk says about a name.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) is_dir: bool,
    pub(super) size: u64,
    pub(super) modified_ms: Option<i64>,
}

impl Entry {
    pub(super) fn into_status(self, path: String) -> FileStatus {
        FileStatus { path, name: self.name, is_dir: self.is_dir, size: self.size, modified_ms: self.modified_ms }
    }
}

/// Whether content must be on the disk before its name appears.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    Now,
    Lazy,
}

pub(super) fn read_range(path: &Path, range: &Range<u64>) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    read_part(&mut file, size, range)
}

/// Several ranges of one file, which is opened once.
pub(super) fn read_ranges(path: &Path, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    ranges.iter().map(|range| read_part(&mut file, size, range)).collect()
}

fn read_part(file: &mut File, size: u64, range: &Range<u64>) -> io::Result<Vec<u8>> {
    if range.end > size || range.start > range.end {
        let text = format!("expected bytes {} to {}, but the file has {size}", range.start, range.end);
        return Err(io::Error::new(ErrorKind::UnexpectedEof, text));
    }
    let length = range.end - range.start;
    let mut content = Vec::with_capacity(usize::try_from(length).map_err(io::Error::other)?);
    file.seek(SeekFrom::Start(range.start))?;
    let read = file.take(length).read_to_end(&mut content)?;
    if read as u64 != length {
        return Err(io::Error::new(ErrorKind::UnexpectedEof, "the file became shorter while it was read"));
    }
    Ok(content)
}

pub(super) fn status(path: &Path) -> io::Result<Option<Entry>> {
    match fs::metadata(path) {
        Ok(metadata) => {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            Ok(Some(entry(name, &metadata)))
        }
        Err(e) if is_absent(&e) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Names directly in a directory, sorted; none if there is no such directory. Names that are not UTF-8 are left out:
/// no part of a table has one.
pub(super) fn list(path: &Path) -> io::Result<Vec<Entry>> {
    each_entry(path, |name, child| match fs::metadata(child.path()) {
        Ok(metadata) => Ok(Some(entry(name, &metadata))),
        Err(e) if is_absent(&e) => Ok(None),
        Err(e) => Err(e),
    })
}

/// As [`list`] without looking at the files themselves.
pub(super) fn list_names(path: &Path) -> io::Result<Vec<(String, bool)>> {
    let entries = each_entry(path, |name, child| {
        let kind = match child.file_type() {
            Ok(kind) => kind,
            Err(e) if is_absent(&e) => return Ok(None),
            Err(e) => return Err(e),
        };
        let is_dir =
            if kind.is_symlink() { fs::metadata(child.path()).is_ok_and(|m| m.is_dir()) } else { kind.is_dir() };
        Ok(Some(Entry { name, is_dir, size: 0, modified_ms: None }))
    })?;
    Ok(entries.into_iter().map(|e| (e.name, e.is_dir)).collect())
}

fn each_entry(
    path: &Path,
    look: impl Fn(String, &fs::DirEntry) -> io::Result<Option<Entry>>,
) -> io::Result<Vec<Entry>> {
    let children = match fs::read_dir(path) {
        Ok(children) => children,
        Err(e) if is_absent(&e) => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut entries = Vec::new();
    for child in children {
        let child = child?;
        if let Ok(name) = child.file_name().into_string() {
            entries.extend(look(name, &child)?);
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

fn entry(name: String, metadata: &fs::Metadata) -> Entry {
    let modified = metadata.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    Entry {
        name,
        is_dir: metadata.is_dir(),
        size: if metadata.is_dir() { 0 } else { metadata.len() },
        modified_ms: modified.and_then(|d| i64::try_from(d.as_millis()).ok()),
    }
}

/// Replaces or creates a file.
pub(super) fn write(path: &Path, content: &[u8], sync: Sync) -> io::Result<()> {
    let temporary = Temporary::write(path, content, sync)?;
    fs::rename(&temporary.0, path)
}

/// Creates a file with this content; `false` if there is one.
///
/// A hard link is the one call that gives a finished file a name only if the name is free.
pub(super) fn create_if_absent(path: &Path, content: &[u8]) -> io::Result<bool> {
    match stage(path, content)? {
        Some(temporary) => give_name(temporary, path),
        None => Ok(false),
    }
}

/// The first step of [`create_if_absent`]: the file without its name; `None` if the name is taken. It stays in the directory that
/// it was made in, also if that gets another name.
pub(super) fn stage(path: &Path, content: &[u8]) -> io::Result<Option<Temporary>> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(None);
    }
    Temporary::write(path, content, Sync::Now).map(Some)
}

/// The second step of [`create_if_absent`]. `NotFound` if the directory at `path` is another one by now.
pub(super) fn give_name(temporary: Temporary, path: &Path) -> io::Result<bool> {
    match fs::hard_link(&temporary.0, path) {
        Ok(()) => {}
        // On a network file system the answer can get lost, and the call be repeated by the system: two names of our
        // file mean that we won.
        Err(_) if temporary.names() > 1 => {}
        Err(e) if e.kind() == ErrorKind::AlreadyExists => return Ok(false),
        // The file itself could be written, so this is not a question of rights.
        Err(e) if matches!(e.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported) => {
            return Err(io::Error::new(ErrorKind::Unsupported, "commits need a file system with hard links"));
        }
        Err(e) => return Err(e),
    }
    drop(temporary);
    sync_directory_of(path)?;
    Ok(true)
}

/// A temporary file that is removed when this is dropped, unless it was renamed.
pub(super) struct Temporary(PathBuf);

impl Temporary {
    fn write(target: &Path, content: &[u8], sync: Sync) -> io::Result<Self> {
        let name = target.file_name().ok_or_else(|| io::Error::from(ErrorKind::IsADirectory))?.to_string_lossy();
        let path = target.with_file_name(format!(".{name}.{}.tmp", uuid::Uuid::new_v4()));
        let mut file = match create_new(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                create_parents(target)?;
                create_new(&path)?
            }
            other => other?,
        };
        let temporary = Self(path);
        file.write_all(content)?;
        if sync == Sync::Now {
            file.sync_all()?;
        }
        Ok(temporary)
    }

    #[cfg(unix)]
    fn names(&self) -> u64 {
        use std::os::unix::fs::MetadataExt;
        fs::symlink_metadata(&self.0).map_or(0, |m| m.nlink())
    }

    #[cfg(not(unix))]
    fn names(&self) -> u64 {
        1
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove, and a leftover is harmless.
        let _ = fs::remove_file(&self.0);
    }
}

fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn create_parents(target: &Path) -> io::Result<()> {
    let Some(directory) = target.parent() else { return Ok(()) };
    let first_new = directory.ancestors().take_while(|d| !d.exists()).last().map(Path::to_path_buf);
    fs::create_dir_all(directory)?;
    // A name in a directory that is itself not on the disk would be lost with it.
    if let Some(first_new) = first_new {
        for created in directory.ancestors().take_while(|d| d.starts_with(&first_new)) {
            sync_directory_of(created)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn sync_directory_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(directory) => match File::open(directory).and_then(|d| d.sync_all()) {
            // Some file systems cannot sync a directory; the name is there all the same.
            Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
            other => other,
        },
        None => Ok(()),
    }
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature on every system")]
fn sync_directory_of(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn delete(path: &Path) -> io::Result<()> {
    ignore_absent(fs::remove_file(path))
}

/// Deletes a directory: it is gone at once, and what others still write to its path is not part of what is deleted.
///
/// It is moved into a directory of its own first, `.dropped-<uuid>` beside it, which no listing takes for a table or database.
pub(super) fn delete_dir(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::from(ErrorKind::InvalidInput));
    };
    match fs::symlink_metadata(path) {
        Err(e) if is_absent(&e) => return Ok(()),
        other => other?,
    };
    let away = parent.join(format!(".dropped-{}", uuid::Uuid::new_v4()));
    if let Err(error) = fs::create_dir(&away) {
        return ignore_absent(Err(error));
    }
    let moved = fs::rename(path, away.join(name));
    let deleted = match &moved {
        // A mount point cannot be moved.
        Err(e) if matches!(e.kind(), ErrorKind::CrossesDevices | ErrorKind::ResourceBusy) => fs::remove_dir_all(path),
        _ => moved,
    };
    let cleared = clear(&away);
    ignore_absent(deleted).and(cleared)
}

/// Deletes a directory that no path leads to any more but those that are being followed right now: what they add is deleted
/// too.
fn clear(directory: &Path) -> io::Result<()> {
    const STRAGGLERS: usize = 100;
    for _ in 0..STRAGGLERS {
        match fs::remove_dir_all(directory) {
            Err(e) if e.kind() == ErrorKind::DirectoryNotEmpty => {}
            done => return ignore_absent(done),
        }
    }
    fs::remove_dir_all(directory)
}

/// Renames; `false` if the target exists. An empty directory at the target gives way to a directory.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<bool> {
    let source = fs::symlink_metadata(from)?;
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if !source.is_dir() {
        return match fs::hard_link(from, to) {
            Ok(()) => fs::remove_file(from).map(|()| true),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(e),
        };
    }
    match fs::rename(from, to) {
        Ok(()) => Ok(true),
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists | ErrorKind::NotADirectory
            ) =>
        {
            Ok(false)
        }
        Err(e) => Err(e),
    }
}

fn ignore_absent(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(e) if is_absent(&e) => Ok(()),
        other => other,
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
