//! An artifact that a person sees with a question, and the review that it holds.

use std::collections::BTreeMap;

use engine::{AgentName, ArtifactName, Hash, Outcome, StepId};
use serde_json::{Value, json};

use crate::paint::Style;
use crate::safe::Untrusted;

/// An artifact that a person sees before they answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownArtifact {
    pub name: ArtifactName,
    /// The step of a task graph that left it.
    pub step: Option<StepId>,
    /// Absent if the run has no copy.
    pub content: Option<Hash>,
    /// How many characters of it a person sees.
    pub(super) most: usize,
    /// What a reviewer said in it.
    pub review: Option<ShownReview>,
    /// What to type to see all of it. Absent if no command prints this copy.
    pub shown_by: Option<String>,
    pub text: ShownText,
}

/// The reviewer that left the artifact, and its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownReview {
    pub reviewer: AgentName,
    pub verdict: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownText {
    /// Nobody has looked.
    Unread,
    /// There is no copy of it.
    Gone,
    Read(Untrusted),
}

impl ShownArtifact {
    /// Its name, with the step, or with the reviewer and the verdict: `findings, from 'critic' (needs_changes)`.
    pub fn title(&self) -> String {
        match (&self.review, &self.step) {
            (Some(ShownReview { reviewer, verdict }), _) => {
                format!("{}, from '{reviewer}' ({verdict})", self.name)
            }
            (None, Some(step)) => format!("{}, from step {step}", self.name),
            (None, None) => self.name.to_string(),
        }
    }

    /// Its text, with what to type for the rest. Empty where nobody has looked and nobody asks for it.
    pub fn lines(&self) -> Vec<(Style, String)> {
        match (&self.text, &self.review, &self.shown_by) {
            (ShownText::Read(text), _, _) => self.beginning(text),
            (ShownText::Gone, _, _) => vec![(Style::Dim, "there is no copy of it".to_owned())],
            (ShownText::Unread, Some(_), Some(command)) => {
                vec![(Style::Dim, format!("`{command}` prints it"))]
            }
            (ShownText::Unread, _, _) => Vec::new(),
        }
    }

    fn beginning(&self, text: &Untrusted) -> Vec<(Style, String)> {
        let text = text.block();
        let beginning: String = text.chars().take(self.most).collect();
        let lines = beginning.trim_end().lines();
        let mut lines: Vec<_> = lines.map(|it| (Style::Normal, it.to_owned())).collect();
        if beginning.len() < text.len() {
            let rest = match &self.shown_by {
                Some(command) => format!("… `{command}` prints all of it"),
                None => "… (cut here)".to_owned(),
            };
            lines.push((Style::Dim, rest));
        }
        lines
    }

    /// The same with its text, if it is among these.
    pub(super) fn read(&mut self, contents: &BTreeMap<Hash, String>) {
        let text = self.content.and_then(|content| contents.get(&content));
        self.text = text.map_or(ShownText::Gone, |text| {
            ShownText::Read(Untrusted::new(text))
        });
    }

    pub(crate) fn json(&self) -> Value {
        let review = self.review.as_ref();
        let text = match &self.text {
            ShownText::Read(text) => Some(text.raw()),
            ShownText::Unread | ShownText::Gone => None,
        };
        json!({
            "artifact": self.name.as_str(),
            "step": self.step.as_ref().map(StepId::as_str),
            "content": self.content.map(|content| content.to_string()),
            "reviewer": review.map(|it| it.reviewer.as_str()),
            "verdict": review.map(|it| it.verdict.as_str()),
            "shown_by": self.shown_by,
            "text": text,
        })
    }
}
