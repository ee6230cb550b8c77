//! Real PostgreSQL servers for tests: from Debian, in a temporary folder, on loopback, never as a service.
//!
//! No server outlives its test, even if the test is killed: a shell waits for the end of a pipe whose other end
//! the test holds, stops the server, and removes the folder. PostgreSQL refuses to run as root, so root
//! lends it the name of another user.

use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::{PATIENCE, until, within};

/// Where Debian puts the programs of a version.
const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";

/// The superuser, and its password.
pub const USER: &str = "postgres";
pub const PASSWORD: &str = "only for tests";

/// How often another port is tried.
const TRIES: usize = 5;

/// Ends the server and removes its folder, when nobody holds the pipe any more.
const WATCHDOG: &str = r#"read -r _; pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
test -n "$pid" && kill -QUIT "$pid"; while test -n "$pid" && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
rm -rf "$1""#;

/// What every server of the tests has. The folder lies in memory or is removed soon: a sync would only cost time, and a
/// killed process loses nothing by it.
const SETTINGS: &str = "fsync = off\nlisten_addresses = '127.0.0.1'\nmax_connections = 200\nshared_buffers = 32MB\n\
                        log_destination = 'stderr'\nlogging_collector = off\nlog_line_prefix = '%a|'\n";

/// How to make a certificate that is not one of an authority.
const CERTIFICATE: &str = "[req]\ndistinguished_name = name\nx509_extensions = leaf\n[name]\n[leaf]\n\
                           subjectAltName = DNS:localhost\nbasicConstraints = critical, CA:FALSE\n";

/// A running server. It is stopped and removed when this goes.
pub struct Server {
    folder: PathBuf,
    port: u16,
    watchdog: Child,
}

impl Server {
    /// A new server with an empty database.
    ///
    /// # Panics
    /// When PostgreSQL 15 is not installed: `cargo xtask test --set-up` installs it.
    pub fn start() -> Self {
        Self::with_settings("")
    }

    /// The same with lines for its `postgresql.conf`.
    pub fn with_settings(settings: &str) -> Self {
        let (folder, watchdog) = guarded_folder();
        Self::in_folder(folder, watchdog, settings)
    }

    /// One on a disk that syncs, as people run it: to measure what a change costs.
    pub fn on_disk() -> Self {
        let (folder, watchdog) = guarded_folder_in(&["/var/tmp", "/tmp"]);
        Self::in_folder(folder, watchdog, "fsync = on\n")
    }

    /// One that encrypts, and the file of its certificate, which is for the name `localhost`.
    pub fn encrypted() -> (Self, PathBuf) {
        let (folder, watchdog) = guarded_folder();
        let (config, certificate, key) = (
            folder.join("openssl"),
            folder.join("certificate"),
            folder.join("key"),
        );
        fs::write(&config, CERTIFICATE).expect("the folder is ours");
        let mut openssl = Command::new("openssl");
        openssl.args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=localhost",
        ]);
        openssl
            .arg("-config")
            .arg(config)
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&certificate);
        succeed(&mut openssl);
        [&certificate, &key]
            .into_iter()
            .for_each(|file| give_away(file));
        let settings = format!(
            "ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\n",
            certificate.display(),
            key.display()
        );
        (Self::in_folder(folder, watchdog, &settings), certificate)
    }

    fn in_folder(folder: PathBuf, watchdog: Child, settings: &str) -> Self {
        let password = folder.join("password");
        fs::write(&password, PASSWORD).expect("the folder is ours");
        give_away(&password);
        let data = folder.join("data");
        let mut initdb = program("initdb");
        initdb
            .arg("-D")
            .arg(&data)
            .args(["-U", USER, "--auth=scram-sha-256", "--no-sync"]);
        initdb
            .args(["--encoding=UTF8", "--locale=C"])
            .arg("--pwfile")
            .arg(&password);
        succeed(&mut initdb);
        configure(&data, settings);
        Self::on_a_free_port(folder, watchdog)
    }

    /// A replica of another server: it follows, and refuses to write.
    pub fn replica_of(primary: &Self) -> Self {
        let (folder, watchdog) = guarded_folder();
        let mut copy = program("pg_basebackup");
        copy.arg("-D").arg(folder.join("data")).args([
            "-R",
            "-X",
            "stream",
            "--no-sync",
            "-h",
            "127.0.0.1",
        ]);
        copy.args(["-c", "fast", "-U", USER, "-p", &primary.port.to_string()]);
        succeed(copy.env("PGPASSWORD", PASSWORD));
        Self::on_a_free_port(folder, watchdog)
    }

    fn on_a_free_port(folder: PathBuf, watchdog: Child) -> Self {
        let mut server = Self {
            folder,
            port: 0,
            watchdog,
        };
        for _ in 0..TRIES {
            server.port = free_port();
            if server.try_start().status.success() {
                return server;
            }
        }
        panic!("PostgreSQL does not start:\n{}", server.log());
    }

    fn try_start(&self) -> Output {
        let options = format!("-p {} -k {}", self.port, self.folder.display());
        let mut start = self.pg_ctl("start");
        start
            .arg("-l")
            .arg(self.folder.join("log"))
            .args(["-w", "-t", "60", "-o", &options]);
        output(&mut start)
    }

    fn pg_ctl(&self, command: &str) -> Command {
        let mut control = program("pg_ctl");
        control.arg(command).arg("-D").arg(self.folder.join("data"));
        control
    }

    /// Ends it as a crash does: no checkpoint, and every connection is cut.
    pub fn crash(&self) {
        succeed(self.pg_ctl("stop").args(["-m", "immediate", "-w"]));
    }

    /// Ends its first process with kill -9. The others notice it, and end.
    pub fn kill(&self) {
        let process = self.process().and_then(|id| i32::try_from(id).ok());
        let process = process.and_then(Pid::from_raw).expect("it runs");
        kill_process(process, Signal::KILL).expect("the process is ours");
        let folder = PathBuf::from(format!("/proc/{}", process.as_raw_nonzero()));
        until("the server has ended", || !folder.exists());
    }

    /// Starts it again on the same port, after a crash. The other processes of a killed one may have to end first.
    pub fn start_again(&self) {
        let starts = || self.try_start().status.success().then_some(());
        assert!(within(PATIENCE, starts).is_some(), "{}", self.log());
    }

    /// Makes a replica a server of its own, which may write.
    pub fn promote(&self) {
        succeed(self.pg_ctl("promote").args(["-w", "-t", "60"]));
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of a database for the superuser.
    pub fn address(&self, database: &str) -> String {
        self.address_of(USER, PASSWORD, database)
    }

    pub fn address_of(&self, user: &str, password: &str, database: &str) -> String {
        let password = password.replace(' ', "%20");
        format!(
            "postgres://{user}:{password}@127.0.0.1:{}/{database}",
            self.port
        )
    }

    /// Creates an empty database, and returns its address.
    pub fn database(&self, name: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.address(name)
    }

    /// What the superuser gets for a statement, one line a row.
    ///
    /// # Panics
    /// When the server refuses it.
    #[track_caller]
    pub fn sql(&self, database: &str, statement: &str) -> String {
        let ran = self.try_sql(&self.address(database), statement);
        ran.unwrap_or_else(|refused| panic!("{statement}\n{refused}"))
    }

    /// The same at this address, or why it was refused.
    pub fn try_sql(&self, address: &str, statement: &str) -> Result<String, String> {
        let mut psql = Command::new(Path::new(PROGRAMS).join("psql"));
        psql.args([
            "-X",
            "-A",
            "-t",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-d",
            address,
            "-c",
            statement,
        ]);
        let ran = output(&mut psql);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if ran.status.success() {
            Ok(text(&ran.stdout))
        } else {
            Err(text(&ran.stderr))
        }
    }

    /// What the server has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// The process of the server.
    pub fn process(&self) -> Option<u32> {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).ok()?;
        file.lines().next()?.trim().parse().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
    }
}

fn guarded_folder() -> (PathBuf, Child) {
    guarded_folder_in(&["/dev/shm", "/tmp"])
}

/// A folder in the first of these places that is there. It goes when the pipe to its watchdog is closed.
fn guarded_folder_in(places: &[&str]) -> (PathBuf, Child) {
    // Another user must reach it, and a socket has a short path: so not below a private folder.
    let place = places.iter().find(|place| Path::new(place).is_dir());
    let folder = tempfile::Builder::new()
        .prefix("gatewright-pg-")
        .tempdir_in(place.unwrap_or(&"/tmp"));
    let folder = folder.expect("a temporary folder can be made").keep();
    give_away(&folder);
    let mut watchdog = Command::new("sh");
    watchdog
        .args(["-c", WATCHDOG, "watchdog"])
        .arg(&folder)
        .stdin(Stdio::piped());
    watchdog.stdout(Stdio::null()).stderr(Stdio::null());
    // A signal to the group of the test must not end it.
    let watchdog = watchdog.process_group(0).spawn().expect("a shell starts");
    (folder, watchdog)
}

fn configure(data: &Path, settings: &str) {
    let file = data.join("postgresql.conf");
    let before = fs::read_to_string(&file).expect("initdb writes it");
    fs::write(&file, format!("{before}\n{SETTINGS}{settings}\n")).expect("the folder is ours");
}

/// One of its programs, as a user that PostgreSQL accepts.
fn program(name: &str) -> Command {
    let path = Path::new(PROGRAMS).join(name);
    assert!(
        path.exists(),
        "{} is missing: run `cargo xtask test --set-up`",
        path.display()
    );
    let mut command = match lent_user() {
        None => Command::new(path),
        Some(user) => {
            let mut command = Command::new("setpriv");
            let (user, group) = (
                format!("--reuid={user}"),
                format!("--regid={}", group_of(&user)),
            );
            command
                .args([user, group])
                .args(["--clear-groups", "--"])
                .arg(path);
            command
        }
    };
    command.current_dir("/").stdin(Stdio::null());
    command
}

/// The user to run as, if we are root.
fn lent_user() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let is_there = |name: &&str| {
        users
            .lines()
            .any(|line| line.starts_with(&format!("{name}:")))
    };
    ["postgres", "nobody"]
        .into_iter()
        .find(is_there)
        .map(str::to_owned)
}

/// The number of the user's own group.
fn group_of(user: &str) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = users
        .lines()
        .find(|line| line.starts_with(&format!("{user}:")));
    let group = line.and_then(|line| line.split(':').nth(3));
    group.expect("every user has a group").to_owned()
}

/// Gives a path to the user that the server runs as.
fn give_away(path: &Path) {
    if let Some(user) = lent_user() {
        succeed(Command::new("chown").arg(format!("{user}:")).arg(path));
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has free ports");
    listener.local_addr().expect("it has an address").port()
}

#[track_caller]
fn succeed(command: &mut Command) {
    let ran = output(command);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.success(),
        "{command:?}: {said}{}",
        String::from_utf8_lossy(&ran.stdout)
    );
}

fn output(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}
