//! The agent programs: each is a runner that we start, and a host whose hooks call us.

use engine::{HostName, RunnerName};

use crate::agent_process::{
    AgentOutput, GuardError, GuardInputs, GuardSetup, PersonalSettingsLocation, ServiceFailure,
    StartOptions, service_failure,
};
use crate::descriptor::{Abilities, ConversationIds, Descriptor, ToolNames, UsageScope};
use crate::hook::{Answer, Bytes, Event, Payload, PayloadError, Stake};
use crate::recognition::Recognition;
use crate::session_host::SessionHost;
use crate::version::{Version, VersionSupport};
use crate::{claude, codex, gemini};

/// An agent program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Claude,
    Codex,
    Gemini,
}

impl Program {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// Runs workers whose definition names no program. Its sessions hold guarded runs.
    pub const DEFAULT: Self = Self::Claude;

    const fn descriptor(self) -> &'static Descriptor {
        match self {
            Self::Claude => &claude::DESCRIPTOR,
            Self::Codex => &codex::DESCRIPTOR,
            Self::Gemini => &gemini::DESCRIPTOR,
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|program| program.word() == word)
    }

    pub fn of(runner: &RunnerName) -> Option<Self> {
        Self::parse(runner.as_str())
    }

    /// Its name as a runner, as a host of sessions, and as a command.
    pub const fn word(self) -> &'static str {
        self.descriptor().recognition.name
    }

    /// Its name for people.
    pub const fn title(self) -> &'static str {
        self.descriptor().title
    }

    pub fn host_name(self) -> HostName {
        HostName::listed(self.word())
    }

    pub(crate) const fn recognition(self) -> &'static Recognition {
        &self.descriptor().recognition
    }

    pub(crate) const fn tools(self) -> &'static ToolNames {
        &self.descriptor().tools
    }

    pub const fn abilities(self) -> Abilities {
        self.descriptor().abilities
    }
}

/// What [`Program::DEFAULT`] has as a host of sessions.
pub const DEFAULT_SESSION_HOST: &SessionHost = &claude::session_host::SESSION_HOST;

/// Versions.
impl Program {
    /// The version that our tests use.
    pub const fn tested(self) -> Version {
        self.descriptor().tested
    }

    /// The first version with everything that we need.
    pub const fn oldest(self) -> Version {
        self.descriptor().oldest
    }

    pub fn support(self, version: Version) -> VersionSupport {
        match version {
            version if version == self.tested() => VersionSupport::Tested,
            version if version < self.oldest() => VersionSupport::TooOld,
            _ => VersionSupport::Untested,
        }
    }

    /// What to type if it is missing or too old.
    pub fn installed_by(self) -> String {
        let package = self.descriptor().recognition.package;
        format!("`npm install -g {package}` installs it")
    }
}

/// A process of the program that we start.
impl Program {
    pub fn arguments(self, start: &StartOptions<'_>) -> Vec<String> {
        (self.descriptor().process.arguments)(start)
    }

    /// Environment variables with the location of its settings and its service.
    pub const fn settings_variables(self) -> &'static [&'static str] {
        self.descriptor().process.settings_variables
    }

    /// Environment variables with credentials.
    pub const fn login_variables(self) -> &'static [&'static str] {
        self.descriptor().process.login_variables
    }

    /// May we choose the id of a new conversation?
    pub fn takes_an_id(self) -> bool {
        self.descriptor().process.ids == ConversationIds::Ours
    }

    /// The words before the id of a conversation with which a person opens it.
    pub const fn opens_with(self) -> &'static [&'static str] {
        self.descriptor().process.opens_with
    }

    /// What the reported tokens and cost cover.
    pub const fn usage_scope(self) -> UsageScope {
        self.descriptor().process.usage_scope
    }

    /// A person's settings that `guard_setup` must know.
    pub const fn personal_settings(self) -> Option<PersonalSettingsLocation> {
        self.descriptor().process.personal_settings
    }

    /// Files in a project that configure the program.
    pub const fn project_settings(self) -> &'static [&'static str] {
        self.descriptor().process.project_settings
    }

    /// Advice for a worker that must write an artifact to this path, if not every tool can write it.
    pub fn writing_advice(self, path: &str) -> Option<&'static str> {
        let (folder, advice) = self.descriptor().process.own_folder?;
        path.starts_with(folder).then_some(advice)
    }

    /// Registers our hooks in one process.
    pub fn guard_setup(self, inputs: &GuardInputs<'_>) -> Result<GuardSetup, GuardError> {
        (self.descriptor().process.guard_setup)(inputs)
    }

    /// Reads one line of its output. A line that we do not understand changes nothing.
    pub fn read_line(self, line: &[u8], agent_output: &mut AgentOutput) {
        (self.descriptor().process.read_line)(line, agent_output);
    }

    /// The process has exited with this code; `last_words` is the end of its stderr. Some failures show
    /// only here.
    pub fn exited(self, code: i32, last_words: &str, agent_output: &mut AgentOutput) {
        let by_code: Option<ServiceFailure> =
            (self.descriptor().process.failure_of_exit_code)(code);
        let failure = by_code.or_else(|| service_failure::of_message(last_words));
        if let Some(failure) = failure.filter(|_| code != 0) {
            agent_output.refine_failure(failure, last_words);
        }
    }
}

/// Its hooks, which call `gatewright hook WORD EVENT` with its word.
impl Program {
    /// Present if its sessions can hold runs. For other programs we guard only the workers that we
    /// start.
    pub const fn session_host(self) -> Option<&'static SessionHost> {
        self.descriptor().session_host
    }

    /// The names of the tool that starts other agents.
    pub const fn agent_tools(self) -> &'static [&'static str] {
        self.descriptor().tools.agent
    }

    /// The event with this name. We use Claude Code's names for the events of all programs.
    pub fn event(self, word: &str) -> Event {
        (self.descriptor().hooks.event)(word)
    }

    /// Reads a payload. The event that it names wins over `named`, from our own argument.
    pub fn read_hook(
        self,
        named: Option<Event>,
        stdin: &[u8],
    ) -> Result<(Event, Payload), PayloadError> {
        (self.descriptor().hooks.read)(named, stdin)
    }

    pub fn write_answer(self, event: Event, answer: &Answer) -> Bytes {
        (self.descriptor().hooks.write)(event, answer)
    }

    /// Would a session take a prompt with this text for a message from the program itself?
    pub(crate) fn imitates_host(self, prompt: &str) -> bool {
        (self.descriptor().hooks.imitates_host)(prompt)
    }

    /// The answer when we could not judge.
    pub fn undecided(self, event: Event, stake: Stake, reason: &str) -> Bytes {
        (self.descriptor().hooks.undecided)(event, stake, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_program_hosts_sessions() {
        let host = Program::DEFAULT.session_host().unwrap();
        assert_eq!(host.format, DEFAULT_SESSION_HOST.format);
        assert_eq!(host.format.host, Program::DEFAULT.word());
    }

    #[test]
    fn a_version_is_tested_untested_or_too_old() {
        for program in Program::ALL {
            let [major, minor, patch] = program.tested().0;
            let newer = Version([major, minor, patch + 1]);
            assert_eq!(program.support(program.tested()), VersionSupport::Tested);
            assert_eq!(program.support(newer), VersionSupport::Untested);
            assert_eq!(program.support(program.oldest()), VersionSupport::Untested);
            let older = Version([0, 0, 9]);
            assert_eq!(program.support(older), VersionSupport::TooOld);
        }
    }
}
