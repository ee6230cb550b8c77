//! `pipeline-state` without its template: the same bytes, at the cost of what is new.
//!
//! A guarded session writes this view at every end of an agent, and its history alone would take a template
//! longer than everything else that a hook does.

use crate::json::{json_inside, json_string};
use crate::model::replies;
use crate::template::{MOST_BYTES, TemplateError};
use crate::time::rfc3339;
use crate::view_input::ViewInput;
use crate::words::shown;

/// About as long is all but the replies and the history.
const FRAME: usize = 512;

/// The text of the view. `pipeline-state.json.j2` says how it looks.
pub(crate) fn pipeline_state(input: &ViewInput<'_>) -> Result<String, TemplateError> {
    let run = input.run;
    let session = run.session.as_ref();
    let state = json_string(shown(input.pipeline, &run.position.stage));
    let timestamp = json_string(&rfc3339(run.touched_at));
    let session = json_string(session.map_or("", |binding| binding.session.as_str()));
    let context = json_inside(&replies(input), 2);
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
        &context,
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
