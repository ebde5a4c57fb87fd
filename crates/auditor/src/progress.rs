//! A line on standard error during long audits, if it is a terminal.

use std::{
    io::{IsTerminal, Write, stderr},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

const EVERY: Duration = Duration::from_millis(500);

pub(crate) struct Progress {
    what: &'static str,
    started: Instant,
    counted: AtomicU64,
    /// When the next line is due, in milliseconds since the start.
    due: AtomicU64,
    shown: bool,
}

impl Progress {
    pub(crate) fn new(what: &'static str) -> Self {
        Self {
            what,
            started: Instant::now(),
            counted: AtomicU64::new(0),
            due: AtomicU64::new(2 * EVERY.as_millis() as u64),
            shown: stderr().is_terminal(),
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn count(&self, n: u64) {
        let before = self.counted.fetch_add(n, Ordering::Relaxed);
        // Looking at the clock for every run would cost more than a short run.
        if self.shown && before / 1024 != (before + n) / 1024 {
            self.show(before + n);
        }
    }

    fn show(&self, counted: u64) {
        let now = self.elapsed().as_millis() as u64;
        let due = self.due.load(Ordering::Relaxed);
        let next = now + EVERY.as_millis() as u64;
        let mine = now >= due
            && self
                .due
                .compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if mine {
            // Progress is a courtesy: a closed terminal is no reason to fail.
            let _ = write!(stderr(), "\r{counted} {} in {} s ", self.what, now / 1000);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown && self.elapsed() > 2 * EVERY {
            let _ = writeln!(stderr());
        }
    }
}
