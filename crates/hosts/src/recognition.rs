//! How to recognise an agent program: in a command line, among processes, in an environment.

/// The signs of one agent program.
pub struct Recognition {
    /// The name of its command.
    pub name: &'static str,
    /// Its package, for `npx PACKAGE` and for files inside the package.
    pub package: &'static str,
    /// The folder from which an interpreter runs it, if that name is sufficient evidence.
    pub package_folder: Option<&'static str>,
    /// The folder with its installed versions, each an executable.
    pub versions_folder: Option<&'static str>,
    /// Variables that it sets for its child processes. Variables that people set in shell profiles are
    /// not among them: they say nothing about the caller.
    pub variables: &'static [&'static str],
    pub conversations: Conversations,
}

/// Which command lines start a conversation, by the first argument.
pub enum Conversations {
    /// All except these, `--help` and `--version`.
    AllBut(&'static [&'static str]),
    /// Another program has the same name: only without arguments, or with these.
    Only(&'static [&'static str]),
    /// Another program has the same name: only without arguments, or with an option.
    WithOptions,
}
