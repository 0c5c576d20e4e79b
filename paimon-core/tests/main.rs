//! Tests of the public API.

mod catalog;
mod common;
mod compact;
mod concurrency;
mod main_job;
mod maintenance;
