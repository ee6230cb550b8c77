//! `pipeline-state` without its template: the same bytes, at the cost of what is new.
//!
//! A guarded session writes this view at every end of an agent, and its history alone would take a template
//! longer than everything else that a hook does.

use std::cell::Cell;
use std::hash::{DefaultHasher, Hasher as _};

use engine::{Hash, Pipeline, Run};

use crate::digest::{JournalDigest, KeptReplies};
use crate::json::{json_inside, json_string};
use crate::model::{replies, said_artifacts};
use crate::template::{MOST_BYTES, TemplateError};
use crate::time::rfc3339;
use crate::view_input::ViewInput;
use crate::words::shown;

/// The usual length of everything but the replies and the history.
const FRAME: usize = 512;

/// Longer replies are read again for each view.
const MOST_KEPT: usize = 64 * 1024;

/// Keeps what agents said last in the digest, as the view shows it: it changes less often than the run does.
pub fn keep_replies(
    digest: &mut JournalDigest,
    pipeline: &Pipeline,
    run: &Run,
    contents: &dyn Fn(&Hash) -> Option<String>,
) {
    let of = fingerprint(pipeline, run);
    if digest.replies.of == Some(of) {
        return;
    }
    let is_whole = Cell::new(true);
    let read = |hash: &Hash| {
        let text = contents(hash);
        is_whole.set(is_whole.get() && text.is_some());
        text
    };
    let text = json_inside(&replies(pipeline, run, &read), 2);
    digest.replies = if is_whole.get() && text.len() <= MOST_KEPT {
        KeptReplies { of: Some(of), text }
    } else {
        KeptReplies::default()
    };
}

/// Which replies the run has. The same content always has the same hash.
fn fingerprint(pipeline: &Pipeline, run: &Run) -> u64 {
    let mut hasher = DefaultHasher::new();
    for name in said_artifacts(pipeline) {
        let captured = run.artifacts.get(name);
        hasher.write(name.as_str().as_bytes());
        hasher.write(captured.map_or(&[], |captured| captured.content.0.as_slice()));
        hasher.write_u8(0xff);
    }
    hasher.finish()
}

/// The text of the view. `pipeline-state.json.j2` says how it looks.
pub(crate) fn pipeline_state(input: &ViewInput<'_>) -> Result<String, TemplateError> {
    let run = input.run;
    let session = run.session.as_ref();
    let state = json_string(shown(input.pipeline, &run.position.stage));
    let timestamp = json_string(&rfc3339(run.touched_at));
    let session = json_string(session.map_or("", |binding| binding.session.as_str()));
    let kept = &input.digest.replies;
    let made;
    let context = if kept.of == Some(fingerprint(input.pipeline, run)) {
        &kept.text
    } else {
        made = json_inside(&replies(input.pipeline, run, input.contents), 2);
        &made
    };
    let rows = input.digest.state_rows.text();
    let mut text = String::with_capacity(FRAME + context.len() + rows.len());
    for part in [
        "{\n  \"version\": \"1.0\",\n  \"state\": ",
        &state,
        ",\n  \"timestamp\": ",
        &timestamp,
        ",\n  \"session_id\": ",
        &session,
        ",\n  \"context\": ",
        context,
        ",\n  \"history\": [",
    ] {
        text.push_str(part);
    }
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(rows);
        text.push_str("\n  ");
    }
    text.push_str("]\n}\n");
    if text.len() > MOST_BYTES {
        return Err(TemplateError::too_long());
    }
    Ok(text)
}
