//! Deletion vectors from their index files.

use bytes::Bytes;

use super::vector::{DeletionVector, FRAMING};
use crate::error::{Entity, Error, ErrorKind, Result, ResultExt};
use crate::meta::TablePaths;
use crate::row_selection::RowSelection;
use crate::scan::DeletionFile;
use crate::storage::FileIO;

/// The largest vector that is read: about a bit per row of the largest file.
const MAX_BYTES: i64 = 260 << 20;

/// The rows that a deletion vector leaves of a data file of `rows` rows.
///
/// # Errors
/// `Corrupt` if the vector is damaged or does not fit what metadata says, `NotFound(File)` or `Storage`; all name the
/// index file.
pub async fn load(io: &FileIO, paths: &TablePaths, file: &DeletionFile, rows: i64) -> Result<RowSelection> {
    let check = |bytes: Bytes| {
        let vector = DeletionVector::decode(&bytes, file.length)?;
        match file.cardinality {
            // Counting queries are answered by this number.
            Some(listed) if u64::try_from(listed) != Ok(vector.cardinality()) => {
                let found = vector.cardinality();
                Err(Error::corrupt(format!("a deletion vector deletes {found} rows, the index manifest says {listed}")))
            }
            _ => vector.live_rows(rows),
        }
    };
    read(io, paths, file).await.and_then(check).context("file", &file.path)
}

async fn read(io: &FileIO, paths: &TablePaths, file: &DeletionFile) -> Result<Bytes> {
    let (Ok(start), Ok(_), true) = (u64::try_from(file.offset), u64::try_from(file.length), file.length <= MAX_BYTES)
    else {
        return Err(Error::corrupt(format!(
            "a deletion vector stands at offset {} and has length {}",
            file.offset, file.length
        )));
    };
    match read_at(io, &file.path, start, file.length).await {
        // Some releases of the Python writer keep these files apart although the table's options place them in buckets.
        Err(error) if error.kind() == ErrorKind::NotFound(Entity::File) => {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            let other = paths.index(name);
            if other == file.path {
                return Err(error);
            }
            read_at(io, &other, start, file.length).await.map_err(|_| error)
        }
        result => result,
    }
}

/// The vector with its framing. Which layout it has, and so how long it is, only its bytes tell; the shorter one may be
/// the end of the file.
async fn read_at(io: &FileIO, path: &str, start: u64, length: i64) -> Result<Bytes> {
    let length = length.unsigned_abs();
    match io.read_range(path, start..start.saturating_add(length + FRAMING as u64)).await {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            let bytes = io.read_range(path, start..start.saturating_add(length)).await?;
            if DeletionVector::counts_framing(&bytes) { Ok(bytes) } else { Err(error) }
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap().block_on(future)
    }

    /// The index file that Java 0.9 wrote for one vector {1}.
    const FILE: [u8; 31] =
        *b"\x01\0\0\0\x16\x5e\x43\xf2\xd0\x3a\x30\0\0\x01\0\0\0\0\0\0\0\x10\0\0\0\x01\0\xfa\x2b\x51\x92";

    fn vector(path: &str, cardinality: Option<i64>) -> DeletionFile {
        DeletionFile { path: path.to_owned(), offset: 1, length: 22, cardinality }
    }

    #[test]
    fn a_vector_is_found_where_old_writers_left_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap().to_owned();
        let io = FileIO::from_location(&root, &Options::new()).unwrap();
        let paths = TablePaths::new(&root, "main");
        std::fs::create_dir(dir.path().join("index")).unwrap();
        std::fs::write(dir.path().join("index/i-0"), FILE).unwrap();
        for path in [format!("{root}/index/i-0"), format!("{root}/bucket-0/i-0")] {
            for cardinality in [None, Some(1)] {
                let rows = block_on(load(&io, &paths, &vector(&path, cardinality), 3)).unwrap();
                assert_eq!(rows.mask().set_indices().collect::<Vec<_>>(), [0, 2]);
            }
        }
    }

    #[test]
    fn what_does_not_fit_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap().to_owned();
        let io = FileIO::from_location(&root, &Options::new()).unwrap();
        let paths = TablePaths::new(&root, "main");
        std::fs::create_dir(dir.path().join("index")).unwrap();
        std::fs::write(dir.path().join("index/i-0"), FILE).unwrap();
        let path = format!("{root}/index/i-0");
        let right = vector(&path, Some(1));
        let cases = [
            (vector(&path, Some(2)), 3),
            (right.clone(), 1),
            (DeletionFile { length: 21, ..right.clone() }, 3),
            (DeletionFile { offset: 2, ..right.clone() }, 3),
            (DeletionFile { offset: -1, ..right.clone() }, 3),
            (DeletionFile { offset: i64::MAX, ..right.clone() }, 3),
            (DeletionFile { length: i64::MAX, ..right.clone() }, 3),
        ];
        for (file, rows) in cases {
            let error = block_on(load(&io, &paths, &file, rows)).unwrap_err();
            assert_eq!(
                (error.kind(), error.context_value("file")),
                (ErrorKind::Corrupt, Some(path.as_str())),
                "{file:?}"
            );
        }
        let missing = vector(&format!("{root}/index/i-1"), None);
        let error = block_on(load(&io, &paths, &missing, 3)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound(Entity::File));
    }
}
