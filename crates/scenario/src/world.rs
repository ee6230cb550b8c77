//! The invented world around a run: the time, the tree, and its files.

use std::collections::BTreeMap;

use engine::{
    ArtifactName, ArtifactNeed, Change, Hash, Question, Seconds, Seen, Step, StepId, Time,
};

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub now: Time,
    tree: u64,
    contents: u64,
    files: BTreeMap<Place, FileAtPath>,
    pub plan: Plan,
    pub questions: Vec<Question>,
    /// What has changed in the tree since the run began, as a route sees it.
    pub change: Change,
}

type Place = (ArtifactName, Option<StepId>);

/// A file at an artifact's path.
#[derive(Clone, Debug)]
struct FileAtPath {
    content: Hash,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Valid { word: Option<String> },
    Invalid,
}

/// Steps for the next plan. Consecutive lines are one plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub steps: Vec<Step>,
    is_closed: bool,
}

impl Plan {
    pub(crate) fn add(&mut self, step: Step) {
        if self.is_closed {
            *self = Self::default();
        }
        self.steps.push(step);
    }

    /// Something else happened: the next step belongs to another plan.
    pub(crate) fn close(&mut self) {
        self.is_closed = !self.steps.is_empty();
    }
}

/// Some day at noon. No scenario depends on it.
const NOON: Time = Time(1_800_014_400_000);

impl Default for World {
    fn default() -> Self {
        Self {
            now: NOON,
            tree: 1,
            contents: 0,
            files: BTreeMap::new(),
            plan: Plan::default(),
            questions: Vec::new(),
            change: Change::none(),
        }
    }
}

impl World {
    pub(crate) fn wait(&mut self, time: Seconds) {
        self.now = Time(self.now.0.saturating_add(time.0.saturating_mul(1_000)));
    }

    pub(crate) fn tree(&self) -> Hash {
        hash(b't', self.tree)
    }

    pub(crate) fn change_tree(&mut self) {
        self.tree += 1;
    }

    /// A new content.
    pub(crate) fn new_content(&mut self) -> Hash {
        self.contents += 1;
        hash(b'c', self.contents)
    }

    pub(crate) fn write(&mut self, need: &ArtifactNeed, word: Option<String>) {
        self.put(need, State::Valid { word });
    }

    pub(crate) fn write_invalid(&mut self, need: &ArtifactNeed) {
        self.put(need, State::Invalid);
    }

    fn put(&mut self, need: &ArtifactNeed, state: State) {
        let content = self.new_content();
        self.files
            .insert(place(need), FileAtPath { content, state });
    }

    /// Makes sure that the file exists.
    pub(crate) fn litter(&mut self, need: &ArtifactNeed) {
        if !self.files.contains_key(&place(need)) {
            self.write(need, None);
        }
    }

    pub(crate) fn is_there(&self, need: &ArtifactNeed) -> bool {
        self.files.contains_key(&place(need))
    }

    /// What a look finds there now.
    pub(crate) fn look(&self, need: &ArtifactNeed) -> Seen {
        match self.files.get(&place(need)) {
            None => Seen::Absent,
            Some(FileAtPath {
                content,
                state: State::Valid { word },
            }) => Seen::Valid {
                content: *content,
                word: word.clone(),
            },
            Some(FileAtPath {
                content,
                state: State::Invalid,
            }) => {
                let reason = String::from("it does not match the definition");
                Seen::Invalid {
                    content: *content,
                    reason,
                }
            }
        }
    }
}

fn place(need: &ArtifactNeed) -> Place {
    (need.artifact.clone(), need.step.clone())
}

/// An invented hash; hashes of different kinds never collide, and short forms differ early.
fn hash(kind: u8, number: u64) -> Hash {
    let mut bytes = [0; 32];
    bytes[0] = kind;
    bytes[1..9].copy_from_slice(&number.to_le_bytes());
    Hash(bytes)
}
