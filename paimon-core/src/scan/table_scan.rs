//! A batch scan: what the options of the table select, as one plan.
//!
//! Invariants: a plan is of one snapshot; plans of the same snapshot with the same settings are equal. Source: read-path
//! sheet section 1, time-travel sheet section 2; `table/source/AbstractDataTableScan.java`.

use super::changes::Changes;
use super::fallback;
use super::metadata::PlanRequest;
use super::plan::{Plan, ScanTrace};
use super::prune::ReadMode;
use super::row_positions::RowPositions;
use super::scope::{Scope, Source};
use super::startup;
use crate::error::{Entity, Error, ErrorKind, Result};
use crate::meta::{ChangesRange, Travel};
use crate::predicate::Predicate;
use crate::spec::{ChangesMode, CommitKind, Snapshot};
use crate::table::Table;

/// How often a plan of the latest snapshot starts anew because the snapshot expired meanwhile.
const MAX_REPLANS: usize = 5;

/// Plans reads of a table. The options of the table and its handle say which snapshot or which changes: the latest
/// snapshot when [`TableScan::plan`] is called, if they say nothing.
#[derive(Debug, Clone)]
pub struct TableScan {
    request: PlanRequest,
    changes: Option<ChangesRange>,
    positions: Option<RowPositions>,
}

impl TableScan {
    /// A scan with this filter, over the columns of the table, and limit.
    pub fn new(table: Table, filter: Option<Predicate>, limit: Option<usize>) -> Self {
        Self { request: PlanRequest { table, filter, limit }, changes: None, positions: None }
    }

    /// A scan of the changes in the snapshots after `start` up to `end`, whatever the options of the table select.
    /// [`TableScan::plan`] fails with `InvalidInput` if the range is not one of existing snapshots.
    ///
    /// # Errors
    /// `InvalidInput` for the mode `diff`: a difference is no set of events.
    pub fn with_changes(mut self, start: i64, end: i64, mode: ChangesMode) -> Result<Self> {
        if mode == ChangesMode::Diff {
            return Err(Error::invalid_input(
                "the mode 'diff' of incremental reads compares two snapshots and has no plan of events; read it with \
                 SQL, or set the option 'incremental-between-scan-mode'",
            ));
        }
        self.changes = Some(ChangesRange::of_snapshots(start, end, mode));
        Ok(self)
    }

    /// Only the rows at these positions of the plan.
    ///
    /// # Errors
    /// `Unsupported` for tables with primary key; `InvalidInput` if a selection of the other kind is set.
    pub fn with_row_positions(mut self, positions: RowPositions) -> Result<Self> {
        positions.check(&self.request.table, self.positions)?;
        self.positions = Some(positions);
        Ok(self)
    }

    /// Plans anew.
    ///
    /// # Errors
    /// `Unsupported` naming feature and option before any data file is read; `InvalidInput` for a range of changes that
    /// does not exist; `Corrupt`, `NotFound` or `Storage` naming the file.
    pub async fn plan(&self) -> Result<Plan> {
        let mut replans = 0;
        loop {
            match self.try_plan().await {
                Err(error) if self.may_have_expired(&error) && replans < MAX_REPLANS => replans += 1,
                planned => return planned,
            }
        }
    }

    /// Whether a file is missing because another process expired the snapshot: then the latest one is planned instead.
    fn may_have_expired(&self, error: &Error) -> bool {
        let missing = matches!(error.kind(), ErrorKind::NotFound(Entity::File | Entity::Snapshot));
        missing && self.request.table.pinned().is_none()
    }

    async fn try_plan(&self) -> Result<Plan> {
        let mode = self.request.mode()?;
        let plan = self.request.table.while_alive(self.whole_plan(mode)).await?;
        match self.positions {
            // Positions count the rows of the whole plan.
            Some(positions) => positions.select(plan),
            None => Ok(plan),
        }
    }

    async fn whole_plan(&self, mode: ReadMode) -> Result<Plan> {
        let request = match self.positions {
            Some(_) => PlanRequest { limit: None, ..self.request.clone() },
            None => self.request.clone(),
        };
        let table = &request.table;
        let live = Scope::live(&mode);
        let travel = match &self.changes {
            Some(range) => {
                let changes = Changes::of_existing(range, table).await?;
                return changes.plan(&request, mode).await;
            }
            None => Travel::from_options(table.options())?,
        };
        let branch = table.fallback().await?;
        let (snapshot, scope) = match travel {
            Travel::Latest | Travel::Snapshot(_) => (table.current_snapshot().await?, live),
            _ if branch.is_some() => {
                return Err(Error::unsupported(
                    "the option 'scan.fallback-branch' with reads of other than whole snapshots",
                ));
            }
            Travel::FilesSince(time) => (startup::latest(table).await?, Scope { created_since: Some(time), ..live }),
            Travel::CreatedSince(time) => match startup::created_since(time, &table.snapshots()).await? {
                Some(snapshot) => (Some(snapshot), live),
                None => (startup::latest(table).await?, Scope { created_since: Some(time), ..live }),
            },
            Travel::CompactedFull => (startup::compacted(table).await?, live),
            Travel::LatestDelta => return self.latest_delta(&request, mode).await,
            Travel::Changes(range) => return Changes::resolve(&range, table).await?.plan(&request, mode).await,
        };
        let plan = match &snapshot {
            Some(snapshot) => request.live(snapshot.clone(), mode, scope).await?,
            None => nothing(None),
        };
        match branch {
            Some(branch) => fallback::add(&request, &branch, snapshot.as_ref(), plan).await,
            None => Ok(plan),
        }
    }

    async fn latest_delta(&self, request: &PlanRequest, mode: ReadMode) -> Result<Plan> {
        let Some(latest) = startup::latest(&request.table).await? else { return Ok(nothing(None)) };
        match latest.commit_kind {
            CommitKind::Append => {
                let scope = Scope::changes(&request.table, &mode, Source::Delta)?;
                request.events(std::slice::from_ref(&latest), latest.clone(), mode, scope).await
            }
            CommitKind::Compact | CommitKind::Overwrite | CommitKind::Analyze => Ok(nothing(Some(latest))),
        }
    }
}

/// A plan without splits.
pub(super) fn nothing(snapshot: Option<Snapshot>) -> Plan {
    Plan::new(snapshot, Vec::new(), ScanTrace::default())
}
