//! Catalogs, databases and their tables as providers of the engine.

mod factory;
mod provider;
mod schema;
mod temporary;

pub(crate) use temporary::ExpandedView;

pub use factory::PaimonTableFactory;
pub use provider::PaimonCatalogProvider;
pub use schema::PaimonSchemaProvider;
pub use temporary::{TemporaryObject, TemporaryObjects, TemporaryView};
