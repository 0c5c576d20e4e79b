//! Keeping a table small: expiry of snapshots and their files, and rollback.

mod consumers;
mod delete;
mod expire;
mod kept;
mod rollback;

pub(crate) use consumers::consumers;
pub use expire::{ExpireConfig, expire_snapshots};
pub use rollback::rollback_to;
