//! Procedures as table functions.
