//! Catalogs, tables and functions in sessions of the engine.

mod append;
mod catalog;
mod primary_key;
