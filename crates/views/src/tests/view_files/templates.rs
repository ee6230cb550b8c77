//! Templates of a definition: what they show, what they may not do, and how they are judged.

use std::collections::BTreeSet;

use engine::*;
use expect_test::expect;
use serde_json::Value;

use super::{builtin, contents, render as rendered};
use crate::digest::JournalDigest;
use crate::file::{ViewContent, file};
use crate::model::{ROOTS, model};
use crate::safe::is_forbidden;
use crate::template::{Template, render};
use crate::template_check::template_problems;
use crate::test_random::TestRandom;
use crate::tests::example::*;
use crate::tests::play::{Play, ann, whole_story};
use crate::tests::runs::building;
use crate::view_input::ViewInput;

fn own(name: &str, text: &str) -> ViewFormat {
    ViewFormat::Template(ViewTemplate {
        file: name.to_owned(),
        text: text.to_owned(),
    })
}

fn with_view(format: ViewFormat) -> Pipeline {
    let view = View {
        format,
        path: "shown".to_owned(),
        removed: Removed::Rendered,
        readers: engine::Readers::Owner,
    };
    Pipeline::from_cache(Definition {
        views: vec![view],
        ..definition()
    })
}

/// What a template makes of a run, told with this journal.
fn shown(name: &str, text: &str, run: &Run, entries: &[Entry]) -> String {
    let format = own(name, text);
    let pipeline = &with_view(format.clone());
    let entries: Vec<(u64, &Entry)> = (1..).zip(entries).collect();
    let mut digest = JournalDigest::default();
    digest.update(pipeline, &entries);
    let input = ViewInput {
        pipeline,
        run,
        digest: &digest,
        entries: &entries,
        project: "/home/ann/web",
        contents: &contents,
        builtin: &builtin::builtin,
    };
    match file(&format, &input) {
        Ok(ViewContent::Text(text)) => text,
        Ok(ViewContent::Log) => panic!("a template is written whole"),
        Err(error) => format!("error: {error}"),
    }
}

fn of_building(name: &str, text: &str) -> String {
    shown(name, text, &building(), &[])
}

#[test]
fn a_board_of_ones_own() {
    let text = "\
# {{ run.task }}

{% for step in steps %}
- [{{ \"x\" if step.status == \"done\" else \" \" | safe }}] {{ step.title }}
{% endfor %}
{% for item in history %}
{{ item.at }} {{ item.name }} {{ item.to_shown }}
{% endfor %}
{{ counters.fixes.value }} of {{ counters.fixes.limit }} fixes, {{ params.target }}, {{ replies.context }}
";
    let play = whole_story();
    expect![[r#"
        # Write the role web and test it

        - [x] Write tasks
        - [x] Write tests
        2026-08-22T10:01:00Z gatherer planning
        2026-08-22T10:03:00Z planner approving
        2026-08-22T10:04:00Z ann building
        2026-08-22T10:06:00Z bash-tasks 
        2026-08-22T10:07:00Z bash-tests validating
        2026-08-22T10:08:00Z validator validating
        2026-08-22T10:09:00Z  debugging
        2026-08-22T10:10:00Z debugger validating
        2026-08-22T10:11:00Z validator validating
        2026-08-22T10:12:00Z  reviewing
        2026-08-22T10:13:00Z code-reviewer 
        2026-08-22T10:14:00Z codex-reviewer tidying
        2026-08-22T10:15:00Z session complete
        1 of 2 fixes, roles/web, the site has two hosts
    "#]]
    .assert_eq(&shown("board.md.j2", text, &play.run, &play.entries));
}

/// `pipeline-state` is written without its template, which stays what says how the file looks.
#[track_caller]
fn check_pipeline_state(pipeline: &Pipeline, run: &Run, entries: &[Entry]) {
    let template = builtin::builtin(&ViewFormat::PipelineState).unwrap();
    let expected = shown(template.name, template.text, run, entries);
    assert!(expected.starts_with('{'), "{expected}");
    let written = rendered(&ViewFormat::PipelineState, pipeline, run, entries);
    assert_eq!(written, expected);
}

#[test]
fn the_state_is_what_its_template_makes_of_every_story() {
    let play = whole_story();
    for end in 0..=play.entries.len() {
        check_pipeline_state(&play.pipeline, &play.run, &play.entries[..end]);
    }
    // More work than the file shows.
    let mut play = Play::begin();
    for number in 0..210 {
        play.minute = play.minute.min(200);
        play.report(if number % 3 == 0 { "bash-x" } else { "bash-y" }, &[]);
    }
    check_pipeline_state(&play.pipeline, &play.run, &play.entries);
}

#[test]
fn the_state_is_what_its_template_makes_of_hostile_text() {
    let mut random = TestRandom::new(43);
    for _ in 0..200 {
        let mut play = Play::begin();
        let reason = random.hostile_text(30);
        let reset = Happening::Person(PersonEvent::ResetAsked { reason });
        play.happen(ann(), reset, Evidence::default());
        check_pipeline_state(&play.pipeline, &play.run, &play.entries);
    }
}

#[test]
fn values_are_escaped_for_what_the_template_makes() {
    let mut run = building();
    run.task = "<b> *x*\n\"y\"".to_owned();
    for (name, expected) in [
        ("a.json.j2", r#""<b> *x*\n\"y\"""#),
        ("a.yaml.j2", r#""<b> *x*\n\"y\"""#),
        ("a.md.j2", r#"\<b\> \*x\* "y""#),
        ("a.html.j2", "&lt;b&gt; *x* &quot;y&quot;"),
        ("a.txt.j2", "<b> *x*\n\"y\""),
    ] {
        assert_eq!(shown(name, "{{ run.task }}", &run, &[]), expected, "{name}");
    }
}

#[test]
fn null_is_nothing_but_where_a_machine_reads_it() {
    for (name, expected) in [
        ("a.json.j2", "null"),
        ("a.yaml.j2", "null"),
        ("a.md.j2", ""),
        ("a.txt.j2", ""),
    ] {
        let text = "{{ run.ended_at }}";
        assert_eq!(of_building(name, text), expected, "{name}");
    }
}

#[test]
fn no_template_lets_a_terminal_obey_its_text() {
    let mut random = TestRandom::new(71);
    let text =
        "\u{1b}[31m{{ run.task | safe }}{{ run.task }}{{ run.task | line }}{{ run.task | text }}";
    for _ in 0..200 {
        let mut run = building();
        run.task = random.hostile_text(30);
        for name in ["a.md.j2", "a.html.j2", "a.txt.j2", "a.yaml.j2"] {
            let shown = shown(name, text, &run, &[]);
            assert!(!shown.chars().any(is_forbidden), "{name}: {shown:?}");
        }
        let json = shown(
            "a.json.j2",
            "[{{ run.task }}, {{ run | tojson(2) }}]",
            &run,
            &[],
        );
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (&json[0], &json[1]["task"]),
            (&run.task.clone().into(), &run.task.into())
        );
    }
}

#[test]
fn a_rendering_has_limits() {
    for (text, reason) in [
        (
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
            "more than 2000000 instructions",
        ),
        (
            "{% for a in range(99) %}{{ 'x' * 999999 }}{% endfor %}",
            "more than 16777216 bytes",
        ),
        (
            "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
            "recursion limit exceeded",
        ),
        ("{% include 'other' %}", "unknown statement include"),
        ("{{ '/etc/passwd' | open }}", "unknown filter"),
    ] {
        let shown = of_building("a.txt.j2", text);
        assert!(shown.starts_with("error: "), "{text}: {shown}");
        assert!(shown.contains(reason), "{text}: {shown}");
    }
    let broken = of_building("a.json.j2", "{ \"a\": {{ run.task }}, }");
    assert!(broken.contains("not JSON"), "{broken}");
}

fn problems(name: &str, text: &str) -> Vec<String> {
    let problems = template_problems(&with_view(own(name, text))).into_iter();
    problems
        .map(|problem| {
            assert_eq!(problem.rule.code(), "GW-L259");
            assert_eq!(problem.place.0, ["views", "template", "0", "file"]);
            problem.message
        })
        .collect()
}

#[test]
fn what_cannot_be_rendered_is_found_before_there_is_a_run() {
    for (name, text, line, words) in [
        ("a.md.j2", "x\n{% if %}", "line 2", "syntax error"),
        ("a.md.j2", "x\n\n{{ run.taks }}", "line 3", "`run.taks`"),
        ("a.md.j2", "{{ rum.task }}", "line 1", "did you mean `run`?"),
        // In a branch that no run takes.
        (
            "a.md.j2",
            "{% if false %}\n{{ stage.x }}{% endif %}",
            "line 2",
            "`stage.x`",
        ),
        (
            "a.md.j2",
            "{% for step in steps %}\n{{ step.titel }}{% endfor %}",
            "line 2",
            "undefined value",
        ),
        (
            "a.md.j2",
            "{% if run.status == 'cancelled' %}{{ 1 + run.cancel_reason }}{% endif %}",
            "line 1",
            "invalid operation",
        ),
        (
            "a.md.j2",
            "{{ params.nobody }}",
            "line 1",
            "`params.nobody`",
        ),
        (
            "a.md.j2",
            "{% for step in steps %}{% for report in step.reports %}{{ report.made }}{% endfor %}{% endfor %}",
            "line 1",
            "undefined value",
        ),
        (
            "a.md.j2",
            "{{ run.task | shout }}",
            "line 1",
            "unknown filter",
        ),
        ("a.json.j2", "[{{ run.task }},]", "", "not JSON"),
        (
            "a.md.j2",
            "{% if run.is_over %}{% set a, b = [1, 2] %}{% endif %}\n{{ b }}",
            "line 2",
            "undefined value",
        ),
    ] {
        let found = problems(name, text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].contains(line), "{text}: {found:?}");
        assert!(found[0].contains(words), "{text}: {found:?}");
    }
    assert_eq!(problems("a.md.j2", "{{ a }}\n{{ b }}").len(), 2);
    assert_eq!(problems("a.md.j2", &"x".repeat(70_000)).len(), 1);
    let good =
        "{% for step in steps %}{{ step.title }}{% endfor %}{{ params.target }}{{ range(3) }}";
    assert_eq!(problems("a.md.j2", good), [""; 0]);
}

#[test]
fn the_templates_of_the_program_would_pass_as_ones_own() {
    let looped = ViewFormat::LoopState(LoopView {
        counter: counter_name("fixes"),
        promise: TextOrParam::Fixed("done".to_owned()),
    });
    let words = ViewFormat::WORDS.into_iter().filter_map(ViewFormat::parse);
    for format in words.chain([looped.clone()]) {
        let Some(template) = builtin::builtin(&format) else {
            continue;
        };
        let mut definition = with_view(own(template.name, template.text))
            .definition()
            .clone();
        definition.views.push(View {
            format: looped.clone(),
            path: "loop".to_owned(),
            removed: Removed::Rendered,
            readers: engine::Readers::Owner,
        });
        let found = template_problems(&Pipeline::from_cache(definition));
        assert_eq!(found, [], "{}", template.name);
    }
}

/// Every value of a model by its path, with `NAME` for the pipeline's own names.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) if !path.ends_with(".reports[]") => {
            let named = ["params", "stages", "counters", "verdicts", "replies"].contains(&path);
            for (name, member) in members {
                let name = if named { "NAME" } else { name };
                let path = if path.is_empty() {
                    name.to_owned()
                } else {
                    format!("{path}.{name}")
                };
                paths(member, &path, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                paths(item, &format!("{path}[]"), found);
            }
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// A stage and an item of the history look the same wherever they are.
fn without_repetitions(path: String) -> String {
    for (start, short) in [
        ("stages.NAME.", "stages.NAME"),
        ("visited[].", "visited[]"),
        ("counters.NAME.stage", "counters.NAME.stage"),
        ("log[].", "log[]"),
    ] {
        if path.starts_with(start) {
            return short.to_owned();
        }
    }
    path
}

#[test]
fn the_page_about_the_model_lists_all_of_it() {
    let play = whole_story();
    let text = ROOTS.join(" ") + " reports";
    let template = Template {
        name: "all",
        text: &text,
    };
    let format = own("all", &text);
    let pipeline = &with_view(format.clone());
    let entries: Vec<(u64, &Entry)> = (1..).zip(&play.entries).collect();
    let mut digest = JournalDigest::default();
    digest.update(pipeline, &entries);
    digest.sessions.push(session_id("s-1"));
    let mut found = BTreeSet::new();
    for run in [&play.run, &building()] {
        let input = ViewInput {
            pipeline,
            run,
            digest: &digest,
            entries: &entries,
            project: "/home/ann/web",
            contents: &contents,
            builtin: &builtin::builtin,
        };
        let model = model(template, &format, &input);
        let model = serde_json::to_value(model).unwrap();
        let roots: BTreeSet<&str> = model
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(roots, ROOTS.into_iter().collect());
        paths(&model, "", &mut found);
    }
    let found: BTreeSet<String> = found.into_iter().map(without_repetitions).collect();
    let page = include_str!("../../../../../docs/view-model.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let values = rows.filter(|row| row.matches(" | ").count() == 2);
    let listed: BTreeSet<String> = values
        .filter_map(|row| row.split_once('`'))
        .map(|(path, _)| path.to_owned())
        .collect();
    assert_eq!(listed, found);
}

#[test]
fn the_board_of_the_page_is_a_good_template() {
    let page = include_str!("../../../../../docs/view-model.md");
    let (_, rest) = page.split_once("```jinja\n").unwrap();
    let (board, _) = rest.split_once("```").unwrap();
    assert_eq!(problems("board.md.j2", board), [""; 0]);
    let text = of_building("board.md.j2", board);
    assert!(
        text.contains("showcase is in **building** (running)."),
        "{text}"
    );
}

#[test]
fn a_model_gives_only_what_a_template_mentions() {
    let format = own("a", "{{ run.task }}");
    let pipeline = &with_view(format.clone());
    let unread = |_: &Hash| panic!("nobody asked for a content");
    let run = whole_story().run;
    let input = ViewInput {
        pipeline,
        run: &run,
        digest: &JournalDigest::default(),
        entries: &[],
        project: "",
        contents: &unread,
        builtin: &builtin::builtin,
    };
    let template = Template {
        name: "a",
        text: "{{ run.task }} {{ steps }}",
    };
    let model = model(template, &format, &input);
    let known = serde_json::to_value(&model).unwrap();
    assert!(known.get("replies").is_none() && known.get("history").is_none());
    assert_eq!(
        render(
            Template {
                name: "a",
                text: "{{ run.task }}"
            },
            model
        )
        .unwrap(),
        run.task
    );
}
