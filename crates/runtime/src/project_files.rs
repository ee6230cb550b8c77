//! The names of files in a project that belong to Gatewright or to its host.

use hosts::DEFAULT_SESSION_HOST;

/// Where a project keeps its own definitions.
pub const PROJECT_FOLDER: &str = ".gatewright";

/// The settings of the host for everybody who works on a project.
pub const SHARED_SETTINGS: &str = DEFAULT_SESSION_HOST.places.shared;

/// The settings of the host for a project on this machine.
pub const LOCAL_SETTINGS: &str = DEFAULT_SESSION_HOST.places.local;
