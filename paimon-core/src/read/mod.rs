//! From splits to rows.

mod table_read;

pub use table_read::TableRead;
