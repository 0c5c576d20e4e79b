//! Tests of the public API.

mod common;
mod concurrency;
mod main_job;
mod maintenance;
