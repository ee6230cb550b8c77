//! What a person asks to install.

use crate::hooks::HooksTarget;

/// What to install.
pub struct InstallRequest {
    /// A pipeline by its name or path; `None` means what is already installed.
    pub pipeline: Option<String>,
    pub target: HooksTarget,
    pub altered: Altered,
    pub allow: AllowRules,
}

/// What happens to the rules that spare a person questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowRules {
    /// They are named, for a person who wants them.
    Offered,
    /// They are written to the settings.
    Written,
}

/// What happens to an agent, command or skill with other content than the pipeline's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Altered {
    Kept,
    Replaced,
}
