//! Workers: what they leave decides.

use testkit::model::{
    Actor, Request, Turn, agent, agent_in_foreground, bash, call, fail, make, say, write,
};

use crate::stage::{APPROVED, DRAFT, REJECTED, STORY, Stage, is_refused};

/// A main session that starts a run and then does this.
fn main(stage_line: &str, turns: impl IntoIterator<Item = Turn>) -> Actor {
    let mut all = vec![bash(stage_line)];
    all.extend(turns);
    Actor::new("GO-MAIN", all)
}

fn start() -> String {
    format!("{} start story --task 'a story'", crate::stage::program())
}

/// The shell line with which an agent leaves a file.
fn leave(path: &str, text: &str) -> Turn {
    bash(&format!("cat > {path} <<'END'\n{text}\nEND"))
}

#[test]
fn a_story_is_written_and_judged_and_the_run_completes() {
    let stage = Stage::story([
        main(
            &start(),
            [
                agent_in_foreground("writer", "GO-WRITER"),
                agent_in_foreground("critic", "GO-CRITIC"),
                say("END"),
            ],
        ),
        Actor::new("GO-WRITER", [leave("draft.md", DRAFT), say("WRITTEN")]),
        Actor::new(
            "GO-CRITIC",
            [leave("judgement.json", APPROVED), say("JUDGED")],
        ),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    let critic = stage.model.told("GO-CRITIC");
    assert!(critic.contains("judgement.json"), "{critic}");
    assert!(critic.contains("draft.md"), "{critic}");
    // Two witnesses told each end, and each counted once.
    assert_eq!(stage.count("GW-R32"), 5, "{}", stage.history());
    stage.project.person(["verify"], "").succeeds();
    // The host is known, so nothing is in doubt.
    assert_eq!(stage.status(&stage.run())["unjudged"], 0);
}

#[test]
fn a_worker_that_leaves_nothing_is_sent_back_twice_and_then_missing() {
    let stage = Stage::story([
        main(
            &start(),
            [agent_in_foreground("writer", "GO-WRITER"), say("END")],
        ),
        Actor::new(
            "GO-WRITER",
            [
                bash("ls"),
                say("DONE, TRUST ME"),
                say("REALLY DONE"),
                say("DONE NOW"),
            ],
        ),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let writer = stage.model.told("GO-WRITER");
    assert_eq!(writer.matches("feedback:\nGW-R34").count(), 2, "{writer}");
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains("draft"), "{told}");
    assert_eq!(stage.count("GW-R43"), 2, "{}", stage.history());
    assert_eq!(stage.place(), "writing waiting", "{}", stage.history());
}

#[test]
fn a_worker_that_is_sent_back_may_still_do_it_right() {
    let stage = Stage::story([
        main(
            &start(),
            [agent_in_foreground("writer", "GO-WRITER"), say("END")],
        ),
        Actor::new(
            "GO-WRITER",
            [
                leave("draft.md", "no front matter"),
                say("DONE"),
                leave("draft.md", DRAFT),
                say("NOW IT IS RIGHT"),
            ],
        ),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let writer = stage.model.told("GO-WRITER");
    assert!(writer.contains("GW-R34"), "{writer}");
    assert!(stage.place().starts_with("judging"), "{}", stage.history());
}

#[test]
fn what_an_earlier_run_left_is_no_artifact_of_this_one() {
    let stage = Stage::story([
        main(
            &start(),
            [agent_in_foreground("writer", "GO-WRITER"), say("END")],
        ),
        Actor::new(
            "GO-WRITER",
            [
                bash("cat draft.md"),
                say("IT IS THERE"),
                say("LOOK"),
                say("THERE"),
            ],
        ),
    ]);
    stage.project.write("draft.md", DRAFT);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let writer = stage.model.told("GO-WRITER");
    assert!(is_refused(&writer, "GW-R35", "draft"), "{writer}");
    assert!(stage.place().starts_with("writing"), "{}", stage.history());
}

#[test]
fn work_that_comes_to_the_same_bytes_counts() {
    let stage = Stage::story([
        main(
            &start(),
            [
                agent_in_foreground("writer", "GO-WRITER"),
                agent_in_foreground("critic", "GO-CRITIC"),
                say("END"),
            ],
        ),
        Actor::new("GO-WRITER", [leave("draft.md", DRAFT), say("WRITTEN")]),
        Actor::new(
            "GO-CRITIC",
            [leave("judgement.json", APPROVED), say("JUDGED")],
        ),
    ]);
    // An earlier run came to the same draft and the same verdict.
    stage.project.write("draft.md", format!("{DRAFT}\n"));
    stage
        .project
        .write("judgement.json", format!("{APPROVED}\n"));
    stage.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    assert_eq!(stage.count("GW-R35"), 0, "{}", stage.history());
}

#[test]
fn a_worker_in_a_worktree_of_its_own_leaves_its_file_where_it_is_told() {
    let stage = Stage::story([
        main(
            &start(),
            [
                agent_in_foreground("writer", "GO-WRITER"),
                agent_in_foreground("critic", "GO-CRITIC"),
                say("END"),
            ],
        ),
        Actor::new(
            "GO-CRITIC",
            [leave("judgement.json", APPROVED), say("JUDGED")],
        ),
        Actor::new("GO-WRITER", [make(leave_where_told), say("WRITTEN")]),
    ]);
    let isolated = "---\nname: writer\ndescription: the writer\nisolation: worktree\n---\nWrite.\n";
    stage.project.write(".claude/agents/writer.md", isolated);
    stage.project.git(["add", "-A"]);
    stage.project.git(["commit", "-qm", "all"]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let writer = stage.model.told("GO-WRITER");
    assert!(writer.contains(".claude/worktrees/"), "{writer}");
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    // The host keeps the file in the worker's checkout; the next worker gets what was captured.
    assert!(!stage.path("draft.md").exists());
    let critic = stage.model.told("GO-CRITIC");
    assert!(critic.contains("Once upon a time."), "{critic}");
}

/// A worker that knows only what it reads: the path is relative to the folder that its briefing names.
fn leave_where_told(request: &Request) -> Turn {
    let told = request.news();
    let rest = told.split("Paths are relative to ").nth(1);
    let folder = rest.and_then(|rest| rest.split_whitespace().next());
    let folder = folder.expect("the briefing names a folder");
    write(format!("{}/draft.md", folder.trim_end_matches('.')), DRAFT)
}

#[test]
fn a_guarded_session_begins_no_second_run_whatever_it_hides() {
    let second = format!(
        "env -u CLAUDE_CODE_SESSION_ID -u CLAUDE_PID -u CLAUDECODE {} start story --task again --queue",
        crate::stage::program()
    );
    let stage = Stage::story([main(&start(), [bash(&second), say("END")])]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.runs().len(), 1, "{:?}", stage.runs());
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains("one run at a time"), "{told}");
}

#[test]
fn not_approved_is_not_approved() {
    let judged = |word: &str| leave("judgement.json", &format!(r#"{{"verdict": "{word}"}}"#));
    let stage = Stage::story([
        main(
            &start(),
            [
                agent_in_foreground("writer", "GO-WRITER"),
                agent_in_foreground("critic", "GO-CRITIC"),
                say("END"),
            ],
        ),
        Actor::new("GO-WRITER", [leave("draft.md", DRAFT), say("WRITTEN")]),
        Actor::new(
            "GO-CRITIC",
            [
                judged("NOT APPROVED"),
                say("NOT APPROVED"),
                judged("approved"),
                say("approved"),
                judged("APPROVED, mostly"),
                say("APPROVED"),
            ],
        ),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let critic = stage.model.told("GO-CRITIC");
    assert!(critic.contains("GW-R33"), "{critic}");
    assert!(stage.place().starts_with("judging"), "{}", stage.history());
}

#[test]
fn a_rejection_goes_back_and_the_second_one_asks_a_person() {
    let round = |draft: &str| {
        [
            agent_in_foreground("writer", draft),
            agent_in_foreground("critic", "GO-CRITIC"),
        ]
    };
    let mut turns = Vec::from(round("GO-WRITER-1"));
    turns.extend(round("GO-WRITER-2"));
    turns.push(say("END"));
    let mut second = String::from(DRAFT);
    second.push_str("The end.\n");
    let stage = Stage::story([
        main(&start(), turns),
        Actor::new("GO-WRITER-1", [leave("draft.md", DRAFT), say("WRITTEN")]),
        Actor::new("GO-WRITER-2", [leave("draft.md", &second), say("WRITTEN")]),
        Actor::new(
            "GO-CRITIC",
            [
                leave("judgement.json", &format!("{REJECTED} ")),
                bash("date +%N >> note; rm note; true"),
                say("NO"),
            ],
        ),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    // The second judgement has the same bytes as the first: it is an old one, until it is written anew.
    let place = stage.place();
    assert!(
        place.starts_with("judging") || place.starts_with("asking"),
        "{}",
        stage.history()
    );
    assert_eq!(
        stage.count("GW-R35") > 0,
        place.starts_with("judging"),
        "{}",
        stage.history()
    );
}

#[test]
fn an_unrelated_agents_end_moves_nothing() {
    let until_started = bash(&format!(
        "for i in $(seq 600); do {} status >/dev/null 2>&1 && break; sleep 0.05; done",
        crate::stage::program()
    ));
    let stage = Stage::story([
        // Begun before the run, and so never admitted to it.
        Actor::new(
            "GO-MAIN",
            [
                agent("Explore", "GO-EXPLORE"),
                bash(&start()),
                say("STARTED"),
                say("SEEN"),
                say("HELD"),
                say("HELD"),
                say("HELD"),
                say("HELD"),
            ],
        ),
        Actor::new("GO-EXPLORE", [until_started, bash("ls"), say("EXPLORED")]),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    assert!(stage.place().starts_with("writing"), "{}", stage.history());
    assert_eq!(stage.count("GW-R96"), 0);
    assert_eq!(stage.count("GW-R10"), 0);
}

#[test]
fn an_agent_that_dies_of_its_model_has_crashed() {
    let stage = Stage::story([
        main(
            &start(),
            [agent_in_foreground("writer", "GO-WRITER"), say("END")],
        ),
        Actor::new("GO-WRITER", [bash("ls"), fail(400)]),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let journal = stage.journal();
    let ends: Vec<_> = journal
        .iter()
        .filter(|entry| entry["rule"] == "GW-R37")
        .collect();
    assert!(!ends.is_empty(), "{}", stage.history());
    assert!(stage.place().starts_with("writing"), "{}", stage.history());
}

#[test]
fn a_background_agent_is_witnessed_and_the_stop_waits_for_it() {
    let stage = Stage::story([
        main(
            &start(),
            [
                agent("writer", "GO-WRITER"),
                say("LAUNCHED"),
                agent("critic", "GO-CRITIC"),
                say("LAUNCHED AGAIN"),
                say("END"),
            ],
        ),
        Actor::new("GO-WRITER", [leave("draft.md", DRAFT), say("WRITTEN")]),
        Actor::new(
            "GO-CRITIC",
            [leave("judgement.json", APPROVED), say("JUDGED")],
        ),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    assert_eq!(stage.count("GW-R91"), 0, "{}", stage.history());
}

#[test]
fn a_session_that_stops_too_early_is_held_three_times_and_then_a_person_is_asked() {
    let says = (0..6).map(|n| say(&format!("I AM DONE {n}")));
    let stage = Stage::story([main(&start(), says)]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let told = stage.model.told("GO-MAIN");
    // The host calls it an error of a hook, so the line says that it is none.
    let held = "feedback:\nGW-R91 held back on purpose, not an error";
    assert_eq!(told.matches(held).count(), 3, "{told}");
    assert!(told.contains("next: 'writer'"), "{told}");
    assert_eq!(stage.place(), "writing waiting", "{}", stage.history());
    assert_eq!(stage.count("GW-R92"), 1);
}

#[test]
fn a_turn_that_ends_before_the_run_is_done_ends_with_a_line_of_ours() {
    let free = STORY
        .replace("stop    = \"hold\"\n", "")
        .replace("stop        = \"hold\"\n", "");
    let stage = Stage::with(&free, [main(&start(), [say("ALL IS DONE, AND CHECKED")])]);
    let ran = stage.claude().ask("GO-MAIN: begin").succeeds();
    let run = stage.run();
    assert!(ran.result().contains("ALL IS DONE"), "{ran}");
    // In the conversation, and on stderr, where the session prints nothing but its last words.
    let shown = ran.of_type("system");
    let shown: Vec<&str> = shown
        .iter()
        .filter_map(|message| message["content"].as_str())
        .filter(|text| text.contains("gatewright: ") && text.contains(&run))
        .collect();
    assert_eq!(shown.len(), 1, "{ran}");
    let printed = ran.stderr.lines().filter(|line| line.contains(&run));
    assert_eq!(printed.count(), 1, "{ran}");
}

#[test]
fn nothing_is_said_at_the_end_of_a_turn_when_the_run_is_done() {
    let stage = Stage::story([
        main(
            &start(),
            [
                agent("writer", "GO-WRITER"),
                say("LAUNCHED"),
                agent_in_foreground("critic", "GO-CRITIC"),
                say("END"),
            ],
        ),
        Actor::new("GO-WRITER", [leave("draft.md", DRAFT), say("WRITTEN")]),
        Actor::new(
            "GO-CRITIC",
            [leave("judgement.json", APPROVED), say("JUDGED")],
        ),
    ]);
    let ran = stage.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    // Nor while an agent works in the background.
    assert!(!ran.to_string().contains("is not done"), "{ran}");
}

#[test]
fn a_prompt_after_three_holds_has_the_session_held_again() {
    let says = (0..9).map(|n| say(&format!("I AM DONE {n}")));
    let stage = Stage::story([main(&start(), says)]);
    let first = stage.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.place(), "writing waiting", "{}", stage.history());
    let resumed = stage.claude().resume(first.session_id());
    let second = resumed.ask("and now?").succeeds();
    assert_eq!(stage.count("GW-R91"), 6, "{}", stage.history());
    assert_eq!(stage.count("GW-R92"), 2, "{}", stage.history());
    assert_eq!(stage.count("GW-R75"), 1, "{}", stage.history());
    // The session reads where the run is, and so does the person.
    let requests = stage.model.requests_of("GO-MAIN");
    let news = requests
        .get(requests.len() - 4)
        .map(testkit::model::Request::news);
    let news = news.unwrap_or_default();
    assert!(news.contains("`writing` (running)"), "{news}");
    assert!(news.contains("subagent_type \"writer\""), "{news}");
    let shown = second.of_type("system");
    let shown = shown
        .iter()
        .filter_map(|message| message["content"].as_str());
    let mut shown = shown.filter(|text| text.contains("is not done: it is in writing"));
    assert!(shown.next().is_some(), "{second}");
}

#[test]
fn parallel_calls_of_one_agent_are_one_piece_of_work() {
    let two = agent_in_foreground("writer", "GO-WRITER")
        .and_also(agent_in_foreground("writer", "GO-OTHER"));
    let stage = Stage::story([
        main(&start(), [two, say("END")]),
        Actor::new("GO-WRITER", [leave("draft.md", DRAFT), say("WRITTEN")]),
        Actor::new("GO-OTHER", [leave("draft.md", DRAFT), say("WRITTEN")]),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.count("GW-R10"), 1, "{}", stage.history());
    assert_eq!(stage.count("GW-R12"), 1, "{}", stage.history());
    assert!(stage.place().starts_with("judging"), "{}", stage.history());
}

#[test]
fn a_judge_that_changes_the_work_is_told_at_once_and_has_judged_nothing() {
    let stage = Stage::story([
        main(
            &start(),
            [
                agent_in_foreground("writer", "GO-WRITER"),
                agent_in_foreground("critic", "GO-CRITIC"),
                say("END"),
            ],
        ),
        Actor::new("GO-WRITER", [leave("draft.md", DRAFT), say("WRITTEN")]),
        Actor::new(
            "GO-CRITIC",
            [
                leave("improved.txt", "better"),
                leave("judgement.json", APPROVED),
                say("JUDGED"),
                bash("rm improved.txt"),
                say("JUDGED AND CLEAN"),
            ],
        ),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let critic = stage.model.told("GO-CRITIC");
    assert!(critic.contains("improved.txt"), "{critic}");
    assert!(critic.contains("GW-R38"), "{critic}");
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
}

#[test]
fn a_neighbour_cannot_write_an_artifact() {
    let stage = Stage::story([
        main(
            &start(),
            [
                write("draft.md", DRAFT),
                bash(&format!("echo '{DRAFT}' > draft.md")),
                agent_in_foreground("writer", "GO-WRITER"),
                say("END"),
            ],
        ),
        Actor::new("GO-WRITER", [bash("ls"), say("A"), say("B"), say("C")]),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert_eq!(told.matches("GW-R24 refused").count(), 2, "{told}");
    assert!(!stage.path("draft.md").exists());
    assert!(stage.place().starts_with("writing"), "{}", stage.history());
}

#[test]
fn denied_tools_are_refused_to_the_session_and_to_the_worker() {
    let denying = STORY.replacen(
        "leaves  = [\"draft\"]",
        "leaves  = [\"draft\"]\ntools.deny = [\"TaskCreate\", \"mcp__*\"]",
        1,
    );
    let task = || {
        call(
            "TaskCreate",
            serde_json::json!({"subject": "s", "description": "d"}),
        )
    };
    let stage = Stage::with(
        &denying,
        [
            main(
                &start(),
                [
                    task(),
                    agent_in_foreground("writer", "GO-WRITER"),
                    say("END"),
                ],
            ),
            Actor::new("GO-WRITER", [leave("draft.md", DRAFT), say("WRITTEN")]),
        ],
    );
    let claude = stage.claude().env("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    claude.ask("GO-MAIN: begin").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(is_refused(&told, "GW-R20", "'TaskCreate'"), "{told}");
    assert!(stage.place().starts_with("judging"), "{}", stage.history());
}
