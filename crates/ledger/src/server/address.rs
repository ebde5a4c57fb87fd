//! Where a server is, who logs in, and how the connection is protected. The password comes from the environment or from a pass
//! file, as everywhere else with PostgreSQL, and is in no text.

use std::{
    env, fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    path::PathBuf,
    str::FromStr as _,
    time::Duration,
};

use postgres::{
    Client, Config, NoTls,
    config::{Host, SslMode},
};

use super::{
    connection::CONNECTING,
    error::ConnectError,
    parameters::{Encryption, taken},
    tls::{self, Tls},
};

/// How long until a connection to a machine that is gone is given up.
const SILENT: Duration = Duration::from_secs(30);

/// The name whose addresses are the loopback's, whatever a name service returns.
const LOCALHOST: &str = "localhost";

pub(super) struct Address {
    config: Config,
    /// Without it, the connection is not encrypted.
    tls: Option<Tls>,
    /// To be shown: no password.
    pub(super) shown: String,
    /// Is it on this machine?
    local: bool,
}

impl Address {
    pub(super) fn parse(text: &str) -> Result<Self, ConnectError> {
        let (text, encryption) = taken(text)?;
        // What the parser says may quote a password.
        let mut config = Config::from_str(&text).map_err(|_| ConnectError::Address)?;
        if config.get_password().is_some() {
            return Err(ConnectError::PasswordInAddress);
        }
        let addresses = config.get_hostaddrs().to_vec();
        if config.get_hosts().len() != 1 || addresses.len() > 1 || config.get_ports().len() > 1 {
            // With several, the ledger could be on another one each time.
            return Err(ConnectError::Address);
        }
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let user = config
            .get_user()
            .map(str::to_owned)
            .or_else(|| env::var("PGUSER").ok());
        let Some(user) = user.or_else(|| env::var("USER").ok()) else {
            return Err(ConnectError::Address);
        };
        let database = config.get_dbname().unwrap_or(&user).to_owned();
        let (host, socket, local) = match &config.get_hosts()[0] {
            Host::Tcp(host) => (host.clone(), false, is_local(host, &addresses)),
            Host::Unix(path) => (path.display().to_string(), true, true),
        };
        let shown = format!("{user}@{host}:{port}/{database}");
        if socket && !addresses.is_empty() {
            return Err(ConnectError::SocketAndHostAddress { at: shown });
        }
        let tls = match encryption {
            Encryption::Off => None,
            Encryption::Unsaid if local => None,
            Encryption::Unsaid => return Err(ConnectError::Unencrypted { at: shown }),
            Encryption::Verified(_) if socket => return Err(ConnectError::EncryptedSocket),
            Encryption::Verified(_) if !tls::can_be_certified(&host) => {
                return Err(ConnectError::Address);
            }
            Encryption::Verified(authorities) => Some(tls::trusting(&authorities)?),
        };
        let who = [&*host, &port.to_string(), &*database, &*user].map(str::to_owned);
        if let Some(password) = password(&who)? {
            config.password(password);
        }
        if host == LOCALHOST && addresses.is_empty() {
            // A name service could resolve the name to another machine. The client connects to each of these addresses in turn,
            // and reports the error of the last.
            config
                .host(LOCALHOST)
                .hostaddr(Ipv6Addr::LOCALHOST.into())
                .hostaddr(Ipv4Addr::LOCALHOST.into());
        }
        let mode = match &tls {
            Some(_) => SslMode::Require,
            None => SslMode::Disable,
        };
        config
            .user(&user)
            .ssl_mode(mode)
            // Of the whole time to connect, one address takes half, so that there is time for another one.
            .connect_timeout(CONNECTING / 2)
            .keepalives(true)
            .keepalives_idle(SILENT)
            .tcp_user_timeout(SILENT)
            .application_name("odometry ledger");
        Ok(Self {
            config,
            tls,
            shown,
            local,
        })
    }

    /// Can others read and change what is sent?
    pub(super) fn is_exposed(&self) -> bool {
        self.tls.is_none() && !self.local
    }

    pub(super) fn connect(&self) -> Result<Client, ConnectError> {
        let client = match &self.tls {
            Some(tls) => self.config.connect(tls.clone()),
            None => self.config.connect(NoTls),
        };
        client.map_err(|error| ConnectError::of(&self.shown, &error))
    }
}

/// Does a connection to this host stay on this machine? An address in numbers, if there is one, is the one that is used.
fn is_local(host: &str, addresses: &[IpAddr]) -> bool {
    match addresses {
        [] => is_loopback(host),
        addresses => addresses.iter().all(IpAddr::is_loopback),
    }
}

fn is_loopback(host: &str) -> bool {
    host == LOCALHOST || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// From `PGPASSWORD`, or from the file `PGPASSFILE`, or from `~/.pgpass`.
fn password(who: &[String; 4]) -> Result<Option<String>, ConnectError> {
    if let Ok(password) = env::var("PGPASSWORD") {
        return Ok(Some(password));
    }
    let named = env::var_os("PGPASSFILE").map(PathBuf::from);
    let path = match (&named, env::var_os("HOME")) {
        (Some(named), _) => named.clone(),
        (None, Some(home)) => PathBuf::from(home).join(".pgpass"),
        (None, None) => return Ok(None),
    };
    if named.is_none() && !path.exists() {
        return Ok(None);
    }
    let wrong = |reason: String| ConnectError::PassFile {
        path: path.display().to_string(),
        reason,
    };
    let others = readable_by_others(&path).map_err(|error| wrong(error.to_string()))?;
    if others {
        return Err(wrong("others can read it: `chmod 600` it".into()));
    }
    let text = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    Ok(text.lines().find_map(|line| passed(line, who)))
}

#[cfg(unix)]
fn readable_by_others(path: &std::path::Path) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::metadata(path)?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn readable_by_others(_: &std::path::Path) -> std::io::Result<bool> {
    Ok(false)
}

/// The password in a line `host:port:database:user:password`, if it is for us. `*` is anything; `\` escapes.
fn passed(line: &str, who: &[String; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let (mut fields, mut escaped) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            ':' if !escaped && fields.len() < 5 => fields.push(String::new()),
            c => fields.last_mut()?.push(c),
        }
        escaped = false;
    }
    let [host, port, database, user, password] = <[String; 5]>::try_from(fields).ok()?;
    let ours = [host, port, database, user];
    let fits = |(field, ours): (&String, &String)| field == "*" || field == ours;
    ours.iter().zip(who).all(fits).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_pass_file_is_for_whom_it_names() {
        let who = ["db", "5432", "ledger", "survey"].map(str::to_owned);
        assert_eq!(
            passed("db:5432:ledger:survey:s3", &who).as_deref(),
            Some("s3")
        );
        assert_eq!(
            passed("*:*:*:survey:a:b\\\\c\\:d", &who).as_deref(),
            Some("a:b\\c:d")
        );
        for other in [
            "",
            "# db:5432:ledger:survey:s3",
            "db:5433:ledger:survey:s3",
            "db:5432:ledger:s3",
        ] {
            assert_eq!(passed(other, &who), None, "{other}");
        }
    }

    fn refused(text: &str) -> ConnectError {
        let error = Address::parse(text).err().unwrap();
        assert!(!error.to_string().contains("hunter2"), "{error}");
        error
    }

    #[test]
    fn an_address_with_a_password_is_refused_and_not_shown() {
        for (text, error) in [
            (
                "postgres://u:hunter2@localhost/l",
                ConnectError::PasswordInAddress,
            ),
            (
                "postgres://u:hunter2@db.example/l?sslmode=none",
                ConnectError::EncryptionMode,
            ),
            (
                "host=localhost user=u password=hunter2",
                ConnectError::PasswordInAddress,
            ),
            (
                "postgres://u:hunter2@localhost:port/l",
                ConnectError::Address,
            ),
            ("host=a,b user=u", ConnectError::Address),
            (
                "host=a,b hostaddr=127.0.0.1,192.0.2.1 user=u",
                ConnectError::Address,
            ),
            // The client would use the second port for the second address of `localhost`.
            (
                "host=localhost port=5432,5433 user=u",
                ConnectError::Address,
            ),
            ("hostaddr=127.0.0.1 user=u", ConnectError::Address),
            ("hostaddr=192.0.2.1 user=u", ConnectError::Address),
            (
                "host=localhost hostaddr=127.0.0.1,192.0.2.1 user=u",
                ConnectError::Address,
            ),
            (
                "postgres:///l?hostaddr=192.0.2.1&user=u",
                ConnectError::Address,
            ),
            ("hunter2", ConnectError::Address),
            ("user=u sslmode=hunter2", ConnectError::EncryptionMode),
            ("user=u password='hunter2", ConnectError::Address),
        ] {
            assert_eq!(refused(text), error, "{text}");
        }
    }

    #[test]
    fn another_machine_needs_encryption_or_an_express_wish() {
        let at = |host: &str| format!("u@{host}:5432/l");
        for (text, host) in [
            ("postgres://u@db.example/l", "db.example"),
            ("postgres://u@db.example/l?sslmode=prefer", "db.example"),
            (
                "host=db.example user=u dbname=l sslmode=allow",
                "db.example",
            ),
            ("host=192.0.2.1 user=u dbname=l", "192.0.2.1"),
            // The name is only shown: the connection is made to the address in numbers.
            (
                "host=localhost hostaddr=192.0.2.1 user=u dbname=l",
                "localhost",
            ),
        ] {
            assert_eq!(refused(text), ConnectError::Unencrypted { at: at(host) });
        }
        // The client would connect to the address in numbers, and not to the socket.
        for text in [
            "host=/run/postgresql hostaddr=192.0.2.2 user=u dbname=l",
            "hostaddr=192.0.2.2 host=/run/postgresql user=u dbname=l sslmode=disable",
            "host=/run/postgresql hostaddr=127.0.0.1 user=u dbname=l",
            "postgres://u@%2Frun%2Fpostgresql/l?hostaddr=192.0.2.2",
            "postgres://u@/l?host=/run/postgresql&hostaddr=192.0.2.2",
        ] {
            let at = at("/run/postgresql");
            assert_eq!(refused(text), ConnectError::SocketAndHostAddress { at });
        }
        for (text, exposed) in [
            ("postgres://u@db.example/l?sslmode=disable", true),
            ("host=db.example user=u sslmode = 'disable'", true),
            ("postgres://u@localhost/l", false),
            ("postgres://u@127.0.0.1/l?sslmode=prefer", false),
            ("postgres://u@[::1]/l?sslmode=disable", false),
            ("host=db.example hostaddr=127.0.0.1 user=u", false),
            ("host=/run/postgresql user=u", false),
        ] {
            let address = Address::parse(text).ok().unwrap();
            assert_eq!(address.is_exposed(), exposed, "{text}");
            assert!(address.tls.is_none());
            assert_eq!(address.config.get_ssl_mode(), SslMode::Disable);
            // Addresses that are local without encryption stay local, whatever a name resolves to.
            let dialled = address.config.get_hostaddrs();
            if text.contains("localhost") {
                assert_eq!(
                    dialled,
                    [
                        IpAddr::from(Ipv6Addr::LOCALHOST),
                        Ipv4Addr::LOCALHOST.into()
                    ]
                );
                assert_eq!(address.config.get_hosts().len(), dialled.len());
            }
        }
    }

    #[test]
    fn encryption_names_the_authorities() {
        for mode in ["require", "verify-full"] {
            let on =
                |more: &str| refused(&format!("postgres://u@db.example/l?sslmode={mode}{more}"));
            assert_eq!(on(""), ConnectError::NoAuthority);
            let none = on("&sslrootcert=/nowhere/root%2Ecrt");
            let named = matches!(&none, ConnectError::AuthorityFile { path, .. } if path == "/nowhere/root.crt");
            assert!(named, "{none}");
            let empty = on("&sslrootcert=/dev/null").to_string();
            assert!(empty.contains("it has no certificate"), "{empty}");
            let socket = format!("host=/run user=u sslmode={mode} sslrootcert=/dev/null");
            assert_eq!(refused(&socket), ConnectError::EncryptedSocket);
        }
        let weaker = refused("postgres://u@db.example/l?sslmode=verify-ca&sslrootcert=/dev/null");
        assert_eq!(weaker, ConnectError::EncryptionMode);
    }
}
