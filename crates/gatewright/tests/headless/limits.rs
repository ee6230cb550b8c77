//! Services that ask to wait: until when, what rests, what goes on, and who works meanwhile.

use serde_json::Value;

use super::fixture::{World, says, until};

/// One agent that says something, with these lines in its stage.
pub(super) fn one(more: &str) -> String {
    format!(
        r#"
name  = "one"
about = "Have somebody say something."
start = "saying"

[artifacts.said]
from = "reply"

[stages.saying]
agent   = "speaker"
leaves  = ["said"]
on.done = "complete"
{more}

[stages.complete]
end = "completed"
"#
    )
}

const ID: &str = "01a1e0b0-54e3-7200-8e56-8dc64c4ddfd4";

/// Codex, which notes its arguments. `$limited` says when its service asks to wait, and how.
pub(super) fn codex(limited: &str, message: &str) -> String {
    format!(
        r#"
echo "$*" >> "$here/arguments"
echo '{{"type":"thread.started","thread_id":"{ID}"}}'
if {limited}; then
    echo '{{"type":"turn.failed","error":{{"message":"{message}"}}}}'
    exit 1
fi
echo '{{"type":"item.completed","item":{{"id":"item_1","type":"agent_message","text":"all is well"}}}}'
echo '{{"type":"turn.completed","usage":{{"input_tokens":10,"cached_input_tokens":5,"output_tokens":1}}}}'
"#
    )
}

/// Claude Code, which notes its arguments. Only these models are not limited.
fn claude(works: &str) -> String {
    format!(
        r#"
echo "$*" >> "$here/arguments"
model=none
while [ $# -gt 0 ]; do
    case $1 in --session-id|--resume) id=$2 ;; --model) model=$2 ;; esac
    shift
done
echo "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\"}}"
case $model in
{works}) ;;
*)
    echo '{{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"You have hit your limit · resets Dec 31 at 11pm (UTC)"}}'
    exit 1 ;;
esac
echo "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"all is well\",\"session_id\":\"$id\"}}"
"#
    )
}

const RUN: &str = "run pipeline.toml --task try --id r-test --runner codex";

pub(super) const LATER: &str = "You have hit your usage limit. Try again in 2 days 3 hours.";

fn limits(world: &World, run: &str) -> Vec<Value> {
    let facts = world.facts(&format!("status {run}"));
    facts["limits"].as_array().unwrap().clone()
}

#[test]
fn a_limit_costs_no_attempt_and_the_work_goes_on_in_its_conversation() {
    let world = World::with(&one("retry = 0"), "");
    let message = "Rate limit reached. Please try again in 0.2s.";
    world.program("codex", &codex("[ $count -le 3 ]", message));
    let ran = world.gatewright(RUN).succeeds();
    says(&ran.stderr, message);
    let rests = world.history("limited");
    assert_eq!(rests.len(), 3, "{ran}");
    assert!(
        rests.iter().all(|entry| entry["fact"]["named"] == true),
        "{rests:?}"
    );
    assert_eq!(world.history("retried").len(), 0, "{ran}");
    let admitted = world.history("admitted");
    assert_eq!(admitted.len(), 1, "one piece of work");
    assert_eq!(admitted[0]["fact"]["attempt"], 1);
    let arguments = world.noted("arguments");
    assert_eq!(arguments.len(), 4);
    assert!(!arguments[0].contains("resume"), "{arguments:?}");
    let same = format!("resume {ID}");
    assert!(
        arguments[1..].iter().all(|line| line.contains(&same)),
        "{arguments:?}"
    );
    assert!(limits(&world, "r-test").is_empty());
}

#[test]
fn a_run_that_rests_is_shown_survives_a_kill_and_a_person_may_end_the_wait() {
    let world = World::with(&one(""), "");
    world.program("codex", &codex("true", LATER));
    let child = world.begin(RUN);
    until("it rests", || child.said().contains("Try again in 2 days"));
    let before = limits(&world, "r-test");
    assert_eq!(before[0]["named"], true, "{before:?}");
    assert_eq!(before[0]["runner"], "codex");
    child.kill();
    assert_eq!(world.status("r-test"), "running");
    let child = world.begin("resume r-test");
    until("it rests again", || {
        child.said().contains("Try again in 2 days")
    });
    assert_eq!(
        limits(&world, "r-test"),
        before,
        "it still knows until when"
    );
    assert_eq!(world.starts().len(), 1, "nobody asks the service before");
    let next = world.gatewright("next r-test").succeeds();
    says(&next.stdout, before[0]["until"].as_str().unwrap());
    says(&next.stdout, "gatewright retry r-test");
    let status = world.gatewright("status r-test").succeeds();
    says(&status.stdout, "LIMITED until");
    world.program("codex", &codex("false", ""));
    world.gatewright("retry r-test").succeeds();
    child.end().succeeds();
    assert_eq!(world.starts().len(), 2);
    world.gatewright("verify r-test").succeeds();
}

#[test]
fn a_message_in_a_form_that_nobody_has_seen_is_told_once_and_waited_for() {
    let world = World::with(&one("retry = { max = 0, backoff = \"1s\" }"), "");
    let message = "unexpected status 429 Too Many Requests: come back when the moon is full";
    world.program("codex", &codex("true", message));
    let child = world.begin(RUN);
    until("it rests", || child.said().contains("moon is full"));
    until("the limit is shown", || {
        !limits(&world, "r-test").is_empty()
    });
    let limit = limits(&world, "r-test").remove(0);
    assert_eq!(limit["named"], false, "{limit}");
    says(limit["reason"].as_str().unwrap(), "moon is full");
    world.program("codex", &codex("false", ""));
    world.gatewright("retry r-test").succeeds();
    let ran = child.end().succeeds();
    assert_eq!(world.history("retried").len(), 0, "{ran}");
    assert_eq!(world.starts().len(), 2);
}

#[test]
fn where_the_stage_says_what_follows_a_limit_the_run_goes_there_at_once() {
    let world = World::with(&one("on.limited = \"complete\""), "");
    world.program("codex", &codex("true", LATER));
    world.gatewright(RUN).succeeds();
    assert_eq!(world.starts().len(), 1);
    assert_eq!(world.history("limited").len(), 0);
}

#[test]
fn a_run_that_rests_takes_no_slot_of_a_worker() {
    let world = World::with(&one(""), "");
    world.program("codex", &codex("true", LATER));
    world.program("claude", &claude("none"));
    for (run, runner) in [("r-rests", "codex"), ("r-other", "claude")] {
        let line = format!("start pipeline.toml --queue --task try --id {run} --runner {runner}");
        world.gatewright(&line).succeeds();
    }
    let worker = world.begin("worker --runs 1 --once");
    until("the other is done", || {
        world.status("r-other") == "completed"
    });
    assert_eq!(world.status("r-rests"), "running");
    assert_eq!(limits(&world, "r-rests").len(), 1);
    world.program("codex", &codex("false", ""));
    world.gatewright("retry r-rests").succeeds();
    worker.end().succeeds();
    assert_eq!(world.status("r-rests"), "completed");
}

#[test]
fn of_several_tasks_on_branches_one_that_is_limited_holds_up_no_other() {
    let world = World::with(&one(""), "");
    let message = "Rate limit reached. Please try again in 3s.";
    world.program("codex", &codex("[ $count = 1 ]", message));
    let line = "run pipeline.toml --task first --task second --runner codex";
    let ran = world.gatewright(line).succeeds();
    assert_eq!(world.starts().len(), 3, "{ran}");
    assert_eq!(ran.stdout.matches(" completed").count(), 2, "{ran}");
    says(&world.prompt(2), "second");
    says(&world.noted("arguments")[2], "resume");
}

#[test]
fn a_known_limit_holds_up_what_would_use_the_same_service_and_nothing_else() {
    let world = World::with(&one(""), "");
    world.program("codex", &codex("true", LATER));
    world.program("claude", &claude("none"));
    for (run, runner) in [("r-a", "codex"), ("r-b", "codex"), ("r-c", "claude")] {
        let line = format!("start pipeline.toml --queue --task try --id {run} --runner {runner}");
        world.gatewright(&line).succeeds();
    }
    let worker = world.begin("worker --runs 1");
    until("the other is done", || world.status("r-c") == "completed");
    assert_eq!(world.status("r-a"), "running");
    assert_eq!(world.status("r-b"), "queued", "it would only hit the limit");
    let queue = world.facts("queue");
    let rows = queue.as_array().unwrap();
    let waits = &rows.iter().find(|row| row["run"] == "r-b").unwrap()["waits"];
    assert_eq!(waits["for"], "time", "{waits}");
    says(waits["reason"].as_str().unwrap(), "usage limit");
    world.program("codex", &codex("false", ""));
    world.gatewright("retry r-a").succeeds();
    until("both go on", || {
        world.status("r-a") == "completed" && world.status("r-b") == "completed"
    });
    worker.interrupt();
    worker.end().exits(130);
}

#[test]
fn a_limit_of_claude_without_a_status_costs_no_attempt() {
    let world = World::with(&one("retry = 0"), "");
    let result = |fields: &str| {
        format!(r#"echo '{{"type":"result","subtype":"success",{fields},"session_id":"{ID}"}}'"#)
    };
    let limited = result(
        r#""is_error":true,"terminal_reason":"api_error","result":"API Error: Request timed out.""#,
    );
    let done = result(r#""is_error":false,"result":"all is well""#);
    let began = r#"while [ $# -gt 0 ]; do
    case $1 in --session-id|--resume) id=$2 ;; esac
    shift
done
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\"}""#;
    let script = format!("{began}\nif [ $count = 1 ]; then\n{limited}\nexit 1\nfi\n{done}");
    world.program("claude", &script);
    let child = world.begin("run pipeline.toml --task try --id r-test");
    until("it rests", || child.said().contains("Request timed out"));
    until("the limit is shown", || {
        !limits(&world, "r-test").is_empty()
    });
    assert_eq!(limits(&world, "r-test")[0]["named"], false);
    world.gatewright("retry r-test").succeeds();
    child.end().succeeds();
    assert_eq!(world.history("retried").len(), 0);
}

#[test]
fn a_fallback_works_while_the_first_is_limited_and_that_is_recorded() {
    let two = one("model = [\"opus\", \"sonnet\"]")
        .replace("on.done = \"complete\"", "on.done = \"again\"");
    let two = format!(
        "{two}\n[stages.again]\nagent = \"speaker\"\nmodel = [\"opus\", \"sonnet\"]\nleaves = [\"said\"]\non.done = \"complete\"\n"
    );
    let world = World::with(&two, "");
    world.program("claude", &claude("sonnet"));
    let ran = world
        .gatewright("run pipeline.toml --task try --id r-test")
        .succeeds();
    says(&ran.stderr, "sonnet");
    let arguments = world.noted("arguments");
    let models: Vec<bool> = arguments
        .iter()
        .map(|line| line.contains("--model sonnet"))
        .collect();
    assert_eq!(models, [false, true, true], "{arguments:?}");
    assert!(arguments[1].contains("--resume"), "{arguments:?}");
    let went_on = world.history("went_on");
    assert_eq!(went_on[0]["fact"]["model"], "sonnet", "{went_on:?}");
    let admitted = world.history("admitted");
    assert_eq!(admitted[0]["fact"]["model"], "opus");
    assert_eq!(
        admitted[1]["fact"]["model"], "sonnet",
        "opus is still limited"
    );
}

#[test]
fn a_new_run_begins_with_the_first_that_no_run_knows_to_be_limited() {
    let world = World::with(&one("model = [\"opus\", \"sonnet\"]"), "");
    let limit = "You have hit your limit · resets Dec 31 at 11pm (UTC)";
    world.program("claude", &claude("sonnet").replace(limit, LATER));
    let run = |id: &str| {
        let line = format!("run pipeline.toml --task try --id {id}");
        world.gatewright(&line).succeeds()
    };
    let begins_with_sonnet = |starts: &[bool]| {
        let arguments = world.noted("arguments");
        let sonnet = arguments.iter().map(|it| it.contains("--model sonnet"));
        assert!(sonnet.eq(starts.iter().copied()), "{arguments:?}");
    };
    run("r-a");
    begins_with_sonnet(&[false, true]);
    // The run that met the limit is over.
    let second = run("r-b");
    says(&second.stderr, "claude (opus) is limited");
    begins_with_sonnet(&[false, true, true]);
    assert_eq!(limits(&world, "r-b")[0]["model"], "opus");
    assert_eq!(world.history_of("r-b", "limited").len(), 1);
    assert_eq!(world.history_of("r-b", "went_on").len(), 0);
    let admitted = world.history_of("r-b", "admitted");
    assert_eq!(admitted[0]["fact"]["model"], "sonnet", "{admitted:?}");
    // Where nothing else may work, it is asked. It works again, so that everybody begins with it.
    world.program("claude", &claude("opus|sonnet"));
    world.pipeline(&one("model = \"opus\""));
    run("r-c");
    world.pipeline(&one("model = [\"opus\", \"sonnet\"]"));
    run("r-d");
    begins_with_sonnet(&[false, true, true, false, false]);
}

#[test]
fn a_run_that_begins_with_a_fallback_program_finds_nothing_half_done() {
    let fallback = "fallback = [{ runner = \"claude\", model = \"sonnet\" }]";
    let world = World::with(&one(fallback), "");
    world.program("codex", &codex("true", LATER));
    world.program("claude", &claude("sonnet"));
    world.gatewright(RUN).succeeds();
    let second = RUN.replace("r-test", "r-second");
    world.gatewright(&second).succeeds();
    assert_eq!(world.noted("arguments").len(), 3);
    assert_eq!(world.history_of("r-second", "went_on").len(), 0);
    let told = world.prompt(2);
    assert!(!told.contains("half done"), "{told}");
}

#[test]
fn another_program_takes_over_when_every_model_is_limited() {
    let world = World::with(
        &one(
            "model = [\"opus\", \"sonnet\"]\nfallback = [{ runner = \"codex\", model = \"gpt\" }]",
        ),
        "",
    );
    world.program("claude", &claude("none"));
    world.program("codex", &codex("false", ""));
    world
        .gatewright("run pipeline.toml --task try --id r-test")
        .succeeds();
    let services: Vec<(Value, Value)> = world
        .history("went_on")
        .into_iter()
        .map(|entry| {
            (
                entry["fact"]["runner"].clone(),
                entry["fact"]["model"].clone(),
            )
        })
        .collect();
    assert_eq!(
        services,
        [
            ("claude".into(), "sonnet".into()),
            ("codex".into(), "gpt".into())
        ]
    );
    assert_eq!(world.history("admitted").len(), 1, "the same piece of work");
    assert_eq!(world.history("limited").len(), 2);
}

/// The files that the first program left are there, and the conversation is not.
#[test]
fn a_fallback_program_hears_that_files_may_be_half_done() {
    let fallback = "fallback = [{ runner = \"claude\", model = \"sonnet\" }]";
    let steps = one(fallback).replace(
        "agent   = \"speaker\"\nleaves  = [\"said\"]",
        "steps = [{ id = \"a\", title = \"a\", agent = \"speaker\" }]\nmax_parallel = 2\non.failed = \"complete\"\nleaves = [\"said\"]",
    );
    let steps = steps.replace(
        "from = \"reply\"",
        "path = \"said-{step}.md\"\nformat = \"text\"",
    );
    for (pipeline, leaves) in [(one(fallback), ""), (steps, "echo x > said-a.md")] {
        let world = World::with(&pipeline, "");
        let half = "echo half > half.txt";
        world.program("codex", &format!("{half}\n{}", codex("true", LATER)));
        let looks = "cat half.txt > \"$here/found\"";
        world.program(
            "claude",
            &format!("{looks}\n{leaves}\n{}", claude("sonnet")),
        );
        world.gatewright(RUN).succeeds();
        assert_eq!(world.history("went_on")[0]["fact"]["runner"], "claude");
        assert_eq!(world.noted("found"), ["half"]);
        // Both have a first start: the program that was started last wrote it.
        let told = world.prompt(1);
        says(&told, "half done");
        assert!(!told.contains("nothing of the last attempt"), "{told}");
    }
}

#[test]
fn an_overload_and_a_cut_stream_cost_no_attempt_and_lead_to_the_fallback() {
    for message in [
        "Selected model is at capacity. Please try a different model.",
        "stream disconnected before completion: stream closed before response.completed",
    ] {
        let fallback = "retry = 0\nfallback = [{ runner = \"claude\", model = \"sonnet\" }]";
        let world = World::with(&one(fallback), "");
        world.program("codex", &codex("true", message));
        world.program("claude", &claude("sonnet"));
        world.gatewright(RUN).succeeds();
        assert_eq!(world.history("limited").len(), 1);
        assert_eq!(world.history("went_on")[0]["fact"]["runner"], "claude");
        assert_eq!(world.history("admitted").len(), 1, "{message}");
    }
    let world = World::with(&one("retry = 0"), "");
    let message = "stream disconnected before completion: no such model";
    world.program("codex", &codex("true", message));
    let ran = world.gatewright(RUN).exits(6);
    says(&ran.stdout, "no such model");
    assert_eq!(world.history("limited").len(), 0);
}

#[test]
fn a_time_without_a_zone_is_read_where_the_worker_is() {
    let world = World::with(&one(""), "");
    let times = r#"
then=$(($(date +%s) + 7200))
show() { date -d "@$then" "$@" 2>/dev/null || date -r "$then" "$@"; }
show -u +%Y-%m-%dT%H:%M >> "$here/expected"
echo "$TZ" >> "$here/zones"
local=$(LC_ALL=C show '+%b %d, %Y %I:%M %p')"#;
    let script = codex(
        "[ $count = 1 ]",
        "You have hit your usage limit. Try again at '\"$local\"'.",
    );
    world.program("codex", &format!("{times}\n{script}"));
    let mut start = world.command(&RUN.replace("run ", "start --queue "));
    testkit::Ran::from(start.env("TZ", "Asia/Tokyo").output().unwrap()).succeeds();
    let child = world.begin("resume r-test");
    until("it rests", || !limits(&world, "r-test").is_empty());
    let until = limits(&world, "r-test")[0]["until"].clone();
    says(until.as_str().unwrap(), &world.noted("expected")[0]);
    assert_eq!(world.noted("zones"), ["Asia/Tokyo"]);
    child.kill();
}

#[test]
fn steps_of_a_limited_service_wait_and_the_one_that_rests_goes_on_first() {
    let definition = one("").replace(
        "agent   = \"speaker\"\nleaves  = [\"said\"]",
        "steps = [{ id = \"a\", title = \"a\", agent = \"speaker\" }, { id = \"b\", title = \"b\", agent = \"speaker\" }, { id = \"c\", title = \"c\", agent = \"speaker\" }]\nmax_parallel = 1\non.failed = \"complete\"",
    );
    let definition = definition
        .replace(
            "from = \"reply\"",
            "path = \"said-{step}.md\"\nformat = \"text\"",
        )
        .replace("max_parallel = 1", "max_parallel = 1\nleaves = [\"said\"]");
    let world = World::with(&definition, "");
    let message = "Rate limit reached. Please try again in 0.5s.";
    let leaves = "echo text > \"said-$GATEWRIGHT_STEP.md\"";
    let script = codex("[ $count = 1 ]", message);
    world.program("codex", &format!("{leaves}\n{script}"));
    world.gatewright(RUN).succeeds();
    assert_eq!(world.history("limited").len(), 1);
    let starts = world.starts();
    assert_eq!(starts.len(), 4, "{starts:?}");
    assert_eq!(
        starts[0], starts[1],
        "the rested step goes on first: {starts:?}"
    );
}

#[test]
fn lint_refuses_a_fallback_where_a_panel_names_the_model_and_one_that_repeats() {
    let panel = |reviewer: &str| {
        format!(
            r#"
name  = "reviewed"
about = "Have a note reviewed."
start = "writing"

[artifacts.verdict]
path    = "verdict.json"
format  = "json"
outcome = {{ field = "status", values = ["approved", "needs_changes"] }}

[stages.writing]
agent   = "writer"
on.done = "reviewing"

[stages.reviewing]
review      = "writer"
rounds      = 2
panel       = [{{ agent = "critic", leaves = "verdict"{reviewer} }}]
model       = ["opus", "sonnet"]
on.approved = "complete"
on.exceeded = "complete"

[stages.complete]
end = "completed"
"#
        )
    };
    let world = World::with(&panel(""), "");
    let lint = |text: &str| {
        world.project.write("try.toml", text);
        world.gatewright("lint try.toml")
    };
    for demanded in [
        r#", model = ["opus", "sonnet"]"#,
        r#", model = "opus", fallback = [{ runner = "codex" }]"#,
        r#", runner = "codex", fallback = [{ runner = "claude" }]"#,
    ] {
        let ran = lint(&panel(demanded)).exits(1);
        says(&ran.stderr, "GW-L263");
    }
    let free = lint(&panel(r#", fallback = [{ runner = "codex" }]"#)).succeeds();
    assert!(!free.stderr.contains("GW-L263"), "{free}");
    for (fallback, code) in [
        (r#"model = ["opus", "opus"]"#, "GW-L264"),
        (
            r#"fallback = [{ model = "opus" }, { model = "opus" }]"#,
            "GW-L264",
        ),
        (r#"fallback = [{ runner = "nobody" }]"#, "GW-L265"),
        (r#"fallback = []"#, "GW-L1"),
        (r#"model = []"#, "GW-L1"),
        (r#"fallback = [{ programm = "codex" }]"#, "GW-L110"),
    ] {
        let ran = lint(&one(fallback)).exits(1);
        says(&ran.stderr, code);
    }
}
