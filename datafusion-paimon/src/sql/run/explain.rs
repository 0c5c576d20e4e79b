//! EXPLAIN of statements of ours: nothing runs, but for EXPLAIN ANALYZE of an INSERT. Source: SQL sheet SQL-231, SQL-232.

use std::str::FromStr;

use datafusion::common::format::ExplainFormat;
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::logical_expr::logical_plan::ExplainOption;
use datafusion::prelude::DataFrame;
use paimon_core::Error;

use crate::error::to_datafusion;
use crate::sql::session::Session;
use crate::sql::statement::Statement;

impl Session<'_> {
    pub(super) async fn explain(
        &self,
        analyze: bool,
        verbose: bool,
        format: Option<&str>,
        statement: &Statement,
    ) -> Result<DataFrame> {
        let Statement::Insert(insert) = statement else {
            if analyze {
                return Err(to_datafusion(Error::unsupported(format!(
                    "EXPLAIN ANALYZE of {statement} is not supported, because it would run it"
                ))));
            }
            // One line of what would be done, once names and arguments are found to be right.
            if let Statement::Call { name, arguments } = statement {
                self.bind_call(name, arguments)?;
            }
            let row = vec![Some("statement".to_owned()), Some(statement.to_string())];
            return self.rows(&["plan_type", "plan"], vec![row]);
        };
        let plan = self.plan_insert(insert).await?;
        let mut option = ExplainOption::default().with_analyze(analyze).with_verbose(verbose);
        if let Some(format) = format {
            option = option.with_format(ExplainFormat::from_str(format)?);
        }
        let plan = LogicalPlanBuilder::from(plan).explain_option_format(option)?.build()?;
        self.run_plan(plan).await
    }
}
