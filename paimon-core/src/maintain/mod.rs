//! Keeping a table small: expiry of snapshots and their files, and rollback.

mod delete;
mod expire;
mod kept;
mod rollback;

pub use expire::{ExpireConfig, expire_snapshots};
pub use rollback::rollback_to;
