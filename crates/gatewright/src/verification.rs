//! Verifies journals: recomputes every hash chain and locates damage.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use engine::{Driver, RunId};
use runtime::failure::Failure;
use runtime::shipped_copy::{CopyReport, CopyVerdict};
use runtime::workspace::Workspace;
use runtime::{find_run, run_audit, witness};
use serde_json::{Value, json};
use store::{Adoption, Backend, Fault, StoredRun, Verification};
use views::{Paint, Style};

/// The result for one run.
pub(crate) struct RunReport {
    run: RunId,
    verification: Verification,
    marks: RunMarks,
    /// What the shipped copy says, if there is one to compare.
    copy: Option<CopyReport>,
    adoption: Option<Adoption>,
}

/// Facts that a reader must know even if the journal is intact.
#[derive(Default)]
struct RunMarks {
    unwitnessed: bool,
    guarded: bool,
    /// The number of unjudged events.
    unjudged: u32,
    /// The number of changes outside a worker's folder.
    outside: u32,
    unguarded: Vec<views::UnguardedLine>,
    /// What witnesses show now and no entry has yet.
    unrecorded: Vec<views::UnguardedLine>,
    overrides: Vec<String>,
}

/// The results for all runs.
#[derive(Default)]
pub(crate) struct Findings {
    reports: Vec<RunReport>,
    /// Errors of the database itself.
    pages: Vec<String>,
    pub comparison: Comparison,
}

/// Were the journals compared with their shipped copies?
#[derive(Default)]
pub(crate) enum Comparison {
    #[default]
    NoFleet,
    Compared,
    NotCompared {
        why: String,
    },
}

/// Verifies these runs, or all recorded runs and the database.
pub(crate) fn verify(workspace: &mut Workspace<'_>, words: &[String]) -> Result<Findings, Failure> {
    let recorded: BTreeSet<RunId> = workspace.store.recorded()?.into_iter().collect();
    if words.is_empty() {
        let listed = workspace.store.runs(None)?.into_iter().map(|run| run.id);
        let mut all: BTreeSet<RunId> = listed.collect();
        let recorded = recorded.into_iter();
        let vanished = recorded.filter(|run| !all.contains(run) && !never_began(workspace, run));
        let vanished: Vec<RunId> = vanished.collect();
        all.extend(vanished);
        let reports = reports(workspace, all)?;
        let mut pages = workspace.store.check_pages()?;
        pages.extend(unexplained(workspace, &reports)?);
        return Ok(Findings {
            reports,
            pages,
            ..Findings::default()
        });
    }
    let named = words.iter().map(|word| match RunId::parse(word) {
        // A run that has vanished from the journal is still in the record.
        Ok(id) if recorded.contains(&id) => Ok(id),
        Ok(_) | Err(_) => find_run::find(workspace, Some(word)).map(|stored| stored.run.id),
    });
    let named = named.collect::<Result<_, _>>()?;
    Ok(Findings {
        reports: reports(workspace, named)?,
        ..Findings::default()
    })
}

/// The store is read-only for a reason that no run shows any more: everybody says so, or nobody.
fn unexplained(
    workspace: &Workspace<'_>,
    reports: &[RunReport],
) -> Result<Option<String>, Failure> {
    let explained = reports.iter().any(|report| !report.verification.intact);
    let marked = run_audit::store_damage(workspace)?.filter(|_| !explained);
    Ok(marked.map(|why| format!("marked as damaged: {why}")))
}

/// Did a run of this id never begin? Its head file is made before it is stored, so a power cut can
/// leave one that vouches for nothing.
fn never_began(workspace: &Workspace<'_>, run: &RunId) -> bool {
    matches!(
        workspace.store.verify(run),
        Err(store::Error::UnknownRun { .. })
    )
}

fn reports(
    workspace: &mut Workspace<'_>,
    runs: BTreeSet<RunId>,
) -> Result<Vec<RunReport>, Failure> {
    runs.into_iter().map(|run| report(workspace, run)).collect()
}

fn report(workspace: &mut Workspace<'_>, run: RunId) -> Result<RunReport, Failure> {
    let verification = run_audit::verify(workspace, &run)?;
    let marks = match workspace.store.run(&run) {
        Ok(Some(stored)) => RunMarks {
            unwitnessed: stored.run.driver == Driver::ByHand,
            guarded: stored.run.driver == Driver::Guarded,
            unjudged: stored.run.unjudged,
            outside: stored.run.outside.unwrap_or(0),
            overrides: stored.run.overrides.iter().map(override_line).collect(),
            unguarded: views::UnguardedLine::all(&stored.run),
            unrecorded: unrecorded(workspace, stored),
        },
        // The faults report what cannot be read.
        Ok(None) | Err(_) => RunMarks::default(),
    };
    Ok(RunReport {
        run,
        verification,
        marks,
        copy: None,
        adoption: None,
    })
}

/// What witnesses show beyond the recorded unguarded work.
fn unrecorded(workspace: &mut Workspace<'_>, stored: StoredRun) -> Vec<views::UnguardedLine> {
    let opened = workspace.opened(stored);
    let found = opened.map(|opened| witness::unrecorded(workspace, &opened));
    let found = found.unwrap_or_default().into_iter();
    found.map(views::UnguardedLine::unrecorded).collect()
}

fn override_line(taken: &engine::Override) -> String {
    let engine::Override {
        stage,
        outcome,
        reason,
        by,
        ..
    } = taken;
    views::line(&format!(
        "OVERRIDDEN: {stage} skipped as {outcome} by {by} because: {reason}"
    ))
}

impl Findings {
    pub(crate) fn is_intact(&self) -> bool {
        self.pages.is_empty() && self.reports.iter().all(|report| report.verification.intact)
    }

    /// Did witnesses show unguarded work that no entry has yet?
    pub(crate) fn has_news(&self) -> bool {
        let mut reports = self.reports.iter();
        reports.any(|report| !report.marks.unrecorded.is_empty())
    }

    pub(crate) fn runs(&self) -> Vec<RunId> {
        self.reports
            .iter()
            .map(|report| report.run.clone())
            .collect()
    }

    /// Adds what the shipped copies say. Only guarded runs are shipped, and a run of which something was.
    pub(crate) fn add_copies(&mut self, mut copies: BTreeMap<RunId, CopyReport>) {
        for report in &mut self.reports {
            let copy = copies.remove(&report.run);
            let copy =
                copy.filter(|copy| report.marks.guarded || copy.verdict != CopyVerdict::NotShipped);
            report.adoption = copy.as_ref().and_then(|copy| copy.adoption.clone());
            report.copy = copy;
        }
    }

    pub(crate) fn note_adoptions(&mut self, known: impl Fn(&RunId) -> Option<Adoption>) {
        for report in &mut self.reports {
            report.adoption = known(&report.run);
        }
    }

    /// Is a journal not the one that was shipped?
    pub(crate) fn has_other_copies(&self) -> bool {
        let copies = self
            .reports
            .iter()
            .filter_map(|report| report.copy.as_ref());
        copies.into_iter().any(|copy| copy.verdict.is_damage())
    }

    pub(crate) fn text(&self, paint: Paint) -> String {
        if self.reports.is_empty() && self.pages.is_empty() {
            return "there are no runs to verify\n".to_owned();
        }
        let pages = self.pages.iter().map(|page| {
            let line = views::line(&format!("the database: {page}"));
            format!("{}\n", paint.on(Style::Bad, &line))
        });
        self.reports
            .iter()
            .map(|report| report.text(paint))
            .chain(pages)
            .collect()
    }

    pub(crate) fn json(&self) -> Value {
        let runs: Vec<Value> = self.reports.iter().map(RunReport::json).collect();
        let copies = match &self.comparison {
            Comparison::NoFleet => Value::Null,
            Comparison::Compared => json!({ "compared": true, "agree": !self.has_other_copies() }),
            Comparison::NotCompared { why } => json!({ "compared": false, "why": why }),
        };
        json!({ "intact": self.is_intact(), "runs": runs, "database": self.pages, "copies": copies })
    }
}

impl RunReport {
    /// The verdict in one word.
    fn verdict(&self) -> (Style, &'static str) {
        let copy = self.copy.as_ref().map(|copy| copy.verdict);
        match copy {
            _ if !self.verification.intact => (Style::Bad, "DAMAGED"),
            // Its chain is whole, and it is not the journal that was shipped.
            Some(CopyVerdict::Rewritten { .. }) => (Style::Bad, "REWRITTEN"),
            Some(CopyVerdict::RolledBack { .. }) => (Style::Bad, "ROLLED BACK"),
            Some(CopyVerdict::NotShipped | CopyVerdict::Agrees { .. }) | None => {
                (Style::Good, "intact")
            }
        }
    }

    fn text(&self, paint: Paint) -> String {
        let Verification {
            entries,
            faults,
            anchored,
            ..
        } = &self.verification;
        let (style, word) = self.verdict();
        let unwitnessed = if self.marks.unwitnessed {
            ", unwitnessed"
        } else {
            ""
        };
        let noun = match entries {
            1 => "entry",
            _ => "entries",
        };
        let mut text = format!(
            "{}  {}  {entries} {noun}, {anchored} anchored{}{unwitnessed}\n",
            self.run,
            paint.on(style, word),
            self.shipped_words()
        );
        if let Some(line) = self.copy_line() {
            let _ = writeln!(text, "  {}", paint.on(Style::Bad, &line));
        }
        if let Some(adoption) = &self.adoption {
            let line = views::adopted_elsewhere(adoption.entry, &adoption.by, &adoption.person);
            let _ = writeln!(text, "  {}", paint.on(Style::Wait, &line));
        }
        if self.marks.unjudged > 0 {
            let line = views::unjudged_words(self.marks.unjudged);
            let _ = writeln!(text, "  {}", paint.on(Style::Bad, &line));
        }
        if self.marks.outside > 0 {
            let line = views::outside_words(self.marks.outside);
            let _ = writeln!(text, "  {}", paint.on(Style::Wait, &line));
        }
        for work in &self.marks.unguarded {
            let _ = writeln!(text, "  {}", paint.on(Style::Bad, &work.text()));
        }
        for work in &self.marks.unrecorded {
            let line = format!("{}, found now and not recorded yet", work.text());
            let _ = writeln!(text, "  {}", paint.on(Style::Bad, &line));
        }
        for taken in &self.marks.overrides {
            let _ = writeln!(text, "  {}", paint.on(Style::Bad, taken));
        }
        for fault in faults {
            let line = views::line(&fault_line(fault));
            let _ = writeln!(text, "  {}", paint.on(Style::Bad, &line));
        }
        text
    }

    fn shipped_words(&self) -> String {
        match self.copy.as_ref().map(|copy| copy.verdict) {
            Some(CopyVerdict::NotShipped) => ", 0 shipped".to_owned(),
            Some(CopyVerdict::Agrees { entries }) => format!(", {entries} shipped"),
            Some(CopyVerdict::Rewritten { .. } | CopyVerdict::RolledBack { .. }) | None => {
                String::new()
            }
        }
    }

    fn copy_line(&self) -> Option<String> {
        let verdict = self.copy.as_ref()?.verdict;
        let word = verdict.word();
        match verdict {
            CopyVerdict::NotShipped | CopyVerdict::Agrees { .. } => None,
            CopyVerdict::Rewritten { entry } => Some(format!(
                "entry {entry}: {word}: the copy in the fleet's database has another entry"
            )),
            CopyVerdict::RolledBack { shipped } => Some(format!(
                "entry {}: {word}: the copy in the fleet's database has {shipped} entries",
                self.verification.entries
            )),
        }
    }

    fn copy_json(&self) -> Value {
        let Some(copy) = &self.copy else {
            return Value::Null;
        };
        let (entries, entry) = match copy.verdict {
            CopyVerdict::NotShipped => (Some(0), None),
            CopyVerdict::Agrees { entries } => (Some(entries), None),
            CopyVerdict::Rewritten { entry } => (None, Some(entry)),
            CopyVerdict::RolledBack { shipped } => (Some(shipped), None),
        };
        json!({ "verdict": copy.verdict.word(), "entries": entries, "entry": entry })
    }

    fn json(&self) -> Value {
        let Verification {
            entries,
            intact,
            faults,
            anchored,
        } = &self.verification;
        let fault = |fault: &Fault| {
            json!({
                "entry": fault.number,
                "kind": fault.kind.to_string(),
                "detail": fault.detail,
            })
        };
        json!({
            "run": self.run.as_str(),
            "intact": intact,
            "entries": entries,
            "anchored": anchored,
            "witnessed": !self.marks.unwitnessed,
            "unjudged": self.marks.unjudged,
            "outside": self.marks.outside,
            "unguarded": texts(self.marks.unguarded.iter().chain(&self.marks.unrecorded)),
            "unrecorded": texts(self.marks.unrecorded.iter()),
            "overrides": self.marks.overrides,
            "copy": self.copy_json(),
            "adopted": self.adoption.as_ref().map(adoption_json),
            "faults": faults.iter().map(fault).collect::<Vec<_>>(),
        })
    }
}

fn texts<'a>(lines: impl Iterator<Item = &'a views::UnguardedLine>) -> Vec<String> {
    lines.map(views::UnguardedLine::text).collect()
}

pub(crate) fn fault_line(fault: &Fault) -> String {
    let Fault {
        number,
        kind,
        detail,
    } = fault;
    format!("entry {number}: {kind}: {detail}")
}

/// Another machine goes on with a run, for other programs.
pub(crate) fn adoption_json(adoption: &Adoption) -> Value {
    json!({ "by": adoption.by, "person": adoption.person, "entry": adoption.entry })
}
