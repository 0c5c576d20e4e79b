//! The Apache Paimon table format in native Rust.
//!
//! A crate is a house with rooms, each built on earlier ones. `docs/ARCHITECTURE.md` says which room holds what, and
//! their order.
#![forbid(unsafe_code)]

pub mod catalog;
pub mod clock;
pub mod commit;
pub mod compact;
pub mod datafile;
pub mod deletion;
pub mod error;
pub mod format;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod index;
mod json;
pub mod maintain;
pub mod merge;
pub mod meta;
pub mod options;
pub mod predicate;
pub mod read;
#[cfg(test)]
mod robustness;
pub mod row;
pub mod row_selection;
pub mod runtime;
pub mod scan;
pub mod spec;
pub mod storage;
pub mod table;
pub mod types;
pub mod write;

pub use catalog::{Catalog, CatalogFactory, Identifier};
pub use error::{Error, ErrorKind, Result};
pub use options::{CatalogOptions, Options};
pub use spec::Schema;
pub use table::Table;
