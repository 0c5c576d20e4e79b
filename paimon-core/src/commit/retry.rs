//! When a commit that lost a race tries again, and when it gives up.
//!
//! Source: layout sheet section 7; `operation/commit/RetryWaiter.java`.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use crate::error::{ConflictKind, Error, Result};
use crate::spec::{COMMIT_MAX_RETRIES, COMMIT_MAX_RETRY_WAIT, COMMIT_MIN_RETRY_WAIT, COMMIT_TIMEOUT};
use crate::table::Table;

/// Doublings of the wait. A lost race says that another commit is done, not that the store is overloaded: with up to a
/// second between attempts, dozens of writers get through.
const MAX_DOUBLINGS: u32 = 6;
/// A wait is longer by up to so many percent, so that writers that lost together do not meet again.
const JITTER_PERCENT: u64 = 20;

/// The attempts of one commit.
#[derive(Debug)]
pub(super) struct Retry<'a> {
    table: &'a Table,
    start_ms: i64,
    retries: u32,
    max_retries: u32,
    timeout: Option<Duration>,
    min_wait: Duration,
    max_wait: Duration,
}

impl<'a> Retry<'a> {
    /// Starts now.
    ///
    /// # Errors
    /// `InvalidConfig` naming the option.
    pub(super) fn try_new(table: &'a Table) -> Result<Self> {
        let options = table.options();
        Ok(Self {
            table,
            start_ms: table.clock().now_ms(),
            retries: 0,
            max_retries: options.value(&COMMIT_MAX_RETRIES)?,
            timeout: options.find(&COMMIT_TIMEOUT)?,
            min_wait: options.value(&COMMIT_MIN_RETRY_WAIT)?,
            max_wait: options.value(&COMMIT_MAX_RETRY_WAIT)?,
        })
    }

    /// Waits before the next attempt.
    ///
    /// # Errors
    /// `Conflict(RetriesExhausted)` if there shall be none.
    pub(super) async fn wait(&mut self) -> Result<()> {
        let elapsed_ms = self.table.clock().now_ms().saturating_sub(self.start_ms).max(0).unsigned_abs();
        if self.retries >= self.max_retries || self.timeout.is_some_and(|t| Duration::from_millis(elapsed_ms) > t) {
            let retries = self.retries;
            return Err(Error::conflict(
                ConflictKind::RetriesExhausted,
                format!(
                    "Commit failed after {elapsed_ms} millis with {retries} retries, there maybe exist commit conflicts \
                     between multiple jobs."
                ),
            ));
        }
        tokio::time::sleep(jittered(self.min_wait.saturating_mul(1 << self.retries.min(MAX_DOUBLINGS)), self.max_wait))
            .await;
        self.retries += 1;
        Ok(())
    }
}

fn jittered(wait: Duration, max: Duration) -> Duration {
    let wait = wait.min(max);
    // The keys of a hasher are random, which is all that is asked for.
    let per_mille = RandomState::new().build_hasher().finish() % (JITTER_PERCENT * 10);
    wait.saturating_add(wait.saturating_mul(u32::try_from(per_mille).unwrap_or(0)) / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_by_up_to_a_fifth() {
        let (wait, max) = (Duration::from_millis(100), Duration::from_secs(1));
        let waits: Vec<Duration> = (0..100).map(|_| jittered(wait, max)).collect();
        assert!(waits.iter().all(|w| (wait..Duration::from_millis(120)).contains(w)), "{waits:?}");
        assert!(waits.iter().any(|w| *w != waits[0]));
        assert!(jittered(Duration::from_secs(5), max) < Duration::from_millis(1_200));
        assert_eq!(jittered(Duration::ZERO, max), Duration::ZERO);
    }
}
