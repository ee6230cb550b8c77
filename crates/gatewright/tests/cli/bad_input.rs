//! Bad input: one clear line, an exit code, nothing lost and nothing half-written.

use std::fs::File;

use testkit::Project;

use crate::fixture::{
    PROGRAM, RUN, SMALL, entries, number_of_runs, project, run, says_one_line, start, started,
};

#[test]
fn an_unknown_pipeline_is_told_with_the_nearest() {
    let project = project();
    let words = "--task x --by-hand";
    for (name, says) in [
        ("ansibel", "ansible"),
        (
            "nothing-like-it",
            "ansible, context-first, multi-ai, phases",
        ),
        ("./missing.toml", "./missing.toml"),
        ("../../missing", "../../missing"),
        (".", "'.'"),
    ] {
        says_one_line(run(&project, &format!("start {name} {words}")), 3, &[says]);
    }
    assert_eq!(number_of_runs(&project), 0);
}

#[test]
fn a_pipeline_of_the_project_goes_by_its_name_and_never_before_a_built_in_one() {
    let project = project();
    project.write(".gatewright/small.toml", SMALL);
    project.write(".gatewright/ansible.toml", SMALL);
    start(&project, "smal").exits(3);
    start(&project, "small").succeeds();
    let started = run(
        &project,
        "start ansible --task x --by-hand --param target=site.yml --json",
    );
    let started: serde_json::Value = serde_json::from_str(&started.stdout).unwrap();
    assert_eq!(started["stage"], "scaffolding");
    assert!(run(&project, "pipelines").stdout.contains("small"));
    let linted = run(&project, "lint small multi-ai").succeeds();
    assert_eq!(linted.stdout, "small: accepted\nmulti-ai: accepted\n");
    says_one_line(run(&project, "lint smal"), 3, &["'smal'", "small?"]);
}

/// `init` wrote an editable file of the pipeline: the name means that file, as it does for `start`.
#[test]
fn a_built_in_pipeline_that_was_installed_is_the_file_in_the_project() {
    let project = Project::with_git(PROGRAM);
    project.run(["init", "ansible", "--yes"]).succeeds();
    let text = project.read(".gatewright/ansible.toml");
    let edited = text.replace("on.approved = \"complete\"", "on.approved = \"nowhere\"");
    assert_ne!(text, edited);
    project.write(".gatewright/ansible.toml", edited);
    for line in [
        "lint ansible",
        "graph ansible",
        "test --generate ansible",
        "new mine --from ansible",
        "dry-run ansible --task x --param target=site.yml",
        "start ansible --task x --by-hand --param target=site.yml",
    ] {
        let ran = run(&project, line).exits(1);
        assert!(ran.stderr.contains("GW-L201"), "{line}\n{ran}");
    }
    let shown = run(&project, "pipelines ansible").succeeds();
    assert!(shown.stdout.contains("\"nowhere\""), "{shown}");
}

#[test]
fn an_unknown_run_is_told_with_the_nearest() {
    let project = started();
    says_one_line(run(&project, "status r-tset"), 3, &["'r-tset'", "r-test"]);
    says_one_line(
        run(&project, "status r-nothing-like"),
        3,
        &["gatewright list --all"],
    );
    says_one_line(run(&project, "status ../../etc"), 3, &["../../etc"]);
}

#[test]
fn an_ambiguous_beginning_lists_what_fits() {
    let project = project();
    for id in ["r-abc1", "r-abc2", "r-abd3"] {
        project.write(
            "p.toml",
            SMALL
                .replace("note.md", &format!("{id}.md"))
                .replace("verdict.json", &format!("{id}.json")),
        );
        project.trust("p.toml");
        run(
            &project,
            &format!("start p.toml --task x --by-hand --id {id}"),
        )
        .succeeds();
    }
    says_one_line(run(&project, "status r-abc"), 3, &["r-abc1, r-abc2"]);
    says_one_line(run(&project, "status"), 3, &["r-abc1", "r-abc2", "r-abd3"]);
    run(&project, "status r-abd").succeeds();
    run(&project, "status abd").succeeds();
}

#[test]
fn a_definition_that_is_none_is_shown_with_its_place() {
    let project = project();
    for (text, code, place) in [
        ("name = ", "GW-L", "bad.toml:1:"),
        (
            "name = 3\nabout = 'x'\nstart = 'a'\nstages.a.end = 'completed'",
            "GW-L",
            "bad.toml:1:",
        ),
        ("{\"name\": }", "GW-L", "bad.toml:1:"),
        ("", "GW-L", "bad.toml"),
    ] {
        project.write("bad.toml", text);
        for line in [
            "lint bad.toml",
            "start bad.toml --task x --by-hand",
            "graph bad.toml",
        ] {
            let ran = run(&project, line).exits(1);
            assert!(
                ran.stderr.contains(code) && ran.stderr.contains(place),
                "{text}\n{ran}"
            );
            assert!(ran.stderr.contains("help: "), "{text}\n{ran}");
            assert_eq!(ran.stdout, "", "{ran}");
        }
    }
}

#[test]
fn what_is_not_text_is_refused() {
    let project = project();
    project.write("bytes.toml", b"name = \"\xff\xfe\"");
    let ran = run(&project, "lint bytes.toml").exits(1);
    assert!(ran.stderr.contains("UTF-8"), "{ran}");
}

#[test]
fn a_definition_of_fifty_megabytes_is_not_read() {
    let project = project();
    let file = File::create(project.path().join("huge.toml")).unwrap();
    file.set_len(50 * 1024 * 1024).unwrap();
    for line in ["lint huge.toml", "start huge.toml --task x --by-hand"] {
        let ran = run(&project, line).exits(1);
        for size in ["52428800", "1048576"] {
            assert!(ran.stderr.contains(size), "{ran}");
        }
    }
}

#[test]
fn ten_thousand_stages_are_too_many_and_no_crash() {
    let project = project();
    let stages =
        (0..10_000).map(|n| format!("[stages.s{n}]\nagent = 'a'\non.done = 's{}'\n", n + 1));
    let head = "name = 'many'\nabout = 'x'\nstart = 's0'\n";
    let text = format!(
        "{head}{}[stages.s10000]\nend = 'completed'\n",
        stages.collect::<String>()
    );
    project.write("many.toml", text);
    let ran = run(&project, "lint many.toml").exits(1);
    assert!(ran.stderr.contains("error[GW-L"), "{ran}");
}

#[test]
fn what_is_no_file_is_not_opened() {
    let project = project();
    std::fs::create_dir(project.path().join("folder.toml")).unwrap();
    says_one_line(run(&project, "lint folder.toml"), 3, &["folder.toml"]);
    says_one_line(run(&project, "lint /dev/zero"), 3, &["/dev/zero"]);
}

#[test]
fn a_reference_that_leads_out_is_not_read() {
    let project = project();
    project.write("secret.json", "{}");
    let text = SMALL.replace(
        "path    = \"verdict.json\"",
        "schema = \"s.json\"\npath    = \"verdict.json\"",
    );
    project.write("inside/p.toml", text);
    std::os::unix::fs::symlink("../secret.json", project.path().join("inside/s.json")).unwrap();
    says_one_line(run(&project, "lint inside/p.toml"), 1, &["s.json"]);
    std::fs::remove_file(project.path().join("inside/s.json")).unwrap();
    let missing = run(&project, "lint inside/p.toml").exits(1);
    assert!(missing.stderr.contains("s.json"), "{missing}");
    project.write("inside/s.json", "{}");
    run(&project, "lint inside/p.toml").succeeds();
}

#[test]
fn one_bad_file_does_not_hide_the_others() {
    let project = project();
    project.write("bad.toml", "name = ");
    let ran = run(&project, "lint missing.toml bad.toml small.toml").exits(3);
    assert!(ran.stdout.contains("small.toml: accepted"), "{ran}");
    assert!(
        ran.stderr.contains("missing.toml") && ran.stderr.contains("bad.toml:1:"),
        "{ran}"
    );
}

#[test]
fn a_definition_may_come_from_the_input() {
    let project = project();
    let ran = project.run_with_input(["lint", "-"], SMALL).succeeds();
    assert_eq!(ran.stdout, "-: accepted\n");
    project.run_with_input(["lint", "-"], "name = ").exits(1);
}

#[test]
fn what_is_typed_wrongly_is_told_and_nothing_is_done() {
    let project = started();
    let before = entries(&project, RUN);
    for line in [
        "",
        "nonsense",
        "start",
        "report --artifact note",
        "report --agent a/b",
        "checkpoint r-test a/b",
        "gc --older-than soon",
        "start small.toml --task x --by-hand --id wrong",
        "answer r-test yes no more",
        "answer r-test yes --answer q1=x",
        "reset r-test",
        "status r-test --color sometimes",
    ] {
        let ran = run(&project, line).exits(2);
        assert!(!ran.stderr.is_empty(), "{line}");
        assert_eq!(ran.stdout, "", "{line}");
    }
    assert_eq!(entries(&project, RUN), before);
}

#[test]
fn artifacts_are_known_and_given_files_are_read() {
    let project = started();
    says_one_line(
        run(&project, "report --artifact nota=x.md"),
        3,
        &["'nota'", "note"],
    );
    says_one_line(run(&project, "report --artifact note=x.md"), 4, &["x.md"]);
    project.write("elsewhere/x.md", "Hello from elsewhere\n");
    run(&project, "report --artifact note=elsewhere/x.md").succeeds();
}

#[test]
fn entries_and_checkpoints_that_are_not_there_are_told() {
    let project = started();
    run(&project, "checkpoint r-test here").succeeds();
    says_one_line(run(&project, "why r-test 99"), 3, &["99"]);
    says_one_line(
        run(&project, "restore r-test hree --reason x"),
        3,
        &["here"],
    );
    says_one_line(run(&project, "restore r-test 99 --reason x"), 3, &["99"]);
    says_one_line(run(&project, "fork r-test --at 0"), 3, &["entry 0"]);
    for point in ["@reviewing", "@nowhere", "@", "@a/b"] {
        let line = format!("restore r-test {point} --reason x");
        says_one_line(run(&project, &line), 3, &["@writing"]);
    }
}

/// What the guard would never let a worker write is found before anybody tries.
#[test]
fn an_artifact_where_nobody_may_write_is_refused() {
    for path in [".gatewright/note.md", ".claude/settings.json"] {
        let project = project();
        let text = SMALL.replace("\"note.md\"\nformat", &format!("\"{path}\"\nformat"));
        assert_ne!(text, SMALL);
        project.write("small.toml", text);
        let linted = run(&project, "lint small.toml").exits(1);
        assert!(linted.stderr.contains("error[GW-L258]"), "{linted}");
        assert!(linted.stderr.contains(path), "{linted}");
    }
}

#[test]
fn a_home_is_needed() {
    let project = project();
    let mut command = project.command(["list"]);
    command.env_remove("HOME").env_remove("XDG_STATE_HOME");
    let ran = testkit::Ran::from(command.output().unwrap());
    says_one_line(ran, 4, &["HOME", "XDG_STATE_HOME"]);
}
