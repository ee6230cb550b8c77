//! Notices: a URL or command gets a message when a run waits, failed or completed.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::Value;
use testkit::pipelines::OPEN;

use super::fixture::{ONE, WRITES, World, says};

/// Records the notices.
const NOTES: &str = r#"cat "$here/prompt.$count" >> "$here/told"; echo "$GATEWRIGHT_RUN $GATEWRIGHT_STATUS" >> "$here/knows""#;

fn told(world: &World) -> Vec<Value> {
    let text = world.noted("told").join("\n");
    let values = serde_json::Deserializer::from_str(&text).into_iter();
    values.map(Result::unwrap).collect()
}

fn notify(world: &World, target: &str) -> Vec<String> {
    let line = world.line("--notify");
    let words = line.split_whitespace().map(str::to_owned);
    words.chain([target.to_owned()]).collect()
}

fn run(world: &World, target: &str) -> testkit::Ran {
    world.project.run(notify(world, target))
}

#[test]
fn a_command_is_told_with_the_facts_on_its_input() {
    let world = World::with(ONE, WRITES);
    world.program("noting", NOTES);
    let noting = world.programs().join("noting");
    run(&world, &noting.display().to_string()).succeeds();
    let told = told(&world);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["run"], "r-test");
    assert_eq!(told[0]["status"], "completed");
    assert_eq!(told[0]["task"], "try");
    assert_eq!(world.noted("knows"), ["r-test completed"]);
    // What was told of its end is not told again.
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.noted("knows").len(), 1);
}

#[test]
fn it_is_told_of_a_wait_too_and_of_the_end_after_it() {
    let world = World::with(ONE, "exit 0");
    world.pipeline(&ONE.replace("on.done", "retry = 0\non.done"));
    world.program("noting", NOTES);
    let noting = world.programs().join("noting");
    run(&world, &noting.display().to_string()).exits(6);
    world.agent(WRITES);
    world.gatewright("retry r-test").succeeds();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.noted("knows"), ["r-test waiting", "r-test completed"]);
    let told = told(&world);
    says(told[0]["reason"].as_str().unwrap(), "note");
}

#[test]
fn it_is_told_of_a_run_that_failed() {
    let failing = ONE
        .replace("on.done", "retry = 0\non.crashed = \"stopped\"\non.done")
        .replace(
            "[stages.complete]",
            "[stages.stopped]\nend = \"failed\"\n\n[stages.complete]",
        );
    let world = World::with(&failing, "exit 3");
    world.program("noting", NOTES);
    let noting = world.programs().join("noting");
    run(&world, &noting.display().to_string()).exits(1);
    assert_eq!(world.noted("knows"), ["r-test failed"]);
    let reason = told(&world)[0]["reason"].clone();
    says(reason.as_str().unwrap(), "crashed");
}

#[test]
fn an_address_gets_a_post() {
    let world = World::with(ONE, WRITES);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = String::new();
        let mut piece = [0; 4096];
        while !request.contains("\r\n\r\n") || !request.trim_end().ends_with('}') {
            let length = stream.read(&mut piece).unwrap();
            assert_ne!(length, 0, "{request}");
            request.push_str(&String::from_utf8_lossy(&piece[..length]));
        }
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            .unwrap();
        request
    });
    run(&world, &format!("http://{address}/hook")).succeeds();
    let request = heard.join().unwrap();
    says(&request, "POST /hook");
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["status"], "completed");
}

#[test]
fn a_notice_that_cannot_be_sent_is_a_line_and_the_run_is_as_it_is() {
    let world = World::with(ONE, WRITES);
    // Nobody listens at a port that was just given back.
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let ran = run(&world, &format!("http://{free}/a-secret")).succeeds();
    says(&ran.stderr, "127.0.0.1");
    assert!(!ran.stderr.contains("a-secret"), "{ran}");
    let world = World::with(ONE, WRITES);
    let ran = run(&world, "no-such-program --at-all").succeeds();
    says(&ran.stderr, "no-such-program");
    let world = World::with(ONE, WRITES);
    world.program("failing", "exit 7");
    let ran = run(
        &world,
        &world.programs().join("failing").display().to_string(),
    )
    .succeeds();
    says(&ran.stderr, "7");
    assert_eq!(world.status("r-test"), "completed");
}

#[test]
fn every_target_is_told_once_of_each_event_however_often_the_run_is_driven() {
    let asking = ONE
        .replace("start = \"writing\"", "start = \"asking\"")
        .replace(
            "[stages.writing]",
            "[stages.asking]\nask = \"Begin?\"\non.yes = \"writing\"\non.again = \"asking\"\n\n[stages.writing]",
        );
    let world = World::with(&asking, WRITES);
    world.program("noting", NOTES);
    world.program(
        "other",
        r#"echo "$GATEWRIGHT_STATUS" >> "$here/other-knows""#,
    );
    let [noting, other] = ["noting", "other"].map(|name| world.programs().join(name));
    let more = format!("--notify {} --notify {}", noting.display(), other.display());
    world.run(&more).exits(6);
    world.gatewright("resume r-test").exits(6);
    world.gatewright("resume r-test").exits(6);
    assert_eq!(world.noted("knows"), ["r-test waiting"]);
    assert_eq!(world.noted("other-knows"), ["waiting"]);
    // The same question after an answer is another event.
    world.gatewright("answer r-test again").succeeds();
    world.gatewright("resume r-test").exits(6);
    assert_eq!(world.noted("knows").len(), 2);
    world.gatewright("answer r-test yes").succeeds();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(
        world.noted("other-knows"),
        ["waiting", "waiting", "completed"]
    );
}

#[test]
fn a_target_that_was_not_reached_is_told_when_the_run_is_driven_again() {
    let world = World::with(&ONE.replace("on.done", "retry = 0\non.done"), "exit 0");
    world.program("noting", "exit 7");
    let noting = world.programs().join("noting");
    run(&world, &noting.display().to_string()).exits(6);
    world.program("noting", NOTES);
    world.gatewright("resume r-test").exits(6);
    world.gatewright("resume r-test").exits(6);
    assert_eq!(world.noted("knows"), ["r-test waiting"]);
}

#[test]
fn a_notice_that_fails_is_tried_once_each_time_that_the_run_is_driven() {
    let world = World::with(&ONE.replace("on.done", "retry = 0\non.done"), "exit 0");
    world.program("noting", "exit 7");
    let noting = world.programs().join("noting");
    let ran = run(&world, &noting.display().to_string()).exits(6);
    assert_eq!(ran.stderr.matches("was not sent").count(), 1, "{ran}");
    assert!(!world.programs().join("noting.2").exists(), "{ran}");
    world.gatewright("resume r-test").exits(6);
    assert!(world.programs().join("noting.2").exists());
    assert!(!world.programs().join("noting.3").exists());
}

/// A person says whether an open stage is done, and the run is not over until then.
#[test]
fn a_worker_leaves_an_open_stage_to_a_person_and_tells_them_once() {
    let world = World::with(OPEN, "echo done > note.txt");
    world.program("noting", NOTES);
    let noting = world.programs().join("noting");
    let line = world
        .line(&format!("--notify {}", noting.display()))
        .replace("run pipeline", "start --queue pipeline");
    world.gatewright(&line).succeeds();
    world.gatewright("worker --once").succeeds();
    world.gatewright("worker --once").succeeds();
    assert_eq!(world.noted("knows"), ["r-test waiting"]);
    world.gatewright("finish r-test").succeeds();
    world.gatewright("worker --once").succeeds();
    assert_eq!(world.status("r-test"), "completed");
}
