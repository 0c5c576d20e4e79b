//! Where time and fresh names come from, so that tests can fix both.
//!
//! Invariants: nothing else in this crate reads the wall clock or draws random names.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Time and fresh names.
pub trait Clock: Send + Sync + Debug {
    /// Milliseconds since the epoch.
    fn now_ms(&self) -> i64;
    /// A name that was never given before, in the form of a UUID.
    fn fresh_id(&self) -> String;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl SystemClock {
    /// The clock of the machine, shared.
    pub fn shared() -> Arc<dyn Clock> {
        Arc::new(Self)
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the wall clock")]
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn fresh_id(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }
}
