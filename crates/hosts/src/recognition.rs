//! How an agent program is recognised: in a command line, among processes, in an environment.

/// The signs of one agent program.
pub struct Recognition {
    /// The name under which it is started.
    pub name: &'static str,
    /// The package that brings it, for those who run a package or a file in one.
    pub package: &'static str,
    /// The folder from which an interpreter runs it, where that name is a sign by itself.
    pub package_folder: Option<&'static str>,
    /// The folder in which it keeps the versions of itself, each a program.
    pub versions_folder: Option<&'static str>,
    /// Variables that it gives to what it starts. Those with which people set it up are not among
    /// them: they stand in shell profiles, and say nothing about the caller.
    pub variables: &'static [&'static str],
    pub conversations: Conversations,
}

/// Which command lines begin a conversation, by their first word.
pub enum Conversations {
    /// All but these, and but the questions for help and version.
    AllBut(&'static [&'static str]),
    /// Another program has the same name: those without words, and with these.
    Only(&'static [&'static str]),
    /// Another program has the same name: those without words, and with an option.
    WithOptions,
}
