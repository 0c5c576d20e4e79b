//! The folds of columns: choices of a row, and functions that make new values.

mod bitmap;
mod choice;
mod decimal;
mod entries;
mod list;
mod map;
mod nested;
mod number;
mod outcome;
mod text;

pub(super) use outcome::{Outcome, evaluate};
