//! Commit messages as bytes, in Java's form.
//!
//! Invariants: what this crate cannot commit is refused by name; nothing may follow a message; damaged bytes are an error, never a
//! panic. The version is not in the bytes. Source: write-path sheet section 7.1; `table/sink/CommitMessageSerializer.java`.

use super::commit_message::{CommitMessage, CompactIncrement, DataIncrement};
use super::file_row::FILE_ROW_FIELDS;
use super::index_manifest::IndexManifestEntry;
use super::java_bytes::{JavaReader, JavaWriter};
use crate::error::{Error, Result};

impl CommitMessage {
    /// The version that [`CommitMessage::serialize`] writes.
    pub const VERSION: i32 = 14;

    /// The message as Java's `CommitMessageSerializer` writes it, in version 14.
    ///
    /// # Errors
    /// `Unsupported` if it names index files; `InvalidInput` if it has parts that are too large.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let mut out = JavaWriter::default();
        out.row(&self.partition)?;
        out.int(self.bucket);
        out.bool(self.total_buckets.is_some());
        if let Some(total_buckets) = self.total_buckets {
            out.int(total_buckets);
        }
        let (append, compact) = (&self.append, &self.compact);
        for files in [&append.new_files, &append.deleted_files, &append.changelog_files] {
            out.files(files.iter(), FILE_ROW_FIELDS)?;
        }
        write_indexes(&mut out, &append.new_index_files, &append.deleted_index_files)?;
        for files in [&compact.compact_before, &compact.compact_after, &compact.changelog_files] {
            out.files(files.iter(), FILE_ROW_FIELDS)?;
        }
        write_indexes(&mut out, &compact.new_index_files, &compact.deleted_index_files)?;
        // No snapshot from which conflicts are looked for.
        out.bool(false);
        Ok(out.finish())
    }

    /// Reads what [`CommitMessage::serialize`] or Java wrote in this version, 13 or 14.
    ///
    /// # Errors
    /// `Corrupt` for bytes that are no message; `Unsupported` for another version, index files, or a snapshot from which conflicts
    /// are to be looked for.
    pub fn deserialize(bytes: &[u8], version: i32) -> Result<Self> {
        if !(13..=Self::VERSION).contains(&version) {
            return Err(Error::unsupported(format!(
                "commit messages of version {version} are not supported, only 13 and 14"
            )));
        }
        let mut reader = JavaReader::new(bytes, "commit message");
        let partition = reader.row()?;
        let bucket = reader.int()?;
        let total_buckets = if reader.bool()? { Some(reader.int()?) } else { None };
        let append = DataIncrement {
            new_files: reader.files(FILE_ROW_FIELDS)?,
            deleted_files: reader.files(FILE_ROW_FIELDS)?,
            changelog_files: reader.files(FILE_ROW_FIELDS)?,
            new_index_files: no_indexes(&mut reader)?,
            deleted_index_files: no_indexes(&mut reader)?,
        };
        let compact = CompactIncrement {
            compact_before: reader.files(FILE_ROW_FIELDS)?,
            compact_after: reader.files(FILE_ROW_FIELDS)?,
            changelog_files: reader.files(FILE_ROW_FIELDS)?,
            new_index_files: no_indexes(&mut reader)?,
            deleted_index_files: no_indexes(&mut reader)?,
        };
        if version >= 14 && reader.bool()? {
            return Err(Error::unsupported(
                "commit messages that look for conflicts from a snapshot are not supported",
            ));
        }
        reader.end()?;
        Ok(Self { partition, bucket, total_buckets, append, compact })
    }
}

const INDEXES: &str = "commit messages with index files are not supported";

fn write_indexes(out: &mut JavaWriter, new: &[IndexManifestEntry], deleted: &[IndexManifestEntry]) -> Result<()> {
    if !new.is_empty() || !deleted.is_empty() {
        return Err(Error::unsupported(INDEXES));
    }
    out.int(0);
    out.int(0);
    Ok(())
}

fn no_indexes(reader: &mut JavaReader<'_>) -> Result<Vec<IndexManifestEntry>> {
    match reader.len(4)? {
        0 => Ok(Vec::new()),
        _ => Err(Error::unsupported(INDEXES)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    /// Of two rows of a keyed, partitioned table, written by pypaimon-rust 0.4.0.
    const FOREIGN: &[u8] = include_bytes!("../../tests/golden/messages/pypaimon-rust-0.4.0-v14.bin");

    #[test]
    fn a_message_of_another_writer() {
        let message = CommitMessage::deserialize(FOREIGN, 14).unwrap();
        assert_eq!((message.bucket, message.total_buckets), (0, None));
        assert_eq!(message.partition.field(0, &"INT".parse().unwrap()).unwrap(), Some(crate::types::Datum::Int(7)));
        let [file] = &message.append.new_files[..] else { panic!("{message:?}") };
        assert_eq!((file.row_count, file.level, file.schema_id), (2, 0, 0));
        assert!(file.file_name.ends_with(".parquet") && message.compact.is_empty());
        assert_eq!(message.serialize().unwrap(), FOREIGN);
        let without_flag = &FOREIGN[..FOREIGN.len() - 1];
        assert_eq!(CommitMessage::deserialize(without_flag, 13).unwrap(), message);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for version in [12, 15] {
            assert_eq!(CommitMessage::deserialize(FOREIGN, version).unwrap_err().kind(), ErrorKind::Unsupported);
        }
        for end in 0..FOREIGN.len() {
            assert_eq!(
                CommitMessage::deserialize(&FOREIGN[..end], 14).unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{end}"
            );
        }
        let mut longer = FOREIGN.to_vec();
        longer.push(0);
        assert_eq!(CommitMessage::deserialize(&longer, 14).unwrap_err().kind(), ErrorKind::Corrupt);
        *longer.last_mut().unwrap() = 0;
        let flag = FOREIGN.len() - 1;
        longer[flag] = 1;
        assert_eq!(CommitMessage::deserialize(&longer, 14).unwrap_err().kind(), ErrorKind::Unsupported);
        let name = FOREIGN.windows(5).position(|bytes| bytes == b"data-").unwrap();
        let mut outside = FOREIGN.to_vec();
        outside[name + 4] = b'/';
        assert_eq!(CommitMessage::deserialize(&outside, 14).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    proptest::proptest! {
        #[test]
        fn damage_never_panics(at in 0..FOREIGN.len(), value: u8) {
            let mut damaged = FOREIGN.to_vec();
            damaged[at] = value;
            let _ = CommitMessage::deserialize(&damaged, 14);
        }
    }
}
