//! The textual form of types that schema files use, both ways.
