//! The variables by which workers find their home, their settings and their service.

use hosts::Program;

/// Variables that every worker gets.
const EVERYBODY: [&str; 5] = [
    "HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "TZ",
];

/// Is this one of them? None of them is a secret.
pub fn is_known(name: &str) -> bool {
    let mut programs = Program::ALL
        .into_iter()
        .flat_map(Program::settings_variables);
    EVERYBODY.contains(&name) || programs.any(|known| *known == name)
}
