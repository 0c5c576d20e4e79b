//! One connection of a suite: an `SqlContext` over the suite's warehouse.

use std::path::Path;
use std::time::Duration;

use arrow::datatypes::DataType;
use async_trait::async_trait;
use datafusion::error::DataFusionError;
use datafusion_paimon::SqlContext;
use paimon_core::Options;
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType};

use crate::render::render;

/// A connection.
#[derive(Debug)]
pub struct Engine {
    context: SqlContext,
}

impl Engine {
    /// A connection whose catalog `paimon` is the filesystem catalog of `warehouse`, with these further options.
    ///
    /// # Errors
    /// If the catalog cannot be made.
    pub async fn new(warehouse: &Path, options: &[(String, String)]) -> Result<Self, DataFusionError> {
        let context = SqlContext::new()?;
        let mut all: Options = options.iter().cloned().collect();
        all.set("warehouse", warehouse.to_string_lossy());
        context.register_catalog("paimon", all, None).await?;
        Ok(Self { context })
    }
}

#[async_trait]
impl AsyncDB for Engine {
    type Error = DataFusionError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<Self::ColumnType>, Self::Error> {
        let frame = self.context.sql(sql).await?;
        let schema = frame.schema().as_arrow().clone();
        let batches = frame.collect().await?;
        let types = schema.fields().iter().map(|f| column_type(f.data_type())).collect();
        Ok(DBOutput::Rows { types, rows: render(&batches)? })
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        "paimon"
    }

    async fn sleep(duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

fn column_type(data_type: &DataType) -> DefaultColumnType {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DefaultColumnType::Text,
        t if t.is_integer() => DefaultColumnType::Integer,
        t if t.is_floating() || t.is_decimal() => DefaultColumnType::FloatingPoint,
        _ => DefaultColumnType::Any,
    }
}
