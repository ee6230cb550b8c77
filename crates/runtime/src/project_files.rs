//! The names of files in a project that belong to Gatewright or to its host.

use hosts::DEFAULT_SESSION_HOST;

/// The folder of a project's own definitions.
pub const PROJECT_FOLDER: &str = ".gatewright";

/// The host's settings that everybody on the project shares.
pub const SHARED_SETTINGS: &str = DEFAULT_SESSION_HOST.places.shared;

/// The host's settings for a project on this machine.
pub const LOCAL_SETTINGS: &str = DEFAULT_SESSION_HOST.places.local;
