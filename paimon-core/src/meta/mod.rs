//! Where metadata lives and how it is fetched.
//!
//! Source: layout sheet of the specification; `utils/SnapshotManager.java`, `schema/SchemaManager.java`, `utils/TagManager.java`.

mod manifests;
mod paths;
mod schemas;
mod snapshots;
mod tags;
mod time_travel;

pub use manifests::Manifests;
pub use paths::TablePaths;
pub use schemas::Schemas;
pub use snapshots::Snapshots;
pub use tags::{Tag, Tags};
pub use time_travel::Selector;
