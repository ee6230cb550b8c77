//! The line that Claude Code writes into its transcript when a question has been answered.

use serde_json::{Value, json};

/// Decisions as the host records them.
pub(crate) const BY_PERSON: &str =
    r#"{"decision":"accept","source":"user_temporary","grantScope":"once","reasonCode":"unknown"}"#;
pub(crate) const BY_HOOK: &str = r#"{"decision":"accept","source":"hook","reasonType":"hook"}"#;

/// The line about this call, with the result of the tool and the decision.
pub(crate) fn line(call: &str, told: &Value, decision: &str) -> String {
    let decision: Value = serde_json::from_str(decision).expect("a decision is JSON");
    let result = json!({
        "type": "tool_result", "content": "Your questions have been answered", "tool_use_id": call,
    });
    let line = json!({
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "toolUseResult": told,
        "permissionDecision": decision,
    });
    format!("{line}\n")
}
