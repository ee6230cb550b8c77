//! What a person types after `:`, and the answer to a question.

use engine::{Question, RunId, StageName};
use runtime::answers::with_edits;
use runtime::person_act::{PersonAct, PersonWish};
use views::Style;

use super::keys::{Edited, edit};
use super::{AnswerDraft, Mode, Screen};
use crate::event::{Effect, Key, TextTarget};

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
            "answer" => self.choose(rest),
            "retry" => self.retry(),
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

    /// Answers the question that the screen shows now.
    fn choose(&mut self, typed: &str) -> Vec<Effect> {
        let shown = self.shown_run().map(|shown| &shown.status);
        match shown.map(|status| (status.run.clone(), status.stage.name.clone())) {
            Some((run, stage)) => vec![Effect::Act(chosen(run, stage, typed))],
            None => self.nothing_selected(),
        }
    }

    fn retry(&mut self) -> Vec<Effect> {
        let what = PersonWish::Retry;
        match self.selected_run().cloned() {
            Some(run) => vec![Effect::Act(PersonAct { run, what })],
            None => self.nothing_selected(),
        }
    }

    fn nothing_selected(&mut self) -> Vec<Effect> {
        self.tell(Style::Wait, "no run is selected");
        Vec::new()
    }

    fn open_change(&mut self, of: &str) -> Vec<Effect> {
        let Some(run) = self.selected_run().cloned() else {
            return self.nothing_selected();
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
        let draft = asks.map(|run| AnswerDraft {
            run: run.status.run.clone(),
            stage: run.status.stage.name.clone(),
            typed: String::new(),
            given: Vec::new(),
        });
        match draft {
            Some(draft) => self.mode = Mode::Answer(draft),
            None => self.tell(Style::Dim, "the selected run asks nothing now"),
        }
    }

    pub(super) fn answer_key(&mut self, key: Key, mut draft: AnswerDraft) -> Vec<Effect> {
        match edit(key, &mut draft.typed) {
            Edited::Typed => self.mode = Mode::Answer(draft),
            Edited::Left => {
                self.mode = Mode::Normal;
                self.tell(Style::Dim, "nothing was answered");
            }
            Edited::Sent if draft.typed.trim().is_empty() => self.mode = Mode::Answer(draft),
            Edited::Sent => return self.answer(draft),
        }
        Vec::new()
    }

    fn answer(&mut self, mut draft: AnswerDraft) -> Vec<Effect> {
        let questions = self.questions().len();
        if let Some(question) = self.questions().get(draft.given.len()) {
            let answer = option_of(question, draft.typed.trim());
            draft.given.push((question.id.clone(), answer));
            if draft.given.len() < questions {
                draft.typed.clear();
                self.mode = Mode::Answer(draft);
                return Vec::new();
            }
            self.mode = Mode::Normal;
            let (run, stage, answers) = (draft.run, draft.stage, draft.given);
            let what = PersonWish::Answer { stage, answers };
            return vec![Effect::Act(PersonAct { run, what })];
        }
        self.mode = Mode::Normal;
        let (word, rest) = first_word(&draft.typed);
        let typed = format!("{} {rest}", self.choice_of(word));
        vec![Effect::Act(chosen(draft.run, draft.stage, &typed))]
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

fn chosen(run: RunId, stage: StageName, typed: &str) -> PersonAct {
    let (edits, typed) = with_edits(typed);
    let (choice, text) = first_word(typed);
    let (behind, text) = with_edits(text);
    let what = PersonWish::Choose {
        stage,
        choice: choice.to_owned(),
        text: Some(text.to_owned()).filter(|text| !text.is_empty()),
        edits: edits.or(behind),
    };
    PersonAct { run, what }
}

fn first_word(typed: &str) -> (&str, &str) {
    let typed = typed.trim();
    match typed.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (typed, ""),
    }
}
