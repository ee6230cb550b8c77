//! Commands from an artifact: only the approved content, only plain tests.

use engine::{CheckEnd, Commands, FieldOf, Format};
use evidence::Error;
use evidence::check::CheckEnvironment;

use crate::world::{World, artifact_name};

fn world() -> World {
    let mut world = World::new();
    world.declare("plan", ".task/plan.json", Format::Json { schema: None });
    world.set_check(Commands::Approved(vec![FieldOf {
        artifact: artifact_name("plan"),
        field: String::from("test_plan.commands"),
    }]));
    world
}

fn plan(commands: &str) -> String {
    format!(r#"{{"test_plan": {{"commands": {commands}}}}}"#)
}

fn approved(commands: &str) -> World {
    let mut world = world();
    let content = world.capture("plan", &plan(commands));
    world.approve("plan", content);
    world
}

/// `ran: tail`, `not started: reason` or `error: text`.
fn outcome(world: &World) -> String {
    match world.check(&CheckEnvironment::default()) {
        Ok(ran) => match &ran.results.last().unwrap().ended {
            CheckEnd::CouldNotStart(reason) => format!("not started: {reason}"),
            _ => format!(
                "ran: {}",
                ran.results
                    .iter()
                    .map(|r| r.tail.as_str())
                    .collect::<String>()
            ),
        },
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn approved_commands_are_run() {
    for (commands, expected) in [
        (r#"["uname -s"]"#, "ran: Linux\n"),
        (r#"[["uname", "-s"], "uname   -s"]"#, "ran: Linux\n"),
        (r#"["uname -s", "expr 1 + 1"]"#, "ran: Linux\n2\n"),
        (r#"["expr 'a b' : \"a b\""]"#, "ran: 3\n"),
        (r#"["expr length 'it''s'"]"#, "ran: 3\n"),
        (r#"["expr length a\\ b"]"#, "ran: 3\n"),
        (r#"["expr length '$HOME;'"]"#, "ran: 6\n"),
        (r#"["expr length \"a\\\"\\$\\n\""]"#, "ran: 5\n"),
        (r#"["sh script.sh one"]"#, "ran: script one\n"),
        (r#"["./script.sh two"]"#, "ran: script two\n"),
    ] {
        let world = approved(commands);
        world.write_script("script.sh", "#!/bin/sh\necho script $1\n");
        assert_eq!(outcome(&world), expected, "{commands}");
    }
}

#[test]
fn an_agent_s_words_are_not_filled_in() {
    let mut world = approved(r#"["expr length {target}"]"#);
    world.declare_param("target", Some("x"));
    assert_eq!(outcome(&world), "ran: 8\n");
}

#[test]
fn nothing_is_run_that_was_not_approved_as_it_is() {
    let mut world = world();
    assert!(outcome(&world).contains("which does not exist yet"));
    let first = world.capture("plan", &plan(r#"["uname -s"]"#));
    assert!(outcome(&world).contains("which nobody has approved yet"));
    world.approve("plan", first);
    assert_eq!(outcome(&world), "ran: Linux\n");
    // The file in the tree is not asked.
    world.write(".task/plan.json", plan(r#"["touch it-ran"]"#));
    assert_eq!(outcome(&world), "ran: Linux\n");
    let second = world.capture("plan", &plan(r#"["uname -r"]"#));
    let error = world.check(&CheckEnvironment::default()).unwrap_err();
    assert!(matches!(error, Error::NotApproved { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("has changed since it was approved"),
        "{error}"
    );
    world.approve("plan", second);
    assert!(outcome(&world).starts_with("ran: "));
    world
        .contents
        .insert(second, plan(r#"["uname -s"]"#).into_bytes());
    assert!(outcome(&world).contains("is not in the store"));
}

#[test]
fn a_list_that_is_not_one_gives_no_commands() {
    for (commands, part) in [
        ("[]", "is an empty list"),
        (r#""uname""#, "is a text; write a list"),
        ("[7]", "neither a text nor a list of words"),
        ("[[7]]", "neither a text nor a list of words"),
        (r#"[""]"#, "is empty or contains a NUL"),
        ("[[]]", "is empty or contains a NUL"),
        (r#"["a\u0000b"]"#, "is empty or contains a NUL"),
        (r#"["uname 'a"]"#, "has an open quote; close it"),
        (r#"["uname \"a"]"#, "has an open quote"),
        (r#"["uname \\"]"#, "has an open quote"),
    ] {
        let outcome = outcome(&approved(commands));
        assert!(
            outcome.starts_with("error: ") && outcome.contains(part),
            "{commands}: {outcome}"
        );
    }
    let many = format!("[{}]", [r#""uname""#; 51].join(","));
    assert!(outcome(&approved(&many)).contains("50 commands"));
}

#[test]
fn what_only_a_shell_understands_is_refused() {
    for line in [
        "npm test && npm run lint",
        "npm test; touch pwned",
        "npm test | cat",
        "npm test > /dev/null",
        "npm test & ",
        "npm test $(touch pwned)",
        "npm test \"$(touch pwned)\"",
        "npm test `touch pwned`",
        "npm test $HOME",
        "npm test *.js",
        "npm test ~/x",
        "npm test # all",
        "(npm test)",
        "npm\\ntest\\nx",
    ] {
        let outcome = outcome(&approved(&format!("[\"{}\"]", line.replace('"', "\\\""))));
        assert!(outcome.contains("needs a shell"), "{line}: {outcome}");
    }
}

#[test]
fn commands_that_test_nothing_or_do_more_are_refused() {
    for (line, part) in [
        ("true", "tests nothing"),
        (":", "tests nothing"),
        ("exit 0", "tests nothing"),
        ("echo All tests passed", "tests nothing"),
        ("printf ok", "tests nothing"),
        ("./true", "tests nothing"),
        ("TRUE", "tests nothing"),
        ("sleep 1", "tests nothing"),
        ("sh -c 'exit 0'", "is a shell line"),
        ("bash -lc true", "is a shell line"),
        ("zsh", "is a shell line"),
        ("env true", "starts another command"),
        ("timeout 5 true", "starts another command"),
        ("find . -exec true +", "starts another command"),
        ("CI=1 npm test", "sets a variable"),
        ("rm -rf /", "does more than test"),
        ("mkfs.ext4 disk.img", "does more than test"),
        ("git clean -fdx", "does more than test"),
        ("git -c a=b reset --hard", "does more than test"),
        ("sudo npm test", "does more than test"),
        ("curl -o x http://example.org", "does more than test"),
        ("wget http://example.org", "does more than test"),
        ("ssh -o ProxyCommand=evil host", "does more than test"),
        ("gatewright answer r-1 continue", "does more than test"),
        ("/usr/bin/uname", "names a program outside the project"),
        ("../evil", "names a program outside the project"),
        ("a/../../evil", "names a program outside the project"),
        ("python3 -c pass", "runs code from its own line"),
        ("python -Bc pass", "runs code from its own line"),
        ("python3.12 -cpass", "runs code from its own line"),
        ("python3", "runs code from its own line"),
        ("node -e 0", "runs code from its own line"),
        ("node --eval=0", "runs code from its own line"),
        ("perl -we 1", "runs code from its own line"),
        ("deno eval 0", "runs code from its own line"),
    ] {
        let outcome = outcome(&approved(&format!("[\"uname -s\", \"{line}\"]")));
        assert!(
            outcome.starts_with("not started: ") && outcome.contains(part),
            "{line}: {outcome}"
        );
    }
}

#[test]
fn ordinary_test_commands_are_not_refused() {
    // None of these may be installed, so being looked for is all that is asked.
    for line in [
        "npm test",
        "npm run lint",
        "cargo test --workspace",
        "python3 -m pytest -c conf.ini",
        "python3 tests/run.py",
        "ruby -Itest test/all.rb",
        "node --test",
        "go test ./...",
        "ansible-lint site.yml",
        "make check",
        "bash tests/run.sh -c x",
        "pytest -k 'a or b'",
        "deno test",
        "git diff --exit-code",
    ] {
        let world = approved(&format!("[\"no-such-program-at-all\", \"{line}\"]"));
        assert!(
            outcome(&world).contains("`no-such-program-at-all` was not found"),
            "{line}"
        );
        let world = approved(&format!("[\"{line}\", \"no-such-program-at-all\"]"));
        let outcome = outcome(&world);
        assert!(
            outcome.contains(" was not found") || outcome.contains(" does not exist"),
            "{line}: {outcome}"
        );
    }
}

/// A plan beside the story: it may add commands, and a person approves those.
fn with_plan(story: &str, plan: &str) -> World {
    let mut world = World::new();
    let json = || Format::Json { schema: None };
    world.declare("story", "story.json", json());
    world.declare("plan", ".task/plan.json", json()).approved = Some(engine::ApprovedCommands {
        field: String::from("test_plan.commands"),
        then: engine::StageName::parse("asking").unwrap(),
    });
    let field = |artifact, field| FieldOf {
        artifact: artifact_name(artifact),
        field: String::from(field),
    };
    world.set_check(Commands::Approved(vec![
        field("story", "commands"),
        field("plan", "test_plan.commands"),
    ]));
    let content = world.capture("story", story);
    world.approve("story", content);
    world.capture("plan", plan);
    world
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(String::from).collect()
}

#[test]
fn what_a_plan_adds_is_run_once_each_of_it_is_approved() {
    let story = r#"{"commands": ["uname -s"]}"#;
    let both = plan(r#"["expr 1 + 1", "uname -s", "expr 1 + 1"]"#);
    let mut world = with_plan(story, &both);
    let refused = "commands that nobody has approved";
    assert!(outcome(&world).contains(refused), "{}", outcome(&world));
    world.run.approved_commands = vec![words("uname -s")];
    assert!(outcome(&world).contains(refused), "{}", outcome(&world));
    world.run.approved_commands.push(words("expr 1 + 1"));
    assert_eq!(outcome(&world), "ran: Linux\n2\n");

    // A plan need not add anything; the story must bring something.
    for nothing in ["{}", r#"{"test_plan": {"commands": []}}"#] {
        assert_eq!(outcome(&with_plan(story, nothing)), "ran: Linux\n");
    }
    let empty = outcome(&with_plan(r#"{"commands": []}"#, "{}"));
    assert!(empty.contains("is an empty list"), "{empty}");
}

#[test]
fn what_tests_nothing_or_destroys_is_refused_when_it_is_left() {
    for (commands, expected) in [
        (r#"["npm test", "cargo test --all"]"#, ""),
        ("[]", ""),
        (r#"["true"]"#, "`true` tests nothing; write a real test"),
        (r#"[":"]"#, "tests nothing"),
        (r#"["exit 0"]"#, "tests nothing"),
        (r#"["npm test", "echo ok"]"#, "`echo ok` tests nothing"),
        (r#"["rm -rf /"]"#, "`rm -rf /` does more than test"),
        (r#"["rm -rf ."]"#, "does more than test"),
        (r#"["npm test || true"]"#, "needs a shell"),
        (r#"["bash -c 'exit 0'"]"#, "is a shell line"),
        (r#"["env true"]"#, "starts another command"),
        (r#"["python3 -c pass"]"#, "runs code from its own line"),
        (
            r#"["../outside.sh"]"#,
            "names a program outside the project",
        ),
        (r#""npm test""#, "is a text; write a list"),
    ] {
        for artifact in ["story", "plan"] {
            let (path, content) = match artifact {
                "story" => ("story.json", format!(r#"{{"commands": {commands}}}"#)),
                _ => (".task/plan.json", plan(commands)),
            };
            let world = with_plan("{}", "{}");
            world.write(path, content);
            match (world.see(artifact).unwrap(), expected) {
                (engine::Seen::Valid { .. }, "") => {}
                (engine::Seen::Invalid { reason, .. }, expected) if !expected.is_empty() => {
                    assert!(reason.contains(expected), "{commands}: {reason}");
                }
                (seen, _) => panic!("{artifact} {commands}: {seen:?}"),
            }
        }
    }
}

#[test]
fn the_commands_of_what_is_left_are_told() {
    let world = with_plan("{}", "{}");
    world.write(
        ".task/plan.json",
        plan(r#"["npm test", ["npm", "run", "lint"]]"#),
    );
    let looked = world.look(&crate::world::needs_artifact("plan")).unwrap();
    let commands = &looked.evidence.commands[&artifact_name("plan")];
    assert_eq!(*commands, [words("npm test"), words("npm run lint")]);
}

#[test]
fn a_pattern_of_an_artifact_fails_a_check_and_never_passes_one() {
    let world = |failure: &str, command: &str| {
        let story = format!(
            r#"{{"commands": ["sh test.sh"], "failure_pattern": {failure}, "success_pattern": "fine"}}"#
        );
        let mut world = with_plan(&story, "{}");
        world.fails_on_field("story", "failure_pattern");
        world.write("test.sh", command);
        let ran = world.check(&CheckEnvironment::default()).unwrap();
        let last = ran.results.last().unwrap();
        (last.ended.clone(), last.matched_failure)
    };
    let (passes, fails) = (CheckEnd::Exit(0), CheckEnd::Exit(1));
    assert_eq!(world(r#""FAILED""#, "echo fine"), (passes.clone(), false));
    assert_eq!(
        world(r#""FAILED""#, "echo 1 FAILED"),
        (passes.clone(), true)
    );
    assert_eq!(world(r#""FAILED""#, "echo fine; exit 1"), (fails, false));
    // A pattern that says nothing fails nothing.
    for nothing in [r#""""#, "null", "[1]"] {
        assert_eq!(world(nothing, "echo 1 FAILED"), (passes.clone(), false));
    }
}

#[test]
fn the_absence_of_an_expected_text_fails_a_check_and_its_presence_passes_none() {
    let world = |success: &str, first: &str, second: &str| {
        let story = format!(
            r#"{{"commands": ["sh first.sh", "sh second.sh"], "success_pattern": {success}}}"#
        );
        let mut world = with_plan(&story, "{}");
        world.expects_field("story", "success_pattern");
        world.write("first.sh", first);
        world.write("second.sh", second);
        let ran = world.check(&CheckEnvironment::default()).unwrap();
        let last = ran.results.last().unwrap();
        (last.ended.clone(), last.lacks.clone())
    };
    let (passes, fails) = (CheckEnd::Exit(0), CheckEnd::Exit(1));
    let all = r#""All tests passed""#;
    // One of the commands prints it.
    assert_eq!(
        world(all, "echo All tests passed", "true"),
        (passes.clone(), None)
    );
    assert_eq!(
        world(all, "true", "echo 5: All tests passed!"),
        (passes.clone(), None)
    );
    let absent = Some(String::from("All tests passed"));
    assert_eq!(
        world(all, "echo All tests", "echo passed"),
        (passes.clone(), absent)
    );
    // The exit code still decides.
    assert_eq!(
        world(all, "echo All tests passed; exit 1", "true"),
        (fails, None)
    );
    for nothing in [r#""""#, "null", "[1]"] {
        assert_eq!(world(nothing, "true", "true"), (passes.clone(), None));
    }
}
