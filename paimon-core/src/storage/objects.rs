//! Stores that are reached through an operator alone.
//!
//! Invariants: a directory exists as long as something below it does; markers of empty directories never show up in a
//! listing. Source: storage sheet sections 3 and 4.

use std::ops::Range;

use bytes::Bytes;
use opendal::{EntryMode, ErrorKind as Kind, Operator};

use super::FileStatus;
use super::failure::from_operator;
use crate::error::{Entity, Error, ErrorKind, Result};

pub(super) async fn read(operator: &Operator, path: &str, location: &str) -> Result<Bytes> {
    Ok(operator.read(path).await.map_err(|e| from_operator(e, location))?.to_bytes())
}

pub(super) async fn read_range(operator: &Operator, path: &str, location: &str, range: Range<u64>) -> Result<Bytes> {
    let content = operator.read_with(path).range(range.clone()).await;
    let content = match content {
        Ok(content) => content.to_bytes(),
        Err(e) if e.kind() == Kind::RangeNotSatisfied => return Err(too_short(&range, location)),
        Err(e) => return Err(from_operator(e, location)),
    };
    if content.len() as u64 != range.end.saturating_sub(range.start) {
        return Err(too_short(&range, location));
    }
    Ok(content)
}

fn too_short(range: &Range<u64>, location: &str) -> Error {
    Error::corrupt(format!("the file is shorter than expected: no bytes {} to {}", range.start, range.end))
        .with_context("file", location)
}

pub(super) async fn status(operator: &Operator, path: &str, location: &str) -> Result<Option<FileStatus>> {
    for path in [path.to_owned(), directory(path)] {
        match operator.stat(&path).await {
            Ok(metadata) => return Ok(Some(file_status(location, &metadata))),
            Err(e) if matches!(e.kind(), Kind::NotFound | Kind::NotADirectory) => {}
            Err(e) => return Err(from_operator(e, location)),
        }
    }
    Ok(None)
}

pub(super) async fn write(operator: &Operator, path: &str, location: &str, content: Bytes) -> Result<()> {
    operator.write(path, content).await.map(drop).map_err(|e| from_operator(e, location))
}

pub(super) async fn create_if_absent(operator: &Operator, path: &str, location: &str, content: Bytes) -> Result<bool> {
    if !operator.info().capability().write_with_if_not_exists {
        return Err(Error::unsupported(
            "the store cannot create a file only if it does not exist, so commits on it would get lost",
        )
        .with_context("file", location));
    }
    match operator.write_with(path, content).if_not_exists(true).await {
        Ok(_) => Ok(true),
        Err(e) if matches!(e.kind(), Kind::ConditionNotMatch | Kind::AlreadyExists) => Ok(false),
        Err(e) => Err(from_operator(e, location)),
    }
}

pub(super) async fn delete(operator: &Operator, path: &str, location: &str) -> Result<()> {
    operator.delete(path).await.map_err(|e| from_operator(e, location))
}

pub(super) async fn delete_dir(operator: &Operator, path: &str, location: &str) -> Result<()> {
    operator.delete_with(&directory(path)).recursive(true).await.map_err(|e| from_operator(e, location))
}

pub(super) async fn list(operator: &Operator, path: &str, location: &str) -> Result<Vec<FileStatus>> {
    let path = directory(path);
    let entries = operator.list(&path).await.map_err(|e| from_operator(e, location))?;
    let mut found = Vec::with_capacity(entries.len());
    for entry in entries {
        if entry.path() == path {
            continue;
        }
        let child = format!("{}/{}", location.trim_end_matches('/'), entry.name().trim_end_matches('/'));
        let metadata = match entry.metadata().mode() {
            EntryMode::DIR => entry.metadata().clone(),
            // A listing of the memory store has no sizes.
            _ => match operator.stat(entry.path()).await {
                Ok(metadata) => metadata,
                Err(e) if e.kind() == Kind::NotFound => continue,
                Err(e) => return Err(from_operator(e, &child)),
            },
        };
        found.push(file_status(&child, &metadata));
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

pub(super) async fn list_names(operator: &Operator, path: &str, location: &str) -> Result<Vec<(String, bool)>> {
    let path = directory(path);
    let entries = operator.list(&path).await.map_err(|e| from_operator(e, location))?;
    let mut names: Vec<_> = entries
        .iter()
        .filter(|e| e.path() != path)
        .map(|e| (e.name().trim_end_matches('/').to_owned(), e.metadata().is_dir()))
        .collect();
    names.sort();
    Ok(names)
}

pub(super) async fn create_dir(operator: &Operator, path: &str, location: &str) -> Result<()> {
    operator.create_dir(&directory(path)).await.map_err(|e| from_operator(e, location))
}

/// Copies, then deletes; not atomic.
pub(super) async fn rename(operator: &Operator, paths: (&str, &str), locations: (&str, &str)) -> Result<()> {
    if status(operator, paths.1, locations.1).await?.is_some() {
        return Err(Error::already_exists(Entity::File, "the target exists").with_context("file", locations.1));
    }
    if operator.info().scheme() != "memory" {
        return Err(Error::unsupported("the store cannot rename").with_context("file", locations.0));
    }
    let source = status(operator, paths.0, locations.0)
        .await?
        .ok_or_else(|| Error::not_found(Entity::File, "the file does not exist").with_context("file", locations.0))?;
    let failed = |e| from_operator(e, locations.0);
    if !source.is_dir {
        let content = operator.read(paths.0).await.map_err(failed)?;
        operator.write(paths.1, content).await.map_err(failed)?;
        return operator.delete(paths.0).await.map_err(failed);
    }
    let (from, to) = (directory(paths.0), directory(paths.1));
    for entry in operator.list_with(&from).recursive(true).await.map_err(failed)? {
        let Some(rest) = entry.path().strip_prefix(&from) else { continue };
        let target = format!("{to}{rest}");
        if entry.metadata().is_dir() {
            operator.create_dir(&target).await.map_err(failed)?;
        } else {
            let content = operator.read(entry.path()).await.map_err(failed)?;
            operator.write(&target, content).await.map_err(failed)?;
        }
    }
    operator.delete_with(&from).recursive(true).await.map_err(failed)
}

fn directory(path: &str) -> String {
    format!("{}/", path.trim_end_matches('/'))
}

fn file_status(location: &str, metadata: &opendal::Metadata) -> FileStatus {
    let is_dir = metadata.is_dir();
    FileStatus {
        path: location.to_owned(),
        name: location.rsplit('/').next().unwrap_or_default().to_owned(),
        is_dir,
        size: if is_dir { 0 } else { metadata.content_length() },
        modified_ms: metadata.last_modified().map(|t| t.into_inner().as_millisecond()),
    }
}

/// Checks that a name survives the operator, which cuts blanks off the end of a path.
pub(super) fn check_name(path: &str, location: &str) -> Result<()> {
    if path.trim_end() != path {
        return Err(Error::new(ErrorKind::Unsupported, "names that end in a blank are not supported on this store")
            .with_context("file", location));
    }
    Ok(())
}
