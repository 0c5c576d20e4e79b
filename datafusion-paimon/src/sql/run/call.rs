//! CALL of procedures. Source: SQL sheet SQL-250 to SQL-255.

use datafusion::error::Result;
use datafusion::prelude::DataFrame;
use paimon_core::Error;

use crate::error::to_datafusion;
use crate::procedure::{Argument, BoundCall, ProcedureContext, bind};
use crate::sql::constant::evaluate;
use crate::sql::parse::cursor::Name;
use crate::sql::printer::name_text;
use crate::sql::session::Session;
use crate::sql::tokens::Fragment;

impl Session<'_> {
    pub(super) async fn call(&self, name: &Name, arguments: &[(Option<String>, Fragment)]) -> Result<DataFrame> {
        let (call, context) = self.bind_call(name, arguments)?;
        let batch = call.run(context).await.map_err(to_datafusion)?;
        self.context.read_batch(batch)
    }

    /// A call whose arguments are evaluated and fit.
    ///
    /// # Errors
    /// `InvalidInput` naming what there is instead of an unknown procedure or argument.
    pub(super) fn bind_call(
        &self,
        name: &Name,
        arguments: &[(Option<String>, Fragment)],
    ) -> Result<(BoundCall, ProcedureContext)> {
        let (catalog, procedure) = match &name[..] {
            [schema, procedure] if schema == "sys" => (self.current_catalog(), procedure),
            [catalog, schema, procedure] if schema == "sys" => (catalog.as_str(), procedure),
            _ => {
                return Err(to_datafusion(Error::invalid_input(format!(
                    "procedures are called [catalog.]sys.<name>, found {}",
                    name_text(name)
                ))));
            }
        };
        let provider = self.require_paimon(catalog)?;
        let arguments = arguments
            .iter()
            .map(|(name, value)| Ok(Argument { name: name.clone(), value: evaluate(&self.state, value)? }))
            .collect::<Result<Vec<_>>>()?;
        let call = bind(procedure, arguments).map_err(to_datafusion)?;
        Ok((call, ProcedureContext::new(&provider, self.current_database())))
    }
}
