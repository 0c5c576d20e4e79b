//! Catalogs, databases and their tables as providers of the engine.

mod factory;
mod provider;
mod schema;

pub use factory::PaimonTableFactory;
pub use provider::PaimonCatalogProvider;
pub use schema::PaimonSchemaProvider;
