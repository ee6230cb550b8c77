//! `import`: the backup of a reset comes back, also in another store, and nothing else does.

use std::fs;

use engine::Status;
use serde_json::Value;
use testkit::Project;

use crate::fixture::{
    RUN, entries, fact, number_of_runs, project, run, says_one_line, stage, started, status,
    to_the_question,
};
use crate::forgery::{forge, moved};

/// The backup that a reset writes, of a run that waits for an answer.
fn backup() -> String {
    let project = started();
    to_the_question(&project);
    let reset = project.run(["reset", RUN, "--reason", "again"]).succeeds();
    let state = project.state();
    let mut lines = reset.stderr.lines();
    let path = lines.find_map(|line| Some(&line[line.find(state.to_str()?)?..]));
    fs::read_to_string(path.unwrap_or_else(|| panic!("{reset}"))).unwrap()
}

/// Another machine: the same project, and a store that knows nothing.
fn elsewhere(text: &str) -> Project {
    let project = project();
    project.write("backup.jsonl", text);
    project
}

#[test]
fn a_backup_comes_back_in_another_store() {
    let text = backup();
    let project = elsewhere(&text);
    run(&project, "import backup.jsonl --trust").succeeds();
    assert_eq!(
        (stage(&project).as_str(), status(&project).as_str()),
        ("asking", "waiting")
    );
    let numbers = text.matches(r#""kind":"entry""#).count();
    // One entry says that it was imported.
    assert_eq!(entries(&project, RUN), numbers + 1);
    let last = run(&project, "history r-test --last 1").succeeds();
    assert!(last.stdout.contains("imported"), "{last}");
    let note = run(&project, "export r-test --artifact note").succeeds();
    assert_eq!(note.stdout, "Hello\n");
    run(&project, "verify").succeeds();
    // It goes on as if nothing had happened.
    run(&project, "answer r-test yes").succeeds();
    assert_eq!(stage(&project), "reviewing");
    run(&project, "verify").succeeds();
}

#[test]
fn an_export_comes_back_whatever_it_escapes() {
    let source = project();
    source.trust("small.toml");
    let task = "\u{9b}31m write \u{202e} a note";
    source
        .run([
            "start",
            "small.toml",
            "--task",
            task,
            "--by-hand",
            "--id",
            RUN,
        ])
        .succeeds();
    let project = elsewhere(&run(&source, "export r-test").succeeds().stdout);
    run(&project, "import backup.jsonl --trust").succeeds();
    assert_eq!(fact(&project, "status r-test")["task"], task);
    run(&project, "verify").succeeds();
}

#[test]
fn a_run_that_is_over_comes_back_as_such() {
    let source = started();
    run(&source, "cancel r-test --reason late").succeeds();
    let project = elsewhere(&run(&source, "export r-test").succeeds().stdout);
    let ran = run(&project, "import backup.jsonl --trust").succeeds();
    assert_eq!(status(&project), "cancelled");
    assert!(!ran.stderr.contains("goes on"), "{ran}");
}

#[test]
fn a_run_that_is_there_is_not_replaced() {
    let project = elsewhere(&backup());
    run(&project, "import backup.jsonl --trust").succeeds();
    let before = entries(&project, RUN);
    let again = run(&project, "import backup.jsonl");
    says_one_line(again, 1, &["r-test", "already"]);
    assert_eq!(entries(&project, RUN), before);
}

#[test]
fn a_pipeline_that_nobody_trusts_here_is_not_imported() {
    let project = elsewhere(&backup());
    let told = run(&project, "import backup.jsonl");
    says_one_line(told, 1, &["not trusted", "--trust"]);
    assert_eq!(number_of_runs(&project), 0);
}

/// A file that is cut off anywhere, was edited anywhere, or comes from a newer version.
#[test]
fn a_file_that_is_not_whole_is_refused_and_nothing_is_stored() {
    let text = backup();
    let lines: Vec<&str> = text.lines().collect();
    let joined = |lines: &[&str]| lines.join("\n") + "\n";
    let mut bad = vec![
        (String::new(), "ends before"),
        ("{}\n".to_owned(), "line 1"),
        ("[1]\n".to_owned(), "line 1"),
        ("\u{1b}[31m nothing\n".to_owned(), "line 1"),
        (text.trim_end().to_owned(), "cut off"),
        (
            text.replacen(r#""format":1"#, r#""format":2"#, 1),
            "format 2",
        ),
        (text.replace("Hello", "Hallo"), "altered"),
        (text.replacen("write a note", "write a poem", 1), "altered"),
        (
            text.replacen("grep -q Hello", "touch planted", 1),
            "altered",
        ),
        (
            text.replace(r#""kind":"content""#, r#""kind":"other""#),
            "other",
        ),
    ];
    // Without any one of its lines.
    for without in 0..lines.len() {
        let mut left = lines.clone();
        left.remove(without);
        bad.push((joined(&left), "line "));
    }
    // Cut off after any one of them.
    for kept in 1..lines.len() {
        bad.push((joined(&lines[..kept]), "line "));
    }
    // Two entries in each other's place.
    let first = lines
        .iter()
        .position(|line| line.contains(r#""kind":"entry""#))
        .unwrap();
    let mut swapped = lines.clone();
    swapped.swap(first + 1, first + 2);
    bad.push((joined(&swapped), "line "));
    for (text, told) in bad {
        let project = elsewhere(&text);
        let ran = run(&project, "import backup.jsonl --trust");
        says_one_line(ran, 1, &["backup.jsonl", told]);
        assert_eq!(number_of_runs(&project), 0, "{text}");
    }
}

/// A forger who rewrites the chain as well must still write what the engine could have decided.
#[test]
fn a_journal_that_no_rule_gives_is_refused() {
    let source = started();
    to_the_question(&source);
    let text = run(&source, "export r-test").succeeds().stdout;
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(
        header["contents"],
        text.matches(r#""kind":"content""#).count()
    );
    forge(
        &source,
        vec![moved("asking", "yes", "complete")],
        &Status::Completed,
    );
    let project = elsewhere(&run(&source, "export r-test").succeeds().stdout);
    let ran = run(&project, "import backup.jsonl --trust");
    says_one_line(ran, 1, &["does not follow from the rules"]);
    assert_eq!(number_of_runs(&project), 0);
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let project = project();
    says_one_line(run(&project, "import nothing.jsonl"), 4, &["nothing.jsonl"]);
}
