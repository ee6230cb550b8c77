//! A proxy on loopback that counts connections and breaks as networks do: it stalls, delays, cuts, or loses an answer at the wrong moment. It can
//! also put other words into the mouth of a server.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Hands connections on to a port of this machine.
pub struct Proxy {
    port: u16,
    network: Arc<Network>,
}

/// What happens to bytes on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Open,
    /// Every piece is late by this much.
    Slow(Duration),
    /// Nothing arrives, and nothing is lost.
    Stalled,
    /// Connections break, and new ones are refused.
    Cut,
}

struct Network {
    target: AtomicU16,
    loses: AtomicBool,
    way: Mutex<Way>,
    changed: Condvar,
    connections: Mutex<Vec<TcpStream>>,
    accepted: AtomicUsize,
    /// What answers say, and what they say instead.
    replaced: Mutex<Vec<(Vec<u8>, Vec<u8>)>>,
}

impl Proxy {
    /// A proxy in front of this port. It ends with the process.
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has free ports");
        let network = Arc::new(Network {
            target: AtomicU16::new(port),
            loses: AtomicBool::new(false),
            way: Mutex::new(Way::Open),
            changed: Condvar::new(),
            connections: Mutex::default(),
            accepted: AtomicUsize::new(0),
            replaced: Mutex::default(),
        });
        let port = listener.local_addr().expect("it has an address").port();
        let accepting = Arc::clone(&network);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                accepting.accepted.fetch_add(1, Ordering::SeqCst);
                accepting.accept(client);
            }
        });
        Self { port, network }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// How often anybody has connected.
    pub fn connections(&self) -> usize {
        self.network.accepted.load(Ordering::SeqCst)
    }

    /// Hands new connections on to another port from now on.
    pub fn lead_to(&self, port: u16) {
        self.network.target.store(port, Ordering::SeqCst);
    }

    /// Lets the next request through, and cuts the connection instead of the answer.
    pub fn lose_the_next_answer(&self) {
        self.network.loses.store(true, Ordering::SeqCst);
    }

    /// Is the answer lost by now?
    pub fn has_lost_it(&self) -> bool {
        !self.network.loses.load(Ordering::SeqCst)
    }

    /// Replaces these bytes in all answers by others of the same number.
    pub fn replace_in_answers(&self, said: &[u8], instead: &[u8]) {
        assert_eq!(said.len(), instead.len());
        let mut replaced = self.network.replaced.lock().expect("no panic");
        replaced.push((said.to_vec(), instead.to_vec()));
    }

    /// Holds everything back, until it is opened again.
    pub fn stall(&self) {
        self.network.set(Way::Stalled);
    }

    /// Hands every piece on late by this much, until it is opened again.
    pub fn delay(&self, by: Duration) {
        self.network.set(Way::Slow(by));
    }

    /// Breaks all connections and refuses new ones, until it is opened again.
    pub fn cut(&self) {
        self.network.set(Way::Cut);
        for connection in self.network.connections().drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    pub fn open(&self) {
        self.network.set(Way::Open);
    }
}

impl Network {
    fn accept(self: &Arc<Self>, client: TcpStream) {
        // A server that is gone refuses, and so do we.
        let target = self.target.load(Ordering::SeqCst);
        let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else {
            return;
        };
        let copy = |stream: &TcpStream| stream.try_clone().expect("a copy");
        // It reads the way under the lock of the list, so that a cut misses no connection.
        let mut connections = self.connections();
        if self.way() == Way::Cut {
            return;
        }
        connections.extend([copy(&client), copy(&server)]);
        drop(connections);
        let (requests, answers) = (Arc::clone(self), Arc::clone(self));
        let (from, to) = (copy(&client), copy(&server));
        thread::spawn(move || requests.carry(from, to, &AtomicBool::new(false), |_| {}));
        let replace = Arc::clone(&answers);
        let replace = move |bytes: &mut [u8]| replace.replace(bytes);
        thread::spawn(move || answers.carry(server, client, &answers.loses, replace));
    }

    fn carry(
        &self,
        mut from: TcpStream,
        mut to: TcpStream,
        loses: &AtomicBool,
        change: impl Fn(&mut [u8]),
    ) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = from.read(&mut buffer).unwrap_or(0);
            let is_lost = read > 0 && loses.swap(false, Ordering::SeqCst);
            if read > 0 && !is_lost {
                self.hold_back();
            }
            change(&mut buffer[..read]);
            if read == 0 || is_lost || to.write_all(&buffer[..read]).is_err() {
                let _ = from.shutdown(Shutdown::Both);
                let _ = to.shutdown(Shutdown::Both);
                return;
            }
        }
    }

    fn replace(&self, bytes: &mut [u8]) {
        for (said, instead) in self.replaced.lock().expect("no panic").iter() {
            let found = bytes.windows(said.len()).position(|window| window == said);
            if let Some(place) = found {
                bytes[place..place + said.len()].copy_from_slice(instead);
            }
        }
    }

    /// Waits as the network does.
    fn hold_back(&self) {
        let way = self.way.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(way, |way| *way == Way::Stalled);
        let way = *waited.unwrap_or_else(PoisonError::into_inner);
        if let Way::Slow(by) = way {
            thread::sleep(by);
        }
    }

    fn way(&self) -> Way {
        *self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, way: Way) {
        *self.way.lock().unwrap_or_else(PoisonError::into_inner) = way;
        self.changed.notify_all();
    }

    fn connections(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers each byte with itself, and a client on the other side of the proxy.
    fn echo() -> (Proxy, TcpStream) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let proxy = Proxy::to(listener.local_addr().unwrap().port());
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut copy = stream.try_clone().unwrap();
                thread::spawn(move || std::io::copy(&mut stream, &mut copy));
            }
        });
        let client = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
        (proxy, client)
    }

    fn ask(client: &mut TcpStream) -> Option<u8> {
        let mut answer = [0];
        client.write_all(b"x").ok()?;
        client.read_exact(&mut answer).ok().map(|()| answer[0])
    }

    #[test]
    fn what_stalls_arrives_later_and_what_is_cut_never() {
        let (proxy, mut client) = echo();
        assert_eq!(ask(&mut client), Some(b'x'));
        proxy.stall();
        client.write_all(b"y").unwrap();
        let short = Some(Duration::from_millis(50));
        client.set_read_timeout(short).unwrap();
        assert!(client.read_exact(&mut [0]).is_err());
        client.set_read_timeout(None).unwrap();
        proxy.open();
        let mut late = [0];
        client.read_exact(&mut late).unwrap();
        assert_eq!(late, [b'y']);
        proxy.cut();
        assert_eq!(ask(&mut client), None);
        let refused = TcpStream::connect(("127.0.0.1", proxy.port()));
        assert_eq!(refused.ok().and_then(|mut client| ask(&mut client)), None);
        proxy.open();
        let mut again = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
        assert_eq!(ask(&mut again), Some(b'x'));
    }

    #[test]
    fn an_answer_says_something_else() {
        let (proxy, mut client) = echo();
        proxy.replace_in_answers(b"x", b"u");
        assert_eq!(ask(&mut client), Some(b'u'));
    }

    #[test]
    fn a_lost_answer_ends_the_connection() {
        let (proxy, mut client) = echo();
        proxy.lose_the_next_answer();
        assert_eq!(ask(&mut client), None);
        assert!(proxy.has_lost_it());
    }
}
