//! DROP TABLE and TRUNCATE TABLE.

use datafusion::error::Result;
use datafusion::prelude::DataFrame;
use paimon_core::catalog::CatalogTable;
use paimon_core::error::Entity;
use paimon_core::{Error, ErrorKind};

use crate::error::{core_error, to_datafusion};
use crate::sql::parse::cursor::Name;
use crate::sql::session::Session;
use crate::sql::statement::PartitionValue;

/// Whether an error says that a table or its database does not exist.
pub(super) fn is_absent(error: &datafusion::common::DataFusionError) -> bool {
    core_error(error)
        .is_some_and(|e| matches!(e.kind(), ErrorKind::NotFound(Entity::Table | Entity::Database | Entity::Branch)))
}

impl Session<'_> {
    /// Drops tables; none if one of the names is wrong.
    pub(super) async fn drop_tables(&self, names: &[Name], if_exists: bool) -> Result<DataFrame> {
        let mut targets = Vec::with_capacity(names.len());
        for name in names {
            let (provider, path) = self.target(name, "DROP TABLE")?;
            let identifier = path.identifier();
            if identifier.branch().is_some() || identifier.object().contains('$') {
                return Err(to_datafusion(Error::invalid_input(format!(
                    "Cannot drop {identifier}: it is a branch; drop the table, or the branch with a procedure"
                ))));
            }
            if identifier.database() == CatalogTable::DATABASE {
                return Err(to_datafusion(Error::invalid_input(format!(
                    "{identifier} is in the database of system tables, which is read only"
                ))));
            }
            match self.look_up(&provider, &path).await {
                Ok(_) => targets.push((provider, identifier)),
                Err(e) if if_exists && is_absent(&e) => {}
                // A table that cannot be read can be dropped all the same.
                Err(e) if is_absent(&e) => return Err(e),
                Err(_) => targets.push((provider, identifier)),
            }
        }
        for (provider, identifier) in targets {
            provider.catalog().drop_table(&identifier, if_exists).await.map_err(to_datafusion)?;
        }
        self.ok()
    }

    pub(super) async fn truncate(
        &self,
        name: &Name,
        if_exists: bool,
        partition: &[PartitionValue],
    ) -> Result<DataFrame> {
        let (provider, path, table) = match self.table(name, "TRUNCATE TABLE").await {
            Err(e) if if_exists && is_absent(&e) => return self.ok(),
            found => found?,
        };
        self.refuse_selectors(&provider, &path, "TRUNCATE TABLE")?;
        let commit = table.new_batch_write_builder().new_commit();
        if partition.is_empty() {
            commit.truncate_table().await.map_err(to_datafusion)?;
        } else {
            let spec = self.partition_spec(&table, partition)?;
            commit.truncate_partitions(vec![spec]).await.map_err(to_datafusion)?;
        }
        self.ok()
    }
}
