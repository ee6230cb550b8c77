//! Accepts connections on loopback: a thread for each, a bounded number at once, within limits of time.

use std::io::{self, Read, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use runtime::failure::Failure;

use crate::guard::{self, Admitted};
use crate::http::request::{self, Received, TimedRead, Unreadable};
use crate::http::response::{Response, Status};
use crate::live;
use crate::site::{Answer, Site};

/// A browser opens six at most; more come from several windows.
const MOST_CONNECTIONS: usize = 64;

/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a reader may keep an answer waiting.
const SLOWEST_READER: Duration = Duration::from_secs(20);

/// How much of an unwanted body is read, so that the sender reads the answer.
const MOST_DRAINED: usize = 256 * 1024;

/// A listener on this machine, and nowhere else.
pub struct Listener {
    listener: TcpListener,
    port: u16,
}

impl Listener {
    /// Port 0 is any free one.
    pub fn open(port: u16) -> Result<Self, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .map_err(|cause| cannot_listen(port, &cause))?;
        let port = listener
            .local_addr()
            .map_err(|cause| cannot_listen(port, &cause))?
            .port();
        Ok(Self { listener, port })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Answers until the process ends.
    pub(crate) fn serve(&self, site: &Arc<Site>) {
        let open = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else {
                // Too many open files: those that are open end soon.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            let Some(counted) = Counted::new(&open) else {
                busy(stream);
                continue;
            };
            let site = Arc::clone(site);
            let thread = std::thread::Builder::new();
            // Without a thread the stream is dropped, which closes it.
            let _ = thread.spawn(move || {
                let _counted = counted;
                let _ = converse(stream, &site);
            });
        }
    }
}

fn cannot_listen(port: u16, cause: &io::Error) -> Failure {
    match cause.kind() {
        io::ErrorKind::AddrInUse => Failure::environment(format!("port {port} is taken"))
            .hint("choose another one with --port, or leave the option out for a free one"),
        io::ErrorKind::PermissionDenied => {
            Failure::environment(format!("port {port} needs more rights"))
                .hint("choose one above 1023 with --port")
        }
        _ => Failure::environment(format!("cannot listen on port {port} ({cause})"))
            .hint("choose another one with --port"),
    }
}

/// One of the connections that may be open at once.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(open: &Arc<AtomicUsize>) -> Option<Self> {
        let before = open.fetch_add(1, Ordering::SeqCst);
        let counted = Self(Arc::clone(open));
        (before < MOST_CONNECTIONS).then_some(counted)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn busy(mut stream: TcpStream) {
    let _ = stream.set_write_timeout(Some(Duration::from_millis(50)));
    let response = Response::line(
        Status::Busy,
        "too many connections are open: close some tabs",
    );
    let _ = response.write(&mut stream);
}

/// A stream with a deadline for each read.
struct Timed(TcpStream);

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl TimedRead for Timed {
    fn read_before(&mut self, deadline: Instant, buffer: &mut [u8]) -> io::Result<usize> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.0.set_read_timeout(Some(left))?;
        self.0.read(buffer)
    }
}

/// One request, one answer.
fn converse(stream: TcpStream, site: &Arc<Site>) -> io::Result<()> {
    stream.set_write_timeout(Some(SLOWEST_READER))?;
    stream.set_nodelay(true)?;
    let mut timed = Timed(stream);
    let deadline = Instant::now() + PATIENCE;
    let answer = match request::read_head(&mut timed, deadline) {
        Ok(received) => answer(&mut timed, received, deadline, site),
        Err(unreadable) => unreadable_response(unreadable).map(Answer::Whole),
    };
    match answer {
        Some(Answer::Whole(response)) => {
            response.write(&mut timed.0)?;
            close(&mut timed)
        }
        Some(Answer::Live(view)) => live::stream(&mut timed.0, site, &view),
        None => Ok(()),
    }
}

fn answer(
    timed: &mut Timed,
    received: Received,
    deadline: Instant,
    site: &Arc<Site>,
) -> Option<Answer> {
    let Received { head, rest } = received;
    match guard::judge(&head, &site.secrets) {
        Ok(Admitted::Read { path, query }) => Some(site.read(&path, &query)),
        Ok(Admitted::Act { length }) => match request::read_body(timed, rest, length, deadline) {
            Ok(body) => Some(Answer::Whole(site.act(&body))),
            Err(unreadable) => unreadable_response(unreadable).map(Answer::Whole),
        },
        Err(denial) => Some(Answer::Whole(Response::line(denial.status, denial.reason))),
    }
}

/// Nothing for somebody who has left.
fn unreadable_response(unreadable: Unreadable) -> Option<Response> {
    let (status, line) = match unreadable {
        Unreadable::Malformed => (Status::BadRequest, "this is not an HTTP/1.1 request"),
        Unreadable::HeadTooLong => (
            Status::HeadTooLong,
            "the headers of the request are too long",
        ),
        Unreadable::TooSlow => (Status::TooSlow, "the request took too long to arrive"),
        Unreadable::Gone => return None,
    };
    Some(Response::line(status, line))
}

/// Closes in a way that lets the other side read the answer even if it is still sending.
fn close(timed: &mut Timed) -> io::Result<()> {
    timed.0.flush()?;
    timed.0.shutdown(Shutdown::Write)?;
    let deadline = Instant::now() + Duration::from_secs(1);
    let (mut drained, mut chunk) = (0, [0; 4096]);
    while drained < MOST_DRAINED {
        match timed.read_before(deadline, &mut chunk) {
            Ok(0) | Err(_) => break,
            Ok(count) => drained += count,
        }
    }
    Ok(())
}
