//! Tests of the public API.

mod sql;
