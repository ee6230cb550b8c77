//! One call of the hook: the payload, the expected reaction, and the actual one.

use engine::Rule;

use super::hook_process::HookOutput;
use super::host_reaction::HostReaction;
use super::payloads::HookPayload;

/// One call of the hook, with its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub payload: HookPayload,
    pub expected: Expected,
    pub output: HookOutput,
    pub reaction: HostReaction,
}

/// What the host must do after the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Continue, with or without a message.
    Pass,
    /// Continue without any message.
    Silence,
    /// Refuse, by one of these rules; by any rule if the list is empty.
    Refusal(&'static [Rule]),
    /// Do not stop, by one of these rules.
    Continue(&'static [Rule]),
    /// Continue, with a message that names this rule.
    Told(Rule),
    /// Any answer that the host understands.
    Answer,
}

impl Expected {
    pub fn is_met(self, reaction: &HostReaction) -> bool {
        match (self, reaction) {
            (Self::Pass, HostReaction::Silence | HostReaction::Pass(_)) => true,
            (Self::Silence, HostReaction::Silence) => true,
            (Self::Refusal(rules), HostReaction::Refusal(reason))
            | (Self::Continue(rules), HostReaction::Continue(reason)) => names_one(rules, reason),
            (Self::Told(rule), HostReaction::Pass(said)) => names(rule, said),
            (Self::Answer, reaction) => !matches!(reaction, HostReaction::Nothing(_)),
            (
                Self::Pass | Self::Silence | Self::Refusal(_) | Self::Continue(_) | Self::Told(_),
                _,
            ) => false,
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
pub(super) fn mismatch(expected: Expected, reaction: &HostReaction) -> String {
    format!(
        "expected {}, got {}",
        expected.describe(),
        reaction.describe()
    )
}

impl Expected {
    pub fn describe(self) -> String {
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
            Self::Continue(rules) => format!("continue{}", by(rules)),
            Self::Told(rule) => format!("no objection, and a mention of {}", rule.code()),
            Self::Answer => "an answer".to_owned(),
        }
    }
}

impl HostReaction {
    pub fn describe(&self) -> String {
        match self {
            Self::Silence => "no objection and no output".to_owned(),
            Self::Pass(said) => format!("no objection ({})", views::line(said)),
            Self::Refusal(reason) => format!("a refusal ({})", views::line(reason)),
            Self::Continue(reason) => format!("continue ({})", views::line(reason)),
            Self::Nothing(why) => format!("an answer that a host ignores: {}", views::line(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_compared_with_the_expected_one() {
        let refusal = |text: &str| HostReaction::Refusal(text.to_owned());
        let rules: &'static [Rule] = &[Rule::AgentOutOfTurn];
        for (expected, reaction, met) in [
            (Expected::Pass, HostReaction::Silence, true),
            (Expected::Pass, refusal(""), false),
            (Expected::Pass, HostReaction::Nothing(String::new()), false),
            (Expected::Silence, HostReaction::Pass(String::new()), false),
            (Expected::Refusal(&[]), refusal(""), true),
            (Expected::Refusal(rules), refusal("GW-R11 refused: x"), true),
            (
                Expected::Refusal(rules),
                refusal("GW-R66 refused: x"),
                false,
            ),
            (Expected::Refusal(&[]), HostReaction::Silence, false),
            (Expected::Continue(&[]), refusal(""), false),
            (
                Expected::Told(Rule::HeldElsewhere),
                HostReaction::Pass("GW-R03 x".to_owned()),
                true,
            ),
            (
                Expected::Told(Rule::HeldElsewhere),
                HostReaction::Silence,
                false,
            ),
            (
                Expected::Answer,
                HostReaction::Nothing(String::new()),
                false,
            ),
        ] {
            assert_eq!(expected.is_met(&reaction), met, "{expected:?} {reaction:?}");
        }
    }
}
