//! The address of a database: parsed once, and shown without its password.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::time::Duration;

use store::{DatabaseFault, Error};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// How long a server may take to answer a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A peer that does not acknowledge for so long is gone.
const SILENCE: Duration = Duration::from_secs(15);

/// How long a handle tries to connect again, after its connection broke: a server that restarts is back in seconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a server may say nothing about what it was asked. It is less than a lease lasts.
const ANSWER: Duration = Duration::from_secs(7);

/// The same of a person who looks at a screen: for a connection, for silence and for an answer. A connection takes six
/// round trips, so it is made where one takes almost a second.
const GLANCE: Duration = Duration::from_secs(6);

const PORT: u16 = 5432;

/// The address of a database, such as `postgres://ada:secret@db.example/gatewright`.
///
/// Connections to another machine are encrypted, and the server's certificate is verified, unless the address says
/// `sslmode=disable`. `sslrootcert=FILE` names the certificates to trust instead of the system's.
#[derive(Clone)]
pub struct Address {
    config: Config,
    root_certificates: Option<PathBuf>,
    patience: Duration,
    answer: Duration,
}

impl Address {
    pub fn parse(text: &str) -> Result<Self, Error> {
        let is_address = ["postgres://", "postgresql://"];
        if !is_address.iter().any(|start| text.starts_with(start)) {
            return Err(not_an_address(None));
        }
        let (text, root_certificates, mode) = without_own_options(text);
        let mut config = Config::from_str(&text).map_err(|error| not_an_address(Some(error)))?;
        if config.get_hosts().is_empty() || config.get_user().is_none() {
            return Err(not_an_address(None));
        }
        if config.get_dbname().is_none() {
            let user = config.get_user().unwrap_or_default().to_owned();
            config.dbname(&user);
        }
        let is_here = config.get_hosts().iter().all(is_on_this_machine);
        config.ssl_mode(match mode.as_deref() {
            Some("disable") => SslMode::Disable,
            None if is_here => SslMode::Disable,
            Some(_) | None => SslMode::Require,
        });
        config
            .application_name("gatewright")
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_user_timeout(SILENCE)
            .keepalives(true)
            .keepalives_idle(SILENCE / 3)
            .keepalives_interval(SILENCE / 3)
            .keepalives_retries(2);
        Ok(Self {
            config,
            root_certificates,
            patience: PATIENCE,
            answer: ANSWER,
        })
    }

    /// The same for a screen: a call fails at once while the server is away.
    pub fn for_screens(mut self) -> Self {
        self.config.connect_timeout(GLANCE).tcp_user_timeout(GLANCE);
        self.patience = Duration::ZERO;
        self.answer = GLANCE;
        self
    }

    /// How long a server may say nothing about what it was asked.
    pub(crate) fn answer(&self) -> Duration {
        self.answer
    }

    /// How long all of a connection may take: the network, encryption, password, and the first statements.
    pub(crate) fn connecting(&self) -> Duration {
        let network = self.config.get_connect_timeout();
        network.copied().unwrap_or(CONNECT_TIMEOUT)
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn root_certificates(&self) -> Option<&PathBuf> {
        self.root_certificates.as_ref()
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }

    pub fn user(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    pub fn database(&self) -> &str {
        self.config.get_dbname().unwrap_or_default()
    }

    /// Host and port.
    pub fn server(&self) -> String {
        let ports = self.config.get_ports();
        let hosts = self.config.get_hosts().iter().enumerate();
        let named = hosts.map(|(index, host)| {
            let port = ports.get(index).or(ports.first()).unwrap_or(&PORT);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                Host::Unix(folder) => folder.display().to_string(),
            }
        });
        named.collect::<Vec<_>>().join(",")
    }
}

/// User, server and database, never the password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, server, database) = (self.user(), self.server(), self.database());
        write!(f, "postgres://{user}@{server}/{database}")
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The address without the options that the client does not know, and what they say.
fn without_own_options(text: &str) -> (String, Option<PathBuf>, Option<String>) {
    let Some((start, options)) = text.split_once('?') else {
        return (text.to_owned(), None, None);
    };
    let (mut certificates, mut mode, mut kept) = (None, None, Vec::new());
    for option in options.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some(("sslrootcert", path)) => certificates = Some(PathBuf::from(path)),
            Some(("sslmode", word)) => mode = Some(word.to_owned()),
            Some(_) | None => kept.push(option),
        }
    }
    let separator = if kept.is_empty() { "" } else { "?" };
    let text = format!("{start}{separator}{}", kept.join("&"));
    (text, certificates, mode)
}

fn is_on_this_machine(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            let address = name.parse::<IpAddr>();
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
    }
}

/// The text is not quoted: it may contain a password.
fn not_an_address(source: Option<tokio_postgres::Error>) -> Error {
    Error::Database {
        fault: DatabaseFault::Address,
        message: "this is not the address of a database: write \
                  `postgres://USER:PASSWORD@HOST:PORT/DATABASE`"
            .to_owned(),
        source: source.map(Into::into),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        let text = "postgres://ada:s3cret@db.example:5433/team?sslrootcert=/etc/ca.pem";
        let address = Address::parse(text).unwrap();
        for shown in [address.to_string(), format!("{address:?}")] {
            assert_eq!(shown, "postgres://ada@db.example:5433/team");
        }
        assert_eq!(address.config.get_password(), Some(b"s3cret".as_slice()));
        assert_eq!(
            address.root_certificates,
            Some(PathBuf::from("/etc/ca.pem"))
        );
    }

    #[test]
    fn only_what_stays_on_the_machine_is_plain_unless_it_is_said() {
        for (text, is_encrypted) in [
            ("postgres://ada@db.example/team", true),
            ("postgres://ada@db.example/team?sslmode=prefer", true),
            ("postgres://ada@db.example/team?sslmode=verify-full", true),
            ("postgres://ada@db.example/team?sslmode=disable", false),
            ("postgres://ada@127.0.0.1/team", false),
            ("postgres://ada@localhost/team?sslmode=require", true),
            ("postgres://ada@%2Frun%2Fpostgresql/team", false),
            ("postgres://ada@127.0.0.1,db.example/team", true),
        ] {
            assert_eq!(
                Address::parse(text).unwrap().is_encrypted(),
                is_encrypted,
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_address_is_refused_without_being_quoted() {
        for text in [
            "",
            "mysql://ada:s3cret@db/team",
            "postgres://",
            "postgres://db.example/team",
            "postgres://ada:s3cret@db/team?port=s3cret",
            "postgres://ada:s3cret@db/team?unknown=1",
        ] {
            let refused = Address::parse(text).unwrap_err();
            assert!(
                matches!(
                    &refused,
                    Error::Database {
                        fault: DatabaseFault::Address,
                        ..
                    }
                ),
                "{text}"
            );
            assert!(
                !format!("{refused} {refused:?}").contains("s3cret"),
                "{refused:?}"
            );
        }
    }
}
