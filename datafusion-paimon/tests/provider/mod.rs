//! Catalogs, tables and functions in sessions of the engine.

mod append;
mod catalog;
mod contexts;
mod evolution;
mod primary_key;
mod text_keys;
mod types;
