//! The folders of the system in which programs are found.

/// Where programs are looked for in the end, whatever the caller's own folders are.
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
