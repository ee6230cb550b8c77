//! An answer as it goes over a connection, with the headers that every answer has.

use std::io::{self, Write};

/// The codes that the page answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    BadRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    TooSlow,
    Conflict,
    BodyTooLong,
    WrongType,
    HeadTooLong,
    Failed,
    Busy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub status: Status,
    pub kind: &'static str,
    pub body: Vec<u8>,
}

pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const PLAIN: &str = "text/plain; charset=utf-8";
pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENTS: &str = "text/event-stream";

/// Nothing from elsewhere is loaded, nothing inline runs, nobody may frame the page or read it from another origin.
const ALWAYS: &str = "Content-Security-Policy: default-src 'none'; style-src 'self'; script-src 'self'; \
connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'\r\n\
X-Content-Type-Options: nosniff\r\n\
X-Frame-Options: DENY\r\n\
Referrer-Policy: no-referrer\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Cache-Control: no-store\r\n\
Connection: close\r\n";

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::TooSlow => "408 Request Timeout",
            Self::Conflict => "409 Conflict",
            Self::BodyTooLong => "413 Content Too Large",
            Self::WrongType => "415 Unsupported Media Type",
            Self::HeadTooLong => "431 Request Header Fields Too Large",
            Self::Failed => "500 Internal Server Error",
            Self::Busy => "503 Service Unavailable",
        }
    }
}

impl Response {
    pub(crate) fn new(status: Status, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            kind,
            body: body.into(),
        }
    }

    /// One line for a person.
    pub(crate) fn line(status: Status, line: &str) -> Self {
        Self::new(status, PLAIN, format!("{line}\n"))
    }

    pub(crate) fn write(&self, connection: &mut impl Write) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{ALWAYS}\r\n",
            self.status.line(),
            self.kind,
            self.body.len()
        );
        connection.write_all(head.as_bytes())?;
        connection.write_all(&self.body)?;
        connection.flush()
    }
}

/// Begins an answer whose length nobody knows yet.
pub(crate) fn begin_events(connection: &mut impl Write) -> io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {EVENTS}\r\n{ALWAYS}\r\n");
    connection.write_all(head.as_bytes())?;
    connection.flush()
}
