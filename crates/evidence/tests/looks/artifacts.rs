//! Artifacts: each refusal with the reason that the worker gets, and each right thing that passes.

use engine::{Format, Seen, Source};
use evidence::{Error, GivenArtifact};

use crate::world::{World, artifact_name, outcome_field};

/// What is expected of a look: `valid`, `valid: word`, `absent`, or `invalid: part of the reason`.
fn check(world: &World, expected: &str) {
    let seen = world.see("left").unwrap();
    let shown = match &seen {
        Seen::Absent => String::from("absent"),
        Seen::Valid { word: None, .. } => String::from("valid"),
        Seen::Valid {
            word: Some(word), ..
        } => format!("valid: {word}"),
        Seen::Invalid { reason, .. } => format!("invalid: {reason}"),
    };
    let is_expected = match expected.strip_prefix("invalid: ") {
        Some(part) => shown.starts_with("invalid: ") && shown.contains(part),
        None => shown == expected,
    };
    assert!(is_expected, "expected {expected}, saw {shown}");
}

fn world(format: Format) -> World {
    let mut world = World::new();
    world.declare("left", "out/left", format);
    world
}

fn check_each(mut world: World, cases: &[(&str, &str)]) {
    for (content, expected) in cases {
        world.write("out/left", content);
        check(&world, expected);
        world.given.insert(
            artifact_name("left"),
            GivenArtifact::Bytes(content.as_bytes().to_vec()),
        );
        check(&world, expected);
        world.given.clear();
    }
}

fn bundle() -> World {
    let mut world = world(Format::Bundle);
    let artifact = world.declare("left", "", Format::Text);
    artifact.require = ["source_agent", "target.path"].map(String::from).to_vec();
    artifact.outcome = Some(outcome_field(
        "status",
        &[("PASS", "passed"), ("FAIL", "failed")],
    ));
    world
}

#[test]
fn a_bundle_has_front_matter_with_its_fields() {
    check_each(
        bundle(),
        &[
            (
                "---\nsource_agent: a\ntarget: { path: x }\nstatus: PASS\n---\n# Text\n",
                "valid: PASS",
            ),
            (
                "---\r\nsource_agent: a\r\ntarget:\r\n  path: x\r\nstatus: FAIL\r\n---\r\n",
                "valid: FAIL",
            ),
            (
                "\u{feff}---\nsource_agent: a\ntarget: {path: 0}\nstatus: ' PASS '\n---",
                "valid: PASS",
            ),
            // What a word means is the engine's to judge.
            (
                "---\nsource_agent: a\ntarget: {path: x}\nstatus: NOT APPROVED\n---\n",
                "valid: NOT APPROVED",
            ),
            (
                "---\nsource_agent: a\ntarget: {path: x}\nstatus: true\n---\n",
                "valid: true",
            ),
            (
                "---\nsource_agent: a\ntarget: {path: x}\nstatus: no\n---\n",
                "valid: no",
            ),
            (
                "# Text\n",
                "invalid: has no front matter; start it with a line `---`",
            ),
            ("status: PASS\n---\n", "invalid: has no front matter"),
            (
                "---\nsource_agent: a\n",
                "invalid: does not end; close it with a line `---`",
            ),
            ("---\n---\n# Text", "invalid: front matter is empty"),
            ("---\njust words\n---\n", "invalid: front matter is a text"),
            ("---\n- a\n- b\n---\n", "invalid: front matter is a list"),
            ("---\na: [1\n---\n", "invalid: front matter is not valid"),
            (
                "---\nstatus: PASS\n---\n",
                "invalid: it lacks source_agent, target.path; add a value",
            ),
            (
                "---\nsource_agent: ''\ntarget: {path: '  '}\nstatus: PASS\n---\n",
                "invalid: it lacks source_agent, target.path",
            ),
            (
                "---\nsource_agent: ~\ntarget: {path: []}\nstatus: PASS\n---\n",
                "invalid: it lacks source_agent, target.path",
            ),
            (
                "---\nsource_agent: a\ntarget: {path: x}\n---\n",
                "invalid: no `status`; add it with one of: FAIL, PASS",
            ),
            (
                "---\nsource_agent: a\ntarget: {path: x}\nstatus: [PASS]\n---\n",
                "invalid: `status` is a list; write one of: FAIL, PASS",
            ),
            (
                "---\nsource_agent: a\ntarget: {path: x}\nstatus: \"PASS\\nFAIL\"\n---\n",
                "invalid: `status` is not one word",
            ),
            (
                "---\nsource_agent: a\ntarget: {path: x}\nstatus: FAIL\nstatus: PASS\n---\n",
                "invalid: front matter is not valid",
            ),
            (
                "---\na: &x 1\nb: *x\nsource_agent: a\nstatus: PASS\n---\n",
                "invalid: front matter is not valid",
            ),
            (
                "---\nbase: {status: PASS}\n<<: {status: PASS}\n---\n",
                "invalid: front matter is not valid",
            ),
            (
                "---\nstatus: !evil PASS\n---\n",
                "invalid: front matter is not valid",
            ),
            ("", "invalid: it is empty"),
            (" \n\t\n", "invalid: it is empty"),
        ],
    );
}

#[test]
fn a_dotted_key_is_not_a_dotted_field() {
    let mut world = world(Format::Json { schema: None });
    world.declare("left", "", Format::Text).outcome =
        Some(outcome_field("review.status", &[("approved", "approved")]));
    check_each(
        world,
        &[
            (r#"{"review": {"status": "approved"}}"#, "valid: approved"),
            (
                r#"{"review.status": "approved", "review": {"status": "rejected"}}"#,
                "valid: rejected",
            ),
            (
                r#"{"review.status": "approved"}"#,
                "invalid: no `review.status`",
            ),
        ],
    );
}

#[test]
fn json_is_an_object_with_its_fields() {
    let mut world = world(Format::Json { schema: None });
    let artifact = world.declare("left", "", Format::Text);
    artifact.require = vec![String::from("summary")];
    artifact.outcome = Some(outcome_field("status", &[("approved", "approved")]));
    check_each(
        world,
        &[
            (
                r#"{"summary": "fine", "status": "approved"}"#,
                "valid: approved",
            ),
            (r#"{"summary": 0, "status": 7}"#, "valid: 7"),
            (
                r#"{"summary": false, "status": "needs_changes"}"#,
                "valid: needs_changes",
            ),
            (
                r#"{"summary": "", "status": "approved"}"#,
                "invalid: it lacks summary",
            ),
            (
                r#"{"summary": {}, "status": "approved"}"#,
                "invalid: it lacks summary",
            ),
            (
                r#"{"summary": "x"}"#,
                "invalid: no `status`; add it with one of: approved",
            ),
            (
                r#"{"summary": "x", "status": null}"#,
                "invalid: no `status`",
            ),
            (
                r#"{"summary": "x", "status": {"approved": true}}"#,
                "invalid: `status` is an object",
            ),
            (
                r#"{"summary": "x", "status": "rejected", "status": "approved"}"#,
                "invalid: the key `status` appears twice",
            ),
            (r#"["approved"]"#, "invalid: it is a list; write an object"),
            (r#""approved""#, "invalid: it is a text; write an object"),
            (r#"{"summary": "x",}"#, "invalid: not valid JSON"),
            (
                r#"{"summary": "x", "status": "approved"} trailing"#,
                "invalid: not valid JSON",
            ),
            ("approved", "invalid: not valid JSON"),
            ("{}", "invalid: it lacks summary"),
        ],
    );
}

#[test]
fn json_may_be_anything_where_no_field_is_wanted() {
    check_each(
        world(Format::Json { schema: None }),
        &[("[1, 2]", "valid"), ("3", "valid")],
    );
}

#[test]
fn json_is_held_against_its_schema() {
    let schema = r#"{
        "type": "object",
        "required": ["score"],
        "properties": {
            "score": { "type": "integer", "minimum": 0, "maximum": 10 },
            "name": { "type": "string", "pattern": "^(a+)+$" }
        }
    }"#;
    let hostile_name = format!(r#"{{"score": 1, "name": "{}!"}}"#, "a".repeat(5_000));
    check_each(
        world(Format::Json {
            schema: Some(String::from(schema)),
        }),
        &[
            (r#"{"score": 7}"#, "valid"),
            (r#"{"score": 7, "name": "aaa"}"#, "valid"),
            (
                r#"{"score": "7"}"#,
                "invalid: at `/score`: value is not of type \"integer\"",
            ),
            (
                r#"{"score": 11}"#,
                "invalid: at `/score`: value is greater than the maximum of 10",
            ),
            (
                "{}",
                "invalid: at the top: \"score\" is a required property",
            ),
            ("[]", "invalid: does not match its schema"),
            (&hostile_name, "invalid: at `/name`"),
        ],
    );
}

#[test]
fn a_bad_schema_is_the_definition_s_fault() {
    for schema in [
        "{",
        r#"{"type": 7}"#,
        r#"{"$ref": "https://example.org/schema.json"}"#,
        r#"{"$ref": "file:///etc/passwd"}"#,
        r#"{"pattern": "(?<=a)b"}"#,
    ] {
        let world = world(Format::Json {
            schema: Some(String::from(schema)),
        });
        world.write("out/left", "{}");
        let error = world.see("left").unwrap_err();
        assert!(matches!(error, Error::Schema { .. }), "{schema}: {error}");
    }
}

#[test]
fn a_text_is_anything_but_nothing() {
    check_each(
        world(Format::Text),
        &[
            ("word", "valid"),
            ("---\n", "valid"),
            ("", "invalid: it is empty"),
            ("\n", "invalid: it is empty"),
        ],
    );
}

#[test]
fn an_artifact_stays_within_its_limit_and_is_utf_8() {
    let mut world = world(Format::Text);
    world.declare("left", "", Format::Text).max_bytes = 10;
    check(&world, "absent");
    world.write("out/left", "0123456789");
    check(&world, "valid");
    world.write("out/left", "0123456789a");
    check(
        &world,
        "invalid: it is longer than 10 bytes; write a shorter one",
    );
    world.write("out/left", [b'a', 0xff, 0xfe]);
    check(&world, "invalid: it is not UTF-8 text");
    // A file with a hole is long without holding anything.
    let file = std::fs::File::create(world.root().join("out/left")).unwrap();
    file.set_len(1 << 40).unwrap();
    check(&world, "invalid: it is longer than 10 bytes");
}

#[test]
fn a_reply_is_wrapped_where_it_is_not_a_json_object() {
    let mut world = World::new();
    world
        .declare("left", "", Format::Json { schema: None })
        .source = Source::Reply;
    check(&world, "absent");
    for (reply, kept) in [
        (r#"{"status":"done"}"#, r#"{"status":"done"}"#),
        ("\n{\"a\": 1}\n", "{\"a\": 1}"),
        ("```json\n{\"a\": 1}\n```", "{\"a\": 1}"),
        ("```\n{\"a\": \"```\"}\n```", "{\"a\": \"```\"}"),
        ("```yaml\n{}\n```", r#"{"text":"```yaml\n{}\n```"}"#),
        ("All done.", r#"{"text":"All done."}"#),
        ("[1]", r#"{"text":"[1]"}"#),
        // Nothing is fished out of prose: a quoted verdict is not a verdict.
        (
            "Not {\"status\":\"approved\"}",
            r#"{"text":"Not {\"status\":\"approved\"}"}"#,
        ),
        (
            "```json\n{}\n```\nor\n```json\n{\"a\":1}\n```",
            r#"{"text":"```json\n{}\n```\nor\n```json\n{\"a\":1}\n```"}"#,
        ),
        (r#"{"a":1,"a":2}"#, r#"{"text":"{\"a\":1,\"a\":2}"}"#),
        // A token behind a line break is taken out, no matter who escaped the break.
        (
            "It is\nghp_0123456789abcdefghijklmnopqrstuvwxyz",
            r#"{"text":"It is\n«redacted»"}"#,
        ),
        (
            r#"{"a":"x\nghp_0123456789abcdefghijklmnopqrstuvwxyz"}"#,
            r#"{"a":"x\n«redacted»"}"#,
        ),
    ] {
        world.reply = Some(String::from(reply));
        check(&world, "valid");
        let content = world.see("left").unwrap().content().unwrap();
        assert_eq!(content, evidence::hash(kept.as_bytes()), "{reply}");
    }
}

#[test]
fn a_plain_reply_is_kept_as_it_is() {
    let mut world = World::new();
    world.declare("left", "", Format::Text).source = Source::Reply;
    world.reply = Some(String::from("All done."));
    assert_eq!(
        world.see("left").unwrap().content(),
        Some(evidence::hash(b"All done."))
    );
}

#[test]
fn answers_are_ours_and_not_a_file_s() {
    let mut world = World::new();
    world
        .declare("left", "", Format::Json { schema: None })
        .source = Source::Answers;
    world.write("left", "{}");
    check(&world, "absent");
    world.capture("left", "{}");
    check(&world, "valid");
}

#[test]
fn secrets_are_taken_out_before_anything_is_hashed() {
    let mut world = world(Format::Text);
    world.secrets = vec![String::from("hunter2-hunter2")];
    world.write("out/left", "the password is hunter2-hunter2, keep it");
    let need = engine::ArtifactNeed {
        artifact: artifact_name("left"),
        step: None,
        agent: None,
    };
    let needs = engine::Needs {
        artifacts: vec![need],
        ..engine::Needs::default()
    };
    let looked = world.look(&needs).unwrap();
    let content = &looked.contents[0];
    let kept = String::from_utf8(content.bytes.clone()).unwrap();
    assert!(
        !kept.contains("hunter2") && kept.contains("keep it"),
        "{kept}"
    );
    assert_eq!(content.hash, evidence::hash(kept.as_bytes()));
    assert_eq!(
        looked.evidence.artifacts[&artifact_name("left")].content(),
        Some(content.hash)
    );
}

#[test]
fn a_person_s_file_may_lie_anywhere_but_is_a_file() {
    let mut world = bundle();
    let given = world.outside().join("given.md");
    world
        .given
        .insert(artifact_name("left"), GivenArtifact::File(given.clone()));
    let error = world.see("left").unwrap_err();
    assert!(error.to_string().contains("given.md"), "{error}");
    std::fs::write(
        &given,
        "---\nsource_agent: a\ntarget: {path: x}\nstatus: PASS\n---\n",
    )
    .unwrap();
    check(&world, "valid: PASS");
    world
        .given
        .insert(artifact_name("left"), GivenArtifact::File(world.outside()));
    check(&world, "invalid: is not a file");
}

#[test]
fn an_artifact_that_nobody_declared_is_an_error() {
    let error = World::new().see("left").unwrap_err();
    assert!(matches!(error, Error::UnknownArtifact { .. }), "{error}");
}

#[test]
fn a_field_says_what_it_must() {
    let mut world = world(Format::Json { schema: None });
    world.declare_param("target", Some("roles/web.yml"));
    let artifact = world.declare("left", "out/left", Format::Json { schema: None });
    for (field, value) in [
        ("phase", "{stage}"),
        ("worker_id", "{agent}-*"),
        ("at.path", "{target}"),
    ] {
        artifact.equals.insert(field.into(), value.into());
    }
    let case = |phase: &str, worker: &str, path: &str| {
        format!(r#"{{"phase": "{phase}", "worker_id": "{worker}", "at": {{"path": "{path}"}}}}"#)
    };
    let cases = [
        (case("checking", "worker-1", "roles/web.yml"), "valid"),
        (case("checking", "worker-", "./roles//web.yml"), "valid"),
        (
            case("building", "worker-1", "roles/web.yml"),
            "invalid: `phase` is \"building\"; write \"checking\"",
        ),
        (
            case("checking", "planner-1", "roles/web.yml"),
            "invalid: `worker_id` is \"planner-1\"; write \"worker-*\"",
        ),
        (
            case("checking", "worker-1", "../roles/web.yml"),
            "invalid: write \"roles/web.yml\"",
        ),
        (
            case("checking", "worker-1", ""),
            "invalid: `at.path` is \"\"; write \"roles/web.yml\"",
        ),
        (
            String::from(r#"{"phase": "checking", "worker_id": ["worker-1"]}"#),
            "invalid: it lacks at.path; write",
        ),
    ];
    let cases = cases
        .each_ref()
        .map(|(text, expected)| (text.as_str(), *expected));
    check_each(world, &cases);
}
