//! A request as it is read from a connection: within a size and a time.

use std::io::{self, Read};
use std::time::Instant;

/// The request line and all headers.
const LONGEST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;

/// What an act may send: a person's text is shorter.
pub(crate) const LONGEST_BODY: usize = 64 * 1024;

/// The request line and the headers. Names of headers are in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
}

/// How often a header is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header<'a> {
    Absent,
    Once(&'a str),
    Repeated,
}

/// Why a request could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Not HTTP/1.1.
    Malformed,
    HeadTooLong,
    /// The sender took too long.
    TooSlow,
    /// The sender left.
    Gone,
}

/// A connection whose reads can have a deadline.
pub(crate) trait TimedRead: Read {
    fn read_before(&mut self, deadline: Instant, buffer: &mut [u8]) -> io::Result<usize>;
}

/// A head, and the bytes that came behind it.
#[derive(Debug)]
pub(crate) struct Received {
    pub head: Head,
    pub rest: Vec<u8>,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Header<'_> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        match (values.next(), values.next()) {
            (None, _) => Header::Absent,
            (Some((_, value)), None) => Header::Once(value),
            (Some(_), Some(_)) => Header::Repeated,
        }
    }
}

/// Reads the head of a request.
pub(crate) fn read_head(
    connection: &mut impl TimedRead,
    deadline: Instant,
) -> Result<Received, Unreadable> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some((head, length)) = parse(&bytes)? {
            let rest = bytes.split_off(length);
            return Ok(Received { head, rest });
        }
        if bytes.len() > LONGEST_HEAD {
            return Err(Unreadable::HeadTooLong);
        }
        let count = read_some(connection, deadline, &mut chunk)?;
        bytes.extend_from_slice(&chunk[..count]);
    }
}

/// Reads the body that a head announced with this length.
pub(crate) fn read_body(
    connection: &mut impl TimedRead,
    received: Vec<u8>,
    length: usize,
    deadline: Instant,
) -> Result<Vec<u8>, Unreadable> {
    let mut body = received;
    let mut chunk = [0; 4096];
    while body.len() < length {
        let count = read_some(connection, deadline, &mut chunk)?;
        body.extend_from_slice(&chunk[..count]);
    }
    body.truncate(length);
    Ok(body)
}

fn read_some(
    connection: &mut impl TimedRead,
    deadline: Instant,
    chunk: &mut [u8],
) -> Result<usize, Unreadable> {
    match connection.read_before(deadline, chunk) {
        Ok(0) => Err(Unreadable::Gone),
        Ok(count) => Ok(count),
        Err(cause) => match cause.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Err(Unreadable::TooSlow),
            _ => Err(Unreadable::Gone),
        },
    }
}

/// The head and its length, as soon as all of it is there.
fn parse(bytes: &[u8]) -> Result<Option<(Head, usize)>, Unreadable> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) => Ok(None),
        Ok(httparse::Status::Complete(length)) if length <= LONGEST_HEAD => {
            Ok(Some((head(&request)?, length)))
        }
        Ok(httparse::Status::Complete(_)) | Err(httparse::Error::TooManyHeaders) => {
            Err(Unreadable::HeadTooLong)
        }
        Err(_) => Err(Unreadable::Malformed),
    }
}

fn head(request: &httparse::Request<'_, '_>) -> Result<Head, Unreadable> {
    let (Some(method), Some(target), Some(1)) = (request.method, request.path, request.version)
    else {
        return Err(Unreadable::Malformed);
    };
    let mut headers = Vec::new();
    for header in request.headers.iter() {
        let value = std::str::from_utf8(header.value).map_err(|_| Unreadable::Malformed)?;
        headers.push((header.name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(Head {
        method: method.to_owned(),
        target: target.to_owned(),
        headers,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Hands over a few bytes at a time, and then nothing for ever.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let count = self.0.len().min(7).min(buffer.len());
            let (now, later) = self.0.split_at(count);
            buffer[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    impl TimedRead for Drops<'_> {
        fn read_before(&mut self, _: Instant, buffer: &mut [u8]) -> io::Result<usize> {
            self.read(buffer)
        }
    }

    fn read(text: &[u8]) -> Result<Received, Unreadable> {
        read_head(&mut Drops(text), Instant::now() + Duration::from_secs(1))
    }

    #[test]
    fn a_head_in_pieces_is_one_head_and_its_headers_are_counted() {
        let text = b"GET /x HTTP/1.1\r\nHost:  a \r\nX: 1\r\nx: 2\r\n\r\nbody";
        let Received { head, rest } = read(text).unwrap();
        assert_eq!((head.method.as_str(), head.target.as_str()), ("GET", "/x"));
        assert_eq!(head.header("host"), Header::Once("a"));
        assert_eq!(head.header("x"), Header::Repeated);
        assert_eq!(head.header("origin"), Header::Absent);
        assert!(b"body".starts_with(&rest));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let check = |text: &[u8], expected: Unreadable| {
            assert_eq!(read(text).unwrap_err(), expected, "{text:?}");
        };
        check(b"GET / HTTP/1.0\r\nHost: a\r\n\r\n", Unreadable::Malformed);
        check(b"GET / HTTP/2\r\n\r\n", Unreadable::Malformed);
        check(b"\x16\x03\x01 hello", Unreadable::Malformed);
        check(
            b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n",
            Unreadable::Malformed,
        );
        check(
            b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
            Unreadable::Malformed,
        );
        check(b"GET / HTTP/1.1\r\nHo", Unreadable::TooSlow);
        let long = [b"GET / HTTP/1.1\r\nX: ".as_slice(), &vec![b'a'; 20_000]].concat();
        check(&long, Unreadable::HeadTooLong);
        let many = "GET / HTTP/1.1\r\n".to_owned() + &"X: 1\r\n".repeat(65) + "\r\n";
        check(many.as_bytes(), Unreadable::HeadTooLong);
    }
}
