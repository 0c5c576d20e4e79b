//! Names to tables.

mod catalog;
mod external_paths;
mod factory;
mod filesystem;
mod identifier;
mod option_values;
mod system_tables;
mod table_kind;

pub use crate::spec::{ColumnMove, SchemaChange};
pub use catalog::Catalog;
pub use factory::CatalogFactory;
pub use filesystem::FileSystemCatalog;
pub use identifier::Identifier;
pub use system_tables::CatalogTable;
