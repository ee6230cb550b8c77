//! Claude Code's own record of prompts that a schedule submits: a line when one is due, and later the prompt
//! itself. The hooks get such a prompt as if a person had typed it.

use engine::CommandName;
use serde_json::Value;

use super::call_record::time;
use super::wire::ScheduleLine;
use crate::hook;
use crate::session_host::RecordedSchedule;

const DUE: &str = "scheduled_task_fire";

/// What a line of the record says about a scheduled prompt. Most lines say nothing.
pub(super) fn read(line: &[u8]) -> Option<RecordedSchedule> {
    let text = std::str::from_utf8(line).ok()?;
    if !text.contains(DUE) && !text.contains("\"scheduledFireId\"") {
        return None;
    }
    let line: ScheduleLine<'_> = serde_json::from_str(text).ok()?;
    if hook::text(line.kind)? == "user" {
        let id = hook::text(line.scheduled_fire_id)?.into_owned();
        return Some(RecordedSchedule::Submitted { id });
    }
    if hook::text(line.subtype)? != DUE {
        return None;
    }
    let prompt = hook::text(line.prompt).unwrap_or_default();
    Some(RecordedSchedule::Due {
        id: hook::text(line.uuid)?.into_owned(),
        command: command(&prompt),
        at: hook::text(line.timestamp).and_then(|text| time(&text))?,
    })
}

/// The slash commands in the file of schedules.
pub(super) fn planned(file: &[u8]) -> Vec<CommandName> {
    let file: Value = serde_json::from_slice(file).unwrap_or_default();
    let tasks = file["tasks"].as_array().into_iter().flatten();
    let prompts = tasks.filter_map(|task| task["prompt"].as_str());
    prompts.filter_map(command).collect()
}

/// The slash command with which a prompt begins.
fn command(prompt: &str) -> Option<CommandName> {
    let word = prompt.split_whitespace().next()?.strip_prefix('/')?;
    CommandName::parse(hook::bare_name(word)).ok()
}

#[cfg(test)]
mod tests {
    use engine::Time;

    use super::*;

    #[test]
    fn a_scheduled_prompt_is_due_and_then_submitted() {
        let due = |prompt: &str| {
            format!(
                r#"{{"parentUuid":"c3","type":"system","subtype":"scheduled_task_fire","content":"Running scheduled task","timestamp":"2026-11-16T22:11:42.534Z","uuid":"38","taskId":"ab","cron":"* * * * *","prompt":"{prompt}","sessionId":"2d"}}"#
            )
        };
        let expected = |command: Option<&str>| {
            Some(RecordedSchedule::Due {
                id: "38".to_owned(),
                command: command.and_then(|name| CommandName::parse(name).ok()),
                at: Time(1_794_867_102_534),
            })
        };
        for (prompt, command) in [
            ("/say-yes", Some("say-yes")),
            (" /say-yes it is fine", Some("say-yes")),
            ("say yes", None),
            ("", None),
        ] {
            assert_eq!(read(due(prompt).as_bytes()), expected(command), "{prompt}");
        }
        let submitted = br#"{"type":"user","promptId":"41","message":{"role":"user","content":"x"},"scheduledTaskId":"ab","scheduledFireId":"38","turnOrigin":"scheduled"}"#;
        let id = "38".to_owned();
        assert_eq!(read(submitted), Some(RecordedSchedule::Submitted { id }));
    }

    #[test]
    fn the_file_of_schedules_names_its_commands() {
        let file = r#"{"tasks": [{"id": "a", "cron": "* * * * *", "prompt": "/say-yes now"}, {"prompt": "look"}, {"id": 5}]}"#;
        let yes = CommandName::parse("say-yes").unwrap();
        assert_eq!(planned(file.as_bytes()), [yes]);
        for file in ["", "[]", "{}", r#"{"tasks": 5}"#, "{\"tasks\": ["] {
            assert_eq!(planned(file.as_bytes()), [], "{file}");
        }
    }

    #[test]
    fn a_persons_prompt_and_texts_about_schedules_say_nothing() {
        for line in [
            r#"{"type":"user","promptId":"41","message":{"role":"user","content":"x"},"origin":{"kind":"human"},"turnOrigin":"human"}"#,
            r#"{"type":"user","message":{"role":"user","content":"what is scheduled_task_fire?"}}"#,
            r#"{"type":"assistant","message":{"content":"\"scheduledFireId\":\"38\""}}"#,
            "\"scheduled_task_fire",
            "",
        ] {
            assert_eq!(read(line.as_bytes()), None, "{line}");
        }
    }
}
