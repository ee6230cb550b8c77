//! The pinned Gemini CLI, which the tests of headless mode drive.

use super::agent::{Agent, Package};

/// The version that the tests are written for. The test kit looks for the same.
const VERSION: &str = include_str!("../../../crates/testkit/src/gemini/version.txt").trim_ascii();

/// One package for all platforms, which Node runs. What else it could use is left out: it works
/// without.
pub(super) const GEMINI: Agent = Agent {
    title: "Gemini CLI",
    word: "gemini",
    version: VERSION,
    packages: &PACKAGES,
};

const PACKAGES: [Package; 6] = [
    on("linux-x64"),
    on("linux-arm64"),
    on("linux-x64-musl"),
    on("linux-arm64-musl"),
    on("darwin-x64"),
    on("darwin-arm64"),
];

/// What the package of this version hashes to, whichever registry hands it out.
const fn on(platform: &'static str) -> Package {
    Package {
        platform,
        name: "@google/gemini-cli",
        suffix: "",
        program: "bundle/gemini.js",
        integrity: "sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==",
    }
}
