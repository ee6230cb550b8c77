//! One question to the hook: what was sent, what must come of it, and what came of it.

use engine::Rule;

use super::heard::Heard;
use super::process::Got;
use super::wire::Sent;

/// One question to the hook, and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub sent: Sent,
    pub expected: Expected,
    pub got: Got,
    pub heard: Heard,
}

/// What the host must do after the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It goes on; whatever else it is told.
    Pass,
    /// It goes on, and nothing is said at all.
    Silence,
    /// It does not do it, by one of these rules; by whatever rule where there is none.
    Refusal(&'static [Rule]),
    /// Who wants to end goes on, by one of these rules.
    GoOn(&'static [Rule]),
    /// It goes on, and is told by this rule why not otherwise.
    Told(Rule),
    /// Something that the host understands.
    Answer,
}

impl Expected {
    pub fn is_met(self, heard: &Heard) -> bool {
        match (self, heard) {
            (Self::Pass, Heard::Silence | Heard::Pass(_)) => true,
            (Self::Silence, Heard::Silence) => true,
            (Self::Refusal(rules), Heard::Refusal(reason))
            | (Self::GoOn(rules), Heard::GoOn(reason)) => names_one(rules, reason),
            (Self::Told(rule), Heard::Pass(said)) => names(rule, said),
            (Self::Answer, heard) => !matches!(heard, Heard::Nothing(_)),
            (Self::Pass | Self::Silence | Self::Refusal(_) | Self::GoOn(_) | Self::Told(_), _) => {
                false
            }
        }
    }
}

fn names_one(rules: &[Rule], reason: &str) -> bool {
    rules.is_empty() || rules.iter().any(|rule| names(*rule, reason))
}

/// A code may be the beginning of a longer one.
fn names(rule: Rule, text: &str) -> bool {
    text.contains(&format!("{} ", rule.code()))
}

/// Why an answer is not the expected one.
pub fn mismatch(expected: Expected, heard: &Heard) -> String {
    format!("expected {}, got {}", expected.told(), heard.told())
}

impl Expected {
    pub fn told(self) -> String {
        let by = |rules: &[Rule]| match rules {
            [] => String::new(),
            rules => {
                let codes: Vec<&str> = rules.iter().map(|rule| rule.code()).collect();
                format!(" by {}", codes.join(" or "))
            }
        };
        match self {
            Self::Pass => "no objection".to_owned(),
            Self::Silence => "no objection and no output".to_owned(),
            Self::Refusal(rules) => format!("a refusal{}", by(rules)),
            Self::GoOn(rules) => format!("«go on»{}", by(rules)),
            Self::Told(rule) => format!("no objection, and a mention of {}", rule.code()),
            Self::Answer => "an answer".to_owned(),
        }
    }
}

impl Heard {
    pub fn told(&self) -> String {
        match self {
            Self::Silence => "no objection and no output".to_owned(),
            Self::Pass(said) => format!("no objection ({})", views::line(said)),
            Self::Refusal(reason) => format!("a refusal ({})", views::line(reason)),
            Self::GoOn(reason) => format!("continue ({})", views::line(reason)),
            Self::Nothing(why) => format!("an answer that a host ignores: {}", views::line(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_held_against_what_was_expected() {
        let refusal = |text: &str| Heard::Refusal(text.to_owned());
        let rules: &'static [Rule] = &[Rule::AgentOutOfTurn];
        for (expected, heard, met) in [
            (Expected::Pass, Heard::Silence, true),
            (Expected::Pass, refusal(""), false),
            (Expected::Pass, Heard::Nothing(String::new()), false),
            (Expected::Silence, Heard::Pass(String::new()), false),
            (Expected::Refusal(&[]), refusal(""), true),
            (Expected::Refusal(rules), refusal("GW-R11 refused: x"), true),
            (
                Expected::Refusal(rules),
                refusal("GW-R66 refused: x"),
                false,
            ),
            (Expected::Refusal(&[]), Heard::Silence, false),
            (Expected::GoOn(&[]), refusal(""), false),
            (
                Expected::Told(Rule::HeldElsewhere),
                Heard::Pass("GW-R03 x".to_owned()),
                true,
            ),
            (Expected::Told(Rule::HeldElsewhere), Heard::Silence, false),
            (Expected::Answer, Heard::Nothing(String::new()), false),
        ] {
            assert_eq!(expected.is_met(&heard), met, "{expected:?} {heard:?}");
        }
    }
}
