//! A server's records as they were at one time.

use super::Postgres;
use crate::{
    frame::Frame,
    store::{Cause, Each, Store, StoreError},
};

/// The records up to a number: what is written meanwhile is not among them.
pub(super) struct Until<'a> {
    pub(super) store: &'a Postgres,
    pub(super) until: i64,
}

impl Store for Until<'_> {
    fn append(&self, _: &[Frame]) -> Result<(), StoreError> {
        let why = "this is a view of the records as they were";
        Err(StoreError::NotWritten(Cause::System(why.into())))
    }

    fn read(&self, from: u64, each: &mut Each<'_>) -> Result<(), StoreError> {
        self.store.read_until(from, self.until, each)
    }

    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        let query =
            "SELECT seq, bytes FROM odometry.records WHERE seq <= $1 ORDER BY seq DESC LIMIT 1";
        let until = self.until;
        let found = self
            .store
            .look(move |client| client.query_opt(query, &[&until]))?;
        Ok(found.map(|row| (row.get::<_, i64>(0).unsigned_abs(), row.get(1))))
    }

    fn find(&self, key: &[u8]) -> Result<Option<u64>, StoreError> {
        self.store.find(key)
    }

    fn checkpoint(&self) -> Result<Option<u64>, StoreError> {
        let query = "SELECT max(seq) FROM odometry.records WHERE checkpoint AND seq <= $1";
        self.store.count(query, self.until)
    }

    fn indexed(&self) -> Result<(u64, u64), StoreError> {
        let keys = "SELECT count(key) FROM odometry.records WHERE seq BETWEEN $1 AND $2";
        let checkpoints =
            "SELECT count(*) FROM odometry.records WHERE checkpoint AND seq BETWEEN $1 AND $2";
        let keys = self.store.count_in_ranges(keys, self.until)?;
        Ok((keys, self.store.count_in_ranges(checkpoints, self.until)?))
    }
}
