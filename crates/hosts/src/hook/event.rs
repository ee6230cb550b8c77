//! The hook events that we use, by the host's names.

/// A hook event. Unknown events are `Other`, and we ignore them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    SessionStart,
    SessionEnd,
    UserPromptSubmit,
    UserPromptExpansion,
    PreToolUse,
    /// The host would ask a person for permission to use a tool.
    PermissionRequest,
    PostToolUse,
    PostToolUseFailure,
    SubagentStart,
    SubagentStop,
    Stop,
    StopFailure,
    TaskCompleted,
    ConfigChange,
    PreCompact,
    Other,
}

impl Event {
    /// Every event that we know.
    pub const KNOWN: [Self; 15] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::UserPromptSubmit,
        Self::UserPromptExpansion,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::Stop,
        Self::StopFailure,
        Self::TaskCompleted,
        Self::ConfigChange,
        Self::PreCompact,
    ];

    pub fn parse(word: &str) -> Self {
        let known = Self::KNOWN.into_iter().find(|event| event.word() == word);
        known.unwrap_or(Self::Other)
    }

    /// The host's name for the event, as in settings and payloads.
    pub fn word(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::UserPromptExpansion => "UserPromptExpansion",
            Self::PreToolUse => "PreToolUse",
            Self::PermissionRequest => "PermissionRequest",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::Stop => "Stop",
            Self::StopFailure => "StopFailure",
            Self::TaskCompleted => "TaskCompleted",
            Self::ConfigChange => "ConfigChange",
            Self::PreCompact => "PreCompact",
            Self::Other => "Other",
        }
    }
}
