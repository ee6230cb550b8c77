//! Copies the intact beginning of one run out of a damaged database.

use std::collections::BTreeSet;

use engine::{
    Audit, Decision, Definition, Entry, Fact, Hash, Pipeline, Reply, Rule, Run, RunId, Status,
    Time, Who,
};

use super::read::{Reader, RunRow};
use super::salvage::Loss;
use super::table::{Row, RunValues, Table};
use crate::chain::Tip;
use crate::journal::{self};
use crate::line::Line;
use crate::{Content, Error, Files, Key, chain, record};

/// One run, copied as far as it is intact.
pub(super) struct CopyRun<'a> {
    pub reader: Reader<'a>,
    pub fresh: Table<'a>,
    pub run: &'a RunId,
    /// The number of entries in the head file.
    pub anchored: u64,
    /// The time of the note about a loss.
    pub at: Time,
    pub compile: Compile<'a>,
}

/// Compiles the pinned bytes of a definition. `None` if this version does not accept them.
pub type Compile<'a> = &'a dyn Fn(&Files) -> Option<Definition>;

/// How many entries after a fault are searched for the start of its decision.
const NEAR: u64 = 64;

/// The intact beginning of a journal.
#[derive(Clone)]
struct Beginning {
    state: Run,
    tip: Tip,
    begun_by: Option<Key>,
    last_at: Time,
}

/// How far a journal is intact, the hashes in it, and why it ends there.
struct Walked<'a> {
    /// Asks of each entry whether a rule gives it, if the definition is known.
    audit: Option<Audit<'a>>,
    beginning: Option<Beginning>,
    /// The same before the current decision.
    decided: Option<Beginning>,
    named: BTreeSet<Hash>,
    why: String,
}

impl CopyRun<'_> {
    /// Copies the run. Returns its loss, and the number of lost contents.
    pub(super) fn copy(&self) -> Result<(Option<Loss>, u64), Error> {
        let Ok(Some(row)) = self.reader.run_row(self.run) else {
            return Ok((self.loss(0, self.anchored, "its row cannot be read"), 0));
        };
        let most = self.anchored.max(row.tip.version);
        let files = self.definition(&row);
        // The cache is the last resort: it may be what is damaged.
        let compiled = files.as_ref().and_then(|(_, files)| (self.compile)(files));
        let sound = compiled.clone().map(Pipeline::from_cache);
        let Walked {
            beginning,
            named,
            why,
            ..
        } = self.walk(&row, sound.as_ref());
        let Some(beginning) = beginning else {
            return Ok((self.loss(0, most, &why), 0));
        };
        let Some((hash, files)) = files else {
            return Ok((self.loss(0, most, "its definition cannot be read"), 0));
        };
        let compiled = compiled.or_else(|| self.reader.compiled(hash).ok().flatten());
        self.fresh.add_definition(hash, &files, compiled.as_ref())?;
        let pipeline = compiled.map(Pipeline::from_cache);
        let number = self.add_run(&row, &beginning, pipeline.as_ref())?;
        let lost_contents = self.copy_contents(&row, number, named, beginning.last_at)?;
        let kept = beginning.tip.version;
        if kept == most {
            return Ok((None, lost_contents));
        }
        self.note_loss(&row, number, beginning, most - kept, pipeline.as_ref())?;
        Ok((self.loss(kept, most, &why), lost_contents))
    }

    /// The bytes that the first entry names.
    fn definition(&self, row: &RunRow) -> Option<(Hash, Files)> {
        let first = self.reader.line(row.number, 1).ok().flatten()?;
        let begun = engine::apply(None, &first.entry().ok()?).ok()?;
        let files = self.reader.files(begun.definition).ok().flatten()?;
        Some((begun.definition, files))
    }

    fn loss(&self, kept: u64, most: u64, why: &str) -> Option<Loss> {
        let lost = most.saturating_sub(kept);
        Some(Loss {
            run: self.run.clone(),
            kept,
            lost,
            why: why.to_owned(),
        })
    }

    /// Walks the journal while every entry exists, is linked, readable and fits, and a rule gives it.
    fn walk<'p>(&self, row: &RunRow, pipeline: Option<&'p Pipeline>) -> Walked<'p> {
        let mut walked = Walked {
            audit: pipeline.map(Audit::new),
            beginning: None,
            decided: None,
            named: BTreeSet::new(),
            why: String::new(),
        };
        while walked.why.is_empty() {
            let number = walked.beginning.as_ref().map_or(1, |it| it.tip.version + 1);
            let taken = match self.reader.line(row.number, number) {
                Ok(Some(line)) => self.take(&mut walked, &line),
                Ok(None) => Err("is not there".to_owned()),
                Err(error) => Err(format!("cannot be read: {error}")),
            };
            if let Err(why) = taken {
                walked.why = format!("entry {number} {why}");
                if !self.is_whole(row, number) {
                    walked.beginning = walked.decided.take();
                }
            }
        }
        walked
    }

    /// Is the decision before this entry complete? A half decision would leave a run that cannot
    /// continue. If nothing proves it, it counts as incomplete.
    fn is_whole(&self, row: &RunRow, number: u64) -> bool {
        let most = self.anchored.max(row.tip.version);
        if number > most {
            return true;
        }
        let later = (number..=most.min(number + NEAR)).find_map(|number| {
            let line = self.reader.line(row.number, number).ok().flatten()?;
            Some(line.decision)
        });
        later.is_some_and(|decision| decision >= number)
    }

    fn take(&self, walked: &mut Walked<'_>, line: &Line) -> Result<(), String> {
        let beginning = walked.beginning.as_ref();
        let head = beginning.map_or_else(|| chain::root(self.run), |it| it.tip.head);
        if !line.is_intact(self.run) || line.previous != head {
            return Err("was altered".to_owned());
        }
        let entry = line
            .entry()
            .map_err(|fault| format!("cannot be read: {fault}"))?;
        if line.decision == line.number {
            walked.decided = walked.beginning.clone();
            walked.audit.iter_mut().for_each(Audit::decision);
        }
        if let Some(audit) = &mut walked.audit {
            audit
                .entry(&entry)
                .map_err(|damage| format!("does not follow from the rules: {}", damage.what))?;
        }
        let beginning = walked.beginning.as_ref();
        let state = beginning.map(|it| it.state.clone());
        let state = engine::apply(state, &entry)
            .map_err(|damage| format!("does not fit: {}", damage.what))?;
        let begun_by = beginning.map_or_else(|| line.key.clone(), |it| it.begun_by.clone());
        let tip = Tip {
            version: line.number,
            head: line.hash,
        };
        walked.beginning = Some(Beginning {
            state,
            tip,
            begun_by,
            last_at: entry.at,
        });
        walked.named.extend(record::hashes(&entry));
        Ok(())
    }

    fn add_run(
        &self,
        row: &RunRow,
        beginning: &Beginning,
        pipeline: Option<&Pipeline>,
    ) -> Result<i64, Error> {
        let status = status(pipeline, &beginning.state);
        let present = RunValues {
            origin: row.origin(),
            run: &beginning.state,
            tip: beginning.tip,
            status: &status,
            updated_at: beginning.last_at,
        };
        let number = self.fresh.add_run(&present, beginning.begun_by.as_ref())?;
        for line in 1..=beginning.tip.version {
            let line = self.reader.line(row.number, line)?;
            self.fresh.add_lines(number, line.as_slice())?;
        }
        // The lease's number must keep growing.
        self.fresh
            .set_lease(number, &self.reader.lease(row.number).unwrap_or_default())?;
        Ok(number)
    }

    /// Copies the contents of the run, and counts those that cannot be read.
    fn copy_contents(
        &self,
        row: &RunRow,
        number: i64,
        mut wanted: BTreeSet<Hash>,
        at: Time,
    ) -> Result<u64, Error> {
        wanted.extend(self.reader.held(row.number).unwrap_or_default());
        let mut lost = 0;
        for hash in wanted {
            match self.reader.content(hash) {
                Ok(Some(bytes)) => {
                    let content = Content {
                        hash,
                        bytes: &bytes,
                    };
                    self.fresh.hold(number, &[content], &[], at)?;
                }
                // Most hashes in entries are those of trees, whose content is not kept.
                Ok(None) => {}
                Err(_) => lost += 1,
            }
        }
        Ok(lost)
    }

    /// The journal records the loss, so that nobody takes the run for complete.
    fn note_loss(
        &self,
        row: &RunRow,
        number: i64,
        beginning: Beginning,
        lost: u64,
        pipeline: Option<&Pipeline>,
    ) -> Result<(), Error> {
        let Beginning { state, tip, .. } = beginning;
        let kept = tip.version;
        let message = format!("salvaged after damage: {lost} entries after entry {kept} are lost");
        let (at, rule, fact) = (self.at, Rule::Salvaged, Fact::Noted { message });
        let entries = vec![Entry {
            at,
            by: Who::Engine,
            rule,
            fact,
        }];
        let mut decision = Decision {
            reply: Reply::Done,
            entries,
            rule,
        };
        let addition = journal::append(state, tip, None, &[], &mut decision)?;
        self.fresh.add_lines(number, &addition.lines)?;
        let status = status(pipeline, &addition.run);
        let present = RunValues {
            origin: row.origin(),
            run: &addition.run,
            tip: addition.tip,
            status: &status,
            updated_at: at,
        };
        self.fresh.set_run(number, &Row::of(&present))
    }
}

/// Without its compiled definition the status is unknown, and a person must check.
fn status(pipeline: Option<&Pipeline>, state: &Run) -> Status {
    match pipeline {
        Some(pipeline) => engine::status(pipeline, state),
        None => Status::Waiting("a look: the run was salvaged from a damaged store".to_owned()),
    }
}
