//! Changes outside a worker's folder: as a sentence, and as JSON.

use engine::{Author, DispatchId, MovedRef, Outside, OutsideChange, RefHandling};
use serde_json::{Map, Value, json};

use super::AgentNames;

/// How many paths a sentence names.
const MOST_NAMED: usize = 5;

/// Enough of an object's id to find it.
const SHORT: usize = 10;

pub(super) fn sentence(change: &OutsideChange, names: &AgentNames) -> String {
    let during: Vec<String> = change.during.iter().map(|id| names.worker(*id)).collect();
    let during = during.join(" and ");
    match &change.what {
        Outside::Ref(moved) => ref_sentence(moved, change.author, &during),
        Outside::Project { paths } => format!(
            "files of the project changed while {during} worked in a worktree: {}; gatewright does not \
             know who changed them, and leaves them",
            some(paths)
        ),
        Outside::Elsewhere { tool, paths } => format!(
            "{during} asked to write outside the project with {tool}, and was not stopped: {}",
            some(paths)
        ),
    }
}

fn ref_sentence(moved: &MovedRef, author: Author, during: &str) -> String {
    let MovedRef {
        name,
        before,
        after,
        handling,
        kept,
    } = moved;
    let what = match (before, after) {
        (Some(before), Some(after)) => {
            format!("moved {name} from {} to {}", short(before), short(after))
        }
        (Some(before), None) => format!("deleted {name}, which was at {}", short(before)),
        (None, Some(after)) => format!("made {name} at {}", short(after)),
        (None, None) => format!("touched {name}"),
    };
    let who = match author {
        Author::Worker => format!("{during} {what}"),
        Author::Unknown => format!("while {during} worked, somebody {what}"),
    };
    let now = match handling {
        RefHandling::PutBack => "it is put back",
        RefHandling::Left => "it stays so",
        RefHandling::Failed => "it could not be put back",
    };
    let kept = kept
        .as_ref()
        .map(|kept| format!(", and {kept} keeps the other value"));
    format!("{who}: {now}{}", kept.unwrap_or_default())
}

pub(super) fn json(change: &OutsideChange) -> Value {
    let mut object = Map::new();
    let during = change.during.iter().map(DispatchId::to_string);
    object.insert("during".to_owned(), during.collect());
    object.insert("author".to_owned(), json!(change.author.word()));
    let rest = match &change.what {
        Outside::Ref(moved) => json!({
            "what": "ref",
            "name": moved.name,
            "before": moved.before,
            "after": moved.after,
            "handling": moved.handling.word(),
            "kept": moved.kept,
        }),
        Outside::Project { paths } => json!({ "what": "project", "paths": paths }),
        Outside::Elsewhere { tool, paths } => {
            json!({ "what": "elsewhere", "tool": tool, "paths": paths })
        }
    };
    if let Value::Object(rest) = rest {
        object.extend(rest);
    }
    Value::Object(object)
}

/// The first paths, and how many more there are.
fn some(paths: &[String]) -> String {
    let named = paths.iter().take(MOST_NAMED).map(String::as_str);
    let named = named.collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn short(object: &str) -> &str {
    object.get(..SHORT).unwrap_or(object)
}
