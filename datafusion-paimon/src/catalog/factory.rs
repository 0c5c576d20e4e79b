//! `CREATE EXTERNAL TABLE .. STORED AS PAIMON LOCATION '<table path>'`: a name for a table that exists.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider, TableProviderFactory};
use datafusion::error::Result;
use datafusion::logical_expr::CreateExternalTable;
use tokio::runtime::Handle;

use crate::error::unsupported;

/// Finds a table by its path.
#[derive(Debug, Clone)]
pub struct PaimonTableFactory {
    handle: Handle,
}

impl PaimonTableFactory {
    /// A factory whose work runs on `handle`.
    pub fn new(handle: Handle) -> Self {
        Self { handle }
    }
}

#[async_trait]
impl TableProviderFactory for PaimonTableFactory {
    async fn create(&self, _: &dyn Session, _: &CreateExternalTable) -> Result<Arc<dyn TableProvider>> {
        let _ = &self.handle;
        unsupported("CREATE EXTERNAL TABLE .. STORED AS PAIMON")
    }
}
