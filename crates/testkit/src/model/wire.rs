//! As much of HTTP/1.1 as a client on loopback needs: requests with a length, answers with a length.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use super::answer::Answer;

/// One request as it came over the wire.
pub(crate) struct Incoming {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub session: Option<String>,
    pub body: Vec<u8>,
}

/// One connection, which carries one request after another.
pub(crate) struct Wire {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let writer = stream.try_clone()?;
        Ok(Self {
            reader: BufReader::new(stream),
            writer,
        })
    }

    /// The next request; nothing when the other side has hung up.
    pub(crate) fn receive(&mut self) -> io::Result<Option<Incoming>> {
        let mut first = String::new();
        if self.reader.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let mut words = first.split_whitespace();
        let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let path = target.split('?').next().unwrap_or("");
        let (length, session) = self.headers()?;
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body)?;
        Ok(Some(Incoming {
            method: method.to_owned(),
            path: path.to_owned(),
            session,
            body,
        }))
    }

    /// The length of the body, and the session that the host names.
    fn headers(&mut self) -> io::Result<(usize, Option<String>)> {
        let (mut length, mut session) = (0, None);
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                return Ok((length, session));
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
                "x-claude-code-session-id" => session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
    }

    /// Sends an answer. The one to a `HEAD` has no body.
    pub(crate) fn send(&mut self, answer: &Answer, method: &str) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {} Scripted\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
            answer.status,
            answer.content_type,
            answer.body.len(),
        );
        let body = if method == "HEAD" { "" } else { &answer.body };
        self.writer.write_all((head + body).as_bytes())?;
        self.writer.flush()
    }
}
