//! The pinned Codex, which the tests of `gatewright step` drive.

use super::agent::{Agent, Package};

/// The version that the tests are written for. The test kit looks for the same.
pub(crate) const VERSION: &str =
    include_str!("../../../crates/testkit/src/codex/version.txt").trim_ascii();

/// Each platform has a version of its own under the one name. Those for Linux need no C library.
pub(super) const CODEX: Agent = Agent {
    title: "Codex",
    word: "codex",
    version: VERSION,
    packages: &PACKAGES,
};

/// What the packages of this version hash to, whichever registry hands them out.
const PACKAGES: [Package; 6] = [
    Package {
        platform: "linux-x64",
        name: "@openai/codex",
        suffix: "-linux-x64",
        program: "vendor/x86_64-unknown-linux-musl/bin/codex",
        integrity: "sha512-CxDm3+D1cpbGJeHrdzINoG+3wn9BVncP4qpZaaNYkxe8iPtRJOYyCJnnPoVjWRIBvI9vPKbRoifsMSA5xDaUpw==",
    },
    Package {
        platform: "linux-arm64",
        name: "@openai/codex",
        suffix: "-linux-arm64",
        program: "vendor/aarch64-unknown-linux-musl/bin/codex",
        integrity: "sha512-w0ScAsBr9aZKtIFrh6HN6KU2yjKKeSCzYfbb7DB0Ccj4BYPzeZtUeQprbycLCwuX3AFQdbdjapmLho2iot74jQ==",
    },
    Package {
        platform: "linux-x64-musl",
        name: "@openai/codex",
        suffix: "-linux-x64",
        program: "vendor/x86_64-unknown-linux-musl/bin/codex",
        integrity: "sha512-CxDm3+D1cpbGJeHrdzINoG+3wn9BVncP4qpZaaNYkxe8iPtRJOYyCJnnPoVjWRIBvI9vPKbRoifsMSA5xDaUpw==",
    },
    Package {
        platform: "linux-arm64-musl",
        name: "@openai/codex",
        suffix: "-linux-arm64",
        program: "vendor/aarch64-unknown-linux-musl/bin/codex",
        integrity: "sha512-w0ScAsBr9aZKtIFrh6HN6KU2yjKKeSCzYfbb7DB0Ccj4BYPzeZtUeQprbycLCwuX3AFQdbdjapmLho2iot74jQ==",
    },
    Package {
        platform: "darwin-x64",
        name: "@openai/codex",
        suffix: "-darwin-x64",
        program: "vendor/x86_64-apple-darwin/bin/codex",
        integrity: "sha512-Vj5wXJPizKmrzNtnRNQf9PP6FJkG3iJU/UO3NE4WvkENZGoQfmImdwf4MVRI5NgwjSuC6LT0HbBRHPVVnwGHuw==",
    },
    Package {
        platform: "darwin-arm64",
        name: "@openai/codex",
        suffix: "-darwin-arm64",
        program: "vendor/aarch64-apple-darwin/bin/codex",
        integrity: "sha512-5fWH6qqUInACcRADIewjlnRxDb4QLe0uriwehiZz0+viuAAB8I+WWefqw4xwHvyKaxeiGX4uK56+vrgfvFk3FQ==",
    },
];
