//! A temporary project keeps to itself, and shows what the program in it did.

use testkit::Project;

/// Runs a line of shell in the place of the program.
fn shell(project: &Project, line: &str) -> testkit::Ran {
    project.run(["-c", line])
}

#[test]
fn the_program_sees_the_home_of_the_project_and_no_other() {
    let project = Project::new("sh");
    let ran = shell(
        &project,
        "pwd -P; echo $HOME; echo $XDG_STATE_HOME; echo ${CARGO:-none}",
    );
    let path = project.path().canonicalize().unwrap();
    let (home, state) = (project.home(), project.state_home());
    let wanted = format!(
        "{}\n{}\n{}\nnone\n",
        path.display(),
        home.display(),
        state.display()
    );
    assert_eq!(ran.succeeds().stdout, wanted);
}

#[test]
fn both_streams_and_the_exit_code_are_kept() {
    let project = Project::new("sh");
    let ran = shell(&project, "echo data; echo talk >&2; exit 3").exits(3);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("data\n", "talk\n")
    );
    assert_eq!(shell(&project, "kill -9 $$").code, None);
}

#[test]
#[should_panic(expected = "the exit code is not 0")]
fn another_exit_code_than_wanted_is_a_failure() {
    shell(&Project::new("sh"), "exit 1").succeeds();
}

#[test]
fn input_reaches_the_program_and_may_be_left_unread() {
    let project = Project::new("sh");
    assert_eq!(
        project.run_with_input(["-c", "cat"], "a line").stdout,
        "a line"
    );
    let much = "much ".repeat(100_000);
    project.run_with_input(["-c", "exit 0"], &much).succeeds();
}

#[test]
fn files_are_written_below_the_project() {
    let project = Project::new("sh");
    let path = project.write("deep/down/note.md", "A note.");
    assert!(path.starts_with(project.path()));
    assert_eq!(project.read("deep/down/note.md"), "A note.");
    assert_eq!(shell(&project, "cat deep/down/note.md").stdout, "A note.");
}

#[test]
fn a_git_project_has_one_commit_that_is_the_same_everywhere() {
    let (one, other) = (Project::with_git("sh"), Project::with_git("sh"));
    let head = |project: &Project| project.git(["rev-parse", "HEAD"]).stdout;
    assert_eq!(head(&one), head(&other));
    assert_eq!(one.git(["rev-list", "--count", "HEAD"]).stdout, "1\n");
}

#[test]
fn a_person_sits_at_a_terminal_and_types() {
    let project = Project::new("sh");
    let line = "test -t 0 && test -t 1 && printf 'Word: ' && read -r word </dev/tty && echo \"<$word>\"; exit 3";
    let ran = project.person(["-c", line], "it's me\n").exits(3);
    assert_eq!(ran.stdout, "Word: it's me\n<it's me>\n");
    assert_eq!(project.person(["-c", "kill -9 $$"], "").code, None);
}

#[test]
fn by_the_detour_nothing_of_the_test_is_above_the_program() {
    let project = Project::new("sh");
    let above = "id=$$; while [ $id != 0 ]; do echo \"<$id>\"; \
                 id=$(awk '/^PPid/ { print $2 }' /proc/$id/status); done; cat >&2; exit 7";
    let test = format!("<{}>", std::process::id());
    for (command, is_above) in [
        (project.child(["-c", above]), true),
        (project.orphan(["-c", above]), false),
    ] {
        let mut command = command;
        command.stdin(std::fs::File::open("/dev/null").unwrap());
        let ran = testkit::Ran::from(command.output().unwrap()).exits(7);
        assert_eq!(ran.stdout.contains(&test), is_above, "{ran}");
        assert_eq!(ran.stderr, "");
    }
    let mut killed = project.orphan(["-c", "kill -9 $$"]);
    assert_eq!(testkit::Ran::from(killed.output().unwrap()).code, None);
}
