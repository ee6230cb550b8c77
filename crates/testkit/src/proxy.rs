//! A proxy on loopback that can lose an answer, as a network does that breaks at the wrong moment.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Hands connections on to a port of this machine.
pub struct Proxy {
    port: u16,
    loses: Arc<AtomicBool>,
}

impl Proxy {
    /// A proxy in front of this port. It ends with the process.
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has free ports");
        let proxy = Self {
            port: listener.local_addr().expect("it has an address").port(),
            loses: Arc::default(),
        };
        let loses = Arc::clone(&proxy.loses);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A server that is gone refuses, and so do we.
                if let Ok(server) = TcpStream::connect(("127.0.0.1", port)) {
                    hand_on(client, server, &loses);
                }
            }
        });
        proxy
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Lets the next request through, and cuts the connection instead of the answer.
    pub fn lose_the_next_answer(&self) {
        self.loses.store(true, Ordering::SeqCst);
    }

    /// Is the answer lost by now?
    pub fn has_lost_it(&self) -> bool {
        !self.loses.load(Ordering::SeqCst)
    }
}

fn hand_on(client: TcpStream, server: TcpStream, loses: &Arc<AtomicBool>) {
    let both = || {
        (
            client.try_clone().expect("a copy"),
            server.try_clone().expect("a copy"),
        )
    };
    let (requests, answers) = (both(), both());
    let loses = Arc::clone(loses);
    thread::spawn(move || copy(requests.0, requests.1, &AtomicBool::new(false)));
    thread::spawn(move || copy(answers.1, answers.0, &loses));
}

fn copy(mut from: TcpStream, mut to: TcpStream, loses: &AtomicBool) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer).unwrap_or(0);
        let is_lost = read > 0 && loses.swap(false, Ordering::SeqCst);
        if read == 0 || is_lost || to.write_all(&buffer[..read]).is_err() {
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
            return;
        }
    }
}
