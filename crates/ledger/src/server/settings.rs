//! Whether a server keeps what it says it has written, and has a ledger of this version.

use odometer::journal::Receipt;
use postgres::Client;

use super::{address::Address, error::ConnectError, turn::head};

/// The version of the tables.
const TABLES: i32 = 1;

/// The oldest server.
const OLDEST: i32 = 120_000;

/// The state of a server, as far as a ledger depends on it.
pub(super) struct Settings {
    /// The last record.
    pub(super) last: Option<Receipt>,
    /// Does another server follow it, or an archive, for which it does not wait?
    pub(super) follows: bool,
}

/// Is the server one that keeps what it says it has written, with a ledger of this version in it?
pub(super) fn checked(address: &Address, client: &mut Client) -> Result<Settings, ConnectError> {
    let at = &address.shown;
    let asked = client.query_one(
        "SELECT current_setting('server_version_num')::int, current_setting('fsync') = 'on', \
         current_setting('full_page_writes') = 'on', pg_is_in_recovery(), \
         current_setting('synchronous_standby_names') = '' AND (current_setting('archive_mode') <> 'off' \
         OR EXISTS (SELECT FROM pg_stat_get_wal_senders()))",
        &[],
    );
    let row = asked.map_err(|error| ConnectError::of(at, &error))?;
    let at = at.clone();
    if row.get::<_, i32>(0) < OLDEST {
        let found = row.get(0);
        return Err(ConnectError::OldServer { at, found });
    }
    for (column, setting) in [(1, "fsync"), (2, "full_page_writes")] {
        if !row.get::<_, bool>(column) {
            return Err(ConnectError::NotDurable { at, setting });
        }
    }
    if row.get(3) {
        return Err(ConnectError::Standby { at });
    }
    let asked = client.query_opt("SELECT version, seq, hash FROM odometry.head", &[]);
    let Some(tables) = asked.map_err(|error| ConnectError::of(&at, &error))? else {
        let reason = "its head is missing".into();
        return Err(ConnectError::NotSetUp { at, reason });
    };
    match tables.get(0) {
        TABLES => Ok(Settings {
            last: head(tables.get(1), tables.get(2)),
            follows: row.get(4),
        }),
        found => Err(ConnectError::Version { at, found }),
    }
}
