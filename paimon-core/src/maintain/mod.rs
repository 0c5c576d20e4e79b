//! Keeping a table small: expiry of snapshots and their files, deletion and expiry of tags, and rollback.

mod consumers;
mod delete;
mod expire;
mod kept;
mod rollback;
mod tags;

pub(crate) use consumers::consumers;
pub use expire::{ExpireConfig, expire_snapshots};
pub use rollback::rollback_to;
pub use tags::{delete_tag, expire_tags, forget_snapshots};
