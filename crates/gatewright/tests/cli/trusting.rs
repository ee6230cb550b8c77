//! Trust: a pipeline from a file does nothing until a person has seen what it may run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use testkit::{Project, Ran};

use crate::fixture::{
    PROGRAM, SMALL, fact, number_of_runs, project, run, says_one_line, stage, start, trusted,
};

fn begin(project: &Project, pipeline: &str) -> Ran {
    project.run(["start", pipeline, "--task", "x", "--by-hand"])
}

#[test]
fn nothing_from_a_file_starts_before_a_person_trusts_it() {
    let project = project();
    let untrusted = &["`gatewright trust small.toml`"];
    says_one_line(begin(&project, "small.toml"), 1, untrusted);
    // What runs nothing needs no trust.
    for line in [
        "lint small.toml",
        "graph small.toml",
        "pipelines ./small.toml",
    ] {
        run(&project, line).succeeds();
    }
    let ran = project.person(["trust", "small.toml"], "yes\n").succeeds();
    for says in ["small.toml", "testing  grep -q Hello note.md", "Type yes"] {
        assert!(ran.stdout.contains(says), "{says}\n{ran}");
    }
    begin(&project, "small.toml").succeeds();
}

#[test]
fn only_a_yes_is_a_yes() {
    let project = project();
    for typed in ["\n", "y\n", "no\n", "YES\n", ""] {
        let ran = project.person(["trust", "small.toml"], typed).exits(1);
        assert!(ran.stdout.contains("Type yes"), "{typed:?}\n{ran}");
        begin(&project, "small.toml").exits(1);
    }
    assert!(!project.state().join("trust").exists());
}

#[test]
fn a_changed_byte_needs_trust_again_and_the_change_is_shown() {
    let project = project();
    let with_prompt = SMALL.replace(
        "agent   = \"writer\"",
        "agent   = \"writer\"\nprompt  = \"prompts/writer.md\"",
    );
    let pipeline = with_prompt.replace("grep -q Hello note.md", "sh test.sh");
    project.write(".gatewright/small.toml", &pipeline);
    project.write(".gatewright/prompts/writer.md", "Write a note.\n");
    project.write("test.sh", "grep -q Hello note.md\n");
    project.trust("small");
    let edited = pipeline.replace("Shall it be reviewed?", "Shall it?");
    for (path, text, says) in [
        (".gatewright/small.toml", edited.as_str(), "small.toml"),
        (
            ".gatewright/prompts/writer.md",
            "Write.\n",
            "prompts/writer.md",
        ),
        ("test.sh", "true\n", "./test.sh"),
    ] {
        let before = project.read(path);
        project.write(path, text);
        says_one_line(
            begin(&project, "small"),
            1,
            &["gatewright trust small", says],
        );
        let shown = run(&project, "trust small --show").succeeds();
        assert!(shown.stdout.contains(says), "{shown}");
        project.write(path, before);
    }
    project.write(".gatewright/small.toml", &edited);
    let ran = project.trust("small");
    for line in [
        "-ask    = \"Shall it be reviewed?\"",
        "+ask    = \"Shall it?\"",
        "@@ ",
    ] {
        assert!(ran.stdout.contains(line), "{line}\n{ran}");
    }
    begin(&project, "small").succeeds();
    // The version before was trusted once, and is not any more.
    project.write(".gatewright/small.toml", &pipeline);
    says_one_line(begin(&project, "small"), 1, &["small.toml"]);
}

#[test]
fn a_run_that_has_started_stays_as_it_was_trusted() {
    let project = project();
    project.write(
        "small.toml",
        SMALL.replace("grep -q Hello note.md", "sh test.sh"),
    );
    project.write("test.sh", "grep -q Hello note.md\n");
    start(&project, "small.toml").succeeds();
    project.write("note.md", "Hallo\n");
    run(&project, "report").succeeds();
    // Neither the definition nor the script can be edited to let the run pass.
    project.write("small.toml", SMALL.replace("grep -q Hello note.md", "true"));
    project.write("test.sh", "true\n");
    says_one_line(run(&project, "check"), 4, &["`test.sh`"]);
    assert_eq!(stage(&project), "testing");
    project.write("test.sh", "grep -q Hello note.md\n");
    run(&project, "check").exits(1);
    assert_eq!(stage(&project), "writing");
}

#[test]
fn what_comes_with_the_program_is_trusted_as_shipped() {
    let project = project();
    run(&project, "pipelines ansible --out .gatewright").succeeds();
    run(&project, "trust ./.gatewright/ansible.toml").succeeds();
    assert_eq!(fact(&project, "trust ansible")["shipped"], true);
    let words = "--task x --by-hand --param target=x.yml";
    let start = format!("start ./.gatewright/ansible.toml {words}");
    run(&project, &start).succeeds();
    let path = project.path().join(".gatewright/ansible.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}\n# mine\n")).unwrap();
    says_one_line(run(&project, &start), 1, &["gatewright trust"]);
    // Its name means the copy here, since there is nothing to trust in the other.
    project.trust("ansible");
    run(&project, "cancel --reason x").succeeds();
    run(&project, &start).succeeds();
}

#[test]
fn a_script_trusts_only_the_bytes_that_a_person_has_seen() {
    let project = project();
    says_one_line_after_facts(&run(&project, "trust small.toml"), "terminal");
    let shown = fact(&project, "trust small.toml --show");
    let hash = shown["hash"].as_str().unwrap();
    let wrong = "0".repeat(64);
    says_one_line_after_facts(
        &run(&project, &format!("trust small.toml --hash {wrong}")),
        "small.toml",
    );
    run(&project, "trust small.toml --hash 12").exits(2);
    begin(&project, "small.toml").exits(1);
    run(&project, &format!("trust small.toml --hash {hash}")).succeeds();
    begin(&project, "small.toml").succeeds();
    let listed = fact(&project, "trust --list");
    let by = listed["trusted"][0]["by"].as_str().unwrap();
    assert!(by.ends_with("(unattended)"), "{listed}");
    project.write("small.toml", format!("{SMALL}\n"));
    run(&project, &format!("trust small.toml --hash {hash}")).exits(1);
}

#[track_caller]
fn says_one_line_after_facts(ran: &Ran, words: &str) {
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(
        ran.stderr.lines().count() == 1 && ran.stderr.contains(words),
        "{ran}"
    );
}

#[test]
fn trust_can_be_listed_and_taken_back() {
    let project = trusted();
    let listed = run(&project, "trust --list").succeeds();
    assert!(listed.stdout.contains("small.toml"), "{listed}");
    says_one_line(
        run(&project, "trust --revoke other.toml"),
        3,
        &["other.toml"],
    );
    says_one_line(run(&project, "trust --revoke ansible"), 1, &["ansible"]);
    run(&project, "trust --revoke small.toml").succeeds();
    says_one_line(begin(&project, "small.toml"), 1, &["gatewright trust"]);
    let listed = fact(&project, "trust --list");
    assert_eq!(listed["trusted"], serde_json::json!([]));
}

#[test]
fn the_projects_own_pipelines_are_asked_about_one_by_one() {
    let project = project();
    says_one_line(run(&project, "trust"), 3, &["pipeline"]);
    for name in ["one", "two"] {
        let text = SMALL.replace("\"small\"", &format!("\"{name}\""));
        project.write(format!(".gatewright/{name}.toml"), text);
    }
    let shown = fact(&project, "trust --show");
    assert_eq!(shown["pipelines"].as_array().unwrap().len(), 2, "{shown}");
    project.person(["trust"], "yes\nno\n").exits(1);
    begin(&project, "one").succeeds();
    says_one_line(begin(&project, "two"), 1, &["gatewright trust two"]);
    let ran = project.person(["trust"], "yes\n").succeeds();
    assert_eq!(ran.stdout.matches("Type yes").count(), 1, "{ran}");
    let listed = fact(&project, "trust --list");
    assert_eq!(listed["trusted"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_definition_that_is_none_is_not_trusted() {
    let project = project();
    project.write("bad.toml", "name = 3\n");
    for typed in ["trust bad.toml", "trust bad.toml --show"] {
        let ran = run(&project, typed).exits(1);
        assert!(
            ran.stderr.contains("GW-L") && ran.stdout.is_empty(),
            "{ran}"
        );
    }
    says_one_line(run(&project, "trust missing.toml"), 3, &["missing.toml"]);
    says_one_line(run(&project, "trust no-such"), 3, &["no-such"]);
}

/// What `--list` does not show is not trusted.
#[test]
fn a_record_that_does_not_say_what_is_trusted_is_no_trust() {
    let project = trusted();
    let folder = project.state().join("trust");
    let [record] = fs::read_dir(&folder)
        .unwrap()
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    let record = record.unwrap().path();
    let whole = fs::read_to_string(&record).unwrap();
    let mut other: serde_json::Value = serde_json::from_str(&whole).unwrap();
    other["pieces"][0]["hash"] = "0".repeat(64).into();
    let mut elsewhere: serde_json::Value = serde_json::from_str(&whole).unwrap();
    elsewhere["path"] = "/elsewhere/small.toml".into();
    for forged in [
        String::new(),
        "{}".to_owned(),
        other.to_string(),
        elsewhere.to_string(),
    ] {
        fs::write(&record, &forged).unwrap();
        begin(&project, "small.toml").exits(1);
    }
    fs::write(&record, whole).unwrap();
    begin(&project, "small.toml").succeeds();
}

#[test]
fn the_records_of_trust_are_private() {
    let project = trusted();
    let folder = project.state().join("trust");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let record = fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    assert_eq!(mode(&record.path()), 0o600);
}

#[test]
fn before_trust_only_the_definition_and_what_it_refers_to_is_read() {
    let project = project();
    project.write(
        ".gatewright/small.toml",
        SMALL.replace("grep -q Hello note.md", "sh test.sh"),
    );
    project.write("test.sh", "true\n");
    project.write("note.md", "x");
    project.write(".gatewright/other.toml", "name = 3");
    project.write("settings.json", "{}");
    let mut command = project.at_home("strace");
    command.args([
        "-f",
        "-e",
        "trace=open,openat,openat2",
        "-o",
        "trace.txt",
        PROGRAM,
    ]);
    command.args(["start", "small", "--task", "x", "--by-hand"]);
    let ran = Ran::from(command.output().expect("strace is installed"));
    says_one_line(ran, 1, &["gatewright trust"]);
    let root = project.path().canonicalize().unwrap();
    let trace = project.read("trace.txt");
    let quoted = trace.lines().filter_map(|line| line.split('"').nth(1));
    let inside = quoted.filter_map(|path| path.strip_prefix(root.to_str()?));
    let mut opened: Vec<&str> = inside.filter(|path| !path.is_empty()).collect();
    opened.sort_unstable();
    opened.dedup();
    assert_eq!(opened, ["/.gatewright/small.toml", "/test.sh"], "{trace}");
    assert_eq!(number_of_runs(&project), 0);
}
