//! What a person types after `:`, and the answer to a question.

use engine::{Question, RunId};
use runtime::answers::with_edits;
use views::Style;

use super::keys::{Edited, edit};
use super::{Mode, Screen};
use crate::event::{Act, Deed, Effect, Key, TextTarget};

/// The commands that can be typed, with what each does.
pub(crate) const COMMANDS: [(&str, &str); 7] = [
    (
        "answer CHOICE [WORDS]",
        "answer; --with-edits takes your changes of artifacts",
    ),
    ("retry", "retry the failed work of the run"),
    ("cancel REASON", "cancel the run; asks for its id"),
    (
        "diff [STAGE|d3]",
        "what the run, a stage or a piece of work changed",
    ),
    ("resume", "shows what to type in a shell"),
    ("why ENTRY", "explain an entry of the journal"),
    ("quit", "leave"),
];

impl Screen {
    pub(super) fn command_key(&mut self, key: Key, mut typed: String) -> Vec<Effect> {
        match edit(key, &mut typed) {
            Edited::Typed => {
                self.mode = Mode::Command { typed };
                Vec::new()
            }
            Edited::Left => {
                self.mode = Mode::Normal;
                Vec::new()
            }
            Edited::Sent => {
                self.mode = Mode::Normal;
                self.command(&typed)
            }
        }
    }

    fn command(&mut self, typed: &str) -> Vec<Effect> {
        let (word, rest) = first_word(typed);
        match word {
            "" => Vec::new(),
            "q" | "quit" => vec![Effect::Quit],
            "answer" if rest.is_empty() => {
                self.begin_answer();
                Vec::new()
            }
            "answer" => self.act(|run| chosen(run, rest)),
            "retry" => self.act(|run| Act {
                run,
                deed: Deed::Retry,
            }),
            "cancel" => self.ask_before_cancel(rest),
            "diff" => self.open_change(rest),
            "resume" => {
                if let Some(run) = self.selected_run() {
                    let text = format!("type in a shell: gatewright resume {run}");
                    self.tell(Style::Strong, text);
                }
                Vec::new()
            }
            "why" => match rest.parse() {
                Ok(entry) => self.open_why(entry),
                Err(_) => {
                    self.tell(Style::Wait, "type the number of an entry: `:why 12`");
                    Vec::new()
                }
            },
            other => {
                let text = format!("'{other}' is not a command here; `?` lists them");
                self.tell(Style::Wait, text);
                Vec::new()
            }
        }
    }

    fn act(&mut self, make: impl FnOnce(RunId) -> Act) -> Vec<Effect> {
        match self.selected_run().cloned() {
            Some(run) => vec![Effect::Act(make(run))],
            None => {
                self.tell(Style::Wait, "no run is selected");
                Vec::new()
            }
        }
    }

    fn open_change(&mut self, of: &str) -> Vec<Effect> {
        let Some(run) = self.selected_run().cloned() else {
            self.tell(Style::Wait, "no run is selected");
            return Vec::new();
        };
        let target = match of {
            "" => TextTarget::Change { run },
            of => TextTarget::WorkChange {
                run,
                of: of.to_owned(),
            },
        };
        vec![Effect::Open(target)]
    }

    /// A run that is cancelled cannot continue, so its id is typed first.
    fn ask_before_cancel(&mut self, reason: &str) -> Vec<Effect> {
        match self.selected_run().cloned() {
            Some(_) if reason.is_empty() => {
                self.tell(Style::Wait, "say why: `:cancel REASON`");
            }
            Some(run) => {
                self.mode = Mode::Confirm {
                    run,
                    reason: reason.to_owned(),
                    typed: String::new(),
                };
            }
            None => self.tell(Style::Wait, "no run is selected"),
        }
        Vec::new()
    }

    pub(super) fn begin_answer(&mut self) {
        let asks = self.shown_run().filter(|run| run.status.inbox.is_some());
        match asks.map(|run| run.status.run.clone()) {
            Some(run) => {
                self.mode = Mode::Answer {
                    run,
                    typed: String::new(),
                    given: Vec::new(),
                };
            }
            None => self.tell(Style::Dim, "the selected run asks nothing now"),
        }
    }

    pub(super) fn answer_key(
        &mut self,
        key: Key,
        run: RunId,
        mut typed: String,
        given: Vec<(String, String)>,
    ) -> Vec<Effect> {
        match edit(key, &mut typed) {
            Edited::Typed => {
                self.mode = Mode::Answer { run, typed, given };
                Vec::new()
            }
            Edited::Left => {
                self.mode = Mode::Normal;
                self.tell(Style::Dim, "nothing was answered");
                Vec::new()
            }
            Edited::Sent if typed.trim().is_empty() => {
                self.mode = Mode::Answer { run, typed, given };
                Vec::new()
            }
            Edited::Sent => self.answer(run, typed.trim(), given),
        }
    }

    fn answer(&mut self, run: RunId, typed: &str, mut given: Vec<(String, String)>) -> Vec<Effect> {
        let questions = self.questions().len();
        if let Some(question) = self.questions().get(given.len()) {
            given.push((question.id.clone(), option_of(question, typed)));
            if given.len() < questions {
                let typed = String::new();
                self.mode = Mode::Answer { run, typed, given };
                return Vec::new();
            }
            self.mode = Mode::Normal;
            let deed = Deed::AnswerAll(given);
            return vec![Effect::Act(Act { run, deed })];
        }
        self.mode = Mode::Normal;
        let (word, rest) = first_word(typed);
        let choice = self.choice_of(word);
        vec![Effect::Act(chosen(run, &format!("{choice} {rest}")))]
    }

    /// The questions of a worker of the shown run.
    pub(crate) fn questions(&self) -> &[Question] {
        let asks = self.shown_run().and_then(|run| run.status.inbox.as_ref());
        asks.map_or(&[], |entry| entry.questions.as_slice())
    }

    /// The choice with this number, or the word itself.
    fn choice_of(&self, word: &str) -> String {
        let choices = self.shown_run().map_or(&[][..], |run| &run.choices);
        let place = word.parse::<usize>().ok();
        let choice = place.and_then(|place| choices.get(place.checked_sub(1)?));
        choice.map_or_else(|| word.to_owned(), ToString::to_string)
    }
}

/// The option with this number, or what was typed.
fn option_of(question: &Question, typed: &str) -> String {
    let place = typed.parse::<usize>().ok();
    let option = place.and_then(|place| question.options.get(place.checked_sub(1)?));
    option.map_or_else(|| typed.to_owned(), Clone::clone)
}

fn chosen(run: RunId, typed: &str) -> Act {
    let (edits, typed) = with_edits(typed);
    let (choice, words) = first_word(typed);
    let (behind, words) = with_edits(words);
    Act {
        run,
        deed: Deed::Choose {
            choice: choice.to_owned(),
            words: Some(words.to_owned()).filter(|words| !words.is_empty()),
            edits: edits.or(behind),
        },
    }
}

fn first_word(typed: &str) -> (&str, &str) {
    let typed = typed.trim();
    match typed.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (typed, ""),
    }
}
