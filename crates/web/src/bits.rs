//! Small pieces that every page uses: signs of life, states, ages, ids, commands.

use engine::{Seconds, Status, Time};
use maud::{Markup, html};
use views::Style;
use views::facts::{GateState, Liveness, QuietReason, RemarkKind};
use views::time::rfc3339;

/// The class for what a colour means. The text beside it says the same.
pub(crate) fn class(style: Style) -> &'static str {
    match style {
        Style::Normal => "normal",
        Style::Good => "good",
        Style::Bad => "bad",
        Style::Wait => "wait",
        Style::Dim => "dim",
        Style::Strong => "strong",
    }
}

/// In one unit, so that it rarely changes while somebody looks.
pub(crate) fn rough(age: Seconds) -> String {
    let Seconds(seconds) = age;
    match seconds {
        0..60 => "under 1 min".to_owned(),
        60..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// How long ago; the moment itself is one look away.
pub(crate) fn ago(at: Time, now: Time) -> Markup {
    let moment = rfc3339(at);
    html! { time datetime=(moment) title=(moment) { (rough(now.since(at))) " ago" } }
}

/// The moment, for tables in which people compare.
pub(crate) fn moment(at: Time, now: Time) -> Markup {
    let whole = rfc3339(at);
    html! { time datetime=(whole) title=(whole) { (views::time::moment(at, now)) } }
}

/// The same words as on every screen; how long in one unit.
pub(crate) fn liveness(liveness: Option<Liveness>) -> Markup {
    let Some(liveness) = liveness else {
        return html! { span.dim { "–" } };
    };
    let text = match liveness {
        Liveness::Quiet { since, why } => {
            let stopped = match why {
                QuietReason::Stopped => " · stopped",
                QuietReason::Expired => " · frozen",
                QuietReason::Silent => "",
            };
            format!("quiet for {}{stopped}", rough(since))
        }
        Liveness::WaitsForYou { since } => format!("waits for you · {}", rough(since)),
        Liveness::Live { .. }
        | Liveness::OwnerLost { .. }
        | Liveness::Rests { .. }
        | Liveness::Queued
        | Liveness::Over => liveness.text(),
    };
    let class = format!("pill {} is-{}", class(liveness.style()), liveness.word());
    html! {
        span class=(class) title=[liveness.reason()] {
            span.mark aria-hidden="true" { (liveness.mark()) } " " (text)
        }
    }
}

/// The mark and the class of a status.
pub(crate) fn status_sign(status: &Status) -> (&'static str, &'static str) {
    match status {
        Status::Completed => ("✓", "good"),
        Status::Failed => ("✗", "bad"),
        Status::Cancelled => ("⊘", "dim"),
        Status::Waiting(_) => ("?", "wait"),
        Status::Running => ("▸", "normal"),
        Status::Queued => ("○", "dim"),
    }
}

pub(crate) fn is_over(status: &Status) -> bool {
    match status {
        Status::Completed | Status::Failed | Status::Cancelled => true,
        Status::Queued | Status::Running | Status::Waiting(_) => false,
    }
}

pub(crate) fn status(status: &Status) -> Markup {
    let (mark, class) = status_sign(status);
    html! {
        span class=(format!("pill {class}")) {
            span.mark aria-hidden="true" { (mark) } " " (status.word())
        }
    }
}

/// A gate of a run with this status. A run that is over cannot come to an open one any more.
pub(crate) fn gate(status: &Status, state: GateState) -> Markup {
    let (mark, class, word) = match state {
        GateState::Open if is_over(status) => ("–", "dim", "not on its way"),
        GateState::Open => ("○", "dim", state.word()),
        GateState::Failed => ("✗", "bad", state.word()),
        GateState::Holds => ("✓", "good", state.word()),
        GateState::Superseded => ("↷", "dim", state.word()),
        GateState::Stale => ("≠", "wait", state.word()),
        GateState::Overridden => ("!", "bad", state.word()),
    };
    html! {
        span class=(format!("pill {class}")) {
            span.mark aria-hidden="true" { (mark) } " " (word)
        }
    }
}

pub(crate) fn remark(kind: RemarkKind) -> Markup {
    let (mark, class) = match kind {
        RemarkKind::Refused => ("⊘", "wait"),
        RemarkKind::Overridden
        | RemarkKind::Bypassed
        | RemarkKind::Unjudged
        | RemarkKind::Unguarded => ("!", "bad"),
        RemarkKind::Outside | RemarkKind::Warned => ("△", "wait"),
        RemarkKind::Person => ("·", "normal"),
    };
    html! {
        span class=(format!("pill {class}")) {
            span.mark aria-hidden="true" { (mark) } " " (kind.word())
        }
    }
}

/// The last part of a path, with all of it one look away.
pub(crate) fn folder(path: &str) -> Markup {
    let path = views::line(path);
    let last = path.rsplit('/').next().unwrap_or(&path).to_owned();
    html! { span.path title=(path) { (last) } }
}

/// The beginning of a hash, with all of it one look away.
pub(crate) fn hash(hash: impl ToString) -> Markup {
    let hash = hash.to_string();
    let short: String = hash.chars().take(10).collect();
    html! { code.hash title=(hash) { (short) } }
}

/// What to type, to be copied.
pub(crate) fn command(command: &str) -> Markup {
    html! { code.command { (views::line(command)) } }
}

/// A number with its noun.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        more => format!("{more} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_one_unit() {
        for (seconds, expected) in [
            (0, "under 1 min"),
            (59, "under 1 min"),
            (60, "1 min"),
            (7_199, "119 min"),
            (7_200, "2 h"),
            (172_799, "47 h"),
            (172_800, "2 days"),
        ] {
            assert_eq!(rough(Seconds(seconds)), expected);
        }
    }

    #[test]
    fn text_from_outside_is_never_markup() {
        let shown = folder("/a/<script>alert(1)</script>").into_string();
        assert!(!shown.contains("<script"), "{shown}");
        let shown = command("x\u{1b}[31m<b>").into_string();
        assert!(
            !shown.contains("<b>") && !shown.contains('\u{1b}'),
            "{shown}"
        );
    }
}
