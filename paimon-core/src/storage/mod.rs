//! Files: locations, reading, writing, and the one primitive under every commit.
//!
//! `opendal::Operator` is the seam; this room only resolves locations and adds create-if-absent.
//! It knows nothing of the layout of tables.

mod file_io;

pub use file_io::{FileIO, FileStatus};
