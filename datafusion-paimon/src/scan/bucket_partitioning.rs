//! Declares that a scan is partitioned by the keys of its buckets, where the engine cannot draw a wrong conclusion.
//!
//! The engine takes any two hash partitionings of one count for the same function: two inputs of a join, or of a union
//! whose partitions are interleaved, would pair rows of different buckets. So a scan declares its buckets only if every
//! node above it has one input; then an aggregation or a window over the keys needs no shuffle.
//!
//! Invariants: a plan with joins or unions above the scan stays as it is; no partition becomes much larger than it was.
//! Source: engine sheet section 5.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};

use super::splits_exec::PaimonSplitsExec;

/// The rule before which buckets must be declared: it adds the shuffles.
const BEFORE: &str = "EnsureRequirements";

/// Declares the partitioning of scans by bucket.
#[derive(Debug)]
struct BucketPartitioning;

impl PhysicalOptimizerRule for BucketPartitioning {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let partitions = config.execution.target_partitions;
        let declared = declare(&plan, partitions)?;
        Ok(declared.unwrap_or(plan))
    }

    fn name(&self) -> &'static str {
        "PaimonBucketPartitioning"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The plan with its scan partitioned by bucket; `None` if nothing changes.
fn declare(plan: &Arc<dyn ExecutionPlan>, partitions: usize) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(scan) = plan.downcast_ref::<PaimonSplitsExec>() {
        return Ok(scan.by_bucket(partitions).map(|scan| Arc::new(scan) as _));
    }
    let children = plan.children();
    let [only] = children.as_slice() else { return Ok(None) };
    match declare(only, partitions)? {
        Some(child) => {
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
            Ok(Some(Arc::clone(plan).replace_children(vec![child], options)?))
        }
        None => Ok(None),
    }
}

/// Adds the rule to those of a session.
pub(super) fn add_to(optimizer: &mut PhysicalOptimizer) {
    let at = optimizer.rules.iter().position(|rule| rule.name() == BEFORE).unwrap_or(0);
    optimizer.rules.insert(at, Arc::new(BucketPartitioning));
}
