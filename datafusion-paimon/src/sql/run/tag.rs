//! Tags by ALTER TABLE: the work of the procedures. Source: SQL sheet SQL-307.

use datafusion::error::Result;
use datafusion::prelude::DataFrame;
use paimon_core::Table;
use paimon_core::options::parse_duration;

use crate::error::to_datafusion;
use crate::procedure::{create_tag, delete_tag, rename_tag, replace_tag};
use crate::sql::session::Session;
use crate::sql::statement::TagAction;

impl Session<'_> {
    pub(super) async fn change_tag(&self, table: &Table, action: &TagAction) -> Result<DataFrame> {
        match action {
            TagAction::Create { name, or_replace, must_exist, if_not_exists, snapshot, retain } => {
                let retain = retain.as_deref().map(parse_duration).transpose().map_err(to_datafusion)?;
                let snapshot = snapshot.map(i64::from);
                let exists = table.tags().get(name).await.map_err(to_datafusion)?.is_some();
                if exists && *if_not_exists {
                    return self.ok();
                }
                let done = match *must_exist || *or_replace && exists {
                    true => replace_tag(table, name, snapshot, retain).await,
                    false => create_tag(table, name, snapshot, retain).await,
                };
                done.map_err(to_datafusion)?;
            }
            TagAction::Delete { names, if_exists } => {
                let known = table.tags().names().await.map_err(to_datafusion)?;
                let names = names.split(',').map(str::trim);
                let names: Vec<&str> = names.filter(|n| !*if_exists || known.iter().any(|k| k == n)).collect();
                delete_tag(table, &names).await.map_err(to_datafusion)?;
            }
            TagAction::Rename { from, to } => {
                rename_tag(table, from, to).await.map_err(to_datafusion)?;
            }
        }
        self.ok()
    }
}
