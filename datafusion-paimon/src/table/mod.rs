//! Tables of the format as tables of the engine.

mod batch_exec;
mod catalog_table;
mod provider;
mod row_view;
mod system;
mod truncate;

pub(crate) use batch_exec::{BatchSource, PaimonBatchExec};
pub use catalog_table::PaimonCatalogTableProvider;
pub use provider::PaimonTableProvider;
pub use row_view::{PaimonRowViewProvider, RowView};
pub use system::PaimonSystemTableProvider;
