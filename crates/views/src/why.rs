//! One decision: the rule, the request, the evidence and the result.

use engine::{CheckResult, CheckedProgram, Entry, Fact, ProgramPlace};
use serde_json::{Value, json};

use crate::fact::{AgentNames, check_line};
use crate::history::HistoryLine;
use crate::layout::{TextBuilder, pad};
use crate::paint::{Paint, Style};
use crate::safe::{Untrusted, line};
use crate::time::rfc3339;
use crate::words::who_json;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyView {
    /// The entry that was asked about.
    pub asked: HistoryLine,
    /// What somebody did or requested.
    pub inputs: Vec<WhyLine>,
    /// The evidence.
    pub evidence: Vec<WhyLine>,
    /// What changed.
    pub consequences: Vec<WhyLine>,
}

/// One entry of the decision with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyLine {
    pub line: HistoryLine,
    pub hashes: Vec<(&'static str, String)>,
    pub checks: Vec<CheckLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckLine {
    pub what: Untrusted,
    /// The programs that ran, each with its hash.
    pub programs: Vec<Untrusted>,
    pub tail: Untrusted,
}

/// What an entry is to its decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Input,
    Evidence,
    Consequence,
}

/// Explains entry `asked` by the entries of its decision; `None` when it is not among them.
pub fn why(asked: u64, decision: &[(u64, &Entry)], names: &AgentNames) -> Option<WhyView> {
    let (_, entry) = decision.iter().find(|(number, _)| *number == asked)?;
    let lines = |role_of: Role| {
        let entries = decision
            .iter()
            .filter(move |(_, entry)| role(&entry.fact) == role_of);
        entries
            .map(|(number, entry)| WhyLine::new(*number, entry, names))
            .collect()
    };
    Some(WhyView {
        asked: HistoryLine::new(asked, entry, names),
        inputs: lines(Role::Input),
        evidence: lines(Role::Evidence),
        consequences: lines(Role::Consequence),
    })
}

fn role(fact: &Fact) -> Role {
    match fact {
        Fact::Started(_)
        | Fact::Forked { .. }
        | Fact::TakenUp
        | Fact::Placed(_)
        | Fact::Relocated(_)
        | Fact::Delivered(_)
        | Fact::DeliveryFailed { .. }
        | Fact::TaskGiven { .. }
        | Fact::NextTaskGiven { .. }
        | Fact::Attached { .. }
        | Fact::Detached { .. }
        | Fact::Answered { .. }
        | Fact::Overridden { .. }
        | Fact::Continued { .. }
        | Fact::Cancelled { .. }
        | Fact::Reset { .. }
        | Fact::Bypassed { .. }
        | Fact::Checkpointed { .. }
        | Fact::Vouched { .. }
        | Fact::AcceptedUnguarded { .. }
        | Fact::Adopted { .. }
        | Fact::Restored { .. } => Role::Input,
        Fact::Began { .. }
        | Fact::Worked { .. }
        | Fact::Unevaluated { .. }
        | Fact::Unguarded(_)
        | Fact::ChangedOutside(_)
        | Fact::Ended { .. }
        | Fact::Captured { .. }
        | Fact::Checked { .. }
        | Fact::ReviewerApproved { .. }
        | Fact::ReviewerFound { .. }
        | Fact::Routed(_)
        | Fact::Approved { .. }
        | Fact::Warned { .. }
        | Fact::Noted { .. } => Role::Evidence,
        Fact::Admitted { .. }
        | Fact::SentBack { .. }
        | Fact::CutShort { .. }
        | Fact::Limited(_)
        | Fact::WentOn { .. }
        | Fact::Driven { .. }
        | Fact::Refused { .. }
        | Fact::Retried { .. }
        | Fact::StepRetried { .. }
        | Fact::StepFailed { .. }
        | Fact::Stuck { .. }
        | Fact::Unstuck
        | Fact::GatePassed { .. }
        | Fact::Fixed { .. }
        | Fact::RoundStarted { .. }
        | Fact::RoundsSpent { .. }
        | Fact::Planned { .. }
        | Fact::StepsRevived { .. }
        | Fact::TaskBegan { .. }
        | Fact::Moved(_)
        | Fact::Held { .. }
        | Fact::Abandoned
        | Fact::WentStale
        | Fact::OverBudget { .. }
        | Fact::Halted { .. } => Role::Consequence,
    }
}

impl WhyLine {
    fn new(number: u64, entry: &Entry, names: &AgentNames) -> Self {
        let line = HistoryLine::new(number, entry, names);
        Self {
            line,
            hashes: hashes(&entry.fact),
            checks: checks(&entry.fact),
        }
    }

    fn json(&self) -> Value {
        self.line.json()
    }
}

/// Whole hashes, so that a reader can compare them with the files on disk.
fn hashes(fact: &Fact) -> Vec<(&'static str, String)> {
    match fact {
        Fact::Captured { content, .. } | Fact::Approved { content, .. } => {
            vec![("content", content.to_string())]
        }
        Fact::Checked { tree, .. } if tree.before == tree.after => {
            vec![("tree", tree.before.to_string())]
        }
        Fact::Checked { tree, .. } => {
            vec![
                ("tree before", tree.before.to_string()),
                ("tree after", tree.after.to_string()),
            ]
        }
        Fact::ReviewerApproved { subject, .. } => vec![("subject", subject.to_string())],
        Fact::Admitted { dispatch } => dispatch
            .tree
            .iter()
            .map(|tree| ("tree", tree.to_string()))
            .collect(),
        // The other facts name no content of their own.
        _ => Vec::new(),
    }
}

fn checks(fact: &Fact) -> Vec<CheckLine> {
    let Fact::Checked { results, .. } = fact else {
        return Vec::new();
    };
    let line = |result: &CheckResult| CheckLine {
        what: check_line(result),
        programs: result.programs.iter().map(program_line).collect(),
        tail: Untrusted::new(&result.tail),
    };
    results.iter().map(line).collect()
}

/// `/usr/bin/cargo (system) 3f2a…`: a reader can compare the whole hash with what lies there.
fn program_line(program: &CheckedProgram) -> Untrusted {
    let place = match program.place {
        ProgramPlace::System => "system",
        ProgramPlace::Account => "the account's own",
        ProgramPlace::Project => "in the project",
    };
    let hash = program.hash.map(|hash| hash.to_string());
    let hash = hash.unwrap_or_else(|| "unreadable".to_owned());
    Untrusted::new(format!("{} ({place}) {hash}", program.path))
}

impl WhyView {
    pub fn text(&self, paint: Paint) -> String {
        let mut builder = TextBuilder::new(paint);
        let HistoryLine { number, rule, .. } = &self.asked;
        builder.line(
            Style::Strong,
            &format!("entry {number} · {}: {}", rule.code(), rule.text()),
        );
        builder.field("what", self.asked.style, &self.asked.what.line());
        builder.field("who", Style::Normal, &line(&self.asked.by.name()));
        builder.field("when", Style::Normal, &rfc3339(self.asked.at));
        section(&mut builder, "request", &self.inputs);
        section(&mut builder, "evidence", &self.evidence);
        section(&mut builder, "result", &self.consequences);
        builder.finish()
    }

    pub fn json(&self) -> Value {
        let lines = |lines: &[WhyLine]| lines.iter().map(WhyLine::json).collect::<Vec<_>>();
        let HistoryLine {
            number,
            rule,
            at,
            by,
            what,
            ..
        } = &self.asked;
        json!({
            "entry": number,
            "rule": { "code": rule.code(), "text": rule.text() },
            "at": rfc3339(*at),
            "by": who_json(by),
            "text": what.raw(),
            "inputs": lines(&self.inputs),
            "evidence": lines(&self.evidence),
            "consequences": lines(&self.consequences),
        })
    }
}

fn section(builder: &mut TextBuilder, heading: &str, lines: &[WhyLine]) {
    if lines.is_empty() {
        return;
    }
    builder.blank();
    builder.line(Style::Strong, heading);
    for why in lines {
        let HistoryLine {
            number,
            rule,
            style,
            what,
            ..
        } = &why.line;
        builder.field(
            &number.to_string(),
            *style,
            &format!("{} ({})", what.line(), rule.code()),
        );
        for (name, hash) in &why.hashes {
            builder.field("", Style::Dim, &format!("{} {hash}", pad(name, 7)));
        }
        for check in &why.checks {
            builder.field("", Style::Normal, &format!("$ {}", check.what.line()));
            for program in &check.programs {
                builder.field("", Style::Dim, &format!("program {}", program.line()));
            }
            builder.block(14, Style::Dim, &check.tail.block());
        }
    }
}
