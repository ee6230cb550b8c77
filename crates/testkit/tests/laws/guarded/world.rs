//! The world around one guarded run: files, trees, processes, a clock, and the journal.

use engine::{
    Beginning, Change, Decision, Driver, Entry, Event, Evidence, Fact, Hash, HostName, LineCount,
    Needs, Pipeline, Process, ProcessState, Run, RunBranch, RunId, Seen, SessionId, Started, Time,
    Who, apply, begin, replay,
};
use std::collections::{BTreeMap, BTreeSet};

/// How events are judged: the engine's own `decide`, or one that breaks a rule on purpose.
pub(super) type Judge<'a> = &'a dyn Fn(&Pipeline, &Run, &Event, &Evidence) -> Decision;

/// The versions of the files that somebody edited. A file that nobody edited is not in it.
type Tree = BTreeMap<String, u32>;

pub(super) struct World {
    pub pipeline: Pipeline,
    pub run: Run,
    pub journal: Vec<Entry>,
    pub now: Time,
    /// By name, and by step where each step has its own.
    artifacts: BTreeMap<(String, Option<String>), Seen>,
    /// When they were written again.
    written: BTreeMap<(String, Option<String>), Time>,
    tree: Tree,
    /// Every tree that was ever looked at; its place is its hash.
    trees: Vec<Tree>,
    /// The lists of files of earlier trees are not in the store.
    lists_are_lost: bool,
    dead: Vec<Process>,
}

pub(super) fn session(name: &str) -> SessionId {
    SessionId::parse(name).expect("a session's name")
}

/// `100`, or `100/9` for a later process with the same number.
pub(super) fn process(number: &str) -> Process {
    let (id, started) = number.split_once('/').unwrap_or((number, "7"));
    Process {
        id: id.parse().expect("a process is a number"),
        started: started.parse().expect("a time is a number"),
    }
}

fn content(number: u8) -> Hash {
    Hash([number; 32])
}

fn pipeline(text: &str) -> Pipeline {
    let main = language::SourceFile {
        name: "story.toml".into(),
        bytes: text.as_bytes().to_vec(),
    };
    let files = BTreeMap::new();
    match language::compile(&language::Sources { main, files }) {
        Ok(compiled) => compiled.pipeline,
        Err(problems) => {
            let plain = problems
                .iter()
                .map(|problem| problem.render(text, language::Colour::Plain));
            panic!("{}", plain.collect::<String>())
        }
    }
}

impl World {
    /// A run that session `s1` holds, in process 100.
    pub(super) fn begun(text: &str) -> Self {
        Self::begun_by(text, None)
    }

    /// The same, where it is not certain that the session has a host.
    pub(super) fn begun_by(text: &str, unverified_host: Option<&str>) -> Self {
        let pipeline = pipeline(text);
        let beginning = Beginning {
            branch: None,
            at: Time(0),
            by: Who::Session(session("s1")),
            id: RunId::parse("r-1").unwrap(),
            definition: content(0),
            task: String::from("tell a story"),
            params: BTreeMap::new(),
            driver: Driver::Guarded,
            host: HostName::listed("claude"),
            session: Some(session("s1")),
            process: Some(process("100")),
            steps: Vec::new(),
            before: BTreeMap::new(),
            queued: false,
            environment: None,
            base: None,
            commit: None,
            unverified_host: unverified_host.map(str::to_owned),
        };
        let journal = begin(&pipeline, &beginning).entries;
        let run = replay(&journal).expect("a beginning folds");
        Self {
            pipeline,
            run,
            journal,
            now: Time(0),
            artifacts: BTreeMap::new(),
            written: BTreeMap::new(),
            tree: Tree::new(),
            trees: Vec::new(),
            lists_are_lost: false,
            dead: Vec::new(),
        }
    }

    /// Something that nobody tells us of: files, processes and time. False where it is an event.
    pub(super) fn changes(&mut self, line: &str) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["lay", name, number] => self.lay(name, valid(number, None)),
            ["lay", name, number, word @ ..] => {
                self.lay(name, valid(number, Some(word.join(" "))));
            }
            // The same content once more.
            ["rewrite", name] => {
                let written = Time(self.now.0 + 1);
                self.written.insert(key(name), written);
            }
            ["spoil", name, number] => self.lay(name, invalid(number)),
            ["remove", name] => {
                self.artifacts.remove(&key(name));
            }
            ["edit", path] => *self.tree.entry((*path).to_owned()).or_insert(0) += 1,
            ["put", "back", path] => {
                self.tree.remove(*path);
            }
            ["lists", "are", "lost"] => self.lists_are_lost = true,
            ["on", "a", "branch"] => self.on_a_branch(),
            ["wait", seconds] => self.now.0 += seconds.parse::<u64>().unwrap() * 1000,
            ["host", name] => self.held_by(name),
            ["process", number, "dies"] => self.dead.push(process(number)),
            _ => return false,
        }
        true
    }

    /// The run was begun for sessions of another agent program.
    fn held_by(&mut self, host: &str) {
        self.begun_otherwise(|started| started.host = HostName::parse(host).unwrap());
    }

    /// The run was begun in a place of its own.
    fn on_a_branch(&mut self) {
        self.begun_otherwise(|started| {
            started.branch = Some(RunBranch {
                name: String::from("gatewright/r-1"),
                base: String::from("0123"),
                from: None,
                with_changes: false,
            });
        });
    }

    fn begun_otherwise(&mut self, alter: impl FnOnce(&mut Started)) {
        let Some(Fact::Started(started)) = self.journal.first_mut().map(|entry| &mut entry.fact)
        else {
            panic!("a journal begins with a start");
        };
        alter(started);
        self.run = replay(&self.journal).expect("a beginning folds");
    }

    fn lay(&mut self, name: &str, seen: Seen) {
        self.artifacts.insert(key(name), seen);
    }

    /// Looks at what `needs` names, and at nothing else.
    pub(super) fn look(&mut self, needs: &Needs) -> Evidence {
        let artifacts = needs.artifacts.iter().map(|need| {
            let step = need.step.as_ref().map(ToString::to_string);
            let found = self.artifacts.get(&(need.artifact.to_string(), step));
            (
                need.artifact.clone(),
                found.cloned().unwrap_or(Seen::Absent),
            )
        });
        let artifacts = artifacts.collect();
        let written = needs.artifacts.iter().filter_map(|need| {
            let step = need.step.as_ref().map(ToString::to_string);
            let written = self.written.get(&(need.artifact.to_string(), step))?;
            Some((need.artifact.clone(), *written))
        });
        let written = written.collect();
        let inputs = needs.inputs.iter();
        let altered = inputs.filter(|input| {
            let step = input.step.as_ref().map(ToString::to_string);
            let found = self.artifacts.get(&(input.artifact.to_string(), step));
            found.and_then(Seen::content) != Some(input.content)
        });
        let altered = altered.cloned().collect();
        let holder = needs.holder.map(|process| {
            if self.dead.contains(&process) {
                ProcessState::Gone
            } else {
                ProcessState::Alive
            }
        });
        Evidence {
            artifacts,
            written,
            commands: BTreeMap::new(),
            reasons: BTreeMap::new(),
            unlisted: BTreeMap::new(),
            altered,
            tree: needs.tree.then(|| self.hash()),
            changed: needs.changed_since.and_then(|since| self.changed(since)),
            holder,
            questions: None,
            steps: None,
            base: None,
            change: needs.change.map(|_| self.change()),
        }
    }

    /// Every file of the tree is one that has changed since the run began, with ten lines for each edit.
    fn change(&self) -> Change {
        let lines = self.tree.values().map(|edits| edits * 10).sum();
        Change::of(
            self.tree.keys().cloned().collect(),
            LineCount::Counted(lines),
        )
    }

    fn hash(&mut self) -> Hash {
        let known = self.trees.iter().position(|tree| *tree == self.tree);
        let place = known.unwrap_or_else(|| {
            self.trees.push(self.tree.clone());
            self.trees.len() - 1
        });
        content(200 + u8::try_from(place).expect("few trees"))
    }

    fn changed(&self, since: Hash) -> Option<Vec<String>> {
        let before = &self.trees[usize::from(since.0[0] - 200)];
        if self.lists_are_lost && *before != self.tree {
            return None;
        }
        let all: BTreeSet<&String> = before.keys().chain(self.tree.keys()).collect();
        let differ = |path: &&&String| before.get(**path) != self.tree.get(**path);
        let differing = all.iter().filter(differ).map(|path| (**path).clone());
        Some(differing.collect())
    }

    /// Folds a decision in, as the store does.
    pub(super) fn take(&mut self, decision: &Decision) -> Result<(), String> {
        for entry in &decision.entries {
            let folded = apply(Some(self.run.clone()), entry);
            self.run = folded.map_err(|damage| damage.to_string())?;
            self.journal.push(entry.clone());
        }
        match replay(&self.journal) {
            Ok(run) if run == self.run => Ok(()),
            _ => Err(String::from("the journal does not fold to the run")),
        }
    }
}

/// `report@a` is the report of step a.
fn key(name: &str) -> (String, Option<String>) {
    match name.split_once('@') {
        Some((name, step)) => (name.to_owned(), Some(step.to_owned())),
        None => (name.to_owned(), None),
    }
}

fn valid(number: &str, word: Option<String>) -> Seen {
    Seen::Valid {
        content: content(number.parse().unwrap()),
        word,
    }
}

fn invalid(number: &str) -> Seen {
    Seen::Invalid {
        content: content(number.parse().unwrap()),
        reason: "it is not as the definition wants it".into(),
    }
}
