//! Runs sqllogictest suites against `SqlContext`.
//!
//! A suite is a file below `cases/<feature>/`. It starts from an empty warehouse that is registered as catalog `paimon`.
//! `connection NAME` means another context over the same warehouse; `# catalog-option KEY=VALUE` in a comment is an option
//! of the catalog.
#![forbid(unsafe_code)]

mod engine;
mod render;

pub use engine::Engine;
pub use render::render;
