//! Parses a line that starts in column one into a step.

mod worker_line;

use std::collections::BTreeMap;

use engine::{AgentName, Change, CheckpointName, Driver, LineCount, SessionId, StepId};

use super::known_names::{KnownNames, name};
use super::mistake::Mistake;
use super::phrase::{Phrase, pair};
use super::step::{
    Act, Background, By, CheckHow, Entrance, Given, HostAct, PersonAct, Point, Start, Step,
    StepsGiven,
};
use super::words::{Form, Word};
pub(crate) use worker_line::subject;
use worker_line::{plain, worker};

/// The session that starts a guarded run.
pub(crate) const FIRST_SESSION: &str = "one";

/// Why an invented change cannot be measured.
pub(crate) const UNSEEN: &str = "nobody can look at it";

pub(super) type Read<T> = Result<T, Mistake>;

/// How often a step happens, and the step.
pub(crate) fn step(phrase: &mut Phrase<'_>, known: &mut KnownNames<'_>) -> Read<(u32, Step)> {
    let repeated = phrase.peek_after(1).is_some_and(|word| word.is("times"));
    let is_number = phrase
        .peek()
        .is_some_and(|word| word.text.parse::<u32>().is_ok());
    let times = if repeated && is_number {
        let times = phrase.number("a number")?;
        phrase.accept("times");
        times
    } else {
        1
    };
    let step = sentence(phrase, known)?;
    phrase.end()?;
    Ok((times, step))
}

fn sentence(phrase: &mut Phrase<'_>, known: &mut KnownNames<'_>) -> Read<Step> {
    if phrase.accept("in session") {
        let session = name(phrase.word("a session")?, SessionId::parse)?;
        return Ok(Step::Act {
            by: By::Session(session),
            act: act(phrase, known)?,
        });
    }
    if phrase.accept("given") {
        return given(phrase, known).map(Step::Given);
    }
    if phrase.accept("start") {
        return start(phrase, known).map(Step::Start);
    }
    if phrase.accept("tree changes") {
        return Ok(Step::TreeChanges);
    }
    if phrase.accept("change") {
        return change(phrase).map(Step::Change);
    }
    if phrase.accept("wait") {
        return phrase.duration().map(Step::Wait);
    }
    act(phrase, known).map(Step::usual)
}

/// `unseen`, `2 files 30 lines`, or `30 lines in "src/a.rs", "src/b.rs"`.
fn change(phrase: &mut Phrase<'_>) -> Read<Change> {
    const WANTED: &str = "`unseen`, `2 files 30 lines` or `30 lines in PATH, PATH`";
    if phrase.accept("unseen") {
        let reason = String::from(UNSEEN);
        return Ok(Change::Unseen { reason });
    }
    let number = phrase.number(WANTED)?;
    if phrase.accept("files") || phrase.accept("file") {
        let lines = phrase.number(WANTED)?;
        phrase.one_of(WANTED, &[("lines", ()), ("line", ())])?;
        let paths = (1..=number).map(|place| format!("file-{place}"));
        return Ok(Change::of(paths.collect(), LineCount::Counted(lines)));
    }
    phrase.one_of(WANTED, &[("lines in", ()), ("line in", ())])?;
    let mut paths = vec![phrase.text("a path")?];
    while phrase.peek().is_some() {
        paths.push(phrase.text("a path")?);
    }
    paths.sort();
    Ok(Change::of(paths, LineCount::Counted(number)))
}

fn given(phrase: &mut Phrase<'_>, known: &mut KnownNames<'_>) -> Read<Given> {
    #[derive(Clone, Copy)]
    enum What {
        Step,
        Question,
        Old,
    }
    let kinds = [
        ("step", What::Step),
        ("question", What::Question),
        ("old", What::Old),
    ];
    match phrase.one_of("`step`, `question` or `old`", &kinds)? {
        What::Step => {
            let step = planned(phrase)?;
            known.add_step(&step);
            Ok(Given::Step(step))
        }
        What::Question => {
            let id = phrase.text("the id of a question")?;
            Ok(Given::Question {
                id,
                text: phrase.text("the question")?,
            })
        }
        What::Old => known.artifact(phrase.word("an artifact")?).map(Given::Old),
    }
}

/// `ID by AGENT needs ID, ID`. Names in a plan need not exist: plans can be wrong.
fn planned(phrase: &mut Phrase<'_>) -> Read<engine::Step> {
    let id = name(phrase.word("the id of a step")?, StepId::parse)?;
    phrase.one_of("`by`", &[("by", ())])?;
    let agent = name(phrase.word("an agent")?, AgentName::parse)?;
    let mut needs = Vec::new();
    if phrase.accept("needs") {
        needs.push(name(phrase.word("the id of a step")?, StepId::parse)?);
        while phrase.peek().is_some() {
            needs.push(name(phrase.word("the id of a step")?, StepId::parse)?);
        }
    }
    Ok(engine::Step {
        title: id.to_string(),
        id,
        agent,
        needs,
    })
}

fn start(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<Start> {
    let mut start = Start {
        driver: Driver::Guarded,
        entry: Entrance::AtOnce,
        steps: StepsGiven::Usual,
        params: BTreeMap::new(),
    };
    while let Some(word) = phrase.peek() {
        if phrase.accept("by hand") {
            start.driver = Driver::ByHand;
        } else if phrase.accept("headless") {
            start.driver = Driver::Headless;
        } else if phrase.accept("queued") {
            start.entry = Entrance::Queued;
        } else if phrase.accept("with steps") {
            start.steps = StepsGiven::AtStart;
        } else {
            let wanted = "`by hand`, `headless`, `queued`, `with steps` or `NAME=VALUE`";
            let (key, value) = pair(word, wanted)?;
            start
                .params
                .insert(known.param(word, key)?, String::from(value));
            phrase.word("a parameter")?;
        }
    }
    Ok(start)
}

fn act(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<Act> {
    let first = phrase.peek().filter(|word| word.form == Form::Bare);
    match first.map_or("", |word| word.text.as_str()) {
        "session" => session(phrase, known),
        "check" => check(phrase, known),
        "report" => report(phrase, known),
        "tool" | "stop" | "prompt" | "take" => host(phrase).map(Act::Host),
        "answer" | "answers" | "continue" | "finish" | "skip" | "retry" | "cancel" | "reset"
        | "checkpoint" | "restore" => person(phrase, known).map(Act::Person),
        _ => worker(phrase, known),
    }
}

/// What a host's hooks or our orchestrator report.
fn host(phrase: &mut Phrase<'_>) -> Read<HostAct> {
    let verb = phrase.word("a step")?;
    match verb.text.as_str() {
        "tool" => phrase.text("a tool").map(HostAct::Tool),
        "prompt" => Ok(HostAct::Prompt),
        "take" => phrase
            .one_of("`up`", &[("up", ())])
            .map(|()| HostAct::TakeUp),
        _ => Ok(HostAct::Stop {
            background: if phrase.accept("with background work") {
                Background::Working
            } else {
                Background::None
            },
        }),
    }
}

/// What a person does.
fn person(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<PersonAct> {
    let verb = phrase.word("a step")?;
    match verb.text.as_str() {
        "answer" => Ok(PersonAct::Answer {
            choice: known.choice(phrase.word("a choice")?)?,
            words: saying(phrase)?,
        }),
        "answers" => answers(phrase),
        "continue" => Ok(PersonAct::Continue),
        "finish" => Ok(PersonAct::Finish),
        "skip" => {
            let named = phrase.peek().filter(|word| !word.is("because"));
            let outcome = named.map(|word| known.outcome(word)).transpose()?;
            if named.is_some() {
                phrase.word("an outcome")?;
            }
            Ok(PersonAct::Skip {
                outcome,
                reason: because(phrase)?,
            })
        }
        "retry" => Ok(PersonAct::Retry),
        "cancel" => Ok(PersonAct::Cancel {
            reason: because(phrase)?,
        }),
        "reset" => Ok(PersonAct::Reset {
            reason: because(phrase)?,
        }),
        "checkpoint" => {
            name(phrase.word("a name")?, CheckpointName::parse).map(PersonAct::Checkpoint)
        }
        _ => {
            let word = phrase.word("the name of a checkpoint, or @STAGE")?;
            let point = match word.text.strip_prefix('@') {
                Some(stage) => {
                    let text = stage.to_owned();
                    Point::Stage(known.stage(&Word {
                        text,
                        ..word.clone()
                    })?)
                }
                None => name(word, CheckpointName::parse).map(Point::Checkpoint)?,
            };
            Ok(PersonAct::Restore {
                point,
                reason: because(phrase)?,
            })
        }
    }
}

fn answers(phrase: &mut Phrase<'_>) -> Read<PersonAct> {
    let mut given = BTreeMap::new();
    let wanted = "an answer as `q1=JWT`";
    loop {
        let (id, text) = pair(phrase.word(wanted)?, wanted)?;
        given.insert(String::from(id), String::from(text));
        if phrase.peek().is_none() {
            return Ok(PersonAct::Answers(given));
        }
    }
}

fn saying(phrase: &mut Phrase<'_>) -> Read<String> {
    if phrase.accept("saying") {
        phrase.text("the person's words in quotes")
    } else {
        Ok(String::new())
    }
}

fn because(phrase: &mut Phrase<'_>) -> Read<String> {
    if phrase.accept("because") {
        phrase.text("a reason in quotes")
    } else {
        Ok(String::new())
    }
}

/// `session two opens`, `session closes`, and the main session's own work.
fn session(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<Act> {
    let is_host = |word: Option<&Word>| word.is_some_and(|w| w.is("opens") || w.is("closes"));
    let named = is_host(phrase.peek_after(2));
    if !named && !is_host(phrase.peek_after(1)) {
        return worker(phrase, known);
    }
    phrase.accept("session");
    let session = if named {
        name(phrase.word("a session")?, SessionId::parse)?
    } else {
        first_session()?
    };
    let opens = phrase.one_of("`opens` or `closes`", &[("opens", true), ("closes", false)])?;
    Ok(Act::Host(if opens {
        HostAct::Open(session)
    } else {
        HostAct::Close(session)
    }))
}

fn first_session() -> Read<SessionId> {
    let word = Word {
        text: String::from(FIRST_SESSION),
        form: Form::Bare,
        span: 0..0,
    };
    name(&word, SessionId::parse)
}

fn check(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<Act> {
    phrase.accept("check");
    let stage = if phrase.accept("of") {
        Some(known.stage(phrase.word("a stage")?)?)
    } else {
        None
    };
    let how = phrase.one_of("the end of a check", &CheckHow::ALL)?;
    Ok(Act::Check { stage, how })
}

fn report(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<Act> {
    phrase.accept("report");
    let subject = subject(phrase, known)?;
    Ok(Act::Report {
        subject,
        how: plain(phrase, known)?,
    })
}
