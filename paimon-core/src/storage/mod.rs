//! Files: locations, reading, writing, and the one primitive under every commit.
//!
//! Invariants: `opendal::Operator` is the seam to every store; on the local disk, metadata operations go straight to the
//! file system, because a commit needs a name that appears once and whole ([`FileIO::create_if_absent`]) and because
//! the operator trims blanks off names. This room knows nothing of the layout of tables.
//! Source: storage sheet sections 1, 3 and 4; `fs/FileIO.java`, `fs/local/LocalFileIO.java`.

#[cfg(test)]
mod contract;
mod failure;
#[cfg(test)]
pub(crate) mod faults;
mod file_io;
mod local;
mod location;
mod new_file;
mod objects;
mod schemes;

pub(crate) use failure::unless_gone;
pub use file_io::{FileIO, FileStatus};
pub(crate) use location::Location;
pub use new_file::NewFile;
