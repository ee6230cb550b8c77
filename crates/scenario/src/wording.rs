//! Writes a step as text that is read back as the same step.

use std::fmt;

use engine::{AgentName, ArtifactName, Change, Driver, Fault, LineCount, StepId, Usage};

use super::step::{
    Act, Background, Begins, By, Entrance, Given, HostAct, How, Left, PersonAct, Point, Start,
    Step, StepsGiven, Subject,
};

/// Words with a meaning where an agent's name could be.
pub(crate) const KEYWORDS: [&str; 25] = [
    "given",
    "start",
    "tree",
    "change",
    "wait",
    "in",
    "session",
    "check",
    "answer",
    "answers",
    "continue",
    "finish",
    "skip",
    "retry",
    "cancel",
    "reset",
    "checkpoint",
    "restore",
    "report",
    "take",
    "stop",
    "tool",
    "prompt",
    "step",
    "with",
];

/// A text that is read back unchanged.
pub(crate) fn quote(text: &str) -> String {
    if text.contains('"') {
        format!("«{text}»")
    } else {
        format!("\"{text}\"")
    }
}

/// A value after an equals sign, quoted if necessary.
fn value(text: &str) -> String {
    let plain = |found: char| found.is_ascii_alphanumeric() || "-_./:{}".contains(found);
    if !text.is_empty() && text.chars().all(plain) {
        String::from(text)
    } else {
        quote(text)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checkpoint(name) => write!(f, "{name}"),
            Self::Stage(stage) => write!(f, "@{stage}"),
        }
    }
}

fn because(reason: &str) -> String {
    if reason.is_empty() {
        String::new()
    } else {
        format!(" because {}", quote(reason))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(given) => write!(f, "given {given}"),
            Self::Start(start) => start.fmt(f),
            Self::TreeChanges => f.write_str("tree changes"),
            Self::Change(change) => changed(f, change),
            Self::Wait(time) => write!(f, "wait {time}"),
            Self::Act { by: By::Usual, act } => act.fmt(f),
            Self::Act {
                by: By::Session(session),
                act,
            } => write!(f, "in session {session} {act}"),
        }
    }
}

fn changed(f: &mut fmt::Formatter<'_>, change: &Change) -> fmt::Result {
    let Change::Seen { lines, paths, .. } = change else {
        return f.write_str("change unseen");
    };
    let lines = match lines {
        LineCount::Counted(lines) => *lines,
        LineCount::Unasked | LineCount::Unseen(_) => 0,
    };
    if paths.is_empty() {
        return write!(f, "change 0 files {lines} lines");
    }
    let paths: Vec<String> = paths.iter().map(|path| quote(path)).collect();
    write!(f, "change {lines} lines in {}", paths.join(", "))
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(step) => {
                write!(f, "step {} by {}", step.id, step.agent)?;
                let needs: Vec<&str> = step.needs.iter().map(StepId::as_str).collect();
                if needs.is_empty() {
                    Ok(())
                } else {
                    write!(f, " needs {}", needs.join(", "))
                }
            }
            Self::Question { id, text } => write!(f, "question {id} {}", quote(text)),
            Self::Old(artifact) => write!(f, "old {artifact}"),
        }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("start")?;
        match self.driver {
            Driver::Guarded => {}
            Driver::ByHand => f.write_str(" by hand")?,
            Driver::Headless => f.write_str(" headless")?,
        }
        if self.entry == Entrance::Queued {
            f.write_str(" queued")?;
        }
        if self.steps == StepsGiven::AtStart {
            f.write_str(" with steps")?;
        }
        self.params
            .iter()
            .try_for_each(|(name, text)| write!(f, " {name}={}", value(text)))
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin(subject) => write!(f, "{subject} begins"),
            Self::End {
                subject,
                begins,
                how,
                usage,
            } => {
                write!(f, "{subject} {}{}", ended(*begins, how), UsageWords(usage))
            }
            Self::Report { subject, how } => write!(f, "report {subject}{}", outcome(how)),
            Self::Check { stage: None, how } => write!(f, "check {}", how.words()),
            Self::Check {
                stage: Some(stage),
                how,
            } => {
                write!(f, "check of {stage} {}", how.words())
            }
            Self::Person(act) => act.fmt(f),
            Self::Host(act) => act.fmt(f),
        }
    }
}

impl fmt::Display for PersonAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer { choice, words } if words.is_empty() => write!(f, "answer {choice}"),
            Self::Answer { choice, words } => {
                write!(f, "answer {choice} saying {}", quote(words))
            }
            Self::Answers(given) => {
                f.write_str("answers")?;
                given
                    .iter()
                    .try_for_each(|(id, text)| write!(f, " {id}={}", value(text)))
            }
            Self::Continue => f.write_str("continue"),
            Self::Finish => f.write_str("finish"),
            Self::Skip {
                outcome: None,
                reason,
            } => write!(f, "skip{}", because(reason)),
            Self::Skip {
                outcome: Some(outcome),
                reason,
            } => {
                write!(f, "skip {outcome}{}", because(reason))
            }
            Self::Retry => f.write_str("retry"),
            Self::Cancel { reason } => write!(f, "cancel{}", because(reason)),
            Self::Reset { reason } => write!(f, "reset{}", because(reason)),
            Self::Checkpoint(name) => write!(f, "checkpoint {name}"),
            Self::Restore { point, reason } => write!(f, "restore {point}{}", because(reason)),
        }
    }
}

impl fmt::Display for HostAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(session) => write!(f, "session {session} opens"),
            Self::Close(session) => write!(f, "session {session} closes"),
            Self::TakeUp => f.write_str("take up"),
            Self::Stop {
                background: Background::None,
            } => f.write_str("stop"),
            Self::Stop {
                background: Background::Working,
            } => f.write_str("stop with background work"),
            Self::Tool(tool) => write!(f, "tool {}", value(tool)),
            Self::Prompt => f.write_str("prompt"),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(agent) => f.write_str(&name(agent)),
            Self::Step(step) => write!(f, "step {step}"),
            Self::AgentWithStep(agent, step) => write!(f, "{} with step {step}", name(agent)),
        }
    }
}

/// `session` is a keyword and also a worker's name; other keywords are quoted.
fn name(agent: &AgentName) -> String {
    let name = agent.as_str();
    let reserved = name != engine::SESSION && KEYWORDS.contains(&name);
    if reserved {
        quote(name)
    } else {
        String::from(name)
    }
}

fn ended(begins: Begins, how: &How) -> String {
    let plain = match begins {
        Begins::Not => "ends",
        Begins::First => "works",
        Begins::IfIdle => return verb(how),
    };
    format!("{plain}{}", outcome(how))
}

fn outcome(how: &How) -> String {
    match how {
        How::Outcome(outcome) => format!(" {outcome}"),
        How::Fault(fault) => format!(" {}", fault.word()),
        How::Well | How::Adds(_) | How::Says(_) | How::Leaves { .. } => String::new(),
    }
}

fn verb(how: &How) -> String {
    match how {
        How::Well | How::Outcome(_) => format!("works{}", outcome(how)),
        How::Fault(Fault::Crashed) => String::from("crashes"),
        How::Fault(Fault::Timeout) => String::from("times out"),
        How::Fault(Fault::Missing) => String::from("leaves nothing"),
        How::Fault(Fault::Hollow) => String::from("is hollow"),
        How::Fault(Fault::Strayed) => String::from("strays"),
        How::Fault(Fault::Conflict) => String::from("conflicts"),
        How::Fault(Fault::Limited) => String::from("is limited"),
        How::Adds(command) => format!("adds {}", quote(command)),
        How::Says(word) => format!("says {}", quote(word)),
        How::Leaves {
            state: Left::Nothing,
            artifact: None,
        } => String::from("leaves nothing"),
        How::Leaves { state, artifact } => {
            let article = match state {
                Left::Old => "an old",
                Left::Invalid => "an invalid",
                Left::Nothing => "no",
            };
            let artifact = artifact.as_ref().map_or("artifact", ArtifactName::as_str);
            format!("leaves {article} {artifact}")
        }
    }
}

struct UsageWords<'a>(&'a Usage);

impl fmt::Display for UsageWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Usage {
            turns,
            tokens,
            cost_cents,
            estimated_cents: _,
        } = self.0;
        let used = [(turns, "turns"), (tokens, "tokens"), (cost_cents, "cents")];
        let used = used.into_iter().filter(|(amount, _)| **amount > 0);
        let used: Vec<String> = used
            .map(|(amount, unit)| format!("{amount} {unit}"))
            .collect();
        if used.is_empty() {
            Ok(())
        } else {
            write!(f, " using {}", used.join(", "))
        }
    }
}
