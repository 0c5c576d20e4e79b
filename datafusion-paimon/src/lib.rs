//! Apache Paimon tables inside Apache DataFusion 55.
//!
//! One [`install`] on a `SessionStateBuilder` brings catalogs, table functions and options into a session; a plain
//! `SessionContext::register_catalog` with a [`PaimonCatalogProvider`] is enough to read and insert. The order of the
//! `mod` lines below is the order of the rooms.
#![forbid(unsafe_code)]

pub mod blocking;
pub mod catalog;
pub mod config;
pub mod environment;
pub mod error;
pub mod expr;
pub mod extension;
pub mod procedure;
pub mod runtime;
mod scan;
pub mod sql;
pub mod table;
pub mod udtf;
pub mod write;

pub use catalog::{PaimonCatalogProvider, PaimonSchemaProvider, PaimonTableFactory};
pub use config::DynamicOptions;
pub use environment::{EnvironmentOptions, PoolKind};
pub use error::{core_error, to_datafusion, to_host};
pub use extension::{Extension, install};
pub use sql::{SqlContext, sql};
pub use table::PaimonTableProvider;
