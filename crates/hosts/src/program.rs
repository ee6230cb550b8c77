//! The agent programs: each is a runner that we start, and a host whose hooks call us.

use engine::{HostName, RunnerName};

use crate::agent_process::{
    Account, Guard, Guarding, OwnPlace, Start, Trouble, Unguardable, trouble,
};
use crate::descriptor::{Abilities, ConversationIds, Counting, Descriptor, ToolNames};
use crate::hook::{Answer, Bytes, Event, Payload, Stake, Unreadable};
use crate::recognition::Recognition;
use crate::session_host::SessionHost;
use crate::version::{Familiarity, Version};
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

    /// Starts workers of which the definition says nothing; its sessions hold guarded runs.
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
    /// The version with which our tests are run.
    pub const fn tested(self) -> Version {
        self.descriptor().tested
    }

    /// The first version that has all that we need.
    pub const fn oldest(self) -> Version {
        self.descriptor().oldest
    }

    pub fn familiarity(self, version: Version) -> Familiarity {
        match version {
            version if version == self.tested() => Familiarity::Tested,
            version if version < self.oldest() => Familiarity::TooOld,
            _ => Familiarity::Untested,
        }
    }

    /// What to type where it is missing or too old.
    pub fn installed_by(self) -> String {
        let package = self.descriptor().recognition.package;
        format!("`npm install -g {package}` installs it")
    }
}

/// A process of the program that we start.
impl Program {
    pub fn arguments(self, start: &Start<'_>) -> Vec<String> {
        (self.descriptor().process.arguments)(start)
    }

    /// Variables that say where it finds its settings and its service.
    pub const fn settings_variables(self) -> &'static [&'static str] {
        self.descriptor().process.settings_variables
    }

    /// Variables with which it logs in.
    pub const fn login_variables(self) -> &'static [&'static str] {
        self.descriptor().process.login_variables
    }

    /// May we choose the id of a new conversation?
    pub fn takes_an_id(self) -> bool {
        self.descriptor().process.ids == ConversationIds::Ours
    }

    /// Since when it counts tokens and cost.
    pub const fn counting(self) -> Counting {
        self.descriptor().process.counting
    }

    /// Settings of the person that guarding must know.
    pub const fn own_settings(self) -> Option<OwnPlace> {
        self.descriptor().process.own_settings
    }

    /// Files in a project that change how the next process of it works.
    pub const fn project_settings(self) -> &'static [&'static str] {
        self.descriptor().process.project_settings
    }

    /// What to tell a worker that must leave a file at this path, where not every tool can write it.
    pub fn writing_advice(self, path: &str) -> Option<&'static str> {
        let (folder, advice) = self.descriptor().process.own_folder?;
        path.starts_with(folder).then_some(advice)
    }

    /// What makes its hooks call us, in its process alone.
    pub fn guarding(self, guard: &Guard<'_>) -> Result<Guarding, Unguardable> {
        (self.descriptor().process.guarding)(guard)
    }

    /// Reads one line of its output. A line that we do not understand changes nothing.
    pub fn read_line(self, line: &[u8], account: &mut Account) {
        (self.descriptor().process.read_line)(line, account);
    }

    /// It has exited with this code, and this was the last that it wrote to stderr. Some troubles
    /// show only here.
    pub fn exited(self, code: i32, last_words: &str, account: &mut Account) {
        let by_code: Option<Trouble> = (self.descriptor().process.trouble_of_exit_code)(code);
        let trouble = by_code.or_else(|| trouble::in_words(last_words));
        if let Some(trouble) = trouble.filter(|_| code != 0) {
            account.fail_rather_by(trouble, last_words);
        }
    }
}

/// Its hooks, which call us by its word: `gatewright hook WORD EVENT`.
impl Program {
    /// Where its sessions hold runs. Of other programs only the workers that we start are guarded.
    pub const fn session_host(self) -> Option<&'static SessionHost> {
        self.descriptor().session_host
    }

    /// The names of the tool with which its agents start others.
    pub const fn agent_tools(self) -> &'static [&'static str] {
        self.descriptor().tools.agent
    }

    /// The event that it calls so. Events of all programs have the names of Claude Code's.
    pub fn event(self, word: &str) -> Event {
        (self.descriptor().hooks.event)(word)
    }

    /// Reads a payload. The event that it names wins over `named`, which our own argument said.
    pub fn read_hook(
        self,
        named: Option<Event>,
        stdin: &[u8],
    ) -> Result<(Event, Payload), Unreadable> {
        (self.descriptor().hooks.read)(named, stdin)
    }

    pub fn write_answer(self, event: Event, answer: &Answer) -> Bytes {
        (self.descriptor().hooks.write)(event, answer)
    }

    /// Would its session take this text, put to it as a prompt, for a message of its own?
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
            assert_eq!(program.familiarity(program.tested()), Familiarity::Tested);
            assert_eq!(program.familiarity(newer), Familiarity::Untested);
            assert_eq!(program.familiarity(program.oldest()), Familiarity::Untested);
            let older = Version([0, 0, 9]);
            assert_eq!(program.familiarity(older), Familiarity::TooOld);
        }
    }
}
