//! The three roles of a database: who drives, who ships, who looks.

/// The role of those who drive runs.
pub const DRIVE_ROLE: &str = "gatewright_drive";
/// The role of those who ship journals: it may add, and change or delete nothing.
pub const SHIP_ROLE: &str = "gatewright_ship";
/// The role of those who look.
pub const READ_ROLE: &str = "gatewright_read";
