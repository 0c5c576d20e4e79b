//! Procedures: named pieces of maintenance with typed arguments and a table as result.
//!
//! Invariants: binding arguments does nothing; the work happens in [`BoundCall::run`] only, once per call. The same
//! registry serves `CALL sys.<name>(..)` and table functions.

mod arguments;
mod buckets;
mod compact;
mod expire;
mod partitions;
mod registry;
mod rollback;
mod tag;

pub use arguments::{Argument, Arguments};
pub use registry::{
    BoundCall, Parameter, ParameterType, Procedure, ProcedureContext, bind, list, names, ok_batch, ok_schema,
};

pub use compact::compact;
pub use expire::expire;
pub use rollback::rollback;
pub use tag::{create_tag, create_tag_from_timestamp, delete_tag, expire_tags, rename_tag, replace_tag};
