//! The scripted model, asked over the wire as a host asks it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot reach the model has failed"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use testkit::model::{Actor, Kind, Model, call, fail, fail_first, hold, make, say};

/// A body with one tool, as in every conversation, and these messages: role and text by turns.
fn conversation(texts: &[&str]) -> Value {
    let roles = ["user", "assistant"].into_iter().cycle();
    let messages = roles
        .zip(texts)
        .map(|(role, text)| json!({ "role": role, "content": text }));
    let messages: Vec<_> = messages.collect();
    json!({ "model": "some-model", "stream": true, "tools": [{ "name": "Bash" }], "messages": messages })
}

/// Sends one request on a connection of its own and hands over the whole answer.
fn send(model: &Model, line: &str, body: &str) -> String {
    let address = model.url().replace("http://", "");
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{line} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn ask(model: &Model, texts: &[&str]) -> String {
    let body = conversation(texts).to_string();
    send(model, "POST /v1/messages?beta=true", &body)
}

#[test]
fn each_conversation_is_played_by_its_actor_at_its_own_place() {
    let model = Model::start([
        Actor::new("GO-MAIN", [say("main one"), say("main two")]),
        Actor::new("GO-OTHER", [say("other one")]),
    ]);
    // what the conversation has      what the model says
    let table: [(&[&str], &str); 7] = [
        (&["GO-MAIN x"], "main one"),
        (&["GO-OTHER x"], "other one"),
        (&["GO-MAIN x", "main one", "go on"], "main two"),
        (&["GO-MAIN x", "main one", "go on"], "main two"),
        (&["GO-MAIN x"], "main one"),
        (
            &["GO-MAIN x", "a", "b", "c", "d"],
            "the script has no more turns",
        ),
        (&["GO-NOBODY"], "the script has no actor"),
    ];
    for (texts, wanted) in table {
        let answer = ask(&model, texts);
        assert!(
            answer.contains(&format!("\"text\":\"{wanted}")),
            "{texts:?}: {answer}"
        );
    }
    assert_eq!(model.strangers().len(), 1);
}

#[test]
fn an_actor_is_found_by_the_system_prompt_or_by_a_judgement() {
    let model = Model::start([
        Actor::when(
            "FORK",
            |request| request.news().contains("you are a fork"),
            [say("fork")],
        ),
        Actor::new("GO-FILE", [say("by its file")]),
        Actor::new("GO-MAIN", [say("main")]),
    ]);
    let mut body = conversation(&["work"]);
    body["system"] = json!([{ "type": "text", "text": "GO-FILE: you write" }]);
    let answer = send(&model, "POST /v1/messages", &body.to_string());
    assert!(answer.contains("by its file"), "{answer}");
    assert!(ask(&model, &["GO-MAIN", "main", "you are a fork"]).contains("no more turns"));
    assert_eq!(model.requests_of("FORK").len(), 1);
}

#[test]
fn a_stream_has_every_event_in_its_order_and_a_call_ends_in_tool_use() {
    let turn = say("first").and_call("Bash", json!({ "command": "ls" }));
    let model = Model::start([Actor::new("GO", [turn])]);
    let answer = ask(&model, &["GO"]);
    let events = answer
        .lines()
        .filter_map(|line| line.strip_prefix("event: "));
    let wanted = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(events.collect::<Vec<_>>(), wanted, "{answer}");
    assert!(
        answer.contains(r#""partial_json":"{\"command\":\"ls\"}""#),
        "{answer}"
    );
    assert!(answer.contains(r#""stop_reason":"tool_use""#), "{answer}");
}

#[test]
fn without_a_stream_the_message_comes_whole() {
    let turn = call("Bash", json!({ "command": "ls" })).having_read(900_000);
    let model = Model::start([Actor::new("GO", [turn])]);
    let mut body = conversation(&["GO"]);
    body["stream"] = json!(false);
    let answer = send(&model, "POST /v1/messages", &body.to_string());
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let message: Value = serde_json::from_str(body).unwrap();
    assert_eq!(message["content"][0]["input"], json!({ "command": "ls" }));
    assert_eq!(message["usage"]["input_tokens"], 900_000);
    assert_eq!(message["stop_reason"], "tool_use");
}

#[test]
fn no_two_calls_have_the_same_id() {
    let model = Model::start([Actor::new("GO", [call("Bash", json!({}))])]);
    let id = |answer: &str| {
        answer
            .split("toolu_")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_ne!(id(&ask(&model, &["GO"])), id(&ask(&model, &["GO"])));
}

#[test]
fn a_summary_keeps_the_place_in_the_script() {
    let model = Model::start([Actor::new(
        "GO-MAIN",
        [say("one"), say("two"), say("three")],
    )]);
    let question = "Your task is to create a detailed summary of the conversation so far";
    let summary = ask(&model, &["GO-MAIN", "one", "x", "two", question]);
    let summary = summary
        .split("<summary>")
        .nth(1)
        .unwrap()
        .split("</summary>")
        .next()
        .unwrap();
    let continued = format!("This session is being continued: {summary}");
    assert!(ask(&model, &[&continued]).contains("three"), "{summary}");
    let kinds: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.kind)
        .collect();
    assert_eq!(kinds, [Kind::Compaction, Kind::Conversation]);
}

#[test]
fn failures_have_their_status_and_pass_when_the_script_says_so() {
    let model = Model::start([
        Actor::new("GO-BAD", [fail(400)]),
        Actor::new("GO-BUSY", [fail_first(529, 2, say("at last"))]),
        Actor::new("GO-BROKEN", [make(|request| say(&request.agent_id()))]),
    ]);
    for _ in 0..2 {
        assert!(ask(&model, &["GO-BAD"]).starts_with("HTTP/1.1 400 "));
        assert!(ask(&model, &["GO-BUSY"]).starts_with("HTTP/1.1 529 "));
    }
    assert!(ask(&model, &["GO-BUSY"]).contains("at last"));
    let answer = ask(&model, &["GO-BROKEN"]);
    assert!(
        answer.contains("a turn of the script has panicked"),
        "{answer}"
    );
}

#[test]
fn a_held_turn_waits_for_its_flag_and_others_do_not_wait_for_it() {
    let model = Model::start([
        Actor::new("GO-SLOW", [hold("flag", say("slow"))]),
        Actor::new("GO-QUICK", [say("quick")]),
    ]);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| ask(&model, &["GO-SLOW"]));
        model.wait_until_held("flag");
        assert!(ask(&model, &["GO-QUICK"]).contains("quick"));
        assert!(!slow.is_finished());
        model.release("flag");
        assert!(slow.join().unwrap().contains("slow"));
    });
}

#[test]
fn everything_is_told_once_however_often_it_is_asked() {
    let model = Model::start([Actor::new("GO", [say("one"), say("two")])]);
    ask(&model, &["GO first"]);
    ask(&model, &["GO first"]);
    ask(&model, &["GO first", "one", "second"]);
    assert_eq!(model.told("GO"), "GO first\nsecond");
    assert_eq!(model.requests_of("GO").len(), 3);
}

#[test]
fn results_of_tools_are_found_with_the_agent_that_they_name() {
    let model = Model::start([Actor::new("GO", [make(|request| say(&request.agent_id()))])]);
    let result = json!([{ "type": "text", "text": "launched\nagentId: a1b2c3 (internal)" }]);
    let block =
        json!({ "type": "tool_result", "tool_use_id": "t", "is_error": true, "content": result });
    let mut body = conversation(&["GO"]);
    body["messages"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "role": "user", "content": [block] }));
    let answer = send(&model, "POST /v1/messages", &body.to_string());
    assert!(answer.contains("a1b2c3"), "{answer}");
    let results = model.requests()[0].tool_results();
    assert!(
        results[0].is_error && results[0].text.starts_with("launched"),
        "{results:?}"
    );
}

#[test]
fn questions_beside_the_conversation_are_answered_and_use_up_no_turn() {
    let model = Model::start([Actor::new("GO", [say("one")])]);
    let mut title = conversation(&["GO: a title, please"]);
    title["tools"] = json!([]);
    let table = [
        (
            "POST /v1/messages",
            title.to_string(),
            Kind::Aside,
            "an aside",
        ),
        (
            "POST /v1/messages/count_tokens",
            conversation(&["GO"]).to_string(),
            Kind::Count,
            "input_tokens",
        ),
        ("GET /v1/models", String::new(), Kind::Other, "{}"),
        (
            "POST /v1/messages",
            "no JSON".to_owned(),
            Kind::Aside,
            "an aside",
        ),
    ];
    for (line, body, kind, wanted) in table {
        let answer = send(&model, line, &body);
        assert!(
            answer.starts_with("HTTP/1.1 200 ") && answer.contains(wanted),
            "{line}: {answer}"
        );
        assert_eq!(model.requests().last().unwrap().kind, kind, "{line}");
    }
    let head = send(&model, "HEAD /", "");
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    assert_eq!(model.told("GO"), "");
}

#[test]
#[should_panic(expected = "the script has no actor \"GO-TYPO\"")]
fn a_misspelt_actor_is_a_failure() {
    Model::start([Actor::new("GO", [])]).told("GO-TYPO");
}
