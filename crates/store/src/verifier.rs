//! The verifier: walks a journal from its first line to its last and reports differences.

use std::collections::BTreeSet;

use engine::{Fact, Hash, Run, RunId};

use crate::chain::Tip;
use crate::line::Line;
use crate::verification::{Anchor, Fault, FaultKind, Snapshot, Verification};
use crate::{chain, content_hash, record};

/// The most faults that are listed; a rewritten journal would list every entry.
const MOST: usize = 1_000;

/// How far from its position a moved entry is searched.
const NEAR: u64 = 64;

/// Consecutive entries with the same distance from their original position.
struct Shifted {
    first: u64,
    last: u64,
    by: i64,
}

/// Walks a journal from its first line to its last.
pub struct Verifier<'a> {
    run: &'a RunId,
    anchor: Anchor,
    last: Tip,
    anchored: u64,
    shifted: Vec<Shifted>,
    /// The state so far, while the journal is intact.
    state: Option<Run>,
    sound: bool,
    seen: BTreeSet<Hash>,
    faults: Vec<Fault>,
}

impl<'a> Verifier<'a> {
    pub fn new(run: &'a RunId, anchor: Anchor) -> Self {
        let last = Tip {
            version: 0,
            head: chain::root(run),
        };
        let mut verifier = Self {
            run,
            anchor,
            last,
            anchored: 0,
            shifted: Vec::new(),
            state: None,
            sound: true,
            seen: BTreeSet::new(),
            faults: Vec::new(),
        };
        let why = match verifier.anchor {
            Anchor::At(_) => None,
            Anchor::Absent => Some("the head file is gone"),
            Anchor::Unreadable => Some("the head file cannot be read"),
        };
        if let Some(why) = why {
            verifier.fault(0, FaultKind::HeadMismatch, why);
        }
        verifier
    }

    /// A line that exists but is unreadable.
    pub fn unreadable(&mut self, number: u64, why: &str) {
        self.broken(number, FaultKind::Altered, why);
        if number > self.last.version {
            self.gap(number);
            // Its hash is unknown; the next line is assumed to follow it.
            self.last = Tip {
                version: number,
                head: Hash([0; 32]),
            };
        }
    }

    /// Lines come in ascending order of their numbers, unless the database itself is out of order.
    pub fn line(&mut self, line: &Line, content: &dyn Fn(Hash) -> Option<Vec<u8>>) {
        if line.number <= self.last.version {
            return self.broken(line.number, FaultKind::Reordered, "it is after a later one");
        }
        let follows = self.gap(line.number);
        if !line.is_intact(self.run) {
            self.misplaced(line);
        } else if follows && line.previous != self.last.head {
            self.unlinked(line);
        }
        self.fold(line, content);
        self.compare_anchor(line);
        self.last = Tip {
            version: line.number,
            head: line.hash,
        };
    }

    /// Compares what is stored next to the journal. `differing` names the columns that differ from
    /// the journal's state.
    pub fn finish(
        mut self,
        snapshot: &Snapshot,
        differing: impl Fn(&Run) -> Vec<&'static str>,
    ) -> Verification {
        self.tell_shifted();
        self.compare_tip(snapshot.tip);
        if self.sound {
            self.compare_state(snapshot, differing);
        }
        self.faults.sort_by_key(|fault| (fault.number, fault.kind));
        self.faults.dedup_by_key(|fault| (fault.number, fault.kind));
        Verification {
            entries: self.last.version,
            intact: self.faults.is_empty(),
            faults: self.faults,
            anchored: self.anchored,
        }
    }

    /// Does the line follow the last one directly?
    fn gap(&mut self, number: u64) -> bool {
        let next = self.last.version + 1;
        if number == next {
            return true;
        }
        let detail = match number - next {
            1 => "it is missing".to_owned(),
            missing => format!("{missing} entries are missing"),
        };
        self.broken(next, FaultKind::Removed, &detail);
        false
    }

    /// The line is intact, but was written after another line than the one before it.
    fn unlinked(&mut self, line: &Line) {
        let before = line.number - 1;
        // The fault of the line before may be reported already.
        let known = self.faults.iter().any(|fault| fault.number == before)
            || self
                .shifted
                .last()
                .is_some_and(|shifted| shifted.last == before);
        match (before, known) {
            (_, true) => self.sound = false,
            (0, false) => self.broken(
                1,
                FaultKind::Removed,
                "the journal starts with a later entry",
            ),
            (_, false) => {
                let detail = format!("entry {} was written after another one", line.number);
                self.broken(before, FaultKind::Altered, &detail);
            }
        }
    }

    /// The hash of the line does not fit its position: it was written elsewhere, or altered.
    fn misplaced(&mut self, line: &Line) {
        match self.original(line) {
            Some(original) => self.moved(line.number, original),
            None => self.broken(
                line.number,
                FaultKind::Altered,
                "its hash does not cover it",
            ),
        }
    }

    /// The original number of a line that does not fit its position.
    fn original(&self, line: &Line) -> Option<u64> {
        let usual = self
            .shifted
            .last()
            .map(|shifted| line.number.wrapping_add_signed(shifted.by));
        let near = line.number.saturating_sub(NEAR)..=line.number + NEAR;
        usual.into_iter().chain(near).find(|original| {
            // The number of its decision may have been moved with it.
            let moved = line
                .decision
                .wrapping_add(*original)
                .wrapping_sub(line.number);
            [line.decision, moved]
                .iter()
                .any(|decision| line.hash_as(self.run, *original, *decision) == line.hash)
        })
    }

    fn moved(&mut self, number: u64, original: u64) {
        self.sound = false;
        let by = original.wrapping_sub(number).cast_signed();
        match self.shifted.last_mut() {
            Some(shifted) if shifted.by == by && shifted.last + 1 == number => {
                shifted.last = number
            }
            _ => self.shifted.push(Shifted {
                first: number,
                last: number,
                by,
            }),
        }
    }

    /// A moved entry takes the position of another, which is gone or elsewhere.
    fn tell_shifted(&mut self) {
        let shifted = std::mem::take(&mut self.shifted);
        let stands = |number: u64| {
            shifted.iter().any(|Shifted { first, last, by }| {
                let range = first.wrapping_add_signed(*by)..=last.wrapping_add_signed(*by);
                range.contains(&number)
            })
        };
        for Shifted { first, by, .. } in &shifted {
            let original = first.wrapping_add_signed(*by);
            // A later entry in its position means that it is gone; an earlier one was inserted.
            let kind = if original < *first || stands(*first) {
                FaultKind::Reordered
            } else {
                FaultKind::Removed
            };
            self.fault(*first, kind, &format!("entry {original} is in its place"));
        }
    }

    fn fold(&mut self, line: &Line, content: &dyn Fn(Hash) -> Option<Vec<u8>>) {
        let entry = match line.entry() {
            Ok(entry) => entry,
            Err(fault) if self.sound => {
                return self.broken(line.number, FaultKind::Altered, &fault.to_string());
            }
            Err(_) => return,
        };
        self.compare_contents(line.number, &record::hashes(&entry), content);
        if let Fact::Captured { content: hash, .. } = &entry.fact
            && content(*hash).is_none()
        {
            let detail = format!("its captured content {hash} is gone");
            self.fault(line.number, FaultKind::Removed, &detail);
        }
        if !self.sound {
            return;
        }
        match engine::apply(self.state.take(), &entry) {
            Ok(state) => self.state = Some(state),
            Err(damage) => self.broken(line.number, FaultKind::StateMismatch, &damage.what),
        }
    }

    fn compare_contents(
        &mut self,
        number: u64,
        named: &[Hash],
        content: &dyn Fn(Hash) -> Option<Vec<u8>>,
    ) {
        for hash in named {
            let altered = self.seen.insert(*hash)
                && content(*hash).is_some_and(|bytes| content_hash(&bytes) != *hash);
            if altered {
                let detail = format!("its content {hash} was altered");
                self.fault(number, FaultKind::Altered, &detail);
            }
        }
    }

    fn compare_anchor(&mut self, line: &Line) {
        match self.anchor {
            Anchor::At(tip) if tip.version == line.number && tip.head == line.hash => {
                self.anchored = tip.version;
            }
            Anchor::At(tip) if tip.version == line.number => {
                self.fault(
                    line.number,
                    FaultKind::HeadMismatch,
                    "the head file has another hash",
                );
            }
            Anchor::At(_) | Anchor::Absent | Anchor::Unreadable => {}
        }
    }

    fn compare_tip(&mut self, tip: Tip) {
        let last = self.last;
        let anchored = match self.anchor {
            Anchor::At(tip) => tip.version,
            Anchor::Absent | Anchor::Unreadable => 0,
        };
        let longest = anchored.max(tip.version);
        if longest > last.version {
            let detail = format!("the journal once had {longest} entries");
            self.fault(last.version + 1, FaultKind::Truncated, &detail);
        }
        if tip.version < last.version {
            let detail = format!("the run's own head is at entry {}", tip.version);
            self.fault(tip.version + 1, FaultKind::HeadMismatch, &detail);
        }
        if tip.version == last.version && tip.head != last.head {
            self.fault(
                last.version,
                FaultKind::HeadMismatch,
                "the run's own head has another hash",
            );
        }
    }

    fn compare_state(
        &mut self,
        snapshot: &Snapshot,
        differing: impl Fn(&Run) -> Vec<&'static str>,
    ) {
        let Some(folded) = self.state.take() else {
            return;
        };
        let number = self.last.version;
        match &snapshot.state {
            Some(Ok(state)) if *state != folded => {
                self.fault(
                    number,
                    FaultKind::StateMismatch,
                    "the journal has another state",
                );
            }
            Some(Err(why)) => {
                let detail = format!("the stored state cannot be read: {why}");
                self.fault(number, FaultKind::StateMismatch, &detail);
            }
            Some(Ok(_)) | None => {}
        }
        for column in differing(&folded) {
            let detail = format!("the list shows another {column} than the journal has");
            self.fault(number, FaultKind::StateMismatch, &detail);
        }
    }

    /// A fault after which the state means nothing.
    fn broken(&mut self, number: u64, kind: FaultKind, detail: &str) {
        self.sound = false;
        self.fault(number, kind, detail);
    }

    fn fault(&mut self, number: u64, kind: FaultKind, detail: &str) {
        if self.faults.len() < MOST {
            self.faults.push(Fault {
                number,
                kind,
                detail: detail.to_owned(),
            });
        }
    }
}
