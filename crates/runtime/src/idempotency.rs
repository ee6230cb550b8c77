//! Keys: each is bound to one command and its arguments, so that another command with the same key
//! is refused.

use engine::RunId;
use store::{Backend, Key, StoredRun};

use crate::failure::Failure;
use crate::workspace::Workspace;
use crate::{find_run, ids};

/// The longest key that a person can type; the store allows more, for the binding.
pub const LONGEST_KEY: usize = 96;

/// How many entries are searched for another use of a key. Retries come soon, and the cost of a
/// command must not grow with the history.
const LOOKED_BACK: u64 = 100;

/// A command and the arguments that distinguish it.
pub struct KeyedCommand<'a> {
    pub name: &'a str,
    pub arguments: Vec<(&'a str, String)>,
}

impl<'a> KeyedCommand<'a> {
    pub fn new(name: &'a str) -> Self {
        Self {
            name,
            arguments: Vec::new(),
        }
    }

    pub fn with(mut self, name: &'a str, value: impl ToString) -> Self {
        self.arguments.push((name, value.to_string()));
        self
    }

    pub fn with_all(mut self, name: &'a str, values: impl IntoIterator<Item = String>) -> Self {
        self.arguments
            .extend(values.into_iter().map(|value| (name, value)));
        self
    }
}

/// The key of a command in the journal of this run.
pub fn run_key(
    workspace: &Workspace<'_>,
    stored: &StoredRun,
    typed: Option<&Key>,
    command: &KeyedCommand<'_>,
) -> Result<Key, Failure> {
    let Some(typed) = typed else {
        return ids::key();
    };
    let (run, bound) = (&stored.run.id, bind(typed, command)?);
    if workspace.store.keyed(run, &bound)?.is_empty() {
        let from = stored.version.saturating_sub(LOOKED_BACK) + 1;
        let recent = workspace.store.journal(run, from, LOOKED_BACK)?;
        let keys = recent.iter().filter_map(|entry| entry.key.as_ref());
        refuse_another(typed, &bound, keys)?;
    }
    Ok(bound)
}

/// The key that starts a run of this project, and the run that it started before.
pub fn start_key(
    workspace: &Workspace<'_>,
    typed: Option<&Key>,
    command: &KeyedCommand<'_>,
) -> Result<(Key, Option<StoredRun>), Failure> {
    let Some(typed) = typed else {
        return Ok((ids::key()?, None));
    };
    let bound = bind(typed, command)?;
    let mut others = Vec::new();
    for summary in find_run::of_project(workspace)? {
        match first_key(workspace, &summary.id)? {
            Some(key) if key == bound => {
                return Ok((bound, workspace.store.run(&summary.id)?));
            }
            Some(key) => others.push(key),
            None => {}
        }
    }
    refuse_another(typed, &bound, others.iter())?;
    Ok((bound, None))
}

fn first_key(workspace: &Workspace<'_>, run: &RunId) -> Result<Option<Key>, Failure> {
    let first = workspace.store.journal(run, 1, 1)?;
    Ok(first.into_iter().find_map(|entry| entry.key))
}

/// `KEY~command~digest`: the typed key, and what it was typed for.
fn bind(typed: &Key, command: &KeyedCommand<'_>) -> Result<Key, Failure> {
    let arguments = command.arguments.iter();
    let parts: Vec<String> = arguments
        .map(|(name, value)| format!("{name}={}:{value}", value.len()))
        .collect();
    let digest = evidence::hash(parts.join("\n").as_bytes()).to_string();
    let bound = format!("{typed}~{}~{}", command.name, &digest[..16]);
    Key::parse(&bound).map_err(|problem| Failure::bug(format!("cannot bind a key ({problem})")))
}

fn refuse_another<'k>(
    typed: &Key,
    bound: &Key,
    mut there: impl Iterator<Item = &'k Key>,
) -> Result<(), Failure> {
    match there.find_map(|key| command_of(typed, bound, key)) {
        Some(command) => {
            let message = format!("key {typed} was used for `{command} …`; nothing was done");
            Err(Failure::refused(message).hint("use another key"))
        }
        None => Ok(()),
    }
}

/// Another command that used the same key, if any.
fn command_of<'k>(typed: &Key, bound: &Key, key: &'k Key) -> Option<&'k str> {
    let mut parts = key.as_str().rsplitn(3, '~');
    let (_digest, command, word) = (parts.next()?, parts.next()?, parts.next()?);
    (word == typed.as_str() && key != bound).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(typed: &str, command: &KeyedCommand<'_>) -> Key {
        bind(&Key::parse(typed).unwrap(), command).unwrap()
    }

    #[test]
    fn a_key_means_one_command_with_its_arguments() {
        let here = KeyedCommand::new("checkpoint").with("NAME", "here");
        let typed = Key::parse("k~1").unwrap();
        let first = bound("k~1", &here);
        for (other, expected) in [
            (bound("k~1", &here), None),
            (bound("k", &here), None),
            (
                bound(
                    "k~1",
                    &KeyedCommand::new("checkpoint").with("NAME", "there"),
                ),
                Some("checkpoint"),
            ),
            (bound("k~1", &KeyedCommand::new("finish")), Some("finish")),
            (typed.clone(), None),
        ] {
            assert_eq!(command_of(&typed, &first, &other), expected, "{other}");
        }
    }

    #[test]
    fn arguments_do_not_run_into_each_other() {
        let one = KeyedCommand::new("answer").with("a", "x").with("b", "y");
        let other = KeyedCommand::new("answer").with("a", "x\nb=1:y");
        assert_ne!(bound("k", &one), bound("k", &other));
    }

    #[test]
    fn the_longest_key_can_be_bound() {
        let longest = "k".repeat(LONGEST_KEY);
        bound(&longest, &KeyedCommand::new("checkpoint"));
    }
}
