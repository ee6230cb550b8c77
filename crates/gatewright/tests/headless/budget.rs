//! Budgets: turns, tokens, cost and time are checked before the next worker starts, and within a turn.

use super::fixture::{World, says, until};

/// Two workers one after another, under this budget.
pub(crate) fn two(budget: &str, runner: &str) -> String {
    format!(
        r#"
name  = "two"
about = "Have two say something."
start = "first"

[budget]
{budget}

[artifacts.said]
from = "reply"

[artifacts.more]
from = "reply"

[stages.first]
agent   = "one"
runner  = "{runner}"
leaves  = ["said"]
on.done = "second"

[stages.second]
agent   = "other"
runner  = "{runner}"
leaves  = ["more"]
on.done = "complete"

[stages.complete]
end = "completed"
"#
    )
}

/// Says something, for 1000 tokens in one turn.
const CODEX: &str = r#"
echo "{\"type\":\"thread.started\",\"thread_id\":\"01a1e0b0-54e3-7200-8e56-8dc64c4ddf0$count\"}"
echo '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"all is well"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":990,"cached_input_tokens":5,"output_tokens":10}}'
"#;

/// Says something, for 40 cents in one turn.
pub(crate) const CLAUDE: &str = r#"
while [ $# -gt 0 ]; do
    case $1 in --session-id) id=$2 ;; esac
    shift
done
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\"}"
echo '{"type":"assistant","message":{"content":[{"type":"text","text":"all is well"}]}}'
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,\"result\":\"all is well\",\"session_id\":\"$id\",\"total_cost_usd\":0.40,\"usage\":{\"input_tokens\":10,\"output_tokens\":10}}"
"#;

const RUN: &str = "run pipeline.toml --task try --id r-test";

/// The first worker uses up the budget; a person grants it again.
fn spent_by_the_first(budget: &str, (runner, script): (&str, &str), told: &str) {
    let world = World::with(&two(budget, runner), "");
    world.program(runner, script);
    let ran = world.gatewright(RUN).exits(6);
    says(&ran.stdout, told);
    assert_eq!(world.starts(), ["first"], "the second never began");
    world.gatewright("resume r-test").exits(6);
    assert_eq!(world.starts(), ["first"], "a resume grants nothing");
    world.gatewright("answer r-test continue").succeeds();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.starts(), ["first", "second"]);
}

#[test]
fn turns_are_counted_over_the_whole_run() {
    spent_by_the_first("turns = 1", ("codex", CODEX), "turns 1 of 1");
}

#[test]
fn tokens_are_counted_over_the_whole_run() {
    spent_by_the_first("tokens = 900", ("codex", CODEX), "tokens 1000 of 900");
}

#[test]
fn cost_is_counted_over_the_whole_run() {
    spent_by_the_first("cost = \"0.30\"", ("claude", CLAUDE), "cost 0.40 of 0.30");
}

#[test]
fn time_is_counted_over_the_whole_run() {
    let definition = two("time = \"2s\"", "codex").replace("runner  = \"codex\"\n", "");
    let world = World::with(&definition, "sleep 600");
    let ran = world.run("").exits(6);
    says(&ran.stdout, "of 2s");
    let time = time_used(&world);
    assert!(time >= 2, "a busy machine takes longer, never less: {time}");
    assert_eq!(
        world.starts(),
        ["first"],
        "its turn was ended, and its work is open"
    );
    world.agent("echo well");
    world.gatewright("answer r-test continue").succeeds();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.starts(), ["first", "first", "second"]);
    assert_eq!(world.history("admitted").len(), 2, "in the same attempt");
}

/// The seconds of the run that count.
fn time_used(world: &World) -> u64 {
    let facts = world.facts("status r-test");
    let lines = facts["budget"].as_array().unwrap().iter();
    let mut time = lines.filter(|line| line["what"] == "seconds");
    time.next().unwrap()["used"].as_u64().unwrap()
}

#[test]
fn time_does_not_count_in_the_queue_and_while_a_person_is_asked() {
    let definition = two("time = \"2s\"", "codex").replace("runner  = \"codex\"\n", "");
    let definition = definition.replace("on.done = \"second\"", "on.done = \"asking\"");
    let asking = "[stages.asking]\nask = \"Go on?\"\non.yes = \"second\"\n";
    let world = World::with(&format!("{definition}\n{asking}"), "echo well");
    let agent = world.programs().join("agent");
    let line = format!(
        "start pipeline.toml --queue --task try --id r-test --stand-in {}",
        agent.display()
    );
    // There is nothing to watch: the time itself is what must not count.
    let passes = || std::thread::sleep(std::time::Duration::from_millis(2_200));
    world.gatewright(&line).succeeds();
    passes();
    world.gatewright("worker --once").succeeds();
    assert_eq!(world.starts(), ["first"]);
    passes();
    world.gatewright("answer r-test yes").succeeds();
    world.gatewright("worker --once").succeeds();
    assert_eq!(world.starts(), ["first", "second"]);
    assert_eq!(world.status("r-test"), "completed");
}

/// Claude Code, which reads 500 tokens for each message and names each of them twice. It goes on until
/// somebody ends it, or for a while. Between two messages there is time to end it.
pub(crate) const READS_ON: &str = r#"
echo "$*" >> "$here/arguments"
while [ $# -gt 0 ]; do
    case $1 in --session-id|--resume) id=$2 ;; esac
    shift
done
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\"}"
number=1
while [ ! -e "$here/enough" ]; do
    for text in one two; do
        echo "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_$count.$number\",\"content\":[{\"type\":\"text\",\"text\":\"$text\"}],\"usage\":{\"input_tokens\":100,\"cache_read_input_tokens\":390,\"output_tokens\":10}}}"
    done
    echo "$number" > "$here/messages.$count"
    number=$((number + 1))
    [ $number -le 60 ] || exit 1
    [ $number -le 4 ] || [ -e "$here/greedy" ] || sleep 600
    sleep 0.1
done
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"all is well\",\"session_id\":\"$id\",\"total_cost_usd\":0.40,\"usage\":{\"input_tokens\":10,\"output_tokens\":10}}"
"#;

fn tokens_used(world: &World) -> u64 {
    used(world, "tokens")
}

fn turns_used(world: &World) -> u64 {
    used(world, "turns")
}

fn used(world: &World, what: &str) -> u64 {
    let facts = world.facts("status r-test");
    let mut lines = facts["budget"].as_array().unwrap().iter();
    let line = lines.find(|line| line["what"] == what);
    line.map_or(0, |line| line["used"].as_u64().unwrap())
}

#[test]
fn a_turn_that_passes_the_budget_is_ended_and_its_work_goes_on_when_it_is_granted_again() {
    let world = World::with(&two("tokens = 1800", "claude"), "");
    world.program("claude", READS_ON);
    std::fs::write(world.programs().join("greedy"), "").unwrap();
    let ran = world.gatewright(RUN).exits(6);
    says(&ran.stdout, "of 1800");
    let used = tokens_used(&world);
    assert!(
        (2000..4000).contains(&used),
        "each message counts once: {used}"
    );
    assert_eq!(world.history("ended").len(), 0, "its work is open");
    world.gatewright("resume r-test").exits(6);
    assert_eq!(world.starts().len(), 1, "a resume grants nothing");
    std::fs::write(world.programs().join("enough"), "").unwrap();
    world.gatewright("answer r-test continue").succeeds();
    world.gatewright("resume r-test").succeeds();
    let arguments = world.noted("arguments");
    assert!(arguments[1].contains("--resume"), "{arguments:?}");
    assert_eq!(world.history("retried").len(), 0);
    assert_eq!(tokens_used(&world), used + 40);
}

#[test]
fn what_a_turn_used_counts_when_it_is_ended_by_its_time_limit() {
    let slow = two("tokens = 9000", "claude");
    let slow = slow.replace(
        "leaves  = [\"said\"]",
        "leaves  = [\"said\"]\ntimeout = \"2s\"\nretry = 0",
    );
    let world = World::with(&slow, "");
    world.program("claude", READS_ON);
    world.gatewright(RUN).exits(6);
    assert_eq!(tokens_used(&world), 2000);
    let ended = world.history("ended");
    assert_eq!(
        ended[0]["fact"]["used"]["turns"], 1,
        "a turn that was ended is a turn"
    );
}

#[test]
fn what_a_turn_used_counts_once_after_a_stop_and_after_a_kill() {
    let world = World::with(&two("tokens = 9000", "claude"), "");
    world.program("claude", READS_ON);
    let has_said = |count: usize| {
        let name = format!("messages.{count}");
        until("it has said four messages", || world.noted(&name) == ["4"]);
    };
    let child = world.begin(RUN);
    has_said(1);
    child.interrupt();
    child.end().exits(130);
    assert_eq!(tokens_used(&world), 2000);
    let child = world.begin("resume r-test");
    has_said(2);
    let used_by_record = || {
        let folder = world.project.state().join("working");
        let files = std::fs::read_dir(folder).unwrap();
        // A file that is being written has another name.
        let paths = files.map(|file| file.unwrap().path());
        let records = paths.filter(|path| path.extension().is_some_and(|it| it == "json"));
        let mut texts = records.filter_map(|path| std::fs::read_to_string(path).ok());
        texts.any(|text| text.contains("\"tokens\":2000"))
    };
    until("the record has it", used_by_record);
    let seen = || (tokens_used(&world), turns_used(&world));
    assert_eq!(seen(), (4000, 2), "with the work that is open");
    child.kill();
    assert_eq!(seen(), (4000, 2), "also where nobody drives it");
    std::fs::write(world.programs().join("enough"), "").unwrap();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(tokens_used(&world), 2000 + 2000 + 20 + 20);
    assert_eq!(turns_used(&world), 4, "both that were broken off are turns");
}

/// Claude Code, whose service is overloaded at its first three starts.
const OVERLOADED: &str = r#"
while [ $# -gt 0 ]; do
    case $1 in --session-id|--resume) id=$2 ;; esac
    shift
done
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\"}"
if [ $count -le 3 ]; then
    echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"terminal_reason\":\"api_error\",\"api_error_status\":529,\"result\":\"Overloaded. Please retry in 0.1s.\",\"usage\":{\"input_tokens\":TOKENS}}"
    exit 1
fi
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"all is well\",\"session_id\":\"$id\",\"usage\":{\"input_tokens\":10,\"output_tokens\":10}}"
"#;

#[test]
fn a_prompt_that_the_service_refused_is_no_turn_and_one_that_it_began_to_answer_is() {
    let world = World::with(&two("turns = 3", "claude"), "");
    world.program("claude", &OVERLOADED.replace("TOKENS", "0"));
    world.gatewright(RUN).succeeds();
    assert_eq!(world.history("limited").len(), 3);
    assert_eq!(turns_used(&world), 2);
    let world = World::with(&two("turns = 3", "claude"), "");
    world.program("claude", &OVERLOADED.replace("TOKENS", "7"));
    let ran = world.gatewright(RUN).exits(6);
    says(&ran.stdout, "turns 3 of 3");
    assert_eq!(world.starts().len(), 3);
}

/// Codex, whose stream is cut in the middle of an answer. Its fifth turn comes to an end.
const CODEX_IS_CUT: &str = r#"
echo '{"type":"thread.started","thread_id":"01a1e0b0-54e3-7200-8e56-8dc64c4ddfd4"}'
echo '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"I look at it"}}'
if [ $count -le 4 ]; then
    echo '{"type":"turn.failed","error":{"message":"stream closed before response.completed: try again in 0.1s"}}'
    exit 1
fi
echo '{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"all is well"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":990,"output_tokens":10}}'
"#;

/// The same of Gemini CLI.
const GEMINI_IS_CUT: &str = r#"
while [ $# -gt 0 ]; do
    case $1 in --session-id|-r) id=$2 ;; esac
    shift
done
echo "{\"type\":\"init\",\"session_id\":\"$id\"}"
echo '{"type":"message","role":"assistant","content":"I look at it"}'
if [ $count -le 4 ]; then
    echo '{"type":"error","severity":"error","message":"Model stream ended without a finish reason: retry in 0.1s"}'
    echo '{"type":"result","status":"error","stats":{"total_tokens":0}}'
    exit 1
fi
echo '{"type":"message","role":"assistant","content":"all is well"}'
echo '{"type":"result","status":"success","stats":{"total_tokens":1000}}'
"#;

#[test]
fn a_turn_whose_answer_is_cut_counts_although_its_program_tells_no_tokens() {
    for (runner, script) in [("codex", CODEX_IS_CUT), ("gemini", GEMINI_IS_CUT)] {
        let world = World::with(&two("turns = 3", runner), "");
        world.program(runner, script);
        let ran = world.gatewright(RUN).exits(6);
        says(&ran.stdout, "turns 3 of 3");
        assert_eq!(world.starts().len(), 3, "{runner}");
    }
}

/// Codex, which begins an answer and is ended in the middle of it.
const CODEX_IS_SLOW: &str = r#"
echo '{"type":"thread.started","thread_id":"01a1e0b0-54e3-7200-8e56-8dc64c4ddfd4"}'
echo '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"I look at it"}}'
exec sleep 600
"#;

#[test]
fn a_turn_that_its_time_limit_ends_counts_although_its_program_tells_no_tokens() {
    let slow = two("turns = 9", "codex").replace(
        "leaves  = [\"said\"]",
        "leaves  = [\"said\"]\ntimeout = \"2s\"\nretry = 0",
    );
    let world = World::with(&slow, "");
    world.program("codex", CODEX_IS_SLOW);
    world.gatewright(RUN).exits(6);
    assert_eq!(world.history("ended")[0]["fact"]["used"]["turns"], 1);
}

#[test]
fn what_fits_into_the_budget_goes_through_and_is_told() {
    let world = World::with(&two("tokens = 5000\nturns = 10", "codex"), "");
    world.program("codex", CODEX);
    world.gatewright(RUN).succeeds();
    let facts = world.facts("status r-test");
    let tokens = &facts["budget"][1];
    assert_eq!(tokens["used"], 2000, "{facts}");
    assert_eq!(tokens["limit"], 5000, "{facts}");
}

fn spent_in_a_day(world: &World) -> u64 {
    world.facts("caps")["day"]["used"]["tokens"]
        .as_u64()
        .unwrap()
}

#[test]
fn a_cap_of_a_day_counts_all_runs_and_they_rest_until_it_frees_something_or_is_raised() {
    let world = World::with(&two("turns = 99", "codex"), "");
    world.program("codex", CODEX);
    world.gatewright("caps --day tokens=2500").succeeds();
    world.gatewright(RUN).succeeds();
    assert_eq!(spent_in_a_day(&world), 2000);
    let line = "start pipeline.toml --queue --task more --id r-more --runner codex";
    world.gatewright(line).succeeds();
    let worker = world.begin("worker --once");
    until("it rests", || worker.said().contains("tokens 3000 of 2500"));
    assert_eq!(world.status("r-more"), "running");
    assert_eq!(world.starts().len(), 3, "the last one does not start");
    world.gatewright("caps --day none").succeeds();
    worker.end().succeeds();
    assert_eq!(world.status("r-more"), "completed");
    assert_eq!(spent_in_a_day(&world), 4000);
}

#[test]
fn a_cap_of_the_machine_ends_a_turn_and_only_a_person_raises_it() {
    let world = World::with(&two("turns = 99", "claude"), "");
    world.program("claude", READS_ON);
    std::fs::write(world.programs().join("greedy"), "").unwrap();
    world.gatewright("caps --machine tokens=1800").succeeds();
    let ran = world.gatewright(RUN).exits(6);
    says(&ran.stdout, "of 1800");
    assert_eq!(world.history("ended").len(), 0, "its work is open");
    let inbox = &world.facts("inbox")["inbox"];
    says(
        inbox[0]["asks"].as_str().unwrap(),
        "gatewright caps --machine",
    );
    let commands = inbox[0]["commands"].as_array().unwrap();
    says(
        commands[0].as_str().unwrap(),
        "gatewright caps --machine AMOUNT && ",
    );
    world.gatewright("answer r-test continue").succeeds();
    let continued = world.history("continued");
    assert_eq!(
        continued[0]["fact"]["budget_again"], false,
        "its own budget stays"
    );
    world.gatewright("resume r-test").exits(6);
    assert_eq!(world.starts().len(), 1, "its budget is not the cap");
    let mut command = world.command("caps --machine none");
    let refused = testkit::Ran::from(command.env("CLAUDECODE", "1").output().unwrap()).exits(1);
    says(&refused.stderr, "GW-R66");
    world.gatewright("caps --machine none").succeeds();
    std::fs::write(world.programs().join("enough"), "").unwrap();
    world.gatewright("answer r-test continue").succeeds();
    world.gatewright("resume r-test").succeeds();
}

#[test]
fn what_a_killed_turn_cost_is_estimated_from_the_turns_that_ended() {
    let slow = two("cost = \"9.00\"", "claude");
    let slow = slow.replace(
        "leaves  = [\"more\"]",
        "leaves  = [\"more\"]\ntimeout = \"2s\"\nretry = 0",
    );
    let world = World::with(&slow, "");
    let script = format!("[ \"$count\" != 1 ] || : > \"$here/enough\"\n{READS_ON}");
    world.program(
        "claude",
        &script.replace("[ ! -e \"$here/enough\" ]", "[ \"$count\" != 1 ]"),
    );
    world.gatewright(RUN).exits(6);
    let ended = world.history("ended");
    let used = |place: usize| ended[place]["fact"]["used"].clone();
    // The first turn told 40 cents for 10 tokens of input and 10 of output, which cost five times as much. A
    // message reads 100 tokens, 390 from the cache, and writes 10.
    assert_eq!(used(0)["cost_cents"], 40, "{ended:?}");
    assert!(used(0)["estimated_cents"].is_null(), "{ended:?}");
    assert_eq!(used(1)["tokens"], 2000, "{ended:?}");
    assert_eq!(used(1)["cost_cents"], 504, "{ended:?}");
    assert_eq!(used(1)["estimated_cents"], 504, "{ended:?}");
    let cost = |facts: &serde_json::Value| facts["budget"][2].clone();
    let facts = world.facts("status r-test");
    assert_eq!(cost(&facts)["used"], 544, "{facts}");
    assert_eq!(cost(&facts)["estimated"], true, "{facts}");
    let ran = world.gatewright("status r-test").succeeds();
    says(&ran.stdout, "estimated cost 5.44 of 9.00");
    let ran = world.gatewright("caps").succeeds();
    says(&ran.stdout, "estimated cost 5.44");
}

/// The rate is known when the turn ends, and was not when it began.
#[test]
fn what_a_killed_turn_cost_is_estimated_from_a_turn_that_ended_meanwhile() {
    let slow = two("cost = \"9.00\"", "claude");
    let slow = slow.replace(
        "leaves  = [\"said\"]",
        "leaves  = [\"said\"]\ntimeout = \"6s\"\nretry = 0",
    );
    let world = World::with(&slow, "");
    let script = READS_ON.replace("[ ! -e \"$here/enough\" ]", "[ \"$count\" = 1 ]");
    world.program("claude", &script);
    let child = world.begin(RUN);
    until("it has said four messages", || {
        world.noted("messages.1") == ["4"]
    });
    let other = "run pipeline.toml --branch --task quick --id r-other";
    world.gatewright(other).succeeds();
    assert_eq!(world.history("ended").len(), 0, "the first is at work");
    child.end().exits(6);
    let ended = world.history("ended");
    let used = &ended[0]["fact"]["used"];
    assert_eq!(used["tokens"], 2000, "{ended:?}");
    assert_eq!(used["cost_cents"], 504, "{ended:?}");
    assert_eq!(used["estimated_cents"], 504, "{ended:?}");
}

/// Claude Code, which reads much from its cache in ten messages, and ends its turn at the cost that it is
/// allowed: each message costs 11 cents.
const READS_FROM_CACHE: &str = r#"
echo "$*" >> "$here/arguments"
most=999999
while [ $# -gt 0 ]; do
    case $1 in
        --session-id|--resume) id=$2 ;;
        --max-budget-usd) most=$(echo "$2" | tr -d .) ;;
    esac
    shift
done
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\"}"
ends() {
    echo "{\"type\":\"result\",\"subtype\":\"$1\",\"is_error\":$2,\"errors\":[\"$3\"],\"result\":\"all is well\",\"session_id\":\"$id\",\"total_cost_usd\":$4,\"usage\":{$5}}"
}
if [ "$count" = 1 ]; then
    ends success false "" 0.061 '"cache_creation_input_tokens":15300,"output_tokens":10'
    exit 0
fi
cost=0
for number in $(seq 10); do
    echo "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_$count.$number\",\"content\":[{\"type\":\"text\",\"text\":\"$number\"}],\"usage\":{\"cache_read_input_tokens\":275000,\"output_tokens\":1}}}"
    cost=$((cost + 11))
    [ $cost -lt $most ] || { ends error_max_budget_usd true "Reached maximum budget" $((cost / 100)).$(printf %02d $((cost % 100))) "\"cache_read_input_tokens\":$((275000 * number))"; exit 1; }
done
ends success false "" 1.10 '"cache_read_input_tokens":2750000,"output_tokens":10'
"#;

#[test]
fn tokens_from_the_cache_do_not_end_a_turn_that_fits_into_the_budget() {
    let world = World::with(&two("cost = \"5.00\"", "claude"), "");
    world.program("claude", READS_FROM_CACHE);
    world.gatewright(RUN).succeeds();
    let facts = world.facts("status r-test");
    assert_eq!(facts["budget"][2]["used"], 7 + 110, "{facts}");
    assert_eq!(facts["budget"][2]["estimated"], false, "{facts}");
}

#[test]
fn a_program_that_limits_its_own_cost_gets_what_is_left_and_goes_on_when_it_is_granted_again() {
    let world = World::with(&two("cost = \"0.50\"", "claude"), "");
    world.program("claude", READS_FROM_CACHE);
    let ran = world.gatewright(RUN).exits(6);
    says(&ran.stdout, "cost 0.51 of 0.50");
    says(
        &world.gatewright("status r-test").succeeds().stdout,
        "cost 0.51 of 0.50",
    );
    let limits = || -> Vec<String> {
        let lines = world.noted("arguments").into_iter();
        let limit = |line: &String| line.split("--max-budget-usd ").nth(1).map(str::to_owned);
        let limits = lines.filter_map(|line| limit(&line));
        limits.map(|limit| limit[..4].to_owned()).collect()
    };
    assert_eq!(limits(), ["0.50", "0.43"]);
    assert_eq!(world.history("ended").len(), 1, "the second work is open");
    world.gatewright("resume r-test").exits(6);
    assert_eq!(world.starts().len(), 2, "a resume grants nothing");
    world.gatewright("caps --day cost=0.85").succeeds();
    world.gatewright("answer r-test continue").succeeds();
    let child = world.begin("resume r-test");
    until("the cap of the day is used up", || {
        child.said().contains("cost 0.95 of 0.85")
    });
    assert_eq!(limits(), ["0.50", "0.43", "0.34"], "the least counts");
    world.gatewright("caps --day none").succeeds();
    let ran = child.end().exits(6);
    says(&ran.stdout, "cost 1.06 of 1.01");
    assert_eq!(limits()[3..], ["0.06"]);
    says(
        &world.gatewright("status r-test").succeeds().stdout,
        "cost 1.06 of 1.01",
    );
    let asked = world.gatewright("answer").succeeds();
    says(&asked.stdout, "cost 1.06 of 1.01");
    for _ in 0..2 {
        world.gatewright("answer r-test continue").succeeds();
        world.gatewright("resume r-test").exits(6);
    }
    assert_eq!(world.history("retried").len(), 0, "none costs an attempt");
}

#[test]
fn a_rate_that_is_too_high_ends_no_turn_again_and_again() {
    let world = World::with(&two("cost = \"1.50\"", "claude"), "");
    // The first turn was ten times as dear as its tokens are.
    world.program("claude", &READS_FROM_CACHE.replace("0.061", "0.61"));
    let ran = world.gatewright(RUN).exits(6);
    says(&ran.stdout, "estimated cost 1.50 of 1.50");
    assert_eq!(world.starts().len(), 2);
    world.gatewright("answer r-test continue").succeeds();
    world.gatewright("resume r-test").succeeds();
    let ran = world.gatewright("status r-test").succeeds();
    says(&ran.stdout, "estimated cost 2.60 of 3.00");
}
