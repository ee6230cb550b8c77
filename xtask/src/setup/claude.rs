//! The pinned Claude Code, which the tests of guarded mode drive.

use super::agent::{Agent, Package};

/// The version that the tests are written for. The test kit looks for the same.
pub(crate) const VERSION: &str =
    include_str!("../../../crates/testkit/src/claude/version.txt").trim_ascii();

/// The platform's own package: the one without a platform needs a newer Node than many have, and npm
/// then takes an older version without a word.
pub(super) const CLAUDE: Agent = Agent {
    title: "Claude Code",
    word: "claude",
    version: VERSION,
    packages: &PACKAGES,
};

/// What the packages of this version hash to, whichever registry hands them out.
const PACKAGES: [Package; 6] = [
    Package {
        platform: "linux-x64",
        name: "@anthropic-ai/claude-code-linux-x64",
        suffix: "",
        program: "claude",
        integrity: "sha512-BqZzMvP/zgLLL34S+7OzbG+cyoFp7gwWHU5koVwsyMlTAz+0zZAmbY+UkzvtN2RXxp6AcMenbYIjQJxoXfUY3w==",
    },
    Package {
        platform: "linux-arm64",
        name: "@anthropic-ai/claude-code-linux-arm64",
        suffix: "",
        program: "claude",
        integrity: "sha512-NCvQcOxr685Y4mkYUjQT8l/Ouzw0k2xWloWeyzfsUtWiOedHosPkaW6XCSpzAl1dMuvDNBF97qpWgVDrSdK2Vw==",
    },
    Package {
        platform: "linux-x64-musl",
        name: "@anthropic-ai/claude-code-linux-x64-musl",
        suffix: "",
        program: "claude",
        integrity: "sha512-oGdN1c/gsReTlQ5lAktxX8AV7bt3USQsGrTDlFjf+bdIk7Kc8GCTZLGS7aBh59vGsgn4Oz255v/SSZ7+6wWz6g==",
    },
    Package {
        platform: "linux-arm64-musl",
        name: "@anthropic-ai/claude-code-linux-arm64-musl",
        suffix: "",
        program: "claude",
        integrity: "sha512-xZLgceKCX42bUXTqz3Cd1Tc7Li43ys8+gO1SA8ZKJ4q+a0ALv+N2LHQUC1Sr+AY3Qv16VQU/yAvU/iS24CuJdg==",
    },
    Package {
        platform: "darwin-x64",
        name: "@anthropic-ai/claude-code-darwin-x64",
        suffix: "",
        program: "claude",
        integrity: "sha512-+wTK42IT/b5GZHxAVVMLNnCHG/CtngztTE6fNn5s4h47LNXrDQz2RpPLsY5XHr8astNzk7GWPU8GecCG+5EEIQ==",
    },
    Package {
        platform: "darwin-arm64",
        name: "@anthropic-ai/claude-code-darwin-arm64",
        suffix: "",
        program: "claude",
        integrity: "sha512-Ds1f1B+qy2BWDI+VnmDHwkNyTbXCwFrBtrinPD95RBmUubFJu9nCzMgn+wrg5VwwF6vtkkzGexogneZIYZKb6A==",
    },
];
