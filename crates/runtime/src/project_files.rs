//! The names of files in a project that belong to Gatewright or to its host.

/// Where a project keeps its own definitions.
pub const PROJECT_FOLDER: &str = ".gatewright";

/// The settings of Claude Code for everybody who works on a project.
pub const SHARED_SETTINGS: &str = ".claude/settings.json";

/// The settings of Claude Code for a project on this machine.
pub const LOCAL_SETTINGS: &str = ".claude/settings.local.json";
