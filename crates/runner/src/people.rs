//! People: their answers in advance, and the question at the terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use engine::{Choice, Next, Question, RunId, StageName, Who};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use store::{Backend as _, Key};

use runtime::answers;
use runtime::drive_settings::DriveSettings;
use runtime::failure::Failure;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};

/// The longest answer that is read.
const LONGEST: usize = 16 * 1024;

/// How often we look whether somebody answered elsewhere.
const GLANCE: Duration = Duration::from_millis(500);

/// What a person is asked.
pub enum Asked {
    Choice {
        question: String,
        choices: Vec<String>,
    },
    Questions {
        question: String,
        questions: Vec<Question>,
    },
    /// How a run goes on that cannot go on by itself.
    Decision { choices: Vec<Choice> },
    /// Something for which there are commands, and no question.
    Command,
}

/// What the run asks of a person now.
pub fn asked(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Asked, Failure> {
    let next = engine::next(&opened.pipeline, opened.run());
    for next in next {
        match next {
            Next::Answer { question, choices } => {
                let choices = choices.iter().map(ToString::to_string).collect();
                return Ok(Asked::Choice { question, choices });
            }
            Next::Answers { question } => {
                let questions = answers::questions(workspace, opened)?.unwrap_or_default();
                return Ok(Asked::Questions {
                    question,
                    questions,
                });
            }
            Next::Finish => {
                return Ok(Asked::Choice {
                    question: format!("is {} done?", opened.run().position.stage),
                    choices: vec![FINISH.to_owned()],
                });
            }
            Next::Decide { choices, .. } => return Ok(Asked::Decision { choices }),
            _ => {}
        }
    }
    Ok(Asked::Command)
}

/// The word for a decision at the terminal. Who wants to begin again from the start has a command.
pub fn word(choice: &Choice) -> Option<&'static str> {
    match choice {
        Choice::Retry => Some("retry"),
        Choice::Skip { .. } => Some("skip"),
        Choice::Continue => Some("continue"),
        Choice::Cancel => Some("cancel"),
        Choice::Reset => None,
    }
}

pub fn words(choices: &[Choice]) -> Vec<String> {
    let words = choices.iter().filter_map(word);
    words.map(str::to_owned).collect()
}

/// The word that ends an open stage.
pub const FINISH: &str = "finish";

/// The answer that was given in advance for the present stage, once.
pub fn in_advance(
    workspace: &mut Workspace<'_>,
    opened: &OpenRun,
    settings: &DriveSettings,
) -> Result<Option<Decided>, Failure> {
    // It answers the question of the stage, and lifts nothing that stopped the run.
    if opened.run().standing != engine::Standing::Going {
        return Ok(None);
    }
    let stage = opened.run().position.stage.clone();
    let Some(choice) = settings.answers.get(&stage) else {
        return Ok(None);
    };
    let key = key(&stage)?;
    if !workspace.store.keyed(&opened.run().id, &key)?.is_empty() {
        return Ok(None);
    }
    let by = Who::Unattended(format!("{}, in advance", settings.given_by));
    give(workspace, opened, (&by, &key), choice).map(Some)
}

/// Invariant: one key for each stage, so that an answer in advance counts once, whatever happens.
fn key(stage: &StageName) -> Result<Key, Failure> {
    let text = format!("advance-{stage}");
    Key::parse(&text).map_err(|problem| Failure::bug(format!("{text} is no key ({problem})")))
}

/// Gives this answer for the present stage.
pub fn give(
    workspace: &mut Workspace<'_>,
    opened: &OpenRun,
    (by, key): (&Who, &Key),
    choice: &str,
) -> Result<Decided, Failure> {
    let mut make = |_: &Workspace<'_>, opened: &OpenRun, at| match choice {
        FINISH if is_open(opened) => Ok(Request::from(engine::Happening::Person(
            engine::PersonEvent::FinishAsked,
        ))),
        choice => answers::chosen(opened, choice, at),
    };
    let opened = workspace.read(&opened.run().id)?;
    transact::transact(
        workspace,
        Target::Seen(Box::new(opened)),
        Options { by, key: Some(key) },
        &mut make,
    )
}

fn is_open(opened: &OpenRun) -> bool {
    let stage = opened.pipeline.stage(&opened.run().position.stage);
    stage.is_some_and(|stage| matches!(stage.work, engine::Work::Open(_)))
}

/// The terminal of a person.
pub struct Terminal(File);

/// What came of waiting at the terminal.
pub enum Heard {
    Line(String),
    /// The run has moved: somebody answered elsewhere.
    Moved,
    Stopped,
}

impl Terminal {
    /// The terminal, where a person sits at one.
    pub fn of(who: &Who) -> Option<Self> {
        let Who::Person(_) = who else { return None };
        let opened = OpenOptions::new().read(true).write(true).open("/dev/tty");
        opened.ok().map(Self)
    }

    pub fn say(&mut self, text: &str) -> Result<(), Failure> {
        let written = self.0.write_all(text.as_bytes());
        written.map_err(Failure::file("write to", Path::new("/dev/tty")))
    }

    /// Waits for a line. Whoever answers elsewhere ends the wait, and so does a signal.
    pub fn hear(
        &mut self,
        workspace: &Workspace<'_>,
        (run, version): (&RunId, u64),
        stopped: &dyn Fn() -> bool,
    ) -> Result<Heard, Failure> {
        let tick = Timespec {
            tv_sec: 0,
            tv_nsec: i64::try_from(GLANCE.as_nanos()).unwrap_or(i64::MAX),
        };
        loop {
            if stopped() {
                return Ok(Heard::Stopped);
            }
            let mut ready = [PollFd::new(&self.0, PollFlags::IN)];
            let heard = poll(&mut ready, Some(&tick)).unwrap_or_default() > 0;
            if heard {
                return self.line();
            }
            let now = workspace.store.run(run)?.map(|stored| stored.version);
            if now != Some(version) {
                return Ok(Heard::Moved);
            }
        }
    }

    fn line(&mut self) -> Result<Heard, Failure> {
        let mut bytes = vec![0; LONGEST];
        let read = self.0.read(&mut bytes);
        let read = read.map_err(Failure::file("read", Path::new("/dev/tty")))?;
        // The end of the terminal: whoever sat there is gone.
        if read == 0 {
            return Ok(Heard::Stopped);
        }
        bytes.truncate(read);
        Ok(Heard::Line(
            String::from_utf8_lossy(&bytes).trim().to_owned(),
        ))
    }
}
