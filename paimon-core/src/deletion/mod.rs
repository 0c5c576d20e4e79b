//! Deletion vectors: which rows of a data file are deleted.
//!
//! Invariants: a vector that is damaged is an error that names its file, never rows that come back. Planning says where
//! vectors are; this room reads them. Source: deletion-vector sheet; `deletionvectors/DeletionVectorsIndexFile.java`.

mod load;
mod vector;

pub use load::load;
pub use vector::DeletionVector;
