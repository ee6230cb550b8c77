//! The hosts from outside: every payload and every output that the real programs were seen to send.

mod claude;
mod hooks;
mod workers;
