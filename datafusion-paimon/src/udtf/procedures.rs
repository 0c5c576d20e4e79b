//! A procedure as a table function.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use tokio::runtime::Handle;

use super::constant::constant;
use super::target::{Target, context};
use crate::error::{invalid_input, to_datafusion};
use crate::procedure::{self, Argument, BoundCall, ProcedureContext};
use crate::runtime::resources_of;
use crate::table::{BatchSource, PaimonBatchExec};

/// A procedure that is called with positional arguments.
#[derive(Debug, Clone)]
pub(crate) struct ProcedureFunction {
    target: Target,
    procedure: &'static str,
    /// Registered as `sys`: the engine looks up only that word of `sys.<procedure>(..)`, so what stood behind the dot is
    /// unknown. One argument is taken for a compaction, and the result names what was done.
    is_first_word: bool,
}

impl ProcedureFunction {
    pub(crate) fn new(target: Target, procedure: &'static str) -> Self {
        Self { target, procedure, is_first_word: false }
    }

    pub(crate) fn first_word_of_sys_compact(target: Target) -> Self {
        Self { target, procedure: "compact", is_first_word: true }
    }
}

impl TableFunctionImpl for ProcedureFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        if self.is_first_word && args.exprs().len() != 1 {
            return invalid_input(
                "sys.<procedure>(..) cannot be told apart here; write sys_<procedure>(..), such as sys_create_tag(..)",
            );
        }
        let (catalog, database) = self.target.of(args.session())?;
        let arguments = args.exprs().iter().map(|e| Ok(Argument::positional(constant(e)?))).collect::<Result<_>>()?;
        let call = procedure::bind(self.procedure, arguments).map_err(to_datafusion)?;
        let table = ProcedureTable {
            call,
            context: context(&catalog, database),
            handle: catalog.handle().clone(),
            names_procedure: self.is_first_word,
        };
        Ok(Arc::new(table))
    }
}

/// The result of a call that is yet to run.
#[derive(Debug, Clone)]
pub(crate) struct ProcedureTable {
    pub(crate) call: BoundCall,
    pub(crate) context: ProcedureContext,
    pub(crate) handle: Handle,
    /// Whether a first column `procedure` says what ran.
    pub(crate) names_procedure: bool,
}

impl fmt::Display for ProcedureTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "procedure={:?}, catalog={}", self.call.procedure(), self.context.catalog_name)
    }
}

#[async_trait]
impl BatchSource for ProcedureTable {
    fn schema(&self) -> SchemaRef {
        let schema = self.call.schema();
        if !self.names_procedure {
            return schema;
        }
        let first: FieldRef = Arc::new(Field::new("procedure", DataType::Utf8, false));
        Arc::new(Schema::new(std::iter::once(first).chain(schema.fields().iter().cloned()).collect::<Vec<_>>()))
    }

    async fn batch(&self) -> paimon_core::Result<RecordBatch> {
        let batch = self.call.run(self.context.clone()).await?;
        if !self.names_procedure {
            return Ok(batch);
        }
        let names: ArrayRef = Arc::new(StringArray::from(vec![self.call.procedure().name; batch.num_rows()]));
        let columns = std::iter::once(names).chain(batch.columns().iter().cloned()).collect();
        Ok(RecordBatch::try_new(BatchSource::schema(self), columns)?)
    }
}

#[async_trait]
impl TableProvider for ProcedureTable {
    fn schema(&self) -> SchemaRef {
        BatchSource::schema(self)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut source = self.clone();
        source.context.resources = resources_of(session, self.call.procedure().name);
        Ok(Arc::new(PaimonBatchExec::try_new(Arc::new(source), projection, self.handle.clone())?))
    }
}
