//! The files that a run relies on: its agents as the host finds them, what its pipeline gave to the host,
//! what the host's settings say about the guard, and our own program. They are compared by their stamps first, and then by their content.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use engine::{AgentName, AgentPattern, Definition, Time, Unguarded, Witness, Work, Worker};
use hosts::SessionHost;

use super::inner_folders::{self, AGENTS};
use super::memory::{FileMark, Marks, Memory};
use super::relied_settings;
use super::stamp::stamp;
use crate::current_exe;
use crate::environment::Environment;
use crate::workspace::OpenRun;

/// What our own program is to a run.
const PROGRAM: &str = "the program";

/// Folders of agents are not deeper, and do not hold more.
const MOST_DEPTH: u32 = 3;
const MOST_FILES: usize = 2000;

/// The usual length of the text with the stamps of all files.
const USUAL_LENGTH: usize = 2048;

/// The front matter is at the beginning.
const MOST_READ: u64 = 256 * 1024;

/// What differs from what we saw before, in one sentence each. Without an earlier look nothing does.
pub(super) fn changed(
    memory: &mut Memory,
    opened: &OpenRun,
    environment: &Environment,
    host: &SessionHost,
    now: Time,
) -> Option<Unguarded> {
    let look = Look::new(opened, environment, host, known_files(memory));
    let (known, program) = memory.glance();
    let program = program.map(str::to_owned);
    let program = program.or_else(|| programs(memory.files()).into_iter().next());
    // Before the files themselves are read: what is touched meanwhile has another glance the next time.
    let glance = look.glance(program.as_deref());
    if glance.as_deref() == Some(known) {
        return None;
    }
    let seen = look.marks(memory.files());
    let glance = glance.filter(|glance| is_glance_of(glance, &seen));
    let before = memory.set_files(seen, program, glance.unwrap_or_default());
    if before.is_empty() {
        return None;
    }
    let changes = look.changes(&before, memory.files());
    (!changes.is_empty()).then(|| Unguarded {
        witness: Witness::Files,
        what: changes.join("; "),
        from: now,
        until: now,
    })
}

struct Look<'a> {
    worktree: &'a Path,
    /// Absent if the names are known.
    definition: Option<&'a Definition>,
    /// The names of the pipeline's agents. Most looks do not need them.
    agents: OnceCell<Vec<String>>,
    /// The settings folders of the project and of the person, and those between the project and the folder in
    /// which the session was started: the host prefers the agents there.
    folders: Vec<PathBuf>,
    given: Vec<PathBuf>,
    settings: Vec<PathBuf>,
    host: &'a SessionHost,
}

impl<'a> Look<'a> {
    fn new(
        opened: &'a OpenRun,
        environment: &Environment,
        host: &'a SessionHost,
        known: Vec<&str>,
    ) -> Self {
        let worktree = Path::new(opened.stored.worktree());
        let definition = opened.pipeline.definition();
        let own = worktree.join(host.places.folder);
        Self {
            worktree,
            definition: Some(definition),
            agents: OnceCell::new(),
            given: definition.gives.iter().map(|file| own.join(file)).collect(),
            folders: [own]
                .into_iter()
                .chain(environment.settings_folder())
                .chain(inner_folders::find(worktree, environment, host, known))
                .collect(),
            settings: relied_settings::files(worktree, environment, host),
            host,
        }
    }

    fn agents(&self) -> &[String] {
        let names = || self.definition.map(agents).unwrap_or_default();
        self.agents.get_or_init(names)
    }

    /// Every file of interest, as it is now. What cannot be read is taken for what it was, and looked
    /// at again the next time: nobody caused an error of the disk.
    fn marks(&self, before: &Marks) -> Marks {
        let mut marks = BTreeMap::new();
        let add = |marks: &mut Marks, path: &Path, found: io::Result<Rc<FileMark>>| {
            let name = path.to_string_lossy().into_owned();
            let mark = match found {
                Ok(mark) => Some(mark),
                Err(error) if is_absent(&error) => None,
                Err(_) => before.get(&name).cloned(),
            };
            marks.extend(mark.map(|mark| (name, mark)));
        };
        for folder in &self.folders {
            let folder = folder.join(AGENTS);
            for path in agent_files(&folder).unwrap_or_else(|_| known_in(&folder, before)) {
                let found = mark(&path, before, &|text| self.about(&path, text));
                add(&mut marks, &path, found);
            }
        }
        for path in &self.given {
            // An agent's file was looked at already, and is the same to the run.
            let known = marks.get(path.to_string_lossy().as_ref());
            if known.is_some_and(|mark| !mark.about.is_empty()) {
                continue;
            }
            let about = |text: &[u8]| match self.about(path, text) {
                agent if !agent.is_empty() => agent,
                _ => "a file of the pipeline".to_owned(),
            };
            add(&mut marks, path, mark(path, before, &about));
        }
        for path in &self.settings {
            let known = before.get(path.to_string_lossy().as_ref());
            let found = relied_settings::mark(path, known, self.host);
            add(&mut marks, path, found);
        }
        for path in programs(before) {
            let found = fs::metadata(&path).map(|found| {
                Rc::new(FileMark {
                    stamp: stamp(&found),
                    content: String::new(),
                    about: PROGRAM.to_owned(),
                })
            });
            add(&mut marks, Path::new(&path), found);
        }
        marks
    }

    /// All files of interest with their stamps, in one text: the same one means that none of them was touched, came or
    /// went. Nothing, where something could not be looked at.
    fn glance(&self, program: Option<&str>) -> Option<String> {
        let mut agents = Vec::new();
        for folder in &self.folders {
            agents.extend(agent_files(&folder.join(AGENTS)).ok()?);
        }
        let given = self.given.iter().filter(|path| !agents.contains(path));
        let others = given.chain(&self.settings).map(PathBuf::as_path);
        let all = agents.iter().map(PathBuf::as_path).chain(others);
        let mut glance = String::with_capacity(USUAL_LENGTH);
        for path in all.chain(program.map(Path::new)) {
            let name = path.to_str().filter(|name| !name.contains('\n'))?;
            let stamp = match fs::metadata(path) {
                Ok(found) => stamp(&found),
                Err(error) if is_absent(&error) => String::new(),
                Err(_) => return None,
            };
            for part in [name, "\0", &stamp, "\0"] {
                glance.push_str(part);
            }
        }
        Some(glance)
    }

    /// The agent of the pipeline that this file defines; nothing for any other.
    fn about(&self, path: &Path, text: &[u8]) -> String {
        let named = name_in(&String::from_utf8_lossy(text));
        let stem = || {
            path.file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
        };
        let named = named
            .or_else(stem)
            .and_then(|name| AgentName::parse(&name).ok());
        let agent = named.and_then(|named| self.agents().iter().find(|agent| named.is_same(agent)));
        let is_agent = path.components().any(|part| part.as_os_str() == AGENTS);
        match agent.filter(|_| is_agent) {
            Some(agent) => format!("agent '{agent}'"),
            None => String::new(),
        }
    }

    fn changes(&self, before: &Marks, now: &Marks) -> Vec<String> {
        let mut changes = Vec::new();
        for (path, mark) in now.iter().filter(|(_, mark)| !mark.about.is_empty()) {
            let shown = || self.shown(path);
            match before.get(path) {
                // Settings are always there, if only as an empty file.
                None if mark.about == relied_settings::ABOUT => {}
                Some(known) if known.about == mark.about && known.is_same(mark) => {}
                Some(known) if known.about == mark.about => {
                    changes.push(format!("{} was changed ({})", mark.about, shown()));
                }
                Some(_) | None => {
                    let others = before.values().any(|other| other.about == mark.about);
                    let how = if others {
                        "has a second file"
                    } else {
                        "has a new file"
                    };
                    changes.push(format!("{} {how} ({})", mark.about, shown()));
                }
            }
        }
        let gone = before.iter().filter(|(path, mark)| {
            let still = now.get(*path).is_some_and(|now| now.about == mark.about);
            !mark.about.is_empty() && mark.about != relied_settings::ABOUT && !still
        });
        changes.extend(
            gone.map(|(path, mark)| format!("{} was removed ({})", mark.about, self.shown(path))),
        );
        changes
    }

    fn shown(&self, path: &str) -> String {
        let inside = Path::new(path).strip_prefix(self.worktree);
        inside.map_or_else(
            |_| path.to_owned(),
            |path| path.to_string_lossy().into_owned(),
        )
    }
}

/// The files that an earlier look saw.
fn known_files(memory: &Memory) -> Vec<&str> {
    let (glance, _) = memory.glance();
    if glance.is_empty() {
        memory.files().keys().map(String::as_str).collect()
    } else {
        glance.split('\0').step_by(2).collect()
    }
}

/// Are these the marks of the files in a glance? One that could not be read has an earlier mark, or none.
fn is_glance_of(glance: &str, marks: &Marks) -> bool {
    let mut parts = glance.split('\0');
    while let (Some(path), Some(stamp)) = (parts.next(), parts.next()) {
        let marked = marks.get(path).map(|mark| mark.stamp.as_str());
        let marked = marked.filter(|marked| *marked != relied_settings::ABSENT);
        if marked.unwrap_or_default() != stamp {
            return false;
        }
    }
    true
}

/// The program that began the run, which another copy of it does not replace. It is large, so its
/// stamp must do.
fn programs(before: &Marks) -> Vec<String> {
    let known = before.iter().filter(|(_, mark)| mark.about == PROGRAM);
    let known: Vec<String> = known.map(|(path, _)| path.clone()).collect();
    if !before.is_empty() {
        return known;
    }
    let own = current_exe::program().ok();
    own.map(|path| path.to_string_lossy().into_owned())
        .into_iter()
        .collect()
}

/// A file as it is now. One with the same stamp was not touched, and is not read.
fn mark(path: &Path, before: &Marks, about: &dyn Fn(&[u8]) -> String) -> io::Result<Rc<FileMark>> {
    let before = before.get(path.to_string_lossy().as_ref());
    let stamp = stamp(&fs::metadata(path)?);
    if let Some(known) = before.filter(|known| known.stamp == stamp) {
        return Ok(Rc::clone(known));
    }
    let mut bytes = Vec::new();
    let mut file = fs::File::open(path)?.take(MOST_READ);
    file.read_to_end(&mut bytes)?;
    Ok(Rc::new(FileMark {
        stamp,
        content: evidence::hash(&bytes).to_string(),
        about: about(&bytes),
    }))
}

/// Does the error say that there is no such file?
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory
    )
}

/// The files of this folder that were there at the last look.
fn known_in(folder: &Path, before: &Marks) -> Vec<PathBuf> {
    let known = before.keys().map(PathBuf::from);
    known.filter(|path| path.starts_with(folder)).collect()
}

fn agent_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let listed = match fs::read_dir(&folder) {
            Err(error) if is_absent(&error) => continue,
            listed => listed?,
        };
        for entry in listed {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "md") {
                files.push(path);
            } else if depth < MOST_DEPTH && path.is_dir() {
                folders.push((path, depth + 1));
            }
            if files.len() >= MOST_FILES {
                return Ok(files);
            }
        }
    }
    Ok(files)
}

/// The `name:` in the front matter of an agent's file.
fn name_in(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let rest = text.strip_prefix("---")?;
    let matter = rest.split("\n---").next()?;
    let name = matter.lines().find_map(|line| line.strip_prefix("name:"))?;
    let name = name.trim().trim_matches(['"', '\'']).trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// The agents that a pipeline names. What only a glob covers is nobody in particular.
fn agents(definition: &Definition) -> Vec<String> {
    let mut agents: Vec<String> = Vec::new();
    let listed = |patterns: &[AgentPattern]| {
        let members = definition.members(patterns);
        let names = members.iter().map(AgentPattern::as_str);
        let names: Vec<String> = names
            .filter(|name| !name.contains('*'))
            .map(str::to_owned)
            .collect();
        names
    };
    for stage in &definition.stages {
        agents.extend(match &stage.work {
            Work::Agent(work) => match &work.worker {
                Worker::Agent(agent) => vec![agent.to_string()],
                Worker::Session => Vec::new(),
            },
            Work::Open(work) => listed(&work.allow),
            Work::Review(work) => {
                let panel = work.panel.iter().map(|member| member.agent.to_string());
                panel.chain([work.owner.to_string()]).collect()
            }
            Work::End(work) => work
                .after
                .iter()
                .map(|after| after.agent.to_string())
                .collect(),
            Work::Check(_) | Work::Ask(_) | Work::Steps(_) | Work::Route(_) => Vec::new(),
        });
    }
    agents.sort();
    agents.dedup();
    agents
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(stamp: &str, content: &str, about: &str) -> Rc<FileMark> {
        Rc::new(FileMark {
            stamp: stamp.to_owned(),
            content: content.to_owned(),
            about: about.to_owned(),
        })
    }

    fn changes(before: &[(&str, Rc<FileMark>)], now: &[(&str, Rc<FileMark>)]) -> Vec<String> {
        let look = Look {
            worktree: Path::new("/p"),
            definition: None,
            agents: OnceCell::new(),
            folders: Vec::new(),
            given: Vec::new(),
            settings: Vec::new(),
            host: hosts::DEFAULT_SESSION_HOST,
        };
        let marks = |all: &[(&str, Rc<FileMark>)]| {
            let all = all
                .iter()
                .map(|(path, mark)| ((*path).to_owned(), mark.clone()));
            all.collect()
        };
        look.changes(&marks(before), &marks(now))
    }

    #[test]
    fn what_is_replaced_changed_added_or_removed_is_named() {
        let program = |stamp| ("/usr/bin/g", mark(stamp, "", "the program"));
        let critic = |path, content| (path, mark(content, content, "agent 'critic'"));
        let other = |stamp| ("/p/.claude/agents/poet.md", mark(stamp, stamp, ""));
        let (own, users) = ("/p/.claude/agents/critic.md", "/h/.claude/agents/x.md");
        for (before, now, expected) in [
            (vec![program("1")], vec![program("1")], vec![]),
            (
                vec![program("1")],
                vec![program("2")],
                vec!["the program was changed (/usr/bin/g)"],
            ),
            (
                vec![critic(own, "1")],
                vec![critic(own, "2")],
                vec!["agent 'critic' was changed (.claude/agents/critic.md)"],
            ),
            // Touched, and still the same.
            (
                vec![critic(own, "1")],
                vec![(own, mark("2", "1", "agent 'critic'"))],
                vec![],
            ),
            (
                vec![critic(own, "1")],
                vec![critic(own, "1"), critic(users, "2")],
                vec!["agent 'critic' has a second file (/h/.claude/agents/x.md)"],
            ),
            (
                vec![other("1")],
                vec![other("1"), critic(own, "1")],
                vec!["agent 'critic' has a new file (.claude/agents/critic.md)"],
            ),
            (
                vec![other("1"), critic(own, "1")],
                vec![other("1")],
                vec!["agent 'critic' was removed (.claude/agents/critic.md)"],
            ),
            (vec![other("1")], vec![other("2")], vec![]),
        ] {
            assert_eq!(changes(&before, &now), expected);
        }
    }

    /// What cannot be read was not removed; what is gone was.
    #[test]
    fn a_file_that_cannot_be_read_is_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let agents = folder.path().join(AGENTS);
        // A link that leads in a circle is there, and cannot be read.
        fs::create_dir(&agents).unwrap();
        let (circle, gone) = (agents.join("critic.md"), agents.join("gone.md"));
        std::os::unix::fs::symlink(&circle, &circle).unwrap();
        let known = |path: &Path| {
            let name = path.to_string_lossy().into_owned();
            (name, mark("1", "1", "agent 'critic'"))
        };
        let look = Look {
            worktree: Path::new("/p"),
            definition: None,
            agents: OnceCell::from(vec!["critic".to_owned()]),
            folders: vec![folder.path().to_owned()],
            given: Vec::new(),
            settings: Vec::new(),
            host: hosts::DEFAULT_SESSION_HOST,
        };
        let before = BTreeMap::from([known(&circle)]);
        assert_eq!(look.marks(&before), before);
        let with_gone = BTreeMap::from([known(&circle), known(&gone)]);
        assert_eq!(look.marks(&with_gone), before);
        // The same for the whole folder.
        fs::remove_dir_all(&agents).unwrap();
        std::os::unix::fs::symlink(&agents, &agents).unwrap();
        assert_eq!(look.marks(&before), before);
        fs::remove_file(&agents).unwrap();
        assert_eq!(look.marks(&before), BTreeMap::new());
    }

    /// A look at a glance must find all that a look at each file does.
    #[test]
    fn a_glance_shows_what_was_touched_and_what_could_not_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let agents = folder.path().join(AGENTS);
        fs::create_dir_all(agents.join("deeper")).unwrap();
        let at = |name: &str| folder.path().join(name);
        let look = Look {
            worktree: folder.path(),
            definition: None,
            agents: OnceCell::from(vec!["critic".to_owned()]),
            folders: vec![folder.path().to_owned()],
            given: vec![at("agents/critic.md"), at("command.md")],
            settings: vec![at("settings.json")],
            host: hosts::DEFAULT_SESSION_HOST,
        };
        let program = at("program").to_string_lossy().into_owned();
        let mut before = look.glance(Some(&program)).unwrap();
        for name in [
            "agents/critic.md",
            "agents/deeper/poet.md",
            "command.md",
            "settings.json",
            "program",
        ] {
            for text in [Some("one"), Some("longer"), None] {
                match text {
                    Some(text) => fs::write(at(name), text).unwrap(),
                    None => fs::remove_file(at(name)).unwrap(),
                }
                let glance = look.glance(Some(&program)).unwrap();
                assert_ne!(glance, before, "{name} {text:?}");
                let marks = look.marks(&Marks::from([(program.clone(), mark("", "", PROGRAM))]));
                assert!(is_glance_of(&glance, &marks), "{name} {text:?}");
                assert_eq!(look.glance(Some(&program)).unwrap(), glance);
                before = glance;
            }
        }
        // It can be looked at, and not be read: it must be looked at again.
        fs::create_dir(at("agents/critic.md")).unwrap();
        let glance = look.glance(Some(&program)).unwrap();
        assert!(!is_glance_of(&glance, &look.marks(&Marks::new())));
        // It cannot even be looked at.
        fs::remove_dir(at("agents/critic.md")).unwrap();
        std::os::unix::fs::symlink(at("agents/critic.md"), at("agents/critic.md")).unwrap();
        assert_eq!(look.glance(Some(&program)), None);
    }

    #[test]
    fn an_agent_is_named_in_its_front_matter() {
        for (text, expected) in [
            ("---\nname: critic\n---\nDo.", Some("critic")),
            (
                "\u{feff}---\ndescription: x\nname: \"A Critic\"\n---\n",
                Some("A Critic"),
            ),
            ("---\ndescription: x\n---\nname: no\n", None),
            ("name: critic\n", None),
            ("---\nname:\n---\n", None),
            ("", None),
        ] {
            assert_eq!(name_in(text).as_deref(), expected, "{text}");
        }
    }
}
