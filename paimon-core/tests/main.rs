//! Tests of the public API.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test says where it failed")]

mod catalog;
mod changes;
mod common;
mod compact;
mod concurrency;
mod kill;
mod main_job;
mod maintenance;
mod plan;
