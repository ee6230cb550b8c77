//! Routes in words and as JSON: which way, and the evidence for it.

use engine::{Change, LineCount, Miss, Outcome, RouteRule, Routed, Unmet};
use serde_json::{Value, json};

use crate::words::count;

/// How many paths a sentence names.
const MOST_PATHS: usize = 3;

/// `the route sizing chose small: size is small; 2 files and 9 lines changed (a.rs, b.rs)`.
pub(crate) fn decided(routed: &Routed) -> String {
    let Routed { route, outcome, .. } = routed;
    let way = match outcome {
        Outcome::Otherwise => format!("the route {route} took its longer way"),
        other => format!("the route {route} chose {other}"),
    };
    with_evidence(&way, routed)
}

/// It was looked at again, and still holds.
pub(crate) fn kept(routed: &Routed) -> String {
    let Routed { route, outcome, .. } = routed;
    with_evidence(
        &format!("{outcome} of the route {route} still holds"),
        routed,
    )
}

/// It was looked at again, and does not hold any more.
pub(crate) fn outgrown(routed: &Routed) -> String {
    let Routed { route, longer, .. } = routed;
    let way = format!(
        "the change no longer fits the route {route}; the run takes the longer way, {longer}"
    );
    with_evidence(&way, routed)
}

fn with_evidence(way: &str, routed: &Routed) -> String {
    let unmet = routed.unmet.iter().map(unmet_words);
    let change = routed.change.iter().map(change_words);
    let params = routed.params.iter();
    let params = params.map(|(name, value)| format!("{name} is {value}"));
    let verdicts = routed.verdicts.iter();
    let verdicts = verdicts.map(|(stage, word)| format!("{stage} ended with {word}"));
    let parts: Vec<String> = unmet.chain(params).chain(verdicts).chain(change).collect();
    match parts.as_slice() {
        [] => way.to_owned(),
        parts => format!("{way}: {}", parts.join("; ")),
    }
}

fn change_words(change: &Change) -> String {
    let (files, lines, paths) = match change {
        Change::Seen {
            files,
            lines,
            paths,
        } => (*files, lines, paths),
        Change::Unseen { reason } => return format!("the change cannot be measured ({reason})"),
    };
    let files_word = count(u64::from(files), "file");
    let lines = match lines {
        LineCount::Counted(lines) => format!(" and {}", count(u64::from(*lines), "line")),
        LineCount::Unasked => String::new(),
        LineCount::Unseen(reason) => format!(" in lines that cannot be counted ({reason})"),
    };
    let mut named: Vec<&str> = paths.iter().take(MOST_PATHS).map(String::as_str).collect();
    if files as usize > named.len() {
        named.push("…");
    }
    match named.as_slice() {
        [] => "nothing has changed".to_owned(),
        named => format!("{files_word}{lines} changed ({})", named.join(", ")),
    }
}

fn unmet_words(unmet: &Unmet) -> String {
    let Unmet { rule, because } = unmet;
    let why = match because {
        Miss::Param { param } => format!("{param} has another value"),
        Miss::Verdict { stage } => format!("{stage} ended with another word"),
        Miss::Files { most } => format!("it allows {}", count(u64::from(*most), "file")),
        Miss::Lines { most } => format!("it allows {}", count(u64::from(*most), "line")),
        Miss::Outside { path } => format!("{path} is outside of it"),
        Miss::Forbidden { path } => format!("it may not touch {path}"),
        Miss::Unseen { reason } => format!("its evidence cannot be looked at: {reason}"),
    };
    format!("{rule} does not hold, {why}")
}

pub(crate) fn json(routed: &Routed) -> Value {
    let unmet = |unmet: &Unmet| {
        let mut object = miss_json(&unmet.because);
        object["rule"] = unmet.rule.as_str().into();
        object
    };
    json!({
        "route": routed.route.as_str(),
        "outcome": routed.outcome.as_str(),
        "longer": routed.longer.as_str(),
        "change": routed.change.as_ref().map(change_json),
        "params": routed.params.iter().map(|(name, value)| (name.to_string(), json!(value))).collect::<Value>(),
        "verdicts": routed.verdicts.iter().map(|(stage, word)| (stage.to_string(), json!(word))).collect::<Value>(),
        "unmet": routed.unmet.iter().map(unmet).collect::<Value>(),
    })
}

fn change_json(change: &Change) -> Value {
    match change {
        Change::Seen {
            files,
            lines,
            paths,
        } => {
            let (lines, unseen) = match lines {
                LineCount::Counted(lines) => (Some(lines), None),
                LineCount::Unasked => (None, None),
                LineCount::Unseen(reason) => (None, Some(reason)),
            };
            json!({ "files": files, "lines": lines, "paths": paths, "unseen": unseen })
        }
        Change::Unseen { reason } => {
            json!({ "files": null, "lines": null, "paths": [], "unseen": reason })
        }
    }
}

fn miss_json(miss: &Miss) -> Value {
    match miss {
        Miss::Param { param } => json!({ "because": "param", "param": param.as_str() }),
        Miss::Verdict { stage } => json!({ "because": "verdict", "stage": stage.as_str() }),
        Miss::Files { most } => json!({ "because": "files", "most": most }),
        Miss::Lines { most } => json!({ "because": "lines", "most": most }),
        Miss::Outside { path } => json!({ "because": "outside", "path": path }),
        Miss::Forbidden { path } => json!({ "because": "forbidden", "path": path }),
        Miss::Unseen { reason } => json!({ "because": "unseen", "reason": reason }),
    }
}

/// `small: size = small, at most 3 files, at most 60 lines`.
pub(crate) fn rule_words(rule: &RouteRule) -> String {
    let params = rule.params.iter();
    let params = params.map(|(name, value)| format!("{name} = {value}"));
    let verdicts = rule.verdicts.iter();
    let verdicts = verdicts.map(|(stage, word)| format!("{stage} ended with {word}"));
    let all: Vec<String> = params.chain(verdicts).chain(change_limits(rule)).collect();
    format!("{}: {}", rule.outcome, all.join(", "))
}

/// What a rule allows the change to be: `at most 3 files`, `at most 60 lines`.
pub(crate) fn change_limits(rule: &RouteRule) -> Vec<String> {
    let most = |number: Option<u32>, word: &str| {
        number.map(|number| format!("at most {}", count(u64::from(number), word)))
    };
    let globs = |word: &str, globs: &[engine::PathGlob]| {
        let globs: Vec<&str> = globs.iter().map(engine::PathGlob::as_str).collect();
        (!globs.is_empty()).then(|| format!("{word} {}", globs.join(", ")))
    };
    let limits = [
        most(rule.files, "file"),
        most(rule.lines, "line"),
        globs("within", &rule.within),
        globs("not in", &rule.avoids),
    ];
    limits.into_iter().flatten().collect()
}
