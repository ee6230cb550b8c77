//! A server at a terminal of its own, and requests to it, byte by byte.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use testkit::terminal::Terminal;
use testkit::{PATIENCE, Project, within};

use crate::fixture::PROGRAM;

/// `gatewright serve`, started by a person.
pub(super) struct Served {
    pub port: u16,
    pub key: String,
    pub code: String,
    _terminal: Terminal,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answered {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Served {
    pub(super) fn start(project: &Project) -> Self {
        let mut command = project.at_home("sh");
        command.args(["-c", &format!("'{PROGRAM}' serve")]);
        let terminal = Terminal::open(&command);
        let screen = terminal.wait_for("Ctrl-C ends it");
        let (port, key) = address(&screen);
        let code = screen.split("type this code there: ").nth(1).unwrap();
        let code = code.split_whitespace().next().unwrap().to_owned();
        Self {
            port,
            key,
            code,
            _terminal: terminal,
        }
    }

    /// What a browser asks for when a person opens a page.
    pub(super) fn page(&self, path: &str) -> Answered {
        let Self { port, key, .. } = self;
        send(
            *port,
            &format!("GET /{key}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
        )
    }

    /// Asks for a page until this holds of it, and hands it over.
    #[track_caller]
    pub(super) fn wait_for(&self, path: &str, holds: impl Fn(&str) -> bool) -> String {
        let shown = || Some(self.page(path).body).filter(|body| holds(body));
        within(PATIENCE, shown).unwrap_or_else(|| panic!("not yet: {}", self.page(path).body))
    }

    /// What the script of the page sends for an act.
    pub(super) fn act(&self, body: &str) -> Answered {
        let Self {
            port, key, code, ..
        } = self;
        let length = body.len();
        send(
            *port,
            &format!(
                "POST /{key}/act HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n\
                 Content-Type: application/json\r\nX-Gatewright-Code: {code}\r\nContent-Length: {length}\r\n\r\n{body}"
            ),
        )
    }
}

/// The port and the key of the address that this text shows.
pub(super) fn address(text: &str) -> (u16, String) {
    let address = text.split("http://127.0.0.1:").nth(1).unwrap();
    let (port, rest) = address.split_once('/').unwrap();
    let key = rest.split('/').next().unwrap();
    (port.parse().unwrap(), key.to_owned())
}

/// Sends these bytes, and reads until the server closes the connection.
pub(super) fn send(port: u16, request: &str) -> Answered {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    // Longer than any limit of the server.
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // The server may refuse before it has read everything.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Answered {
        status: status.unwrap_or(0),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

/// `gatewright serve` in a script: nobody sees a terminal. It is ended when this goes.
pub(super) struct Unattended {
    pub port: u16,
    pub key: String,
    process: Child,
}

impl Unattended {
    pub(super) fn start(project: &Project) -> Self {
        let mut command = project.command(["serve"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        let stdout = process.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let (port, key) = address(&line);
        Self { port, key, process }
    }
}

impl Drop for Unattended {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
