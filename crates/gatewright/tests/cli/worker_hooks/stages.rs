//! What a stage adds: who may be called in an open one, and what may be changed in a restricted one.

use serde_json::json;

use super::fixture::{Seat, Work, is_refused, judge, passes};
use super::hosts::Host;

const OPEN: &str = r#"
name  = "open"
about = "Look around."
start = "looking"

[stages.looking]
allow     = ["scout", "helper-*"]
on.finish = "complete"

[stages.complete]
end = "completed"
"#;

#[test]
fn in_an_open_stage_a_worker_calls_whom_the_stage_allows() {
    for host in Host::ALL {
        let seat = Seat::at(&Work {
            pipeline: OPEN,
            agent: "scout",
            ..judge(host)
        });
        passes(&seat.hook(&host.agent("helper-one")));
        is_refused(host, &seat.hook(&host.agent("anybody")), "R11");
        // Only the worker itself was admitted.
        assert_eq!(seat.rules(), ["R41", "R21", "R11"], "{host:?}");
    }
}

#[test]
fn a_skill_with_an_agent_of_its_own_is_a_call_for_that_agent() {
    let host = Host::Claude;
    let seat = Seat::at(&Work {
        pipeline: OPEN,
        agent: "scout",
        ..judge(host)
    });
    let skill = |name: &str| host.asks("Skill", &json!({"skill": name}));
    for (name, agent) in [("far", "anybody"), ("near", "helper-two")] {
        let text = format!("---\ncontext: fork\nagent: {agent}\n---\nDo it.\n");
        seat.project
            .write(format!(".claude/skills/{name}/SKILL.md"), text);
    }
    is_refused(host, &seat.hook(&skill("far")), "R11");
    passes(&seat.hook(&skill("near")));
}

#[test]
fn a_worker_that_strays_is_told_at_once_and_put_right_is_told_nothing() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        let tool = match host {
            Host::Claude | Host::Codex => "Bash",
            Host::Gemini => "run_shell_command",
        };
        let used = host.used(tool, &json!({"command": "true"}));
        seat.hook(&host.shell("true")).succeeds();
        passes(&seat.hook(&used));
        let strayed = seat.project.write("src/main.rs", "fn main() {}");
        let ran = seat.hook(&used);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        // Claude Code hands such a word on to the model; of the others that is not known.
        assert_eq!(ran.code, Some(0), "{ran}");
        assert_eq!(told.contains("GW-R38"), host == Host::Claude, "{ran}");
        // A worker that only looks has changed nothing.
        let read = match host {
            Host::Claude => "Read",
            Host::Codex => "view_image",
            Host::Gemini => "read_file",
        };
        passes(&seat.hook(&host.used(read, &json!({}))));
        std::fs::remove_file(strayed).unwrap();
        passes(&seat.hook(&used));
        // It is the end that is judged: nothing of this is recorded.
        assert_eq!(seat.rules(), ["R41", "R21"], "{host:?}");
    }
}
