//! CALL of procedures. Source: SQL sheet SQL-250 to SQL-255.

use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::prelude::DataFrame;
use paimon_core::Error;

use crate::error::to_datafusion;
use crate::procedure::{Argument, BoundCall, ParameterType, ProcedureContext, bind, list};
use crate::runtime::resources_of;
use crate::sql::constant::evaluate;
use crate::sql::parse::cursor::Name;
use crate::sql::printer::name_text;
use crate::sql::session::Session;
use crate::sql::tokens::Fragment;
use crate::sql::zone::epoch_millis;

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
        let call = bind(procedure, self.with_instants(procedure, arguments)).map_err(to_datafusion)?;
        let resources = resources_of(&self.state, call.procedure().name);
        Ok((call, ProcedureContext::new(&provider, self.current_database()).with_resources(resources)))
    }

    /// Times as milliseconds since the epoch, read in the zone of the session.
    fn with_instants(&self, procedure: &str, mut arguments: Vec<Argument>) -> Vec<Argument> {
        let zone = self.zone();
        let Some(procedure) = list().find(|p| p.name == procedure) else { return arguments };
        for (position, argument) in arguments.iter_mut().enumerate() {
            let parameter = match &argument.name {
                Some(name) => procedure.parameters.iter().find(|p| p.is_named(name)),
                None => procedure.parameters.get(position),
            };
            if parameter.is_some_and(|p| p.kind == ParameterType::Time)
                && let Some(millis) = epoch_millis(&argument.value, zone)
            {
                argument.value = ScalarValue::Int64(Some(millis));
            }
        }
        arguments
    }
}
