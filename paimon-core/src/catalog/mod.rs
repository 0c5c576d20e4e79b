//! Names to tables.

mod catalog;
mod external_paths;
mod factory;
mod filesystem;
mod identifier;
mod schema_change;
mod table_kind;

pub use catalog::Catalog;
pub use factory::CatalogFactory;
pub use filesystem::FileSystemCatalog;
pub use identifier::Identifier;
pub use schema_change::{ColumnMove, SchemaChange};
