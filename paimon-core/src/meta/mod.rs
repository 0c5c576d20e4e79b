//! Where metadata lives and how it is fetched.
//!
//! Source: layout sheet of the specification; `utils/SnapshotManager.java`, `schema/SchemaManager.java`, `utils/TagManager.java`.

mod auto_tags;
mod changelogs;
mod columnar_manifest;
mod consumers;
pub mod local_time;
mod manifests;
mod partition_names;
mod paths;
pub(crate) mod rollback_mark;
mod schemas;
mod snapshots;
mod tag_document;
mod tags;
mod time_travel;
mod travel;

pub use auto_tags::AutoTagNames;
pub use changelogs::Changelogs;
pub use consumers::{Consumers, check_consumer_id};
pub use manifests::Manifests;
pub use partition_names::{named_value, value_text};
pub use paths::TablePaths;
pub use schemas::Schemas;
pub use snapshots::Snapshots;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use tag_document::decode as decode_tag;
pub use tags::{Tag, Tags};
pub use time_travel::Selector;
pub use travel::{Bounds, ChangesRange, Travel};
