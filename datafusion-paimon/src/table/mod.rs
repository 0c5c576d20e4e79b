//! Tables of the format as tables of the engine.

mod provider;

pub use provider::PaimonTableProvider;
