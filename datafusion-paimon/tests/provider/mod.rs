//! Catalogs, tables and functions in sessions of the engine.

mod append;
mod catalog;
mod evolution;
mod primary_key;
mod types;
