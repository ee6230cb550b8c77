//! The system's folders for programs.

/// Searched last, after the caller's own folders.
pub const SYSTEM_PATH: [&str; 8] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
];
