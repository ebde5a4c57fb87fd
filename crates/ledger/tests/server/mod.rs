//! A real PostgreSQL server for a test, an example or a measurement: in a directory of its own, on a socket of its own, gone afterwards. A server does not run
//! as root: where the test does, the server runs as the user `postgres` (or `nobody`).

#![allow(dead_code)]

use std::{
    env, fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
};

pub struct Server {
    bin: PathBuf,
    directory: PathBuf,
    /// As whom it runs, if this is root.
    user: Option<&'static str>,
    pub port: u16,
    is_up: AtomicBool,
}

/// A server, or nothing where none is installed: said loudly, and a failure where one is demanded.
pub fn server(name: &str) -> Option<Server> {
    match binaries() {
        Some(bin) => Some(Server::start(bin, name)),
        None => {
            let demanded = env::var_os("ODOMETRY_REQUIRE_POSTGRES").is_some();
            assert!(
                !demanded,
                "no PostgreSQL server is installed, and ODOMETRY_REQUIRE_POSTGRES is set"
            );
            // Not through the macro, which tests keep to themselves.
            let skipped = format!(
                "!! SKIPPED {name}: no PostgreSQL server is installed (Debian: `apt-get install postgresql`)\n"
            );
            std::io::stderr().write_all(skipped.as_bytes()).unwrap();
            None
        }
    }
}

/// Where Debian has its servers, unless this says otherwise.
pub const INSTALLED: &str = "ODOMETRY_POSTGRES_DIR";

fn binaries() -> Option<PathBuf> {
    let installed = env::var_os(INSTALLED).unwrap_or_else(|| "/usr/lib/postgresql".into());
    let installed = fs::read_dir(installed).into_iter().flatten();
    let mut found: Vec<PathBuf> = installed
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .collect();
    found.sort();
    let path = env::var_os("PATH").unwrap_or_default();
    found.extend(env::split_paths(&path));
    found
        .into_iter()
        .find(|bin| bin.join("initdb").exists() && bin.join("pg_ctl").exists())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

fn exists(user: &str) -> bool {
    Command::new("id")
        .arg(user)
        .output()
        .unwrap()
        .status
        .success()
}

impl Server {
    /// A directory and a port.
    fn new(bin: PathBuf, name: &str) -> Self {
        let directory = env::temp_dir().join(format!("odometry-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        let user = is_root().then(|| {
            if exists("postgres") {
                "postgres"
            } else {
                "nobody"
            }
        });
        if let Some(user) = user {
            let mut chown = Command::new("chown");
            let chown = chown.arg(user).arg(&directory).status().unwrap();
            assert!(chown.success());
        }
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
        // The number of a socket, and of a port on the loopback for those who cut connections.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        Self {
            bin,
            directory,
            user,
            port,
            is_up: AtomicBool::new(false),
        }
    }

    fn start(bin: PathBuf, name: &str) -> Self {
        let server = Self::new(bin, name);
        let data = server.data();
        let data = data.to_str().unwrap();
        server.run(
            "initdb",
            &[
                &["-D", data, "-U", "owner", "-A", "trust", "--no-sync"][..],
                &["-E", "UTF8", "--locale=C"],
            ]
            .concat(),
        );
        server.up("");
        server.psql("postgres", "CREATE DATABASE ledger");
        server.set_up();
        server
    }

    /// Another server that follows this one, under this name.
    pub fn standby(&self, name: &str) -> Self {
        let standby = Self::new(self.bin.clone(), name);
        let from = format!(
            "host={} port={} user=owner application_name={name}",
            self.directory.display(),
            self.port
        );
        let data = standby.data();
        let data = data.to_str().unwrap();
        standby.run(
            "pg_basebackup",
            &["-D", data, "-d", &from, "-R", "-X", "stream", "-c", "fast"],
        );
        standby.up("");
        self.is_followed(name, "state = 'streaming'");
        standby
    }

    /// Waits until a standby follows in this way: it is up, and settings are loaded, before it does.
    fn is_followed(&self, standby: &str, how: &str) {
        let follows = format!(
            "SELECT FROM pg_stat_replication WHERE application_name = '{standby}' AND {how}"
        );
        let wait = format!(
            "DO $$ BEGIN FOR i IN 1..1200 LOOP IF EXISTS ({follows}) THEN RETURN; END IF; \
             PERFORM pg_sleep(0.05); END LOOP; RAISE 'nobody follows'; END $$"
        );
        self.psql("postgres", &wait);
    }

    /// It follows nobody any more, and is written to.
    pub fn promote(&self) {
        let data = self.data();
        let data = data.to_str().unwrap();
        self.run("pg_ctl", &["-D", data, "-w", "-t", "60", "promote"]);
    }

    /// Starts it at the address of another one, which is down.
    pub fn up_as(&self, other: &Self) {
        self.up_at(other.port, &other.directory, "");
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let program = self.bin.join(program);
        let mut command = match self.user {
            Some(user) => {
                let mut command = Command::new("runuser");
                command.args(["-u", user, "--"]).arg(program);
                command
            }
            None => Command::new(program),
        };
        let log =
            fs::File::create(env::temp_dir().join(format!("odometry-{}.log", self.port))).unwrap();
        let status = command
            .args(arguments)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .status()
            .unwrap();
        let said = env::temp_dir().join(format!("odometry-{}.log", self.port));
        assert!(
            status.success(),
            "{arguments:?}: {}",
            fs::read_to_string(&said).unwrap_or_default()
        );
        let _ = fs::remove_file(said);
    }

    /// Starts it, with more options.
    pub fn up(&self, options: &str) {
        self.up_at(self.port, &self.directory, options);
    }

    fn up_at(&self, port: u16, socket: &Path, options: &str) {
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={} -c shared_buffers=16MB {options}",
            socket.display()
        );
        let (data, log) = (self.data(), self.directory.join("log"));
        let (data, log) = (data.to_str().unwrap(), log.to_str().unwrap());
        self.run(
            "pg_ctl",
            &[
                "-D", data, "-l", log, "-o", &options, "-w", "-t", "60", "start",
            ],
        );
        self.is_up.store(true, Ordering::SeqCst);
    }

    /// Starts it with a certificate, to be reached on its socket and on the loopback.
    pub fn up_encrypted(&self, certificate: &Path, key: &Path) {
        let there = [("certificate", certificate), ("key", key)].map(|(name, from)| {
            let to = self.directory.join(name);
            fs::copy(from, &to).unwrap();
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).unwrap();
            if let Some(user) = self.user {
                let chown = Command::new("chown").arg(user).arg(&to).status().unwrap();
                assert!(chown.success());
            }
            to.display().to_string()
        });
        let [certificate, key] = there;
        self.up(&format!(
            "-c ssl=on -c ssl_cert_file={certificate} -c ssl_key_file={key}"
        ));
    }

    /// Starts it for everybody who can reach this address of the machine.
    pub fn up_for_all(&self, address: &str) {
        let rules = "local all all trust\nhost all all all trust\n";
        fs::write(self.data().join("pg_hba.conf"), rules).unwrap();
        self.up(&format!("-c listen_addresses={address}"));
    }

    /// Its log.
    pub fn said(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap()
    }

    /// Stops it: `fast`, or `immediate`, which is a crash.
    pub fn down(&self, how: &str) {
        let data = self.data();
        self.run(
            "pg_ctl",
            &[
                "-D",
                data.to_str().unwrap(),
                "-m",
                how,
                "-w",
                "-t",
                "60",
                "stop",
            ],
        );
        self.is_up.store(false, Ordering::SeqCst);
    }

    /// From now on it answers nothing, while the kernel still accepts connections and keeps them alive.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// It goes on where it was frozen.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let postmaster = fs::read_to_string(self.data().join("postmaster.pid")).unwrap();
        let postmaster = postmaster.lines().next().unwrap();
        let mut all = vec![postmaster.to_owned()];
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let status = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            // The name, in brackets, may have spaces; the state and the parent follow.
            let parent = status
                .rsplit_once(')')
                .and_then(|(_, rest)| rest.split_whitespace().nth(1));
            if parent == Some(postmaster) {
                all.push(entry.file_name().into_string().unwrap());
            }
        }
        // One of them may have ended meanwhile.
        let _ = Command::new("kill")
            .arg(signal)
            .args(&all)
            .output()
            .unwrap();
    }

    /// As the owner.
    pub fn psql(&self, database: &str, sql: &str) {
        let socket = self.directory.to_str().unwrap();
        let port = self.port.to_string();
        self.run(
            "psql",
            &[
                "-q",
                "-v",
                "ON_ERROR_STOP=1",
                "-h",
                socket,
                "-p",
                &port,
                "-U",
                "owner",
                "-d",
                database,
                "-c",
                sql,
            ],
        );
    }

    /// An empty ledger, and two who may log in.
    fn set_up(&self) {
        self.psql("ledger", include_str!("../../postgres/setup.sql"));
        self.psql(
            "ledger",
            "CREATE ROLE writer LOGIN PASSWORD 'right' IN ROLE odometry_writer_ledger; \
             CREATE ROLE reader LOGIN IN ROLE odometry_reader_ledger",
        );
    }

    /// From now on, the writer needs a password on the loopback.
    pub fn ask_for_passwords(&self) {
        let rules = "local all all trust\nhost all writer 127.0.0.1/32 scram-sha-256\n";
        fs::write(self.data().join("pg_hba.conf"), rules).unwrap();
        self.psql("ledger", "SELECT pg_reload_conf()");
        self.down("fast");
        self.up("");
    }

    /// Waits for a standby of this name from now on, with every commit.
    pub fn wait_for(&self, standby: &str) {
        let waits = format!("ALTER SYSTEM SET synchronous_standby_names = '{standby}'");
        self.psql("postgres", &waits);
        self.psql("postgres", "SELECT pg_reload_conf()");
        self.is_followed(standby, "sync_state = 'sync'");
    }

    /// On its socket.
    pub fn address(&self, user: &str) -> String {
        format!(
            "host={} port={} user={user} dbname=ledger",
            self.directory.display(),
            self.port
        )
    }

    /// On the loopback, at this port: its own, or that of somebody in between.
    pub fn over_tcp(&self, port: u16) -> String {
        format!("postgres://writer@127.0.0.1:{port}/ledger")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.is_up.load(Ordering::SeqCst) && std::thread::panicking() {
            // The test may have frozen it.
            self.thaw();
        }
        if !self.is_up.load(Ordering::SeqCst) {
            // It is down already.
        } else if !std::thread::panicking() {
            self.down("immediate");
        } else {
            let data = self.data();
            let _ = Command::new("runuser")
                .args(["-u", self.user.unwrap_or("postgres"), "--"])
                .arg(self.bin.join("pg_ctl"))
                .args(["-D", data.to_str().unwrap(), "-m", "immediate", "stop"])
                .status();
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}
