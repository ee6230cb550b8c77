//! The items of a run's history: its moves from stage to stage, and other events that people look for.

use engine::{StageName, Time};

/// One item. It is kept as a line, so that only a view that shows it has to parse it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub at: Time,
    pub kind: ItemKind,
    /// Who it was, or why, or the text of a note, as its kind says.
    pub about: Option<String>,
    pub outcome: Option<String>,
    pub from: Option<StageName>,
    /// Where it led; `None` when the run stayed.
    pub to: Option<StageName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// An agent's work, about the agent.
    Agent,
    /// A check that the engine ran, or a rule of the pipeline.
    Engine,
    /// A person's decision, about the person.
    Person,
    /// A person reset the run, for a reason.
    Reset,
    /// The run began.
    Started,
    /// A person cancelled the run, for a reason.
    Cancelled,
    Note,
}

impl ItemKind {
    const ALL: [Self; 7] = [
        Self::Agent,
        Self::Engine,
        Self::Person,
        Self::Reset,
        Self::Started,
        Self::Cancelled,
        Self::Note,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Engine => "engine",
            Self::Person => "person",
            Self::Reset => "reset",
            Self::Started => "started",
            Self::Cancelled => "cancelled",
            Self::Note => "note",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl Item {
    /// What people look for besides the moves from stage to stage.
    pub(crate) fn remark(at: Time, kind: ItemKind, about: Option<String>) -> Self {
        Self {
            at,
            kind,
            about,
            outcome: None,
            from: None,
            to: None,
        }
    }

    /// The item as it is kept, on one line.
    pub(crate) fn line(&self) -> String {
        let stage = |name: &Option<StageName>| name.as_ref().map(ToString::to_string);
        let (from, to) = (stage(&self.from), stage(&self.to));
        let fields = (
            self.at.0,
            self.kind.word(),
            &self.about,
            &self.outcome,
            from,
            to,
        );
        // Numbers and texts can always be written.
        serde_json::to_string(&fields).unwrap_or_default()
    }

    /// The item of such a line.
    pub(crate) fn read(line: &str) -> Option<Self> {
        type Fields<T> = (u64, T, Option<T>, Option<T>, Option<T>, Option<T>);
        // Hardly any text has to be unescaped, and a view shows many items.
        match serde_json::from_str::<Fields<&str>>(line) {
            Ok((at, kind, about, outcome, from, to)) => {
                Self::of(at, kind, [about, outcome, from, to])
            }
            Err(_) => {
                let fields: Fields<String> = serde_json::from_str(line).ok()?;
                let (at, kind, about, outcome, from, to) = fields;
                let texts = [&about, &outcome, &from, &to];
                Self::of(at, &kind, texts.map(Option::as_deref))
            }
        }
    }

    fn of(at: u64, kind: &str, texts: [Option<&str>; 4]) -> Option<Self> {
        let [about, outcome, from, to] = texts;
        let stage = |name: Option<&str>| name.map(StageName::parse).transpose().ok();
        Some(Self {
            at: Time(at),
            kind: ItemKind::parse(kind)?,
            about: about.map(str::to_owned),
            outcome: outcome.map(str::to_owned),
            from: stage(from)?,
            to: stage(to)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::TestRandom;

    #[test]
    fn an_item_is_read_as_it_was_kept() {
        let mut random = TestRandom::new(3);
        for number in 0..500 {
            let text = random.hostile_text(20);
            for about in [None, Some("plain".to_owned()), Some(text)] {
                let item = Item {
                    outcome: about.clone(),
                    to: StageName::parse("testing").ok(),
                    ..Item::remark(Time(number), ItemKind::Note, about)
                };
                assert_eq!(Item::read(&item.line()), Some(item));
            }
        }
        for line in ["", "7", r#"[7,"note"]"#, r#"[7,"x",null,null,null,null]"#] {
            assert_eq!(Item::read(line), None, "{line}");
        }
    }
}
